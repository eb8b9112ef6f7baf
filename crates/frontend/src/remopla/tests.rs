//! Every construct by what it does.

use std::collections::BTreeSet;

use wherefore_program::{LocationKind, Operation, Program, Runs, TargetChoice, ThreadStart};

use crate::test_support::{explored, fails, set, values};

fn program(text: &str) -> Program {
    match super::parse("test.rem", text, None) {
        Ok(program) => program,
        Err(error) => panic!("{}", error.render()),
    }
}

/// Globals x, y of two bits and b, all zero at the start; what they are at `L`.
fn at_end(statements: &str) -> BTreeSet<Vec<u64>> {
    values(&body(statements), "L", &["x", "y", "b"])
}

fn body(statements: &str) -> Program {
    program(&format!(
        "int x(2), y(2); bool b; module void main() {{ x = 0, y = 0, b = false; {statements} L: skip; }}"
    ))
}

/// The messages, with line and column.
fn errors(text: &str) -> Vec<String> {
    let error = super::parse("e", text, None).expect_err("there are errors");
    assert!(error.render().contains('^'));
    error.diagnostics().iter().map(|d| d.to_string().trim_start_matches("e:").to_owned()).collect()
}

/// Whether a condition holds for all values of u, v, w (three bits) and p, q, r.
fn holds_always(condition: &str) -> bool {
    let text = format!(
        "int u(3), v(3), w(3); bool p, q, r;
         module void main() {{ if :: {condition} -> return; :: else -> goto error; fi; error: skip; }}"
    );
    !fails(&program(&text))
}

#[test]
fn precedence_is_as_documented() {
    for (expr, grouped) in [
        ("u + v * w", "u + (v * w)"),
        ("u - v + w", "(u - v) + w"),
        ("u << v + w", "u << (v + w)"),
        ("u & v << w", "u & (v << w)"),
        ("u ^ v & w", "u ^ (v & w)"),
        ("u | v ^ w", "u | (v ^ w)"),
    ] {
        assert!(holds_always(&format!("({expr}) == ({grouped})")), "{expr}");
    }
    for (expr, grouped) in [
        ("u | v < w", "(u | v) < w"),
        ("u < v == p", "(u < v) == p"),
        ("p == u < v", "p == (u < v)"),
        ("!p == q", "(!p) == q"),
        ("p && q == r", "p && (q == r)"),
        ("p ^^ q && r", "p ^^ (q && r)"),
        ("p || q ^^ r", "p || (q ^^ r)"),
        ("p || q && r", "p || (q && r)"),
        ("E i (0,1) u == i && p", "E i (0,1) (u == i && p)"),
    ] {
        assert!(holds_always(&format!("({expr}) == ({grouped})")), "{expr}");
    }
    assert!(!holds_always("(p && q == r) == ((p && q) == r)"), "the two groupings differ");
    assert!(!holds_always("(u - v + w) == (u - (v + w))"), "the two groupings differ");
}

#[test]
fn integers_are_unsigned_and_wrap() {
    for tautology in [
        "u + 1 != u",
        "(u + v) - v == u",
        "u >= 0",
        "u <= 7",
        "u * 4 * 2 == 0",
        "u < 8",
        "(u << 1) == u + u",
        "u >> 3 == 0",
        "(u & v) <= u",
        "(u | v) >= v",
        "(u ^ u) == 0",
        "u == (u / 2) * 2 + u % 2",
        "u / 1 == u",
        "!(u > v) == (u <= v)",
        "(u != v) == !(u == v)",
    ] {
        assert!(holds_always(tautology), "{tautology}");
    }
    assert!(!holds_always("u + 1 > u"), "7 + 1 is 0");
}

#[test]
fn mixed_widths_use_the_wider_and_targets_cut() {
    assert!(holds_always("u + 8 >= 8"), "8 needs four bits, so the sum has four");
    assert_eq!(at_end("x = 7;"), set([[3, 0, 0]]));
    assert_eq!(at_end("x = 3; y = x + 1;"), set([[3, 0, 0]]));
    let p = program("int n(2), m(4); module void main() { n = 3; m = n; L: m = n + 4; M: n = m; N: skip; }");
    assert_eq!(values(&p, "L", &["n", "m"]), set([[3, 3]]));
    assert_eq!(values(&p, "M", &["n", "m"]), set([[3, 7]]), "4 has three bits, so the sum is not cut to two");
    assert_eq!(values(&p, "N", &["n", "m"]), set([[3, 7]]));
}

#[test]
fn division_by_zero_is_total() {
    assert!(holds_always("v != 0 || (u / v == 7 && u % v == u)"));
}

#[test]
fn defines_are_constants() {
    let p = program(
        "define N 2 + 3 * 2 define M (N - 4) << 1 & 6 | 1 ^ 0 define K 9 / 2
         int x(N - 4); module void main() { x = M; L: x = K; M: x = N; N: skip; }",
    );
    assert_eq!(values(&p, "L", &["x"]), set([[1]]), "{}", p.listing());
    assert_eq!(values(&p, "M", &["x"]), set([[4]]));
    assert_eq!(values(&p, "N", &["x"]), set([[8]]));
    assert_eq!(p.globals[0].ty, wherefore_program::Type::bits(4));
}

#[test]
fn default_width_is_defined_or_eight() {
    assert_eq!(
        program("define DEFAULT_INT_BITS 5 int x; module void main() {}").globals[0].ty.to_string(),
        "bits(5)"
    );
    assert_eq!(program("int x; module void main() {}").globals[0].ty.to_string(), "bits(8)");
}

#[test]
fn variables_start_arbitrary() {
    let p = program("bool b; module void main() { int i(2); L: skip; }");
    assert_eq!(values(&p, "L", &["b", "i"]).len(), 8);
}

#[test]
fn parallel_assignment_reads_the_old_state() {
    assert_eq!(at_end("x = 1; x = y, y = x, b = x < 3 && !b;"), set([[0, 1, 1]]));
}

#[test]
fn undef_is_any_value_and_different_any_other() {
    assert_eq!(at_end("x = undef;"), set([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]));
    assert_eq!(at_end("x != 2, y = 1;"), set([[0, 1, 0], [1, 1, 0], [3, 1, 0]]));
    assert_eq!(
        at_end("x = 1; x != x + 1;"),
        set([[0, 0, 0], [1, 0, 0], [3, 0, 0]]),
        "the value is the old one"
    );
    assert_eq!(at_end("b != b;"), set([[0, 0, 1]]));
}

#[test]
fn arrays_have_bounds_and_an_index_outside_blocks() {
    let p = program(
        "int a[1,3](2), i(3); module void main() {
           A j (1,3) a[j] = j; a[i] = 0; L: a[1] = a[i + 1]; M: skip; }",
    );
    assert_eq!(values(&p, "L", &["i"]), set([[1], [2], [3]]));
    assert_eq!(values(&p, "L", &["a"]), set([[0, 2, 3], [1, 0, 3], [1, 2, 0]]));
    assert_eq!(values(&p, "M", &["i"]), set([[1], [2]]));
    let p = program(
        "int m[2][2](2); bool f[2]; module void main() {
           m[1][0] = 2, f[0] = true; m[0][1] = m[1][0] + 1; skip (f[0]); L: skip; }",
    );
    let m = values(&p, "L", &["m", "f"]);
    assert!(m.iter().all(|cells| cells[1] == 3 && cells[2] == 2 && cells[4] == 1), "{m:?}");
}

#[test]
fn an_index_outside_can_be_made_an_error() {
    let check = |statements: &str| {
        let p = program(&format!(
            "bool f[2], g[1,2][2]; int i(2); module void h(int k(2)) {{ }}
             module void main() {{ i = undef; {statements} }}"
        ));
        assert!(!fails(&p), "by itself it only blocks");
        fails(&p.with_bounds_checks())
    };
    for wrong in [
        "f[i] = true;",
        "f[0] = f[i];",
        "skip (f[i]);",
        "if :: i < 3 && f[i] -> skip; :: else -> skip; fi",
        "g[i][0] = false;",
        "g[1][i] = undef;",
        "h(i), f[i] = true;",
        "do :: f[2] -> break; od",
        "f[i] != true;",
        "if :: f[0] || f[i] -> skip; fi",
        "g[2][i / 2 + i / 3] = true;",
    ] {
        assert!(check(wrong), "{wrong}");
    }
    for right in [
        "f[1] = true;",
        "if :: i < 2 && f[i] -> skip; :: else -> skip; fi",
        "g[1][1] = f[0];",
        "skip (i > 1 || f[i]);",
        "skip (i < 2); f[i] = true;",
        "g[i % 2 + 1][i / 2] = false;",
        "h(i);",
    ] {
        assert!(!check(right), "{right}");
    }
}

#[test]
fn an_index_behind_a_false_condition_is_not_looked_at() {
    let p = program(
        "bool f[2]; int i(2); module void main() { i = 3;
         if :: i < 2 && f[i] -> skip; :: else -> goto L; fi; return; L: skip; }",
    );
    assert_eq!(values(&p, "L", &["i"]), set([[3]]));
    let p = program(
        "bool f[2]; int i(2); module void main() { i = 3; if :: f[i] -> skip; :: else -> goto L; fi; L: skip; }",
    );
    assert_eq!(values(&p, "L", &["i"]), set::<0, 1>([]), "`else` asks for the other guards, which block");
}

#[test]
fn enumerations_have_their_values_only() {
    let p = program(
        "enum colour { red, green, blue } c; enum colour d; module void main() { L: c = undef; d = blue;
         if :: c == green -> goto G; :: else -> return; fi; G: skip; }",
    );
    assert_eq!(values(&p, "L", &["c"]), set([[0], [1], [2]]));
    assert_eq!(values(&p, "G", &["c", "d"]), set([[1, 2]]));
    assert_eq!(p.show_value(&p.globals[0], 1), "green");
    let p = program("enum e { a, b, c } v; int i(2); module void main() { i = undef; v = i; L: skip; }");
    assert_eq!(values(&p, "L", &["v", "i"]), set([[0, 0], [1, 1], [2, 2]]), "another number blocks");
    let p = program("enum e { a, b, c } v; module void main() { v != b; L: skip; }");
    assert_eq!(values(&p, "L", &["v"]), set([[0], [2]]));
}

#[test]
fn structures_have_fields_and_are_copied_whole() {
    let p = program(
        "struct pair { int l(3); bool r; }; struct pair p, q; struct row { int c[2](2); } w;
         module void main() { p.l = 5, p.r = true; q = p; w.c[1] = 3; L: q = undef; M: skip; }",
    );
    assert_eq!(values(&p, "L", &["q.l", "q.r"]), set([[5, 1]]));
    assert!(values(&p, "L", &["w.c"]).iter().all(|cells| cells[1] == 3));
    assert_eq!(values(&p, "M", &["q.l", "q.r"]).len(), 16);
    let p = program(
        "struct pair { int l(2); bool r; }; struct pair q, ps[2];
         module void main() { q.l = 3, q.r = true; ps[1] = q, ps[0].l = 2; L: ps = undef; M: q = ps[0]; N: skip; }",
    );
    assert_eq!(values(&p, "L", &["ps.l", "q.r"]), set([[2, 3, 1]]));
    assert!(values(&p, "L", &["ps.r"]).contains(&vec![0, 1]));
    assert_eq!(values(&p, "M", &["ps.l", "ps.r"]).len(), 64);
    assert_eq!(values(&p, "N", &["q.l", "q.r"]).len(), 8);
}

#[test]
fn arrays_are_assigned_and_passed_whole() {
    let p = program(
        "bool a[2], c[2]; struct s { bool u; int v(2); } t; int x(2);
         module int(2) f(bool g[2], struct s h, int k(2)) { g[0] = false; return h.v + k; }
         module void main() { a[0] = true, a[1] = true; c = a; t.u = true, t.v = 1; x = f(a, t, 2); L: skip; }",
    );
    assert_eq!(values(&p, "L", &["a", "c", "x"]), set([[1, 1, 1, 1, 3]]));
}

#[test]
fn quantified_assignments_set_all_or_some() {
    let declared = "bool a[3]; module void main() {";
    let p = program(&format!("{declared} A i (0,2) a[i] = false; E i (0,1) a[i] = true; L: skip; }}"));
    assert_eq!(values(&p, "L", &["a"]), set([[1, 0, 0], [0, 1, 0]]));
    let p = program("int m[2][2](2); module void main() { A i (0,1) A j (0,1) m[i][j] = i + j; L: skip; }");
    assert_eq!(values(&p, "L", &["m"]), set([[0, 1, 1, 2]]));
    let p = program(&format!("{declared} A i (0,2) a[i] = i == 1; L: E i (1,0) a[i] = true; M: skip; }}"));
    assert_eq!(values(&p, "L", &["a"]), set([[0, 1, 0]]));
    assert_eq!(values(&p, "M", &["a"]), set::<0, 3>([]), "there is no such i");
    let p = program(&format!("{declared} A i (0,1) E j (1,2) a[j] = i == 0; L: skip; }}"));
    let chosen = values(&p, "L", &["a"]);
    assert!(chosen.iter().all(|cells| cells[1] != cells[2]), "one cell cannot be both: {chosen:?}");
}

#[test]
fn quantified_conditions_ask_all_or_some() {
    for tautology in [
        "(A i (0,7) u != i) == false",
        "A i (0,2) E j (i + 1, 7 - i) j > i && j == i + 1",
        "E i (0,7) u == i",
        "A i (0,3) E j (i,3) j >= i",
        "A i (1,0) false",
        "!(E i (1,0) true)",
    ] {
        assert!(holds_always(tautology), "{tautology}");
    }
}

#[test]
fn calls_return_values_and_take_assignments_along() {
    let f = "int x(2), y(2), z(4); module int(2) f(int a(2)) { F: y = y + 1; return a + 1; }";
    let p = program(&format!(
        "{f} module void main() {{ x = 1, y = 0; x = f(x), y = x + 1; L: z = f(3); M: f(undef); }}"
    ));
    assert_eq!(values(&p, "L", &["x", "y"]), set([[2, 3]]));
    assert_eq!(values(&p, "M", &["z"]), set([[0]]), "the result has two bits");
    assert!(values(&p, "F", &["y"]).contains(&vec![2]), "the callee sees what is assigned with the call");
    assert_eq!(values(&p, "F", &["a"]).len(), 4);
}

#[test]
fn recursion_and_forward_declarations_work() {
    let p = program(
        "int r(2); module int(2) sum(int k(2), bool unused[2]); bool a[2];
         module void main() { a[0] = true, a[1] = true; r = 0; r = sum(2, a); L: skip; }
         module int(2) sum(int k(2), bool u[2]) { int rest(2); if :: k == 0 -> return 0; :: else -> skip; fi
           rest = sum(k - 1, u); return k + rest; }",
    );
    assert_eq!(values(&p, "L", &["r"]), set([[3]]));
}

#[test]
fn skip_with_a_condition_blocks() {
    assert_eq!(at_end("x = undef; skip (x > 1);"), set([[2, 0, 0], [3, 0, 0]]));
}

#[test]
fn open_guards_are_chosen_freely_and_closed_ones_block() {
    assert_eq!(
        at_end("if :: true -> x = 1; :: x == 0 -> x = 2; :: x == 1 -> x = 3; fi"),
        set([[1, 0, 0], [2, 0, 0]])
    );
    assert_eq!(at_end("if :: x == 1 -> y = 1; fi"), set::<0, 3>([]));
    assert_eq!(at_end("if :: x == 1 -> y = 1; :: else -> y = 2; fi"), set([[0, 2, 0]]));
    assert_eq!(at_end("if :: else -> y = 2 :: x == 0 -> y = 3 fi;"), set([[0, 3, 0]]));
    assert_eq!(at_end("do :: x < 3 -> x = x + 1; :: x == 3 -> break; od"), set([[3, 0, 0]]));
    assert_eq!(at_end("do :: x < 3 -> x = x + 1; od"), set::<0, 3>([]), "none open");
    let nested = "do :: true -> do :: true -> break; od x = 1; break; od;";
    assert_eq!(at_end(nested), set([[1, 0, 0]]), "break leaves the inner loop");
    assert_eq!(
        at_end("x = undef; do :: x != 0 -> break; :: else -> x = 1; od"),
        set([[1, 0, 0], [2, 0, 0], [3, 0, 0]])
    );
}

#[test]
fn goto_return_and_the_end() {
    assert_eq!(at_end("goto m; x = 1; m: y = 1;"), set([[0, 1, 0]]));
    let p =
        program("int x(2); module void f() { x = 1; return; x = 2; } module void main() { f(); L: skip; }");
    assert_eq!(values(&p, "L", &["x"]), set([[1]]));
    let p = program("int x(2); module int(2) f() { skip; } module void main() { x = f(); L: skip; }");
    assert_eq!(values(&p, "L", &["x"]), set::<0, 1>([]), "only a void module returns at its end");
    let p = program("int x(2); module int(2) f() { return undef; } module void main() { x = f(); L: skip; }");
    assert_eq!(values(&p, "L", &["x"]).len(), 4);
}

#[test]
fn init_says_where_to_start() {
    let p = program(
        "int x(2); init first; module void first() { x = 1; L: skip; } module void main() { M: skip; }",
    );
    assert_eq!(values(&p, "L", &["x"]), set([[1]]));
    assert!(values(&p, "M", &["x"]).is_empty());
    let two = "int x(2); init a b; module void a() { x = 1; } module void b() { L: x = x + 1; M: skip; }";
    let p = program(two);
    assert_eq!(values(&p, "L", &["x"]), set([[1]]), "`a` runs on top of `b`");
    assert_eq!(values(&p, "M", &["x"]), set([[2]]));
    let p = super::parse("t", two, Some("b")).expect("an entry by name");
    assert_eq!(values(&p, "L", &["x"]).len(), 4);
}

#[test]
fn rules_are_edges_between_labels() {
    let head = "int x(2), y(2); module void main() { x = 1, y = 2; goto a; a: skip (false);";
    let p = program(&format!("{head} q <a> --> q <L> \"step\" (x' == x + 1) L: skip; }}"));
    assert_eq!(values(&p, "L", &["x", "y"]), set([[2, 2]]), "what is not primed keeps its value");
    let p = program(
        "int x(2); module void main() { x = 1; a: q <a> --> q <b> (x' == x + 1) x = 0; b: L: skip; }",
    );
    assert_eq!(values(&p, "L", &["x"]), set([[2]]), "a label before a rule is a point of the flow");
    let p = program(&format!("{head} q <a> --> q <L> (x' > x && y == 2) L: skip; }}"));
    assert_eq!(values(&p, "L", &["x", "y"]), set([[2, 2], [3, 2]]));
    let p = program(&format!(
        "{head} q <a> --> q <new> q <new> --> q <L> (x == 0) q <new> --> q <M> L: M: skip; }}"
    ));
    assert_eq!(values(&p, "L", &["x"]), set([[1]]), "a symbol may be known to rules only");
}

#[test]
fn rules_call_and_return() {
    let p = program(
        "int x(2); module void f(int p(2)) { F: skip; q <r> --> q <> (x' == p) goto r; }
         module void main() { int l(2); x = 0, l = 1;
           c: skip (false);
           q <c> --> q <f L> \"call\" (p' == l + 1 && l'' == 3)
           L: skip; }",
    );
    assert_eq!(values(&p, "F", &["p", "x"]), set([[2, 0]]));
    assert_eq!(values(&p, "L", &["x", "l"]), set([[2, 3]]));
    let p = program(
        "int x(2); module void main() { int l(2); x = 0, l = 0; c: skip (false);
           q <c> --> q <d L> (l' == 2 && x' == 1 && l'' == l)
           d: x = x + l; return;
           L: skip; }",
    );
    assert_eq!(
        values(&p, "L", &["x", "l"]),
        set([[3, 0]]),
        "a label of the module is called with variables of its own"
    );
}

#[test]
fn loose_rules_are_a_pushdown_system() {
    let p = program(
        "bool g; init s;
         q <s> --> q <f r> (g' == true)
         q <f> --> q <f t> (g)
         q <f> --> q <> (g' == false)
         q <t> --> q <> \"back\"
         q <r> --> q <error> (!g)
         q <r> --> q <other> (g)",
    );
    let exploration = wherefore_program::explore(
        &p,
        &p.targets(&TargetChoice::Default).unwrap(),
        wherefore_program::ExploreLimits { configurations: 2000, choices: 100 },
    );
    assert_eq!(exploration.outcome(), wherefore_program::Outcome::Reached);
    assert!(p.labelled("other").all(|node| !exploration.locations(Runs::All).contains(&node)));
    let p = program("int x(2); init s; s: x = 1; t: x = x + 1; L: skip; module void main() { }");
    assert_eq!(values(&p, "L", &["x"]), set([[2]]));
}

#[test]
fn rules_outside_modules_belong_to_the_module_of_their_labels() {
    let p = program(
        "int x(2); module void main() { x = 1; a: skip (false); b: L: skip; }
         q <a> --> q <via> (x' == x + 1)
         q <via> --> q <b>",
    );
    assert_eq!(values(&p, "L", &["x"]), set([[2]]));
    let p = program(
        "int x(2); init start; module void main() { x = 1; b: L: skip; } q <start> --> q <b> (x' == 3)",
    );
    assert_eq!(values(&p, "L", &["x"]), set([[3]]), "execution starts in the middle of the module");
    let found = errors("module void f() { a: skip; } module void main() { b: skip; } q <a> --> q <b>");
    assert_eq!(found, ["1:75: `a` and `b` are not in one module"]);
    let found = errors("module void f() { a: skip; } module void main() { b: skip; q <b> --> q <a> }");
    assert_eq!(found, ["1:73: `b` and `a` are not in one module"]);
    let found = errors("module void f() { a: skip; } module void main() { a: skip; } q <a> --> q <b>");
    assert_eq!(found, ["1:65: several modules have the label `a`"]);
}

#[test]
fn fork_starts_a_thread() {
    let p = program("shared int z(2); module void t(int a(2)) { z = a; } module void main() { fork t(1); }");
    let span = p.uses_threads().expect("a thread");
    assert_eq!(p.source(span).slice(span), "fork t(1)");
    assert!(matches!(&p.procedures[1].edges[0].operation, Operation::StartThread(ThreadStart::Call { .. })));
    assert!(p.globals[0].shared);
}

#[test]
fn comments_are_skipped() {
    assert_eq!(at_end("// x = 1;\n # x = 2;\n /* x = 3; */ y = 1;"), set([[0, 1, 0]]));
}

#[test]
fn every_statement_is_a_location_on_its_line() {
    let p = program(
        "module void main()\n{\nskip;\nif\n:: true ->\nskip;\n:: else ->\nreturn;\nfi;\nx:\nskip;\ny:\n}",
    );
    let lines: Vec<_> = p.nodes().filter_map(|node| p.line(node)).collect();
    assert_eq!(lines, [3, 4, 6, 8, 11, 13]);
    let end = p.labelled("y").next().unwrap();
    assert_eq!(p.location(end).kind, LocationKind::End);
    assert_eq!(explored(&p).lines(Runs::All).len(), 5, "the else branch is closed");
}

#[test]
fn a_label_or_a_module_can_be_the_target() {
    let p = program("module void f() { skip; } module void main() { f(); mine: skip; error: skip; }");
    assert_eq!(p.targets(&TargetChoice::Default).unwrap().len(), 1);
    for name in ["mine", "f"] {
        let targets = p.targets(&TargetChoice::Label(name.into())).unwrap();
        let exploration = wherefore_program::explore(&p, &targets, Default::default());
        assert_eq!(exploration.outcome(), wherefore_program::Outcome::Reached, "{name}");
    }
}

#[test]
fn several_errors_are_reported_in_order() {
    let text = "define N M\nint x(70), y, y;\nbool b;\nmodule void main() {\n  x = ;\n  z = 1;\n  b = 1;\n  y = b;\n\
                  goto out;\n  break;\n  f(1);\n  l: l: skip;\n  return 1;\n  y = 1 < ;\n}\n";
    assert_eq!(
        errors(text),
        [
            "1:10: `M` is not declared",
            "2:7: a width is between 1 and 64",
            "2:15: `y` is declared twice",
            "5:7: expected an expression, found `;`",
            "7:7: expected a truth value, found an integer",
            "8:7: expected an integer, found a truth value",
            "10:3: `break` outside `do`",
            "12:6: there is another label `l`",
            "13:10: a `void` module returns nothing",
            "14:11: expected an expression, found `;`",
        ],
        "names are not called unknown while a declaration is broken"
    );
}

#[test]
fn a_broken_guard_or_a_stray_word_does_not_hide_what_follows() {
    let text = "module void main() {\nif :: x > -> x = 1; :: else y -> z = 1; fi\nod;\nw = 1;\n}";
    assert_eq!(
        errors(text),
        [
            "2:11: expected an expression, found `->`",
            "2:14: `x` is not declared",
            "2:29: expected `->`, found `y`",
            "2:34: `z` is not declared",
            "3:1: expected a statement or `}`, found `od`",
            "4:1: `w` is not declared",
        ]
    );
}

#[test]
fn mistakes_are_named() {
    let head = "define N 2 int x(2), a[2](2); bool b; enum e { r, g } c; struct s { int l(2); } t;
                module int(2) f(int p(2)) { return p; } module int(2) declared(); module void h(int a[2](2)) { }
                module void main() {";
    for (statement, message) in [
        ("z = 1;", "`z` is not declared"),
        ("x = z;", "`z` is not declared"),
        ("N = 1;", "`N` is not a variable"),
        ("goto out;", "there is no label `out` here"),
        ("g(1);", "there is no module `g`"),
        ("f();", "`f` takes 1 argument, not 0"),
        ("x = f(1, 2);", "`f` takes 1 argument, not 2"),
        ("x = declared();", "`declared` is declared, but there is no such module"),
        ("x = h(a);", "`h` returns nothing"),
        ("b = f(1);", "`f` returns a value of another type"),
        ("h(x);", "the argument has another type than the parameter"),
        ("h(1);", "expected an array or a structure"),
        ("a = 1;", "an array or structure is assigned another, or `undef`"),
        ("a[0][1] = 1;", "1 indices are needed here, not 2"),
        ("x = a;", "`a` is not a single value"),
        ("x[0] = 1;", "0 indices are needed here, not 1"),
        ("a[b] = 1;", "expected an integer, found a truth value"),
        ("t.m = 1;", "`t` has no field `m`"),
        ("x.l = 1;", "`x` is not a structure"),
        ("c = 2;", "the enumeration has no such value"),
        ("x = 1, x = 2;", "one variable is assigned twice"),
        ("x = 1 - N;", "the constant is negative"),
        ("x = 1 / 0;", "the constant cannot be computed"),
        ("x = x + b;", "a truth value and an integer do not mix"),
        ("b = b < b;", "expected integers, found truth values"),
        ("b = x ^^ x;", "`^^` needs truth values"),
        ("if :: x -> skip; fi", "expected a truth value, found an integer"),
        ("if :: else -> skip; :: else -> skip; fi", "there is another `else`"),
        ("x = undef + 1;", "`undef` stands alone on the right of `=`, or is an argument"),
        ("x != undef;", "nothing differs from `undef`"),
        ("x = x';", "primes are for rules only"),
        ("x = f(1), x = f(2);", "there can be one call in a statement"),
        ("q <l> --> q <m> (x'' == 1)", "two primes are for rules that push two symbols"),
        ("q <l> --> r <m>", "another control state than `q`: rules have one"),
        ("q <l> --> q <nothing m>", "there is no module or label `nothing`"),
        ("q <l> --> q <a b c>", "expected `>`: a rule pushes at most two symbols, found `c`"),
        ("A i (0,1) x = i;", "one variable is assigned twice"),
        ("A i (0, x) a[i] = 0;", "a constant is needed here"),
        ("A i (0, 99999999) a[i] = 0;", "the range is too large"),
        (
            "A i (0,99999) A j (0,99) a[i] = j;",
            "the statement is too large once its quantifiers are written out",
        ),
        ("A i (0,20) E j (0,1) a[j] = i;", "there are too many ways to choose for `E`"),
    ] {
        let found = errors(&format!("{head} {statement} }}"));
        assert!(found.len() == 1 && found[0].ends_with(message), "{statement}: {found:?}");
    }
    assert!(errors(&format!("{head} skip x = 1; }}"))[0].ends_with("expected `;`, found `x`"));
}

#[test]
fn mistakes_in_declarations_are_named() {
    for (text, message) in [
        ("int a[0];", "the array has no elements"),
        ("int a[3,2];", "the array has no elements"),
        ("int a[1][1][1];", "an array has at most two dimensions"),
        ("int a[9999999];", "an array has at most 1048576 elements"),
        ("bool b(2);", "only an `int` has a width, and only one"),
        ("struct s t;", "there is no structure `s`"),
        ("enum e x;", "there is no enumeration `e`"),
        ("struct s { struct t { int a; } b; };", "there are no structures inside structures"),
        ("struct s { int a[2]; }; struct s t[2];", "there are no arrays of structures that have arrays"),
        ("struct s { int a; bool a; };", "there is another field `a`"),
        ("enum e { a, b }; int a;", "`a` is declared twice"),
        ("module void f(int a); module void f(bool a) {}", "`f` is declared in another way elsewhere"),
        ("module void f() {} module void f() {}", "there is another module `f`"),
        ("define DEFAULT_INT_BITS 0", "a width is between 1 and 64"),
        ("init nowhere;", "there is no module `nowhere`"),
        ("init main; init main;", "there is another `init`"),
    ] {
        let found = errors(&format!("{text} module void main() {{ skip; }}"));
        assert!(found.len() == 1 && found[0].ends_with(message), "{text}: {found:?}");
    }
    assert_eq!(errors("int x;"), ["1:6: there is no module `main`"]);
    assert_eq!(errors(""), ["1:1: there is no module `main`"]);
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let main = |statement: &str| format!("bool b; int x(2); module void main() {{ {statement} }}");
    let nested = main(&format!("skip ({}true{});", "(".repeat(600), ")".repeat(600)));
    assert!(errors(&nested)[0].ends_with("the expression is nested too deeply"));
    let blocks = main(&format!("{} skip; {}", "if :: true -> ".repeat(600), "fi ".repeat(600)));
    assert!(errors(&blocks)[0].ends_with("statements are nested too deeply"));
    let chain = main(&format!("skip ({}); error: skip;", vec!["b"; 20_000].join(" && ")));
    assert!(fails(&program(&chain)));
    let sum = main(&format!("x = {};", vec!["x"; 2000].join(" + ")));
    assert!(errors(&sum)[0].ends_with("nested too deeply"));
    assert!(!fails(&program(&main(&format!("x = {}; ", vec!["x"; 400].join(" + "))))));
}

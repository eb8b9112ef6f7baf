//! Every construct by what it does.

use wherefore_program::{LocationKind, Operation, Program, Runs, TargetChoice, ThreadStart};

use crate::test_support::{explored, fails, set, values};

fn program(text: &str) -> Program {
    match super::parse("test.bp", text, None) {
        Ok(program) => program,
        Err(error) => panic!("{}", error.render()),
    }
}

/// A main procedure with variables a, b, c that are false at the start and read at `L`.
fn body(statements: &str) -> Program {
    program(&format!("decl a, b, c; void main() begin a, b, c := F, F, F; {statements} L: skip; end"))
}

fn at_end(statements: &str) -> std::collections::BTreeSet<Vec<u64>> {
    values(&body(statements), "L", &["a", "b", "c"])
}

/// The messages, with line and column.
fn errors(text: &str) -> Vec<String> {
    let error = super::parse("e", text, None).expect_err("there are errors");
    assert!(error.render().contains('^'));
    error.diagnostics().iter().map(|d| d.to_string().trim_start_matches("e:").to_owned()).collect()
}

/// Whether an expression is true for all values of a, b, c where it does not depend on choices.
fn holds_always(expr: &str) -> bool {
    !fails(&program(&format!("decl a, b, c; void main() begin assert({expr}); end")))
}

#[test]
fn precedence_is_as_documented() {
    // Tightest first: ! ~ ', then = == != ^ <=>, then & &&, then | ||, then => ->.
    for (expr, grouped) in [
        ("!a = b", "(!a) = b"),
        ("~a ^ b", "(~a) ^ b"),
        ("a & b = c", "a & (b = c)"),
        ("a = b & c", "(a = b) & c"),
        ("a != b && c", "(a != b) && c"),
        ("a ^ b = c", "(a ^ b) = c"),
        ("a = b ^ c", "(a = b) ^ c"),
        ("a <=> b == c", "(a <=> b) == c"),
        ("a | b & c", "a | (b & c)"),
        ("a & b | c", "(a & b) | c"),
        ("a || b => c", "(a || b) => c"),
        ("a => b | c", "a => (b | c)"),
        ("a => b => c", "a => (b => c)"),
        ("a -> b -> c", "a -> (b -> c)"),
    ] {
        assert!(holds_always(&format!("({expr}) <=> ({grouped})")), "{expr}");
    }
    assert!(!holds_always("(a => b => c) <=> ((a => b) => c)"), "the two groupings differ");
    assert!(!holds_always("(a & b = c) <=> ((a & b) = c)"), "the two groupings differ");
}

#[test]
fn operators_have_their_tables() {
    for tautology in [
        "T",
        "1",
        "true",
        "!F",
        "~0",
        "!false",
        "a | !a",
        "a || ~a",
        "!(a & !a)",
        "!(a && !a)",
        "(a ^ b) = (a != b)",
        "(a = b) == (a <=> b)",
        "(a => b) = (!a | b)",
        "(a -> b) = (!a | b)",
        "(a != b) = !(a = b)",
    ] {
        assert!(holds_always(tautology), "{tautology}");
    }
    assert!(!holds_always("a"));
}

#[test]
fn a_choice_is_fresh_at_every_occurrence() {
    assert_eq!(at_end("a, b := *, ?;"), set([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]));
    assert!(!holds_always("* = *"));
    assert!(!holds_always("* | !*"));
}

#[test]
fn variables_start_arbitrary() {
    let p = program("decl g; void main() begin decl l; L: skip; end");
    assert_eq!(values(&p, "L", &["g", "l"]), set([[0, 0], [0, 1], [1, 0], [1, 1]]));
}

#[test]
fn locals_are_arbitrary_at_every_call() {
    let p = program("void f() begin decl l; L: l := T; end void main() begin f(); f(); end");
    assert_eq!(values(&p, "L", &["l"]), set([[0], [1]]));
}

#[test]
fn parameters_of_main_are_arbitrary() {
    assert_eq!(values(&program("void main(p) begin L: skip; end"), "L", &["p"]), set([[0], [1]]));
}

#[test]
fn parallel_assignment_reads_the_old_state() {
    assert_eq!(at_end("a := T; a, b := b, a;"), set([[0, 1, 0]]));
}

#[test]
fn constrain_relates_old_and_new_values() {
    assert_eq!(at_end("a, b := *, * constrain 'a = 'b;"), set([[0, 0, 0], [1, 1, 0]]));
    assert_eq!(at_end("b := T; a, b := *, * constrain 'a = b & !'b;"), set([[1, 0, 0]]));
    assert_eq!(at_end("a := * constrain 'a & !a;"), set([[1, 0, 0]]));
    assert_eq!(at_end("a := * constrain 'b;"), set::<0, 3>([]), "what is not assigned keeps its value");
    assert_eq!(at_end("a := * constrain F;"), set::<0, 3>([]));
}

#[test]
fn schoose_prefers_its_first_condition() {
    assert_eq!(at_end("a := schoose[F, F];"), set([[0, 0, 0], [1, 0, 0]]));
    assert_eq!(at_end("a := schoose[T, F];"), set([[1, 0, 0]]));
    assert_eq!(at_end("a := schoose[F, T];"), set([[0, 0, 0]]));
    assert_eq!(at_end("a := schoose[T, T];"), set([[1, 0, 0]]));
    assert_eq!(at_end("b := *; a := schoose[b, !b];"), set([[0, 0, 0], [1, 1, 0]]));
}

#[test]
fn dead_makes_arbitrary_and_print_and_skip_do_nothing() {
    assert_eq!(at_end("dead a, b;"), set([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]));
    assert_eq!(at_end("print(a, b & c); skip;"), set([[0, 0, 0]]));
    assert_eq!(at_end("print();"), set([[0, 0, 0]]));
}

#[test]
fn assume_blocks_and_assert_fails() {
    assert_eq!(at_end("a := *; assume(a);"), set([[1, 0, 0]]));
    assert!(fails(&body("a := *; assert(a);")));
    assert!(!fails(&body("a := *; assume(a); assert(a);")));
    assert_eq!(at_end("a := *; assert(a);"), set([[1, 0, 0]]), "a run that fails does not go on");
}

#[test]
fn goto_is_a_free_choice() {
    assert_eq!(at_end("goto x, y; x: a := T; goto L; y: b := T;"), set([[0, 1, 0], [1, 0, 0]]));
}

#[test]
fn if_elsif_else_take_the_first_that_holds() {
    let text = "a := *; b := *; if a then c := T; elsif b then c := F; else c := T; fi";
    assert_eq!(at_end(text), set([[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1]]));
    assert_eq!(at_end("if (*) then a := T; fi;"), set([[0, 0, 0], [1, 0, 0]]));
    assert_eq!(at_end("if a & * then b := T fi"), set([[0, 0, 0]]));
    assert_eq!(
        at_end("if (a) | !(b) then c := T; fi"),
        set([[0, 0, 1]]),
        "the parentheses are part of the condition"
    );
}

#[test]
fn while_runs_until_its_condition_fails() {
    assert_eq!(at_end("while !a do a := *; b := T; od"), set([[1, 1, 0]]));
    assert_eq!(at_end("while (*) do a := !a; od;"), set([[0, 0, 0], [1, 0, 0]]));
    assert_eq!(at_end("while T do skip; od"), set::<0, 3>([]));
}

#[test]
fn calls_pass_arguments_by_value_and_return_results() {
    let p = program(
        "decl a, b; bool<2> swap(x, y) begin decl t; t := x; x := y; y := t; return x, y; end
         void main() begin a, b := T, F; a, b := swap(a, b); L: skip; _, a := swap(a, b); M: skip; end",
    );
    assert_eq!(values(&p, "L", &["a", "b"]), set([[0, 1]]));
    assert_eq!(values(&p, "M", &["a", "b"]), set([[0, 1]]));
}

#[test]
fn procedures_may_be_used_before_they_are_defined_and_recursively() {
    let p = program(
        "decl a; void main() begin a := T; f(T); assert(!a); end
         void f(go) begin if go then f(F); else a := F; fi end",
    );
    assert!(!fails(&p));
}

#[test]
fn falling_off_the_end_returns_anything() {
    let p = program("decl a; bool f() begin skip; end void main() begin a := f(); L: skip; end");
    assert_eq!(values(&p, "L", &["a"]), set([[0], [1]]));
}

#[test]
fn enforce_holds_at_entry_after_statements_and_after_calls() {
    let f = "void g() begin a, b := *, *; end void f() begin enforce a = b;";
    let main = "void main() begin f(); end";
    let p = program(&format!("decl a, b; {f} E: a := *; M: a, b := *, *; g(); L: skip; end {main}"));
    let equal = set([[0, 0], [1, 1]]);
    for label in ["E", "M", "L"] {
        assert_eq!(values(&p, label, &["a", "b"]), equal, "{label}");
    }
    let p = program(&format!("decl a, b; {f} assert(a = b); a := !a; assert(F); end {main}"));
    assert!(!fails(&p), "the assignment breaks the invariant, so nothing follows");
    let p =
        program("decl a; void f() begin enforce a; skip; end void main() begin a := F; f(); assert(F); end");
    assert!(!fails(&p), "the procedure cannot even be entered");
    let p = program(
        "decl a; void f() begin enforce a; a := T; g(); end void g() begin a := F; L: a := T; end
                     void main() begin f(); end",
    );
    assert_eq!(values(&p, "L", &["a"]), set([[0]]), "a callee is not bound by it");
}

#[test]
fn names_in_braces_are_names() {
    let p = program(
        "decl {x>0}, {p->next==0}; void main() begin {x>0} := T; {p->next==0} := !{x>0}; L: skip; end",
    );
    assert_eq!(values(&p, "L", &["{x>0}", "{p->next==0}"]), set([[1, 0]]));
}

#[test]
fn comments_are_skipped() {
    assert_eq!(at_end("// a := T;\n /* b := T;\n */ c := T;"), set([[0, 0, 1]]));
}

#[test]
fn a_local_hides_a_global() {
    let p = program("decl a; void f() begin decl a; a := T; end void main() begin a := F; f(); L: skip; end");
    assert_eq!(values(&p, "L", &["a"]), set([[0]]));
}

#[test]
fn semicolons_are_optional_where_documented() {
    program("void main() begin if * then skip; fi while * do skip; od L: skip end");
    assert_eq!(errors("void main() begin skip skip; end"), ["1:24: expected `;`, found `skip`"]);
}

#[test]
fn labels_may_stand_alone_before_the_end_of_a_block() {
    let p = program("void main() begin if * then goto x; x: fi; while * do y: od; z: end");
    let kinds: Vec<_> = p.labels().map(|(label, node)| (label.to_owned(), p.location(node).kind)).collect();
    let expected = [("x", LocationKind::Label), ("y", LocationKind::Label), ("z", LocationKind::End)];
    assert_eq!(kinds, expected.map(|(label, kind)| (label.to_owned(), kind)));
}

#[test]
fn every_statement_is_a_location_on_its_line() {
    let p = program(
        "void main()\nbegin\nskip;\nif *\nthen\nskip;\nelsif *\nthen skip;\nfi;\nx:\nassert(T);\nend",
    );
    let lines: Vec<_> = p.nodes().filter_map(|node| p.line(node)).collect();
    assert_eq!(lines, [3, 4, 6, 7, 8, 11, 12, 11], "the last is the error of the check");
}

#[test]
fn a_trace_counts_statements_and_the_failing_check_or_label() {
    let text = "void main() begin skip; f(); assert(F); end void f() begin goto x; x: skip; end";
    let p = program(text);
    let trace = explored(&p).shortest_trace().unwrap();
    // skip, call, goto, skip, end, failing check
    assert_eq!(trace.length(&p), 6);
    let p = program("void main() begin skip; goto error; error: skip; end");
    assert_eq!(explored(&p).shortest_trace().unwrap().length(&p), 3);
}

#[test]
fn targets_are_asserts_and_error_labels_or_a_label_by_name() {
    let p = program(
        "void main() begin assert(T); SLIC_ERROR: skip; ERROR: skip; mine: skip; ERR: error: skip; end",
    );
    assert_eq!(p.targets(&TargetChoice::Default).unwrap().len(), 4);
    assert_eq!(p.targets(&TargetChoice::Label("mine".into())).unwrap().len(), 1);
    assert_eq!(p.targets(&TargetChoice::Label("main".into())).unwrap().len(), 1, "the entry of a procedure");
    let error = p.targets(&TargetChoice::Label("mien".into())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no label or procedure is called `mien`; did you mean one of `main`, `mine`?"
    );
}

#[test]
fn threads_are_read_and_found() {
    let p = program(
        "decl g; void t(a) begin g := a; end_thread; end
         void main() begin start_thread t(T); start_thread goto x; ASYNC_1: t(F);
         sync; atomic_begin; x: g := F; atomic_end; end",
    );
    let span = p.uses_threads().expect("threads");
    assert_eq!(p.source(span).slice(span), "end_thread");
    let starts = p.procedures[1].edges.iter().filter_map(|edge| match &edge.operation {
        Operation::StartThread(start) => Some(matches!(start, ThreadStart::Call { .. })),
        _ => None,
    });
    assert_eq!(starts.collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(body("skip;").uses_threads(), None);
}

#[test]
fn another_entry_can_be_chosen() {
    let text = "void main() begin assert(F); end void other() begin skip; end";
    assert!(!fails(&super::parse("t", text, Some("other")).unwrap()));
    let error = super::parse("t", "void f() begin skip; end", Some("g")).unwrap_err();
    assert!(error.to_string().contains("there is no procedure `g`"), "{error}");
}

#[test]
fn several_errors_are_reported_in_order() {
    let text = "decl a, a;\nvoid main() begin\n  a := ;\n  b := T;\n  goto nowhere;\n  assert(a;\n  f(a);\n\
                  x: x: skip;\n  a := 'a;\nend\nvoid main() begin end\n";
    let found = errors(text);
    assert_eq!(
        found,
        [
            "1:9: `a` is declared twice",
            "3:8: expected an expression, found `;`",
            "4:3: `b` is not declared",
            "5:8: there is no label `nowhere` here",
            "6:11: expected `)`, found `;`",
            "7:3: there is no procedure `f`",
            "8:4: there is another label `x`",
            "9:8: `'a` is only known after `constrain`",
            "11:6: there is another procedure `main`",
        ]
    );
}

#[test]
fn numbers_of_arguments_results_and_values_must_agree() {
    let f = "decl a, b; bool<2> f(x) begin return x, x; end void main() begin";
    for (statement, message) in [
        ("a := f(a);", "`f` returns 2 values, not 1 (`_` drops one)"),
        ("f(a);", "`f` returns 2 values, not 0 (`_` drops one)"),
        ("a, b := f();", "`f` takes 1 argument, not 0"),
        ("a, b := f(a, b);", "`f` takes 1 argument, not 2"),
        ("a, b := T;", "1 value assigned to 2 variables"),
        ("a := T, F;", "2 values assigned to 1 variable"),
        ("a, a := T, F;", "`a` is assigned twice"),
        ("return a;", "1 value returned instead of 0"),
        ("_ := a;", "`_` drops a result of a call; here is no call"),
        ("ASYNC_x: a, b := f(a);", "`ASYNC_x` starts a thread: it has no results"),
        ("start_thread goto y;", "there is no label `y` here"),
        ("start_thread g();", "there is no procedure `g`"),
    ] {
        let found = errors(&format!("{f} {statement} end"));
        assert!(found.len() == 1 && found[0].ends_with(message), "{statement}: {found:?}");
    }
}

#[test]
fn a_broken_condition_or_a_stray_word_does_not_hide_what_follows() {
    let text = "void main() begin\nif (a then\nx := T;\nfi;\nwhile ! do y := T; od;\nfi;\nz := T;\nend";
    assert_eq!(
        errors(text),
        [
            "2:7: expected `)`, found `then`",
            "3:1: `x` is not declared",
            "5:9: expected an expression, found `do`",
            "5:12: `y` is not declared",
            "6:1: expected a statement or `end`, found `fi`",
            "7:1: `z` is not declared",
        ]
    );
}

#[test]
fn a_broken_declaration_does_not_make_names_unknown() {
    assert_eq!(errors("decl a b; void main() begin a := b; end"), ["1:8: expected `;`, found `b`"]);
}

#[test]
fn at_most_twenty_errors_are_reported() {
    let text = format!("void main() begin {} end", "x := ; ".repeat(50));
    assert_eq!(errors(&text).len(), 20);
}

#[test]
fn a_file_without_main_and_an_empty_file_are_errors() {
    assert_eq!(errors("void f() begin skip; end\n"), ["1:24: there is no procedure `main`"]);
    assert_eq!(errors(""), ["1:1: there is no procedure `main`"]);
    assert_eq!(
        errors("void main() begin if * then skip; end"),
        ["1:35: expected a statement or `elsif` or `else` or `fi`, found `end`"]
    );
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let nested = format!("void main() begin assert({}T{}); end", "(".repeat(600), ")".repeat(600));
    assert!(errors(&nested)[0].ends_with("the expression is nested too deeply"));
    let blocks = format!("void main() begin {} skip; {} end", "if * then ".repeat(600), "fi ".repeat(600));
    assert!(errors(&blocks)[0].ends_with("statements are nested too deeply"));
    let chain = vec!["a"; 20_000].join(" & ");
    assert!(fails(&program(&format!("decl a; void main() begin assert({chain}); end"))));
    let elsifs = "elsif F then skip; ".repeat(5000);
    assert!(fails(&program(&format!("void main() begin if F then skip; {elsifs} else assert(F); fi end"))));
    let negations = "!".repeat(20_001);
    assert!(fails(&program(&format!("void main() begin assert({negations}T); end"))));
    assert!(
        errors(&format!("void main() begin assert({}); end", vec!["T"; 2000].join(" = ")))[0]
            .ends_with("nested too deeply")
    );
}

#[test]
fn failing_lines_are_those_on_some_failing_run() {
    let p = program("decl a;\nvoid main() begin\nif a then\nskip;\nelse\nassert(F);\nfi\nskip;\nend");
    let lines: Vec<u32> = explored(&p).lines(Runs::Failing).into_iter().collect();
    assert_eq!(lines, [3, 6]);
}

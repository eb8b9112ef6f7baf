//! Whether a C program reaches `reach_error` is judged by gcc: the compiled program, and the front
//! end with the interpreter, must say the same.

use std::fs;
use std::process::Command;

use wherefore_frontend::c::{Options, translate, translate_text};
use wherefore_program::{Interpreter, Program, TargetChoice};

/// Whether the run fails. Every choice is the least value.
fn fails(name: &str, program: &Program) -> bool {
    let targets = program.targets(&TargetChoice::Default).expect("targets");
    let interpreter = Interpreter::new(program);
    let mut state = interpreter.initial_states(1).0.remove(0);
    for _ in 0..100_000 {
        let Some(node) = state.node() else { return false };
        if targets.iter().any(|target| target.node == node) {
            return true;
        }
        match interpreter.successors(&state, 1).0.into_iter().next() {
            Some((_, next)) => state = next,
            None => return false,
        }
    }
    panic!("{name}: the run does not end");
}

/// Whether the compiled program calls `reach_error`.
fn fails_compiled(file: &std::path::Path) -> bool {
    let binary = file.with_extension("exe");
    let judge = file.with_file_name("judge.c");
    fs::write(&judge, "void _exit(int); void reach_error(void) { _exit(42); }\n")
        .expect("the judge is written");
    let flags = ["-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-std=gnu11"];
    let output = Command::new("cc").args(flags).arg("-o").arg(&binary).arg(file).arg(&judge).output();
    let output = output.expect("the compiler runs");
    assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    Command::new(&binary).status().expect("the program runs").code() == Some(42)
}

/// Judges programs, each a text behind the declaration of `reach_error`.
pub(crate) fn judge(class: &str, programs: &[&[u8]]) {
    let folder = std::env::temp_dir().join(format!("wherefore-judged-{}-{class}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let mut wrong = Vec::new();
    for (i, text) in programs.iter().enumerate() {
        let file = folder.join(format!("{class}{i}.c"));
        let whole = [b"extern void reach_error(void);\n".as_slice(), text, b"\n"].concat();
        fs::write(&file, whole).expect("the program is written");
        let expected = fails_compiled(&file);
        let shown = String::from_utf8_lossy(text).into_owned();
        match translate(&[file], &Options::default()) {
            Ok(translation) => {
                assert_eq!(translation.program.check(), Ok(()), "{shown}");
                let found = fails(&shown, &translation.program);
                if found != expected {
                    wrong.push(format!("gcc: {expected}, here: {found}: {shown}"));
                }
            }
            Err(error) => wrong.push(format!("gcc: {expected}, refused: {shown}\n{}", error.render())),
        }
    }
    let _ = fs::remove_dir_all(folder);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}

macro_rules! classes {
    ($($name:ident: [$($text:expr),* $(,)?];)*) => {
        $(#[test]
        fn $name() {
            judge(stringify!($name), &[$($text.as_ref()),*]);
        })*
    };
}

/// The condition is an error.
macro_rules! when {
    ($declarations:expr, $condition:expr) => {
        concat!($declarations, "\nint main(void) { if (", $condition, ") reach_error(); return 0; }")
    };
    ($declarations:expr, $statements:expr, $condition:expr) => {
        concat!(
            $declarations,
            "\nint main(void) { ",
            $statements,
            " if (",
            $condition,
            ") reach_error(); return 0; }"
        )
    };
}

classes! {
    literals_are_read_in_their_base: [
        when!("", "0x0b == 11"), when!("", "0x0b1 == 177"), when!("", "0x0bad == 2989"), when!("", "0X0B == 11"),
        when!("", "0b101 == 5"), when!("", "0B0101 == 5"), when!("", "017 == 15"), when!("", "0 == 00"),
        when!("", "0x0B0B == 0xb0b"), when!("", "0xb == 11"), when!("", "0x0 == 0"), when!("", "0x0b0 == 0"),
    ];
    bit_fields_have_types_of_their_width: [
        when!("struct { unsigned u : 7; } b;", "b.u = 61;", "(unsigned)b.u - 62 > 0"),
        when!("struct { unsigned u : 7; } b;", "b.u = 61;", "b.u - 62 > 0"),
        when!("struct { unsigned u : 7; } b;", "b.u = 61;", "(0, b.u) - 62 < 0"),
        when!("struct { unsigned u : 7; } b;", "", "(b.u = 5) - 62 < 0"),
        when!("struct { unsigned u : 7; } b;", "", "b.u++ - 1 < 0"),
        when!("struct { unsigned u : 7; } b;", "", "(b.u += 3) - 62 < 0"),
        when!("struct { unsigned u : 32; } b;", "b.u = 61;", "b.u - 62 > 0"),
        when!("struct { int s : 32; } b;", "b.s = 61;", "b.s - 62 < 0"),
        when!("struct { unsigned u : 7; } b;", "b.u = 100; b.u /= -3;", "b.u == 95"),
        when!("struct { unsigned u : 7; } b;", "b.u = 100; b.u %= -3;", "b.u == 1"),
        when!("struct { signed s : 3; } b;", "b.s = 4;", "b.s == -4 && (unsigned)b.s > 5"),
        when!("struct { unsigned long long b : 40; } x;", "x.b = 0x100;", "x.b << 32 == 0"),
        when!("struct { unsigned long long b : 40; } x;", "x.b = 0x100;", "(unsigned long long)x.b << 32 == 0"),
        when!("struct { unsigned long long b : 33; } x;", "x.b = 0x1ffffffff;", "x.b + 1 == 0"),
        when!("struct { long long b : 33; } x;", "x.b = -1;", "x.b < 0u"),
        when!("struct { unsigned long long b : 40; } x;", "x.b = -1;", "x.b + 1u == 0"),
        when!("struct { unsigned long long b : 40; } x;", "x.b = -1;", "x.b + 1ull == 0"),
        when!("struct { unsigned u : 7; } b;", "b.u = 61;", "(b.u ? b.u : b.u) - 62 < 0"),
        when!("struct { _Bool t : 1; } b;", "b.t = 4;", "b.t - 2 < 0"),
        when!("enum E { A, B = 3 }; struct { enum E e : 2; } b;", "b.e = B;", "b.e - 4 < 0"),
        when!("struct { unsigned u : 3; } b;", "b.u = 5; int n = 0; switch (b.u) { case 5: n = 1; }", "n"),
    ];
    floating_constants_are_exact: [
        when!("", "0x1p3 == 8"), when!("", "(int)0x10p0 == 16"), when!("", "0x1.8p1 == 3"), when!("", "0x.8p0f == 0.5"),
        when!("int a[(int)0x1p2];", "sizeof a == 16"), when!("", "(float)16777217 == 16777216"),
        when!("", "16777217.0f == 16777216"), when!("", "0.1f == 0.1"), when!("", "0.5f == 0.5"),
        when!("", "(float)0.1 == 0.1f"), when!("", "(double)9007199254740993 == 9007199254740992.0"),
        when!("", "(int)1e3 == 1000"), when!("", "(int)-1.5 == -1"), when!("", "0x1000003p0f == 16777220"),
        when!("", "(long)3.99 == 3"), when!("", "(_Bool)0.5"), when!("", "!0.0"), when!("", "(unsigned char)255.9 == 255"),
    ];
    lengths_of_parameters_are_evaluated: [
        when!("int f(int a, int b[a++]) { return a; }", "int e[4];", "f(1, e) == 2"),
        when!("int n; int g(void) { return n++; } int f(int b[g()]) { return n; }", "int e[4];", "f(e) == 1"),
        when!("int f(int a, int b[static a]) { return a; }", "int e[4];", "f(1, e) == 1"),
        when!("int f(int r, int c, int m[r][c]) { return m[1][2]; }", "int e[2][3] = {1, 2, 3, 4, 5, 6};", "f(2, 3, e) == 6"),
        when!("int f(int r, int c, int m[*][*]); int f(int r, int c, int m[r][c]) { c = 0; return m[1][0]; }",
            "int e[2][3] = {1, 2, 3, 4, 5, 6};", "f(2, 3, e) == 4"),
    ];
    bytes_of_literals_are_kept: [
        b"char *s = \"\xFF\"; int main(void) { if (s[0] == -1 && s[1] == 0) reach_error(); return 0; }",
        b"int main(void) { if (sizeof \"\xE4\xF6\" == 3) reach_error(); return 0; }",
        b"int main(void) { if ('\xE4' == -28) reach_error(); return 0; }",
        b"char s[] = \"\xE2\x82\"; int main(void) { if (s[1] == (char)0x82) reach_error(); return 0; } // \xFF",
        b"char s[] = \"\xEF\x9E\x80\"; int main(void) { if (sizeof s == 4 && s[0] == (char)0xEF) reach_error(); return 0; }",
        b"/* \xFF */ char s[] = \"\xC3\xA4\"; int main(void) { if (sizeof s == 3) reach_error(); return 0; }",
    ];
    bit_fields_that_share_a_byte_keep_their_neighbours: [
        when!("struct y { unsigned a : 4, b : 4; };", "struct y s = {1, 2}, *c = &s;", "c->a == 1 && c->b == 2"),
        when!("struct y { unsigned a : 4, b : 4; } s = {1, 2}, *c = &s;", "", "c->a == 1 && c->b == 2"),
        when!("struct y { unsigned a : 4, b : 4; };", "struct y *c = &(struct y){1, 2};", "c->a == 1 && c->b == 2"),
        when!("struct y { unsigned a : 4, b : 4; }; int f(struct y s) { struct y *c = &s; return c->a == 1 && c->b == 2; }",
            "struct y s = {1, 2};", "f(s)"),
        when!("struct y { unsigned a : 4, b : 4; }; int f(struct y s) { return s.a == 1 && s.b == 2; }",
            "struct y s = {1, 2};", "f(s)"),
        when!("union { struct { unsigned a : 4, b : 4; } s; unsigned char c; } v = {{1, 2}};", "", "v.c == 0x21"),
        when!("", "union { struct { unsigned a : 4, b : 4; } s; unsigned char c; } v = {{1, 2}};", "v.c == 0x21"),
        when!("struct S { unsigned f0 : 7; signed f1 : 2; } g[2][2];", "struct S l = {8, 1}; g[0][1] = l;",
            "g[0][1].f0 == 8 && g[0][1].f1 == 1"),
        when!("struct S { unsigned f0 : 7; signed f1 : 2; } g[2][2];", "struct S l = {8, 1}, *p = &g[0][1]; *p = l;",
            "g[0][1].f0 == 8 && g[0][1].f1 == 1"),
        when!("struct S { unsigned a : 3, b : 9, c : 5, d : 30; } x, y, *p = &x, *q = &y;",
            "p->a = 5; p->b = 300; p->c = 17; p->d = 123456789; *q = *p;",
            "q->a == 5 && q->b == 300 && q->c == 17 && q->d == 123456789"),
        when!("struct S { unsigned a : 3, b : 9, c : 5; int d; }; struct S f(void) { struct S s = {1, 2, 3, 4}; return s; }",
            "struct S s = f(), *p = &s;", "p->a == 1 && p->b == 2 && p->c == 3 && p->d == 4"),
        when!("struct T { unsigned c : 4; }; int f(struct T t) { struct T s[1]; s[0] = t; return s[0].c; }",
            "struct T t; t.c = 5;", "f(t) == 5"),
        when!("struct T { unsigned c : 4; int d[2]; }; int f(struct T t) { return t.c + t.d[1]; }",
            "struct T t = {5, {1, 2}};", "f(t) == 7"),
        when!("struct A { int x, y; }; struct B { struct A a; int z; };",
            "struct A t = {1, 2}; struct B b = {.a.x = 5, .a = t}; struct B *p = &b;", "p->a.x == 1"),
        when!("struct S { unsigned long long a : 61; unsigned b : 3; } __attribute__((packed)) s = {1, 5}, *p = &s;", "", "p->a == 1 && p->b == 5"),
    ];
    builtins_on_bits_are_exact: [
        when!("", "__builtin_bswap64(1) == 0x0100000000000000ULL"), when!("", "__builtin_bswap32(0x12345678) == 0x78563412"),
        when!("unsigned short x = 0x1234;", "__builtin_bswap16(x) == 0x3412"),
        when!("unsigned x = 0x12345678;", "__builtin_bswap32(x) == 0x78563412"),
        when!("unsigned long long x = 0x123456789abcdef0;", "__builtin_bswap64(x) == 0xf0debc9a78563412"),
        when!("int x = 5;", "__builtin_popcount(x) == 2 && __builtin_popcountll(-1) == 64 && __builtin_popcount(-1) == 32"),
        when!("unsigned x = 40; unsigned long l = 1ul << 40;", "__builtin_clz(x) == 26 && __builtin_ctz(x) == 3 && __builtin_clzl(l) == 23 && __builtin_ctzl(l) == 40"),
        when!("int x = 0, y = 8; long z = 1L << 33;", "__builtin_ffs(x) == 0 && __builtin_ffs(y) == 4 && __builtin_ffsl(z) == 34"),
        when!("unsigned x = 7; long long y = -1;", "__builtin_parity(x) == 1 && __builtin_parityll(y) == 0"),
        when!("int a[__builtin_popcount(7)];", "sizeof a == 12"),
    ];
    a_division_whose_result_is_not_used_does_not_trap: [
        "int z; int main(void) { 7 / z; reach_error(); return 0; }",
        "int z; int main(void) { 7 % z, z++; if (z) reach_error(); return 0; }",
        "int z; int main(void) { (void)(7 / z + 1); z = ((unsigned char)(7 % z) >> 2, 4); reach_error(); return 0; }",
        "int z, y = -1; int f(void) { return z = 5; } int main(void) { ((unsigned char)(f() % y) > 3, z / (z - 5)); if (z == 5) reach_error(); return 0; }",
        "int z; int main(void) { if (7 % z || 1) reach_error(); return 0; }",
        "int z; int main(void) { z = (7 % z && 0) + 3; reach_error(); return 0; }",
        "int z, n; int main(void) { z = ((unsigned char)(++n / z) / z, 4); if (n) reach_error(); return 0; }",
        "int z, n; int main(void) { if (++n || 1) z = n; if (z == 1) reach_error(); return 0; }",
        "int z; int main(void) { int r = 7 / z; reach_error(); return r; }",
        "int z; int main(void) { if (7 % z == 1) z = 3; reach_error(); return z; }",
        "int z; int main(void) { long r = (z++, 8 / (z - 1)); reach_error(); return r; }",
        "int z = -1, x = -2147483647 - 1; int main(void) { x / z; x % z; reach_error(); return 0; }",
    ];
    operands_of_assembly_are_evaluated: [
        "int n, d; int *f(void) { n++; return &d; } int main(void) { __asm__(\"\" : \"+r\"(*f())); if (n == 1) reach_error(); return 0; }",
        "int n, a[3]; int main(void) { int i = 0; __asm__(\"\" : \"+r\"(a[i++]), \"+r\"(n)); if (i == 1) reach_error(); return 0; }",
    ];
    builtins_of_the_library_have_its_types: [
        when!("", "__builtin_labs(-5000000000L) == 5000000000L"), when!("long long x = -5000000000;", "__builtin_llabs(x) == 5000000000"),
        when!("char t[] = \"abc\";", "__builtin_strlen(t) == 3 && __builtin_strchr(t, 'b') == t + 1"),
        when!("char t[4];", "__builtin_memcpy(t, \"abc\", 4);", "t[2] == 'c'"),
        when!("", "int *p = __builtin_malloc(4); *p = 3;", "*p == 3"),
        when!("", "__builtin_abs(-3) == 3"),
        "int main(void) { __builtin_exit(0); reach_error(); return 0; }",
        "int main(void) { int x = 1; if (x) __builtin_trap(); reach_error(); return 0; }",
    ];
    designators_replace_what_was_there: [
        when!("struct H { char I[6]; int J; } m[] = { { { \"foo\" }, 1 }, [0] = { .I[0] = 'b' } };", "m[0].I[1] == 0 && m[0].J == 0"),
        when!("struct H { char I[6]; int J; } m[] = { { { \"foo\" }, 1 }, [0].I = { \"a\" }, [0].J = 2 };", "m[0].I[1] == 0 && m[0].I[2] == 0 && m[0].J == 2"),
        when!("struct H { char I[6]; int J; } m[] = { { { \"foo\" }, 1 }, [0].I[0] = 'b' };", "m[0].I[1] == 'o' && m[0].J == 1"),
        when!("union U { int a; char b; } u[2] = { [1].a = 0x01020304, [1].b = 1 };", "u[1].a == 1"),
        when!("union U { char b; int a; } u[2] = { [1].a = 0x01020304, [0].b = 1, [1] = {7} };", "u[1].a == 7"),
        when!("struct P { int x, y; }; struct Q { struct P p; int z; };", "struct Q q = { .p.x = 4, .p = {.y = 5}, .z = 3 };", "q.p.x == 0"),
        when!("int a[5] = { [4] = 9, [0] = 1, 2, [4] = 3, [1] = 7 };", "a[4] == 3 && a[1] == 7"),
    ];
    flexible_members_have_initial_values: [
        when!("struct S { int n; int a[]; } s = { 2, { 7, 8 } };", "s.a[1] == 8 && sizeof s == 4"),
        when!("struct S { int n; char d[]; } s = { 2, \"abc\" };", "s.d[2] == 'c' && s.d[3] == 0"),
        when!("struct S { int n; int a[]; } s = { 2, { 7, 8 } }, *p = &s;", "p->a[0] == 7 && p->a[1] == 8"),
        when!("struct S { int n; int a[]; } s = { .a = { [2] = 5 } };", "s.a[2] == 5 && s.a[1] == 0"),
        when!("struct S { int n; struct { short x, y; } a[]; };", "static struct S s = { 1, { { 1, 2 }, { 3, 4 } } };", "s.a[1].x == 3 && sizeof(struct S) == 4"),
        when!("struct S { long n; char a[]; } s = { 2 };", "s.n == 2 && sizeof s == 8"),
    ];
    enumerators_have_the_type_of_gcc: [
        when!("enum { A = 0x80000000 };", "A + A == 0"), when!("enum { A = 0x80000000 };", "sizeof(A) == 4"),
        when!("enum E { A = -1, B = 0x80000000 };", "sizeof(enum E) == 8"), when!("enum E { A = -1, B = 0x80000000 };", "B - 1 == 0x7fffffff && sizeof(B) == 8 && sizeof(A) == 4"),
        when!("enum E { A = 0xffffffffffffffff };", "A > 0 && sizeof(enum E) == 8"), when!("enum E { A = 0xffffffff };", "enum E e = A; e++;", "e == 0"),
        when!("enum E { A = 5, B, C = -3, D };", "B == 6 && D == -2 && sizeof(enum E) == 4"),
        when!("enum E { A = -5000000000 };", "A < 0 && sizeof(enum E) == 8"), when!("enum E { A, B = 1LL };", "sizeof B == 4"),
    ];
    sizes_and_casts_are_evaluated_where_they_are: [
        when!("", "int a = 1; int n = sizeof(*(++a, (char (*)[a])0));", "a == 2 && n == 2"),
        when!("int i; void *p;", "p = (int (*)[++i])p;", "i == 1"), when!("int i; void *p;", "int j = i++, k = sizeof(*(int (*)[++i])p);", "i == 2 && k == 8"),
        when!("", "int n = 1, c = 0; while (n < 4 && sizeof(char[n]) == n) { n++; c++; }", "c == 3"),
        when!("", "int n = 2; char b[n][3]; int i = 0; int s = sizeof(b[i++]);", "i == 0 && s == 3"),
        when!("", "int n = 3; char b[2][n]; int i = 0; int s = sizeof(b[i++]);", "i == 1 && s == 3"),
        when!("", "int i = 0; int s = sizeof(i++);", "i == 0"), when!("", "int n = 0; int s = n ? sizeof(char[n++]) : 5;", "n == 0 && s == 5"),
    ];
    heads_of_statements_are_scopes: [
        when!("struct foo { char a; };", "if (sizeof(struct foo { int a; double b; })) (void)0;", "sizeof(struct foo) == 1"),
        when!("enum { A = 1 };", "while (sizeof(enum { A = 2 }) > 9) {}", "A == 1"), when!("enum { A = 1 };", "do {} while (sizeof(enum { A = 2 }) > 9);", "A == 1"),
        when!("enum { A = 1 };", "switch (sizeof(enum { A = 2 })) { default: ; }", "A == 1"), when!("enum { A = 1 };", "for (; sizeof(enum { A = 2 }) > 9;) ;", "A == 1"),
    ];
    assembly_without_instructions_moves_values: [
        when!("", "int x = 5; __asm__ volatile(\"\" : \"+r\"(x));", "x == 5"), when!("", "int x = 5, y; __asm__(\"\" : \"=r\"(y) : \"0\"(x));", "y == 5"),
        when!("", "int x = 5, y = 6; __asm__(\"\" : \"=r\"(x), \"=r\"(y) : \"0\"(y), \"1\"(x));", "x == 6 && y == 5"),
        when!("int g = 4;", "int *p; __asm__(\"\" : \"=r\"(p) : \"0\"(&g)); *p = 7;", "g == 7"), when!("", "int x = 1; __asm__ volatile(\"\" ::\"r\"(x++):\"memory\");", "x == 2"),
        when!("", "int x = 3, y; __asm__(\"\" : [o] \"=r\"(y) : \"[o]\"(x));", "y == 3"),
    ];
    more_of_gnu: [
        when!("struct B { int a; } b = (struct B) { }; int f(void) {}", "b.a == 0"), when!("struct S { int a; } __attribute__((ms_struct)); int x;", "x == 0"),
        when!("", "__label__ out; int x = 1; goto out; x = 2; out: ;", "x == 1"), when!("", "int x = 0; goto *&&a; x = 1; a: ;", "x == 0"),
        when!("", "__builtin_clrsb(1) == 30 && __builtin_clrsb(-1) == 31 && __builtin_clrsb(0) == 31"), when!("int v = -7;", "__builtin_clrsb(v) == 28"),
        when!("struct s { int a; } s; double d; int i; char *p;", "__builtin_classify_type(i) == 1 && __builtin_classify_type(p) == 5 && __builtin_classify_type(d) == 8 && __builtin_classify_type(s) == 12"),
        when!("long long a = -1; long long llabs(long long); long long llabs(long long b) { return 3; }", "llabs(a) == 1"),
        when!("static int abs(int b) { return 3; }", "abs(-1) == 3"), when!("int j; void cd(void) __attribute__((constructor(800), destructor(800))); void cd(void) { j++; }", "j == 1"),
        when!("int j; void cd(void) __attribute__((constructor(800), destructor(800))); void cd(void) { if (j == 2) reach_error(); j++; }", "j == 5"),
        when!("typedef __CHAR16_TYPE__ c; c *s = u\"a\" \"b\";", "s[1] == 'b'"),
        when!("typedef __CHAR16_TYPE__ c; c *s = \"a\" u\"b\";", "s[1] == 'b' && sizeof(\"a\" u\"b\"[0]) == 2"),
    ];
    builtins_of_the_compiler: [
        when!("int z, y;", "__builtin_expect(y, z++);", "z == 1"), when!("int a[3];", "sizeof(typeof(typeof(a))) == sizeof(__typeof__(a))"), when!("int z = 3;", "__builtin_expect(z, 5) == 3"),
        when!("", "__builtin_expect_with_probability(5000000000L, 1, 0.9) == 5000000000L"),
        when!("", "sizeof(__builtin_choose_expr(0, 3, 4L)) == 8"), when!("", "sizeof(__builtin_choose_expr(1, 3, 4L)) == 8"),
        when!("int x;", "__builtin_choose_expr(1, x, 4) = 3;", "x == 3"),
        when!("int x;", "__builtin_constant_p(3) && !__builtin_constant_p(x) && __builtin_constant_p(1.5)"),
        when!("", "__builtin_types_compatible_p(int, const int)"), when!("int a[3];", "__builtin_types_compatible_p(typeof(a), typeof(&a[0]))"),
        when!("struct s { int x; };", "__builtin_types_compatible_p(struct s *, struct s *) && !__builtin_types_compatible_p(int, char [4])"),
        when!("int x = 3, y;", "y = __sync_val_compare_and_swap(&x, 3, 5);", "x == 5 && y == 3"),
        when!("int x = 3; _Bool y;", "y = __sync_bool_compare_and_swap(&x, 4, 5);", "x == 3 && !y"),
        when!("int x[2] = {3, 4}, *p = x;", "int w = 3; __atomic_compare_exchange_n(p++, &w, 7, 0, 5, 5);", "x[0] == 7 && p == x + 1"),
        when!("int x;", "__sync_synchronize(); __atomic_thread_fence(5); x = 1;", "x == 1"),
    ];
    variable_arguments_are_passed_in_order: [
        when!("#include <stdarg.h>\nint sum(int n, ...) { va_list ap; int s = 0; va_start(ap, n); while (n--) s = s * 10 + va_arg(ap, int); va_end(ap); return s; }",
            "", "sum(3, 1, 2, 3) == 123 && sum(0) == 0 && sum(1, (char)7) == 7"),
        when!("#include <stdarg.h>\nstatic long v(const char *f, va_list ap) { long r = 0; for (; *f; f++) r = r * 100 + (*f == 'i' ? va_arg(ap, int) : *f == 'l' ? va_arg(ap, long) : *va_arg(ap, char *)); return r; }\n\
            long f(const char *f, ...) { va_list ap; va_start(ap, f); long r = v(f, ap); va_end(ap); return r; }",
            "", "f(\"ils\", 3, 4L, \"A\") == 30465 && f(\"sss\", \"!\", \"\\\"\", \"#\") == 333435"),
        when!("#include <stdarg.h>\nint two(va_list ap) { return va_arg(ap, int) + va_arg(ap, int); }\n\
            int f(int n, ...) { va_list ap, c; va_start(ap, n); va_copy(c, ap); int a = two(c), b = two(c); va_end(c); int x = two(ap); va_end(ap); return a * 10000 + b * 100 + x; }",
            "", "f(0, 1, 2, 10, 20) == 33003"),
        when!("#include <stdarg.h>\nstruct P { int x, y, z; }; int f(int n, ...) { va_list ap; va_start(ap, n); struct P p = va_arg(ap, struct P); int k = va_arg(ap, int); va_end(ap); return p.x + 10 * p.y + 100 * p.z + 1000 * k; }",
            "struct P p = {1, 2, 3};", "f(0, p, 4) == 4321"),
        when!("#include <stdarg.h>\nint f(int n, ...) { va_list ap; va_start(ap, n); int *p = va_arg(ap, int *); *p = n; va_end(ap); return 0; }",
            "int x = 0; f(5, &x);", "x == 5"),
        when!("#include <stdarg.h>\nint count(char *s, ...) { va_list ap; int n = 0; va_start(ap, s); for (; s; s = va_arg(ap, char *)) n++; va_end(ap); return n; }",
            "", "count(\"a\", \"b\", \"c\", (char *)0) == 3 && count(\"a\", \"b\", 0) == 2"),
        when!("#include <stdarg.h>\nint f(int n, ...) { va_list ap; va_start(ap, n); int r = 0; for (int i = 0; i < n; i++) r = 10 * r + va_arg(ap, int); return r; } int x;",
            "int r = f(3, x++, x++, x++);", "r == 210 && x == 3"),
        when!("#include <stdarg.h>\nint f(int n, ...) { va_list ap; int r = 0; va_start(ap, n); while (n-- > 0) r += va_arg(ap, int) * (n > 1 ? f(1, n) : 1); va_end(ap); return r; }",
            "", "f(4, 1, 2, 3, 4) == 14"),
        when!("#include <stdarg.h>\nlong f(int n, ...) { va_list ap; va_start(ap, n); double d = va_arg(ap, double); long r = va_arg(ap, long); va_end(ap); return r; }",
            "", "f(0, 1.5, 77L) == 77 && f(0, 2.5f, -1L) == -1"),
        when!("#include <stdarg.h>\nint f(int n, ...) { va_list ap; va_start(ap, n); unsigned char *p = va_arg(ap, void *); unsigned u = va_arg(ap, unsigned); unsigned long long l = va_arg(ap, unsigned long long); va_end(ap); return p[1] + (u == 4000000000u) + (l == 1ull << 40); }",
            "unsigned char b[2] = {1, 2};", "f(0, b, 4000000000u, 1ull << 40) == 4"),
        when!("#include <stdarg.h>\nint g(va_list *ap) { return va_arg(*ap, int); } int f(int n, ...) { va_list ap; va_start(ap, n); int a = g(&ap); int b = g(&ap); va_end(ap); return a * 10 + b; }",
            "", "f(0, 4, 5) == 45 && sizeof(va_list) == 24"),
        when!("int ignores(int n, ...) { return n; } int (*p)(int, ...) = ignores; int z;", "", "p(1, z = 5, 3) == 1 && z == 5 && ignores(2, 3) == 2"),
        when!("#include <stdarg.h>\nint f(int n, ...); int g(void) { return f(1, 6); } int f(int n, ...) { va_list ap; va_start(ap, n); n = va_arg(ap, int); va_end(ap); return n; }", "", "g() == 6"),
    ];
    what_has_no_type_is_an_int: [
        "static x = 5; main() { if (x == 5) reach_error(); return 0; }",
        "f(a, b) char *b; { return a + b[0]; } int main(void) { if (f(1, \"a\") == 98) reach_error(); return 0; }",
        "static f() { return 3; } int main(void) { if (f() == 3) reach_error(); return 0; }",
        "int main(void) { auto i = 3; register j = 4; const k = 5; static m; if (i + j + k + m == 12) reach_error(); return 0; }",
        "struct { int a; } const t[] = {{3}}; int const u = 4; int main(void) { if (t[0].a + u == 7) reach_error(); return 0; }",
        "int f(a, c, s) char c; short *s; { return a + c + *s; } int main(void) { short s = 3; if (f(1, 258, &s) == 6) reach_error(); return 0; }",
    ];
    other_spellings_mean_the_same: [
        "int a<:3:> = <% 1, 2, 3 %>; int main(void) <% if (a<:2:> == 3) reach_error(); return 0; %>",
        "char s[] = \"\\u00e4\\U0001F600\"; int main(void) { if (sizeof s == 7 && (unsigned char)s[0] == 0xc3 && L'\\u00e4' == 0xe4) reach_error(); return 0; }",
        "int \\u00e4b = 3; int main(void) { if (\\u00e4b == 3) reach_error(); return 0; }",
        "int \u{e4}b = 3; int main(void) { if (\u{e4}b == 3) reach_error(); return 0; }",
        "[[maybe_unused]] static int x = 3; [[nodiscard]] int f(void) { return 1; } int main(void) { [[maybe_unused]] int y = 2; \
            switch (x) { case 3: y = 4; [[fallthrough]]; case 4: y++; } if (y == 5) reach_error(); return 0; }",
        "asm(\"# nothing\"); __asm__(\".globl foo_bar\"); int main(void) { reach_error(); return 0; }",
        "struct S { int a; _Static_assert(sizeof(int) == 4, \"b\"); int b; }; int main(void) { _Static_assert(1); reach_error(); return 0; } _Static_assert(sizeof(int) == 4);",
        "int f(int x) { switch (x) { case 1: x++; default: } return x; } int main(void) { if (f(1) == 2) reach_error(); return 0; }",
        when!("struct S { char a; _Alignas(8) char b; _Alignas(double) char c; };", "sizeof(struct S) == 24"),
        when!("", "sizeof(_Float32) == 4 && sizeof(_Float64x) == 16 && sizeof(_Float128) == 16 && sizeof(_Float32x) == 8"),
        when!("", "sizeof(u8\"a\") == 2 && sizeof(u\"\u{1F600}\") == 6 && sizeof(U\"a\") == 8 && u'x' == 120"),
    ];
    definitions_for_inlining_are_replaced: [
        "extern inline __attribute__((gnu_inline)) int f(int x) { return x; } int f(int x) { return x + 1; } int main(void) { if (f(1) == 2) reach_error(); return 0; }",
        "int f(int x) { return x + 1; } int main(void) { if (f(1) == 2) reach_error(); return 0; } extern int f(int x);",
        "#define _FORTIFY_SOURCE 2\n#include <string.h>\nint main(void) { char b[8]; strcpy(b, \"ab\"); memset(b + 2, 3, 2); if (b[1] == 98 && b[3] == 3) reach_error(); return 0; }",
    ];
    arithmetic_tells_whether_it_overflows: [
        when!("int a = 2147483647, r;", "int o = __builtin_add_overflow(a, 1, &r);", "o && r == -2147483647 - 1"),
        when!("int a = 2147483646, r;", "int o = __builtin_add_overflow(a, 1, &r);", "!o && r == 2147483647"),
        when!("unsigned a = 1, r;", "int o = __builtin_sub_overflow(a, 2u, &r);", "o && r == 4294967295u"),
        when!("int a = 65536, r;", "int o = __builtin_mul_overflow(a, a, &r);", "o && r == 0"),
        when!("unsigned a = 4294967295u; int r;", "int o = __builtin_mul_overflow(a, a, &r);", "o && r == 1"),
        when!("long a = 9223372036854775807, r;", "int o = __builtin_add_overflow(a, 1L, &r);", "o && r < 0"),
        when!("unsigned long a = -1, r;", "int o = __builtin_add_overflow(a, 1ul, &r);", "o && r == 0"),
        when!("unsigned long a = -1; long r;", "int o = __builtin_add_overflow(a, -1, &r);", "o"),
        when!("unsigned long a = -1; unsigned long r;", "int o = __builtin_add_overflow(a, -1, &r);", "!o && r == -2ul"),
        when!("long a = 3037000500, r;", "int o = __builtin_mul_overflow(a, a, &r);", "o"),
        when!("long a = 3037000499, r;", "int o = __builtin_mul_overflow(a, -a, &r);", "!o && r == -9223372030926249001"),
        when!("unsigned long a = 4294967296, r;", "int o = __builtin_mul_overflow(a, a, &r);", "o && r == 0"),
        when!("unsigned long a = 4294967296, r;", "int o = __builtin_mul_overflow(a, 4294967295ul, &r);", "!o"),
        when!("unsigned long a = 5, r;", "int o = __builtin_sub_overflow(a, -3, &r);", "!o && r == 8"),
        when!("int a = -1; unsigned char r;", "int o = __builtin_add_overflow(a, 257, &r);", "o && r == 0"),
        when!("long a = 1; short r;", "int o = __builtin_mul_overflow(a, 40000, &r);", "o && r == -25536"),
        when!("int r;", "int o = __builtin_sadd_overflow(2147483647, 1, &r);", "o"), when!("unsigned long r;", "int o = __builtin_umull_overflow(-1ul, 2, &r);", "o && r == -2ul"),
        when!("int a = 5;", "__builtin_add_overflow_p(a, 250, (unsigned char)0) == 0 && __builtin_add_overflow_p(a, 251, (unsigned char)0)"),
        when!("int a = 2147483647;", "int o = __builtin_add_overflow(a, 1, &a);", "o && a < 0"),
        when!("int n, r; int f(void) { return ++n; }", "__builtin_add_overflow(f(), f(), &r);", "n == 2 && r == 3"),
    ];
    constructors_and_destructors_run: [
        when!("int z; __attribute__((constructor)) void init(void) { z = 5; }", "z == 5"),
        "int z; static void fin(void) __attribute__((destructor)); static void fin(void) { if (z) reach_error(); }
         int main(void) { z = 1; return 0; }",
        "int z; __attribute__((destructor)) static void fin(void) { if (z == 2) reach_error(); }
         void exit(int); void f(void) { z = 2; exit(0); } int main(void) { z = 1; f(); z = 3; return 0; }",
        "int z; __attribute__((destructor)) static void fin(void) { if (z) reach_error(); }
         void _exit(int); int main(void) { z = 1; _exit(0); }",
        when!("int z; __attribute__((constructor(102))) void a(void) { z = z * 10 + 1; } __attribute__((constructor)) void b(void) { z = z * 10 + 2; }
            __attribute__((constructor(101))) void c(void) { z = z * 10 + 3; } __attribute__((constructor)) void d(void) { z = z * 10 + 4; }", "z == 3124"),
        "int z; __attribute__((destructor(102))) void a(void) { z = z * 10 + 1; } __attribute__((destructor)) void b(void) { z = z * 10 + 2; }
         __attribute__((destructor(101))) void c(void) { if (z == 421) reach_error(); } __attribute__((destructor)) void d(void) { z = z * 10 + 4; }
         int main(void) { return 0; }",
    ];
    attributes_change_layouts: [
        when!("enum E { A, B } __attribute__((packed));", "sizeof(enum E) == 1"), when!("enum __attribute__((packed)) E { A, B = 300 };", "sizeof(enum E) == 2"),
        when!("enum E { A = -1, B = 200 } __attribute__((packed));", "sizeof(enum E) == 2"), when!("typedef enum { A = -128, B = 127 } __attribute__((packed)) E;", "sizeof(E) == 1"),
        when!("typedef short v __attribute__((vector_size(16)));", "sizeof(v) == 16"),
        when!("typedef short v __attribute__((vector_size(16))); v a = {1, 2}, b;", "b = a;", "sizeof a == 16 && ((short *)&b)[1] == 2"),
        when!("struct __attribute__((packed)) S { char a; int b; };", "sizeof(struct S) == 5"), when!("union __attribute__((aligned(8))) U { char a; };", "sizeof(union U) == 8"),
        when!("struct S { char a; int b __attribute__((packed)); };", "sizeof(struct S) == 5"), when!("struct S { char a; __attribute__((aligned(8))) int b; };", "sizeof(struct S) == 16"),
        when!("struct S { char a; struct { int x; } __attribute__((packed)) b; };", "sizeof(struct S) == 5"),
        "#pragma pack(push, 1)\nstruct S { char a; int b; };\n#pragma pack(pop)\nstruct T { char a; int b; };
         int main(void) { if (sizeof(struct S) == 5 && sizeof(struct T) == 8) reach_error(); return 0; }",
        "#pragma pack(2)\nstruct S { char a; int b; };\n#pragma pack()\nstruct T { char a; int b; };
         int main(void) { if (sizeof(struct S) == 6 && sizeof(struct T) == 8) reach_error(); return 0; }",
        when!("int f(void) __attribute__((weak)); int f(void) { return 3; }", "f && f() == 3"),
        when!("struct __attribute__((__unused__)) S { int a; } __attribute__((may_alias)) s;", "s.a = 3;", "s.a == 3"),
        when!("typedef int T __attribute__((mode(HI)));", "sizeof(T) == 2"),
        when!("typedef struct { long a, b; } T __attribute__((aligned(16))); struct { char c; T t; } s;", "sizeof s == 32"),
        "#include <pthread.h>\nint main(void) { reach_error(); return 0; }",
    ];
    extensions_of_gnu: [
        when!("int a, n; int f(void) { n++; return 4; }", "int x = a ?: 7, y = f() ?: 8;", "x == 7 && y == 4 && n == 1"),
        when!("int x = 3; int y = 0 ? : 5;", "x ?: 1;", "y == 5"), when!("char *p = 0;", "char *q = p ?: \"a\";", "q[0] == 'a'"),
        when!("struct S { int a, b; };", "struct S s = {1, 2}; s = (struct S){};", "s.a == 0 && s.b == 0"),
        when!("struct S { int a, b; }; int f(struct S *s) { return s->b; }", "", "f(&(struct S){}) == 0"),
        "int f(void) {} int main(void) { int x = 0; if (x) {} while (x) {} for (; x;) {} switch (x) {} if (!x) reach_error(); return 0; }",
        when!("typedef int T; T (f)(T x) { return x + 1; } T *(g)(T *x) { return x; }", "T x = 3;", "f(3) == 4 && *g(&x) == 3"),
        when!("int (f)(int x) { return x + 1; } int (*fp)(int) = f;", "", "fp(3) == 4"),
        when!("char c = '\\e'; char s[] = \"a\\e1\\\\e\";", "", "c == 27 && s[1] == 27 && s[2] == '1' && s[3] == '\\\\' && sizeof s == 6"),
        when!("", "int x = 3; __auto_type y = x + 1LL; __auto_type p = &x; *p = 5;", "sizeof y == 8 && x == 5"),
        when!("int f() { return 3; }", "", "f(1, 2) == 3"),
        when!("", "_Generic(1, int: 2, default: 3) == 2"), when!("", "_Generic(1.0f, int: 2, float: 4, default: 3) == 4"),
        when!("", "_Generic(\"a\", int: 2, default: 3) == 3"), when!("struct S { int a; } s;", "_Generic(&s, struct S *: 1, int *: 2) == 1"),
        when!("union U { char a; int b; }; int f(union U u) { return 1; }", "union U u; u.b = 3;", "f(u)"),
        when!("struct s1 { char x[4]; }; int g(char *p) { return p[0]; } int f(struct s1 a) { return g(a.x); }", "struct s1 a = {\"ab\"};", "f(a) == 'a'"),
        "#include <errno.h>\nint main(void) { errno = 3; int x = errno; if (x == 3) reach_error(); return 0; }",
        "#include <ctype.h>\nint main(void) { int x = isdigit('a'); reach_error(); return x; }",
    ];
}

/// Of a function that one file calls weak, the definition of the other file is taken, whichever is
/// read first. Of objects that is not followed.
#[test]
fn other_definitions_replace_weak_ones() {
    let strong = "int f(void) { return 2; } int own(void) { return f(); }";
    let main = "extern void reach_error(void); int own(void); int f(void);\n\
        int main(void) { if (f() == 2 && own() == 2) reach_error(); return 0; }";
    let folder = std::env::temp_dir().join(format!("wherefore-judged-{}-weak", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let check = |names: &[&str], texts: &[&str]| {
        let files: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        for (file, text) in files.iter().zip(texts) {
            fs::write(file, text).expect("the file is written");
        }
        translate(&files, &Options::default())
    };
    for weak in [
        "__attribute__((weak)) int f(void) { return 1; }",
        "int f(void) __attribute__((weak)); int f(void) { return 1; }",
        "__attribute__((weak)) int f(void); int f(void) { return 1; }",
        "int f(void) { return 1; } int f(void) __attribute__((weak));",
    ] {
        let late = weak.ends_with("((weak));");
        let first = format!("{weak}\n{main}\n");
        for (names, texts) in
            [(["a.c", "b.c"], [first.as_str(), strong]), (["b.c", "a.c"], [strong, first.as_str()])]
        {
            match check(&names, &texts) {
                Ok(translation) => assert!(fails(weak, &translation.program), "{weak}: {names:?}"),
                Err(error) => assert!(late && names[0] == "b.c", "{weak}: {names:?}: {}", error.render()),
            }
        }
        let alone = weak.replace("return 1", "return 2");
        let alone = format!("{alone}\nint own(void) {{ return f(); }}\n{main}\n");
        let translation = check(&["c.c"], &[&alone]).unwrap_or_else(|error| panic!("{}", error.render()));
        assert!(fails(weak, &translation.program), "{weak}");
    }
    let user = "extern void reach_error(void); extern int o; int main(void) { if (o == 0) reach_error(); return 0; }";
    for (one, two) in [
        ("__attribute__((weak)) int o = 1;", "int o;"),
        ("int o;", "int o __attribute__((weak)) = 1;"),
        ("__attribute__((weak)) int o = 1;", "int o = 2;"),
    ] {
        let translation = check(&["d.c", "e.c", "u.c"], &[one, two, user]);
        let translation = translation.unwrap_or_else(|error| panic!("{}", error.render()));
        assert!(!translation.unsupported.is_empty(), "{one} {two}");
    }
    let _ = fs::remove_dir_all(folder);
}

/// Programs that are refused, each with what is said.
/// Each program is a header and two files that include it.
#[test]
fn structures_go_from_file_to_file() {
    let programs = [
        (
            "struct S { int a, b; struct S *next; };",
            "struct S f(struct S s) { s.a += s.b; return s; }",
            "struct S f(struct S); int main(void) { struct S s = {1, 2, 0}; if (f(s).a == 3) reach_error(); return 0; }",
        ),
        (
            "typedef struct { char c; long l; } T; struct O { T t; union { int i; char b[4]; } u; };",
            "T g(struct O *o) { o->u.i++; return o->t; }",
            "T g(struct O *); int main(void) { struct O o = {{1, 2}, {6}}; T t = g(&o); if (t.l == 2 && o.u.b[0] == 7) reach_error(); return 0; }",
        ),
        (
            "",
            "struct L { char a; }; static struct L l = {3}; int h(void) { return l.a; }",
            "struct L { int a, b; }; int h(void); int main(void) { struct L l = {1, 2}; if (l.b + h() == 5 && sizeof l == 8) reach_error(); return 0; }",
        ),
        (
            "struct P; struct Q { struct P *p; }; struct P { int x; };",
            "struct P *make(struct Q q) { q.p->x++; return q.p; }",
            "struct P *make(struct Q); int main(void) { struct P p = {1}; struct Q q = {&p}; if (make(q)->x == 2) reach_error(); return 0; }",
        ),
    ];
    let folder = std::env::temp_dir().join(format!("wherefore-judged-{}-files", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    for (i, (header, one, two)) in programs.iter().enumerate() {
        fs::write(folder.join(format!("h{i}.h")), format!("{header}\n")).expect("the header is written");
        let files = [(0, one), (1, two)].map(|(k, text)| {
            let file = folder.join(format!("p{i}-{k}.c"));
            let head = format!("extern void reach_error(void);\n#include \"h{i}.h\"\n");
            fs::write(&file, format!("{head}{text}\n")).expect("the program is written");
            file
        });
        let judge = folder.join(format!("judge{i}.c"));
        let binary = folder.join(format!("p{i}.exe"));
        fs::write(&judge, "void _exit(int); void reach_error(void) { _exit(42); }\n")
            .expect("the judge is written");
        let output = Command::new("cc").args(["-w", "-o"]).arg(&binary).args(&files).arg(&judge).output();
        assert!(output.expect("the compiler runs").status.success(), "{two}");
        assert_eq!(Command::new(&binary).status().expect("the program runs").code(), Some(42), "{two}");
        match translate(&files, &Options::default()) {
            Ok(translation) => assert!(fails(two, &translation.program), "{two}"),
            Err(error) => panic!("{two}: {}", error.render()),
        }
    }
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn cleanup_runs_when_scopes_are_left() {
    let head = "int t[32], n; void c(int *p) { t[n++] = *p; } void d(int *p) { t[n++] = *p + 100; }\n\
        #define C __attribute__((cleanup(c)))\n#define D __attribute__((__cleanup__(d)))\n\
        #define IS(i, v) if (t[i] != v) reach_error();\n#define N(v) if (n != v) reach_error();\n";
    let bodies = [
        "int main(void) { { int x C = 4; x++; } N(1) IS(0, 5) return 0; }",
        "int main(void) { { int x C = 1; int y D = 2; } N(2) IS(0, 102) IS(1, 1) return 0; }",
        "int main(void) { for (int i = 0; i < 3; i++) { int x C = i; if (i == 1) continue; n += 0; } N(3) IS(1, 1) return 0; }",
        "int main(void) { for (int i C = 7; i < 9; i++) {} N(1) IS(0, 9) return 0; }",
        "int main(void) { while (1) { int x C = 3; { int y D = 4; break; } } N(2) IS(0, 104) IS(1, 3) return 0; }",
        "int f(void) { int x C = 5; return x + n; } int main(void) { if (f() != 5) reach_error(); N(1) return 0; }",
        "int f(int *q) { int x C = 5; { int y C = 6; if (*q) return n; } return 9; } int main(void) { int q = 1; if (f(&q)) reach_error(); N(2) IS(0, 6) return 0; }",
        "int main(void) { { int x C = 1; { int y D = 2; goto out; } } out: N(2) IS(0, 102) IS(1, 1) return 0; }",
        "int main(void) { int k = 0; { int x C = 1; again: ; { int y D = 2; if (k++ < 2) goto again; } } N(4) IS(2, 102) IS(3, 1) return 0; }",
        "int main(void) { switch (n) { case 0: { int x C = 1; break; } default: reach_error(); } N(1) return 0; }",
        "int main(void) { { int x C = 1; } N(0) return 0; }",
        "struct s { int a; int b; }; void e(struct s *p) { t[n++] = p->b; } int main(void) { { struct s v __attribute__((cleanup(e))) = { 1, 8 }; v.b++; } IS(0, 9) return 0; }",
    ];
    let texts: Vec<String> = bodies.iter().map(|body| format!("{head}{body}")).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    judge("cleanup", &texts);
}

#[test]
fn labels_are_values() {
    judge(
        "labels",
        &[
            b"int main(void) { void *p = &&b; goto *p; a: reach_error(); b: return 0; }",
            b"int main(void) { void *p = &&a; goto *p; a: reach_error(); b: p = &&b; return 0; }",
            b"int run(const unsigned char *c) { static void *t[] = { &&stop, &&add, &&sub }; int x = 0;\n\
                goto *t[*c++]; add: x += 5; goto *t[*c++]; sub: x -= 2; goto *t[*c++]; stop: return x; }\n\
                int main(void) { unsigned char c[] = { 1, 1, 2, 0 }; if (run(c) != 8) reach_error(); return 0; }",
            b"int main(void) { int k = 0; void *p; p = k ? &&a : &&b; goto *p; a: reach_error(); b: return k && p; }",
            b"int main(void) { void *p = &&a, *q = &&b; if (p == q || !p) reach_error(); a: p = q; b: return 0; }",
        ],
    );
}

#[test]
fn heads_of_functions_and_other_forms_of_old() {
    judge(
        "heads",
        &[
            b"static int (f(int x)) { return x + 1; } int main(void) { if (f(1) != 2) reach_error(); return 0; }",
            b"typedef int T; static T g(get, add) T (*get)(void); void (*add)(T); { add(3); return get(); }\n\
                int v; T get(void) { return v; } void add(T x) { v += x; } int main(void) { if (g(get, add) != 3) reach_error(); return 0; }",
            b"int main(void) { int x = 1; switch (x) { case 1: x = 2; [[__fallthrough__]]; case 3: x++; } if (x != 3) reach_error(); return 0; }",
            b"[[gnu::noinline]] int f(void) { return 1; } [[__gnu__::__unused__]] int g; int main(void) { if (f() != 1) reach_error(); return 0; }",
            b"typedef unsigned long T; struct { char c; } s __attribute__((aligned(__alignof__(T)))); int main(void) { if (sizeof(s) != 1) reach_error(); return 0; }",
            b"int w(void) __attribute__((weak)); int __attribute__((weak)) w(void) { return 3; } int main(void) { if (w() != 3) reach_error(); return 0; }",
        ],
    );
}

#[test]
fn what_would_be_wrong_is_a_place_or_refused() {
    let refused = [
        (
            "int z; void cl(int *p) { z += *p; } int main(void) { return ({ int x __attribute__((cleanup(cl))) = 4; x; }); }",
            "cleanup",
        ),
        (
            "int a = 1; extern char b __attribute__((alias(\"a\"))); int main(void) { b = 2; return a; }",
            "alias",
        ),
        (
            "void g(void) {} void (*r(void))(void) { return g; } void f(void) __attribute__((ifunc(\"r\"))); int main(void) { f(); return 0; }",
            "ifunc",
        ),
        (
            "int z; void f(void) __asm__(\"g\"); void g(void) { z = 1; } int main(void) { f(); return z; }",
            "a second name for `g`",
        ),
        (
            "int z; void f(void) __asm__(\"g\"); static void g(void) { z = 1; } int main(void) { f(); g(); return z; }",
            "a second name for `g`",
        ),
        (
            "int a = 1; extern int b __asm__(\"a\"); int main(void) { b = 2; return a; }",
            "a second name for `a`",
        ),
        (
            "const char *p; int main(void) { return __builtin_types_compatible_p(typeof(p), char *); }",
            "`__builtin_types_compatible_p` of these types",
        ),
        (
            "struct P { int x, y; } v; struct Q { struct P p; } q; int main(void) { struct Q q = { .p = v, .p.y = 5 }; return q.p.x; }",
            "an initial value that replaces part of another",
        ),
        (
            "struct S { char a[1ul << 62]; char b[1ul << 61]; }; int main(void) { return sizeof(struct S) >> 60; }",
            "a structure of this size",
        ),
        ("const int *p; int main(void) { return _Generic(p, int *: 1, default: 2); }", "generic selection"),
        ("int main(void) { return \"\\u00e4\" u\"b\" != 0; }", "a text of parts"),
        (
            "int \\u00e9(void) { return __func__[0]; } int main(void) { return \\u00e9(); }",
            "the name of this function",
        ),
        (
            "int main(void) { int i = 1; typeof((char (*)[i++])0) p; return i + sizeof *p; }",
            "a type of variable length",
        ),
        (
            "struct a_structure_with_a_long_name { int a; }; struct __attribute__((ms_struct)) T { int a; } s; int main(void) { return s.a; }",
            "ms_struct",
        ),
        (
            "struct S { int a; } __attribute__((ms_struct)); struct S s; int main(void) { return s.a; }",
            "ms_struct",
        ),
        (
            "typedef struct __attribute__((scalar_storage_order(\"big-endian\"))) { int a; } T; T s; int main(void) { return s.a; }",
            "scalar_storage_order",
        ),
        ("_Alignas(16) char b[3]; int main(void) { return _Alignof(b); }", "alignment"),
        ("asm(\"f: ret\"); void f(void); int main(void) { f(); return 0; }", "the syntax at `__asm__`"),
        (
            "int f(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n); return __builtin_va_arg(a, int); } int (*p)(int, ...) = f; int main(void) { return p(1, 2); }",
            "through a pointer with variable arguments",
        ),
        ("extern int w __attribute__((weak)); int main(void) { return &w == 0; }", "need not exist"),
        (
            "struct S { int a; } __attribute__((scalar_storage_order(\"big-endian\"))) s; int main(void) { return s.a; }",
            "scalar_storage_order",
        ),
        (
            "struct __attribute__((scalar_storage_order(\"big-endian\"))) S { int a; } s; int main(void) { return s.a; }",
            "scalar_storage_order",
        ),
        ("#pragma scalar_storage_order big-endian\nint main(void) { return 0; }", "scalar_storage_order"),
        (
            "typedef int T __attribute__((aligned(16))); struct { char a; T b; } s; int main(void) { return s.b; }",
            "alignment",
        ),
        ("typedef int T __attribute__((mode(OI))); int main(void) { T x = 1; return x; }", "mode"),
        (
            "int f(void) __attribute__((naked)); int f(void) { return 1; } int main(void) { return f(); }",
            "naked",
        ),
        (
            "int f(void) __attribute__((something_new)); int f(void) { return 1; } int main(void) { return f(); }",
            "something_new",
        ),
        ("_Complex int a, b; int main(void) { a = a / b; return 0; }", "complex integers"),
        ("int main(void) { return __builtin_ia32_rdtsc() != 0; }", "__builtin_ia32_rdtsc"),
        (
            "int main(void) { int x = 0; return __atomic_always_lock_free(4, &x); }",
            "__atomic_always_lock_free",
        ),
    ];
    for (text, what) in refused {
        let shown: Vec<String> = match translate_text("t.c", text, &Options::default()) {
            Ok(translation) => {
                let places = translation.unsupported.iter();
                places.map(|place| place.words(&translation.program)).collect()
            }
            Err(error) => error.diagnostics().iter().map(ToString::to_string).collect(),
        };
        assert!(shown.iter().any(|line| line.contains(what)), "{text}: {shown:?}");
    }
    // What is not used may be anything.
    let unused = "int f(void) __attribute__((naked)); int g(int *p) { int x __attribute__((cleanup(g))); return 0; } \
        extern int b __attribute__((alias(\"a\"))); typedef int T __attribute__((mode(OI))); int main(void) { return 0; }";
    if let Err(error) = translate_text("t.c", unused, &Options::default()) {
        panic!("{}", error.render());
    }
}

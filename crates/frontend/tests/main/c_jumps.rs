//! Programs with `setjmp` and `longjmp`, judged by gcc.

use crate::c_judged::judge;

#[test]
fn jumps_come_back_to_the_call_that_filled_the_buffer() {
    let programs: &[&[u8]] = &[
        // The value, and its order after the first return.
        b"#include <setjmp.h>\njmp_buf b;\nint main(void) { volatile int n = 0; int v = setjmp(b); n++; if (v < 3) longjmp(b, v + 1);\n  if (v == 3 && n == 4) reach_error(); return 0; }",
        // Zero becomes one.
        b"#include <setjmp.h>\njmp_buf b;\nint main(void) { if (setjmp(b) == 1) reach_error(); else longjmp(b, 0); return 0; }",
        b"#include <setjmp.h>\njmp_buf b;\nint main(void) { if (!setjmp(b)) longjmp(b, 0); else return 0; reach_error(); }",
        // A jump out of several functions, over an assignment of their results.
        b"#include <setjmp.h>\nstatic jmp_buf b; static int g;\nstatic int deep(int n) { if (n == 0) longjmp(b, 7); g++; return deep(n - 1) + 1; }\nint main(void) { volatile int x = 5; switch (setjmp(b)) { case 0: x = deep(4); reach_error(); break;\n  case 7: if (x == 5 && g == 4) return 0; } reach_error(); return 0; }",
        // Out of a loop, and a buffer used again and again.
        b"#include <setjmp.h>\nstatic jmp_buf b;\nstatic void check(int i) { if (i % 3 == 2) longjmp(b, i); }\nint main(void) { volatile int i = 0, caught = 0;\n  while (i < 10) { int v = setjmp(b); if (v) { caught += v; i++; continue; } check(i); i++; }\n  if (caught == 2 + 5 + 8) reach_error(); return 0; }",
        // Exceptions: a stack of handlers, thrown again from inside.
        b"#include <setjmp.h>\n#include <string.h>\nstatic jmp_buf *top; static int log_;\nstatic void throw(int v) { longjmp(*top, v); }\nstatic void inner(void) { jmp_buf mine; jmp_buf *before = top; int v; top = &mine;\n  if ((v = setjmp(mine)) == 0) { throw(3); log_ |= 1; } else { log_ |= 2; top = before; throw(v + 1); } }\nint main(void) { jmp_buf mine; top = &mine; if (setjmp(mine) == 0) { inner(); log_ |= 4; } else log_ |= 8;\n  if (log_ == 10) reach_error(); return 0; }",
        // Recursion: each activation has its own mark.
        b"#include <setjmp.h>\nstatic jmp_buf bufs[4]; static int order;\nstatic int walk(int n) { if (n == 4) longjmp(bufs[1], 1);\n  if (setjmp(bufs[n])) { order = order * 10 + n; if (n > 0) longjmp(bufs[n - 1], 1); return order; }\n  return walk(n + 1); }\nint main(void) { if (walk(0) == 10) reach_error(); return 0; }",
        // The buffer in a structure, filled through a pointer, copied.
        b"#include <setjmp.h>\n#include <string.h>\nstruct context { int code; jmp_buf env; };\nstatic void fail(struct context *c, int code) { c->code = code; longjmp(c->env, 1); }\nint main(void) { struct context c, d; c.code = 0; if (setjmp(c.env)) { if (c.code == 9) reach_error(); return 0; }\n  memcpy(&d, &c, sizeof c); fail(&c, 9); return 1; }",
        // Conditions of other forms.
        b"#include <setjmp.h>\nstatic jmp_buf b;\nint main(void) { volatile int n = 0; while (setjmp(b) != 2) { n++; longjmp(b, n); } if (n == 2) reach_error(); return 0; }",
        b"#include <setjmp.h>\nstatic jmp_buf b;\nint main(void) { volatile int n = 0; if (!setjmp(b)) { n = 1; longjmp(b, 1); } else if (n == 1) reach_error(); return 0; }",
        b"#include <setjmp.h>\nstatic sigjmp_buf b;\nint main(void) { if (sigsetjmp(b, 1) == 4) { reach_error(); return 0; } siglongjmp(b, 4); }",
        b"#include <setjmp.h>\nstatic jmp_buf b;\nint main(void) { if (_setjmp(b) > 3) { reach_error(); return 0; } _longjmp(b, 4); }",
        // A call through a pointer is left, and one within a larger expression.
        b"#include <setjmp.h>\nstatic jmp_buf b; static int g;\nstatic int a(int x) { return x; } static int c(int x) { longjmp(b, x); }\nint main(void) { int (*f[2])(int) = {a, c}; if (setjmp(b) == 6) { if (g == 0) reach_error(); return 0; }\n  g = f[0](5) + f[1](6) + 1; return 0; }",
        // A handler of exits, and a comparison of `qsort`, may jump.
        b"#include <setjmp.h>\n#include <stdlib.h>\nstatic jmp_buf b;\nstatic int cmp(const void *x, const void *y) { longjmp(b, 2); return 0; }\nint main(void) { int v[3] = {3, 1, 2}; if (setjmp(b) == 2) { reach_error(); return 0; } qsort(v, 3, sizeof v[0], cmp); return 0; }",
        // Not taken.
        b"#include <setjmp.h>\nstatic jmp_buf b;\nstatic void f(int x) { if (x > 5) longjmp(b, 1); }\nint main(void) { if (setjmp(b)) { reach_error(); return 1; } for (int i = 0; i < 5; i++) f(i); return 0; }",
        b"static void *b[5];\nstatic void f(void) { __builtin_longjmp(b, 1); }\nint main(void) { if (__builtin_setjmp(b)) { reach_error(); return 0; } f(); return 1; }",
        // The function has returned, was called again, and has filled another buffer.
        b"#include <setjmp.h>\nstatic jmp_buf one, two; static int n;\nstatic void run(jmp_buf *b) { n++; if (setjmp(*b)) { n += 10; return; } if (n == 2) longjmp(two, 1); }\nint main(void) { run(&one); run(&two); if (n == 12) reach_error(); return 0; }",
    ];
    judge("jumps", programs);
}

//! Functions inside of functions do what they do when they are compiled; what is not modelled of
//! them is a place.

use wherefore_frontend::c::{Options, translate_text};

use crate::c_support::{RESULTS, compare};

macro_rules! programs {
    ($($name:ident: $text:expr;)*) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name), &format!("unsigned long long result[{RESULTS}];\n{}", $text));
        })*
    };
}

programs! {
    nested_functions_share_the_objects_of_the_function_around_them: "
int apply(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
int outer(int a, int b) {
  int sum = 0, table[3] = {1, 2, 3}; struct { int x; long y; } s = {4, 5};
  int add(int n) { sum += n * a; table[n % 3]++; s.y -= n; return sum + b; }
  int twice(int n) { return add(n) + add(n); }
  int r = add(2) + twice(3); a++; b = 100; r += apply(add, 4) + apply(twice, 2);
  return r + 10 * sum + 7 * table[0] + 11 * table[1] + 13 * table[2] + 17 * s.y + 19 * s.x;
}
int main(void) { result[0] = outer(3, 4); result[1] = outer(-1, 2); return 0; }";
    nested_functions_are_as_deep_as_they_like: "
struct p { int x, y; }; static int calls;
int main(void) {
  int depth = 1; auto int late(int); result[0] = late(5);
  int late(int n) { return n + depth; }
  struct p make(int x) { struct p q = {x, depth}; void inner(void) { q.y += x * depth; depth++; calls++; } inner(); inner(); return q; }
  struct p q = make(7); result[1] = q.x; result[2] = q.y; result[3] = depth; result[4] = calls;
  char *name(void) { return (char *)__func__; } result[5] = name()[0] * 256 + name()[4];
  int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); } result[7] = fact(6);
  int even(int n) { auto int odd(int); int odd(int m) { return m ? even(m - 1) : 0; } return n ? odd(n - 1) : 1; } result[8] = even(10) + 2 * even(7);
  for (int i = 0; i < 4; i++) { int square = i * i; int take(void) { static int total; return total += square; } result[9] = take(); }
  { int depth = 50; int use(void) { return depth; } result[10] = use(); } int use2(void) { return depth; } result[11] = use2();
  void nothing(void) { } nothing(); double half(double d) { return d / depth; } result[12] = half(9) * 100; __typeof__(depth) *where(void) { return &depth; } *where() = 8; result[13] = depth;
  int jump(int n) { if (n) goto out; n = 5; out: return n; } result[14] = jump(0) + 10 * jump(3); inline int const quick(void) { return 6; } result[15] = quick();
  return 0;
}";
    nested_functions_use_arrays_of_variable_length: "
int total(int n, int m) {
  int a[n][m], s = 0, *row[m]; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = i * 10 + j;
  int at(int i, int j) { return a[i][j] + sizeof a + sizeof a[0]; } void clear(int i) { for (int j = 0; j < m; j++) a[i][j] = 0; row[0] = a[n - 1]; }
  int trace(int k, int b[k][m]) { __typeof__(a[0]) line; int t = 0; for (int i = 0; i < k; i++) { line[i % m] = b[i][i % m]; t += line[i % m]; } return t + sizeof line; }
  for (int i = 0; i < n; i++) s += at(i, m - 1); clear(0); s = s * 7 + at(0, 1) + trace(n, a); clear(n - 1); row[0][1] = 77; return s * 3 + at(n - 1, 1);
}
int main(void) { result[0] = total(2, 3); result[1] = total(4, 2); int sum(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int s = 0; while (n--) s += __builtin_va_arg(l, int); __builtin_va_end(l); return s; } result[2] = sum(3, 4, 5, 6); return 0; }";
    nested_functions_jump_to_labels_of_the_function_around_them: "
int deep(void (*f)(int), int n) { if (n) return deep(f, n - 1) + 1; f(n); return 0; }
int search(int *list, int n, int wanted) {
  __label__ found, none; int at = -1, steps = 0;
  void look(int i) { steps++; if (i == n) goto none; if (list[i] == wanted) { at = i; goto found; } look(i + 1); }
  look(0); return -5; none: return -steps; found: return at * 100 + steps;
}
int main(void) {
  __label__ again, out, leave_block; int list[5] = {4, 8, 15, 16, 23}; result[0] = search(list, 5, 15); result[1] = search(list, 5, 7); result[2] = search(list, 5, 4);
  int count = 0, kept = 7; void leave(int n) { count += 10; if (count < 40) goto again; goto out; }
  again: count++; kept *= 2; deep(leave, 3); count = 1000; out: result[3] = count; result[4] = kept; int other = 5; { int inner(void) { if (other) goto leave_block; return 1; } inner(); other = 9; } leave_block: result[5] = other;
  return 0;
}";
}

/// How many places are not modelled.
fn places(text: &str) -> usize {
    let translation = translate_text("nested.c", text, &Options::default());
    translation.unwrap_or_else(|error| panic!("{}", error.render())).unsupported.len()
}

#[test]
fn what_is_not_modelled_of_nested_functions_is_a_place() {
    let without = "int f(int n) { int g(int m) { return m ? f(m - 1) : 0; } return g(n); } int main(void) { return f(3); }";
    assert_eq!(places(without), 0);
    let all = [
        "int f(int n) { int g(void) { return n ? f(n - 1) : 0; } return g(); } int main(void) { return f(3); }",
        "int h(int (*p)(int)) { return p(1); } int f(int n) { int g(int m) { return m + n; } return n ? f(n - 1) : h(g); } int main(void) { return f(3); }",
        "int main(void) { __label__ out; int g(void) { void *p = &&out; return p != 0; } g(); out: return 0; }",
    ];
    for text in all {
        assert!(places(text) > 0, "{text}");
    }
}

//! Claims and waypoints of others in texts of all shapes: the text must stay the same program.

use std::path::PathBuf;

use wherefore_frontend::c::witness::{annotations, read_witness};
use wherefore_frontend::c::{Options, translate};
use wherefore_program::{ErrorKind, TargetChoice, ViolationKind};

fn file(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wherefore-witness-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, text).expect("a file");
    file
}

/// The lines of the claims that a text has, once translated.
fn claimed(name: &str, text: &str) -> Vec<u32> {
    let file = file(name, text);
    let insertions =
        annotations(std::slice::from_ref(&file)).unwrap_or_else(|error| panic!("{}", error.render()));
    let mut options = Options { insertions, ..Options::default() };
    options.checks.insert(ViolationKind::Claim);
    let translation = translate(&[file], &options).unwrap_or_else(|error| panic!("{}", error.render()));
    let program = &translation.program;
    let sites = program.targets(&TargetChoice::Default).expect("targets");
    let claims = sites.iter().filter(|site| site.kind == ErrorKind::Violation(ViolationKind::Claim));
    let mut lines: Vec<u32> = claims.filter_map(|site| program.line(site.node)).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn claims_stand_at_statements_and_loops_of_all_shapes() {
    let text = r#"#include <stddef.h>
#define LIMIT 10
int g(void);
int f(int n, char *s) {
  int i = 0; /*@ assert i == 0; */
  int k = 1; // a declaration
  if (n > 3)
    //@ assert n > 3;
    i = 1;
  else
    //@ assert n <= 3;
    i = 2;
  //@ loop invariant i <= LIMIT + n;
  while (g()) /* ) */ i++;
  //@ loop invariant k > 0; loop variant n - k;
  for (int j = 0; j < n; j++) { k++; }
  /*@ loop invariant i != 7;
    @ loop invariant s != NULL; */
  for (;;) { if (s[0] == ')') break; }
  //@ loop invariant k >= 1;
  do if (n) k++; else i++; while (k < 3);
  switch (n) {
  case 1:
    //@ assert n == 1;
    i = 3;
  default:
    break;
  }
  //@ loop invariant n > k;
  do { n--; } while (n > 5);
  return i + k;
  //@ assert 0;
}
int main(void) { return f(g(), "a"); }
"#;
    assert_eq!(claimed("shapes", text), [6, 9, 12, 14, 16, 19, 19, 21, 25, 30, 33]);
}

#[test]
fn preprocessed_texts_keep_their_places() {
    let text = "extern int g(void);\nint main(void) {\n  int i = 0;\n  //@ loop invariant i < 5;\n  while (g()) i++;\n  //@ assert i > 0;\n  return i;\n}\n";
    let source = file("plain", text);
    let preprocessed = source.with_extension("i");
    std::fs::write(&preprocessed, text).expect("a file");
    let insertions = annotations(std::slice::from_ref(&preprocessed)).expect("claims");
    let mut options = Options { insertions, ..Options::default() };
    options.checks.insert(ViolationKind::Claim);
    let program = translate(&[preprocessed], &options).expect("a program").program;
    let sites = program.targets(&TargetChoice::Default).expect("targets");
    let lines: Vec<u32> = sites.iter().filter_map(|site| program.line(site.node)).collect();
    assert_eq!(lines, [5, 7]);
}

#[test]
fn wrong_witnesses_are_refused_with_their_places() {
    let source = file("refused", "int main(void) {\n  int i = 0;\n  while (i < 3) i++;\n  return i;\n}\n");
    let invariant = |line: u32, value: &str| {
        format!(
            "- entry_type: invariant_set\n  content:\n  - invariant:\n      type: loop_invariant\n      location: {{file_name: refused.c, line: {line}}}\n      value: \"{value}\"\n      format: c_expression\n"
        )
    };
    let refused = |text: &str| {
        let outcome =
            read_witness("w.yml", text).and_then(|witness| witness.insertions(std::slice::from_ref(&source)));
        outcome.map_or_else(|error| error.render(), |_| String::new())
    };
    assert_eq!(refused(&invariant(3, "i <= 3")), "");
    for (text, message) in [
        (invariant(2, "i <= 3"), "no loop starts at line 2"),
        (invariant(77, "i <= 3"), "no loop starts at line 77"),
        (invariant(3, "i = 3"), "changes nothing"),
        (invariant(3, "f(i)"), "calls no function"),
        (invariant(3, "i <= 3; abort()"), "not part of a condition"),
        ("- entry_type: loop_invariant\n  content: []\n".to_owned(), "are not read"),
        ("entry_type: x\n".to_owned(), "list of entries"),
        ("- [\n".to_owned(), "not YAML"),
        (String::new(), "list of entries"),
        ("- entry_type: violation_sequence\n  content: []\n".to_owned(), "the last segment"),
    ] {
        let told = refused(&text);
        assert!(told.starts_with("w.yml:") && told.contains(message), "{text}\n{told}");
    }
}

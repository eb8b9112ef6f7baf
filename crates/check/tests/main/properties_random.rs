//! Random programs that open, use and close: the instrumented program against all paths followed by
//! the definition of a property ([`Machine`]), and both against the prefilter.
//!
//! Programs have no loops and no inputs but choices, so that all runs can be followed: each choice
//! goes both ways, and each call of `fopen` returns a new object or NULL.

use std::collections::BTreeSet;
use std::fmt::Write;

use wherefore_check::{Replaying, Verdict};
use wherefore_flow::States;
use wherefore_frontend::c::{Warnings, translate_text};
use wherefore_properties::{Machine, Outcome, shipped};
use wherefore_testing::{cases, seed};

use super::properties::{decided, options};

/// A statement on line `line`; variables are numbered.
#[derive(Clone, Debug)]
enum Statement {
    Open(usize),
    Use(usize),
    Close(usize),
    Copy(usize, usize),
    /// The part in braces is executed if the variable is not NULL.
    IfSet(usize, Vec<(u32, Statement)>),
    /// … or by choice.
    Maybe(Vec<(u32, Statement)>),
    /// A call of a function that closes its argument if it is not NULL.
    Shut(usize),
    Return,
}

const VARIABLES: usize = 3;

struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % count
    }

    fn variable(&mut self) -> usize {
        self.below(VARIABLES as u64) as usize
    }

    fn block(&mut self, length: u64, depth: u32, line: &mut u32) -> Vec<(u32, Statement)> {
        let mut made = Vec::new();
        for _ in 0..=self.below(length) {
            let at = *line;
            *line += 1;
            let statement = match self.below(if depth < 2 { 10 } else { 7 }) {
                0 | 1 => Statement::Open(self.variable()),
                2 | 3 => Statement::Use(self.variable()),
                4 => Statement::Close(self.variable()),
                5 => Statement::Copy(self.variable(), self.variable()),
                6 if self.below(3) == 0 => Statement::Return,
                6 => Statement::Shut(self.variable()),
                7 | 8 => {
                    let inner = self.block(3, depth + 1, line);
                    *line += 1;
                    Statement::IfSet(self.variable(), inner)
                }
                _ => {
                    let inner = self.block(3, depth + 1, line);
                    *line += 1;
                    Statement::Maybe(inner)
                }
            };
            made.push((at, statement));
        }
        made
    }
}

const HEAD: &str = "typedef struct F FILE; FILE *fopen(const char *, const char *); int fputs(const char *, FILE *); int fclose(FILE *);\n\
                    int __VERIFIER_nondet_int(void);\n\
                    void shut(FILE *f) {\n if (f)\n  fclose(f);\n}\n\
                    int main(void) {\n FILE *v0 = 0, *v1 = 0, *v2 = 0;\n";
const SHUT: u32 = 5;
const FIRST: u32 = 9;

fn print(block: &[(u32, Statement)], out: &mut String) {
    for (_, statement) in block {
        let _ = match statement {
            Statement::Open(v) => writeln!(out, " v{v} = fopen(\"a\", \"r\");"),
            Statement::Use(v) => writeln!(out, " fputs(\"x\", v{v});"),
            Statement::Close(v) => writeln!(out, " fclose(v{v});"),
            Statement::Copy(v, w) => writeln!(out, " v{v} = v{w};"),
            Statement::Shut(v) => writeln!(out, " shut(v{v});"),
            Statement::Return => writeln!(out, " return 0;"),
            Statement::IfSet(v, inner) => {
                let _ = writeln!(out, " if (v{v}) {{");
                print(inner, out);
                writeln!(out, " }}")
            }
            Statement::Maybe(inner) => {
                let _ = writeln!(out, " if (__VERIFIER_nondet_int()) {{");
                print(inner, out);
                writeln!(out, " }}")
            }
        };
    }
}

/// A run so far.
#[derive(Clone)]
struct Run<'p> {
    machine: Machine<'p>,
    variables: [i64; VARIABLES],
    opened: i64,
}

enum End<'p> {
    Goes(Run<'p>),
    Over,
}

/// All runs through a block; lines where rules are broken are noted.
fn follow<'p>(run: Run<'p>, block: &[(u32, Statement)], failed: &mut BTreeSet<u32>) -> Vec<End<'p>> {
    let Some(((line, statement), rest)) = block.split_first() else { return vec![End::Goes(run)] };
    let mut ends = Vec::new();
    for end in step(run, *line, statement, failed) {
        match end {
            End::Goes(run) => ends.extend(follow(run, rest, failed)),
            End::Over => ends.push(End::Over),
        }
    }
    ends
}

fn step<'p>(mut run: Run<'p>, line: u32, statement: &Statement, failed: &mut BTreeSet<u32>) -> Vec<End<'p>> {
    let mut tell = |run: &mut Run<'p>, name: &str, arguments: &[i64], result, line: u32| match run
        .machine
        .call(name, arguments, result, line)
    {
        Outcome::Goes(_) => true,
        Outcome::Stops => false,
        Outcome::Fails(_) => {
            failed.insert(line);
            false
        }
    };
    match statement {
        Statement::Return => return vec![End::Over],
        Statement::Copy(v, w) => run.variables[*v] = run.variables[*w],
        Statement::Open(v) => {
            let mut ends = Vec::new();
            for opens in [false, true] {
                let mut run = run.clone();
                run.opened += i64::from(opens);
                let result = if opens { run.opened } else { 0 };
                if tell(&mut run, "fopen", &[1, 1], Some(result), line) {
                    run.variables[*v] = result;
                    ends.push(End::Goes(run));
                }
            }
            return ends;
        }
        Statement::Use(v) => {
            let value = run.variables[*v];
            if !tell(&mut run, "fputs", &[1, value], None, line) {
                return vec![End::Over];
            }
        }
        Statement::Close(v) => {
            let value = run.variables[*v];
            if !tell(&mut run, "fclose", &[value], None, line) {
                return vec![End::Over];
            }
        }
        Statement::Shut(v) => {
            let value = run.variables[*v];
            if value != 0 && !tell(&mut run, "fclose", &[value], None, SHUT) {
                return vec![End::Over];
            }
        }
        Statement::IfSet(v, inner) => {
            if run.variables[*v] != 0 {
                return follow(run, inner, failed);
            }
        }
        Statement::Maybe(inner) => {
            let mut ends = follow(run.clone(), inner, failed);
            ends.push(End::Goes(run));
            return ends;
        }
    }
    vec![End::Goes(run)]
}

/// The lines where rules are broken, by all runs.
fn by_definition(block: &[(u32, Statement)]) -> BTreeSet<u32> {
    let property = shipped("stdio").unwrap().property();
    let mut failed = BTreeSet::new();
    let run = Run { machine: Machine::new(&property), variables: [0; VARIABLES], opened: 0 };
    follow(run, block, &mut failed);
    failed
}

/// The lines where the engines find a broken rule, after the prefilter was seen to claim nothing
/// wrong.
fn by_engines(text: &str, expected: &BTreeSet<u32>) -> BTreeSet<u32> {
    let options = options(shipped("stdio").unwrap().property(), Warnings::Off);
    let translation = translate_text("main.c", text, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let task = translation.into_task(&["main.c".into()], &options);
    let line = |check: &wherefore_program::ErrorSite| task.program.line(check.node).unwrap();
    let state = task
        .checks
        .iter()
        .find_map(|check| Some(task.program.violation(check.node)?.messages.as_ref()?.state));
    if let Some(states) = state.and_then(|state| States::new(&task.program, state)) {
        for check in task.checks.iter().filter(|check| states.is_unreachable(check.node)) {
            assert!(!expected.contains(&line(check)), "the prefilter drops line {}\n{text}", line(check));
        }
    }
    let answer = decided(&task, Replaying::Off);
    let mut found = BTreeSet::new();
    for (check, verdict) in task.checks.iter().zip(&answer.verdicts) {
        match verdict {
            Verdict::Unsafe(_) => {
                found.insert(line(check));
            }
            Verdict::Safe(_) => {}
            Verdict::Unknown(why) => panic!("line {}: {}\n{text}", line(check), why.words(&task.program)),
        }
    }
    found
}

/// Runs end at their first broken rule. The instrumented program follows one object, so a line that
/// is only come to behind a broken rule of another object is reported, too: engines may find more
/// lines there, never fewer, and none in a program that keeps all rules.
#[test]
fn engines_find_the_lines_that_the_definition_breaks() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed().wrapping_mul(0x2545_f491_4f6c_dd1d) | 1);
    let (mut with, mut without) = (0, 0);
    for _ in 0..cases(240) {
        let mut line = FIRST;
        let block = random.block(9, 0, &mut line);
        let mut text = HEAD.to_owned();
        print(&block, &mut text);
        text.push_str(" return 0;\n}\n");
        let expected = by_definition(&block);
        let found = by_engines(&text, &expected);
        assert!(found.is_superset(&expected), "expected {expected:?}, found {found:?}\n{text}");
        assert!(!expected.is_empty() || found.is_empty(), "found {found:?}\n{text}");
        if expected.is_empty() {
            without += 1;
        } else {
            with += 1;
        }
    }
    assert!(with > 10 && without > 10, "{with} programs break a rule, {without} do not");
}

/// A program that opens, uses and closes in turn keeps the rules; without the opening, with a
/// second closing, or with a use behind the closing it does not.
#[test]
fn mutations_change_the_answer() {
    let mut random = Random(0xd1b5_4a32_d192_ed03 ^ seed() | 1);
    for _ in 0..cases(60) {
        let (v, uses) = (random.variable(), random.below(3));
        let mut line = FIRST;
        let mut next = || {
            line += 1;
            line - 1
        };
        let open = (next(), Statement::Open(v));
        let at = next();
        let mut inner: Vec<(u32, Statement)> = (0..=uses).map(|_| (next(), Statement::Use(v))).collect();
        inner.push((next(), Statement::Close(v)));
        let good = vec![open, (at, Statement::IfSet(v, inner.clone()))];
        let answer = |block: &[(u32, Statement)]| {
            let mut text = HEAD.to_owned();
            print(block, &mut text);
            text.push_str(" return 0;\n}\n");
            let expected = by_definition(block);
            let found = by_engines(&text, &expected);
            assert_eq!(found, expected, "{text}");
            found
        };
        assert!(answer(&good).is_empty());
        let behind_all = next();
        let mut twice = inner.clone();
        twice.push((behind_all, Statement::Close(v)));
        assert!(!answer(&[good[0].clone(), (at, Statement::IfSet(v, twice))]).is_empty());
        let mut behind = inner.clone();
        behind.push((behind_all, Statement::Use(v)));
        assert!(!answer(&[good[0].clone(), (at, Statement::IfSet(v, behind))]).is_empty());
        // Without the test, the stream may be NULL.
        let mut plain = vec![good[0].clone()];
        plain.extend(inner.iter().map(|(line, statement)| (line - 1, statement.clone())));
        assert!(!answer(&plain).is_empty());
    }
}

//! Exact checking of Boolean programs in the shape of SLAM's: many procedures, a lock that must
//! alternate, data that decides about it.

use std::fmt::Write;

use wherefore_check::exact::{CheckOptions, Checker, Decision, Detail};
use wherefore_frontend::boolean;
use wherefore_program::TargetChoice;

use super::program_shaped::Random;
use super::table::{Table, ms, times};
use super::{Extent, measure, ratio};

/// What to generate.
#[derive(Clone, Copy)]
struct Shape {
    procedures: usize,
    globals: usize,
    locals: usize,
    /// Whether one procedure forgets to release the lock on some path.
    fault: Fault,
    seed: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    One,
}

/// Measures all sizes.
pub fn run(extent: Extent) {
    let sizes: &[(usize, usize, usize)] = match extent {
        Extent::Quick => &[(10, 6, 4)],
        Extent::Full => &[
            (10, 20, 10),
            (20, 20, 10),
            (40, 20, 10),
            (80, 20, 10),
            (130, 20, 10),
            (260, 20, 10),
            (20, 40, 10),
            (130, 40, 10),
            (20, 20, 30),
            (130, 20, 30),
        ],
    };
    let mut table = Table::new(&[
        "procedures",
        "locations",
        "globals",
        "locals",
        "fault",
        "verdict",
        "load ms",
        "encode ms",
        "reach ms",
        "run ms",
        "projection ms",
        "of reach",
        "on",
        "whole ms",
        "diagrams MB",
    ]);
    for (procedures, globals, locals) in sizes {
        for fault in [Fault::None, Fault::One] {
            row(
                &mut table,
                Shape { procedures: *procedures, globals: *globals, locals: *locals, fault, seed: 5 },
            );
        }
    }
    table.print("Boolean programs");
}

fn row(table: &mut Table, shape: Shape) {
    let text = generate(&shape);
    let (program, load_time, _) = measure(1, || match boolean::parse("generated.bp", &text, None) {
        Ok(program) => program,
        Err(error) => panic!("{}", error.render()),
    });
    let targets = program.targets(&TargetChoice::Default).unwrap_or_default();
    let (checker, encode_time, _) = measure(1, || {
        Checker::new(&program, &targets, CheckOptions::default()).expect("a sequential program")
    });
    let (verdict, reach_time, _) = measure(1, || checker.verdict());
    let expected = if shape.fault == Fault::None { Decision::Safe } else { Decision::Unsafe };
    assert_eq!(verdict, expected, "a wrong verdict");
    let (_, run_time, _) = measure(1, || checker.failing_run(None).expect("no limits"));
    let (inside, projection_time, _) = measure(1, || {
        checker.projection(Detail::Locations).map_or(0, |projection| projection.nodes().count())
    });
    let locations = program.nodes().count();
    let whole = load_time + encode_time + reach_time + run_time;
    table.row(vec![
        shape.procedures.to_string(),
        locations.to_string(),
        shape.globals.to_string(),
        shape.locals.to_string(),
        if shape.fault == Fault::One { "one" } else { "none" }.to_owned(),
        format!("{verdict:?}").to_lowercase(),
        ms(load_time),
        ms(encode_time),
        ms(reach_time),
        ms(run_time),
        ms(projection_time),
        times(ratio(projection_time, reach_time)),
        format!("{} %", 100 * inside / locations),
        ms(whole),
        format!("{:.0}", (checker.diagram_nodes() * 32) as f64 / 1e6),
    ]);
}

/// A program as text: a tree of calls over all procedures, more calls to later ones, and statements
/// on a few variables.
fn generate(shape: &Shape) -> String {
    let mut random = Random::new(shape.seed);
    let mut text = String::from("decl locked");
    for g in 0..shape.globals.saturating_sub(1) {
        let _ = write!(text, ", g{g}");
    }
    text.push_str(";\n\n");
    text.push_str("void acquire() begin\n  assert(!locked);\n  locked := T;\nend\n\n");
    text.push_str("void release() begin\n  assert(locked);\n  locked := F;\nend\n\n");
    let faulty = shape.procedures / 2;
    for i in 0..shape.procedures {
        let _ = writeln!(text, "bool p{i}(a, b) begin");
        let names: Vec<String> = (2..shape.locals).map(|l| format!("l{l}")).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "  decl {};", names.join(", "));
        }
        let mut body = Body { random: &mut random, text: &mut text, shape, procedure: i, indent: 1 };
        body.statements(8);
        for child in [2 * i + 1, 2 * i + 2] {
            if child < shape.procedures {
                body.call(child);
                body.statements(3);
            }
        }
        body.critical_section(shape.fault == Fault::One && i == faulty);
        body.statements(4);
        let result = body.local();
        let _ = writeln!(text, "  return {result};\nend\n");
    }
    text.push_str("void main() begin\n  decl r;\n  locked := F;\n  r := p0(*, *);\nend\n");
    text
}

struct Body<'a> {
    random: &'a mut Random,
    text: &'a mut String,
    shape: &'a Shape,
    procedure: usize,
    indent: usize,
}

impl Body<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.indent));
    }

    /// A local variable, but not `a`, which the lock depends on.
    fn local(&mut self) -> String {
        match self.random.between(1, self.shape.locals.max(2) as u64 - 1) {
            1 => "b".to_owned(),
            l => format!("l{l}"),
        }
    }

    /// One of the few globals that this procedure works on.
    fn global(&mut self) -> String {
        let count = self.shape.globals.saturating_sub(1).max(1) as u64;
        let offset = self.random.below(3);
        format!("g{}", (self.procedure as u64 / 4 + offset) % count)
    }

    fn atom(&mut self) -> String {
        let name = if self.random.chance(75) { self.local() } else { self.global() };
        if self.random.chance(30) { format!("!{name}") } else { name }
    }

    fn expression(&mut self) -> String {
        match self.random.below(10) {
            0 => "*".to_owned(),
            1..4 => {
                let (a, b) = (self.atom(), self.atom());
                let op = if self.random.chance(50) { "&" } else { "|" };
                format!("{a} {op} {b}")
            }
            4 => {
                let (a, b) = (self.atom(), self.atom());
                format!("schoose[{a}, {b}]")
            }
            _ => self.atom(),
        }
    }

    fn statements(&mut self, count: usize) {
        for _ in 0..count {
            match self.random.below(12) {
                0 if self.indent < 4 => {
                    let condition = self.expression();
                    self.line(&format!("if ({condition}) then"));
                    self.nested();
                    self.line("else");
                    self.nested();
                    self.line("fi;");
                }
                1 if self.indent < 3 => {
                    self.line("while (*) do");
                    self.nested();
                    self.line("od;");
                }
                2 if self.procedure + 1 < self.shape.procedures => {
                    let last = (self.procedure + 30).min(self.shape.procedures - 1) as u64;
                    let callee = self.random.between(self.procedure as u64 + 1, last) as usize;
                    self.line("if (*) then");
                    self.indent += 1;
                    self.call(callee);
                    self.indent -= 1;
                    self.line("fi;");
                }
                3 => {
                    let (target, value) = (self.global(), self.atom());
                    self.line(&format!("{target} := {value};"));
                }
                // Most statements of the source do not touch the predicates.
                4..9 => self.line("skip;"),
                _ => {
                    let (target, value) = (self.local(), self.expression());
                    self.line(&format!("{target} := {value};"));
                }
            }
        }
    }

    fn nested(&mut self) {
        self.indent += 1;
        let count = self.random.between(1, 3) as usize;
        self.statements(count);
        self.indent -= 1;
    }

    fn call(&mut self, callee: usize) {
        let (target, a, b) = (self.local(), self.atom(), self.atom());
        self.line(&format!("{target} := p{callee}({a}, {b});"));
    }

    /// Acquires and releases under the same condition, kept in a local; a faulty one forgets to
    /// look at it.
    fn critical_section(&mut self, faulty: bool) {
        self.line("a := *;");
        self.line("if (a) then acquire(); fi;");
        let (target, value) = (self.local(), self.atom());
        self.line(&format!("{target} := {value};"));
        self.line(if faulty { "if (a & b) then release(); fi;" } else { "if (a) then release(); fi;" });
    }
}

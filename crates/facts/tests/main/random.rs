//! Random programs: what is said of them holds in all states that the interpreter finds, and
//! nothing is missed where domains are exact.

use std::fmt::Write;
use std::time::Duration;

use wherefore_domains::{Howell, Ring};
use wherefore_facts::{Analysed, Claim, Domain, Equation, Place, verify};
use wherefore_frontend::parse;
use wherefore_program::{Coverage, ExploreLimits, Language, Node, Program, Runs, Scalar, Type, Var, explore};
use wherefore_pushdown::Limits;

/// Random numbers (xorshift).
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// Writes a program in Remopla.
pub struct Writer {
    dice: Dice,
    bits: u32,
    /// Whether conditions are tested, and values are computed that are not affine.
    guards: bool,
    recursion: bool,
    text: String,
    left: u32,
}

impl Writer {
    fn variable(&mut self, locals: &[&str]) -> String {
        let names: Vec<&str> = ["g", "h"].iter().chain(locals).copied().collect();
        names[self.dice.roll(names.len() as u64) as usize].to_owned()
    }

    fn number(&mut self) -> u64 {
        let sides = 1 << self.bits;
        self.dice.roll(sides)
    }

    fn expression(&mut self, locals: &[&str]) -> String {
        let (x, y, c) = (self.variable(locals), self.variable(locals), self.number());
        match self.dice.roll(if self.guards { 7 } else { 5 }) {
            0 => c.to_string(),
            1 => x,
            2 => format!("{x} + {c}"),
            3 => format!("{c} * {x} + {y}"),
            4 => format!("{x} - {y}"),
            5 => format!("{x} * {y}"),
            _ => format!("{x} % 2"),
        }
    }

    fn branches(&mut self, locals: &[&str]) -> (String, String) {
        if !self.guards {
            return ("true".to_owned(), "true".to_owned());
        }
        let (x, y, c) = (self.variable(locals), self.variable(locals), self.number());
        let condition = match self.dice.roll(4) {
            0 => format!("{x} == {c}"),
            1 => format!("{x} == {y}"),
            2 => format!("{x} < {c}"),
            _ => format!("{x} != {y} + {c}"),
        };
        (condition, "else".to_owned())
    }

    fn statements(&mut self, in_f: bool, depth: u32) {
        let locals: &[&str] = if in_f { &["a", "l"] } else { &["x"] };
        for _ in 0..1 + self.dice.roll(3) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            match self.dice.roll(if depth > 0 { 8 } else { 5 }) {
                0 => {
                    let x = self.variable(locals);
                    let _ = writeln!(self.text, "{x} = undef;");
                }
                1 | 2 => {
                    let (x, value) = (self.variable(locals), self.expression(locals));
                    let _ = writeln!(self.text, "{x} = {value};");
                }
                3 | 4 if !in_f || self.recursion => {
                    let (x, value) = (self.variable(locals), self.expression(locals));
                    if in_f {
                        let _ = writeln!(self.text, "if :: true -> {x} = f({value}); :: true -> skip; fi;");
                    } else if self.dice.roll(3) == 0 {
                        let _ = writeln!(self.text, "f({value});");
                    } else {
                        let _ = writeln!(self.text, "{x} = f({value});");
                    }
                }
                5 | 6 => {
                    let (yes, no) = self.branches(locals);
                    let _ = writeln!(self.text, "if\n:: {yes} -> skip;");
                    self.statements(in_f, depth - 1);
                    let _ = writeln!(self.text, ":: {no} -> skip;");
                    self.statements(in_f, depth - 1);
                    self.text.push_str("fi;\n");
                }
                7 => {
                    let (on, out) = self.branches(locals);
                    let _ = writeln!(self.text, "do\n:: {on} -> skip;");
                    self.statements(in_f, depth - 1);
                    let _ = writeln!(self.text, ":: {out} -> break;\nod;");
                }
                _ => {
                    let (x, value) = (self.variable(locals), self.expression(locals));
                    let _ = writeln!(self.text, "{x} = {value};");
                }
            }
        }
    }

    pub fn program(seed: u64, guards: bool) -> (String, u32) {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            dice.roll(2);
        });
        let bits = 2 + dice.roll(2) as u32;
        let recursion = dice.roll(3) == 0;
        let mut writer = Writer { dice, bits, guards, recursion, text: String::new(), left: 6 };
        let _ = writeln!(writer.text, "define DEFAULT_INT_BITS {bits}\nint g; int h;");
        writer.text.push_str("module int f(int a) {\nint l;\n");
        writer.statements(true, 2);
        let value = writer.expression(&["a", "l"]);
        let _ = writeln!(writer.text, "return {value};\n}}\nmodule void main() {{\nint x;");
        if writer.dice.roll(3) > 0 {
            writer.text.push_str("g = 1; h = 2;\n");
        }
        writer.left = 7;
        writer.statements(false, 2);
        writer.text.push_str("skip;\n}\n");
        (writer.text, bits)
    }
}

/// All single values that a procedure sees, in the order of stores.
fn variables(program: &Program, node: Node) -> Vec<Var> {
    let locals = program.procedure(node.procedure).variables.len() as u32;
    (0..program.globals.len() as u32).map(Var::Global).chain((0..locals).map(Var::Local)).collect()
}

pub fn read(text: &str) -> Program {
    let task = parse(Language::Remopla, "random.rem", text, None);
    let task = task.unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
    let program = (*task.program).clone();
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.variables);
    let all = program.globals.iter().chain(locals);
    assert!(all.clone().all(|variable| matches!(variable.ty, Type::Scalar(_))), "{text}");
    program
}

fn holds(claim: &Claim, program: &Program, node: Node, variables: &[Var], store: &[u64]) -> bool {
    let value =
        |variable: Var| store[variables.iter().position(|other| *other == variable).expect("it is seen")];
    match claim {
        Claim::Unreached => false,
        Claim::Equation(Equation { bits, constant, terms, .. }) => {
            let mut sum = *constant as u64;
            for (place, factor) in terms {
                let Place::Now(variable) = place else { panic!("{claim:?}") };
                sum = sum.wrapping_add(value(*variable).wrapping_mul(*factor as u64));
            }
            sum << (64 - bits) == 0
        }
        Claim::OneOf { place: Place::Now(variable), constant, entry } => {
            assert!(entry.is_empty());
            Some(value(*variable)) == *constant
        }
        Claim::Range { place: Place::Now(variable), range } => {
            assert!(program.variable(node.procedure, *variable).ty.element() != Scalar::Bool);
            range.contains(value(*variable))
        }
        Claim::OneOf { .. } | Claim::Range { .. } => panic!("{claim:?}"),
    }
}

const LIMITS: ExploreLimits = ExploreLimits { configurations: 6_000, choices: 64 };

#[test]
fn matrices_are_exact_on_affine_programs() {
    let (mut complete, mut relations) = (0, 0);
    for case in 0..u64::from(wherefore_testing::cases(900)) {
        let (text, bits) = Writer::program(case + wherefore_testing::seed(), false);
        let program = read(&text);
        let analysis = Analysed::new(&program, Domain::ExactModular(bits), &Limits::default()).unwrap();
        let exploration = explore(&program, &[], LIMITS);
        let is_complete = exploration.coverage() == Coverage::Complete;
        complete += u32::from(is_complete);
        let stores = exploration.all_stores(Runs::All);
        for node in program.nodes() {
            let variables = variables(&program, node);
            let claims = analysis.claims(node, None, &|_| true);
            let Some(found) = stores.get(&node) else {
                assert!(!is_complete || claims.is_none(), "{text}\n{node:?} is not reached: {claims:?}");
                continue;
            };
            let claims = claims.unwrap_or_else(|| panic!("{text}\n{node:?} is reached"));
            for (claim, store) in
                claims.iter().flat_map(|claim| found.iter().map(move |store| (claim, store)))
            {
                assert!(
                    holds(claim, &program, node, &variables, store),
                    "{text}\n{node:?} {claim:?} {store:?}"
                );
            }
            if is_complete {
                let columns = variables.len() + 1;
                let points = found.iter().map(|store| [&[1], store.as_slice()].concat());
                let all = Howell::of(Ring::new(bits), columns, points).kernel();
                let rows = claims.iter().map(|claim| {
                    let Claim::Equation(equation) = claim else { panic!("{claim:?}") };
                    let mut row = vec![0; columns];
                    row[0] = equation.constant as u64;
                    for (place, factor) in &equation.terms {
                        let at =
                            variables.iter().position(|variable| Place::Now(*variable) == *place).unwrap();
                        row[at + 1] = *factor as u64;
                    }
                    row
                });
                assert_eq!(Howell::of(Ring::new(bits), columns, rows), all, "{text}\n{node:?}");
                relations += all.rows().len();
            }
        }
    }
    assert!(complete > 50 && relations > 1500, "{complete} programs, {relations} relations");
}

#[test]
fn nothing_false_is_said_and_little_is_dropped() {
    let (mut said, mut confirmed) = (0, 0);
    for case in 0..u64::from(wherefore_testing::cases(450)) {
        let (text, bits) = Writer::program(7_000_000 + case + wherefore_testing::seed(), case % 3 != 0);
        let program = read(&text);
        let domains = [Domain::Constants, Domain::Affine, Domain::Modular(bits), Domain::Intervals];
        let analyses: Vec<Analysed<'_>> = domains
            .into_iter()
            .map(|domain| Analysed::new(&program, domain, &Limits::default()).unwrap())
            .collect();
        let exploration = explore(&program, &[], LIMITS);
        let stores = exploration.all_stores(Runs::All);
        let verified = verify(&program, &analyses, Duration::from_secs(60));
        assert!(verified.is_complete, "{text}");
        for (node, found) in &stores {
            let variables = variables(&program, *node);
            assert!(!verified.confirms(*node, &Claim::Unreached), "{text}\n{node:?} is reached");
            for analysis in &analyses {
                let claims = analysis.claims(*node, None, &|_| true);
                let claims = claims.unwrap_or_else(|| panic!("{text}\n{node:?} is reached"));
                for claim in claims {
                    let is_true = found.iter().all(|store| holds(&claim, &program, *node, &variables, store));
                    let is_confirmed = verified.confirms(*node, &claim);
                    assert!(is_true || !is_confirmed, "{text}\n{node:?} {claim:?} is confirmed");
                    // Over the integers nothing wraps; in the program it does.
                    let is_ideal = matches!(&claim, Claim::Equation(equation) if equation.integral);
                    assert!(is_true || is_ideal, "{text}\n{node:?} {claim:?} of {}", analysis.domain());
                    if !is_ideal {
                        said += 1;
                        confirmed += u32::from(is_confirmed);
                    }
                }
            }
        }
    }
    println!("{said} facts, {confirmed} confirmed");
    assert!(said > 1000 && confirmed * 100 >= said * 95, "{confirmed} of {said} facts are confirmed");
}

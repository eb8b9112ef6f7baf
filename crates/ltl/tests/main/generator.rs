//! Random Boolean programs and formulas about them.

use wherefore_frontend::boolean;
use wherefore_ltl::{Formula, Meaning, Proposition, Specification};
use wherefore_program::{Expr, Program, Scalar, Var};

use crate::automata::Random;

/// Whether procedures of a random program call each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// From `main` only.
    Flat,
    /// All may call all.
    Recursive,
}

fn expression(random: &mut Random, names: &[&str]) -> String {
    let name = names[random.below(names.len())];
    match random.below(8) {
        0 => "*".to_owned(),
        1 => "T".to_owned(),
        2 => format!("!{name}"),
        3 => format!("({name} & {})", names[random.below(names.len())]),
        4 => format!("({name} ^ {})", names[random.below(names.len())]),
        _ => name.to_owned(),
    }
}

fn block(random: &mut Random, names: &[&str], callees: &[&str], depth: usize, length: usize) -> String {
    (0..length).map(|_| statement(random, names, callees, depth)).collect::<Vec<_>>().join(" ")
}

fn statement(random: &mut Random, names: &[&str], callees: &[&str], depth: usize) -> String {
    let target = names[random.below(names.len())];
    let e = expression(random, names);
    match random.below(if depth == 0 { 8 } else { 13 }) {
        0..=2 => format!("{target} := {e};"),
        3 => "skip;".to_owned(),
        4 => format!("assume({e});"),
        5 => format!("assert({e});"),
        6 if !callees.is_empty() => format!("{}({e});", callees[random.below(callees.len())]),
        7 if !callees.is_empty() => {
            format!("if (*) then {}({e}); fi;", callees[random.below(callees.len())])
        }
        6 | 7 => format!("{target} := !{target};"),
        8 | 9 => {
            let (a, b) = (random.below(3), random.below(2));
            let then = block(random, names, callees, depth - 1, a);
            let other = block(random, names, callees, depth - 1, b);
            format!("if ({e}) then {then} else {other} fi;")
        }
        10 => "if (*) then return; fi;".to_owned(),
        _ => {
            let length = 1 + random.below(2);
            format!("while ({e}) do {} od;", block(random, names, callees, depth - 1, length))
        }
    }
}

/// The text of a random program with the globals `g` and `h`.
pub fn program(random: &mut Random, calls: Calls) -> String {
    let callees: &[&str] = if calls == Calls::Recursive { &["f", "k"] } else { &[] };
    let f = block(random, &["g", "h", "a"], callees, 1, 2);
    let k = block(random, &["g", "h", "b", "y"], callees, 1, 2);
    let length = 2 + random.below(3);
    let main = block(random, &["g", "h", "x"], &["f", "k"], 2, length);
    format!(
        "decl g, h;\nvoid f(a) begin {f} end\nvoid k(b) begin decl y; {k} end\nvoid main() begin decl x;\n  {main}\nend\n"
    )
}

/// The program of a text.
pub fn parse(text: &str) -> Program {
    boolean::parse("random.bp", text, None).unwrap_or_else(|error| panic!("{}\n{text}", error.render()))
}

/// The propositions `g`, `h`, `end` and `at f`.
pub fn meanings(program: &Program) -> Vec<Meaning> {
    let global = |i| Meaning::Condition(Expr::variable(Var::Global(i), Scalar::Bool));
    let f = program.find_procedure("f").expect("there is `f`");
    let node = wherefore_program::Node { procedure: f, location: program.procedure(f).entry };
    vec![global(0), global(1), Meaning::End, Meaning::At([node].into())]
}

/// A formula over globals of a program, and what its propositions mean.
pub fn formula(program: &Program, text: &str) -> (Formula, Vec<Meaning>) {
    let read = Specification::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let meaning = |proposition: &Proposition| match proposition {
        Proposition::End => Meaning::End,
        Proposition::At(label) => Meaning::At(program.labelled(label).collect()),
        Proposition::Condition(name) => {
            let at = program.globals.iter().position(|global| global.name == *name);
            let at = at.unwrap_or_else(|| panic!("no global `{name}`"));
            Meaning::Condition(Expr::variable(Var::Global(at as u32), Scalar::Bool))
        }
        Proposition::Line(_) => panic!("tests do not use lines"),
    };
    (read.formula, read.atoms.iter().map(|atom| meaning(&atom.proposition)).collect())
}

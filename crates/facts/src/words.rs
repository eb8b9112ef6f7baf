//! Claims in the words of the source.

use std::collections::BTreeSet;

use wherefore_program::{FileId, NamedCell, Node, Object, ProcedureId, Program, Scalar, Type, Var, Variable};

use crate::claim::{Claim, Equation, Place};

/// A claim about the present state, in words; none if there are none for it.
pub(crate) fn words(program: &Program, procedure: ProcedureId, claim: &Claim) -> Option<String> {
    match claim {
        Claim::Equation(equation) => Some(equation_words(program, procedure, equation)),
        Claim::OneOf { place: Place::Now(variable), constant: Some(value), entry } if entry.is_empty() => {
            let variable = program.variable(procedure, *variable);
            Some(format!("{} = {}", name_of(program, variable), program.show_value(variable, *value)))
        }
        Claim::Unreached => Some("not reached".to_owned()),
        Claim::Range { place: Place::Now(variable), range } => {
            let variable = program.variable(procedure, *variable);
            let name = name_of(program, variable);
            let show = |value: i128| program.show_value(variable, value as u64 & variable.ty.element().max());
            let (low, high, least, most) = if variable.signed {
                let (low, high) = range.signed_bounds();
                let least = i64::MIN >> (64 - variable.ty.element().width());
                (i128::from(low), i128::from(high), i128::from(least), i128::from(!least))
            } else {
                let (low, high) = range.unsigned_bounds();
                (i128::from(low), i128::from(high), 0, i128::from(variable.max()))
            };
            if low == high {
                return Some(format!("{name} = {}", show(low)));
            }
            Some(match (low > least, high < most) {
                (true, true) => format!("{} ≤ {name} ≤ {}", show(low), show(high)),
                (true, false) => format!("{name} ≥ {}", show(low)),
                (false, true) => format!("{name} ≤ {}", show(high)),
                (false, false) => return None,
            })
        }
        Claim::OneOf { .. } | Claim::Range { .. } => None,
    }
}

/// The cell of memory that became a variable.
fn cell_of<'p>(program: &'p Program, variable: &Variable) -> Option<NamedCell<'p>> {
    let Type::Scalar(Scalar::Bits(width)) = variable.ty else { return None };
    let (_, address) = variable.name.rsplit_once('.')?;
    program.named_cell(address.parse().ok()?, width)
}

fn object_of<'p>(program: &'p Program, variable: &Variable) -> Option<&'p Object> {
    cell_of(program, variable).map(|cell| cell.object)
}

/// The name of a variable as the source has it: cells of memory that became variables get theirs
/// back.
pub fn name_of(program: &Program, variable: &Variable) -> String {
    cell_of(program, variable).map_or_else(|| variable.name.clone(), |cell| cell.name)
}

/// Whether a variable is one of the source, and not a value that the front end keeps for itself.
pub(crate) fn is_of_source(program: &Program, variable: &Variable) -> bool {
    let name = name_of(program, variable);
    let base = name.split(['@', '.', '[']).next().unwrap_or("");
    if name != variable.name {
        return true;
    }
    let text = program.source(variable.span).slice(variable.span);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !base.is_empty() && text.split(|c| !is_word(c)).any(|word| word == base)
}

/// Where the variables of a program come into sight.
pub(crate) struct Scopes {
    globals: Vec<Scope>,
    locals: Vec<Vec<Scope>>,
}

/// Where a variable is in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Nowhere: the source does not have it.
    Nowhere,
    /// Everywhere.
    Everywhere,
    /// In a procedure, from a place of its file on.
    Behind(ProcedureId, FileId, u32),
}

impl Scopes {
    pub fn new(program: &Program) -> Self {
        let globals = program.globals.iter().map(|variable| {
            if !is_of_source(program, variable) {
                return Scope::Nowhere;
            }
            let Some(function) = object_of(program, variable).and_then(|object| object.function.clone())
            else {
                return Scope::Everywhere;
            };
            // A local variable that lives in memory: from where its name occurs first.
            let Some(procedure) = program.find_procedure(&function) else { return Scope::Everywhere };
            let span = program.procedure(procedure).span;
            let name = name_of(program, variable);
            let base = name.split(['.', '[']).next().unwrap_or("");
            let text = program.source(span).text().get(span.start as usize..).unwrap_or("");
            let found = text.match_indices(base).find(|(at, _)| is_word_at(text, *at, base.len()));
            let at = span.start + found.map_or(0, |(at, _)| at as u32);
            Scope::Behind(procedure, span.file, at)
        });
        let locals = program.procedures().map(|(id, body)| {
            let scope = |(i, variable): (usize, &Variable)| match is_of_source(program, variable) {
                false => Scope::Nowhere,
                true if i < body.parameters => Scope::Everywhere,
                true => Scope::Behind(id, variable.span.file, variable.span.start),
            };
            body.variables.iter().enumerate().map(scope).collect()
        });
        Self { globals: globals.collect(), locals: locals.collect() }
    }

    /// Whether a variable is in sight at a location.
    pub fn sees(&self, program: &Program, node: Node, variable: Var) -> bool {
        let scope = match variable {
            Var::Global(i) => self.globals[i as usize],
            Var::Local(i) => self.locals[node.procedure.0 as usize][i as usize],
        };
        match scope {
            Scope::Nowhere => false,
            Scope::Everywhere => true,
            Scope::Behind(procedure, file, start) => {
                let span = program.location(node).span;
                node.procedure == procedure && (span.file != file || span.start > start)
            }
        }
    }
}

fn is_word_at(text: &str, at: usize, length: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].chars().next_back().is_some_and(is_word)
        && !text[at + length..].chars().next().is_some_and(is_word)
}

/// The names of all variables of the source.
pub fn source_names(program: &Program) -> BTreeSet<String> {
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.variables);
    let all = program.globals.iter().chain(locals).filter(|variable| is_of_source(program, variable));
    all.map(|variable| name_of(program, variable)).collect()
}

/// A number modulo two to the power of some bits, as the nearest one to 0.
fn centred(value: i64, bits: u32) -> i64 {
    let unused = 64 - bits;
    let signed = (value << unused) >> unused;
    // The half is as near on both sides: it is read as positive if there is room.
    if bits < 64 && signed == -(1 << (bits - 1)) { -signed } else { signed }
}

fn equation_words(program: &Program, procedure: ProcedureId, equation: &Equation) -> String {
    // What divides all factors and the constant is part of the modulus.
    let all = equation.terms.iter().map(|(_, factor)| *factor).chain([equation.constant]);
    let common = if equation.integral { 0 } else { all.map(i64::trailing_zeros).min().unwrap_or(0) };
    let bits = equation.bits - common.min(equation.bits - 1);
    let reduced = |value: i64| if equation.integral { value } else { centred(value >> common, bits) };
    let mut constant = reduced(equation.constant);
    let mut terms: Vec<(Var, i64)> = equation
        .terms
        .iter()
        .filter_map(|(place, factor)| match place {
            Place::Now(variable) => Some((*variable, reduced(*factor))),
            _ => None,
        })
        .filter(|(_, factor)| *factor != 0)
        .collect();
    // The first one stands alone on the left, with a positive factor.
    let Some((first, mut factor)) = terms.first().copied() else { return String::new() };
    if factor < 0 && factor != i64::MIN {
        factor = factor.wrapping_neg();
    } else {
        constant = constant.wrapping_neg();
        terms.iter_mut().for_each(|(_, factor)| *factor = factor.wrapping_neg());
    }
    let name = |variable: Var| name_of(program, program.variable(procedure, variable));
    let times = |factor: i64, variable: Var| match factor {
        1 => name(variable),
        _ => format!("{factor}*{}", name(variable)),
    };
    let left = times(factor, first);
    let mut right = String::new();
    for (variable, factor) in &terms[1..] {
        let magnitude = factor.checked_abs().unwrap_or(*factor);
        match (right.is_empty(), *factor < 0) {
            (true, true) => right.push('-'),
            (true, false) => {}
            (false, true) => right.push_str(" - "),
            (false, false) => right.push_str(" + "),
        }
        right.push_str(&times(magnitude, *variable));
    }
    let widest = equation.terms.iter().filter_map(|(place, _)| match place {
        Place::Now(variable) => Some(program.variable(procedure, *variable).ty.element().width()),
        _ => None,
    });
    let is_exact = equation.integral || widest.max() == Some(bits);
    match (right.is_empty(), constant) {
        (true, _) if is_exact && factor == 1 => {
            let variable = program.variable(procedure, first);
            right = program.show_value(variable, constant as u64 & variable.ty.element().max());
        }
        (true, _) if bits < 63 && !equation.integral => right = (constant & ((1 << bits) - 1)).to_string(),
        (true, _) => right = constant.to_string(),
        (false, 0) => {}
        (false, c) if c < 0 => right.push_str(&format!(" - {}", c.unsigned_abs())),
        (false, c) => right.push_str(&format!(" + {c}")),
    }
    if is_exact {
        return format!("{left} = {right}");
    }
    let modulus = if bits <= 16 { (1u64 << bits).to_string() } else { format!("2^{bits}") };
    format!("{left} ≡ {right} (mod {modulus})")
}

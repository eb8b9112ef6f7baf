//! The front door: a program analysed in a domain, and its facts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use wherefore_flow::{Known, Live, Range, Ranges, Reaching, Tables, Uninitialised, range_of, tabulate};
use wherefore_program::{EdgeRef, Node, Operation, ProcedureId, Program, Scalar, Type, Var};
use wherefore_pushdown::{Limits, StopReason};

use crate::affine::{Equations, NoEquations, Way};
use crate::claim::{Claim, Place};
use crate::constants::Constants;
use crate::lower::returns;
use crate::stack::Stacks;
use crate::words::{Scopes, name_of, words};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// Variables that have one value.
    Constants,
    /// Linear equations over the integers, between the variables of each width.
    Affine,
    /// Linear equations and congruences modulo two to the power of this.
    Modular(u32),
    /// The same as far as they are exact for programs whose branches go both ways.
    ExactModular(u32),
    /// Least and greatest values.
    Intervals,
    /// Variables that may have no value yet.
    Uninitialised,
    /// Variables that may be read before they are written.
    Live,
    /// Which lines may have written a variable.
    Reaching,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Constants => f.write_str("constants"),
            Domain::Affine => f.write_str("affine"),
            Domain::Modular(bits) => write!(f, "affine:{bits}"),
            Domain::ExactModular(bits) => write!(f, "affine:{bits}:exact"),
            Domain::Intervals => f.write_str("intervals"),
            Domain::Uninitialised => f.write_str("uninitialised"),
            Domain::Live => f.write_str("live"),
            Domain::Reaching => f.write_str("reaching"),
        }
    }
}

impl FromStr for Domain {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let bits = |text: &str| text.parse().ok().filter(|bits| [8, 16, 32, 64].contains(bits));
        match name.split(':').collect::<Vec<_>>().as_slice() {
            ["constants"] => Ok(Domain::Constants),
            ["affine"] => Ok(Domain::Affine),
            ["intervals"] => Ok(Domain::Intervals),
            ["uninitialised"] => Ok(Domain::Uninitialised),
            ["live"] => Ok(Domain::Live),
            ["reaching"] => Ok(Domain::Reaching),
            ["affine", width] => bits(width)
                .map(Domain::Modular)
                .ok_or_else(|| format!("`{name}`: the width is 8, 16, 32 or 64")),
            ["affine", width, "exact"] => bits(width)
                .map(Domain::ExactModular)
                .ok_or_else(|| format!("`{name}`: the width is 8, 16, 32 or 64")),
            _ => Err(format!("there is no domain `{name}`")),
        }
    }
}

/// Why a program is not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnalysis {
    /// It has threads.
    Threads,
    /// The search was stopped.
    Stopped(StopReason),
    /// It has more variables than the domain copes with.
    TooManyVariables(usize),
    /// It is too large for ranges.
    TooLarge,
    /// Too many steps.
    NoEnd,
}

impl fmt::Display for NoAnalysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnalysis::Threads => f.write_str("programs with threads are not analysed"),
            NoAnalysis::Stopped(stop) => write!(f, "the analysis was stopped: {}", stop.why()),
            NoAnalysis::TooManyVariables(count) => {
                write!(f, "{count} variables that may be related at once are too many")
            }
            NoAnalysis::NoEnd => f.write_str("the analysis takes too many steps"),
            NoAnalysis::TooLarge => f.write_str("the program is too large for ranges"),
        }
    }
}

impl std::error::Error for NoAnalysis {}

/// Something that holds at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Where it comes from.
    pub domain: Domain,
    /// What it says, if it is about values: then it can be checked.
    pub claim: Option<Claim>,
    /// In the words of the source.
    pub text: String,
}

/// A program analysed in a domain.
pub struct Analysed<'a> {
    program: &'a Program,
    domain: Domain,
    found: Found<'a>,
    scopes: Scopes,
}

enum Found<'a> {
    Constants(Box<Constants<'a>>),
    /// For each width of variables.
    Equations(Vec<Equations<'a>>),
    Ranges(Ranges),
    Uninitialised(Tables<BTreeSet<Var>>),
    Live(Tables<BTreeSet<Var>>),
    Reaching(Tables<BTreeSet<(Var, EdgeRef)>>),
}

/// The widths of the numbers in a program.
fn widths(program: &Program) -> Vec<u32> {
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.variables);
    let scalars = program.globals.iter().chain(locals).filter_map(|variable| match variable.ty {
        Type::Scalar(Scalar::Bits(width)) if !variable.pointer && !variable.float => Some(width),
        _ => None,
    });
    let mut widths: Vec<u32> = scalars.collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

impl<'a> Analysed<'a> {
    /// Analyses a program.
    pub fn new(program: &'a Program, domain: Domain, limits: &Limits) -> Result<Self, NoAnalysis> {
        if program.uses_threads().is_some() {
            return Err(NoAnalysis::Threads);
        }
        let wrong = |why| match why {
            NoEquations::Stopped(stop) => NoAnalysis::Stopped(stop),
            NoEquations::TooMany(count) => NoAnalysis::TooManyVariables(count),
        };
        let one = |bits, way| Equations::new(program, bits, way, limits).map_err(wrong);
        let found = match domain {
            Domain::Constants => {
                Found::Constants(Box::new(Constants::new(program, limits).map_err(NoAnalysis::Stopped)?))
            }
            Domain::Affine => {
                let all = widths(program).into_iter().map(|bits| one(bits, Way::Integers));
                Found::Equations(all.collect::<Result<_, _>>()?)
            }
            Domain::Modular(bits) => Found::Equations(vec![one(bits, Way::Both)?]),
            Domain::ExactModular(bits) => Found::Equations(vec![one(bits, Way::Exact)?]),
            Domain::Intervals => Found::Ranges(Ranges::new(program).ok_or(NoAnalysis::TooLarge)?),
            Domain::Uninitialised => {
                Found::Uninitialised(tabulate(program, &Uninitialised).map_err(|_| NoAnalysis::NoEnd)?)
            }
            Domain::Live => Found::Live(tabulate(program, &Live).map_err(|_| NoAnalysis::NoEnd)?),
            Domain::Reaching => Found::Reaching(tabulate(program, &Reaching).map_err(|_| NoAnalysis::NoEnd)?),
        };
        Ok(Self { program, domain, found, scopes: Scopes::new(program) })
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// What was looked for.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// What holds at a point, of the variables that `keep` accepts, with some stacks or all; none
    /// if no path comes there with them.
    pub fn claims(
        &self,
        node: Node,
        stacks: Option<&Stacks>,
        keep: &dyn Fn(Var) -> bool,
    ) -> Option<Vec<Claim>> {
        match &self.found {
            Found::Constants(constants) => {
                let known = constants.at(node, stacks)?.into_iter().filter(|(variable, _)| keep(*variable));
                let claim = |(variable, value)| Claim::OneOf {
                    place: Place::Now(variable),
                    constant: Some(value),
                    entry: Vec::new(),
                };
                Some(known.map(claim).collect())
            }
            Found::Equations(all) => {
                let mut claims = Vec::new();
                for equations in all {
                    claims.extend(equations.at(node, stacks, keep)?.into_iter().map(Claim::Equation));
                }
                Some(claims)
            }
            Found::Ranges(ranges) => {
                let values = ranges.at(node)?;
                let body = self.program.procedure(node.procedure);
                let locals = (0..body.variables.len() as u32).map(Var::Local);
                let all = (0..self.program.globals.len() as u32).map(Var::Global).chain(locals);
                let scalar = |variable: &Var| {
                    let variable = self.program.variable(node.procedure, *variable);
                    matches!(variable.ty, Type::Scalar(_)) && !variable.float && !variable.pointer
                };
                let claims =
                    all.filter(|variable| keep(*variable) && scalar(variable)).filter_map(|variable| {
                        let range = values.of(variable)?;
                        Some(Claim::Range { place: Place::Now(variable), range })
                    });
                Some(claims.collect())
            }
            Found::Uninitialised(_) | Found::Live(_) | Found::Reaching(_) => Some(Vec::new()),
        }
    }

    /// What domains of sets say at a point.
    fn sets(&self, node: Node, keep: &dyn Fn(Var) -> bool) -> Option<Vec<String>> {
        let name = |variable: Var| name_of(self.program, self.program.variable(node.procedure, variable));
        let shown = |variables: BTreeSet<Var>| -> Vec<String> {
            variables.into_iter().filter(|variable| keep(*variable)).map(name).collect()
        };
        Some(match &self.found {
            Found::Uninitialised(tables) => {
                let all = shown(tables.at(&Uninitialised, node)?);
                all.into_iter().map(|name| format!("{name} may be uninitialised")).collect()
            }
            Found::Live(tables) => {
                let all = shown(tables.at(&Live, node)?);
                if all.is_empty() { Vec::new() } else { vec![format!("live: {}", all.join(", "))] }
            }
            Found::Reaching(tables) => {
                let mut lines: BTreeMap<Var, BTreeSet<u32>> = BTreeMap::new();
                for (variable, edge) in tables.at(&Reaching, node)? {
                    let line = self.program.position(self.program.edge(edge).span).line;
                    lines.entry(variable).or_default().insert(line);
                }
                let words =
                    |lines: BTreeSet<u32>| lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                let kept = lines.into_iter().filter(|(variable, _)| keep(*variable));
                kept.map(|(variable, lines)| format!("{} from {}", name(variable), words(lines))).collect()
            }
            _ => Vec::new(),
        })
    }

    /// Whether facts can be asked for single stacks.
    pub fn knows_stacks(&self) -> bool {
        matches!(self.found, Found::Constants(_) | Found::Equations(_))
    }

    /// What holds at a point, in words: of the variables of the source that are in sight, or of
    /// those only that have one of these names.
    pub fn facts(&self, node: Node, stacks: Option<&Stacks>, names: Option<&[String]>) -> Option<Vec<Fact>> {
        let keep = |variable: Var| {
            let name = || name_of(self.program, self.program.variable(node.procedure, variable));
            self.scopes.sees(self.program, node, variable)
                && names.is_none_or(|names| names.contains(&name()))
        };
        let claims = self.claims(node, stacks, &keep)?;
        let fact = |claim: Claim| {
            let text = words(self.program, node.procedure, &claim)?;
            Some(Fact { domain: self.domain, claim: Some(claim), text })
        };
        let sets = self.sets(node, &keep)?.into_iter();
        let sets = sets.map(|text| Fact { domain: self.domain, claim: None, text });
        Some(claims.into_iter().filter_map(fact).chain(sets).collect())
    }

    /// What holds at a point of the values there and at the entry of the procedure.
    pub fn since_entry(&self, node: Node) -> Vec<Claim> {
        match &self.found {
            Found::Constants(constants) => constants.since_entry(node),
            Found::Equations(all) => all.iter().flat_map(|equations| equations.since_entry(node)).collect(),
            _ => Vec::new(),
        }
    }

    /// What holds when a procedure returns, of the values then and at its entry.
    pub fn through(&self, procedure: ProcedureId) -> Vec<Claim> {
        match &self.found {
            Found::Constants(constants) => constants.through(procedure),
            Found::Equations(all) => all.iter().flat_map(|equations| equations.through(procedure)).collect(),
            Found::Ranges(ranges) => self.returned_ranges(ranges, procedure),
            _ => Vec::new(),
        }
    }

    /// The ranges of globals and results where a procedure returns.
    fn returned_ranges(&self, ranges: &Ranges, procedure: ProcedureId) -> Vec<Claim> {
        let mut joined: BTreeMap<Place, Range> = BTreeMap::new();
        let mut is_reached = false;
        for (_, edge) in returns(self.program, procedure) {
            let Some(values) = ranges.at(Node { procedure, location: edge.from }) else { continue };
            is_reached = true;
            let globals = self.program.globals.iter().enumerate();
            let scalars = globals.filter(|(_, variable)| matches!(variable.ty, Type::Scalar(_)));
            let mut found: Vec<(Place, Range)> = scalars
                .filter_map(|(i, _)| {
                    let variable = Var::Global(i as u32);
                    Some((Place::Now(variable), values.of(variable)?))
                })
                .collect();
            if let Operation::Return(results) = &edge.operation {
                let results = results.iter().enumerate();
                found.extend(results.map(|(i, value)| (Place::Result(i as u32), range_of(value, values))));
            }
            for (place, range) in found {
                joined.entry(place).and_modify(|known| *known = known.join(range)).or_insert(range);
            }
        }
        if !is_reached {
            return vec![Claim::Unreached];
        }
        joined.into_iter().map(|(place, range)| Claim::Range { place, range }).collect()
    }
}

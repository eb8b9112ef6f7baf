//! The facts of lines as data.

use std::collections::BTreeSet;

use serde::Serialize;
use wherefore_facts::{
    Analysed, Claim, Domain, Fact, Line, Place, Stacks, Verified, first_point, name_of, points, source_names,
};
use wherefore_program::{Node, Program, Task};

/// The version of the form of the answer.
const SCHEMA: u32 = 1;

/// The answer.
#[derive(Serialize)]
pub struct FlowReport {
    pub schema: u32,
    pub facts: Vec<FactReport>,
    /// How many facts were not confirmed, and are left out.
    pub not_confirmed: usize,
    /// Lines that no run comes to.
    pub not_reached: Vec<PlaceReport>,
    /// What could not be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the facts rest on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// A place in the source.
#[derive(Clone, Serialize)]
pub struct PlaceReport {
    pub file: String,
    pub line: u32,
    #[serde(skip)]
    pub at: (Line, u32),
}

/// A fact.
#[derive(Serialize)]
pub struct FactReport {
    pub file: String,
    pub line: u32,
    pub procedure: String,
    /// The calls that it holds for; all if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    pub domain: String,
    pub text: String,
    /// The variables of the vector.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// `[constant, factor, …]`: the constant and the multiples of the variables sum up to 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vector: Vec<i64>,
    /// Two to the power of this is the modulus of the equation.
    #[serde(rename = "mod", skip_serializing_if = "Option::is_none")]
    pub modulus: Option<u32>,
    /// Whether the solver has confirmed it; missing if it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    #[serde(skip)]
    pub at: (Line, u32),
}

/// What is to be shown.
pub struct Choice<'c> {
    pub line: Option<Line>,
    pub stacks: Option<(&'c Stacks, &'c str)>,
    pub names: Option<&'c [String]>,
    pub checks: bool,
}

/// The names of all variables.
pub fn names(program: &Program) -> BTreeSet<String> {
    source_names(program)
}

impl FlowReport {
    pub fn new(task: &Task, notes: Vec<String>) -> Self {
        let unsupported =
            task.unsupported.iter().map(|place| format!("no run comes to {}", place.words(&task.program)));
        let assumptions = task.assumptions_in_words().into_iter().chain(unsupported).collect();
        Self {
            schema: SCHEMA,
            facts: Vec::new(),
            not_confirmed: 0,
            not_reached: Vec::new(),
            notes,
            assumptions,
        }
    }
}

/// Collects the facts of all lines, or of one.
pub fn collect(
    report: &mut FlowReport,
    program: &Program,
    analyses: &[Analysed<'_>],
    verified: Option<&Verified<'_>>,
    choice: &Choice<'_>,
) {
    if let Some(verified) = verified.filter(|verified| !verified.is_complete) {
        let (count, _) = verified.counts;
        report.notes.push(format!(
            "the check of {count} claims was not finished in time, so that no fact is confirmed: give more time \
             with --timeout, or take them unchecked with --no-verify-facts"
        ));
    }
    if choice.stacks.is_some() && choice.checks {
        report.notes.push("facts for some stacks only are not checked by the solver".to_owned());
    }
    for (line, nodes) in points(program) {
        if choice.line.is_some_and(|only| only != line) {
            continue;
        }
        let mut procedures: Vec<_> = nodes.iter().map(|node| node.procedure).collect();
        procedures.dedup();
        for procedure in procedures {
            let here: Vec<Node> = nodes.iter().copied().filter(|node| node.procedure == procedure).collect();
            if let Some(node) = first_point(program, line, &here) {
                at_point(report, program, analyses, verified, choice, (line, node));
            }
        }
    }
}

fn at_point(
    report: &mut FlowReport,
    program: &Program,
    analyses: &[Analysed<'_>],
    verified: Option<&Verified<'_>>,
    choice: &Choice<'_>,
    (line, node): (Line, Node),
) {
    let file = program.sources[line.0 as usize].name().to_owned();
    let at = (line, node.procedure.0);
    let mut shown: BTreeSet<String> = BTreeSet::new();
    let mut constants: BTreeSet<Place> = BTreeSet::new();
    for analysis in analyses {
        let stacks = choice.stacks.map(|(stacks, _)| stacks);
        if stacks.is_some() && !analysis.knows_stacks() {
            continue;
        }
        let Some(facts) = analysis.facts(node, stacks, choice.names) else {
            let is_confirmed = verified.is_none_or(|verified| verified.confirms(node, &Claim::Unreached));
            if is_confirmed && !report.not_reached.iter().any(|other| other.at == at) {
                report.not_reached.push(PlaceReport { file: file.clone(), line: line.1, at });
            }
            continue;
        };
        for fact in facts {
            // A constant is worth showing once.
            let places = fact.claim.as_ref().map(Claim::places).unwrap_or_default();
            if fact.domain == Domain::Constants {
                constants.extend(&places);
            } else if places.len() == 1 && constants.contains(&places[0]) || shown.contains(&fact.text) {
                continue;
            }
            let confirmed = verified.zip(fact.claim.as_ref());
            let confirmed = confirmed.map(|(verified, claim)| verified.confirms(node, claim));
            if confirmed == Some(false) {
                report.not_confirmed += 1;
                continue;
            }
            shown.insert(fact.text.clone());
            report.facts.push(of_fact(program, fact, (node, at, file.clone()), choice, confirmed));
        }
    }
    // Whatever else is said of a place that no run comes to is of no use.
    if report.not_reached.iter().any(|place| place.at == at) {
        report.facts.retain(|fact| fact.at != at);
    }
}

fn of_fact(
    program: &Program,
    fact: Fact,
    (node, at, file): (Node, (Line, u32), String),
    choice: &Choice<'_>,
    verified: Option<bool>,
) -> FactReport {
    let (mut variables, mut vector, mut modulus) = (Vec::new(), Vec::new(), None);
    if let Some(Claim::Equation(equation)) = &fact.claim {
        let unused = 64 - equation.bits;
        // Near 0, which is how people read them.
        let near = |value: i64| if equation.integral { value } else { (value << unused) >> unused };
        vector.push(near(equation.constant));
        for (place, factor) in &equation.terms {
            if let Place::Now(variable) = place {
                variables.push(name_of(program, program.variable(node.procedure, *variable)));
                vector.push(near(*factor));
            }
        }
        modulus = (!equation.integral).then_some(equation.bits);
    }
    FactReport {
        file,
        line: at.0.1,
        procedure: program.procedure(node.procedure).name.clone(),
        stack: choice.stacks.map(|(_, text)| text.to_owned()),
        domain: fact.domain.to_string(),
        text: fact.text,
        variables,
        vector,
        modulus,
        verified,
        at,
    }
}

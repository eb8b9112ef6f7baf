//! Predicates in the words of the program.

use wherefore_domains::bdd::{Moment, Predicate};
use wherefore_program::{Node, Program};

use super::predicates::{Point, Predicates};
use crate::encoding::Encoding;

/// The predicates at one point of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointPredicates {
    /// The location; for the exit of a procedure, its entry.
    pub node: Node,
    /// What is said of the place, beside the location: `exit`, `call`, or nothing.
    pub place: &'static str,
    /// The predicates.
    pub predicates: Vec<String>,
}

pub(super) fn describe(
    program: &Program,
    encoding: &Encoding,
    predicates: &Predicates,
) -> Vec<PointPredicates> {
    let mut described: Vec<PointPredicates> = (predicates.points())
        .filter_map(|(point, list)| {
            let (node, place) = match point {
                Point::At(symbol) => (encoding.node(symbol)?, ""),
                Point::Pivot(rule) => (encoding.node(encoding.system.rule(rule).symbol)?, "call"),
                Point::Exit(procedure) => {
                    (Node { procedure, location: program.procedure(procedure).entry }, "exit")
                }
            };
            let shown = list.iter().map(|formula| show(program, encoding, node, formula)).collect();
            Some(PointPredicates { node, place, predicates: shown })
        })
        .collect();
    described.sort_by_key(|point| (point.node, point.place));
    described
}

/// A few cubes of a formula; or the number of its nodes, if it has many.
fn show(program: &Program, encoding: &Encoding, node: Node, formula: &Predicate) -> String {
    let _ = (program, node);
    let support = encoding.domain.support(formula);
    let moments: Vec<Moment> = support.iter().map(|(_, moment)| *moment).collect();
    format!("{} bits, {} nodes {:?}", support.len(), formula.node_count(), moments.len())
}

//! Pictures of spurious DAGs with their interpolants, in the DOT language.

use std::fmt::Write;

use wherefore_domains::bdd::Predicate;
use wherefore_program::{Node, Program};
use wherefore_pushdown::{RuleId, Symbol};

use super::counterexample::Counterexamples;
use super::describe::Words;
use super::predicates::Point;
use crate::encoding::{Encoding, Origin};
use crate::refinement::diagrams::interpolants::{Link, NodeId};

/// The DAG of one cycle: at each node the strongest interpolant, the weakest, and what was chosen.
pub(super) fn dot(
    program: &Program,
    encoding: &Encoding,
    found: &Counterexamples<'_>,
    (strongest, chosen): (&[Predicate], &[Vec<Predicate>]),
    cycle: usize,
) -> String {
    let weakest = found.dag.weakest(strongest);
    let mut out = format!("digraph cycle_{cycle} {{\n  node [shape=box, fontname=monospace];\n");
    let bottom = found.dag.len() - 1;
    for at in 0..found.dag.len() {
        let (name, words) = match found.points[at] {
            Some(point) => place(program, encoding, point),
            None if at == bottom => ("error".to_owned(), None),
            None => ("start".to_owned(), None),
        };
        let show = |formula: &Predicate| match &words {
            Some(words) => words.show(formula),
            None => (if at == bottom { "false" } else { "true" }).to_owned(),
        };
        let kept: Vec<String> = chosen[at].iter().map(show).collect();
        let kept = if kept.is_empty() { "nothing".to_owned() } else { kept.join("; ") };
        let label = format!(
            "{name}\\lstrongest: {}\\lweakest: {}\\ltracked: {kept}\\l",
            escaped(&show(&strongest[at])),
            escaped(&show(&weakest[at]))
        );
        let _ = writeln!(out, "  n{at} [label=\"{label}\"];");
        let links = found.dag.links(NodeId(at as u32)).iter().zip(&found.rules[at]);
        for (link, rule) in links {
            let text =
                rule.map_or_else(|| meaning(link).to_owned(), |rule| statement(program, encoding, rule));
            for NodeId(from) in link.sources() {
                let _ = writeln!(out, "  n{from} -> n{at} [label=\"{}\"];", escaped(&text));
            }
        }
    }
    out.push_str("}\n");
    out
}

fn meaning(link: &Link) -> &'static str {
    match link {
        Link::Enter(_) => "enter",
        Link::Return { .. } => "return",
        Link::Step(..) | Link::Push(..) => "",
    }
}

/// The name of a point, and how to speak of variables there.
fn place<'a>(program: &'a Program, encoding: &'a Encoding, point: Point) -> (String, Option<Words<'a>>) {
    let at = |symbol: Symbol| encoding.node(symbol);
    let line = |node: Node| {
        let name = &program.procedure(node.procedure).name;
        format!("{name}, line {}", program.line(node).unwrap_or_default())
    };
    let words = |node: Node, callee| Some(Words::new(program, encoding, node.procedure, callee));
    match point {
        Point::At(symbol) => match at(symbol) {
            Some(node) => (line(node), words(node, None)),
            None => ("between".to_owned(), None),
        },
        Point::Pivot(rule) => {
            let rule = encoding.system.rule(rule);
            let callee = match rule.rhs {
                wherefore_pushdown::Rhs::Push(entry, _) => at(entry).map(|node| node.procedure),
                _ => None,
            };
            match at(rule.symbol) {
                Some(node) => (format!("{}: pivot", line(node)), words(node, callee)),
                None => ("pivot".to_owned(), None),
            }
        }
        Point::Exit(procedure) => {
            let node = Node { procedure, location: program.procedure(procedure).entry };
            (format!("{}: exit", program.procedure(procedure).name), words(node, None))
        }
    }
}

/// The source of a rule's step.
fn statement(program: &Program, encoding: &Encoding, rule: RuleId) -> String {
    match encoding.origins[rule.index()] {
        Origin::Edge(edge) => program.describe(edge.procedure, program.edge(edge)),
        Origin::Part => String::new(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

//! The call graph and the control-flow automata for Graphviz. What lies on failing runs is filled.

use std::fmt::Write;

use wherefore_explain::model::{Explanation, Line, Point};

use crate::source::Sources;

const HEAD: &str = "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=monospace, fontsize=10];\n  \
                    edge [fontname=monospace, fontsize=9];\n";

/// The call graph: procedures on failing runs are filled.
pub fn call_graph(explanation: &Explanation) -> String {
    let mut out = format!("digraph calls {{\n{HEAD}");
    for (position, procedure) in explanation.procedures.iter().enumerate() {
        let inside = procedure.points.iter().any(|point| point.inside);
        let colour = if inside { "\"#f6c9b8\"" } else { "white" };
        let _ = writeln!(out, "  n{position} [label={}, fillcolor={colour}];", quoted(&procedure.name));
    }
    for (position, procedure) in explanation.procedures.iter().enumerate() {
        for &to in procedure.calls.iter().filter(|&&to| to < explanation.procedures.len()) {
            let _ = writeln!(out, "  n{position} -> n{to};");
        }
    }
    out.push_str("}\n");
    out
}

/// The control-flow automata, one cluster a procedure: points on failing runs are filled, and
/// darker if a run was found.
pub fn automata(explanation: &Explanation) -> String {
    let sources = Sources::new(explanation);
    let mut out = format!("digraph automata {{\n{HEAD}");
    for (number, procedure) in explanation.procedures.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(&procedure.name));
        for (position, point) in procedure.points.iter().enumerate() {
            let label = point.line.map_or("end".into(), |line| sources.place(line));
            let _ = writeln!(
                out,
                "    n{number}_{position} [label={}, fillcolor={}{}];",
                quoted(&format!("{label}\n{}", point.kind)),
                colour(explanation, point),
                if point.kind == "error" { ", penwidth=2" } else { "" },
            );
        }
        out.push_str("  }\n");
        let count = procedure.points.len();
        for (from, to, text) in procedure.edges.iter().filter(|edge| edge.0 < count && edge.1 < count) {
            let _ = writeln!(out, "  n{number}_{from} -> n{number}_{to} [label={}];", quoted(text));
        }
    }
    out.push_str("}\n");
    out
}

fn colour(explanation: &Explanation, point: &Point) -> &'static str {
    let is_confirmed = |line: Line| explanation.projection.confirmed.contains(&line);
    match point.inside {
        true if point.line.is_some_and(is_confirmed) => "\"#eb9a80\"",
        true => "\"#f6d9b8\"",
        false => "\"#e3efe6\"",
    }
}

/// A text in quotation marks; new lines stay.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

//! Programs as graphs for Graphviz.

use std::fmt::Write;

use crate::program::{LocationKind, Program};

impl Program {
    /// The control-flow automata in the language of Graphviz, each procedure in a cluster of its
    /// own.
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph program {\n  node [shape=box, fontname=\"monospace\"];\n");
        for (id, procedure) in self.procedures() {
            let _ = writeln!(out, "  subgraph cluster_{} {{\n    label={};", id.0, quote(&procedure.name));
            for at in procedure.location_ids() {
                let location = procedure.location(at);
                let mut text = match location.kind {
                    LocationKind::Exit => "exit".to_owned(),
                    kind => format!("{}: line {}", kind.name(), self.position(location.span).line),
                };
                for label in &location.labels {
                    let _ = write!(text, "\n{label}:");
                }
                let shape = match location.kind {
                    LocationKind::Error => ", color=red",
                    LocationKind::Unsupported => ", color=orange",
                    LocationKind::Branch => ", shape=diamond",
                    LocationKind::Exit => ", shape=doublecircle",
                    _ if at == procedure.entry => ", style=bold",
                    _ => "",
                };
                let _ = writeln!(out, "    n{}_{} [label={}{shape}];", id.0, at.0, quote(&text));
            }
            for edge in &procedure.edges {
                let text = quote(&self.describe(id, edge));
                let _ =
                    writeln!(out, "    n{0}_{1} -> n{0}_{2} [label={text}];", id.0, edge.from.0, edge.to.0);
            }
            out.push_str("  }\n");
        }
        out.push_str("}\n");
        out
    }
}

fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

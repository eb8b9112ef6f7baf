//! Answers in words and as JSON.

use std::fmt::Write;

use super::answer::{Answer, Node, Outcome, Projection, Step};

/// The answer as JSON, one object on several lines.
pub fn json(answer: &Answer) -> String {
    let mut text = serde_json::to_string_pretty(answer).unwrap_or_default();
    text.push('\n');
    text
}

/// The answer in words.
pub fn text(answer: &Answer) -> String {
    let mut out = String::new();
    let _ = match (answer.answer, answer.cost, answer.reason) {
        (Outcome::Reachable, Some(cost), _) => writeln!(out, "reachable, at cost {cost}"),
        (Outcome::Reachable, None, _) => writeln!(out, "reachable"),
        (Outcome::Unreachable, ..) => writeln!(out, "not reachable"),
        (Outcome::Unknown, _, reason) => writeln!(out, "unknown, because {}", reason.unwrap_or("of a limit")),
    };
    if let Some(trace) = &answer.trace {
        write_trace(&mut out, trace, if answer.cost.is_some() { "cheapest" } else { "shortest" });
    }
    if let Some(projection) = &answer.projection {
        write_projection(&mut out, projection);
    }
    out
}

fn write_trace(out: &mut String, trace: &[Step], which: &str) {
    let configurations: Vec<String> = trace
        .iter()
        .map(|step| {
            format!("<{},{}>", step.state, step.stack.iter().map(|s| format!(" {s}")).collect::<String>())
        })
        .collect();
    let width = configurations.iter().map(|c| c.chars().count()).max().unwrap_or(0).min(48);
    let steps = trace.len().saturating_sub(1);
    let _ = writeln!(out, "\na {which} run, {steps} {}:", if steps == 1 { "step" } else { "steps" });
    for (number, (step, configuration)) in trace.iter().zip(&configurations).enumerate() {
        let by = match (&step.label, &step.rule) {
            (Some(label), _) => label.clone(),
            (None, Some(rule)) => rule.clone(),
            (None, None) => String::new(),
        };
        let line = format!("{number:5}  {configuration:width$}  {by}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn write_projection(out: &mut String, projection: &Projection) {
    let Projection { on, off } = projection;
    let _ =
        writeln!(out, "\n{} of {} nodes lie on a run from start to target", on.len(), on.len() + off.len());
    let first = on.iter().chain(off).next().map(|node| &node.state);
    let several = on.iter().chain(off).any(|node| Some(&node.state) != first);
    let name = |node: &Node| match &node.symbol {
        None => node.state.clone(),
        Some(symbol) if several => format!("<{}, {symbol}>", node.state),
        Some(symbol) => symbol.clone(),
    };
    if on.iter().any(|node| node.stores.is_some()) {
        let width = on.iter().map(|node| name(node).chars().count()).max().unwrap_or(0);
        for node in on {
            let stores = node.stores.as_deref().unwrap_or_default();
            let shown = stores.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(" | ");
            let more =
                if stores.len() > 8 { format!(" | … ({} in all)", stores.len()) } else { String::new() };
            let _ = writeln!(out, "  {:width$}  {shown}{more}", name(node));
        }
    } else {
        let _ = writeln!(out, "  on:  {}", on.iter().map(name).collect::<Vec<_>>().join(" "));
    }
    let _ = writeln!(out, "  off: {}", off.iter().map(name).collect::<Vec<_>>().join(" "));
}

//! The call graph and the control-flow automata as SVG. Colours are the page's: everything has a
//! class.

use std::fmt::Write;

use wherefore_explain::model::{Explanation, Point, Procedure};

use super::drawing::{Spacing, layout};
use super::escape::html;
use crate::source::Sources;

/// The most points of an automaton that is drawn.
pub(super) const MOST_POINTS: usize = 400;
/// The most points of all automata together, so that a page stays small.
const MOST_POINTS_OF_ALL: usize = 6000;
const LETTER: f64 = 6.7;
const MARGIN: f64 = 14.0;
const LABEL: usize = 26;

/// The call graph; none if nothing calls, or if it is too large.
pub(super) fn call_graph(explanation: &Explanation) -> Option<String> {
    let procedures = &explanation.procedures;
    if procedures.len() < 2 || procedures.len() > MOST_POINTS {
        return None;
    }
    let labels: Vec<String> = procedures.iter().map(|procedure| shorten(&procedure.name)).collect();
    let sizes: Vec<(f64, f64)> =
        labels.iter().map(|label| (label.chars().count() as f64 * LETTER + 20.0, 26.0)).collect();
    let edges: Vec<(usize, usize)> = procedures
        .iter()
        .enumerate()
        .flat_map(|(from, procedure)| procedure.calls.iter().map(move |&to| (from, to)))
        .collect();
    let layout = layout(&sizes, &edges, Spacing { between: 18.0, layers: 34.0 })?;
    let mut out = start((0.0, layout.width), layout.height, "call graph");
    for bends in &layout.edges {
        path(&mut out, bends, "edge");
    }
    for (position, procedure) in procedures.iter().enumerate() {
        let inside = procedure.points.iter().any(|point| point.inside);
        let calls_itself = if procedure.calls.contains(&position) { " ↻" } else { "" };
        let node = Node {
            class: if inside { "node in" } else { "node out" },
            line: Some((procedure.line.file, procedure.line.line)),
            label: format!("{}{calls_itself}", labels[position]),
            title: procedure.name.clone(),
            shape: Shape::Box,
        };
        node.write(&mut out, layout.points[position], sizes[position], Some(position));
    }
    out.push_str("</svg>");
    Some(out)
}

/// Each procedure's automaton, or a note why it is not drawn.
pub(super) fn automata(explanation: &Explanation, sources: &Sources) -> Vec<Result<String, String>> {
    let mut room = MOST_POINTS_OF_ALL;
    let draw = |procedure: &Procedure| {
        let count = procedure.points.len();
        if count == 0 {
            return Err("there is nothing to draw".to_string());
        }
        if count > MOST_POINTS {
            return Err(format!(
                "{count} points are too many for a picture; at most {MOST_POINTS} are drawn"
            ));
        }
        if count > room {
            return Err("the automata before it take the room of the page".to_string());
        }
        room -= count;
        automaton(procedure, sources).ok_or_else(|| "its edges are too long for a picture".to_string())
    };
    explanation.procedures.iter().map(draw).collect()
}

fn automaton(procedure: &Procedure, sources: &Sources) -> Option<String> {
    let label = |point: &Point| match point.line {
        Some(line) if line.file == procedure.line.file => line.line.to_string(),
        Some(line) => sources.place(line),
        None => "end".into(),
    };
    let labels: Vec<String> = procedure.points.iter().map(|point| shorten(&label(point))).collect();
    let sizes: Vec<(f64, f64)> =
        labels.iter().map(|label| ((label.chars().count() as f64 * LETTER + 18.0).max(34.0), 22.0)).collect();
    let edges: Vec<(usize, usize)> = procedure.edges.iter().map(|edge| (edge.0, edge.1)).collect();
    let layout = layout(&sizes, &edges, Spacing { between: 70.0, layers: 34.0 })?;
    let mut leaving = vec![0_usize; procedure.points.len()];
    for &(from, _) in &edges {
        if let Some(count) = leaving.get_mut(from) {
            *count += 1;
        }
    }
    let texts: Vec<Label> = layout
        .edges
        .iter()
        .zip(&procedure.edges)
        .filter_map(|(bends, edge)| {
            Label::new(bends, &edge.2, leaving.get(edge.0).is_some_and(|&count| count > 1))
        })
        .collect();
    let left = texts.iter().map(|label| label.room().0).fold(0.0, f64::min);
    let right = texts.iter().map(|label| label.room().1).fold(layout.width, f64::max);
    let mut out = start((left, right), layout.height, &format!("control flow of {}", procedure.name));
    for (bends, edge) in layout.edges.iter().zip(&procedure.edges) {
        let end = |at: usize| procedure.points.get(at).is_some_and(|point| point.inside);
        path(&mut out, bends, if end(edge.0) && end(edge.1) { "edge in" } else { "edge" });
    }
    for label in &texts {
        label.write(&mut out);
    }
    for (position, point) in procedure.points.iter().enumerate() {
        let is_error = point.kind == "error";
        let node = Node {
            class: match (is_error, point.inside) {
                (true, _) => "node error",
                (false, true) => "node in",
                (false, false) => "node out",
            },
            line: point.line.map(|line| (line.file, line.line)),
            label: labels[position].clone(),
            title: point.kind.clone(),
            shape: if point.kind == "branch" { Shape::Round } else { Shape::Box },
        };
        node.write(&mut out, layout.points[position], sizes[position], None);
    }
    out.push_str("</svg>");
    Some(out)
}

enum Shape {
    Box,
    Round,
}

struct Node {
    class: &'static str,
    line: Option<(usize, u32)>,
    label: String,
    title: String,
    shape: Shape,
}

impl Node {
    fn write(
        &self,
        out: &mut String,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        procedure: Option<usize>,
    ) {
        let line = self.line.map_or(String::new(), |(file, line)| format!(" data-at=\"{file}:{line}\""));
        let procedure = procedure.map_or(String::new(), |at| format!(" data-procedure=\"{at}\""));
        let radius = match self.shape {
            Shape::Box => 4.0,
            Shape::Round => height / 2.0,
        };
        let _ = write!(
            out,
            "<g class=\"{}\" role=\"button\" tabindex=\"-1\"{line}{procedure}><title>{}</title>\
             <rect x=\"{:.0}\" y=\"{:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"{radius:.0}\"/>\
             <text x=\"{x:.0}\" y=\"{:.0}\">{}</text></g>",
            self.class,
            html(&self.title),
            x - width / 2.0,
            y - height / 2.0,
            y + 4.0,
            html(&self.label),
        );
    }
}

/// The head of a picture between two columns.
fn start((left, right): (f64, f64), height: f64, title: &str) -> String {
    let (width, height) = (right - left + 2.0 * MARGIN, height + 2.0 * MARGIN);
    format!(
        "<svg class=\"graph\" role=\"group\" aria-label=\"{}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"{:.0} {:.0} {width:.0} {height:.0}\">",
        html(title),
        left - MARGIN,
        -MARGIN
    )
}

/// A smooth line through the bends; the arrow is the page's.
fn path(out: &mut String, bends: &[(f64, f64)], class: &str) {
    let [first, _, ..] = bends else { return };
    let _ =
        write!(out, "<path class=\"{class}\" marker-end=\"url(#arrow)\" d=\"M{:.0} {:.0}", first.0, first.1);
    for pair in bends.windows(2) {
        let middle = (pair[0].1 + pair[1].1) / 2.0;
        let (from, to) = (pair[0], pair[1]);
        if (from.0 - to.0).abs() < 1.0 {
            let _ = write!(out, "L{:.0} {:.0}", to.0, to.1);
        } else {
            let _ = write!(out, "C{:.0} {middle:.0} {:.0} {middle:.0} {:.0} {:.0}", from.0, to.0, to.0, to.1);
        }
    }
    out.push_str("\"/>");
}

/// The text of an edge, beside its first piece.
struct Label<'a> {
    text: &'a str,
    x: f64,
    y: f64,
    is_left: bool,
}

impl<'a> Label<'a> {
    /// Edges that part are labelled on their outer sides, edges that meet as well.
    fn new(bends: &[(f64, f64)], text: &'a str, parts: bool) -> Option<Self> {
        let [first, second, ..] = bends else { return None };
        let (x, y) = ((first.0 + second.0) / 2.0, (first.1 + second.1) / 2.0 + 3.0);
        let slope = second.0 - first.0;
        let is_left = slope.abs() > 1.0 && (slope < 0.0) == parts;
        // A slanted edge comes closer to its text.
        let gap = if slope.abs() > 1.0 { 11.0 } else { 6.0 };
        (!text.is_empty()).then_some(Self { text, x: if is_left { x - gap } else { x + gap }, y, is_left })
    }

    /// From where to where it goes.
    fn room(&self) -> (f64, f64) {
        let width = shorten(self.text).chars().count() as f64 * LETTER;
        if self.is_left { (self.x - width, self.x) } else { (self.x, self.x + width) }
    }

    fn write(&self, out: &mut String) {
        let _ = write!(
            out,
            "<text class=\"label\" text-anchor=\"{}\" x=\"{:.0}\" y=\"{:.0}\"><title>{}</title>{}</text>",
            if self.is_left { "end" } else { "start" },
            self.x,
            self.y,
            html(self.text),
            html(&shorten(self.text)),
        );
    }
}

fn shorten(text: &str) -> String {
    match text.chars().count() > LABEL {
        true => text.chars().take(LABEL - 1).chain(['…']).collect(),
        false => text.into(),
    }
}

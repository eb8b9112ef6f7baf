//! Which lines were run: lcov's `.info` files, and the JSON of `gcov --json-format`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wherefore_program::{Node, Program};

use crate::backtrace::BadBacktrace;
use crate::evidence::{Clue, Clues, MOST_LINES, Origin, Place, has_steps};
use crate::lines::{counts, entered, files};

/// How often lines were run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The counts.
    pub counts: BTreeMap<Place, u64>,
}

impl Coverage {
    /// Reads a text.
    ///
    /// # Errors
    /// Where it is not understood.
    pub fn parse(text: &str) -> Result<Self, BadBacktrace> {
        if text.trim_start().starts_with('{') { Self::of_gcov(text) } else { Self::of_lcov(text) }
    }

    fn of_lcov(text: &str) -> Result<Self, BadBacktrace> {
        let mut coverage = Self::default();
        let mut file: Option<&str> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let bad = |column: u32, message: &str| BadBacktrace {
                line: number,
                column,
                message: message.to_owned(),
            };
            let line = line.trim();
            let Some((key, rest)) = line.split_once(':') else {
                match line {
                    "" => {}
                    "end_of_record" => file = None,
                    _ => return Err(bad(1, "this is no record of lcov: `SF:file`, `DA:line,count`, …")),
                }
                continue;
            };
            match key {
                "SF" => file = Some(rest),
                "DA" => {
                    let file = file.ok_or_else(|| bad(1, "`DA:` before a file (`SF:`)"))?;
                    let mut parts = rest.split(',');
                    let at = parts.next().and_then(|part| part.trim().parse().ok());
                    let at: u32 = at.ok_or_else(|| bad(4, "a line number is expected"))?;
                    let count = parts.next().and_then(|part| part.trim().parse().ok());
                    let count: u64 = count.ok_or_else(|| bad(4, "a count is expected behind the line"))?;
                    *coverage.counts.entry((file.to_owned(), at)).or_default() += count;
                }
                _ => {}
            }
        }
        if coverage.counts.is_empty() {
            return Err(BadBacktrace {
                line: 1,
                column: 1,
                message: "no line is counted (`DA:line,count`)".to_owned(),
            });
        }
        Ok(coverage)
    }

    fn of_gcov(text: &str) -> Result<Self, BadBacktrace> {
        let bad = |line: usize, column: usize, message: String| BadBacktrace {
            line: line.max(1) as u32,
            column: column.max(1) as u32,
            message,
        };
        let value: Value = serde_json::from_str(text)
            .map_err(|error| bad(error.line(), error.column(), error.to_string()))?;
        let mut coverage = Self::default();
        for file in value["files"].as_array().into_iter().flatten() {
            let name = file["file"].as_str().unwrap_or_default();
            for line in file["lines"].as_array().into_iter().flatten() {
                if let (Some(at), Some(count)) = (line["line_number"].as_u64(), line["count"].as_u64()) {
                    *coverage.counts.entry((name.to_owned(), at as u32)).or_default() += count;
                }
            }
        }
        if coverage.counts.is_empty() {
            return Err(bad(1, 1, "no line is counted (`files`, `lines`, `count`)".to_owned()));
        }
        Ok(coverage)
    }

    /// Adds what was run to the clues: lines that never were are out. Of those that were, the ones
    /// that are not on a path anyway should be visited: one for each stretch of lines between
    /// branches, so many as can be weighed. How many others there are.
    pub fn add_to(&self, program: &Program, clues: &mut Clues, on_path: &[Node]) -> usize {
        // A line that also was run, in another copy of its file, is not out.
        let has_run = |place: &Place| {
            let same =
                |other: &&Place| other.1 == place.1 && files(program, &other.0) == files(program, &place.0);
            self.counts.iter().any(|(other, count)| *count > 0 && same(&other))
        };
        let never = self.counts.iter().filter(|(place, count)| **count == 0 && !has_run(place));
        clues.never.extend(never.map(|(place, _)| place.clone()).filter(|place| has_steps(program, place)));
        let visited: BTreeSet<Node> = on_path.iter().copied().collect();
        let mut stretches: BTreeSet<Node> = BTreeSet::new();
        let mut left = 0;
        for place in self.counts.iter().filter(|(_, count)| **count > 0).map(|(place, _)| place) {
            let nodes: Vec<Node> = files(program, &place.0)
                .into_iter()
                .flat_map(|file| entered(program, (file, place.1)))
                .collect();
            if nodes.is_empty() || nodes.iter().any(|node| visited.contains(node)) {
                continue;
            }
            if !nodes.iter().any(|node| stretches.insert(leader(program, *node))) {
                continue;
            }
            if clues.must.len() + clues.should.len() < MOST_LINES {
                clues.should.push(Clue { places: vec![place.clone()], origin: Origin::Coverage });
            } else {
                left += 1;
            }
        }
        left
    }
}

/// The first location of the stretch without branches that a location is on.
fn leader(program: &Program, node: Node) -> Node {
    let body = program.procedure(node.procedure);
    let mut at = node;
    for _ in 0..body.locations.len() {
        let mut before = body.edges.iter().filter(|edge| edge.to == at.location);
        let (Some(edge), None) = (before.next(), before.next()) else { break };
        let from = Node { procedure: node.procedure, location: edge.from };
        if body.edges_from(edge.from).nth(1).is_some() || from == node {
            break;
        }
        at = from;
    }
    // Declarations are no steps: the stretch begins with the first one that is.
    if counts(program, at) { at } else { Node { location: at.location, ..node } }
}

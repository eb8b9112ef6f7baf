//! Sets of call stacks, as one writes them: `g:17 main:40`, the innermost call first; a part may be
//! a line alone, and `..` at the end stands for any further calls.

use std::fmt;

use wherefore_program::{EdgeRef, LocationKind, Node, Operation, Program};
use wherefore_pushdown::{Automaton, Reading, Symbol};

use crate::lower::{CONTROL, Layout};

/// A set of stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stacks {
    /// The calls below the location, the innermost first.
    calls: Vec<Site>,
    /// Whether there may be others below these.
    is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Site {
    procedure: Option<String>,
    line: u32,
}

/// Why a text is no set of stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoStacks(String);

impl fmt::Display for NoStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoStacks {}

impl Stacks {
    /// Exactly the calls on these lines, the innermost first.
    pub fn of_lines(lines: &[u32]) -> Self {
        let calls = lines.iter().map(|line| Site { procedure: None, line: *line }).collect();
        Self { calls, is_open: false }
    }

    /// Reads a text, and makes sure that the program has such calls.
    pub fn parse(text: &str, program: &Program) -> Result<Self, NoStacks> {
        let mut stacks = Self { calls: Vec::new(), is_open: false };
        for word in text.split_whitespace() {
            if stacks.is_open {
                return Err(NoStacks("`..` must be the last part of a stack".to_owned()));
            }
            if word == ".." {
                stacks.is_open = true;
                continue;
            }
            let (procedure, line) = match word.rsplit_once(':') {
                Some((procedure, line)) => (Some(procedure.to_owned()), line),
                None => (None, word),
            };
            let line = line.parse().map_err(|_| {
                NoStacks(format!("`{word}` is no call: write `FUNCTION:LINE`, a line, or `..` at the end"))
            })?;
            let site = Site { procedure, line };
            if let Some(name) = &site.procedure {
                if program.find_procedure(name).is_none() {
                    return Err(NoStacks(format!("there is no function `{name}`")));
                }
            }
            if !calls(program).any(|call| site.matches(program, call)) {
                return Err(NoStacks(format!("there is no call at `{word}`")));
            }
            stacks.calls.push(site);
        }
        Ok(stacks)
    }

    /// The configurations with a symbol on top and one of these stacks below.
    pub(crate) fn query(
        &self,
        program: &Program,
        layout: &Layout,
        top: Symbol,
        symbols: usize,
    ) -> Automaton<()> {
        let mut query = Automaton::new(1, symbols, Reading::Forward);
        let mut at = query.add_state();
        query.add(CONTROL, top, at, ());
        for site in &self.calls {
            let next = query.add_state();
            for (_, symbol) in layout.calls().filter(|(call, _)| site.matches(program, *call)) {
                query.add(at, symbol, next, ());
            }
            at = next;
        }
        query.set_final(at);
        if self.is_open {
            for symbol in 0..symbols as u32 {
                query.add(at, Symbol(symbol), at, ());
            }
        } else {
            // The frame of a front end that calls `main`.
            let bottom = query.add_state();
            query.set_final(bottom);
            for (_, symbol) in layout.calls().filter(|(call, _)| is_frontends(program, *call)) {
                query.add(at, symbol, bottom, ());
            }
        }
        query
    }
}

impl Site {
    fn matches(&self, program: &Program, call: EdgeRef) -> bool {
        let node = Node { procedure: call.procedure, location: program.edge(call).from };
        let name = &program.procedure(call.procedure).name;
        program.line(node) == Some(self.line)
            && self.procedure.as_ref().is_none_or(|procedure| procedure == name)
            && !is_frontends(program, call)
    }
}

fn calls(program: &Program) -> impl Iterator<Item = EdgeRef> + '_ {
    program.procedures().flat_map(|(procedure, body)| {
        let calls = body.edges().filter(|(_, edge)| matches!(edge.operation, Operation::Call(_)));
        calls.map(move |(edge, _)| EdgeRef { procedure, edge })
    })
}

/// Whether a call is not of the source: that of `main` in C, from a procedure that only starts it.
fn is_frontends(program: &Program, call: EdgeRef) -> bool {
    call.procedure == program.entry && is_start(program, call.procedure)
}

/// Whether a procedure is not of the source: it is the entry of the program, has the head of the
/// procedure that it calls, and nobody calls it.
pub(crate) fn is_start(program: &Program, procedure: wherefore_program::ProcedureId) -> bool {
    let body = program.procedure(procedure);
    procedure == program.entry
        && body.edges.iter().any(|edge| match &edge.operation {
            Operation::Call(call) => program.procedure(call.callee).span == body.span,
            _ => false,
        })
        && body.locations.iter().all(|location| location.kind != LocationKind::Branch)
}

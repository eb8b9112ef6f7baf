//! A shortest path that ends in a stack, by post\* of a weighted pushdown system.
//!
//! One control state; stack symbols are the locations, and a place of its own behind each call, so
//! that calls which go on at one location are told apart. The rules of a location have its weight
//! ([`Visits::step`]); the last location of a path is left by a rule of its own, so that it counts
//! too (\[Lal09\] §2.4.3 does not read the last node of a run).

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{EdgeRef, Node, Operation, Program};
use wherefore_pushdown::{
    Automaton, Configuration, Limits, Names, Options, Order, Reading, Recording, Rhs, RuleId, Semiring,
    State, StopReason, Symbol, System, post_star,
};

use crate::evidence::Evidence;
use crate::fit::{Fitted, Sites, starts};
use crate::lines::{counts, is_start};
use crate::visits::{Visits, Way, Ways};

const CONTROL: State = State(0);

/// A path through a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The edges, calls and returns included.
    pub edges: Vec<EdgeRef>,
    /// Where it ends: the last location, at which no edge is taken.
    pub end: Node,
    /// The calls that have not returned, the innermost first.
    pub stack: Vec<EdgeRef>,
    /// Which lines in the evidence it touches, and how long it is.
    pub way: Way,
}

impl Path {
    /// The locations, the last one included.
    pub fn nodes(&self, program: &Program) -> Vec<Node> {
        let from = |edge: &EdgeRef| Node { procedure: edge.procedure, location: program.edge(*edge).from };
        self.edges.iter().map(from).chain([self.end]).collect()
    }
}

/// What the search for a path found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The best path: it touches what must be touched, most of the rest, and is the shortest of
    /// these. None if there is no path that touches what must be touched.
    pub path: Option<Path>,
    /// The best ways to the stack: how much is touched, and how long it takes.
    pub ways: Ways,
}

/// Searches a path to a stack.
///
/// # Errors
/// The limit that was met first.
pub fn search(
    program: &Program,
    fitted: &Fitted,
    evidence: &Evidence,
    limits: &Limits,
) -> Result<Found, StopReason> {
    let made = Made::new(program, fitted, evidence);
    let query = made.query(program, fitted);
    let start = Configuration { state: CONTROL, stack: vec![made.entry(program)] };
    let seed = Automaton::of_configuration(&made.system, &start, Reading::Backward, &made.domain.one());
    let options = Options { order: Order::Priority, recording: Recording::Witnesses, limits: limits.clone() };
    let saturated = post_star(&made.domain, &made.system, &seed, &options);
    if !saturated.stop.is_complete() {
        return Err(saturated.stop);
    }
    let ways = saturated.automaton.summary(&made.domain, &query);
    let Some(best) = evidence.best(&ways) else { return Ok(Found { path: None, ways }) };
    let rules = saturated.some_run_that(&made.domain, &made.system, &query, &vec![best]);
    let path = rules.and_then(|rules| made.path(program, &rules, best));
    Ok(Found { path, ways })
}

/// A pushdown system, and what its rules stand for.
struct Made {
    domain: Visits,
    system: System<Ways>,
    first: Vec<u32>,
    behind: FxHashMap<EdgeRef, Symbol>,
    last: FxHashMap<Node, Symbol>,
    /// The edge that a rule stands for, or the end.
    meaning: FxHashMap<RuleId, Meaning>,
}

#[derive(Clone, Copy)]
enum Meaning {
    Edge(EdgeRef),
    End(Node),
}

impl Made {
    fn new(program: &Program, fitted: &Fitted, evidence: &Evidence) -> Self {
        let mut first = Vec::new();
        let mut count = 0;
        for body in &program.procedures {
            first.push(count);
            count += body.locations.len() as u32;
        }
        let mut behind = FxHashMap::default();
        for (procedure, body) in program.procedures() {
            for (edge, step) in body.edges() {
                if matches!(step.operation, Operation::Call(_)) {
                    behind.insert(EdgeRef { procedure, edge }, Symbol(count));
                    count += 1;
                }
            }
        }
        let ends = fitted.frames.first().map(|frame| &frame.sites);
        let ends: Vec<Node> = match ends {
            Some(Sites::At(nodes)) => nodes.clone(),
            _ => Vec::new(),
        };
        let mut last = FxHashMap::default();
        for node in &ends {
            last.insert(*node, Symbol(count));
            count += 1;
        }
        let system = System::with_names(Names::numbered(1), Names::numbered(count));
        let domain = Visits { ordered: evidence.ordered() };
        let mut made = Self { domain, system, first, behind, last, meaning: FxHashMap::default() };
        made.add_rules(program, evidence);
        made
    }

    fn symbol(&self, node: Node) -> Symbol {
        Symbol(self.first[node.procedure.0 as usize] + node.location.0)
    }

    fn entry(&self, program: &Program) -> Symbol {
        let location = program.procedure(program.entry).entry;
        self.symbol(Node { procedure: program.entry, location })
    }

    fn add_rules(&mut self, program: &Program, evidence: &Evidence) {
        let domain = self.domain;
        let mut weights: FxHashMap<Node, Ways> = FxHashMap::default();
        for node in program.nodes() {
            let (touched, next) = evidence.at(node);
            weights.insert(node, domain.step(u64::from(counts(program, node)), touched, &next));
        }
        let never: FxHashSet<Node> = evidence.never.iter().copied().collect();
        for (procedure, body) in program.procedures() {
            for (edge, step) in body.edges() {
                let node = Node { procedure, location: step.from };
                let is_false = matches!(&step.operation, Operation::Assume(condition) if condition.as_constant() == Some(0));
                if never.contains(&node) || is_false {
                    continue;
                }
                let (from, weight) = (self.symbol(node), weights[&node].clone());
                let to = self.symbol(Node { procedure, location: step.to });
                let edge = EdgeRef { procedure, edge };
                let rule = match &step.operation {
                    Operation::Call(call) => {
                        let location = program.procedure(call.callee).entry;
                        let entry = self.symbol(Node { procedure: call.callee, location });
                        let behind = self.behind[&edge];
                        self.system.add(CONTROL, behind, CONTROL, Rhs::Swap(to), domain.one());
                        self.system.add(CONTROL, from, CONTROL, Rhs::Push(entry, behind), weight)
                    }
                    Operation::Return(_) => self.system.add(CONTROL, from, CONTROL, Rhs::Pop, weight),
                    _ => self.system.add(CONTROL, from, CONTROL, Rhs::Swap(to), weight),
                };
                self.meaning.insert(rule, Meaning::Edge(edge));
            }
        }
        let ends: Vec<(Node, Symbol)> = self.last.iter().map(|(node, symbol)| (*node, *symbol)).collect();
        for (node, symbol) in ends {
            let from = self.symbol(node);
            let rule = self.system.add(CONTROL, from, CONTROL, Rhs::Swap(symbol), weights[&node].clone());
            self.meaning.insert(rule, Meaning::End(node));
        }
    }

    /// The configurations of a stack.
    fn query(&self, program: &Program, fitted: &Fitted) -> Automaton<()> {
        let symbols = self.system.symbols().len();
        let mut query = Automaton::new(1, symbols, Reading::Forward);
        let mut at = query.add_state();
        for symbol in self.last.values() {
            query.add(CONTROL, *symbol, at, ());
        }
        for frame in &fitted.frames {
            match &frame.sites {
                Sites::At(_) => {}
                Sites::Calls(edges) => {
                    let next = query.add_state();
                    for edge in edges {
                        query.add(at, self.behind[edge], next, ());
                    }
                    at = next;
                }
                Sites::Unknown => {
                    for symbol in self.behind.values() {
                        query.add(at, *symbol, at, ());
                    }
                }
            }
        }
        query.set_final(at);
        if fitted.is_open {
            for symbol in self.behind.values() {
                query.add(at, *symbol, at, ());
            }
        } else if is_start(program, program.entry) {
            // The frame of the front end that starts `main`.
            let bottom = query.add_state();
            query.set_final(bottom);
            for (edge, symbol) in &self.behind {
                let starts = match &program.edge(*edge).operation {
                    Operation::Call(call) => starts(program, call.callee),
                    _ => false,
                };
                if edge.procedure == program.entry && starts {
                    query.add(at, *symbol, bottom, ());
                }
            }
        }
        query
    }

    /// The path that a sequence of rules stands for.
    fn path(&self, program: &Program, rules: &[RuleId], way: Way) -> Option<Path> {
        let (mut edges, mut stack, mut end) = (Vec::new(), Vec::new(), None);
        for rule in rules {
            match self.meaning.get(rule) {
                Some(Meaning::Edge(edge)) => {
                    match program.edge(*edge).operation {
                        Operation::Call(_) => stack.push(*edge),
                        Operation::Return(_) => {
                            stack.pop();
                        }
                        _ => {}
                    }
                    edges.push(*edge);
                }
                Some(Meaning::End(node)) => end = Some(*node),
                None => {}
            }
        }
        stack.reverse();
        Some(Path { edges, end: end?, stack, way })
    }
}

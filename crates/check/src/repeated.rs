//! Does a program have a run on which something happens again and again?
//!
//! Repeating heads of Büchi pushdown systems: A. Bouajjani, J. Esparza, O. Maler, *Reachability
//! analysis of pushdown automata* (CONCUR 1997); J. Esparza, D. Hansel, P. Rossmanith, S. Schwoon,
//! *Efficient algorithms for model checking pushdown systems* (CAV 2000). On an infinite run, some
//! frames never return. Leave out all that happens in frames that do: what is left is a path through
//! the *graph of heads*, whose nodes are locations with the store of the frame on top. It has three
//! kinds of edges: a step; a call that returns, as one edge (the summary of the callee); and the
//! entry of a callee that does not return. Conversely, each infinite path through this graph is a
//! run. The graph is finite, and its edges are relations, as decision diagrams.
//!
//! *Something happens* is: a step puts true into the `mark`, a global truth value that the program
//! never reads and never clears. An edge is marked if the mark is false before it and true behind it; the
//! graph forgets it afterwards. The heads from which marked edges can be taken for ever are the
//! greatest fixpoint of E. A. Emerson and C.-L. Lei (LICS 1986), within the heads that can be
//! reached. A head of a terminal component of these lies on a loop with a marked edge; a loop of the
//! graph is a run from the head to the same head, above which the stack may have grown.

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_program::{Node, ProcedureId, Program, Var};
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Merge, Method, Options, Order, Reading, Recording, Relational, Rhs,
    Semiring, StopReason, Symbol, solve,
};

use crate::budget::Budget;
use crate::encoding::{CONTROL, Encoding, Layout, number};
use crate::exact::takes;
use crate::verdict::CheckError;

/// How many results of operations on diagrams are remembered.
const CACHE: usize = 1 << 20;

/// A location with the values of all variables that are seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The location.
    pub node: Node,
    /// The cells of the globals.
    pub globals: Vec<u64>,
    /// The cells of the variables of the procedure.
    pub locals: Vec<u64>,
}

/// Whether there is a run on which the mark is set again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// There is none.
    Never,
    /// There is one, and it comes to this head, and from it to the same head, the mark set on the
    /// way, without return from its frame.
    At(Head),
    /// A limit was met first.
    Unknown(StopReason),
}

/// Whether some run sets the mark again and again. `mark` is a global truth value that starts
/// false and that the program only ever makes true; `is_wanted` are the locations that the head may
/// be at, one of which must be on each cycle.
///
/// # Errors
/// If the data do not suit decision diagrams.
pub fn repetition(
    program: &Program,
    mark: Var,
    is_wanted: impl Fn(Node) -> bool,
    budget: &Budget,
) -> Result<Repetition, CheckError> {
    let layout = Layout::new(program);
    takes(program, &layout)?;
    let capacity = budget.memory.map_or(1 << 26, |bytes| (bytes / 32).clamp(1 << 12, 1 << 28));
    let domain = BddRelations::with_cache(layout.bits(), capacity, CACHE.min(capacity));
    let encoding = Encoding::new(program, &[], layout, domain);
    let found = Graph::new(program, &encoding, mark, budget).and_then(|graph| graph.search(is_wanted));
    Ok(match found {
        _ if encoding.domain.exhausted() => Repetition::Unknown(StopReason::Memory),
        Ok(Some(head)) => Repetition::At(head),
        Ok(None) => Repetition::Never,
        Err(stop) => Repetition::Unknown(stop),
    })
}

/// An edge of the graph of heads.
struct Edge {
    from: usize,
    to: usize,
    relation: Predicate,
}

/// The graph of heads: a node is a symbol with a store. Sets of stores are predicates over current
/// values that do not mention the mark.
struct Graph<'a> {
    program: &'a Program,
    encoding: &'a Encoding,
    budget: &'a Budget,
    mark: usize,
    edges: Vec<Edge>,
    /// The numbers of the edges that leave and enter each symbol.
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    /// The stores that runs have at each symbol.
    reached: Vec<Predicate>,
}

/// A set of heads: for each symbol a set of stores.
type Heads = Vec<Predicate>;

impl<'a> Graph<'a> {
    fn new(
        program: &'a Program,
        encoding: &'a Encoding,
        mark: Var,
        budget: &'a Budget,
    ) -> Result<Self, StopReason> {
        let d = &encoding.domain;
        let mark = encoding.layout.cell(program, ProcedureId(0), mark, 0)[0];
        let options = |recording| Options { order: Order::Priority, recording, limits: budget.limits() };
        let start = Configuration { state: CONTROL, stack: vec![encoding.start] };
        let seed = Automaton::of_configuration(&encoding.system, &start, Reading::Backward, &d.one());
        let post =
            solve(Direction::Post, d, &encoding.system, &seed, Method::Worklist, &options(Recording::Off));
        if !post.stop.is_complete() {
            return Err(post.stop);
        }
        let contexts = post.automaton.contexts(d);
        let symbols = encoding.system.symbol_count() as u32;
        let stores = |symbol| {
            let weight = contexts.of_top(d, &post.automaton, CONTROL, symbol);
            d.exists(&d.stores_of(&d.range_of(&weight)), &[mark])
        };
        let reached: Vec<Predicate> = (0..symbols).map(|symbol| stores(Symbol(symbol))).collect();
        let rules = encoding.restricted(|symbol| reached[symbol.index()].clone());
        // pre* of the empty stack: what each symbol does until it is gone.
        let mut empty = Automaton::for_system(&rules, Reading::Forward);
        empty.set_final(CONTROL);
        let pre = solve(Direction::Pre, d, &rules, &empty, Method::Worklist, &options(Recording::Off));
        if !pre.stop.is_complete() {
            return Err(pre.stop);
        }
        let mut edges = Vec::new();
        for (id, rule) in rules.rules() {
            let weight = rules.weight(id);
            if d.is_zero(weight) {
                continue;
            }
            let from = rule.symbol.index();
            match rule.rhs {
                Rhs::Pop => {}
                Rhs::Swap(to) => edges.push(Edge { from, to: to.index(), relation: weight.clone() }),
                Rhs::Push(entry, back) => {
                    edges.push(Edge { from, to: entry.index(), relation: weight.clone() });
                    let Some(merge) = rules.merge(id) else { continue };
                    let callee = pre.automaton.weight_of(d, CONTROL, entry, CONTROL);
                    let effect = callee.map(|callee| merge.merge(d, &d.one(), &callee));
                    if let Some(effect) = effect.filter(|effect| !d.is_zero(effect)) {
                        edges.push(Edge { from, to: back.index(), relation: effect });
                    }
                }
            }
        }
        let (mut out, mut into) = (vec![Vec::new(); symbols as usize], vec![Vec::new(); symbols as usize]);
        for (number, edge) in edges.iter().enumerate() {
            out[edge.from].push(number);
            into[edge.to].push(number);
        }
        Ok(Self { program, encoding, budget, mark, edges, out, into, reached })
    }

    fn go_on(&self) -> Result<(), StopReason> {
        if self.encoding.domain.exhausted() {
            return Err(StopReason::Memory);
        }
        self.budget.stopped().map_or(Ok(()), Err)
    }

    fn unmarked(&self) -> Predicate {
        let d = &self.encoding.domain;
        d.not(&d.var(self.mark))
    }

    /// The stores before an edge from which it leads into a set; only as a marked edge if `mark` is
    /// the mark, by any edge if it is true.
    fn before(&self, edge: &Edge, set: &Predicate, mark: &Predicate) -> Predicate {
        let d = &self.encoding.domain;
        let before = d.extend(&edge.relation, &d.and(set, mark));
        d.exists(&d.and(&before, &self.unmarked()), &[self.mark])
    }

    /// The stores behind an edge that it leads to from a set.
    fn after(&self, edge: &Edge, set: &Predicate) -> Predicate {
        let d = &self.encoding.domain;
        let from = d.primed(&d.and(set, &self.unmarked()));
        let to = d.transpose(&d.extend(&from, &edge.relation));
        d.exists(&to, &[self.mark])
    }

    /// The heads of `within` from which a path in it leads to `goal`, those of the goal included.
    fn leading_to(&self, goal: &Heads, within: &Heads) -> Result<Heads, StopReason> {
        let d = &self.encoding.domain;
        let any = d.constant(true);
        let mut found = goal.clone();
        let mut fresh = goal.clone();
        let mut open: Vec<usize> = (0..goal.len()).filter(|symbol| !d.is_zero(&goal[*symbol])).collect();
        while let Some(symbol) = open.pop() {
            self.go_on()?;
            let new = std::mem::replace(&mut fresh[symbol], d.zero());
            if d.is_zero(&new) {
                continue;
            }
            for edge in self.into[symbol].iter().map(|edge| &self.edges[*edge]) {
                let before = d.and(&self.before(edge, &new, &any), &within[edge.from]);
                self.add(&mut found, &mut fresh, &mut open, edge.from, &before);
            }
        }
        Ok(found)
    }

    /// The heads of `within` that a path in it leads to from `start`, the start included.
    fn led_to(&self, start: &Heads, within: &Heads) -> Result<Heads, StopReason> {
        let d = &self.encoding.domain;
        let mut found = start.clone();
        let mut fresh = start.clone();
        let mut open: Vec<usize> = (0..start.len()).filter(|symbol| !d.is_zero(&start[*symbol])).collect();
        while let Some(symbol) = open.pop() {
            self.go_on()?;
            let new = std::mem::replace(&mut fresh[symbol], d.zero());
            if d.is_zero(&new) {
                continue;
            }
            for edge in self.out[symbol].iter().map(|edge| &self.edges[*edge]) {
                let after = d.and(&self.after(edge, &new), &within[edge.to]);
                self.add(&mut found, &mut fresh, &mut open, edge.to, &after);
            }
        }
        Ok(found)
    }

    fn add(
        &self,
        found: &mut Heads,
        fresh: &mut Heads,
        open: &mut Vec<usize>,
        at: usize,
        stores: &Predicate,
    ) {
        let d = &self.encoding.domain;
        let new = d.and(stores, &d.not(&found[at]));
        if d.is_zero(&new) {
            return;
        }
        found[at] = d.or(&found[at], &new);
        if d.is_zero(&fresh[at]) {
            open.push(at);
        }
        fresh[at] = d.or(&fresh[at], &new);
    }

    /// The heads from which marked edges can be taken again and again.
    fn repeating(&self) -> Result<Heads, StopReason> {
        let d = &self.encoding.domain;
        let mark = d.var(self.mark);
        let mut heads = self.reached.clone();
        loop {
            self.go_on()?;
            let mut marked: Heads = vec![d.zero(); heads.len()];
            for edge in &self.edges {
                let before = d.and(&self.before(edge, &heads[edge.to], &mark), &heads[edge.from]);
                marked[edge.from] = d.or(&marked[edge.from], &before);
            }
            let next = self.leading_to(&marked, &heads)?;
            if next == heads {
                return Ok(heads);
            }
            heads = next;
        }
    }

    fn search(&self, is_wanted: impl Fn(Node) -> bool) -> Result<Option<Head>, StopReason> {
        let d = &self.encoding.domain;
        let heads = self.repeating()?;
        let node = |symbol: usize| self.encoding.node(Symbol(symbol as u32)).filter(|node| is_wanted(*node));
        let wanted = |among: &Heads| -> Option<(Node, usize)> {
            let mut symbols = 0..among.len();
            symbols.find_map(|symbol| Some((node(symbol)?, symbol)).filter(|_| !d.is_zero(&among[symbol])))
        };
        let mut among = heads.clone();
        // A head of a terminal component: all that it leads to lead back to it.
        loop {
            self.go_on()?;
            if among.iter().all(|stores| d.is_zero(stores)) {
                return Ok(None);
            }
            // That no wanted location is on a cycle is ruled out by the caller; it is no proof.
            let Some((node, symbol)) = wanted(&among) else { return Err(StopReason::Steps) };
            let Some(store) = d.pick_store(&among[symbol]) else { return Err(StopReason::Memory) };
            let mut one: Heads = vec![d.zero(); heads.len()];
            one[symbol] = d.exists(&d.store(&store), &[self.mark]);
            let forward = self.led_to(&one, &heads)?;
            let back = self.leading_to(&one, &forward)?;
            if forward == back {
                return Ok(Some(self.head(node, &store)));
            }
            let rest = forward.iter().zip(&back).map(|(all, back)| d.and(all, &d.not(back)));
            among = rest.collect();
            // The rest has a terminal component, too, and each of its cycles a wanted location.
        }
    }

    fn head(&self, node: Node, store: &[bool]) -> Head {
        let cells = |variables: usize, var: fn(u32) -> Var| {
            let each = (0..variables as u32).map(var).flat_map(|var| {
                let count = self.program.variable(node.procedure, var).ty.cell_count();
                (0..count).map(move |cell| (var, cell))
            });
            each.map(|(var, cell)| {
                number(store, &self.encoding.layout.cell(self.program, node.procedure, var, cell))
            })
            .collect()
        };
        Head {
            node,
            globals: cells(self.program.globals.len(), Var::Global),
            locals: cells(self.program.procedure(node.procedure).variables.len(), Var::Local),
        }
    }
}

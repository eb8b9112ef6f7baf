//! Exact checking of programs over finite data.
//!
//! \[Lal09\] §2.2, §3.5.1 and chapter 5; \[AEP\]. The program becomes an extended weighted pushdown
//! system whose weights are relations between stores, as decision diagrams. A run fails if it
//! reaches a target location; post\* finds whether one does, and contexts sent backwards through it
//! ([`Completions`]) find every location that lies on a failing run, with the stores there.
//! Verdicts, runs and locations are computed on live bits only (`encoding/live.rs`, decision 0012);
//! stores on all.

mod engine;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wherefore_domains::bdd::{BddRelations, Cube, Predicate, ProjectLocals};
use wherefore_domains::{ByLength, ByLengthMerge};
use wherefore_program::{
    EdgeRef, ErrorSite, Interpreter, Node, ProcedureId, Program, ProgramError, Trace, Var,
};
use wherefore_pushdown::{
    Automaton, Completions, Configuration, Direction, FunctionalAutomaton, Limits, Method, Options, Order,
    Reading, Recording, Relational, RuleId, Saturated, Semiring, StopReason, Symbol, System, solve,
};

use crate::encoding::{CONTROL, Encoding, Layout, LiveRules, Origin, concrete, number};
use crate::verdict::EngineName;
pub use crate::verdict::{CheckError, Decision, FailingRun};
pub use engine::Exact;

/// More bits than this and even the identity is a large diagram.
pub(crate) const MOST_BITS: usize = 5_000;

/// How many results of operations on diagrams are remembered at most (20 bytes each).
const CACHE: usize = 1 << 20;

/// Of a longer run than this one, a shorter one is not looked for.
const LONG: usize = 500;

/// How long to look for a shorter failing run than the one that is known, or as long as it took to
/// find that one.
const PATIENCE: Duration = Duration::from_secs(1);

/// From which end to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// From the start of the program.
    #[default]
    Forwards,
    /// From the errors.
    Backwards,
}

/// What a check may spend, and how it searches.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// From which end.
    pub search: Search,
    /// Limits; memory counts the decision diagrams.
    pub limits: Limits,
}

/// Whether a program can be encoded by decision diagrams.
pub(crate) fn takes(program: &Program, layout: &Layout) -> Result<(), CheckError> {
    crate::engine::without_threads(program)?;
    if let Some(memory) = program.uses_memory() {
        return Err(CheckError::Memory { variable: memory.name.clone(), at: memory.span });
    }
    if let Some(at) = program.uses_floats() {
        return Err(CheckError::Floats { at });
    }
    match layout.bits() {
        bits if bits > MOST_BITS => Err(CheckError::TooManyBits { bits, most: MOST_BITS }),
        _ => Ok(()),
    }
}

/// Decides questions about one program and one set of targets.
///
/// ```
/// use wherefore_check::exact::{CheckOptions, Checker, Decision};
/// use wherefore_program::TargetChoice;
///
/// let program = wherefore_frontend::boolean::parse("lock.bp", "
///     decl locked;
///     void main() begin
///       locked := F;
///       while (*) do locked := !locked; od
///       assert(!locked);
///     end
/// ", None).unwrap();
/// let targets = program.targets(&TargetChoice::Default).unwrap();
/// let checker = Checker::new(&program, &targets, CheckOptions::default()).unwrap();
/// assert_eq!(checker.verdict(), Decision::Unsafe);
/// let run = checker.failing_run(None).unwrap().unwrap();
/// assert!(program.replay(&run.trace).is_ok());
/// ```
pub struct Checker<'a> {
    program: &'a Program,
    targets: Vec<ErrorSite>,
    options: CheckOptions,
    encoding: Encoding,
    /// When work began: the time limit is for all of it.
    begin: Instant,
    live: OnceCell<LiveRules>,
    /// How long post\* took.
    searched: Cell<Duration>,
    /// post\* on live bits, and on all.
    post: OnceCell<Saturated<Predicate>>,
    whole_post: OnceCell<Saturated<Predicate>>,
    /// pre\* of the whole system, and of what can be reached.
    pre: OnceCell<Saturated<Predicate>>,
    inside: OnceCell<(Rules, Saturated<Predicate>)>,
}

type Rules = System<Predicate, ProjectLocals>;

impl<'a> Checker<'a> {
    /// Encodes the program.
    pub fn new(
        program: &'a Program,
        targets: &[ErrorSite],
        options: CheckOptions,
    ) -> Result<Self, CheckError> {
        let begin = Instant::now();
        let layout = Layout::new(program);
        takes(program, &layout)?;
        let bits = layout.bits();
        // About 32 bytes a node.
        let capacity = options.limits.memory.map_or(1 << 26, |bytes| (bytes / 32).clamp(1 << 12, 1 << 28));
        let edges: usize = program.procedures.iter().map(|procedure| procedure.edges.len()).sum();
        let cache = (bits * edges.max(4096)).clamp(1 << 12, CACHE).min(capacity);
        let domain = BddRelations::with_cache(bits, capacity, cache);
        let encoding = Encoding::new(program, targets, layout, domain);
        let (live, searched, post, whole_post, pre, inside) = Default::default();
        let targets = targets.to_vec();
        Ok(Self { program, targets, options, encoding, begin, live, searched, post, whole_post, pre, inside })
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// How many Boolean variables a store has, and how many rules the system.
    pub fn size(&self) -> (usize, usize) {
        (self.encoding.layout.bits(), self.encoding.system.rule_count())
    }

    /// How many nodes the decision diagrams have.
    pub fn diagram_nodes(&self) -> usize {
        self.encoding.domain.node_count()
    }

    /// The weighted pushdown system as text, one rule a line.
    pub fn show_system(&self) -> String {
        self.encoding
            .system
            .rules()
            .map(|(id, _)| format!("{}\n", self.encoding.system.show_rule(id)))
            .collect()
    }

    /// The saturated automaton in the DOT language.
    ///
    /// # Errors
    /// The limit that was met.
    pub fn show_automaton(&self) -> Result<String, StopReason> {
        let saturated = match self.options.search {
            Search::Forwards => self.whole_post(),
            Search::Backwards => self.pre(),
        };
        if !saturated.stop.is_complete() {
            return Err(saturated.stop);
        }
        let label = |weight: &Predicate| format!("{} nodes", weight.node_count());
        Ok(saturated.automaton.dot(&self.encoding.system, label).to_string())
    }

    /// What is left of the limits; memory is bounded by the decision diagrams themselves.
    fn limits(&self) -> Limits {
        let time = self.options.limits.time.map(|time| time.saturating_sub(self.begin.elapsed()));
        Limits { memory: None, time, ..self.options.limits.clone() }
    }

    fn start<W: Clone>(&self, reading: Reading, one: &W) -> Automaton<W> {
        let start = Configuration { state: CONTROL, stack: vec![self.encoding.start] };
        Automaton::of_configuration(&self.encoding.system, &start, reading, one)
    }

    fn targets_automaton<W: Clone>(&self, only: Option<Node>, reading: Reading, one: &W) -> Automaton<W> {
        let nodes =
            self.targets.iter().map(|site| site.node).filter(|node| only.is_none_or(|only| only == *node));
        let symbols: Vec<Symbol> = nodes.map(|node| self.encoding.symbol(node)).collect();
        self.encoding.tops(symbols, reading, one)
    }

    fn saturate(&self, direction: Direction, system: &Rules, recording: Recording) -> Saturated<Predicate> {
        let d = &self.encoding.domain;
        let seed = match direction {
            Direction::Post => self.start(Reading::Backward, &d.one()),
            Direction::Pre => self.encoding.tops([self.encoding.failed], Reading::Forward, &d.one()),
        };
        // The worklist extends sets of stores in the outermost procedure; path expressions would
        // close its loops as relations, which are much larger. In program order it does little
        // twice.
        let options = Options { order: Order::Priority, recording, limits: self.limits() };
        solve(direction, d, system, &seed, Method::Worklist, &options)
    }

    fn live(&self) -> &LiveRules {
        self.live.get_or_init(|| LiveRules::new(&self.encoding))
    }

    /// post\* on live bits, with what witnesses need: next to diagrams that costs nothing.
    fn post(&self) -> &Saturated<Predicate> {
        self.post.get_or_init(|| {
            let begin = Instant::now();
            let saturated = self.saturate(Direction::Post, &self.live().system, Recording::Witnesses);
            self.searched.set(begin.elapsed());
            saturated
        })
    }

    fn whole_post(&self) -> &Saturated<Predicate> {
        let system = &self.encoding.system;
        self.whole_post.get_or_init(|| self.saturate(Direction::Post, system, Recording::Witnesses))
    }

    fn pre(&self) -> &Saturated<Predicate> {
        self.pre.get_or_init(|| self.saturate(Direction::Pre, &self.encoding.system, Recording::Off))
    }

    /// Whether post\* is complete and reached no target: then nothing is left to search for.
    fn cannot_fail(&self) -> bool {
        let d = &self.encoding.domain;
        let query = self.targets_automaton(None, Reading::Forward, &());
        let reached = !d.is_zero(&self.post().automaton.summary(d, &query));
        self.post().stop.is_complete() && !reached && !d.exhausted()
    }

    /// pre\* of the errors within what post\* reached: every configuration on a failing run is
    /// there.
    fn inside(&self) -> Result<&(Rules, Saturated<Predicate>), StopReason> {
        let post = self.whole_post();
        if !post.stop.is_complete() {
            return Err(post.stop);
        }
        let inside = self.inside.get_or_init(|| {
            let d = &self.encoding.domain;
            let contexts = post.automaton.contexts(d);
            let reached = |symbol| {
                let weight = contexts.of_top(d, &post.automaton, CONTROL, symbol);
                d.stores_of(&d.range_of(&weight))
            };
            let rules = self.encoding.restricted(reached);
            let pre = self.saturate(Direction::Pre, &rules, Recording::Witnesses);
            (rules, pre)
        });
        match inside.1.stop {
            _ if self.encoding.domain.exhausted() => Err(StopReason::Memory),
            StopReason::Complete => Ok(inside),
            stop => Err(stop),
        }
    }

    /// Whether some run fails.
    pub fn verdict(&self) -> Decision {
        self.verdict_of(None)
    }

    /// Whether some run fails at `only` (at any target, if it is none).
    pub fn verdict_of(&self, only: Option<Node>) -> Decision {
        let d = &self.encoding.domain;
        let (saturated, query) = match (self.options.search, only) {
            (Search::Backwards, None) => (self.pre(), self.start(Reading::Forward, &())),
            _ => (self.post(), self.targets_automaton(only, Reading::Forward, &())),
        };
        let reached = !d.is_zero(&saturated.automaton.summary(d, &query));
        match saturated.stop {
            _ if d.exhausted() => Decision::Unknown(StopReason::Memory),
            StopReason::Complete if reached => Decision::Unsafe,
            StopReason::Complete => Decision::Safe,
            // What was found before the limit is true.
            _ if reached => Decision::Unsafe,
            stop => Decision::Unknown(stop),
        }
    }

    /// A failing run to `only` (to any target, if it is none); `None` if there is none.
    pub fn failing_run(&self, only: Option<Node>) -> Result<Option<FailingRun>, StopReason> {
        if self.cannot_fail() {
            return Ok(None);
        }
        let query = self.targets_automaton(only, Reading::Forward, &());
        let d = &self.encoding.domain;
        let Some(some) = self.post().some_run(d, &self.live().system, &query) else {
            return match self.post().stop {
                _ if d.exhausted() => Err(StopReason::Memory),
                StopReason::Complete => Ok(None),
                stop => Err(stop),
            };
        };
        let known = self.live().run(&some);
        let known = known.iter().filter(|rule| self.encoding.origins[rule.index()] != Origin::Part).count();
        let shortest = self.shortest(&query, known);
        let is_shortest = shortest.is_some();
        let rules = self.live().run(&shortest.unwrap_or(some));
        let trace = concrete::trace(&self.encoding, self.program, &rules).ok_or(StopReason::Memory)?;
        let run = self.failing(trace);
        self.replayed(FailingRun { is_shortest, ..run }).map(Some)
    }

    /// The rules of a shortest run, if it can be found within a budget.
    fn shortest(&self, query: &Automaton<()>, known: usize) -> Option<Vec<RuleId>> {
        if known > LONG {
            return None;
        }
        // Longer runs than the known one are not looked for.
        let longest = u32::try_from(known).unwrap_or(u32::MAX);
        let lengths = ByLength::within(self.encoding.domain.clone(), longest);
        let rules = &self.live().system;
        let system = rules.map(|rule, w| {
            let origin = self.encoding.origins.get(rule.index());
            let steps = u32::from(origin.is_some_and(|origin| *origin != Origin::Part));
            let merge = rules.merge(rule).cloned();
            (lengths.weight(steps, w.clone()), merge.map(|merge| ByLengthMerge::new(merge, steps)))
        });
        let seed = self.start(Reading::Backward, &lengths.one());
        // Weights by length are larger: this must not take much longer than the verdict did.
        let steps = 4 * self.post().steps + 10_000;
        let mut limits = Limits { steps: Some(steps), ..self.limits() };
        let patience = PATIENCE.max(self.searched.get());
        limits.time = Some(limits.time.map_or(patience, |time| time.min(patience)));
        let options = Options { order: Order::Priority, recording: Recording::Witnesses, limits };
        let saturated = solve(Direction::Post, &lengths, &system, &seed, Method::Worklist, &options);
        if !saturated.stop.is_complete() {
            return None;
        }
        let least = saturated.automaton.summary(&lengths, query).shortest()?;
        let witnesses = saturated.witnesses(&lengths, &system, query, usize::MAX).ok()?;
        let best = witnesses.into_iter().find(|witness| witness.weight.shortest() == Some(least))?;
        Some(best.rules)
    }

    /// A trace as a failing run, with the target that it ends at.
    fn failing(&self, trace: Trace) -> FailingRun {
        let end = trace.last().node();
        let target = self.targets.iter().position(|site| Some(site.node) == end).unwrap_or(0);
        FailingRun::of_trace(trace, target, EngineName::Exact)
    }

    fn replayed(&self, run: FailingRun) -> Result<FailingRun, StopReason> {
        match self.program.replay(&run.trace) {
            Ok(()) => Ok(run),
            Err(ProgramError::TooManyOutcomes { .. }) => Err(StopReason::Steps),
            Err(error) => panic!("a run of the engine does not replay: {error}"),
        }
    }

    /// The error projection: which locations and edges lie on failing runs, and with which stores.
    pub fn projection(&self, detail: Detail) -> Result<Projection<'_, 'a>, StopReason> {
        if self.cannot_fail() {
            return Ok(Projection { checker: self, stores: BTreeMap::new(), edges: BTreeSet::new() });
        }
        let encoding = &self.encoding;
        // Stores are about all bits; which locations and edges lie on failing runs is the same on
        // live ones.
        let (system, post) = match detail {
            Detail::Locations => (&self.live().system, self.post()),
            Detail::Stores => (&encoding.system, self.whole_post()),
        };
        if !post.stop.is_complete() {
            return Err(post.stop);
        }
        let query = self.targets_automaton(None, Reading::Forward, &());
        let completions = Completions::new(&encoding.domain, system, &post.automaton, &query);
        let mut stores = BTreeMap::new();
        for (_, symbol) in completions.nodes() {
            if let Some(node) = encoding.node(symbol) {
                let here = match detail {
                    Detail::Locations => None,
                    Detail::Stores => Some(completions.stores(CONTROL, symbol)),
                };
                stores.insert(node, here);
            }
        }
        if encoding.domain.exhausted() {
            return Err(StopReason::Memory);
        }
        let rules = encoding.system.rules().filter(|_| detail == Detail::Stores);
        let edges = rules
            .filter_map(|(rule, _)| match encoding.origins[rule.index()] {
                Origin::Edge(edge) if completions.contains_rule(rule) => Some(edge),
                _ => None,
            })
            .collect();
        Ok(Projection { checker: self, stores, edges })
    }

    /// A failing run through a location; `None` if there is none.
    pub fn run_through(&self, node: Node) -> Result<Option<FailingRun>, StopReason> {
        if self.cannot_fail() {
            return Ok(None);
        }
        let encoding = &self.encoding;
        let (rules, pre) = self.inside()?;
        let post = self.whole_post();
        if !post.stop.is_complete() {
            return Err(post.stop);
        }
        let functional = FunctionalAutomaton::new(&encoding.domain, rules, &post.automaton, &pre.automaton);
        let through = functional.witnesses_through(post, pre, CONTROL, encoding.symbol(node), usize::MAX);
        let Some(first) = through.ok().and_then(|all| all.into_iter().next()) else { return Ok(None) };
        let trace = concrete::trace(encoding, self.program, encoding.to_target(&first.witness.rules))
            .ok_or(StopReason::Memory)?;
        self.replayed(self.failing(trace)).map(Some)
    }
}

/// How much of a projection to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The locations.
    Locations,
    /// The locations, the stores that occur there on failing runs, and the edges.
    Stores,
}

/// The locations on failing runs, with the stores that occur there if [`Detail::Stores`] was asked
/// for.
pub struct Projection<'c, 'a> {
    checker: &'c Checker<'a>,
    /// The locations, with their stores if these were asked for.
    stores: BTreeMap<Node, Option<Predicate>>,
    edges: BTreeSet<EdgeRef>,
}

impl Projection<'_, '_> {
    /// The locations on failing runs.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.stores.keys().copied()
    }

    /// Whether some failing run passes a location.
    pub fn contains(&self, node: Node) -> bool {
        self.stores.contains_key(&node)
    }

    /// Whether some failing run takes an edge.
    pub fn contains_edge(&self, edge: EdgeRef) -> bool {
        self.edges.contains(&edge)
    }

    /// The stores of a location on failing runs, as few cubes over the named variables as need be
    /// (at most `most`).
    pub fn cubes(&self, node: Node, most: usize) -> Vec<StoreCube> {
        let Some(Some(stores)) = self.stores.get(&node) else { return Vec::new() };
        let encoding = &self.checker.encoding;
        let d = &encoding.domain;
        let program = self.checker.program;
        let mut hidden = encoding.layout.transfer();
        hidden.extend(encoding.layout.scratch());
        let known = variables(program, node.procedure);
        let used: Vec<usize> = known
            .iter()
            .flat_map(|(var, cells)| {
                (0..*cells).flat_map(|cell| encoding.layout.cell(program, node.procedure, *var, cell))
            })
            .collect();
        hidden.extend(encoding.layout.local_bits().into_iter().filter(|bit| !used.contains(bit)));
        let visible = d.exists(&d.domain_of(stores), &hidden);
        let cubes = d.cubes(&visible, most);
        cubes.into_iter().map(|cube| StoreCube::new(self.checker, node.procedure, &cube)).collect()
    }

    /// The values of some variables that occur at a location on failing runs, each a tuple, in
    /// order.
    ///
    /// Variables must be single values; there are at most `most` tuples.
    pub fn values(&self, node: Node, of: &[Var], most: usize) -> Vec<Vec<u64>> {
        let stores = self.stores.get(&node).and_then(Option::as_ref);
        stores.map_or_else(Vec::new, |stores| self.checker.tuples(node, of, stores, most))
    }
}

impl Checker<'_> {
    /// The values of some variables that occur at a location on any run, each a tuple, in order.
    pub fn reachable_values(&self, node: Node, of: &[Var], most: usize) -> Result<Vec<Vec<u64>>, StopReason> {
        if !self.whole_post().stop.is_complete() {
            return Err(self.whole_post().stop);
        }
        let d = &self.encoding.domain;
        let contexts = self.whole_post().automaton.contexts(d);
        let weight = contexts.of_top(d, &self.whole_post().automaton, CONTROL, self.encoding.symbol(node));
        Ok(self.tuples(node, of, &d.range_of(&weight), most))
    }

    fn tuples(&self, node: Node, of: &[Var], stores: &Predicate, most: usize) -> Vec<Vec<u64>> {
        let d = &self.encoding.domain;
        let bits: Vec<Vec<usize>> =
            of.iter().map(|var| self.encoding.layout.cell(self.program, node.procedure, *var, 0)).collect();
        let mut left = d.domain_of(stores);
        let mut tuples = Vec::new();
        while let Some(store) = d.pick_store(&left).filter(|_| tuples.len() < most) {
            let mut same = d.constant(true);
            for bit in bits.iter().flatten() {
                let value = if store[*bit] { d.var(*bit) } else { d.not(&d.var(*bit)) };
                same = d.and(&same, &value);
            }
            left = d.and(&left, &d.not(&same));
            tuples.push(bits.iter().map(|bits| number(&store, bits)).collect());
        }
        tuples.sort_unstable();
        tuples
    }
}

/// The variables that a procedure sees, with the number of their cells.
fn variables(program: &Program, procedure: ProcedureId) -> Vec<(Var, usize)> {
    let globals = program.globals.iter().zip((0..).map(Var::Global));
    let locals = program.procedure(procedure).variables.iter().zip((0..).map(Var::Local));
    globals.chain(locals).map(|(variable, var)| (var, variable.ty.cell_count())).collect()
}

/// Values of some variables; those that are not named can have any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCube {
    /// Conditions such as `x = 1`, `!flag`, `x in 1?0`.
    pub conditions: Vec<String>,
}

impl StoreCube {
    fn new(checker: &Checker<'_>, procedure: ProcedureId, cube: &Cube) -> Self {
        let program = checker.program;
        let mut conditions = Vec::new();
        for (var, cells) in variables(program, procedure) {
            let variable = program.variable(procedure, var);
            for cell in 0..cells {
                let bits = checker.encoding.layout.cell(program, procedure, var, cell);
                let values: Vec<Option<bool>> = bits.iter().map(|bit| cube[*bit]).collect();
                if values.iter().all(Option::is_none) {
                    continue;
                }
                let indices: String = variable.ty.indices(cell).iter().map(|i| format!("[{i}]")).collect();
                let name = format!("{}{indices}", variable.name);
                conditions.push(match (&values[..], variable.ty.element()) {
                    ([Some(value)], wherefore_program::Scalar::Bool) => {
                        if *value {
                            name
                        } else {
                            format!("!{name}")
                        }
                    }
                    _ if values.iter().all(Option::is_some) => {
                        let fold = |sum: u64, (i, bit): (usize, &Option<bool>)| {
                            sum | u64::from(*bit == Some(true)) << i
                        };
                        let value = values.iter().enumerate().fold(0, fold);
                        format!("{name} = {}", program.show_value(variable, value))
                    }
                    _ => {
                        let pattern = values.iter().rev().map(|bit| match bit {
                            Some(true) => '1',
                            Some(false) => '0',
                            None => '?',
                        });
                        format!("{name} = {}b", pattern.collect::<String>())
                    }
                });
            }
        }
        Self { conditions }
    }
}

impl std::fmt::Display for StoreCube {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.conditions.is_empty() { f.write_str("any") } else { f.write_str(&self.conditions.join(", ")) }
    }
}

/// The names and values of all variables that can be seen in a state.
pub fn visible_values(program: &Program, state: &wherefore_program::State) -> Vec<(String, String)> {
    Interpreter::new(program).show(state)
}

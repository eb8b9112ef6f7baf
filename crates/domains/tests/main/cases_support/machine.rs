//! A weighted pushdown system of a case, and the questions that facts ask about it.

use std::collections::HashMap;
use std::time::Duration;

use wherefore_pushdown::{
    Automaton, Configuration, ConfigurationSet, Direction, FunctionalAutomaton, Limits, Merge, Method,
    Options, Reading, Recording, RuleId, Saturated, Semiring, State, StopReason, Symbol, System,
    chop_by_post_star, chop_by_pre_star, ijop, replay, solve,
};

use super::data::Data;
use super::kits::{Kit, Weight};

/// Answers, each with the way in which it was found.
pub type Answers<W> = Vec<(String, W)>;

const METHODS: [Method; 2] = [Method::Worklist, Method::PathExpressions];

/// Witnesses that are looked at for one answer.
const WITNESSES: usize = 1000;

/// A system with the names of its rules.
pub struct Machine<'k, K: Kit> {
    pub kit: &'k K,
    pub system: System<Weight<K>, K::Merge>,
    rules: HashMap<String, RuleId>,
}

impl<'k, K: Kit> Machine<'k, K> {
    /// Reads `rules`, `merges` and the names of weights.
    pub fn read(kit: &'k K, data: &Data) -> Self {
        let mut machine = Self { kit, system: System::new(), rules: HashMap::new() };
        for rule in data.get("rules").items() {
            machine.add(data, rule);
        }
        machine
    }

    /// Adds one rule of a file.
    pub fn add(&mut self, file: &Data, rule: &Data) -> RuleId {
        let weight = self.kit.weight(named_weight(file, rule.get("weight")));
        let (from, to) = (rule.get("from").items(), rule.get("to").items());
        let p = self.system.state(&from[0].to_string());
        let symbol = self.system.symbol(&from[1].to_string());
        let q = self.system.state(&to[0].to_string());
        let word: Vec<Symbol> = to[1].names().iter().map(|s| self.system.symbol(s)).collect();
        let id = match rule.get("merge").as_text() {
            None => self.system.add_rule(p, symbol, q, &word, weight, &self.kit.semiring().one()),
            Some(name) => {
                let [entry, back] = word[..] else { panic!("{rule}: a merge function on no call") };
                let merge = self.kit.merge(name, file.get("merges").get(name), &weight);
                self.system.add_call(p, symbol, q, (entry, back), weight, merge)
            }
        };
        if let Some(name) = rule.get("name").as_text() {
            self.rules.insert(name.to_owned(), id);
        }
        id
    }

    /// The set of configurations `[p, [a, b]]`, `{config: [p, [a, b]]}` or `{top: a}`.
    pub fn set(&self, data: &Data) -> Automaton<()> {
        if data.get("top").is_some() {
            return self.parse(&format!("<., {:?} .*>", data.get("top").to_string()));
        }
        let configuration = if data.get("config").is_some() { data.get("config") } else { data };
        let [state, stack] = configuration.items() else { panic!("{data} is no configuration") };
        self.parse(&format!("<{:?}, {}>", state.to_string(), quoted(&stack.names())))
    }

    /// The configurations with `node` on top, and with exactly `stack` below it if that is given.
    pub fn node(&self, node: &Data, stack: &Data) -> Automaton<()> {
        let node = if node.get("node").is_some() { node.get("node") } else { node };
        match stack {
            Data::Null => self.parse(&format!("<., {:?} .*>", node.to_string())),
            _ => self.parse(&format!("<., {:?} {}>", node.to_string(), quoted(&stack.names()))),
        }
    }

    /// The configurations of `set` that can be reached from `start`: below a node there may only be
    /// what calls leave there.
    pub fn reached(&self, start: &Automaton<()>, set: &Automaton<()>) -> Automaton<()> {
        let both = self.solve(Direction::Post, start, Method::Worklist).automaton.intersect(set);
        let mut reached = Automaton::for_system(&self.system, Reading::Forward);
        while reached.state_count() < both.state_count() {
            reached.add_state();
        }
        for q in (0..both.state_count() as u32).map(State).filter(|q| both.is_final(*q)) {
            reached.set_final(q);
        }
        for (t, _) in both.transitions() {
            reached.add(t.from, t.symbol.expect("the stack is not empty"), t.to, ());
        }
        reached
    }

    fn parse(&self, text: &str) -> Automaton<()> {
        let set = ConfigurationSet::parse(text, self.system.states(), self.system.symbols());
        let set = set.unwrap_or_else(|e| panic!("{text}: {e}"));
        set.to_automaton(self.system.state_count(), self.system.symbol_count(), Reading::Forward, &())
    }

    pub fn symbol(&self, name: &str) -> Symbol {
        let number = self.system.symbols().get(name).unwrap_or_else(|| panic!("no symbol {name}"));
        Symbol(number)
    }

    fn control(&self) -> impl Iterator<Item = State> + use<K> {
        (0..self.system.state_count() as u32).map(State)
    }

    fn options(&self) -> Options {
        // A time limit turns a domain with infinite chains into a failure.
        let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
        Options { recording: Recording::Witnesses, limits, ..Options::default() }
    }

    /// The saturated automaton from one end.
    pub fn solve(&self, direction: Direction, seed: &Automaton<()>, method: Method) -> Saturated<Weight<K>> {
        let reading = match direction {
            Direction::Post => Reading::Backward,
            Direction::Pre => Reading::Forward,
        };
        let domain = self.kit.semiring();
        let seed = seed.map_weights(|()| domain.one()).read(reading);
        let solved = solve(direction, domain, &self.system, &seed, method, &self.options());
        assert_eq!(solved.stop, StopReason::Complete, "{direction:?} by {method:?}");
        solved
    }

    /// Whether backward questions have an answer: a merge function without path extension is for
    /// post\* only.
    fn backwards(&self) -> bool {
        self.system.rules().all(|(id, _)| self.system.merge(id).is_none_or(Merge::path_extension))
    }

    /// `IJOP(from, to)` in every way.
    pub fn weights(&self, from: &Automaton<()>, to: &Automaton<()>) -> Answers<Weight<K>> {
        let domain = self.kit.semiring();
        let mut answers = Vec::new();
        for direction in [Direction::Post, Direction::Pre] {
            if direction == Direction::Pre && !self.backwards() {
                continue;
            }
            let (seed, query) = if direction == Direction::Post { (from, to) } else { (to, from) };
            for method in METHODS {
                let solved = self.solve(direction, seed, method);
                let summary = solved.automaton.summary(domain, query);
                answers.push((format!("{direction:?} by {method:?}"), summary));
            }
            let joined = ijop(domain, &self.system, from, to, direction, &self.options());
            answers.push((format!("ijop {direction:?}"), joined.expect("no limit is met")));
            let solved = self.solve(direction, seed, Method::Worklist);
            let witnesses = solved.witnesses(domain, &self.system, query, WITNESSES).expect("witnesses");
            let mut sum = domain.zero();
            for witness in witnesses {
                let run = replay(domain, &self.system, &witness.start, &witness.rules).expect("a run");
                assert_eq!(run.weight, witness.weight, "a witness is replayed");
                domain.join(&mut sum, &run.weight);
            }
            answers.push((format!("witnesses {direction:?}"), sum));
        }
        answers
    }

    /// `WC(start, node, target)` in every way.
    pub fn chops(&self, start: &Automaton<()>, node: &str, target: &Automaton<()>) -> Answers<Weight<K>> {
        let domain = self.kit.semiring();
        let query = self.node(&Data::Text(node.to_owned()), &Data::Null);
        let symbol = self.symbol(node);
        let mut answers = Vec::new();
        for method in METHODS {
            let post = self.solve(Direction::Post, start, method);
            let pre = self.solve(Direction::Pre, target, method);
            let functional = FunctionalAutomaton::new(domain, &self.system, &post.automaton, &pre.automaton);
            let mut sum = domain.zero();
            let mut inside = None;
            for p in self.control() {
                domain.join(&mut sum, &functional.chop(p, symbol));
                if let Some(here) = self.kit.inside(&functional, (p, symbol)) {
                    inside = Some(inside.unwrap_or(false) | here);
                }
            }
            let projected = functional.projection().iter().any(|(_, top)| *top == symbol);
            assert_eq!(projected, !domain.is_zero(&sum), "the projection and the chop of {node}");
            if let Some(inside) = inside {
                assert_eq!(inside, projected, "the adjoint and the functional projection at {node}");
            }
            answers.push((format!("functional by {method:?}"), sum));
            let options = self.options();
            let twice = chop_by_post_star(domain, &self.system, &post.automaton, &query, target, &options)
                .expect("no limits");
            answers.push((format!("double post* by {method:?}"), twice));
            let twice = chop_by_pre_star(domain, &self.system, start, &query, &pre.automaton, &options)
                .expect("no limits");
            answers.push((format!("double pre* by {method:?}"), twice));
            if method == Method::Worklist {
                let mut sum = domain.zero();
                for p in self.control() {
                    let through = functional.witnesses_through(&post, &pre, p, symbol, WITNESSES);
                    for through in through.expect("witnesses") {
                        let witness = through.witness;
                        let run =
                            replay(domain, &self.system, &witness.start, &witness.rules).expect("a run");
                        assert_eq!(run.weight, witness.weight, "a witness is replayed");
                        domain.join(&mut sum, &run.weight);
                    }
                }
                answers.push(("witnesses".into(), sum));
            }
        }
        answers
    }

    /// The stores at a node on runs from `start` to `target`, in every way.
    pub fn stores(&self, start: &Automaton<()>, node: &str, target: &Automaton<()>) -> Answers<Weight<K>> {
        let domain = self.kit.semiring();
        let symbol = self.symbol(node);
        let mut answers: Answers<Weight<K>> = Vec::new();
        for method in METHODS {
            let post = self.solve(Direction::Post, start, method).automaton;
            let pre = self.solve(Direction::Pre, target, method).automaton;
            let functional = FunctionalAutomaton::new(domain, &self.system, &post, &pre);
            for p in self.control() {
                for (way, stores) in self.kit.stores(&functional, (p, symbol)) {
                    let way = format!("{way} by {method:?}");
                    match answers.iter_mut().find(|(w, _)| *w == way) {
                        None => answers.push((way, stores)),
                        Some((_, sum)) => *sum = domain.combine(sum, &stores),
                    }
                }
            }
        }
        answers
    }

    /// The value of a sequence of rules, from the smallest configuration on which it runs.
    pub fn path_value(&self, rules: &[String]) -> Weight<K> {
        let number = |name: &String| *self.rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
        let ids: Vec<RuleId> = rules.iter().map(number).collect();
        let first = self.system.rule(ids[0]);
        let start = Configuration { state: first.from, stack: vec![first.symbol] };
        replay(self.kit.semiring(), &self.system, &start, &ids).unwrap_or_else(|e| panic!("{e}")).weight
    }

    /// Whether rules lead from the first node over the others in order, calls and returns matched.
    pub fn is_valid(&self, nodes: &[String]) -> bool {
        let symbols: Vec<Symbol> = nodes.iter().map(|n| self.symbol(n)).collect();
        let start = |state| Configuration { state, stack: vec![symbols[0]] };
        let mut now: Vec<Configuration> = self.control().map(start).collect();
        for symbol in &symbols[1..] {
            let step = |c: &Configuration| {
                let next = self.system.rules().filter_map(|(id, _)| self.system.step(id, c));
                next.filter(|c| c.stack.first() == Some(symbol)).collect::<Vec<_>>()
            };
            now = now.iter().flat_map(step).collect();
        }
        !now.is_empty()
    }
}

/// A weight of a file: by its name, or as it stands.
pub fn named_weight<'d>(file: &'d Data, weight: &'d Data) -> &'d Data {
    match weight.as_text() {
        Some(name) if file.get("weights").get("defs").get(name).is_some() => {
            file.get("weights").get("defs").get(name)
        }
        _ => weight,
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" ")
}

//! The answer to a question about a pushdown system, whatever its weights.

use std::collections::BTreeSet;

use serde::Serialize;
use wherefore_domains::{ByLength, ByLengthMerge, Cost, RelationDomain, ShortestPath};
use wherefore_frontend::pds::{PdsFile, Weights};
use wherefore_pushdown::{
    AdjointMerge, AdjointProjection, Automaton, Configuration, Direction, FunctionalAutomaton, Limits, Merge,
    Options, Plain, Reachability, Reachable, Reading, Recording, Rhs, RuleId, Saturated, Semiring,
    StopReason, System, Witness, reachable, solve,
};

use super::Question;
use super::relation::Stores;
use crate::exit::{CliError, Exit};

/// Everything that was asked for.
#[derive(Serialize)]
pub struct Answer {
    /// `reachable`, `unreachable` or `unknown`.
    pub answer: Outcome,
    /// For `unknown`: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The cost of the cheapest run, if there are costs and a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// A run from start to target, if it was asked for and there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Step>>,
    /// The nodes on and off runs from start to target, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    pub stats: Stats,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Reachable,
    Unreachable,
    Unknown,
}

/// One configuration of a run, and the rule that led to it.
#[derive(Serialize)]
pub struct Step {
    pub state: String,
    pub stack: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

#[derive(Serialize)]
pub struct Projection {
    /// Nodes on some run from start to target.
    pub on: Vec<Node>,
    /// Nodes that rules mention but that lie on no such run.
    pub off: Vec<Node>,
}

/// A control state and a topmost symbol.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Node {
    pub state: String,
    /// Not known where the file's control states were put on the stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The stores that occur there on such runs, if they were asked for; `any` stands for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<Vec<String>>,
}

#[derive(Default, Serialize)]
pub struct Stats {
    pub states: usize,
    pub symbols: usize,
    pub rules: usize,
    /// Transitions of the automata that were computed.
    pub transitions: usize,
    pub load_seconds: f64,
    pub seconds: f64,
}

impl Answer {
    /// Finds the answer.
    pub fn find(file: &PdsFile, question: &Question, name: &str) -> Result<Self, CliError> {
        let mut answer = Self {
            answer: Outcome::Unknown,
            reason: None,
            cost: None,
            trace: None,
            projection: None,
            stats: Stats {
                states: file.system.state_count(),
                symbols: file.system.symbol_count(),
                rules: file.system.rule_count(),
                ..Stats::default()
            },
        };
        let ended = match &file.weights {
            Weights::Relation(relation) => {
                let stores = Stores::new(relation, name)?;
                answer.relational(file, question, &stores)
            }
            _ if question.stores => {
                let message = "there are no stores: the file has no `weights relation`".to_owned();
                return Err(CliError::Question { file: name.to_owned(), message });
            }
            Weights::Shortest => answer.shortest(file, question),
            Weights::None => answer.plain(file, question),
        };
        if let Err(stop) = ended {
            answer.answer = Outcome::Unknown;
            answer.reason = Some(stop.why());
        }
        Ok(answer)
    }

    /// How to leave.
    pub fn exit(&self) -> Exit {
        match self.answer {
            Outcome::Reachable => Exit::Positive,
            Outcome::Unreachable => Exit::Negative,
            Outcome::Unknown => Exit::Unknown,
        }
    }

    fn decide(&mut self, reached: bool) {
        self.answer = if reached { Outcome::Reachable } else { Outcome::Unreachable };
    }

    fn plain(&mut self, file: &PdsFile, question: &Question) -> Result<(), StopReason> {
        if question.trace {
            // Every rule of the file costs 1.
            self.shortest(file, question)?;
            self.cost = None;
            return Ok(());
        }
        let Question { start, target, strategy, limits, .. } = question;
        match reachable(&file.system, start, target, *strategy, limits) {
            Reachable::Yes => self.decide(true),
            Reachable::No => self.decide(false),
            Reachable::Unknown(stop) => return Err(stop),
        }
        self.control_projection(file, question)
    }

    fn shortest(&mut self, file: &PdsFile, question: &Question) -> Result<(), StopReason> {
        let system = file.system.map_weights(|_, cost| Cost::from(*cost));
        let (saturated, query) = question.solve(&ShortestPath, &system, question.trace)?;
        self.stats.transitions += saturated.automaton.transition_count();
        let cost = saturated.automaton.summary(&ShortestPath, query);
        self.decide(!ShortestPath.is_zero(&cost));
        self.cost = cost.value();
        if question.trace {
            self.trace = first_witness(&ShortestPath, &system, &saturated, query).map(|w| steps(file, &w));
        }
        self.control_projection(file, question)
    }

    /// The projection where weights do not matter.
    fn control_projection(&mut self, file: &PdsFile, question: &Question) -> Result<(), StopReason> {
        if question.projection {
            let system = file.system.map_weights(|_, _| true);
            self.project(file, question, &Reachability, &system, |_, _| None)?;
        }
        Ok(())
    }

    fn relational(
        &mut self,
        file: &PdsFile,
        question: &Question,
        stores: &Stores<'_>,
    ) -> Result<(), StopReason> {
        let d = stores.domain();
        let system = stores.system(file);
        let (saturated, query) = question.solve(&d, &system, false)?;
        self.stats.transitions += saturated.automaton.transition_count();
        self.decide(!d.is_zero(&saturated.automaton.summary(&d, query)));
        if question.trace && self.answer == Outcome::Reachable {
            // Weights by length know the shortest run that is possible with these stores.
            let lengths = ByLength::new(d.clone());
            let long = system.map(|rule, w| {
                let steps = u32::from(!system.is_helper_rule(rule));
                let merge = system.merge(rule).cloned().map(|merge| ByLengthMerge::new(merge, steps));
                (lengths.weight(steps, w.clone()), merge)
            });
            let (saturated, query) = question.solve(&lengths, &long, true)?;
            self.trace = first_witness(&lengths, &long, &saturated, query).map(|w| steps(file, &w));
        }
        if question.projection || question.stores {
            let show = |projection: &AdjointProjection<'_, RelationDomain, _>, node: (_, _)| {
                let relation = question.stores.then(|| projection.stores(node.0, node.1))?;
                if relation == d.one() {
                    return Some(vec!["any".to_owned()]);
                }
                Some(relation.pairs().map(|(store, _)| stores.show(store)).collect())
            };
            self.project(file, question, &d, &system, show)?;
        }
        Ok(())
    }

    fn project<S, M>(
        &mut self,
        file: &PdsFile,
        question: &Question,
        domain: &S,
        system: &System<S::Weight, M>,
        stores: impl Fn(
            &AdjointProjection<'_, S, M>,
            (wherefore_pushdown::State, wherefore_pushdown::Symbol),
        ) -> Option<Vec<String>>,
    ) -> Result<(), StopReason>
    where
        S: wherefore_pushdown::Adjoint,
        M: AdjointMerge<S>,
    {
        let post = question.saturate(Direction::Post, domain, system, false)?.automaton;
        let pre = question.saturate(Direction::Pre, domain, system, false)?.automaton;
        self.stats.transitions += post.transition_count() + pre.transition_count();
        let functional = FunctionalAutomaton::new(domain, system, &post, &pre);
        let projection = AdjointProjection::new(&functional);
        let named = |state, symbol| {
            let (state, symbol) = file.encoding.decode_node(state, symbol)?;
            let state = file.encoding.states().show(state.0).to_string();
            let symbol = symbol.map(|symbol| file.encoding.symbols().show(symbol.0).to_string());
            Some(Node { state, symbol, stores: None })
        };
        let inside: BTreeSet<_> = projection.nodes().into_iter().collect();
        let mut on = Vec::new();
        for (state, symbol) in &inside {
            if let Some(node) = named(*state, *symbol) {
                on.push(Node { stores: stores(&projection, (*state, *symbol)), ..node });
            }
        }
        let mentioned: BTreeSet<_> = system
            .rules()
            .flat_map(|(_, rule)| {
                let top = match rule.rhs {
                    Rhs::Pop => None,
                    Rhs::Swap(top) | Rhs::Push(top, _) => Some((rule.to, top)),
                };
                std::iter::once((rule.from, rule.symbol)).chain(top)
            })
            .filter(|node| !inside.contains(node) && !system.is_helper_symbol(node.1))
            .collect();
        let off = mentioned.into_iter().filter_map(|(state, symbol)| named(state, symbol)).collect();
        self.projection = Some(Projection { on, off });
        Ok(())
    }
}

impl Question {
    fn saturate<S: Semiring, M: Merge<S>>(
        &self,
        direction: Direction,
        domain: &S,
        system: &System<S::Weight, M>,
        witnesses: bool,
    ) -> Result<Saturated<S::Weight>, StopReason> {
        let (seed, reading) = match direction {
            Direction::Post => (&self.start, Reading::Backward),
            Direction::Pre => (&self.target, Reading::Forward),
        };
        let seed = seed.map_weights(|()| domain.one()).read(reading);
        let recording = if witnesses { Recording::Witnesses } else { Recording::Off };
        let time = self.limits.time.map(|time| time.saturating_sub(self.begin.elapsed()));
        let limits = Limits { time, ..self.limits.clone() };
        let options = Options { order: self.order, recording, limits };
        // Witnesses are read off the worklist's log.
        let method = if witnesses { wherefore_pushdown::Method::Worklist } else { self.method };
        let saturated = solve(direction, domain, system, &seed, method, &options);
        match saturated.stop {
            StopReason::Complete => Ok(saturated),
            stop => Err(stop),
        }
    }

    /// Saturates from the end that the strategy names; also returns the other end.
    fn solve<S: Semiring, M: Merge<S>>(
        &self,
        domain: &S,
        system: &System<S::Weight, M>,
        witnesses: bool,
    ) -> Result<(Saturated<S::Weight>, &Automaton<()>), StopReason> {
        let direction = self.direction();
        let other = match direction {
            Direction::Post => &self.target,
            Direction::Pre => &self.start,
        };
        Ok((self.saturate(direction, domain, system, witnesses)?, other))
    }
}

/// The shortest witness; saturation was asked to record them.
fn first_witness<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    saturated: &Saturated<S::Weight>,
    query: &Automaton<()>,
) -> Option<Witness<S::Weight>> {
    saturated.shortest_witness(domain, system, query).ok().flatten()
}

/// A run in the words of the file.
fn steps<W>(file: &PdsFile, witness: &Witness<W>) -> Vec<Step> {
    let show = |configuration: &Configuration, rule: Option<RuleId>| {
        let decoded = file.encoding.decode(configuration)?;
        let symbols = decoded.stack.iter().map(|s| file.encoding.symbols().show(s.0).to_string());
        Some(Step {
            state: file.encoding.states().show(decoded.state.0).to_string(),
            stack: symbols.collect(),
            rule: rule
                .filter(|_| !file.encoding.is_on_stack())
                .map(|id| file.system.show_rule(id).to_string()),
            label: rule.and_then(|id| file.label(id)).map(str::to_owned),
        })
    };
    let mut at = witness.start.clone();
    let mut steps: Vec<Step> = show(&at, None).into_iter().collect();
    let mut pending = None;
    for rule in &witness.rules {
        let Some(next) = file.system.step(*rule, &at) else { break };
        at = next;
        // A long rule shows as its first part, when all of its parts have run.
        if !file.system.is_helper_rule(*rule) {
            pending = Some(*rule);
        }
        let whole = at.stack.first().is_none_or(|top| !file.system.is_helper_symbol(*top));
        if whole {
            steps.extend(show(&at, pending.take()));
        }
    }
    steps
}

/// The automaton that the strategy computes, in the DOT language; or which limit was met.
pub fn dot(file: &PdsFile, question: &Question, name: &str) -> Result<Result<String, StopReason>, CliError> {
    Ok(match &file.weights {
        Weights::None => {
            let system = file.system.map_weights(|_, _| true);
            let solved = question.solve(&Reachability, &system, false);
            solved.map(|(saturated, _)| saturated.automaton.dot(&system, |_| String::new()).to_string())
        }
        Weights::Shortest => {
            let system: System<Cost, Plain> = file.system.map_weights(|_, cost| Cost::from(*cost));
            let solved = question.solve(&ShortestPath, &system, false);
            solved.map(|(saturated, _)| {
                saturated.automaton.dot(&system, |cost| format!("{cost:?}")).to_string()
            })
        }
        Weights::Relation(relation) => {
            let stores = Stores::new(relation, name)?;
            let system = stores.system(file);
            let solved = question.solve(&stores.domain(), &system, false);
            solved.map(|(saturated, _)| {
                saturated.automaton.dot(&system, |w| format!("{} pairs", w.len())).to_string()
            })
        }
    })
}

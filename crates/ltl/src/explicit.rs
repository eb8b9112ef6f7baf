//! Formulas on pushdown systems whose rules are given one by one.
//!
//! The algorithm of J. Esparza, D. Hansel, P. Rossmanith and S. Schwoon (CAV 2000) as it stands: pre\*
//! of the empty stack says from which control state a symbol can be popped into which, and whether
//! an accepting transition can be taken on the way; with these as edges, the graph of heads is a
//! finite graph, in which a strongly connected component with a marked edge is looked for. It shares nothing
//! with the search by decision diagrams, and tests compare the two.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wherefore_check::Budget;
use wherefore_pushdown::StopReason;

use crate::buchi::Buchi;
use crate::formula::Formula;
use crate::words::Word;

/// A head: a control state and the symbol on top of the stack.
pub type TopOfStack = (u32, u32);

/// A rule: the head that it needs, the next control state, and at most two symbols that take the
/// place of the one on top, the topmost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplicitRule {
    /// The head that it needs.
    pub from: TopOfStack,
    /// The next control state.
    pub to: u32,
    /// What takes the place of the symbol on top.
    pub push: Vec<u32>,
}

/// A pushdown system whose heads have letters. Where no rule applies, a run stays for ever.
pub struct Explicit<'a> {
    /// The rules.
    pub rules: Vec<ExplicitRule>,
    /// Where runs start, with this symbol alone on the stack; it must never be popped.
    pub start: TopOfStack,
    /// Which propositions hold in configurations with a head; the flag says whether no rule applies.
    /// None for heads that are no part of runs.
    pub letter: &'a dyn Fn(TopOfStack, bool) -> Option<Vec<bool>>,
}

/// A lasso: rules by their positions. A run that stays where no rule applies has no turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLasso {
    /// The rules up to the head that repeats.
    pub stem: Vec<usize>,
    /// The rules from it to the same head.
    pub turn: Vec<usize>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplicitVerdict {
    /// The formula holds on all runs.
    Holds,
    /// It does not on this one, which was replayed.
    Fails(RuleLasso),
    /// A limit was met, or the run is too long to be written down.
    Unknown(String),
}

/// Longer runs are not written down.
const LONGEST: usize = 1_000_000;

/// How often a turn is replayed.
const TURNS: usize = 3;

/// A head of the product: control state, state of the automaton, symbol.
type Head = (u32, u32, u32);

/// That a symbol can be popped: the head, and the control state and state of the automaton
/// afterwards; whether an accepting transition was taken.
type Fact = (Head, (u32, u32), bool);

/// Why a fact holds: earlier facts.
#[derive(Clone, Copy)]
enum Why {
    Pop(usize),
    Swap(usize, usize),
    Push(usize, usize, usize),
}

/// A first part of a call that waits for the second symbol to be popped.
#[derive(Clone, Copy)]
struct Waiting {
    rule: usize,
    from: Head,
    mark: bool,
    first: usize,
}

#[derive(Default)]
struct Summaries {
    facts: Vec<Fact>,
    why: Vec<Why>,
    numbers: FxHashMap<Fact, usize>,
    of_head: FxHashMap<Head, Vec<usize>>,
    waiting: FxHashMap<Head, Vec<Waiting>>,
    open: VecDeque<usize>,
}

impl Summaries {
    fn add(&mut self, fact: Fact, why: Why) {
        if self.numbers.contains_key(&fact) {
            return;
        }
        let number = self.facts.len();
        self.numbers.insert(fact, number);
        self.of_head.entry(fact.0).or_default().push(number);
        self.facts.push(fact);
        self.why.push(why);
        self.open.push_back(number);
    }
}

/// An edge of the graph of heads: the rule, and what pops its first symbol if it calls and returns.
#[derive(Clone, Copy)]
struct Step {
    rule: Option<usize>,
    popped: Option<usize>,
    mark: bool,
    to: usize,
}

struct Search<'a> {
    system: &'a Explicit<'a>,
    automaton: &'a Buchi,
    budget: &'a Budget,
    by_head: FxHashMap<TopOfStack, Vec<usize>>,
}

/// Decides whether a formula holds on all runs.
pub fn decide_explicit(system: &Explicit<'_>, formula: &Formula, budget: &Budget) -> ExplicitVerdict {
    let Ok(automaton) = Buchi::new(&formula.clone().not()) else {
        return ExplicitVerdict::Unknown("the automaton of the formula is too large".to_owned());
    };
    let mut by_head: FxHashMap<TopOfStack, Vec<usize>> = FxHashMap::default();
    for (number, rule) in system.rules.iter().enumerate() {
        by_head.entry(rule.from).or_default().push(number);
    }
    let search = Search { system, automaton: &automaton, budget, by_head };
    match search.run() {
        Err(stop) => ExplicitVerdict::Unknown(stop.why().to_owned()),
        Ok(None) => ExplicitVerdict::Holds,
        Ok(Some(None)) => ExplicitVerdict::Unknown("a run that violates the formula is too long".to_owned()),
        Ok(Some(Some(lasso))) => match search.confirm(&lasso, formula) {
            Ok(()) => ExplicitVerdict::Fails(lasso),
            Err(why) => ExplicitVerdict::Unknown(format!("a run that was found is none: {why}")),
        },
    }
}

impl Search<'_> {
    fn letter(&self, head: TopOfStack) -> Option<Vec<bool>> {
        (self.system.letter)(head, !self.by_head.contains_key(&head))
    }

    /// What the automaton can do at a head: the next states, and whether the transition accepts.
    fn reads(&self, head: TopOfStack, state: u32) -> Vec<(u32, bool)> {
        let Some(letter) = self.letter(head) else { return vec![(state, false)] };
        let out = self.automaton.transitions[state as usize].iter();
        out.filter(|t| t.guard.allows(&letter)).map(|t| (t.to as u32, t.is_accepting)).collect()
    }

    fn run(&self) -> Result<Option<Option<RuleLasso>>, StopReason> {
        let summaries = self.summaries()?;
        let (heads, steps) = self.graph(&summaries)?;
        let components = components(&steps);
        let inside = |from: usize, step: &Step| step.mark && components[from] == components[step.to];
        let marked = steps
            .iter()
            .enumerate()
            .find_map(|(from, out)| out.iter().position(|step| inside(from, step)).map(|at| (from, at)));
        let Some((from, at)) = marked else { return Ok(None) };
        let component = components[from];
        let all: Vec<bool> = vec![true; heads.len()];
        let within: Vec<bool> = components.iter().map(|other| *other == component).collect();
        let first = steps[from][at];
        let (Some(stem), Some(back)) = (path(&steps, 0, from, &all), path(&steps, first.to, from, &within))
        else {
            return Ok(Some(None));
        };
        let mut turn = vec![first];
        turn.extend(back);
        let rules = |path: &[Step]| -> Option<Vec<usize>> {
            let mut found = Vec::new();
            for step in path {
                found.extend(step.rule);
                let mut open: Vec<usize> = step.popped.into_iter().collect();
                while let Some(fact) = open.pop() {
                    match summaries.why[fact] {
                        Why::Pop(rule) => found.push(rule),
                        Why::Swap(rule, rest) => {
                            found.push(rule);
                            open.push(rest);
                        }
                        Why::Push(rule, one, two) => {
                            found.push(rule);
                            open.extend([two, one]);
                        }
                    }
                    if found.len() > LONGEST {
                        return None;
                    }
                }
            }
            Some(found)
        };
        Ok(Some(rules(&stem).and_then(|stem| Some(RuleLasso { stem, turn: rules(&turn)? }))))
    }

    /// pre\* of the empty stack.
    fn summaries(&self) -> Result<Summaries, StopReason> {
        let mut found = Summaries::default();
        let states = self.automaton.state_count() as u32;
        let mut into: FxHashMap<TopOfStack, Vec<usize>> = FxHashMap::default();
        for (number, rule) in self.system.rules.iter().enumerate() {
            match rule.push.first() {
                Some(top) => into.entry((rule.to, *top)).or_default().push(number),
                None => {
                    for state in 0..states {
                        for (next, mark) in self.reads(rule.from, state) {
                            let head = (rule.from.0, state, rule.from.1);
                            found.add((head, (rule.to, next), mark), Why::Pop(number));
                        }
                    }
                }
            }
        }
        let mut count = 0_u32;
        while let Some(number) = found.open.pop_front() {
            count = count.wrapping_add(1);
            if count % 1024 == 0 {
                self.budget.stopped().map_or(Ok(()), Err)?;
            }
            let (head, to, mark) = found.facts[number];
            for rule in into.get(&(head.0, head.2)).into_iter().flatten() {
                let from = self.system.rules[*rule].from;
                for state in 0..states {
                    for (_, own) in self.reads(from, state).into_iter().filter(|(next, _)| *next == head.1) {
                        let before = (from.0, state, from.1);
                        let Some(second) = self.system.rules[*rule].push.get(1) else {
                            found.add((before, to, own || mark), Why::Swap(*rule, number));
                            continue;
                        };
                        let below = (to.0, to.1, *second);
                        let mark = own || mark;
                        let waiting = Waiting { rule: *rule, from: before, mark, first: number };
                        found.waiting.entry(below).or_default().push(waiting);
                        for rest in found.of_head.get(&below).cloned().unwrap_or_default() {
                            let (_, end, other) = found.facts[rest];
                            found.add((before, end, mark || other), Why::Push(*rule, number, rest));
                        }
                    }
                }
            }
            for waiting in found.waiting.get(&head).cloned().unwrap_or_default() {
                let why = Why::Push(waiting.rule, waiting.first, number);
                found.add((waiting.from, to, waiting.mark || mark), why);
            }
        }
        Ok(found)
    }

    /// The graph of the heads that can be reached; the first one is where runs start.
    fn graph(&self, summaries: &Summaries) -> Result<(Vec<Head>, Vec<Vec<Step>>), StopReason> {
        let first = (self.system.start.0, 0, self.system.start.1);
        let mut heads = vec![first];
        let mut numbers = FxHashMap::from_iter([(first, 0)]);
        let mut steps: Vec<Vec<Step>> = Vec::new();
        while steps.len() < heads.len() {
            if steps.len() % 1024 == 0 {
                self.budget.stopped().map_or(Ok(()), Err)?;
            }
            let (control, state, top) = heads[steps.len()];
            let mut number = |head: Head| {
                *numbers.entry(head).or_insert_with(|| {
                    heads.push(head);
                    heads.len() - 1
                })
            };
            let mut out = Vec::new();
            for (next, mark) in self.reads((control, top), state) {
                let Some(rules) = self.by_head.get(&(control, top)) else {
                    let to = number((control, next, top));
                    out.push(Step { rule: None, popped: None, mark, to });
                    continue;
                };
                for rule in rules {
                    let ExplicitRule { to, push, .. } = &self.system.rules[*rule];
                    let Some(first) = push.first() else { continue };
                    let entered = (*to, next, *first);
                    out.push(Step { rule: Some(*rule), popped: None, mark, to: number(entered) });
                    let Some(second) = push.get(1) else { continue };
                    for fact in summaries.of_head.get(&entered).into_iter().flatten() {
                        let (_, (control, state), other) = summaries.facts[*fact];
                        let to = number((control, state, *second));
                        out.push(Step { rule: Some(*rule), popped: Some(*fact), mark: mark || other, to });
                    }
                }
            }
            steps.push(out);
        }
        Ok((heads, steps))
    }

    /// Replays a lasso on configurations, and evaluates the formula on its word.
    fn confirm(&self, lasso: &RuleLasso, formula: &Formula) -> Result<(), String> {
        let mut control = self.system.start.0;
        let mut stack = vec![self.system.start.1];
        let mut word = Word { stem: Vec::new(), turn: Vec::new() };
        let mut take = |number: usize, letters: &mut Vec<Vec<bool>>| -> Result<TopOfStack, String> {
            let rule = &self.system.rules[number];
            let top = *stack.last().ok_or("the stack is empty")?;
            if rule.from != (control, top) {
                return Err("a rule does not apply".to_owned());
            }
            letters.extend(self.letter(rule.from));
            stack.pop();
            stack.extend(rule.push.iter().rev());
            control = rule.to;
            Ok((control, *stack.last().ok_or("the stack is empty")?))
        };
        let mut head = self.system.start;
        for rule in &lasso.stem {
            head = take(*rule, &mut word.stem)?;
        }
        if lasso.turn.is_empty() {
            if self.by_head.contains_key(&head) {
                return Err("it stops although it has not ended".to_owned());
            }
            word.turn.extend(self.letter(head));
        }
        for turn in 0..TURNS {
            let mut letters = Vec::new();
            let mut end = head;
            for rule in &lasso.turn {
                end = take(*rule, &mut letters)?;
            }
            if end != head {
                return Err("it does not come back to its head".to_owned());
            }
            if turn == 0 && !lasso.turn.is_empty() {
                word.turn = letters;
            }
        }
        match word.turn.is_empty() || word.satisfies(formula) {
            true => Err("the formula holds on it".to_owned()),
            false => Ok(()),
        }
    }
}

/// A shortest path.
fn path(steps: &[Vec<Step>], from: usize, to: usize, within: &[bool]) -> Option<Vec<Step>> {
    let mut before: Vec<Option<(usize, Step)>> = vec![None; steps.len()];
    let mut seen = vec![false; steps.len()];
    seen[from] = true;
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let (mut found, mut at) = (Vec::new(), at);
            while let Some((previous, step)) = before[at] {
                found.push(step);
                at = previous;
            }
            found.reverse();
            return Some(found);
        }
        for step in steps[at].iter().filter(|step| within[step.to]) {
            if !std::mem::replace(&mut seen[step.to], true) {
                before[step.to] = Some((at, *step));
                open.push_back(step.to);
            }
        }
    }
    None
}

/// The strongly connected components, by Tarjan's algorithm without recursion.
fn components(steps: &[Vec<Step>]) -> Vec<usize> {
    let count = steps.len();
    let (mut index, mut low) = (vec![usize::MAX; count], vec![0; count]);
    let (mut component, mut stack) = (vec![usize::MAX; count], Vec::new());
    let (mut next, mut components) = (0, 0);
    for root in 0..count {
        if index[root] != usize::MAX {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((at, edge)) = calls.pop() {
            if edge == 0 {
                index[at] = next;
                low[at] = next;
                next += 1;
                stack.push(at);
            } else {
                let done = steps[at][edge - 1].to;
                if component[done] == usize::MAX {
                    low[at] = low[at].min(low[done]);
                }
            }
            if let Some(step) = steps[at].get(edge) {
                calls.push((at, edge + 1));
                if index[step.to] == usize::MAX {
                    calls.push((step.to, 0));
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(member) = stack.pop() {
                    component[member] = components;
                    if member == at {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}

//! Running rule sequences: the semantics that every witness is checked against.
//!
//! \[Lal09\] Def. 3.1.4 and the operational reading of §3.2.2: a stack of weights, one for each
//! call that has not returned. It shares nothing with saturation, and it is also right where merge
//! functions lack path extension (§3.2.3).

use crate::names::{RuleId, Symbol};
use crate::semiring::{Merge, Semiring};
use crate::system::{Configuration, Rhs, System};

/// A run that went through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay<W> {
    /// Where the run starts.
    pub start: Configuration,
    /// Where it ends.
    pub end: Configuration,
    /// The value `v(σ)` of its rules.
    pub weight: W,
}

/// A rule that does not apply where a run wants to use it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule} of the run, its number {position}, does not apply there")]
pub struct Stuck {
    /// Place in the sequence, from 0.
    pub position: usize,
    /// Number of the rule.
    pub rule: u32,
}

/// Runs `rules` from `start` and computes the value of the run.
///
/// ```
/// use wherefore_pushdown::{replay, Configuration, Rhs, System};
/// # use wherefore_pushdown::Semiring;
/// # struct Steps;
/// # impl Semiring for Steps {
/// #     type Weight = u64;
/// #     fn zero(&self) -> u64 { u64::MAX }
/// #     fn one(&self) -> u64 { 0 }
/// #     fn combine(&self, a: &u64, b: &u64) -> u64 { *a.min(b) }
/// #     fn extend(&self, a: &u64, b: &u64) -> u64 { a.saturating_add(*b) }
/// # }
/// let mut system: System<u64> = System::new();
/// let (p, a, b) = (system.state("p"), system.symbol("a"), system.symbol("b"));
/// let grow = system.add(p, a, p, Rhs::Push(a, b), 2);
/// let pop = system.add(p, a, p, Rhs::Pop, 3);
/// let start = Configuration { state: p, stack: vec![a] };
/// let run = replay(&Steps, &system, &start, &[grow, pop]).unwrap();
/// assert_eq!((run.end.stack, run.weight), (vec![b], 5));
/// assert_eq!(replay(&Steps, &system, &start, &[pop, pop]).unwrap_err().position, 1);
/// ```
pub fn replay<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Configuration,
    rules: &[RuleId],
) -> Result<Replay<S::Weight>, Stuck> {
    replay_forwards(domain, system, start, rules)
}

pub(crate) fn replay_forwards<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Configuration,
    rules: &[RuleId],
) -> Result<Replay<S::Weight>, Stuck> {
    let mut state = start.state;
    // Topmost symbol last: pushing and popping must not move the rest.
    let mut stack: Vec<Symbol> = start.stack.iter().rev().copied().collect();
    let mut weight = domain.one();
    let mut calls: Vec<(S::Weight, RuleId)> = Vec::new();
    for (position, id) in rules.iter().enumerate() {
        let rule = system.rule(*id);
        if stack.last() != Some(&rule.symbol) || state != rule.from {
            return Err(Stuck { position, rule: id.0 });
        }
        state = rule.to;
        stack.pop();
        match rule.rhs {
            Rhs::Swap(a) => {
                stack.push(a);
                weight = domain.extend(&weight, system.weight(*id));
            }
            Rhs::Push(a, b) => {
                stack.extend([b, a]);
                calls.push((std::mem::replace(&mut weight, domain.one()), *id));
            }
            Rhs::Pop => {
                let callee = domain.extend(&weight, system.weight(*id));
                weight = match calls.pop() {
                    None => callee,
                    Some((caller, call)) => match system.merge(call) {
                        Some(merge) => merge.merge(domain, &caller, &callee),
                        None => {
                            let entered = domain.extend(&caller, system.weight(call));
                            domain.extend(&entered, &callee)
                        }
                    },
                };
            }
        }
    }
    for (caller, call) in calls.into_iter().rev() {
        let entered = domain.extend(&caller, system.weight(call));
        weight = domain.extend(&entered, &weight);
    }
    stack.reverse();
    let end = Configuration { state, stack };
    Ok(Replay { start: start.clone(), end, weight })
}

/// Undoes `rules` from `end` to find where the run starts, then runs them.
pub(crate) fn replay_backwards<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    end: &Configuration,
    rules: &[RuleId],
) -> Result<Replay<S::Weight>, Stuck> {
    let mut state = end.state;
    let mut stack: Vec<Symbol> = end.stack.iter().rev().copied().collect();
    for (position, id) in rules.iter().enumerate().rev() {
        let rule = system.rule(*id);
        let word: &[Symbol] = match rule.rhs {
            Rhs::Pop => &[],
            Rhs::Swap(a) => &[a],
            Rhs::Push(a, b) => &[b, a],
        };
        if state != rule.to || !stack.ends_with(word) {
            return Err(Stuck { position, rule: id.0 });
        }
        stack.truncate(stack.len() - word.len());
        stack.push(rule.symbol);
        state = rule.from;
    }
    stack.reverse();
    replay_forwards(domain, system, &Configuration { state, stack }, rules)
}

//! Schedules as solutions of constraints on events: for C, with data of any size.
//!
//! Each thread is unrolled on its own (`unfold.rs`, with `access.rs`, `starts.rs` and
//! `sharing.rs`); the schedule is not part of the program but an order of its events, one formula
//! for all orders (`order.rs`). A solution becomes a schedule that the interpreter runs
//! (`back.rs`). If no order of events fails, and no thread goes beyond the bound on the turns of
//! loops, then no schedule fails, with any number of switches: the points of threads that end bound
//! the switches.
//!
//! The fewest switches are found by counting contexts, from none on, once a failure is known.

mod access;
mod back;
mod order;
mod sharing;
mod starts;
mod unfold;

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wherefore_program::{Program, Task, Threads, thread_starts};
use wherefore_pushdown::StopReason;
use wherefore_smt::{BitBlaster, Budget as SolverBudget, Outcome, Reason, Solver, Terms};

use super::{Covered, ScheduleLimits, failing_run};
use crate::bounded::in_deep_thread;
use crate::budget::Budget;
use crate::engine::{Progress, Session};
use crate::verdict::{
    Answer, EngineName, Evidence, Facts, FailingRun, Proof, ProofCheck, ProofKind, Reached, ThreadFacts,
    Verdict, Why,
};
use order::{Bound, Order};
use sharing::Sharing;
use unfold::{Stop, Unfolding, unfold};

/// Bounds on the turns of loops, one after the other.
const BOUNDS: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];

/// How long a failure with fewer switches is searched for with more turns of loops.
const MORE: Duration = Duration::from_secs(4);

/// How often code is unrolled at most to learn what is shared.
const PASSES: usize = 4;

/// Searches for a failing order of events; `covered` is what another search has shown.
pub(super) fn search(
    task: &Task,
    limits: &ScheduleLimits,
    covered: Covered,
    (session, budget): (&Session, &Budget),
) -> Answer {
    let program = (*task.program).clone().with_unread_values_zero();
    let found = in_deep_thread(|| decide(&program, task, limits, covered, (session, budget)));
    found.unwrap_or_else(|| unknown(task, covered, Some(StopReason::Memory), 0))
}

/// That nothing is known.
pub(super) fn nothing(task: &Task) -> Answer {
    unknown(task, Covered::default(), None, 0)
}

fn unknown(task: &Task, covered: Covered, stop: Option<StopReason>, threads: usize) -> Answer {
    let verdicts = vec![Verdict::Unknown(Why::Switches { covered, stop }); task.checks.len()];
    answer(verdicts, threads, covered)
}

fn answer(verdicts: Vec<Verdict>, threads: usize, covered: Covered) -> Answer {
    let threads = Some(ThreadFacts { threads, covered, ..ThreadFacts::default() });
    Answer { verdicts, facts: Facts { by: Some(EngineName::Events), threads, ..Facts::default() } }
}

fn reason(reason: &Reason) -> StopReason {
    match reason {
        Reason::Time => StopReason::Time,
        Reason::Cancelled => StopReason::Cancelled,
        Reason::Conflicts | Reason::Work | Reason::Solver(_) => StopReason::Steps,
    }
}

fn decide(
    program: &Program,
    task: &Task,
    limits: &ScheduleLimits,
    covered: Covered,
    (session, budget): (&Session, &Budget),
) -> Answer {
    let solver = budget.solver();
    let mut threads = 0;
    let mut stop = StopReason::Steps;
    for bound in BOUNDS {
        session.tell(&Progress::Bound(bound));
        let mut unfolding = match learn(program, task, bound, &solver) {
            Ok(unfolding) => unfolding,
            Err(Stop::TooLarge) => {
                stop = StopReason::Memory;
                break;
            }
            Err(Stop::Limit(why)) => {
                stop = reason(&why);
                break;
            }
        };
        threads = unfolding.lanes.len();
        let mut attempt = Attempt { program, unfolding: &mut unfolding, budget: &solver, queries: 0 };
        match attempt.turn(limits, covered) {
            Turn::Fails(run, target) => {
                let (run, target) = improve(program, task, bound, covered, &solver, (run, target));
                let mut verdicts = vec![Verdict::Unknown(Why::NotAsked); task.checks.len()];
                verdicts[target] = Verdict::Unsafe(run);
                return answer(verdicts, threads, covered);
            }
            Turn::NotRun => {
                let verdicts = vec![Verdict::Unknown(Why::NoRun(StopReason::Complete)); task.checks.len()];
                return answer(verdicts, threads, covered);
            }
            Turn::Complete => {
                let by = EngineName::Events;
                let evidence = Arc::new(Evidence {
                    by,
                    kind: ProofKind::Orders(bound),
                    checked: ProofCheck::NotApplicable,
                });
                let proof = Proof { evidence, reached: Reached::Unknown };
                let verdicts = vec![Verdict::Safe(proof); task.checks.len()];
                return answer(verdicts, threads, covered);
            }
            Turn::Beyond => {}
            Turn::Within(switches) => {
                let switches = Some(switches).max(covered.switches);
                let covered = Covered { switches, some_values: false, ..covered };
                return unknown(task, covered, None, threads);
            }
            Turn::Stopped(why) => {
                stop = why;
                break;
            }
        }
    }
    unknown(task, covered, Some(stop), threads)
}

/// With more turns of loops a failure may need fewer switches: some more bounds are tried, for as
/// long as it took to come here.
fn improve(
    program: &Program,
    task: &Task,
    bound: usize,
    covered: Covered,
    budget: &SolverBudget,
    (mut best, mut target): (Box<FailingRun>, usize),
) -> (Box<FailingRun>, usize) {
    let limit = Instant::now().checked_add(MORE);
    let budget = SolverBudget { deadline: budget.deadline.into_iter().chain(limit).min(), ..budget.clone() };
    for bound in BOUNDS.into_iter().filter(|other| *other > bound).take(3) {
        let Some(schedule) = best.schedule.clone() else { break };
        if schedule.fewest || schedule.switches == 0 {
            break;
        }
        let Ok(mut unfolding) = learn(program, task, bound, &budget) else { break };
        let mut attempt = Attempt { program, unfolding: &mut unfolding, budget: &budget, queries: 0 };
        match attempt.contexts(0..=schedule.switches - 1, covered) {
            Ok(Turn::Fails(run, other)) => (best, target) = (run, other),
            Ok(Turn::Beyond) if attempt.unfolding.cuts.is_empty() => best = fewest(best, true),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    (best, target)
}

/// Unrolls the program until it is known what is shared.
fn learn<'a>(
    program: &'a Program,
    task: &Task,
    bound: usize,
    budget: &SolverBudget,
) -> Result<Unfolding<'a>, Stop> {
    let mut sharing = Rc::new(Sharing::default());
    let mut found = unfold(program, &task.checks, bound, sharing.clone(), budget);
    for _ in 1..PASSES {
        // What is too large with everything shared may be small: but nothing is known then.
        let Ok(first) = &found else { break };
        let better = Rc::new(Sharing::of(first.accesses.clone()));
        if better == sharing {
            break;
        }
        let second = unfold(program, &task.checks, bound, better.clone(), budget)?;
        if !better.is_confirmed_by(&second.accesses) {
            break;
        }
        found = Ok(second);
        sharing = better;
    }
    found
}

/// What one bound has shown.
enum Turn {
    Fails(Box<FailingRun>, usize),
    /// A solution that the interpreter does not run.
    NotRun,
    /// No schedule fails, and none goes beyond the bound.
    Complete,
    /// None fails within the bound.
    Beyond,
    /// None fails with so many switches, and none goes beyond the bound.
    Within(usize),
    Stopped(StopReason),
}

struct Attempt<'u, 'a> {
    program: &'a Program,
    unfolding: &'u mut Unfolding<'a>,
    budget: &'u SolverBudget,
    queries: usize,
}

/// The answer to one question.
enum Answered {
    Run(Box<FailingRun>, usize),
    NotRun,
    None,
    Stopped(StopReason),
}

impl Attempt<'_, '_> {
    fn turn(&mut self, limits: &ScheduleLimits, covered: Covered) -> Turn {
        if let Some(most) = limits.switches {
            return match self.contexts(0..=most, covered) {
                Ok(Turn::Beyond) if self.is_whole() => Turn::Within(most),
                Ok(found) => found,
                Err(stop) => Turn::Stopped(stop),
            };
        }
        // Few rounds first: they are cheap, and find most failures.
        for bound in [Bound::Rounds(3), Bound::Rounds(7), Bound::All] {
            match self.ask(bound, false) {
                Answered::Run(run, target) => return self.with_fewest(run, target, covered),
                Answered::NotRun => return Turn::NotRun,
                Answered::Stopped(stop) => return Turn::Stopped(stop),
                Answered::None => {}
            }
        }
        if self.is_whole() { Turn::Complete } else { Turn::Beyond }
    }

    /// Whether no thread goes beyond the bound.
    fn is_whole(&mut self) -> bool {
        matches!(self.ask(Bound::All, true), Answered::None)
    }

    /// Whether some order fails; or, with `beyond`, whether some thread goes beyond the bound.
    fn ask(&mut self, bound: Bound, beyond: bool) -> Answered {
        self.queries += 1;
        let errors: Vec<_> = self.unfolding.errors.iter().map(|(_, _, guard, at)| (*guard, *at)).collect();
        let is_trivial = match beyond {
            true => self.unfolding.cuts.iter().all(|cut| *cut == Terms::FALSE),
            false => errors.iter().all(|(guard, _)| *guard == Terms::FALSE),
        };
        if is_trivial {
            return Answered::None;
        }
        let mut solver = BitBlaster::new();
        let name = format!("q{}p", self.queries);
        let mut order = Order::new(self.unfolding, bound, &name);
        if order.assert(&mut solver, bound).is_err() {
            return Answered::Stopped(StopReason::Memory);
        }
        let wanted = match beyond {
            true => None,
            false => Some(errors.iter().map(|(_, at)| order.is_within(*at, bound)).collect::<Vec<_>>()),
        };
        let clocks = order.clocks;
        let terms = &mut self.unfolding.machine.terms;
        let wanted = match wanted {
            None => terms.any(&self.unfolding.cuts),
            Some(within) => {
                let parts = errors.iter().zip(within).map(|((guard, _), within)| terms.and(*guard, within));
                let parts: Vec<_> = parts.collect();
                terms.any(&parts)
            }
        };
        let outcome = solver.check(&mut self.unfolding.machine.terms, &[wanted], self.budget);
        match outcome {
            Outcome::Unsat(_) => Answered::None,
            Outcome::Unknown(why) => Answered::Stopped(reason(&why)),
            Outcome::Sat(_) if beyond => Answered::NotRun,
            Outcome::Sat(model) => {
                let found = back::schedule(self.program, self.unfolding, &clocks, &model);
                let by = EngineName::Events;
                let run = found.and_then(|(trace, target)| {
                    Some((failing_run(self.program, trace, false, (target, by))?, target))
                });
                match run {
                    Some((run, target)) => Answered::Run(Box::new(run), target),
                    None => Answered::NotRun,
                }
            }
        }
    }

    /// A failing run with fewer switches than one that is known, as long as there is time.
    fn with_fewest(&mut self, run: Box<FailingRun>, target: usize, covered: Covered) -> Turn {
        let most = run.schedule.as_ref().map_or(0, |schedule| schedule.switches);
        if most == 0 {
            return Turn::Fails(fewest(run, true), target);
        }
        let from = (0..most).rev().find(|switches| is_covered(covered, *switches)).unwrap_or(0);
        match self.contexts(from..=most - 1, covered) {
            Ok(Turn::Fails(run, target)) => Turn::Fails(run, target),
            // No failure with fewer switches within this bound.
            Ok(Turn::Beyond | Turn::Complete) => {
                let is_fewest = self.unfolding.cuts.is_empty() || is_covered(covered, most);
                Turn::Fails(fewest(run, is_fewest), target)
            }
            _ => Turn::Fails(run, target),
        }
    }

    fn contexts(
        &mut self,
        switches: std::ops::RangeInclusive<usize>,
        covered: Covered,
    ) -> Result<Turn, StopReason> {
        let is_first_free = matches!(thread_starts(self.program), Threads::Fixed(_));
        for switches in switches {
            match self.ask(Bound::Contexts { switches, is_first_free }, false) {
                Answered::Run(run, target) => {
                    let is_fewest = self.unfolding.cuts.is_empty() || is_covered(covered, switches);
                    return Ok(Turn::Fails(fewest(run, is_fewest), target));
                }
                Answered::NotRun => return Ok(Turn::NotRun),
                Answered::Stopped(stop) => return Err(stop),
                Answered::None => {}
            }
        }
        Ok(Turn::Beyond)
    }
}

/// Whether another search has shown that no schedule with fewer switches fails.
fn is_covered(covered: Covered, switches: usize) -> bool {
    switches == 0
        || !covered.some_values
            && covered.threads.is_none()
            && covered.switches.is_some_and(|below| below + 1 >= switches)
}

/// The run with what is known about its switches.
fn fewest(mut run: Box<FailingRun>, is_fewest: bool) -> Box<FailingRun> {
    if let Some(schedule) = &mut run.schedule {
        Arc::make_mut(schedule).fewest = is_fewest;
    }
    run
}

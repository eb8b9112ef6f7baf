//! From what engines say to what users read: verdicts count only if nothing speaks against them.
//!
//! A failing run of a compiled language counts only if the compiled program does not contradict it.
//! A proof counts only if no run comes to a place that is not modelled ([`Task::unsupported`]), if
//! nothing was observed that is not modelled ([`Task::doubts`]), if no index can be outside of its
//! array, and if its check by other code does not refute it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wherefore_program::{
    About, Assumption, Compilation, ErrorKind, ErrorSite, OUTSIDE_OF_OBJECT, Recipe, TargetChoice, Task,
    Unsupported, ViolationKind,
};

use crate::bounded::BoundedChecking;
use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::harness::{self, Enclosure, Replay};
use crate::portfolio::{Extent, portfolio};
use crate::prover::Prover;
use crate::single_run::reached_of;
use crate::unrolled_proof::{self, Opinion};
use crate::verdict::{
    Answer, EngineName, Evidence, FailingRun, Overall, Proof, ProofCheck, ProofKind, Verdict, Why,
};

/// Whether failing runs are replayed by the compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaying {
    /// They are not.
    Off,
    /// They are.
    On {
        /// Where the compiled program runs.
        enclosure: Enclosure,
        /// Where the C file that feeds the inputs is kept.
        keep: Option<PathBuf>,
    },
}

impl Default for Replaying {
    fn default() -> Self {
        Self::On { enclosure: Enclosure::Sandbox, keep: None }
    }
}

/// The time limit of a compiled program, and how much must be left to compile it.
const MOST_TIME: Duration = Duration::from_secs(5);
const MOST_TIME_OF_LONG_RUNS: Duration = Duration::from_secs(1);
const LEAST_TIME: Duration = Duration::from_millis(1500);

/// A second look at a proof gets as long as finding it took, and this.
const SECOND_LOOK: Duration = Duration::from_secs(2);

/// Questions the verdicts of engines, and retracts those that do not stand. `taken` is the time it
/// took to find them.
pub fn confirm(
    mut answer: Answer,
    task: &Task,
    engines: &[Arc<dyn Engine>],
    replaying: &Replaying,
    (session, budget): (&Session, &Budget),
    taken: Duration,
) -> Answer {
    for verdict in &mut answer.verdicts {
        if let Verdict::Unsafe(run) = verdict {
            let outcome = replay(task, run, replaying, budget);
            match contradiction(task, run, outcome.as_ref()) {
                Some(why) => *verdict = Verdict::Unknown(why),
                None => run.replay = outcome,
            }
        }
    }
    let look = budget.within(taken + SECOND_LOOK);
    let has_proof = answer.verdicts.iter().any(|verdict| verdict.proof().is_some());
    // What is not modelled could be the only check.
    if has_proof || answer.verdicts.is_empty() {
        answer.facts.spoilt = unsupported(task, engines, (session, budget));
    }
    if answer.verdicts.is_empty() && answer.facts.spoilt.is_none() {
        answer.facts.spoilt = doubts_in_words(task, Some(About::Rule));
    }
    if has_proof {
        let spoilt = answer.facts.spoilt.clone();
        let by_states =
            |verdict: &Verdict| verdict.proof().is_some_and(|proof| proof.evidence.kind == ProofKind::States);
        // Proofs about paths do not rest on what memory holds.
        let about_paths = spoilt.clone().or_else(|| doubts_in_words(task, Some(About::Control)));
        let needs_data =
            answer.verdicts.iter().any(|verdict| verdict.proof().is_some() && !by_states(verdict));
        let about_data = match needs_data {
            true => spoilt.or_else(|| other_doubts(task, engines, (session, &look))),
            false => None,
        };
        for verdict in answer.verdicts.iter_mut().filter(|verdict| verdict.proof().is_some()) {
            let why = if by_states(verdict) { &about_paths } else { &about_data };
            if let Some(why) = why {
                *verdict = Verdict::Unknown(why.clone());
            }
        }
        check_unrollings(
            &mut answer,
            task,
            session,
            if session.prover == Prover::Embedded { &look } else { budget },
        );
    }
    if let (Some(what), None) = (&task.undecided, &answer.facts.spoilt) {
        answer.facts.spoilt = Some(Why::NotDecided(what.clone()));
    }
    if !answer.verdicts.iter().any(Verdict::is_definite) {
        answer.facts.by = None;
    }
    answer
}

/// What the compiled program does with the inputs of a run; none if it is not asked.
pub fn replay(task: &Task, run: &FailingRun, replaying: &Replaying, budget: &Budget) -> Option<Replay> {
    let site = task.checks.get(run.target)?;
    if run.schedule.is_some() && matches!(site.kind, ErrorKind::Violation(_)) {
        let why = "races, deadlocks and misuse of locks do not show in the compiled program";
        return task.is_c().then(|| Replay::NotReplayed { why: why.to_owned() });
    }
    let Replaying::On { enclosure, keep } = replaying else { return None };
    let recipe = match &task.compilation {
        Compilation::NoCompiler => return None,
        Compilation::Pointless(why) => return Some(Replay::NotReplayed { why: why.clone() }),
        Compilation::Compiled(recipe) => recipe,
    };
    if site.kind == ErrorKind::Violation(ViolationKind::Leak) {
        let why = "that memory is not freed does not show in a run";
        return Some(Replay::NotReplayed { why: why.to_owned() });
    }
    if site.kind == ErrorKind::Violation(ViolationKind::Claim) {
        let why = "a claim is not part of the compiled program";
        return Some(Replay::NotReplayed { why: why.to_owned() });
    }
    if let Some(why) = unwatched(task, recipe, site) {
        return Some(Replay::NotReplayed { why });
    }
    if run.left_out.as_ref().is_some_and(|left_out| left_out.takes_input) {
        let why = "the run leaves out what does not matter, and inputs are taken there";
        return Some(Replay::NotReplayed { why: why.to_owned() });
    }
    let left = budget.left();
    if left.is_some_and(|left| left < LEAST_TIME) {
        return Some(Replay::NotReplayed { why: "no time is left".to_owned() });
    }
    // A run that leaves out a part is found where that part is long.
    let most = if run.left_out.is_some() { MOST_TIME_OF_LONG_RUNS } else { MOST_TIME };
    let time = left.map_or(most, |left| most.min(left - LEAST_TIME / 2));
    let replayed = harness::replay(task, recipe, run, site, (*enclosure, time));
    Some(match keep.as_ref().map_or(Ok(()), |file| std::fs::write(file, replayed.harness)) {
        Ok(()) => replayed.outcome,
        Err(error) => Replay::NotReplayed { why: format!("the harness cannot be kept: {error}") },
    })
}

/// Why the compiled program cannot be watched for the rule of a property that a check is about.
fn unwatched(task: &Task, recipe: &Recipe, site: &ErrorSite) -> Option<String> {
    let ErrorKind::Violation(ViolationKind::Property(_)) = site.kind else { return None };
    let messages = task.program.violation(site.node).and_then(|violation| violation.messages.as_deref());
    if messages.is_some_and(|messages| messages.at_exit) {
        return Some("what is left undone when the program ends does not show in a run".to_owned());
    }
    match &recipe.monitor {
        Some(monitor) if recipe.pointer_bits == 64 => monitor.unavailable.clone(),
        Some(_) => Some("calls are watched in programs with 64-bit pointers only".to_owned()),
        None => Some("there are no rules to watch it by".to_owned()),
    }
}

/// Why a failing run does not count after its replay, if it does not.
fn contradiction(task: &Task, run: &FailingRun, outcome: Option<&Replay>) -> Option<Why> {
    let why = match outcome {
        Some(Replay::Confirmed { .. }) => return None,
        Some(Replay::NotConfirmed { why }) => return Some(Why::NotConfirmed(why.clone())),
        Some(Replay::NotReplayed { why }) => why.clone(),
        None => "it was not replayed".to_owned(),
    };
    // Where whole objects count, an index outside of an array inside of one is no violation, and
    // only the compiled program tells the two apart.
    let site = task.checks.get(run.target);
    let is_index = site.is_some_and(|site| {
        let violation = task.program.violation(site.node);
        site.kind == ErrorKind::Violation(ViolationKind::Bounds)
            && violation.is_none_or(|violation| violation.text != OUTSIDE_OF_OBJECT)
    });
    if let (true, Compilation::Compiled(recipe)) = (is_index, &task.compilation) {
        if recipe.whole_objects {
            return Some(Why::NotDecided(format!(
                "a failing run was found, but whether it leaves the whole object is not confirmed ({why})"
            )));
        }
    }
    // A run that was not seen need not exist if it depends on a value that is approximated: floats,
    // shifts that are too wide, inline assembly, functions of the C library that are not modelled.
    if !task.is_c() {
        return None;
    }
    let open = match run.schedule {
        // What a step of another thread depends on is not followed: every such step counts.
        Some(_) => run.path.iter().copied().find(|edge| task.approximations.contains(edge))?,
        None => harness::rests_on_approximation(task, run)?,
    };
    Some(Why::ValueLeftOpen { at: task.program.edge(open).span, why })
}

/// What speaks against all proofs about a program.
pub fn doubts(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    (session, budget): (&Session, &Budget),
) -> Option<Why> {
    unsupported(task, engines, (session, budget)).or_else(|| other_doubts(task, engines, (session, budget)))
}

/// A place that is not modelled and that runs may come to.
fn unsupported(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    (session, budget): (&Session, &Budget),
) -> Option<Why> {
    let first = task.unsupported.first()?;
    let site = |place: &Unsupported| ErrorSite { node: place.node, kind: ErrorKind::Assertion };
    let why = |place: &Unsupported, reached| Why::Unsupported { what: place.words(&task.program), reached };
    let nodes = task.unsupported.iter().map(|place| place.node).collect();
    if let Some(reached) = reached_of(task, &nodes, session, budget) {
        let place = task.unsupported.iter().find(|place| reached.contains(&place.node));
        return place.map(|place| why(place, true));
    }
    let asked = task.with_checks(task.unsupported.iter().map(site).collect());
    let mut answer = portfolio(&asked, engines, Extent::FirstFailure, session, budget);
    check_unrollings(&mut answer, &asked, session, budget);
    match answer.decision() {
        Overall::Safe => None,
        Overall::Unsafe(run) => Some(why(task.unsupported.get(run.target).unwrap_or(first), true)),
        Overall::Unknown(_) => {
            let open = answer.verdicts.iter().position(|verdict| verdict.proof().is_none());
            Some(why(open.and_then(|at| task.unsupported.get(at)).unwrap_or(first), false))
        }
    }
}

/// The facts under which no proof holds, or those of them that are about one thing.
fn doubts_in_words(task: &Task, about: Option<About>) -> Option<Why> {
    let counts = |doubt: &&Assumption| about.is_none_or(|about| doubt.about == about);
    let doubts = task.doubts.iter().filter(counts).map(|doubt| doubt.words(&task.program));
    let doubts: Vec<String> = doubts.collect();
    (!doubts.is_empty()).then_some(Why::Doubts(doubts))
}

/// What else speaks against them.
fn other_doubts(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    (session, budget): (&Session, &Budget),
) -> Option<Why> {
    if let Some(why) = doubts_in_words(task, None) {
        return Some(why);
    }
    // In other languages, a step with such an index does not exist.
    if !task.is_c() || task.checks_bounds {
        return None;
    }
    let checked = (*task.program).clone().with_bounds_checks();
    let is_new = |site: &ErrorSite| {
        let before = task.program.procedure(site.node.procedure).locations.len();
        site.node.location.0 as usize >= before
    };
    let sites = checked.targets(&TargetChoice::Default).unwrap_or_default();
    let sites: Vec<ErrorSite> = sites.into_iter().filter(is_new).collect();
    if sites.is_empty() {
        return None;
    }
    let bounds = Task { program: Arc::new(checked), checks: sites, ..task.clone() };
    let out_of_bounds = |site: &ErrorSite| Why::OutOfBounds(bounds.program.location(site.node).span);
    let nodes = bounds.checks.iter().map(|site| site.node).collect();
    if let Some(reached) = reached_of(&bounds, &nodes, session, budget) {
        return bounds.checks.iter().find(|site| reached.contains(&site.node)).map(out_of_bounds);
    }
    // Some engines prove only: a run to such an index would not be found.
    let mut engines = engines.to_vec();
    if !engines.iter().any(|engine| engine.name() == EngineName::Bounded) {
        engines.insert(0, Arc::new(BoundedChecking));
    }
    let answer = portfolio(&bounds, &engines, Extent::FirstFailure, session, budget);
    match answer.decision() {
        Overall::Unsafe(run) => Some(out_of_bounds(&bounds.checks[run.target])),
        Overall::Safe | Overall::Unknown(_) => None,
    }
}

/// Has proofs by unrolling checked by code that shares nothing with the engine.
fn check_unrollings(answer: &mut Answer, task: &Task, session: &Session, budget: &Budget) {
    let mut seen: Vec<(Arc<Evidence>, Verdict)> = Vec::new();
    for at in 0..answer.verdicts.len() {
        let Verdict::Safe(proof) = &answer.verdicts[at] else { continue };
        let ProofKind::Unrolling { bound, program } = &proof.evidence.kind else { continue };
        let known = seen.iter().find(|(evidence, _)| Arc::ptr_eq(evidence, &proof.evidence));
        if let Some((_, verdict)) = known {
            answer.verdicts[at] = verdict.clone();
            continue;
        }
        // One proof is about all checks that have it.
        let evidence = proof.evidence.clone();
        let same =
            |verdict: &&Verdict| verdict.proof().is_some_and(|proof| Arc::ptr_eq(&proof.evidence, &evidence));
        let checks = answer.verdicts.iter().zip(&task.checks).filter(|(verdict, _)| same(verdict));
        let checks: Vec<ErrorSite> = checks.map(|(_, site)| site.clone()).collect();
        let verdict = match unrolled_proof::check(program, &checks, *bound, &session.prover, budget) {
            Opinion::Accepted => accepted(proof, ProofCheck::Accepted(session.prover.command_line())),
            Opinion::Refuted(why) => Verdict::Unknown(Why::Refuted(why)),
            Opinion::Undecided(why) => match session.prover.command_line() {
                Some(solver) => Verdict::Unknown(Why::NotAccepted { solver, why }),
                None => accepted(proof, ProofCheck::Undecided(why)),
            },
        };
        seen.push((evidence, verdict.clone()));
        answer.verdicts[at] = verdict;
    }
}

fn accepted(proof: &Proof, checked: ProofCheck) -> Verdict {
    let evidence = Arc::new(Evidence { checked, ..(*proof.evidence).clone() });
    Verdict::Safe(Proof { evidence, reached: proof.reached.clone() })
}

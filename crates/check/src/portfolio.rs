//! Several engines side by side, until every check is decided or the budget is spent.
//!
//! No engine is the best for all programs ([Kie05] §6.2 and §6.5; decision 0010), so those that
//! suit a program run on threads of their own, and the first answer counts. A failing run decides
//! one check: the engines are asked again about the others. Checks that are not decided together
//! are asked about one by one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use wherefore_flow::LoopFacts;
use wherefore_program::{EdgeRef, ErrorKind, Node, ProcedureId, Task, Var};
use wherefore_pushdown::StopReason;

use crate::budget::Budget;
use crate::engine::{Engine, Session, Settling, Told};
use crate::sliced::{Followed, Provided, Sliced};
use crate::threads::Covered;
use crate::verdict::{Answer, Cause, EngineName, Evidence, Facts, ProofKind, Stopped, Verdict, Why};
use crate::watch::Watch;

/// Which checks are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of them, as far as the budget goes.
    #[default]
    EveryCheck,
    /// The search ends with the first failing run.
    FirstFailure,
}

/// Engines start one after the other with this delay: many small programs are decided by then.
const HEAD_START: Duration = Duration::from_millis(1);

/// The third and later ones wait longer: there are more of them than processors on many machines,
/// and most programs are decided by then.
const LATE_START: Duration = Duration::from_millis(150);

/// If another engine finds a failing run first, exact checking gets at least this long to find a
/// shortest one, and the verdicts on all other checks.
const LEAST_GRACE: Duration = Duration::from_millis(50);

/// Without a time limit, open checks are asked about together for this long before they are asked
/// about one by one; then for twice as long.
const FIRST_SLICE: Duration = Duration::from_secs(30);

/// Without a time limit, the search for further failures gets ten times the time of the first one,
/// and at least this long.
const LEAST_REST: Duration = Duration::from_secs(10);

/// If a failing run of a slice cannot be followed, the whole program is asked about for ten times
/// as long as the slice took, and at least for this long.
const LEAST_WHOLE: Duration = Duration::from_secs(2);
/// How many steps are kept of a run that leaves something out.
const MOST_STEPS: usize = 500;

/// What was done to a program before engines are asked, and what is known about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared {
    /// What engines may assume at the heads of loops.
    pub facts: LoopFacts,
    /// Whose steps failing runs must have.
    pub runs: Runs,
}

/// Whose steps failing runs must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Runs {
    /// A run may leave out what provably ends.
    #[default]
    OfSlices,
    /// All steps of the program are needed, since its memory was split and is put together again.
    OfProgram,
}

/// Decides the checks of a task with the engines that take it.
pub fn portfolio(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    extent: Extent,
    session: &Session,
    budget: &Budget,
) -> Answer {
    portfolio_prepared(&Prepared::default(), task, engines, extent, (session, budget))
}

/// The same for a program that was prepared.
pub(crate) fn portfolio_prepared(
    prepared: &Prepared,
    task: &Task,
    engines: &[Arc<dyn Engine>],
    extent: Extent,
    (session, budget): (&Session, &Budget),
) -> Answer {
    let count = task.checks.len();
    let mut suitable: Vec<Arc<dyn Engine>> = Vec::new();
    let mut refusal = None;
    for engine in engines {
        match engine.takes(task) {
            Ok(()) => suitable.push(engine.clone()),
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    if let (true, Some(error)) = (suitable.is_empty(), refusal) {
        return Answer::uniform(count, &Verdict::Unknown(Why::NotTaken(error)));
    }
    let mut search = Search {
        task,
        prepared,
        engines: &suitable,
        session,
        budget: budget.clone(),
        begin: Instant::now(),
        verdicts: vec![Verdict::Unknown(Why::NotAsked); count],
        open: (0..count).collect(),
        facts: Facts::default(),
    };
    suitable.iter().for_each(|engine| engine.begin(task, budget));
    search.run(extent);
    suitable.iter().for_each(|engine| engine.end());
    Answer { verdicts: search.verdicts, facts: search.facts }
}

/// The search for verdicts on all checks.
struct Search<'a> {
    task: &'a Task,
    prepared: &'a Prepared,
    engines: &'a [Arc<dyn Engine>],
    session: &'a Session,
    budget: Budget,
    begin: Instant,
    verdicts: Vec<Verdict>,
    /// The checks that are not decided.
    open: Vec<usize>,
    facts: Facts,
}

impl Search<'_> {
    /// Decides what the program itself checks, and then the rules of the language: these are many,
    /// and one that is not decided must not cost the others their verdicts.
    fn run(&mut self, extent: Extent) {
        let is_rule = |at: &usize| matches!(self.task.checks[*at].kind, ErrorKind::Violation(_));
        let (rules, own): (Vec<usize>, Vec<usize>) = self.open.iter().copied().partition(is_rule);
        if rules.is_empty() || own.is_empty() {
            return self.decide(extent);
        }
        let all = self.budget.clone();
        if all.deadline.is_some() {
            self.budget = all.share(2);
        }
        self.open = own;
        self.decide(extent);
        if extent == Extent::FirstFailure && self.verdicts.iter().any(|verdict| verdict.run().is_some()) {
            return;
        }
        let late: Vec<usize> = self.open.iter().copied().filter(|at| self.is_late(*at)).collect();
        self.budget = all.clone();
        self.open = rules;
        self.decide(extent);
        // The time that the rules did not need.
        if all.deadline.is_some() && all.stopped().is_none() && !late.is_empty() {
            self.budget = all;
            self.open = late;
            self.decide(extent);
        }
    }

    fn decide(&mut self, extent: Extent) {
        if self.task.program.uses_threads().is_some() {
            return self.by_one_search(extent);
        }
        let mut slice = FIRST_SLICE;
        while !self.open.is_empty() {
            let before = self.open.len();
            self.together(extent, slice);
            let has_failed = self.verdicts.iter().any(|verdict| verdict.run().is_some());
            if extent == Extent::FirstFailure || self.open.len() <= 1 && before <= 1 {
                return;
            }
            if has_failed && self.budget.deadline.is_none() {
                self.budget = self.budget.within((self.begin.elapsed() * 10).max(LEAST_REST));
            }
            self.one_by_one(slice);
            if self.budget.stopped().is_some() {
                return;
            }
            let has_time = self.budget.deadline.is_none() && self.open.iter().any(|at| self.is_late(*at));
            if self.open.len() == before && !has_time {
                return;
            }
            slice = slice.saturating_mul(2);
        }
    }

    /// One search through schedules answers for all checks. It is made again for those that were not
    /// asked about because others fail.
    fn by_one_search(&mut self, extent: Extent) {
        loop {
            let asked = self.open.clone();
            let budget = self.budget.clone();
            self.ask(&asked, &budget);
            let is_left = |at: &usize| matches!(self.verdicts[*at], Verdict::Unknown(Why::NotAsked));
            let has_more = self.open.len() < asked.len() && self.open.iter().any(is_left);
            if !has_more || extent == Extent::FirstFailure {
                return;
            }
            if self.budget.deadline.is_none() {
                self.budget = self.budget.within((self.begin.elapsed() * 10).max(LEAST_REST));
            }
        }
    }

    /// Asks about all open checks at once, again after each failing run.
    fn together(&mut self, extent: Extent, slice: Duration) {
        loop {
            let budget = match (extent, self.open.len(), self.budget.deadline) {
                (Extent::FirstFailure, ..) | (_, 0 | 1, _) => self.budget.clone(),
                (_, _, Some(_)) => self.budget.share(2),
                (_, _, None) => self.budget.within(slice),
            };
            let asked = self.open.clone();
            let before = asked.len();
            self.ask(&asked, &budget);
            let has_failed = self.verdicts.iter().any(|verdict| verdict.run().is_some());
            if self.open.is_empty()
                || self.open.len() == before
                || extent == Extent::FirstFailure && has_failed
            {
                return;
            }
            if self.budget.deadline.is_none() {
                self.budget = self.budget.within((self.begin.elapsed() * 10).max(LEAST_REST));
            }
        }
    }

    fn one_by_one(&mut self, slice: Duration) {
        let mut left = self.open.clone();
        while let Some(check) = left.pop() {
            if self.budget.stopped().is_some() {
                return;
            }
            let parts = u32::try_from(left.len() + 1).unwrap_or(u32::MAX);
            let budget = match self.budget.deadline {
                Some(_) => self.budget.share(parts),
                None => self.budget.within(slice),
            };
            self.ask(&[check], &budget);
        }
    }

    /// Asks the engines about some checks, and notes what they decide.
    fn ask(&mut self, checks: &[usize], budget: &Budget) {
        let answer = self.answer(checks, budget);
        let is_definite = answer.verdicts.iter().any(Verdict::is_definite);
        let fails = |verdict: &Verdict| verdict.run().is_some();
        let is_first_failure = answer.verdicts.iter().any(fails) && !self.verdicts.iter().any(fails);
        for (at, verdict) in checks.iter().zip(answer.verdicts) {
            self.verdicts[*at] = match verdict {
                Verdict::Unsafe(mut run) => {
                    run.target = *at;
                    Verdict::Unsafe(run)
                }
                other => other,
            };
        }
        self.open.retain(|at| {
            !matches!(
                self.verdicts[*at],
                Verdict::Safe(_) | Verdict::Unsafe(_) | Verdict::Unknown(Why::Provided(_))
            )
        });
        // The first engine that finds a failing run is the one that is named, or the first that
        // decides something.
        if self.facts.by.is_none() || is_first_failure {
            self.facts = answer.facts;
            if !is_definite {
                self.facts.by = None;
            }
        }
    }

    /// What the engines say about some checks: on the slice for them, and on the whole program about
    /// those whose failing runs the slice does not show.
    fn answer(&self, checks: &[usize], budget: &Budget) -> Answer {
        let task_of = |checks: &mut dyn Iterator<Item = usize>| {
            self.task.with_checks(checks.map(|at| self.task.checks[at].clone()).collect())
        };
        let task = task_of(&mut checks.iter().copied());
        let Some(sliced) = Sliced::new(&task, &self.session.prover) else {
            let asked = Asked::new(&task, &self.prepared.facts, |_, _| true);
            return asked.with_bounds(race(&asked, self.engines, self.session, budget));
        };
        let begin = Instant::now();
        let asked = Asked::new(&sliced.task, &self.prepared.facts, |procedure, variable| {
            sliced.slice.keeps(procedure, variable)
        });
        let found = asked.with_bounds(race(&asked, self.engines, self.session, budget));
        let Followed { mut answer, mut provided } = sliced.follow(found, self.prepared.runs);
        // Where the slice fails soon, the program does so soon or behind much that does not matter.
        let budget = budget.within((begin.elapsed() * 10).max(LEAST_WHOLE));
        if self.prepared.runs == Runs::OfSlices {
            let matters = |edge: EdgeRef| {
                task.approximations.contains(&edge) || task.inputs.iter().any(|input| input.edge == edge)
            };
            for mut provided in provided.extract_if(.., |provided| sliced.ends(&provided.run, &budget)) {
                provided.run.shorten(MOST_STEPS, matters);
                answer.verdicts[provided.check] = Verdict::Unsafe(provided.run);
            }
        }
        if provided.is_empty() {
            return answer;
        }
        let task = task_of(&mut provided.iter().map(|provided| checks[provided.check]));
        let asked = Asked::new(&task, &self.prepared.facts, |_, _| true);
        let whole = asked.with_bounds(race(&asked, self.engines, self.session, &budget));
        answer.facts = whole.facts;
        for (Provided { check, parts, .. }, verdict) in provided.into_iter().zip(whole.verdicts) {
            answer.verdicts[check] = match verdict {
                Verdict::Unknown(_) if !parts.is_empty() => Verdict::Unknown(Why::Provided(parts)),
                other => other,
            };
        }
        answer
    }

    /// Whether a check is open because time was over.
    fn is_late(&self, check: usize) -> bool {
        match &self.verdicts[check] {
            Verdict::Unknown(Why::Limit(StopReason::Time)) => true,
            Verdict::Unknown(Why::Undecided(list)) => {
                list.iter().any(|stopped| stopped.cause == Cause::Limit(StopReason::Time))
            }
            _ => false,
        }
    }
}

/// A task as engines see it.
struct Asked {
    plain: Task,
    /// The same where what is known at the heads of loops is assumed there. Bounded checking and
    /// random runs have no use for it: it only makes iterations longer.
    knowing: Task,
    /// The same in words; none if nothing is known.
    bounds: Option<Vec<(Node, String)>>,
}

impl Asked {
    fn new(task: &Task, known: &LoopFacts, keeps: impl Fn(ProcedureId, Var) -> bool) -> Self {
        match known.assumed(&task.program, &keeps) {
            Some(program) => {
                let knowing = Task { program: Arc::new(program), ..task.clone() };
                Self { plain: task.clone(), knowing, bounds: Some(known.in_words(keeps)) }
            }
            None => Self { plain: task.clone(), knowing: task.clone(), bounds: None },
        }
    }

    /// What engines say, with the bounds that their invariants rest on.
    fn with_bounds(&self, mut answer: Answer) -> Answer {
        for verdict in answer.verdicts.iter_mut().filter(|_| self.bounds.is_some()) {
            if let Verdict::Safe(proof) = verdict
                && let ProofKind::Invariants { holds, .. } = &proof.evidence.kind
            {
                let kind = ProofKind::Invariants { holds: holds.clone(), bounds: self.bounds.clone() };
                proof.evidence = Arc::new(Evidence { kind, ..(*proof.evidence).clone() });
            }
        }
        answer
    }

    fn of(&self, engine: &dyn Engine) -> &Task {
        if engine.wants_facts() { &self.knowing } else { &self.plain }
    }
}

/// Asks engines side by side. The losers are asked to stop, but not waited for: a single operation
/// can take long, and their threads end with the process at the latest.
fn race(asked: &Asked, engines: &[Arc<dyn Engine>], session: &Session, budget: &Budget) -> Answer {
    if budget.work.is_some() {
        return one_after_the_other(asked, engines, session, budget);
    }
    let task = &asked.plain;
    let begin = Instant::now();
    let session = session.fresh();
    let mut watch = Watch::new(budget);
    let budget = budget.cancelled_by(&watch.cancel);
    let count = task.checks.len();
    let (send, receive) = mpsc::channel::<Told>();
    let settled: Arc<Vec<AtomicBool>> = Arc::new((0..count).map(|_| AtomicBool::new(false)).collect());
    for (i, engine) in engines.iter().enumerate() {
        let settling = Settling { send: send.clone(), settled: settled.clone() };
        let (send, engine, session) = (send.clone(), engine.clone(), session.settling(settling));
        let (task, budget) = (asked.of(&*engine).clone(), budget.clone());
        std::thread::spawn(move || {
            let answer = match wait(i, &budget) {
                None => engine.decide(&task, &session, &budget),
                Some(stop) => {
                    let cause = Cause::Limit(stop);
                    let stopped = Stopped { engine: engine.name(), cause, bound: None, excluded: 0 };
                    Answer::uniform(task.checks.len(), &Verdict::Unknown(Why::Undecided(vec![stopped])))
                }
            };
            let _ = send.send(Told::Answer(engine.name(), Box::new(answer)));
        });
    }
    drop(send);
    let mut race = Decided { verdicts: vec![None; count], facts: None };
    let mut answers: Vec<(EngineName, Answer)> = Vec::new();
    let mut has_failed = None;
    while let Some(told) = watch.next(&receive) {
        match told {
            Told::Verdict(check, by, verdict) => {
                race.note(check, &verdict, &Facts { by: Some(by), ..Facts::default() });
                settled[check].store(true, Ordering::Relaxed);
            }
            Told::Answer(name, answer) => {
                has_failed = answer.verdicts.iter().any(|verdict| verdict.run().is_some()).then_some(name);
                race.note_all(&answer);
                for (settled, verdict) in settled.iter().zip(&race.verdicts) {
                    settled.store(verdict.is_some(), Ordering::Relaxed);
                }
                answers.push((name, *answer));
            }
        }
        // Behind a failing run, the engines are asked anew about the other checks.
        if has_failed.is_some() || race.verdicts.iter().all(Option::is_some) {
            break;
        }
    }
    let exact_runs = engines.iter().any(|engine| engine.name() == EngineName::Exact);
    if has_failed.is_some_and(|name| name != EngineName::Exact) && exact_runs {
        let grace = begin.elapsed().mul_f64(0.4).max(LEAST_GRACE);
        if let Ok(Told::Answer(_, better)) = receive.recv_timeout(grace) {
            if better.verdicts.iter().any(Verdict::is_definite) {
                race = Decided { verdicts: vec![None; count], facts: None };
                race.note_all(&better);
            }
        }
    }
    watch.cancel.store(true, Ordering::Relaxed);
    if race.verdicts.iter().all(Option::is_none) {
        return undecided(task, engines, answers, &watch, &session);
    }
    let rest = match race.verdicts.iter().any(Option::is_none) {
        true if has_failed.is_some() => vec![Verdict::Unknown(Why::NotAsked); count],
        true => undecided(task, engines, answers, &watch, &session).verdicts,
        false => Vec::new(),
    };
    race.answer(rest)
}

/// The verdicts of a race so far.
struct Decided {
    verdicts: Vec<Option<Verdict>>,
    /// The facts of the answer that was first to show a failing run, or to decide something.
    facts: Option<Facts>,
}

impl Decided {
    /// Notes a verdict, if it is the first one on its check.
    fn note(&mut self, check: usize, verdict: &Verdict, facts: &Facts) {
        if verdict.is_definite() && self.verdicts[check].is_none() {
            let is_first_failure =
                verdict.run().is_some() && !self.verdicts.iter().flatten().any(|other| other.run().is_some());
            self.verdicts[check] = Some(verdict.clone());
            if self.facts.is_none() || is_first_failure {
                self.facts = Some(facts.clone());
            }
        }
    }

    fn note_all(&mut self, answer: &Answer) {
        for (check, verdict) in answer.verdicts.iter().enumerate() {
            self.note(check, verdict, &answer.facts);
        }
    }

    /// The answer, with other verdicts where there is none.
    fn answer(self, rest: Vec<Verdict>) -> Answer {
        let mut rest = rest.into_iter();
        let verdicts = self.verdicts.into_iter();
        let verdicts = verdicts.map(|verdict| {
            let other = rest.next().unwrap_or(Verdict::Unknown(Why::NotAsked));
            verdict.unwrap_or(other)
        });
        Answer { verdicts: verdicts.collect(), facts: self.facts.unwrap_or_default() }
    }
}

/// Waits until it is an engine's turn; the limit that was met by then, if one was.
fn wait(place: usize, budget: &Budget) -> Option<StopReason> {
    match place {
        0 => return None,
        1 => std::thread::sleep(HEAD_START),
        _ => {
            let begin = Instant::now();
            while begin.elapsed() < LATE_START && budget.stopped().is_none() {
                std::thread::sleep(LATE_START / 30);
            }
        }
    }
    budget.stopped().filter(|_| place >= 2)
}

/// Asks engines one after the other, each for a part of the work: which one is faster on this
/// machine does not matter then.
fn one_after_the_other(
    asked: &Asked,
    engines: &[Arc<dyn Engine>],
    session: &Session,
    budget: &Budget,
) -> Answer {
    let session = session.fresh();
    let mut answers: Vec<(EngineName, Answer)> = Vec::new();
    for (i, engine) in engines.iter().enumerate() {
        // The third gets what the first two leave.
        let parts = u32::try_from(engines.len().min(2).saturating_sub(i)).unwrap_or(1);
        let answer = engine.decide(asked.of(&**engine), &session, &budget.share(parts));
        if answer.verdicts.iter().any(Verdict::is_definite) {
            return answer;
        }
        answers.push((engine.name(), answer));
    }
    undecided(&asked.plain, engines, answers, &Watch::new(budget), &session)
}

/// The answer if no engine has decided anything: how far each of them came.
fn undecided(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    answers: Vec<(EngineName, Answer)>,
    watch: &Watch,
    session: &Session,
) -> Answer {
    let late = engines.iter().map(|engine| engine.name());
    let late = late.filter(|name| answers.iter().all(|(other, _)| other != name));
    let mut stopped: Vec<Stopped> = Vec::new();
    let mut limit = None;
    for engine in late {
        // Without a limit, its thread has ended without an answer.
        let cause = watch.stopped().map_or(Cause::Failed, Cause::Limit);
        if let (
            EngineName::Explicit | EngineName::Eager | EngineName::Events | EngineName::Modular,
            Cause::Limit(stop),
        ) = (engine, &cause)
        {
            let covered = Covered { switches: session.switches(), ..Covered::default() };
            limit = Some(Why::Switches { covered, stop: Some(*stop) });
        }
        let bound = session.bound().filter(|_| engine == EngineName::Bounded);
        stopped.push(Stopped { engine, cause, bound, excluded: session.excluded() });
    }
    let mut facts = Facts::default();
    for (_, answer) in answers {
        facts.bound = facts.bound.max(answer.facts.bound);
        facts.refinement = answer.facts.refinement.or(facts.refinement);
        facts.size = answer.facts.size.or(facts.size);
        match answer.verdicts.into_iter().find(|verdict| !verdict.is_definite()) {
            Some(Verdict::Unknown(Why::Undecided(list))) => stopped.extend(list),
            Some(Verdict::Unknown(why)) => limit = limit.or(Some(why)),
            _ => {}
        }
    }
    // That there are several runs says nothing about how far the others came.
    if stopped.len() > 1 {
        stopped.retain(|one| one.cause != Cause::TakesInput);
    }
    facts.bound = facts.bound.max(stopped.iter().filter_map(|one| one.bound).max());
    let why = match (watch.stopped(), limit) {
        (Some(stop @ StopReason::Memory), _) => Why::Limit(stop),
        (_, Some(why)) if stopped.iter().all(|one| one.engine != EngineName::Bounded) => why,
        _ => {
            stopped.sort_by_key(|one| one.engine != EngineName::Bounded);
            Why::Undecided(stopped)
        }
    };
    Answer { verdicts: vec![Verdict::Unknown(why); task.checks.len()], facts }
}

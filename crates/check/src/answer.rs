//! The front door: one question about a task, and the answer that users read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wherefore_program::Task;

use crate::bounded::BoundedChecking;
use crate::budget::Budget;
use crate::confirm::{Replaying, confirm};
use crate::data_flow::Discharged;
use crate::engine::{Engine, Session};
use crate::enumeration::Enumeration;
use crate::exact::{Exact, Search};
use crate::induction::{Induction, Way};
use crate::portfolio::{Extent, portfolio_prepared};
use crate::random_runs::RandomRuns;
use crate::reached::mark_reached;
use crate::refinement::diagrams::DiagramRefinement;
use crate::refinement::diagrams::interpolants::Heuristic;
use crate::refinement::solver::SolverRefinement;
use crate::single_run::{SingleRun, first_look};
use crate::small_values::SmallValues;
use crate::threads::ScheduleSearch;
use crate::verdict::{Answer, EngineName, Facts, FailingRun, Verdict, Why};

/// How a task is decided.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which engines are asked.
    pub engine: EngineChoice,
    /// Which interpolants become predicates, in refinement with decision diagrams.
    pub heuristic: Option<Heuristic>,
    /// From which end exact checking searches.
    pub search: Search,
    /// Which checks are decided.
    pub extent: Extent,
    /// Whether failing runs are replayed by the compiled program.
    pub replaying: Replaying,
    /// How schedules are searched, if there are threads; none refuses them.
    pub schedules: Option<ScheduleSearch>,
    /// Whether proofs are shown to people: engines whose proofs have nothing to show start later.
    pub shows_proofs: bool,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            engine: EngineChoice::default(),
            heuristic: None,
            search: Search::default(),
            extent: Extent::default(),
            replaying: Replaying::default(),
            schedules: Some(ScheduleSearch::default()),
            shows_proofs: false,
        }
    }
}

/// Which engines are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// Those that suit the program, side by side.
    #[default]
    Auto,
    /// Decision diagrams over all of the data.
    Exact,
    /// Abstraction refinement: with decision diagrams if the data are finite and small, else with a
    /// solver.
    Refinement,
    /// All runs with a bounded number of iterations of each loop.
    Bounded,
    /// Runs with random inputs.
    Random,
    /// Those whose proofs are invariants: refinement and induction.
    Invariants,
    /// k-induction from facts.
    Induction,
    /// Property-directed reachability from facts.
    Reachability,
    /// Decision diagrams over variables that take few values.
    SmallValues,
    /// All states one by one, as far as constants go.
    States,
    /// The run of a program that takes no input.
    SingleRun,
}

/// How long engines with proofs to show are alone, if proofs are shown.
const SHOWN_FIRST: Duration = Duration::from_secs(2);

/// The question whether runs come to a check may take this much longer than the verdict did.
const REACHED_TIME: Duration = Duration::from_millis(500);

/// With a time limit, so much of it is kept for replays and second looks, or an eighth.
const MOST_CONFIRMING: Duration = Duration::from_secs(4);

impl Question {
    /// The engines that are asked about a task: this follows from the program, not from its
    /// language.
    pub fn engines(&self, task: &Task) -> Vec<Arc<dyn Engine>> {
        if let (Some(search), Some(_)) = (self.schedules, task.program.uses_threads()) {
            return vec![Arc::new(search)];
        }
        let by_diagrams = task.program.has_small_data();
        let exact = || Arc::new(Exact { search: self.search });
        let diagrams = || Arc::new(DiagramRefinement { heuristic: self.heuristic });
        let solver = || Arc::new(SolverRefinement::default());
        match (self.engine, by_diagrams) {
            (EngineChoice::Exact, _) => vec![exact()],
            (EngineChoice::Bounded, _) => vec![Arc::new(BoundedChecking)],
            (EngineChoice::Random, _) => vec![Arc::new(RandomRuns::default())],
            (EngineChoice::Invariants, false) => vec![solver(), Arc::new(Induction { way: Way::Both })],
            (EngineChoice::Induction, _) => vec![Arc::new(Induction { way: Way::Deep })],
            (EngineChoice::SingleRun, _) => vec![Arc::new(SingleRun)],
            (EngineChoice::States, _) => vec![Arc::new(Enumeration::default())],
            (EngineChoice::Reachability, _) => vec![Arc::new(Induction { way: Way::Directed })],
            (EngineChoice::SmallValues, _) => vec![Arc::new(SmallValues::default())],
            // Arrays of small numbers can be large, and sums of their elements have large diagrams.
            (EngineChoice::Auto, true) if task.is_c() => {
                let run = Arc::new(SingleRun);
                vec![exact(), diagrams(), Arc::new(BoundedChecking), solver(), run]
            }
            (EngineChoice::Auto, true) => vec![exact(), diagrams()],
            (EngineChoice::Auto, false) => {
                let wait = if self.shows_proofs { SHOWN_FIRST } else { Duration::ZERO };
                let (values, random) = (SmallValues { parts: 3, wait }, Arc::new(RandomRuns::default()));
                let induction = Arc::new(Induction { way: Way::Both });
                let states = Arc::new(Enumeration::starting_after(wait));
                let run = Arc::new(SingleRun);
                vec![Arc::new(BoundedChecking), solver(), Arc::new(values), induction, random, states, run]
            }
            (EngineChoice::Refinement | EngineChoice::Invariants, true) => {
                let heuristic = self.heuristic.or(Some(Heuristic::default()));
                vec![Arc::new(DiagramRefinement { heuristic })]
            }
            (EngineChoice::Refinement, false) => vec![solver()],
        }
    }
}

/// Decides the checks of a task. This is what the command `check` prints: failing runs have been
/// replayed, proofs checked, and what speaks against a verdict has made it *unknown*.
///
/// ```
/// use wherefore_check::{Budget, Overall, Question, Session, answer};
/// use wherefore_frontend::{Language, parse};
///
/// let text = "void main() begin decl x; assert(x | !x); end";
/// let task = parse(Language::Boolean, "tiny.bp", text, None).unwrap();
/// let answer = answer(&task, &Question::default(), &Session::default(), &Budget::default());
/// assert!(matches!(answer.decision(), Overall::Safe));
/// ```
pub fn answer(task: &Task, question: &Question, session: &Session, budget: &Budget) -> Answer {
    let begin = Instant::now();
    let engines = question.engines(task);
    // What is found must still be confirmed.
    let search = budget.left().map_or_else(
        || budget.clone(),
        |left| budget.within(left.saturating_sub(MOST_CONFIRMING.min(left / 8))),
    );
    let found = match question.engine {
        EngineChoice::Auto => looked_at(task, &engines, question, (session, &search)),
        _ => searched(task, &engines, question.extent, (session, &search)),
    };
    let taken = begin.elapsed();
    let mut answer = confirm(found, task, &engines, &question.replaying, (session, budget), taken);
    if question.extent == Extent::EveryCheck
        && answer.verdicts.iter().any(|verdict| verdict.proof().is_some())
    {
        let engines = Question { engine: EngineChoice::Auto, ..question.clone() }.engines(task);
        let budget = budget.within(taken.min(REACHED_TIME) + REACHED_TIME);
        mark_reached(&mut answer, task, &engines, &Session::default(), &budget);
    }
    debug_assert!(answer.verdicts.iter().all(|verdict| match verdict {
        Verdict::Unsafe(run) => run.target < task.checks.len(),
        _ => true,
    }));
    answer
}

/// What a look at the only run of a task finds, and data flow and engines about the checks that it
/// leaves.
fn looked_at(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    question: &Question,
    (session, budget): (&Session, &Budget),
) -> Answer {
    let fails =
        |verdicts: &[Option<Verdict>]| verdicts.iter().flatten().any(|verdict| verdict.run().is_some());
    let seen = first_look(task, session, budget);
    // That a run was made to its end is no proof to show.
    let seen = seen.filter(|verdicts| !question.shows_proofs || fails(verdicts));
    let seen = seen.unwrap_or_else(|| vec![None; task.checks.len()]);
    let left: Vec<usize> = (0..task.checks.len()).filter(|at| seen[*at].is_none()).collect();
    if left.len() == task.checks.len() {
        return searched(task, engines, question.extent, (session, budget));
    }
    let is_enough = left.is_empty() || question.extent == Extent::FirstFailure && fails(&seen);
    let mut facts = Facts { by: Some(EngineName::SingleRun), ..Facts::default() };
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(seen.len());
    let mut others = Vec::new().into_iter();
    if !is_enough {
        let open = task.with_checks(left.iter().map(|at| task.checks[*at].clone()).collect());
        let found = searched(&open, engines, question.extent, (session, budget));
        if found.facts.by.is_some() && !fails(&seen) {
            facts = found.facts;
        }
        others = found.verdicts.into_iter();
    }
    for (at, verdict) in seen.into_iter().enumerate() {
        let verdict = verdict.or_else(|| others.next());
        verdicts.push(match verdict.unwrap_or(Verdict::Unknown(Why::NotAsked)) {
            Verdict::Unsafe(run) => Verdict::Unsafe(Box::new(FailingRun { target: at, ..*run })),
            other => other,
        });
    }
    Answer { verdicts, facts }
}

/// What data flow and engines find.
fn searched(
    task: &Task,
    engines: &[Arc<dyn Engine>],
    extent: Extent,
    (session, budget): (&Session, &Budget),
) -> Answer {
    let easy = Discharged::new(task, &session.prover);
    let mut found = portfolio_prepared(&easy.prepared, &easy.task, engines, extent, (session, budget));
    found.verdicts = easy.complete(task, found.verdicts);
    if easy.open.is_empty() && !easy.holds.is_empty() {
        found.facts.by = Some(EngineName::DataFlow);
    }
    found
}

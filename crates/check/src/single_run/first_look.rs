//! A look at the only run of a program, before anything else is found out about it.
//!
//! The run of a program that takes no input decides all checks. If the program takes input, but the
//! part that matters for the checks takes none, then this part ([`Sliced`]) has one run: checks that
//! it does not violate hold. Where it violates one, so does any run of the program that comes there,
//! and one is made with fixed inputs. Of a long run, only the last steps are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use wherefore_program::{Choices, ErrorKind, Interpreter, Node, Program, Stepped, Task, Trace};

use super::{Arrival, PACE, STEPS_OF_WORK, SingleRun, cells_of, follow, last_steps, proof};
use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::prover::Prover;
use crate::sliced::Sliced;
use crate::verdict::{Cause, EngineName, FailingRun, Verdict};

/// A look takes at most this long, and at most an eighth of the time.
const MOST_TIME: Duration = Duration::from_secs(2);

/// The part of a program that matters for its assertions is not looked for if there are more than
/// this: it would be most of the program.
const MOST_CHECKS: usize = 64;

/// Runs of more steps, or with more cells of state in all their steps, are not kept as a whole: of
/// them, the last steps are.
const MOST_STEPS: u64 = 100_000;
const MOST_CELLS: u64 = 1 << 24;
const LAST_STEPS: u64 = 500;

/// The inputs that are tried. The number of arguments of a program is not 0.
const INPUTS: [u64; 2] = [0, 1];

/// The verdicts on the checks of a task, as far as what matters for them takes no input, and its run
/// does not take long. On the rules of the language there are verdicts only if there is one run of
/// the whole program.
pub(crate) fn first_look(task: &Task, session: &Session, budget: &Budget) -> Option<Vec<Option<Verdict>>> {
    let look = for_a_look(task, session, budget)?;
    let checks: BTreeSet<Node> = task.checks.iter().map(|check| check.node).collect();
    if checks.is_empty() {
        return None;
    }
    let all: Vec<usize> = (0..task.checks.len()).collect();
    match follow(task, &checks, &look) {
        Ok(reached) => Some(verdicts(task, &all, &reached, budget)),
        Err(Cause::TakesInput) => {
            let is_own = |at: &usize| !matches!(task.checks[*at].kind, ErrorKind::Violation(_));
            let own: Vec<usize> = all.into_iter().filter(is_own).collect();
            if own.is_empty() || own.len() > MOST_CHECKS {
                return None;
            }
            let asked = task.with_checks(own.iter().map(|at| task.checks[*at].clone()).collect());
            let part = Sliced::new(&asked, &session.prover)?;
            let nodes = asked.checks.iter().map(|check| check.node).collect();
            let reached = follow(&part.task, &nodes, &look).ok()?;
            Some(verdicts(task, &own, &reached, budget))
        }
        Err(_) => None,
    }
}

/// The verdicts on some checks of a task, from where the run of what matters for them comes.
fn verdicts(
    task: &Task,
    asked: &[usize],
    reached: &BTreeMap<Node, Arrival>,
    budget: &Budget,
) -> Vec<Option<Verdict>> {
    let most_cells = MOST_CELLS / (reached.len().max(1) as u64);
    let mut verdicts = vec![None; task.checks.len()];
    for at in asked.iter().copied() {
        let node = task.checks[at].node;
        verdicts[at] = match reached.get(&node) {
            None => Some(Verdict::Safe(proof())),
            Some(arrival) => run_to(task, node, most_cells, budget)
                // Early steps may bring values of the model only, on which the end may depend.
                .filter(|(_, steps_left_out)| *steps_left_out == 0 || !arrival.rests_on_approximation)
                .map(|(trace, steps_left_out)| {
                    let run = FailingRun::of_trace(trace, at, EngineName::SingleRun);
                    Verdict::Unsafe(Box::new(FailingRun { steps_left_out, ..run }))
                }),
        };
    }
    verdicts
}

/// Those of some nodes that runs come to, if the program takes no input and its run does not take
/// long.
pub(crate) fn reached_of(
    task: &Task,
    nodes: &BTreeSet<Node>,
    session: &Session,
    budget: &Budget,
) -> Option<BTreeSet<Node>> {
    let look = for_a_look(task, session, budget)?;
    Some(follow(task, nodes, &look).ok()?.into_keys().collect())
}

/// The time for a look at a program; none if it is not to be looked at.
fn for_a_look(task: &Task, session: &Session, budget: &Budget) -> Option<Budget> {
    // Decision diagrams find shortest runs in other languages.
    let is_small = !task.is_c() && task.program.has_small_data();
    let is_taken = !is_small && SingleRun.takes(task).is_ok();
    let most = budget.left().map_or(MOST_TIME, |left| MOST_TIME.min(left / 8));
    (is_taken && session.prover == Prover::Embedded).then(|| budget.share(8).within(most))
}

/// A run to a node, and how many steps of its beginning are not kept.
fn run_to(task: &Task, end: Node, most_cells: u64, budget: &Budget) -> Option<(Trace, usize)> {
    INPUTS.into_iter().find_map(|input| {
        let Arrival { steps, cells, .. } = arrival(&task.program, end, input, budget)?;
        let is_long = steps > MOST_STEPS || steps.saturating_mul(cells) > most_cells;
        let left_out = if is_long { steps.saturating_sub(LAST_STEPS) } else { 0 };
        let trace = last_steps(&task.program, &mut Always(input), steps, left_out)?;
        Some((trace, usize::try_from(left_out).ok()?))
    })
}

/// How a run comes to a node if all inputs are one number.
fn arrival(program: &Program, end: Node, input: u64, budget: &Budget) -> Option<Arrival> {
    let interpreter = Interpreter::new(program);
    let mut choices = Always(input);
    let mut state = interpreter.begin(&mut choices).ok()?;
    let mut steps = 0;
    while state.node()? != end {
        if steps % PACE == 0 {
            budget.spend(PACE / STEPS_OF_WORK);
            if budget.stopped().is_some() {
                return None;
            }
        }
        let Stepped::Edge(_) = interpreter.take(&mut state, &mut choices) else { return None };
        steps += 1;
    }
    Some(Arrival { steps, cells: cells_of(&state), rests_on_approximation: false })
}

/// All choices are one number, or the greatest there is.
struct Always(u64);

impl Choices for Always {
    fn choose(&mut self, max: u64) -> u64 {
        self.0.min(max)
    }
}

#[cfg(test)]
mod tests {
    use wherefore_frontend::{Language, parse};

    use super::*;

    fn look(text: &str) -> Option<Vec<Option<Verdict>>> {
        let task = parse(Language::C, "t.c", text, None).unwrap_or_else(|error| panic!("{}", error.render()));
        first_look(&task, &Session::default(), &Budget::time(Duration::from_secs(60)))
    }

    const SUM: &str = "extern void reach_error(void); unsigned sum;\n\
                       static void add(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i; }\n";

    #[test]
    fn of_a_long_run_the_last_steps_are_kept() {
        let text = format!(
            "{SUM}int main(void) {{ add(100000); if (sum == 704982704u) reach_error(); return 0; }}\n"
        );
        let verdicts = look(&text).unwrap();
        let run = verdicts[0].as_ref().and_then(Verdict::run).unwrap();
        assert_eq!(run.trace.steps.len() as u64, LAST_STEPS);
        assert!(run.steps_left_out > 200_000, "{}", run.steps_left_out);
        let other = text.replace("704982704u", "704982705u");
        assert!(matches!(look(&other).unwrap()[0], Some(Verdict::Safe(_))));
    }

    #[test]
    fn inputs_that_do_not_matter_are_taken_as_they_come() {
        for (condition, fails) in [("sum == 45", true), ("sum == 46", false)] {
            let text = format!(
                "extern int in(void); int seen; {SUM}\
                 int main(int argc, char **argv) {{ if (argc == 2 && argv[1][0]) seen = 1;\n\
                 if (in()) seen = 2; add(10); if ({condition}) reach_error(); return seen; }}\n"
            );
            let verdicts = look(&text).unwrap();
            assert_eq!(matches!(verdicts[0], Some(Verdict::Unsafe(_))), fails, "{text}");
            assert_eq!(matches!(verdicts[0], Some(Verdict::Safe(_))), !fails, "{text}");
        }
    }

    #[test]
    fn a_program_that_takes_an_input_that_matters_is_not_decided() {
        let text = format!(
            "extern int in(void); {SUM}int main(void) {{ add(in() & 7); if (sum == 45) reach_error(); return 0; }}\n"
        );
        assert!(look(&text).is_none());
    }
}

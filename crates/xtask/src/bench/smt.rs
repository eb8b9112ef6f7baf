//! The embedded solver, and z3 where it is installed: path formulas, and many small questions.

use std::time::{Duration, Instant};

use wherefore_smt::{BitBlaster, Budget, External, Model, Outcome, Solver, Sort, Term, Terms, Value};

use super::program_shaped::Random;
use super::table::{Table, ms, times};
use super::{Extent, measure, ratio};

/// When a solver is stopped.
const LIMIT: Duration = Duration::from_secs(10);

/// What the statements of a path do.
#[derive(Clone, Copy, PartialEq)]
enum Theme {
    /// Sums, products with constants, comparisons.
    Linear,
    /// Products, quotients and remainders as well.
    Products,
    /// Reads and writes of an array as well.
    Arrays,
}

/// Whether the path can be walked.
#[derive(Clone, Copy, PartialEq)]
enum Feasible {
    Yes,
    No,
}

/// Measures everything.
pub fn run(extent: Extent) {
    paths(extent);
    questions(extent);
}

fn paths(extent: Extent) {
    let steps = if extent == Extent::Quick { 20 } else { 200 };
    let seeds = if extent == Extent::Quick { 1 } else { 3 };
    let mut table =
        Table::new(&["path", "steps", "answer", "terms", "embedded ms", "z3 ms", "z3 / embedded"]);
    for (theme, name) in
        [(Theme::Linear, "linear"), (Theme::Products, "products, quotients"), (Theme::Arrays, "arrays")]
    {
        for (feasible, answer) in [(Feasible::Yes, "sat"), (Feasible::No, "unsat")] {
            for seed in 0..seeds {
                let mut path = Path::new(seed);
                path.walk(theme, steps, feasible);
                let Path { mut terms, facts, .. } = path;
                let mut check = |solver: &mut dyn Solver| {
                    let start = Instant::now();
                    for fact in &facts {
                        solver.assert(&mut terms, *fact);
                    }
                    let outcome = solver.check(&mut terms, &[], &Budget::time(LIMIT));
                    let wrong = match feasible {
                        Feasible::Yes => outcome.is_unsat(),
                        Feasible::No => outcome.is_sat(),
                    };
                    assert!(!wrong, "a wrong answer");
                    (start.elapsed(), matches!(outcome, Outcome::Unknown(_)))
                };
                let ours = check(&mut BitBlaster::new());
                let theirs = External::find("z3").map(|mut z3| check(&mut z3));
                let shown = |(time, stopped): (Duration, bool)| match stopped {
                    true => "stopped".to_owned(),
                    false => ms(time),
                };
                let conjunction = terms.all(&facts);
                table.row(vec![
                    name.to_owned(),
                    steps.to_string(),
                    answer.to_owned(),
                    terms.size(conjunction).to_string(),
                    shown(ours),
                    theirs.map_or("-".to_owned(), shown),
                    theirs.map_or("-".to_owned(), |theirs| times(ratio(theirs.0, ours.0))),
                ]);
            }
        }
    }
    table.print("Path formulas");
}

/// A path as facts about the successive values of variables, with one run that shows that it can be
/// walked.
struct Path {
    terms: Terms,
    random: Random,
    model: Model,
    facts: Vec<Term>,
    variables: Vec<Term>,
    array: Term,
}

const WIDTH: u32 = 32;

impl Path {
    fn new(seed: u64) -> Self {
        let mut terms = Terms::new();
        let mut random = Random::new(seed);
        let mut model = Model::default();
        let variables = (0..8).map(|i| {
            let variable = terms.variable(&format!("x{i}"), Sort::Bits(WIDTH));
            model.set(variable, Value::Bits(random.below(1000)));
            variable
        });
        let variables = variables.collect();
        let array = terms.variable("a", Sort::Array { index: WIDTH, element: WIDTH });
        Self { terms, random, model, facts: Vec::new(), variables, array }
    }

    fn pick(&mut self) -> Term {
        self.variables[self.random.below(self.variables.len() as u64) as usize]
    }

    fn small(&mut self, below: u64) -> Term {
        let value = 1 + self.random.below(below);
        self.terms.bits(value, WIDTH)
    }

    /// A new name for a value.
    fn assign(&mut self, value: Term) -> Term {
        let name = self.terms.fresh("s", Sort::Bits(WIDTH));
        let number = self.terms.evaluate(value, &self.model);
        self.model.set(name, number);
        let fact = self.terms.eq(name, value);
        self.facts.push(fact);
        name
    }

    /// The condition or its negation: what the run does.
    fn branch(&mut self, condition: Term) {
        let fact =
            if self.terms.holds(condition, &self.model) { condition } else { self.terms.not(condition) };
        self.facts.push(fact);
    }

    fn walk(&mut self, theme: Theme, steps: usize, feasible: Feasible) {
        let start = self.variables.clone();
        for _ in 0..steps {
            let slot = self.random.below(self.variables.len() as u64) as usize;
            let (u, v) = (self.pick(), self.pick());
            match (self.random.below(10), theme) {
                (0..=2, _) => {
                    let limit = self.small(5000);
                    let sum = self.terms.add(v, limit);
                    let condition = self.terms.slt(u, sum);
                    self.branch(condition);
                }
                (3 | 4, Theme::Products) => {
                    let c = self.small(100);
                    let value =
                        if self.random.chance(50) { self.terms.udiv(u, c) } else { self.terms.urem(u, c) };
                    self.variables[slot] = self.assign(value);
                }
                (5, Theme::Products) => {
                    let bound = self.terms.bits(255, WIDTH);
                    let (u, v) = (self.terms.bit_and(u, bound), self.terms.bit_and(v, bound));
                    let value = self.terms.mul(u, v);
                    self.variables[slot] = self.assign(value);
                }
                (3 | 4, Theme::Arrays) => self.array = self.terms.store(self.array, u, v),
                (5 | 6, Theme::Arrays) => {
                    let value = self.terms.select(self.array, u);
                    self.variables[slot] = self.assign(value);
                }
                (9, _) => {
                    let value =
                        if self.random.chance(50) { self.terms.add(u, v) } else { self.terms.sub(u, v) };
                    self.variables[slot] = self.assign(value);
                }
                _ => {
                    let c = self.small(100);
                    let value =
                        if self.random.chance(50) { self.terms.add(u, c) } else { self.terms.sub(u, c) };
                    self.variables[slot] = self.assign(value);
                }
            }
        }
        if feasible == Feasible::No {
            self.contradict(theme, &start);
        }
    }

    /// Two conditions that cannot both hold, which takes some computation to see.
    fn contradict(&mut self, theme: Theme, start: &[Term]) {
        let (a, b) = (self.variables[0], self.variables[1]);
        let condition = match theme {
            Theme::Linear => {
                let sum = self.terms.add(a, b);
                let sum = self.assign(sum);
                let back = self.terms.sub(sum, a);
                let back = self.assign(back);
                self.terms.eq(back, b)
            }
            Theme::Products => {
                let seven = self.terms.bits(7, WIDTH);
                let (quotient, remainder) = (self.terms.udiv(a, seven), self.terms.urem(a, seven));
                let (quotient, remainder) = (self.assign(quotient), self.assign(remainder));
                let product = self.terms.mul(quotient, seven);
                let product = self.assign(product);
                let sum = self.terms.add(product, remainder);
                self.terms.eq(sum, a)
            }
            Theme::Arrays => {
                let written = self.terms.store(self.array, start[0], a);
                let other = self.assign(b);
                let same = self.terms.eq(other, start[0]);
                let different = self.terms.not(same);
                self.facts.push(different);
                let written = self.terms.store(written, other, b);
                let index = self.assign(start[0]);
                let read = self.terms.select(written, index);
                self.terms.eq(read, a)
            }
        };
        let never = self.terms.not(condition);
        self.facts.push(never);
    }
}

/// Thousands of questions to one solver, as abstraction asks them.
fn questions(extent: Extent) {
    let count = if extent == Extent::Quick { 100 } else { 10_000 };
    let mut table = Table::new(&["also in the solver", "questions", "sat", "µs each"]);
    for steps in [0, 50, 200] {
        let (mut terms, mut solver) = (Terms::new(), BitBlaster::new());
        if steps > 0 {
            // A path of before: its terms stay, its facts are gone.
            let mut path = Path::new(7);
            path.walk(Theme::Linear, steps, Feasible::Yes);
            terms = path.terms;
            solver.push();
            for fact in &path.facts {
                solver.assert(&mut terms, *fact);
            }
            solver.check(&mut terms, &[], &Budget::default());
            solver.pop();
        }
        let predicates = predicates(&mut terms);
        for predicate in &predicates {
            solver.check(&mut terms, &[*predicate], &Budget::default());
        }
        let mut random = Random::new(11);
        let (sat, time, _) = measure(1, || {
            let mut sat = 0;
            for _ in 0..count {
                let question: Vec<Term> = (0..5)
                    .map(|_| {
                        let predicate = predicates[random.below(predicates.len() as u64) as usize];
                        if random.chance(50) { predicate } else { terms.not(predicate) }
                    })
                    .collect();
                sat += u64::from(solver.check(&mut terms, &question, &Budget::default()).is_sat());
            }
            sat
        });
        table.row(vec![
            if steps == 0 { "nothing".to_owned() } else { format!("a path of {steps} steps") },
            count.to_string(),
            sat.to_string(),
            format!("{:.1}", time.as_secs_f64() * 1e6 / f64::from(count)),
        ]);
    }
    table.print("Small questions");
}

/// Comparisons of sums of eight variables.
fn predicates(terms: &mut Terms) -> Vec<Term> {
    let mut random = Random::new(3);
    let variables: Vec<Term> = (0..8).map(|i| terms.variable(&format!("p{i}"), Sort::Bits(WIDTH))).collect();
    let list = (0..60).map(|_| {
        let mut pick = || variables[random.below(8) as usize];
        let (a, b, c) = (pick(), pick(), pick());
        let constant = terms.bits(random.below(100), WIDTH);
        let sum = terms.add(b, constant);
        match random.below(3) {
            0 => terms.slt(a, sum),
            1 => terms.eq(c, sum),
            _ => {
                let more = terms.add(a, c);
                terms.ult(more, sum)
            }
        }
    });
    list.collect()
}

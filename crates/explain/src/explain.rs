//! A whole explanation: from a verdict to what a report shows.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_check::exact::{CheckOptions, Checker, Detail};
use wherefore_check::{Answer, Budget, FailingRun, Question, Session, Tracked, Why, doubts, project_from};
use wherefore_flow::Slice;
use wherefore_program::{
    CallGraph, ErrorKind, ErrorSite, Format, LocationId, LocationKind, Node, Operation, PathSlicer,
    ProcedureId, Program, State, Stops, Task,
};

use crate::always::always_fails;
use crate::cover::Cover;
use crate::focus;
use crate::free_choices::input_name;
use crate::model::{
    Assumption, Explanation, Focus, InputValue, Invariant, Line, Neighbourhood, Place, Point, Procedure,
    Projection, Reduced, Run, Source, Statement, Stats,
};
use crate::steps::{Grain, Steps};
use crate::stores::stores;
use crate::suspicion::suspicion;
use crate::why::{Reasons, why};
use crate::words::{extent, line, one_line};

/// The part of the effort that the proof that a program always fails gets at least.
const LEAST_PROOF: u64 = 8;

/// What a run through a location costs with decision diagrams, in steps of work.
const RUN_THROUGH: u64 = 100;

/// More alternatives than this are not listed at a line.
const MOST_CUBES: usize = 8;

/// What is explained.
pub struct Subject<'a> {
    /// The task.
    pub task: &'a Task,
    /// What the whole may spend.
    pub budget: Budget,
    /// The work for finding reasons, beside that for the verdict, in steps that do not depend on
    /// the machine.
    pub effort: u64,
    /// Only assumptions on these inputs are shown; all if there are none.
    pub only: Vec<String>,
}

/// The lines of a projection, and what else is known there.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// Locations that may lie on failing runs.
    pub inside: BTreeSet<Node>,
    /// Failing runs, and one through each location that is known to lie on one.
    pub cover: Cover,
    /// Conditions under which the program goes on to fail.
    pub stores: BTreeMap<Node, Vec<Vec<String>>>,
    /// What the abstraction tracks.
    pub predicates: BTreeMap<Node, Vec<String>>,
    /// What was not finished.
    pub incomplete: Option<String>,
}

/// Whether conditions and predicates at lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditions {
    /// As many as the time allows.
    Wanted,
    /// Only the lines.
    Unwanted,
}

impl Subject<'_> {
    fn program(&self) -> &Program {
        &self.task.program
    }

    fn targets(&self) -> &[ErrorSite] {
        &self.task.checks
    }

    /// How steps are shown: in C, one for each statement.
    fn grain(&self) -> Grain {
        if self.task.is_c() { Grain::Statements } else { Grain::Fine }
    }

    /// The locations that are shown: those of the source.
    fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        // The brace at the end of a procedure is not a statement of C.
        let is_statement = |node: &Node| {
            self.grain() == Grain::Fine || self.program().location(*node).kind != LocationKind::End
        };
        self.program().nodes().filter(move |node| self.is_shown(node.procedure) && is_statement(node))
    }

    fn is_shown(&self, procedure: ProcedureId) -> bool {
        self.grain() == Grain::Fine || procedure != self.program().entry
    }

    /// The projection by runs alone, as far as the effort goes: everything that may be executed is
    /// inside, unless no run was missed.
    pub fn cover(&self, first: FailingRun, effort: u64) -> Lines {
        let mut cover = Cover::default();
        cover.add(first);
        let found = wherefore_check::bounded::in_deep_thread(|| {
            cover.run(self.program(), self.targets(), &self.budget.spending(effort));
            cover
        });
        let cover = found.unwrap_or_default();
        let inside =
            if cover.is_complete { cover.through.keys().copied().collect() } else { self.nodes().collect() };
        let incomplete = (!cover.is_complete).then(|| "not all failing runs were looked at".to_owned());
        Lines { inside, cover, incomplete, ..Lines::default() }
    }

    /// The projection by runs, and by refinement where that leaves lines open or conditions are
    /// wanted.
    pub fn lines(&self, first: FailingRun, effort: u64, conditions: Conditions) -> Lines {
        let mut lines = self.cover(first, effort / 3);
        if !lines.cover.is_complete {
            self.refine(&mut lines, effort / 3);
        }
        self.clear_only_without_doubt(&mut lines, effort / 6);
        if conditions == Conditions::Wanted {
            let budget = self.budget.spending(effort / 6);
            let found = wherefore_check::bounded::in_deep_thread(|| {
                stores(self.program(), &lines.cover.runs, &budget)
            });
            lines.stores = found.unwrap_or_default();
        }
        lines
    }

    /// The projection with decision diagrams, with runs and stores as far as the effort goes.
    pub fn exact_lines(&self, first: FailingRun, effort: u64) -> Lines {
        let budget = self.budget.spending(effort);
        let mut lines = Lines { inside: self.nodes().collect(), ..Lines::default() };
        lines.cover.add(first);
        let options = CheckOptions { limits: self.budget.limits(), ..CheckOptions::default() };
        let checker = match Checker::new(self.program(), self.targets(), options) {
            Ok(checker) => checker,
            Err(error) => {
                lines.incomplete = Some(Why::NotTaken(error).words(self.program()));
                return lines;
            }
        };
        match checker.projection(Detail::Stores) {
            Ok(projection) => {
                lines.inside = projection.nodes().collect();
                for node in &lines.inside {
                    let cubes = projection.cubes(*node, MOST_CUBES).into_iter();
                    lines.stores.insert(*node, cubes.map(|cube| vec![cube.to_string()]).collect());
                }
            }
            Err(stop) => {
                lines.incomplete = Some(stop.why().to_owned());
                return lines;
            }
        }
        let open = |lines: &Lines, node: &Node| !lines.cover.through.contains_key(node);
        for node in lines.inside.clone() {
            if open(&lines, &node) && budget.stopped().is_none() {
                budget.spend(RUN_THROUGH);
                if let Ok(Some(run)) = checker.run_through(node) {
                    lines.cover.add(run);
                }
            }
        }
        self.clear_only_without_doubt(&mut lines, effort / 6);
        lines
    }

    /// A line is cleared only where *safe* would be said: if something speaks against proofs about
    /// the program, lines that no run was found through stay open.
    fn clear_only_without_doubt(&self, lines: &mut Lines, effort: u64) {
        let engines = Question::default().engines(self.task);
        let budget = self.budget.spending(effort);
        if let Some(why) = doubts(self.task, &engines, (&Session::default(), &budget)) {
            lines.inside = self.nodes().collect();
            let why = why.words(self.program());
            lines.incomplete = Some(format!("no line is cleared, because {why}"));
        }
    }

    /// Proves that no failing run goes through lines that none was found through, and finds runs
    /// through others.
    fn refine(&self, lines: &mut Lines, effort: u64) {
        let seeds = lines.cover.runs.clone();
        let found =
            project_from(self.program(), self.targets(), seeds, &self.budget.spending(effort), &mut |_| {});
        for (node, list) in found.tracked {
            lines.predicates.entry(node).or_default().extend(list);
        }
        lines.incomplete =
            found.reason.map(|stop| format!("lines that no run was found through: {}", stop.why()));
        lines.inside = found.inside;
        found.runs.into_iter().for_each(|run| lines.cover.add(run));
    }

    /// What can be said without a failing run.
    pub fn without_failure(&self) -> Explanation {
        let sources = self.program().sources.iter();
        let sources =
            sources.map(|source| Source { name: source.name().to_owned(), text: source.text().to_owned() });
        Explanation {
            sources: sources.collect(),
            procedures: self.procedures(&BTreeSet::new()),
            ..Explanation::default()
        }
    }

    /// Explains a failure.
    pub fn explain(&self, failure: FailingRun, lines: Lines) -> Explanation {
        let whole = self.budget.spending(self.effort);
        let why = why(self.program(), self.targets(), failure, &whole.spending(self.effort / 2));
        let traces: Vec<_> = why.runs.iter().chain(&lines.cover.runs).map(|run| &run.trace).collect();
        let suspicion = wherefore_check::bounded::in_deep_thread(|| {
            suspicion(self.program(), self.targets(), &traces, &whole)
        });
        let mut explanation = self.without_failure();
        explanation.verdict = crate::model::Verdict::Unsafe;
        explanation.error = why
            .runs
            .first()
            .map(|run| place_of(self.program(), &self.targets()[run.target], run.trace.states().last()));
        self.put_runs(&mut explanation, &why, &lines);
        self.put_focus(&mut explanation, &why);
        explanation.projection = self.projection(&lines);
        explanation.procedures = self.procedures(&lines.inside);
        let of_lines = |node: &Node| line(self.program(), *node).filter(|_| self.is_shown(node.procedure));
        for (node, score) in suspicion.unwrap_or_default() {
            if let Some(line) = of_lines(&node) {
                let known = explanation.suspicion.entry(line).or_default();
                *known = known.max(score);
            }
        }
        explanation.stores = self.stores(&lines);
        for (node, predicates) in &lines.predicates {
            if let Some(line) = of_lines(node) {
                let known = explanation.predicates.entry(line).or_default();
                known.extend(
                    predicates.iter().filter(|one| !known.contains(one)).cloned().collect::<Vec<_>>(),
                );
            }
        }
        let unconditional = explanation.focus.first().is_some_and(|focus| focus.assumptions.is_empty());
        if unconditional {
            explanation.always = always_fails(self.task, &self.budget.spending(self.effort / LEAST_PROOF));
        }
        if !why.is_complete {
            explanation.stats.incomplete.push("there may be more ways to fail".to_owned());
        }
        explanation.stats.incomplete.extend(lines.incomplete);
        explanation
    }

    /// The projection of a program that cannot fail.
    pub fn nothing_fails(&self) -> Projection {
        let mut projection = self.projection(&Lines::default());
        projection.exact = true;
        projection
    }

    /// The lines that decide whether runs come to some checks, by a static slice, and how many lines
    /// have statements. No lines if the program has none to leave out.
    pub fn lines_behind(&self, checks: &[Node]) -> (Vec<Line>, usize) {
        let lines = |nodes: &mut dyn Iterator<Item = Node>| -> BTreeSet<Line> {
            nodes.filter_map(|node| line(self.program(), node)).collect()
        };
        let all = lines(&mut self.nodes());
        let Some(slice) = Slice::new(self.program(), checks.iter().copied()) else {
            return (Vec::new(), all.len());
        };
        let statements = slice.statements();
        let mut wanted = self.nodes().filter(|node| statements.contains(node) || checks.contains(node));
        (lines(&mut wanted).into_iter().collect(), all.len())
    }

    /// The conditions at lines under which the program goes on to fail.
    pub fn stores(&self, lines: &Lines) -> BTreeMap<Line, Vec<Vec<String>>> {
        let mut found: BTreeMap<Line, Vec<Vec<String>>> = BTreeMap::new();
        for (node, stores) in &lines.stores {
            if let Some(line) = line(self.program(), *node).filter(|_| self.is_shown(node.procedure)) {
                // The first location of a line is where it begins.
                found.entry(line).or_insert_with(|| stores.clone());
            }
        }
        found
    }

    /// What holds or is tracked at locations, by line.
    pub fn at_lines(&self, found: &[Tracked]) -> BTreeMap<Line, Vec<String>> {
        let mut lines: BTreeMap<Line, Vec<String>> = BTreeMap::new();
        for Tracked { node, predicates, .. } in found {
            if let Some(line) = line(self.program(), *node).filter(|_| self.is_shown(node.procedure)) {
                let known = lines.entry(line).or_default();
                known.extend(
                    predicates.iter().filter(|one| !known.contains(one)).cloned().collect::<Vec<_>>(),
                );
            }
        }
        lines
    }

    /// What a proof says of each location: what always holds. Where no run comes, nothing is said.
    pub fn invariants(&self, found: &[(Node, String)]) -> Vec<Invariant> {
        let mut heads: BTreeSet<Node> = BTreeSet::new();
        for (procedure, body) in self.program().procedures() {
            let loops = wherefore_program::loops::natural_loops(&body.graph(), body.entry.0);
            heads.extend(loops.iter().map(|one| Node { procedure, location: LocationId(one.head) }));
        }
        // What says nothing is left out.
        let says = |formula: &str| formula != "false" && formula != "true";
        let mut invariants: Vec<Invariant> = Vec::new();
        for (node, formula) in found.iter().filter(|(_, formula)| says(formula)) {
            let invariant = Invariant {
                extent: extent(self.program(), self.program().location(*node).span),
                procedure: self.program().procedure(node.procedure).name.clone(),
                formula: formula.clone(),
                is_loop: heads.contains(node),
            };
            if self.is_shown(node.procedure) && !invariants.contains(&invariant) {
                invariants.push(invariant);
            }
        }
        invariants
    }

    /// A failing run in the words of the source.
    pub fn run(&self, failure: &FailingRun) -> Run {
        let steps = Steps::of(self.program(), &failure.trace, self.grain());
        let program = self.program().with_rules_ignored();
        let mut slicer = PathSlicer::with_stops(&program, Stops::LikeExits);
        let mut taken: BTreeSet<usize> =
            slicer.slice(&failure.path).map(|slice| slice.taken.into_iter().collect()).unwrap_or_default();
        // The failing statement is where it ends, whatever the slice says.
        taken.insert(failure.path.len().saturating_sub(1));
        taken.insert(failure.path.len());
        let slice = steps.at(&taken);
        Run { slice, inputs: self.inputs_of(failure), steps: steps.steps, replay: None }
    }

    fn inputs_of(&self, failure: &FailingRun) -> Vec<InputValue> {
        let mut inputs = Vec::new();
        let interpreter = wherefore_program::Interpreter::new(self.program());
        for (at, (before, step)) in failure.trace.states().zip(&failure.trace.steps).enumerate() {
            let Some(input) = self.task.inputs.iter().find(|input| input.edge == step.edge) else { continue };
            let edge = self.program().edge(step.edge);
            let Operation::Havoc(targets) = &edge.operation else { continue };
            let Some(target) = targets.first() else { continue };
            let Some(value) = interpreter.written(before, target, &step.state) else { continue };
            let variable = self.program().variable(step.edge.procedure, target.variable);
            inputs.push(InputValue {
                name: input_name(self.program(), &failure.path, at, target.variable),
                function: input.function.clone(),
                value: match Format::of_width(input.ty.width()).filter(|_| input.float) {
                    Some(format) => format.show(value),
                    None => self.program().show_value(variable, value),
                },
                extent: extent(self.program(), edge.span),
            });
        }
        inputs
    }

    fn put_runs(&self, explanation: &mut Explanation, why: &Reasons, lines: &Lines) {
        explanation.runs = why.runs.iter().map(|run| self.run(run)).collect();
        let mut number: BTreeMap<usize, usize> = BTreeMap::new();
        for (node, run) in &lines.cover.through {
            let Some(line) = line(self.program(), *node).filter(|_| self.is_shown(node.procedure)) else {
                continue;
            };
            // A run that is shown anyway is preferred.
            let shown =
                why.runs.iter().position(|run| run.trace.states().any(|state| state.node() == Some(*node)));
            let position = shown.unwrap_or_else(|| {
                *number.entry(*run).or_insert_with(|| {
                    explanation.runs.push(self.run(&lines.cover.runs[*run]));
                    explanation.runs.len() - 1
                })
            });
            explanation.through.entry(line).or_insert(position);
        }
    }

    fn put_focus(&self, explanation: &mut Explanation, why: &Reasons) {
        for found in &why.focus {
            let path = &why.runs[found.run].path;
            let steps = Steps::of(self.program(), &why.runs[found.run].trace, self.grain());
            let statement = |item: &focus::Item| Statement {
                extent: extent(self.program(), self.program().location(item.node).span),
                text: focus::text(self.program(), path, item),
                procedure: self.program().procedure(item.node.procedure).name.clone(),
                step: match item.positions.first() {
                    Some(at) => steps.at(&BTreeSet::from([*at])).first().copied(),
                    None => steps.steps.len().checked_sub(1),
                },
            };
            let items = &found.sequence.items;
            let is_shown =
                |item: &focus::Item| self.program().location(item.node).kind != LocationKind::Model;
            let statements: Vec<Statement> = items.iter().map(statement).collect();
            let assumption = |constraint: &crate::assumptions::Constraint| Assumption {
                text: constraint.text.clone(),
                line: statements[constraint.item].extent.line(),
                unless_overflow: constraint.unless_overflow,
            };
            // \[Focus\] §4, *Projector*.
            let wanted = |constraint: &&crate::assumptions::Constraint| {
                let is_asked =
                    self.only.is_empty() || constraint.variables.iter().all(|name| self.only.contains(name));
                // What the model assumes is listed with the answer.
                is_asked && is_shown(&items[constraint.item])
            };
            let assumptions = found.assumptions.iter().flatten().filter(wanted).map(assumption).collect();
            let statements = statements.into_iter().zip(items).filter(|(_, item)| is_shown(item));
            let statements = statements.map(|(statement, _)| statement).collect();
            explanation.focus.push(Focus {
                rank: found.rank,
                assumptions,
                feasible: found.assumptions.is_some(),
                run: Some(found.run),
                statements,
            });
        }
        for left in &why.reduced {
            let of = why.focus[left.focus].assumptions.as_deref().unwrap_or_default();
            let assumptions = left.assumptions.iter().map(|at| of[*at].text.clone()).collect();
            explanation.reduced.push(Reduced { focus: left.focus, assumptions });
        }
        for marked in &why.neighbourhoods {
            let items = &why.focus[marked.focus].sequence.items;
            let lines = |of: &[usize]| {
                let mut lines: Vec<Line> = Vec::new();
                for line in of.iter().filter_map(|item| line(self.program(), items[*item].node)) {
                    if !lines.contains(&line) {
                        lines.push(line);
                    }
                }
                lines
            };
            explanation.neighbourhoods.push(Neighbourhood {
                focus: marked.focus,
                lines: lines(&marked.items),
                marked: lines(&marked.marked),
                repairs: lines(&marked.repairs),
            });
        }
    }

    /// The lines of a projection: those of the program that was given. Those of our own texts, as
    /// models of library functions, are nobody's to change.
    pub fn projection(&self, lines: &Lines) -> Projection {
        let program = self.program();
        let is_given =
            |node: &Node| !program.source(program.procedure(node.procedure).span).name().starts_with('<');
        let collect = |nodes: &mut dyn Iterator<Item = Node>| -> BTreeSet<Line> {
            nodes.filter(is_given).filter_map(|node| line(program, node)).collect()
        };
        let inside = collect(&mut self.nodes().filter(|node| lines.inside.contains(node)));
        let confirmed = collect(&mut self.nodes().filter(|node| lines.cover.through.contains_key(node)));
        let all = collect(&mut self.nodes());
        Projection {
            outside: all.difference(&inside).copied().collect(),
            exact: inside == confirmed,
            inside: inside.into_iter().collect(),
            confirmed: confirmed.into_iter().collect(),
        }
    }

    fn procedures(&self, inside: &BTreeSet<Node>) -> Vec<Procedure> {
        let calls = CallGraph::new(self.program());
        let shown: Vec<ProcedureId> =
            self.program().procedures().map(|(id, _)| id).filter(|id| self.is_shown(*id)).collect();
        let position = |id: ProcedureId| shown.iter().position(|other| *other == id);
        let describe = |id: &ProcedureId| {
            let body = self.program().procedure(*id);
            let point = |location| {
                let node = Node { procedure: *id, location };
                Point {
                    line: line(self.program(), node),
                    kind: body.location(location).kind.name().to_owned(),
                    inside: inside.contains(&node),
                }
            };
            Procedure {
                name: body.name.clone(),
                line: extent(self.program(), body.span).line(),
                points: body.location_ids().map(point).collect(),
                edges: body
                    .edges
                    .iter()
                    .map(|edge| {
                        (edge.from.0 as usize, edge.to.0 as usize, one_line(self.program(), edge.span))
                    })
                    .collect(),
                calls: calls.callees(*id).filter_map(position).collect(),
            }
        };
        shown.iter().map(describe).collect()
    }
}

/// The place of a check.
/// `last` is the state at the check of a run that fails there.
pub fn place_of(program: &Program, site: &ErrorSite, last: Option<&State>) -> Place {
    // The numbers of one run are not those of all runs that are explained; what a rule says is.
    let last = last.filter(|_| program.violation(site.node).is_some_and(|broken| broken.messages.is_some()));
    let (kind, label) = match &site.kind {
        ErrorKind::Assertion => ("assertion", None),
        ErrorKind::Call(name) => ("error-call", Some(name.clone())),
        ErrorKind::Label(name) => ("label", Some(name.clone())),
        ErrorKind::Entry(name) => ("procedure", Some(name.clone())),
        ErrorKind::Violation(kind) => (kind.name(), program.violation_in_words(site.node, last)),
    };
    Place {
        extent: extent(program, program.location(site.node).span),
        procedure: program.procedure(site.node.procedure).name.clone(),
        kind: kind.to_owned(),
        label,
    }
}

/// Figures of an answer.
pub fn stats(program: &Program, answer: &Answer) -> Stats {
    // Which of two engines with decision diagrams was first is chance, and says nothing.
    let is_chance = program.has_small_data() && answer.facts.by.is_some();
    let engine = match is_chance {
        true => Some("diagrams".to_owned()),
        false => answer.facts.by.map(|engine| engine.option().to_owned()),
    };
    let refinement = answer.facts.refinement.as_ref().filter(|_| !is_chance);
    let cycles = refinement.map_or(0, |refinement| refinement.iterations);
    Stats { locations: program.nodes().count(), engine, cycles, ..Stats::default() }
}

//! Running the facts of a folder of cases, and counting them.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use saphyr::YamlOwned;
use wherefore_check::exact::{CheckError, CheckOptions, Checker};
use wherefore_program::TargetChoice;
use wherefore_pushdown::Limits;

use super::facts::{Outcome, Subject, Trouble};
use super::yaml::{entries, list, read, text};

/// What one program may take.
const TIME: Duration = Duration::from_secs(20);

/// Programs that are not checked because they are too large, and why.
const TOO_LARGE: &[(&str, &str)] = &[(
    "ex6.5-xy-invariant/main.rem",
    "no answer in nine minutes, and the limit of 20 s does not stop it; small.rem is checked",
)];

/// Facts about threads.
const THREADS: &[&str] = &["cba", "contexts", "reach_globals", "switch_points"];

/// Kinds that exact checking does not answer, and why.
const NOT_CHECKABLE: &[(&str, &str)] = &[
    ("abstract_bits", "the size of an abstraction"),
    ("automaton_direction", "about automata; see the cases of the weight domains"),
    ("cegar_shape", "how refinement behaves"),
    ("counterexample_structure", "a description in words"),
    ("fss_lines", "focus statement sequences, which are another analysis"),
    ("irrelevant_variable", "what a proof needs; exact checking looks at all variables"),
    ("paper_claim", "a remark about a text"),
    ("paper_table", "measurements of other tools"),
    ("pds_rules", "the rules of a figure, which has fewer locations than the program"),
    ("statement", "a sentence in words; the facts next to it give instances"),
    ("sufficient_predicates", "predicate abstraction, which is another analysis"),
    ("summary_relation", "the effect of a procedure on stores that do not occur"),
    ("weight_text", "how a weight is printed; the values are checked by the fact on stores"),
];

/// What became of the facts of some cases.
#[derive(Default)]
pub struct Report {
    /// Cases with programs.
    pub cases: usize,
    /// Facts that hold, by kind.
    pub checked: BTreeMap<String, usize>,
    /// Facts about programs with threads, by kind.
    pub threads: BTreeMap<String, usize>,
    /// Facts about programs that are [`TOO_LARGE`], by kind.
    pub too_large: BTreeMap<String, usize>,
    /// Facts of [`NOT_CHECKABLE`] kinds.
    pub not_checkable: BTreeMap<String, usize>,
    /// Facts about inputs in other languages, by language.
    pub elsewhere: BTreeMap<String, usize>,
    /// Facts of kinds that are not known.
    pub unknown: BTreeMap<String, usize>,
    /// Facts that do not hold.
    pub failures: Vec<String>,
    /// The slowest programs.
    pub times: Vec<(Duration, String)>,
}

impl Report {
    /// Runs all facts about programs of all cases below `folder`.
    pub fn of(folder: &Path) -> Self {
        let mut report = Self::default();
        report.visit(folder);
        report.times.sort();
        report
    }

    fn visit(&mut self, folder: &Path) {
        if folder.join("expect.yaml").is_file() {
            self.run_case(folder);
        }
        let read = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut paths: Vec<PathBuf> = read.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths.iter().filter(|path| path.is_dir()).for_each(|path| self.visit(path));
    }

    fn run_case(&mut self, folder: &Path) {
        let case = read(&folder.join("expect.yaml"));
        let inputs = entries(&case, "inputs");
        let programs: Vec<&str> =
            inputs.iter().filter(|(_, i)| is_program(i)).map(|(name, _)| *name).collect();
        if programs.is_empty() {
            return;
        }
        self.cases += 1;
        let mut by_program: BTreeMap<&str, Vec<&YamlOwned>> = BTreeMap::new();
        for fact in list(&case, "facts").expect("facts") {
            let kind = text(fact, "kind").expect("a kind");
            // A relation without input is about the only program of its case.
            let input = text(fact, "input")
                .or_else(|| (kind == "modular_relation" && programs.len() == 1).then(|| programs[0]));
            let about = input.map(|input| {
                let about = inputs.iter().find(|(name, _)| *name == input);
                about.unwrap_or_else(|| panic!("{input} is not an input of {}", folder.display())).1
            });
            match (input, about) {
                (_, Some(about)) if !is_program(about) => {
                    add(&mut self.elsewhere, text(about, "lang").expect("a language"));
                }
                _ if NOT_CHECKABLE.iter().any(|(k, _)| *k == kind) => add(&mut self.not_checkable, kind),
                (Some(input), _) => by_program.entry(input).or_default().push(fact),
                (None, _) => add(&mut self.unknown, kind),
            }
        }
        let verdicts = entries(&case, "verdict");
        for (file, about) in inputs.iter().filter(|(_, about)| is_program(about)) {
            let verdict = verdicts.iter().find(|(name, _)| name == file);
            let verdict = verdict.map(|(_, verdict)| verdict.as_str().expect("a verdict"));
            let facts = by_program.remove(file).unwrap_or_default();
            self.run_program(&folder.join(file), about, verdict, &facts);
        }
    }

    fn run_program(&mut self, path: &Path, about: &YamlOwned, verdict: Option<&str>, facts: &[&YamlOwned]) {
        let begin = Instant::now();
        let folder = path.parent().and_then(Path::file_name).expect("a folder").to_string_lossy();
        let name = format!("{folder}/{}", path.file_name().expect("a file").to_string_lossy());
        if TOO_LARGE.iter().any(|(large, _)| *large == name) {
            verdict.iter().for_each(|_| add(&mut self.too_large, "verdict"));
            facts.iter().for_each(|fact| add(&mut self.too_large, text(fact, "kind").expect("a kind")));
            return;
        }
        let program = wherefore_frontend::load(path, text(about, "entry"))
            .unwrap_or_else(|e| panic!("{}", e.render()))
            .program;
        let targets = program.targets(&TargetChoice::Default).expect("default targets");
        let limits = Limits { time: Some(TIME), ..Limits::default() };
        let checker = Checker::new(&program, &targets, CheckOptions { limits, ..CheckOptions::default() });
        let threads = about.as_mapping_get("threads").and_then(YamlOwned::as_bool) == Some(true);
        if threads || program.uses_threads().is_some() {
            match checker {
                Err(CheckError::Threads { at }) if Some(at) == program.uses_threads() => {
                    add(&mut self.threads, "refused");
                }
                other => self.failures.push(format!(
                    "{name} has threads, but the engine says {:?}",
                    other.map(|checker| checker.verdict())
                )),
            }
            verdict.iter().for_each(|_| add(&mut self.threads, "verdict"));
            for fact in facts {
                let kind = text(fact, "kind").expect("a kind");
                let known = THREADS.contains(&kind);
                add(if known { &mut self.threads } else { &mut self.unknown }, kind);
            }
            return;
        }
        let checker = checker.unwrap_or_else(|error| panic!("{name}: {error}"));
        let subject = Subject::new(&checker);
        if let Some(verdict) = verdict {
            let outcome = catch(|| Some(subject.verdict(verdict)));
            self.count(&name, "verdict", &format!("verdict: {verdict}"), outcome);
        }
        for fact in facts {
            let kind = text(fact, "kind").expect("a kind");
            let shown = show(fact);
            self.count(&name, kind, &shown, catch(|| subject.check(fact)));
        }
        self.times.push((begin.elapsed(), name));
    }

    fn count(&mut self, name: &str, kind: &str, fact: &str, outcome: Option<Outcome>) {
        match outcome {
            None => add(&mut self.unknown, kind),
            Some(Ok(())) => add(&mut self.checked, kind),
            Some(Err(Trouble::Stopped(stop))) => {
                self.failures.push(format!("{name}: {fact}\n    UNKNOWN, stopped by {stop:?}"));
            }
            Some(Err(Trouble::Disagrees(found))) => {
                self.failures.push(format!("{name}: {fact}\n    {found}"));
            }
        }
    }
}

/// A panic is a fact that does not hold.
fn catch(run: impl FnOnce() -> Option<Outcome>) -> Option<Outcome> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Some(Err(Trouble::Disagrees(text.unwrap_or_else(|| "a panic".to_owned()))))
    })
}

fn add(counts: &mut BTreeMap<String, usize>, kind: &str) {
    *counts.entry(kind.to_owned()).or_default() += 1;
}

fn is_program(about: &YamlOwned) -> bool {
    matches!(text(about, "lang"), Some("bp" | "remopla"))
}

fn show(fact: &YamlOwned) -> String {
    let mut shown = String::new();
    let mut emitter = saphyr::YamlEmitter::new(&mut shown);
    emitter.compact(true);
    let borrowed: saphyr::Yaml<'_> = fact.into();
    emitter.dump(&borrowed).expect("text");
    shown
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases with programs", self.cases)?;
        for (title, counts) in [
            ("checked       ", &self.checked),
            ("threads       ", &self.threads),
            ("too large     ", &self.too_large),
            ("not checkable ", &self.not_checkable),
            ("other language", &self.elsewhere),
            ("UNKNOWN KIND  ", &self.unknown),
        ] {
            for (kind, facts) in counts {
                let why = NOT_CHECKABLE.iter().find(|(k, _)| k == kind).map_or("", |(_, why)| why);
                writeln!(f, "  {title} {facts:4}  {kind}  {why}")?;
            }
        }
        for (name, why) in TOO_LARGE {
            writeln!(f, "  NOT RUN {name}: {why}")?;
        }
        for (time, name) in self.times.iter().rev().take(5) {
            writeln!(f, "  {:8.2} s  {name}", time.as_secs_f64())?;
        }
        for failure in &self.failures {
            writeln!(f, "  FAILED {failure}")?;
        }
        Ok(())
    }
}

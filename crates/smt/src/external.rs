//! Solvers of other makers: any program that reads SMT-LIB 2 from its standard input.

use std::fmt::Write;
use std::path::Path;

use crate::budget::{Budget, Reason};
use crate::model::{Model, Value};
use crate::process::{Process, Silence};
use crate::reads;
use crate::smtlib::{Sexp, symbol};
use crate::solver::{Outcome, Solver};
use crate::terms::{Kind, Term, Terms};

/// Programs that are looked for, with the options that make them read from standard input.
const KNOWN: [(&str, &[&str]); 6] = [
    ("z3", &["-in", "-smt2"]),
    ("bitwuzla", &["--lang", "smt2"]),
    ("cvc5", &["--lang", "smt2", "--incremental"]),
    ("yices-smt2", &["--incremental"]),
    ("boolector", &["--smt2", "--incremental"]),
    ("mathsat", &["-input=smt2"]),
];

/// A solver in a process of its own.
///
/// The whole problem is sent at every check, after `(reset)`, because solvers simplify more when
/// nothing was pushed. Cores are asked for in a second run with named assertions, because tracking
/// slows the first. A process that has crashed is started again, once a check; one that is over
/// time is killed. Models are rebuilt from the values of variables and reads, so that no notation
/// of arrays must be understood, and they are not believed: a model that does not satisfy the
/// problem is an [`Outcome::Unknown`]. An "unsat" is believed.
///
/// Constant arrays of an element that is not a constant are beyond the standard: z3 knows them,
/// cvc5 refuses them.
pub struct External {
    command: Vec<String>,
    process: Option<Process>,
    levels: Vec<Vec<Term>>,
}

/// What the first run said.
enum Verdict {
    Sat(Vec<u64>),
    Unsat,
}

impl External {
    /// A solver by its command line: the program and its arguments, such as `["z3", "-in"]`.
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>) -> Self {
        let command = command.into_iter().map(Into::into).collect();
        Self { command, process: None, levels: vec![Vec::new()] }
    }

    /// A solver as people write it: a command line in one text. A known program alone, with or
    /// without a folder, gets the arguments that it needs.
    ///
    /// ```
    /// use wherefore_smt::External;
    ///
    /// assert_eq!(External::from_text("/opt/bin/z3").command(), ["/opt/bin/z3", "-in", "-smt2"]);
    /// assert_eq!(External::from_text("z3 -in -T:5").command(), ["z3", "-in", "-T:5"]);
    /// ```
    pub fn from_text(text: &str) -> Self {
        let mut command: Vec<&str> = text.split_whitespace().collect();
        if let [program] = command[..] {
            let name = Path::new(program).file_name().and_then(|name| name.to_str());
            let known = KNOWN.iter().find(|(program, _)| Some(*program) == name);
            command.extend(known.into_iter().flat_map(|(_, arguments)| arguments.iter()));
        }
        Self::new(command)
    }

    /// A known solver by its name, if it is installed.
    pub fn find(name: &str) -> Option<Self> {
        let (program, arguments) = KNOWN.iter().find(|(program, _)| *program == name)?;
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file()).then(|| {
            let arguments = arguments.iter().copied();
            Self::new(std::iter::once(*program).chain(arguments))
        })
    }

    /// The known solvers that are installed, by name.
    pub fn installed() -> Vec<&'static str> {
        KNOWN.iter().map(|(program, _)| *program).filter(|program| Self::find(program).is_some()).collect()
    }

    /// The command line.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    fn ask(&mut self, text: String, budget: &Budget) -> Result<String, Silence> {
        let process = self.process.as_ref().ok_or(Silence::Gone)?;
        process.send(text);
        process.answer(budget)
    }

    fn preamble(&self, terms: &Terms, roots: &[Term], wanted: &str) -> String {
        let logic = terms.logic(roots);
        let mut script = format!(
            "(reset)\n(set-option :print-success false)\n(set-option :{wanted} true)\n(set-logic {logic})\n",
        );
        terms.definitions(roots, &mut script);
        script
    }

    /// Sends the problem; the values of `wanted` if it is satisfiable.
    fn decide(
        &mut self,
        terms: &Terms,
        roots: &[Term],
        wanted: &[Term],
        budget: &Budget,
    ) -> Result<Verdict, Silence> {
        let mut script = self.preamble(terms, roots, "produce-models");
        for term in roots {
            let _ = writeln!(script, "(assert {})", symbol(terms, *term));
        }
        script.push_str("(check-sat)\n");
        let failed = |words: &str| Silence::Budget(Reason::Solver(words.to_owned()));
        match self.ask(script, budget)?.as_str() {
            "unsat" => Ok(Verdict::Unsat),
            "sat" if wanted.is_empty() => Ok(Verdict::Sat(Vec::new())),
            "sat" => {
                let mut question = String::from("(get-value (");
                for term in wanted {
                    let _ = write!(question, "{} ", symbol(terms, *term));
                }
                question.push_str("))\n");
                let answer = self.ask(question, budget)?;
                let values = match Sexp::parse(&answer) {
                    Some(Sexp::List(pairs)) => pairs.iter().map(last_value).collect::<Option<Vec<u64>>>(),
                    _ => None,
                };
                let values = values.filter(|values| values.len() == wanted.len());
                values.map(Verdict::Sat).ok_or_else(|| failed(&format!("unreadable model: {answer}")))
            }
            other => {
                // What else it says belongs to this question: do not take it for the answer to the
                // next.
                self.process = None;
                Err(failed(&format!("the solver answered: {other}")))
            }
        }
    }

    /// The part of the assumptions that the solver names, or all if it does not.
    fn core(&mut self, terms: &Terms, asserted: &[Term], assumptions: &[Term], budget: &Budget) -> Vec<Term> {
        if assumptions.is_empty() {
            return Vec::new();
        }
        let roots: Vec<Term> = asserted.iter().chain(assumptions).copied().collect();
        let mut script = self.preamble(terms, &roots, "produce-unsat-cores");
        for term in asserted {
            let _ = writeln!(script, "(assert {})", symbol(terms, *term));
        }
        for (i, term) in assumptions.iter().enumerate() {
            let _ = writeln!(script, "(assert (! {} :named named{i}))", symbol(terms, *term));
        }
        script.push_str("(check-sat)\n");
        let named = |this: &mut Self| -> Result<Option<Vec<Term>>, Silence> {
            if this.ask(script, budget)? != "unsat" {
                return Ok(None);
            }
            let answer = this.ask("(get-unsat-core)\n".to_owned(), budget)?;
            let Some(list @ Sexp::List(_)) = Sexp::parse(&answer) else { return Ok(None) };
            let atoms = list.atoms();
            if atoms.contains("error") {
                return Ok(None);
            }
            let in_core = |i: &usize| atoms.contains(format!("named{i}").as_str());
            Ok(Some((0..assumptions.len()).filter(in_core).map(|i| assumptions[i]).collect()))
        };
        match named(self) {
            Ok(Some(core)) => core,
            _ => {
                self.process = None;
                assumptions.to_vec()
            }
        }
    }

    /// The model with these values of variables and reads, if it satisfies the roots.
    fn model(
        terms: &mut Terms,
        roots: &[Term],
        variables: &[Term],
        reads: &[Term],
        values: &[u64],
    ) -> Option<Model> {
        let (of_variables, of_reads) = values.split_at(variables.len());
        let pairs = variables.iter().zip(of_variables);
        let mut model: Model = pairs.map(|(term, value)| (*term, Value::Bits(*value))).collect();
        let mut known = reads.iter().copied().zip(of_reads.iter().copied()).collect();
        let mut below = Vec::new();
        for read in reads {
            terms.for_each_child(*read, |child| below.push(child));
        }
        terms.evaluate_with(&below, &model, &mut known);
        let violated = reads::check(terms, reads, &known, &mut model);
        (violated.is_empty() && roots.iter().all(|root| terms.holds(*root, &model))).then_some(model)
    }
}

fn last_value(pair: &Sexp) -> Option<u64> {
    match pair {
        Sexp::List(pair) => pair.last()?.value(),
        Sexp::Atom(_) => None,
    }
}

impl Solver for External {
    fn assert(&mut self, terms: &mut Terms, term: Term) {
        terms.assert_bool(term);
        if let Some(level) = self.levels.last_mut() {
            level.push(term);
        }
    }

    fn push(&mut self) {
        self.levels.push(Vec::new());
    }

    fn pop(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term], budget: &Budget) -> Outcome {
        if let Err(reason) = budget.look() {
            return Outcome::Unknown(reason);
        }
        let asserted: Vec<Term> = self.levels.concat();
        if asserted.contains(&Terms::FALSE) {
            return Outcome::Unsat(Vec::new());
        }
        if assumptions.contains(&Terms::FALSE) {
            return Outcome::Unsat(vec![Terms::FALSE]);
        }
        let roots: Vec<Term> = asserted.iter().chain(assumptions).copied().collect();
        let (mut variables, mut reads) = (Vec::new(), Vec::new());
        let single = |term: Term| !terms.sort(term).is_array();
        let visit = |term: Term| match terms.kind(term) {
            Kind::Variable(_) if single(term) => variables.push(term),
            Kind::Select(..) => reads.push(term),
            _ => {}
        };
        terms.postorder(&roots, |_| true, visit);
        let wanted: Vec<Term> = variables.iter().chain(&reads).copied().collect();
        for _ in 0..2 {
            if self.process.is_none() {
                match Process::start(&self.command) {
                    Ok(process) => self.process = Some(process),
                    Err(error) => {
                        let name = self.command.first().map_or("", String::as_str);
                        return Outcome::Unknown(Reason::Solver(format!("cannot run `{name}`: {error}")));
                    }
                }
            }
            match self.decide(terms, &roots, &wanted, budget) {
                Ok(Verdict::Unsat) => {
                    return Outcome::Unsat(self.core(terms, &asserted, assumptions, budget));
                }
                Ok(Verdict::Sat(values)) => {
                    return match Self::model(terms, &roots, &variables, &reads, &values) {
                        Some(model) => Outcome::Sat(model),
                        None => Outcome::Unknown(Reason::Solver("the solver's model is wrong".to_owned())),
                    };
                }
                Err(Silence::Budget(reason)) => {
                    self.process = None;
                    return Outcome::Unknown(reason);
                }
                Err(Silence::Gone) => self.process = None,
            }
        }
        Outcome::Unknown(Reason::Solver("the solver ended without an answer".to_owned()))
    }
}

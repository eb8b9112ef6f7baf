//! `wherefore serve FILE`: the page of an explanation, with the engines behind it.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use wherefore_check::{FailingRun, Through, through};
use wherefore_program::Node;
use wherefore_report::html::answer;
use wherefore_report::{PageOptions, Question, page};

use super::explain::{EffortArgs, explained, replayed, seen};
use super::report::Word;
use super::{ProgramArgs, Subject};
use crate::exit::{CliError, Exit, print};

/// Explain a program on a page in the browser, and answer its questions: a failing run through any
/// line.
#[derive(Args)]
pub struct ServeArgs {
    #[command(flatten)]
    program: ProgramArgs,

    #[command(flatten)]
    effort: EffortArgs,

    /// The port on this machine; 0 takes any that is free. Other machines cannot connect.
    #[arg(long, value_name = "NUMBER", default_value_t = 8000)]
    port: u16,

    /// The time for one question.
    #[arg(long, value_name = "SECONDS", value_parser = crate::limits::seconds, default_value = "10")]
    patience: Duration,
}

/// Reads, explains, and serves until it is interrupted.
pub fn run(args: &ServeArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port));
    let failed = |error| CliError::File { file: format!("port {}", args.port), error };
    let listener = listener.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let subject = args.program.load_without_guard()?;
    let question = wherefore_check::Question { shows_proofs: true, ..args.program.usual_question() };
    let verdicts = subject.answer(&question);
    let explanation = explained(&args.program, &args.effort, &subject, &verdicts);
    let text =
        format!("http://localhost:{}/ shows {}; Ctrl-C ends it\n", address.port(), args.program.name());
    print(out, &text, Exit::Negative)?;
    // One question at a time: the machine is the user's.
    let busy = Mutex::new(());
    let reply = |question: Question| {
        let _turn = busy.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (run, reason) = match args.failing_run(&subject, question) {
            Ok(failure) => (Some(args.shown(&subject, &failure)), None),
            Err(reason) => (None, Some(reason)),
        };
        answer(&explanation, run.as_ref(), reason.as_deref())
    };
    let page = page(&explanation, &PageOptions { live: true });
    let stop = crate::limits::interruption();
    wherefore_report::serve(listener, &page, &reply, &stop).map_err(failed)?;
    Ok(Word::of(&verdicts).exit())
}

impl ServeArgs {
    /// A failing run through a line, or why there is none.
    fn failing_run(&self, subject: &Subject, question: Question) -> Result<FailingRun, String> {
        let program = &subject.task.program;
        let here = |node: &Node| {
            let span = program.location(*node).span;
            span.file.0 as usize == question.file && program.line(*node) == Some(question.line)
        };
        let nodes: Vec<Node> = program.nodes().filter(here).collect::<BTreeSet<_>>().into_iter().collect();
        if nodes.is_empty() {
            return Err("there is no statement on this line".to_owned());
        }
        let budget = subject.budget.within(self.patience);
        match through(program, &subject.task.checks, &nodes, &budget) {
            Through::Run(failure) => Ok(failure),
            Through::None { reason } => Err(format!("no failing run passes here: {reason}")),
            Through::Unknown(why) => Err(format!("not known, because {}", why.words(program))),
        }
    }

    fn shown(&self, subject: &Subject, failure: &FailingRun) -> wherefore_explain::model::Run {
        let mut run = seen(&self.effort, subject).run(failure);
        run.replay = replayed(&self.program, subject, failure);
        run
    }
}

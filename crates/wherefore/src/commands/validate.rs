//! `wherefore validate WITNESS FILE…`: is it true what another tool says about a program?

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wherefore_frontend::c::witness::{Content, Witness, read_witness};
use wherefore_program::{ErrorKind, ViolationKind};
use wherefore_report::sha256_of;

use super::report::{CheckReport, CheckWord, Parts, Replayed, Word};
use super::{ProgramArgs, Subject, text};
use crate::colour;
use crate::exit::{CliError, Exit, print};

/// Exit codes of this command.
const HELP: &str = "\
Exit codes:
  0   confirmed: the invariants hold and the program is safe, or a run fails as described
  10  refuted: an invariant does not hold, the program fails, or no run fails as described
  5   unknown: a limit was reached, or the property is not decided
  2   bad input or usage
  130 interrupted before there was a verdict (Ctrl-C)";

/// Check a witness of another tool: its invariants, or the failing run that it describes (C).
///
/// Reads verification witnesses of format 2 (YAML). The invariants of a correctness witness must
/// hold whenever a run comes to their places; they are used to prove the property. For a violation
/// witness a failing run is looked for that passes its waypoints in their order; it is replayed by
/// the compiled program.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct ValidateArgs {
    /// The witness (.yml).
    witness: PathBuf,

    #[command(flatten)]
    program: ProgramArgs,

    /// Accept a witness that was made for another version of the files, as their digests show.
    #[arg(long)]
    any_version: bool,
}

/// What became of a witness.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Confirmed,
    Refuted,
    Unknown,
}

/// The answer as JSON.
#[derive(Serialize)]
struct Report<'a> {
    witness: Outcome,
    kind: &'static str,
    words: String,
    /// What the compiled program does with the run that a witness describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<&'a Replayed>,
    /// The answer of `check` about the invariants and the property.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'a CheckReport>,
}

/// Reads, decides, prints.
pub fn run(args: &mut ValidateArgs, out: &mut impl Write) -> Result<Exit, CliError> {
    let name = args.witness.display().to_string();
    let file = |error| CliError::File { file: name.clone(), error };
    let witness = read_witness(&name, &std::fs::read_to_string(&args.witness).map_err(file)?)?;
    let is_proof = matches!(witness.content, Content::Correctness(_));
    args.program.c.witness = Some(witness.clone());
    let subject = args.program.load()?;
    let Some(c) = &subject.c else {
        return Err(args.program.question("witnesses are about C programs".to_owned()));
    };
    if !args.any_version {
        other_version(&witness, &c.files)
            .map_or(Ok(()), |message| Err(CliError::Question { file: name.clone(), message }))?;
    }
    let left_out = c.options.insertions.left_out;
    let answer = subject.answer(&args.program.usual_question());
    let report = CheckReport::of(&subject, &answer, Parts::default());
    let verdict = report.verdict;
    let outcome = match (is_proof, verdict) {
        (_, Word::Unknown) => Outcome::Unknown,
        (true, Word::Safe) | (false, Word::Unsafe) => Outcome::Confirmed,
        (true, Word::Unsafe) | (false, Word::Safe) => Outcome::Refuted,
    };
    let words = in_words(&subject, is_proof, verdict, &report, left_out);
    let kind = if is_proof { "correctness" } else { "violation" };
    let text = if args.program.json {
        let replay = report.replay.as_ref().filter(|_| !is_proof);
        text::json(&Report { witness: outcome, kind, words, replay, check: is_proof.then_some(&report) })
    } else {
        let word = match outcome {
            Outcome::Confirmed => "confirmed",
            Outcome::Refuted => "refuted",
            Outcome::Unknown => "unknown",
        };
        // A run that a witness describes has steps that count its waypoints, and is not shown.
        let below = match (is_proof, &report.replay, &report.error) {
            (true, _, _) => {
                let style = text::CheckStyle { colour: colour::is_wanted(), ..Default::default() };
                text::check(&report, &args.program.name(), &style)
            }
            (false, Some(replay), Some(error)) => format!("{}\n", text::replayed(replay, error)),
            (false, _, _) => String::new(),
        };
        format!("{name}: {word}: {words}\n{below}")
    };
    let exit = match outcome {
        Outcome::Confirmed => Exit::Negative,
        Outcome::Refuted => Exit::Positive,
        Outcome::Unknown => Exit::Unknown,
    };
    print(out, &text, exit)
}

/// Why the witness is about other files, if its digests show it.
fn other_version(witness: &Witness, files: &[PathBuf]) -> Option<String> {
    let digests: Vec<String> =
        files.iter().filter_map(|file| std::fs::read(file).ok()).map(|bytes| sha256_of(&bytes)).collect();
    let (file, _) = witness.digests.iter().find(|(_, digest)| !digests.contains(digest))?;
    Some(format!("the witness was made for another version of `{file}` (--any-version accepts it)"))
}

/// What became of the witness, and why.
fn in_words(
    subject: &Subject,
    is_proof: bool,
    verdict: Word,
    report: &CheckReport,
    left_out: usize,
) -> String {
    let checks = &subject.task.checks;
    let is_claim = |kind: &ErrorKind| *kind == ErrorKind::Violation(ViolationKind::Claim);
    let claims = checks.iter().filter(|site| is_claim(&site.kind)).count();
    let fails = report
        .targets
        .iter()
        .zip(checks)
        .find(|(target, site)| is_claim(&site.kind) && target.verdict == CheckWord::Unsafe);
    let mut words = match (is_proof, verdict, fails) {
        (true, Word::Safe, _) => format!("{} and the program is safe", hold(claims)),
        (true, Word::Unsafe, Some((target, _))) => {
            format!("an invariant at line {} does not hold", target.place.line)
        }
        (true, Word::Unsafe, None) => "the program fails".to_owned(),
        (false, Word::Unsafe, _) => "a run that passes its waypoints fails".to_owned(),
        (false, Word::Safe, _) => "no run that passes its waypoints fails".to_owned(),
        (_, Word::Unknown, _) => {
            let reason = report.reason.as_deref().unwrap_or("some of it was not decided");
            format!("not decided, because {reason}")
        }
    };
    if left_out > 0 {
        let which = if left_out == 1 { "1 waypoint is" } else { &format!("{left_out} waypoints are") };
        words.push_str(&format!("; {which} not looked at"));
    }
    words
}

fn hold(claims: usize) -> String {
    match claims {
        0 => "there are no invariants to check,".to_owned(),
        1 => "its invariant holds".to_owned(),
        _ => format!("its {claims} invariants hold"),
    }
}

//! One screen of text: what the verdict is, where, why and when the program fails, where the fault
//! is likely to be, and how the failure is reproduced.

mod paper;

use wherefore_explain::model::{
    Assumption, CheckVerdict, Explanation, Focus, Grounds, InputValue, Line, Neighbourhood, Run, Verdict,
};

use crate::folds::{Fold, folded};
use crate::source::{Sources, count, decision, files_of, is_sound, lines_in, ranges};
use paper::{Ink, Paper};

/// The most statements of a sequence, lines of a neighbourhood, and so on, that are shown.
const MOST: usize = 12;

/// What the screen is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// How many columns it has.
    pub width: usize,
    /// Whether colours may be used; if not, there are no escape codes.
    pub colour: bool,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self { width: 80, colour: false }
    }
}

/// The whole explanation, on one screen if the program is small.
pub fn terminal(explanation: &Explanation, options: &TerminalOptions) -> String {
    let sources = Sources::new(explanation);
    let mut paper = Paper::new(options);
    verdict(explanation, &sources, &mut paper);
    if explanation.verdict == Verdict::Unsafe {
        for part in [location, cause, circumstances, fault, reproduction] {
            part(explanation, &sources, &mut paper);
        }
    } else {
        proof(explanation, &sources, &mut paper);
    }
    rests_on(explanation, &mut paper);
    paper.finish()
}

/// What matters most of a failure, in at most ten lines at 80 columns: the end of an answer that
/// has said already that the program fails. Nothing for other verdicts.
pub fn short(explanation: &Explanation, options: &TerminalOptions) -> String {
    let sources = Sources::new(explanation);
    let mut paper = Paper::new(options);
    if explanation.verdict != Verdict::Unsafe {
        return paper.finish();
    }
    let projection = &explanation.projection;
    if !projection.inside.is_empty() {
        let all = projection.inside.len() + projection.outside.len();
        let verb = if projection.exact { "lie" } else { "may lie" };
        let text = format!(
            "{} of {all} lines with statements {verb} on failing runs: {}",
            projection.inside.len(),
            at_most(&places(&projection.inside, &sources), 2)
        );
        paper.prose("where: ", Ink::Heading, &text, 2);
    }
    if let Some(focus) = explanation.focus.first() {
        let statements = focus.statements.iter();
        let texts: Vec<String> =
            statements.map(|at| format!("{} ({})", at.text, number(at.extent.line(), &sources))).collect();
        paper.prose("why: ", Ink::Heading, &shortened(&texts, 5, "; "), 2);
        if !focus.assumptions.is_empty() {
            paper.prose("when: ", Ink::Heading, &shortened(&assumptions(focus), 3, " and "), 2);
        }
    }
    if let Some(first) = explanation.neighbourhoods.first() {
        let lines = suspects(explanation, first).into_iter().take(2);
        let texts: Vec<String> =
            lines.map(|line| format!("{}: `{}`", sources.place(line), sources.line(line).trim())).collect();
        paper.prose("likely fault: ", Ink::Heading, &texts.join(", "), 2);
    }
    paper.finish()
}

fn verdict(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let (word, ink) = match explanation.verdict {
        Verdict::Safe => ("safe", Ink::Good),
        Verdict::Unsafe => ("unsafe", Ink::Bad),
        Verdict::Unknown => ("unknown", Ink::Doubt),
    };
    let more = match (&explanation.error, explanation.verdict) {
        (Some(place), Verdict::Unsafe) => {
            let at = sources.place(place.extent.line());
            let label = place.label.as_deref().unwrap_or("");
            match place.kind.as_str() {
                "assertion" => format!(": the assertion at {at} can fail"),
                "label" => format!(": the label {label} at {at} can be reached"),
                _ if place.is_rule() => format!(": at {at}, {label}"),
                _ => format!(": {label} can be called at {at}"),
            }
        }
        (None, Verdict::Unsafe) => ": some run fails".into(),
        (_, Verdict::Safe) => ": no run fails".into(),
        (_, Verdict::Unknown) => match &explanation.reason {
            Some(reason) => format!(": {reason}"),
            None => String::new(),
        },
    };
    let count_of = |verdict| explanation.checks.iter().filter(|check| check.verdict == verdict).count();
    let file = if explanation.file.is_empty() { "the program" } else { &explanation.file };
    paper.prose(&format!("{file}: {word}"), ink, &more, 2);
    if let (Some(reason), false) = (&explanation.reason, explanation.verdict == Verdict::Unknown) {
        paper.prose("note: ", Ink::Doubt, reason, 2);
    }
    if explanation.checks.len() > 1 || count_of(CheckVerdict::Unreachable) > 0 {
        // Rules of C that hold are many.
        let is_quiet = |check: &wherefore_explain::model::Check| {
            check.place.is_rule() && check.verdict == CheckVerdict::Safe
        };
        let quiet = explanation.checks.iter().filter(|check| is_quiet(check)).count();
        for check in explanation.checks.iter().filter(|check| !is_quiet(check)) {
            let (word, ink) = match check.verdict {
                CheckVerdict::Safe => ("holds", Ink::Good),
                CheckVerdict::Unsafe => ("can fail", Ink::Bad),
                CheckVerdict::Unknown => ("unknown", Ink::Doubt),
                CheckVerdict::Unreachable => ("unreachable", Ink::Doubt),
            };
            let at = sources.place(check.place.extent.line());
            let label = check.place.label.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
            let reason = check.reason.as_ref().filter(|reason| Some(*reason) != explanation.reason.as_ref());
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let text = format!("  {at}: {}{label}{reason}", check.place.kind);
            paper.prose(&format!("  {word:11}"), ink, &text, 4);
        }
        if quiet > 0 {
            let text = format!("  {} for undefined behaviour", count(quiet, "check"));
            paper.prose(&format!("  {:11}", "holds"), Ink::Good, &text, 4);
        }
    }
}

fn location(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let projection = &explanation.projection;
    if projection.inside.is_empty() && projection.outside.is_empty() {
        return;
    }
    let (inside, outside) = (projection.inside.len(), projection.outside.len());
    let confirmed = projection.confirmed.len();
    let certainty = match (projection.exact, confirmed) {
        (true, _) => ", each confirmed by a run".to_string(),
        (false, 0) => String::new(),
        (false, _) => format!("; {confirmed} of them confirmed by a run"),
    };
    paper.blank();
    let verb = if projection.exact { "lie" } else { "may lie" };
    let text =
        format!("{inside} of {} lines with statements {verb} on failing runs{certainty}", inside + outside);
    paper.prose("where: ", Ink::Heading, &text, 2);
    for place in places(&projection.inside, sources) {
        paper.prose("", Ink::Faint, &format!("  {}", shorten_ranges(&place)), 4);
    }
    if outside > 0 {
        let share = 100 * outside / (inside + outside);
        let verb = if outside == 1 { "is" } else { "are" };
        let text =
            format!("  {} ({share} %) {verb} cleared: no failing run goes there", count(outside, "line"));
        paper.prose("", Ink::Faint, &text, 4);
    }
}

/// Lines as ranges, file by file: `a.c: 1-3, 5`.
fn places(lines: &[Line], sources: &Sources) -> Vec<String> {
    let place = |file| format!("{}: {}", sources.name(file), ranges(&lines_in(lines, file)));
    files_of(lines).into_iter().map(place).collect()
}

/// Not more than a few lines of ranges.
fn shorten_ranges(text: &str) -> String {
    let parts: Vec<&str> = text.split(", ").collect();
    match parts.len() > 24 {
        true => format!("{}, … ({} more ranges)", parts[..24].join(", "), parts.len() - 24),
        false => text.into(),
    }
}

fn at_most(places: &[String], most: usize) -> String {
    let shown: Vec<String> = places.iter().take(most).map(|place| shorten_ranges(place)).collect();
    let more = places.len().saturating_sub(most);
    shown.join("; ") + &if more > 0 { format!("; {}", count(more, "more file")) } else { String::new() }
}

fn shortened(texts: &[String], most: usize, between: &str) -> String {
    if texts.len() <= most {
        return texts.join(between);
    }
    let (first, last) = (&texts[..most - 1], &texts[texts.len() - 1]);
    format!("{}{between}…{between}{last}", first.join(between))
}

/// The number of a line; with its file if that is not the first.
fn number(line: Line, sources: &Sources) -> String {
    if line.file == 0 { format!("line {}", line.line) } else { sources.place(line) }
}

fn cause(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let Some(focus) = explanation.focus.first() else { return };
    paper.blank();
    let others = match explanation.focus.len() - 1 {
        0 => String::new(),
        more => format!(" ({})", count(more, "more sequence")),
    };
    let run = focus.run.and_then(|run| explanation.runs.get(run));
    let of = run.map_or(String::new(), |run| format!(", in a run of {}", count(run.steps.len(), "step")));
    let doubt = if focus.feasible { "" } else { "; no run is known that executes them all" };
    let statements = count(focus.statements.len(), "statement");
    let text = format!("the failure depends on {statements}{of}{doubt}{others}");
    paper.prose("why: ", Ink::Heading, &text, 2);
    let mut last: Option<Line> = None;
    let keys: Vec<_> = focus.statements.iter().map(|at| (at.extent, &at.text, &at.procedure)).collect();
    let entries: Vec<Entry> = folded(&keys, |_| true).iter().flat_map(entries).collect();
    let hidden = entries.len().saturating_sub(MOST);
    for (at, entry) in entries.iter().enumerate() {
        // The first ones and the last ones are shown.
        if hidden > 0 && (MOST / 2..MOST / 2 + hidden).contains(&at) {
            if at == MOST / 2 {
                let inside = entries[at..at + hidden].iter().map(Entry::statements).sum();
                paper.prose("", Ink::Faint, &format!("    … | {}", count(inside, "more statement")), 8);
            }
            last = None;
            continue;
        }
        let position = match entry {
            Entry::Statement(position) => *position,
            Entry::Again { times, .. } => {
                let text = format!("    … | {} like this", count(*times, "more iteration"));
                paper.prose("", Ink::Faint, &text, 8);
                last = None;
                continue;
            }
        };
        let statement = &focus.statements[position];
        let line = statement.extent.line();
        if last.map_or(line.file != 0, |last| last.file != line.file) {
            paper.file(sources.name(line.file));
        } else if last.is_some_and(|last| line.line != last.line && line.line != last.line.saturating_add(1))
        {
            paper.gap();
        }
        last = Some(line);
        let decided = decision(explanation, focus, position);
        let note = decided.map_or("", |holds| if holds { "true" } else { "false" });
        let text = sources.line(line);
        if sources.has(line) && is_sound(&statement.extent) {
            let to = if statement.extent.end.0 == line.line { statement.extent.end.1 } else { u32::MAX };
            paper.source(&line.line.to_string(), text, Some((statement.extent.start.1, to)), note);
        } else {
            paper.source("", &statement.text, None, "");
        }
    }
}

/// What is shown of a sequence.
enum Entry {
    /// A statement, by its position.
    Statement(usize),
    /// The statements before it, so many times again.
    Again { times: usize, statements: usize },
}

impl Entry {
    /// For how many statements it stands.
    fn statements(&self) -> usize {
        match self {
            Self::Statement(_) => 1,
            Self::Again { statements, .. } => *statements,
        }
    }
}

fn entries(item: &Fold) -> Vec<Entry> {
    match item {
        Fold::One(at) => vec![Entry::Statement(*at)],
        Fold::Repeated { body, again, rest } => {
            let mut all: Vec<Entry> = body.iter().flat_map(entries).collect();
            all.push(Entry::Again { times: again.len(), statements: rest.len() });
            all
        }
    }
}

/// The assumptions of a sequence as texts.
fn assumptions(focus: &Focus) -> Vec<String> {
    let text = |assumption: &Assumption| match assumption.unless_overflow {
        true => format!("{} (unless arithmetic overflows)", assumption.text),
        false => assumption.text.clone(),
    };
    focus.assumptions.iter().map(text).collect()
}

fn circumstances(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let Some(focus) = explanation.focus.first() else { return };
    paper.blank();
    if focus.assumptions.is_empty() {
        let text = match explanation.always {
            true => "always: no run ends without failing",
            false => "no condition on named inputs; it depends on choices along the run",
        };
        paper.prose("when: ", Ink::Heading, text, 2);
        return;
    }
    let lines = focus.assumptions.iter().map(|assumption| number(assumption.line, sources));
    let texts: Vec<String> =
        assumptions(focus).iter().zip(lines).map(|(text, line)| format!("{text} ({line})")).collect();
    paper.prose("when: ", Ink::Heading, &shortened(&texts, MOST, " and "), 2);
    let reduced = explanation.reduced.iter().find(|reduced| reduced.focus == 0);
    if let Some(reduced) = reduced.filter(|reduced| reduced.assumptions.len() < focus.assumptions.len()) {
        let text = match reduced.assumptions.is_empty() {
            true => "  of these, none is needed by every sequence".to_string(),
            false => format!("  of these, every sequence needs {}", reduced.assumptions.join(" and ")),
        };
        paper.prose("", Ink::Faint, &text, 4);
    }
}

/// The lines of a neighbourhood: those with repairs first, then by suspicion, then as they are
/// executed.
fn suspects(explanation: &Explanation, neighbourhood: &Neighbourhood) -> Vec<Line> {
    let score = |line: &Line| explanation.suspicion.get(line).copied().unwrap_or(0.0);
    let mut lines = neighbourhood.lines.clone();
    lines.sort_by(|a, b| {
        let repairs = |line| neighbourhood.repairs.contains(line);
        repairs(b).cmp(&repairs(a)).then(score(b).total_cmp(&score(a)))
    });
    lines
}

fn fault(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let Some(first) = explanation.neighbourhoods.first().filter(|first| !first.lines.is_empty()) else {
        return;
    };
    paper.blank();
    let whose = if first.lines.len() == 1 { "its suspicion" } else { "the suspicion of each" };
    let text = format!("{}, with {whose}", count(first.lines.len(), "line"));
    paper.prose("likely fault: ", Ink::Heading, &text, 2);
    let lines = suspects(explanation, first);
    let row = |&line: &Line| {
        let score = explanation.suspicion.get(&line).map(|score| format!("{score:.2}"));
        let repair = first.repairs.contains(&line).then(|| "a change here repairs".to_string());
        let note: Vec<String> = score.into_iter().chain(repair).collect();
        (line.line.to_string(), sources.line(line).trim_start(), note.join(", "))
    };
    for part in lines[..lines.len().min(MOST / 2)].chunk_by(|a, b| a.file == b.file) {
        if part[0].file != 0 {
            paper.file(sources.name(part[0].file));
        }
        paper.noted(&part.iter().map(row).collect::<Vec<_>>());
    }
    if lines.len() > MOST / 2 {
        paper.gap();
    }
}

fn reproduction(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let run = explanation.runs.first();
    let reproduce = &explanation.reproduce;
    if run.is_none() && reproduce.command.is_empty() {
        return;
    }
    paper.blank();
    paper.prose("reproduce:", Ink::Heading, "", 2);
    if let Some(inputs) = run.map(|run| inputs(run, sources)).filter(|inputs| !inputs.is_empty()) {
        paper.prose("  inputs   ", Ink::Faint, &shortened(&inputs, MOST, ", "), 11);
    }
    if !reproduce.command.is_empty() {
        paper.prose("  command  ", Ink::Faint, &reproduce.command, 11);
    }
    if let Some(harness) = &reproduce.harness {
        paper.prose("  test     ", Ink::Faint, harness, 11);
    }
    if let Some(replay) = run.and_then(|run| run.replay.as_ref()) {
        let why = replay.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
        paper.prose("  replay   ", Ink::Faint, &format!("{}{why}", replay.outcome), 11);
    }
}

fn inputs(run: &Run, sources: &Sources) -> Vec<String> {
    let input = |input: &InputValue| {
        format!("{} = {} ({})", input.name, input.value, number(input.extent.line(), sources))
    };
    run.inputs.iter().map(input).collect()
}

fn proof(explanation: &Explanation, sources: &Sources, paper: &mut Paper) {
    let stats = &explanation.stats;
    if explanation.verdict == Verdict::Safe {
        let by = match stats.engine.as_deref() {
            Some("bounded") => "unrolling: every run ends within the bound".to_string(),
            Some("cegar") => {
                format!("abstraction refinement, {} refuted", count(stats.cycles, "counterexample"))
            }
            Some("diagrams") => "decision diagrams: no state that can be reached fails".into(),
            Some("values") => "decision diagrams over the variables that take few values".into(),
            Some("states") => "enumeration of states, with constants for pointers and flags".into(),
            Some("run") => "its only run: it takes no input".into(),
            Some("induction") => "induction".into(),
            Some("pdr") => "property-directed reachability".into(),
            Some("flow") => "data flow: the ranges of variables".into(),
            Some(other) => other.into(),
            None => "an engine that is not named".into(),
        };
        paper.blank();
        let grounds = explanation.grounds.as_ref();
        let checked = grounds.and_then(|grounds| grounds.checked.as_ref());
        let checked = checked.map_or_else(String::new, |checked| format!("; {checked}"));
        paper.prose("proved by: ", Ink::Heading, &format!("{by}{checked}"), 2);
        if let Some(grounds) = grounds {
            self::grounds(grounds, sources, paper);
        }
        let loops = explanation.invariants.iter().filter(|invariant| invariant.is_loop).count();
        if !explanation.invariants.is_empty() {
            let text = match loops {
                0 => explanation.invariants.len().to_string(),
                _ => format!("{}, {loops} of them at heads of loops", explanation.invariants.len()),
            };
            paper.prose("invariants: ", Ink::Heading, &text, 2);
            // What holds at heads of loops is what holds a proof together.
            let mut first: Vec<_> = explanation.invariants.iter().collect();
            first.sort_by_key(|invariant| !invariant.is_loop);
            for invariant in first.into_iter().take(MOST) {
                let text = format!("{}: {}", sources.place(invariant.extent.line()), invariant.formula);
                paper.prose("", Ink::Faint, &format!("  {text}"), 4);
            }
            if explanation.invariants.len() > MOST {
                paper.gap();
            }
        }
    }
    if !explanation.reproduce.command.is_empty() {
        paper.blank();
        paper.prose("reproduce: ", Ink::Heading, &explanation.reproduce.command, 2);
    }
}

/// How the checks hold, and which lines they depend on.
fn grounds(grounds: &Grounds, sources: &Sources, paper: &mut Paper) {
    let parts =
        [(grounds.by_proof, "by this proof"), (grounds.by_data_flow, "by data flow (ranges of variables)")];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let mut text: Vec<String> = parts.map(|(number, how)| format!("{number} {how}")).collect();
    if grounds.vacuous > 0 {
        text.push(format!("{} of them only because no run comes there", grounds.vacuous));
    }
    if !text.is_empty() {
        paper.prose("checks that hold: ", Ink::Heading, &text.join(", "), 2);
    }
    if grounds.lines.is_empty() {
        return;
    }
    let others = grounds.of.saturating_sub(grounds.lines.len());
    let text = format!("{} of {} lines with statements", grounds.lines.len(), grounds.of);
    paper.prose("it depends on: ", Ink::Heading, &text, 2);
    for place in places(&grounds.lines, sources) {
        paper.prose("", Ink::Faint, &format!("  {}", shorten_ranges(&place)), 4);
    }
    if others > 0 {
        let verb = if others == 1 { "does" } else { "do" };
        let text = format!("  {} {verb} not matter for these checks", count(others, "line"));
        paper.prose("", Ink::Faint, &text, 4);
    }
}

fn rests_on(explanation: &Explanation, paper: &mut Paper) {
    if !explanation.assumptions.is_empty() {
        paper.blank();
        paper.prose("this rests on:", Ink::Heading, "", 2);
        for text in explanation.assumptions.iter().take(MOST / 2) {
            paper.prose("", Ink::Faint, &format!("  {text}"), 4);
        }
        if explanation.assumptions.len() > MOST / 2 {
            let more = count(explanation.assumptions.len() - MOST / 2, "more assumption");
            paper.prose("", Ink::Faint, &format!("  and {more}"), 4);
        }
    }
    if !explanation.stats.incomplete.is_empty() {
        let text = explanation.stats.incomplete.join(", ");
        paper.prose("cut short by the budget: ", Ink::Doubt, &text, 2);
    }
}

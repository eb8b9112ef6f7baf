//! A failing schedule as text: one lane for each thread.

use std::fmt::Write;

use super::super::schedule::{Line, Schedules};

/// Lanes: one block for each context, values where they change.
pub fn write(out: &mut String, schedules: &Schedules) {
    lanes(out, schedules, false);
}

/// The same with the steps that matter only, and with what is known of the switches.
pub fn write_in_part(out: &mut String, schedules: &Schedules) {
    lanes(out, schedules, true);
}

/// A statement in a lane: its steps together.
struct Shown<'a> {
    step: &'a Line,
    changes: Vec<&'a (String, String)>,
    matters: bool,
}

/// A statement that takes several steps is shown once, with all that it changes.
fn statements(steps: &[Line]) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for step in steps {
        let matters = step.matters != Some(false);
        match shown.last_mut() {
            Some(last)
                if (last.step.line, &last.step.text, &last.step.procedure)
                    == (step.line, &step.text, &step.procedure) =>
            {
                last.changes.extend(&step.changes);
                last.matters |= matters;
            }
            _ => shown.push(Shown { step, changes: step.changes.iter().collect(), matters }),
        }
    }
    shown
}

fn lanes(out: &mut String, schedules: &Schedules, in_part: bool) {
    let blocks = &schedules.schedule;
    // That the first thread is left when it has started all others is no switch.
    let is_free = schedules.switches.is_some_and(|switches| switches + 1 < blocks.len());
    let lane = blocks.iter().map(|block| block.name.chars().count()).max().unwrap_or(0);
    let texts = blocks.iter().flat_map(|block| &block.steps);
    let texts = texts.filter(|step| !in_part || step.matters != Some(false));
    let width = texts.map(|step| step.text.chars().count()).max().unwrap_or(0).min(48);
    for (at, block) in blocks.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|at| &blocks[at]) {
            let words = match &before.switch {
                _ if at == 1 && is_free => "start".to_owned(),
                Some(switch) => format!("switch{}", switch.words()),
                None => "switch".to_owned(),
            };
            let _ = writeln!(out, "  {}  {words}", "─".repeat(lane + 4));
        }
        let mut name = format!("{} {:lane$}", block.thread, block.name);
        let mut is_left_out = false;
        if block.steps.is_empty() {
            let _ = writeln!(out, "  {}", name.trim_end());
        }
        for Shown { step, changes, matters } in statements(&block.steps) {
            if in_part && !matters {
                is_left_out = true;
                continue;
            }
            if std::mem::take(&mut is_left_out) {
                let _ = writeln!(out, "  {name}      …");
                name = " ".repeat(lane + 2);
            }
            let changes: Vec<String> =
                changes.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let line = format!("  {name}  {:5}  {:width$}  {}", step.line, step.text, changes.join(" "));
            let _ = writeln!(out, "{}", line.trim_end());
            name = " ".repeat(lane + 2);
        }
        if is_left_out {
            let _ = writeln!(out, "  {name}      …");
        }
    }
}

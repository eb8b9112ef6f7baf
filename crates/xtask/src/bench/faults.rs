//! Programs with known faults: does the explanation lead to them?
//!
//! `FOLDER/faults.csv` lists the programs: `path`, `fault_line`, and `other_unmarked_faults`, which
//! is not 0 if the line is not the whole fault. How they are read is said by the `index.csv` in the
//! nearest folder above each of them, as for `cargo xtask accept`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

use super::median;
use super::table::{Table, times};
use crate::accept::{self, Task};

/// A line of the list.
struct Fault {
    path: String,
    line: u64,
    is_whole: bool,
}

/// What an explanation says about a fault.
struct Found {
    inside: bool,
    near: bool,
    /// Lines of the first neighbourhood.
    size: usize,
    /// The place of the line among those of failing runs, by suspicion; ties count as the middle of
    /// them.
    place: Option<f64>,
    lines: usize,
    check: f64,
    explanation: f64,
}

/// Explains all programs of a folder and prints what was found.
pub fn run(folder: Option<&Path>, timeout: u64) -> ExitCode {
    let given = folder.map(Path::to_owned).or_else(|| std::env::var_os("WHEREFORE_BENCH").map(PathBuf::from));
    let Some(folder) = given else {
        eprintln!("error: name a folder with `faults.csv`, or set WHEREFORE_BENCH");
        return ExitCode::from(2);
    };
    let faults = match read(&folder.join("faults.csv")) {
        Ok(faults) => faults,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let columns =
        ["program", "fault", "inside", "near", "lines", "place", "of", "check s", "explain s", "ratio"];
    let mut table = Table::new(&columns);
    let mut all: Vec<Found> = Vec::new();
    let mut missed = Vec::new();
    for fault in &faults {
        match explain(&folder, fault, timeout) {
            Ok(found) => {
                table.row(row(fault, &found));
                all.push(found);
            }
            Err(reason) => {
                let reason = reason.replace(&format!("{}/", folder.display()), "");
                missed.push(format!("{}: {reason}", fault.path));
            }
        }
    }
    table.print("known faults");
    for reason in &missed {
        println!("not explained: {reason}");
    }
    summary(&all, faults.len());
    ExitCode::SUCCESS
}

fn row(fault: &Fault, found: &Found) -> Vec<String> {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let name =
        Path::new(&fault.path).file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    vec![
        name,
        format!("{}{}", fault.line, if fault.is_whole { "" } else { " +" }),
        yes(found.inside),
        yes(found.near),
        found.size.to_string(),
        found.place.map_or("-".to_owned(), |place| format!("{place:.1}")),
        found.lines.to_string(),
        format!("{:.2}", found.check),
        format!("{:.2}", found.explanation),
        times(found.explanation / found.check.max(1e-9)),
    ]
}

fn summary(all: &[Found], faults: usize) {
    let share = |wanted: &dyn Fn(&Found) -> bool| {
        let count = all.iter().filter(|found| wanted(found)).count();
        format!("{count} of {} ({:.0} %)", all.len(), 100.0 * count as f64 / all.len().max(1) as f64)
    };
    println!("\nexplained: {} of {faults}", all.len());
    println!("fault inside the projection: {}", share(&|found| found.inside));
    println!("fault in the first neighbourhood: {}", share(&|found| found.near));
    println!(
        "lines of the first neighbourhood, median: {:.0}",
        median(all.iter().map(|found| found.size as f64).collect())
    );
    let places: Vec<f64> =
        all.iter().filter_map(|found| found.place.map(|place| place / found.lines.max(1) as f64)).collect();
    println!(
        "place of the fault by suspicion, as a share of the lines of failing runs, median: {:.2}",
        median(places)
    );
    let ratios = all.iter().map(|found| found.explanation / found.check.max(1e-9)).collect();
    println!("time of the explanation against that of the verdict, median: {}", times(median(ratios)));
}

fn read(path: &Path) -> Result<Vec<Fault>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let fault = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [path, line, others] = cells[..] else { return Err(format!("three columns, not `{line}`")) };
        let line = line.trim().parse().map_err(|_| format!("`{line}` is no line"))?;
        Ok(Fault { path: path.to_owned(), line, is_whole: others.trim() == "0" })
    };
    text.lines().skip(1).filter(|line| !line.is_empty()).map(fault).collect()
}

/// How a program is read: its line in the nearest index.
fn task(program: &Path) -> Option<Task> {
    let folder = program.ancestors().skip(1).find(|folder| folder.join("index.csv").is_file())?;
    let name = program.strip_prefix(folder).ok()?.to_string_lossy().into_owned();
    accept::read(&folder.join("index.csv")).ok()?.into_iter().find(|task| task.path == name)
}

fn explain(folder: &Path, fault: &Fault, timeout: u64) -> Result<Found, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = folder.join(&fault.path);
    let mut command = Command::new(me.with_file_name("wherefore"));
    command.arg("explain").arg(&program).arg("--json").args(["--timeout", &timeout.to_string()]);
    command.args(task(&program).iter().flat_map(Task::arguments));
    let output = command
        .output()
        .map_err(|error| format!("`wherefore` was not built beside this program: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Value = serde_json::from_str(&text).map_err(|_| {
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("no answer").to_owned()
    })?;
    if answer["verdict"] != "unsafe" {
        let reason = answer["reason"].as_str().unwrap_or_default();
        return Err(format!("{} {reason}", answer["verdict"].as_str().unwrap_or("no verdict")));
    }
    let lines =
        |value: &Value| -> Vec<u64> { value.as_array().into_iter().flatten().filter_map(number).collect() };
    let near = lines(&answer["neighbourhood"][0]["lines"]);
    let suspicion: Vec<(u64, f64)> = answer["suspicion"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(line, score)| Some((number(&Value::String(line.clone()))?, score.as_f64()?)))
        .collect();
    let own = suspicion.iter().find(|(line, _)| *line == fault.line).map(|(_, score)| *score);
    let place = own.map(|own| {
        let above = suspicion.iter().filter(|(_, score)| *score > own).count() as f64;
        let ties = suspicion.iter().filter(|(_, score)| *score == own).count() as f64;
        above + (ties + 1.0) / 2.0
    });
    let check = answer["stats"]["check_seconds"].as_f64().unwrap_or(f64::NAN);
    Ok(Found {
        inside: lines(&answer["projection"]["in"]).contains(&fault.line),
        near: near.contains(&fault.line),
        size: answer["neighbourhood"][0]["lines"].as_array().map_or(0, Vec::len),
        place,
        lines: suspicion.len(),
        check,
        explanation: answer["stats"]["seconds"].as_f64().unwrap_or(f64::NAN) - check,
    })
}

/// The number of a line of the first file.
fn number(line: &Value) -> Option<u64> {
    line.as_u64().or_else(|| line.as_str()?.parse().ok())
}

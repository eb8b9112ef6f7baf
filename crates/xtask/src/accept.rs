//! `cargo xtask accept DIR`: programs with known verdicts, each with its own limits; a wrong
//! verdict is a failure.
//!
//! `DIR/index.csv` lists the programs: `path`, `family`, `verdict` (safe or unsafe), `property`
//! (`reach-error(f)`, `reach-error`, `ERROR-label`, `assert`, `data-race`), `entry` and
//! `data_model`. A program that is refused has no verdict, and neither has one in which nothing of
//! its property occurs: it is safe, but only vacuously, which `wherefore` says; the index most
//! likely means something else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;

/// What to run.
#[derive(Args)]
pub struct AcceptArgs {
    /// A folder with an index of programs.
    folder: PathBuf,

    /// Seconds for each program.
    #[arg(long, default_value_t = 60)]
    timeout: u64,

    /// Programs at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,

    /// Take only every N-th program of the index.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,

    /// Take only programs whose path contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Hand these to `wherefore check` as well.
    #[arg(last = true)]
    options: Vec<String>,
}

impl AcceptArgs {
    /// All programs of a folder, with options for `wherefore check`.
    pub fn plain(folder: PathBuf, timeout: u64, jobs: usize, options: &[&str]) -> Self {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        Self { folder, timeout, jobs, every: 1, only: None, options }
    }
}

/// A line of the index.
pub struct Task {
    pub path: String,
    family: String,
    verdict: String,
    property: String,
    entry: String,
    data_model: String,
}

impl Task {
    /// How `wherefore` is told.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<&str> = Vec::new();
        if !self.data_model.is_empty() {
            arguments.extend(["--data-model", &self.data_model]);
        }
        if !self.entry.is_empty() {
            arguments.extend(["--entry", &self.entry]);
        }
        match self.property.as_str() {
            "assert" => arguments.push("--assertions"),
            "data-race" => arguments.extend(["--property", "races"]),
            "ERROR-label" => arguments.extend(["--error-label", "ERROR", "--error-label", "error"]),
            "reach-error" => {
                arguments.extend(["--error-function", "reach_error", "--error-function", "__VERIFIER_error"]);
            }
            property => {
                let function = property.trim_start_matches("reach-error(").trim_end_matches(')');
                arguments.extend(["--error-function", function]);
            }
        }
        arguments.into_iter().map(str::to_owned).collect()
    }
}

struct Answer {
    verdict: String,
    reason: String,
    seconds: f64,
    replayed: Option<String>,
    /// Whether the replay was compiled for another data model.
    other_model: bool,
}

/// Runs all programs and prints a table by family; fails if a verdict is wrong.
pub fn run(args: &AcceptArgs) -> ExitCode {
    let tasks = match read(&args.folder.join("index.csv")) {
        Ok(tasks) => tasks,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let chosen = |task: &Task| args.only.as_ref().is_none_or(|text| task.path.contains(text.as_str()));
    let tasks: Vec<Task> = tasks.into_iter().filter(chosen).step_by(args.every.max(1)).collect();
    let next = AtomicUsize::new(0);
    let answers: Mutex<BTreeMap<usize, Answer>> = Mutex::default();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(at) else { break };
                    let answer = check(args, task);
                    report(task, &answer);
                    answers.lock().expect("no thread panics").insert(at, answer);
                }
            });
        }
    });
    let answers = answers.into_inner().expect("no thread panics");
    summary(&tasks, &answers, begin.elapsed().as_secs_f64())
}

/// The lines of an index.
pub fn read(path: &Path) -> Result<Vec<Task>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column =
        |name: &str| head.iter().position(|other| *other == name).ok_or(format!("no column `{name}`"));
    let columns = ["path", "family", "verdict", "property", "entry", "data_model"];
    let columns: Vec<usize> = columns.into_iter().map(column).collect::<Result<_, _>>()?;
    let task = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |i: usize| cells.get(columns[i]).copied().unwrap_or_default().to_owned();
        let data_model = cell(5).trim_matches('?').to_lowercase().replace("host", "lp64");
        Task {
            path: cell(0),
            family: cell(1),
            verdict: cell(2),
            property: cell(3),
            entry: cell(4),
            data_model,
        }
    };
    Ok(lines.filter(|line| !line.is_empty()).map(task).collect())
}

fn check(args: &AcceptArgs, task: &Task) -> Answer {
    let me = std::env::current_exe().expect("this program has a name");
    let binary = me.with_file_name("wherefore");
    let mut command = Command::new(binary);
    // The index has one verdict for each program, so that the first failure decides.
    command.arg("check").arg(args.folder.join(&task.path)).args(["--json", "--first-failure"]);
    command.args(["--timeout", &args.timeout.to_string()]);
    command.args(task.arguments());
    command.args(&args.options);
    let begin = Instant::now();
    let output = command.output().expect("`wherefore` was built beside this program");
    let seconds = begin.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(answer) if answer["vacuous"] == true => Answer {
            verdict: "vacuous".to_owned(),
            reason: "the property speaks of nothing in the program".to_owned(),
            seconds,
            replayed: None,
            other_model: false,
        },
        Ok(answer) => Answer {
            verdict: answer["verdict"].as_str().unwrap_or("unknown").to_owned(),
            reason: answer["reason"].as_str().unwrap_or_default().to_owned(),
            seconds,
            replayed: answer["replay"]["outcome"].as_str().map(str::to_owned),
            other_model: answer["replay"]["why"].as_str().is_some_and(|why| why.contains("64 bits")),
        },
        Err(_) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let what = if output.status.code() == Some(2) { "refused" } else { "crashed" };
            let reason = errors.lines().next().unwrap_or_default().to_owned();
            Answer { verdict: what.to_owned(), reason, seconds, replayed: None, other_model: false }
        }
    }
}

fn is_wrong(task: &Task, answer: &Answer) -> bool {
    differs(task, answer) && !is_seen(answer)
}

fn differs(task: &Task, answer: &Answer) -> bool {
    // A property that holds vacuously is no proof worth counting, but "safe" was said.
    let said = if answer.verdict == "vacuous" { "safe" } else { &answer.verdict };
    ["safe", "unsafe"].contains(&said) && said != task.verdict
}

/// Whether the compiled program was seen to fail, compiled for the data model that the index names:
/// then the index is in error, or means something else. Each of these programs should be looked at.
fn is_seen(answer: &Answer) -> bool {
    answer.replayed.as_deref() == Some("confirmed") && !answer.other_model
}

fn report(task: &Task, answer: &Answer) {
    let mark = match (is_wrong(task, answer), differs(task, answer)) {
        (true, _) => "WRONG ",
        (_, true) => "SEEN TO FAIL ",
        _ => "",
    };
    let replayed = answer.replayed.as_ref().map_or(String::new(), |replay| format!(" [{replay}]"));
    println!(
        "{mark}{} is {}: {} in {:.2} s{replayed} {}",
        task.path, task.verdict, answer.verdict, answer.seconds, answer.reason
    );
}

fn summary(tasks: &[Task], answers: &BTreeMap<usize, Answer>, seconds: f64) -> ExitCode {
    #[derive(Default)]
    struct Row {
        safe: [usize; 2],
        unsafe_: [usize; 2],
        wrong: usize,
        seen: usize,
        seconds: f64,
    }
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (at, answer) in answers {
        let task = &tasks[*at];
        for family in [task.family.as_str(), "~ all"] {
            let row = rows.entry(family).or_default();
            let counts = if task.verdict == "safe" { &mut row.safe } else { &mut row.unsafe_ };
            counts[1] += 1;
            counts[0] += usize::from(answer.verdict == task.verdict);
            row.wrong += usize::from(is_wrong(task, answer));
            row.seen += usize::from(differs(task, answer) && is_seen(answer));
            row.seconds += answer.seconds;
        }
        if !["safe", "unsafe"].contains(&answer.verdict.as_str()) {
            let reason = answer.reason.split(';').next().unwrap_or_default();
            // Refusals are about one program each; what they have in common is counted.
            let reason = if answer.verdict == "refused" { "by the front end" } else { reason };
            *reasons.entry(format!("{}: {reason}", answer.verdict)).or_default() += 1;
        }
    }
    // Programs that the index calls safe, but that fail when they are compiled and run, have a
    // column of their own.
    println!("\n| family | proofs | bugs | wrong | seen to fail | seconds |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (family, row) in &rows {
        let [safe, all_safe] = row.safe;
        let [failing, all_failing] = row.unsafe_;
        println!(
            "| {family} | {safe} of {all_safe} | {failing} of {all_failing} | {} | {} | {:.0} |",
            row.wrong, row.seen, row.seconds
        );
    }
    println!("\nwithout a verdict:");
    for (reason, count) in &reasons {
        println!("  {count:4}  {reason}");
    }
    let wrong = rows.get("~ all").map_or(0, |row| row.wrong);
    println!("\n{} programs in {seconds:.0} s, {wrong} wrong verdicts", answers.len());
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

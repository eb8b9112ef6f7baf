//! Programs with threads of growing size: the failing schedule with the fewest switches, or that
//! there is none. Beside it, in the same run, SPIN on twins of the programs, where it is installed.

mod models;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wherefore_check::threads::{ScheduleLimits, ScheduleSearch, Way};
use wherefore_check::{Budget, Engine, Session, Verdict};
use wherefore_frontend::parse;

use self::models::Model;
use super::table::Table;
use super::{Extent, measure};

/// The time limit of each row, for each tool.
const LIMIT: Duration = Duration::from_secs(20);

/// What takes less time is measured three times.
const SHORT: Duration = Duration::from_secs(1);

pub fn run(extent: Extent) {
    let is_quick = extent == Extent::Quick;
    let spin = Spin::find();
    let mut failing = Vec::new();
    let mut safe = Vec::new();
    let sizes = |quick: &[usize], full: &[usize]| if is_quick { quick.to_vec() } else { full.to_vec() };
    for n in sizes(&[2], &[2, 3, 4, 5, 8, 16]) {
        failing.push(models::bluetooth(n, 1, true));
    }
    for n in sizes(&[1], &[1, 2, 3, 4, 6, 8]) {
        safe.push(models::bluetooth(n, 2, false));
    }
    for n in sizes(&[2], &[2, 3, 4]) {
        // With two threads there is one level only.
        if n > 2 {
            failing.push(models::peterson(n, true));
        }
        failing.push(models::bakery(n, true));
        failing.push(models::anderson(n, true));
        safe.push(models::peterson(n, false));
        safe.push(models::bakery(n, false));
        safe.push(models::anderson(n, false));
    }
    if !is_quick {
        failing.push(models::anderson(6, true));
        safe.push(models::anderson(6, false));
    }
    for (title, models) in [("Failing schedules", failing), ("No schedule fails", safe)] {
        let headings = ["program", "switches", "configurations", "s", "MB", "SPIN s", "SPIN / wherefore"];
        let mut table = Table::new(&headings);
        for model in models {
            eprintln!("{}", model.name);
            table.row(row(&model, spin.as_ref()));
        }
        table.print(title);
    }
    if spin.is_none() {
        println!("SPIN is not installed: no times beside ours");
    }
}

fn row(model: &Model, spin: Option<&Spin>) -> Vec<String> {
    let task = parse(model.language, "model", &model.text, None)
        .unwrap_or_else(|error| panic!("{}\n{}", error.render(), model.text));
    let search = ScheduleSearch { limits: ScheduleLimits::default(), way: Way::Auto };
    let decide = || search.decide(&task, &Session::default(), &Budget::time(LIMIT));
    let (mut answer, mut time, mut memory) = measure(1, decide);
    if time < SHORT {
        (answer, time, memory) = measure(3, decide);
    }
    let facts = answer.facts.threads.unwrap_or_default();
    let run = answer.verdicts.iter().find_map(Verdict::run);
    let holds = answer.verdicts.iter().all(|verdict| matches!(verdict, Verdict::Safe(_)));
    let is_known = run.is_some() || holds;
    assert!(!is_known || run.is_some() == model.fails, "a wrong verdict: {}", model.name);
    let switches = match run.and_then(|run| run.schedule.as_deref()) {
        Some(schedule) if schedule.fewest => schedule.switches.to_string(),
        Some(schedule) => format!("at most {}", schedule.switches),
        None if holds => "any number".to_owned(),
        None => facts.covered.switches.map_or("-".to_owned(), |switches| format!("up to {switches}")),
    };
    let seconds = |time: Option<Duration>| match time {
        Some(time) => format!("{:.3}", time.as_secs_f64()),
        None => format!("over {}", LIMIT.as_secs()),
    };
    let ours = is_known.then_some(time);
    let theirs = spin.map(|spin| spin.time(model));
    let ratio = match (ours, &theirs) {
        (Some(ours), Some(Ok(theirs))) => format!("{:.1}×", super::ratio(*theirs, ours)),
        (Some(ours), Some(Err(_))) => format!("over {:.0}×", super::ratio(LIMIT, ours)),
        _ => "-".to_owned(),
    };
    let configurations = facts.configurations.map_or("-".to_owned(), |count| count.to_string());
    let theirs = match theirs {
        Some(Ok(time)) => seconds(Some(time)),
        Some(Err(reason)) => reason,
        None => "-".to_owned(),
    };
    vec![model.name.clone(), switches, configurations, seconds(ours), format!("{memory:.0}"), theirs, ratio]
}

/// SPIN, which generates a verifier in C.
struct Spin;

impl Spin {
    fn find() -> Option<Self> {
        let found = Command::new("spin").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success()).then_some(Self)
    }

    /// The time of the verifier: the best of a plain search and, for programs that fail, one with
    /// at most four context switches. The time to make it is not counted. An error says why there
    /// is none.
    fn time(&self, model: &Model) -> Result<Duration, String> {
        let folder = std::env::temp_dir().join(format!("wherefore-spin-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let plain = self.mode(model, &folder, "-DSAFETY", &[]);
        let best = match model.fails {
            true => match (plain, self.mode(model, &folder, "-DBCS", &["-L4"])) {
                (Ok(a), Ok(b)) => Ok(a.min(b)),
                (a, b) => a.or(b),
            },
            false => plain,
        };
        let _ = fs::remove_dir_all(&folder);
        best
    }

    fn mode(&self, model: &Model, folder: &Path, flag: &str, options: &[&str]) -> Result<Duration, String> {
        fs::write(folder.join("model.pml"), &model.promela).map_err(|error| error.to_string())?;
        let run = |command: &mut Command| {
            let output = command.current_dir(folder).output().map_err(|error| error.to_string())?;
            match output.status.success() {
                true => Ok(()),
                false => Err(format!("not built: {}", String::from_utf8_lossy(&output.stdout))),
            }
        };
        run(Command::new("spin").args(["-a", "model.pml"]))?;
        run(Command::new("cc").args(["-O2", "-w", flag, "-DMEMLIM=8192", "-o", "pan", "pan.c"]))?;
        let mut best: Option<Duration> = None;
        for round in 0..3 {
            if round > 0 && best.is_some_and(|best| best >= SHORT) {
                break;
            }
            let start = Instant::now();
            let output = Command::new("timeout")
                .arg(LIMIT.as_secs().to_string())
                .args(["./pan", "-m1000000", "-E"])
                .args(options)
                .current_dir(folder)
                .output()
                .map_err(|error| error.to_string())?;
            let time = start.elapsed();
            let text = String::from_utf8_lossy(&output.stdout);
            if text.contains("errors: 0") == model.fails || !text.contains("errors: ") {
                let reason = match time >= LIMIT {
                    true => format!("over {}", LIMIT.as_secs()),
                    false if text.contains("out of memory") || text.contains("reached -DMEMLIM") => {
                        "out of memory".to_owned()
                    }
                    false => "not found".to_owned(),
                };
                return Err(reason);
            }
            best = Some(best.map_or(time, |best| best.min(time)));
        }
        best.ok_or_else(|| "not found".to_owned())
    }
}

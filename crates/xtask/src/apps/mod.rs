//! `cargo xtask apps`: whether the front end translates real programs.
//!
//! The programs are source packages of Debian. They are fetched into a cache folder and compiled
//! there by `build.sh`, with a compiler that keeps the preprocessed text of every unit; they are
//! never a part of this repository. Every unit is then translated by a process of its own, with all
//! of its functions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use wherefore_frontend::LoadError;
use wherefore_frontend::c::{Options, translate_every_function};

/// The packages, by the names that Debian has for their sources.
const PACKAGES: [&str; 13] = [
    "make-dfsg",
    "indent",
    "less",
    "gzip",
    "privoxy",
    "openssh",
    "bc",
    "expat",
    "cjson",
    "zlib",
    "lz4",
    "jansson",
    "busybox",
];

const BUILD: &str = include_str!("build.sh");

/// The longest that a package may take to fetch and to compile.
const BUILD_TIME: Duration = Duration::from_secs(1200);

/// What to run.
#[derive(Args)]
pub struct AppsArgs {
    /// Take only these packages.
    packages: Vec<String>,

    /// The folder that packages are kept in.
    #[arg(long, default_value = "target/apps")]
    cache: PathBuf,

    /// Seconds for each unit.
    #[arg(long, default_value_t = 60)]
    timeout: u64,

    /// Units at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,

    /// How many reasons to list.
    #[arg(long, default_value_t = 40)]
    reasons: usize,

    /// Translate this preprocessed unit only, and print what came of it as JSON.
    #[arg(long, value_name = "FILE")]
    unit: Option<PathBuf>,
}

/// What came of a unit.
struct Outcome {
    file: PathBuf,
    lines: usize,
    translated: bool,
    /// Why it is refused, or what is not modelled in it.
    reasons: Vec<String>,
    seconds: f64,
    megabytes: f64,
}

/// Fetches, compiles and translates, and prints a table.
pub fn run(args: &AppsArgs) -> ExitCode {
    if let Some(file) = &args.unit {
        println!("{}", translate(file));
        return ExitCode::SUCCESS;
    }
    let known = PACKAGES.map(str::to_owned).to_vec();
    let packages = if args.packages.is_empty() { known } else { args.packages.clone() };
    if let Err(error) = std::fs::create_dir_all(&args.cache) {
        eprintln!("error: {}: {error}", args.cache.display());
        return ExitCode::from(2);
    }
    let Ok(cache) = args.cache.canonicalize() else { return ExitCode::from(2) };
    println!(
        "| program | units | lines | translated | refused | places not modelled | s | slowest unit, s | most MB |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let (mut reasons, mut all, mut refused) = (BTreeMap::new(), Vec::new(), Vec::new());
    for package in &packages {
        match build(&cache, package) {
            Ok(units) if !units.is_empty() => {
                let outcomes = translate_all(&units, args);
                println!("{}", row(package, &outcomes));
                all.extend(outcomes);
            }
            Ok(_) => println!("| {package} | 0 | no unit was compiled | | | | | | |"),
            Err(why) => println!("| {package} | {why} | | | | | | | |"),
        }
    }
    println!("{}", row("**all**", &all));
    for outcome in &all {
        for reason in &outcome.reasons {
            *reasons.entry((!outcome.translated, without_names(reason))).or_insert(0_usize) += 1;
        }
        if !outcome.translated {
            refused.push(outcome);
        }
    }
    println!("\nUnits that are refused:");
    for outcome in refused {
        println!("- {}: {}", outcome.file.display(), outcome.reasons.join("; "));
    }
    println!("\nPlaces that are not modelled:");
    let mut counted: Vec<_> = reasons.into_iter().filter(|((is_refusal, _), _)| !is_refusal).collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for ((_, reason), count) in counted.into_iter().take(args.reasons) {
        println!("- {count}: {reason}");
    }
    ExitCode::SUCCESS
}

/// One line of the table.
fn row(name: &str, outcomes: &[Outcome]) -> String {
    let translated = outcomes.iter().filter(|outcome| outcome.translated);
    let places: usize = translated.clone().map(|outcome| outcome.reasons.len()).sum();
    let translated = translated.count();
    let lines: usize = outcomes.iter().map(|outcome| outcome.lines).sum();
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let slowest = outcomes.iter().map(|outcome| outcome.seconds).fold(0.0, f64::max);
    let most = outcomes.iter().map(|outcome| outcome.megabytes).fold(0.0, f64::max);
    format!(
        "| {name} | {} | {lines} | {translated} | {} | {places} | {seconds:.1} | {slowest:.2} | {most:.0} |",
        outcomes.len(),
        outcomes.len() - translated,
    )
}

/// Fetches and compiles a package; the preprocessed texts of its units.
fn build(cache: &Path, package: &str) -> Result<Vec<PathBuf>, String> {
    let script = cache.join("build.sh");
    std::fs::write(&script, BUILD).map_err(|error| error.to_string())?;
    let log =
        std::fs::File::create(cache.join(format!("{package}.log"))).map_err(|error| error.to_string())?;
    let other = log.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new("sh");
    command.arg(&script).arg(cache).arg(package).stdin(Stdio::null()).stdout(log).stderr(other);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let built = wait(&mut child, BUILD_TIME);
    let folder = cache.join("units").join(package);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut units: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "i")).collect();
    units.sort();
    match built {
        Some(true) => Ok(units),
        Some(false) if !units.is_empty() => Ok(units),
        Some(false) => Err(format!("not built: see {package}.log")),
        None => Err("not built in time".to_owned()),
    }
}

/// Whether a process succeeds within a time; it is ended if it takes longer.
fn wait(child: &mut std::process::Child, limit: Duration) -> Option<bool> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Translates units, several at a time.
fn translate_all(units: &[PathBuf], args: &AppsArgs) -> Vec<Outcome> {
    let next = Mutex::new(units.iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.clamp(1, 2) {
            scope.spawn(|| {
                loop {
                    let unit = next.lock().ok().and_then(|mut next| next.next());
                    let Some(unit) = unit else { return };
                    let outcome = outcome(unit, Duration::from_secs(args.timeout));
                    if let Ok(mut done) = done.lock() {
                        done.push(outcome);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by(|one: &Outcome, other| one.file.cmp(&other.file));
    done
}

/// Translates a unit in a process of its own.
fn outcome(unit: &Path, limit: Duration) -> Outcome {
    let text = std::fs::read(unit).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).count();
    let failed = |why: &str| Outcome {
        file: unit.to_owned(),
        lines,
        translated: false,
        reasons: vec![why.to_owned()],
        seconds: limit.as_secs_f64(),
        megabytes: 0.0,
    };
    let Ok(program) = std::env::current_exe() else { return failed("the program does not know itself") };
    let mut command = Command::new(program);
    command.args(["apps", "--unit"]).arg(unit).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return failed("no process could be started") };
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.map(|mut output| std::io::Read::read_to_string(&mut output, &mut text));
        read.and_then(Result::ok).map(|_| text)
    });
    if wait(&mut child, limit).is_none() {
        return failed("no end in time");
    }
    let text = reader.join().ok().flatten().unwrap_or_default();
    let Ok(found) = serde_json::from_str::<Value>(&text) else { return failed("the translation broke off") };
    let list = found["reasons"].as_array().into_iter().flatten();
    Outcome {
        file: unit.to_owned(),
        lines,
        translated: found["translated"] == true,
        reasons: list.filter_map(|reason| reason.as_str().map(str::to_owned)).collect(),
        seconds: found["seconds"].as_f64().unwrap_or_default(),
        megabytes: found["megabytes"].as_f64().unwrap_or_default(),
    }
}

/// What comes of a unit, as JSON.
fn translate(file: &Path) -> Value {
    let begin = Instant::now();
    crate::ALLOCATOR.reset_peak_usage();
    let outcome = translate_every_function(&[file.to_owned()], &Options::default());
    let seconds = begin.elapsed().as_secs_f64();
    let megabytes = crate::ALLOCATOR.peak_usage_as_mb();
    let (translated, reasons): (bool, Vec<String>) = match outcome {
        Ok(translation) => {
            (true, translation.unsupported.iter().map(|place| place.words(&translation.program)).collect())
        }
        Err(LoadError::Invalid { diagnostics }) => {
            let words = |place: &wherefore_frontend::Diagnostic| {
                format!("{}:{}: {}", place.error.line, place.error.column, place.error.message)
            };
            (false, diagnostics.iter().map(words).collect())
        }
        Err(error) => (false, vec![error.to_string()]),
    };
    json!({ "translated": translated, "reasons": reasons, "seconds": seconds, "megabytes": megabytes })
}

/// A reason without its place and the names in it, to count it.
fn without_names(reason: &str) -> String {
    let reason = reason.split_once("`: ").map_or(reason, |(_, reason)| reason);
    let reason = match reason.split_once(": ") {
        Some((place, reason)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => reason,
        _ => reason,
    };
    reason.to_owned()
}

//! Compiling a program with its harness, and running it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wherefore_program::markers::{first_line_of, placed_in, without_markers};
use wherefore_program::{c_compiler, c_library, from_bytes, to_bytes};

use super::folder::Folder;
use super::sandbox::{self, Addresses, Resources};
use super::sanitizers::Broken;
use super::schedule::{self, DEPARTED, DEPARTS};
use super::text::{AT, ENDED, FAILED, MARK, Missing, NOT_ASSUMED, text};
use super::watched::Watched;
use super::{Case, Enclosure, Feeding, Model, Replay, arguments, int128, is_preprocessed, labels};

/// For the sources of the program. Signed arithmetic wraps, as it does for us; variables without a
/// value are zero, so that every run is the same.
const FLAGS: [&str; 13] = [
    "-w",
    "-O0",
    "-std=gnu11",
    "-fgnu89-inline",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-builtin",
    "-fno-stack-protector",
    "-finstrument-functions",
    "-fcommon",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
];
/// Puts a call in front of each access to memory.
const CALLS: &str = "-fsanitize=thread";
const ZERO: &str = "-ftrivial-auto-var-init=zero";
const RUNTIME: &str = include_str!("runtime.c");

/// How the program is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// With 64-bit pointers and the C library.
    Wide,
    /// With 32-bit pointers and the C library.
    Narrow,
    /// With 32-bit pointers and a small library of our own.
    Alone,
}

impl Mode {
    fn compile(self) -> &'static [&'static str] {
        match self {
            Mode::Wide => &[],
            Mode::Narrow => &["-m32", "-msse2", "-mfpmath=sse"],
            Mode::Alone => &["-m32", "-msse2", "-mfpmath=sse", "-fno-pie", "-ffreestanding"],
        }
    }

    fn link(self) -> &'static [&'static str] {
        match self {
            Mode::Wide => &["-lm"],
            Mode::Narrow => &["-m32", "-lm"],
            Mode::Alone => &["-m32", "-nostdlib", "-static", "-no-pie"],
        }
    }
}

/// Runs a tool; its standard output, or what it complained about.
fn tool(command: &mut Command) -> Result<String, String> {
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("the compiler cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(from_bytes(&output.stdout));
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The line of a complaint that says most.
fn gist(complaint: &str) -> String {
    let line = complaint.lines().find(|line| line.contains("error"));
    line.or(complaint.lines().next()).unwrap_or("no message").trim().to_owned()
}

/// The harness, the outcome, not yet judged by what the run depends on, and what the program was
/// compiled for.
pub(crate) fn run(
    case: &Case<'_>,
    feeding: &Feeding<'_>,
    how: (Enclosure, Duration),
) -> (String, Replay, Model) {
    let modes: &[Mode] = match (case.pointer_bits, case.schedule, &case.broken) {
        (32, None, None) => &[Mode::Narrow, Mode::Alone, Mode::Wide],
        // Threads need the C library, and sanitizers need theirs.
        (32, ..) => &[Mode::Narrow, Mode::Wide],
        _ => &[Mode::Wide],
    };
    let mut missing = Missing::default();
    let scheduler = match case.schedule.map(|trace| schedule::text(case, feeding, trace)) {
        Some(Err(why)) => return (String::new(), Replay::NotReplayed { why }, Model::Same),
        Some(Ok(scheduler)) => Some(scheduler),
        None => None,
    };
    let harness = |missing: &Missing, mode: Mode| {
        text(case, feeding, missing, &command(case, feeding, mode), scheduler.as_deref())
    };
    let failed = |missing: &Missing, why: String| {
        let why = format!("it cannot be compiled: {why}");
        (harness(missing, modes[0]), Replay::NotReplayed { why }, Model::Same)
    };
    let folder = match Folder::new() {
        Ok(folder) => folder,
        Err(error) => return failed(&missing, error.to_string()),
    };
    let mut first: Option<String> = None;
    for mode in modes {
        missing = Missing::default();
        let apart = case.broken.as_ref().and_then(Broken::apart);
        let mut made =
            build(case, folder.path(), (*mode, apart), &mut missing, &|missing| harness(missing, *mode));
        if apart.is_some() && made.is_err() {
            missing = Missing::default();
            made =
                build(case, folder.path(), (*mode, None), &mut missing, &|missing| harness(missing, *mode));
        }
        match made {
            Ok(program) => {
                let outcome = execute(&program, folder.path(), (case, &feeding.words), how);
                let wider = *mode == Mode::Wide && case.pointer_bits == 32;
                let model = if wider { Model::Wider } else { Model::Same };
                return (harness(&missing, *mode), outcome, model);
            }
            Err(why) => {
                first.get_or_insert(why);
            }
        }
    }
    failed(&missing, first.unwrap_or_default())
}

/// How to compile and run by hand.
fn command(case: &Case<'_>, feeding: &Feeding<'_>, mode: Mode) -> String {
    let mut parts = c_compiler::words();
    parts.extend(FLAGS.iter().map(ToString::to_string));
    parts.push(ZERO.to_owned());
    parts.extend(case.broken.iter().flat_map(Broken::flags));
    if mode != Mode::Wide {
        parts.extend(Mode::Narrow.compile().iter().map(|part| (*part).to_owned()));
        let names_wide = |file: &PathBuf| {
            fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains("__int128"))
        };
        if case.files.iter().any(names_wide) {
            parts.push(format!("'-D{}'", int128::DEFINITION));
        }
    }
    parts.extend(case.preprocessor.iter().cloned());
    let single: BTreeSet<&String> = case.flags.values().flatten().collect();
    parts.extend(single.into_iter().cloned());
    parts.extend(case.files.iter().map(|file| file.display().to_string()));
    match case.schedule {
        None => {
            parts.push("harness.c -lm -o run && ./run".to_owned());
            parts.extend(feeding.words.iter().map(|word| arguments::quoted(word)));
        }
        // The library of the sanitizer is not linked: the harness takes its place.
        Some(_) => {
            parts.insert(1, format!("-c {CALLS}"));
            let objects = case.files.iter().filter_map(|file| file.file_stem());
            let objects: Vec<String> = objects.map(|name| format!("{}.o", name.to_string_lossy())).collect();
            let compiler = c_compiler::words().join(" ");
            parts.push(format!(
                "&&\n   {compiler} -w -fno-builtin harness.c {} -lm -o run && ./run",
                objects.join(" ")
            ));
        }
    }
    let mut out = format!("   {}", parts.join(" "));
    if !case.errors.labels.is_empty() {
        let labels = case.errors.labels.join("|");
        out.push_str("\n\n   with a call behind the labels of the sources first:\n\n   ");
        out.push_str(&format!(
            "sed -i.bak -E 's/\\b({labels})[[:space:]]*:/& {}(\"&\");/' FILES",
            labels::REACHED
        ));
    }
    out
}

/// Compiles and links; the path of the program, or why not.
fn build(
    case: &Case<'_>,
    folder: &Path,
    (mode, apart): (Mode, Option<&str>),
    missing: &mut Missing,
    harness: &dyn Fn(&Missing) -> String,
) -> Result<PathBuf, String> {
    let io = |error: std::io::Error| error.to_string();
    let mut sanitize = case.broken.as_ref().map(Broken::flags).unwrap_or_default();
    if case.watched.is_some() || case.place.is_some() {
        sanitize.push("-g1".to_owned());
    }
    sanitize.extend(apart.map(str::to_owned));
    let calls: Vec<&str> = case.schedule.map(|_| CALLS.split(' ').collect()).unwrap_or_default();
    let mut objects = Vec::new();
    for (i, file) in case.files.iter().enumerate() {
        let given = from_bytes(&fs::read(file).map_err(io)?);
        let name = file.display().to_string();
        // As the front end does: the preprocessor knows nothing of the data model, and places are
        // those of the given file, whatever markers in it say.
        let text = if is_preprocessed(file) {
            placed_in(&name, &given)
        } else {
            let mut preprocess = c_compiler::command();
            preprocess.arg("-E").args(case.preprocessor).args(case.flags.get(file).into_iter().flatten());
            match without_markers(&given) {
                None => preprocess.arg(file),
                Some(text) => {
                    let source = folder.join("unmarked.c");
                    fs::write(&source, to_bytes(&(first_line_of(&name) + &text))).map_err(io)?;
                    let near = file.parent().filter(|near| !near.as_os_str().is_empty());
                    preprocess.arg("-iquote").arg(near.unwrap_or(Path::new("."))).arg(source)
                }
            };
            tool(&mut preprocess).map_err(|complaint| gist(&complaint))?
        };
        let text =
            if case.errors.labels.is_empty() { text } else { labels::mark(&text, &case.errors.labels) };
        let text = match &case.broken {
            Some(broken) => broken.fenced(text),
            None => text,
        };
        let (source, object) = (folder.join(format!("{i}.c")), folder.join(format!("{i}.o")));
        let only_declared = mode != Mode::Wide && int128::is_only_declared(&text);
        fs::write(&source, to_bytes(&text)).map_err(io)?;
        let header = folder.join("int128.h");
        if only_declared {
            fs::write(&header, int128::header()).map_err(io)?;
        }
        let compile = |more: &[&str]| {
            let mut command = c_compiler::command();
            if only_declared {
                command.arg("-include").arg(&header);
            }
            command
                .args(FLAGS)
                .args(&sanitize)
                .args(&calls)
                .args(more)
                .args(mode.compile())
                .arg("-c")
                .arg(&source)
                .arg("-o")
                .arg(&object);
            tool(&mut command)
        };
        compile(&[ZERO]).or_else(|_| compile(&[])).map_err(|complaint| gist(&complaint))?;
        let mut change = Command::new("objcopy");
        for name in case.errors.functions.iter().map(String::as_str).chain([case.entry]) {
            change.arg(format!("--globalize-symbol={name}"));
        }
        if i + case.weak_files >= case.files.len() {
            change.arg("--weaken");
        }
        if case.entry != "main" {
            change.arg("--redefine-sym=main=wherefore_other_main");
        }
        for word in case.watched.iter().flat_map(Watched::redefinitions) {
            change.arg(word);
        }
        // Without the tool, functions that only one file sees stay unseen.
        let _ = tool(change.arg(&object));
        objects.push(object);
    }
    let own = |name: &str, text: &str| -> Result<PathBuf, String> {
        let (source, object) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.o")));
        fs::write(&source, text).map_err(io)?;
        let mut command = c_compiler::command();
        command.args(["-w", "-O0", "-std=gnu11", "-fno-builtin", "-fno-stack-protector"]);
        // What models of functions that bring input write is watched, too.
        if case.broken.as_ref().is_some_and(Broken::needs_addresses) {
            command.args(["-fsanitize=address", "-g1"]);
        }
        command.args(mode.compile()).arg("-c").arg(&source).arg("-o").arg(&object);
        tool(&mut command).map_err(|complaint| gist(&complaint))?;
        Ok(object)
    };
    if mode == Mode::Alone {
        objects.push(own("runtime", RUNTIME)?);
    }
    let program = folder.join("run");
    // What the linker misses is defined, and missed things may only show one after the other.
    for _ in 0..4 {
        let harness = own("harness", &harness(missing))?;
        let mut link = c_compiler::command();
        link.arg("-o").arg(&program).args(&objects).arg(&harness).args(&sanitize).args(mode.link());
        let complaint = match tool(&mut link) {
            Ok(_) => return Ok(program),
            Err(complaint) => complaint,
        };
        let before = missing.0.len();
        for line in complaint.lines() {
            if let Some((_, rest)) = line.split_once("undefined reference to `") {
                missing.0.extend(rest.split('\'').next().map(str::to_owned));
            }
        }
        // A function that is left to the C library must not be made up where there is none.
        let is_used = |name: &str| case.feeds.iter().any(|feed| feed.function == name);
        let left = missing.0.iter().find(|name| {
            case.is_left(name) && (is_used(name) || !c_library::only_prints(name))
                || CALLS_LATER.contains(&name.as_str())
        });
        if let Some(name) = left {
            return Err(format!("`{name}` of the C library is not there"));
        }
        if missing.0.len() == before || missing.0.contains("main") {
            return Err(gist(&complaint));
        }
    }
    Err("too much is not defined".to_owned())
}

/// Functions of the C library that are given what runs at the end: without them it would not run.
const CALLS_LATER: [&str; 3] = ["atexit", "at_quick_exit", "on_exit"];

/// Runs the program with limits.
fn execute(
    program: &Path,
    folder: &Path,
    (case, words): (&Case<'_>, &[Vec<u8>]),
    (enclosure, time): (Enclosure, Duration),
) -> Replay {
    let broken = case.broken.as_ref();
    let errors = folder.join("errors");
    let not_replayed = |why: String| Replay::NotReplayed { why };
    let file = match fs::File::create(&errors) {
        Ok(file) => file,
        Err(error) => return not_replayed(error.to_string()),
    };
    let addresses = match broken.is_some_and(Broken::needs_addresses) {
        true => Addresses::Unlimited,
        false => Addresses::Limited,
    };
    let mut command = match enclosure {
        Enclosure::Sandbox => {
            let mut command = Command::new(program);
            if let Err(why) = sandbox::enclose(&mut command, folder, Resources { time, addresses }) {
                return not_replayed(format!("there is no sandbox to run it in: {why}"));
            }
            command
        }
        Enclosure::None => {
            let seconds = time.as_secs() + 1;
            let memory = if addresses == Addresses::Limited { "ulimit -v 8000000; " } else { "" };
            let limits =
                format!("{memory}ulimit -c 0; ulimit -f 40000; ulimit -t {seconds}; exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.arg("-c").arg(limits).arg(program).current_dir(folder).process_group(0);
            command
        }
    };
    command.args(words.iter().map(|word| OsStr::from_bytes(word)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return not_replayed(format!("it cannot be run: {error}")),
    };
    let begin = Instant::now();
    let mut pause = Duration::from_micros(500);
    let status: ExitStatus = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begin.elapsed() < time => std::thread::sleep(pause),
            outcome => {
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
                let _ = child.kill();
                let _ = child.wait();
                return not_replayed(match outcome {
                    Err(error) => error.to_string(),
                    Ok(_) => {
                        format!("it does not end within {} s", (time.as_secs_f64() * 10.0).round() / 10.0)
                    }
                });
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let said = fs::read(&errors).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    if let Some(outcome) = broken.and_then(|broken| broken.judge(&said)) {
        return outcome;
    }
    if let Some(outcome) = case.watched.as_ref().and_then(|watched| watched.judge(&said, program)) {
        return outcome;
    }
    let marked = said.contains(MARK);
    let why = match (status.code(), status.signal()) {
        (Some(FAILED), _) if marked && broken.is_some() => "it fails at an assertion".to_owned(),
        (Some(FAILED), _) if marked => {
            let line = said.lines().find(|line| line.starts_with(MARK));
            let address = line.and_then(|line| line.rsplit_once(AT)).map(|(_, address)| address);
            let elsewhere = case
                .place
                .as_ref()
                .zip(address)
                .and_then(|(place, address)| place.contradicts(program, address));
            return elsewhere.unwrap_or(Replay::Confirmed { note: None, report: None });
        }
        (Some(DEPARTED), _) if said.contains(DEPARTS) => {
            let reason = said.split(DEPARTS).nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
            return not_replayed(format!("the compiled program departs from the schedule: {reason}"));
        }
        (Some(NOT_ASSUMED), _) => "an assumption does not hold".to_owned(),
        (Some(ENDED), _) => "it ends at an error that does not count".to_owned(),
        (Some(code), _) => format!("it leaves with exit code {code}"),
        (None, Some(signal)) => format!("it is ended by signal {signal}"),
        (None, None) => "it ends".to_owned(),
    };
    Replay::NotConfirmed { why }
}

//! Random programs of csmith: the compiled program, and the front end with the interpreter, must
//! compute the same values.
//!
//! ```text
//! CSMITH_SEED=17 CSMITH_PROGRAMS=1 cargo test -p wherefore-frontend csmith -- --ignored --nocapture
//! ```

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use wherefore_frontend::c::{Options, translate};
use wherefore_program::{Interpreter, Program, Var};
use wherefore_testing::{SOAK, cases, seed};

use crate::c_support;

/// Options of csmith for program `i` modulo their number: each set has something that the others do
/// not have.
const STYLES: &[&[&str]] = &[
    &["--max-funcs", "3", "--max-block-depth", "3", "--max-expr-complexity", "4"],
    &["--max-funcs", "2", "--max-block-depth", "2", "--max-expr-complexity", "8", "--inline-function"],
    &["--max-funcs", "4", "--max-block-depth", "2", "--max-struct-fields", "6", "--max-pointer-depth", "2"],
    &[
        "--max-funcs",
        "3",
        "--max-array-dim",
        "2",
        "--max-array-len-per-dim",
        "4",
        "--embedded-assigns",
        "--comma-operators",
    ],
    &["--max-funcs", "3", "--max-expr-complexity", "3", "--builtins"],
    &["--max-funcs", "3", "--max-block-depth", "3", "--max-expr-complexity", "4", "--float"],
    &[
        "--max-funcs",
        "8",
        "--max-block-depth",
        "3",
        "--max-expr-complexity",
        "5",
        "--max-array-len-per-dim",
        "3",
    ],
    &[
        "--max-funcs",
        "3",
        "--max-pointer-depth",
        "4",
        "--max-union-fields",
        "5",
        "--max-array-len-per-dim",
        "3",
    ],
];

/// How many values are kept apart; further ones are mixed with the first.
const NOTES: usize = 512;
/// Programs that run longer are left out.
const STEPS: usize = 400_000;
const PER_PROGRAM: Duration = Duration::from_secs(20);
/// No program is begun after this time.
const WHOLE: Duration = Duration::from_secs(600);

#[derive(Debug)]
enum Outcome {
    Same,
    /// The program has no end, or none within the limits.
    Long,
    Wrong(String),
}

/// A number from the environment.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The text with its checksum replaced: each value that goes into it is noted by itself, so that a
/// difference has a name.
fn noting(text: &str) -> String {
    let notes = format!(
        "#include \"csmith.h\"\nunsigned long long notes[{NOTES}]; static unsigned noted;\n\
         static void note(unsigned long long value) {{ unsigned at = noted++ % {NOTES}; notes[at] = notes[at] * 31 + value; }}\n\
         static void note_bytes(char *bytes, int count) {{ for (int i = 0; i < count; i++) note((unsigned char)bytes[i]); }}\n\
         #define transparent_crc(value, name, flag) note(value)\n\
         #define transparent_crc_bytes(place, size, name, flag) note_bytes((char *)(place), size)\n\
         #define crc32_gentab()\n#define platform_main_end(a, b)\n"
    );
    text.replacen("#include \"csmith.h\"", &notes, 1)
}

/// What the compiled program notes; nothing if it does not end in time.
fn compiled(folder: &Path, file: &Path) -> Result<Option<Vec<u64>>, String> {
    let driver = folder.join("driver.c");
    let text = format!(
        "#include <stdio.h>\nextern unsigned long long notes[{NOTES}];\nint program(void);\n\
         int main(void) {{ program(); for (int i = 0; i < {NOTES}; i++) printf(\"%llu\\n\", notes[i]); return 0; }}\n"
    );
    fs::write(&driver, text).map_err(|error| error.to_string())?;
    let (object, binary) = (folder.join("program.o"), folder.join("program"));
    let flags = ["-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-I/usr/include/csmith"];
    let compile = |arguments: &mut Command| {
        let output = arguments.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    // What the built-in functions give for zero is open: a program that asks for it traps.
    let trap = ["-fsanitize=builtin", "-fsanitize-undefined-trap-on-error", "-Dmain=program", "-c", "-o"];
    compile(Command::new("cc").args(flags).args(trap).arg(&object).arg(file))?;
    compile(Command::new("cc").args(flags).arg("-o").arg(&binary).arg(&driver).arg(&object))?;
    let output = Command::new("timeout").arg("2").arg(&binary).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(Some(text.lines().filter_map(|line| line.parse().ok()).collect()))
}

/// What the interpreted program notes; nothing if it does not end in time.
fn interpreted(program: &Program) -> Result<Option<Vec<u64>>, String> {
    program.check().map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(program);
    let begin = Instant::now();
    let mut state = interpreter.initial_states(1).0.remove(0);
    for step in 0..STEPS {
        let Some(node) = state.node() else {
            let find = |name: &str| program.globals.iter().position(|variable| variable.name == name);
            // A program without values to note leaves no trace of them.
            let Some(notes) = find("notes") else { return Ok(Some(vec![0; NOTES])) };
            return Ok(interpreter.cells(&state, Var::Global(notes as u32)).map(<[u64]>::to_vec));
        };
        if step % 1_000 == 0 && begin.elapsed() > PER_PROGRAM {
            return Ok(None);
        }
        match interpreter.successors(&state, 1).0.into_iter().next() {
            Some((_, next)) => state = next,
            None => {
                let place = program.position(program.location(node).span);
                let name = &program.procedure(node.procedure).name;
                return Err(format!("the run stops in {name} at {place}"));
            }
        }
    }
    Ok(None)
}

/// Compares one program. An error says why it could not be compared.
fn compare(folder: &Path, file: &Path) -> Result<Outcome, String> {
    let Some(expected) = compiled(folder, file)? else { return Ok(Outcome::Long) };
    let options = Options { preprocessor: vec!["-I/usr/include/csmith".to_owned()], ..Options::default() };
    let translation = translate(&[file.to_owned()], &options).map_err(|error| {
        let first = error.diagnostics().first().map(ToString::to_string);
        first.unwrap_or_else(|| error.render())
    })?;
    let Some(found) = interpreted(&translation.program)? else { return Ok(Outcome::Long) };
    match expected.iter().zip(&found).position(|(one, other)| one != other) {
        None => Ok(Outcome::Same),
        Some(i) => Ok(Outcome::Wrong(format!("value {i} is {} in gcc and {} here", expected[i], found[i]))),
    }
}

#[test]
#[ignore = "needs csmith"]
fn programs_of_csmith_compute_what_gcc_computes() {
    let fresh = || RandomState::new().hash_one("csmith") % 1_000_000_000;
    let soak = || std::env::var_os(SOAK).map(|_| seed() % 1_000_000_000);
    let first = number("CSMITH_SEED").or_else(soak).unwrap_or_else(fresh);
    let count = number("CSMITH_PROGRAMS").unwrap_or_else(|| u64::from(cases(90)));
    println!("csmith: {count} programs from CSMITH_SEED={first} on");
    let folder = c_support::folder("csmith");
    let (begin, mut same, mut long, mut wrong) = (Instant::now(), 0, 0, Vec::new());
    for seed in first..first + count {
        if begin.elapsed() > WHOLE {
            break;
        }
        let style = STYLES[seed as usize % STYLES.len()];
        let generated = Command::new("csmith")
            .args(["--no-argc", "--seed", &seed.to_string()])
            .args(style)
            .output()
            .expect("csmith runs");
        let file = folder.join(format!("csmith{seed}.c"));
        let text = String::from_utf8_lossy(&generated.stdout);
        if text.contains("__builtin_ia32") {
            long += 1;
            continue;
        }
        fs::write(&file, noting(&text)).expect("the program is written");
        let outcome = catch_unwind(AssertUnwindSafe(|| compare(&folder, &file)))
            .unwrap_or_else(|_| Err("there is a panic".to_owned()));
        match outcome {
            Ok(Outcome::Same) => same += 1,
            Ok(Outcome::Long) => long += 1,
            Ok(Outcome::Wrong(what)) | Err(what) => wrong.push(format!("seed {seed} {style:?}: {what}")),
        }
    }
    let _ = fs::remove_dir_all(folder);
    println!("csmith: {same} the same, {long} too long, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same >= count / 10, "only {same} of {count} programs were compared to the end");
}

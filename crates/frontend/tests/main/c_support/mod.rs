//! Runs C twice: compiled, and through the front end and the interpreter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wherefore_frontend::c::{DataModel, Options, Translation, translate};
use wherefore_program::{Interpreter, Program, State, Var};

/// How many numbers a program leaves in `result`.
pub const RESULTS: usize = 16;

/// A folder for the files of one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wherefore-c-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// What the compiled program leaves in `result`.
pub fn compiled(folder: &Path, file: &Path, count: usize) -> Vec<u64> {
    let driver = folder.join("driver.c");
    let text = format!(
        "#include <stdio.h>\nextern unsigned long long result[{count}];\nint program(void);\n\
         int main(void) {{ program(); for (int i = 0; i < {count}; i++) printf(\"%llu\\n\", result[i]); return 0; }}\n"
    );
    fs::write(&driver, text).expect("the driver is written");
    let object = folder.join("program.o");
    let binary = folder.join("program");
    let run = |command: &mut Command| {
        let output = command.output().expect("the compiler runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {text}", file.display());
        output
    };
    let flags = ["-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-std=gnu11"];
    run(Command::new("cc").args(flags).args(["-Dmain=program", "-c", "-o"]).arg(&object).arg(file));
    run(Command::new("cc").args(flags).arg("-o").arg(&binary).arg(&driver).arg(&object).arg("-lm"));
    let output = run(&mut Command::new(&binary));
    let text = String::from_utf8(output.stdout).expect("numbers");
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

/// Runs a program to its end; every choice is the least value.
pub fn run(program: &Program) -> State {
    let interpreter = Interpreter::new(program);
    let mut state = interpreter.initial_states(1).0.remove(0);
    for _ in 0..4_000_000 {
        let Some(node) = state.node() else { return state };
        let (mut next, _) = interpreter.successors(&state, 1);
        if next.is_empty() {
            let place = program.position(program.location(node).span);
            panic!("the run stops in {} at {place}", program.procedure(node.procedure).name);
        }
        state = next.remove(0).1;
    }
    panic!("the run does not end");
}

/// What the interpreted program leaves in `result`.
pub fn interpreted(translation: &Translation) -> Vec<u64> {
    let program = &translation.program;
    assert_eq!(program.check(), Ok(()));
    let state = run(program);
    let find = |name: &str| program.globals.iter().position(|variable| variable.name == name);
    let variable = Var::Global(find("result").expect("a global `result`") as u32);
    Interpreter::new(program).cells(&state, variable).expect("its cells").to_vec()
}

/// Compares both ways for one text.
pub fn compare(name: &str, text: &str) {
    let folder = folder(name);
    let file = folder.join(format!("{name}.c"));
    fs::write(&file, text).expect("the program is written");
    let expected = compiled(&folder, &file, RESULTS);
    let options = Options { data_model: DataModel::Lp64, ..Options::default() };
    let translation =
        translate(&[file], &options).unwrap_or_else(|error| panic!("{name}: {}", error.render()));
    let found = interpreted(&translation);
    assert_eq!(found, expected, "{name}\n{text}\n{}", translation.program.listing());
    let _ = fs::remove_dir_all(folder);
}

/// Numbers without end, from a seed (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.next() as usize % list.len()]
    }
}

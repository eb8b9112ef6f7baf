//! `cargo xtask csmith FOLDER`: random programs of csmith whose checksum the compiler has computed.
//!
//! Each becomes two programs, which `accept` checks: one fails if its checksum is another one, so
//! that it is safe, one if it is this one. Programs that do not end in two seconds are left out.

use std::fmt::Write;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::accept::{self, AcceptArgs};

/// What to make and to run.
#[derive(Args)]
pub struct CsmithArgs {
    /// Where the programs are written, with an index.
    folder: PathBuf,

    /// The seed of the first program; the others have the numbers behind it [default: a fresh one].
    #[arg(long)]
    seed: Option<u64>,

    /// How many programs, each of which is checked twice.
    #[arg(long, default_value_t = 100)]
    count: u64,

    /// Seconds for each check.
    #[arg(long, default_value_t = 20)]
    timeout: u64,

    /// Checks at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,

    /// Options of csmith.
    #[arg(last = true)]
    options: Vec<String>,
}

/// The line that prints the checksum.
const END: &str = "platform_main_end(crc32_context ^ 0xFFFFFFFFUL, print_hash_value);";

/// Makes the programs and checks them; fails if a verdict is wrong.
pub fn run(args: &CsmithArgs) -> ExitCode {
    let first = args.seed.unwrap_or_else(|| RandomState::new().hash_one("csmith") % 1_000_000_000);
    println!("csmith: {} programs, the first with --seed {first}", args.count);
    let mut index = String::from("path,family,verdict,property,entry,data_model\n");
    let mut made = 0;
    if let Err(error) = fs::create_dir_all(&args.folder) {
        eprintln!("error: {}: {error}", args.folder.display());
        return ExitCode::from(2);
    }
    for seed in first..first + args.count {
        match twins(&args.folder, seed, &args.options) {
            Ok(Some(names)) => {
                made += 1;
                for (name, verdict) in names.iter().zip(["safe", "unsafe"]) {
                    let _ = writeln!(index, "{name},csmith,{verdict},reach-error(reach_error),main,LP64");
                }
            }
            Ok(None) => {}
            Err(error) => {
                eprintln!("error: seed {seed}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    println!("csmith: {made} of {} programs end in time", args.count);
    if let Err(error) = fs::write(args.folder.join("index.csv"), index) {
        eprintln!("error: {}: {error}", args.folder.display());
        return ExitCode::from(2);
    }
    accept::run(&AcceptArgs::plain(args.folder.clone(), args.timeout, args.jobs, &["--checks", "none"]))
}

/// The names of the two programs; nothing if the program does not end in time.
fn twins(folder: &Path, seed: u64, options: &[String]) -> Result<Option<[String; 2]>, String> {
    let text = output(Command::new("csmith").args(["--seed", &seed.to_string()]).args(options))?;
    let file = folder.join(format!("{seed}.c"));
    write(&file, &text)?;
    let binary = folder.join("program");
    let flags = ["-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-I/usr/include/csmith"];
    output(Command::new("cc").args(flags).arg("-o").arg(&binary).arg(&file))?;
    let printed =
        Command::new("timeout").arg("2").arg(&binary).output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    let Some(checksum) = printed.lines().find_map(|line| line.strip_prefix("checksum = ")) else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for (name, sign) in [("safe", "!="), ("unsafe", "==")] {
        let test =
            format!("if ((uint32_t)(crc32_context ^ 0xFFFFFFFFUL) {sign} 0x{checksum}u) reach_error();");
        let twin = text.replacen(END, &test, 1);
        if twin == text {
            return Err("the line that prints the checksum was not found".to_owned());
        }
        let twin = format!("extern void reach_error(void);\n{twin}");
        let (source, preprocessed) = (folder.join(format!("{seed}.c")), format!("{seed}-{name}.i"));
        write(&source, &twin)?;
        let flags = ["-E", "-P", "-w", "-I/usr/include/csmith", "-o"];
        output(Command::new("cc").args(flags).arg(folder.join(&preprocessed)).arg(&source))?;
        names.push(preprocessed);
    }
    fs::remove_file(&file).map_err(|error| error.to_string())?;
    fs::remove_file(&binary).map_err(|error| error.to_string())?;
    Ok(names.try_into().ok())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// What a program prints.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

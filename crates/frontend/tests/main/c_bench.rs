//! Programs of others: all of them translate. Set `WHEREFORE_BENCH` and `WHEREFORE_CASES` to
//! folders that have them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wherefore_frontend::c::{DataModel, Options, Property, translate};

fn options(property: &str, entry: &str, model: &str) -> Options {
    let property = match property {
        "ERROR-label" => Property::Labels(vec!["ERROR".to_owned(), "error".to_owned()]),
        "assert" => Property::Assertions,
        "reach-error" => Property::Calls(vec!["reach_error".to_owned(), "__VERIFIER_error".to_owned()]),
        other => {
            let name = other.trim_start_matches("reach-error(").trim_end_matches(')');
            Property::Calls(vec![name.to_owned()])
        }
    };
    let data_model = if model.starts_with("ILP32") { DataModel::Ilp32 } else { DataModel::Lp64 };
    Options { property, data_model, entry: entry.to_owned(), ..Options::default() }
}

#[test]
#[ignore = "needs a folder of programs, WHEREFORE_BENCH"]
fn the_benchmark_translates() {
    let folder = wherefore_testing::given("WHEREFORE_BENCH").join("c");
    let index = fs::read_to_string(folder.join("index.csv")).expect("an index");
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for line in index.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [path, _, _, property, entry, model, ..] = fields.as_slice() else { panic!("{line}") };
        count += 1;
        match translate(&[folder.join(path)], &options(property, entry, model)) {
            Ok(translation) => {
                let program = &translation.program;
                assert_eq!(program.check(), Ok(()), "{path}");
                for input in &translation.inputs {
                    let edge = program.edge(input.edge);
                    assert!(
                        matches!(&edge.operation, wherefore_program::Operation::Havoc(t) if t.len() == 1)
                    );
                }
            }
            Err(error) => {
                refused.insert((*path).to_owned(), error.to_string());
            }
        }
    }
    assert!(count > 0);
    let found: Vec<&str> = refused.keys().map(String::as_str).collect();
    assert_eq!(found, REFUSED, "{refused:#?}");
}

/// What is refused, and why: a header that is not there.
const REFUSED: [&str; 1] = ["satabs/safety/Boop_full/spec.c"];

fn c_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            c_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "c") {
            out.push(path);
        }
    }
}

#[test]
#[ignore = "needs a folder of cases, WHEREFORE_CASES"]
fn the_cases_translate() {
    let folder = wherefore_testing::given("WHEREFORE_CASES");
    let mut files = Vec::new();
    c_files(&folder, &mut files);
    assert!(!files.is_empty());
    files.sort();
    let mut refused = Vec::new();
    for file in files {
        if let Err(error) = translate(std::slice::from_ref(&file), &Options::default()) {
            let text = error.to_string();
            // A part of a program of several files has no `main`.
            let expected =
                ["in a program with threads is not supported", "`pthread_", "there is no function `main`"];
            if !text.lines().all(|line| expected.iter().any(|known| line.contains(known))) {
                let name = file.strip_prefix(&folder).unwrap_or(&file).display().to_string();
                refused.push((name, text));
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

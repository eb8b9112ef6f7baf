//! The facts of the case files of kinds `env` and `affine`, at lines of C programs. Set
//! `WHEREFORE_CASES` to a folder of cases.

use std::path::{Path, PathBuf};

use saphyr::YamlOwned;
use wherefore_domains::{Howell, Ring};
use wherefore_facts::{Analysed, Claim, Domain, Equation, Place, Stacks, first_point, points};
use wherefore_program::{Node, Program, Var};
use wherefore_pushdown::Limits;

use crate::spans::echelon;
use crate::yaml::{entries, get, items, list, name, number, read, text};

/// All `expect.yaml` below a folder.
fn expectations(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            expectations(&path, found);
        } else if path.file_name().is_some_and(|name| name == "expect.yaml") {
            found.push(path);
        }
    }
}

fn node_at(program: &Program, line: u32) -> Node {
    let points = points(program);
    first_point(program, (0, line), &points[&(0, line)]).unwrap()
}

fn stacks(at: &YamlOwned) -> Option<Stacks> {
    get(at, "stack").map(|lines| {
        let lines: Vec<u32> = items(lines).iter().map(|line| line.as_integer().unwrap() as u32).collect();
        Stacks::of_lines(&lines)
    })
}

fn check_env(program: &Program, fact: &YamlOwned, at: &YamlOwned) -> Result<(), String> {
    let analysis = Analysed::new(program, Domain::Constants, &Limits::default()).unwrap();
    let node = node_at(program, number(at, "line").unwrap() as u32);
    let claims = analysis.claims(node, stacks(at).as_ref(), &|_| true).ok_or("no path comes there")?;
    for (variable, expected) in entries(fact, "env") {
        let variable = program.find_variable(node.procedure, &variable).ok_or(format!("no {variable}"))?;
        let found = claims.iter().find_map(|claim| match claim {
            Claim::OneOf { place, constant, .. } if *place == Place::Now(variable) => *constant,
            _ => None,
        });
        let found = found.map_or("top".to_owned(), |value| (value as u32 as i32).to_string());
        if found != name(expected) {
            return Err(format!("{variable:?} is {found}, not {}", name(expected)));
        }
    }
    Ok(())
}

fn vector(equation: &Equation, variables: &[Var]) -> Vec<i64> {
    let mut vector = vec![0; variables.len() + 1];
    vector[0] = equation.constant;
    for (place, factor) in &equation.terms {
        let at = variables.iter().position(|variable| Place::Now(*variable) == *place).unwrap();
        vector[at + 1] = *factor;
    }
    vector
}

fn check_affine(program: &Program, fact: &YamlOwned, at: &YamlOwned) -> Result<(), String> {
    let ring = text(fact, "ring").unwrap();
    let bits: Option<u32> = ring.strip_prefix("2^").map(|bits| bits.parse().unwrap());
    let domain = bits.map_or(Domain::Affine, Domain::ExactModular);
    let analysis = Analysed::new(program, domain, &Limits::default()).unwrap();
    let node = node_at(program, number(at, "line").unwrap() as u32);
    let names: Vec<String> = list(fact, "vars").iter().map(name).collect();
    let find = |name: &String| program.find_variable(node.procedure, name).ok_or(format!("no {name}"));
    let variables: Vec<Var> = names.iter().map(find).collect::<Result<_, _>>()?;
    let keep = |variable: Var| variables.contains(&variable);
    let claims = analysis.claims(node, stacks(at).as_ref(), &keep).ok_or("no path comes there")?;
    let found: Vec<Vec<i64>> = claims
        .iter()
        .map(|claim| match claim {
            Claim::Equation(equation) => vector(equation, &variables),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: Vec<Vec<i64>> = list(fact, "basis")
        .iter()
        .map(|row| items(row).iter().map(|x| x.as_integer().unwrap()).collect())
        .collect();
    let is_equal = match bits {
        Some(bits) => {
            let module = |rows: &[Vec<i64>]| {
                let rows = rows.iter().map(|row| row.iter().map(|x| *x as u64).collect());
                Howell::of(Ring::new(bits), variables.len() + 1, rows)
            };
            module(&found) == module(&expected)
        }
        None => {
            let space = |rows: &[Vec<i64>]| {
                echelon(rows.iter().map(|row| row.iter().map(|x| i128::from(*x)).collect()).collect())
            };
            space(&found) == space(&expected)
        }
    };
    if is_equal { Ok(()) } else { Err(format!("{found:?} is not {expected:?}")) }
}

#[test]
#[ignore = "needs a folder of cases, WHEREFORE_CASES"]
fn facts_of_cases() {
    let mut files = Vec::new();
    expectations(&wherefore_testing::given("WHEREFORE_CASES"), &mut files);
    files.sort();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        let case = read(&file);
        for fact in list(&case, "facts") {
            let Some(at) = get(fact, "at") else { continue };
            let kind = text(fact, "kind").unwrap_or("");
            if !["env", "affine"].contains(&kind) || number(at, "line").is_none() {
                continue;
            }
            let input = file.with_file_name(text(fact, "input").unwrap_or("main.c"));
            if input.extension().is_none_or(|extension| extension != "c") {
                continue;
            }
            count += 1;
            let task = wherefore_frontend::load(&input, None).unwrap_or_else(|e| panic!("{}", e.render()));
            let checked = match kind {
                "env" => check_env(&task.program, fact, at),
                _ => check_affine(&task.program, fact, at),
            };
            if let Err(why) = checked {
                wrong.push(format!("{} {}: {why}", file.display(), text(fact, "id").unwrap_or("")));
            }
        }
    }
    println!("{count} facts");
    assert!(count > 0, "there are no facts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

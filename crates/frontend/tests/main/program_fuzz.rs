//! Whatever the text, a reader answers: a well-formed program that can be run, or errors with
//! places.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use wherefore_frontend::{Language, MAX_DIAGNOSTICS, parse};
use wherefore_program::{ExploreLimits, Interpreter, Program, Step, TargetChoice, Trace, explore};

const BOOLEAN: &[&str] = &[
    "decl",
    "void",
    "bool",
    "<",
    ">",
    "2",
    "main",
    "f",
    "a",
    "b",
    "{x>0}",
    "(",
    ")",
    "begin",
    "end",
    ";",
    ":=",
    ",",
    "'",
    "*",
    "?",
    "T",
    "F",
    "0",
    "1",
    "!",
    "&",
    "|",
    "^",
    "=",
    "!=",
    "=>",
    "<=>",
    "if",
    "then",
    "elsif",
    "else",
    "fi",
    "while",
    "do",
    "od",
    "goto",
    "L",
    ":",
    "skip",
    "assume",
    "assert",
    "return",
    "dead",
    "print",
    "enforce",
    "constrain",
    "schoose",
    "[",
    "]",
    "_",
    "start_thread",
    "end_thread",
    "sync",
    "atomic_begin",
    "atomic_end",
    "ASYNC_1",
    "//",
    "/*",
    "*/",
    "\n",
];

const REMOPLA: &[&str] = &[
    "define",
    "N",
    "5",
    "0",
    "1",
    "DEFAULT_INT_BITS",
    "bool",
    "int",
    "enum",
    "struct",
    "shared",
    "module",
    "void",
    "init",
    "main",
    "f",
    "a",
    "b",
    "x",
    "i",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "::",
    "->",
    "-->",
    "q",
    "<",
    ">",
    "l",
    "=",
    "==",
    "!=",
    "<=",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "^^",
    "!",
    ".",
    "'",
    "''",
    "A",
    "E",
    "if",
    "fi",
    "do",
    "od",
    "else",
    "break",
    "goto",
    "return",
    "skip",
    "fork",
    "undef",
    "true",
    "false",
    "\"name\"",
    "//",
    "/*",
    "*/",
    "#",
    "\n",
];

/// Reads a text and tries out what comes of it.
fn read(language: Language, text: &str) {
    match parse(language, "fuzz", text, None) {
        Ok(task) => try_out(&task.program),
        Err(error) => {
            let found = error.diagnostics();
            assert!(!found.is_empty() && found.len() <= MAX_DIAGNOSTICS);
            let places: Vec<_> = found.iter().map(|d| (d.error.line, d.error.column)).collect();
            assert!(places.is_sorted(), "{places:?}");
            assert!(error.render().lines().count() >= found.len() * 3);
        }
    }
}

fn try_out(program: &Program) {
    assert_eq!(program.check(), Ok(()));
    assert_eq!(program.listing(), program.listing());
    assert!(program.dot().ends_with("}\n"));
    let bounded = program.clone().with_bounds_checks();
    assert_eq!(bounded.check(), Ok(()));
    let targets = program.targets(&TargetChoice::Default).expect("the default always exists");
    let limits = ExploreLimits { configurations: 200, choices: 64 };
    if let Some(trace) = explore(program, &targets, limits).shortest_trace() {
        assert_eq!(program.replay(&trace), Ok(()));
    }
    walk(program);
}

/// A run along the last successors replays.
fn walk(program: &Program) {
    let interpreter = Interpreter::new(program);
    let Some(start) = interpreter.initial_states(8).0.pop() else { return };
    let mut trace = Trace { start, steps: Vec::new() };
    for i in 0..12 {
        let (mut next, _) = interpreter.successors(trace.last(), 32);
        if next.is_empty() {
            break;
        }
        let (edge, state) = next.swap_remove(i * 7 % next.len());
        trace.steps.push(Step { edge, state });
    }
    assert_eq!(interpreter.replay(&trace), Ok(()));
}

fn corpus(extension: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for case in fs::read_dir(folder).expect("cases").flatten() {
        for file in fs::read_dir(case.path()).expect("a case").flatten() {
            if file.path().extension().is_some_and(|found| found == extension) {
                texts.push(fs::read_to_string(file.path()).expect("a text"));
            }
        }
    }
    texts.sort();
    let every_construct = match extension {
        "bp" => {
            "decl a, {b}; bool<2> f(x, y) begin decl z; enforce x | !y; z := schoose[x, y]; dead z; print(z);
             return x => y, z <=> *; end void main(p) begin a, _ := f(a, p); a, {b} := *, * constrain 'a ^ {b};
             start_thread goto L; L: sync; if a then goto L, M; elsif {b} then M: return; else assume(a); fi end"
        }
        _ => {
            "define N 2 define DEFAULT_INT_BITS 2 enum e { r, g, w } c; struct s { int l(3); bool k[2]; } t;
             shared bool m[N][1,2]; int x, a[2]; init main f; module int(3) f(int p, bool v[2], struct s u);
             module int(3) f(int p, bool v[2], struct s u) { q <z> --> q <f y> (p' == 1 && p'' == p) z: y: return p + 1; }
             module void main() { int i; A j (0,1) E k (1,N) m[j][k] = j == 0, c = undef; x != 1; t.k[1] = true;
             x = f(i, t.k, t), a[0] = 3; fork f(1, undef, t); do :: A j (0,1) a[j] > x -> break; :: else -> skip (x > 0); od }"
        }
    };
    texts.push(every_construct.to_owned());
    if extension == "rem" {
        let rules = "bool g; int x(2); init s main; module void main() { int l(2); a: q <a> --> q <f b> (l'' == 1 && g')
                     q <a> --> q <c main> b: return; c: skip; }
                     q <s> --> q <f r> (g' == true) q <f> --> q <f t> \"again\" (g) q <f> --> q <> (x' > x)
                     q <r> --> q <error> (!g) q <b> --> q <c> (l' == l + 1) q <t> --> q <>";
        texts.push(rules.to_owned());
    }
    texts
}

/// A text with some pieces removed, doubled, swapped for others or cut off.
fn mutate(text: &str, words: &[&str], changes: &[(u8, usize, usize)]) -> String {
    let mut pieces: Vec<String> =
        text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned).collect();
    for (kind, at, other) in changes {
        if pieces.is_empty() {
            break;
        }
        let (at, other) = (at % pieces.len(), other % pieces.len());
        match kind % 6 {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[at].clone()),
            2 => pieces.swap(at, other),
            3 => pieces[at] = format!(" {} ", words[other % words.len()]),
            4 => pieces.insert(at, format!(" {} ", words[other % words.len()])),
            _ => pieces[at] = pieces[other].clone(),
        }
    }
    pieces.concat()
}

const CIMPLE: &[&str] = &[
    "int",
    "bool",
    "void",
    "main",
    "f",
    "x",
    "error",
    "true",
    "false",
    "1",
    "=",
    "*",
    "if",
    "while",
    "for",
    "else",
    "(",
    ")",
    "{",
    "}",
    ";",
    ",",
    "[",
    "]",
    "return",
    "exit",
    "assert",
    "#",
    "\n",
    "typedef",
    "enum",
    "reach_error",
    "ERROR",
    ":",
    "goto",
    "/*",
    "\"",
    "é",
];

/// Cimple is read as C, so that whatever the text, positions are in it.
fn read_cimple(text: &str) {
    match parse(Language::Cimple, "fuzz.cimple", text, None) {
        Ok(task) => assert_eq!(task.program.check(), Ok(())),
        Err(error) => assert!(!error.render().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(400)))]

    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        read(Language::Boolean, &text);
        read(Language::Remopla, &text);
        read_cimple(&text);
    }

    #[test]
    fn token_soup_never_panics(picks in proptest::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        for (language, words) in [(Language::Boolean, BOOLEAN), (Language::Remopla, REMOPLA)] {
            let soup: Vec<&str> = picks.iter().map(|pick| *pick.get(words)).collect();
            read(language, &soup.join(" "));
        }
        let soup: Vec<&str> = picks.iter().map(|pick| *pick.get(CIMPLE)).collect();
        read_cimple(&soup.join(" "));
    }

    #[test]
    fn mutated_programs_never_panic(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..6),
    ) {
        for (language, words, extension) in [
            (Language::Boolean, BOOLEAN, "bp"),
            (Language::Remopla, REMOPLA, "rem"),
        ] {
            let texts = corpus(extension);
            let text: &String = which.get(&texts);
            read(language, &mutate(text, words, &changes));
        }
        let texts = cimple_corpus();
        let text: &String = which.get(&texts);
        read_cimple(&mutate(text, CIMPLE, &changes));
    }
}

fn cimple_corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/cimple");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn the_corpus_itself_is_valid() {
    cimple_corpus().iter().for_each(|text| assert!(parse(Language::Cimple, "corpus", text, None).is_ok()));
    for (language, extension) in [(Language::Boolean, "bp"), (Language::Remopla, "rem")] {
        for text in corpus(extension) {
            if let Err(error) = parse(language, "corpus", &text, None) {
                panic!("{}", error.render());
            }
        }
    }
}

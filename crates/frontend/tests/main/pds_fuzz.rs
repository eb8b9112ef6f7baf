//! No input makes a reader panic: random text, and valid files that were cut, changed and spliced.

use proptest::prelude::*;
use wherefore_frontend::pds::{Sets, Source, read_str, read_str_with};

const PLAIN: &str = "pds 2 3 3\ninit 0 0\ntarget 1 1\ndead 2\n1 0 0 1 1 4\n2 1 1 0 0 1 5\n0 0 0 1 6\n";

const INSTANCE: &str = r#"{"instance": [{"state-names": true, "weight-type": "uint"},
  {"states": {"p": {"a": [{"to": "q", "swap": "b", "weight": 3}, {"to": "p", "pop": "", "weight": 1}],
                    "*": {"to": "q", "swap": "*", "weight": 0}}, "q": {"\u0062": {"to": "p", "push": "c", "weight": 2}}}},
  {"accepting": ["f", "p"], "initial": ["p"], "edges": [["p", "a", "f"], ["f", "", "p"], ["f", "d", 7]]},
  "<[p,q], [^a]* . | (b c)?> | <., a+>"]}"#;

const NUMBERED: &str = r#"{"pda": {"states": [{"*": [{"to": 1, "push": "x"}, {"to": 0, "pop": ""}]}, {"x": {"to": 0, "swap": "y"}}]}}"#;

const GRAPH: &str =
    r#"{"P-automaton": {"accepting": [5], "initial": [0], "edges": [[0, "x", 5], [5, "", 0]]}}"#;

const READABLE: &str = "# all of it\nweights relation\nglobal x : -3..255\nlocal l : 0..1\nstates r\nsymbols \"o d\\\"d\"\n\
    start <p, a> | <[^r], (b|c)* .+ \"o d\\\"d\"?>\ntarget [a, b] .*\n\
    <p, a> -> <q, b c d> [x == 10 && !(l < 1) || true] { x := min(x + 1, 7, l) * 2 / 3 % 4 - -1, l := ? } \"label\"\n\
    <q, b> -> <p,>\n";

const SHORTEST: &str = "weights shortest\nstart a .*\n<p, a> -> <p, b b> : 12 \"x\"\n<p, b> -> <q, a>\n";

const SEEDS: [&str; 6] = [PLAIN, INSTANCE, NUMBERED, GRAPH, READABLE, SHORTEST];

/// Reads a text in every role that a text can have.
fn read_everywhere(text: &str) {
    let source = Source { name: "fuzz", text };
    match read_str(source) {
        Ok(file) => {
            for (rule, _) in file.system.rules() {
                let _ = (file.label(rule), file.restores_locals(rule));
            }
        }
        Err(error) => assert!(error.render().contains("fuzz"), "{error}"),
    }
    for system in [PLAIN, INSTANCE, NUMBERED, READABLE] {
        let system = Source { name: "system", text: system };
        if let Err(error) = read_str_with(system, Sets { start: Some(source), target: Some(source) }) {
            assert!(error.line().is_some());
        }
    }
}

#[test]
fn the_seeds_are_valid() {
    for seed in [PLAIN, INSTANCE, NUMBERED, READABLE, SHORTEST] {
        read_str(Source { name: "seed", text: seed }).unwrap_or_else(|error| panic!("{}", error.render()));
    }
    let numbered = Source { name: "seed", text: NUMBERED };
    let graph = Source { name: "graph", text: GRAPH };
    read_str_with(numbered, Sets { start: Some(graph), target: None }).unwrap();
}

#[test]
fn every_beginning_of_a_valid_file_is_read_or_refused() {
    for seed in SEEDS {
        for end in (0..=seed.len()).filter(|end| seed.is_char_boundary(*end)) {
            read_everywhere(&seed[..end]);
        }
    }
}

fn change() -> impl Strategy<Value = (prop::sample::Index, u8, Vec<u8>, prop::sample::Index)> {
    let bytes = prop::collection::vec(
        prop_oneof![
            prop::sample::select(b"<>,[]^.()*+?|#\"\\{}:-0129 \npqabx\xc3\xa4".to_vec()),
            any::<u8>()
        ],
        0..4,
    );
    (any::<prop::sample::Index>(), 0..5u8, bytes, any::<prop::sample::Index>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(wherefore_testing::cases(1500)))]

    #[test]
    fn random_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_everywhere(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_marks_are_refused_or_read(
        head in prop::sample::select(vec!["", "{", "pds 1 1 1\n", "weights relation\nglobal x : 0..3\n<p,a>-><p,a>["]),
        text in "[<>,.()*+?|#\"\\\\\\[\\]{}^:=&!%/0-9pabx \n-]{0,80}",
    ) {
        read_everywhere(&format!("{head}{text}"));
    }

    #[test]
    fn changed_files_are_refused_or_read(
        seed in prop::sample::select(SEEDS.to_vec()),
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let mut bytes = seed.as_bytes().to_vec();
        for (at, cut, insert, from) in changes {
            let at = at.index(bytes.len() + 1);
            let end = (at + cut as usize).min(bytes.len());
            bytes.splice(at..end, insert);
            if cut == 4 && !bytes.is_empty() {
                // Repeat a part.
                let from = from.index(bytes.len());
                let part = bytes[from..(from + 30).min(bytes.len())].to_vec();
                let at = at.min(bytes.len());
                bytes.splice(at..at, part);
            }
        }
        read_everywhere(&String::from_utf8_lossy(&bytes));
    }
}

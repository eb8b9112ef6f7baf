//! What people read, letter by letter. `UPDATE_SNAPSHOTS=1 cargo test -p wherefore-report --test
//! main terminal` rewrites the expected texts under `tests/snapshots`; look at the difference
//! before it is committed.

use crate::common;

use std::path::Path;

use unicode_width::UnicodeWidthStr;
use wherefore_explain::model::Explanation;
use wherefore_report::{TerminalOptions, short, terminal};

const WIDTHS: [usize; 3] = [60, 80, 120];

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).expect("the snapshot can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} differs; expected:\n{expected}\nfound:\n{text}");
}

fn snapshot(name: &str, explanation: &Explanation) {
    for width in WIDTHS {
        let options = TerminalOptions { width, colour: false };
        compare(&format!("{name}-{width}.txt"), &terminal(explanation, &options));
        compare(&format!("{name}-short-{width}.txt"), &short(explanation, &options));
    }
}

#[test]
fn a_failure_is_explained_on_one_screen() {
    snapshot("min-max", &common::min_max());
    let text = terminal(&common::min_max(), &TerminalOptions::default());
    assert!(text.lines().count() <= 40, "{text}");
}

#[test]
fn a_proof_is_named() {
    snapshot("safe", &common::safe());
}

#[test]
fn an_unknown_verdict_has_its_reason() {
    snapshot("unknown", &common::unknown());
}

#[test]
fn lines_of_several_files_have_their_names() {
    snapshot("two-files", &common::two_files());
}

#[test]
fn odd_letters_do_not_reach_the_screen() {
    snapshot("hostile", &common::hostile());
    let text = terminal(&common::hostile(), &TerminalOptions::default());
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()));
}

#[test]
fn the_short_form_is_short() {
    for (name, explanation) in common::all() {
        let text = short(&explanation, &TerminalOptions::default());
        assert!(text.lines().count() <= 10, "{name}:\n{text}");
    }
}

#[test]
fn lines_fit_the_width() {
    for (name, explanation) in common::all().into_iter().chain([("large", common::large(500))]) {
        for width in WIDTHS {
            let text = terminal(&explanation, &TerminalOptions { width, colour: false });
            for line in text.lines() {
                assert!(line.width() <= width, "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn colours_add_escape_codes_and_nothing_else() {
    for (name, explanation) in common::all() {
        let plain = terminal(&explanation, &TerminalOptions { width: 80, colour: false });
        let colour = terminal(&explanation, &TerminalOptions { width: 80, colour: true });
        assert!(colour.contains("\u{1b}[1"), "{name}");
        assert!(!plain.contains('\u{1b}'), "{name}");
        assert_eq!(without_codes(&colour), plain, "{name}");
    }
}

fn without_codes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or("").to_string();
    for part in parts {
        out.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    out
}

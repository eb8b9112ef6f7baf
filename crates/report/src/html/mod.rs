//! One page to look around in: the source with what lies on failing runs, runs to walk through,
//! values, graphs.
//!
//! The page is one file without any request to elsewhere: style, script and data stand in it. It
//! can be kept, sent and opened anywhere. In live mode it asks the server it came from
//! ([`crate::serve()`]) for runs that were not computed before.

mod data;
mod drawing;
mod escape;
mod graphs;

use wherefore_explain::model::{Explanation, Run, Verdict};

use crate::source::Sources;
use crate::terminal::{TerminalOptions, terminal};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// One script: the files share their names.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("script/elements.js"),
    include_str!("script/source.js"),
    include_str!("script/walk.js"),
    include_str!("script/views.js"),
    include_str!("script/panel.js"),
    include_str!("script/line.js"),
    include_str!("script/page.js"),
    "})();",
);

/// How a page is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageOptions {
    /// Whether the page asks its server for failing runs through lines that have none: `GET
    /// /through?file=F&line=N`, where `F` is the position of the file in [`Explanation::sources`].
    /// The answer is what [`answer`] says.
    pub live: bool,
}

/// The page of an explanation, as one HTML file.
pub fn page(explanation: &Explanation, options: &PageOptions) -> String {
    let sources = Sources::new(explanation);
    let automata = graphs::automata(explanation, &sources);
    let calls = graphs::call_graph(explanation);
    let mut pictures = String::new();
    if let Some(svg) = &calls {
        pictures += &format!("<template id=\"graph-calls\">{svg}</template>\n");
    }
    for (position, automaton) in automata.iter().enumerate() {
        if let Ok(svg) = automaton {
            pictures += &format!("<template id=\"graph-{position}\">{svg}</template>\n");
        }
    }
    let data = data::data(explanation, options, &automata);
    let word = match explanation.verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe => "unsafe",
        Verdict::Unknown => "unknown",
    };
    let parts = [
        ("title", escape::html(&format!("{}: {word}", explanation.file))),
        ("connect", if options.live { "'self'".into() } else { "'none'".into() }),
        ("style", STYLE.into()),
        ("text", escape::html(&terminal(explanation, &TerminalOptions { width: 100, colour: false }))),
        ("pictures", pictures),
        ("data", escape::script(&data)),
        ("script", SCRIPT.into()),
    ];
    fill(TEMPLATE, &parts)
}

/// The answer to a question of a live page: a failing run through the line, or why there is none.
pub fn answer(explanation: &Explanation, run: Option<&Run>, reason: Option<&str>) -> String {
    let run = run.map(|run| data::run(run, explanation.sources.len()));
    serde_json::json!({ "run": run, "reason": reason }).to_string()
}

/// Puts each part where its name stands in the template as `{{name}}`. What is put in is not
/// searched again.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out =
        String::with_capacity(template.len() + parts.iter().map(|part| part.1.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        let part = parts.iter().find(|part| part.0 == name);
        out.push_str(part.map_or("", |part| &part.1));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn what_is_put_in_is_not_searched_again() {
        assert_eq!(fill("a {{x}} b {{y}}", &[("x", "{{y}}".into()), ("y", "1".into())]), "a {{y}} b 1");
    }
}

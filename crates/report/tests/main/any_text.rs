//! No text, and no position, breaks a report.

use proptest::prelude::*;
use serde_json::Value;
use wherefore_explain::model::*;
use wherefore_report::{
    PageOptions, SarifOptions, Task, TerminalOptions, json, page, sarif, short, terminal, witness,
};

/// Texts with a liking for what has a meaning somewhere.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "</script>",
        "<!--",
        "-->",
        "]]>",
        "\"",
        "'",
        "\\",
        "\n",
        "\r\n",
        "\t",
        "\u{0}",
        "\u{1b}[31m",
        "\u{2028}",
        "\u{85}",
        "\u{feff}",
        "{{data}}",
        "{0}",
        "[a](b)",
        ": ",
        "- ",
        "#",
        "é",
        "漢",
        "😀",
        "%",
        "&amp;",
        "\u{202e}",
        "x",
    ]);
    let part = prop_oneof![odd.prop_map(str::to_string), any::<String>()];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

fn extent() -> impl Strategy<Value = Extent> {
    let number = || prop_oneof![0_u32..6, Just(u32::MAX)];
    (0_usize..3, number(), number(), number(), number()).prop_map(|(file, a, b, c, d)| Extent {
        file,
        start: (a, b),
        end: (c, d),
    })
}

/// An explanation with given texts and extents in every field that takes one.
fn filled(texts: &[String], extents: &[Extent], verdict: Verdict) -> Explanation {
    let mut count = 0;
    let mut next = || {
        count += 1;
        texts[count % texts.len()].clone()
    };
    let line = |at: usize| extents[at % extents.len()].line();
    let step = |extent: &Extent, text: String, name: String, value: String| Step {
        extent: *extent,
        text,
        procedure: "p".into(),
        depth: 1,
        values: [(name, value)].into(),
        holds: Some(true),
    };
    let steps: Vec<Step> = extents.iter().map(|extent| step(extent, next(), next(), next())).collect();
    let statements: Vec<Statement> = extents
        .iter()
        .enumerate()
        .map(|(at, extent)| Statement { extent: *extent, text: next(), procedure: next(), step: Some(at) })
        .collect();
    let lines: Vec<Line> = extents.iter().map(Extent::line).collect();
    Explanation {
        file: next(),
        verdict,
        reason: Some(next()),
        error: Some(Place { extent: extents[0], procedure: next(), kind: next(), label: Some(next()) }),
        checks: [CheckVerdict::Unsafe, CheckVerdict::Unreachable]
            .map(|verdict| Check {
                place: Place { extent: extents[0], procedure: next(), kind: next(), label: Some(next()) },
                verdict,
                reason: Some(next()),
                run: None,
            })
            .into(),
        always: true,
        sources: vec![Source { name: next(), text: next() }, Source { name: next(), text: next() }],
        projection: Projection {
            inside: lines.clone(),
            outside: lines.clone(),
            confirmed: lines.clone(),
            exact: false,
        },
        runs: vec![Run {
            steps,
            slice: vec![0, 99],
            inputs: vec![InputValue { name: next(), function: next(), value: next(), extent: extents[0] }],
            replay: Some(Replay { outcome: next(), why: Some(next()) }),
        }],
        through: [(line(0), 9)].into(),
        focus: vec![Focus {
            rank: 1,
            statements,
            assumptions: vec![Assumption { text: next(), line: line(1), unless_overflow: true }],
            feasible: true,
            run: Some(7),
        }],
        reduced: vec![Reduced { focus: 5, assumptions: vec![next()] }],
        neighbourhoods: vec![Neighbourhood {
            focus: 5,
            lines: lines.clone(),
            marked: lines.clone(),
            repairs: lines.clone(),
        }],
        suspicion: [(line(0), f64::NAN), (line(1), 0.5)].into(),
        stores: [(line(0), vec![vec![next()], vec![]])].into(),
        predicates: [(line(0), vec![next()])].into(),
        grounds: Some(Grounds { checked: Some(next()), lines, vacuous: usize::MAX, ..Grounds::default() }),
        invariants: vec![
            Invariant { extent: extents[0], procedure: next(), formula: next(), is_loop: true },
            Invariant { extent: extents[0], procedure: next(), formula: next(), is_loop: false },
        ],
        procedures: vec![Procedure {
            name: next(),
            line: line(0),
            points: vec![Point { line: Some(line(1)), kind: next(), inside: true }, Point::default()],
            edges: vec![(0, 1, next()), (1, 0, next()), (5, 0, next())],
            calls: vec![0, 3],
        }],
        assumptions: vec![next()],
        reproduce: Reproduce { command: next(), harness: Some(next()) },
        stats: Stats {
            engine: Some(next()),
            incomplete: vec![next()],
            seconds: f64::INFINITY,
            ..Stats::default()
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_report_survives(
        texts in prop::collection::vec(text(), 3..9),
        extents in prop::collection::vec(extent(), 1..5),
        verdict in prop::sample::select(vec![Verdict::Safe, Verdict::Unsafe, Verdict::Unknown]),
    ) {
        let explanation = filled(&texts, &extents, verdict);

        let plain = terminal(&explanation, &TerminalOptions { width: 60, colour: false });
        prop_assert!(plain.chars().all(|letter| letter == '\n' || !letter.is_control()), "{plain:?}");
        let brief = short(&explanation, &TerminalOptions { width: 60, colour: false });
        prop_assert!(brief.chars().all(|letter| letter == '\n' || !letter.is_control()));

        for value in [json(&explanation), sarif(&explanation, &SarifOptions::default())] {
            let again: Value = serde_json::from_str(&value.to_string()).expect("it is JSON");
            prop_assert_eq!(again, value);
        }

        let html = page(&explanation, &PageOptions { live: false });
        prop_assert_eq!(html.matches("</script>").count(), 2);
        prop_assert_eq!(html.matches("<script").count(), 2);
        let data = html.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>")).expect("data").0;
        let data: Value = serde_json::from_str(data).expect("the data is JSON");
        prop_assert_eq!(&data["sources"][0]["text"], &Value::from(explanation.sources[0].text.clone()));

        let task = Task { specification: texts[0].clone(), creation_time: texts[1].clone(), ..Task::default() };
        if let Some(yaml) = witness(&explanation, &task) {
            let value: Value = serde_yaml_ng::from_str(&yaml).unwrap_or_else(|error| panic!("{error}:\n{yaml}"));
            prop_assert_eq!(&value[0]["metadata"]["task"]["specification"], &Value::from(texts[0].clone()));
            prop_assert_eq!(value.as_array().map(Vec::len), Some(1));
        }

        for dot in [wherefore_report::dot::automata(&explanation), wherefore_report::dot::call_graph(&explanation)] {
            let is_closed = dot.ends_with("}\n");
            prop_assert!(is_closed);
        }
    }
}

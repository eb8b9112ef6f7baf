//! Probe.
use std::sync::Arc;
use wherefore_explain::*;
use wherefore_frontend::c::*;
use wherefore_program::*;
fn main() {
    for file in std::env::args().skip(1) {
        let t = translate(&[file.clone().into()], &Options::default()).unwrap();
        let program = Arc::new(t.program);
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let begin = std::time::Instant::now();
        let limits = wherefore_pushdown::Limits {
            time: Some(std::time::Duration::from_secs(10)),
            ..Default::default()
        };
        let d = wherefore_check::decide_unbounded(&program, &targets, Default::default(), &limits, |_| {});
        let took = begin.elapsed();
        println!("== {file}: {:?} {:?}", d.verdict, took);
        let Some(f) = d.failure else { continue };
        let begin = std::time::Instant::now();
        let why = why(&program, &targets, f, &limits, std::time::Duration::from_millis(1000));
        for (i, focus) in why.focus.iter().enumerate() {
            let path = &why.runs[focus.run].path;
            let texts: Vec<String> = focus.assumptions.iter().flatten().map(|c| c.text.clone()).collect();
            println!(
                "  {i} rank {} run {} {:?} assuming {:?}",
                focus.rank,
                focus.run,
                focus.sequence.lines(&program),
                texts
            );
            if std::env::var("V").is_ok() {
                for item in &focus.sequence.items {
                    println!(
                        "      {:?} {:?} parent {:?}",
                        program.line(item.node),
                        wherefore_explain::focus::text(&program, path, item),
                        item.parent
                    );
                }
            }
        }
        println!("  reduced {:?}", why.reduced);
        for n in &why.neighbourhoods {
            let lines = |items: &[usize]| {
                items
                    .iter()
                    .filter_map(|i| program.line(why.focus[n.focus].sequence.items[*i].node))
                    .collect::<std::collections::BTreeSet<_>>()
            };
            println!("  neighbourhood of {}: {:?} marked {:?}", n.focus, lines(&n.items), lines(&n.marked));
        }
        println!("  complete {} took {:?}", why.is_complete, begin.elapsed());
    }
}

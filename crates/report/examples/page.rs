//! Writes the pages of the fixtures: `cargo run -p wherefore-report --example page -- out.html`
//! writes `out.html` for the failing program, and beside it `out-safe.html`, `out-large.html`
//! (5,000 lines) and so on; `out-live.html` asks for its runs, and `out-live.json` is what it is to
//! be told.

#[path = "../tests/main/common/mod.rs"]
mod common;

use std::path::Path;

use wherefore_report::html::answer;
use wherefore_report::{PageOptions, page};

fn main() -> std::io::Result<()> {
    let out = std::env::args().nth(1).unwrap_or_else(|| "out.html".into());
    let stem = out.strip_suffix(".html").unwrap_or(&out).to_string();
    for (name, explanation) in common::all().into_iter().chain([("large", common::large(5000))]) {
        let path = if name == "min-max" { out.clone() } else { format!("{stem}-{name}.html") };
        let text = page(&explanation, &PageOptions { live: false });
        std::fs::write(Path::new(&path), &text)?;
        println!("{path}: {} bytes", text.len());
    }
    let told = common::min_max();
    let mut asking = told.clone();
    asking.runs.clear();
    asking.through.clear();
    std::fs::write(format!("{stem}-live.html"), page(&asking, &PageOptions { live: true }))?;
    std::fs::write(format!("{stem}-live.json"), answer(&told, told.runs.first(), None))
}

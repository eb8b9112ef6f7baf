//! Writes the pages of the fixtures: `cargo run -p wherefore-report --example page -- out.html` writes `out.html` for the failing
//! program, and beside it `out-safe.html`, `out-large.html` (5,000 lines) and so on.

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;

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
    Ok(())
}

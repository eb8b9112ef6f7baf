//! Tables of figures on the terminal, which are also Markdown.

use std::time::Duration;

/// A table with a heading.
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints the table under a title.
    pub fn print(&self, title: &str) {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].chars().count());
            cells.chain([self.columns[i].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded = cells.zip(&widths).map(|(cell, w)| format!("{cell:>w$}", w = *w));
            println!("| {} |", padded.collect::<Vec<_>>().join(" | "));
        };
        println!("\n## {title}");
        line(&mut self.columns.iter().copied());
        println!(
            "|{}|",
            widths.iter().map(|w| format!("{}:", "-".repeat(w + 1))).collect::<Vec<_>>().join("|")
        );
        for row in &self.rows {
            line(&mut row.iter().map(String::as_str));
        }
    }
}

/// A time in milliseconds.
pub fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.0}") }
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    if ratio >= 100.0 { format!("{ratio:.0}×") } else { format!("{ratio:.2}×") }
}

//! Slices of long paths: their size, and the time they take.

use wherefore_program::PathSlicer;

use super::table::{Table, ms};
use super::{Extent, measure};

/// The generator of the tests.
#[path = "../../../program/tests/main/path_slice/long.rs"]
mod long;

use long::{Tie, long_path};

/// Measures paths of up to 80,000 edges.
pub fn run(extent: Extent) {
    let calls: &[usize] = match extent {
        Extent::Quick => &[112],
        Extent::Full => &[112, 556, 2223, 4445, 8889],
    };
    let mut table = Table::new(&[
        "what matters",
        "edges",
        "in the slice",
        "%",
        "preparing ms",
        "first ms",
        "again ms",
        "ns/edge",
        "MB",
    ]);
    let kinds = [
        ("two conditions", Tie::None),
        ("and a branch before", Tie::Guarded),
        ("nearly everything", Tie::Everywhere),
    ];
    for (name, tie) in kinds {
        for calls in calls {
            let long = long_path(*calls, 50, tie);
            let (_, preparing, _) = measure(3, || PathSlicer::new(&long.program));
            let (mut slicer, all, peak) = measure(3, || {
                let mut slicer = PathSlicer::new(&long.program);
                slicer.slice(&long.path).expect("a path");
                slicer
            });
            let (slice, again, _) = measure(3, || slicer.slice(&long.path).expect("a path"));
            let (edges, taken) = (long.path.len(), slice.taken.len());
            table.row(vec![
                name.to_owned(),
                edges.to_string(),
                taken.to_string(),
                format!("{:.3}", 100.0 * taken as f64 / edges as f64),
                ms(preparing),
                ms(all.saturating_sub(preparing)),
                ms(again),
                format!("{:.0}", again.as_secs_f64() * 1e9 / edges as f64),
                format!("{peak:.1}"),
            ]);
        }
    }
    table.print("path slices");
}

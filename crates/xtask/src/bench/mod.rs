//! Benchmarks. Figures of one run can be compared with each other; those of two runs, or of two
//! machines, cannot.

mod boolean;
mod calls;
mod cegar;
mod faults;
mod floor;
mod loops;
mod program_shaped;
mod projection;
mod saturation;
mod slice;
mod smt;
mod table;
mod threads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Subcommand;

#[derive(Subcommand)]
pub enum Subject {
    /// The engine: saturation, reading weights, path expressions, error projection.
    Pushdown {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// Exact checking of generated Boolean programs.
    Boolean {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// Abstraction refinement on the examples of its document.
    Cegar {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// Refinement of programs with deep call graphs.
    Calls {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// Programs with threads; SPIN as well, where it is installed.
    Threads {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// The embedded solver for bit-vectors and arrays, and z3 where it is installed.
    Smt {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// Slices of long paths.
    Slice {
        /// Small sizes only: a look at whether everything still runs.
        #[arg(long)]
        quick: bool,
    },
    /// Explanations of programs with known faults; `wherefore` must have been built with the same
    /// profile.
    Faults {
        /// A folder with `faults.csv` [default: the one that WHEREFORE_BENCH names].
        folder: Option<PathBuf>,
        /// Seconds for each program.
        #[arg(long, default_value_t = 60)]
        timeout: u64,
    },
    /// One attempt of a benchmark, in a process of its own.
    #[command(hide = true)]
    Attempt { file: PathBuf, way: String },
}

fn extent(quick: bool) -> Extent {
    if quick { Extent::Quick } else { Extent::Full }
}

/// How much to measure.
#[derive(Clone, Copy, PartialEq)]
pub enum Extent {
    Quick,
    Full,
}

pub fn run(subject: &Subject) -> ExitCode {
    match subject {
        Subject::Faults { folder, timeout } => return faults::run(folder.as_deref(), *timeout),
        Subject::Pushdown { quick } => {
            let extent = extent(*quick);
            saturation::run(extent);
            loops::run(extent);
            projection::run(extent);
        }
        Subject::Boolean { quick } => boolean::run(extent(*quick)),
        Subject::Calls { quick } => calls::run(extent(*quick)),
        Subject::Cegar { quick } => cegar::run(extent(*quick)),
        Subject::Attempt { file, way } => cegar::one(file, way),
        Subject::Threads { quick } => threads::run(extent(*quick)),
        Subject::Smt { quick } => smt::run(extent(*quick)),
        Subject::Slice { quick } => slice::run(extent(*quick)),
    }
    ExitCode::SUCCESS
}

/// The least time of several runs, and the peak of the heap above what was there before, in MB.
pub fn measure<T>(rounds: usize, mut job: impl FnMut() -> T) -> (T, Duration, f64) {
    let mut best = Duration::MAX;
    let mut peak: f64 = 0.0;
    let mut result = None;
    for _ in 0..rounds.max(1) {
        drop(result.take());
        let before = super::ALLOCATOR.current_usage_as_mb();
        super::ALLOCATOR.reset_peak_usage();
        let start = Instant::now();
        result = Some(job());
        best = best.min(start.elapsed());
        peak = peak.max(f64::from(super::ALLOCATOR.peak_usage_as_mb() - before));
    }
    match result {
        Some(result) => (result, best, peak),
        None => unreachable!("at least one round"),
    }
}

/// One time as a multiple of another.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(1e-9)
}

/// The middle one of several numbers.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

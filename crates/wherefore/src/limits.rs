//! Options that all commands share: what a run may spend.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use wherefore_pushdown::Limits;

use crate::exit::Exit;

/// What a run may spend.
#[derive(Args, Clone, Debug)]
pub struct LimitArgs {
    /// Give up after this many seconds, with exit code 5.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Give up when the automaton under construction takes this much memory, with exit code 5; for C, when the whole process does (on Linux).
    #[arg(long, value_name = "MB")]
    memory: Option<usize>,

    /// Give up after this many steps, with exit code 5: applied rules; for C, cycles of refinement and turns of each loop. Unlike time, the same
    /// everywhere.
    #[arg(long, value_name = "NUMBER")]
    steps: Option<u64>,
}

impl LimitArgs {
    /// The limits for the engine.
    pub fn limits(&self) -> Limits {
        Limits {
            time: self.timeout,
            memory: self.memory.map(|mb| mb.saturating_mul(1 << 20)),
            steps: self.steps,
            cancel: Some(interruption()),
        }
    }
}

/// Set when the user interrupts: engines stop, and what is known so far is printed. A second interruption ends the process at once.
pub fn interruption() -> Arc<AtomicBool> {
    static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = INTERRUPTED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = flag.clone();
        // Without a handler an interruption ends the process, as usual.
        let _ = ctrlc::set_handler(move || {
            if set.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Unknown.code().into());
            }
        });
        flag
    });
    flag.clone()
}

/// How long past its time limit a run may take before it is ended from outside.
///
/// The engine looks at the clock between operations; a single operation on large decision diagrams can take very long.
const GRACE: Duration = Duration::from_millis(500);

impl LimitArgs {
    /// Ends the process as *unknown* if it overruns its time limit; prints `unknown` first.
    pub fn guard(&self, unknown: String) {
        let Some(limit) = self.timeout.and_then(|limit| limit.checked_add(GRACE)) else { return };
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            let _ = crate::exit::print(&mut std::io::stdout(), &unknown, Exit::Unknown);
            std::process::exit(Exit::Unknown.code().into());
        });
    }
}

/// Reads a number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "not a number of seconds".to_owned())
}

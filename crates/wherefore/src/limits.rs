//! Options that all commands share: what a run may spend.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use wherefore_pushdown::{Limits, StopReason};

use crate::exit::Exit;

/// What a run may spend.
#[derive(Args, Clone, Debug)]
pub struct LimitArgs {
    /// Give up after this many seconds, with exit code 5 [default for C programs: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Give up when the process takes this much memory, with exit code 5 (on Linux; elsewhere, when
    /// the automaton under construction does).
    #[arg(long, value_name = "MB", hide_short_help = true)]
    memory: Option<usize>,

    /// Give up after this many steps, with exit code 5: applied rules; for C, cycles of refinement
    /// and turns of each loop. Unlike time, the same everywhere.
    #[arg(long, value_name = "NUMBER", hide_short_help = true)]
    steps: Option<u64>,
}

/// The time limit for C programs if none is given: some rules of C are seldom decided in large
/// ones.
pub const DEFAULT_FOR_C: Duration = Duration::from_secs(60);

impl LimitArgs {
    /// The time limit that is given.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

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

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether the user has interrupted.
pub fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Set when the user interrupts: engines stop, and what is known so far is printed. A second
/// interruption ends the process at once.
pub fn interruption() -> Arc<AtomicBool> {
    let flag = INTERRUPTED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = flag.clone();
        // Without a handler an interruption ends the process, as usual.
        let _ = ctrlc::set_handler(move || {
            if set.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code().into());
            }
        });
        flag
    });
    flag.clone()
}

/// The answer, as far as it is known while more is found out about it.
static SO_FAR: Mutex<Option<(String, Exit)>> = Mutex::new(None);

/// Keeps an answer: it is printed if what is found out about it afterwards overruns a limit.
pub fn keep_answer(text: String, exit: Exit) {
    *SO_FAR.lock().unwrap_or_else(PoisonError::into_inner) = Some((text, exit));
}

/// How long past its time limit a run may take before it is ended from outside.
///
/// The engine looks at the clock between operations; a single operation on large decision diagrams
/// can take very long.
const GRACE: Duration = Duration::from_millis(500);

/// How long the process may take more memory than its limit: engines notice by themselves, and then
/// say how far they came. Reading and translating do not. A process that takes a fourth more is ended
/// at once.
const MEMORY_GRACE: Duration = Duration::from_millis(700);

/// How often the limits are looked at.
const PAUSE: Duration = Duration::from_millis(20);

impl LimitArgs {
    /// Ends the process as *unknown* if it overruns its limits of time or memory, whatever it is
    /// doing, or with the answer that was kept. `unknown` makes the answer of the reason, and is
    /// printed first.
    pub fn guard(&self, unknown: impl Fn(&str) -> String + Send + 'static) {
        let deadline = self.timeout.and_then(|limit| Instant::now().checked_add(limit + GRACE));
        let most = self.memory.map(|mb| mb.saturating_mul(1 << 20));
        if deadline.is_none() && most.is_none() {
            return;
        }
        std::thread::spawn(move || {
            let mut too_much_since: Option<Instant> = None;
            loop {
                std::thread::sleep(PAUSE);
                let taken = most.and_then(|_| wherefore_check::resident_memory()).unwrap_or(0);
                let is_over = most.is_some_and(|most| taken > most);
                let is_far_over = most.is_some_and(|most| taken > most.saturating_add(most / 4));
                let is_too_much =
                    |since: Option<Instant>| since.is_some_and(|since| since.elapsed() >= MEMORY_GRACE);
                too_much_since = if is_over { too_much_since.or_else(|| Some(Instant::now())) } else { None };
                let stop = if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    StopReason::Time
                } else if is_far_over || is_too_much(too_much_since) {
                    StopReason::Memory
                } else {
                    continue;
                };
                let kept = SO_FAR.lock().unwrap_or_else(PoisonError::into_inner).take();
                let (text, exit) = kept.unwrap_or_else(|| (unknown(stop.why()), Exit::Unknown));
                // An answer that is being printed counts.
                if crate::exit::claim_output() {
                    let _ = crate::exit::print_claimed(&mut std::io::stdout(), &text);
                    std::process::exit(exit.code().into());
                }
                return;
            }
        });
    }
}

/// Reads a number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "not a number of seconds".to_owned())
}

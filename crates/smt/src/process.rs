//! A solver process that can be talked to without ever waiting for it longer than wanted.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::budget::{Budget, Reason};

/// How long to wait between two looks at the budget.
const PATIENCE: Duration = Duration::from_millis(20);

/// Why there is no answer from the process.
pub(crate) enum Silence {
    /// The budget ran out.
    Budget(Reason),
    /// The process has ended.
    Gone,
}

/// A running process. Reading and writing have a thread each: neither a full pipe nor silence can
/// block the caller.
pub(crate) struct Process {
    child: Child,
    requests: Sender<String>,
    answers: Receiver<String>,
}

impl Process {
    pub(crate) fn start(command: &[String]) -> std::io::Result<Process> {
        let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (requests, to_write) = channel::<String>();
        let (answer, answers) = channel();
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                for text in to_write {
                    if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                        break;
                    }
                }
            });
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read(stdout, &answer));
        }
        Ok(Process { child, requests, answers })
    }

    /// Sends a text. A process that is gone is noticed when its answer is waited for.
    pub(crate) fn send(&self, text: String) {
        let _ = self.requests.send(text);
    }

    /// The next expression that the process prints.
    pub(crate) fn answer(&self, budget: &Budget) -> Result<String, Silence> {
        loop {
            match self.answers.recv_timeout(PATIENCE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::Gone),
                Err(RecvTimeoutError::Timeout) => budget.look().map_err(Silence::Budget)?,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Cuts the output into expressions.
fn read(mut stdout: impl Read, answer: &Sender<String>) {
    let mut buffer = [0; 65536];
    let mut cutter = Cutter::default();
    while let Ok(count) = stdout.read(&mut buffer) {
        if count == 0 {
            break;
        }
        for byte in &buffer[..count] {
            if let Some(text) = cutter.feed(*byte) {
                if answer.send(text).is_err() {
                    return;
                }
            }
        }
    }
}

/// Finds the ends of expressions: a word ends at white space, a list at its last bracket.
#[derive(Default)]
struct Cutter {
    text: Vec<u8>,
    depth: usize,
    quote: Option<u8>,
}

impl Cutter {
    fn feed(&mut self, byte: u8) -> Option<String> {
        if let Some(quote) = self.quote {
            self.text.push(byte);
            if byte == quote {
                self.quote = None;
            }
            return None;
        }
        if self.depth == 0 && byte.is_ascii_whitespace() {
            return self.finish();
        }
        self.text.push(byte);
        match byte {
            b'|' | b'"' => self.quote = Some(byte),
            b'(' => self.depth += 1,
            b')' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return self.finish();
                }
            }
            _ => {}
        }
        None
    }

    fn finish(&mut self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        Some(String::from_utf8_lossy(&std::mem::take(&mut self.text)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_into_expressions() {
        let mut cutter = Cutter::default();
        let text = b"sat\n((x #x1)\n (|a) b| true))\n(error \"no ) here\")unsat\n";
        let cut: Vec<String> = text.iter().filter_map(|byte| cutter.feed(*byte)).collect();
        assert_eq!(cut, ["sat", "((x #x1)\n (|a) b| true))", "(error \"no ) here\")", "unsat"]);
    }

    #[test]
    fn a_silent_process_is_not_waited_for() {
        let Ok(process) = Process::start(&["sleep".to_owned(), "60".to_owned()]) else { return };
        let budget = Budget::time(Duration::from_millis(30));
        assert!(matches!(process.answer(&budget), Err(Silence::Budget(Reason::Time))));
    }
}

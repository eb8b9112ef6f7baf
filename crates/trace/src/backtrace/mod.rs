//! Backtraces as debuggers, sanitizers and the C library print them, read line by line.
//!
//! `frames.rs`: the forms of a frame; `arguments.rs`: values of arguments; `report.rs`: what
//! happened, as far as the text says it. Of several stacks in a text the first one counts.

mod arguments;
mod frames;
mod report;

use std::fmt;

pub use arguments::Value;
pub use report::Happened;

use frames::Read;

/// A stack, the innermost frame first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backtrace {
    /// The frames.
    pub frames: Vec<Frame>,
    /// Whether the text says that there are more frames below, or does not show the stack at all.
    pub is_open: bool,
    /// What happened, if the text says it.
    pub happened: Option<Happened>,
    /// How many other stacks the text has, which are not looked at.
    pub others: usize,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function; none if it is not known (`??`).
    pub function: Option<String>,
    /// The file, as the text names it.
    pub file: Option<String>,
    /// The line in the file.
    pub line: Option<u32>,
    /// The arguments, by name.
    pub arguments: Vec<(String, Value)>,
    /// The binary or library, if the text names it in the place of a file.
    pub module: Option<String>,
    /// The line of the text.
    pub at: u32,
}

/// Why a text is no backtrace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadBacktrace {
    /// The line of the text, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for BadBacktrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for BadBacktrace {}

impl Backtrace {
    /// Reads a text.
    ///
    /// ```
    /// use wherefore_trace::Backtrace;
    ///
    /// let text = "#0  0x0000555555555168 in last (l=0x0, depth=3) at list.c:6\n\
    ///             #1  0x00005555555551db in main () at list.c:13\n";
    /// let stack = Backtrace::parse(text)?;
    /// assert_eq!(stack.frames[0].line, Some(6));
    /// assert_eq!(stack.frames[1].function.as_deref(), Some("main"));
    /// # Ok::<(), wherefore_trace::BadBacktrace>(())
    /// ```
    ///
    /// # Errors
    /// Where there is a frame that is not understood, or that there is none.
    pub fn parse(text: &str) -> Result<Self, BadBacktrace> {
        let lines = frames::joined(text);
        let mut stack = Self { frames: Vec::new(), is_open: false, happened: None, others: 0 };
        // Frames without numbers end with the first line that is none.
        let mut is_over = false;
        let mut place = None;
        let mut last_number = None;
        for (at, line) in &lines {
            let read = frames::frame(line).map_err(|(column, message)| BadBacktrace {
                line: *at,
                column: column as u32 + 1,
                message,
            })?;
            match read {
                Read::Frame(Some(0), _) if !stack.frames.is_empty() => {
                    (is_over, stack.others) = (true, stack.others + 1);
                }
                Read::Frame(_, _) if is_over => {}
                Read::Frame(number, frame) => {
                    let expected = last_number.map_or(0, |last: u32| last + 1);
                    if number.is_some_and(|number| number != expected) {
                        let message = format!("frame #{expected} is missing before this one");
                        return Err(BadBacktrace { line: *at, column: 1, message });
                    }
                    last_number = number;
                    stack.frames.push(Frame { at: *at, ..frame });
                }
                Read::More => stack.is_open |= !is_over,
                Read::Other => {
                    let is_listed = last_number.is_none() && !stack.frames.is_empty();
                    is_over |= is_listed && line.trim().is_empty();
                    if stack.frames.is_empty() {
                        if let Some(happened) = report::happened(line) {
                            stack.happened = Some(happened);
                        }
                        place = place.or_else(|| report::place(line).map(|frame| Frame { at: *at, ..frame }));
                    }
                }
            }
        }
        // A report may have a place and no stack.
        if let (true, Some(place)) = (stack.frames.is_empty(), place) {
            stack.frames.push(place);
            stack.is_open = true;
        }
        if stack.frames.is_empty() {
            let message = "no frame of a stack was found; what gdb (`bt`), lldb (`bt`), AddressSanitizer, \
                           UndefinedBehaviorSanitizer, `backtrace_symbols` and `addr2line -fp` print is read";
            return Err(BadBacktrace { line: 1, column: 1, message: message.to_owned() });
        }
        Ok(stack)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function.as_deref().unwrap_or("??"))?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}"),
            (Some(file), None) => write!(f, " in {file}"),
            _ => Ok(()),
        }
    }
}

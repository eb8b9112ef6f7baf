//! The arguments of the command that a failing run of `main` was given.
//!
//! How many there are is `argc` of the run. Their texts are what the run reads behind `argv`: memory
//! that the program does not write, so that the values are those at the start of the run. A text that
//! the run does not look at is empty.

use wherefore_program::{Program, State, Step};

/// More arguments than this are not handed over.
const MOST: u64 = 4096;

/// Longer texts are cut.
const LONGEST: u64 = 4096;

/// The arguments behind the name of the program, for a run that starts in this state and enters
/// `main` with this step. None if `main` has no parameters, or the run has too many arguments.
pub(super) fn of(program: &Program, start: &State, step: &Step, pointer_bits: u32) -> Option<Vec<Vec<u8>>> {
    let frame = step.state.stack.last()?;
    let main = program.procedure(frame.procedure);
    if main.parameters == 0 {
        return None;
    }
    let count = *frame.locals.first()?;
    if count == 0 || count > MOST {
        return None;
    }
    let memory = Start { program, start, bytes: u64::from(pointer_bits / 8) };
    let all = frame.locals.get(1).filter(|_| main.parameters > 1);
    let text = |i: u64| {
        let at = all.and_then(|all| memory.pointer(all.wrapping_add(i * memory.bytes)));
        at.map_or(Vec::new(), |at| memory.text(at))
    };
    Some((1..count).map(text).collect())
}

/// Memory at the start of a run.
struct Start<'a> {
    program: &'a Program,
    start: &'a State,
    /// The size of a pointer.
    bytes: u64,
}

impl Start<'_> {
    /// The value of a cell of this width, of memory that may hold anything at the start.
    fn cell(&self, width: u32, address: u64) -> Option<u64> {
        let globals = self.program.globals.iter().enumerate();
        let mut fitting = globals.filter(|(_, variable)| {
            variable.ty.is_memory() && variable.ty.element().width() == width && variable.initial.is_none()
        });
        fitting.find_map(|(i, _)| self.start.memory.get(&(i as u32, address)).copied())
    }

    /// The pointer at an address, in a cell of its own or byte by byte; none if the run does not
    /// look at it.
    fn pointer(&self, address: u64) -> Option<u64> {
        let bytes = || {
            let byte = |i: u64| Some(self.cell(8, address.wrapping_add(i))? << (8 * i));
            (0..self.bytes).map(byte).sum()
        };
        self.cell(8 * self.bytes as u32, address).or_else(bytes)
    }

    /// The text at an address, as far as the run looks at it.
    fn text(&self, address: u64) -> Vec<u8> {
        let bytes = (0..LONGEST).map_while(|i| self.cell(8, address.wrapping_add(i)));
        bytes.take_while(|byte| *byte != 0).map(|byte| byte as u8).collect()
    }
}

/// A text as a word of a shell.
pub(super) fn quoted(text: &[u8]) -> String {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !b"'\\".contains(byte);
    if text.iter().all(is_plain) {
        return format!("'{}'", String::from_utf8_lossy(text));
    }
    // The form that bash and most other shells know for bytes that cannot be typed.
    let byte = |byte: &u8| match is_plain(byte) {
        true => (*byte as char).to_string(),
        false => format!("\\{byte:03o}"),
    };
    format!("$'{}'", text.iter().map(byte).collect::<String>())
}

//! The arguments of the command that a failing run of `main` was given.
//!
//! How many there are is `argc` of the run. Their texts are what the run reads behind `argv`: memory
//! that the program does not write, so that the values are those at the start of the run. A text that
//! the run does not look at is empty.

use wherefore_program::{Program, State, Step};

/// So many arguments are handed over at most, with the name of the program.
const MOST: u64 = 4096;

/// Longer texts are cut.
const LONGEST: u64 = 4096;

/// The arguments of a run.
pub(super) struct Words {
    /// Behind the name of the program.
    pub texts: Vec<Vec<u8>>,
    /// Whether these are as many as in the run.
    pub are_all: bool,
}

/// The arguments of a run that starts in this state and enters `main` with this step. None if `main`
/// has no parameters.
pub(super) fn of(program: &Program, start: &State, step: &Step, pointer_bits: u32) -> Option<Words> {
    let frame = step.state.stack.last()?;
    let main = program.procedure(frame.procedure);
    if main.parameters == 0 {
        return None;
    }
    let given = *frame.locals.first()?;
    let count = given.min(MOST);
    let bytes = u64::from(pointer_bits / 8);
    let memory = Start { program, start, bytes };
    let all = frame.locals.get(1).filter(|_| main.parameters > 1);
    let address = |i: u64| all.and_then(|all| memory.pointer(all.wrapping_add(i * bytes)));
    let addresses: Vec<Option<u64>> = (1..count).map(address).collect();
    let holder = memory.holder(addresses.iter().flatten());
    let text = |address: Option<u64>| match (address, holder) {
        (Some(address), Some(holder)) => memory.text(holder, address),
        _ => Vec::new(),
    };
    Some(Words { texts: addresses.into_iter().map(text).collect(), are_all: count == given && given > 0 })
}

/// Memory at the start of a run.
struct Start<'a> {
    program: &'a Program,
    start: &'a State,
    /// The size of a pointer.
    bytes: u64,
}

impl Start<'_> {
    /// The variables that are memory of cells of this width that may hold anything at the start.
    fn memories(&self, width: u32) -> impl Iterator<Item = u32> + '_ {
        let globals = self.program.globals.iter().enumerate();
        let fitting = globals.filter(move |(_, variable)| {
            variable.ty.is_memory() && variable.ty.element().width() == width && variable.initial.is_none()
        });
        fitting.map(|(i, _)| i as u32)
    }

    fn cell(&self, memory: u32, address: u64) -> Option<u64> {
        self.start.memory.get(&(memory, address)).copied()
    }

    /// The pointer at an address, in a cell of its own or byte by byte; none if the run does not
    /// look at it.
    fn pointer(&self, address: u64) -> Option<u64> {
        let whole = self.memories(8 * self.bytes as u32).find_map(|memory| self.cell(memory, address));
        let bytes = |memory: u32| {
            let byte = |i: u64| Some(self.cell(memory, address.wrapping_add(i))? << (8 * i));
            (0..self.bytes).map(byte).sum()
        };
        whole.or_else(|| self.memories(8).find_map(bytes))
    }

    /// The memory that the texts are in: the one in which the run looks at most of them.
    fn holder<'a>(&self, addresses: impl Iterator<Item = &'a u64> + Clone) -> Option<u32> {
        let seen = |memory: &u32| {
            addresses.clone().filter(|address| self.cell(*memory, **address).is_some()).count()
        };
        self.memories(8).max_by_key(|memory| (seen(memory), std::cmp::Reverse(*memory)))
    }

    /// The text at an address, as far as the run looks at it.
    fn text(&self, memory: u32, address: u64) -> Vec<u8> {
        let bytes = (0..LONGEST).map_while(|i| self.cell(memory, address.wrapping_add(i)));
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

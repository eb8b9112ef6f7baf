//! Runs one program again and again, with choices that lead to new places.
//!
//! A tape whose run takes an edge for the first time, or more often than ever, is kept; further
//! runs are made from what is kept by cutting, repeating and changing parts of it, as fuzzers do.

use rustc_hash::FxHashMap;
use wherefore_program::{
    ErrorSite, Interpreter, Location, LocationKind, Node, Program, State, Step, Stepped, Trace,
};

use super::tape::{Fresh, Player, Tape};
use super::values::{Dictionary, Random, likely};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At an error.
    Fails(Node),
    /// No step was possible: an assumption does not hold.
    Blocked,
    /// The program has ended.
    Ended,
    /// The run was cut.
    Cut,
}

/// A run that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub end: End,
    pub steps: usize,
}

/// What is kept from one search to the next, in the same program.
pub(super) struct Kept {
    dictionary: Dictionary,
    random: Random,
    tapes: Vec<Tape>,
    /// For each edge, which powers of two the number of visits in one run has reached.
    seen: Vec<u32>,
    pub runs: usize,
}

/// The most tapes that are kept.
const MOST_TAPES: usize = 2000;

/// The longest runs, in steps; most runs are much shorter.
const MOST_STEPS: usize = 64_000;

/// A run that is stopped by an assumption is taken up again before its last choices so many times.
const RETRIES: usize = 12;

/// Traces with more cells of state than this are not made.
const MOST_CELLS: usize = 1 << 27;

/// A program under test.
pub(super) struct Search<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    /// For each location of each procedure, whether it is an error.
    errors: Vec<Vec<bool>>,
    /// Where the edges of each procedure start among all.
    first_edge: Vec<usize>,
    /// How often each edge was taken in a run, and which were.
    counts: Vec<u32>,
    touched: Vec<usize>,
}

impl Kept {
    pub fn new(program: &Program) -> Self {
        let edges = program.procedures.iter().map(|procedure| procedure.edges.len()).sum();
        Self {
            dictionary: Dictionary::new(program),
            random: Random(0x5eed),
            tapes: Vec::new(),
            seen: vec![0; edges],
            runs: 0,
        }
    }

    /// The beginning of the next run: nothing, or a changed copy of a run that was kept.
    fn next_tape(&mut self) -> Tape {
        let random = &mut self.random;
        let mut tape = match self.tapes.len() {
            0 => Tape::default(),
            _ if random.below(2) == 0 => Tape::default(),
            count => self.tapes[random.index(count)].clone(),
        };
        if tape.values.is_empty() {
            tape.uninitialised = match random.below(8) {
                0 => random.below(16),
                1 => u64::MAX,
                _ => 0,
            };
            return tape;
        }
        let length = tape.values.len();
        let from = random.index(length);
        let to = (from + 1 + random.index(8)).min(length);
        match random.below(6) {
            // Another end.
            0..2 => tape.values.truncate(from),
            // Other values.
            2 => {
                let other = tape.values[random.index(length)];
                tape.values[from] = other;
            }
            3 => tape.values[from] = random.below(16),
            // A part once more, or many times.
            4 => {
                let part = tape.values[from..to].to_vec();
                let copies = 1 + random.index(8);
                let repeated = std::iter::repeat_n(part, copies).flatten();
                tape.values.splice(to..to, repeated);
            }
            // Without a part.
            _ => {
                tape.values.drain(from..to);
            }
        }
        self.change_memory(&mut tape);
        tape
    }
}

impl Kept {
    /// Changes some cells of the memory that a run begins with.
    fn change_memory(&mut self, tape: &mut Tape) {
        let random = &mut self.random;
        if tape.memory.is_empty() || random.below(2) == 0 {
            return;
        }
        if random.below(8) == 0 {
            tape.memory.clear();
            return;
        }
        for _ in 0..=random.below(3) {
            let at = random.index(tape.memory.len());
            if let Some(value) = tape.memory.values_mut().nth(at) {
                *value = likely(u64::MAX, &self.dictionary, random);
            }
        }
    }
}

impl<'p> Search<'p> {
    pub fn new(program: &'p Program, checks: &[ErrorSite]) -> Self {
        let is_error = |location: &Location| location.kind == LocationKind::Error;
        let errors = program.procedures.iter();
        let errors = errors.map(|procedure| procedure.locations.iter().map(is_error).collect());
        let mut errors: Vec<Vec<bool>> = errors.collect();
        for ErrorSite { node: Node { procedure, location }, .. } in checks {
            errors[procedure.0 as usize][location.0 as usize] = true;
        }
        let mut first_edge = Vec::new();
        let mut count = 0;
        for procedure in &program.procedures {
            first_edge.push(count);
            count += procedure.edges.len();
        }
        Self {
            program,
            interpreter: Interpreter::new(program),
            errors,
            first_edge,
            counts: vec![0; count],
            touched: Vec::new(),
        }
    }

    /// Makes one run and learns from it. The tape is that of the run.
    pub fn attempt(&mut self, kept: &mut Kept) -> (Tape, Made) {
        let mut tape = kept.next_tape();
        let most = [500, 2000, 2000, 8000, MOST_STEPS][kept.random.index(5)];
        let mut made = self.draw(&mut tape, kept, most);
        for _ in 0..RETRIES {
            if made.end != End::Blocked || tape.values.is_empty() {
                break;
            }
            let back = 1 + kept.random.index(2);
            tape.values.truncate(tape.values.len().saturating_sub(back));
            made = self.draw(&mut tape, kept, most);
        }
        if self.note(kept) && kept.tapes.len() < MOST_TAPES {
            kept.tapes.push(tape.clone());
        }
        (tape, made)
    }

    /// Makes the run of a tape and writes on it, if it is too short, what is drawn.
    fn draw(&mut self, tape: &mut Tape, kept: &mut Kept, most: usize) -> Made {
        kept.runs += 1;
        let random = Random(kept.random.next());
        let fresh = Fresh::Drawn { dictionary: &kept.dictionary, random, habits: FxHashMap::default() };
        self.play(tape, fresh, most)
    }

    /// Makes the run of a tape; choices beyond its end are 0.
    pub fn repeat(&mut self, tape: &mut Tape, most: usize) -> Made {
        self.play(tape, Fresh::Zero, most)
    }

    fn play(&mut self, tape: &mut Tape, fresh: Fresh<'_>, most: usize) -> Made {
        for edge in self.touched.drain(..) {
            self.counts[edge] = 0;
        }
        let mut player = Player::new(self.program, tape, fresh);
        let mut steps = 0;
        let end = match self.interpreter.begin(&mut player) {
            Err(_) => End::Blocked,
            Ok(mut state) => loop {
                if let Some(node) = state.node().filter(|node| is_error(&self.errors, *node)) {
                    break End::Fails(node);
                }
                if steps >= most {
                    break End::Cut;
                }
                player.node = state.node();
                match self.interpreter.take(&mut state, &mut player) {
                    Stepped::Ended => break End::Ended,
                    Stepped::Blocked => break End::Blocked,
                    Stepped::Edge(edge) => {
                        steps += 1;
                        let edge = self.first_edge[edge.procedure.0 as usize] + edge.edge.0 as usize;
                        if self.counts[edge] == 0 {
                            self.touched.push(edge);
                        }
                        self.counts[edge] += 1;
                    }
                }
            },
        };
        let used = player.used();
        tape.values.truncate(used);
        Made { end, steps }
    }

    /// Whether the last run took an edge more often than all before it, by a power of two.
    fn note(&mut self, kept: &mut Kept) -> bool {
        let mut is_new = false;
        for &edge in &self.touched {
            let power = 1 << (31 - self.counts[edge].leading_zeros());
            is_new |= kept.seen[edge] & power == 0;
            kept.seen[edge] |= power;
        }
        is_new
    }

    /// The run of a tape, step by step; none if it is too long to be kept.
    pub fn trace(&mut self, tape: &Tape) -> Option<Trace> {
        let mut tape = tape.clone();
        let mut player = Player::new(self.program, &mut tape, Fresh::Zero);
        let mut state: State = self.interpreter.begin(&mut player).ok()?;
        state.memory.extend(player.tape.memory.clone());
        let mut trace = Trace { start: state.clone(), steps: Vec::new() };
        let mut cells = 0;
        while state.node().is_none_or(|node| !is_error(&self.errors, node)) {
            let Stepped::Edge(edge) = self.interpreter.take(&mut state, &mut player) else { return None };
            cells += state.globals.len() + 2 * state.memory.len();
            cells += state.stack.iter().map(|frame| frame.locals.len()).sum::<usize>();
            if cells > MOST_CELLS {
                return None;
            }
            trace.steps.push(Step { edge, state: state.clone() });
        }
        Some(trace)
    }
}

fn is_error(errors: &[Vec<bool>], node: Node) -> bool {
    errors[node.procedure.0 as usize][node.location.0 as usize]
}

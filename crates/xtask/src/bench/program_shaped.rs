//! Random pushdown systems in the shape of programs: procedures of branches, loops, calls and some
//! recursion.
//!
//! Everything is a function of its parameters: the same numbers give the same system on every
//! machine.

use wherefore_pushdown::{Names, Rhs, State, Symbol, System};

/// SplitMix64: small, fast, and good enough to shape programs.
pub struct Random(u64);

impl Random {
    /// A generator for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many procedures.
    pub procedures: u32,
    /// States of a lock-and-unlock property: 1 (none) or 3.
    pub property: u32,
    /// Percentage of statements that are loops.
    pub loops: u64,
    /// Whether procedures call themselves, directly or through others.
    pub recursion: Recursion,
    /// Nodes of a procedure, about.
    pub nodes: u64,
    /// Seed.
    pub seed: u64,
}

/// Whether there is recursion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recursion {
    /// Calls go to later procedures only.
    None,
    /// Every fourth call may go anywhere.
    Some,
}

/// What an edge does to the property.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    None,
    Lock,
    Unlock,
}

/// A generated program: edges and calls between numbered nodes.
pub struct Program {
    property: u32,
    nodes: u32,
    entries: Vec<u32>,
    exits: Vec<u32>,
    edges: Vec<(u32, u32, Event, u64)>,
    calls: Vec<(u32, u32, u32, u64)>,
}

struct Maker<'a> {
    random: &'a mut Random,
    program: &'a mut Program,
    procedure: u32,
    loops: u64,
    recursion: Recursion,
    left: i64,
    /// Procedures that must be called from here, so that all are reachable.
    children: Vec<u32>,
}

impl Program {
    /// Generates a program.
    pub fn generate(shape: &Shape) -> Self {
        let mut random = Random::new(shape.seed);
        let count = shape.procedures;
        let mut program = Self {
            property: shape.property,
            nodes: 2 * count,
            entries: (0..count).map(|i| 2 * i).collect(),
            exits: (0..count).map(|i| 2 * i + 1).collect(),
            edges: Vec::new(),
            calls: Vec::new(),
        };
        for i in 0..count {
            let left = random.between(shape.nodes - shape.nodes / 4, shape.nodes + shape.nodes / 4) as i64;
            let children = [2 * i + 1, 2 * i + 2].into_iter().filter(|j| *j < count).collect();
            let mut maker = Maker {
                random: &mut random,
                program: &mut program,
                procedure: i,
                loops: shape.loops,
                recursion: shape.recursion,
                left,
                children,
            };
            let mut at = maker.sequence(2 * i, i64::MAX, 0);
            while let Some(child) = maker.children.pop() {
                at = maker.call(at, child, Bypass::Sometimes);
            }
            maker.edge(at, 2 * i + 1);
        }
        program
    }

    /// The number of rules of the system.
    pub fn rule_count(&self) -> usize {
        self.property as usize * (self.edges.len() + self.calls.len() + self.exits.len())
    }

    /// The pushdown system, with the weight that `weight` gives to each rule (its kind's number of
    /// steps is passed on).
    pub fn system<W>(&self, mut weight: impl FnMut(u64) -> W) -> System<W> {
        let states = Names::numbered(self.property);
        let mut system = System::with_names(states, Names::numbered(self.nodes));
        system.reserve(self.rule_count());
        for k in 0..self.property {
            for (u, v, event, w) in &self.edges {
                let to = State(self.after(k, *event));
                system.add(State(k), Symbol(*u), to, Rhs::Swap(Symbol(*v)), weight(*w));
            }
            for (call, back, callee, w) in &self.calls {
                let entry = Symbol(self.entries[*callee as usize]);
                system.add(State(k), Symbol(*call), State(k), Rhs::Push(entry, Symbol(*back)), weight(*w));
            }
            for exit in &self.exits {
                system.add(State(k), Symbol(*exit), State(k), Rhs::Pop, weight(1));
            }
        }
        system
    }

    /// Where the program starts.
    pub fn start(&self) -> (State, Symbol) {
        (State(0), Symbol(self.entries[0]))
    }

    /// Where the program ends: with the property violated, if there is one.
    pub fn end(&self) -> (State, Symbol) {
        (State(self.property - 1), Symbol(self.exits[0]))
    }

    fn after(&self, state: u32, event: Event) -> u32 {
        let error = self.property - 1;
        match event {
            Event::None => state,
            _ if self.property < 3 || state == error => state,
            Event::Lock => {
                if state == 0 {
                    1
                } else {
                    error
                }
            }
            Event::Unlock => {
                if state == 1 {
                    0
                } else {
                    error
                }
            }
        }
    }
}

#[derive(PartialEq)]
enum Bypass {
    Always,
    Sometimes,
}

impl Maker<'_> {
    fn node(&mut self) -> u32 {
        self.left -= 1;
        self.program.nodes += 1;
        self.program.nodes - 1
    }

    fn edge(&mut self, from: u32, to: u32) {
        let event = match self.random.below(100) {
            0 => Event::Lock,
            1 => Event::Unlock,
            _ => Event::None,
        };
        let weight = self.random.between(1, 10);
        self.program.edges.push((from, to, event, weight));
    }

    fn call(&mut self, at: u32, callee: u32, bypass: Bypass) -> u32 {
        let (call, back) = (self.node(), self.node());
        self.edge(at, call);
        let weight = self.random.between(1, 10);
        self.program.calls.push((call, back, callee, weight));
        if bypass == Bypass::Always || self.random.chance(70) {
            self.edge(at, back);
        }
        back
    }

    /// A sequence of statements; `depth` is bounded, so this recursion is too.
    fn sequence(&mut self, mut at: u32, mut statements: i64, depth: u32) -> u32 {
        while statements > 0 && self.left > 0 {
            statements -= 1;
            let kind = self.random.below(100);
            if kind < 18 {
                at = self.any_call(at);
            } else if kind < 18 + self.loops && depth < 5 {
                let (head, body) = (self.node(), self.node());
                self.edge(at, head);
                self.edge(head, body);
                let length = self.random.between(1, 5) as i64;
                let end = self.sequence(body, length, depth + 1);
                self.edge(end, head);
                at = head;
            } else if kind < 40 + self.loops && depth < 5 {
                let (left, right) = (self.node(), self.node());
                self.edge(at, left);
                self.edge(at, right);
                let lengths = (self.random.between(1, 5) as i64, self.random.below(5) as i64);
                let left = self.sequence(left, lengths.0, depth + 1);
                let right = self.sequence(right, lengths.1, depth + 1);
                let join = self.node();
                self.edge(left, join);
                self.edge(right, join);
                at = join;
            } else {
                let next = self.node();
                self.edge(at, next);
                at = next;
            }
        }
        at
    }

    fn any_call(&mut self, at: u32) -> u32 {
        if let Some(child) = self.children.pop() {
            return self.call(at, child, Bypass::Sometimes);
        }
        if self.recursion == Recursion::None && self.procedure as usize + 1 == self.program.entries.len() {
            return at;
        }
        let count = u64::from(self.program.entries.len() as u32);
        let here = u64::from(self.procedure);
        let kind = self.random.below(100);
        let callee = match if self.recursion == Recursion::None { 0 } else { kind } {
            0..75 => self.random.between((here + 1).min(count - 1), (here + 50).min(count - 1)),
            75..90 => self.random.below(count),
            _ => here.saturating_sub(self.random.below(20)),
        };
        self.call(at, (callee.max(1) % count) as u32, Bypass::Always)
    }
}

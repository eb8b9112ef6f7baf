//! Interned names of control states and stack symbols.

use std::fmt;

use rustc_hash::FxHashMap;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into arrays.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A state: of the system (a control state, the first numbers) or of an automaton that reads
    /// its stacks.
    State
}
id! {
    /// A stack symbol.
    Symbol
}
id! {
    /// A rule of a system, by its place in the order of insertion.
    RuleId
}

/// A table of names: numbers in, names out, and back.
///
/// Names that are just numbers (`0`, `1`, …) cost no memory: see [`Names::numbered`].
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbered: u32,
    names: Vec<Box<str>>,
    index: FxHashMap<Box<str>, u32>,
}

impl Names {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A table of `count` names that are the decimal numbers from 0.
    pub fn numbered(count: u32) -> Self {
        Self { numbered: count, ..Self::default() }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.numbered as usize + self.names.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of `name`, a new one if it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.get(name) {
            return id;
        }
        let id = self.len() as u32;
        self.names.push(name.into());
        self.index.insert(name.into(), id);
        id
    }

    /// A new name that starts with `stem` and clashes with no other.
    pub fn fresh(&mut self, stem: &str) -> u32 {
        let mut name = stem.to_owned();
        while self.get(&name).is_some() {
            name.push('\'');
        }
        self.intern(&name)
    }

    /// The number of `name`, if it is known.
    pub fn get(&self, name: &str) -> Option<u32> {
        if self.numbered > 0 {
            let canonical = name == "0" || !name.starts_with(['0', '+']);
            if let (true, Ok(number)) = (canonical, name.parse::<u32>()) {
                if number < self.numbered {
                    return Some(number);
                }
            }
        }
        self.index.get(name).copied()
    }

    /// The name of number `id`, printable; `#id` if there is none.
    pub fn show(&self, id: u32) -> Shown<'_> {
        if id < self.numbered {
            return Shown::Number(id);
        }
        match self.names.get((id - self.numbered) as usize) {
            Some(name) => Shown::Name(name),
            None => Shown::Unknown(id),
        }
    }
}

/// A name, ready to print.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// A name that is its number.
    Number(u32),
    /// A name in letters.
    Name(&'a str),
    /// A number that was never named.
    Unknown(u32),
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Number(n) => write!(f, "{n}"),
            Shown::Name(name) => f.write_str(name),
            Shown::Unknown(n) => write!(f, "#{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interning_twice_gives_the_same_number() {
        let mut names = Names::numbered(3);
        assert_eq!(names.intern("2"), 2);
        assert_eq!(names.intern("x"), 3);
        assert_eq!(names.intern("x"), 3);
        assert_eq!(names.get("03"), None);
        assert_eq!(names.show(1).to_string(), "1");
        assert_eq!(names.show(3).to_string(), "x");
        assert_eq!(names.show(9).to_string(), "#9");
    }

    #[test]
    fn fresh_names_do_not_clash() {
        let mut names = Names::new();
        names.intern("t");
        let fresh = names.fresh("t");
        assert_eq!(names.show(fresh).to_string(), "t'");
    }
}

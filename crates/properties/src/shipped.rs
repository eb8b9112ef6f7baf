//! The properties that come with the program.

use crate::parser::parse;
use crate::property::Property;

/// A property that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// Its rules.
    pub text: &'static str,
}

/// All of them.
pub const SHIPPED: [Shipped; 7] = [
    Shipped { name: "stdio", text: include_str!("../specs/stdio.spec") },
    Shipped { name: "fd", text: include_str!("../specs/fd.spec") },
    Shipped { name: "lock", text: include_str!("../specs/lock.spec") },
    Shipped { name: "socket", text: include_str!("../specs/socket.spec") },
    Shipped { name: "null", text: include_str!("../specs/null.spec") },
    Shipped { name: "malloc", text: include_str!("../specs/malloc.spec") },
    Shipped { name: "dir", text: include_str!("../specs/dir.spec") },
];

/// The property with this name, if it comes with the program.
pub fn shipped(name: &str) -> Option<Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name).copied()
}

impl Shipped {
    /// The property.
    ///
    /// # Panics
    /// Never: tests read all of them.
    pub fn property(&self) -> Property {
        parse(&format!("{}.spec", self.name), self.text).expect("shipped properties are well formed")
    }
}

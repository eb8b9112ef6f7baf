//! The syntax of Boolean programs as a tree.

use std::ops::Range;

/// Bytes of the text.
pub(super) type At = Range<usize>;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) at: At,
}

pub(super) struct File {
    pub(super) globals: Vec<Name>,
    pub(super) procedures: Vec<Procedure>,
    /// A declaration did not parse: that a name is unknown may be its fault.
    pub(super) incomplete: bool,
}

pub(super) struct Procedure {
    pub(super) name: Name,
    pub(super) results: usize,
    pub(super) parameters: Vec<Name>,
    pub(super) locals: Vec<Name>,
    pub(super) enforce: Option<Expr>,
    pub(super) body: Vec<Statement>,
    /// The word `end`.
    pub(super) end: At,
    /// The labels in front of `end`.
    pub(super) end_labels: Vec<Name>,
    /// How many statements there are.
    pub(super) statements: usize,
}

pub(super) struct Statement {
    /// A number of its own in the procedure.
    pub(super) id: usize,
    pub(super) labels: Vec<Name>,
    /// The statement, or the head of a compound one.
    pub(super) at: At,
    pub(super) kind: StatementKind,
}

pub(super) enum StatementKind {
    /// A label in front of `fi`, `od`, `else` or `elsif`.
    Label,
    Skip,
    Print(Vec<Expr>),
    Dead(Vec<Name>),
    Assign {
        targets: Vec<Name>,
        values: Vec<Expr>,
        constraint: Option<Expr>,
    },
    /// No target is `_`.
    Call {
        targets: Vec<Option<Name>>,
        callee: Name,
        arguments: Vec<Expr>,
    },
    Assume(Expr),
    Assert(Expr),
    Goto(Vec<Name>),
    /// The first part is the `if`, the others are `elsif`s.
    If {
        parts: Vec<Part>,
        otherwise: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    Return(Vec<Expr>),
    StartAt(Name),
    StartCall {
        callee: Name,
        arguments: Vec<Expr>,
    },
    EndThread,
    Sync,
    AtomicBegin,
    AtomicEnd,
}

/// A condition of an `if` with what it guards.
pub(super) struct Part {
    /// The number of the statement for an `if`, one of its own for an `elsif`.
    pub(super) id: usize,
    /// The word and the condition.
    pub(super) at: At,
    pub(super) condition: Expr,
    pub(super) then: Vec<Statement>,
}

pub(super) struct Expr {
    pub(super) kind: ExprKind,
    /// The length of the longest way to a leaf.
    pub(super) depth: usize,
}

pub(super) enum ExprKind {
    Constant(bool),
    Choice,
    Variable(Name),
    Next(Name),
    Not(Box<Expr>),
    Equal(Box<Expr>, Box<Expr>),
    Differ(Box<Expr>, Box<Expr>),
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>),
}

impl Expr {
    pub(super) fn leaf(kind: ExprKind) -> Self {
        Self { kind, depth: 1 }
    }
}

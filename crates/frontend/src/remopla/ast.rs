//! The syntax of Remopla as a tree.

use std::ops::Range;

/// Bytes of the text.
pub(super) type At = Range<usize>;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) at: At,
}

#[derive(Default)]
pub(super) struct File {
    pub(super) defines: Vec<(Name, Expr)>,
    pub(super) globals: Vec<Declaration>,
    /// The symbols that the stack starts with, the topmost first.
    pub(super) init: Vec<Name>,
    pub(super) modules: Vec<Module>,
    /// Statements outside modules.
    pub(super) loose: Body,
    /// A declaration did not parse: that a name is unknown may be its fault.
    pub(super) incomplete: bool,
}

pub(super) enum TypeSpec {
    Bool,
    /// The width, if it stands right after the word.
    Int(Option<Expr>),
    Enum(Name, Option<Vec<Name>>),
    Struct(Name, Option<Vec<Declaration>>),
}

pub(super) struct Declaration {
    pub(super) ty: TypeSpec,
    pub(super) shared: bool,
    pub(super) declarators: Vec<Declarator>,
}

pub(super) struct Declarator {
    pub(super) name: Name,
    pub(super) dimensions: Vec<Bounds>,
    pub(super) width: Option<Expr>,
}

/// `[size]` or `[low, high]`.
pub(super) struct Bounds {
    pub(super) first: Expr,
    pub(super) second: Option<Expr>,
    pub(super) at: At,
}

pub(super) struct Module {
    pub(super) name: Name,
    /// None is `void`.
    pub(super) result: Option<TypeSpec>,
    pub(super) parameters: Vec<Declaration>,
    /// None in a forward declaration.
    pub(super) body: Option<Body>,
}

#[derive(Default)]
pub(super) struct Body {
    pub(super) declarations: Vec<Declaration>,
    pub(super) statements: Vec<Statement>,
    pub(super) rules: Vec<Rule>,
    pub(super) end: At,
    /// The labels in front of the end.
    pub(super) end_labels: Vec<Name>,
    /// How many statements there are.
    pub(super) count: usize,
}

pub(super) struct Statement {
    /// A number of its own in the body.
    pub(super) id: usize,
    pub(super) labels: Vec<Name>,
    /// The statement, or the first word of a compound one.
    pub(super) at: At,
    pub(super) kind: StatementKind,
}

pub(super) enum StatementKind {
    /// A label before the end of a block.
    Label,
    /// A label before a rule: only rules lead on from there.
    Rules,
    Skip(Option<Expr>),
    Assign(Vec<Assign>),
    Call {
        target: Option<Reference>,
        callee: Name,
        arguments: Vec<Expr>,
        with: Vec<Assign>,
    },
    Fork {
        callee: Name,
        arguments: Vec<Expr>,
    },
    If(Vec<Alternative>),
    Do(Vec<Alternative>),
    Break,
    Goto(Name),
    Return(Option<Expr>),
}

pub(super) struct Alternative {
    /// None is `else`.
    pub(super) guard: Option<Expr>,
    pub(super) at: At,
    pub(super) body: Vec<Statement>,
}

/// One part of a parallel assignment.
pub(super) struct Assign {
    pub(super) quantifiers: Vec<Quantifier>,
    pub(super) target: Reference,
    pub(super) sign: Sign,
    pub(super) value: Expr,
}

/// How a target relates to its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`
    Equal,
    /// `!=`
    Different,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    All,
    Some,
}

pub(super) struct Quantifier {
    pub(super) kind: Kind,
    pub(super) name: Name,
    pub(super) low: Expr,
    pub(super) high: Expr,
}

/// `q <from> --> q <to…> "name" (condition)`
pub(super) struct Rule {
    pub(super) from: Name,
    pub(super) to: Vec<Name>,
    pub(super) condition: Option<Expr>,
    pub(super) at: At,
}

impl Rule {
    /// The symbols that are in one frame: where the rule starts, and where that frame goes on.
    pub(super) fn here(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.from).chain(self.to.last())
    }
}

pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) at: At,
    /// The length of the longest way to a leaf.
    pub(super) depth: usize,
}

pub(super) enum ExprKind {
    Number(u64),
    Bool(bool),
    Undef,
    Reference(Box<Reference>),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Quantified(Box<Quantifier>, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitOr,
    BitXor,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A variable, an element, a field, or an element of a field, with the primes behind it.
pub(super) struct Reference {
    pub(super) name: Name,
    pub(super) indices: Vec<Expr>,
    pub(super) field: Option<(Name, Vec<Expr>)>,
    pub(super) primes: usize,
    pub(super) at: At,
}

impl Reference {
    /// Whether it is nothing but a name.
    pub(super) fn is_name(&self) -> bool {
        self.indices.is_empty() && self.field.is_none() && self.primes == 0
    }
}

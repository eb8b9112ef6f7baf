//! A program as a tree whose names are resolved and whose types are known.
//!
//! Conversions are explicit, arrays that turn into pointers are [`TermKind::Address`], and `a[i]`
//! is `*(&a + i)`.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use wherefore_program::{BinaryOp, FileId, Span, UnaryOp};

use super::ctype::{CType, Signature, Types};
use super::events::{Result, Watched};
use super::own_files::Files;
use super::problem::Problem;
use super::sema::Qualified;
use crate::c::floats::FloatFunction;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FunctionId(pub(crate) u32);

/// All translation units together.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) types: Types,
    pub(crate) objects: Vec<Object>,
    pub(crate) functions: Vec<Function>,
    /// The files of our models of the C library that are used.
    pub(crate) library: Vec<FileId>,
    /// The one of them about threads.
    pub(crate) threads: Option<FileId>,
    /// What declarations say about threads.
    pub(crate) qualified: Qualified,
    /// Second names of functions and of objects, and what they stand for.
    pub(crate) function_aliases: Vec<(FunctionId, FunctionId)>,
    pub(crate) object_aliases: Vec<(ObjectId, ObjectId)>,
    /// Objects with static lifetime that are declared with `const`.
    pub(crate) constant: FxHashSet<ObjectId>,
    /// What `errno` is, if the program uses it.
    pub(crate) errno: Option<ObjectId>,
    /// Functions that get their variable arguments in memory.
    pub(crate) packed: FxHashSet<FunctionId>,
    /// Where it matters that what is printed is printed.
    pub(crate) output: Option<Span>,
    /// What the program does with files.
    pub(crate) files: Files,
    /// The events of a property.
    pub(crate) watched: Option<Watched>,
}

impl Tree {
    /// Whether an object must not be written to: a string literal, or one that is `const`.
    pub(crate) fn is_read_only(&self, id: ObjectId) -> bool {
        self.constant.contains(&id) || self.object(id).name.starts_with("string.")
    }

    /// Objects that each thread has for itself.
    pub(crate) fn of_thread(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.qualified.of_thread.iter().copied().chain(self.errno)
    }

    /// The functions that run by themselves in front of the entry, in their order.
    pub(crate) fn constructors(&self) -> Vec<FunctionId> {
        self.run_by_themselves(|runs| runs.before)
    }

    /// The functions that run by themselves when the program ends, in their order.
    pub(crate) fn destructors(&self) -> Vec<FunctionId> {
        let mut found = self.run_by_themselves(|runs| runs.after);
        found.reverse();
        found
    }

    fn run_by_themselves(&self, priority: impl Fn(Runs) -> Option<u64>) -> Vec<FunctionId> {
        let mut found: Vec<(u64, FunctionId)> = Vec::new();
        for (i, function) in self.functions.iter().enumerate().filter(|(_, f)| f.body.is_some()) {
            found.extend(priority(function.runs).map(|priority| (priority, FunctionId(i as u32))));
        }
        // Those of one priority come in the order of the text.
        found.sort_by_key(|(priority, id)| (*priority, self.function(*id).span));
        found.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    pub(crate) fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }
}

/// How long an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    Static,
    Automatic,
    Parameter,
}

/// A variable, a string literal, a compound literal, or a temporary of structure type.
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) ty: CType,
    pub(crate) lifetime: Lifetime,
    pub(crate) owner: Option<FunctionId>,
    /// Of objects with static lifetime; others are initialised by [`StatementKind::Declare`].
    pub(crate) initial: Option<Initial>,
    /// Whether this is a definition: not only `extern`.
    pub(crate) defined: bool,
    /// What is wrong with it: matters only if it is used.
    pub(crate) problem: Option<Problem>,
    /// What it is there for. Its name does not tell: any may be one of the program.
    pub(crate) role: Role,
    pub(crate) span: Span,
}

/// What an object is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// A declaration of the program, or a step of ours.
    #[default]
    Plain,
    /// A compound literal.
    Literal,
    /// It holds variable arguments.
    Arguments,
}

/// What an object is initialised with: sub-objects and their values. The rest is zero if there is a
/// list.
#[derive(Clone, Debug)]
pub(crate) struct Initial {
    pub(crate) items: Vec<InitialItem>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct InitialItem {
    pub(crate) path: Vec<Step>,
    pub(crate) value: Term,
}

/// A step into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Field(usize),
    Index(u64),
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) signature: Rc<Signature>,
    pub(crate) parameters: Vec<ObjectId>,
    /// The parameter that points to the variable arguments, if the body asks for them.
    pub(crate) rest: Option<ObjectId>,
    pub(crate) body: Option<Vec<Statement>>,
    pub(crate) returns: bool,
    /// Whether it is said to write nothing.
    pub(crate) pure: bool,
    /// What a property says about its result, if it has no body.
    pub(crate) result: Option<Result>,
    /// Whether another definition replaces the body: it is only for inlining, or weak.
    pub(crate) provisional: bool,
    pub(crate) span: Span,
    pub(crate) end: Span,
    /// What is wrong with it: matters only if the function is used.
    pub(crate) problems: Vec<Problem>,
    /// The labels whose addresses are taken, and objects that have these addresses.
    pub(crate) labels: Vec<(String, ObjectId)>,
    /// Where it is said that it need not exist.
    pub(crate) weak: Option<Span>,
    /// Whether it runs by itself: in front of the entry, or behind it.
    pub(crate) runs: Runs,
    /// Whether it is inside of another function.
    pub(crate) nested: bool,
}

impl Function {
    /// A function without a body.
    pub(crate) fn declared(name: &str, signature: Rc<Signature>, span: Span) -> Function {
        Function {
            name: name.to_owned(),
            signature,
            parameters: Vec::new(),
            rest: None,
            body: None,
            returns: true,
            pure: false,
            result: None,
            provisional: false,
            span,
            end: span,
            problems: Vec::new(),
            labels: Vec::new(),
            weak: None,
            runs: Runs::default(),
            nested: false,
        }
    }

    /// Whether the body is only for inlining: the function itself is another one. A weak one is the
    /// function itself if there is no other.
    pub(crate) fn is_for_inlining(&self) -> bool {
        self.provisional && self.weak.is_none()
    }
}

/// When a function runs by itself, with its priority: of those in front the least comes first, of
/// those behind the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) before: Option<u64>,
    pub(crate) after: Option<u64>,
}

impl Runs {
    pub(crate) fn or(self, more: Runs) -> Runs {
        Runs { before: self.before.or(more.before), after: self.after.or(more.after) }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) kind: TermKind,
    pub(crate) ty: CType,
    pub(crate) span: Span,
}

/// Which value an update has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yields {
    Old,
    New,
}

#[derive(Clone, Debug)]
pub(crate) enum TermKind {
    /// An integer, or a constant address.
    Constant(u64),
    /// A floating-point constant, if its value is known.
    Real(Option<f64>),
    // Places.
    Object(ObjectId),
    Deref(Box<Term>),
    Field(Box<Term>, usize),
    /// An object that first gets a value.
    Materialise(ObjectId, Box<Term>),
    /// A compound literal.
    Literal(ObjectId, Box<Initial>),
    // Values.
    Function(FunctionId),
    Load(Box<Term>),
    /// The address of a place or a function.
    Address(Box<Term>),
    Convert(Box<Term>),
    Unary(UnaryOp, Box<Term>),
    /// Logical negation.
    Not(Box<Term>),
    /// An operation on two values of the type of the result.
    Arithmetic(BinaryOp, Box<Term>, Box<Term>),
    /// A comparison of two values of one type.
    Compare(BinaryOp, Box<Term>, Box<Term>),
    Shift(BinaryOp, Box<Term>, Box<Term>),
    Divide(BinaryOp, Box<Term>, Box<Term>),
    /// A pointer and an integer times a number of bytes, added or subtracted.
    Offset(BinaryOp, Box<Term>, Box<Term>, u64),
    /// The distance of two pointers in elements of so many bytes.
    Difference(Box<Term>, Box<Term>, u64),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Conditional(Box<Term>, Box<Term>, Box<Term>),
    Assign(Box<Term>, Box<Term>),
    /// The place gets the value, in which [`TermKind::Old`] is what it had before.
    Update(Box<Term>, Box<Term>, Yields),
    Old,
    /// Every byte of the place gets this value.
    Fill(Box<Term>, u64),
    Comma(Vec<Term>),
    Call(Box<Term>, Vec<Term>),
    /// A function on floating-point numbers that the compiler knows.
    FloatCall(FloatFunction, Vec<Term>),
    /// A value of structure type, by its scalars.
    Compose(Vec<Term>),
    /// A statement expression.
    Block(Vec<Statement>, Option<Box<Term>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    /// The whole of a simple statement; of a compound one the head.
    pub(crate) span: Span,
}

impl Statement {
    /// Whether the declaration of an object has an initial value with effects.
    pub(crate) fn has_effects(&self) -> bool {
        match &self.kind {
            StatementKind::Declare(_, Some(initial)) => {
                initial.items.iter().any(|item| item.value.has_effects())
            }
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Empty,
    Expression(Term),
    /// A declaration of an automatic object is executed.
    Declare(ObjectId, Option<Initial>),
    Block(Vec<Statement>),
    If(Term, Box<Statement>, Option<Box<Statement>>),
    While(Term, Box<Statement>),
    DoWhile(Box<Statement>, Term),
    For(Vec<Statement>, Option<Term>, Option<Term>, Box<Statement>),
    Switch(Term, Box<Statement>),
    Case(u64, u64),
    Default,
    Label(String),
    Goto(String),
    Break,
    Continue,
    Return(Option<Term>),
    /// Inline assembly.
    Assembly(Box<Assembly>),
    /// From here to the end of the block around, this is evaluated when the block is left; it is
    /// about this object.
    Cleanup(ObjectId, Box<Term>),
    /// A jump to a label whose address is computed.
    GotoAny(Box<Term>),
    /// Something that is not modelled, or not C.
    Unsupported(Box<Problem>),
}

/// Inline assembly.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    pub(crate) outputs: Vec<Term>,
    pub(crate) inputs: Vec<Term>,
    /// Whether there are instructions that may change memory.
    pub(crate) memory: bool,
}

impl Term {
    pub(crate) fn new(kind: TermKind, ty: CType, span: Span) -> Term {
        Term { kind, ty, span }
    }

    pub(crate) fn constant(&self) -> Option<u64> {
        match self.kind {
            TermKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn is_place(&self) -> bool {
        use TermKind::{Deref, Field, Literal, Materialise, Object};
        matches!(self.kind, Object(_) | Deref(_) | Field(..) | Materialise(..) | Literal(..))
    }

    /// Whether evaluating the term does anything but give a value.
    pub(crate) fn has_effects(&self) -> bool {
        use TermKind::{Assign, Block, Call, Fill, Update};
        matches!(self.kind, Assign(..) | Block(..) | Call(..) | Fill(..) | Update(..))
            || self.any_child(&mut Term::has_effects)
    }

    /// Whether one of the direct parts of an expression is such; without a list of them.
    pub(crate) fn any_child<'t>(&'t self, is_such: &mut dyn FnMut(&'t Term) -> bool) -> bool {
        use TermKind::*;
        match &self.kind {
            Constant(_) | Real(_) | Object(_) | Function(_) | Old => false,
            Deref(a)
            | Field(a, _)
            | Materialise(_, a)
            | Load(a)
            | Address(a)
            | Convert(a)
            | Unary(_, a)
            | Fill(a, _)
            | Not(a) => is_such(a),
            Literal(_, initial) => initial.items.iter().any(|item| is_such(&item.value)),
            Arithmetic(_, a, b)
            | Compare(_, a, b)
            | Shift(_, a, b)
            | Divide(_, a, b)
            | Offset(_, a, b, _)
            | Difference(a, b, _)
            | And(a, b)
            | Or(a, b)
            | Assign(a, b)
            | Update(a, b, _) => is_such(a) || is_such(b),
            Conditional(a, b, c) => is_such(a) || is_such(b) || is_such(c),
            Comma(terms) | Compose(terms) | FloatCall(_, terms) => terms.iter().any(is_such),
            Call(callee, arguments) => is_such(callee) || arguments.iter().any(is_such),
            Block(_, value) => value.as_deref().is_some_and(is_such),
        }
    }

    /// The direct parts of an expression, statements inside it not included.
    pub(crate) fn children(&self) -> Vec<&Term> {
        let mut found = Vec::new();
        self.any_child(&mut |child| {
            found.push(child);
            false
        });
        found
    }
}

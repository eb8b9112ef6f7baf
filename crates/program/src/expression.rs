//! Typed expressions over the variables of a program.

use wherefore_floats::FloatOp;

use crate::types::Scalar;

/// A variable as a procedure sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Var {
    /// A global variable, by its position in [`Program::globals`](crate::Program::globals).
    Global(u32),
    /// A parameter or local variable, by its position in
    /// [`Procedure::variables`](crate::Procedure::variables).
    Local(u32),
}

/// Which of the two states around a step a variable is read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// Before the step.
    Now,
    /// After the step: only in constraints of assignments, and in the arguments of calls that
    /// assign.
    Next,
}

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Logical negation of a truth value.
    Not,
    /// Two's-complement negation.
    Neg,
    /// Every bit flipped.
    BitNot,
}

/// Operations on two values of one type.
///
/// Arithmetic wraps. Division by zero is as in SMT-LIB: the quotient has every bit set (for
/// [`BinaryOp::SDiv`] of a negative number it is 1), the remainder is the dividend. A shift by the
/// width or more gives 0, or the sign for [`BinaryOp::AShr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Logical and; the right side is not looked at if the left is false.
    And,
    /// Logical or; the right side is not looked at if the left is true.
    Or,
    /// Exclusive or of truth values.
    Xor,
    /// Implication; the right side is not looked at if the left is false.
    Implies,
    /// Equality of any two values of one type.
    Eq,
    /// The negation of equality.
    Ne,
    /// Unsigned less than.
    ULt,
    /// Unsigned less than or equal.
    ULe,
    /// Signed less than.
    SLt,
    /// Signed less than or equal.
    SLe,
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Unsigned division.
    UDiv,
    /// Signed division, towards zero.
    SDiv,
    /// Unsigned remainder.
    URem,
    /// Signed remainder, with the sign of the dividend.
    SRem,
    /// Shift to the left.
    Shl,
    /// Shift to the right that brings in zeros.
    LShr,
    /// Shift to the right that brings in the sign.
    AShr,
    /// And, bit by bit.
    BitAnd,
    /// Or, bit by bit.
    BitOr,
    /// Exclusive or, bit by bit.
    BitXor,
}

impl BinaryOp {
    /// Whether both sides are truth values.
    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Implies)
    }

    /// Whether the result is a truth value.
    pub fn is_test(self) -> bool {
        use BinaryOp::{Eq, Ne, SLe, SLt, ULe, ULt};
        self.is_logical() || matches!(self, Eq | Ne | ULt | ULe | SLt | SLe)
    }
}

/// What an expression is, apart from its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A value of the type; 1 is true.
    Constant(u64),
    /// A variable, or an element of an array. An index outside the array has no value: the step
    /// blocks.
    Read {
        /// The variable.
        variable: Var,
        /// One index a dimension; none for a single value.
        indices: Vec<Expr>,
        /// The state that the variable is read in. The indices say this for themselves.
        when: When,
    },
    /// A value chosen afresh at every evaluation: any of the type, or those below the limit.
    Choice {
        /// One more than the greatest value; none if every value of the type is meant.
        below: Option<u64>,
    },
    /// An operation on one value.
    Unary(UnaryOp, Box<Expr>),
    /// An operation on two values.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The low bits of the value, or the value with zeros in front, as the width of the type
    /// demands.
    ZeroExtend(Box<Expr>),
    /// The low bits of the value, or the value with its sign repeated in front.
    SignExtend(Box<Expr>),
    /// The bits from `low` on, as many as the width of the type.
    Extract {
        /// The value.
        value: Box<Expr>,
        /// The lowest bit taken, counted from 0.
        low: u32,
    },
    /// An operation on floating-point numbers, which are bit-vectors.
    Float(FloatOp, Vec<Expr>),
    /// The second if the first holds, else the third; the other one is not looked at.
    IfThenElse(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// A typed expression.
///
/// ```
/// use wherefore_program::{BinaryOp, Expr, Scalar, Var};
///
/// let x = Expr::variable(Var::Global(0), Scalar::Bits(4));
/// let sum = Expr::binary(BinaryOp::Add, x.clone(), Expr::constant(1, Scalar::Bits(4)));
/// assert_eq!(Expr::binary(BinaryOp::ULt, x, sum).ty, Scalar::Bool);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Scalar,
}

impl Expr {
    /// A constant, cut to the width of the type.
    pub fn constant(value: u64, ty: Scalar) -> Expr {
        Expr { kind: ExprKind::Constant(value & ty.max()), ty }
    }

    /// A truth value.
    pub fn bool(value: bool) -> Expr {
        Expr::constant(value.into(), Scalar::Bool)
    }

    /// A variable that is a single value, before the step.
    pub fn variable(variable: Var, ty: Scalar) -> Expr {
        Expr::read(variable, Vec::new(), When::Now, ty)
    }

    /// A variable that is a single value, after the step.
    pub fn next(variable: Var, ty: Scalar) -> Expr {
        Expr::read(variable, Vec::new(), When::Next, ty)
    }

    /// A variable or an element of type `ty`.
    pub fn read(variable: Var, indices: Vec<Expr>, when: When, ty: Scalar) -> Expr {
        Expr { kind: ExprKind::Read { variable, indices, when }, ty }
    }

    /// Any value of a type.
    pub fn choice(ty: Scalar) -> Expr {
        Expr { kind: ExprKind::Choice { below: None }, ty }
    }

    /// An operation on one value.
    pub fn unary(op: UnaryOp, value: Expr) -> Expr {
        Expr { ty: value.ty, kind: ExprKind::Unary(op, Box::new(value)) }
    }

    /// Logical negation. A double negation and constants are simplified.
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Expr {
        match self.kind {
            ExprKind::Constant(value) => Expr::bool(value == 0),
            ExprKind::Unary(UnaryOp::Not, inner) => *inner,
            _ => Expr::unary(UnaryOp::Not, self),
        }
    }

    /// An operation on two values of one type.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        debug_assert_eq!(left.ty, right.ty, "operands of {op:?}");
        let ty = if op.is_test() { Scalar::Bool } else { left.ty };
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty }
    }

    /// The conjunction of all, as a balanced tree; true if there are none.
    pub fn all(parts: Vec<Expr>) -> Expr {
        Expr::balanced(BinaryOp::And, parts).unwrap_or_else(|| Expr::bool(true))
    }

    /// The disjunction of all, as a balanced tree; false if there are none.
    pub fn any(parts: Vec<Expr>) -> Expr {
        Expr::balanced(BinaryOp::Or, parts).unwrap_or_else(|| Expr::bool(false))
    }

    fn balanced(op: BinaryOp, mut parts: Vec<Expr>) -> Option<Expr> {
        while parts.len() > 1 {
            let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => Expr::binary(op, left, right),
                    None => left,
                });
            }
            parts = halved;
        }
        parts.pop()
    }

    /// The value in a bit-vector of another width: low bits, or zeros in front. A truth value
    /// becomes 0 or 1.
    pub fn zero_extend(self, width: u32) -> Expr {
        let ty = Scalar::Bits(width);
        match self.kind {
            _ if self.ty == ty => self,
            ExprKind::Constant(value) => Expr::constant(value, ty),
            _ => Expr { kind: ExprKind::ZeroExtend(Box::new(self)), ty },
        }
    }

    /// An operation on floating-point numbers. Constants are computed.
    pub fn float(op: FloatOp, operands: Vec<Expr>) -> Expr {
        debug_assert_eq!(operands.len(), op.arity(), "operands of {}", op.name());
        let ty = op.result_width().map_or(Scalar::Bool, Scalar::Bits);
        let constants: Option<Vec<u64>> = operands.iter().map(Expr::as_constant).collect();
        match constants {
            Some(constants) => Expr::constant(op.apply(&constants), ty),
            None => Expr { kind: ExprKind::Float(op, operands), ty },
        }
    }

    /// One of two values of one type.
    pub fn if_then_else(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        debug_assert_eq!(then.ty, otherwise.ty);
        let ty = then.ty;
        Expr { kind: ExprKind::IfThenElse(Box::new(condition), Box::new(then), Box::new(otherwise)), ty }
    }

    /// The value of a constant.
    pub fn as_constant(&self) -> Option<u64> {
        match self.kind {
            ExprKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The direct parts of the expression, indices included.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Constant(_) | ExprKind::Choice { .. } => Vec::new(),
            ExprKind::Read { indices: parts, .. } | ExprKind::Float(_, parts) => parts.iter().collect(),
            ExprKind::Unary(_, value)
            | ExprKind::ZeroExtend(value)
            | ExprKind::SignExtend(value)
            | ExprKind::Extract { value, .. } => vec![value],
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::IfThenElse(a, b, c) => vec![a, b, c],
        }
    }

    /// Calls `visit` on every part, the whole first.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// Calls `visit` on every variable that the expression reads.
    pub fn reads(&self, visit: &mut impl FnMut(Var, When)) {
        self.walk(&mut |part| {
            if let ExprKind::Read { variable, when, .. } = &part.kind {
                visit(*variable, *when);
            }
        });
    }

    /// Whether the value depends on a choice.
    pub fn has_choice(&self) -> bool {
        let mut found = false;
        self.walk(&mut |part| found |= matches!(part.kind, ExprKind::Choice { .. }));
        found
    }
}

/// Where a value is put: a variable, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The variable.
    pub variable: Var,
    /// One index a dimension, read before the step; none for a single value.
    pub indices: Vec<Expr>,
}

impl From<Var> for Target {
    fn from(variable: Var) -> Self {
        Target { variable, indices: Vec::new() }
    }
}

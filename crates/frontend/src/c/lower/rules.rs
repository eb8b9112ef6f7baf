//! Checks in front of what C leaves undefined: arithmetic, indices, pointers.
//!
//! A check is made only if its kind is asked for. It stands in front of the step that evaluates the
//! expression; where a part of an expression is evaluated only under a condition (`p && p->next`),
//! the condition guards the check. `overflow.rs`: when signed arithmetic fits; `slots.rs`: objects
//! behind pointers.

use wherefore_flow::{Nothing, range_of};
use wherefore_program::{
    BinaryOp, Expr, LocationKind, OUTSIDE_OF_OBJECT, Operation, Scalar, Span, Violation, ViolationKind,
};

use super::overflow::fits;
use super::place::Place;
use super::storage::Storage;
use super::value::resize;
use super::{Context, HEAP, Lower, READ_ONLY};
use crate::c::Standard;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};

/// How a place in memory was come to, and so what must hold when it is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// The pointer that was followed; none if the object was named.
    pub(crate) pointer: Option<Expr>,
    /// The array that indices were applied to: where it starts, and its size. It has to be there as
    /// a whole.
    pub(crate) array: Option<(Expr, u64)>,
    /// Indices and the lengths of their arrays.
    pub(crate) indices: Vec<(Expr, Expr)>,
    /// The pointer without what was added to it, if a property is about accesses.
    pub(crate) base: Option<Box<Expr>>,
    /// Whether the place is the last part of the object that the pointer points to.
    pub(crate) is_last: bool,
}

impl Context<'_> {
    /// Whether violations of a kind are errors.
    pub(crate) fn asks(&self, kind: ViolationKind) -> bool {
        self.options.checks.contains(&kind)
    }
}

impl Lower<'_, '_> {
    /// Whether violations of a kind are errors here.
    pub(crate) fn asks(&self, kind: ViolationKind) -> bool {
        if self.is_claim {
            return false;
        }
        let arithmetic =
            matches!(kind, ViolationKind::Overflow | ViolationKind::Shift | ViolationKind::Division);
        // What breaks a rule in a model of a library function is its call. Arithmetic in models is
        // ours, but for functions that only compute.
        let is_ours = arithmetic && !self.only_computes();
        self.cx.asks(kind) && !(self.is_library && (is_ours || self.cx.copy.is_none()))
    }

    /// Whether the function at hand is `abs`, `div` or the like, whose result need not fit.
    fn only_computes(&self) -> bool {
        let name = self.function.map(|id| self.cx.tree.function(id).name.as_str());
        let name = name.map(|name| name.strip_prefix("__builtin_own_").unwrap_or(name));
        matches!(name, Some("abs" | "labs" | "llabs" | "div" | "ldiv" | "lldiv")) || self.is_about_wide()
    }

    /// Whether the function at hand does what can break a rule about a number of 128 bits.
    fn is_about_wide(&self) -> bool {
        const NAMES: [&str; 6] = ["check", "shl", "lshr", "ashr", "udiv", "urem"];
        let name = self.function.map(|id| self.cx.tree.function(id).name.as_str());
        let short = name.and_then(|name| name.strip_prefix("__builtin_own_wide_"));
        self.is_library && short.is_some_and(|short| NAMES.contains(&short))
    }

    /// The width that a message tells, and whether it shows the operands: not those of our library.
    fn told_width(&self, width: u64) -> (u64, bool) {
        if self.is_about_wide() { (128, false) } else { (width, true) }
    }

    /// Whether any violations are errors.
    pub(crate) fn has_rules(&self) -> bool {
        !self.cx.options.checks.is_empty() || self.watches_accesses()
    }

    /// A condition that can be used twice.
    pub(crate) fn guard(&mut self, condition: Expr, span: Span) -> Expr {
        if self.has_rules() { self.stable(condition, span) } else { condition }
    }

    /// Does some work on a part of an expression that is evaluated only if a condition is as said.
    pub(crate) fn guarded<R>(
        &mut self,
        condition: &Expr,
        holds: bool,
        work: impl FnOnce(&mut Self) -> Checked<R>,
    ) -> Checked<R> {
        let guard = if holds { condition.clone() } else { Self::negated(condition.clone()) };
        self.guards.push(guard);
        let result = work(self);
        self.guards.pop();
        result
    }

    /// A check in front of what comes next, if it is asked for.
    /// `subject` is what breaks the rule, `span` the step that it is a part of.
    pub(super) fn check(
        &mut self,
        kind: ViolationKind,
        holds: Expr,
        text: &str,
        shown: Vec<(String, Expr, bool)>,
        (subject, span): (Span, Span),
    ) {
        if !self.asks(kind) || range_of(&holds, &Nothing).as_constant() == Some(1) {
            return;
        }
        let mut parts: Vec<Expr> = self.guards.iter().cloned().map(Self::negated).collect();
        parts.push(holds);
        let holds = Expr::any(parts);
        if self.sure.0 != self.body.at {
            self.sure.1.clear();
        }
        if self.sure.1.contains(&holds) {
            return;
        }
        let violation = Violation { kind, subject, text: text.to_owned(), shown, messages: None };
        self.body.check(span, holds.clone(), violation);
        self.sure.0 = self.body.at;
        self.sure.1.push(holds);
    }

    /// Signed arithmetic must not leave its type. Returns operands that are the same wherever they
    /// are used.
    pub(crate) fn check_arithmetic(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> (Expr, Expr) {
        if !self.asks(ViolationKind::Overflow) || !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
        {
            return (left, right);
        }
        let (left, right) = (self.stable(left, span), self.stable(right, span));
        if let Some(fits) = fits(op, &left, &right) {
            let (width, shows) = self.told_width(u64::from(left.ty.width()));
            let text = format!("does not fit into a signed number of {width} bits");
            let operand = |name: &str, value: &Expr| {
                let value = Some(value).filter(|_| shows)?;
                value.as_constant().is_none().then(|| (name.to_owned(), value.clone(), true))
            };
            let shown = operand("left operand", &left).into_iter().chain(operand("right operand", &right));
            self.check(ViolationKind::Overflow, fits, &text, shown.collect(), (span, span));
        }
        (left, right)
    }

    /// The negation of the least number does not fit into its type.
    pub(crate) fn check_negation(&mut self, value: &Expr, span: Span) {
        if value.has_choice() {
            return;
        }
        let least = Expr::constant(1 << (value.ty.width() - 1), value.ty);
        let text = format!("does not fit into a signed number of {} bits", value.ty.width());
        self.check(
            ViolationKind::Overflow,
            Expr::binary(BinaryOp::Ne, value.clone(), least),
            &text,
            Vec::new(),
            (span, span),
        );
    }

    /// A shift must be by less than the width. Returns an amount that is the same wherever it is
    /// used.
    pub(crate) fn check_shift(&mut self, amount: Expr, width: u64, span: Span) -> Expr {
        if !self.asks(ViolationKind::Shift) {
            return amount;
        }
        let amount = self.stable(amount, span);
        let holds = Expr::binary(BinaryOp::ULt, amount.clone(), Expr::constant(width, amount.ty));
        let (told, shows) = self.told_width(width);
        let text = format!("shifts by a number that is negative or not below the width, {told}");
        let shown = if shows { vec![("shift amount".to_owned(), amount.clone(), true)] } else { Vec::new() };
        self.check(ViolationKind::Shift, holds, &text, shown, (span, span));
        amount
    }

    /// A signed number that is not negative must fit into its type when it is shifted to the left, if
    /// a property of SV-COMP asks: compilers define the result. That a negative one is shifted is
    /// undefined (C17 6.5.7), but no result that does not fit: it is left open whether the property
    /// means it. Returns operands that are the same wherever they are used.
    pub(crate) fn check_shifted(&mut self, value: Expr, amount: Expr, span: Span) -> (Expr, Expr) {
        if !self.asks(ViolationKind::Overflow) || self.cx.options.standard != Standard::Objects {
            return (value, amount);
        }
        let (value, amount) = (self.stable(value, span), self.stable(amount, span));
        let (ty, width) = (value.ty, u64::from(value.ty.width()));
        let inside = Expr::binary(BinaryOp::ULt, amount.clone(), Expr::constant(width, amount.ty));
        let most = Expr::constant(ty.max() >> 1, ty);
        let room = Expr::binary(BinaryOp::LShr, most, resize(amount.clone(), false, ty));
        let is_negative = Expr::binary(BinaryOp::SLt, value.clone(), Expr::constant(0, ty));
        let fits = Expr::binary(BinaryOp::ULe, value.clone(), room);
        let holds = Expr::any(vec![inside.clone().not(), is_negative.clone(), fits]);
        let text = format!("does not fit into a signed number of {width} bits");
        self.check(ViolationKind::Overflow, holds, &text, Vec::new(), (span, span));
        let guards: Vec<Expr> = self.guards.iter().cloned().chain([inside, is_negative]).collect();
        let what = "whether it is an overflow that a negative number is shifted to the left is";
        self.leave_open(Expr::all(guards), what, span);
        (value, amount)
    }

    /// Under a condition it is not settled whether the run fails here: there is a place that is not
    /// modelled, and the run may go on as well.
    fn leave_open(&mut self, when: Expr, what: &str, span: Span) {
        if !self.asks(ViolationKind::Overflow) || range_of(&when, &Nothing).as_constant() == Some(0) {
            return;
        }
        let at = self.body.fill(span, LocationKind::Branch);
        let (next, open) = (self.body.open(span), self.body.open(span));
        self.body.edge(at, next, Operation::Skip, span);
        self.body.edge(at, open, Operation::Assume(when), span);
        self.unsupported_from(open, Problem::unsupported(span, what));
        self.body.at = next;
    }

    /// A division by zero, or of the least number by -1, is an error. What must hold so that it does
    /// not trap is returned, as far as it is not checked.
    pub(crate) fn check_division(
        &mut self,
        dividend: &Expr,
        divisor: &Expr,
        signed: bool,
        span: Span,
    ) -> Vec<Expr> {
        let not_zero = super::value::truth(divisor.clone());
        let ty = dividend.ty;
        let fits = signed.then(|| {
            let least = Expr::constant(1 << (ty.width() - 1), ty);
            let minus_one = Expr::constant(ty.max(), ty);
            Expr::any(vec![
                Expr::binary(BinaryOp::Ne, divisor.clone(), minus_one),
                Expr::binary(BinaryOp::Ne, dividend.clone(), least),
            ])
        });
        let mut ends = Vec::new();
        if self.asks(ViolationKind::Division) {
            self.check(ViolationKind::Division, not_zero, "divides by zero", Vec::new(), (span, span));
        } else {
            ends.push(not_zero);
        }
        match fits {
            Some(fits) if self.asks(ViolationKind::Overflow) => {
                let text = format!("does not fit into a signed number of {} bits", ty.width());
                self.check(ViolationKind::Overflow, fits, &text, Vec::new(), (span, span));
            }
            fits => ends.extend(fits),
        }
        ends
    }

    /// A pointer that is followed or called must not be null.
    pub(crate) fn check_null(&mut self, pointer: &Expr, text: &str, at: (Span, Span)) {
        let null = Expr::constant(0, pointer.ty);
        self.check(
            ViolationKind::Null,
            Expr::binary(BinaryOp::Ne, pointer.clone(), null),
            text,
            Vec::new(),
            at,
        );
    }

    /// A pointer that a function of the library follows must not be null.
    pub(crate) fn check_passed(&mut self, pointer: Expr, span: Span) {
        if !self.asks(ViolationKind::Null) || pointer.has_choice() {
            return;
        }
        let pointer = self.stable(pointer, span);
        self.check_null(&pointer, "passes a null pointer", (span, span));
    }

    /// What must hold when a place is read or written.
    pub(crate) fn check_access(&mut self, place: &Place, span: Span) {
        if !self.has_rules() {
            return;
        }
        if let Place::Memory { reach, at, .. } = place {
            self.access_event(reach, *at);
        }
        self.argument_is_there(place, span);
        match place {
            Place::Split { object, start, indices, .. } => {
                let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else { return };
                let Some(variable) = leaves.get(*start).and_then(|leaf| leaf.variable) else { return };
                let lengths: Vec<u64> =
                    self.variable_type(variable).dimensions().iter().map(|d| d.length).collect();
                // What is outside of an array that is an object is outside of the object.
                let is_array = matches!(self.cx.tree.object(*object).ty, CType::Array(..));
                for (i, (index, length)) in indices.iter().zip(lengths).enumerate() {
                    let length = Expr::constant(length, Scalar::Bits(64));
                    self.check_index(index, &length, is_array && i == 0, (place.at(), span));
                }
            }
            Place::Memory { class, address, ty, bits, reach, .. } => {
                let size = match bits {
                    Some(field) => u64::from(field.low + field.width).div_ceil(8),
                    None => self.cx.tree.types.size(ty).unwrap_or(1),
                };
                for (index, length) in &reach.indices {
                    self.check_index(index, length, false, (place.at(), span));
                }
                if let Some(pointer) = &reach.pointer {
                    let (from, size) = reach.array.clone().unwrap_or((address.clone(), size));
                    let size = Expr::constant(size, self.cx.pointer());
                    self.check_pointer(*class, pointer, &from, &size, (place.at(), span));
                }
            }
        }
    }

    /// String literals and constants must not be written to. What is asked about whole objects is
    /// not about that.
    pub(crate) fn check_writable(&mut self, place: &Place, span: Span) {
        let Place::Memory { class, address, reach, .. } = place else { return };
        if reach.pointer.is_none()
            || address.has_choice()
            || !self.asks(ViolationKind::Bounds)
            || self.cx.options.standard != Standard::Arrays
            || !self.cx.has_read_only(*class)
        {
            return;
        }
        let number = |value| Expr::constant(value, address.ty);
        let distance = match address.as_constant() {
            Some(address) => number(address.wrapping_sub(READ_ONLY) & number(0).ty.max()),
            None => Expr::binary(BinaryOp::Sub, address.clone(), number(READ_ONLY)),
        };
        let holds = Expr::binary(BinaryOp::ULe, number(HEAP - READ_ONLY), distance);
        let text = "is in a string literal or a constant, which must not be changed";
        self.check(ViolationKind::Bounds, holds, text, Vec::new(), (place.at(), span));
    }

    fn check_index(&mut self, index: &Expr, length: &Expr, is_object: bool, at: (Span, Span)) {
        if !self.asks(ViolationKind::Bounds) || index.has_choice() {
            return;
        }
        let wide = resize(index.clone(), true, Scalar::Bits(64));
        let (holds, text) = match length.as_constant() {
            Some(length) if length > index.ty.max() => return,
            Some(length) => (
                Expr::binary(BinaryOp::ULt, index.clone(), Expr::constant(length, index.ty)),
                format!("is outside of its array of {length} elements"),
            ),
            None => {
                let length = resize(length.clone(), false, Scalar::Bits(64));
                (Expr::binary(BinaryOp::ULt, wide, length), "is outside of its array".to_owned())
            }
        };
        let text = match is_object && self.cx.options.standard == Standard::Objects {
            true => OUTSIDE_OF_OBJECT.to_owned(),
            false => text,
        };
        let shown = vec![("index".to_owned(), index.clone(), true)];
        self.check(ViolationKind::Bounds, holds, &text, shown, at);
    }
}

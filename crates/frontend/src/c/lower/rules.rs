//! Checks in front of what C leaves undefined: arithmetic, indices, pointers, freed memory.
//!
//! A check is made only if its kind is asked for. It stands in front of the step that evaluates the
//! expression; where a part of an expression is evaluated only under a condition (`p && p->next`),
//! the condition guards the check.
//!
//! # Objects behind pointers
//! An access through a pointer must lie in an object of the class of the pointer. Objects with
//! constant addresses are listed in the condition. Memory from `malloc` and the like has a *slot*
//! of addresses for each allocation, and a table for each class says how many bytes of a slot there
//! are: `extent[slot]` is the size plus one, zero if there was no allocation, and [`FREED`] behind
//! `free`.

use wherefore_flow::{Nothing, range_of};
use wherefore_program::{
    BinaryOp, Expr, ExprKind, Scalar, Span, Target, Type, Var, Violation, ViolationKind, When,
};

use super::place::{Place, plus};
use super::storage::{Base, Storage};
use super::value::resize;
use super::{Context, Lower};
use crate::c::ctype::{CType, Length};
use crate::c::points_to::Class;
use crate::c::problem::Checked;
use crate::c::tree::{Lifetime, ObjectId, Term};

/// The entry of a slot that was freed.
const FREED: u64 = 0xffff_ffff;
/// The type of the entries of a table of extents.
const EXTENT: Scalar = Scalar::Bits(32);
/// Allocations of more bytes do not return.
const MOST_BYTES: u64 = 0xffff_fff0;
/// A class with more objects than this is not listed.
const MOST_OBJECTS: usize = 256;

/// The type of the numbers of allocations.
const NUMBER: Scalar = Scalar::Bits(32);

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
    /// Whether the place is the last part of the object that the pointer points to.
    pub(crate) is_last: bool,
}

/// Where the objects of a class are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Constant addresses and sizes.
    objects: Vec<(u64, u64, ObjectId)>,
    /// Whether there are local objects of recursive functions.
    frames: bool,
    /// Whether there are allocations, or arrays of variable length.
    slots: bool,
    /// Whether it has objects that are not known.
    open: bool,
}

impl Context<'_> {
    /// Whether violations of a kind are errors.
    fn asks(&self, kind: ViolationKind) -> bool {
        self.options.checks.contains(&kind)
    }

    /// Whether accesses to memory are checked.
    pub(crate) fn checks_memory(&self) -> bool {
        use ViolationKind::{Bounds, DoubleFree, InvalidFree, UseAfterFree};
        [Bounds, DoubleFree, InvalidFree, UseAfterFree, ViolationKind::Leak]
            .into_iter()
            .any(|kind| self.asks(kind))
    }

    /// How many bits of an address are the position in a slot.
    pub(crate) fn slot_bits(&self) -> u32 {
        if self.tree.types.model.pointer_bits() == 64 { 32 } else { 20 }
    }

    /// The variables that say which allocation is not freed.
    fn kept(&mut self, span: Span) -> (Var, Var) {
        if let Some(kept) = self.kept {
            return kept;
        }
        let address = self.global("kept", Type::Scalar(self.pointer()), Some(0), span);
        let number = self.global("kept.at", Type::Scalar(NUMBER), Some(0), span);
        *self.kept.insert((address, number))
    }

    /// The table of the extents of a class.
    fn extents(&mut self, class: Class, span: Span) -> Var {
        let class = self.classes.find(class);
        if let Some(table) = self.extents.get(&class) {
            return *table;
        }
        let address = self.tree.types.model.pointer_bits() - self.slot_bits();
        let name = format!("extent.{}", self.extents.len() + 1);
        let table = self.global(&name, Type::Memory { address, element: EXTENT }, Some(0), span);
        self.extents.insert(class, table);
        table
    }

    fn slot(&self, address: &Expr) -> Expr {
        let bits = self.slot_bits();
        let ty = Scalar::Bits(address.ty.width() - bits);
        match address.as_constant() {
            Some(address) => Expr::constant(address >> bits, ty),
            None => Expr { kind: ExprKind::Extract { value: Box::new(address.clone()), low: bits }, ty },
        }
    }

    /// Where in its slot an address is.
    fn position(&self, address: &Expr) -> Expr {
        let bits = self.slot_bits();
        let low = Expr {
            kind: ExprKind::Extract { value: Box::new(address.clone()), low: 0 },
            ty: Scalar::Bits(bits),
        };
        match address.as_constant() {
            Some(address) => Expr::constant(address & ((1 << bits) - 1), EXTENT),
            None => low.zero_extend(32),
        }
    }

    /// The entry of the slot of an address.
    fn extent(&mut self, class: Class, address: &Expr, span: Span) -> Expr {
        let table = self.extents(class, span);
        Expr::read(table, vec![self.slot(address)], When::Now, EXTENT)
    }

    /// Where the objects of a class are.
    fn layout(&mut self, class: Class) -> Layout {
        let class = self.classes.find(class);
        if let Some(layout) = self.layouts.get(&class) {
            return layout.clone();
        }
        let facts = self.classes.facts(class);
        let mut layout =
            Layout { slots: facts.heap, open: facts.foreign || facts.outside.is_some(), ..Layout::default() };
        for id in self.classes.all_objects_in(class) {
            let object = self.tree.object(id);
            let fixed = object.lifetime == Lifetime::Static;
            if !self.usage.exposed.contains(&id) && !self.storages.contains_key(&id) {
                continue;
            }
            match self.storages.get(&id) {
                Some(Storage::Split(_)) => continue,
                Some(Storage::Memory(Base::Frame(_))) => layout.frames = true,
                Some(Storage::Memory(Base::Variable(_))) => layout.slots = true,
                Some(Storage::Memory(Base::Constant(base))) => {
                    let base = *base;
                    match self.tree.types.size(&object.ty) {
                        Some(size) => layout.objects.push((base, size, id)),
                        None => layout.open = true,
                    }
                }
                None if matches!(object.ty, CType::Array(_, Length::Variable(_))) => layout.slots = true,
                None if !fixed && object.owner.is_some_and(|owner| self.usage.recursive.contains(&owner)) => {
                    layout.frames = true;
                }
                None => match (self.tree.types.size(&object.ty), object.problem.is_some()) {
                    (Some(size), false) => match self.constant_base(id, size, object.span) {
                        Ok(base) => layout.objects.push((base, size, id)),
                        Err(_) => layout.open = true,
                    },
                    _ => layout.open = true,
                },
            }
        }
        layout.open |= layout.objects.len() > MOST_OBJECTS;
        layout.objects.sort_unstable();
        self.layouts.insert(class, layout.clone());
        layout
    }
}

impl Lower<'_, '_> {
    /// Whether violations of a kind are errors here.
    pub(crate) fn asks(&self, kind: ViolationKind) -> bool {
        let arithmetic =
            matches!(kind, ViolationKind::Overflow | ViolationKind::Shift | ViolationKind::Division);
        // What breaks a rule in a model of a library function is its call.
        self.cx.asks(kind) && !(self.is_library && (arithmetic || self.cx.copy.is_none()))
    }

    /// Whether any violations are errors.
    pub(crate) fn has_rules(&self) -> bool {
        !self.cx.options.checks.is_empty()
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
    fn check(
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
        self.body.check(span, holds.clone(), Violation { kind, subject, text: text.to_owned(), shown });
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
            let text = format!("does not fit into a signed number of {} bits", left.ty.width());
            let operand = |name: &str, value: &Expr| {
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
        let text = format!("shifts by a number that is negative or not below the width, {width}");
        let shown = vec![("shift amount".to_owned(), amount.clone(), true)];
        self.check(ViolationKind::Shift, holds, &text, shown, (span, span));
        amount
    }

    /// A division by zero, or of the least number by -1, is an error, or ends the run.
    pub(crate) fn check_division(&mut self, dividend: &Expr, divisor: &Expr, signed: bool, span: Span) {
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
        if !ends.is_empty() {
            self.require(Expr::all(ends), span);
        }
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

    /// What must hold when a place is read or written.
    pub(crate) fn check_access(&mut self, place: &Place, span: Span) {
        if !self.has_rules() {
            return;
        }
        match place {
            Place::Split { object, start, indices, .. } => {
                let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else { return };
                let Some(variable) = leaves.get(*start).and_then(|leaf| leaf.variable) else { return };
                let lengths: Vec<u64> =
                    self.variable_type(variable).dimensions().iter().map(|d| d.length).collect();
                for (index, length) in indices.iter().zip(lengths) {
                    let length = Expr::constant(length, Scalar::Bits(64));
                    self.check_index(index, &length, (place.at(), span));
                }
            }
            Place::Memory { class, address, ty, bits, reach, .. } => {
                let size = match bits {
                    Some(field) => u64::from(field.low + field.width).div_ceil(8),
                    None => self.cx.tree.types.size(ty).unwrap_or(1),
                };
                for (index, length) in &reach.indices {
                    self.check_index(index, length, (place.at(), span));
                }
                if let Some(pointer) = &reach.pointer {
                    let (from, size) = reach.array.clone().unwrap_or((address.clone(), size));
                    let size = Expr::constant(size, self.cx.pointer());
                    self.check_pointer(*class, pointer, &from, &size, (place.at(), span));
                }
            }
        }
    }

    fn check_index(&mut self, index: &Expr, length: &Expr, at: (Span, Span)) {
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
        let shown = vec![("index".to_owned(), index.clone(), true)];
        self.check(ViolationKind::Bounds, holds, &text, shown, at);
    }

    /// So many bytes from an address on, which a pointer led to, must be in one object. `size` is
    /// not zero.
    pub(crate) fn check_pointer(
        &mut self,
        class: Class,
        pointer: &Expr,
        from: &Expr,
        size: &Expr,
        at: (Span, Span),
    ) {
        let span = at.1;
        if pointer.has_choice() || from.has_choice() {
            return;
        }
        let class = self.cx.classes.find(class);
        if !self.cx.given.contains(&class) {
            self.check_null(base_of(pointer), "follows a null pointer", at);
        }
        let layout = self.cx.layout(class);
        if layout.open {
            if self.asks(ViolationKind::Bounds) {
                let text = "a pointer from outside points to as much as is used of it";
                self.cx.assume(text, Some(span));
            }
            return;
        }
        if layout.slots && self.cx.frees {
            let entry = self.cx.extent(class, from, span);
            let live = Expr::binary(BinaryOp::Ne, entry, Expr::constant(FREED, EXTENT));
            self.check(ViolationKind::UseAfterFree, live, "uses memory that was freed", Vec::new(), at);
        }
        if layout.objects.iter().any(|(_, _, id)| self.cx.tree.object(*id).lifetime != Lifetime::Static) {
            self.cx.assume("a local object is not used after its scope has ended", Some(span));
        }
        if self.asks(ViolationKind::Bounds) {
            let inside = self.inside(class, &layout, from, size, span);
            self.check(ViolationKind::Bounds, inside, "is outside of its object", Vec::new(), at);
        }
    }

    /// Whether so many bytes from an address on are in one object of a class.
    fn inside(&mut self, class: Class, layout: &Layout, from: &Expr, size: &Expr, span: Span) -> Expr {
        let pointer = self.cx.pointer();
        let mut ways = Vec::new();
        for (base, extent, _) in &layout.objects {
            let offset = match from.as_constant() {
                Some(from) => Expr::constant(from.wrapping_sub(*base), pointer),
                None => Expr::binary(BinaryOp::Sub, from.clone(), Expr::constant(*base, pointer)),
            };
            let most = Expr::constant(*extent, pointer);
            match size.as_constant() {
                Some(size) if size > *extent => {}
                Some(size) if size == *extent => {
                    ways.push(Expr::binary(BinaryOp::Eq, from.clone(), Expr::constant(*base, pointer)));
                }
                Some(size) => {
                    ways.push(Expr::binary(BinaryOp::ULe, offset, Expr::constant(extent - size, pointer)));
                }
                None => {
                    let room = Expr::binary(BinaryOp::Sub, most.clone(), offset.clone());
                    ways.push(Expr::all(vec![
                        Expr::binary(BinaryOp::ULe, offset, most),
                        Expr::binary(BinaryOp::ULe, size.clone(), room),
                    ]));
                }
            }
        }
        if layout.slots {
            let entry = self.cx.extent(class, from, span);
            let position = self.cx.position(from);
            let size = resize(size.clone(), false, EXTENT);
            let more = plus(size, 1);
            let room = Expr::binary(BinaryOp::Sub, entry.clone(), more.clone());
            ways.push(Expr::all(vec![
                Expr::binary(BinaryOp::ULe, more, entry),
                Expr::binary(BinaryOp::ULe, position, room),
            ]));
        }
        if layout.frames {
            let text = "an access to a local object of a recursive function stays inside of it";
            self.cx.assume(text, Some(span));
            let top = Expr::variable(self.cx.stack_pointer(span), pointer);
            ways.push(Expr::all(vec![
                Expr::binary(BinaryOp::ULe, Expr::constant(super::STACK, pointer), from.clone()),
                Expr::binary(BinaryOp::ULt, from.clone(), top),
            ]));
        }
        Expr::any(ways)
    }

    /// An allocation fills a slot: its entry is set in the same step.
    pub(crate) fn fill_slot(
        &mut self,
        class: Class,
        address: &Expr,
        size: &Expr,
        (targets, values): (&mut Vec<Target>, &mut Vec<Expr>),
        span: Span,
    ) {
        let table = self.cx.extents(class, span);
        targets.push(Target { variable: table, indices: vec![self.cx.slot(address)] });
        values.push(plus(resize(size.clone(), false, EXTENT), 1));
    }

    /// One allocation, by choice, is the one that is not freed: if every choice is freed in the end,
    /// everything is.
    pub(crate) fn keep_allocation(&mut self, span: Span) {
        if !self.cx.asks(ViolationKind::Leak) {
            return;
        }
        let pointer = self.cx.pointer();
        let slot = Expr::constant(1 << self.cx.slot_bits(), pointer);
        let top = Expr::variable(self.cx.heap_pointer(span), pointer);
        let address = Expr::binary(BinaryOp::Sub, top, slot);
        let place = self.cx.copy.unwrap_or(span);
        let at = self.cx.allocations.iter().position(|known| *known == place).unwrap_or_else(|| {
            self.cx.allocations.push(place);
            self.cx.allocations.len() - 1
        });
        let (kept, number) = self.cx.kept(span);
        let (address_now, number_now) = (Expr::variable(kept, address.ty), Expr::variable(number, NUMBER));
        let free = Expr::binary(BinaryOp::Eq, address_now.clone(), Expr::constant(0, address.ty));
        let choice = self.body.temporary(Scalar::Bool, span);
        let havoc = wherefore_program::Operation::Havoc(vec![choice.into()]);
        self.body.step(span, wherefore_program::LocationKind::Statement, havoc);
        let chosen = Expr::all(vec![free, Expr::variable(choice, Scalar::Bool)]);
        let values = vec![
            Expr::if_then_else(chosen.clone(), address, address_now),
            Expr::if_then_else(chosen, Expr::constant(at as u64, NUMBER), number_now),
        ];
        self.body.assign(span, vec![kept.into(), number.into()], values);
    }

    /// The same where the program ends by itself, for all allocations together.
    pub(crate) fn check_leaks_here(&mut self, span: Span) {
        if !self.asks(ViolationKind::Leak) {
            return;
        }
        let (kept, _) = self.cx.kept(span);
        let pointer = self.cx.pointer();
        let none = Expr::binary(BinaryOp::Eq, Expr::variable(kept, pointer), Expr::constant(0, pointer));
        let text = "ends the program while memory is not freed";
        self.check(ViolationKind::Leak, none, text, Vec::new(), (span, span));
    }

    /// At the end of a program everything must have been freed: a check for each allocation.
    pub(crate) fn check_leaks(&mut self) {
        let Some((kept, number)) = self.cx.kept else { return };
        let pointer = self.cx.pointer();
        for (at, span) in self.cx.allocations.clone().into_iter().enumerate() {
            let none = Expr::binary(BinaryOp::Eq, Expr::variable(kept, pointer), Expr::constant(0, pointer));
            let other =
                Expr::binary(BinaryOp::Ne, Expr::variable(number, NUMBER), Expr::constant(at as u64, NUMBER));
            let text = "allocates memory that is not freed when the program ends";
            self.check(ViolationKind::Leak, Expr::any(vec![none, other]), text, Vec::new(), (span, span));
        }
    }

    /// The size of an allocation is bounded: memory of more bytes is never there.
    pub(crate) fn bound_size(&mut self, size: &Expr, span: Span) {
        let bits = self.cx.slot_bits();
        let most = MOST_BYTES.min((1 << bits) - 16);
        if size.as_constant().is_none_or(|size| size > most) {
            self.require(Expr::binary(BinaryOp::ULe, size.clone(), Expr::constant(most, size.ty)), span);
        }
    }

    /// `free(p)`: the slot is freed.
    pub(crate) fn release(&mut self, argument: &Term, span: Span) -> Checked<()> {
        let pointer = self.value(argument)?;
        let pointer = self.stable(pointer, span);
        let class = self.cx.classes.value(self.cx.tree, argument);
        let layout = self.cx.layout(class);
        let is_null = Expr::binary(BinaryOp::Eq, pointer.clone(), Expr::constant(0, pointer.ty));
        if layout.open {
            self.cx.assume(
                "memory from outside that is freed may be freed, and is not used afterwards",
                Some(span),
            );
            self.body.step(span, wherefore_program::LocationKind::Call, wherefore_program::Operation::Skip);
            return Ok(());
        }
        if !layout.slots {
            let text = "frees what `malloc` and the like have not given";
            self.check(ViolationKind::InvalidFree, is_null, text, Vec::new(), (span, span));
            self.body.step(span, wherefore_program::LocationKind::Call, wherefore_program::Operation::Skip);
            return Ok(());
        }
        let entry = self.cx.extent(class, &pointer, span);
        let freed = Expr::constant(FREED, EXTENT);
        let once = Expr::any(vec![is_null.clone(), Expr::binary(BinaryOp::Ne, entry.clone(), freed.clone())]);
        self.check(ViolationKind::DoubleFree, once, "frees memory a second time", Vec::new(), (span, span));
        let start = Expr::binary(BinaryOp::Eq, self.cx.position(&pointer), Expr::constant(0, EXTENT));
        let given = Expr::binary(BinaryOp::Ne, entry.clone(), Expr::constant(0, EXTENT));
        let valid = Expr::any(vec![is_null.clone(), Expr::all(vec![start, given])]);
        let text = "frees what `malloc` and the like have not given";
        self.check(ViolationKind::InvalidFree, valid, text, Vec::new(), (span, span));
        let table = self.cx.extents(class, span);
        let target = Target { variable: table, indices: vec![self.cx.slot(&pointer)] };
        let value = Expr::if_then_else(is_null, entry, freed);
        let (mut targets, mut values) = (vec![target], vec![value]);
        if self.cx.asks(ViolationKind::Leak) {
            let (kept, _) = self.cx.kept(span);
            let now = Expr::variable(kept, pointer.ty);
            let same = Expr::binary(BinaryOp::Eq, now.clone(), pointer.clone());
            targets.push(kept.into());
            values.push(Expr::if_then_else(same, Expr::constant(0, pointer.ty), now));
        }
        self.body.assign(span, targets, values);
        Ok(())
    }

    /// The size of an allocation, or another number if sizes are not followed.
    pub(crate) fn size_of_allocation(&mut self, pointer: &Term, otherwise: &Term) -> Checked<Expr> {
        let address = self.value(pointer)?;
        let otherwise = self.value(otherwise)?;
        let class = self.cx.classes.value(self.cx.tree, pointer);
        let layout = self.cx.layout(class);
        if !self.cx.checks_memory() || layout.open || !layout.slots {
            return Ok(otherwise);
        }
        let entry = self.cx.extent(class, &address, pointer.span);
        let size = Expr::binary(BinaryOp::Sub, entry, Expr::constant(1, EXTENT));
        Ok(resize(size, false, otherwise.ty))
    }
}

/// The pointer that an address was computed from.
fn base_of(address: &Expr) -> &Expr {
    match &address.kind {
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, left, _) => base_of(left),
        _ => address,
    }
}

/// When the result of a signed operation fits into its type; none if it always does.
fn fits(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let ty = left.ty;
    let width = ty.width();
    let (least, most) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
    let signed = |value: u64| ((value << (64 - width)) as i64) >> (64 - width);
    let at_most = |value: &Expr, bound: i64| {
        Expr::binary(BinaryOp::SLe, value.clone(), Expr::constant(bound as u64, ty))
    };
    let at_least = |value: &Expr, bound: i64| {
        Expr::binary(BinaryOp::SLe, Expr::constant(bound as u64, ty), value.clone())
    };
    match (op, left.as_constant().map(signed), right.as_constant().map(signed)) {
        (_, Some(a), Some(b)) => {
            let (a, b) = (i128::from(a), i128::from(b));
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                _ => a * b,
            };
            return Some(Expr::bool((i128::from(least)..=i128::from(most)).contains(&result)));
        }
        (BinaryOp::Add, Some(by), None) => {
            return Some(if by >= 0 { at_most(right, most - by) } else { at_least(right, least - by) });
        }
        (BinaryOp::Add, None, Some(by)) => {
            return Some(if by >= 0 { at_most(left, most - by) } else { at_least(left, least - by) });
        }
        (BinaryOp::Sub, None, Some(by)) => {
            return Some(if by >= 0 { at_least(left, least + by) } else { at_most(left, most + by) });
        }
        (BinaryOp::Sub, Some(from), None) => {
            // from - x <= most and from - x >= least.
            return Some(if from >= 0 { at_least(right, from - most) } else { at_most(right, from - least) });
        }
        (BinaryOp::Mul, Some(by), None) | (BinaryOp::Mul, None, Some(by)) => {
            let value = if left.as_constant().is_some() { right } else { left };
            return match by {
                0 | 1 => None,
                -1 => Some(at_least(value, least + 1)),
                by if by > 0 => Some(Expr::all(vec![at_least(value, least / by), at_most(value, most / by)])),
                by => Some(Expr::all(vec![at_least(value, most / by), at_most(value, least / by)])),
            };
        }
        _ => {}
    }
    let extended = |value: &Expr, width: u32| resize(value.clone(), true, Scalar::Bits(width));
    let wide = match op {
        BinaryOp::Mul => 2 * width,
        _ => width + 1,
    };
    if wide <= 64 {
        let result = Expr::binary(op, extended(left, wide), extended(right, wide));
        let bound = |value: i64| Expr::constant(value as u64, Scalar::Bits(wide));
        return Some(Expr::all(vec![
            Expr::binary(BinaryOp::SLe, bound(least), result.clone()),
            Expr::binary(BinaryOp::SLe, result, bound(most)),
        ]));
    }
    let result = Expr::binary(op, left.clone(), right.clone());
    let zero = || Expr::constant(0, ty);
    let different = |a: &Expr, b: &Expr| Expr::binary(BinaryOp::BitXor, a.clone(), b.clone());
    Some(match op {
        // The sign of the result differs from that of both operands, or of the first one, where it
        // differs from the second.
        BinaryOp::Add => {
            let both = Expr::binary(BinaryOp::BitAnd, different(left, &result), different(right, &result));
            Expr::binary(BinaryOp::SLe, zero(), both)
        }
        BinaryOp::Sub => {
            let both = Expr::binary(BinaryOp::BitAnd, different(left, right), different(left, &result));
            Expr::binary(BinaryOp::SLe, zero(), both)
        }
        _ => {
            let quotient = Expr::binary(BinaryOp::SDiv, result, left.clone());
            let back = Expr::binary(BinaryOp::Eq, quotient, right.clone());
            let minus_one = Expr::binary(BinaryOp::Ne, left.clone(), Expr::constant(ty.max(), ty));
            let not_least = Expr::binary(BinaryOp::Ne, right.clone(), Expr::constant(least as u64, ty));
            // Numbers of 32 bits have a product of 64: this saves the division in most cases.
            let small = |value: &Expr| {
                Expr::all(vec![at_least(value, i64::from(i32::MIN)), at_most(value, i64::from(i32::MAX))])
            };
            Expr::any(vec![
                Expr::all(vec![small(left), small(right)]),
                Expr::binary(BinaryOp::Eq, left.clone(), zero()),
                Expr::all(vec![back, Expr::any(vec![minus_one, not_least])]),
            ])
        }
    })
}

//! Objects behind pointers: whether an access through a pointer is inside of one that is there.
//!
//! An access through a pointer must lie in an object of the class of the pointer. Objects with
//! constant addresses are listed in the condition. Memory from `malloc` and the like has a *slot*
//! of addresses for each allocation, and a table for each class says how many bytes of a slot there
//! are: `extent[slot]` is the size plus one, zero if there was no allocation, and [`FREED`] behind
//! `free`.

use wherefore_program::{
    BinaryOp, Expr, ExprKind, LocationKind, OUTSIDE_OF_OBJECT, Operation, Scalar, Span, Target, Type, Var,
    ViolationKind, When,
};

use super::place::plus;
use super::storage::{Base, Storage};
use super::value::resize;
use super::{Context, Lower};
use crate::c::ctype::{CType, Length};
use crate::c::models;
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

/// Where the objects of a class are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Constant addresses and sizes.
    objects: Vec<(u64, u64, ObjectId)>,
    /// Whether there are local objects of recursive functions.
    frames: bool,
    /// Whether there are allocations, arrays of variable length, or other local objects with fresh
    /// memory.
    slots: bool,
    /// Whether some of these are local objects.
    locals: bool,
    /// Whether the scope of some of these ends.
    ends: bool,
    /// Whether it has objects that are not known.
    open: bool,
    /// Whether a pointer may outlive a local object that it points to.
    dangles: bool,
}

impl Context<'_> {
    /// Whether accesses to memory are checked.
    pub(crate) fn checks_memory(&self) -> bool {
        use ViolationKind::{Bounds, DoubleFree, InvalidFree, Leak, UseAfterFree, UseAfterScope};
        [Bounds, DoubleFree, InvalidFree, UseAfterFree, UseAfterScope, Leak]
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

    /// What frees the slot of an address.
    pub(super) fn freed(&mut self, class: Class, address: &Expr, span: Span) -> (Target, Expr) {
        let table = self.extents(class, span);
        let target = Target { variable: table, indices: vec![self.slot(address)] };
        (target, Expr::constant(FREED, EXTENT))
    }

    /// Whether pointers into a class may point to objects that must not be written to.
    pub(super) fn has_read_only(&mut self, class: Class) -> bool {
        let layout = self.layout(class);
        layout.objects.iter().any(|(_, _, id)| self.tree.is_read_only(*id))
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
            if self.is_fresh(id) {
                (layout.slots, layout.locals, layout.ends) = (true, true, true);
                continue;
            }
            match self.storages.get(&id) {
                Some(Storage::Split(_)) => continue,
                Some(Storage::Memory(Base::Frame(_))) => layout.frames = true,
                Some(Storage::Memory(Base::Variable(_))) => (layout.slots, layout.locals) = (true, true),
                Some(Storage::Memory(Base::Constant(base))) => {
                    let base = *base;
                    match self.tree.types.size(&object.ty) {
                        Some(size) => layout.objects.push((base, size, id)),
                        None => layout.open = true,
                    }
                }
                None if matches!(object.ty, CType::Array(_, Length::Variable(_))) => {
                    (layout.slots, layout.locals) = (true, true);
                }
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
        layout.dangles = self.dangles(class);
        layout.objects.sort_unstable();
        self.layouts.insert(class, layout.clone());
        layout
    }
}

impl Lower<'_, '_> {
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
        } else if self.asks(ViolationKind::Null) {
            // The strings of `argv` are in this part of memory.
            self.cx.assume(
                "the argument of the program that is used is there: its index is below `argc`",
                Some(span),
            );
        }
        let layout = self.cx.layout(class);
        if layout.open {
            if self.asks(ViolationKind::Bounds) {
                let text = "a pointer from outside points to as much as is used of it";
                self.cx.assume(text, Some(span));
            }
            return;
        }
        if layout.ends || (layout.slots && self.cx.frees) {
            let entry = self.cx.extent(class, from, span);
            let live = Expr::binary(BinaryOp::Ne, entry, Expr::constant(FREED, EXTENT));
            let is_freed = self.cx.frees && self.cx.classes.facts(class).heap;
            let first = Expr::constant(self.cx.first_local(), from.ty);
            let is_local = Expr::binary(BinaryOp::ULe, first, from.clone());
            if is_freed || !layout.ends {
                let mut ways = vec![live.clone()];
                ways.extend(layout.ends.then(|| is_local.clone()));
                let text = "uses memory that was freed";
                self.check(ViolationKind::UseAfterFree, Expr::any(ways), text, Vec::new(), at);
            }
            if layout.ends {
                let mut ways = vec![live];
                ways.extend(is_freed.then(|| is_local.not()));
                let text = "uses a local object after its scope has ended";
                self.check(ViolationKind::UseAfterScope, Expr::any(ways), text, Vec::new(), at);
            }
        }
        if layout.dangles {
            self.cx.doubt("a local object is not used after its scope has ended", Some(span));
        }
        if self.asks(ViolationKind::Bounds) {
            let inside = self.inside(class, &layout, from, size, span);
            self.check(ViolationKind::Bounds, inside, OUTSIDE_OF_OBJECT, Vec::new(), at);
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
            self.cx.doubt(text, Some(span));
            let mut on_stack =
                vec![Expr::binary(BinaryOp::ULe, Expr::constant(super::STACK, pointer), from.clone())];
            // Each thread has a stack of its own, and sees those of others.
            if !self.cx.has_threads {
                let top = Expr::variable(self.cx.stack_pointer(span), pointer);
                on_stack.push(Expr::binary(BinaryOp::ULt, from.clone(), top));
            }
            ways.push(Expr::all(on_stack));
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

    /// One allocation, by choice, is the one that is not freed: if every choice is freed in the
    /// end, everything is.
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
        let havoc = Operation::Havoc(vec![choice.into()]);
        self.body.step(span, LocationKind::Statement, havoc);
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

    /// At the end of a program everything must have been freed: a check for each allocation. Copies
    /// of models are made later, but it is known where they are called.
    pub(crate) fn check_leaks(&mut self) {
        let tree = self.cx.tree;
        for (id, place) in self.cx.copies.clone() {
            let is_known = self.cx.allocations.contains(&place);
            if !is_known && self.cx.asks(ViolationKind::Leak) && models::may_allocate(tree, id) {
                self.cx.kept(place);
                self.cx.allocations.push(place);
            }
        }
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
            self.body.step(span, LocationKind::Call, Operation::Skip);
            return Ok(());
        }
        if !layout.slots {
            let text = "frees what `malloc` and the like have not given";
            self.check(ViolationKind::InvalidFree, is_null, text, Vec::new(), (span, span));
            self.body.step(span, LocationKind::Call, Operation::Skip);
            return Ok(());
        }
        let entry = self.cx.extent(class, &pointer, span);
        let freed = Expr::constant(FREED, EXTENT);
        let once = Expr::any(vec![is_null.clone(), Expr::binary(BinaryOp::Ne, entry.clone(), freed.clone())]);
        self.check(ViolationKind::DoubleFree, once, "frees memory a second time", Vec::new(), (span, span));
        let start = Expr::binary(BinaryOp::Eq, self.cx.position(&pointer), Expr::constant(0, EXTENT));
        let given = Expr::binary(BinaryOp::Ne, entry.clone(), Expr::constant(0, EXTENT));
        let mut good = vec![start, given];
        if layout.locals || self.cx.takes_from_stack {
            let first = Expr::constant(self.cx.first_local(), pointer.ty);
            good.push(Expr::binary(BinaryOp::ULt, pointer.clone(), first));
        }
        let valid = Expr::any(vec![is_null.clone(), Expr::all(good)]);
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

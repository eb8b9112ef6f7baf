//! Declarations of automatic objects: their first values, and memory for arrays of variable length.

use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Span, Target, Type, Var};

use super::Lower;
use super::place::{Place, plus};
use super::storage::{Base, Storage};
use crate::c::ctype::{CType, Length};
use crate::c::points_to::Class;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Initial, ObjectId};

impl Lower<'_, '_> {
    pub(super) fn declare(&mut self, id: ObjectId, initial: Option<&Initial>, span: Span) -> Checked<()> {
        let ty = self.cx.tree.object(id).ty.clone();
        if let CType::Array(element, Length::Variable(length)) = &ty {
            return self.declare_variable(id, element, ObjectId(*length), span);
        }
        let place = self.object(id)?;
        self.begin_life(id, span);
        match initial {
            Some(initial) => self.initialise(&place, &Initial { items: initial.items.clone(), span }),
            None => self.forget(&place, span),
        }
    }

    /// An object without an initialiser has any value where it is declared.
    pub(crate) fn forget(&mut self, place: &Place, span: Span) -> Checked<()> {
        if let Place::Split { object, .. } = place {
            let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else { return Ok(()) };
            // At the start of a procedure variables are arbitrary anyhow.
            let whole = leaves.iter().filter_map(|leaf| leaf.variable);
            let arrays = whole.clone().any(|v| matches!(&self.variable_type(v), Type::Array { .. }));
            if !arrays {
                let targets: Vec<Target> = whole.map(Target::from).collect();
                if !targets.is_empty() {
                    self.body.step(span, LocationKind::Statement, Operation::Havoc(targets));
                }
                return Ok(());
            }
            if self.entered_once && self.labels.is_empty() {
                self.body.step(span, LocationKind::Statement, Operation::Skip);
                return Ok(());
            }
            return self.havoc(place, span);
        }
        let Place::Memory { class, address, ty, .. } = place else { return Ok(()) };
        let size = self.cx.tree.types.size(ty).unwrap_or(0);
        self.each_cell(*class, address, size, span, |lower, cells| {
            let targets: Vec<Target> = cells.into_iter().map(|(target, _)| target).collect();
            for chunk in targets.chunks(super::initial::CHUNK) {
                lower.body.step(span, LocationKind::Statement, Operation::Havoc(chunk.to_vec()));
            }
        });
        Ok(())
    }

    /// A loop over addresses from `low` up to `high`.
    pub(crate) fn each(
        &mut self,
        low: Expr,
        high: Expr,
        step: u64,
        span: Span,
        mut visit: impl FnMut(&mut Self, Expr),
    ) {
        let ty = low.ty;
        let counter = self.body.temporary(ty, span);
        self.body.assign(span, vec![counter.into()], vec![low]);
        let (head, inside, after) = (self.body.open(span), self.body.open(span), self.body.open(span));
        self.body.join(head, span);
        let at = self.body.fill(span, LocationKind::Branch);
        let more = Expr::binary(BinaryOp::ULt, Expr::variable(counter, ty), high);
        self.body.edge(at, inside, Operation::Assume(more.clone()), span);
        self.body.edge(at, after, Operation::Assume(more.not()), span);
        self.body.at = inside;
        visit(self, Expr::variable(counter, ty));
        let next = plus(Expr::variable(counter, ty), step);
        self.body.assign(span, vec![counter.into()], vec![next]);
        self.body.join(head, span);
        self.body.at = after;
    }

    pub(super) fn variable_type(&self, variable: Var) -> Type {
        match variable {
            Var::Local(i) => self.body.variables[i as usize].ty.clone(),
            Var::Global(i) => self.cx.globals[i as usize].ty.clone(),
        }
    }

    /// An array of variable length gets fresh memory each time it is declared.
    fn declare_variable(
        &mut self,
        id: ObjectId,
        element: &CType,
        length: ObjectId,
        span: Span,
    ) -> Checked<()> {
        self.object(id)?;
        let Some(Storage::Memory(Base::Variable(variable))) = self.cx.storages.get(&id).cloned() else {
            return Err(Problem::unsupported(span, "this array is"));
        };
        let mut size = self.object(length).and_then(|length| self.read(&length, span))?;
        let mut element = element.clone();
        while let CType::Array(inner, Length::Variable(length)) = element.clone() {
            let length = self.object(ObjectId(length)).and_then(|length| self.read(&length, span))?;
            size = Expr::binary(BinaryOp::Mul, size, length);
            element = (*inner).clone();
        }
        let bytes = self.cx.tree.types.size(&element).unwrap_or(1);
        let size = Expr::binary(BinaryOp::Mul, size, Expr::constant(bytes, self.cx.pointer()));
        let class = self.cx.classes.object(id);
        self.allocate_local(variable.into(), size, class, span);
        self.begin_life(id, span);
        Ok(())
    }

    /// Fresh memory of so many bytes that the program may free; its address goes to `target`.
    pub(crate) fn allocate_fresh(&mut self, target: Target, size: Expr, class: Class, span: Span) {
        let heap = self.cx.heap_pointer(span);
        let most = if self.cx.pointer().width() == 64 { 1 << 62 } else { super::STACK };
        self.allocate_from((heap, most), target, size, class, span);
    }

    /// Fresh memory for a local object.
    pub(crate) fn allocate_local(&mut self, target: Target, size: Expr, class: Class, span: Span) {
        if !self.cx.checks_memory() {
            return self.allocate_fresh(target, size, class, span);
        }
        let locals = self.cx.locals_pointer(span);
        let pointer = self.cx.pointer();
        let most = if pointer.width() == 64 { 1 << 63 } else { pointer.max() << self.cx.slot_bits() };
        self.allocate_from((locals, most & pointer.max()), target, size, class, span);
    }

    fn allocate_from(
        &mut self,
        (heap, most): (Var, u64),
        target: Target,
        size: Expr,
        class: Class,
        span: Span,
    ) {
        let pointer = self.cx.pointer();
        let top = Expr::variable(heap, pointer);
        if self.cx.checks_memory() {
            let size = self.stable(size, span);
            self.bound_size(&size, span);
            // Memory never runs out, so that addresses do not wrap.
            self.require(Expr::binary(BinaryOp::ULt, top.clone(), Expr::constant(most, pointer)), span);
            let end = plus(top.clone(), 1 << self.cx.slot_bits());
            let (mut targets, mut values) = (vec![target, heap.into()], vec![top.clone(), end]);
            self.fill_slot(class, &top, &size, (&mut targets, &mut values), span);
            self.body.assign(span, targets, values);
            return;
        }
        let end = match size.as_constant() {
            Some(size) => plus(top.clone(), (size + 31) & !15),
            None => {
                let padded = plus(size, 31);
                let mask = Expr::constant(!15, pointer);
                Expr::binary(BinaryOp::Add, top.clone(), Expr::binary(BinaryOp::BitAnd, padded, mask))
            }
        };
        self.body.assign(span, vec![target, heap.into()], vec![top, end]);
    }
}

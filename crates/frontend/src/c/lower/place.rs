//! Places: parts of objects that can be read and written.

use wherefore_program::{BinaryOp, Expr, ExprKind, Operation, Scalar, Span, Target, ViolationKind, When};

use super::Lower;
use super::rules::Reach;
use super::storage::{Base, Storage};
use crate::c::ctype::{BitField, CType, Field, Length, Record};
use crate::c::points_to::Class;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{ObjectId, Step, Term, TermKind};
use crate::c::usage::element;

/// A part of an object.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Leaves of a split object from `start` on, with the indices of the arrays on the way.
    Split { object: ObjectId, start: usize, indices: Vec<Expr>, ty: CType, at: Span },
    /// An address in the memory of a class, so many bytes from where a pointer points.
    /// What must hold when it is used follows from how it was come to.
    Memory {
        class: Class,
        offset: u64,
        address: Expr,
        ty: CType,
        bits: Option<BitField>,
        reach: Reach,
        at: Span,
    },
}

/// Structures with more scalars than this are not copied.
const MAX_PIECES: usize = 1 << 14;

impl Place {
    /// The expression that names it.
    pub(crate) fn at(&self) -> Span {
        match self {
            Place::Split { at, .. } | Place::Memory { at, .. } => *at,
        }
    }

    fn named_by(mut self, span: Span) -> Self {
        match &mut self {
            Place::Split { at, .. } | Place::Memory { at, .. } => *at = span,
        }
        self
    }

    pub(crate) fn ty(&self) -> &CType {
        match self {
            Place::Split { ty, .. } | Place::Memory { ty, .. } => ty,
        }
    }
}

/// Addition with constants folded.
pub(crate) fn plus(address: Expr, by: u64) -> Expr {
    if by == 0 {
        return address;
    }
    let ty = address.ty;
    if let ExprKind::Binary(BinaryOp::Add, base, offset) = &address.kind {
        if let Some(offset) = offset.as_constant() {
            return plus((**base).clone(), offset.wrapping_add(by) & ty.max());
        }
    }
    match address.as_constant() {
        Some(base) => Expr::constant(base.wrapping_add(by), ty),
        None => Expr::binary(BinaryOp::Add, address, Expr::constant(by, ty)),
    }
}

impl Place {
    /// A byte of a place in memory.
    pub(super) fn byte(&self, i: u64) -> Option<Place> {
        let Place::Memory { class, offset, address, at, .. } = self else { return None };
        Some(Place::Memory {
            class: *class,
            offset: offset + i,
            address: plus(address.clone(), i),
            ty: CType::Int { bits: 8, signed: false },
            bits: None,
            reach: Reach::default(),
            at: *at,
        })
    }
}

impl Lower<'_, '_> {
    /// The place of an object.
    pub(crate) fn object(&mut self, id: ObjectId) -> Checked<Place> {
        let storage = self.cx.storage(id, &mut self.body, &mut self.frame)?;
        let (ty, at) = (self.cx.tree.object(id).ty.clone(), self.cx.tree.object(id).span);
        Ok(match storage {
            Storage::Split(_) => Place::Split { object: id, start: 0, indices: Vec::new(), ty, at },
            Storage::Memory(base) => {
                let pointer = self.cx.pointer();
                let address = match base {
                    Base::Constant(address) => Expr::constant(address, pointer),
                    Base::Variable(variable) => Expr::variable(variable, pointer),
                    Base::Frame(offset) => {
                        let span = self.cx.tree.object(id).span;
                        let frame = self.frame_base(span);
                        plus(Expr::variable(frame, pointer), offset)
                    }
                };
                Place::Memory {
                    class: self.cx.classes.object(id),
                    offset: 0,
                    address,
                    ty,
                    bits: None,
                    reach: Reach::default(),
                    at,
                }
            }
        })
    }

    /// The value of a pointer without what is added to it; the pointer itself if that would have to
    /// be evaluated twice.
    fn base_value(&mut self, pointer: &Term, address: &Expr) -> Checked<Expr> {
        match &pointer.kind {
            TermKind::Convert(inner) if inner.ty.is_pointer() => self.base_value(inner, address),
            TermKind::Offset(_, inner, ..) => match &inner.kind {
                TermKind::Offset(..) | TermKind::Convert(_) => self.base_value(inner, address),
                _ if self.is_pure(inner) => self.value(inner),
                _ => Ok(address.clone()),
            },
            _ => Ok(address.clone()),
        }
    }

    pub(crate) fn place(&mut self, term: &Term) -> Checked<Place> {
        Ok(self.place_of(term)?.named_by(term.span))
    }

    fn place_of(&mut self, term: &Term) -> Checked<Place> {
        match &term.kind {
            TermKind::Object(id) => self.object(*id),
            TermKind::Deref(pointer) => {
                if let Some((array, index)) = element(pointer, self.cx.tree) {
                    let mut array = self.place(array)?;
                    if let Some(index) = index.filter(|index| index.has_effects()) {
                        array = self.frozen(array, index, term.span);
                    }
                    let index = match index {
                        Some(index) => (self.value(index)?, index.ty.is_signed()),
                        None => (Expr::constant(0, Scalar::Bits(32)), false),
                    };
                    return self.at_index(array, index.0, index.1, term.span);
                }
                let address = self.value(pointer)?;
                let class = self.cx.classes.value(self.cx.tree, pointer);
                if self.cx.classes.may_be_elsewhere(class) {
                    let text = "a pointer that comes from outside points to no object of the program";
                    self.cx.doubt(text, Some(term.span));
                }
                let address = if self.has_rules() { self.stable(address, term.span) } else { address };
                let base = match self.watches_accesses() {
                    true => Some(Box::new(self.base_value(pointer, &address)?)),
                    false => None,
                };
                let pointer = Some(address.clone());
                let reach = Reach { pointer, base, is_last: true, ..Reach::default() };
                let (ty, at) = (term.ty.clone(), term.span);
                Ok(Place::Memory { class, offset: 0, address, ty, bits: None, reach, at })
            }
            TermKind::Field(base, field) => {
                let base = self.place(base)?;
                Ok(self.at_field(base, *field))
            }
            TermKind::Materialise(id, value) => {
                let place = self.object(*id)?;
                self.begin_life(*id, term.span);
                self.assign_to(&place, value, term.span)?;
                Ok(place)
            }
            TermKind::Literal(id, initial) => {
                let place = self.object(*id)?;
                self.begin_life(*id, term.span);
                self.initialise(&place, initial)?;
                Ok(place)
            }
            _ => Err(Problem::unsupported(term.span, "this place is")),
        }
    }

    fn at_index(&mut self, array: Place, index: Expr, signed: bool, span: Span) -> Checked<Place> {
        let CType::Array(element, length) = array.ty().clone() else {
            return Err(Problem::new(span, "an array is expected"));
        };
        if !self.asks(ViolationKind::Bounds) {
            self.cx.assume("no access outside of an object", Some(span));
        }
        let index = if self.has_rules() { self.stable(index, span) } else { index };
        Ok(match array {
            Place::Split { object, start, mut indices, at, .. } => {
                indices.push(index);
                Place::Split { object, start, indices, ty: (*element).clone(), at }
            }
            Place::Memory { class, offset, address, mut reach, at, .. } => {
                let size = self.cx.tree.types.size(&element).unwrap_or(1);
                let whole = match (&length, reach.is_last) {
                    // The last array of a structure may go on behind it.
                    (Length::Known(0 | 1), true) => None,
                    (Length::Known(length), _) => {
                        Some((Expr::constant(*length, Scalar::Bits(64)), Some(length.saturating_mul(size))))
                    }
                    (Length::Variable(length), _) => {
                        let length = self.object(ObjectId(*length))?;
                        Some((self.read(&length, span)?, None))
                    }
                    (Length::Unknown, _) => None,
                };
                reach.is_last = false;
                if let Some((length, whole)) = whole {
                    reach.indices.push((index.clone(), length));
                    if reach.array.is_none() {
                        reach.array = whole.map(|whole| (address.clone(), whole));
                    }
                }
                let address = self.moved(address, index, signed, size, BinaryOp::Add);
                Place::Memory { class, offset, address, ty: (*element).clone(), bits: None, reach, at }
            }
        })
    }

    /// An address moved by an index times a size.
    pub(crate) fn moved(
        &mut self,
        address: Expr,
        index: Expr,
        signed: bool,
        size: u64,
        op: BinaryOp,
    ) -> Expr {
        let pointer = self.cx.pointer();
        let index = super::value::resize(index, signed, pointer);
        if let Some(index) = index.as_constant() {
            let by = index.wrapping_mul(size);
            let by = if op == BinaryOp::Sub { by.wrapping_neg() } else { by };
            return plus(address, by & pointer.max());
        }
        let by = match size {
            1 => index,
            _ => Expr::binary(BinaryOp::Mul, index, Expr::constant(size, pointer)),
        };
        Expr::binary(op, address, by)
    }

    pub(crate) fn at_field(&mut self, base: Place, field: usize) -> Place {
        let CType::Record(id) = *base.ty() else { unreachable!("only records have fields") };
        let tree = self.cx.tree;
        let record = tree.types.record(id);
        let (ty, offset, bits) =
            (record.fields[field].ty.clone(), record.fields[field].offset, record.fields[field].bits);
        match base {
            Place::Split { object, start, indices, at, .. } => {
                let before: usize =
                    record.fields[..field].iter().map(|field| self.cx.leaf_count(&field.ty)).sum();
                Place::Split { object, start: start + before, indices, ty, at }
            }
            Place::Memory { class, offset: before, address, mut reach, at, .. } => {
                let address = plus(address, offset);
                reach.is_last &= record.union || field + 1 == record.fields.len();
                if self.watches_races() && shares_location(record, field) {
                    let text = "no thread accesses a bit-field while another one accesses its neighbour";
                    self.cx.doubt(text, Some(at));
                }
                Place::Memory { class, offset: before + offset, address, ty, bits, reach, at }
            }
        }
    }

    /// The part of a place that a step leads to.
    pub(crate) fn at_step(&mut self, place: Place, step: Step, span: Span) -> Checked<Place> {
        match step {
            Step::Field(field) => Ok(self.at_field(place, field)),
            Step::Index(index) => {
                let width = if index > u64::from(u32::MAX) { 64 } else { 32 };
                self.at_index(place, Expr::constant(index, Scalar::Bits(width)), false, span)
            }
        }
    }

    /// The scalars of a place, in an order that depends on its type only. The bytes of a union
    /// stand for it.
    pub(crate) fn pieces(&mut self, place: &Place, span: Span) -> Checked<Vec<Place>> {
        let mut whole = place.clone();
        // The whole is checked once, instead of its parts.
        if let Place::Memory { ty, reach, .. } = &mut whole {
            if !ty.is_scalar() && reach.pointer.is_some() {
                self.check_access(place, span);
                *reach = Reach::default();
            }
        }
        let mut out = Vec::new();
        self.collect(whole, span, &mut out)?;
        Ok(out)
    }

    fn collect(&mut self, place: Place, span: Span, out: &mut Vec<Place>) -> Checked<()> {
        if out.len() > MAX_PIECES {
            return Err(Problem::unsupported(span, "copying an object of this size is"));
        }
        match place.ty().clone() {
            CType::Array(_, Length::Known(length)) => {
                for i in 0..length {
                    let part = self.at_step(place.clone(), Step::Index(i), span)?;
                    self.collect(part, span, out)?;
                }
            }
            CType::Record(id) if self.cx.tree.types.record(id).union => {
                let size = self.cx.tree.types.record(id).size;
                let Place::Memory { class, offset, address, at, .. } = place else {
                    unreachable!("unions live in memory")
                };
                let ty = CType::Int { bits: 8, signed: false };
                for i in 0..size {
                    let address = plus(address.clone(), i);
                    out.push(Place::Memory {
                        class,
                        offset: offset + i,
                        address,
                        ty: ty.clone(),
                        bits: None,
                        reach: Reach::default(),
                        at,
                    });
                }
            }
            CType::Record(id) => {
                for field in 0..self.cx.tree.types.record(id).fields.len() {
                    let part = self.at_field(place.clone(), field);
                    self.collect(part, span, out)?;
                }
            }
            _ => out.push(place),
        }
        Ok(())
    }

    /// The types of the pieces of a value.
    pub(crate) fn piece_types(&mut self, ty: &CType, span: Span) -> Checked<Vec<CType>> {
        // A place that is never read: only its type matters.
        let address = Expr::constant(0, self.cx.pointer());
        let reach = Reach::default();
        let place =
            Place::Memory { class: 0, offset: 0, address, ty: ty.clone(), bits: None, reach, at: span };
        Ok(self.pieces(&place, span)?.into_iter().map(|piece| piece.ty().clone()).collect())
    }

    /// The value of a scalar place.
    pub(crate) fn read(&mut self, place: &Place, span: Span) -> Checked<Expr> {
        let scalar = self.cx.tree.types.scalar(place.ty());
        self.check_access(place, span);
        if self.cx.tree.types.is_opaque(place.ty()) {
            self.note_float(span);
            return Ok(Expr::choice(scalar));
        }
        match place {
            Place::Split { object, start, indices, .. } => {
                let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else {
                    unreachable!("a split place has a split object")
                };
                let leaf = &leaves[*start];
                let variable = leaf.variable.expect("only what is opaque has no variable");
                match leaf.bits {
                    None => Ok(Expr::read(variable, indices.clone(), When::Now, scalar)),
                    Some(bits) => {
                        let signed = leaf.ty.is_signed();
                        let value =
                            Expr::read(variable, indices.clone(), When::Now, Scalar::Bits(bits.width));
                        Ok(super::value::resize(value, signed, scalar))
                    }
                }
            }
            Place::Memory { class, offset, address, ty, bits, .. } => {
                self.load((*class, *offset), address, ty, *bits, span)
            }
        }
    }

    /// Adds what must be assigned so that a scalar place has a value.
    pub(crate) fn write(
        &mut self,
        place: &Place,
        value: Expr,
        targets: &mut Vec<Target>,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Checked<()> {
        self.check_access(place, span);
        self.check_writable(place, span);
        match place {
            Place::Split { object, start, indices, .. } => {
                let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else {
                    unreachable!("a split place has a split object")
                };
                let leaf = &leaves[*start];
                let Some(variable) = leaf.variable else {
                    self.note_float(span);
                    return Ok(());
                };
                let value = match leaf.bits {
                    Some(bits) => super::value::resize(value, false, Scalar::Bits(bits.width)),
                    None => value,
                };
                targets.push(Target { variable, indices: indices.clone() });
                values.push(value);
                Ok(())
            }
            Place::Memory { class, offset, address, ty, bits, .. } => {
                self.store((*class, *offset), address, ty, *bits, value, targets, values, span)
            }
        }
    }

    /// Every byte of a place gets a value.
    pub(crate) fn fill(&mut self, place: &Place, byte: u64, span: Span) -> Checked<()> {
        // Cells are counted from where pointers point.
        let is_whole = matches!(place, Place::Split { .. } | Place::Memory { offset: 0, bits: None, .. });
        if byte == 0 && is_whole {
            self.check_access(place, span);
            self.check_writable(place, span);
            return self.zero(place, span);
        }
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        // The bytes between members, too, if the program may look at them.
        let in_bytes = match place {
            Place::Memory { class, bits: None, ty, .. }
                if self.cx.tree.types.has_padding(ty) && self.is_in_bytes(*class, span) =>
            {
                self.cx.tree.types.size(ty)
            }
            _ => None,
        };
        let pieces = match in_bytes {
            Some(size) => {
                self.check_access(place, span);
                (0..size).filter_map(|i| place.byte(i)).collect()
            }
            None => self.pieces(place, span)?,
        };
        self.check_writable(place, span);
        for piece in pieces {
            let scalar = self.cx.tree.types.scalar(piece.ty());
            let value = Expr::constant(byte * 0x0101_0101_0101_0101, scalar);
            self.write(&piece, value, &mut targets, &mut values, span)?;
        }
        self.body.assign(span, targets, values);
        Ok(())
    }

    /// The place gets any value.
    pub(crate) fn havoc(&mut self, place: &Place, span: Span) -> Checked<()> {
        let pieces = self.pieces(place, span)?;
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for piece in &pieces {
            let scalar = self.cx.tree.types.scalar(piece.ty());
            self.write(piece, Expr::choice(scalar), &mut targets, &mut values, span)?;
        }
        for chunk in targets.chunks(64) {
            self.body.step(
                span,
                wherefore_program::LocationKind::Statement,
                Operation::Havoc(chunk.to_vec()),
            );
        }
        Ok(())
    }

    /// The variable and indices of a scalar place that holds the bits of its type as they are.
    pub(crate) fn direct(&self, place: &Place) -> Option<Target> {
        let Place::Split { object, start, indices, .. } = place else { return None };
        let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else { return None };
        let leaf = leaves.get(*start)?;
        match (leaf.variable, leaf.bits, place.ty().is_scalar()) {
            (Some(variable), None, true) => Some(Target { variable, indices: indices.clone() }),
            _ => None,
        }
    }

    /// Whether a place is a bit-field: it may hold less than was assigned.
    pub(crate) fn is_bit_field(&self, place: &Place) -> bool {
        match place {
            Place::Memory { bits, .. } => bits.is_some(),
            Place::Split { object, start, .. } => match self.cx.storages.get(object) {
                Some(Storage::Split(leaves)) => leaves.get(*start).is_some_and(|leaf| leaf.bits.is_some()),
                _ => false,
            },
        }
    }

    pub(crate) fn note_float(&mut self, span: Span) {
        self.cx.assume(
            match self.cx.tree.types.rounding_changes {
                true => {
                    "floating-point numbers have any value, for the rounding may change (over-approximation)"
                }
                false => {
                    "`long double`, and quotients of complex numbers, have any value (over-approximation)"
                }
            },
            Some(span),
        );
    }
}

/// Whether a bit-field has neighbours, without a gap between them, in other bytes than its own:
/// they are one memory location, but an access to one of them is not one to the bytes of the
/// others.
fn shares_location(record: &Record, field: usize) -> bool {
    let range = |field: &Field| {
        let bits = field.bits?;
        let start = 8 * field.offset + u64::from(bits.low);
        Some((start, start + u64::from(bits.width)))
    };
    let Some((start, end)) = range(&record.fields[field]).filter(|_| !record.union) else { return false };
    let (mut first, mut last) = (start, end);
    for other in record.fields[..field].iter().rev() {
        match range(other) {
            Some((from, to)) if to == first => first = from,
            _ => break,
        }
    }
    for other in &record.fields[field + 1..] {
        match range(other) {
            Some((from, to)) if from == last => last = to,
            _ => break,
        }
    }
    first / 8 < start / 8 || last.div_ceil(8) > end.div_ceil(8)
}

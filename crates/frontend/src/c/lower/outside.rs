//! What functions without a body may change.

use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Span, ViolationKind, c_library};

use super::Lower;
use super::place::Place;
use super::rules::Reach;
use crate::c::calls::literal;
use crate::c::ctype::{CType, Length};
use crate::c::models;
use crate::c::problem::Checked;
use crate::c::tree::{FunctionId, Lifetime, ObjectId, Term, TermKind};
use crate::c::usage::root;
use crate::c::writes::writes;

/// Objects of more bytes than this are not changed by a function without a body, which makes a
/// proof doubtful.
const MAX_CHANGED: u64 = 4096;

/// The object that a pointer points into, if that can be seen.
fn object_of(pointer: &Term) -> Option<ObjectId> {
    match &pointer.kind {
        TermKind::Convert(inner) | TermKind::Offset(_, inner, ..) => object_of(inner),
        TermKind::Address(place) => root(place),
        _ => None,
    }
}

/// The object that a pointer points to the start of, if that can be seen.
fn whole_object(pointer: &Term) -> Option<ObjectId> {
    match &pointer.kind {
        TermKind::Convert(inner) => whole_object(inner),
        TermKind::Address(place) => match place.kind {
            TermKind::Object(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a format has a conversion `%n`, of any width.
fn has_count(format: &[u8]) -> bool {
    let is_between = |byte: &u8| b"0123456789*.-+ #'lhjztqL$".contains(byte);
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        rest = &rest[at + 1..];
        let length = rest.iter().take_while(|byte| is_between(byte)).count();
        if rest.get(length) == Some(&b'n') {
            return true;
        }
        rest = &rest[(length + 1).min(rest.len())..];
    }
    false
}

/// Whether a pointer surely points to a function.
fn is_function(pointer: &Term) -> bool {
    match &pointer.kind {
        TermKind::Convert(inner) => is_function(inner),
        TermKind::Address(place) => matches!(place.kind, TermKind::Function(_)),
        TermKind::Function(_) => true,
        _ => false,
    }
}

impl Lower<'_, '_> {
    /// A function without a body is called: what its arguments point to may change, and `errno`.
    pub(crate) fn changes(&mut self, id: FunctionId, arguments: &[Term], span: Span) -> Checked<()> {
        if self.cx.tree.function(id).pure {
            let name = &self.cx.tree.function(id).name;
            self.cx.assume(format!("`{name}` returns anything and writes nothing, as told"), Some(span));
            return Ok(());
        }
        self.changes_reached(id, arguments, span)?;
        let name = self.cx.tree.function(id).name.as_str();
        match self.cx.tree.errno {
            Some(errno) if !models::leaves_errno(name) => self.changes_errno(errno, name, span),
            _ => Ok(()),
        }
    }

    /// A function may set `errno` to a positive number, or leave it.
    fn changes_errno(&mut self, errno: ObjectId, name: &str, span: Span) -> Checked<()> {
        let place = self.object(errno)?;
        let before = self.read(&place, span)?;
        let (scalar, ty) = (before.ty, place.ty().clone());
        let before = self.keep(before, span);
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        self.write(&place, Expr::choice(scalar), &mut targets, &mut values, span)?;
        // If it is one cell, it is the input itself; else its bytes are made of the input.
        let (target, after) = match targets.as_slice() {
            [only] => (only.clone(), self.read(&place, span)?),
            _ => {
                let number = self.body.temporary(scalar, span);
                (number.into(), Expr::variable(number, scalar))
            }
        };
        let edge = self.body.step(span, LocationKind::Call, Operation::Havoc(vec![target]));
        let is_set = Expr::binary(BinaryOp::SLt, Expr::constant(0, scalar), after.clone());
        let is_kept = Expr::binary(BinaryOp::Eq, after.clone(), before);
        self.require(Expr::binary(BinaryOp::Or, is_set, is_kept), span);
        if self.cx.computes(name) {
            self.approximated.push(edge);
        }
        self.inputs.push((edge, c_library::errno_of(name), scalar, ty.clone(), ty));
        if targets.len() > 1 {
            let (mut targets, mut values) = (Vec::new(), Vec::new());
            self.write(&place, after, &mut targets, &mut values, span)?;
            self.body.assign(span, targets, values);
        }
        Ok(())
    }

    /// What its arguments point to may change.
    fn changes_reached(&mut self, id: FunctionId, arguments: &[Term], span: Span) -> Checked<()> {
        let tree = self.cx.tree;
        let name = tree.function(id).name.as_str();
        if models::CALLS_BACK.contains(&name) {
            self.cx.doubt_control(&format!("`{name}` calls no function of the program"), Some(span));
        }
        self.counts_printed(name, arguments, span)?;
        if models::is_harmless(name) || name == models::OUTSIDE {
            return Ok(());
        }
        let known = writes(name);
        self.doubt_room(name, arguments, span);
        let mut pointers = false;
        for (i, argument) in arguments.iter().enumerate() {
            let is_address = argument.ty.is_pointer() && argument.constant().is_none();
            if !is_address || known.is_some_and(|writes| !writes.contains(i)) {
                continue;
            }
            pointers = true;
            if known.is_none() {
                self.doubt_calls(name, argument, span);
            }
            if !is_function(argument) {
                let library = known.is_some();
                if self.is_handle(name, i) && self.change_handle(name, argument, span)? {
                    continue;
                }
                if self.cx.computes(name) {
                    self.approximating(|lower| {
                        let is_clear = lower.change(name, argument, library, span)?;
                        if is_clear && i == 0 {
                            lower.terminated(name, arguments, span)?;
                        }
                        Ok(())
                    })?;
                } else {
                    self.change(name, argument, library, span)?;
                }
            }
        }
        if known.is_none() {
            self.doubt_kept(arguments, span);
        }
        // What it returns is said elsewhere if a property says it.
        let what = match (tree.function(id).result.is_some(), pointers) {
            (false, true) => "returns anything and changes only what its arguments point to",
            (false, false) => "returns anything and changes nothing",
            (true, true) => "changes only what its arguments point to",
            (true, false) => "changes nothing",
        };
        let sets = self.cx.tree.errno.is_some() && !models::leaves_errno(name);
        let what = if sets { format!("{what}, and `errno`") } else { what.to_owned() };
        self.cx.assume(format!("`{name}` has no body: it {what}"), Some(span));
        Ok(())
    }

    /// A function of the library that fills memory may write behind the object that it is given, if
    /// it is not told a size that fits. There is no model of it that would be checked.
    fn doubt_room(&mut self, name: &str, arguments: &[Term], span: Span) {
        let Some((buffer, size)) = models::fills(name) else { return };
        if !self.asks(ViolationKind::Bounds) {
            return;
        }
        let tree = self.cx.tree;
        let whole = arguments.get(buffer).and_then(whole_object);
        let room = whole.and_then(|id| tree.types.size(&tree.object(id).ty));
        let size = size.and_then(|position| arguments.get(position)?.constant());
        if room.zip(size).is_none_or(|(room, size)| size > room) {
            self.cx.doubt_rule(&format!("`{name}` writes no more than there is room for"), Some(span));
        }
    }

    /// `%n` in a format stores a number where an argument points.
    fn counts_printed(&mut self, name: &str, arguments: &[Term], span: Span) -> Checked<()> {
        let Some(format) = models::format_position(name) else { return Ok(()) };
        let Some(given) = arguments.get(format) else { return Ok(()) };
        let may_count = literal(self.cx.tree, given).is_none_or(|text| has_count(&text));
        if !may_count {
            return Ok(());
        }
        for argument in &arguments[format + 1..] {
            let to = argument.ty.pointee();
            if to.is_some_and(CType::is_integer) && argument.constant().is_none() {
                self.approximating(|lower| lower.change(name, argument, true, span).map(drop))?;
            }
        }
        Ok(())
    }

    /// A function may have kept a pointer that it, or another one, was given in another call.
    fn doubt_kept(&mut self, arguments: &[Term], span: Span) {
        let tree = self.cx.tree;
        let mut kept = self.cx.classes.handed_out();
        for argument in arguments.iter().filter(|argument| argument.ty.is_pointer()) {
            let class = self.cx.classes.value(tree, argument);
            for class in self.cx.classes.reached(class) {
                kept.remove(&class);
            }
        }
        if kept.into_iter().any(|class| self.cx.classes.is_ours(class)) {
            let text = "a function without a body changes nothing that it was given in another call";
            self.cx.doubt(text, Some(span));
        }
    }

    /// A function that gets a pointer to a function of the program may call it.
    fn doubt_calls(&mut self, name: &str, argument: &Term, span: Span) {
        let class = self.cx.classes.value(self.cx.tree, argument);
        let tree = self.cx.tree;
        for class in self.cx.classes.reached(class) {
            let functions = &self.cx.classes.facts(class).functions;
            if functions.iter().any(|id| tree.function(*id).body.is_some()) {
                self.cx.doubt_control(&format!("`{name}` calls no function of the program"), Some(span));
                return;
            }
        }
    }

    /// A function that prints into memory puts a zero behind the text, within the size if it is
    /// given one.
    fn terminated(&mut self, name: &str, arguments: &[Term], span: Span) -> Checked<()> {
        let Some(size) = models::prints_into(name) else { return Ok(()) };
        let size = size.and_then(|position| arguments.get(position));
        let to = &arguments[0];
        if !self.is_pure(to) || !size.is_none_or(|size| self.is_pure(size)) {
            return Ok(());
        }
        let pointer = self.cx.pointer();
        let address = self.value(to)?;
        let length = self.body.temporary(pointer, span);
        self.body.step(span, LocationKind::Statement, Operation::Havoc(vec![length.into()]));
        let length = Expr::variable(length, pointer);
        let class = self.cx.classes.value(self.cx.tree, to);
        let end = Expr::binary(BinaryOp::Add, address, length.clone());
        let reach = Reach::default();
        let place =
            Place::Memory { class, offset: 0, address: end, ty: CType::CHAR, bits: None, reach, at: span };
        let last = self.read(&place, span)?;
        let is_zero = Expr::binary(BinaryOp::Eq, last.clone(), Expr::constant(0, last.ty));
        let Some(size) = size else {
            self.require(is_zero, span);
            return Ok(());
        };
        let given = self.value(size)?;
        let given = super::value::resize(given, size.ty.is_signed(), pointer);
        let is_none = Expr::binary(BinaryOp::Eq, given.clone(), Expr::constant(0, pointer));
        let is_inside = Expr::binary(BinaryOp::ULt, length, given);
        let ends = Expr::binary(BinaryOp::And, is_inside, is_zero);
        self.require(Expr::binary(BinaryOp::Or, is_none, ends), span);
        Ok(())
    }

    /// What an argument points to gets any value; whether it is clear which object that is. If it
    /// is not, a proof is doubtful.
    pub(super) fn change(&mut self, name: &str, argument: &Term, library: bool, span: Span) -> Checked<bool> {
        let tree = self.cx.tree;
        let class = self.cx.classes.value(tree, argument);
        let mut reached = self.cx.classes.reached(class);
        let first = reached.remove(0);
        let seen = object_of(argument);
        if seen.is_some_and(|id| tree.object(id).name.starts_with("string.")) {
            return Ok(false);
        }
        let mut clear = true;
        if self.cx.classes.is_ours(first) {
            let candidates = self.cx.classes.objects_in(tree, first);
            let only = match candidates.as_slice() {
                [only] if !self.cx.classes.facts(first).heap => Some(*only),
                _ => None,
            };
            let number =
                argument.ty.pointee().is_some_and(|to| to.is_scalar() && tree.types.size(to) != Some(1));
            clear = match seen.or(only) {
                Some(id) => self.forget_object(id, seen.is_some(), span)?,
                // A number that is read goes where the pointer points.
                None if library && number && self.is_pure(argument) => {
                    let address = self.value(argument)?;
                    let ty = argument.ty.pointee().cloned().unwrap_or(CType::INT);
                    let reach = Reach { pointer: Some(address.clone()), ..Reach::default() };
                    let place = Place::Memory {
                        class: first,
                        offset: 0,
                        address,
                        ty,
                        bits: None,
                        reach,
                        at: argument.span,
                    };
                    self.havoc(&place, span)?;
                    true
                }
                None => false,
            };
        }
        // What the object itself points to.
        if !library {
            clear &= !reached.into_iter().any(|class| self.cx.classes.is_ours(class));
        }
        if !clear {
            let text = format!("`{name}` changes no object of the program that it reaches through pointers");
            self.cx.doubt(&text, Some(span));
        }
        Ok(clear)
    }

    /// An object gets any value; false if that is not possible. Of a recursive function there are
    /// many: only one that is named is the one at hand.
    fn forget_object(&mut self, id: ObjectId, named: bool, span: Span) -> Checked<bool> {
        let object = self.cx.tree.object(id);
        let many = object.owner.is_some_and(|owner| self.cx.usage.recursive.contains(&owner));
        if many && object.lifetime != Lifetime::Static && (!named || object.owner != self.function) {
            return Ok(false);
        }
        let fits = self.cx.tree.types.size(&object.ty).is_some_and(|size| size <= MAX_CHANGED);
        if !fits || matches!(object.ty, CType::Array(_, Length::Variable(_))) {
            return Ok(false);
        }
        let place = self.object(id)?;
        self.forget(&place, span)?;
        Ok(true)
    }
}

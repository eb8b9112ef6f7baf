//! Calls with variable arguments: those behind the parameters are put into a structure, and the
//! function gets its address as one parameter more. Only functions that ask for them (`va_start`)
//! get it.

use std::rc::Rc;

use wherefore_program::Span;

use super::ctype::{CType, Field, Record, Signature};
use super::tree::{
    FunctionId, Initial, InitialItem, Lifetime, Object, ObjectId, Role, Statement, StatementKind, Step, Term,
    TermKind, Tree,
};
use super::walk::each_term;

/// How many bytes an argument of a size takes.
pub(crate) fn slot(size: u64) -> u64 {
    size.next_multiple_of(8)
}

/// Has all variable arguments passed in memory, once all files are read; later those of functions
/// that were added.
pub(crate) fn pass_in_memory(tree: &mut Tree) {
    let ids = (0..tree.functions.len() as u32).map(FunctionId);
    let fixed: Vec<Option<usize>> = ids
        .map(|id| {
            let function = tree.function(id);
            let is_open = function.rest.is_some() && !tree.packed.contains(&id);
            is_open.then_some(function.signature.parameters.len())
        })
        .collect();
    if fixed.iter().all(Option::is_none) {
        return;
    }
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let owner = FunctionId(i as u32);
        let mut packing = Packing { tree: &mut *tree, owner, fixed: &fixed };
        each_term(&mut body, &mut |term| packing.call(term));
        let function = &mut tree.functions[i];
        function.body = Some(body);
        if let Some(rest) = function.rest.filter(|_| fixed[i].is_some()) {
            let mut parameters = function.signature.parameters.clone();
            parameters.push(CType::CHAR.pointer_to());
            let (result, rest_of) = (function.signature.result.clone(), function.signature.rest);
            function.signature = Rc::new(Signature { result, parameters, rest: rest_of });
            function.parameters.push(rest);
            tree.packed.insert(owner);
        }
    }
}

/// Rewrites the calls in one function.
struct Packing<'a> {
    tree: &'a mut Tree,
    owner: FunctionId,
    /// The number of parameters of each function that gets its variable arguments in memory.
    fixed: &'a [Option<usize>],
}

impl Packing<'_> {
    /// A call gets its variable arguments in memory.
    fn call(&mut self, term: &mut Term) {
        let TermKind::Call(callee, arguments) = &mut term.kind else { return };
        let TermKind::Function(id) = callee.kind else { return };
        let Some(fixed) = self.fixed[id.0 as usize] else { return };
        if arguments.len() >= fixed {
            let rest = arguments.split_off(fixed);
            arguments.push(self.pack(rest, term.span));
        }
    }

    /// A new object of the function at hand.
    fn object(&mut self, name: &str, ty: CType, span: Span) -> ObjectId {
        let id = ObjectId(self.tree.objects.len() as u32);
        self.tree.objects.push(Object {
            name: name.to_owned(),
            ty,
            lifetime: Lifetime::Automatic,
            owner: Some(self.owner),
            initial: None,
            defined: true,
            problem: None,
            role: Role::default(),
            span,
        });
        id
    }

    /// The address of a structure of the arguments.
    fn pack(&mut self, mut arguments: Vec<Term>, span: Span) -> Term {
        let pointer = CType::CHAR.pointer_to();
        if arguments.is_empty() {
            return Term::new(TermKind::Constant(0), pointer, span);
        }
        // Arguments are evaluated from the last to the first, members from the first to the last.
        let mut before = Vec::new();
        if arguments.len() > 1 && arguments.iter().any(Term::has_effects) {
            for argument in arguments.iter_mut().rev() {
                let ty = argument.ty.clone();
                let id = self.object("argument", ty.clone(), argument.span);
                let place = Term::new(TermKind::Object(id), ty.clone(), argument.span);
                let read = if ty.is_scalar() {
                    Term::new(TermKind::Load(Box::new(place)), ty, argument.span)
                } else {
                    place
                };
                let span = argument.span;
                let value = std::mem::replace(argument, read);
                let initial = Initial { items: vec![InitialItem { path: Vec::new(), value }], span };
                before.push(Statement { kind: StatementKind::Declare(id, Some(initial)), span });
            }
        }
        let (mut fields, mut items, mut offset) = (Vec::new(), Vec::new(), 0);
        let add = |fields: &mut Vec<Field>, ty: CType, offset: u64| {
            fields.push(Field { name: None, ty, offset, bits: None });
            vec![Step::Field(fields.len() - 1)]
        };
        for value in arguments {
            let size = self.tree.types.size(&value.ty).unwrap_or(0);
            let path = add(&mut fields, value.ty.clone(), offset);
            // What passes a number of 32 bits clears the other half of its slot.
            if size == 4 && value.ty.is_scalar() {
                add(&mut fields, CType::UNSIGNED, offset + 4);
            }
            items.push(InitialItem { path, value });
            offset += slot(size);
        }
        let record = self.tree.types.records.len() as u32;
        let name = "<variable arguments>".to_owned();
        let (size, align) = (offset, 8);
        self.tree.types.records.push(Record {
            name,
            alias: None,
            union: false,
            fields,
            size,
            align,
            complete: true,
            said_size: None,
            problem: None,
            stands_for: None,
        });
        let ty = CType::Record(record);
        let id = self.object("arguments", ty.clone(), span);
        self.tree.objects[id.0 as usize].role = Role::Arguments;
        let literal = TermKind::Literal(id, Box::new(Initial { items, span }));
        let literal = Term::new(literal, ty, span);
        let address = Term::new(TermKind::Address(Box::new(literal)), pointer.clone(), span);
        if before.is_empty() {
            return address;
        }
        Term::new(TermKind::Block(before, Some(Box::new(address))), pointer, span)
    }
}

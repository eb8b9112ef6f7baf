//! Calls with variable arguments: those behind the parameters are put into a structure, and the
//! function gets its address as one parameter more. Only functions that ask for them (`va_start`)
//! get it.

use std::rc::Rc;

use wherefore_program::Span;

use super::ctype::{CType, Field, Record, Signature};
use super::tree::{
    FunctionId, Initial, InitialItem, Lifetime, Object, ObjectId, Statement, StatementKind, Step, Term,
    TermKind, Tree,
};

/// How many bytes an argument of a size takes.
pub(crate) fn slot(size: u64) -> u64 {
    size.next_multiple_of(8)
}

/// Has all variable arguments passed in memory, once all files are read.
pub(crate) fn pass_in_memory(tree: &mut Tree) {
    let fixed: Vec<Option<usize>> = tree
        .functions
        .iter()
        .map(|function| function.rest.map(|_| function.signature.parameters.len()))
        .collect();
    if fixed.iter().all(Option::is_none) {
        return;
    }
    for i in 0..tree.functions.len() {
        let Some(mut body) = tree.functions[i].body.take() else { continue };
        let owner = FunctionId(i as u32);
        Packing { tree: &mut *tree, owner, fixed: &fixed }.statements(&mut body);
        let function = &mut tree.functions[i];
        function.body = Some(body);
        if let Some(rest) = function.rest {
            let mut parameters = function.signature.parameters.clone();
            parameters.push(CType::CHAR.pointer_to());
            let (result, rest_of) = (function.signature.result.clone(), function.signature.rest);
            function.signature = Rc::new(Signature { result, parameters, rest: rest_of });
            function.parameters.push(rest);
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
    fn statements(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        use StatementKind::*;
        match &mut statement.kind {
            Empty
            | Case(..)
            | Default
            | Label(_)
            | Goto(_)
            | Break
            | Continue
            | Return(None)
            | Unsupported(_)
            | Declare(_, None) => {}
            Expression(term) | Return(Some(term)) => self.term(term),
            Cleanup(_, term) | GotoAny(term) => self.term(term),
            Declare(_, Some(initial)) => self.initial(initial),
            Block(statements) => self.statements(statements),
            If(condition, then, otherwise) => {
                self.term(condition);
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            While(term, body) | DoWhile(body, term) | Switch(term, body) => {
                self.term(term);
                self.statement(body);
            }
            For(first, condition, step, body) => {
                self.statements(first);
                for term in condition.iter_mut().chain(step) {
                    self.term(term);
                }
                self.statement(body);
            }
            Assembly(assembly) => {
                for term in assembly.outputs.iter_mut().chain(&mut assembly.inputs) {
                    self.term(term);
                }
            }
        }
    }

    fn initial(&mut self, initial: &mut Initial) {
        for item in &mut initial.items {
            self.term(&mut item.value);
        }
    }

    fn term(&mut self, term: &mut Term) {
        use TermKind::*;
        match &mut term.kind {
            Constant(_) | Real(_) | Object(_) | Function(_) | Old => {}
            Deref(a)
            | Field(a, _)
            | Materialise(_, a)
            | Load(a)
            | Address(a)
            | Convert(a)
            | Unary(_, a)
            | Not(a) => self.term(a),
            Literal(_, initial) => self.initial(initial),
            Arithmetic(_, a, b)
            | Compare(_, a, b)
            | Shift(_, a, b)
            | Divide(_, a, b)
            | Offset(_, a, b, _)
            | Difference(a, b, _)
            | And(a, b)
            | Or(a, b)
            | Assign(a, b)
            | Update(a, b, _) => {
                self.term(a);
                self.term(b);
            }
            Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| self.term(part)),
            Comma(terms) | FloatCall(_, terms) => terms.iter_mut().for_each(|part| self.term(part)),
            Block(statements, value) => {
                self.statements(statements);
                if let Some(value) = value {
                    self.term(value);
                }
            }
            Call(callee, arguments) => {
                self.term(callee);
                arguments.iter_mut().for_each(|argument| self.term(argument));
                let Function(id) = callee.kind else { return };
                let Some(fixed) = self.fixed[id.0 as usize] else { return };
                if arguments.len() >= fixed {
                    let rest = arguments.split_off(fixed);
                    arguments.push(self.pack(rest, term.span));
                }
            }
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
            union: false,
            fields,
            size,
            align,
            complete: true,
            problem: None,
        });
        let ty = CType::Record(record);
        let id = self.object("arguments", ty.clone(), span);
        let literal = TermKind::Literal(id, Box::new(Initial { items, span }));
        let literal = Term::new(literal, ty, span);
        let address = Term::new(TermKind::Address(Box::new(literal)), pointer.clone(), span);
        if before.is_empty() {
            return address;
        }
        Term::new(TermKind::Block(before, Some(Box::new(address))), pointer, span)
    }
}

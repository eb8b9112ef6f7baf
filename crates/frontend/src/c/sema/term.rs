//! Expressions.

use lang_c::ast::{
    CallExpression, Expression, GenericAssociation, GenericSelection, Initializer, InitializerListItem,
    MemberExpression, MemberOperator, OffsetMember, OffsetOfExpression, SpecifierQualifier, TypeName, TypeOf,
    TypeSpecifier,
};
use lang_c::span::Node;

use super::builtins::{is_ambiguous, may_be_compatible};
use super::{Entity, Sema};
use crate::c::ctype::{CType, Length, Rest, Signature};
use crate::c::problem::{Checked, Problem};
use crate::c::rewrite::NOTHING;
use crate::c::tree::{Initial, InitialItem, ObjectId, Role, Statement, Step, Term, TermKind};

impl Sema<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, node: &Node<Expression>) -> Checked<Term> {
        let term = self.term(node)?;
        Ok(self.rvalue(term))
    }

    /// The value of an expression that is only asked whether it is zero.
    pub(super) fn condition(&mut self, node: &Node<Expression>) -> Checked<Term> {
        let value = self.value(node)?;
        if self.tree.types.wide(&value.ty).is_some() {
            return Ok(self.wide_truth(value));
        }
        if self.tree.types.complex(&value.ty).is_some() {
            return self.complex_truth(value);
        }
        match value.kind {
            _ if !value.ty.is_scalar() => self.fail(node, "a condition is a number or a pointer"),
            TermKind::Real(Some(real)) => {
                Ok(Term::new(TermKind::Constant(u64::from(real != 0.0)), CType::INT, value.span))
            }
            _ => Ok(value),
        }
    }

    /// An expression: a place or a value.
    pub(super) fn term(&mut self, node: &Node<Expression>) -> Checked<Term> {
        let span = self.span(node);
        match &node.node {
            Expression::Identifier(name) => self.name(&name.node.name, node),
            Expression::Constant(constant) => self.literal(&constant.node, span),
            Expression::StringLiteral(parts) => self.string(&parts.node, span),
            Expression::GenericSelection(selection) => self.generic(selection),
            Expression::Member(member) => self.member(member),
            Expression::Call(call) => self.call(call),
            Expression::CompoundLiteral(literal) => {
                let before = self.implied.len();
                let ty = self.type_name(&literal.node.type_name)?;
                // Lengths with effects would have to be evaluated here.
                if self.implied[before..].iter().any(Statement::has_effects) {
                    return self.unsupported(node, "a literal of variable type is");
                }
                let id = self.compound_literal(ty, span);
                let list = &literal.node.initializer_list;
                let list = if is_nothing(list) { &[] } else { list.as_slice() };
                let initial = self.initial_list(id, list, span)?;
                let ty = self.tree.object(id).ty.clone();
                if self.function.is_none() {
                    self.tree.objects[id.0 as usize].initial = Some(initial);
                    return Ok(Term::new(TermKind::Object(id), ty, span));
                }
                Ok(Term::new(TermKind::Literal(id, Box::new(initial)), ty, span))
            }
            Expression::SizeOfTy(size) => self.with_lengths(|sema| {
                let ty = sema.type_name(&size.node.0)?;
                let value = sema.size_of(&ty, node)?;
                // Only the size of an array of variable length evaluates anything.
                if value.constant().is_some() {
                    sema.implied.clear();
                }
                Ok(value)
            }),
            Expression::SizeOfVal(size) => self.with_lengths(|sema| {
                // String literals in it do not exist.
                let operand = sema.term(&size.node.0)?;
                let value = sema.size_of(&operand.ty, node)?;
                if value.constant().is_some() {
                    sema.implied.clear();
                    return Ok(value);
                }
                if !operand.has_effects() {
                    return Ok(value);
                }
                let operand = sema.rvalue(operand);
                let operand = sema.convert(operand, &CType::Void)?;
                let ty = value.ty.clone();
                Ok(Term::new(TermKind::Comma(vec![operand, value]), ty, span))
            }),
            Expression::AlignOf(name) => {
                let ty = self.type_name(&name.node.0)?;
                // Of a function, GNU says one byte, whatever its address is.
                if matches!(ty, CType::Function(_)) && !self.aligns {
                    let size = self.tree.types.size_type();
                    return Ok(Term::new(TermKind::Constant(1), size, span));
                }
                if self.aligns && self.is_expression(&name.node.0.node) || matches!(ty, CType::Function(_)) {
                    return self.unsupported(node, "the alignment of an object in a text that sets some is");
                }
                let align = self.tree.types.align(&ty);
                Ok(Term::new(TermKind::Constant(align), self.tree.types.size_type(), span))
            }
            Expression::UnaryOperator(unary) => self.unary(unary),
            Expression::BinaryOperator(binary) => self.binary(binary),
            Expression::Cast(cast) => self.with_lengths(|sema| {
                let ty = sema.type_name(&cast.node.type_name)?;
                let value = sema.value(&cast.node.expression)?;
                let is_structure = value.ty != ty && sema.tree.types.composed(&ty).is_none();
                if let (CType::Record(id), true) = (&ty, is_structure) {
                    return sema.cast_to_union(*id, value, node);
                }
                Ok(Term { span, ..sema.convert(value, &ty)? })
            }),
            Expression::Conditional(conditional) if is_left_out(&conditional.node.then_expression) => {
                // GNU: the condition is also the value, but it is evaluated once.
                let value = self.condition(&conditional.node.condition)?;
                let (mut steps, value) = self.held(value);
                let otherwise = self.value(&conditional.node.else_expression)?;
                let result = self.conditional(value.clone(), value, otherwise, span)?;
                if steps.is_empty() {
                    return Ok(result);
                }
                let ty = result.ty.clone();
                steps.push(result);
                Ok(Term::new(TermKind::Comma(steps), ty, span))
            }
            Expression::Conditional(conditional) => {
                let condition = self.condition(&conditional.node.condition)?;
                let then = self.value(&conditional.node.then_expression)?;
                let otherwise = self.value(&conditional.node.else_expression)?;
                self.conditional(condition, then, otherwise, span)
            }
            Expression::Comma(parts) => {
                let mut terms = Vec::new();
                for part in parts.iter() {
                    terms.push(self.value(part)?);
                }
                let ty = terms.last().map_or(CType::Void, |last| last.ty.clone());
                Ok(Term::new(TermKind::Comma(terms), ty, span))
            }
            Expression::OffsetOf(offset) => self.offset_of(offset),
            Expression::VaArg(argument) => self.va_arg(argument),
            Expression::Statement(statement) => self.statement_expression(statement, span),
        }
    }

    /// An expression with types in it, the lengths of whose arrays are evaluated in front of it.
    fn with_lengths(&mut self, read: impl FnOnce(&mut Self) -> Checked<Term>) -> Checked<Term> {
        let before = std::mem::take(&mut self.implied);
        let outcome = read(self);
        let lengths = std::mem::replace(&mut self.implied, before);
        let term = outcome?;
        if lengths.is_empty() {
            return Ok(term);
        }
        let (ty, span) = (term.ty.clone(), term.span);
        Ok(Term::new(TermKind::Block(lengths, Some(Box::new(term))), ty, span))
    }

    /// `_Generic`: the expression of the first type that is that of the value.
    fn generic(&mut self, syntax: &Node<GenericSelection>) -> Checked<Term> {
        let wanted = self.value(&syntax.node.expression)?.ty;
        let (mut found, mut default, mut near) = (Vec::new(), None, false);
        for association in &syntax.node.associations {
            match &association.node {
                GenericAssociation::Default(expression) => default = Some(&**expression),
                GenericAssociation::Type(of) => {
                    let ty = self.type_name(&of.node.type_name)?;
                    near |= ty != wanted && may_be_compatible(&ty, &wanted);
                    if ty == wanted {
                        found.push(&*of.node.expression);
                    }
                }
            }
        }
        // Types that are the same for us may be two in C: then it is not clear which one is meant.
        let clear = !is_ambiguous(&wanted) || wanted == CType::UNSIGNED;
        match (found.as_slice(), default) {
            ([only], None) => self.term(only),
            ([only], Some(_)) if clear => self.term(only),
            ([], Some(default)) if !near => self.term(default),
            ([], None) => self.fail(syntax, "no type of the selection fits"),
            _ => self.unsupported(syntax, "a generic selection between types like these is"),
        }
    }

    pub(super) fn conditional(
        &mut self,
        condition: Term,
        then: Term,
        otherwise: Term,
        span: wherefore_program::Span,
    ) -> Checked<Term> {
        let (then, otherwise, ty) = match (&then.ty, &otherwise.ty) {
            (a, b) if self.tree.types.is_number(a) && self.tree.types.is_number(b) => {
                self.balance(then, otherwise)?
            }
            (a, b) if a == b => {
                let ty = a.clone();
                (then, otherwise, ty)
            }
            (CType::Void, _) | (_, CType::Void) => {
                let then = self.convert(then, &CType::Void)?;
                (then, self.convert(otherwise, &CType::Void)?, CType::Void)
            }
            (a, b) => {
                // A null pointer takes the type of the other side.
                let void = CType::Void.pointer_to();
                let ty = match (a.is_pointer(), b.is_pointer()) {
                    (true, false) => a.clone(),
                    (false, true) => b.clone(),
                    _ if *a == void && then.constant().is_some() => b.clone(),
                    _ if *b == void && otherwise.constant().is_some() => a.clone(),
                    _ if *a == void || *b == void => void,
                    _ => a.clone(),
                };
                (self.convert(then, &ty)?, self.convert(otherwise, &ty)?, ty)
            }
        };
        match condition.constant() {
            Some(0) => Ok(otherwise),
            Some(_) => Ok(then),
            None => {
                let parts = (Box::new(condition), Box::new(then), Box::new(otherwise));
                Ok(Term::new(TermKind::Conditional(parts.0, parts.1, parts.2), ty, span))
            }
        }
    }

    fn name(&mut self, name: &str, node: &Node<Expression>) -> Checked<Term> {
        let span = self.span(node);
        let (kind, ty) = match self.lookup(name) {
            Some(Entity::Object(id)) => (TermKind::Object(*id), self.tree.object(*id).ty.clone()),
            Some(Entity::Function(id)) => {
                (TermKind::Function(*id), CType::Function(self.tree.function(*id).signature.clone()))
            }
            Some(Entity::Constant(value, ty)) => (TermKind::Constant(*value), ty.clone()),
            Some(Entity::Unknown(problem)) => return Err(problem.clone()),
            Some(Entity::Type(_) | Entity::Refused(..)) => {
                return self.fail(node, format!("`{name}` is a type"));
            }
            None if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                let function = self.function.map_or(String::new(), |id| self.tree.function(id).name.clone());
                if self.renames && function.contains('_') {
                    return self.unsupported(node, "the name of this function as a text is");
                }
                return self.string(&[format!("\"{function}\"")], span);
            }
            None => return self.fail(node, format!("`{name}` is not declared")),
        };
        Ok(Term::new(kind, ty, span))
    }

    fn size_of(&mut self, ty: &CType, node: &Node<Expression>) -> Checked<Term> {
        let span = self.span(node);
        let size_type = self.tree.types.size_type();
        if let CType::Array(element, Length::Variable(length)) = ty {
            let length = Term::new(TermKind::Object(ObjectId(*length)), size_type.clone(), span);
            let length = self.rvalue(length);
            let size = self.size_of(element, node)?;
            return Ok(self.operation(wherefore_program::BinaryOp::Mul, length, size, size_type, span));
        }
        let said = match ty {
            CType::Record(id) => self.tree.types.record(*id).said_size,
            _ => None,
        };
        match said.or_else(|| self.tree.types.size(ty)) {
            Some(size) => Ok(Term::new(TermKind::Constant(size), size_type, span)),
            None => self.fail(node, "the size is not known"),
        }
    }

    fn member(&mut self, syntax: &Node<MemberExpression>) -> Checked<Term> {
        let span = self.span(syntax);
        let base = match syntax.node.operator.node {
            MemberOperator::Direct => self.term(&syntax.node.expression)?,
            MemberOperator::Indirect => {
                let pointer = self.value(&syntax.node.expression)?;
                self.deref(pointer)?
            }
        };
        let base = if base.is_place() { base } else { self.materialise(base) };
        self.field(base, &syntax.node.identifier.node.name, span)
    }

    /// GNU: a value becomes a union that has a member of its type.
    fn cast_to_union(&mut self, id: u32, value: Term, node: &Node<Expression>) -> Checked<Term> {
        let span = value.span;
        let record = self.tree.types.record(id);
        let member = record.fields.iter().position(|field| field.ty == value.ty && field.bits.is_none());
        let (true, Some(member)) = (record.union, member) else {
            return self.fail(node, "a value cannot be converted to a structure");
        };
        let ty = CType::Record(id);
        let object = self.compound_literal(ty.clone(), span);
        let items = vec![InitialItem { path: vec![Step::Field(member)], value }];
        let initial = Box::new(Initial { items, span });
        let literal = Term::new(TermKind::Literal(object, initial), ty, span);
        Ok(self.rvalue(literal))
    }

    /// The object of a compound literal.
    fn compound_literal(&mut self, ty: CType, span: wherefore_program::Span) -> ObjectId {
        let id = self.automatic("literal", ty, span);
        self.tree.objects[id.0 as usize].role = Role::Literal;
        id
    }

    /// A value of structure type gets an object of its own, so that it can be taken apart.
    pub(super) fn materialise(&mut self, value: Term) -> Term {
        let (ty, span) = (value.ty.clone(), value.span);
        let id = self.automatic("temporary", ty.clone(), span);
        Term::new(TermKind::Materialise(id, Box::new(value)), ty, span)
    }

    pub(super) fn field(&mut self, base: Term, name: &str, span: wherefore_program::Span) -> Checked<Term> {
        let path = match base.ty {
            CType::Record(id) => self.tree.types.find_field(id, name),
            _ => None,
        };
        let Some(path) = path else {
            let message = format!("`{}` has no member `{name}`", self.tree.types.show(&base.ty));
            return Err(Problem::new(span, message));
        };
        Ok(self.descend(base, &path, span))
    }

    fn descend(&mut self, base: Term, path: &[usize], span: wherefore_program::Span) -> Term {
        path.iter().fold(base, |base, &i| {
            let CType::Record(id) = base.ty else { unreachable!("a path leads through records") };
            let ty = self.tree.types.record(id).fields[i].ty.clone();
            Term::new(TermKind::Field(Box::new(base), i), ty, span)
        })
    }

    fn offset_of(&mut self, syntax: &Node<OffsetOfExpression>) -> Checked<Term> {
        let span = self.span(syntax);
        let ty = self.type_name(&syntax.node.type_name)?;
        let null = Term::new(TermKind::Constant(0), ty.pointer_to(), span);
        let designator = &syntax.node.designator.node;
        let base = self.deref(null)?;
        let mut place = self.field(base, &designator.base.node.name, span)?;
        for member in &designator.members {
            place = match &member.node {
                OffsetMember::Member(name) => self.field(place, &name.node.name, span)?,
                OffsetMember::IndirectMember(_) => return self.unsupported(member, "`->` in `offsetof` is"),
                OffsetMember::Index(index) => {
                    let pointer = self.rvalue(place);
                    let index = self.value(index)?;
                    let moved = self.offset(wherefore_program::BinaryOp::Add, pointer, index, span)?;
                    self.deref(moved)?
                }
            };
        }
        let ty = place.ty.clone().pointer_to();
        let address = self.address(place, ty);
        let size_type = self.tree.types.size_type();
        self.convert(address, &size_type)
    }

    fn call(&mut self, syntax: &Node<CallExpression>) -> Checked<Term> {
        let span = self.span(syntax);
        let mut implicit = None;
        if let Expression::Identifier(name) = &syntax.node.callee.node {
            let text = name.node.name.as_str();
            if let Some(term) = self.absolute(text, syntax)? {
                return Ok(term);
            }
            if self.lookup(text).is_none() {
                if let Some(term) = self.builtin(text, syntax)? {
                    return Ok(term);
                }
                let text = crate::c::models::without_prefix(text).unwrap_or(text);
                implicit = Some(self.undeclared(text, syntax)?);
            }
        }
        let mut callee = match implicit {
            Some(id) => {
                let ty = CType::Function(self.tree.function(id).signature.clone());
                Term::new(TermKind::Function(id), ty, span)
            }
            None => self.term(&syntax.node.callee)?,
        };
        if !matches!(callee.ty, CType::Function(_)) {
            let pointer = self.rvalue(callee);
            callee = self.deref(pointer)?;
        }
        let CType::Function(signature) = callee.ty.clone() else {
            return self.fail(&syntax.node.callee, "this is not a function");
        };
        let mut arguments = Vec::new();
        for argument in &syntax.node.arguments {
            arguments.push(self.value(argument)?);
        }
        let arguments = self.arguments(&signature, arguments, span)?;
        let result = signature.result.clone();
        Ok(Term::new(TermKind::Call(Box::new(callee), arguments), result, span))
    }

    /// Arguments converted to the types of the parameters, or promoted where there is none.
    fn arguments(
        &mut self,
        signature: &Signature,
        arguments: Vec<Term>,
        span: wherefore_program::Span,
    ) -> Checked<Vec<Term>> {
        let wanted = signature.parameters.len();
        let wrong = match signature.rest {
            Rest::Nothing => arguments.len() != wanted,
            Rest::Variadic => arguments.len() < wanted,
            Rest::Unspecified => false,
        };
        if wrong {
            let message = format!("{} arguments instead of {wanted}", arguments.len());
            return Err(Problem::new(span, message));
        }
        let mut converted = Vec::new();
        for (i, argument) in arguments.into_iter().enumerate() {
            converted.push(match signature.parameters.get(i) {
                Some(ty) => {
                    let ty = self.transparent(ty, &argument).unwrap_or_else(|| ty.clone());
                    self.convert(argument, &ty)?
                }
                None if argument.ty == CType::Float(4) => self.convert(argument, &CType::Float(8))?,
                None if argument.ty.is_integer() => self.promote(argument)?,
                None => argument,
            });
        }
        Ok(converted)
    }
}

impl Sema<'_> {
    /// Whether a type is that of an expression: `typeof(e)`.
    fn is_expression(&self, name: &TypeName) -> bool {
        name.specifiers.iter().any(|specifier| match &specifier.node {
            SpecifierQualifier::TypeSpecifier(ty) => match &ty.node {
                TypeSpecifier::TypeOf(of) => match &of.node {
                    TypeOf::Expression(expression) => self.type_in_parentheses(expression).is_none(),
                    TypeOf::Type(_) => false,
                },
                _ => false,
            },
            _ => false,
        })
    }

    /// A pointer for a parameter that is a union of pointers (`transparent_union`) is passed as the
    /// first of them.
    fn transparent(&self, parameter: &CType, argument: &Term) -> Option<CType> {
        let CType::Record(id) = parameter else { return None };
        let record = self.tree.types.record(*id);
        let is_one = record.union && record.fields.iter().all(|field| field.ty.is_pointer());
        let first = record.fields.first().filter(|_| is_one && argument.ty.is_scalar())?;
        Some(first.ty.clone())
    }
}

/// Whether the middle of `a ?: b` is left out: the rewriting has put a name there.
fn is_left_out(middle: &Node<Expression>) -> bool {
    matches!(&middle.node, Expression::Identifier(name) if name.node.name == crate::c::rewrite::LEFT_OUT.trim_end())
}

/// Whether a list stands for one without values.
fn is_nothing(list: &[Node<InitializerListItem>]) -> bool {
    let [only] = list else { return false };
    match &only.node.initializer.node {
        Initializer::Expression(expression) => {
            matches!(&expression.node, Expression::Identifier(name) if name.node.name == NOTHING)
        }
        Initializer::List(_) => false,
    }
}

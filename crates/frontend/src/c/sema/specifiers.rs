//! Types as declarations write them.

use std::rc::Rc;

use lang_c::ast::{
    ArraySize, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, Ellipsis, Extension,
    FunctionDeclarator, ParameterDeclaration, PointerQualifier, SpecifierQualifier, StorageClassSpecifier,
    TS18661FloatFormat, TypeName, TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::Node;
use wherefore_program::Span;

use super::atomics::is_atomic;
use super::{Entity, Sema};
use crate::c::attributes::{is_serious, plain};
use crate::c::ctype::{CType, Length, Rest, Signature};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{
    FunctionId, Lifetime, Object, ObjectId, Role, Runs, Statement, StatementKind, Step, Term, TermKind,
};

/// What stands in front of the declarators of a declaration.
pub(super) struct Specifiers {
    pub(super) ty: CType,
    pub(super) storage: Option<StorageClassSpecifier>,
    pub(super) returns: bool,
    pub(super) attributes: Attributes,
}

/// Attributes that matter.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes {
    pub(super) packed: bool,
    pub(super) align: Option<u64>,
    pub(super) noreturn: bool,
    /// Whether an `extern inline` definition is only for inlining.
    pub(super) gnu_inline: bool,
    /// The width that `mode` gives to an integer.
    pub(super) mode: Option<u32>,
    /// The size of a vector in bytes.
    pub(super) vector: Option<u64>,
    pub(super) weak: Option<Span>,
    pub(super) runs: Runs,
    /// The function that is called when the scope of a variable is left.
    pub(super) cleanup: Option<FunctionId>,
    /// Whether it is declared with `const`.
    pub(super) constant: bool,
    /// Whether it is declared with `_Atomic`.
    pub(super) atomic: bool,
    /// Whether it is declared with `_Thread_local`.
    pub(super) of_thread: bool,
}

impl Attributes {
    pub(super) fn and(self, more: Attributes) -> Attributes {
        Attributes {
            packed: self.packed || more.packed,
            align: self.align.max(more.align),
            noreturn: self.noreturn || more.noreturn,
            gnu_inline: self.gnu_inline || more.gnu_inline,
            mode: self.mode.or(more.mode),
            vector: self.vector.or(more.vector),
            weak: self.weak.or(more.weak),
            runs: self.runs.or(more.runs),
            cleanup: self.cleanup.or(more.cleanup),
            constant: self.constant || more.constant,
            atomic: self.atomic || more.atomic,
            of_thread: self.of_thread || more.of_thread,
        }
    }
}

/// A parameter as a definition needs it.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: Option<(String, lang_c::span::Span)>,
    pub(super) ty: CType,
    /// What stands for it in the lengths of arrays.
    pub(super) object: Option<ObjectId>,
}

impl Sema<'_> {
    pub(super) fn attributes(&mut self, extensions: &[Node<Extension>]) -> Attributes {
        let mut found = Attributes::default();
        for extension in extensions {
            let Extension::Attribute(attribute) = &extension.node else { continue };
            match plain(&attribute.name.node) {
                name if is_serious(name) => {
                    self.met.insert(self.lines.original(attribute.name.span.start));
                    let span = self.span(&attribute.name);
                    self.refused.push(super::unsupported_attribute(span, name));
                }
                "cleanup" => match attribute.arguments.first().map(|a| &a.node) {
                    Some(lang_c::ast::Expression::Identifier(name)) => {
                        let known = self.lookup(&name.node.name).cloned();
                        if let Some(Entity::Function(id)) = known {
                            found.cleanup = Some(id);
                        } else {
                            let span = self.span(&attribute.name);
                            self.refused.push(super::unsupported_attribute(span, "cleanup"));
                        }
                    }
                    _ => {
                        let span = self.span(&attribute.name);
                        self.refused.push(super::unsupported_attribute(span, "cleanup"));
                    }
                },
                "alias" => {
                    let target = match attribute.arguments.first().map(|a| &a.node) {
                        Some(lang_c::ast::Expression::StringLiteral(text)) => {
                            text.node.iter().map(|part| part.trim_matches('"')).collect()
                        }
                        _ => String::new(),
                    };
                    self.alias = Some((target, self.span(&attribute.name)));
                }
                "weak" => found.weak = Some(self.span(&attribute.name)),
                name @ ("constructor" | "destructor") => {
                    // Those without a priority come last, and behind the entry first.
                    let priority = attribute.arguments.first().map(|a| self.integer_constant(a));
                    let priority = match priority.unwrap_or(Ok(u64::MAX)) {
                        Ok(priority) => priority,
                        Err(problem) => {
                            self.refused.push(problem);
                            continue;
                        }
                    };
                    if name == "constructor" {
                        found.runs.before = Some(priority);
                    } else {
                        found.runs.after = Some(priority);
                    }
                }
                "vector_size" => match attribute.arguments.first().map(|a| self.integer_constant(a)) {
                    Some(Ok(size)) if size.is_power_of_two() => found.vector = Some(size),
                    _ => {
                        let span = self.span(&attribute.name);
                        self.refused.push(super::unsupported_attribute(span, "vector_size"));
                    }
                },
                "packed" => found.packed = true,
                "noreturn" => found.noreturn = true,
                "gnu_inline" => found.gnu_inline = true,
                "aligned" => {
                    self.aligns = true;
                    let align = attribute.arguments.first().map(|a| self.integer_constant(a));
                    match align.unwrap_or(Ok(16)) {
                        Ok(align) if align.is_power_of_two() => found.align = found.align.max(Some(align)),
                        Ok(_) => {
                            let span = self.span(&attribute.name);
                            self.refused.push(Problem::unsupported(span, "this alignment is"));
                        }
                        Err(problem) => self.refused.push(problem),
                    }
                }
                "mode" => {
                    let mode = attribute.arguments.first().map(|a| &a.node);
                    if let Some(lang_c::ast::Expression::Identifier(name)) = mode {
                        found.mode = match name.node.name.trim_matches('_') {
                            "QI" | "byte" => Some(8),
                            "HI" => Some(16),
                            "SI" => Some(32),
                            "DI" => Some(64),
                            "TI" => Some(128),
                            "word" | "pointer" => Some(self.tree.types.model.pointer_bits()),
                            _ => None,
                        };
                    }
                    if found.mode.is_none() {
                        let span = self.span(&attribute.name);
                        self.refused.push(Problem::unsupported(span, "this mode of an integer is"));
                    }
                }
                _ => {}
            }
        }
        found
    }

    pub(super) fn specifiers(
        &mut self,
        list: &[Node<DeclarationSpecifier>],
        at: lang_c::span::Span,
    ) -> Checked<Specifiers> {
        let mut types = Vec::new();
        let mut attributes = Attributes::default();
        let (mut storage, mut returns) = (None, true);
        for specifier in list {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(class) => {
                    if class.node == StorageClassSpecifier::ThreadLocal {
                        attributes.of_thread = true;
                    } else {
                        storage = Some(class.node.clone());
                    }
                }
                DeclarationSpecifier::TypeSpecifier(ty) => types.push(ty),
                DeclarationSpecifier::Function(function) => {
                    returns &= function.node != lang_c::ast::FunctionSpecifier::Noreturn;
                }
                DeclarationSpecifier::Extension(extensions) => {
                    attributes = attributes.and(self.attributes(extensions));
                }
                DeclarationSpecifier::Alignment(_) => self.aligns = true,
                DeclarationSpecifier::TypeQualifier(qualifier) => {
                    attributes.constant |= qualifier.node == TypeQualifier::Const;
                    attributes.atomic |= is_atomic(qualifier);
                }
            }
        }
        attributes.atomic |= self.names_atomic(&types);
        let ty = self.base_type(&types, attributes, at)?;
        Ok(Specifiers { ty, storage, returns: returns && !attributes.noreturn, attributes })
    }

    pub(super) fn qualified(
        &mut self,
        list: &[Node<SpecifierQualifier>],
        at: lang_c::span::Span,
    ) -> Checked<(CType, Attributes)> {
        let mut types = Vec::new();
        let mut attributes = Attributes::default();
        for specifier in list {
            match &specifier.node {
                SpecifierQualifier::TypeSpecifier(ty) => types.push(ty),
                SpecifierQualifier::Extension(extensions) => {
                    attributes = attributes.and(self.attributes(extensions));
                }
                SpecifierQualifier::TypeQualifier(qualifier) => attributes.atomic |= is_atomic(qualifier),
            }
        }
        attributes.atomic |= self.names_atomic(&types);
        Ok((self.base_type(&types, attributes, at)?, attributes))
    }

    pub(super) fn type_name(&mut self, name: &Node<TypeName>) -> Checked<CType> {
        let (base, _) = self.qualified(&name.node.specifiers, name.span)?;
        match &name.node.declarator {
            Some(declarator) => Ok(self.declarator(declarator, base)?.1),
            None => Ok(base),
        }
    }

    fn base_type(
        &mut self,
        specifiers: &[&Node<TypeSpecifier>],
        attributes: Attributes,
        at: lang_c::span::Span,
    ) -> Checked<CType> {
        let (mut unsigned, mut signed, mut short, mut long) = (false, false, false, 0);
        let (mut complex, mut int) = (false, false);
        let mut other = None;
        for specifier in specifiers {
            match &specifier.node {
                TypeSpecifier::Unsigned => unsigned = true,
                TypeSpecifier::Signed => signed = true,
                TypeSpecifier::Short => short = true,
                TypeSpecifier::Long => long += 1,
                TypeSpecifier::Int => int = true,
                TypeSpecifier::Complex => complex = true,
                _ => other = Some(*specifier),
            }
        }
        let integer = |bits| CType::Int { bits, signed: !unsigned };
        let ty = match other.map(|other| &other.node) {
            None if complex && !(unsigned || signed || short || int || long > 0) => CType::Float(8),
            None => match (short, long) {
                (true, _) => integer(16),
                (_, 0) => integer(32),
                (_, 1) => self.tree.types.long(!unsigned),
                _ => integer(64),
            },
            Some(TypeSpecifier::Void) => CType::Void,
            Some(TypeSpecifier::Char) => CType::Int { bits: 8, signed: signed || !unsigned },
            Some(TypeSpecifier::Float) => CType::Float(4),
            Some(TypeSpecifier::Double) if long > 0 => CType::Float(self.long_double()),
            Some(TypeSpecifier::Double) => CType::Float(8),
            Some(TypeSpecifier::TS18661Float(float)) => match (&float.format, float.width) {
                (TS18661FloatFormat::BinaryInterchange, 16) => CType::Float(2),
                (TS18661FloatFormat::BinaryInterchange, 32) => CType::Float(4),
                (TS18661FloatFormat::BinaryInterchange, 64) => CType::Float(8),
                (TS18661FloatFormat::BinaryInterchange, 128) => CType::Float(16),
                (TS18661FloatFormat::BinaryExtended, 32) => CType::Float(8),
                (TS18661FloatFormat::BinaryExtended, 64) => CType::Float(self.long_double()),
                // What the rewriting has put there for `__int128`.
                (TS18661FloatFormat::BinaryExtended, 128) => self.tree.types.wide_type(!unsigned),
                _ => {
                    return Err(Problem::unsupported(self.span_between(at.start, at.end), "this type is"));
                }
            },
            Some(TypeSpecifier::Bool) => CType::Bool,
            Some(TypeSpecifier::Atomic(name)) => self.type_name(name)?,
            Some(TypeSpecifier::Struct(record)) => self.record_type(record, attributes)?,
            Some(TypeSpecifier::Enum(enumeration)) => self.enum_type(enumeration)?,
            Some(TypeSpecifier::TypedefName(name)) => match self.lookup(&name.node.name) {
                Some(Entity::Type(ty)) => ty.clone(),
                Some(Entity::Refused(problem, ty)) => {
                    let (problem, ty) = (problem.clone(), ty.clone());
                    self.refused.push(problem);
                    ty
                }
                Some(Entity::Unknown(problem)) => return Err(problem.clone()),
                _ if name.node.name == "__builtin_va_list" => self.va_list(),
                _ => return self.fail(name, format!("`{}` is not a type", name.node.name)),
            },
            Some(TypeSpecifier::TypeOf(of)) => match &of.node {
                TypeOf::Type(name) => self.type_name(name)?,
                TypeOf::Expression(expression) => match self.type_in_parentheses(expression) {
                    Some(ty) => ty,
                    None => self.type_of(expression)?,
                },
            },
            Some(_) => return Err(Problem::unsupported(self.span_between(at.start, at.end), "this type is")),
        };
        let ty = match complex {
            true if ty.is_arithmetic() && ty != CType::Bool => self.tree.types.complex_type(&ty),
            true => return Err(Problem::unsupported(self.span_between(at.start, at.end), "this type is")),
            false => ty,
        };
        self.with_attributes(ty, attributes, at)
    }

    /// `typeof` of an expression, which is evaluated only if its type has a variable length.
    fn type_of(&mut self, expression: &Node<lang_c::ast::Expression>) -> Checked<CType> {
        let before = self.implied.len();
        let term = self.term(expression)?;
        let lengths =
            self.implied.len() > before && self.implied[before..].iter().any(Statement::has_effects);
        if is_variable(&term.ty) && (term.has_effects() || lengths) {
            return self.unsupported(expression, "a type of variable length whose expression has effects is");
        }
        // GNU: the value of a wide bit-field has a type of just its width, which takes more room in
        // an object than its bits.
        if matches!(term.ty, CType::Int { bits, .. } if ![8, 16, 32, 64].contains(&bits)) {
            return self.unsupported(expression, "the type of a wide bit-field as that of an object is");
        }
        Ok(term.ty)
    }

    /// The type that the parser took for an expression: in attributes it does not know the names of
    /// types.
    pub(super) fn type_in_parentheses(&self, expression: &Node<lang_c::ast::Expression>) -> Option<CType> {
        let lang_c::ast::Expression::Identifier(name) = &expression.node else { return None };
        match self.lookup(&name.node.name) {
            Some(Entity::Type(ty)) => Some(ty.clone()),
            _ => None,
        }
    }

    /// A type that `mode` or `vector_size` changes.
    fn with_attributes(
        &mut self,
        ty: CType,
        attributes: Attributes,
        at: lang_c::span::Span,
    ) -> Checked<CType> {
        let ty = match (attributes.mode, ty) {
            (Some(128), CType::Int { signed, .. }) => self.tree.types.wide_type(signed),
            (Some(bits), CType::Int { signed, .. }) => CType::Int { bits, signed },
            (_, ty) => ty,
        };
        let Some(bytes) = attributes.vector else { return Ok(ty) };
        let element = self.tree.types.size(&ty).filter(|size| ty.is_arithmetic() && *size <= bytes);
        match element {
            Some(element) if ty != CType::Bool => Ok(self.tree.types.vector_type(&ty, bytes / element)),
            _ => Err(Problem::unsupported(self.span_between(at.start, at.end), "this vector is")),
        }
    }

    pub(super) fn long_double(&self) -> u64 {
        match self.tree.types.model {
            crate::c::ctype::DataModel::Ilp32 => 12,
            crate::c::ctype::DataModel::Lp64 => 16,
        }
    }

    /// The name and the type that a declarator declares, given what stands in front of it.
    pub(super) fn declarator(
        &mut self,
        declarator: &Node<Declarator>,
        base: CType,
    ) -> Checked<(Option<(String, lang_c::span::Span)>, CType)> {
        let attributes = self.attributes(&declarator.node.extensions);
        let mut ty = self.with_attributes(base, attributes, declarator.span)?;
        let derived = &declarator.node.derived;
        let pointers = derived.iter().take_while(|d| matches!(d.node, DerivedDeclarator::Pointer(_))).count();
        for part in &derived[..pointers] {
            if let DerivedDeclarator::Pointer(qualifiers) = &part.node {
                for qualifier in qualifiers {
                    if let PointerQualifier::Extension(extensions) = &qualifier.node {
                        self.attributes(extensions);
                    }
                }
            }
            ty = ty.pointer_to();
        }
        for part in derived[pointers..].iter().rev() {
            ty = match &part.node {
                DerivedDeclarator::Pointer(_) => ty.pointer_to(),
                DerivedDeclarator::Block(_) => return self.unsupported(part, "blocks are"),
                DerivedDeclarator::Array(array) => self.array(ty, &array.node.size, part)?,
                DerivedDeclarator::Function(function) => {
                    let (parameters, rest) = self.prototype(&function.node)?;
                    let parameters = parameters.into_iter().map(|parameter| parameter.ty).collect();
                    CType::Function(Rc::new(Signature { result: ty, parameters, rest }))
                }
                DerivedDeclarator::KRFunction(_) => {
                    let rest = Rest::Unspecified;
                    CType::Function(Rc::new(Signature { result: ty, parameters: Vec::new(), rest }))
                }
            };
        }
        match &declarator.node.kind.node {
            DeclaratorKind::Abstract => Ok((None, ty)),
            DeclaratorKind::Identifier(name) => Ok((Some((name.node.name.clone(), name.span)), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(inner, ty),
        }
    }

    fn array<N>(&mut self, element: CType, size: &ArraySize, part: &Node<N>) -> Checked<CType> {
        if matches!(element, CType::Array(_, Length::Unknown)) {
            return self.fail(part, "the length of an inner array is not known");
        }
        let length = match size {
            ArraySize::VariableUnknown if self.in_prototype > 0 => Length::Variable(self.some_length(part)),
            ArraySize::Unknown | ArraySize::VariableUnknown => Length::Unknown,
            ArraySize::VariableExpression(size) | ArraySize::StaticExpression(size) => {
                let term = self.computed(size)?;
                let size_type = self.tree.types.size_type();
                let is_wide = self.tree.types.wide(&term.ty).is_some();
                let term = if is_wide { self.convert(term, &size_type)? } else { term };
                if !term.ty.is_integer() {
                    return self.fail(size, "the length of an array is not an integer");
                }
                match term.constant() {
                    Some(value)
                        if term.ty.is_signed() && (value << (64 - self.bits(&term.ty))) as i64 <= -1 =>
                    {
                        return self.fail(size, "the length of an array is negative");
                    }
                    // The rows have lengths that are told at run time: so has the whole.
                    Some(_) if matches!(element, CType::Array(_, Length::Variable(_))) => {
                        Length::Variable(self.variable_length(term)?.0)
                    }
                    Some(value) => Length::Known(value),
                    // Lengths in a mere declaration are not evaluated.
                    None if self.in_prototype > usize::from(self.defines) => {
                        Length::Variable(self.some_length(part))
                    }
                    None if self.function.is_none() => {
                        return self.fail(size, "the length of an array is not constant");
                    }
                    None => Length::Variable(self.variable_length(term)?.0),
                }
            }
        };
        Ok(CType::Array(Rc::new(element), length))
    }

    /// An object for a length that is not used.
    fn some_length<N>(&mut self, part: &Node<N>) -> u32 {
        let (ty, span) = (self.tree.types.size_type(), self.span(part));
        self.automatic("length", ty, span).0
    }

    /// An object that holds the length of an array, evaluated where the array is declared.
    fn variable_length(&mut self, length: Term) -> Checked<ObjectId> {
        let ty = self.tree.types.size_type();
        let span = length.span;
        let id = self.automatic("length", ty.clone(), span);
        let value = self.convert(length, &ty)?;
        let item = crate::c::tree::InitialItem { path: Vec::<Step>::new(), value };
        let initial = crate::c::tree::Initial { items: vec![item], span };
        self.implied.push(Statement { kind: StatementKind::Declare(id, Some(initial)), span });
        Ok(id)
    }

    /// A new automatic object of the function at hand.
    pub(super) fn automatic(&mut self, name: &str, ty: CType, span: wherefore_program::Span) -> ObjectId {
        let id = ObjectId(self.tree.objects.len() as u32);
        let (lifetime, owner) = match self.function {
            Some(function) => (Lifetime::Automatic, Some(function)),
            None => (Lifetime::Static, None),
        };
        let name = name.to_owned();
        self.tree.objects.push(Object {
            name,
            ty,
            lifetime,
            owner,
            initial: None,
            defined: true,
            problem: None,
            role: Role::default(),
            span,
        });
        id
    }

    pub(super) fn prototype(&mut self, function: &FunctionDeclarator) -> Checked<(Vec<Parameter>, Rest)> {
        let mut parameters = Vec::new();
        self.in_prototype += 1;
        self.enter();
        for parameter in &function.parameters {
            let outcome = self.parameter(parameter);
            match outcome {
                Ok(parameter) => parameters.push(parameter),
                Err(problem) => {
                    self.leave();
                    self.in_prototype -= 1;
                    return Err(problem);
                }
            }
        }
        self.leave();
        self.in_prototype -= 1;
        let rest = match (&function.ellipsis, parameters.as_slice()) {
            (Ellipsis::Some, _) => Rest::Variadic,
            (Ellipsis::None, []) => Rest::Unspecified,
            (Ellipsis::None, [Parameter { name: None, ty: CType::Void, .. }]) => {
                parameters.clear();
                Rest::Nothing
            }
            _ => Rest::Nothing,
        };
        Ok((parameters, rest))
    }

    fn parameter(&mut self, parameter: &Node<ParameterDeclaration>) -> Checked<Parameter> {
        let specifiers = self.specifiers(&parameter.node.specifiers, parameter.span)?;
        let base = specifiers.ty;
        let (name, ty) = match &parameter.node.declarator {
            Some(declarator) => self.declarator(declarator, base.clone())?,
            None => (None, base.clone()),
        };
        if let (CType::Array(_, Length::Variable(length)), 1, true) = (&ty, self.in_prototype, self.defines) {
            // The outermost length does not matter, since the parameter is a pointer; what it does
            // might.
            let useless = |statement: &Statement| match &statement.kind {
                StatementKind::Declare(id, Some(initial)) => {
                    id.0 == *length && !initial.items.iter().any(|item| item.value.has_effects())
                }
                _ => false,
            };
            self.implied.retain(|statement| !useless(statement));
        }
        self.attributes(&parameter.node.extensions);
        let ty = adjusted(ty);
        let mut object = None;
        if let Some((name, span)) = &name {
            // Later parameters may mention it in the lengths of arrays.
            let span = self.span_between(span.start, span.end);
            let id = self.automatic(name, ty.clone(), span);
            self.bind(name, Entity::Object(id));
            self.note_object(id, &base, specifiers.attributes);
            object = Some(id);
        }
        Ok(Parameter { name, ty, object })
    }

    pub(super) fn bits(&self, ty: &CType) -> u32 {
        self.tree.types.scalar(ty).width()
    }

    /// A value that the compiler computes: nothing of it is left for a run.
    pub(super) fn computed(&mut self, node: &Node<lang_c::ast::Expression>) -> Checked<Term> {
        let kept = std::mem::take(&mut self.tree.types.kept);
        let term = self.value(node);
        self.tree.types.kept = kept;
        term
    }

    /// The value of a constant expression of integer type, with its sign repeated in front.
    pub(super) fn integer_constant(&mut self, node: &Node<lang_c::ast::Expression>) -> Checked<u64> {
        let term = self.computed(node)?;
        match term.kind {
            _ if self.wide_constant(&term).is_some_and(|value| value as i128 == i128::from(value as i64)) => {
                Ok(self.wide_constant(&term).unwrap_or(0) as u64)
            }
            TermKind::Constant(value) => {
                Ok(if term.ty.is_signed() { sign_extended(value, self.bits(&term.ty)) } else { value })
            }
            _ => self.fail(node, "a constant is expected"),
        }
    }
}

/// The value with its sign repeated in front.
pub(super) fn sign_extended(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits.clamp(1, 64);
    (((value << shift) as i64) >> shift) as u64
}

/// Whether a type has an array in it whose length is told at run time.
fn is_variable(ty: &CType) -> bool {
    match ty {
        CType::Array(_, Length::Variable(_)) => true,
        CType::Array(inner, _) | CType::Pointer(inner) => is_variable(inner),
        _ => false,
    }
}

/// Parameters that are arrays or functions are pointers.
pub(super) fn adjusted(ty: CType) -> CType {
    match ty {
        CType::Array(element, _) => CType::Pointer(element),
        function @ CType::Function(_) => function.pointer_to(),
        other => other,
    }
}

//! Declarations of objects, functions and types.

use std::rc::Rc;

use lang_c::ast::{
    Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, Extension,
    FunctionDefinition, FunctionSpecifier, InitDeclarator, Statement as Syntax, StorageClassSpecifier,
};
use lang_c::span::Node;

use super::specifiers::{Attributes, Parameter, Specifiers, adjusted};
use super::{Entity, Sema};
use crate::c::ctype::{CType, Length, Rest, Signature, UNNAMED};
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{
    Function, FunctionId, Lifetime, Object, ObjectId, Role, Statement, StatementKind, Term, TermKind,
};

impl Sema<'_> {
    /// Reads a declaration; in a function, the statements that it stands for.
    pub(super) fn declaration(&mut self, declaration: &Node<Declaration>) -> Checked<Vec<Statement>> {
        let specifiers = match self.specifiers(&declaration.node.specifiers, declaration.span) {
            Ok(specifiers) => specifiers,
            Err(problem) => {
                self.unknown_names(declaration, &problem);
                return Err(problem);
            }
        };
        let shared = std::mem::take(&mut self.refused);
        if declaration.node.declarators.is_empty() {
            // A structure knows itself what is wrong with it.
            match (&specifiers.ty, shared.first()) {
                (CType::Record(id), Some(problem)) => {
                    self.problems.extend(shared.iter().filter(|problem| problem.is_mistake()).cloned());
                    self.tree.types.records[*id as usize].problem.get_or_insert(problem.clone());
                }
                _ => self.problems.extend(shared.iter().cloned()),
            }
        }
        let mut statements = Vec::new();
        for declarator in &declaration.node.declarators {
            self.refused.extend(shared.iter().cloned());
            let outcome = self.init_declarator(&specifiers, declarator);
            statements.append(&mut self.implied);
            let outcome = self.with_refused(outcome);
            match outcome {
                Ok(statement) => statements.extend(statement),
                Err(problem) => {
                    let is_local = specifiers.storage.is_some();
                    self.unknown_name(&declarator.node.declarator, &problem, is_local);
                    statements.push(self.unsupported_here(problem));
                }
            }
        }
        if self.function.is_none() {
            let mistakes = statements.drain(..).filter_map(|statement| match statement.kind {
                StatementKind::Unsupported(problem) if problem.is_mistake() => Some(*problem),
                _ => None,
            });
            self.problems.extend(mistakes);
        }
        Ok(statements)
    }

    fn init_declarator(
        &mut self,
        specifiers: &Specifiers,
        syntax: &Node<InitDeclarator>,
    ) -> Checked<Vec<Statement>> {
        let (name, ty) = self.declarator(&syntax.node.declarator, specifiers.ty.clone())?;
        let Some((name, at)) = name else { return self.fail(syntax, "a name is expected") };
        let span = self.span_between(at.start, at.end);
        let refused = std::mem::take(&mut self.refused);
        let attributes = specifiers.attributes.and(self.attributes(&syntax.node.declarator.node.extensions));
        self.refused.clear();
        if specifiers.storage == Some(StorageClassSpecifier::Typedef) {
            self.refuse_alias();
            let own = self.attributes(&syntax.node.declarator.node.extensions).align;
            self.refused.clear();
            let changed = own.filter(|align| *align != self.tree.types.align(&ty));
            let changed = changed.filter(|align| {
                let own = matches!(ty, CType::Record(id) if id >= self.first_record);
                !(own && self.tree.types.realign_unnamed(&ty, *align))
            });
            let problem = refused.into_iter().next().or_else(|| {
                changed.map(|_| Problem::unsupported(span, "a type with an alignment of its own is"))
            });
            if let CType::Record(id) = ty {
                let record = &mut self.tree.types.records[id as usize];
                if record.name == UNNAMED {
                    record.alias.get_or_insert_with(|| name.clone());
                }
            }
            let named = ty.clone();
            let entity = match problem {
                Some(problem) => Entity::Refused(problem, ty),
                None => Entity::Type(ty),
            };
            self.bind(&name, entity);
            self.note_type(&name, &specifiers.ty, &named, attributes);
            return Ok(Vec::new());
        }
        self.note_alias(&name);
        self.assembler_name(&name, &syntax.node.declarator.node.extensions, span);
        if let CType::Function(signature) = ty {
            if self.declares_nested(&name, &signature, specifiers, span) {
                return Ok(Vec::new());
            }
            let id = self.function_named(&name, signature, specifiers, span);
            self.function_attributes(id, attributes, refused);
            return Ok(Vec::new());
        }
        if ty == CType::Void {
            return self.fail(syntax, format!("`{name}` has no type"));
        }
        let external =
            specifiers.storage == Some(StorageClassSpecifier::Extern) && syntax.node.initializer.is_none();
        let is_static = specifiers.storage == Some(StorageClassSpecifier::Static);
        if self.function.is_none() || external || is_static {
            let is_definition = !external && !is_static;
            if is_definition && self.is_another_of_weak(&name, attributes, span) {
                return Ok(Vec::new());
            }
            // The `const` in front of `char *` is not about the pointer.
            let is_constant = specifiers.attributes.constant && !ty.element_of_arrays().is_pointer();
            self.static_object(&name, ty, external, is_static, syntax, span)?;
            if let (true, Some(Entity::Object(id))) = (is_constant, self.lookup(&name)) {
                let id = *id;
                self.tree.constant.insert(id);
            }
            if let Some(Entity::Object(id)) = self.lookup(&name).cloned() {
                self.note_object(id, &specifiers.ty, attributes);
                if is_definition {
                    let unit = self.linkage.unit;
                    let known = self.linkage.object_definitions.entry(id).or_insert((unit, false));
                    known.1 |= attributes.weak.is_some();
                }
                let object = &mut self.tree.objects[id.0 as usize];
                let weak = attributes.weak.filter(|_| !object.defined);
                let weak = weak.map(|span| Problem::unsupported(span, "an object that need not exist is"));
                object.problem = object.problem.take().or(refused.into_iter().next()).or(weak);
            }
            return Ok(Vec::new());
        }
        if let Some(problem) = refused.into_iter().next() {
            return Err(problem);
        }
        let id = self.automatic(&name, ty, span);
        self.bind(&name, Entity::Object(id));
        self.note_object(id, &specifiers.ty, attributes);
        let initial = match &syntax.node.initializer {
            Some(initializer) => Some(self.initial(id, initializer)?),
            None => None,
        };
        if matches!(self.tree.object(id).ty, CType::Array(_, Length::Unknown)) {
            return self.fail(syntax, format!("the length of `{name}` is not known"));
        }
        if !matches!(self.tree.object(id).ty, CType::Array(..))
            && self.tree.types.size(&self.tree.object(id).ty).is_none()
        {
            return self.fail(syntax, format!("`{name}` has an incomplete type"));
        }
        let span = self.span(syntax);
        let mut statements = vec![Statement { kind: StatementKind::Declare(id, initial), span }];
        statements.extend(attributes.cleanup.map(|function| self.cleanup(id, function, span)));
        Ok(statements)
    }

    /// What happens to a variable when its scope is left: `cleanup`.
    fn cleanup(&mut self, id: ObjectId, function: FunctionId, span: wherefore_program::Span) -> Statement {
        let signature = self.tree.function(function).signature.clone();
        let ty = self.tree.object(id).ty.clone();
        let place = Term::new(TermKind::Object(id), ty.clone(), span);
        let address = Term::new(TermKind::Address(Box::new(place)), ty.pointer_to(), span);
        let argument = match signature.parameters.first() {
            Some(parameter) => self.convert(address, parameter),
            None => Ok(address),
        };
        match argument {
            Ok(argument) => {
                let result = signature.result.clone();
                let callee = Term::new(TermKind::Function(function), CType::Function(signature), span);
                let call = Term::new(TermKind::Call(Box::new(callee), vec![argument]), result, span);
                Statement { kind: StatementKind::Cleanup(id, Box::new(call)), span }
            }
            Err(problem) => self.unsupported_here(problem),
        }
    }

    /// Takes note of a name that an object or a function has for the assembler.
    fn assembler_name(&mut self, name: &str, extensions: &[Node<Extension>], span: wherefore_program::Span) {
        for extension in extensions {
            let Extension::AsmLabel(parts) = &extension.node else { continue };
            let label: String = parts.node.iter().map(|part| part.trim_matches('"')).collect();
            if label != name {
                self.linkage.labels.push((name.to_owned(), label, span));
            }
        }
    }

    /// Whether this is a second definition of an object, in another unit, and one of them is weak:
    /// which one counts is not followed.
    fn is_another_of_weak(
        &mut self,
        name: &str,
        attributes: Attributes,
        span: wherefore_program::Span,
    ) -> bool {
        let Some(id) = self.linkage.objects.get(name).copied() else { return false };
        let Some((unit, weak)) = self.linkage.object_definitions.get(&id).copied() else { return false };
        let is_such = unit != self.linkage.unit && (weak || attributes.weak.is_some());
        if is_such {
            let problem = Problem::unsupported(span, "a weak object that another file defines, too, is");
            self.tree.objects[id.0 as usize].problem.get_or_insert(problem);
            self.bind(name, Entity::Object(id));
        }
        is_such
    }

    fn static_object(
        &mut self,
        name: &str,
        ty: CType,
        external: bool,
        is_static: bool,
        syntax: &Node<InitDeclarator>,
        span: wherefore_program::Span,
    ) -> Checked<()> {
        let local = self.function.is_some();
        let before = match self.scopes[if local { self.scopes.len() - 1 } else { 0 }].names.get(name) {
            Some(Entity::Object(id)) if !local => Some(*id),
            _ if is_static => None,
            _ => self.linkage.objects.get(name).copied(),
        };
        let id = match before {
            Some(id) => {
                let known = &mut self.tree.objects[id.0 as usize];
                // The declaration that knows the length says more.
                if matches!(known.ty, CType::Array(_, Length::Unknown)) {
                    known.ty = ty;
                }
                known.defined |= !external;
                id
            }
            None => {
                let id = ObjectId(self.tree.objects.len() as u32);
                let name = name.to_owned();
                let owner = if is_static && local { self.function } else { None };
                let lifetime = Lifetime::Static;
                let defined = !external;
                self.tree.objects.push(Object {
                    name,
                    ty,
                    lifetime,
                    owner,
                    initial: None,
                    defined,
                    problem: None,
                    role: Role::default(),
                    span,
                });
                id
            }
        };
        if !is_static {
            self.linkage.objects.entry(name.to_owned()).or_insert(id);
        }
        self.bind(name, Entity::Object(id));
        if let Some(initializer) = &syntax.node.initializer {
            if self.tree.object(id).initial.is_some() {
                let span = self.span(syntax);
                let problem = Problem::not_linked(span, format!("`{name}` is defined twice"));
                self.problems.push(problem.clone());
                return Err(problem);
            }
            let initial = self.initial(id, initializer)?;
            self.tree.objects[id.0 as usize].initial = Some(initial);
            self.tree.objects[id.0 as usize].span = span;
        }
        Ok(())
    }

    /// The function of this name, declared if need be.
    fn function_named(
        &mut self,
        name: &str,
        signature: Rc<Signature>,
        specifiers: &Specifiers,
        span: wherefore_program::Span,
    ) -> FunctionId {
        let is_static = specifiers.storage == Some(StorageClassSpecifier::Static);
        let visible = match self.lookup(name) {
            Some(Entity::Function(id)) => Some(*id),
            _ if is_static => None,
            _ => self.linkage.functions.get(name).copied(),
        };
        let id = visible.unwrap_or_else(|| self.new_function(name, signature.clone(), span));
        if !is_static && visible.is_none() {
            self.linkage.functions.insert(name.to_owned(), id);
        }
        let function = &mut self.tree.functions[id.0 as usize];
        // A prototype says more than `f()`.
        if function.body.is_none() && function.signature.rest == Rest::Unspecified {
            function.signature = signature;
        }
        function.returns &= specifiers.returns;
        self.bind(name, Entity::Function(id));
        id
    }

    pub(super) fn new_function(
        &mut self,
        name: &str,
        signature: Rc<Signature>,
        span: wherefore_program::Span,
    ) -> FunctionId {
        let id = FunctionId(self.tree.functions.len() as u32);
        self.tree.functions.push(Function::declared(name, signature, span));
        id
    }

    /// A call of a function that is not declared: it returns `int`.
    pub(super) fn implicit_function(&mut self, name: &str, span: wherefore_program::Span) -> FunctionId {
        if let Some(id) = self.linkage.functions.get(name) {
            return *id;
        }
        let rest = Rest::Unspecified;
        let signature = Signature { result: CType::INT, parameters: Vec::new(), rest };
        let id = self.new_function(name, Rc::new(signature), span);
        self.linkage.functions.insert(name.to_owned(), id);
        self.scopes[0].names.insert(name.to_owned(), Entity::Function(id));
        id
    }

    /// What the attributes of a declaration say about a function.
    fn function_attributes(&mut self, id: FunctionId, attributes: Attributes, refused: Vec<Problem>) {
        let unit = self.linkage.unit;
        let is_here = self.linkage.function_definitions.get(&id) == Some(&unit);
        let function = &mut self.tree.functions[id.0 as usize];
        if attributes.weak.is_some() {
            self.linkage.weak_functions.insert((id, unit));
            // Also if it is said behind the definition.
            function.provisional |= is_here && function.body.is_some();
        }
        function.returns &= !attributes.noreturn;
        function.weak = function.weak.or(attributes.weak);
        function.runs = function.runs.or(attributes.runs);
        function.problems.extend(refused);
    }

    /// A function of our library, declared if need be.
    pub(super) fn library_function(
        &mut self,
        name: &str,
        result: CType,
        parameters: Vec<CType>,
        span: wherefore_program::Span,
    ) -> FunctionId {
        if let Some(id) = self.linkage.functions.get(name) {
            return *id;
        }
        let signature = Rc::new(Signature { result, parameters, rest: Rest::Nothing });
        let id = self.new_function(name, signature, span);
        self.linkage.functions.insert(name.to_owned(), id);
        id
    }

    pub(super) fn definition(&mut self, syntax: &Node<FunctionDefinition>) -> Checked<()> {
        let specifiers = self.specifiers(&syntax.node.specifiers, syntax.span)?;
        let (name, ty) = self.declarator(&syntax.node.declarator, specifiers.ty.clone())?;
        let (Some((name, at)), CType::Function(signature)) = (name, ty) else {
            return self.fail(&syntax.node.declarator, "a function is expected");
        };
        let span = self.span_between(at.start, at.end);
        let refused = std::mem::take(&mut self.refused);
        let attributes = specifiers.attributes.and(self.attributes(&syntax.node.declarator.node.extensions));
        self.refused.clear();
        let id = self.function_named(&name, signature.clone(), &specifiers, span);
        self.function_attributes(id, attributes, refused);
        self.refuse_alias();
        let inline = syntax.node.specifiers.iter().any(|specifier| {
            matches!(&specifier.node, DeclarationSpecifier::Function(f) if f.node == FunctionSpecifier::Inline)
        });
        let external = specifiers.storage == Some(StorageClassSpecifier::Extern);
        // Another definition takes the place of one that is weak, as any declaration of it in this
        // file may say.
        let is_weak = self.linkage.weak_functions.contains(&(id, self.linkage.unit));
        let provisional = inline && external && attributes.gnu_inline || is_weak;
        let known = self.tree.function(id);
        // A function of the program that only has the name of one of the library.
        if self.again == super::Again::Library && !known.signature.is_like(&signature) {
            return Ok(());
        }
        if known.body.is_some() && (provisional || !known.provisional) {
            if self.again != super::Again::Refuse || inline || provisional {
                return Ok(());
            }
            let span = self.span(&syntax.node.declarator);
            return Err(Problem::not_linked(span, format!("`{name}` is defined twice")));
        }
        let function = &mut self.tree.functions[id.0 as usize];
        if function.provisional {
            // What was wrong with the other body does not matter any more.
            function.problems.clear();
            function.rest = None;
        }
        function.provisional = provisional;
        self.linkage.function_definitions.insert(id, self.linkage.unit);
        let outer = std::mem::take(&mut self.problems);
        self.function = Some(id);
        self.result = signature.result.clone();
        self.enter();
        let FunctionDefinition { declarator, declarations, statement, .. } = &syntax.node;
        let outcome = self.body(id, declarator, declarations, statement, &signature);
        self.leave();
        self.function = None;
        let mut problems = std::mem::replace(&mut self.problems, outer);
        problems.extend(outcome.err());
        let body = syntax.node.statement.span;
        let lost = self.lost.iter().filter(|(range, _)| body.start <= range.start && range.end <= body.end);
        problems.extend(lost.map(|(_, problem)| problem.clone()));
        problems.append(&mut self.refused);
        let end = syntax.node.statement.span.end;
        let end = self.span_between(end.saturating_sub(1), end);
        let function = &mut self.tree.functions[id.0 as usize];
        function.problems.extend(problems);
        function.span = span;
        function.end = end;
        function.body.get_or_insert_with(Vec::new);
        Ok(())
    }

    /// The parameters and the statements of a function.
    pub(super) fn body(
        &mut self,
        id: FunctionId,
        declarator: &Node<Declarator>,
        declarations: &[Node<Declaration>],
        statement: &Node<Syntax>,
        signature: &Signature,
    ) -> Checked<()> {
        self.defines = true;
        let parameters = self.parameters(declarator, declarations);
        self.defines = false;
        let lengths = std::mem::take(&mut self.implied);
        let parameters = parameters?;
        let mut objects = Vec::new();
        for (i, parameter) in parameters.iter().enumerate() {
            let (name, span) = match &parameter.name {
                Some((name, at)) => (name.clone(), self.span_between(at.start, at.end)),
                None => (format!("parameter.{}", i + 1), self.tree.function(id).span),
            };
            let object = match parameter.object {
                Some(object) => object,
                None => self.automatic(&name, parameter.ty.clone(), span),
            };
            self.tree.objects[object.0 as usize].lifetime = Lifetime::Parameter;
            self.bind(&name, Entity::Object(object));
            objects.push(object);
        }
        let rest = match signature.rest {
            // `f()` may be called with arguments, which are not read.
            Rest::Unspecified if !parameters.is_empty() => Rest::Nothing,
            rest => rest,
        };
        let types = parameters.into_iter().map(|parameter| parameter.ty).collect();
        let function = &mut self.tree.functions[id.0 as usize];
        function.signature = Rc::new(Signature { result: signature.result.clone(), parameters: types, rest });
        function.parameters = objects;
        // Known before it is read, so that recursion finds a body.
        function.body = Some(Vec::new());
        let Syntax::Compound(items) = &statement.node else {
            return self.fail(statement, "a block is expected");
        };
        let mut body = lengths;
        let items = self.items(items);
        body.extend(self.comes_back());
        body.extend(items);
        self.tree.functions[id.0 as usize].body = Some(body);
        Ok(())
    }

    /// The parameters of a definition, by name.
    fn parameters(
        &mut self,
        declarator: &Node<Declarator>,
        declarations: &[Node<Declaration>],
    ) -> Checked<Vec<Parameter>> {
        let Some(part) = function_part(declarator) else {
            return self.unsupported(declarator, "a function whose type is a typedef is");
        };
        match &part.node {
            DerivedDeclarator::Function(function) => Ok(self.prototype(&function.node)?.0),
            DerivedDeclarator::KRFunction(names) => {
                let mut parameters: Vec<Parameter> = names
                    .iter()
                    .map(|name| Parameter {
                        name: Some((name.node.name.clone(), name.span)),
                        ty: CType::INT,
                        object: None,
                    })
                    .collect();
                for declaration in declarations {
                    let base = self.specifiers(&declaration.node.specifiers, declaration.span)?.ty;
                    for declarator in &declaration.node.declarators {
                        let (name, ty) = self.declarator(&declarator.node.declarator, base.clone())?;
                        let wanted = name.map(|(name, _)| name);
                        for parameter in &mut parameters {
                            if parameter.name.as_ref().map(|(name, _)| name) == wanted.as_ref() {
                                parameter.ty = adjusted(ty.clone());
                            }
                        }
                    }
                }
                Ok(parameters)
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// The list of parameters that belongs to the name itself.
fn function_part(declarator: &Node<Declarator>) -> Option<&Node<DerivedDeclarator>> {
    if let DeclaratorKind::Declarator(inner) = &declarator.node.kind.node {
        if let Some(found) = function_part(inner) {
            return Some(found);
        }
    }
    declarator
        .node
        .derived
        .iter()
        .find(|part| matches!(part.node, DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_)))
}

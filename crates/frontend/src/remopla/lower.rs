//! From the tree to the program: modules, signatures, where execution starts.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Assignment, Call, LocationKind, Objects, Operation, Procedure, ProcedureBuilder, ProcedureId,
    Program, Scalar, SourceFile, Var, Variable,
};

use super::ast::{self, Body, Name, Rule};
use super::body::BodyLowering;
use super::declare::{Base, Entity, EnumId, Part, Scope, Scopes, Types, constant, span};
use super::symbols::{Shares, copies_wanted, symbols};
use crate::diagnostics::Reporter;

/// A module, or the loose statements, or a copy of one of them that starts elsewhere.
pub(super) struct Unit<'a> {
    pub(super) name: String,
    pub(super) at: ast::At,
    pub(super) body: &'a Body,
    /// The raw rules between its labels.
    pub(super) rules: Vec<&'a Rule>,
    /// None for loose statements.
    pub(super) signature: Option<&'a Signature>,
    pub(super) scopes: &'a Scopes<'a>,
    /// The label where it starts, if it is not the first statement.
    pub(super) start: Option<String>,
}

/// What is known of a module without its body.
pub(super) struct Signature {
    pub(super) name: Name,
    /// None if the module is only declared.
    pub(super) id: Option<ProcedureId>,
    /// One entry a parameter, which is several variables if it is a structure.
    pub(super) parameters: Vec<Vec<Part>>,
    pub(super) result: Option<(Scalar, Option<EnumId>)>,
    /// The parameters, then the local variables.
    pub(super) variables: Vec<Variable>,
    pub(super) parameter_count: usize,
}

/// What the lowering of a body needs to know about the rest.
pub(super) struct World<'a> {
    pub(super) types: &'a Types,
    pub(super) signatures: &'a FxHashMap<String, Signature>,
    pub(super) scopes: &'a FxHashMap<String, Scopes<'a>>,
    /// Procedures that start at a label: by the unit that the label is in, and the label.
    pub(super) copies: &'a FxHashMap<(Option<String>, String), ProcedureId>,
    pub(super) loose_symbols: &'a BTreeSet<String>,
}

/// The program, if there is nothing wrong with it; else something was reported.
pub(super) fn lower(
    file: &ast::File,
    source: SourceFile,
    entry: Option<&str>,
    reporter: &mut Reporter<'_>,
) -> Option<Program> {
    let mut types = Types::new(file.incomplete);
    let (globals, global_scope) = globals(file, &mut types, reporter);
    let (signatures, mut inner) = signatures(file, &global_scope, &mut types, reporter);
    let scopes: FxHashMap<String, Scopes<'_>> =
        inner.drain().map(|(name, inner)| (name, Scopes { outer: Some(&global_scope), inner })).collect();
    let loose_scopes = Scopes { outer: Some(&global_scope), inner: Scope::default() };

    let shares = Shares::new(file, reporter);
    let mut units: Vec<Unit<'_>> = Vec::new();
    for (module, rules) in file.modules.iter().zip(&shares.modules) {
        let signature = &signatures[&module.name.text];
        if let Some(body) = module.body.as_ref().filter(|_| signature.name.at == module.name.at) {
            let (name, at) = (module.name.text.clone(), module.name.at.clone());
            let scopes = &scopes[&module.name.text];
            let rules = rules.clone();
            units.push(Unit { name, at, body, rules, signature: Some(signature), scopes, start: None });
        }
    }
    let loose_symbols = symbols(&file.loose, &shares.loose);
    let mut copies = FxHashMap::default();
    let wanted = copies_wanted(file, &shares, &signatures, &loose_symbols);
    for (module, label) in wanted {
        copies.insert((module.clone(), label.text.clone()), ProcedureId(units.len() as u32));
        units.push(match &module {
            None => Unit {
                name: label.text.clone(),
                at: label.at.clone(),
                body: &file.loose,
                rules: shares.loose_from(&file.loose, &label.text),
                signature: None,
                scopes: &loose_scopes,
                start: Some(label.text.clone()),
            },
            Some(name) => {
                let unit =
                    units.iter().find(|unit| unit.name == *name).expect("the module of a rule has a body");
                let name = format!("{name}.{}", label.text);
                let (at, start) = (label.at.clone(), Some(label.text.clone()));
                Unit {
                    name,
                    at,
                    start,
                    body: unit.body,
                    rules: unit.rules.clone(),
                    signature: unit.signature,
                    scopes: unit.scopes,
                }
            }
        });
    }
    let has_loose = !file.loose.statements.is_empty() || !shares.loose.is_empty();
    if has_loose && !copies.keys().any(|(module, _)| module.is_none()) {
        // Nothing leads there, but it is read all the same.
        let (name, at) = ("loose statements".to_owned(), file.loose.end.clone());
        let (body, scopes) = (&file.loose, &loose_scopes);
        let rules = shares.loose.clone();
        units.push(Unit { name, at, body, rules, signature: None, scopes, start: None });
    }
    let world = World {
        types: &types,
        signatures: &signatures,
        scopes: &scopes,
        copies: &copies,
        loose_symbols: &loose_symbols,
    };
    let mut procedures: Vec<Procedure> =
        units.iter().map(|unit| BodyLowering::new(unit, &world, reporter).run()).collect();
    let entry = start(file, &source, entry, &world, &mut procedures, reporter);
    let program =
        Program { sources: vec![source], globals, procedures, entry: entry?, objects: Objects::default() };
    reporter.is_clean().then_some(program)
}

fn globals(file: &ast::File, types: &mut Types, reporter: &mut Reporter<'_>) -> (Vec<Variable>, Scope) {
    let mut scopes = Scopes { outer: None, inner: Scope::default() };
    for (name, value) in &file.defines {
        if let Some(constant) = constant(value, &scopes, reporter) {
            if name.text == "DEFAULT_INT_BITS" && !(1..=64).contains(&constant) {
                reporter.error(value.at.clone(), "a width is between 1 and 64");
                continue;
            }
            scopes.add_constant(name, Entity::Constant(constant), reporter);
        } else {
            types.incomplete = true;
        }
    }
    let mut variables = Vec::new();
    for declaration in &file.globals {
        types.declare(declaration, &mut scopes, &mut variables, Var::Global, reporter);
    }
    (variables, scopes.inner)
}

/// The signatures of all modules, and the names that each declares.
fn signatures(
    file: &ast::File,
    globals: &Scope,
    types: &mut Types,
    reporter: &mut Reporter<'_>,
) -> (FxHashMap<String, Signature>, FxHashMap<String, Scope>) {
    let mut signatures: FxHashMap<String, Signature> = FxHashMap::default();
    let mut inner: FxHashMap<String, Scope> = FxHashMap::default();
    let mut next = 0;
    for module in &file.modules {
        let mut scopes = Scopes { outer: Some(globals), inner: Scope::default() };
        let mut variables = Vec::new();
        let mut parameters = Vec::new();
        for parameter in &module.parameters {
            types.declare(parameter, &mut scopes, &mut variables, Var::Local, reporter);
            let entity = parameter.declarators.first().and_then(|d| scopes.inner.get(&d.name.text));
            parameters.push(match entity {
                Some(Entity::Variable(part)) => vec![part.clone()],
                Some(Entity::Struct { fields, .. }) => fields.iter().map(|(_, part)| part.clone()).collect(),
                _ => Vec::new(),
            });
        }
        let parameter_count = variables.len();
        for declaration in module.body.iter().flat_map(|body| &body.declarations) {
            types.declare(declaration, &mut scopes, &mut variables, Var::Local, reporter);
        }
        let result = match module.result.as_ref().map(|spec| types.base(spec, &mut scopes, reporter)) {
            Some(Some(Base::Scalar(scalar, enumeration))) => Some((scalar, enumeration)),
            Some(Some(Base::Struct(_))) => {
                reporter.error(
                    module.name.at.clone(),
                    "a module returns a truth value, an integer or an enumeration",
                );
                None
            }
            _ => None,
        };
        let name = &module.name;
        let id = module.body.as_ref().map(|_| ProcedureId(next));
        let signature = Signature { name: name.clone(), id, parameters, result, variables, parameter_count };
        if let Some(known) = signatures.get(&name.text) {
            if known.id.is_some() && id.is_some() {
                reporter.error(name.at.clone(), format!("there is another module `{}`", name.text));
                continue;
            }
            if !same_head(known, &signature) {
                reporter
                    .error(name.at.clone(), format!("`{}` is declared in another way elsewhere", name.text));
            }
            if id.is_none() {
                continue;
            }
        }
        next += u32::from(id.is_some());
        inner.insert(name.text.clone(), scopes.inner);
        signatures.insert(name.text.clone(), signature);
    }
    (signatures, inner)
}

fn same_head(a: &Signature, b: &Signature) -> bool {
    let types = |signature: &Signature| -> Vec<Vec<(wherefore_program::Type, Option<EnumId>)>> {
        let shape =
            |parts: &Vec<Part>| parts.iter().map(|part| (part.ty.clone(), part.enumeration)).collect();
        signature.parameters.iter().map(shape).collect()
    };
    a.result == b.result && types(a) == types(b)
}

/// Where execution starts. Several symbols on the stack become a procedure that calls them in turn.
fn start(
    file: &ast::File,
    source: &SourceFile,
    entry: Option<&str>,
    world: &World<'_>,
    procedures: &mut Vec<Procedure>,
    reporter: &mut Reporter<'_>,
) -> Option<ProcedureId> {
    let defined = |name: &str| world.signatures.get(name).and_then(|signature| signature.id);
    if entry.is_some() || file.init.is_empty() {
        let name = entry.unwrap_or("main");
        let found = defined(name);
        if found.is_none() && !world.types.incomplete {
            let end = source.text().trim_end().len();
            reporter.error(end.saturating_sub(1)..end, format!("there is no module `{name}`"));
        }
        return found;
    }
    let mut symbols = Vec::new();
    for name in &file.init {
        let label = || {
            let copies = world.copies.iter().filter(|((_, label), _)| *label == name.text);
            copies.min_by_key(|((module, _), id)| (module.is_some(), **id)).map(|(_, id)| *id)
        };
        match defined(&name.text).or_else(label) {
            Some(id) => symbols.push((id, span(&name.at))),
            None if world.types.incomplete => {}
            None => reporter.error(name.at.clone(), format!("there is no module `{}`", name.text)),
        }
    }
    if let [(id, _)] = symbols[..] {
        return Some(id);
    }
    let first = symbols.first()?.1;
    let mut builder = ProcedureBuilder::new("init", first);
    let locations: Vec<_> = symbols.iter().map(|(_, at)| builder.location(*at, LocationKind::Call)).collect();
    let end = builder.location(symbols.last()?.1, LocationKind::End);
    for (i, (callee, at)) in symbols.iter().enumerate() {
        let called = &procedures.get(callee.0 as usize)?;
        let arguments = vec![Argument::Arbitrary; called.parameters];
        let results = vec![None; called.results.len()];
        let call = Call { callee: *callee, arguments, results, assignment: Assignment::default() };
        let next = locations.get(i + 1).copied().unwrap_or(end);
        builder.edge(locations[i], next, Operation::Call(call), *at);
    }
    builder.edge(end, builder.exit(), Operation::Return(Vec::new()), symbols.last()?.1);
    procedures.push(builder.finish(locations[0]));
    Some(ProcedureId(procedures.len() as u32 - 1))
}

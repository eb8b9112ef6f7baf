//! What happens before the entry function: objects with static lifetime get their values.

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, LocationId, LocationKind, Operation, Procedure, Scalar, Span,
    Var, ViolationKind,
};

use super::body::Body;
use super::events::Exit;
use super::jumps::Returning;
use super::place::Place;
use super::storage::{Frame, Storage};
use super::{Context, Lower};
use crate::c::Uninitialised;
use crate::c::ctype::CType;
use crate::c::problem::Checked;
use crate::c::tree::{FunctionId, Initial, ObjectId, TermKind};

/// The streams that are open when a program starts.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

impl Context<'_> {
    /// The procedure where runs start: it initialises, calls the entry with any arguments, and
    /// returns.
    pub(super) fn start(&mut self, entries: &[FunctionId], name: String) -> Procedure {
        let nowhere = Span::new(wherefore_program::FileId(0), 0, 0);
        let span = entries.first().map_or(nowhere, |entry| self.tree.function(*entry).span);
        let mut lower = Lower {
            body: Body::new(span),
            cx: self,
            frame: Frame::default(),
            labels: FxHashMap::default(),
            targets: Vec::new(),
            olds: Vec::new(),
            inputs: Vec::new(),
            approximated: Vec::new(),
            result: CType::Void,
            entered_once: true,
            head: None,
            function: None,
            unsupported: Vec::new(),
            cleanups: Vec::new(),
            scopes_of_labels: FxHashMap::default(),
            guards: Vec::new(),
            is_library: false,
            is_claim: false,
            returning: Returning::default(),
            sure: (LocationId(0), Vec::new()),
        };
        lower.choose_object(span);
        // Initial values may mention further objects.
        let mut done = 0;
        while let Some(id) = lower.cx.statics.get(done).copied() {
            done += 1;
            lower.attempt(|lower| lower.initialise_static(id));
        }
        for id in lower.cx.tree.constructors() {
            lower.run(id, span);
        }
        lower.call_entries(entries, span);
        lower.finish_jumps(&[], span);
        lower.close(name, span, 0, Vec::new(), None)
    }
}

impl Lower<'_, '_> {
    fn call_entries(&mut self, entries: &[FunctionId], span: Span) {
        let tree = self.cx.tree;
        let parameters = |entry: &FunctionId| &tree.function(*entry).signature.parameters;
        let is_other = |entry: &&FunctionId| tree.function(**entry).name != "main";
        if entries.iter().filter(is_other).flat_map(parameters).any(CType::is_pointer) {
            let text =
                "the arguments of the entry point to no object of the program, and not to each other's";
            self.cx.assume(text, Some(span));
        }
        if let [entry] = entries {
            self.run(*entry, span);
        } else {
            let (at, after) = (self.body.fill(span, LocationKind::Branch), self.body.open(span));
            for entry in entries {
                self.body.at = self.body.open(span);
                self.body.edge(at, self.body.at, Operation::Skip, span);
                self.run(*entry, span);
                self.body.join(after, span);
            }
            self.body.at = after;
        }
        for id in tree.destructors() {
            self.run(id, span);
        }
        self.check_leaks();
        if entries.iter().all(|entry| tree.function(*entry).name == "main") {
            self.exit_event(Exit::End, span);
        }
        let at = self.body.fill(span, LocationKind::End);
        self.body.edge(at, LocationId(0), Operation::Return(Vec::new()), span);
    }

    /// A function that runs by itself, without arguments; its results are dropped.
    pub(crate) fn run(&mut self, id: FunctionId, span: Span) {
        let tree = self.cx.tree;
        let mut arguments = Vec::new();
        let function = tree.function(id);
        for (i, parameter) in function.signature.parameters.iter().enumerate() {
            if i == 0 && function.name == "main" && *parameter == CType::INT {
                arguments.push(Argument::Value(self.argument_count(span)));
                continue;
            }
            let types = self.piece_types(parameter, span).unwrap_or_default();
            let count = types.iter().filter(|ty| !tree.types.is_opaque(ty)).count();
            arguments.extend((0..count).map(|_| Argument::Arbitrary));
        }
        let results = self.cx.result_types(id).iter().map(|_| None).collect();
        let callee = self.cx.procedures[&id];
        let call = Call { callee, arguments, results, assignment: Assignment::default() };
        self.body.step(span, LocationKind::Call, Operation::Call(call));
        self.look_for_jump(id, span);
    }

    /// How many arguments `main` gets: at least the name of the program.
    fn argument_count(&mut self, span: Span) -> Expr {
        let ty = Scalar::Bits(32);
        let count = self.body.temporary(ty, span);
        self.body.step(span, LocationKind::Statement, Operation::Havoc(vec![count.into()]));
        let count = Expr::variable(count, ty);
        self.assume_of_model(Expr::binary(BinaryOp::SLt, Expr::constant(0, ty), count.clone()), span);
        count
    }

    fn initialise_static(&mut self, id: ObjectId) -> Checked<()> {
        let tree = self.cx.tree;
        let object = tree.object(id);
        let span = object.span;
        let place = self.object(id)?;
        let Some(initial) = &object.initial else {
            if object.defined {
                return match self.cx.options.globals {
                    Uninitialised::Zero => self.zero_static(&place, span),
                    Uninitialised::Any => self.any_static(id, &place),
                };
            }
            let text = format!("`{}` is declared but not defined: it starts with any value", object.name);
            self.cx.assume(text, Some(span));
            self.cx.undefined.push(object.name.clone());
            return self.any_static(id, &place);
        };
        if let Place::Split { object: id, .. } = &place {
            if let (Some(Storage::Split(leaves)), [only]) =
                (self.cx.storages.get(id), initial.items.as_slice())
            {
                // A constant is the value that the variable starts with.
                let constant = match (&only.value.kind, tree.types.format(&only.value.ty)) {
                    (TermKind::Constant(value), _) => Some(*value),
                    (TermKind::Real(Some(value)), Some(format)) => Some(format.bits_of(*value)),
                    _ => None,
                };
                if let (true, Some(value), [leaf]) = (only.path.is_empty(), constant, leaves.as_slice()) {
                    if let Some(Var::Global(variable)) = leaf.variable {
                        self.cx.globals[variable as usize].initial = Some(value);
                    }
                    return Ok(());
                }
            }
            if let [only] = initial.items.as_slice() {
                if only.path.is_empty() {
                    return self.assign_to(&place, &only.value, span);
                }
            }
        } else if object.name.starts_with("string.") && self.is_arbitrary(&place, span) {
            // Every character is set, the zero at the end too.
            return self.initialise_items(&place, &Initial { items: initial.items.clone(), span });
        } else {
            self.zero_static(&place, span)?;
        }
        // Variables start at zero, so that only other values need a step.
        let mut rest = initial.clone();
        rest.items.retain(|item| item.value.constant() != Some(0));
        rest.span = span;
        self.initialise_items(&place, &rest)
    }

    /// Variables are zero at the start; memory is, unless it may hold anything.
    fn zero_static(&mut self, place: &Place, span: Span) -> Checked<()> {
        if self.is_arbitrary(place, span) { self.zero(place, span) } else { Ok(()) }
    }

    /// Whether a place is in memory that starts with any value.
    fn is_arbitrary(&mut self, place: &Place, span: Span) -> bool {
        let Place::Memory { class, .. } = place else { return false };
        let division = self.cx.division(*class, span);
        division.everywhere().iter().any(|(_, _, cells)| match cells.variable {
            Var::Global(variable) => self.cx.globals[variable as usize].initial.is_none(),
            Var::Local(_) => false,
        })
    }

    /// An object holds anything at the start; a pointer is none to an object of the run.
    fn any_static(&mut self, id: ObjectId, place: &Place) -> Checked<()> {
        let object = self.cx.tree.object(id);
        self.havoc_static(place, object.span)?;
        if object.ty.is_pointer() {
            let value = self.read(place, object.span)?;
            self.keep_away_from_objects(value.clone(), object.span);
            // They are objects of the library, which C says are there.
            let is_asked = self.cx.tree.watched.is_some() || self.asks(ViolationKind::Null);
            if is_asked && STREAMS.contains(&object.name.as_str()) {
                let is_open = Expr::binary(BinaryOp::Ne, value.clone(), Expr::constant(0, value.ty));
                self.require(is_open, object.span);
            }
        }
        Ok(())
    }

    fn havoc_static(&mut self, place: &Place, span: Span) -> Checked<()> {
        if let Place::Split { object, .. } = place {
            let Some(Storage::Split(leaves)) = self.cx.storages.get(object) else { return Ok(()) };
            let variables: Vec<Var> = leaves.iter().filter_map(|leaf| leaf.variable).collect();
            for variable in variables {
                if let Var::Global(variable) = variable {
                    self.cx.globals[variable as usize].initial = None;
                }
            }
            return Ok(());
        }
        match self.cx.tree.types.size(place.ty()) {
            Some(size) if size <= 4096 => self.havoc(place, span),
            _ => Ok(()),
        }
    }
}

//! Threads: the functions that `threads.c` is made of, and atomic functions.

use wherefore_program::{
    BinaryOp, EdgeRef, Expr, LocationId, LocationKind, Operation, ProcedureId, Span, ThreadStart, Var,
    ViolationKind,
};

use super::call::Want;
use super::storage::{Leaf, Storage};
use super::value::{resize, truth};
use super::{Lower, Lowered};
use crate::c::calls::literal;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::threads;
use crate::c::tree::{FunctionId, Lifetime, ObjectId, Term, TermKind};

/// How far apart the stacks of threads are.
const STACK_SIZE_BITS: u64 = 24;

impl Lower<'_, '_> {
    /// The effect of a call that is about threads; none if it is not.
    pub(crate) fn thread_convention(
        &mut self,
        id: FunctionId,
        arguments: &[Term],
        term: &Term,
        want: &Want,
    ) -> Checked<Option<Vec<Expr>>> {
        let span = term.span;
        let function = self.cx.tree.function(id);
        if matches!(function.name.as_str(), "pthread_join" | "thrd_join") && self.watches_races() {
            self.doubt_result(arguments.get(1), span);
        }
        if function.body.is_some() || !self.cx.has_threads {
            return Ok(None);
        }
        match function.name.as_str() {
            "__VERIFIER_atomic_begin" => {
                self.body.step(span, LocationKind::Statement, Operation::AtomicBegin);
            }
            "__VERIFIER_atomic_end" => {
                self.body.step(span, LocationKind::Statement, Operation::AtomicEnd);
            }
            "__wherefore_end_thread" => {
                let at = self.body.fill(span, LocationKind::Statement);
                self.body.edge(at, LocationId(0), Operation::EndThread, span);
                self.body.at = self.body.open(span);
            }
            "__wherefore_too_many_threads" => {
                return Err(Problem::unsupported(span, threads::TOO_MANY));
            }
            "__wherefore_other_keys" => {
                return Err(Problem::unsupported(span, threads::OTHER_KEYS));
            }
            "__wherefore_lock_keeps" => self.rule_of_threads(ViolationKind::Lock, arguments, span)?,
            "__wherefore_moves" => self.rule_of_threads(ViolationKind::Deadlock, arguments, span)?,
            "__wherefore_fork" => return self.fork(arguments, term, want).map(Some),
            _ => return Ok(None),
        }
        Ok(Some(Vec::new()))
    }

    /// The model of a join stores the result within an atomic section, in which no race is seen.
    fn doubt_result(&mut self, place: Option<&Term>, span: Span) {
        let Some(place) = place.filter(|place| place.constant().is_none()) else { return };
        let tree = self.cx.tree;
        let is_automatic = |place: &Term| match &place.kind {
            TermKind::Object(id) => tree.object(*id).lifetime != Lifetime::Static,
            _ => false,
        };
        let mut inner = place;
        while let TermKind::Convert(value) = &inner.kind {
            inner = value;
        }
        if !matches!(&inner.kind, TermKind::Address(place) if is_automatic(place)) {
            let text = "no thread accesses the place where `pthread_join` stores the result meanwhile";
            self.cx.doubt(text, Some(span));
        }
    }

    /// A check of the models: a condition, and what happens if it does not hold.
    fn rule_of_threads(&mut self, kind: ViolationKind, arguments: &[Term], span: Span) -> Checked<()> {
        let [holds, otherwise] = arguments else {
            return Err(Problem::unsupported(span, "this check is"));
        };
        let holds = self.value(holds)?;
        let holds = truth(self.stable(holds, span));
        let text = literal(self.cx.tree, otherwise).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        self.check(kind, holds, &text, Vec::new(), (span, span));
        Ok(())
    }

    /// The new thread goes on here too, with 1 and a stack of its own.
    fn fork(&mut self, arguments: &[Term], term: &Term, want: &Want) -> Checked<Vec<Expr>> {
        let span = term.span;
        self.cx.assume("threads can always be started", Some(span));
        self.cx.assume("a thread that locks a plain mutex again waits for ever", None);
        if !self.watches_races() {
            let text =
                "a data race changes nothing but the order of its accesses (`--property races` finds races)";
            self.cx.assume(text, None);
        }
        if let Some(span) = self.cx.tree.qualified.weak_order {
            self.cx.assume("all orders of memory are `seq_cst`", Some(span));
        }
        let pointer = self.cx.pointer();
        let Some(argument) = arguments.first() else {
            return Err(Problem::unsupported(span, "this start of a thread is"));
        };
        let id = self.value(argument)?;
        let id = resize(self.stable(id, span), false, pointer);
        let ty = self.cx.tree.types.scalar(&term.ty);
        let target = match want {
            Want::Into(target) => target.clone(),
            Want::Value | Want::Nothing => self.body.temporary(ty, span).into(),
        };
        let stack = self.cx.stack_pointer(span);
        let at = self.body.fill(span, LocationKind::Statement);
        let (old, new, after) = (self.body.open(span), self.body.open(span), self.body.open(span));
        // Locations are numbered at the end: the second edge says where the new thread starts.
        self.body.edge(at, old, Operation::StartThread(ThreadStart::At(threads::NOWHERE)), span);
        self.body.edge(at, new, Operation::Sync, span);
        self.body.at = old;
        self.body.assign(span, vec![target.clone()], vec![Expr::constant(0, ty)]);
        self.body.join(after, span);
        self.body.at = new;
        let room = Expr::binary(BinaryOp::Shl, id, Expr::constant(STACK_SIZE_BITS, pointer));
        let top = Expr::binary(BinaryOp::Add, Expr::constant(super::STACK, pointer), room);
        self.body.assign(span, vec![stack.into(), target.clone()], vec![top, Expr::constant(1, ty)]);
        self.set_up_thread(span)?;
        self.body.join(after, span);
        self.body.at = after;
        Ok(match want {
            Want::Value => vec![Expr::variable(target.variable, ty)],
            _ => Vec::new(),
        })
    }

    /// What each thread has for itself gets its first value.
    fn set_up_thread(&mut self, span: Span) -> Checked<()> {
        let own: Vec<ObjectId> = self.cx.tree.of_thread().collect();
        for id in own {
            let object = self.cx.tree.object(id);
            let value = match object.initial.as_ref().map(|initial| initial.items.as_slice()) {
                None | Some([]) => Some(0),
                Some([item]) if item.path.is_empty() => item.value.constant(),
                Some(_) => None,
            };
            let storage = self.cx.storage(id, &mut self.body, &mut self.frame)?;
            let variable = match &storage {
                Storage::Split(leaves) => match leaves.as_slice() {
                    [Leaf { variable, .. }] => *variable,
                    _ => None,
                },
                Storage::Memory(_) => None,
            };
            let is_scalar = !matches!(object.ty, CType::Array(..) | CType::Record(_));
            let (Some(variable), Some(value), true) = (variable, value, is_scalar) else {
                // Where its address is taken, all threads have one `errno`.
                if self.cx.tree.errno == Some(id) {
                    continue;
                }
                let what = "an object that each thread has for itself, whose address is taken or that is no number, is";
                return Err(Problem::unsupported(object.span, what));
            };
            let ty = self.cx.tree.types.scalar(&object.ty);
            self.body.assign(span, vec![variable.into()], vec![Expr::constant(value & ty.max(), ty)]);
            self.cx.own.push(variable);
        }
        Ok(())
    }

    /// Whether this is the function that starts threads.
    pub(crate) fn starts_thread(&self) -> bool {
        let name = |id: FunctionId| self.cx.tree.function(id).name.as_str();
        self.cx.has_threads && self.function.map(name).is_some_and(|name| threads::STARTS.contains(&name))
    }

    /// Whether a call of this function is not interrupted.
    pub(crate) fn is_atomic(&self, id: FunctionId) -> bool {
        let function = self.cx.tree.function(id);
        self.cx.has_threads && function.body.is_some() && function.name.starts_with("__VERIFIER_atomic_")
    }
}

impl Lowered {
    /// The program with threads: what each thread has for itself, and one access a step.
    pub(crate) fn with_threads(mut self, heap: Option<Var>, stack: Option<Var>, of_thread: &[Var]) -> Self {
        let mut own: Vec<Var> = heap.into_iter().chain(stack).collect();
        for (i, variable) in self.globals.iter_mut().enumerate() {
            let var = Var::Global(i as u32);
            if variable.name == threads::SELF || Some(var) == stack || of_thread.contains(&var) {
                variable.shared = false;
                own.push(var);
            }
        }
        for (id, procedure) in self.procedures.iter_mut().enumerate() {
            let id = ProcedureId(id as u32);
            let moved = threads::one_access_a_step(procedure, &self.globals, &own);
            let go = |edge: &mut EdgeRef| {
                if edge.procedure == id {
                    edge.edge = moved[&edge.edge];
                }
            };
            self.inputs.iter_mut().for_each(|input| go(&mut input.edge));
            self.approximations.iter_mut().for_each(go);
        }
        self
    }
}

//! Functions with a meaning of their own: errors, assumptions, inputs, allocation.

use wherefore_program::{BinaryOp, Expr, LocationKind, Operation, Scalar, Span, Target, ViolationKind};

use super::Lower;
use super::call::Want;
use super::events::Exit;
use super::place::plus;
use crate::c::Property;
use crate::c::models::{self, Meaning};
use crate::c::points_to::Class;
use crate::c::problem::Checked;
use crate::c::tree::{FunctionId, Term};

impl Lower<'_, '_> {
    /// Whether a call of this function is an error.
    fn is_error(&self, name: &str, meaning: Option<Meaning>) -> bool {
        match &self.cx.options.property {
            Property::All => matches!(meaning, Some(Meaning::Error | Meaning::AssertionFailed)),
            Property::Calls(names) => names.iter().any(|wanted| wanted == name),
            Property::Labels(_) => false,
            Property::Assertions => matches!(meaning, Some(Meaning::AssertionFailed)),
        }
    }

    /// The effect of a call whose meaning is known; none if it is a call like any other.
    pub(crate) fn convention(
        &mut self,
        id: FunctionId,
        arguments: &[Term],
        term: &Term,
        want: &Want,
    ) -> Checked<Option<Vec<Expr>>> {
        let span = term.span;
        let function = self.cx.tree.function(id);
        let has_body = function.body.is_some();
        let name = function.name.clone();
        if let Some(outcome) = self.thread_convention(id, arguments, term, want)? {
            return Ok(Some(outcome));
        }
        let meaning = models::meaning(&name);
        if self.is_error(&name, meaning) {
            arguments.iter().try_for_each(|argument| self.effects(argument))?;
            if meaning == Some(Meaning::AssertionFailed) {
                self.body.halt(span, LocationKind::Error);
            } else {
                self.body.fail_by_call(span, &name);
            }
            return self.anything(term).map(Some);
        }
        let Some(meaning) = meaning else { return Ok(None) };
        match meaning {
            Meaning::Error | Meaning::AssertionFailed | Meaning::End => {
                if has_body && meaning == Meaning::End {
                    return Ok(None);
                }
                arguments.iter().try_for_each(|argument| self.effects(argument))?;
                if name == "__builtin_unreachable" {
                    self.undefined("is reached", span);
                }
                if models::ends_in_order(&name) {
                    for id in self.cx.tree.destructors() {
                        self.run(id, span);
                    }
                    self.check_leaks_here(span);
                    self.exit_event(Exit::Call, span);
                }
                self.body.halt(span, LocationKind::Statement);
                self.anything(term).map(Some)
            }
            Meaning::Assume => match arguments.first() {
                Some(argument) => {
                    let condition = self.condition(argument)?;
                    self.body.step(span, LocationKind::Statement, Operation::Assume(condition));
                    self.anything(term).map(Some)
                }
                None => Ok(None),
            },
            _ if has_body => Ok(None),
            Meaning::Assert => match arguments.first() {
                Some(argument) => {
                    self.assertion(argument, term)?;
                    self.anything(term).map(Some)
                }
                None => Ok(None),
            },
            Meaning::Input => {
                let target = want.clone();
                self.input(&name, term, target).map(Some)
            }
            Meaning::Undefined => {
                self.undefined("is not defined for zero", span);
                self.input(&name, term, want.clone()).map(Some)
            }
            Meaning::Free => {
                if let (true, [argument]) = (self.cx.checks_memory(), arguments) {
                    self.release(argument, span)?;
                    return self.anything(term).map(Some);
                }
                arguments.iter().try_for_each(|argument| self.effects(argument))?;
                self.cx.assume("memory is not used after it is freed", Some(span));
                self.body.step(span, LocationKind::Call, Operation::Skip);
                self.anything(term).map(Some)
            }
            Meaning::Needed => {
                let values = self.argument_values(arguments)?;
                for value in values.into_iter().flatten() {
                    self.check_passed(value, span);
                }
                Ok(Some(Vec::new()))
            }
            Meaning::Event => {
                self.event(arguments, span)?;
                Ok(Some(Vec::new()))
            }
            Meaning::Claim => {
                self.claim(arguments, span)?;
                Ok(Some(Vec::new()))
            }
            Meaning::Size => {
                let [pointer, otherwise] = arguments else { return Ok(None) };
                let size = self.size_of_allocation(pointer, otherwise)?;
                if let Want::Into(target) = want {
                    self.body.assign(span, vec![target.clone()], vec![size]);
                    return Ok(Some(Vec::new()));
                }
                Ok(Some(vec![size]))
            }
            Meaning::Allocate | Meaning::AllocateZero => {
                let results = self.allocation((&name, meaning), arguments, term, want)?;
                if models::may_fail(&name) {
                    self.keep_allocation(span);
                }
                Ok(Some(results))
            }
        }
    }

    /// A built-in function is called where it must not be.
    fn undefined(&mut self, text: &str, span: Span) {
        self.check(ViolationKind::Builtin, Expr::bool(false), text, Vec::new(), (span, span));
    }

    /// A condition that is claimed to hold, with the number of the claim. It is no part of the
    /// program: its own arithmetic and accesses are not checked.
    fn claim(&mut self, arguments: &[Term], span: Span) -> Checked<()> {
        let [condition, number] = arguments else { return Ok(()) };
        let was = std::mem::replace(&mut self.is_claim, true);
        let holds = self.condition(condition);
        let number = self.value(number);
        self.is_claim = was;
        let (holds, number) = (holds?, number?.as_constant().unwrap_or_default() as usize);
        let claims = &self.cx.options.insertions.claims;
        let text = claims.get(number).map(String::as_str).unwrap_or_default();
        let text = format!("the claim `{text}` does not hold");
        let nothing = Span { end: span.start, ..span };
        self.check(ViolationKind::Claim, holds, &text, Vec::new(), (nothing, span));
        Ok(())
    }

    fn assertion(&mut self, argument: &Term, term: &Term) -> Checked<()> {
        let span = term.span;
        let condition = self.condition(argument)?;
        let counts = matches!(self.cx.options.property, Property::All | Property::Assertions);
        if !counts {
            self.body.step(span, LocationKind::Statement, Operation::Assume(condition));
            return Ok(());
        }
        let at = self.body.fill(span, LocationKind::Assert);
        let (next, error) = (self.body.open(span), self.body.open(span));
        self.body.edge(at, next, Operation::Assume(condition.clone()), span);
        self.body.edge(at, error, Operation::Assume(Self::negated(condition)), span);
        self.body.at = error;
        self.body.halt(span, LocationKind::Error);
        self.body.at = next;
        Ok(())
    }

    fn allocation(
        &mut self,
        (name, meaning): (&str, Meaning),
        arguments: &[Term],
        term: &Term,
        want: &Want,
    ) -> Checked<Vec<Expr>> {
        let span = term.span;
        let pointer = self.cx.pointer();
        let mut size: Option<Expr> = None;
        for argument in arguments {
            let value = self.value(argument)?;
            let value = super::value::resize(value, argument.ty.is_signed(), pointer);
            size = Some(match size {
                Some(size) => match (size.as_constant(), value.as_constant()) {
                    (Some(a), Some(b)) => Expr::constant(a.wrapping_mul(b), pointer),
                    _ => Expr::binary(BinaryOp::Mul, size, value),
                },
                None => value,
            });
        }
        let size = size.unwrap_or_else(|| Expr::constant(0, pointer));
        let size = self.stable(size, span);
        let target: Target = match want {
            Want::Into(target) => target.clone(),
            _ => self.body.temporary(pointer, span).into(),
        };
        let fresh = self.body.temporary(pointer, span);
        let address = Expr::variable(fresh, pointer);
        let class = self.cx.classes.value(self.cx.tree, term);
        let may_fail = self.allocation_fails(name) && models::may_fail(name);
        if !may_fail && models::may_fail(name) {
            self.cx.assume("`malloc` and the like never return NULL", Some(span));
        }
        if models::is_on_stack(name) {
            if let Some(owner) = self.function.filter(|_| self.cx.checks_memory()) {
                if self.cx.is_kept_after(owner, class) {
                    self.cx.doubt("memory from `alloca` is not used after its function", Some(span));
                }
            }
            self.allocate_local(target.clone(), size, class, span);
        } else if !may_fail && meaning == Meaning::Allocate {
            self.allocate_fresh(target.clone(), size, class, span);
        } else {
            self.allocate_fresh(fresh.into(), size.clone(), class, span);
            if meaning == Meaning::AllocateZero {
                self.zero_fresh(class, &address, size, span);
            }
            let value = if may_fail {
                let null = Expr::constant(0, pointer);
                let fails = self.chance_of_failure(span);
                Expr::if_then_else(fails, null, address)
            } else {
                address
            };
            self.body.assign(span, vec![target.clone()], vec![value]);
        }
        Ok(match want {
            Want::Value => vec![Expr::variable(target.variable, pointer)],
            _ => Vec::new(),
        })
    }

    /// Sets fresh memory of so many bytes to zero.
    fn zero_fresh(&mut self, class: Class, address: &Expr, size: Expr, span: Span) {
        if let Some(size) = size.as_constant() {
            self.each_cell(class, address, size, span, |lower, cells| {
                let values = cells.iter().map(|(_, ty)| Expr::constant(0, *ty)).collect();
                let targets = cells.into_iter().map(|(target, _)| target).collect();
                lower.assign_chunks(targets, values, span);
            });
            return;
        }
        // How many cells there are is only known at run time: each memory has a loop of its own.
        let end = Expr::binary(BinaryOp::Add, address.clone(), size);
        for (start, distance, cells) in self.cx.division(class, span).everywhere() {
            let zero = Expr::constant(0, Scalar::Bits(cells.size as u32 * 8));
            self.each(plus(address.clone(), start), end.clone(), distance, span, |lower, at| {
                let target = Target { variable: cells.variable, indices: vec![at] };
                lower.body.assign(span, vec![target], vec![zero.clone()]);
            });
        }
    }
}

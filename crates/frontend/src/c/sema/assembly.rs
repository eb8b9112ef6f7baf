//! Inline assembly. Without instructions it is exact as far as its operands are tied: `asm("" :
//! "+r"(x))` leaves `x`, `asm("" : "=r"(x) : "0"(y))` moves `y` to `x`. Programs have such assembly
//! to hide values from the optimiser.

use lang_c::ast::{AsmStatement, GnuAsmOperand, GnuExtendedAsmStatement};
use lang_c::span::Node;
use wherefore_program::Span;

use super::Sema;
use crate::c::problem::Checked;
use crate::c::tree::{Assembly, Statement, StatementKind, Term, TermKind};

/// The letters of a constraint.
fn constraint(operand: &Node<GnuAsmOperand>) -> String {
    operand.node.constraints.node.iter().map(|part| part.trim_matches('"')).collect()
}

/// The output that an input has to be in the same place as, if there is one.
fn tied_to(input: &Node<GnuAsmOperand>, extended: &GnuExtendedAsmStatement) -> Option<usize> {
    let constraint = constraint(input);
    let constraint = constraint.trim_start_matches('%');
    if let Some(name) = constraint.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return extended.outputs.iter().position(|output| {
            output.node.symbolic_name.as_ref().is_some_and(|known| known.node.name == name)
        });
    }
    constraint.parse().ok().filter(|position| *position < extended.outputs.len())
}

impl Sema<'_> {
    /// The statements that inline assembly stands for.
    pub(super) fn assembly(&mut self, assembly: &AsmStatement, span: Span) -> Checked<Vec<Statement>> {
        let as_is = |outputs, inputs, memory| {
            let kind = StatementKind::Assembly(Box::new(Assembly { outputs, inputs, memory }));
            Statement { kind, span }
        };
        let extended = match assembly {
            AsmStatement::GnuExtended(extended) => extended,
            AsmStatement::GnuBasic(text) => {
                let is_idle = |part: &String| matches!(part.trim_matches('"').trim(), "" | "nop");
                let memory = !text.node.iter().all(is_idle);
                return Ok(vec![as_is(Vec::new(), Vec::new(), memory)]);
            }
        };
        let (mut outputs, mut inputs) = (Vec::new(), Vec::new());
        for output in &extended.outputs {
            outputs.push(self.place(&output.node.variable_name)?);
        }
        for input in &extended.inputs {
            inputs.push(self.value(&input.node.variable_name)?);
        }
        let is_empty = extended.template.node.iter().all(|part| part.trim_matches('"').trim().is_empty());
        if !is_empty {
            let clobbers = |word: &Node<Vec<String>>| word.node.iter().any(|part| part.contains("memory"));
            let memory = extended.clobbers.iter().any(clobbers);
            return Ok(vec![as_is(outputs, inputs, memory)]);
        }
        let mut statements = Vec::new();
        let expression = |term: Term| Statement { kind: StatementKind::Expression(term), span };
        let mut moved: Vec<Option<Term>> = vec![None; outputs.len()];
        for (syntax, input) in extended.inputs.iter().zip(inputs) {
            let output = tied_to(syntax, extended);
            let fits = output.filter(|at| {
                let to = &outputs[*at].ty;
                to.is_scalar()
                    && input.ty.is_scalar()
                    && self.tree.types.size(to) == self.tree.types.size(&input.ty)
            });
            match fits {
                Some(at) if to_same_kind(&outputs[at], &input) => {
                    let (steps, value) = self.held(input);
                    statements.extend(steps.into_iter().map(expression));
                    moved[at] = Some(value);
                }
                _ if input.has_effects() => statements.push(expression(input)),
                _ => {}
            }
        }
        let mut open = Vec::new();
        for ((syntax, output), value) in extended.outputs.iter().zip(outputs).zip(moved) {
            match value {
                Some(value) => {
                    let ty = output.ty.clone();
                    let value = self.convert(value, &ty)?;
                    let kind = TermKind::Assign(Box::new(output), Box::new(value));
                    statements.push(expression(Term::new(kind, ty, span)));
                }
                // It is read and written: it stays as it is.
                None if constraint(syntax).starts_with('+') => {
                    if output.has_effects() {
                        statements.push(expression(output));
                    }
                }
                None => open.push(output),
            }
        }
        if !open.is_empty() {
            statements.push(as_is(open, Vec::new(), false));
        }
        Ok(statements)
    }
}

/// Whether the bits of a value are those of its conversion: between floating-point numbers and
/// others they are not.
fn to_same_kind(output: &Term, input: &Term) -> bool {
    output.ty.is_float() == input.ty.is_float()
}

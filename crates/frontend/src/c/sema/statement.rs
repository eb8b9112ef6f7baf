//! Statements.

use lang_c::ast::{BlockItem, Expression, ForInitializer, Label, LabeledStatement, Statement as Syntax};
use lang_c::span::Node;
use wherefore_program::Span;

use super::nested::nested_body;
use super::{Sema, Switch};
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::rewrite::GOTO_ANY;
use crate::c::tree::{Lifetime, Statement, StatementKind, Term, TermKind};

/// The operand of `goto *e`, as the text was rewritten.
fn computed_label(expression: &Node<Expression>) -> Option<&Node<Expression>> {
    let Expression::Call(call) = &expression.node else { return None };
    let Expression::Identifier(name) = &call.node.callee.node else { return None };
    call.node.arguments.first().filter(|_| name.node.name == GOTO_ANY)
}

impl Sema<'_> {
    /// The items of a block, in the scope at hand. A problem in one does not hide those in others.
    pub(super) fn items(&mut self, items: &[Node<BlockItem>]) -> Vec<Statement> {
        let mut out = Vec::new();
        let mut items = items.iter().peekable();
        while let Some(item) = items.next() {
            let nested = nested_body(items.peek().copied());
            let outcome = match (&item.node, nested) {
                (BlockItem::Declaration(declaration), Some(body)) => {
                    items.next();
                    self.nested(declaration, body)
                }
                _ => self.block_item(item),
            };
            match self.with_refused(outcome) {
                Ok(statements) => {
                    out.append(&mut self.implied);
                    out.extend(statements);
                }
                Err(problem) => out.push(self.unsupported_here(problem)),
            }
        }
        out
    }

    fn block_item(&mut self, item: &Node<BlockItem>) -> Checked<Vec<Statement>> {
        match &item.node {
            BlockItem::Declaration(declaration) => self.declaration(declaration),
            BlockItem::StaticAssert(assertion) => self.static_assert(assertion).map(|()| Vec::new()),
            BlockItem::Statement(statement) => self.statement(statement),
        }
    }

    /// Attributes and types that are refused are the problem of the statement that mentions them.
    pub(super) fn with_refused<T>(&mut self, outcome: Checked<T>) -> Checked<T> {
        let refused = std::mem::take(&mut self.refused);
        refused.into_iter().next().map_or(outcome, Err)
    }

    /// A statement that is not modelled: a place of its own.
    pub(super) fn unsupported_here(&mut self, problem: Problem) -> Statement {
        self.implied.clear();
        let span = problem.span;
        Statement { kind: StatementKind::Unsupported(Box::new(problem)), span }
    }

    /// A part of a statement whose other parts count: labels may be in them.
    fn part_or_place(&mut self, outcome: Checked<Term>) -> Term {
        match self.with_refused(outcome) {
            Ok(term) => term,
            Err(problem) => {
                let place = self.unsupported_here(problem);
                let span = place.span;
                let zero = Term::new(TermKind::Constant(0), CType::INT, span);
                Term::new(TermKind::Block(vec![place], Some(Box::new(zero))), CType::INT, span)
            }
        }
    }

    /// `({ … })`: the value of the last expression.
    pub(super) fn statement_expression(&mut self, statement: &Node<Syntax>, span: Span) -> Checked<Term> {
        let Syntax::Compound(items) = &statement.node else {
            return self.fail(statement, "a block is expected");
        };
        if self.function.is_none() {
            return self.fail(statement, "a block outside of a function");
        }
        self.enter();
        let mut out = self.items(items);
        self.leave();
        let value = match out.pop() {
            Some(Statement { kind: StatementKind::Expression(value), .. }) => Some(value),
            Some(last) => {
                out.push(last);
                None
            }
            None => None,
        };
        let ty = value.as_ref().map_or(CType::Void, |value| value.ty.clone());
        Ok(Term::new(TermKind::Block(out, value.map(Box::new)), ty, span))
    }

    fn block(&mut self, node: &Node<Syntax>) -> Box<Statement> {
        self.enter();
        let statements = self.statement(node);
        let statements = self.with_refused(statements);
        self.leave();
        let span = self.span(node);
        let mut statements = statements.unwrap_or_else(|problem| vec![self.unsupported_here(problem)]);
        Box::new(match statements.len() {
            1 => statements.remove(0),
            _ => Statement { kind: StatementKind::Block(statements), span },
        })
    }

    /// From the start of a compound statement to the end of its condition.
    fn head<S, C>(&mut self, statement: &Node<S>, condition: &Node<C>) -> Span {
        let end = self.lines.close(condition.span.end);
        self.span_between(statement.span.start, end)
    }

    fn statement(&mut self, node: &Node<Syntax>) -> Checked<Vec<Statement>> {
        // Such statements are blocks: what is declared in their heads is known in them only.
        let is_block = matches!(
            node.node,
            Syntax::If(_) | Syntax::Switch(_) | Syntax::While(_) | Syntax::DoWhile(_) | Syntax::For(_)
        );
        if !is_block {
            return self.plain_statement(node);
        }
        self.enter();
        let outcome = self.plain_statement(node);
        self.leave();
        outcome
    }

    fn plain_statement(&mut self, node: &Node<Syntax>) -> Checked<Vec<Statement>> {
        let span = self.span(node);
        let one = |kind| Ok(vec![Statement { kind, span }]);
        match &node.node {
            Syntax::Labeled(labelled) => self.labelled(labelled),
            Syntax::Compound(items) => {
                self.enter();
                let items = self.items(items);
                self.leave();
                one(StatementKind::Block(items))
            }
            Syntax::Expression(None) => one(StatementKind::Empty),
            Syntax::Expression(Some(expression)) => {
                if let Some(address) = computed_label(expression) {
                    let address = self.value(address)?;
                    let address = self.convert(address, &CType::Void.pointer_to())?;
                    return one(StatementKind::GotoAny(Box::new(address)));
                }
                let value = self.value(expression)?;
                one(StatementKind::Expression(value))
            }
            Syntax::If(branch) => {
                let span = self.head(node, &branch.node.condition);
                let condition = self.condition(&branch.node.condition);
                let condition = self.part_or_place(condition);
                let then = self.block(&branch.node.then_statement);
                let otherwise = branch.node.else_statement.as_ref().map(|otherwise| self.block(otherwise));
                Ok(vec![Statement { kind: StatementKind::If(condition, then, otherwise), span }])
            }
            Syntax::Switch(switch) => {
                let span = self.head(node, &switch.node.expression);
                let value = self.switched(&switch.node.expression);
                let value = self.part_or_place(value);
                self.switches.push(Switch { ty: value.ty.clone(), problem: None });
                let body = self.block(&switch.node.statement);
                let problem = self.switches.pop().and_then(|switch| switch.problem);
                // Without one of its cases, the switch goes elsewhere.
                let value = problem.map_or(value, |problem| self.part_or_place(Err(problem)));
                Ok(vec![Statement { kind: StatementKind::Switch(value, body), span }])
            }
            Syntax::While(repeat) => {
                let span = self.head(node, &repeat.node.expression);
                let condition = self.condition(&repeat.node.expression);
                let condition = self.part_or_place(condition);
                let body = self.block(&repeat.node.statement);
                Ok(vec![Statement { kind: StatementKind::While(condition, body), span }])
            }
            Syntax::DoWhile(repeat) => {
                let body = self.block(&repeat.node.statement);
                let condition = self.condition(&repeat.node.expression);
                let condition = self.part_or_place(condition);
                one(StatementKind::DoWhile(body, condition))
            }
            Syntax::For(repeat) => Ok(self.for_loop(node, &repeat.node)),
            Syntax::Goto(label) => one(StatementKind::Goto(label.node.name.clone())),
            Syntax::Continue => one(StatementKind::Continue),
            Syntax::Break => one(StatementKind::Break),
            Syntax::Return(None) => one(StatementKind::Return(None)),
            Syntax::Return(Some(value)) => {
                let value = self.value(value)?;
                let result = self.result.clone();
                let value = self.convert(value, &result)?;
                one(StatementKind::Return(Some(value)))
            }
            Syntax::Asm(assembly) => self.assembly(&assembly.node, span),
        }
    }

    fn for_loop(&mut self, node: &Node<Syntax>, repeat: &lang_c::ast::ForStatement) -> Vec<Statement> {
        let first = match &repeat.initializer.node {
            ForInitializer::Empty => Vec::new(),
            ForInitializer::Expression(expression) => {
                let span = self.span(expression);
                let value = self.value(expression);
                let value = self.part_or_place(value);
                vec![Statement { kind: StatementKind::Expression(value), span }]
            }
            ForInitializer::Declaration(declaration) => {
                let statements = self.declaration(declaration);
                let statements = self.with_refused(statements);
                statements.unwrap_or_else(|problem| vec![self.unsupported_here(problem)])
            }
            ForInitializer::StaticAssert(assertion) => match self.static_assert(assertion) {
                Ok(()) => Vec::new(),
                Err(problem) => vec![self.unsupported_here(problem)],
            },
        };
        let condition = repeat.condition.as_ref().map(|condition| {
            let condition = self.condition(condition);
            self.part_or_place(condition)
        });
        let step = repeat.step.as_ref().map(|step| {
            let step = self.value(step);
            self.part_or_place(step)
        });
        let body = self.block(&repeat.statement);
        let end = self.lines.head_end(node.span.start, repeat.statement.span.start);
        let span = self.span_between(node.span.start, end);
        vec![Statement { kind: StatementKind::For(first, condition, step, body), span }]
    }

    fn labelled(&mut self, node: &Node<LabeledStatement>) -> Checked<Vec<Statement>> {
        let label = &node.node.label;
        let span = self.span(label);
        let kind = match &label.node {
            Label::Identifier(name) => StatementKind::Label(name.node.name.clone()),
            Label::Default => StatementKind::Default,
            Label::Case(value) => {
                let value = self.case(value);
                StatementKind::Case(value, value)
            }
            Label::CaseRange(range) => {
                StatementKind::Case(self.case(&range.node.low), self.case(&range.node.high))
            }
        };
        let mut statements = vec![Statement { kind, span }];
        let labelled = self.statement(&node.node.statement);
        match self.with_refused(labelled) {
            Ok(labelled) => statements.extend(labelled),
            Err(problem) => statements.push(self.unsupported_here(problem)),
        }
        Ok(statements)
    }

    /// `&&label`: the address of an object that stands for the label.
    pub(super) fn label_address(&mut self, name: &str, span: Span) -> Checked<Term> {
        let Some(function) = self.function else {
            return Err(Problem::new(span, "a label outside of a function"));
        };
        let labels = &self.tree.function(function).labels;
        let known = labels.iter().find(|(label, _)| label == name).map(|(_, id)| *id);
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.automatic(&format!("&&{name}"), CType::CHAR, span);
                self.tree.objects[id.0 as usize].lifetime = Lifetime::Static;
                self.tree.functions[function.0 as usize].labels.push((name.to_owned(), id));
                id
            }
        };
        let place = Term::new(TermKind::Object(id), CType::CHAR, span);
        let address = Term::new(TermKind::Address(Box::new(place)), CType::CHAR.pointer_to(), span);
        self.convert(address, &CType::Void.pointer_to())
    }

    /// The value that a switch is about.
    fn switched(&mut self, node: &Node<lang_c::ast::Expression>) -> Checked<Term> {
        let value = self.value(node)?;
        if !value.ty.is_integer() {
            return self.fail(node, "an integer is expected");
        }
        self.promote(value)
    }

    /// The value of a case, in the type of its switch; a problem is that of the switch.
    fn case(&mut self, node: &Node<lang_c::ast::Expression>) -> u64 {
        let value = self.case_value(node);
        match (self.with_refused(value), self.switches.last_mut()) {
            (Ok(value), _) => value,
            (Err(problem), Some(switch)) => {
                switch.problem.get_or_insert(problem);
                0
            }
            (Err(problem), None) => {
                self.problems.push(problem);
                0
            }
        }
    }

    fn case_value(&mut self, node: &Node<lang_c::ast::Expression>) -> Checked<u64> {
        let Some(ty) = self.switches.last().map(|switch| switch.ty.clone()) else {
            return self.fail(node, "a case outside of a switch");
        };
        let value = self.computed(node)?;
        let value = self.convert(value, &ty)?;
        match value.constant() {
            Some(value) => Ok(value),
            None => self.fail(node, "a constant is expected"),
        }
    }
}

//! What rules do to variables: guards and parallel updates, and the stores they lead to.
//!
//! A *store* gives each variable a value of its range, in the order of declaration. Expressions
//! live in arrays, operands before operators, so that neither evaluation nor clean-up recurses.

use rustc_hash::FxHashMap;
use wherefore_pushdown::RuleId;

/// Who sees a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everyone.
    Global,
    /// One activation of a procedure: arbitrary when it starts, the caller's again when it returns.
    Local,
}

/// A variable with its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Who sees it.
    pub scope: Scope,
    /// The least value.
    pub low: i64,
    /// The greatest value, at least `low`.
    pub high: i64,
}

impl Variable {
    /// How many values there are; `None` if that is too large a number.
    pub fn value_count(&self) -> Option<usize> {
        usize::try_from(i128::from(self.high) - i128::from(self.low) + 1).ok()
    }

    /// Whether `value` is in the range.
    pub fn contains(&self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Towards zero, as in C; without a value if the divisor is 0.
    Divide,
    /// With the sign of the dividend, as in C; without a value if the divisor is 0.
    Remainder,
    Minimum,
    Maximum,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// The right side does not matter if the left one is false.
    And,
    /// The right side does not matter if the left one is true.
    Or,
}

/// A node of an [`Expression`]; operands are given by their place in the array of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A number; truth values are 0 and 1.
    Constant(i64),
    /// The value of a variable, by its place in the order of declaration.
    Variable(usize),
    /// Minus a number.
    Negate(usize),
    /// Not a condition.
    Not(usize),
    /// Two operands under an operator.
    Binary(Operator, usize, usize),
}

/// A number or a condition over the variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    nodes: Vec<Node>,
}

impl Expression {
    /// **Requires:** the operands of each node come before it, and there is a node.
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        debug_assert!(!nodes.is_empty());
        Self { nodes }
    }

    /// The nodes, operands before operators; the last one is the whole expression.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The value in a store, truth values being 0 and 1; `None` for a division by zero or a number
    /// beyond 64 bits.
    pub fn evaluate(&self, store: &[i64]) -> Option<i64> {
        let mut values: Vec<Option<i64>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = match *node {
                Node::Constant(value) => Some(value),
                Node::Variable(x) => store.get(x).copied(),
                Node::Negate(a) => values[a].and_then(i64::checked_neg),
                Node::Not(a) => values[a].map(|a| i64::from(a == 0)),
                Node::Binary(Operator::And, a, b) => {
                    values[a].and_then(|a| if a == 0 { Some(0) } else { values[b] })
                }
                Node::Binary(Operator::Or, a, b) => {
                    values[a].and_then(|a| if a != 0 { Some(1) } else { values[b] })
                }
                Node::Binary(operator, a, b) => {
                    values[a].zip(values[b]).and_then(|(a, b)| apply(operator, a, b))
                }
            };
            values.push(value);
        }
        values.last().copied().flatten()
    }
}

fn apply(operator: Operator, a: i64, b: i64) -> Option<i64> {
    match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b),
        Operator::Remainder => a.checked_rem(b),
        Operator::Minimum => Some(a.min(b)),
        Operator::Maximum => Some(a.max(b)),
        Operator::Equal => Some(i64::from(a == b)),
        Operator::NotEqual => Some(i64::from(a != b)),
        Operator::Less => Some(i64::from(a < b)),
        Operator::LessOrEqual => Some(i64::from(a <= b)),
        Operator::Greater => Some(i64::from(a > b)),
        Operator::GreaterOrEqual => Some(i64::from(a >= b)),
        Operator::And => Some(i64::from(a != 0 && b != 0)),
        Operator::Or => Some(i64::from(a != 0 || b != 0)),
    }
}

/// What a variable becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// The value of an expression in the store before the step; a value outside the range blocks.
    Value(Expression),
    /// Any value of its range.
    Arbitrary,
}

/// A guard and parallel updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The condition under which the rule can run; a condition without a value is false.
    pub guard: Option<Expression>,
    /// Variables, by their place in the order of declaration, and what becomes of them; the others
    /// stay.
    pub updates: Vec<(usize, Update)>,
}

/// The variables of a system and what its rules do to them.
#[derive(Clone, Debug, Default)]
pub struct Relation {
    pub(super) variables: Vec<Variable>,
    pub(super) effects: FxHashMap<RuleId, Effect>,
}

impl Relation {
    /// The variables, in the order of declaration.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The effect of a rule; `None` for a rule that leaves the store as it is.
    pub fn effect(&self, rule: RuleId) -> Option<&Effect> {
        self.effects.get(&rule)
    }

    /// Whether some variable is local, so that calls need a merge function that restores the
    /// caller's.
    pub fn has_locals(&self) -> bool {
        self.variables.iter().any(|v| v.scope == Scope::Local)
    }

    /// How many stores there are; `None` if that is too large a number.
    pub fn store_count(&self) -> Option<usize> {
        self.variables.iter().try_fold(1usize, |count, v| count.checked_mul(v.value_count()?))
    }

    /// The store with number `index`: the first variable changes fastest.
    ///
    /// **Requires:** `index` is below [`store_count`](Self::store_count).
    pub fn store(&self, mut index: usize) -> Vec<i64> {
        let mut store = Vec::with_capacity(self.variables.len());
        for variable in &self.variables {
            let count = variable.value_count().unwrap_or(usize::MAX);
            store.push((i128::from(variable.low) + (index % count) as i128) as i64);
            index /= count;
        }
        store
    }

    /// The number of a store; `None` if a value is outside its range or there are too many stores
    /// to number.
    pub fn index_of(&self, store: &[i64]) -> Option<usize> {
        let (mut index, mut unit) = (0usize, 1usize);
        for (variable, value) in self.variables.iter().zip(store) {
            if !variable.contains(*value) {
                return None;
            }
            let digit = usize::try_from(i128::from(*value) - i128::from(variable.low)).ok()?;
            index = index.checked_add(digit.checked_mul(unit)?)?;
            unit = unit.checked_mul(variable.value_count()?)?;
        }
        Some(index)
    }

    /// Calls `visit` with every store that `effect` can lead to from `store`, in a fixed order.
    pub fn successors(&self, effect: &Effect, store: &[i64], visit: &mut dyn FnMut(&[i64])) {
        if let Some(guard) = &effect.guard {
            if guard.evaluate(store).is_none_or(|truth| truth == 0) {
                return;
            }
        }
        let mut next = store.to_vec();
        let mut arbitrary = Vec::new();
        for (x, update) in &effect.updates {
            match update {
                Update::Arbitrary => arbitrary.push(*x),
                Update::Value(expression) => match expression.evaluate(store) {
                    Some(value) if self.variables[*x].contains(value) => next[*x] = value,
                    _ => return,
                },
            }
        }
        self.any_values(next, &arbitrary, visit);
    }

    /// Calls `visit` with every store that a callee can start with: the globals of `store`, and
    /// arbitrary locals.
    pub fn entries(&self, store: &[i64], visit: &mut dyn FnMut(&[i64])) {
        let is_local = |x: &usize| self.variables[*x].scope == Scope::Local;
        let locals: Vec<usize> = (0..self.variables.len()).filter(is_local).collect();
        self.any_values(store.to_vec(), &locals, visit);
    }

    /// The store after a call: the globals of the callee, and the locals of the caller.
    pub fn returned(&self, caller: &[i64], callee: &[i64]) -> Vec<i64> {
        let of = |(v, (a, b)): (&Variable, (&i64, &i64))| if v.scope == Scope::Local { *a } else { *b };
        self.variables.iter().zip(caller.iter().zip(callee)).map(of).collect()
    }

    fn any_values(&self, mut store: Vec<i64>, arbitrary: &[usize], visit: &mut dyn FnMut(&[i64])) {
        for x in arbitrary {
            store[*x] = self.variables[*x].low;
        }
        loop {
            visit(&store);
            let free = arbitrary.iter().find(|x| store[**x] < self.variables[**x].high);
            let Some(changed) = free else {
                return;
            };
            for x in arbitrary.iter().take_while(|x| *x != changed) {
                store[*x] = self.variables[*x].low;
            }
            store[*changed] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation() -> Relation {
        let variable = |name: &str, scope, low, high| Variable { name: name.into(), scope, low, high };
        let variables = vec![
            variable("x", Scope::Global, -1, 2),
            variable("y", Scope::Global, 0, 2),
            variable("l", Scope::Local, 5, 6),
        ];
        Relation { variables, effects: FxHashMap::default() }
    }

    #[test]
    fn stores_are_numbered_without_gaps() {
        let relation = relation();
        assert_eq!(relation.store_count(), Some(24));
        for index in 0..24 {
            assert_eq!(relation.index_of(&relation.store(index)), Some(index));
        }
        assert_eq!(relation.index_of(&[3, 0, 5]), None);
    }

    #[test]
    fn too_many_stores_have_no_count() {
        let wide = Variable { name: "x".into(), scope: Scope::Global, low: i64::MIN, high: i64::MAX };
        let relation = Relation { variables: vec![wide], effects: FxHashMap::default() };
        assert_eq!(relation.store_count(), None);
        let half = Variable { name: "x".into(), scope: Scope::Global, low: 0, high: 1 << 40 };
        let relation = Relation { variables: vec![half.clone(), half], effects: FxHashMap::default() };
        assert_eq!(relation.store_count(), None);
    }

    #[test]
    fn arbitrary_values_run_through_the_range() {
        let relation = relation();
        let effect = Effect { guard: None, updates: vec![(0, Update::Arbitrary), (2, Update::Arbitrary)] };
        let mut seen = Vec::new();
        relation.successors(&effect, &[0, 1, 5], &mut |store| seen.push(store.to_vec()));
        assert_eq!(seen.len(), 8);
        assert_eq!(seen[1], [0, 1, 5]);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 8);
    }

    #[test]
    fn callees_start_with_arbitrary_locals_and_callers_get_theirs_back() {
        let relation = relation();
        let mut seen = Vec::new();
        relation.entries(&[1, 2, 6], &mut |store| seen.push(store.to_vec()));
        assert_eq!(seen, [[1, 2, 5], [1, 2, 6]]);
        assert_eq!(relation.returned(&[0, 0, 6], &[2, 1, 5]), [2, 1, 6]);
    }
}

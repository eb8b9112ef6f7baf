//! A procedure under construction: locations that are open until something happens there.

use std::collections::BTreeSet;

use wherefore_program::{
    Assignment, Edge, Expr, Location, LocationId, LocationKind, Operation, Procedure, Scalar, Span, Target,
    Type, Var, Variable, Violation,
};

/// A procedure under construction.
///
/// There is always one location at hand, [`Body::at`], which is blank: nothing starts there yet. A
/// step fills it and opens the next one. Control that comes together is joined by making blank
/// locations one, so no step is needed.
pub(crate) struct Body {
    locations: Vec<Location>,
    blank: Vec<bool>,
    /// The location that a blank one became part of.
    joined: Vec<Option<LocationId>>,
    edges: Vec<Edge>,
    pub(crate) at: LocationId,
    entry: LocationId,
    pub(crate) variables: Vec<Variable>,
    names: BTreeSet<String>,
    /// Temporaries by type, and how many of each are in use.
    temporaries: Vec<(Scalar, Vec<u32>, usize)>,
}

/// How many temporaries were in use at some point.
pub(crate) struct Mark(Vec<usize>);

impl Body {
    pub(crate) fn new(span: Span) -> Body {
        let mut body = Body {
            locations: Vec::new(),
            blank: Vec::new(),
            joined: Vec::new(),
            edges: Vec::new(),
            at: LocationId(1),
            entry: LocationId(1),
            variables: Vec::new(),
            names: BTreeSet::new(),
            temporaries: Vec::new(),
        };
        body.locations.push(Location {
            span,
            labels: Vec::new(),
            kind: LocationKind::Exit,
            called: None,
            violation: None,
        });
        body.blank.push(false);
        body.joined.push(None);
        body.at = body.open(span);
        body
    }

    /// A new blank location.
    pub(crate) fn open(&mut self, span: Span) -> LocationId {
        self.locations.push(Location {
            span,
            labels: Vec::new(),
            kind: LocationKind::Statement,
            called: None,
            violation: None,
        });
        self.blank.push(true);
        self.joined.push(None);
        LocationId(self.locations.len() as u32 - 1)
    }

    pub(crate) fn label(&mut self, location: LocationId, label: &str) {
        self.locations[location.0 as usize].labels.push(label.to_owned());
    }

    /// Fills the location at hand.
    pub(crate) fn fill(&mut self, span: Span, kind: LocationKind) -> LocationId {
        let index = self.at.0 as usize;
        if self.blank[index] {
            self.blank[index] = false;
            self.locations[index].span = span;
            self.locations[index].kind = kind;
        }
        self.at
    }

    /// How many edges there are so far.
    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// One step: fills the location at hand and opens the next.
    pub(crate) fn step(&mut self, span: Span, kind: LocationKind, operation: Operation) -> usize {
        let from = self.fill(span, kind);
        let to = self.open(span);
        self.edge(from, to, operation, span);
        self.at = to;
        self.edges.len() - 1
    }

    pub(crate) fn edge(&mut self, from: LocationId, to: LocationId, operation: Operation, span: Span) {
        self.edges.push(Edge { from, to, operation, span });
    }

    pub(crate) fn assign(&mut self, span: Span, targets: Vec<Target>, values: Vec<Expr>) {
        if !targets.is_empty() {
            let operation = Operation::Assign(Assignment { targets, values, constraint: None });
            self.step(span, LocationKind::Statement, operation);
        }
    }

    fn resolve(&self, mut location: LocationId) -> LocationId {
        while let Some(next) = self.joined[location.0 as usize] {
            location = next;
        }
        location
    }

    /// Control goes on at `to`.
    pub(crate) fn join(&mut self, to: LocationId, span: Span) {
        let (from, to) = (self.resolve(self.at), self.resolve(to));
        if from == to {
            // An empty loop: it needs a step of its own.
            self.fill(span, LocationKind::Goto);
            self.edge(from, to, Operation::Skip, span);
        } else if self.blank[from.0 as usize] {
            self.joined[from.0 as usize] = Some(to);
        } else {
            self.edge(from, to, Operation::Skip, span);
        }
        self.at = to;
    }

    /// The run ends here: what follows is only reached by jumps.
    pub(crate) fn halt(&mut self, span: Span, kind: LocationKind) {
        self.fill(span, kind);
        self.at = self.open(span);
    }

    /// What was made from this location on is not modelled: the run ends here, with no answer.
    pub(crate) fn cut(&mut self, from: LocationId, span: Span) -> LocationId {
        let from = self.resolve(from);
        let index = from.0 as usize;
        self.blank[index] = false;
        self.locations[index].span = span;
        self.locations[index].kind = LocationKind::Unsupported;
        self.at = self.open(span);
        from
    }

    /// The run fails here, by a call of this function.
    pub(crate) fn fail_by_call(&mut self, span: Span, name: &str) {
        let at = self.fill(span, LocationKind::Error);
        self.locations[at.0 as usize].called = Some(name.to_owned());
        self.at = self.open(span);
    }

    /// A check: the run goes on if the condition holds, and fails otherwise.
    pub(crate) fn check(&mut self, span: Span, holds: Expr, violation: Violation) {
        let at = self.fill(span, LocationKind::Assert);
        let (next, error) = (self.open(span), self.open(span));
        self.edge(at, next, Operation::Assume(holds.clone()), span);
        self.edge(at, error, Operation::Assume(holds.not()), span);
        self.at = error;
        let error = self.fill(span, LocationKind::Error);
        self.locations[error.0 as usize].violation = Some(Box::new(violation));
        self.at = next;
    }

    /// A check behind which the run goes on in any case.
    pub(crate) fn warn(&mut self, span: Span, holds: &Expr, violation: Violation) {
        let first = self.edges.len();
        self.check(span, holds.clone(), violation);
        self.edges[first].operation = Operation::Skip;
    }

    pub(crate) fn variable(&mut self, name: &str, ty: Type, span: Span) -> Var {
        let mut unique = name.to_owned();
        let mut count = 1;
        while !self.names.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}@{count}");
        }
        self.variables.push(Variable {
            name: unique,
            ty,
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: false,
            initial: None,
            span,
        });
        Var::Local(self.variables.len() as u32 - 1)
    }

    /// A variable for the value of a part of an expression.
    pub(crate) fn temporary(&mut self, ty: Scalar, span: Span) -> Var {
        let position = match self.temporaries.iter().position(|(known, ..)| *known == ty) {
            Some(position) => position,
            None => {
                self.temporaries.push((ty, Vec::new(), 0));
                self.temporaries.len() - 1
            }
        };
        let used = self.temporaries[position].2;
        self.temporaries[position].2 += 1;
        if let Some(&variable) = self.temporaries[position].1.get(used) {
            return Var::Local(variable);
        }
        let Var::Local(index) = self.variable("value", Type::Scalar(ty), span) else {
            unreachable!("variables of a body are local")
        };
        self.temporaries[position].1.push(index);
        Var::Local(index)
    }

    /// Whether values of parts of an expression are kept.
    pub(crate) fn uses_temporaries(&self) -> bool {
        self.temporaries.iter().any(|(_, _, used)| *used > 0)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.temporaries.iter().map(|(_, _, used)| *used).collect())
    }

    /// Temporaries taken since the mark are free again.
    pub(crate) fn release(&mut self, mark: &Mark) {
        for (i, (_, _, used)) in self.temporaries.iter_mut().enumerate() {
            *used = mark.0.get(i).copied().unwrap_or(0);
        }
    }

    /// The procedure, where each edge went, by the order in which they were made, and where each
    /// location went.
    pub(crate) fn finish(
        mut self,
        name: String,
        span: Span,
        parameters: usize,
        results: Vec<Scalar>,
    ) -> (Procedure, Vec<Option<u32>>, Vec<Option<LocationId>>) {
        let entry = self.resolve(self.entry);
        let mut locations = std::mem::take(&mut self.locations);
        for i in 0..locations.len() {
            let to = self.resolve(LocationId(i as u32)).0 as usize;
            if to != i {
                let labels = std::mem::take(&mut locations[i].labels);
                let all = &mut locations[to].labels;
                all.splice(0..0, labels);
            }
        }
        let mut edges = std::mem::take(&mut self.edges);
        for edge in &mut edges {
            (edge.from, edge.to) = (self.resolve(edge.from), self.resolve(edge.to));
        }
        // Blank locations and ends that nothing leads to are no part of the procedure.
        let mut gone: Vec<bool> = self.joined.iter().map(Option::is_some).collect();
        loop {
            let mut entered = vec![false; locations.len()];
            entered[entry.0 as usize] = true;
            entered[0] = true;
            let goes_on = |from: usize| !gone[from] && locations[from].kind != LocationKind::Unsupported;
            for edge in edges.iter().filter(|edge| goes_on(edge.from.0 as usize)) {
                entered[edge.to.0 as usize] = true;
            }
            let lost = |i: &usize| {
                let kind = locations[*i].kind;
                let dull = self.blank[*i] || matches!(kind, LocationKind::End | LocationKind::Unsupported);
                !gone[*i] && !entered[*i] && dull && locations[*i].labels.is_empty()
            };
            let lost: Vec<usize> = (0..locations.len()).filter(lost).collect();
            if lost.is_empty() {
                break;
            }
            lost.into_iter().for_each(|i| gone[i] = true);
        }
        let keep = |i: usize| !gone[i];
        let mut places = vec![LocationId(0); locations.len()];
        let mut kept = Vec::new();
        for (i, location) in locations.into_iter().enumerate() {
            if keep(i) {
                places[i] = LocationId(kept.len() as u32);
                kept.push(location);
            }
        }
        let mut order: Vec<usize> = (0..edges.len()).filter(|i| keep(edges[*i].from.0 as usize)).collect();
        let sorted = |i: &usize| places[edges[*i].from.0 as usize];
        // Nothing follows an error, nor what is not modelled.
        let is_last = |kind| matches!(kind, LocationKind::Error | LocationKind::Unsupported);
        order.retain(|i| !is_last(kept[sorted(i).0 as usize].kind));
        order.sort_by_key(sorted);
        let mut went = vec![None; edges.len()];
        let mut moved = Vec::with_capacity(order.len());
        let mut edges: Vec<Option<Edge>> = edges.into_iter().map(Some).collect();
        for (position, i) in order.iter().enumerate() {
            went[*i] = Some(position as u32);
            moved.extend(edges[*i].take().map(|edge| {
                let (from, to) = (places[edge.from.0 as usize], places[edge.to.0 as usize]);
                Edge { from, to, ..edge }
            }));
        }
        let procedure = Procedure {
            name,
            span,
            parameters,
            variables: self.variables,
            results,
            locations: kept,
            edges: moved,
            entry: places[entry.0 as usize],
            exit: LocationId(0),
        };
        let moved_to = (0..places.len()).map(|i| keep(i).then(|| places[i])).collect();
        (procedure, went, moved_to)
    }

    /// Puts an assignment in front of everything else.
    pub(crate) fn prepend(&mut self, span: Span, targets: Vec<Target>, values: Vec<Expr>) {
        let first = self.open(span);
        self.blank[first.0 as usize] = false;
        let operation = Operation::Assign(Assignment { targets, values, constraint: None });
        self.edge(first, self.entry, operation, span);
        self.entry = first;
    }

    /// Puts an assignment to `variable` in front of every return. The values returned do not depend
    /// on it.
    pub(crate) fn before_returns(&mut self, variable: Var, value: &Expr) {
        for i in 0..self.edges.len() {
            if let Operation::Return(_) = self.edges[i].operation {
                let Edge { from, span, .. } = self.edges[i];
                let last = self.open(span);
                self.blank[last.0 as usize] = false;
                self.locations[last.0 as usize].kind = LocationKind::End;
                self.edges[i].from = last;
                let targets = vec![variable.into()];
                let values = vec![value.clone()];
                let assign = Operation::Assign(Assignment { targets, values, constraint: None });
                self.edge(from, last, assign, span);
            }
        }
    }
}

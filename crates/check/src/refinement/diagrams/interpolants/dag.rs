//! Polarized DAGs of counterexamples, with procedures, and their interpolants.
//!
//! \[Kie05\] §3.3 and §5.2. A path from the top to the bottom is a counterexample; the DAG is
//! *spurious* if no path can be run. Then each node has interpolants: formulas that hold there on
//! all ways from the top, and rule out all ways to the bottom. A call that returns joins the DAG of
//! its caller with that of its callee through a pivot and an exit (§5.1); a call that does not
//! return is entered as if it were inlined (§5.2.4). A callee that returns may be shared by many
//! calls.

use std::rc::Rc;

use wherefore_domains::bdd::{Moment, Predicate};

use super::heuristic::Heuristic;
use super::space::{Space, Step};

/// A node, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is, and so what its formulas speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Where all counterexamples start: anything is possible.
    Top,
    /// The first point of a callee that returns: its store is its store at entry.
    Entry,
    /// A point of a procedure.
    Point,
    /// Between caller and callee.
    Pivot,
    /// The end of a procedure.
    Exit,
}

/// How a node is reached from earlier ones.
#[derive(Clone)]
pub enum Link {
    /// By a step of the same procedure; to an exit, by the step that returns.
    Step(NodeId, Rc<Step>),
    /// From the point of a call to its pivot.
    Push(NodeId, Rc<Step>),
    /// From a pivot to the first point of a callee that does not return.
    Enter(NodeId),
    /// Back in the caller.
    Return {
        /// The pivot of the call.
        pivot: NodeId,
        /// An exit of the callee.
        exit: NodeId,
    },
}

impl Link {
    /// The nodes that it comes from.
    pub fn sources(&self) -> impl Iterator<Item = NodeId> + use<> {
        let (first, second) = match self {
            Link::Step(from, _) | Link::Push(from, _) | Link::Enter(from) => (*from, None),
            Link::Return { pivot, exit } => (*pivot, Some(*exit)),
        };
        std::iter::once(first).chain(second)
    }
}

struct Node {
    kind: NodeKind,
    links: Vec<Link>,
}

/// A polarized DAG. Nodes are added in topological order; the last one is the bottom.
///
/// ```
/// use std::rc::Rc;
/// use wherefore_check::refinement::diagrams::interpolants::{Dag, Heuristic, Link, NodeKind, Space};
/// use wherefore_domains::bdd::BddRelations;
///
/// // x := false; assume x
/// let space = Space::new(BddRelations::new(1, 1 << 12), &[]);
/// let d = space.domain();
/// let assign = Rc::new(space.step(&[0], d.not(&d.next(0))));
/// let assume = Rc::new(space.step(&[], d.var(0)));
/// let mut dag = Dag::new(&space);
/// let top = dag.add(NodeKind::Top, vec![]);
/// let middle = dag.add(NodeKind::Point, vec![Link::Step(top, assign)]);
/// dag.add(NodeKind::Point, vec![Link::Step(middle, assume)]);
/// let strongest = dag.strongest();
/// assert!(dag.is_spurious(&strongest));
/// let chosen = dag.choose(Heuristic::Weakest, &strongest, |_| None);
/// assert_eq!(chosen[middle.0 as usize], [d.not(&d.var(0))]);
/// ```
pub struct Dag<'a> {
    space: &'a Space,
    nodes: Vec<Node>,
}

impl<'a> Dag<'a> {
    /// A DAG without nodes.
    pub fn new(space: &'a Space) -> Self {
        Self { space, nodes: Vec::new() }
    }

    /// Adds a node; its links come from nodes added before.
    pub fn add(&mut self, kind: NodeKind, links: Vec<Link>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        debug_assert!(links.iter().flat_map(Link::sources).all(|from| from < id));
        self.nodes.push(Node { kind, links });
        id
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a node is.
    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.nodes[node.index()].kind
    }

    /// How a node is reached.
    pub fn links(&self, node: NodeId) -> &[Link] {
        &self.nodes[node.index()].links
    }

    /// The stores.
    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// For each node the strongest interpolant: what can hold there, coming from the top (§3.3.3,
    /// §5.2.1).
    pub fn strongest(&self) -> Vec<Predicate> {
        self.strongest_with(|_| None)
    }

    /// As [`strongest`](Self::strongest), with formulas given for some nodes.
    ///
    /// If they follow from the strongest interpolants there, all formulas do, everywhere; and where
    /// the bottom gets "false", the DAG is spurious, and the formulas can take the place of the
    /// strongest interpolants.
    pub fn strongest_with(&self, given: impl Fn(NodeId) -> Option<Predicate>) -> Vec<Predicate> {
        let d = self.space.domain();
        let mut strongest: Vec<Predicate> = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(given) = given(NodeId(at as u32)) {
                strongest.push(given);
                continue;
            }
            let mut here = match node.kind {
                NodeKind::Top => d.constant(true),
                NodeKind::Entry => self.space.entry().clone(),
                _ => d.constant(false),
            };
            for link in &node.links {
                let coming = match link {
                    Link::Step(from, step) => self.space.after(&strongest[from.index()], step),
                    Link::Push(from, push) => self.space.after_push(&strongest[from.index()], push),
                    Link::Enter(pivot) => self.space.after_enter(&strongest[pivot.index()]),
                    Link::Return { pivot, exit } => {
                        self.space.after_return(&strongest[pivot.index()], &strongest[exit.index()])
                    }
                };
                let coming = match node.kind {
                    NodeKind::Exit => self.space.without_locals(&coming),
                    _ => coming,
                };
                here = d.or(&here, &coming);
            }
            strongest.push(here);
        }
        strongest
    }

    /// Whether no counterexample of the DAG can be run (Prop. 4.8).
    pub fn is_spurious(&self, strongest: &[Predicate]) -> bool {
        strongest.last() == Some(&self.space.domain().constant(false))
    }

    /// For each node the formulas that a heuristic chooses; none where nothing is needed, no "true"
    /// and no "false".
    ///
    /// **Requires:** the DAG is spurious. `known` gives what is known to hold at a node already:
    /// where that implies the interpolant, nothing is needed there or above (§8.3).
    ///
    /// **Ensures:** each formula K is between the strongest and the weakest interpolant, and
    /// tracks: `K₁ ∧ C ⊨ K₂` along every step C. So the top has "true" and the bottom "false".
    pub fn choose(
        &self,
        heuristic: Heuristic,
        strongest: &[Predicate],
        known: impl Fn(NodeId) -> Option<Predicate>,
    ) -> Vec<Vec<Predicate>> {
        let d = self.space.domain();
        let trivial = [d.constant(true), d.constant(false)];
        let mut chosen = self.formulas(heuristic, strongest, known);
        for formulas in &mut chosen {
            formulas.retain(|formula| !trivial.contains(formula));
        }
        chosen
    }

    /// As [`choose`](Self::choose), with "true" and "false" where they are the interpolants.
    pub fn formulas(
        &self,
        heuristic: Heuristic,
        strongest: &[Predicate],
        known: impl Fn(NodeId) -> Option<Predicate>,
    ) -> Vec<Vec<Predicate>> {
        let mut chosen: Vec<Vec<Predicate>> = vec![Vec::new(); self.nodes.len()];
        if heuristic != Heuristic::Strongest {
            let backwards = self.backwards(heuristic, strongest, known);
            for (chosen, formula) in chosen.iter_mut().zip(backwards) {
                chosen.extend(formula);
            }
        }
        if matches!(heuristic, Heuristic::Strongest | Heuristic::Both) {
            for (chosen, formula) in chosen.iter_mut().zip(strongest) {
                if !chosen.contains(formula) {
                    chosen.push(formula.clone());
                }
            }
        }
        chosen
    }

    /// For each node the weakest interpolant (§3.3.2, §5.2.2).
    pub fn weakest(&self, strongest: &[Predicate]) -> Vec<Predicate> {
        let d = self.space.domain();
        let backwards = self.backwards(Heuristic::Weakest, strongest, |_| None);
        backwards.into_iter().map(|formula| formula.unwrap_or_else(|| d.constant(true))).collect()
    }

    /// The algorithm of §4.3.4, from the bottom up; `None` where nothing is needed because of what
    /// is known.
    fn backwards(
        &self,
        heuristic: Heuristic,
        strongest: &[Predicate],
        known: impl Fn(NodeId) -> Option<Predicate>,
    ) -> Vec<Option<Predicate>> {
        let d = self.space.domain();
        let always = d.constant(true);
        let mut chosen = vec![Some(always.clone()); self.nodes.len()];
        if let Some(bottom) = chosen.last_mut() {
            *bottom = Some(d.constant(false));
        }
        let require = |chosen: &mut Vec<Option<Predicate>>, at: NodeId, formula: Predicate| {
            if let Some(so_far) = &mut chosen[at.index()] {
                *so_far = d.and(so_far, &formula);
            }
        };
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let Some(mut here) = chosen[at].clone() else { continue };
            if here == always {
                continue;
            }
            here = self.conciliated(heuristic, &here, &strongest[at]);
            let settled = known(NodeId(at as u32)).is_some_and(|known| d.entails(&known, &here));
            chosen[at] = (!settled).then(|| here.clone());
            if settled {
                continue;
            }
            for link in &node.links {
                match link {
                    Link::Step(from, step) => {
                        let candidate = heuristic.skips().then(|| here.clone());
                        let before = self.skipped(candidate, strongest, *from, |point| {
                            d.entails(&self.space.after(point, step), &here)
                        });
                        let before = before.unwrap_or_else(|| self.space.before(&here, step));
                        require(&mut chosen, *from, before);
                    }
                    Link::Push(from, push) => {
                        let candidate =
                            heuristic.skips().then(|| self.space.point_if_skipped(&here)).flatten();
                        let before = self.skipped(candidate, strongest, *from, |point| {
                            d.entails(&self.space.after_push(point, push), &here)
                        });
                        let before = before.unwrap_or_else(|| self.space.before_push(&here, push));
                        require(&mut chosen, *from, before);
                    }
                    Link::Enter(pivot) => require(&mut chosen, *pivot, self.space.before_enter(&here)),
                    Link::Return { pivot, exit } => {
                        let effect = &strongest[exit.index()];
                        let candidate = heuristic.skips().then(|| self.space.pivot_if_skipped(&here));
                        let before = self.skipped(candidate, strongest, *pivot, |point| {
                            d.entails(&self.space.after_return(point, effect), &here)
                        });
                        let before = before.unwrap_or_else(|| self.space.pivot_before(&here, effect));
                        let before = self.conciliated(heuristic, &before, &strongest[pivot.index()]);
                        require(&mut chosen, *exit, self.space.exit_before(&here, &before));
                        require(&mut chosen, *pivot, before);
                    }
                }
            }
        }
        chosen
    }

    /// A formula copied over a step, if it holds at `from` and leads on (§6.4).
    fn skipped(
        &self,
        candidate: Option<Predicate>,
        strongest: &[Predicate],
        from: NodeId,
        leads_on: impl Fn(&Predicate) -> bool,
    ) -> Option<Predicate> {
        let d = self.space.domain();
        candidate.filter(|formula| d.entails(&strongest[from.index()], formula) && leads_on(formula))
    }

    /// Without the variables that the strongest interpolant does not mention (§6.3, Thm. 6.3).
    fn conciliated(&self, heuristic: Heuristic, formula: &Predicate, strongest: &Predicate) -> Predicate {
        if !heuristic.conciliates() {
            return formula.clone();
        }
        let d = self.space.domain();
        let mentioned = d.support(strongest);
        let superfluous: Vec<(usize, Moment)> = d.support(formula).difference(&mentioned).copied().collect();
        if superfluous.is_empty() {
            return formula.clone();
        }
        d.every(formula, &d.quantified(superfluous))
    }
}

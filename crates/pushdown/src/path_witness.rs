//! Witnesses for weights that were found by path expressions, by two-level staging.
//!
//! \[Lal09\] §4.2.1: only the history of out-nodes is kept; paths inside an intragraph come from
//! its expressions, on demand. Each value of an out-node depends on earlier values of others, so
//! histories are a DAG.

use rustc_hash::FxHashMap;

use crate::automaton::Automaton;
use crate::dependence::Label;
use crate::expression::Expr;
use crate::limits::Limits;
use crate::path_solver::{PathSolver, label_weight};
use crate::saturation::{Direction, Recording};
use crate::semiring::{Merge, Semiring};
use crate::summary::accepting_paths;
use crate::system::System;
use crate::witness::{Cover, EMPTY, NoWitness, Ropes, Witness, collect_witnesses, path_cover};

impl<W: Clone + Eq + std::fmt::Debug> PathSolver<W> {
    /// Paths that justify the weight of the configurations that the solution and `query` accept.
    ///
    /// As [`Saturated::witnesses`](crate::Saturated::witnesses); the solver must have been made
    /// with [`Recording::Witnesses`].
    pub fn witnesses<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        query: &Automaton<()>,
        most: usize,
    ) -> Result<Vec<Witness<W>>, NoWitness>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        if self.recording != Recording::Witnesses {
            return Err(NoWitness::NotRecorded);
        }
        let automaton = self.automaton(domain, system, &Limits::default()).automaton;
        let paths = accepting_paths(domain, &automaton, query);
        let mut staging =
            Staging { domain, system, solver: self, ropes: Ropes::default(), known: FxHashMap::default() };
        // Zero transitions were left out of the automaton, so it has numbers of its own.
        let node_of = staging.nodes_of(&automaton);
        let mut node_covers: FxHashMap<u32, Cover<W>> = FxHashMap::default();
        collect_witnesses(domain, system, &automaton, paths, most, |path| {
            for trans in &path.transitions {
                let node = node_of[*trans as usize];
                node_covers.entry(node).or_insert_with(|| staging.of_node(node));
            }
            let covers = path.transitions.iter().map(|t| &node_covers[&node_of[*t as usize]]);
            let cover = path_cover(domain, system, &automaton, &mut staging.ropes, path, covers);
            cover.paths.into_iter().map(|(rope, w)| (staging.ropes.flatten(rope), w)).collect()
        })
    }
}

struct Staging<'a, S: Semiring, M> {
    domain: &'a S,
    system: &'a System<S::Weight, M>,
    solver: &'a PathSolver<S::Weight>,
    ropes: Ropes,
    /// Covers of out-nodes by (out-node, how many values it had had).
    known: FxHashMap<(u32, u32), Cover<S::Weight>>,
}

impl<S: Semiring, M: Merge<S>> Staging<'_, S, M> {
    /// The node of each transition of `automaton`, which has some of the skeleton's transitions.
    fn nodes_of(&self, automaton: &Automaton<S::Weight>) -> Vec<u32> {
        let Some(dependence) = &self.solver.dependence else { return Vec::new() };
        let skeleton = &dependence.skeleton.store;
        let all: FxHashMap<_, u32> = (0..skeleton.trans.len() as u32)
            .map(|id| ((skeleton.ends(id), skeleton.call(id)), dependence.node_of[id as usize]))
            .collect();
        let store = &automaton.store;
        (0..store.trans.len() as u32).map(|id| all[&(store.ends(id), store.call(id))]).collect()
    }

    /// The cover of a node, with all out-nodes at their last values.
    fn of_node(&mut self, node: u32) -> Cover<S::Weight> {
        let (graph, place) = self.solver.place[node as usize];
        let inputs = &self.solver.intragraphs[graph as usize].inputs;
        let versions: Vec<u32> =
            inputs.iter().map(|out| self.solver.outs[*out as usize].history.len() as u32).collect();
        for (out, version) in inputs.iter().zip(&versions) {
            self.compute(*out, *version);
        }
        self.of_expression(graph, place, &versions)
    }

    /// Makes the cover of an out-node's value known, with all that it depends on.
    fn compute(&mut self, out: u32, version: u32) {
        let mut open = vec![(out, version)];
        while let Some((out, version)) = open.last().copied() {
            if version == 0 || self.known.contains_key(&(out, version)) {
                open.pop();
                continue;
            }
            let node = &self.solver.outs[out as usize];
            let versions = &node.history[version as usize - 1];
            let (graph, place) = self.solver.place[node.node as usize];
            let inputs = &self.solver.intragraphs[graph as usize].inputs;
            let waiting = open.len();
            let needed = inputs.iter().copied().zip(versions.iter().copied());
            open.extend(needed.filter(|need| need.1 > 0 && !self.known.contains_key(need)));
            if open.len() == waiting {
                let cover = self.of_expression(graph, place, versions);
                self.known.insert((out, version), cover);
                open.pop();
            }
        }
    }

    fn of_expression(&mut self, graph: u32, place: u32, versions: &[u32]) -> Cover<S::Weight> {
        let intragraph = &self.solver.intragraphs[graph as usize];
        let root = intragraph.from_root[place as usize];
        let mut covers: FxHashMap<u32, Cover<S::Weight>> = FxHashMap::default();
        for id in intragraph.expressions.parts([root]) {
            let mut cover = Cover::empty(self.domain);
            match intragraph.expressions.node(id) {
                Expr::Zero => {}
                Expr::One => cover.add(self.domain, EMPTY, self.domain.one()),
                Expr::Letter(letter) => {
                    let label = intragraph.labels[letter as usize];
                    let version = label.out_node().map(|node| {
                        let out = self.solver.out_of_node[&node];
                        let at = intragraph.inputs.partition_point(|input| *input < out);
                        (out, versions[at])
                    });
                    cover = self.of_label(label, version);
                }
                Expr::Alt(a, b) => {
                    for (rope, weight) in covers[&a].paths.iter().chain(&covers[&b].paths) {
                        cover.add(self.domain, *rope, weight.clone());
                    }
                }
                Expr::Cat(a, b) => {
                    for (rope, weight) in &covers[&a].paths {
                        for (other, after) in &covers[&b].paths {
                            let (rope, weight) = self.cat((*rope, weight), (*other, after));
                            cover.add(self.domain, rope, weight);
                        }
                    }
                }
                Expr::Star(a) => {
                    cover.add(self.domain, EMPTY, self.domain.one());
                    let mut next = 0;
                    while next < cover.paths.len() {
                        let (rope, weight) = cover.paths[next].clone();
                        for (other, after) in &covers[&a].paths {
                            let (rope, weight) = self.cat((rope, &weight), (*other, after));
                            cover.add(self.domain, rope, weight);
                        }
                        next += 1;
                    }
                }
            }
            covers.insert(id, cover.shrink(self.domain));
        }
        covers.remove(&root).unwrap_or_else(|| Cover::empty(self.domain))
    }

    fn of_label(&mut self, label: Label<u32>, version: Option<(u32, u32)>) -> Cover<S::Weight> {
        let step = match label {
            Label::Rule(rule) | Label::Called(rule) | Label::Call { rule, .. } => self.ropes.rule(rule),
            Label::Empty | Label::Seed(_) | Label::Returned { .. } => EMPTY,
        };
        let mut cover = Cover::empty(self.domain);
        let Some(version) = version else {
            // The weights of the seed are not part of a path's value.
            let weight = match label {
                Label::Seed(_) => self.domain.one(),
                _ => label_weight(self.domain, self.system, &self.solver.seed, label, || self.domain.one()),
            };
            cover.add(self.domain, step, weight);
            return cover;
        };
        if let Some(callee) = self.known.get(&version) {
            for (rope, weight) in &callee.paths {
                let seed = &self.solver.seed;
                let weight = label_weight(self.domain, self.system, seed, label, || weight.clone());
                cover.add(self.domain, self.ropes.cat(step, *rope), weight);
            }
        }
        cover
    }

    /// Two paths one after the other, as the graph has them; pre\* reads backwards.
    fn cat(&mut self, a: (u32, &S::Weight), b: (u32, &S::Weight)) -> (u32, S::Weight) {
        let (a, b) = match self.solver.direction {
            Direction::Post => (a, b),
            Direction::Pre => (b, a),
        };
        (self.ropes.cat(a.0, b.0), self.domain.extend(a.1, b.1))
    }
}

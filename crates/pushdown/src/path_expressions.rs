//! Single-source path expressions: for every node, a regular expression of all paths from the root.
//!
//! R. E. Tarjan, *Fast Algorithms for Solving Path Problems* (1981), as used in \[Lal09\] §4.1.1.
//! The graph is cut along its dominator tree: every path to `v` goes through its immediate
//! dominator `u`, and between `u` and `v` only siblings of `v` matter. In a reducible graph the
//! siblings form an acyclic graph with loops at single nodes; an irreducible one has larger
//! components there, which are eliminated one node at a time (cubic in their size).
//!
//! **Cost:** `O(m log n)` expressions for `m` edges and `n` nodes of a reducible graph, by path
//! compression.

use rustc_hash::FxHashMap;

use crate::expression::{ExprId, Expressions, ONE, ZERO};
use crate::graph::{components, immediate_dominators};

/// An edge with the expression of its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub label: ExprId,
}

/// The path expressions of a graph, factored along the dominator tree.
#[derive(Clone, Debug)]
pub(crate) struct PathExpressions {
    /// The expression of all paths from the root; [`ZERO`] where there is none.
    pub from_root: Vec<ExprId>,
}

/// Computes path expressions from node 0.
pub(crate) fn path_expressions(
    nodes: usize,
    edges: &[Edge],
    expressions: &mut Expressions,
) -> PathExpressions {
    let tree = immediate_dominators(nodes, edges.iter().map(|e| (e.from, e.to)));
    let mut into = Lists::new(nodes, edges.iter().map(|e| e.to));
    into.fill(edges.iter().map(|e| e.to));
    let mut children = Lists::new(nodes, tree.order.iter().skip(1).map(|v| tree.parent[*v as usize]));
    children.fill(tree.order.iter().skip(1).map(|v| tree.parent[*v as usize]));
    let mut forest = Forest::new(nodes);
    let mut siblings = Siblings::new(nodes);
    // Children before parents: the order of the tree lists parents first.
    for u in tree.order.iter().rev() {
        let family: Vec<u32> = children.of(*u).iter().map(|i| tree.order[*i as usize + 1]).collect();
        if family.is_empty() {
            continue;
        }
        siblings.open(&family);
        for (i, v) in family.iter().enumerate() {
            for e in into.of(*v) {
                let edge = edges[*e as usize];
                if !tree.reached[edge.from as usize] {
                    continue;
                }
                if edge.from == *u {
                    siblings.enter(expressions, i, edge.label);
                } else {
                    let (root, path) = forest.evaluate(expressions, edge.from);
                    let step = expressions.cat(path, edge.label);
                    siblings.connect(expressions, siblings.local[root as usize] as usize, i, step);
                }
            }
        }
        for (v, expression) in family.iter().zip(siblings.solve(expressions)) {
            forest.link(*u, *v, expression);
        }
    }
    let mut from_root = vec![ZERO; nodes];
    from_root[0] = ONE;
    for v in tree.order.iter().skip(1) {
        let parent = tree.parent[*v as usize];
        from_root[*v as usize] = expressions.cat(from_root[parent as usize], forest.own[*v as usize]);
    }
    PathExpressions { from_root }
}

/// Lists of numbers by key, in one array.
struct Lists {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(keys: usize, of: impl Iterator<Item = u32>) -> Self {
        let mut first = vec![0u32; keys + 1];
        of.for_each(|key| first[key as usize + 1] += 1);
        for k in 0..keys {
            first[k + 1] += first[k];
        }
        let items = vec![0; first[keys] as usize];
        Self { first, items }
    }

    /// Files the position of every key of the sequence.
    fn fill(&mut self, of: impl Iterator<Item = u32>) {
        let mut next = self.first.clone();
        for (position, key) in of.enumerate() {
            let at = &mut next[key as usize];
            self.items[*at as usize] = position as u32;
            *at += 1;
        }
    }

    fn of(&self, key: u32) -> &[u32] {
        let key = key as usize;
        &self.items[self.first[key] as usize..self.first[key + 1] as usize]
    }
}

/// The part of the dominator tree whose expressions are known, with path compression.
struct Forest {
    parent: Vec<u32>,
    /// The expression of the paths from the parent in this (compressed) forest.
    label: Vec<ExprId>,
    /// The expression of the paths from the immediate dominator.
    own: Vec<ExprId>,
}

const ROOT: u32 = u32::MAX;

impl Forest {
    fn new(nodes: usize) -> Self {
        Self { parent: vec![ROOT; nodes], label: vec![ONE; nodes], own: vec![ZERO; nodes] }
    }

    fn link(&mut self, parent: u32, child: u32, expression: ExprId) {
        self.parent[child as usize] = parent;
        self.label[child as usize] = expression;
        self.own[child as usize] = expression;
    }

    /// The root of a node's tree and the expression of the paths from there to the node.
    fn evaluate(&mut self, expressions: &mut Expressions, node: u32) -> (u32, ExprId) {
        let mut path = vec![];
        let mut at = node;
        while self.parent[at as usize] != ROOT {
            path.push(at);
            at = self.parent[at as usize];
        }
        let root = at;
        // From the top down, each node is hung under the root.
        let mut above = ONE;
        for node in path.iter().rev() {
            let n = *node as usize;
            above = expressions.cat(above, self.label[n]);
            self.label[n] = above;
            self.parent[n] = root;
        }
        (root, above)
    }
}

/// The children of one node of the dominator tree and the paths between them.
struct Siblings {
    /// The place of a node in its family.
    local: Vec<u32>,
    /// Paths from the parent directly.
    direct: Vec<ExprId>,
    /// Paths from sibling to sibling, by (from, to), and the neighbours before each.
    between: FxHashMap<(u32, u32), ExprId>,
    before: Vec<Vec<u32>>,
}

impl Siblings {
    fn new(nodes: usize) -> Self {
        Self { local: vec![0; nodes], direct: Vec::new(), between: FxHashMap::default(), before: Vec::new() }
    }

    fn open(&mut self, family: &[u32]) {
        for (i, v) in family.iter().enumerate() {
            self.local[*v as usize] = i as u32;
        }
        self.direct.clear();
        self.direct.resize(family.len(), ZERO);
        self.between.clear();
        self.before.iter_mut().for_each(Vec::clear);
        self.before.resize(self.before.len().max(family.len()), Vec::new());
    }

    fn enter(&mut self, expressions: &mut Expressions, to: usize, label: ExprId) {
        self.direct[to] = expressions.alt(self.direct[to], label);
    }

    fn connect(&mut self, expressions: &mut Expressions, from: usize, to: usize, label: ExprId) {
        if label == ZERO {
            return;
        }
        let between = self.between.entry((from as u32, to as u32)).or_insert(ZERO);
        if *between == ZERO {
            self.before[to].push(from as u32);
        }
        *between = expressions.alt(*between, label);
    }

    /// The expressions of all paths from the parent to each sibling that do not come back to the
    /// parent.
    fn solve(&self, expressions: &mut Expressions) -> Vec<ExprId> {
        let count = self.direct.len();
        let mut solved = self.direct.clone();
        let parts = components(count, |i| self.before[i].iter().map(|j| *j as usize));
        for c in 0..parts.first.len() - 1 {
            let members = &parts.order[parts.first[c] as usize..parts.first[c + 1] as usize];
            for to in members {
                for from in &self.before[*to as usize] {
                    if parts.of[*from as usize] != c as u32 {
                        let step = self.between[&(*from, *to)];
                        let path = expressions.cat(solved[*from as usize], step);
                        solved[*to as usize] = expressions.alt(solved[*to as usize], path);
                    }
                }
            }
            match members {
                [one] => {
                    if let Some(round) = self.between.get(&(*one, *one)) {
                        let star = expressions.star(*round);
                        solved[*one as usize] = expressions.cat(solved[*one as usize], star);
                    }
                }
                _ => self.eliminate(expressions, members, &mut solved),
            }
        }
        solved
    }

    /// Gaussian elimination in one strongly connected component.
    fn eliminate(&self, expressions: &mut Expressions, members: &[u32], solved: &mut [ExprId]) {
        let k = members.len();
        let mut matrix = vec![ZERO; k * k];
        for (j, to) in members.iter().enumerate() {
            for (i, from) in members.iter().enumerate() {
                matrix[i * k + j] = self.between.get(&(*from, *to)).copied().unwrap_or(ZERO);
            }
        }
        let mut entry: Vec<ExprId> = members.iter().map(|v| solved[*v as usize]).collect();
        for i in 0..k {
            let star = expressions.star(matrix[i * k + i]);
            for j in i + 1..k {
                let out = matrix[i * k + j];
                if out == ZERO {
                    continue;
                }
                let out = expressions.cat(star, out);
                let path = expressions.cat(entry[i], out);
                entry[j] = expressions.alt(entry[j], path);
                for l in i + 1..k {
                    let path = expressions.cat(matrix[l * k + i], out);
                    matrix[l * k + j] = expressions.alt(matrix[l * k + j], path);
                }
            }
        }
        for i in (0..k).rev() {
            let mut whole = entry[i];
            for l in i + 1..k {
                let path = expressions.cat(solved[members[l] as usize], matrix[l * k + i]);
                whole = expressions.alt(whole, path);
            }
            let star = expressions.star(matrix[i * k + i]);
            solved[members[i] as usize] = expressions.cat(whole, star);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::expression::Expr;

    /// The words of at most `length` letters that an expression describes.
    fn words(e: &Expressions, id: ExprId, length: usize) -> BTreeSet<Vec<u32>> {
        let cat = |a: &BTreeSet<Vec<u32>>, b: &BTreeSet<Vec<u32>>| {
            let pairs = a.iter().flat_map(|x| b.iter().map(move |y| [&x[..], &y[..]].concat()));
            pairs.filter(|w| w.len() <= length).collect::<BTreeSet<_>>()
        };
        match e.node(id) {
            Expr::Zero => BTreeSet::new(),
            Expr::One => BTreeSet::from([vec![]]),
            Expr::Letter(letter) => BTreeSet::from([vec![letter]]),
            Expr::Alt(a, b) => &words(e, a, length) | &words(e, b, length),
            Expr::Cat(a, b) => cat(&words(e, a, length), &words(e, b, length)),
            Expr::Star(a) => {
                let round = words(e, a, length);
                let mut all = BTreeSet::from([vec![]]);
                loop {
                    let more = &all | &cat(&all, &round);
                    if more == all {
                        return all;
                    }
                    all = more;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        /// Exactly the paths of the graph, reducible or not.
        #[test]
        fn expressions_describe_the_paths(pairs in proptest::collection::vec((0u32..6, 0u32..6), 0..12)) {
            let mut e = Expressions::default();
            let pairs: Vec<_> = pairs.into_iter().filter(|(_, to)| *to != 0).collect();
            let edges: Vec<Edge> = pairs.iter().enumerate()
                .map(|(i, (from, to))| Edge { from: *from, to: *to, label: e.letter(i as u32) })
                .collect();
            let paths = path_expressions(6, &edges, &mut e);
            let length = 5;
            let mut expected: Vec<BTreeSet<Vec<u32>>> = vec![BTreeSet::new(); 6];
            let mut open = vec![(0u32, vec![])];
            while let Some((at, word)) = open.pop() {
                if word.len() < length {
                    for (i, (_, to)) in pairs.iter().enumerate().filter(|(_, (from, _))| *from == at) {
                        open.push((*to, [&word[..], &[i as u32]].concat()));
                    }
                }
                expected[at as usize].insert(word);
            }
            for (v, words_to) in expected.iter().enumerate() {
                prop_assert_eq!(&words(&e, paths.from_root[v], length), words_to, "node {}", v);
            }
        }
    }
}

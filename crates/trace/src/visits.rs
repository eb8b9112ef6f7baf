//! The weights of traces: which critical nodes a path touches, how far it comes in a given order of
//! others, and how long it is.
//!
//! \[Lal09\] §4.3 (BTRACE) does not say what its weights are. Here, a weight is the set of the best
//! ways: a path from place `from` of the order to place `to`, which touches a set of nodes, at a
//! cost. A way is dropped if another between the same places touches as much and costs no more.
//!
//! - **Order:** ⊕ unites and drops, ⊗ combines all ways that fit: `to` of the first is `from` of
//!   the second; sets are united and costs added. Both are those of min-plus matrices over
//!   sets, so that ⊗ distributes over ⊕; dropping commutes with both, since what dominates a way
//!   dominates it in every context.
//! - **Chains** are finite: between two places, a set of nodes only ever gets cheaper.
//! - **Cost:** a weight has at most `(k + 1)² · 2^n` ways, for an order of `k` and `n` nodes.

use wherefore_pushdown::Semiring;

/// A way: a path, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Way {
    /// How many of the ordered nodes were touched before.
    pub from: u8,
    /// How many were touched behind it.
    pub to: u8,
    /// Which of the other nodes are touched.
    pub touched: u32,
    /// The cost.
    pub cost: u64,
}

impl Way {
    /// Whether it is as good as another one.
    fn dominates(&self, other: &Way) -> bool {
        (self.from, self.to) == (other.from, other.to)
            && self.touched & other.touched == other.touched
            && self.cost <= other.cost
    }
}

/// The best ways, sorted.
pub type Ways = Vec<Way>;

/// The domain of traces through so many nodes in order, and any others.
#[derive(Clone, Copy, Debug)]
pub struct Visits {
    /// How many nodes are touched in order.
    pub ordered: u8,
}

impl Visits {
    /// The weight of a step: what it costs, which nodes it touches, and at which places of the
    /// order it is the next.
    pub fn step(&self, cost: u64, touched: u32, next: &[u8]) -> Ways {
        let mut ways: Ways =
            (0..=self.ordered).map(|place| Way { from: place, to: place, touched, cost }).collect();
        ways.extend(next.iter().map(|place| Way { from: *place, to: place + 1, touched, cost }));
        ways.sort_unstable();
        ways.dedup();
        ways
    }
}

/// The ways that no other one dominates, sorted.
fn best(mut ways: Ways) -> Ways {
    ways.sort_unstable_by_key(|way| {
        (way.from, way.to, way.cost, std::cmp::Reverse(way.touched.count_ones()))
    });
    let mut kept: Ways = Vec::with_capacity(ways.len());
    let mut group = 0;
    for way in ways {
        if kept.last().is_some_and(|last| (last.from, last.to) != (way.from, way.to)) {
            group = kept.len();
        }
        // What comes later costs no less, so that it dominates nothing that is kept.
        if !kept[group..].iter().any(|other| other.dominates(&way)) {
            kept.push(way);
        }
    }
    kept.sort_unstable();
    kept
}

impl Semiring for Visits {
    type Weight = Ways;

    fn zero(&self) -> Ways {
        Vec::new()
    }

    fn one(&self) -> Ways {
        self.step(0, 0, &[])
    }

    fn combine(&self, a: &Ways, b: &Ways) -> Ways {
        best(a.iter().chain(b).copied().collect())
    }

    fn extend(&self, a: &Ways, b: &Ways) -> Ways {
        let mut ways = Vec::new();
        for first in a {
            let start = b.partition_point(|way| way.from < first.to);
            for second in b[start..].iter().take_while(|way| way.from == first.to) {
                ways.push(Way {
                    from: first.from,
                    to: second.to,
                    touched: first.touched | second.touched,
                    cost: first.cost.saturating_add(second.cost),
                });
            }
        }
        best(ways)
    }

    fn join(&self, into: &mut Ways, w: &Ways) -> bool {
        let grew = w.iter().any(|way| !into.iter().any(|other| other.dominates(way)));
        if grew {
            *into = self.combine(into, w);
        }
        grew
    }

    /// The ways of `a` that no way of `b` dominates.
    fn difference(&self, a: &Ways, b: &Ways) -> Option<Ways> {
        Some(a.iter().filter(|way| !b.iter().any(|other| other.dominates(way))).copied().collect())
    }

    fn rank(&self, w: &Ways) -> u64 {
        w.iter().map(|way| way.cost).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wherefore_pushdown::laws;

    #[test]
    fn laws_hold_on_random_ways() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let domain = Visits { ordered: 2 };
        for _ in 0..200 {
            let samples: Vec<Ways> = (0..3)
                .map(|_| {
                    let ways = (0..next(5)).map(|_| {
                        let from = next(3) as u8;
                        let to = from + next(3 - u64::from(from)) as u8;
                        Way { from, to, touched: next(8) as u32, cost: next(6) }
                    });
                    best(ways.collect())
                })
                .collect();
            laws::semiring(&domain, &samples).unwrap();
        }
    }
}

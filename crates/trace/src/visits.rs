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

use wherefore_pushdown::{Adjoint, Atomic, Semiring};

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

/// Adds a way to some that do not dominate each other, and drops those that it dominates; whether
/// it was added.
fn add(ways: &mut Ways, way: Way) -> bool {
    let key = (way.from, way.to);
    let is_key = |other: Option<&Way>| other.is_some_and(|other| (other.from, other.to) == key);
    // Without an order there is one pair of places only.
    let (start, end) = if is_key(ways.first()) && is_key(ways.last()) {
        (0, ways.len())
    } else {
        let start = ways.partition_point(|other| (other.from, other.to) < key);
        (start, start + ways[start..].partition_point(|other| (other.from, other.to) == key))
    };
    if ways[start..end].iter().any(|other| other.dominates(&way)) {
        return false;
    }
    let mut kept = start;
    for at in start..end {
        if !way.dominates(&ways[at]) {
            ways[kept] = ways[at];
            kept += 1;
        }
    }
    ways.drain(kept..end);
    let at = start + ways[start..kept].partition_point(|other| *other < way);
    ways.insert(at, way);
    true
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
        let mut ways = a.clone();
        for way in b {
            add(&mut ways, *way);
        }
        ways
    }

    fn extend(&self, a: &Ways, b: &Ways) -> Ways {
        // Most steps touch nothing: they only add their cost.
        let is_plain = |ways: &Ways| {
            let first = ways.first().map_or(0, |way| way.cost);
            ways.len() == usize::from(self.ordered) + 1
                && ways.iter().all(|way| way.from == way.to && way.touched == 0 && way.cost == first)
        };
        let longer = |ways: &Ways, cost: u64| -> Ways {
            ways.iter().map(|way| Way { cost: way.cost.saturating_add(cost), ..*way }).collect()
        };
        if is_plain(b) {
            return longer(a, b[0].cost);
        }
        if is_plain(a) {
            return longer(b, a[0].cost);
        }
        let mut ways = Vec::new();
        for first in a {
            let start = b.partition_point(|way| way.from < first.to);
            for second in b[start..].iter().take_while(|way| way.from == first.to) {
                let way = Way {
                    from: first.from,
                    to: second.to,
                    touched: first.touched | second.touched,
                    cost: first.cost.saturating_add(second.cost),
                };
                add(&mut ways, way);
            }
        }
        ways
    }

    fn join(&self, into: &mut Ways, w: &Ways) -> bool {
        let mut grew = false;
        for way in w {
            grew |= add(into, *way);
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

/// A context is a set of demands: a weight is accepted if one of its ways is between the same
/// places, touches at least this, and costs at most this.
impl Adjoint for Visits {
    type Context = Ways;

    fn any_context(&self) -> Ways {
        let places = 0..=self.ordered;
        let way = |from| (from..=self.ordered).map(move |to| Way { from, to, touched: 0, cost: u64::MAX });
        places.flat_map(way).collect()
    }

    fn no_context(&self) -> Ways {
        Vec::new()
    }

    fn join_context(&self, into: &mut Ways, context: &Ways) -> bool {
        let mut grew = false;
        for demand in context {
            // A demand is met whenever one that it dominates is.
            if !into.iter().any(|other| demand.dominates(other)) {
                into.retain(|other| !other.dominates(demand));
                into.push(*demand);
                grew = true;
            }
        }
        into.sort_unstable();
        grew
    }

    fn pull(&self, before: &Ways, context: &Ways, after: &Ways) -> Ways {
        let mut pulled = Vec::new();
        for demand in context {
            for first in before.iter().filter(|way| way.from == demand.from) {
                for last in after.iter().filter(|way| way.to == demand.to && way.from >= first.to) {
                    let spent = first.cost.saturating_add(last.cost);
                    let cost = match demand.cost {
                        u64::MAX => u64::MAX,
                        most if most < spent => continue,
                        most => most - spent,
                    };
                    let touched = demand.touched & !first.touched & !last.touched;
                    let demand = Way { from: first.to, to: last.from, touched, cost };
                    self.join_context(&mut pulled, &vec![demand]);
                }
            }
        }
        pulled
    }

    fn completes(&self, w: &Ways, context: &Ways) -> bool {
        w.iter().any(|way| context.iter().any(|demand| way.dominates(demand)))
    }
}

/// A way is an atom.
impl Atomic for Visits {
    fn atom(&self, w: &Ways, context: &Ways) -> Option<(Ways, Ways)> {
        let way = w.iter().find(|way| context.iter().any(|demand| way.dominates(demand)))?;
        Some((vec![*way], vec![*way]))
    }

    fn beginning_as(&self, w: &Ways, atom: &Ways) -> Ways {
        let starts = |way: &&Way| atom.iter().any(|atom| atom.from == way.from);
        w.iter().filter(starts).copied().collect()
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
                    domain.combine(&domain.zero(), &ways.collect())
                })
                .collect();
            laws::semiring(&domain, &samples).unwrap();
            laws::adjoint(&domain, &samples).unwrap();
        }
    }
}

//! Algorithm *Reduce*, steps 1 to 3: \[Focus\] Fig. 5 and Definition 3.
//!
//! A condition and its negation that are assumed by exactly one sequence each most likely come from
//! one branch that has nothing to do with the fault: both are dropped. Sequences that are then
//! alike are one.

use std::collections::BTreeMap;

/// A sequence under reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reducible {
    /// Its position among all sequences.
    pub sequence: usize,
    /// What is compared to tell whether two sequences are identical: their statements.
    pub statements: Vec<u64>,
    /// The assumptions that are left: what each says and what its negation says.
    pub assumptions: Vec<(String, String)>,
    /// Which assumptions these are, by position in the original set.
    pub kept: Vec<usize>,
}

/// Steps 1 to 3: drops complementary assumptions and sequences that have become alike, until
/// nothing changes.
///
/// **Ensures:** Definition 3, conditions 1 and 2.
pub fn reduce(mut all: Vec<Reducible>) -> Vec<Reducible> {
    loop {
        let before = all.len();
        let dropped = drop_complements(&mut all);
        drop_twins(&mut all);
        if !dropped && all.len() == before {
            return all;
        }
    }
}

fn drop_complements(all: &mut [Reducible]) -> bool {
    let mut dropped = false;
    loop {
        // Which sequences assume what.
        let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, sequence) in all.iter().enumerate() {
            for (says, _) in &sequence.assumptions {
                let known = holders.entry(says.clone()).or_default();
                if known.last() != Some(&i) {
                    known.push(i);
                }
            }
        }
        let pair = all.iter().enumerate().find_map(|(i, sequence)| {
            sequence.assumptions.iter().find_map(|(says, opposite)| {
                let [unique] = holders.get(says)?.as_slice() else { return None };
                let [other] = holders.get(opposite)?.as_slice() else { return None };
                (*unique == i && *other != i).then(|| (i, *other, says.clone(), opposite.clone()))
            })
        });
        let Some((one, other, says, opposite)) = pair else { return dropped };
        remove(&mut all[one], &says);
        remove(&mut all[other], &opposite);
        dropped = true;
    }
}

fn remove(sequence: &mut Reducible, says: &str) {
    let keep: Vec<bool> = sequence.assumptions.iter().map(|(other, _)| other != says).collect();
    let mut flags = keep.iter();
    sequence.kept.retain(|_| *flags.next().unwrap_or(&true));
    let mut flags = keep.iter();
    sequence.assumptions.retain(|_| *flags.next().unwrap_or(&true));
}

fn drop_twins(all: &mut Vec<Reducible>) {
    let mut seen: Vec<(Vec<u64>, Vec<String>)> = Vec::new();
    all.retain(|sequence| {
        let mut says: Vec<String> = sequence.assumptions.iter().map(|(says, _)| says.clone()).collect();
        says.sort();
        says.dedup();
        let one = (sequence.statements.clone(), says);
        let new = !seen.contains(&one);
        if new {
            seen.push(one);
        }
        new
    });
}

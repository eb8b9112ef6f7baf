//! Lists with parts that repeat, folded: iterations of loops in runs.
//!
//! A loop that turns a hundred times is the same five steps a hundred times. The first iteration is
//! kept, and the others become one item with their number; so do loops in loops.

use std::ops::Range;

/// An item of a folded list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fold {
    /// An item of the list, by its position.
    One(usize),
    /// A part that repeats.
    Repeated {
        /// Its first occurrence.
        body: Vec<Fold>,
        /// Where it begins again: at these items of the list.
        again: Vec<usize>,
        /// The items of the list that are these occurrences.
        rest: Range<usize>,
    },
}

/// The longest part that is looked for.
const MOST_ITEMS: usize = 64;

/// So many items are worth a fold.
const LEAST_HIDDEN: usize = 4;

/// Folds a list. Items with the same key are the same; a part begins only with an item that may
/// start one.
///
/// The result has every item of the list once: those of `body` and `One` are shown, those of `rest`
/// are not.
///
/// ```
/// use wherefore_report::folds::{Fold, folded};
///
/// let found = folded(b"a-ab-ab-ab-z", |key| *key != b'-');
/// let text: Vec<usize> = found.iter().filter_map(|item| match item { Fold::One(at) => Some(*at), _ => None }).collect();
/// assert_eq!(text, [0, 1, 11]);
/// assert!(matches!(&found[2], Fold::Repeated { again, rest, .. } if *again == [5, 8] && *rest == (5..11)));
/// ```
pub fn folded<K: Eq>(keys: &[K], starts: impl Fn(&K) -> bool) -> Vec<Fold> {
    let mut items: Vec<Fold> = (0..keys.len()).map(Fold::One).collect();
    // Short parts first: loops in loops are one item then.
    for length in 1..=MOST_ITEMS {
        if 2 * length > items.len() {
            break;
        }
        items = folded_by(keys, &starts, items, length);
    }
    items
}

fn folded_by<K: Eq>(keys: &[K], starts: &impl Fn(&K) -> bool, items: Vec<Fold>, length: usize) -> Vec<Fold> {
    let mut found = Vec::with_capacity(items.len());
    let mut at = 0;
    while at < items.len() {
        let body = &items[at..items.len().min(at + length)];
        let is_start = body.first().is_some_and(|first| starts(&keys[first.first()]));
        let mut more = 0;
        if is_start && body.len() == length {
            let after = items[at + length..].chunks_exact(length);
            more = after.take_while(|part| same(keys, part, body)).count();
        }
        if more * length < LEAST_HIDDEN {
            found.push(items[at].clone());
            at += 1;
            continue;
        }
        let rest = items[at + length].first()..items[at + length * (more + 1) - 1].end();
        let again = (1..=more).map(|turn| items[at + length * turn].first()).collect();
        found.push(Fold::Repeated { body: body.to_vec(), again, rest });
        at += length * (more + 1);
    }
    found
}

/// Whether two parts are the same, but for the numbers of iterations in them.
fn same<K: Eq>(keys: &[K], a: &[Fold], b: &[Fold]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Fold::One(a), Fold::One(b)) => keys[*a] == keys[*b],
            (Fold::Repeated { body: a, .. }, Fold::Repeated { body: b, .. }) => same(keys, a, b),
            _ => false,
        })
}

impl Fold {
    /// The first item of the list that is in it.
    pub fn first(&self) -> usize {
        match self {
            Self::One(at) => *at,
            Self::Repeated { body, rest, .. } => body.first().map_or(rest.start, Self::first),
        }
    }

    /// Behind the last item of the list that is in it.
    pub fn end(&self) -> usize {
        match self {
            Self::One(at) => at + 1,
            Self::Repeated { rest, .. } => rest.end,
        }
    }

    /// The items of the list that are shown, in their order.
    pub fn shown(&self) -> Vec<usize> {
        match self {
            Self::One(at) => vec![*at],
            Self::Repeated { body, .. } => body.iter().flat_map(Self::shown).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folded text: what is shown, with the numbers of further iterations.
    fn text(of: &str) -> String {
        fn write(keys: &[u8], items: &[Fold], out: &mut String) {
            for item in items {
                match item {
                    Fold::One(at) => out.push(keys[*at] as char),
                    Fold::Repeated { body, again, .. } => {
                        out.push('(');
                        write(keys, body, out);
                        out.push_str(&format!("+{})", again.len()));
                    }
                }
            }
        }
        let mut out = String::new();
        write(of.as_bytes(), &folded(of.as_bytes(), |key| *key != b'-'), &mut out);
        out
    }

    #[test]
    fn iterations_are_folded_and_few_items_are_not() {
        assert_eq!(text("xabcabcabcy"), "x(abc+2)y");
        assert_eq!(text("abab"), "abab");
        assert_eq!(text("aaaa"), "aaaa");
        assert_eq!(text("aaaaaa"), "(a+5)");
        assert_eq!(text(""), "");
    }

    #[test]
    fn loops_in_loops_are_folded_whatever_their_numbers_are() {
        assert_eq!(text("xaaaaaayxaaaaaaaayxaaaaayz"), "(x(a+5)y+2)z");
    }

    #[test]
    fn a_part_begins_where_one_may() {
        assert_eq!(text("-ab-ab-ab-c"), "-(ab-+2)c");
    }

    #[test]
    fn every_item_is_there_once() {
        let keys = b"--abcabcabcabddddddeabddddddddeabdddddde";
        let mut all: Vec<usize> = Vec::new();
        for item in folded(keys, |key| *key != b'-') {
            assert_eq!(item.first(), all.len());
            let shown = item.shown();
            assert!(shown.windows(2).all(|pair| pair[0] < pair[1]));
            all.extend(item.first()..item.end());
        }
        assert_eq!(all, (0..keys.len()).collect::<Vec<_>>());
    }
}

//! Sets of words over the names of weights: a domain that shows in which order weights are put
//! together.

use std::collections::BTreeSet;

use wherefore_pushdown::{Adjoint, AdjointMerge, Merge, Semiring, laws};

/// A set of words.
pub type Words = BTreeSet<Vec<String>>;

/// The domain of sets of words. It has infinite chains: only for systems without loops, and for
/// single paths.
pub struct Traces;

/// The word of a text: names with blanks between them.
pub fn word(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Semiring for Traces {
    type Weight = Words;

    fn zero(&self) -> Words {
        Words::new()
    }

    fn one(&self) -> Words {
        Words::from([Vec::new()])
    }

    fn combine(&self, a: &Words, b: &Words) -> Words {
        a.union(b).cloned().collect()
    }

    fn extend(&self, a: &Words, b: &Words) -> Words {
        a.iter().flat_map(|a| b.iter().map(|b| [&a[..], b].concat())).collect()
    }
}

/// No two sets of words concatenate to the empty set, so a context only says whether there is a
/// completion.
impl Adjoint for Traces {
    type Context = bool;

    fn any_context(&self) -> bool {
        true
    }

    fn no_context(&self) -> bool {
        false
    }

    fn join_context(&self, into: &mut bool, context: &bool) -> bool {
        !std::mem::replace(into, *into || *context) && *context
    }

    fn pull(&self, before: &Words, context: &bool, after: &Words) -> bool {
        *context && !before.is_empty() && !after.is_empty()
    }

    fn completes(&self, w: &Words, context: &bool) -> bool {
        *context && !w.is_empty()
    }
}

/// A merge function that leaves its name: `caller m(name)[ callee ]`.
#[derive(Clone)]
pub struct Named(pub String);

impl Merge<Traces> for Named {
    fn merge(&self, domain: &Traces, caller: &Words, callee: &Words) -> Words {
        let open = Words::from([vec![format!("m({})[", self.0)]]);
        let close = Words::from([vec!["]".to_owned()]]);
        [&open, callee, &close].iter().fold(caller.clone(), |all, part| domain.extend(&all, part))
    }
}

impl AdjointMerge<Traces> for Named {
    fn pull(&self, domain: &Traces, before: &Words, context: &bool, after: &Words) -> bool {
        domain.pull(before, context, after)
    }
}

/// The laws of a semiring are not asked: they take stars, which are infinite here.
#[test]
fn laws_of_contexts_and_merges_hold() {
    let samples =
        [Traces.zero(), Traces.one(), Words::from([word("a b"), word("c")]), Words::from([word("b")])];
    laws::adjoint(&Traces, &samples).unwrap();
    laws::merge(&Traces, &Named("m".into()), &samples).unwrap();
    laws::adjoint_merge(&Traces, &Named("m".into()), &samples).unwrap();
}

//! Facts that bring their own weights, without a system.

use std::collections::HashMap;

use wherefore_domains::{Relation, RelationDomain};
use wherefore_pushdown::{
    Automaton, Reading, Semiring, State, Symbol, laws, star_by_difference, star_by_squaring,
};

use super::data::Data;
use super::facts::Verdict;
use super::kits::{Kit, Relations};

/// Checks a fact without input; `None` if its kind is not known.
pub fn check(fact: &Data) -> Option<Verdict> {
    match fact.get("kind").as_text()? {
        "kleene_star" => Some(kleene_star(fact)),
        // Tensors of more than two relations are not there yet: such facts have terms instead of
        // pairs.
        "tensor" if fact.get("terms").items().is_empty() => Some(tensor(fact)),
        "wautomata_product" => Some(product(fact)),
        "laws" if fact.get("domain").as_text() == Some("relation") => Some(difference_laws()),
        _ => None,
    }
}

fn equal<W: PartialEq + std::fmt::Debug>(what: &str, found: W, expected: W) -> Verdict {
    if found == expected { Ok(1) } else { Err(format!("{what}: {found:?}, expected {expected:?}")) }
}

fn kleene_star(fact: &Data) -> Verdict {
    let kit = Relations::read(fact.get("domain"));
    let d = kit.semiring();
    let (w, star) = (kit.weight(fact.get("weight")), kit.weight(fact.get("star")));
    let (squared, squarings) = star_by_squaring(d, &w);
    let (iterated, turns) = star_by_difference(d, &w).ok_or("the domain has no difference")?;
    let count = |key: &str, found: usize| match fact.get(key).as_int() {
        Some(expected) => equal(key, found as i64, expected),
        None => Ok(0),
    };
    Ok(equal("closure", d.star(&w), star.clone())?
        + equal("squaring", squared, star.clone())?
        + equal("difference", iterated, star)?
        + count("turns", turns)?
        + count("squarings", squarings)?)
}

/// A Boolean matrix, row after row.
fn matrix(data: &Data) -> Relation {
    let rows = data.items();
    Relation::from_fn(rows.len(), |a| {
        let row = rows[a].items().iter().enumerate();
        row.filter(|(_, bit)| bit.as_int() == Some(1)).map(|(b, _)| b).collect::<Vec<_>>()
    })
}

fn tensor(fact: &Data) -> Verdict {
    let expected = matrix(fact.get("equals"));
    let d = RelationDomain::new(expected.size());
    let both = d.tensor_domain();
    let (mut sum, mut left, mut right, mut plain) = (both.zero(), d.zero(), d.zero(), d.zero());
    for pair in fact.get("pairs").items() {
        let (a, b) = (matrix(&pair.items()[0]), matrix(&pair.items()[1]));
        both.join(&mut sum, &d.tensor(&a, &b));
        d.join(&mut plain, &d.extend(&a, &b));
        d.join(&mut left, &a);
        d.join(&mut right, &b);
    }
    Ok(equal("DeTensor", d.detensor(&sum), expected.clone())?
        + equal("sum of products", plain, expected)?
        + equal("cross", d.extend(&left, &right), matrix(fact.get("cross")))?)
}

/// Transitions of a weighted automaton: from, symbol, to, weight.
type Transitions = Vec<(String, String, String, Relation)>;

fn transitions(kit: &Relations, data: &Data) -> Transitions {
    let read = |t: &Data| {
        let [from, symbol, to, weight] = t.items() else { panic!("{t} is no transition") };
        (from.to_string(), symbol.to_string(), to.to_string(), kit.weight(weight))
    };
    data.get("trans").items().iter().map(read).collect()
}

/// The combined weight of all accepted words, by the engine; the start is control state 0.
fn accepted(d: &RelationDomain, trans: &Transitions, start: &str, end: &str) -> Relation {
    fn number<'n>(table: &mut HashMap<&'n str, u32>, name: &'n str) -> u32 {
        let next = table.len() as u32;
        *table.entry(name).or_insert(next)
    }
    let (mut states, mut symbols) = (HashMap::from([(start, 0)]), HashMap::new());
    for (from, symbol, to, _) in trans {
        number(&mut symbols, symbol);
        number(&mut states, from);
        number(&mut states, to);
    }
    let mut automaton: Automaton<Relation> = Automaton::new(1, symbols.len(), Reading::Forward);
    let mut query: Automaton<()> = Automaton::new(1, symbols.len(), Reading::Forward);
    (1..states.len()).for_each(|_| {
        automaton.add_state();
    });
    automaton.set_final(State(states[end]));
    for (from, symbol, to, weight) in trans {
        automaton.join(d, State(states[&**from]), Symbol(symbols[&**symbol]), State(states[&**to]), weight);
    }
    let any = query.add_state();
    query.set_final(any);
    for symbol in (0..symbols.len() as u32).map(Symbol) {
        query.add(State(0), symbol, any, ());
        query.add(any, symbol, any, ());
    }
    automaton.summary(d, &query)
}

/// The sequential product of two weighted automata: exactly by tensors, and wrongly by pairs of
/// weights.
fn product(fact: &Data) -> Verdict {
    let kit = Relations::read(fact.get("domain"));
    let d = kit.semiring();
    let (one, two) = (fact.get("A1"), fact.get("A2"));
    let (first, second) = (transitions(&kit, one), transitions(&kit, two));
    let pair = |a: &str, b: &str| format!("{a},{b}");
    let mut both: Transitions = Vec::new();
    for (p, a, q, v) in &first {
        for (r, b, s, w) in second.iter().filter(|t| t.1 == *a) {
            both.push((pair(p, r), b.clone(), pair(q, s), d.tensor(v, w)));
        }
    }
    let end = |key: &str| pair(&one.get(key).to_string(), &two.get(key).to_string());
    let exact = d.detensor(&accepted(&d.tensor_domain(), &both, &end("start"), &end("final")));
    let alone = |data: &Data, trans: &Transitions| {
        accepted(d, trans, &data.get("start").to_string(), &data.get("final").to_string())
    };
    let paired = d.extend(&alone(one, &first), &alone(two, &second));
    Ok(equal("tensor product", exact, kit.weight(fact.get("equals")))?
        + equal("paired", paired, kit.weight(fact.get("paired")))?)
}

/// The laws of a difference, for all relations on two elements.
fn difference_laws() -> Verdict {
    let d = RelationDomain::new(2);
    let relation = |bits: usize| {
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate();
        Relation::from_pairs(2, pairs.filter(|(i, _)| bits >> i & 1 == 1).map(|(_, pair)| pair))
    };
    let samples: Vec<Relation> = (0..16).map(relation).collect();
    let given = samples.iter().all(|w| d.difference(w, w).is_some_and(|nothing| d.is_zero(&nothing)));
    laws::semiring(&d, &samples).map_err(|e| e.to_string())?;
    equal("there is a difference", given, true)
}

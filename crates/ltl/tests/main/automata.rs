//! Automata accept exactly the words on which their formulas hold.

use std::collections::BTreeSet;

use wherefore_ltl::{Buchi, Formula, Word};
use wherefore_testing::cases;

/// A small generator of random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

pub fn random_formula(random: &mut Random, depth: usize, atoms: usize) -> Formula {
    if depth == 0 || random.below(6) == 0 {
        return match random.below(12) {
            0 => Formula::Constant(random.below(2) == 0),
            _ => Formula::Atom(random.below(atoms)),
        };
    }
    let a = random_formula(random, depth - 1, atoms);
    let b = random_formula(random, depth - 1, atoms);
    match random.below(10) {
        0 => a.not(),
        1 => a.and(b),
        2 => a.or(b),
        3 => a.next(),
        4 => a.until(b),
        5 => a.release(b),
        6 => a.eventually(),
        7 => a.always(),
        8 => a.weak_until(b),
        _ => a.not().or(b),
    }
}

fn random_word(random: &mut Random, atoms: usize) -> Word {
    let letters = |count: usize, random: &mut Random| {
        (0..count).map(|_| (0..atoms).map(|_| random.below(2) == 0).collect()).collect()
    };
    let (stem, turn) = (random.below(4), 1 + random.below(4));
    Word { stem: letters(stem, random), turn: letters(turn, random) }
}

/// Whether the automaton accepts a word: some cycle of the product with the word takes an accepting
/// transition.
fn accepts(automaton: &Buchi, word: &Word) -> bool {
    let letters: Vec<&Vec<bool>> = word.stem.iter().chain(&word.turn).collect();
    let after = |at: usize| if at + 1 == letters.len() { word.stem.len() } else { at + 1 };
    let steps = |(state, at): (usize, usize)| -> Vec<((usize, usize), bool)> {
        let out = automaton.transitions[state].iter().filter(|t| t.guard.allows(letters[at]));
        out.map(|t| ((t.to, after(at)), t.is_accepting)).collect()
    };
    let reach = |from: (usize, usize)| {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(pair) = open.pop() {
            for (next, _) in steps(pair) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let loops = |pair: &(usize, usize)| {
        let mut out = steps(*pair).into_iter();
        out.any(|(next, is_accepting)| is_accepting && reach(next).contains(pair))
    };
    reach((0, 0)).iter().any(loops)
}

#[test]
fn automata_accept_what_formulas_say() {
    let mut random = Random(1);
    let (mut yes, mut no, mut most) = (0, 0, 0);
    for _ in 0..cases(400) {
        let formula = random_formula(&mut random, 4, 3);
        let Ok(automaton) = Buchi::new(&formula) else { continue };
        let negated = Buchi::new(&formula.clone().not()).unwrap();
        most = most.max(automaton.state_count());
        for _ in 0..8 {
            let word = random_word(&mut random, 3);
            let holds = word.satisfies(&formula);
            assert_eq!(accepts(&automaton, &word), holds, "{formula:?} on {word:?}");
            assert_eq!(accepts(&negated, &word), !holds, "not {formula:?} on {word:?}");
            *(if holds { &mut yes } else { &mut no }) += 1;
        }
    }
    assert!(yes > 300 && no > 300 && most > 4, "{yes} {no} {most}");
}

#[test]
fn usual_formulas_have_small_automata() {
    let [p, q] = [0, 1].map(Formula::Atom);
    let states = |formula: Formula| Buchi::new(&formula).unwrap().state_count();
    assert_eq!(states(p.clone().eventually().not()), 1);
    assert_eq!(states(p.clone().eventually().always()), 1);
    assert_eq!(states(p.clone().not().or(q.clone().eventually()).always().not()), 2);
    assert_eq!(states(p.clone().always().eventually()), 2);
    assert_eq!(states(p.until(q)), 2);
    assert_eq!(states(Formula::Constant(false)), 1);
}

#[test]
fn formulas_that_are_too_large_are_refused() {
    let many = (0..24).map(|i| Formula::Atom(i).eventually().always());
    let formula = many.reduce(Formula::or).unwrap().not();
    let large = (0..24).map(|i| Formula::Atom(i).always().eventually()).reduce(Formula::and).unwrap();
    assert!(Buchi::new(&formula).is_err() || Buchi::new(&large).is_err());
}

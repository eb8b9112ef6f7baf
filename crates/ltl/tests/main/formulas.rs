//! Formulas as text.

use wherefore_ltl::{Formula, Proposition, Specification};

fn conditions(text: &str) -> Vec<String> {
    let read = Specification::parse(text).unwrap();
    read.atoms.iter().map(|atom| atom.proposition.to_string()).collect()
}

fn refused(text: &str) -> String {
    Specification::parse(text).unwrap_err().to_string()
}

fn atom(number: usize) -> Formula {
    Formula::Atom(number)
}

fn formula(text: &str) -> Formula {
    Specification::parse(text).unwrap().formula
}

#[test]
fn operators_bind_as_the_documentation_says() {
    assert_eq!(formula("a U b U c"), atom(0).until(atom(1).until(atom(2))));
    assert_eq!(formula("!a U b"), atom(0).until(atom(1)), "`!a` is a condition");
    assert_eq!(formula("G a && b"), atom(0).always().and(atom(1)));
    assert_eq!(formula("a || b && c"), atom(0).or(atom(1).and(atom(2))));
    assert_eq!(formula("a -> b -> c"), atom(0).not().or(atom(1).not().or(atom(2))));
    assert_eq!(formula("[] <> a"), atom(0).eventually().always());
    assert_eq!(formula("G(F(a))"), atom(0).eventually().always());
    assert_eq!(formula("!(a U b)"), atom(0).until(atom(1)).not());
    assert_eq!(formula("! F a"), atom(0).eventually().not());
    assert_eq!(formula("X X a R b"), atom(0).next().next().release(atom(1)));
    assert_eq!(formula("true U (a)"), atom(0).eventually());
    assert_eq!(formula("a W b"), atom(0).weak_until(atom(1)));
}

#[test]
fn conditions_are_cut_out_of_the_text() {
    assert_eq!(conditions("G (locked == 1 -> F locked == 0)"), ["locked == 1", "locked == 0"]);
    assert_eq!(conditions("(a + b) * 2 == c && (x | y) U z"), ["(a + b) * 2 == c", "x | y", "z"]);
    assert_eq!(conditions("(a || b) == 1 W !(c)"), ["(a || b) == 1", "c"]);
    assert_eq!(conditions("F X == 1 U G < 2"), ["X == 1", "G < 2"], "variables may have these names");
    assert_eq!(conditions("x == U U U == x"), ["x == U", "U == x"]);
    assert_eq!(conditions("a && a || a"), ["a"]);
    assert_eq!(conditions("c == '(' && x"), ["c == '('", "x"]);
    assert_eq!(conditions("!a == b"), ["!a == b"]);
}

#[test]
fn places_are_told_from_conditions() {
    let read =
        Specification::parse("F end && at(retry) && at exit && line 12 && line(3) && end == 1").unwrap();
    let found: Vec<Proposition> = read.atoms.into_iter().map(|atom| atom.proposition).collect();
    let at = |name: &str| Proposition::At(name.to_owned());
    let expected = [
        Proposition::End,
        at("retry"),
        at("exit"),
        Proposition::Line(12),
        Proposition::Line(3),
        Proposition::Condition("end == 1".to_owned()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn mistakes_have_places() {
    assert_eq!(refused(""), "1:1: a formula is expected here");
    assert_eq!(refused("G (a"), "1:3: this parenthesis is not closed");
    assert_eq!(refused("a)"), "1:2: this does not belong to the formula");
    assert_eq!(refused("a U"), "1:4: a formula is expected here");
    assert_eq!(refused("a &&\n && b"), "2:2: a formula is expected here");
    assert_eq!(refused("c == 'a"), "1:6: the quotation does not end");
    assert!(refused(&"!(".repeat(100_000)).contains("nested at most 200 deep"));
    assert!(refused(&"G ".repeat(100_000)).contains("nested at most 200 deep"));
    assert!(refused(&"(".repeat(100_000)).contains("nested at most 200 deep"));
}

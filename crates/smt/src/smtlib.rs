//! Terms as SMT-LIB 2, and the answers of solvers that speak it.

use std::fmt::{self, Write};

use rustc_hash::FxHashSet;

use crate::sort::Sort;
use crate::terms::{Kind, Term, Terms};

/// A term that can be printed in SMT-LIB; made by [`Terms::smtlib`].
pub struct SmtLib<'a> {
    terms: &'a Terms,
    term: Term,
}

impl Terms {
    /// The term in SMT-LIB 2. Shared subterms are printed as often as they occur. Floating-point
    /// operations have names of our own: the standard has no function from its numbers to bits.
    ///
    /// ```
    /// use wherefore_smt::{Sort, Terms};
    ///
    /// let mut terms = Terms::new();
    /// let (x, two) = (terms.variable("x y", Sort::Bits(8)), terms.bits(2, 8));
    /// let (low, sum) = (terms.extract(x, 0, 4), terms.add(x, two));
    /// let wide = terms.sign_extend(low, 8);
    /// let less = terms.slt(wide, sum);
    /// let text = "(bvslt ((_ sign_extend 4) ((_ extract 3 0) |x y|)) (bvadd |x y| (_ bv2 8)))";
    /// assert_eq!(terms.smtlib(less).to_string(), text);
    /// ```
    pub fn smtlib(&self, term: Term) -> SmtLib<'_> {
        SmtLib { terms: self, term }
    }

    /// A whole script: declarations, definitions of all subterms, one assertion for each term,
    /// `(check-sat)`.
    pub fn smtlib_script(&self, asserted: &[Term]) -> String {
        let mut script = format!("(set-logic {})\n", self.logic(asserted));
        self.definitions(asserted, &mut script);
        for term in asserted {
            let _ = writeln!(script, "(assert {})", symbol(self, *term));
        }
        script.push_str("(check-sat)\n");
        script
    }

    /// The logic of a problem: that of constant arrays is no standard one.
    pub(crate) fn logic(&self, roots: &[Term]) -> &'static str {
        let (mut arrays, mut constants, mut floats) = (false, false, false);
        self.postorder(
            roots,
            |_| true,
            |term| {
                arrays |= self.sort(term).is_array();
                constants |= matches!(self.kind(term), Kind::ConstArray(_));
                floats |= matches!(self.kind(term), Kind::Float(..));
            },
        );
        match (constants, arrays, floats) {
            (true, ..) => "ALL",
            (_, true, false) => "QF_ABV",
            (_, true, true) => "QF_ABVFP",
            (_, false, true) => "QF_BVFP",
            (_, false, false) => "QF_BV",
        }
    }

    /// Declares the variables below the roots, and defines every other term by its immediate
    /// subterms: however deep a term is, no line is. Symbols are numbers of terms.
    pub(crate) fn definitions(&self, roots: &[Term], into: &mut String) {
        let mut order = Vec::new();
        self.postorder(roots, |_| true, |term| order.push(term));
        for term in order {
            if self.constant(term).is_some() {
                continue;
            }
            let (name, sort) = (symbol(self, term), self.sort(term));
            if matches!(self.kind(term), Kind::Variable(_)) {
                let _ =
                    writeln!(into, "(declare-fun {name} () {sort}) ; {:?}", self.name(term).unwrap_or(""));
                continue;
            }
            if let Kind::Float(op, operands) = self.kind(term) {
                let operands: Vec<String> = operands.iter().map(|t| symbol(self, *t)).collect();
                crate::float_smtlib::define(*op, &operands, &name, into);
                continue;
            }
            let (head, children) = head(self, term);
            let _ = write!(into, "(define-fun {name} () {sort} ({head}");
            for child in children {
                let _ = write!(into, " {}", symbol(self, child));
            }
            into.push_str("))\n");
        }
    }
}

/// The symbol of a term in a script; constants stand for themselves.
pub(crate) fn symbol(terms: &Terms, term: Term) -> String {
    match terms.kind(term) {
        Kind::Constant(_) => head(terms, term).0,
        _ => format!("t{}", term.0),
    }
}

/// A name as a symbol: quoted, if it must be.
fn quoted(name: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    if !name.is_empty() && name.chars().all(simple) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return name.to_owned();
    }
    format!("|{}|", name.replace(['|', '\\'], "_"))
}

/// What is applied to which subterms; a leaf has none.
fn head(terms: &Terms, term: Term) -> (String, Vec<Term>) {
    let word = |text: &str| text.to_owned();
    let mut children = Vec::new();
    terms.for_each_child(term, |child| children.push(child));
    let head = match terms.kind(term) {
        Kind::Constant(value) if terms.sort(term) == Sort::Bool => (*value == 1).to_string(),
        Kind::Constant(value) => format!("(_ bv{value} {})", terms.width(term)),
        Kind::Variable(_) => quoted(terms.name(term).unwrap_or_default()),
        Kind::Not(_) => word("not"),
        Kind::And(_) => word("and"),
        Kind::Or(_) => word("or"),
        Kind::Eq(..) => word("="),
        Kind::ULt(..) => word("bvult"),
        Kind::SLt(..) => word("bvslt"),
        Kind::Ite(..) => word("ite"),
        Kind::Neg(_) => word("bvneg"),
        Kind::BitNot(_) => word("bvnot"),
        Kind::Binary(op, ..) => word(op.smtlib()),
        Kind::Float(op, _) => op.name(),
        Kind::Extract { low, .. } => format!("(_ extract {} {low})", low + terms.width(term) - 1),
        Kind::Concat(..) => word("concat"),
        Kind::ZeroExtend(a) => format!("(_ zero_extend {})", terms.width(term) - terms.width(*a)),
        Kind::SignExtend(a) => format!("(_ sign_extend {})", terms.width(term) - terms.width(*a)),
        Kind::Select(..) => word("select"),
        Kind::Store(..) => word("store"),
        Kind::ConstArray(_) => format!("(as const {})", terms.sort(term)),
    };
    (head, children)
}

impl fmt::Display for SmtLib<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // None closes a bracket.
        let mut stack = vec![Some(self.term)];
        let mut space = false;
        while let Some(todo) = stack.pop() {
            let Some(term) = todo else {
                f.write_char(')')?;
                continue;
            };
            if space {
                f.write_char(' ')?;
            }
            space = true;
            let (head, children) = head(self.terms, term);
            if children.is_empty() {
                f.write_str(&head)?;
            } else {
                write!(f, "({head}")?;
                stack.push(None);
                stack.extend(children.into_iter().rev().map(Some));
            }
        }
        Ok(())
    }
}

/// A parsed answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sexp {
    Atom(String),
    List(Vec<Sexp>),
}

impl Sexp {
    /// The first expression of a text.
    pub(crate) fn parse(text: &str) -> Option<Sexp> {
        let mut stack: Vec<Vec<Sexp>> = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let done = match first {
                '(' => {
                    stack.push(Vec::new());
                    rest = &rest[1..];
                    None
                }
                ')' => {
                    rest = &rest[1..];
                    Some(Sexp::List(stack.pop()?))
                }
                '|' | '"' => {
                    let end = rest[1..].find(first)? + 2;
                    let atom = rest[..end].to_owned();
                    rest = &rest[end..];
                    Some(Sexp::Atom(atom))
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || c == '(' || c == ')';
                    let end = rest.find(ends).unwrap_or(rest.len());
                    let atom = rest[..end].to_owned();
                    rest = &rest[end..];
                    Some(Sexp::Atom(atom))
                }
            };
            match (done, stack.last_mut()) {
                (Some(done), None) => return Some(done),
                (Some(done), Some(list)) => list.push(done),
                (None, _) => {}
            }
            rest = rest.trim_start();
        }
        None
    }

    /// A truth value or bit-vector, however it is written.
    pub(crate) fn value(&self) -> Option<u64> {
        match self {
            Sexp::Atom(atom) => match atom.as_str() {
                "true" => Some(1),
                "false" => Some(0),
                text => match text.split_at_checked(2)? {
                    ("#x", digits) => u64::from_str_radix(digits, 16).ok(),
                    ("#b", digits) => u64::from_str_radix(digits, 2).ok(),
                    _ => None,
                },
            },
            Sexp::List(list) => match &list[..] {
                [Sexp::Atom(underscore), Sexp::Atom(number), _] if underscore == "_" => {
                    number.strip_prefix("bv")?.parse().ok()
                }
                _ => None,
            },
        }
    }

    /// The atoms of a list.
    pub(crate) fn atoms(&self) -> FxHashSet<&str> {
        match self {
            Sexp::Atom(_) => FxHashSet::default(),
            Sexp::List(list) => list
                .iter()
                .filter_map(|item| match item {
                    Sexp::Atom(atom) => Some(atom.trim_matches('|')),
                    Sexp::List(_) => None,
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_every_notation() {
        let text = "((t1 #x0f) (t2 #b101) ((select a i) (_ bv12 32)) (|t 4| true) (t5 (as x)))";
        let Some(Sexp::List(pairs)) = Sexp::parse(text) else { panic!("a list") };
        let value = |pair: &Sexp| match pair {
            Sexp::List(pair) => pair.last().and_then(Sexp::value),
            Sexp::Atom(_) => None,
        };
        let values: Vec<_> = pairs.iter().map(value).collect();
        assert_eq!(values, [Some(15), Some(5), Some(12), Some(1), None]);
        assert_eq!(Sexp::parse("(unfinished (list)"), None);
        assert!(Sexp::parse("(a |b| c)").unwrap().atoms().contains("b"));
    }
}

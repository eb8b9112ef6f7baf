//! Abstraction refinement: given predicates, counts of the document, and work only where it is
//! needed.

#[allow(dead_code)]
use crate::case_facts_support::yaml;

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use saphyr::YamlOwned;
use wherefore_check::Decision;
use wherefore_check::refinement::diagrams::interpolants::Heuristic;
use wherefore_check::refinement::diagrams::{Cegar, CegarOptions, Cycle, Refined};
use wherefore_program::{
    BinaryOp, ExploreLimits, Expr, Node, Program, Runs, Scalar, TargetChoice, Var, explore,
};
use wherefore_pushdown::Limits;

fn load(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let task = wherefore_frontend::load(&path, None).unwrap_or_else(|error| panic!("{}", error.render()));
    (*task.program).clone()
}

fn refine(program: &Program, heuristic: Heuristic) -> (Refined, Vec<Cycle>, BTreeSet<Node>) {
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let options = CegarOptions { heuristic, ..CegarOptions::default() };
    let mut cegar = Cegar::new(program, &targets, options).unwrap();
    let mut cycles = Vec::new();
    let refined = cegar.run(&mut |cycle| cycles.push(cycle.clone()));
    let touched = cegar.describe().into_iter().map(|point| point.node).collect();
    (refined, cycles, touched)
}

/// Conditions as the case files write them, with room for sums that do not wrap.
struct Conditions<'a> {
    program: &'a Program,
    tokens: Vec<String>,
    at: usize,
}

const WIDE: Scalar = Scalar::Bits(16);

impl Conditions<'_> {
    fn read(program: &Program, text: &str) -> Expr {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let tokens = spaced.split_whitespace().map(str::to_owned).collect();
        let mut reader = Conditions { program, tokens, at: 0 };
        let condition = reader.binary(0);
        assert_eq!(reader.at, reader.tokens.len(), "{text}");
        condition
    }

    fn binary(&mut self, level: usize) -> Expr {
        let operators: &[(&str, BinaryOp)] = match level {
            0 => &[("==", BinaryOp::Eq), ("!=", BinaryOp::Ne)],
            1 => &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
            2 => &[("*", BinaryOp::Mul), ("%", BinaryOp::URem)],
            _ => return self.operand(),
        };
        let mut left = self.binary(level + 1);
        while let Some((_, op)) =
            operators.iter().find(|(name, _)| self.tokens.get(self.at).is_some_and(|t| t == name))
        {
            self.at += 1;
            left = Expr::binary(*op, left, self.binary(level + 1));
        }
        left
    }

    fn operand(&mut self) -> Expr {
        let token = self.tokens[self.at].clone();
        self.at += 1;
        if token == "(" {
            let inner = self.binary(0);
            self.at += 1;
            return inner;
        }
        if let Ok(number) = token.parse() {
            return Expr::constant(number, WIDE);
        }
        let variable = self.program.find_variable(self.program.entry, &token).expect("a variable");
        let ty = self.program.variable(self.program.entry, variable).ty.element();
        Expr::variable(variable, ty).zero_extend(16)
    }
}

/// Whether tracking these predicates proves the program, without refinement.
fn proves(program: &Program, fact: &YamlOwned) -> bool {
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let mut cegar = Cegar::new(program, &targets, CegarOptions::default()).unwrap();
    let everywhere = yaml::names(fact, "predicates");
    let at_lines = fact.as_mapping_get("localised").and_then(YamlOwned::as_mapping);
    for node in program.nodes() {
        let Some(line) = program.line(node) else { continue };
        let texts: Vec<&str> = match at_lines {
            None => everywhere.clone(),
            Some(lines) => (lines.iter())
                .filter(|(at, _)| at.as_integer() == Some(i64::from(line)))
                .flat_map(|(_, texts)| texts.as_sequence().unwrap().iter().map(|text| text.as_str().unwrap()))
                .collect(),
        };
        for text in texts {
            cegar.track(node, &Conditions::read(program, text));
        }
    }
    let reachable = cegar.reachable().unwrap();
    !targets.iter().any(|site| reachable.contains(&site.node))
}

#[test]
fn predicates_prove_what_they_should() {
    let mut checked = 0;
    for case in ["ex4.2-dag", "ex6.2-loop-invariant"] {
        let program = load(&format!("../frontend/tests/cases/{case}/main.rem"));
        let expected = yaml::read(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(format!("tests/cases/interpolants/{case}/expect.yaml")),
        );
        for fact in yaml::list(&expected, "facts").unwrap() {
            if yaml::text(fact, "kind") == Some("sufficient_predicates") {
                let expected = fact.as_mapping_get("proves").unwrap().as_bool().unwrap();
                assert_eq!(proves(&program, fact), expected, "{case} {:?}", yaml::text(fact, "id"));
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 5);
}

/// \[Kie05\] §6.2.2, Figs. 6.2 and 6.6: at most as many cycles and predicates as printed.
#[test]
fn cycles_and_predicates_are_within_the_documents() {
    use Heuristic::{AssumeSkipConciliated, Both, Conciliated, Strongest, Weakest};
    let table: &[(&str, Heuristic, usize, usize)] = &[
        ("ex6.1-bubble-sort", Weakest, 55, 113),
        ("ex6.1-bubble-sort", Strongest, 13, 12),
        ("ex6.1-bubble-sort", Both, 8, 34),
        ("ex6.2-loop-invariant", Weakest, 2, 1),
        ("ex6.2-loop-invariant", Both, 2, 3),
        ("ex6.2-loop-invariant", Strongest, 32, 16),
        ("ex6.5-xy-invariant", Weakest, 5, 11),
        ("ex6.5-xy-invariant", Conciliated, 3, 6),
        ("ex6.5-xy-invariant", AssumeSkipConciliated, 3, 6),
    ];
    for (case, heuristic, cycles, predicates) in table {
        let file = if *case == "ex6.1-bubble-sort" { "small" } else { "main" };
        let program = load(&format!("../frontend/tests/cases/{case}/{file}.rem"));
        let (refined, ..) = refine(&program, *heuristic);
        assert_eq!(refined.decision, Decision::Safe, "{case} {heuristic}");
        let counts = (refined.last.refinements, refined.last.most_predicates);
        assert!(counts.0 <= *cycles && counts.1 <= *predicates, "{case} {heuristic}: {counts:?}");
    }
}

/// With weakest interpolants the cycles do not depend on the width; they are what the loop
/// invariant needs.
#[test]
fn the_loop_invariant_is_found_at_any_width() {
    for bits in [3, 5, 8] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../frontend/tests/cases/ex6.2-loop-invariant/main.rem");
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.replace("DEFAULT_INT_BITS 4", &format!("DEFAULT_INT_BITS {bits}"));
        let text = text.replace("% 16", &format!("% {}", 1 << bits));
        let program = wherefore_frontend::remopla::parse("loop.rem", &text, None).unwrap();
        let (refined, ..) = refine(&program, Heuristic::Weakest);
        assert_eq!((refined.last.refinements, refined.last.most_predicates), (2, 1), "{bits} bits");
    }
}

/// \[AEP\] §7.1: refinement tracks nothing at locations outside the error projection of the first
/// abstraction.
#[test]
fn nothing_is_tracked_outside_the_projection() {
    for example in ["getunit-b1.bp", "getunit-b2.bp", "getunit-b3.bp"] {
        let program = load(&format!("../../examples/{example}"));
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let once = Limits { steps: Some(0), ..Limits::default() };
        let options = CegarOptions { limits: once, ..CegarOptions::default() };
        let mut first = Cegar::new(&program, &targets, options).unwrap();
        first.run(&mut |_| {});
        let (_, cycles, touched) = refine(&program, Heuristic::default());
        assert!(touched.is_subset(first.inside()), "{example}: {touched:?}");
        let shares: Vec<usize> = cycles.iter().map(|cycle| cycle.inside).collect();
        assert!(shares.is_sorted_by(|a, b| a >= b), "the projection shrinks: {shares:?}");
        assert!(
            first.inside().len() < cycles[0].locations,
            "{example}: some lines are outside from the start"
        );
    }
}

fn boolean_program(seed: &[u8]) -> String {
    // Straight from the bytes: assignments, branches and calls over four variables.
    let names = ["g", "h", "x", "y"];
    let name = |byte: u8| names[byte as usize % names.len()];
    let statements: Vec<String> = seed
        .chunks(3)
        .map(|chunk| {
            let [a, b, c] = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
            match c % 6 {
                0 => format!("{} := {};", name(a), name(b)),
                1 => format!("{} := !{};", name(a), name(b)),
                2 => format!("if ({}) then {} := T; else {} := *; fi;", name(a), name(b), name(a)),
                3 => format!("while ({}) do {} := !{}; {} := *; od;", name(a), name(b), name(b), name(a)),
                4 => "flip();".to_owned(),
                _ => format!("assume({} | {});", name(a), name(b)),
            }
        })
        .collect();
    let body = statements.join("\n  ");
    format!(
        "decl g, h;\nvoid flip() begin g := !h; end\nvoid main() begin decl x, y;\n  {body}\n  assert(g | !x);\nend\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: wherefore_testing::cases(200), ..ProptestConfig::default() })]

    /// Whatever is tracked, every location that a run reaches is reached in the abstract program.
    #[test]
    fn the_abstract_program_over_approximates(
        seed in proptest::collection::vec(any::<u8>(), 3..30),
        tracked in proptest::collection::vec((any::<u16>(), 0_usize..4, 0_usize..4), 0..25),
    ) {
        let text = boolean_program(&seed);
        let program = wherefore_frontend::boolean::parse("random.bp", &text, None).unwrap();
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let mut cegar = Cegar::new(&program, &targets, CegarOptions::default()).unwrap();
        let nodes: Vec<Node> = program.nodes().collect();
        for (at, a, b) in tracked {
            let node = nodes[at as usize % nodes.len()];
            let read = |i: usize| {
                let locals = program.procedure(node.procedure).variables.len();
                let var = if i < 2 || locals == 0 { Var::Global(i as u32 % 2) } else { Var::Local((i - 2) as u32) };
                Expr::variable(var, Scalar::Bool)
            };
            cegar.track(node, &Expr::binary(BinaryOp::Eq, read(a), read(b)));
            cegar.track(node, &read(a));
        }
        let reachable = cegar.reachable().unwrap();
        let oracle = explore(&program, &targets, ExploreLimits::default());
        for node in oracle.locations(Runs::All) {
            prop_assert!(reachable.contains(&node), "{:?} of\n{}", node, text);
        }
    }
}

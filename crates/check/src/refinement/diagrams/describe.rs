//! Predicates in the words of the program.
//!
//! A predicate is a diagram over bits. It is compared with a few shapes that people write (`x = 3`,
//! `x = y`, `x < y`, `x + y = z`); if none fits, it is shown as a disjunction of values, or, if
//! that is long, by its variables only.

use std::collections::BTreeSet;

use wherefore_domains::bdd::{Moment, Predicate};
use wherefore_program::{Node, ProcedureId, Program, Scalar, Var, When};
use wherefore_pushdown::Rhs;

use super::predicates::{Point, Predicates};
use crate::encoding::{Encoding, Reads, Translator};
use crate::verdict::{PointKind, Tracked};

/// More alternatives than this are not shown.
const MOST_CUBES: usize = 4;

pub(super) fn describe(program: &Program, encoding: &Encoding, predicates: &Predicates) -> Vec<Tracked> {
    let mut described: Vec<Tracked> = (predicates.points())
        .filter_map(|(point, list)| {
            let mut callee = None;
            let (node, kind) = match point {
                Point::At(symbol) => (encoding.node(symbol)?, PointKind::Before),
                Point::Pivot(rule) => {
                    let rule = encoding.system.rule(rule);
                    if let Rhs::Push(entry, _) = rule.rhs {
                        callee = encoding.node(entry).map(|node| node.procedure);
                    }
                    (encoding.node(rule.symbol)?, PointKind::Call)
                }
                Point::Exit(procedure) => {
                    (Node { procedure, location: program.procedure(procedure).entry }, PointKind::Exit)
                }
            };
            let words = Words::new(program, encoding, node.procedure, callee);
            let predicates = list.iter().map(|formula| words.show(formula)).collect();
            Some(Tracked { node, point: kind, predicates })
        })
        .collect();
    described.sort_by_key(|point| (point.node, point.point));
    described
}

/// A cell of a variable at a moment.
struct Cell {
    name: String,
    bits: Vec<usize>,
    moment: Moment,
    is_bool: bool,
}

/// How to speak of the variables of a procedure.
pub(super) struct Words<'a> {
    program: &'a Program,
    encoding: &'a Encoding,
    procedure: ProcedureId,
    cells: Vec<Cell>,
}

struct AtMoment<'a>(&'a Encoding);

impl Reads for AtMoment<'_> {
    fn bit(&self, bit: usize, _: When) -> Predicate {
        self.0.domain.var(bit)
    }
}

impl<'a> Words<'a> {
    pub fn new(
        program: &'a Program,
        encoding: &'a Encoding,
        procedure: ProcedureId,
        callee: Option<ProcedureId>,
    ) -> Self {
        let mut words = Self { program, encoding, procedure, cells: Vec::new() };
        for (procedure, moment) in [(procedure, Moment::Current), (procedure, Moment::History)] {
            let is_current = moment == Moment::Current;
            words.add(
                procedure,
                moment,
                |name| {
                    if is_current { name.to_owned() } else { format!("old({name})") }
                },
            );
        }
        if let Some(callee) = callee {
            let of = &program.procedure(callee).name;
            words.add(callee, Moment::Next, |name| format!("{of}::{name}"));
        }
        words
    }

    fn add(&mut self, procedure: ProcedureId, moment: Moment, rename: impl Fn(&str) -> String) {
        let program = self.program;
        let locals = program.procedure(procedure).variables.iter().zip((0..).map(Var::Local));
        let globals = program.globals.iter().zip((0..).map(Var::Global));
        for (variable, var) in globals.chain(locals) {
            for cell in 0..variable.ty.cell_count() {
                let indices: String = variable.ty.indices(cell).iter().map(|i| format!("[{i}]")).collect();
                let global_in_callee = moment == Moment::Next && matches!(var, Var::Global(_));
                let name = format!("{}{indices}", variable.name);
                self.cells.push(Cell {
                    name: if global_in_callee { name } else { rename(&name) },
                    bits: self.encoding.layout.cell(program, procedure, var, cell),
                    moment,
                    is_bool: variable.ty.element() == Scalar::Bool,
                });
            }
        }
    }

    /// A formula in words.
    pub fn show(&self, formula: &Predicate) -> String {
        let d = &self.encoding.domain;
        if *formula == d.constant(true) || *formula == d.constant(false) {
            return (*formula == d.constant(true)).to_string();
        }
        let support = d.support(formula);
        let mentioned = |cell: &&Cell| cell.bits.iter().any(|bit| support.contains(&(*bit, cell.moment)));
        let cells: Vec<&Cell> = self.cells.iter().filter(mentioned).collect();
        let known: BTreeSet<(usize, Moment)> =
            cells.iter().flat_map(|cell| cell.bits.iter().map(|bit| (*bit, cell.moment))).collect();
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        let vaguely = || format!("a formula of {} nodes over {}", formula.node_count(), names.join(", "));
        if !support.is_subset(&known) {
            return format!("{} and values in transfer", vaguely());
        }
        self.by_shape(formula, &cells).or_else(|| self.by_values(formula, &cells)).unwrap_or_else(vaguely)
    }

    fn bits(&self, cell: &Cell) -> Vec<Predicate> {
        cell.bits.iter().map(|bit| self.encoding.domain.at(*bit, cell.moment)).collect()
    }

    /// One of the shapes that people write.
    fn by_shape(&self, formula: &Predicate, cells: &[&Cell]) -> Option<String> {
        let d = &self.encoding.domain;
        let t = Translator {
            domain: d,
            program: self.program,
            layout: &self.encoding.layout,
            procedure: self.procedure,
            reads: AtMoment(self.encoding),
            scratch: Vec::new().into_iter(),
            taken: Vec::new(),
        };
        let widths: BTreeSet<usize> = cells.iter().map(|cell| cell.bits.len()).collect();
        let is = |shape: Predicate, yes: String, no: String| {
            if *formula == shape { Some(yes) } else { (*formula == d.not(&shape)).then_some(no) }
        };
        match cells {
            [x] if x.is_bool => is(self.bits(x)[0].clone(), x.name.clone(), format!("!{}", x.name)),
            [x] => {
                let bits = self.bits(x);
                let low = &bits[0];
                let parity = is(low.clone(), format!("{} is odd", x.name), format!("{} is even", x.name));
                let value = |wanted: &Predicate| {
                    let one = d.one_of(wanted, &[x.moment])?;
                    let value = bits
                        .iter()
                        .enumerate()
                        .fold(0_u64, |sum, (i, bit)| sum | u64::from(d.entails(&one, bit)) << i);
                    (t.equal(&bits, &t.number(value, bits.len())) == *wanted).then_some(value)
                };
                parity
                    .or_else(|| value(formula).map(|value| format!("{} = {value}", x.name)))
                    .or_else(|| value(&d.not(formula)).map(|value| format!("{} != {value}", x.name)))
                    .or_else(|| {
                        let most = (0..bits.len()).rev().fold(0_u64, |most, i| {
                            let next = most | 1 << i;
                            let fits = d.entails(&t.equal(&bits, &t.number(next, bits.len())), formula);
                            if fits { next } else { most }
                        });
                        is(
                            t.at_most(&bits, most),
                            format!("{} <= {most}", x.name),
                            format!("{} > {most}", x.name),
                        )
                    })
            }
            [x, y] if widths.len() == 1 => {
                let (a, b) = (self.bits(x), self.bits(y));
                let word = |op: &str| format!("{} {op} {}", x.name, y.name);
                is(t.equal(&a, &b), word("="), word("!="))
                    .or_else(|| is(t.less(&a, &b), word("<"), word(">=")))
                    .or_else(|| is(t.less(&b, &a), word(">"), word("<=")))
                    .or_else(|| is(d.xor(&a[0], &b[0]), word("+") + " is odd", word("+") + " is even"))
            }
            [x, y, z] if widths.len() == 1 => {
                let all = [x, y, z];
                let width = x.bits.len();
                [(0, 1, 2), (0, 2, 1), (1, 2, 0)].into_iter().find_map(|(i, j, k)| {
                    let sum = t.add(&self.bits(all[i]), &self.bits(all[j]), &d.constant(false));
                    [(0, ""), (1, " + 1"), (u64::MAX, " - 1")].into_iter().find_map(|(by, shown)| {
                        let other = t.add(&self.bits(all[k]), &t.number(by, width), &d.constant(false));
                        let word = |op: &str| {
                            format!("{} + {} {op} {}{shown}", all[i].name, all[j].name, all[k].name)
                        };
                        is(t.equal(&sum, &other), word("="), word("!="))
                    })
                })
            }
            [x, y, z, w] if widths.len() == 1 => {
                // Two values that were equal are equal.
                let now = t.equal(&self.bits(x), &self.bits(y));
                let then = t.equal(&self.bits(z), &self.bits(w));
                let kept = d.or(&d.not(&then), &now);
                (*formula == kept).then(|| format!("{} = {} if {} = {}", x.name, y.name, z.name, w.name))
            }
            _ => None,
        }
    }

    /// A disjunction of values of bits, if it is short.
    fn by_values(&self, formula: &Predicate, cells: &[&Cell]) -> Option<String> {
        let d = &self.encoding.domain;
        let mut rest = formula.clone();
        let mut cubes = Vec::new();
        while rest != d.constant(false) {
            if cubes.len() == MOST_CUBES {
                return None;
            }
            let cube = d.large_cube(&rest, formula);
            rest = d.and(&rest, &d.not(&cube));
            let words: Vec<String> = cells.iter().filter_map(|cell| self.cell_in(cell, &cube)).collect();
            cubes.push(words.join(" & "));
        }
        Some(cubes.join(" | "))
    }

    /// What a cube says of a cell.
    fn cell_in(&self, cell: &Cell, cube: &Predicate) -> Option<String> {
        let d = &self.encoding.domain;
        let values: Vec<Option<bool>> = (self.bits(cell).iter())
            .map(|bit| match (d.entails(cube, bit), d.entails(cube, &d.not(bit))) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            })
            .collect();
        if values.iter().all(Option::is_none) {
            return None;
        }
        if cell.is_bool {
            return values[0].map(|value| if value { cell.name.clone() } else { format!("!{}", cell.name) });
        }
        if values.iter().all(Option::is_some) {
            let value = values
                .iter()
                .enumerate()
                .fold(0_u64, |sum, (i, bit)| sum | u64::from(*bit == Some(true)) << i);
            return Some(format!("{} = {value}", cell.name));
        }
        let digit = |bit: &Option<bool>| bit.map_or('?', |bit| if bit { '1' } else { '0' });
        Some(format!("{} = {}b", cell.name, values.iter().rev().map(digit).collect::<String>()))
    }
}

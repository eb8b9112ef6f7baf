//! Syntax trees that know nothing of terms: random ones, their values by wide integers, and their
//! terms.
#![allow(dead_code)]

use wherefore_smt::{Model, Op, Sort, Term, Terms, Value};

/// The width of indices.
pub const INDEX: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    Variable(usize),
    Constant(u64),
    Neg,
    BitNot,
    Binary(Op),
    Sub,
    Extract(u32),
    Concat,
    ZeroExtend,
    SignExtend,
    Ite,
    Truth(bool),
    Not,
    And,
    Or,
    Xor,
    Implies,
    Iff,
    Eq,
    Distinct,
    ULt,
    ULe,
    SLt,
    SLe,
    IsSet,
    Array(usize),
    ConstArray,
    Store,
    Select,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    Bool,
    Bits(u32),
    Array,
}

#[derive(Clone, Debug)]
pub struct Tree {
    pub what: What,
    pub ty: Type,
    pub children: Vec<Tree>,
}

/// What random trees look like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The width of variables and elements.
    pub width: u32,
    pub variables: usize,
    pub arrays: usize,
    pub depth: u32,
}

/// Random numbers that come to an end: then everything is a leaf.
pub struct Source<'a> {
    pub numbers: std::slice::Iter<'a, u16>,
    pub shape: Shape,
}

const OPS: [Op; 12] = [
    Op::Add,
    Op::Mul,
    Op::UDiv,
    Op::URem,
    Op::SDiv,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::BitAnd,
    Op::BitOr,
    Op::BitXor,
];

impl Source<'_> {
    fn next(&mut self) -> u64 {
        self.numbers.next().copied().unwrap_or(0).into()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn constant(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(4),
            1 => u64::MAX - self.below(3),
            2 => 1 << self.below(64),
            _ => self.next() << 48 | self.next() << 32 | self.next() << 16 | self.next(),
        }
    }

    pub fn bits(&mut self, width: u32, depth: u32) -> Tree {
        let ty = Type::Bits(width);
        let node = |what, children| Tree { what, ty, children };
        if depth == 0 || self.numbers.len() == 0 {
            let base = self.shape.width;
            if self.below(4) == 3 {
                return node(What::Constant(self.constant() & mask(width)), vec![]);
            }
            let which = self.below(self.shape.variables as u64) as usize;
            let variable = Tree { what: What::Variable(which), ty: Type::Bits(base), children: vec![] };
            return match width.cmp(&base) {
                std::cmp::Ordering::Equal => variable,
                std::cmp::Ordering::Less => node(What::Extract((base - width) / 2), vec![variable]),
                std::cmp::Ordering::Greater => node(What::SignExtend, vec![variable]),
            };
        }
        let depth = depth - 1;
        match self.below(22) {
            0 => node(What::Neg, vec![self.bits(width, depth)]),
            1 => node(What::BitNot, vec![self.bits(width, depth)]),
            2 => node(What::Sub, vec![self.bits(width, depth), self.bits(width, depth)]),
            3 | 4 => {
                let children = vec![self.bool(depth), self.bits(width, depth), self.bits(width, depth)];
                node(What::Ite, children)
            }
            5 if width < 64 => {
                let low = self.below(u64::from((64 - width).min(4)) + 1) as u32;
                let more = self.below(u64::from((64 - width - low).min(4)) + 1) as u32;
                node(What::Extract(low), vec![self.bits(width + low + more, depth)])
            }
            6 if width > 1 => {
                let low = 1 + self.below(u64::from(width - 1)) as u32;
                node(What::Concat, vec![self.bits(width - low, depth), self.bits(low, depth)])
            }
            7 | 8 => {
                let from = 1 + self.below(u64::from(width)) as u32;
                let what = if self.below(2) == 0 { What::ZeroExtend } else { What::SignExtend };
                node(what, vec![self.bits(from, depth)])
            }
            9 | 10 if self.shape.arrays > 0 && width == self.shape.width => {
                node(What::Select, vec![self.array(depth), self.bits(INDEX, depth)])
            }
            _ => {
                let op = OPS[self.below(OPS.len() as u64) as usize];
                node(What::Binary(op), vec![self.bits(width, depth), self.bits(width, depth)])
            }
        }
    }

    pub fn array(&mut self, depth: u32) -> Tree {
        let node = |what, children| Tree { what, ty: Type::Array, children };
        if depth == 0 || self.numbers.len() == 0 {
            return node(What::Array(self.below(self.shape.arrays as u64) as usize), vec![]);
        }
        let (width, depth) = (self.shape.width, depth - 1);
        match self.below(6) {
            0 => node(What::ConstArray, vec![self.bits(width, depth)]),
            1 => node(What::Ite, vec![self.bool(depth), self.array(depth), self.array(depth)]),
            2 => node(What::Array(self.below(self.shape.arrays as u64) as usize), vec![]),
            _ => {
                let children = vec![self.array(depth), self.bits(INDEX, depth), self.bits(width, depth)];
                node(What::Store, children)
            }
        }
    }

    pub fn bool(&mut self, depth: u32) -> Tree {
        let node = |what, children| Tree { what, ty: Type::Bool, children };
        if depth == 0 || (self.numbers.len() == 0) {
            let base = self.shape.width;
            return node(What::ULt, vec![self.bits(base, 0), self.bits(base, 0)]);
        }
        let depth = depth - 1;
        let width = match self.below(4) {
            0 => 1 + self.below(u64::from(self.shape.width)) as u32,
            _ => self.shape.width,
        };
        match self.below(16) {
            0 => node(What::Not, vec![self.bool(depth)]),
            1 => node(What::And, vec![self.bool(depth), self.bool(depth), self.bool(depth)]),
            2 => node(What::Or, vec![self.bool(depth), self.bool(depth), self.bool(depth)]),
            3 => node(What::Xor, vec![self.bool(depth), self.bool(depth)]),
            4 => node(What::Implies, vec![self.bool(depth), self.bool(depth)]),
            5 => node(What::Iff, vec![self.bool(depth), self.bool(depth)]),
            6 => node(What::Ite, vec![self.bool(depth), self.bool(depth), self.bool(depth)]),
            7 => node(What::Truth(self.below(2) == 1), vec![]),
            8 => node(What::IsSet, vec![self.bits(width, depth)]),
            9 => {
                let children = (0..3).map(|_| self.bits(width, depth)).collect();
                node(What::Distinct, children)
            }
            n => {
                let tests = [What::Eq, What::Eq, What::ULt, What::ULe, What::SLt, What::SLe];
                let what = tests[n as usize - 10];
                node(what, vec![self.bits(width, depth), self.bits(width, depth)])
            }
        }
    }
}

pub fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Values of variables and arrays.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub variables: Vec<u64>,
    pub arrays: Vec<[u64; 4]>,
}

impl World {
    /// The world whose bits are those of a number: variables first.
    pub fn numbered(shape: Shape, mut number: u64) -> World {
        let mut take = || {
            let value = number & mask(shape.width);
            number >>= shape.width;
            value
        };
        let variables = (0..shape.variables).map(|_| take()).collect();
        World { variables, arrays: (0..shape.arrays).map(|_| [take(), take(), take(), take()]).collect() }
    }

    /// How many worlds there are.
    pub fn count(shape: Shape) -> u64 {
        1 << (shape.width as usize * (shape.variables + 4 * shape.arrays))
    }
}

/// Four elements, or four times the value.
fn value(tree: &Tree, world: &World) -> [u64; 4] {
    let kids: Vec<[u64; 4]> = tree.children.iter().map(|child| value(child, world)).collect();
    let kid = |i: usize| i128::from(kids[i][0]);
    let width_of = |i: usize| match tree.children[i].ty {
        Type::Bits(width) => width,
        _ => 1,
    };
    let to_signed = |i: usize| {
        let (value, modulus) = (kid(i), 1_i128 << width_of(i));
        if value >= modulus / 2 { value - modulus } else { value }
    };
    let holds = |i: usize| kids[i][0] == 1;
    let test = |yes: bool| i128::from(yes);
    let single = match tree.what {
        What::Variable(i) => world.variables[i].into(),
        What::Constant(value) => value.into(),
        What::Truth(yes) => test(yes),
        What::Neg => -kid(0),
        What::BitNot => -1 - kid(0),
        What::Sub => kid(0) - kid(1),
        What::Extract(low) => kid(0) >> low,
        What::Concat => (kid(0) << width_of(1)) + kid(1),
        What::ZeroExtend => kid(0),
        What::SignExtend => to_signed(0),
        What::Ite => return if holds(0) { kids[1] } else { kids[2] },
        What::Not => test(!holds(0)),
        What::And => test((0..kids.len()).all(holds)),
        What::Or => test((0..kids.len()).any(holds)),
        What::Xor => test(holds(0) != holds(1)),
        What::Implies => test(!holds(0) || holds(1)),
        What::Iff => test(holds(0) == holds(1)),
        What::Eq => test(kid(0) == kid(1)),
        What::Distinct => test(kid(0) != kid(1) && kid(0) != kid(2) && kid(1) != kid(2)),
        What::ULt => test(kid(0) < kid(1)),
        What::ULe => test(kid(0) <= kid(1)),
        What::SLt => test(to_signed(0) < to_signed(1)),
        What::SLe => test(to_signed(0) <= to_signed(1)),
        What::IsSet => test(kid(0) != 0),
        What::Array(i) => return world.arrays[i],
        What::ConstArray => return [kids[0][0]; 4],
        What::Select => kids[0][kids[1][0] as usize].into(),
        What::Store => {
            let mut array = kids[0];
            array[kids[1][0] as usize] = kids[2][0];
            return array;
        }
        What::Binary(op) => {
            let (a, b, sa, sb) = (kid(0), kid(1), to_signed(0), to_signed(1));
            let width = i128::from(width_of(0));
            match op {
                Op::Add => a + b,
                Op::Mul => sa * sb,
                Op::UDiv => a.checked_div(b).unwrap_or(-1),
                Op::URem => a.checked_rem(b).unwrap_or(a),
                Op::SDiv if b == 0 => 1 - 2 * test(sa >= 0),
                Op::SDiv => sa / sb,
                Op::SRem if b == 0 => a,
                Op::SRem => sa % sb,
                Op::Shl if b >= width => 0,
                Op::Shl => a << b,
                Op::LShr => a >> b.min(width),
                Op::AShr => sa >> b.min(width),
                Op::BitAnd => a & b,
                Op::BitOr => a | b,
                Op::BitXor => a ^ b,
            }
        }
    };
    let width = match tree.ty {
        Type::Bits(width) => width,
        _ => 1,
    };
    [single.rem_euclid(1 << width) as u64; 4]
}

impl Tree {
    /// The value of a tree that is not an array.
    pub fn value(&self, world: &World) -> u64 {
        value(self, world)[0]
    }

    /// The term of the tree.
    pub fn term(&self, terms: &mut Terms, shape: Shape) -> Term {
        let kids: Vec<Term> = self.children.iter().map(|child| child.term(terms, shape)).collect();
        let width = match self.ty {
            Type::Bits(width) => width,
            _ => 1,
        };
        match self.what {
            What::Variable(i) => variable(terms, shape, i),
            What::Array(i) => array(terms, shape, i),
            What::Constant(value) => terms.bits(value, width),
            What::Truth(yes) => terms.bool(yes),
            What::Neg => terms.neg(kids[0]),
            What::BitNot => terms.bit_not(kids[0]),
            What::Sub => terms.sub(kids[0], kids[1]),
            What::Extract(low) => terms.extract(kids[0], low, width),
            What::Concat => terms.concat(kids[0], kids[1]),
            What::ZeroExtend => terms.zero_extend(kids[0], width),
            What::SignExtend => terms.sign_extend(kids[0], width),
            What::Ite => terms.ite(kids[0], kids[1], kids[2]),
            What::Not => terms.not(kids[0]),
            What::And => terms.all(&kids),
            What::Or => terms.any(&kids),
            What::Xor => terms.xor(kids[0], kids[1]),
            What::Implies => terms.implies(kids[0], kids[1]),
            What::Iff => terms.iff(kids[0], kids[1]),
            What::Eq => terms.eq(kids[0], kids[1]),
            What::Distinct => terms.distinct(&kids),
            What::ULt => terms.ult(kids[0], kids[1]),
            What::ULe => terms.ule(kids[0], kids[1]),
            What::SLt => terms.slt(kids[0], kids[1]),
            What::SLe => terms.sle(kids[0], kids[1]),
            What::IsSet => terms.is_set(kids[0]),
            What::ConstArray => terms.const_array(INDEX, kids[0]),
            What::Store => terms.store(kids[0], kids[1], kids[2]),
            What::Select => terms.select(kids[0], kids[1]),
            What::Binary(op) => terms.binary(op, kids[0], kids[1]),
        }
    }
}

pub fn variable(terms: &mut Terms, shape: Shape, i: usize) -> Term {
    terms.variable(&format!("x{i}"), Sort::Bits(shape.width))
}

pub fn array(terms: &mut Terms, shape: Shape, i: usize) -> Term {
    terms.variable(&format!("a{i}"), Sort::Array { index: INDEX, element: shape.width })
}

/// The world as a model.
pub fn model(terms: &mut Terms, shape: Shape, world: &World) -> Model {
    let mut model = Model::default();
    for (i, value) in world.variables.iter().enumerate() {
        model.set(variable(terms, shape, i), Value::Bits(*value));
    }
    for (i, elements) in world.arrays.iter().enumerate() {
        let entries = elements.iter().enumerate().map(|(i, element)| (i as u64, *element)).collect();
        model.set(array(terms, shape, i), Value::Array { default: 0, entries });
    }
    model
}

/// The model as a world.
pub fn world(terms: &mut Terms, shape: Shape, model: &Model) -> World {
    let bits = |t: &Terms, term| t.evaluate(term, model).bits().unwrap_or(0);
    let variables = (0..shape.variables)
        .map(|i| {
            let x = variable(terms, shape, i);
            bits(terms, x)
        })
        .collect();
    let arrays = (0..shape.arrays)
        .map(|i| {
            let a = array(terms, shape, i);
            let value = terms.evaluate(a, model);
            [0, 1, 2, 3].map(|index| value.element(index).unwrap_or(0))
        })
        .collect();
    World { variables, arrays }
}

/// A random tree of truth values.
pub fn bool_tree(numbers: &[u16], shape: Shape) -> Tree {
    Source { numbers: numbers.iter(), shape }.bool(shape.depth)
}

/// Whether some world satisfies all trees.
pub fn brute_force(trees: &[&Tree], shape: Shape) -> bool {
    (0..World::count(shape)).any(|number| {
        let world = World::numbered(shape, number);
        trees.iter().all(|tree| tree.value(&world) == 1)
    })
}

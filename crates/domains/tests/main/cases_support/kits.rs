//! What the facts need to know about a weight domain: how weights are written, and how they are
//! compared.

use wherefore_domains::{
    AffineRelations, Constant, CopyConstants, CopyLocals, Cost, Entry, MatrixSpace, Reachability, Relation,
    RelationDomain, ShortestPath, Source, Transformer,
};
use wherefore_pushdown::{
    AdjointProjection, FunctionalAutomaton, Merge, Plain, Relational, Semiring, State, Symbol,
};

use super::data::Data;
use super::expression::evaluate;
use super::stores::{Stores, range};
use super::trace::{Named, Traces, Words, word};

/// The weights of a kit.
pub type Weight<K> = <<K as Kit>::Semiring as Semiring>::Weight;

/// The functional automaton of a kit.
pub type Functional<'a, K> = FunctionalAutomaton<'a, <K as Kit>::Semiring, <K as Kit>::Merge>;

/// A weight domain of the case files.
pub trait Kit {
    type Semiring: Semiring;
    type Merge: Merge<Self::Semiring> + Clone;

    fn semiring(&self) -> &Self::Semiring;

    /// The weight that `data` stands for; names of weights are already resolved.
    fn weight(&self, data: &Data) -> Weight<Self>;

    /// A merge function of a call rule with weight `call`.
    fn merge(&self, name: &str, data: &Data, call: &Weight<Self>) -> Self::Merge {
        let _ = call;
        panic!("no merge function {name} ({data}) in this domain")
    }

    /// Whether `w` is what a fact expects.
    fn is_expected(&self, w: &Weight<Self>, expected: &Data) -> bool {
        *w == self.weight(expected)
    }

    /// By adjoints: whether a failing run passes a node.
    fn inside(&self, _functional: &Functional<'_, Self>, _node: (State, Symbol)) -> Option<bool> {
        None
    }

    /// The stores at a node on failing runs, by each way that there is.
    fn stores(
        &self,
        _functional: &Functional<'_, Self>,
        _node: (State, Symbol),
    ) -> Vec<(String, Weight<Self>)> {
        Vec::new()
    }
}

/// `boolean`.
pub struct Booleans;

impl Kit for Booleans {
    type Semiring = Reachability;
    type Merge = Plain;

    fn semiring(&self) -> &Reachability {
        &Reachability
    }

    fn weight(&self, data: &Data) -> bool {
        match data {
            Data::Null => true,
            Data::Text(name) if name == "one" => true,
            Data::Text(name) if name == "zero" => false,
            _ => data.as_bool().unwrap_or_else(|| panic!("{data} is no Boolean weight")),
        }
    }

    fn inside(&self, functional: &Functional<'_, Self>, (state, top): (State, Symbol)) -> Option<bool> {
        Some(AdjointProjection::new(functional).contains(state, top))
    }
}

/// `minpath`.
pub struct Costs;

impl Kit for Costs {
    type Semiring = ShortestPath;
    type Merge = Plain;

    fn semiring(&self) -> &ShortestPath {
        &ShortestPath
    }

    fn weight(&self, data: &Data) -> Cost {
        match data {
            Data::Null => Cost::ZERO,
            Data::Text(name) if name == "one" => Cost::ZERO,
            Data::Text(name) if name == "inf" || name == "zero" => Cost::INFINITY,
            _ => {
                let cost = data.as_int().and_then(|cost| u64::try_from(cost).ok());
                Cost::finite(cost.unwrap_or_else(|| panic!("{data} is no cost")))
            }
        }
    }

    fn inside(&self, functional: &Functional<'_, Self>, (state, top): (State, Symbol)) -> Option<bool> {
        Some(AdjointProjection::new(functional).contains(state, top))
    }
}

/// `relation`.
pub struct Relations {
    pub stores: Stores,
    domain: RelationDomain,
}

impl Relations {
    pub fn read(weights: &Data) -> Self {
        let stores = Stores::read(weights);
        let domain = RelationDomain::new(stores.count());
        Self { stores, domain }
    }
}

impl Kit for Relations {
    type Semiring = RelationDomain;
    type Merge = Plain;

    fn semiring(&self) -> &RelationDomain {
        &self.domain
    }

    fn weight(&self, data: &Data) -> Relation {
        if *data == Data::Null { self.domain.one() } else { self.stores.relation(data) }
    }

    fn is_expected(&self, w: &Relation, expected: &Data) -> bool {
        if expected.get("range").is_some() {
            assert_eq!(expected.entries().len(), 1, "more than a range: {expected}");
            return range(w) == self.stores.set(expected.get("range"));
        }
        *w == self.weight(expected)
    }

    fn inside(&self, functional: &Functional<'_, Self>, (state, top): (State, Symbol)) -> Option<bool> {
        Some(AdjointProjection::new(functional).contains(state, top))
    }

    fn stores(
        &self,
        functional: &Functional<'_, Self>,
        (state, top): (State, Symbol),
    ) -> Vec<(String, Relation)> {
        let d = &self.domain;
        let occurs = |v: &usize| !d.is_zero(&functional.bottleneck(&d.partial_identity([*v]), state, top));
        let one_by_one = d.partial_identity((0..d.size()).filter(occurs));
        let memory = functional.stores(state, top);
        // The over-approximation must at least contain them.
        let over = functional.stores_over(state, top);
        assert_eq!(d.meet(&memory, &over), memory, "an over-approximation that misses stores");
        vec![
            ("functional".into(), memory),
            ("adjoint".into(), AdjointProjection::new(functional).stores(state, top)),
            ("store by store".into(), one_by_one),
        ]
    }
}

/// `copyconst`.
pub struct Copies {
    pub variables: Vec<String>,
    domain: CopyConstants,
}

impl Copies {
    pub fn read(weights: &Data) -> Self {
        let variables = weights.get("vars").names();
        let domain = CopyConstants::new(variables.len());
        Self { variables, domain }
    }

    fn variable(&self, name: &str) -> usize {
        self.variables.iter().position(|v| v == name).unwrap_or_else(|| panic!("no variable {name}"))
    }

    /// An environment: the variables that are named; the others are not asked about.
    pub fn agrees(&self, found: &[Constant], expected: &Data) -> bool {
        expected.entries().iter().all(|(name, value)| {
            let value = value.as_int().map_or(Constant::Top, Constant::Known);
            found[self.variable(name)] == value
        })
    }
}

impl Kit for Copies {
    type Semiring = CopyConstants;
    type Merge = CopyLocals;

    fn semiring(&self) -> &CopyConstants {
        &self.domain
    }

    fn weight(&self, data: &Data) -> Transformer {
        if data.as_text() == Some("zero") {
            return self.domain.zero();
        }
        let source = |value: &Data| match value {
            Data::Int(constant) => Source::constant(*constant),
            Data::Text(name) if name == "top" => Source::Top,
            other => Source::variable(self.variable(&other.to_string())),
        };
        let assignments = data.entries().iter();
        self.domain.assign(assignments.map(|(name, value)| (self.variable(name), source(value))))
    }

    fn merge(&self, name: &str, data: &Data, call: &Transformer) -> CopyLocals {
        assert_eq!(data.get("kind").as_text(), Some("locals"), "merge function {name}");
        let other = data.get("other");
        assert!(!other.is_some() || other.as_text() == Some("identity"), "merge function {name}");
        let places = |names: &Data| names.names().iter().map(|n| self.variable(n)).collect::<Vec<_>>();
        let (keep, take) = (places(data.get("keep")), places(data.get("take")));
        CopyLocals::new(&self.domain, &keep, &take, Entry::Bound(call.clone()))
    }

    fn inside(&self, functional: &Functional<'_, Self>, (state, top): (State, Symbol)) -> Option<bool> {
        Some(AdjointProjection::new(functional).contains(state, top))
    }
}

/// `affine`.
pub struct Affines {
    variables: Vec<String>,
    domain: AffineRelations,
}

impl Affines {
    pub fn read(weights: &Data) -> Self {
        let variables = weights.get("vars").names();
        let domain = AffineRelations::new(variables.len());
        Self { variables, domain }
    }

    /// The coefficients of an expression, by evaluating it; another point shows whether it is
    /// linear.
    fn coefficients(&self, text: &str) -> Vec<i64> {
        let at = |point: &dyn Fn(usize) -> i64| {
            evaluate(text, &|name| Some(point(self.variables.iter().position(|v| v == name)?)))
        };
        let constant = at(&|_| 0);
        let count = self.variables.len();
        let slopes: Vec<i64> = (0..count).map(|i| at(&|v| i64::from(v == i)) - constant).collect();
        let sum: i64 = slopes.iter().enumerate().map(|(v, slope)| slope * (v as i64 + 2)).sum();
        assert_eq!(at(&|v| v as i64 + 2), constant + sum, "`{text}` is not linear");
        [vec![constant], slopes].concat()
    }
}

impl Kit for Affines {
    type Semiring = AffineRelations;
    type Merge = Plain;

    fn semiring(&self) -> &AffineRelations {
        &self.domain
    }

    fn weight(&self, data: &Data) -> MatrixSpace {
        let mut unknown = Vec::new();
        let mut known = Vec::new();
        for (name, value) in data.entries() {
            let variable = self.variables.iter().position(|v| v == name);
            let variable = variable.unwrap_or_else(|| panic!("no variable {name}"));
            match value.to_string() {
                text if text == "?" => unknown.push(variable),
                text => known.push((variable, self.coefficients(&text))),
            }
        }
        self.domain.extend(&self.domain.assign(&known), &self.domain.havoc(&unknown))
    }
}

/// `trace`.
pub struct WordSets;

impl Kit for WordSets {
    type Semiring = Traces;
    type Merge = Named;

    fn semiring(&self) -> &Traces {
        &Traces
    }

    fn weight(&self, data: &Data) -> Words {
        match data {
            Data::Null => Traces.one(),
            Data::Text(name) if name == "zero" => Traces.zero(),
            Data::List(words) => words.iter().map(|w| word(&w.to_string())).collect(),
            name => Words::from([word(&name.to_string())]),
        }
    }

    fn merge(&self, name: &str, _: &Data, _: &Words) -> Named {
        Named(name.to_owned())
    }

    fn inside(&self, functional: &Functional<'_, Self>, (state, top): (State, Symbol)) -> Option<bool> {
        Some(AdjointProjection::new(functional).contains(state, top))
    }
}

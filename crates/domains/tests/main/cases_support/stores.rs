//! Stores and relations on them, as the case files write them.

use wherefore_domains::Relation;

use super::data::Data;
use super::expression::evaluate;

/// The stores over variables with finitely many values each.
pub struct Stores {
    names: Vec<String>,
    values: Vec<Vec<Data>>,
}

impl Stores {
    /// Reads `vars: {x: 0..7}` or `elements: [a, b]`.
    pub fn read(data: &Data) -> Self {
        if data.get("elements").is_some() {
            return Self { names: vec![String::new()], values: vec![data.get("elements").items().to_vec()] };
        }
        let range = |text: &Data| -> Vec<Data> {
            let text = text.to_string();
            let (low, high) = text.split_once("..").unwrap_or_else(|| panic!("{text} is no range"));
            let bound = |s: &str| s.parse::<i64>().unwrap_or_else(|_| panic!("{text} is no range"));
            (bound(low)..=bound(high)).map(Data::Int).collect()
        };
        let variables = data.get("vars").entries();
        assert!(!variables.is_empty(), "stores without variables: {data}");
        let (names, values) = variables.iter().map(|(name, values)| (name.clone(), range(values))).unzip();
        Self { names, values }
    }

    /// How many stores there are.
    pub fn count(&self) -> usize {
        self.values.iter().map(Vec::len).product()
    }

    fn number(&self, places: &[usize]) -> usize {
        places.iter().zip(&self.values).fold(0, |number, (place, values)| number * values.len() + place)
    }

    fn places(&self, mut store: usize) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for values in self.values.iter().rev() {
            places.push(store % values.len());
            store /= values.len();
        }
        places.reverse();
        places
    }

    /// The number of a store: a list of values, or the value of the only variable.
    pub fn store(&self, data: &Data) -> usize {
        let one = std::slice::from_ref(data);
        let values = if let Data::List(values) = data { values } else { one };
        assert_eq!(values.len(), self.names.len(), "{data} is no store");
        let place = |(value, all): (&Data, &Vec<Data>)| {
            all.iter().position(|v| v == value).unwrap_or_else(|| panic!("{data} is no store"))
        };
        self.number(&values.iter().zip(&self.values).map(place).collect::<Vec<_>>())
    }

    /// A set of stores, in order.
    pub fn set(&self, data: &Data) -> Vec<usize> {
        let mut set: Vec<usize> = data.items().iter().map(|store| self.store(store)).collect();
        set.sort_unstable();
        set.dedup();
        set
    }

    /// The values that some of the variables have in a set of stores, without repetition.
    pub fn project(&self, stores: impl IntoIterator<Item = usize>, variables: &[String]) -> Vec<Vec<i64>> {
        let at = |name: &String| {
            self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no variable {name}"))
        };
        let columns: Vec<usize> = variables.iter().map(at).collect();
        let row = |store: usize| {
            let places = self.places(store);
            let value = |c: &usize| self.values[*c][places[*c]].as_int().expect("values are numbers");
            columns.iter().map(value).collect::<Vec<i64>>()
        };
        let mut rows: Vec<Vec<i64>> = stores.into_iter().map(row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Reads `one`, `zero`, `{pairs}` or `{guard, update}`.
    pub fn relation(&self, data: &Data) -> Relation {
        let size = self.count();
        match data.as_text() {
            Some("one") => return Relation::from_fn(size, |a| [a]),
            Some("zero") => return Relation::from_pairs(size, []),
            Some(other) => panic!("what is the weight {other}?"),
            None => {}
        }
        if data.get("pairs").is_some() {
            let pair = |pair: &Data| (self.store(&pair.items()[0]), self.store(&pair.items()[1]));
            return Relation::from_pairs(size, data.get("pairs").items().iter().map(pair));
        }
        let known = |key: &str| key == "guard" || key == "update";
        assert!(data.entries().iter().all(|(key, _)| known(key)), "what is the weight {data}?");
        Relation::from_fn(size, |store| self.successors(data, store))
    }

    fn successors(&self, weight: &Data, store: usize) -> Vec<usize> {
        let before = self.places(store);
        let variable = |name: &str| {
            let v = self.names.iter().position(|n| n == name)?;
            self.values[v][before[v]].as_int()
        };
        let guard = weight.get("guard");
        if guard.is_some() && evaluate(&guard.to_string(), &variable) == 0 {
            return Vec::new();
        }
        let mut after: Vec<Vec<usize>> = vec![before.clone()];
        for (name, value) in weight.get("update").entries() {
            let v = self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no variable {name}"));
            let text = value.to_string();
            let places: Vec<usize> = if text == "?" {
                (0..self.values[v].len()).collect()
            } else {
                let value = Data::Int(evaluate(&text, &variable));
                // A value outside the range has no store: the step is not taken.
                self.values[v].iter().position(|x| *x == value).into_iter().collect()
            };
            let put = |store: &Vec<usize>, place: usize| {
                let mut store = store.clone();
                store[v] = place;
                store
            };
            after = after.iter().flat_map(|store| places.iter().map(|p| put(store, *p))).collect();
        }
        after.iter().map(|places| self.number(places)).collect()
    }
}

/// The second components of the pairs, in order.
pub fn range(w: &Relation) -> Vec<usize> {
    let mut stores: Vec<usize> = w.pairs().map(|(_, b)| b).collect();
    stores.sort_unstable();
    stores.dedup();
    stores
}

/// The first components of the pairs, in order.
pub fn domain(w: &Relation) -> Vec<usize> {
    (0..w.size()).filter(|a| w.image(*a).next().is_some()).collect()
}

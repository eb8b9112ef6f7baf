//! The weights of a file with `weights relation`: its effects as explicit relations between stores.

use wherefore_domains::{Entry, Locals, Relation, RelationDomain};
use wherefore_frontend::pds::{self, PdsFile, Scope};
use wherefore_pushdown::{AdjointMerge, Merge, Semiring, System};

use crate::exit::CliError;

/// Larger sets of stores would take more memory than an explicit relation is worth.
const MOST_STORES: usize = 4096;

/// The stores of a file, numbered as [`Locals`] wants them: by the globals, then by the locals.
pub struct Stores<'a> {
    file: &'a pds::Relation,
    /// Our number of each of the file's stores, and back.
    ours: Vec<usize>,
    theirs: Vec<usize>,
    locals: usize,
}

impl<'a> Stores<'a> {
    /// Numbers the stores; an error if there are too many.
    pub fn new(file: &'a pds::Relation, name: &str) -> Result<Self, CliError> {
        let count =
            file.store_count().filter(|count| *count <= MOST_STORES).ok_or_else(|| CliError::Question {
                file: name.to_owned(),
                message: format!("the variables have more than {MOST_STORES} values together"),
            })?;
        let size = |scope: Scope| -> usize {
            let of = file.variables().iter().filter(|v| v.scope == scope);
            of.map(|v| v.value_count().unwrap_or(1)).product()
        };
        let locals = size(Scope::Local);
        let mut theirs = vec![0; count];
        let number_of = |store: &[i64]| {
            let part = |scope: Scope| {
                let of = file.variables().iter().zip(store).filter(|(v, _)| v.scope == scope);
                of.fold(0, |sum, (v, value)| sum * v.value_count().unwrap_or(1) + (value - v.low) as usize)
            };
            part(Scope::Global) * locals + part(Scope::Local)
        };
        let ours: Vec<usize> = (0..count).map(|number| number_of(&file.store(number))).collect();
        for (number, mine) in ours.iter().enumerate() {
            theirs[*mine] = number;
        }
        Ok(Self { file, ours, theirs, locals })
    }

    /// The domain of relations between these stores.
    pub fn domain(&self) -> RelationDomain {
        RelationDomain::new(self.ours.len())
    }

    /// A store in words: `x = 9, y = 0`.
    pub fn show(&self, number: usize) -> String {
        let store = self.file.store(self.theirs[number]);
        let values = self.file.variables().iter().zip(store);
        values.map(|(v, value)| format!("{} = {value}", v.name)).collect::<Vec<_>>().join(", ")
    }

    fn relation(&self, mut step: impl FnMut(&[i64], &mut dyn FnMut(&[i64]))) -> Relation {
        let mut pairs = Vec::new();
        for number in 0..self.ours.len() {
            let from = self.ours[number];
            step(&self.file.store(number), &mut |to| {
                pairs.extend(self.file.index_of(to).map(|to| (from, self.ours[to])));
            });
        }
        Relation::from_pairs(self.ours.len(), pairs)
    }

    /// The system of a file, its effects as weights, with merge functions on calls if there are
    /// locals.
    pub fn system(&self, file: &PdsFile) -> System<Relation, Call> {
        let d = self.domain();
        let entered = self.relation(|store, visit| self.file.entries(store, visit));
        file.system.map(|rule, _| {
            let effect = match self.file.effect(rule) {
                Some(effect) => self.relation(|store, visit| self.file.successors(effect, store, visit)),
                None => d.one(),
            };
            if !file.system.is_live(rule) || !file.restores_locals(rule) {
                return (effect, None);
            }
            let locals = Locals::new(self.locals, Entry::Uninitialised);
            (d.extend(&effect, &entered), Some(Call { effect, locals }))
        })
    }
}

/// The merge function of a call: its own effect, then the callee's, then the caller's locals again.
#[derive(Clone, Debug)]
pub struct Call {
    effect: Relation,
    locals: Locals,
}

impl Merge<RelationDomain> for Call {
    fn merge(&self, d: &RelationDomain, caller: &Relation, callee: &Relation) -> Relation {
        self.locals.merge(d, &d.extend(caller, &self.effect), callee)
    }
}

impl AdjointMerge<RelationDomain> for Call {
    fn pull(&self, d: &RelationDomain, before: &Relation, context: &Relation, after: &Relation) -> Relation {
        self.locals.pull(d, &d.extend(before, &self.effect), context, after)
    }
}

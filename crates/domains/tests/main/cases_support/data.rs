//! What the case files say, as plain data.

use std::fmt;
use std::path::Path;

use saphyr::{LoadableYamlNode, ScalarOwned, YamlOwned};

/// A value of a case file. Keys of maps are text, whatever they look like.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Data>),
    Map(Vec<(String, Data)>),
}

impl Data {
    /// Reads a file that holds one document.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut documents =
            YamlOwned::load_from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(documents.len(), 1, "{}: one document", path.display());
        Self::of(documents.remove(0))
    }

    fn of(yaml: YamlOwned) -> Self {
        match yaml {
            YamlOwned::Value(ScalarOwned::Null) => Self::Null,
            YamlOwned::Value(ScalarOwned::Boolean(b)) => Self::Bool(b),
            YamlOwned::Value(ScalarOwned::Integer(i)) => Self::Int(i),
            YamlOwned::Value(ScalarOwned::FloatingPoint(f)) => Self::Text(f.to_string()),
            YamlOwned::Value(ScalarOwned::String(s)) => Self::Text(s),
            YamlOwned::Sequence(items) => Self::List(items.into_iter().map(Self::of).collect()),
            YamlOwned::Mapping(items) => {
                Self::Map(items.into_iter().map(|(k, v)| (Self::of(k).to_string(), Self::of(v))).collect())
            }
            other => panic!("a tag or an alias that was not resolved: {other:?}"),
        }
    }

    /// The value of a key; `Null` if there is none.
    pub fn get(&self, key: &str) -> &Data {
        self.entries().iter().find(|(k, _)| k == key).map_or(&Data::Null, |(_, v)| v)
    }

    /// Whether there is a value here.
    pub fn is_some(&self) -> bool {
        *self != Data::Null
    }

    /// The entries of a map; none if it is no map.
    pub fn entries(&self) -> &[(String, Data)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none if there is nothing.
    pub fn items(&self) -> &[Data] {
        match self {
            Self::List(items) => items,
            Self::Null => &[],
            other => panic!("a list was expected, not {other}"),
        }
    }

    /// A list of names.
    pub fn names(&self) -> Vec<String> {
        self.items().iter().map(Data::to_string).collect()
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(i) => Some(*i),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Names are printed bare.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => b.fmt(f),
            Self::Int(i) => i.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Data::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entries: Vec<String> = entries.iter().map(|(k, v)| format!("{k}: {v}")).collect();
                write!(f, "{{{}}}", entries.join(", "))
            }
        }
    }
}

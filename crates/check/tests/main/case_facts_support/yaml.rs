//! What is read from the case files.

use std::collections::BTreeSet;
use std::path::Path;

use saphyr::{LoadableYamlNode, YamlOwned};

/// Reads a file that holds one document.
pub fn read(path: &Path) -> YamlOwned {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut documents = YamlOwned::load_from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(documents.len(), 1, "{}: one document", path.display());
    documents.remove(0)
}

/// Text under a key, if it is there.
pub fn text<'a>(map: &'a YamlOwned, key: &str) -> Option<&'a str> {
    map.as_mapping_get(key).and_then(YamlOwned::as_str)
}

/// Entries of the map under a key, if it is there; keys are text.
pub fn entries<'a>(map: &'a YamlOwned, key: &str) -> Vec<(&'a str, &'a YamlOwned)> {
    let found = map.as_mapping_get(key).and_then(YamlOwned::as_mapping);
    let entries = found.into_iter().flat_map(|entries| entries.iter());
    entries.map(|(name, value)| (name.as_str().expect("a name"), value)).collect()
}

/// The list under a key; nothing is no list.
pub fn list<'a>(map: &'a YamlOwned, key: &str) -> Option<&'a [YamlOwned]> {
    let list = map.as_mapping_get(key)?;
    Some(list.as_sequence().unwrap_or_else(|| panic!("{key} is a list")))
}

/// A list of names, which must be there.
pub fn names<'a>(map: &'a YamlOwned, key: &str) -> Vec<&'a str> {
    let names = list(map, key).unwrap_or_else(|| panic!("{key} is missing"));
    names.iter().map(|name| name.as_str().expect("a name")).collect()
}

/// A number.
pub fn number(value: &YamlOwned) -> i64 {
    value.as_integer().unwrap_or_else(|| panic!("{value:?} is not a number"))
}

/// A list of line numbers, which must be there.
pub fn lines(map: &YamlOwned, key: &str) -> Vec<u32> {
    numbers(map, key).into_iter().map(|line| u32::try_from(line).expect("a line")).collect()
}

fn numbers(map: &YamlOwned, key: &str) -> Vec<i64> {
    list(map, key).unwrap_or_else(|| panic!("{key} is missing")).iter().map(number).collect()
}

/// A list of lists of numbers, which must be there.
pub fn tuples(map: &YamlOwned, key: &str) -> BTreeSet<Vec<i64>> {
    let tuples = list(map, key).unwrap_or_else(|| panic!("{key} is missing"));
    let tuple = |tuple: &YamlOwned| tuple.as_sequence().expect("a tuple").iter().map(number).collect();
    tuples.iter().map(tuple).collect()
}

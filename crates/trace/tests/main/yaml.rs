//! What is read from the case files.

use std::path::Path;

use saphyr::{LoadableYamlNode, YamlOwned};

/// Reads a file that holds one document.
pub fn read(path: &Path) -> YamlOwned {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut documents = YamlOwned::load_from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(documents.len(), 1, "{}: one document", path.display());
    documents.remove(0)
}

pub fn get<'a>(map: &'a YamlOwned, key: &str) -> Option<&'a YamlOwned> {
    map.as_mapping_get(key)
}

pub fn text<'a>(map: &'a YamlOwned, key: &str) -> Option<&'a str> {
    get(map, key).and_then(YamlOwned::as_str)
}

pub fn number(map: &YamlOwned, key: &str) -> Option<i64> {
    get(map, key).and_then(YamlOwned::as_integer)
}

/// The list under a key; an empty one if there is none.
pub fn list<'a>(map: &'a YamlOwned, key: &str) -> &'a [YamlOwned] {
    get(map, key).map_or(&[], items)
}

pub fn items(list: &YamlOwned) -> &[YamlOwned] {
    list.as_sequence().unwrap_or_else(|| panic!("{list:?} is not a list"))
}

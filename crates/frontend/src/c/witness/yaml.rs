//! Witnesses of format 2: <https://sosy-lab.gitlab.io/benchmarking/sv-witnesses/>.

use saphyr::{LoadableYamlNode, Yaml};

use super::{Claim, Content, Kind, Place, Segment, Waypoint, Witness, invalid};
use crate::c::DataModel;
use crate::diagnostics::LoadError;

pub(super) fn read(name: &str, text: &str) -> Result<Witness, LoadError> {
    let reader = Reader { name, text };
    let documents =
        Yaml::load_from_str(text).map_err(|error| reader.fail("", format!("this is not YAML: {error}")))?;
    let entries = documents.first().and_then(Yaml::as_vec);
    let entries = entries.ok_or_else(|| reader.fail("", "a witness is a list of entries".to_owned()))?;
    let [entry] = entries.as_slice() else {
        let message = format!("a witness has one entry, and this one has {}", entries.len());
        return Err(reader.fail("entry_type", message));
    };
    let kind = reader.string(entry, "entry_type")?;
    let metadata = get(entry, "metadata");
    let version = metadata.as_ref().and_then(|node| get(node, "format_version"));
    if let Some(version) = version.as_ref().and_then(written)
        && !version.starts_with("2")
    {
        let message = format!("witnesses of format {version} are not read; those of format 2 are");
        return Err(reader.fail("format_version", message));
    }
    let list = get(entry, "content");
    let list = list.as_ref().and_then(Yaml::as_vec);
    let list = list.ok_or_else(|| reader.fail("content", "`content` is not a list".to_owned()))?;
    let content = match kind.as_str() {
        "invariant_set" => {
            Content::Correctness(list.iter().map(|node| reader.claim(node)).collect::<Result<_, _>>()?)
        }
        "violation_sequence" => {
            let segments: Vec<Segment> =
                list.iter().map(|node| reader.segment(node)).collect::<Result<_, _>>()?;
            let ends_well = segments.last().is_some_and(|last| last.follow.kind == Kind::Target);
            let is_early = segments.iter().rev().skip(1).any(|segment| segment.follow.kind == Kind::Target);
            if !ends_well || is_early {
                let message = "the last segment, and no other, must follow the target".to_owned();
                return Err(reader.fail("content", message));
            }
            Content::Violation(segments)
        }
        other => return Err(reader.fail("entry_type", format!("entries `{other}` are not read"))),
    };
    let task = metadata.as_ref().and_then(|node| get(node, "task"));
    let of_task = |key: &str| task.as_ref().and_then(|task| get(task, key));
    let specification = of_task("specification").as_ref().and_then(written);
    let data_model = match of_task("data_model").as_ref().and_then(written).as_deref() {
        Some("ILP32") => Some(DataModel::Ilp32),
        Some("LP64") => Some(DataModel::Lp64),
        _ => None,
    };
    let digests = task
        .as_ref()
        .and_then(|task| get(task, "input_file_hashes"))
        .and_then(|node| node.as_mapping().cloned())
        .into_iter()
        .flatten()
        .filter_map(|(file, digest)| Some((file.as_str()?.to_owned(), written(&digest)?)))
        .collect();
    Ok(Witness { content, specification, data_model, digests, name: name.to_owned(), text: text.to_owned() })
}

fn get<'a>(node: &Yaml<'a>, key: &str) -> Option<Yaml<'a>> {
    node.as_mapping_get(key).cloned()
}

/// A text, or a number or truth value as it is written.
fn written(node: &Yaml) -> Option<String> {
    let number = || node.as_integer().map(|number| number.to_string());
    let truth = || node.as_bool().map(|truth| truth.to_string());
    let fraction = || node.as_floating_point().map(|number| format!("{number:.1}"));
    node.as_str().map(str::to_owned).or_else(number).or_else(truth).or_else(fraction)
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    /// An error at the first place where a word stands: the parser tells no places.
    fn fail(&self, word: &str, message: String) -> LoadError {
        let at = self.text.find(word).unwrap_or(0);
        invalid(self.name, self.text, at..at + 1, message)
    }

    fn string(&self, node: &Yaml, key: &str) -> Result<String, LoadError> {
        let found = get(node, key).as_ref().and_then(written);
        found.ok_or_else(|| self.fail(key, format!("`{key}` is missing")))
    }

    fn place(&self, node: &Yaml, near: &str) -> Result<Place, LoadError> {
        let location = get(node, "location");
        let location = location.ok_or_else(|| self.fail(near, "`location` is missing".to_owned()))?;
        let number = |key: &str| {
            get(&location, key)
                .as_ref()
                .and_then(Yaml::as_integer)
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| *number > 0)
        };
        let line = number("line");
        let line = line.ok_or_else(|| self.fail(near, "`line` is missing in a location".to_owned()))?;
        let start = self.text.find(near).unwrap_or(0);
        let at = start..start + near.len().max(1);
        let file = get(&location, "file_name").as_ref().and_then(written).unwrap_or_default();
        Ok(Place { file, line, column: number("column"), at })
    }

    fn claim(&self, node: &Yaml) -> Result<Claim, LoadError> {
        let Some(invariant) = get(node, "invariant") else {
            return Err(self.fail("content", "an entry of `content` is no `invariant`".to_owned()));
        };
        let kind = self.string(&invariant, "type")?;
        let is_loop = match kind.as_str() {
            "loop_invariant" => true,
            "location_invariant" => false,
            other => return Err(self.fail(other, format!("invariants of type `{other}` are not read"))),
        };
        let condition = self.string(&invariant, "value")?;
        let format = get(&invariant, "format").as_ref().and_then(written);
        if let Some(format) = format.filter(|format| format != "c_expression") {
            return Err(self.fail(&format, format!("invariants in the format `{format}` are not read")));
        }
        let place = self.place(&invariant, &condition)?;
        Ok(Claim { place, is_loop, condition })
    }

    fn segment(&self, node: &Yaml) -> Result<Segment, LoadError> {
        let list = get(node, "segment");
        let Some(list) = list.as_ref().and_then(Yaml::as_vec) else {
            return Err(self.fail("content", "an entry of `content` is no `segment`".to_owned()));
        };
        let (mut avoid, mut follow) = (Vec::new(), None);
        for node in list {
            let Some(node) = get(node, "waypoint") else {
                return Err(self.fail("segment", "an entry of a segment is no `waypoint`".to_owned()));
            };
            let action = self.string(&node, "action")?;
            let waypoint = self.waypoint(&node)?;
            match action.as_str() {
                "avoid" if follow.is_none() => avoid.push(waypoint),
                "follow" if follow.is_none() => follow = Some(waypoint),
                "avoid" | "follow" => {
                    let message = "in a segment one waypoint is followed, the last one".to_owned();
                    return Err(self.fail("segment", message));
                }
                other => return Err(self.fail("action", format!("the action `{other}` is not known"))),
            }
        }
        let follow = follow
            .ok_or_else(|| self.fail("segment", "a segment follows one waypoint, its last".to_owned()))?;
        Ok(Segment { avoid, follow })
    }

    fn waypoint(&self, node: &Yaml) -> Result<Waypoint, LoadError> {
        let kind = self.string(node, "type")?;
        let constraint = get(node, "constraint");
        let value = constraint.as_ref().and_then(|constraint| get(constraint, "value"));
        let value = value.as_ref().and_then(written);
        let near = value.clone().unwrap_or_else(|| kind.clone());
        let needed = || {
            let message = format!("a waypoint of type `{kind}` has no `constraint` with a `value`");
            self.fail(&kind, message)
        };
        let kind = match kind.as_str() {
            "assumption" => Kind::Assumption(value.ok_or_else(needed)?),
            "branching" => match value.ok_or_else(needed)?.as_str() {
                "true" => Kind::Branching(true),
                "false" => Kind::Branching(false),
                // A case of a `switch`.
                _ => Kind::Other,
            },
            "function_enter" => Kind::Enter,
            "function_return" => Kind::Return(value),
            "target" => Kind::Target,
            other => return Err(self.fail(other, format!("waypoints of type `{other}` are not known"))),
        };
        Ok(Waypoint { place: self.place(node, &near)?, kind })
    }
}

//! What a user may set, in `initializationOptions` or later.

use std::time::Duration;

use serde_json::Value;

/// How texts are checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The time for one check of one text, with its explanation.
    pub timeout: Duration,
    /// What `--checks` names; empty is the usual.
    pub checks: Vec<String>,
    /// Further options of `wherefore check`, and further files of the program.
    pub options: Vec<String>,
    /// How long the user must pause before an unsaved text is checked; none leaves unsaved texts
    /// alone.
    pub pause: Option<Duration>,
    /// Whether checks that were not decided are shown.
    pub shows_unknown: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            checks: Vec::new(),
            options: Vec::new(),
            pause: Some(Duration::from_millis(700)),
            shows_unknown: false,
        }
    }
}

impl Settings {
    /// Takes over what is given, and says what is wrong with the rest. Keys that are not known are
    /// left alone: editors add their own.
    pub(crate) fn take(&mut self, given: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        let Some(given) = given.as_object() else { return wrong };
        let mut refuse = |key: &str, expected: &str| wrong.push(format!("`{key}`: expected {expected}"));
        for (key, value) in given {
            match key.as_str() {
                "timeout" => match seconds(value).filter(|time| !time.is_zero()) {
                    Some(time) => self.timeout = time,
                    None => refuse(key, "a number of seconds above 0"),
                },
                "checks" => match words(value, ',') {
                    Some(list) => self.checks = list,
                    None => refuse(key, "names of checks"),
                },
                "options" => match words(value, ' ') {
                    Some(list) => self.options = list,
                    None => refuse(key, "a list of options"),
                },
                "pause" => match (value, seconds(value)) {
                    (Value::Null | Value::Bool(false), _) => self.pause = None,
                    (_, Some(time)) => self.pause = Some(time),
                    _ => refuse(key, "a number of seconds, or false"),
                },
                "showUnknown" => match value.as_bool() {
                    Some(shows) => self.shows_unknown = shows,
                    None => refuse(key, "true or false"),
                },
                _ => {}
            }
        }
        wrong
    }
}

fn seconds(value: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(value.as_f64()?).ok()
}

/// A list of texts, or one text that is cut at a character.
fn words(value: &Value, at: char) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => {
            Some(text.split(at).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect())
        }
        Value::Array(list) => list.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_taken_over_and_mistakes_are_told() {
        let mut settings = Settings::default();
        let wrong = settings.take(&json!({
            "timeout": 2.5, "checks": "bounds, null", "options": ["-Iinclude", "-D", "X=1 2"], "pause": false,
            "showUnknown": true, "other": 1,
        }));
        assert_eq!(wrong, Vec::<String>::new());
        let expected = Settings {
            timeout: Duration::from_millis(2500),
            checks: vec!["bounds".into(), "null".into()],
            options: vec!["-Iinclude".into(), "-D".into(), "X=1 2".into()],
            pause: None,
            shows_unknown: true,
        };
        assert_eq!(settings, expected);
        let bad = json!({ "timeout": 0, "checks": 3, "options": [1], "pause": -1, "showUnknown": "yes" });
        assert_eq!(settings.take(&bad).len(), 5);
        assert_eq!(settings, expected, "what is wrong changes nothing");
        assert!(settings.take(&json!([])).is_empty());
    }
}

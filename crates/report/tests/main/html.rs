//! The page is one sound file that needs no network. What it does in a browser is tested by
//! `.ci/browser`.

use crate::common;

use serde_json::Value;
use wherefore_explain::model::Explanation;
use wherefore_report::{PageOptions, page};

fn still(explanation: &Explanation) -> String {
    page(explanation, &PageOptions { live: false })
}

/// The data inside a page.
fn data(text: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let rest = text.split_once(start).expect("the data is there").1;
    serde_json::from_str(rest.split_once("</script>").expect("the data ends").0).expect("the data is JSON")
}

#[test]
fn a_page_has_two_scripts_whatever_the_text_is() {
    for (name, explanation) in common::all() {
        let text = still(&explanation);
        assert_eq!(text.matches("</script>").count(), 2, "{name}");
        assert_eq!(text.matches("<script").count(), 2, "{name}");
        assert!(text.ends_with("</html>\n"), "{name}");
    }
}

#[test]
fn the_data_is_the_explanation() {
    let explanation = common::hostile();
    let data = data(&still(&explanation));
    assert_eq!(data["sources"][0]["text"], explanation.sources[0].text);
    assert_eq!(data["sources"][0]["name"], explanation.sources[0].name);
    assert_eq!(data["marks"][0], ".ic.");
    assert_eq!(data["runs"][0]["steps"][3]["text"], "reach_error()");
}

#[test]
fn values_are_told_as_differences() {
    let steps = &data(&still(&common::min_max()))["runs"][0]["steps"];
    assert_eq!(steps[1]["set"], serde_json::json!({ "x": "1" }));
    assert_eq!(steps[5].get("set"), None);
    assert_eq!(steps[7]["set"], serde_json::json!({ "max": "0" }));
}

#[test]
fn a_page_that_is_not_live_may_not_ask() {
    assert!(still(&common::min_max()).contains("connect-src 'none'"));
    let live = page(&common::min_max(), &PageOptions { live: true });
    assert!(live.contains("connect-src 'self'"));
    for text in [still(&common::two_files()), live] {
        for word in [" src=", "@import", "url(http", "<link rel=\"stylesheet"] {
            assert!(!text.contains(word), "{word}");
        }
    }
}

#[test]
fn a_large_page_stays_small_and_leaves_large_pictures_out() {
    let text = still(&common::large(5000));
    assert!(text.len() < 5_000_000, "{} bytes", text.len());
    assert!(text.contains("<template id=\"graph-0\">"));
    assert!(!text.contains("<template id=\"graph-1\">"));
    assert!(data(&text)["procedures"][1]["note"].as_str().is_some_and(|note| note.contains("500 points")));
}

#[test]
fn runs_that_would_make_a_page_too_large_are_left_out() {
    let mut explanation = common::large(5000);
    let run = explanation.runs[1].clone();
    explanation.runs.extend(std::iter::repeat_n(run, 60));
    let last = explanation.runs.len() - 1;
    explanation.through.insert(common::at(2), last);
    explanation.focus[0].run = Some(last);
    let text = still(&explanation);
    assert!(text.len() < 5_000_000, "{} bytes", text.len());
    let data = data(&text);
    assert!(data["left_out"].as_u64() > Some(0));
    assert_eq!(data["through"].get("0:2"), None);
    assert_eq!(data["focus"][0]["run"], Value::Null);
    let kept = data["runs"].as_array().expect("runs").len() as u64;
    assert!(data["through"].as_object().expect("lines").values().all(|run| run.as_u64() < Some(kept)));
}

#[test]
fn without_scripts_the_text_is_there() {
    let text = still(&common::min_max());
    let plain = text.split_once("<noscript>").expect("a plain text").1;
    assert!(plain.contains("the failure depends on 4 statements, in a run of 8 steps"));
}

#[test]
fn an_answer_is_a_run_or_a_reason() {
    let explanation = common::min_max();
    let found: Value =
        serde_json::from_str(&wherefore_report::html::answer(&explanation, explanation.runs.first(), None))
            .expect("it is JSON");
    assert_eq!(found["run"], data(&still(&explanation))["runs"][0]);
    let none: Value =
        serde_json::from_str(&wherefore_report::html::answer(&explanation, None, Some("no time")))
            .expect("it is JSON");
    assert_eq!(none, serde_json::json!({ "run": null, "reason": "no time" }));
}

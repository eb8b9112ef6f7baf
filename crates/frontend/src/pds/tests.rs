use super::*;

#[test]
fn every_format_is_told_by_its_content() {
    let none = Sets { start: None, target: None };
    for (text, rules) in [
        (r#" {"pda":{"states":[{"a":{"to":0,"pop":""}}]}}"#, 1),
        ("\u{feff}pds 1 1 1\n0 0 0 0 1\n", 1),
        ("<pds, 1> -> <pds,>\n<pds, 1> -> <pds, 1 1 1>\n", 3),
    ] {
        let file = read_str_with(Source { name: "x", text }, none).unwrap();
        assert_eq!(file.system.rule_count(), rules);
    }
}

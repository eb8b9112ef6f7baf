//! Pictures for Graphviz have every point and edge, in the colours of the projection.

use crate::common;

use wherefore_report::dot::{automata, call_graph};

#[test]
fn automata_have_their_points_edges_and_colours() {
    let text = automata(&common::min_max());
    assert_eq!(text.matches(" -> ").count(), 12);
    assert!(text.contains("n0_4 [label=\"minmax.c:10\\nstatement\", fillcolor=\"#e3efe6\"];"), "{text}");
    assert!(text.contains("n0_6 [label=\"minmax.c:12\\nstatement\", fillcolor=\"#eb9a80\"];"), "{text}");
    assert!(
        text.contains("n0_8 [label=\"minmax.c:13\\nerror\", fillcolor=\"#eb9a80\", penwidth=2];"),
        "{text}"
    );
}

#[test]
fn calls_are_edges() {
    let text = call_graph(&common::two_files());
    assert!(text.contains("n0 [label=\"main\""));
    assert!(text.contains("n0 -> n1;"));
}

#[test]
fn texts_are_quoted_and_edges_to_nowhere_left_out() {
    let text = automata(&common::hostile());
    assert!(text.contains("\"\\\"</script>\\\" \\\\ é\\n\""), "{text}");
    assert!(!text.contains("points nowhere"));
    assert!(!call_graph(&common::hostile()).contains("n7"));
}

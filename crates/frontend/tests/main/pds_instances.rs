//! Every instance of a public collection can be read; where the collection is, the environment
//! variable `WHEREFORE_BENCH` says.

use wherefore_frontend::pds::{Sets, Weights, read, read_with};

#[test]
#[ignore = "needs a folder of programs, WHEREFORE_BENCH"]
fn every_instance_can_be_read() {
    let folder = wherefore_testing::given("WHEREFORE_BENCH");
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join("pds/instances")).unwrap() {
        let path = entry.unwrap().path();
        let file = read(&path).unwrap_or_else(|error| panic!("{}", error.render()));
        assert!(matches!(file.weights, Weights::None));
        assert!(!file.encoding.is_on_stack());
        let (start, target) = (file.start.unwrap(), file.target.unwrap());
        assert!(!start.enters_control() && !target.enters_control());
        assert_eq!(start.control_count(), file.system.state_count());
        count += 1;
    }
    assert!(count > 0, "no instance in {}", folder.display());
    println!("{count} instances");
}

#[test]
fn sets_in_files_of_their_own_take_the_place_of_those_in_the_file() {
    let folder = std::env::temp_dir().join(format!("wherefore-pds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let plain = write("sys.pds", "pds 2 2 1\ninit 0 0\n1 0 0 1 1 4\n");
    let json = write("A.json", r#"{"pda": {"states": [{"0": {"to": 1, "swap": "1"}}, {}]}}"#);
    let ours = write("ours", "start <a, x>\n<a, x> -> <b, y>\n");
    let graph =
        write("A.init", r#"{"P-automaton": {"accepting": [9], "initial": [], "edges": [[1, "1", 9]]}}"#);
    let text = write("A.final", "<1, 1> # done\n");
    let named = write("named", r#"{"P-automaton": {"accepting": ["f"], "edges": [["b", "y", "f"]]}}"#);
    let unknown = write("unknown", r#"{"P-automaton": {"accepting": ["f"], "edges": [["b", "z", "f"]]}}"#);
    for system in [&plain, &json] {
        let file = read_with(system, Sets { start: Some(&graph), target: Some(&text) }).unwrap();
        for set in [file.start.unwrap(), file.target.unwrap()] {
            let (t, ()) = set.transitions().next().unwrap();
            assert_eq!((t.from.0, t.symbol.unwrap().0, set.transition_count()), (1, 1, 1));
        }
    }
    let file = read_with(&ours, Sets { start: None, target: Some(&named) }).unwrap();
    assert_eq!(file.start.unwrap().transitions().next().unwrap().0.from.0, 0);
    assert_eq!(file.target.unwrap().transitions().next().unwrap().0.from.0, 1);
    let error = read_with(&ours, Sets { start: None, target: Some(&unknown) }).unwrap_err();
    assert_eq!(error.file(), unknown.display().to_string());
    assert_eq!(error.message(), "unknown stack symbol `z`");
    assert_eq!((error.line(), error.column()), (Some(1), Some(54)));
    let bytes = folder.join("bytes");
    std::fs::write(&bytes, b"weights\n \xff").unwrap();
    let error = read(&bytes).unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(2), Some(2)));
    assert!(read(folder.join("missing")).unwrap_err().line().is_none());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_examples_of_the_reference_can_be_read() {
    let reference = include_str!("../../../../docs/pds-format.md");
    let mut count = 0;
    for block in reference.split("```pds\n").skip(1) {
        let text = block.split("```").next().unwrap();
        let source = wherefore_frontend::pds::Source { name: "docs/pds-format.md", text };
        wherefore_frontend::pds::read_str(source)
            .unwrap_or_else(|error| panic!("{text}\n{}", error.render()));
        count += 1;
    }
    assert!(count >= 7, "only {count} examples");
}

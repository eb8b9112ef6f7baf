//! What tests need to say which stack they mean.

use wherefore_program::{Node, Program};
use wherefore_trace::{Backtrace, Frame};

/// The backtrace whose frames are at these lines of the first file, the innermost first.
pub fn backtrace(program: &Program, lines: &[u32]) -> Backtrace {
    let function = |line: u32| {
        let is_here =
            |node: &Node| program.line(*node) == Some(line) && program.location(*node).span.file.0 == 0;
        let node = program.nodes().find(is_here).unwrap_or_else(|| panic!("no statement on line {line}"));
        program.procedure(node.procedure).name.clone()
    };
    let frame = |line: &u32| Frame {
        function: Some(function(*line)),
        file: None,
        line: Some(*line),
        arguments: Vec::new(),
        module: None,
        at: 1,
    };
    Backtrace { frames: lines.iter().map(frame).collect(), is_open: false, happened: None, others: 0 }
}

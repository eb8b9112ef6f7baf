//! Prints the automata of a C file.
fn main() {
    let file = std::env::args().nth(1).expect("a file");
    let options = wherefore_frontend::c::Options::default();
    match wherefore_frontend::c::translate(&[file.into()], &options) {
        Ok(t) => {
            println!("{}", t.program.listing());
            for a in &t.assumptions {
                println!("{a:?}");
            }
        }
        Err(e) => println!("{}", e.render()),
    }
}

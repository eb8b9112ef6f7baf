//! Files that the program may have written itself: what is read from such a file is no input, for
//! the program decides what is there.

use wherefore_program::{OwnFiles, c_library};

use super::calls::literal;
use super::models::NEEDED;
use super::tree::{Function, Term, TermKind, Tree};
use super::usage::Usage;
use super::walk::each_term;

/// What a program does with files, by its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// It may write one, or give a descriptor or a stream another meaning.
    pub(crate) writes: bool,
    /// Besides, it may read from something else than standard input.
    pub(crate) reads_back: bool,
    /// Besides, standard input may be something else.
    pub(crate) moves_input: bool,
    /// Whether the program puts characters back, which not all of our models see.
    pub(crate) puts_back: bool,
}

/// Opens in a mode: its position.
fn mode_of(name: &str) -> Option<usize> {
    matches!(name, "fopen" | "fopen64" | "fdopen" | "freopen" | "freopen64" | "popen").then_some(1)
}

/// Opens with flags: their position.
fn flags_of(name: &str) -> Option<usize> {
    match name {
        "open" | "open64" => Some(1),
        "openat" | "openat64" => Some(2),
        _ => None,
    }
}

/// Makes something that can be read and that the program, or what it starts, has written.
const MAKES: [&str; 24] = [
    "tmpfile",
    "tmpfile64",
    "creat",
    "creat64",
    "mkstemp",
    "mkstemp64",
    "mkostemp",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "pipe",
    "pipe2",
    "socketpair",
    "fmemopen",
    "open_memstream",
    "fopencookie",
    "system",
    "rename",
    "link",
    "symlink",
    "fork",
    "vfork",
    "posix_openpt",
];

/// The input of our model that sees what was put back.
const CHARACTER: &str = "__input_character";

/// What gives standard input another meaning.
const MOVES: [&str; 6] = ["dup", "dup2", "dup3", "fcntl", "freopen", "freopen64"];

/// What reads from a stream or a descriptor: its position.
fn reads_from(name: &str) -> Option<usize> {
    Some(match name {
        "fgetc" | "getc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked" | "getw" | "fgetwc" | "getwc"
        | "read" | "pread" | "pread64" | "readv" | "recv" | "fscanf" | "__isoc99_fscanf"
        | "__isoc23_fscanf" | "vfscanf" | "__isoc99_vfscanf" | "__isoc23_vfscanf" | NEEDED => 0,
        "fgets" | "fgets_unlocked" | "getline" | "fgetws" => 2,
        "fread" | "fread_unlocked" | "getdelim" => 3,
        _ => return None,
    })
}

/// Whether a stream or a descriptor is surely standard input.
fn is_input(tree: &Tree, term: &Term) -> bool {
    match &term.kind {
        TermKind::Constant(0) => true,
        TermKind::Convert(inner) | TermKind::Load(inner) => is_input(tree, inner),
        TermKind::Object(id) => tree.object(*id).name == "stdin",
        _ => false,
    }
}

impl Files {
    pub(crate) fn new(tree: &Tree, usage: &Usage) -> Files {
        let is_library = |function: &Function| tree.library.contains(&function.span.file);
        let is_real = |function: &Function| function.body.is_none() || is_library(function);
        let about = |name: &str| {
            mode_of(name).is_some()
                || flags_of(name).is_some()
                || MAKES.contains(&name)
                || name == "close"
                || reads_from(name).is_some()
        };
        let used = || usage.functions.iter().map(|id| tree.function(*id));
        if !used().any(|function| is_real(function) && about(&function.name)) {
            return Files::default();
        }
        let (mut writes, mut reads, mut moves) = (false, false, false);
        for function in used().filter(|function| !is_library(function)) {
            let mut body = function.body.clone().unwrap_or_default();
            let (mut named, mut called) = (0, 0);
            each_term(&mut body, &mut |term| {
                let real = |term: &Term| match term.kind {
                    TermKind::Function(id) => Some(tree.function(id)).filter(|function| is_real(function)),
                    _ => None,
                };
                named += usize::from(real(term).is_some_and(|function| about(&function.name)));
                let TermKind::Call(callee, arguments) = &term.kind else { return };
                let Some(name) = real(callee).map(|function| function.name.as_str()) else { return };
                called += usize::from(about(name));
                if let Some(at) = mode_of(name) {
                    let mode = arguments.get(at).and_then(|mode| literal(tree, mode));
                    writes |= mode.is_none_or(|mode| mode.iter().any(|letter| b"wa+".contains(letter)));
                }
                if let Some(at) = flags_of(name) {
                    // All but reading: the mode of access, and flags that create or cut off.
                    let flags = arguments.get(at).and_then(Term::constant);
                    writes |= flags.is_none_or(|flags| flags & 0o1103 != 0);
                }
                if let Some(at) = reads_from(name) {
                    reads |= !arguments.get(at).is_some_and(|from| is_input(tree, from));
                }
                let closes_input =
                    name == "close" && arguments.first().is_none_or(|file| file.constant() == Some(0));
                moves |= MOVES.contains(&name) || closes_input;
                writes |= MAKES.contains(&name);
            });
            // One that is called through a pointer may do anything.
            if named > called {
                (writes, reads, moves) = (true, true, true);
            }
        }
        Files {
            writes,
            reads_back: writes && (reads || moves),
            moves_input: writes && moves,
            puts_back: false,
        }
    }

    /// The same for those who run the compiled program.
    pub(crate) fn replayed(self) -> OwnFiles {
        match (self.writes, self.moves_input) {
            (false, _) => OwnFiles::None,
            (true, false) => OwnFiles::Some,
            (true, true) => OwnFiles::AlsoInput,
        }
    }

    /// Whether the compiled program computes what a function gives, and the model does not.
    pub(crate) fn computes(self, name: &str) -> bool {
        let is_input = matches!(name, "getchar" | "getchar_unlocked") && !self.moves_input;
        let reads_back = self.reads_back && !is_input && c_library::reads_files(name);
        let misses_back = self.puts_back && c_library::reads_files(name) && name != CHARACTER;
        self.writes && c_library::is_about_files(name) || reads_back || misses_back
    }
}

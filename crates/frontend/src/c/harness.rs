//! A C file that calls a function with any arguments, to be edited and checked.

use std::fmt::Write;
use std::path::PathBuf;

use wherefore_program::Span;

use super::composed::Composed;
use super::ctype::{CType, Length, UNNAMED};
use super::lines::Sources;
use super::problem::{Problem, refuse};
use super::sema::{self, Linkage};
use super::tree::{Function, Tree};
use super::{Options, in_thread, input};
use crate::diagnostics::LoadError;

/// How many elements arrays behind pointers have, and texts with the zero at their end.
const ELEMENTS: u64 = 4;
const CHARACTERS: u64 = 16;
/// How deep pointers in structures lead to objects; beyond they are NULL.
const DEPTH: usize = 2;

/// A C file that calls the entry of the options with any arguments: numbers are inputs, and a
/// pointer is NULL or points to an object with any values.
///
/// ```no_run
/// use wherefore_frontend::c::{Options, harness};
///
/// let options = Options { entry: "parse".to_owned(), ..Options::default() };
/// print!("{}", harness(&["parser.c".into()], &options)?);
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn harness(files: &[PathBuf], options: &Options) -> Result<String, LoadError> {
    in_thread(|| {
        let mut sources = Sources::default();
        let mut tree = Tree::default();
        tree.types.model = options.data_model;
        let mut linkage = Linkage::default();
        for file in files {
            let text = input::read(file, options, &mut sources)?;
            let unit = input::parse(text, &mut sources, || true)
                .map_err(|problem| refuse(&sources, vec![problem]))?;
            sema::analyse(&unit, &mut tree, &mut linkage, &mut sources);
        }
        let is_meant = |function: &&Function| function.name == options.entry && function.body.is_some();
        let Some(function) = tree.functions.iter().find(is_meant) else {
            let span = Span::new(wherefore_program::FileId(0), 0, 0);
            let problem = Problem::new(span, format!("there is no function `{}`", options.entry));
            return Err(refuse(&sources, vec![problem]));
        };
        let home = sources.files[function.span.file.0 as usize].name().to_owned();
        let others = files.iter().map(|file| file.display().to_string()).filter(|file| *file != home);
        let others: String = others.map(|file| format!(" {file}")).collect();
        Ok(Text { tree: &tree, body: String::new() }.whole(function, &home, &others))
    })
}

struct Text<'t> {
    tree: &'t Tree,
    /// The statements of `main`.
    body: String,
}

impl Text<'_> {
    fn whole(mut self, function: &Function, home: &str, others: &str) -> String {
        let mut arguments = Vec::new();
        for (i, parameter) in function.parameters.iter().enumerate() {
            let object = self.tree.object(*parameter);
            let is_named = object.name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let name = if is_named { object.name.clone() } else { format!("argument_{}", i + 1) };
            self.declare(&object.ty, &name, 0);
            arguments.push(name);
        }
        let name = &function.name;
        let called = if name == "main" { "other_main" } else { name };
        let mut out = format!(
            "/* Calls `{name}` with any arguments: change what they are, and what is expected afterwards.\n   \
             To check it: wherefore check HARNESS.c{others} */\n\
             #define main other_main\n#include \"{home}\"\n#undef main\n\n"
        );
        for (ty, kind) in INPUTS {
            let input = format!("__VERIFIER_nondet_{kind}()");
            if self.body.contains(&input) {
                let _ = writeln!(out, "extern {ty} __VERIFIER_nondet_{kind}(void);");
            }
        }
        let call = format!("{called}({});", arguments.join(", "));
        let _ = write!(out, "\nint main(void) {{\n{}  {call}\n  return 0;\n}}\n", self.body);
        out
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "  {text}");
    }

    /// Declares a variable with any value.
    fn declare(&mut self, ty: &CType, name: &str, depth: usize) {
        if let CType::Pointer(to) = ty {
            let value = self.behind(to, name, depth);
            let declared = declaration(&self.type_name(to), &format!("*{name}"));
            return self.line(&format!("{declared} = {value};"));
        }
        let of = self.type_name(ty);
        match input(ty) {
            Some(input) => self.line(&format!("{of} {name} = {input};")),
            None => {
                self.line(&format!("{of} {name};"));
                self.fill(ty, name, name, depth);
            }
        }
    }

    /// What a pointer may be: NULL, or the address of an object that is declared here.
    fn behind(&mut self, to: &CType, name: &str, depth: usize) -> String {
        let object = format!("{name}_object");
        let size = self.tree.types.size(to);
        match to {
            CType::Function(_) => {
                self.line(&format!("/* `{name}` may be a function of yours. */"));
                return "0".to_owned();
            }
            CType::Record(_) if size.is_some() => {
                self.declare(to, &object, depth);
                return format!("__VERIFIER_nondet_bool() ? &{object} : 0");
            }
            CType::Array(..) => {
                self.line(&format!("/* `{name}` may point to an array of yours. */"));
                return "0".to_owned();
            }
            _ => {}
        }
        let is_text = matches!(to, CType::Void | CType::Int { bits: 8, .. }) || size.is_none();
        let (of, count) = match is_text {
            true => ("char".to_owned(), CHARACTERS),
            false => (self.type_name(to), ELEMENTS),
        };
        self.line(&format!("{};", declaration(&of, &format!("{object}[{count}]"))));
        let array = CType::Array(
            std::rc::Rc::new(if is_text { CType::CHAR } else { to.clone() }),
            Length::Known(count),
        );
        self.fill(&array, &object, &object, depth);
        if is_text {
            self.line(&format!("{object}[{}] = 0;", count - 1));
        }
        format!("__VERIFIER_nondet_bool() ? {object} : 0")
    }

    /// Gives the parts of an object any values. Unions have any value without it.
    fn fill(&mut self, ty: &CType, place: &str, name: &str, depth: usize) {
        match ty {
            CType::Array(of, Length::Known(count)) => {
                if let Some(input) = input(of) {
                    self.line(&format!("for (int i = 0; i < {count}; i++)"));
                    self.line(&format!("  {place}[i] = {input};"));
                }
            }
            CType::Record(id) if !self.tree.types.record(*id).union => {
                for field in self.tree.types.record(*id).fields.clone() {
                    let Some(member) = &field.name else { continue };
                    let (place, name) = (format!("{place}.{member}"), format!("{name}_{member}"));
                    match &field.ty {
                        CType::Pointer(to) if depth < DEPTH => {
                            let value = self.behind(to, &name, depth + 1);
                            self.line(&format!("{place} = {value};"));
                        }
                        CType::Pointer(_) => self.line(&format!("{place} = 0;")),
                        scalar => match input(scalar) {
                            Some(input) => self.line(&format!("{place} = {input};")),
                            None => self.fill(scalar, &place, &name, depth),
                        },
                    }
                }
            }
            _ => {}
        }
    }

    /// The name of a type. Functions and arrays that are pointed to have none.
    fn type_name(&self, ty: &CType) -> String {
        match ty {
            CType::Pointer(to) => format!("{} *", self.type_name(to)),
            CType::Record(id) => {
                let record = self.tree.types.record(*id);
                match &record.stands_for {
                    Some(Composed::Vector { element, .. }) => {
                        let element = self.type_name(element);
                        return format!("__attribute__((vector_size({}))) {element}", record.size);
                    }
                    Some(_) => return record.name.clone(),
                    None => {}
                }
                let word = if record.union { "union" } else { "struct" };
                match &record.alias {
                    Some(alias) if record.name == UNNAMED => alias.clone(),
                    _ => format!("{word} {}", record.name),
                }
            }
            CType::Bool => "_Bool".to_owned(),
            CType::Float(4) => "float".to_owned(),
            CType::Float(8) => "double".to_owned(),
            CType::Float(_) => "long double".to_owned(),
            CType::Int { bits, signed } => {
                let word = match bits {
                    ..=8 => "char",
                    ..=16 => "short",
                    ..=32 => "int",
                    _ if self.tree.types.long(*signed) == *ty => "long",
                    _ => "long long",
                };
                if *signed { word.to_owned() } else { format!("unsigned {word}") }
            }
            CType::Void | CType::Function(_) | CType::Array(..) => "void".to_owned(),
        }
    }
}

/// A type and what is declared with it.
fn declaration(ty: &str, what: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{what}") } else { format!("{ty} {what}") }
}

/// The types of inputs, and how they are called.
const INPUTS: [(&str, &str); 11] = [
    ("_Bool", "bool"),
    ("char", "char"),
    ("unsigned char", "uchar"),
    ("short", "short"),
    ("unsigned short", "ushort"),
    ("int", "int"),
    ("unsigned", "uint"),
    ("long long", "longlong"),
    ("unsigned long long", "ulonglong"),
    ("float", "float"),
    ("double", "double"),
];

/// An input of a type; none if it is not a number.
fn input(ty: &CType) -> Option<String> {
    let kind = match ty {
        CType::Bool => "bool",
        CType::Int { bits: ..=8, signed: true } => "char",
        CType::Int { bits: ..=8, .. } => "uchar",
        CType::Int { bits: ..=16, signed: true } => "short",
        CType::Int { bits: ..=16, .. } => "ushort",
        CType::Int { bits: ..=32, signed: true } => "int",
        CType::Int { bits: ..=32, .. } => "uint",
        CType::Int { signed: true, .. } => "longlong",
        CType::Int { .. } => "ulonglong",
        CType::Float(4) => "float",
        CType::Float(8) => "double",
        _ => return None,
    };
    Some(format!("__VERIFIER_nondet_{kind}()"))
}

//! Functions that the program does not define: our definitions of them, and what is told about
//! them.

use wherefore_program::{FileId, InputModels, Span};

use super::lines::Sources;
use super::models::{self, INPUT, INPUTS, MODELS, OUTSIDE, model_of, seen_from_outside};
use super::problem::Problem;
use super::sema::{self, Linkage};
use super::tree::{Function, FunctionId, Tree};
use super::usage::Usage;
use super::{Options, input, variadic};

/// Takes note of what the user says about functions without a body.
pub(crate) fn told(tree: &mut Tree, options: &Options) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tell = |option: &str, names: &[String], note: fn(&mut Function)| {
        for name in names {
            let is_meant = |function: &&mut Function| function.name == *name && function.body.is_none();
            let mut is_known = false;
            for function in tree.functions.iter_mut().filter(is_meant) {
                note(function);
                is_known = true;
            }
            if !is_known {
                let span = Span::new(FileId(0), 0, 0);
                let what = format!("{option}: there is no function `{name}` without a body");
                problems.push(Problem::not_linked(span, what));
            }
        }
    };
    tell("--assume-pure", &options.pure, |function| function.pure = true);
    tell("--no-return", &options.no_return, |function| function.returns = false);
    problems
}

/// Adds our definitions of functions of the C library that the program uses. They may use others.
pub(crate) fn add_library(
    (tree, linkage, sources): (&mut Tree, &mut Linkage, &mut Sources),
    entries: &[FunctionId],
    usage: &mut Usage,
) -> Result<(), Vec<Problem>> {
    let mut linked = Vec::new();
    while let Some(model) = missing(tree, usage, &linked) {
        linked.push(model);
        link((tree, linkage, sources), (MODELS[model].name, MODELS[model].text))?;
        variadic::pass_in_memory(tree);
        *usage = Usage::new(tree, entries);
    }
    Ok(())
}

/// Adds a text of ours to the program: its definitions give way to those of the program.
pub(crate) fn link(
    (tree, linkage, sources): (&mut Tree, &mut Linkage, &mut Sources),
    (name, text): (&str, &str),
) -> Result<(), Vec<Problem>> {
    tree.library.push(FileId(sources.files.len() as u32));
    let text = input::own(name, text, sources);
    let unit = input::parse(text, sources, || false).map_err(|problem| vec![problem])?;
    let problems = sema::analyse_library(&unit, tree, linkage, sources);
    for function in tree.functions.iter_mut().filter(|function| function.result.is_some()) {
        function.body = None;
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// A file of definitions that the program needs and that is not yet linked, by its position.
fn missing(tree: &Tree, usage: &Usage, linked: &[usize]) -> Option<usize> {
    // What a property says about a result comes before our definition.
    let is_open = |function: &Function| function.body.is_none() && function.result.is_none();
    let bodiless = usage.functions.iter().filter(|id| is_open(tree.function(**id)));
    let mut models = bodiless.filter_map(|id| model_of(&tree.function(*id).name));
    models.find(|model| !linked.contains(model))
}

/// The functions without a body that the program uses, by name: what they do is assumed.
pub(crate) fn without_body(tree: &Tree, usage: &Usage) -> Vec<String> {
    let is_own = |name: &str| {
        [INPUT, OUTSIDE, "__builtin_", "__wherefore_", "__VERIFIER_atomic_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let used = usage.functions.iter().map(|id| tree.function(*id));
    let open = used.filter(|function| function.body.is_none() && models::meaning(&function.name).is_none());
    let mut names: Vec<String> =
        open.filter(|function| !is_own(&function.name)).map(|function| function.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// What replay needs of our definitions of functions that bring input; none if the program does not
/// use them. Those that it does not use get other names, so that the real ones keep their meaning.
pub(crate) fn input_models(tree: &Tree, usage: &Usage, sources: &Sources) -> Option<InputModels> {
    let used = || usage.functions.iter().map(|id| tree.function(*id));
    if !used().any(|function| function.name.starts_with(INPUT)) {
        return None;
    }
    let text = MODELS.iter().find(|model| model.name == INPUTS)?.text;
    let is_ours = |function: &Function| {
        function.body.is_some() && sources.files[function.span.file.0 as usize].name() == INPUTS
    };
    let is_taken = |name: &String| {
        name.starts_with("__builtin_") || used().any(|function| function.name == *name && is_ours(function))
    };
    let (names, others): (Vec<String>, Vec<String>) =
        seen_from_outside(text).map(str::to_owned).partition(is_taken);
    let others: String = others.iter().map(|name| format!("#define {name} unused_{name}\n")).collect();
    Some(InputModels { text: format!("{others}{text}"), names })
}

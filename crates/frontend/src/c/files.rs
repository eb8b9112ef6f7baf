//! Only files that a program has places in are kept.

use wherefore_program::{FileId, Procedure, SourceFile, Span, Variable};

use super::Assumption;

/// Calls `visit` on every span of a procedure.
fn procedure_spans(procedure: &mut Procedure, visit: &mut impl FnMut(&mut Span)) {
    visit(&mut procedure.span);
    for location in &mut procedure.locations {
        visit(&mut location.span);
        location.violation.iter_mut().for_each(|violation| visit(&mut violation.subject));
    }
    procedure.edges.iter_mut().for_each(|edge| visit(&mut edge.span));
    procedure.variables.iter_mut().for_each(|variable| visit(&mut variable.span));
}

/// Drops the files that no span leads to, except the first `given`, and numbers the others anew.
pub(crate) fn keep_used<'a>(
    sources: Vec<SourceFile>,
    given: usize,
    globals: &mut [Variable],
    procedures: &mut [Procedure],
    assumptions: impl Iterator<Item = &'a mut Assumption>,
) -> Vec<SourceFile> {
    let mut spans: Vec<&mut Span> = assumptions.filter_map(|assumption| assumption.span.as_mut()).collect();
    let mut all = |visit: &mut dyn FnMut(&mut Span)| {
        globals.iter_mut().for_each(|variable| visit(&mut variable.span));
        spans.iter_mut().for_each(|span| visit(span));
        procedures.iter_mut().for_each(|procedure| procedure_spans(procedure, &mut |span| visit(span)));
    };
    let mut used: Vec<bool> = (0..sources.len()).map(|i| i < given).collect();
    all(&mut |span| used[span.file.0 as usize] = true);
    let mut next = 0;
    let numbers: Vec<FileId> = used
        .iter()
        .map(|used| {
            next += u32::from(*used);
            FileId(next.saturating_sub(1))
        })
        .collect();
    all(&mut |span| span.file = numbers[span.file.0 as usize]);
    sources.into_iter().zip(used).filter_map(|(source, used)| used.then_some(source)).collect()
}

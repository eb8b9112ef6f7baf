//! `errno` as an object of the program.
//!
//! Headers of the GNU C library say that `errno` is `*__errno_location()`.

use super::ctype::CType;
use super::tree::{FunctionId, Lifetime, Object, ObjectId, Role, TermKind, Tree};
use super::walk::each_term;

/// The function that gives its address.
pub(crate) const FUNCTION: &str = "__errno_location";

/// The name of the object in our own texts.
pub(crate) const OBJECT: &str = "__builtin_own_errno";

/// Makes an object of what the program reads and writes through the function; none if the program
/// does not use it.
pub(crate) fn as_object(tree: &mut Tree, function: FunctionId) -> Option<ObjectId> {
    let id = ObjectId(tree.objects.len() as u32);
    let mut is_used = false;
    for other in &mut tree.functions {
        let Some(body) = &mut other.body else { continue };
        each_term(body, &mut |term| match &term.kind {
            TermKind::Function(other) => is_used |= *other == function,
            TermKind::Deref(pointer) => {
                let TermKind::Call(callee, _) = &pointer.kind else { return };
                if matches!(callee.kind, TermKind::Function(id) if id == function) && term.ty == CType::INT {
                    term.kind = TermKind::Object(id);
                }
            }
            _ => {}
        });
    }
    if !is_used {
        return None;
    }
    tree.objects.push(Object {
        name: "errno".to_owned(),
        ty: CType::INT,
        lifetime: Lifetime::Static,
        owner: None,
        initial: None,
        defined: true,
        problem: None,
        role: Role::default(),
        span: tree.function(function).span,
    });
    tree.errno = Some(id);
    tree.errno
}

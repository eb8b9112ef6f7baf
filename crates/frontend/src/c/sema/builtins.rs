//! Functions that the compiler knows.

use lang_c::ast::{
    BinaryOperator as B, CallExpression, DeclaratorKind, DerivedDeclarator, Expression, SpecifierQualifier,
    TypeName, TypeOf, TypeSpecifier,
};
use lang_c::span::Node;
use wherefore_program::UnaryOp;

use super::Sema;
use crate::c::ctype::CType;
use crate::c::problem::Checked;
use crate::c::tree::{FunctionId, Term, TermKind, Yields};

/// Functions of `math.h` and `complex.h` from `double` or complex numbers to such; with `f` and `l`
/// behind them for the other types.
const OF_ONE_REAL: [&str; 35] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cimag",
    "conj",
    "cos",
    "cosh",
    "creal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nearbyint",
    "rint",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];
const OF_TWO_REALS: [&str; 9] =
    ["atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "pow", "remainder"];

fn is_of_reals(name: &str) -> bool {
    OF_ONE_REAL.contains(&name) || OF_TWO_REALS.contains(&name)
}

impl Sema<'_> {
    /// The meaning of a call of a built-in function that no declaration hides; none if the name is
    /// not one of them, or if it is a function of the library with `__builtin_` in front. What we
    /// do not know is refused.
    pub(super) fn builtin(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        if let Some(plain) = name.strip_prefix("__builtin_") {
            if let Some(term) = self.float_builtin(plain, call)? {
                return Ok(Some(term));
            }
        }
        let own = self.again == super::Again::Skip;
        let short = name.strip_prefix("__builtin_").filter(|_| !own);
        if short.is_none() && !name.starts_with("__atomic_") && !name.starts_with("__sync_") {
            return Ok(None);
        }
        let Some(short) = short else {
            return if own { Ok(None) } else { self.atomic(name, call) };
        };
        if let Some(term) = self.bits_of(name, call)? {
            return Ok(Some(term));
        }
        if let Some(term) = self.overflow(name, call)? {
            return Ok(Some(term));
        }
        let span = self.span(call);
        let arguments = &call.node.arguments;
        let long = self.tree.types.long(true);
        match (short, arguments.as_slice()) {
            ("own_label", [name]) => match &name.node {
                Expression::StringLiteral(parts) => {
                    let name: String = parts.node.iter().map(|part| part.trim_matches('"')).collect();
                    self.label_address(&name, span).map(Some)
                }
                _ => self.unsupported(call, "this label is"),
            },
            ("va_start", [list, ..]) => self.va_start(list, span).map(Some),
            ("va_copy", [to, from]) => self.va_copy(to, from, span).map(Some),
            ("va_end", [list]) => {
                let value = self.value(list)?;
                self.convert(value, &CType::Void).map(Some)
            }
            ("expect", [value, hint]) | ("expect_with_probability", [value, hint, _]) => {
                let (value, hint) = (self.value(value)?, self.value(hint)?);
                let (value, hint) = (self.convert(value, &long)?, self.convert(hint, &long)?);
                // As gcc does it: with a constant, the hint is not evaluated.
                if !hint.has_effects() || value.constant().is_some() {
                    return Ok(Some(value));
                }
                let parameters = vec![long.clone(), long.clone()];
                Ok(Some(self.library_call("__builtin_expect", long, parameters, vec![value, hint], span)))
            }
            ("constant_p", [argument]) => {
                let text = matches!(argument.node, Expression::StringLiteral(_));
                let value = self.value(argument)?;
                let constant = text
                    || matches!(value.kind, TermKind::Constant(_) | TermKind::Real(_))
                    || self.wide_constant(&value).is_some();
                Ok(Some(Term::new(TermKind::Constant(u64::from(constant)), CType::INT, span)))
            }
            ("classify_type", [argument]) => {
                let ty = self.value(argument)?.ty;
                // The numbers of gcc's `typeclass.h`; enumerations and characters are integers in
                // C, and so is a truth value.
                let class = match ty {
                    CType::Void => 0,
                    CType::Bool | CType::Int { .. } => 1,
                    CType::Pointer(_) | CType::Array(..) | CType::Function(_) => 5,
                    CType::Float(_) => 8,
                    _ if self.tree.types.wide(&ty).is_some() => 1,
                    _ if self.tree.types.complex(&ty).is_some() => 9,
                    _ if self.tree.types.vector(&ty).is_some() => 19,
                    CType::Record(id) if self.tree.types.record(id).union => 13,
                    CType::Record(_) => 12,
                };
                Ok(Some(Term::new(TermKind::Constant(class), CType::INT, span)))
            }
            ("choose_expr", [choice, then, otherwise]) => {
                let chosen = if self.integer_constant(choice)? != 0 { then } else { otherwise };
                self.term(chosen).map(Some)
            }
            ("types_compatible_p", [left, right]) => {
                let (Expression::SizeOfTy(left), Expression::SizeOfTy(right)) = (&left.node, &right.node)
                else {
                    return self.fail(call, "two types are expected");
                };
                let plain = [left, right].iter().all(|of| is_unqualified(&of.node.0.node));
                let (left, right) = (self.type_name(&left.node.0)?, self.type_name(&right.node.0)?);
                let same = left == right;
                let unclear = if plain { is_ambiguous_if_unqualified } else { is_ambiguous };
                if (same && unclear(&left)) || (!same && may_be_compatible(&left, &right)) {
                    return self.unsupported(call, "`__builtin_types_compatible_p` of these types is");
                }
                let value = TermKind::Constant(u64::from(left == right));
                Ok(Some(Term::new(value, CType::INT, span)))
            }
            ("assume_aligned", [pointer, _]) => {
                let value = self.value(pointer)?;
                self.convert(value, &CType::Void.pointer_to()).map(Some)
            }
            ("shuffle", [_, _] | [_, _, _]) => self.shuffle(arguments, span).map(Some),
            ("shufflevector", [_, _, _, ..]) => self.shuffle_by_constants(arguments, span).map(Some),
            ("convertvector", [value, ty]) => {
                let Expression::SizeOfTy(ty) = &ty.node else {
                    return self.fail(call, "a type is expected");
                };
                let ty = self.type_name(&ty.node.0)?;
                let value = self.value(value)?;
                self.convert_elements(value, &ty).map(Some)
            }
            ("complex", [real, imaginary]) => {
                let (real, imaginary) = (self.value(real)?, self.value(imaginary)?);
                self.complex_of(real, imaginary, span).map(Some)
            }
            ("prefetch", [first, ..]) => {
                let value = self.value(first)?;
                self.convert(value, &CType::Void).map(Some)
            }
            _ => {
                if let Some((result, parameters)) = self.builtin_signature(short) {
                    let plain = crate::c::models::without_prefix(name).unwrap_or(name);
                    self.library_function(plain, result, parameters, span);
                    return Ok(None);
                }
                match crate::c::models::without_prefix(name) {
                    Some(plain) if crate::c::models::returns_int(plain) => Ok(None),
                    _ => self.unsupported(call, &format!("`{name}` is")),
                }
            }
        }
    }

    /// The function that a call of a name without a declaration means: gcc and clang know what many
    /// functions of the C library take and return; others return `int`.
    pub(super) fn undeclared(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<FunctionId> {
        let span = self.span(&call.node.callee);
        if let Some((result, parameters)) = self.builtin_signature(name) {
            return Ok(self.library_function(name, result, parameters, span));
        }
        let is_defined = self.linkage.functions.contains_key(name);
        let is_long_double = name.strip_suffix('l').is_some_and(is_of_reals);
        if !is_defined && (is_long_double || !crate::c::models::returns_int(name)) {
            return self.unsupported(call, &format!("`{name}` without a declaration is"));
        }
        Ok(self.implicit_function(name, span))
    }

    /// `abs` and its like are the compiler's own even where the program defines them: gcc and clang
    /// take no notice of such a definition, if its type is right.
    pub(super) fn absolute(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        if !matches!(name, "abs" | "labs" | "llabs") || self.again == super::Again::Skip {
            return Ok(None);
        }
        let Some(super::Entity::Function(id)) = self.lookup(name) else { return Ok(None) };
        let id = *id;
        let (result, parameters) = self.builtin_signature(name).unwrap_or((CType::Void, Vec::new()));
        let function = self.tree.function(id);
        let is_usual = function.signature.result == result && function.signature.parameters == parameters;
        let [argument] = call.node.arguments.as_slice() else { return Ok(None) };
        // A function of that name that no other file sees is another one.
        if !is_usual || self.linkage.functions.get(name) != Some(&id) {
            return Ok(None);
        }
        let span = self.span(call);
        let value = self.value(argument)?;
        let value = self.convert(value, &result)?;
        let own = match name {
            "abs" => "__builtin_own_abs",
            "labs" => "__builtin_own_labs",
            _ => "__builtin_own_llabs",
        };
        Ok(Some(self.library_call(own, result, parameters, vec![value], span)))
    }

    /// What a function of the C library takes and returns that can be called with `__builtin_` in
    /// front.
    fn builtin_signature(&mut self, name: &str) -> Option<(CType, Vec<CType>)> {
        let (pointer, text) = (CType::Void.pointer_to(), CType::CHAR.pointer_to());
        let (int, long, wide) = (CType::INT, self.tree.types.long(true), CType::LONG_LONG);
        let size = self.tree.types.size_type();
        Some(match name {
            "memcpy" | "memmove" => (pointer.clone(), vec![pointer.clone(), pointer, size]),
            "memset" | "memchr" => (pointer.clone(), vec![pointer, int, size]),
            "memcmp" => (int, vec![pointer.clone(), pointer, size]),
            "strlen" => (size, vec![text]),
            "mempcpy" => (pointer.clone(), vec![pointer.clone(), pointer, size]),
            "bcopy" => (CType::Void, vec![pointer.clone(), pointer, size]),
            "bzero" => (CType::Void, vec![pointer, size]),
            "strcpy" | "strcat" | "stpcpy" | "strpbrk" | "strstr" => (text.clone(), vec![text.clone(), text]),
            "strncpy" | "strncat" | "stpncpy" => (text.clone(), vec![text.clone(), text, size]),
            "strspn" | "strcspn" => (size, vec![text.clone(), text]),
            "strnlen" => (size.clone(), vec![text, size]),
            "strndup" => (text.clone(), vec![text, size]),
            "strcmp" => (int, vec![text.clone(), text]),
            "strncmp" => (int, vec![text.clone(), text, size]),
            "strchr" | "strrchr" | "index" | "rindex" => (text.clone(), vec![text, int]),
            "strdup" => (text.clone(), vec![text]),
            "realloc" => (pointer.clone(), vec![pointer, size]),
            "malloc" | "alloca" => (pointer, vec![size]),
            "calloc" => (pointer, vec![size.clone(), size]),
            "free" => (CType::Void, vec![pointer]),
            "abs" => (int.clone(), vec![int]),
            "labs" => (long.clone(), vec![long]),
            "llabs" => (wide.clone(), vec![wide]),
            "abort" | "trap" | "unreachable" => (CType::Void, Vec::new()),
            "exit" | "_exit" | "_Exit" => (CType::Void, vec![int]),
            _ => return self.float_signature(name),
        })
    }

    /// The same for functions on floating-point and complex numbers.
    fn float_signature(&mut self, name: &str) -> Option<(CType, Vec<CType>)> {
        let (plain, ty) = match name.strip_suffix('f').filter(|plain| is_of_reals(plain)) {
            Some(plain) => (plain, CType::Float(4)),
            None => (name, CType::Float(8)),
        };
        Some(match plain {
            "creal" | "cimag" => (ty.clone(), vec![self.tree.types.complex_type(&ty)]),
            "conj" => {
                let complex = self.tree.types.complex_type(&ty);
                (complex.clone(), vec![complex])
            }
            _ if OF_TWO_REALS.contains(&plain) => (ty.clone(), vec![ty.clone(), ty]),
            _ if is_of_reals(plain) => (ty.clone(), vec![ty]),
            _ => return None,
        })
    }

    /// Atomic operations are plain ones, which no other thread interrupts.
    fn atomic(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        let term = self.atomic_operation(name, call)?;
        let is_plain = matches!(&term, Some(term) if term.constant().is_some());
        Ok(match term {
            Some(term) if !is_plain && self.can_have_threads() => Some(self.atomically(term)),
            term => term,
        })
    }

    fn atomic_operation(&mut self, name: &str, call: &Node<CallExpression>) -> Checked<Option<Term>> {
        let span = self.span(call);
        let short = name.trim_start_matches("__atomic_").trim_start_matches("__sync_");
        if matches!(short, "synchronize" | "thread_fence" | "signal_fence") {
            return Ok(Some(Term::new(TermKind::Constant(0), CType::INT, span)));
        }
        if call.node.arguments.is_empty() {
            return self.fail(call, format!("`{name}` takes more arguments"));
        }
        let mut values = Vec::new();
        for argument in &call.node.arguments {
            values.push(self.value(argument)?);
        }
        let is_weak = |order: &Term| order.constant() != Some(SEQ_CST);
        if name.starts_with("__atomic_") && values.last().is_some_and(is_weak) {
            self.tree.qualified.weak_order.get_or_insert(span);
        }
        let operation = |word: &str| match word {
            "add" => Some(B::Plus),
            "sub" => Some(B::Minus),
            "and" => Some(B::BitwiseAnd),
            "or" => Some(B::BitwiseOr),
            "xor" => Some(B::BitwiseXor),
            "nand" => Some(B::BitwiseAnd),
            _ => None,
        };
        let mut values = values.into_iter();
        let pointer = values.next().expect("there is one argument");
        if !pointer.ty.is_pointer() {
            return self.unsupported(call, &format!("`{name}` is"));
        }
        // A flag is a byte, whatever the pointer points to.
        let is_flag = matches!(short, "test_and_set" | "clear");
        let pointer = match is_flag {
            true => self.convert(pointer, &CType::Bool.pointer_to())?,
            false => pointer,
        };
        let compares = short.contains("compare");
        let (mut steps, pointer) = if compares { self.held(pointer) } else { (Vec::new(), pointer) };
        let place = self.deref(pointer)?;
        let update = short
            .strip_suffix("_fetch")
            .or_else(|| short.strip_suffix("_and_fetch"))
            .or_else(|| short.trim_end_matches("_and").strip_suffix("_fetch"))
            .and_then(|word| operation(word.trim_end_matches("_and")))
            .map(|op| (op, Yields::New))
            .or_else(|| {
                let word = short.strip_prefix("fetch_and_").or_else(|| short.strip_prefix("fetch_"))?;
                operation(word).map(|op| (op, Yields::Old))
            });
        let mut next = |sema: &mut Self| match values.next() {
            Some(value) => Ok(value),
            None => sema.fail(call, format!("`{name}` takes more arguments")),
        };
        if let Some((op, yields)) = update {
            let value = next(self)?;
            // A pointer moves by bytes here.
            if place.ty.is_pointer() {
                return self.unsupported(call, "atomic arithmetic on pointers is");
            }
            let mut term = self.update(place, op, value, yields, span)?;
            if short.contains("nand") {
                let TermKind::Update(_, value, _) = &mut term.kind else {
                    return self.unsupported(call, &format!("`{name}` with these arguments is"));
                };
                {
                    let ty = value.ty.clone();
                    let inner = value.clone();
                    **value = Term::new(TermKind::Unary(UnaryOp::BitNot, inner), ty, span);
                }
            }
            return Ok(Some(term));
        }
        let ty = place.ty.clone();
        let assign = |place: Term, value: Term| {
            let ty = place.ty.clone();
            Term::new(TermKind::Assign(Box::new(place), Box::new(value)), ty, span)
        };
        let term = match short {
            "load_n" => self.rvalue(place),
            "load" => {
                let target = next(self)?;
                let target = self.deref(target)?;
                let value = self.rvalue(place);
                assign(target, value)
            }
            "store_n" => {
                let value = next(self)?;
                assign(place, self.convert(value, &ty)?)
            }
            "store" => {
                let from = next(self)?;
                let from = self.deref(from)?;
                let value = self.rvalue(from);
                assign(place, value)
            }
            "exchange_n" | "lock_test_and_set" => {
                let value = next(self)?;
                let value = self.convert(value, &ty)?;
                Term::new(TermKind::Update(Box::new(place), Box::new(value), Yields::Old), ty, span)
            }
            "exchange" => {
                let (from, to) = (next(self)?, next(self)?);
                let (from, to) = (self.deref(from)?, self.deref(to)?);
                let value = self.rvalue(from);
                let swapped =
                    Term::new(TermKind::Update(Box::new(place), Box::new(value), Yields::Old), ty, span);
                assign(to, swapped)
            }
            "test_and_set" => {
                let set = Term::new(TermKind::Constant(1), CType::Bool, span);
                Term::new(TermKind::Update(Box::new(place), Box::new(set), Yields::Old), ty, span)
            }
            "lock_release" | "clear" => {
                let zero = Term::new(TermKind::Constant(0), CType::INT, span);
                assign(place, self.convert(zero, &ty)?)
            }
            "compare_exchange_n" | "compare_exchange" => {
                let (expected, value) = (next(self)?, next(self)?);
                let (more, expected) = self.held(expected);
                steps.extend(more);
                let expected = self.deref(expected)?;
                let value = if short.ends_with("_n") {
                    self.convert(value, &ty)?
                } else {
                    let from = self.deref(value)?;
                    self.rvalue(from)
                };
                // `*p == *e ? (*p = v, 1) : (*e = *p, 0)`
                let (now, wanted) = (self.rvalue(place.clone()), self.rvalue(expected.clone()));
                let same = self.combine(&B::Equals, now.clone(), wanted, span)?;
                let number = |value| Term::new(TermKind::Constant(value), CType::Bool, span);
                let pair =
                    |first, value| Term::new(TermKind::Comma(vec![first, number(value)]), CType::Bool, span);
                let then = pair(assign(place, value), 1);
                let otherwise = pair(assign(expected, now), 0);
                let kind = TermKind::Conditional(Box::new(same), Box::new(then), Box::new(otherwise));
                steps.push(Term::new(kind, CType::Bool, span));
                Term::new(TermKind::Comma(steps), CType::Bool, span)
            }
            "bool_compare_and_swap" | "val_compare_and_swap" => {
                let (wanted, value) = (next(self)?, next(self)?);
                let (wanted, value) = (self.convert(wanted, &ty)?, self.convert(value, &ty)?);
                let (more, wanted) = self.held(wanted);
                steps.extend(more);
                let (more, value) = self.held(value);
                steps.extend(more);
                let now = self.rvalue(place.clone());
                let (more, now) = self.held(now);
                steps.extend(more);
                let same = self.combine(&B::Equals, now.clone(), wanted, span)?;
                let (more, same) = self.held(same);
                steps.extend(more);
                // `*p = same ? value : now`
                let new = Term::new(
                    TermKind::Conditional(Box::new(same.clone()), Box::new(value), Box::new(now.clone())),
                    ty,
                    span,
                );
                steps.push(assign(place, new));
                let result = if short.starts_with("bool") { self.convert(same, &CType::Bool)? } else { now };
                let ty = result.ty.clone();
                steps.push(result);
                Term::new(TermKind::Comma(steps), ty, span)
            }
            _ => return self.unsupported(call, &format!("`{name}` is")),
        };
        Ok(Some(term))
    }
}

/// The number of the order `seq_cst`.
const SEQ_CST: u64 = 5;

/// Whether types that are different for us may be compatible: arrays of known and of unknown
/// length, and functions of which one has no prototype.
pub(super) fn may_be_compatible(left: &CType, right: &CType) -> bool {
    match (left, right) {
        (CType::Array(left, _), CType::Array(right, _)) => left == right || may_be_compatible(left, right),
        (CType::Pointer(left), CType::Pointer(right)) => may_be_compatible(left, right),
        (CType::Function(_), CType::Function(_)) => true,
        _ => false,
    }
}

/// Whether nothing in a type is surely `const` or the like; names may hide such words.
fn is_unqualified(name: &TypeName) -> bool {
    let plain = |specifier: &Node<SpecifierQualifier>| match &specifier.node {
        SpecifierQualifier::TypeSpecifier(ty) => match &ty.node {
            TypeSpecifier::TypeOf(of) => match &of.node {
                TypeOf::Type(inner) => is_unqualified(&inner.node),
                TypeOf::Expression(_) => false,
            },
            TypeSpecifier::TypedefName(_) => false,
            _ => true,
        },
        _ => false,
    };
    let plain_part = |part: &Node<DerivedDeclarator>| match &part.node {
        DerivedDeclarator::Pointer(qualifiers) => qualifiers.is_empty(),
        _ => false,
    };
    let declarator = name.declarator.as_ref();
    name.specifiers.iter().all(plain)
        && declarator.is_none_or(|declarator| {
            matches!(declarator.node.kind.node, DeclaratorKind::Abstract)
                && declarator.node.derived.iter().all(plain_part)
        })
}

/// Whether types that are the same for us may be different ones in C: `long` and `long long`,
/// `char` and `signed char`, enumerations and `unsigned`, and pointers to something that is `const`
/// or not.
pub(super) fn is_ambiguous(ty: &CType) -> bool {
    matches!(ty, CType::Pointer(_)) || is_ambiguous_if_unqualified(ty)
}

/// The same, if nothing in the types is `const` or the like.
fn is_ambiguous_if_unqualified(ty: &CType) -> bool {
    match ty {
        CType::Int { bits, signed } => *bits == 64 || (*bits == 8 && *signed) || (*bits == 32 && !*signed),
        CType::Float(size) => *size > 8,
        CType::Function(_) => true,
        CType::Pointer(inner) | CType::Array(inner, _) => is_ambiguous_if_unqualified(inner),
        CType::Void | CType::Bool | CType::Record(_) => false,
    }
}

//! Attributes: which ones change nothing here, and where others stand in a text.

use super::tokens::Tokens;

/// Attributes that do not change what a program does, or not beyond what is assumed anyhow: hints
/// for the optimiser, for warnings, for the linker and for debuggers, and calling conventions.
const HARMLESS: [&str; 97] = [
    "access",
    "alloc_align",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume_aligned",
    "availability",
    "cdecl",
    "cold",
    "common",
    "const",
    "copy",
    "counted_by",
    "deprecated",
    "designated_init",
    "dllexport",
    "dllimport",
    "error",
    "externally_visible",
    "fallthrough",
    "fastcall",
    "fd_arg",
    "fd_arg_read",
    "fd_arg_write",
    "flatten",
    "force_align_arg_pointer",
    "format",
    "format_arg",
    "gcc_struct",
    "gnu_inline",
    "hot",
    "internal_linkage",
    "leaf",
    "malloc",
    "may_alias",
    "ms_abi",
    "no_address_safety_analysis",
    "no_caller_saved_registers",
    "no_icf",
    "no_instrument_function",
    "no_plt",
    "no_profile_instrument_function",
    "no_reorder",
    "no_sanitize",
    "no_sanitize_address",
    "no_sanitize_coverage",
    "no_sanitize_memory",
    "no_sanitize_thread",
    "no_sanitize_undefined",
    "no_split_stack",
    "no_stack_limit",
    "no_stack_protector",
    "noclone",
    "nocf_check",
    "nocommon",
    "nodebug",
    "noinline",
    "noipa",
    "nonnull",
    "nonstring",
    "noplt",
    "nothrow",
    "null_terminated_string_arg",
    "optimize",
    "optnone",
    "patchable_function_entry",
    "pure",
    "randomize_layout",
    "no_randomize_layout",
    "regparm",
    "retain",
    "returns_nonnull",
    "section",
    "sentinel",
    "simd",
    "stack_protect",
    "stdcall",
    "strict_flex_array",
    "sysv_abi",
    "tainted_args",
    "target",
    "target_clones",
    "thiscall",
    "tls_model",
    "transparent_union",
    "unavailable",
    "uninitialized",
    "unused",
    "used",
    "visibility",
    "warn_if_not_aligned",
    "warn_unused_result",
    "warning",
    "zero_call_used_regs",
    "stack_protector",
    "btf_decl_tag",
    "btf_type_tag",
];

/// Attributes that are modelled.
const MODELLED: [&str; 10] = [
    "alias",
    "packed",
    "cleanup",
    "aligned",
    "noreturn",
    "mode",
    "constructor",
    "destructor",
    "weak",
    "vector_size",
];

/// The name of an attribute without the underscores that may surround it.
pub(crate) fn plain(name: &str) -> &str {
    name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(name)
}

/// Whether an attribute changes nothing.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&plain(name))
}

/// Whether an attribute may change what a program does in a way that is not modelled.
pub(crate) fn is_serious(name: &str) -> bool {
    !HARMLESS.contains(&plain(name)) && !MODELLED.contains(&plain(name))
}

/// The attributes of a text that may change what it does, by the places of their names.
pub(crate) fn serious(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    if !text.contains("__attribute") {
        return found;
    }
    let mut tokens = Tokens { text, at: 0 };
    while let Some((_, token)) = tokens.next() {
        if !matches!(token, "__attribute__" | "__attribute") {
            continue;
        }
        // Two parentheses, then names with arguments.
        let (mut depth, mut expected) = (0_usize, false);
        for (at, token) in tokens.by_ref() {
            match token {
                "(" => {
                    depth += 1;
                    expected = depth == 2;
                }
                ")" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                "," => expected = depth == 2,
                name => {
                    if std::mem::take(&mut expected) && is_serious(name) {
                        found.push((at, name));
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_change_nothing_are_known() {
        let text = "int f(void) __attribute__((__noreturn__, format(printf, 1, 2))) __attribute__ ((ifunc(\"g\"), cold));";
        let names: Vec<&str> = serious(text).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["ifunc"]);
        assert!(serious("int x __attribute__(());").is_empty());
        assert_eq!(serious("__attribute((ifunc(f))) int x;"), [(13, "ifunc")]);
        assert!(HARMLESS.iter().all(|name| !MODELLED.contains(name)));
    }
}

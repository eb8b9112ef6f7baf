//! What can fail, as rules of SARIF: for each kind of check its name, what it means, why it matters
//! and what can be done.

use serde_json::{Value, json};
use wherefore_explain::model::Place;

/// A kind of check.
pub(super) struct Rule {
    /// `wherefore/` and the word that answers have.
    pub id: &'static str,
    name: &'static str,
    short: &'static str,
    full: &'static str,
    help: &'static str,
    /// The number of the weakness in the Common Weakness Enumeration, if there is one.
    weakness: Option<u32>,
}

/// All kinds; the last one is for what has none of its own: rules of libraries.
pub(super) const RULES: [Rule; 18] = [
    Rule {
        id: "wherefore/assertion",
        name: "AssertionCanFail",
        short: "An assertion fails on some run.",
        full: "There is a run of the program on which the condition of an assertion is false.",
        help: "The run is the code flow of the result: it says which inputs and which steps lead there. Change the statement where the run goes wrong, or the assertion if it demands too much.",
        weakness: Some(617),
    },
    Rule {
        id: "wherefore/error-label",
        name: "ErrorLabelReachable",
        short: "A label that stands for an error is reached on some run.",
        full: "There is a run of the program that comes to a label which was named as an error.",
        help: "The run is the code flow of the result. Rule the run out before it comes to the label.",
        weakness: None,
    },
    Rule {
        id: "wherefore/error-call",
        name: "ErrorCallReachable",
        short: "A function that stands for an error is called on some run.",
        full: "There is a run of the program that calls a function which stands for an error, such as `reach_error`.",
        help: "The run is the code flow of the result. Rule the run out before it comes to the call.",
        weakness: None,
    },
    Rule {
        id: "wherefore/null",
        name: "NullPointer",
        short: "A null pointer is followed or called on some run.",
        full: "There is a run on which a pointer is null where it is followed or called. The behaviour is undefined; most programs crash.",
        help: "Test the pointer before it is used, or make sure that it is never null there. The first step of the code flow that gives it its value is where to look.",
        weakness: Some(476),
    },
    Rule {
        id: "wherefore/bounds",
        name: "OutOfBounds",
        short: "An access is outside of its array or object on some run.",
        full: "There is a run that reads or writes an element outside of its array, or memory outside of the object that a pointer points into.",
        help: "Check the index before the access, or make the array as large as the code flow shows that it must be. Comparisons with `<=` where `<` is meant are the usual reason.",
        weakness: Some(119),
    },
    Rule {
        id: "wherefore/use-after-free",
        name: "UseAfterFree",
        short: "Memory is used after it was freed on some run.",
        full: "There is a run that frees memory and then uses it through a pointer that was kept.",
        help: "Free the memory later, or set all pointers to it to null and test them. The code flow has the step that frees it.",
        weakness: Some(416),
    },
    Rule {
        id: "wherefore/use-after-scope",
        name: "UseAfterScope",
        short: "A local object is used after its scope on some run.",
        full: "There is a run that uses a local object through a pointer after the block or function has ended in which it was declared.",
        help: "Give the object static or allocated storage, or declare it in the block where the pointer lives.",
        weakness: Some(825),
    },
    Rule {
        id: "wherefore/double-free",
        name: "DoubleFree",
        short: "Memory is freed twice on some run.",
        full: "There is a run that frees the same memory a second time.",
        help: "Let one owner free the memory, or set the pointer to null when it is freed. The code flow has both steps.",
        weakness: Some(415),
    },
    Rule {
        id: "wherefore/invalid-free",
        name: "InvalidFree",
        short: "Something else than allocated memory is freed on some run.",
        full: "There is a run that frees a pointer which is not the start of memory from `malloc` and the like.",
        help: "Free the pointer that the allocation returned, unchanged, and nothing that was not allocated.",
        weakness: Some(590),
    },
    Rule {
        id: "wherefore/leak",
        name: "Leak",
        short: "Memory is not freed at the end of some run.",
        full: "There is a run on which allocated memory is not freed when the program ends.",
        help: "Free the memory on every way out, also after errors. The code flow is a way that was forgotten.",
        weakness: Some(401),
    },
    Rule {
        id: "wherefore/division",
        name: "DivisionByZero",
        short: "Some run divides by zero.",
        full: "There is a run on which the right side of `/` or `%` is zero.",
        help: "Test the divisor before the division.",
        weakness: Some(369),
    },
    Rule {
        id: "wherefore/overflow",
        name: "SignedOverflow",
        short: "Signed arithmetic overflows on some run.",
        full: "There is a run on which the result of signed arithmetic does not fit into its type. The behaviour is undefined: compilers assume that it does not happen.",
        help: "Bound the operands before, use a wider type, or use unsigned arithmetic if wrapping is meant.",
        weakness: Some(190),
    },
    Rule {
        id: "wherefore/shift",
        name: "InvalidShift",
        short: "Some run shifts by a number that is not below the width.",
        full: "There is a run that shifts by a negative number, or by the width of the type or more.",
        help: "Bound the number of places before the shift.",
        weakness: Some(1335),
    },
    Rule {
        id: "wherefore/builtin",
        name: "InvalidBuiltin",
        short: "Some run calls a function of the compiler with an argument that it must not have.",
        full: "There is a run that calls `__builtin_clz`, `__builtin_ctz` or their like with zero, or reaches `__builtin_unreachable`.",
        help: "Test the argument before the call.",
        weakness: None,
    },
    Rule {
        id: "wherefore/race",
        name: "DataRace",
        short: "Two threads race on some run.",
        full: "There is a run on which two threads access the same object at the same time, one of them writes, and nothing orders them.",
        help: "Protect both accesses by the same lock, or make the object atomic.",
        weakness: Some(362),
    },
    Rule {
        id: "wherefore/deadlock",
        name: "Deadlock",
        short: "All threads wait for each other on some run.",
        full: "There is a run on which no thread can go on.",
        help: "Take locks in the same order everywhere, and give each back on every way out.",
        weakness: Some(833),
    },
    Rule {
        id: "wherefore/lock",
        name: "LockMisused",
        short: "A lock is misused on some run.",
        full: "There is a run that takes a lock that the thread holds, or gives one back that it does not hold.",
        help: "Pair each lock with one unlock in the same thread.",
        weakness: Some(667),
    },
    Rule {
        id: "wherefore/property",
        name: "RuleBroken",
        short: "A rule about the use of a library is broken on some run.",
        full: "There is a run that calls functions of a library in an order, or with arguments, that a rule forbids.",
        help: "The message names the rule and the object. The code flow has the calls that led there.",
        weakness: None,
    },
];

impl Rule {
    /// As SARIF has it.
    pub fn descriptor(&self) -> Value {
        let mut tags = vec!["correctness".to_owned()];
        if let Some(number) = self.weakness {
            tags.push(format!("external/cwe/cwe-{number}"));
        }
        let markdown = format!("**{}**\n\n{}\n\n{}\n", self.short, self.full, self.help);
        json!({
            "id": self.id,
            "name": self.name,
            "shortDescription": { "text": self.short },
            "fullDescription": { "text": self.full },
            "help": { "text": format!("{} {}", self.full, self.help), "markdown": markdown },
            "defaultConfiguration": { "level": "error" },
            "properties": { "tags": tags, "precision": "very-high", "problem.severity": "error" },
        })
    }
}

/// The rule of a check, by its position.
pub(super) fn rule_of(place: &Place) -> usize {
    match place.kind.as_str() {
        "label" => 1,
        kind => {
            let own = RULES.iter().position(|rule| rule.id.strip_prefix("wherefore/") == Some(kind));
            own.unwrap_or(if place.is_rule() { RULES.len() - 1 } else { 2 })
        }
    }
}

//! The language of rules: what is read, what is refused and where, and what rules mean.

use wherefore_properties::{
    Argument, Effect, Event, From, Handle, Machine, Outcome, Returns, SHIPPED, Severity, monitor, parse,
};

const LOCK: &str = "property lock \"locks\"\nobject $m : int*\nstate free initial, held\n\
                    on lock($m): free -> held; held -> error \"$call: held since $since\"\n\
                    on unlock($m): held -> free\n  free -> error \"not held\"\n\
                    at exit: held -> warning \"by $origin\"\n";

#[test]
fn every_shipped_property_is_read() {
    for shipped in SHIPPED {
        let property =
            parse(&format!("{}.spec", shipped.name), shipped.text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(property.name, shipped.name);
        assert_eq!(shipped.property(), property);
    }
}

#[test]
fn parts_are_where_they_are_written() {
    let property = parse("lock.spec", LOCK).unwrap();
    assert_eq!(property.object.as_ref().map(|object| object.handle), Some(Handle::Pointer));
    assert_eq!(property.rules.len(), 2);
    assert_eq!(property.rules[0].transitions.len(), 2);
    assert!(matches!(&property.rules[0].transitions[1].from, From::States(states) if states.len() == 1));
    assert!(
        matches!(&property.at_exit[0].effect, Effect::Report(Severity::Warning, text) if text == "by $origin")
    );
    let text = "property p \"t\" // a comment\nobject $d : int\nstate a initial\n\
                on $d = f_*(_, 3, -1, NULL, $n, ...) | *$d: any -> stop if !($d < 0 || $d == 7)\n\
                model g, h returns null | fresh\nmodel die does not return\nskip log_*, *_debug\n";
    let property = parse("p.spec", text).unwrap();
    let Event::Call { arguments, more, function, .. } = &property.rules[0].patterns[0].event else {
        panic!()
    };
    assert!(function.matches("f_x") && *more);
    let numbers = [Argument::Number(3), Argument::Number(-1), Argument::Number(0)];
    assert_eq!(arguments[1..4], numbers);
    assert_eq!(property.model_of("h"), Some(Returns::FreshOrNull));
    assert_eq!(property.model_of("die"), Some(Returns::Never));
    assert!(property.skip.iter().any(|glob| glob.matches("my_debug")));
}

/// Each mistake has its line and column.
#[test]
fn mistakes_have_a_place() {
    let head = "property p \"t\"\nobject $f : FILE*\nstate a initial, b\n";
    let cases = [
        ("", "p.spec:1:1: expected `property`, found the end of the file"),
        (
            "property on \"t\"",
            "p.spec:1:10: `on` has a meaning of its own, and cannot be the name of the property",
        ),
        ("property p t", "p.spec:1:12: expected a text in quotes, found `t`"),
        ("property p \"t", "p.spec:1:12: the text has no end on this line"),
        ("property p \"t\" state a", "p.spec:1:23: one of the states must be marked `initial`"),
        ("property p \"t\" state a initial, a", "p.spec:1:33: the state `a` is declared twice"),
        ("property p \"t\" state a initial", "p.spec:1:31: the property has no rule"),
        ("@on f($f): a -> c", "p.spec:4:16: there is no state `c`"),
        ("@on f(_): a -> b", "p.spec:4:4: the object `$f` does not occur here"),
        ("@on f($f, $f): a -> b", "p.spec:4:4: `$f` is bound twice"),
        ("@on f($f): a -> b if $n == 0", "p.spec:4:21: `$n` is not bound by every pattern of this rule"),
        ("@on f($f): a -> b if $f = 0", "p.spec:4:24: expected a comparison, found `=`"),
        ("@on f($f):", "p.spec:4:10: expected a transition, such as `open -> closed`"),
        (
            "@on f($f): a -> error \"$what\"",
            "p.spec:4:22: a message may mention `$call`, `$origin` and `$since` only",
        ),
        ("@on f($f, ..., _): a -> b", "p.spec:4:15: nothing can stand behind `...`"),
        ("@model f returns 7", "p.spec:4:17: expected `fresh`, `fresh | null` or `nonnull`"),
        ("@on f($f): a -> b\nwhile", "p.spec:5:1: there is no state `while`"),
        ("@ %", "p.spec:4:2: `%` has no meaning here"),
        ("@on f($): a -> b", "p.spec:4:6: expected a name behind `$`"),
        ("@on f($f, 99999999999999999999): a -> b", "p.spec:4:10: `99999999999999999999` is no number"),
    ];
    for (text, expected) in cases {
        let text = match text.strip_prefix('@') {
            Some(rest) => format!("{head}{rest}"),
            None => text.to_owned(),
        };
        assert_eq!(parse("p.spec", &text).unwrap_err().to_string(), expected, "{text}");
    }
}

/// No text makes the reader fail in another way than with a message.
#[test]
fn any_text_is_read_or_refused() {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let words = [
        "property", "p", "\"t\"", "object", "$f", ":", "int*", "state", "a", "initial", ",", "on", "f", "(",
        ")", "->", "any", "error", "if", "==", "0", "model", "skip", "at", "exit", "*", "...", "|", "ä",
        "\"", "-", "!",
    ];
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..random(30) {
            text.push_str(words[random(words.len())]);
            text.push(if random(8) == 0 { '\n' } else { ' ' });
        }
        let _ = parse("p.spec", &text);
        // The same with one word of a good file changed.
        let mut parts: Vec<&str> = LOCK.split(' ').collect();
        let at = random(parts.len());
        parts[at] = words[random(words.len())];
        let _ = parse("p.spec", &parts.join(" "));
    }
}

#[test]
fn objects_have_states_of_their_own() {
    let property = parse("lock.spec", LOCK).unwrap();
    let mut machine = Machine::new(&property);
    let goes = Outcome::Goes(Vec::new());
    assert_eq!(machine.call("lock", &[1], None, 10), goes);
    assert_eq!(machine.call("lock", &[2], None, 11), goes);
    assert_eq!(machine.call("other", &[1], None, 12), goes);
    assert_eq!(machine.call("unlock", &[1], None, 13), goes);
    assert_eq!(machine.call("lock", &[1], None, 14), goes);
    let Outcome::Fails(reported) = machine.call("lock", &[2], None, 15) else { panic!() };
    assert_eq!((reported.origin, reported.since), (11, 11));
    assert!(matches!(machine.call("unlock", &[3], None, 16), Outcome::Fails(_)));
    assert_eq!(machine.exit().iter().map(|reported| reported.origin).collect::<Vec<_>>(), [14, 11]);
}

#[test]
fn monitors_know_the_functions_of_the_rules() {
    let property = parse("lock.spec", LOCK).unwrap();
    let around = monitor::around(&property, "lock", 1).unwrap();
    assert_eq!((around.before.as_str(), around.after.as_str()), ("  wherefore_rule_0(caller, a0);\n", ""));
    assert_eq!(monitor::around(&property, "lock", 2), None);
    assert!(monitor::definitions(&property).contains("wherefore_rule_1"));
}

//! Backtraces in the forms that tools print, texts that are none, and stacks that do not fit.

use wherefore_frontend::parse;
use wherefore_program::{Language, ViolationKind};
use wherefore_trace::{Backtrace, Sites, Value, fit};

fn read(text: &str) -> Backtrace {
    Backtrace::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The frames as `function file line`.
fn frames(stack: &Backtrace) -> Vec<String> {
    let frame = |frame: &wherefore_trace::Frame| {
        let line = frame.line.map_or("-".to_owned(), |line| line.to_string());
        format!(
            "{} {} {line}",
            frame.function.as_deref().unwrap_or("??"),
            frame.file.as_deref().unwrap_or("-")
        )
    };
    stack.frames.iter().map(frame).collect()
}

#[test]
fn gdb() {
    let stack = read(
        "Program received signal SIGABRT, Aborted.\n\
         __pthread_kill_implementation (threadid=<optimized out>) at ./nptl/pthread_kill.c:44\n\
         44\t./nptl/pthread_kill.c: No such file or directory.\n\
         #0  __pthread_kill_implementation (threadid=<optimized out>, signo=signo@entry=6) at ./nptl/pthread_kill.c:44\n\
         #1  0x00007ffff7e0ffb2 in __GI_raise (sig=sig@entry=6) at ../sysdeps/posix/raise.c:26\n\
         #2  0x00007ffff7e08ec2 in __GI___assert_fail (assertion=0x555555556009 \"n < 3 (or so\", file=0x4 \"as.c\", \n    \
         line=4, function=0x55555555600f <__PRETTY_FUNCTION__.0> \"f\") at ./assert/assert.c:103\n\
         #3  0x0000555555555172 in f (n=5, p=0x0, q=0x7ffe1) at as.c:4\n        x = 7\n        s = {a = 1}\n\
         #4  0x0000555555555193 in main (argc=1, argv=0x7fffffffe808) at /home/me/as.c:7\nNo locals.\n\
         #5  0x1 in other () from /lib/libother.so.6\n(More stack frames follow...)\n",
    );
    assert_eq!(
        frames(&stack)[2..],
        ["__GI___assert_fail ./assert/assert.c 103", "f as.c 4", "main /home/me/as.c 7", "other - -"]
    );
    assert_eq!(stack.frames[0].arguments[1], ("signo".to_owned(), Value::Number(6)));
    let values: Vec<&Value> = stack.frames[3].arguments.iter().map(|(_, value)| value).collect();
    assert_eq!(values, [&Value::Number(5), &Value::Number(0), &Value::NotNull]);
    assert_eq!(stack.frames[5].module.as_deref(), Some("/lib/libother.so.6"));
    assert_eq!(stack.happened.as_ref().map(|happened| happened.words.as_str()), Some("SIGABRT"));
    assert!(stack.is_open);
}

#[test]
fn lldb() {
    let stack = read(
        "* thread #1, queue = 'com.apple.main-thread', stop reason = EXC_BAD_ACCESS (code=1, address=0x8)\n  \
         * frame #0: 0x0000000100003f5a list`last(l=0x0000000000000000, depth=3) at list.c:6:22 [opt]\n    \
         frame #1: 0x0000000100003f6b list`main at list.c:13:10\n    \
         frame #2: 0x00007fff20345f3d libdyld.dylib`start + 1\n",
    );
    assert_eq!(frames(&stack), ["last list.c 6", "main list.c 13", "start - -"]);
    assert_eq!(stack.frames[0].arguments[0].1, Value::Number(0));
    assert_eq!(stack.happened.map(|happened| happened.kinds[0]), Some(ViolationKind::Null));
}

#[test]
fn address_sanitizer() {
    let stack = read(
        "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x4 bp 0x7 sp 0x7\n\
         READ of size 4 at 0x602 thread T0\n    \
         #0 0x7f12 in __interceptor_memcpy ../../../../src/libsanitizer/asan/asan_interceptors.cpp:827\n    \
         #1 0x55ab in get folder/a.c:12:3\n    #2 0x55ac in main (/home/me/a.out+0x1140) (BuildId: 12ab)\n    \
         #3 0x7f13 in __libc_start_main ../csu/libc-start.c:360\n    #4 0x55ad  (/home/me/a.out+0x11)\n\n\
         0x602 is located 0 bytes inside of 4-byte region\nfreed by thread T0 here:\n    \
         #0 0x7f14 in __interceptor_free x.cpp:52\n    #1 0x55ae in drop folder/a.c:30\n\n\
         previously allocated by thread T0 here:\n    #0 0x7f15 in malloc x.cpp:69\n    #1 0x1 in main a.c:3\n",
    );
    assert_eq!(frames(&stack)[1..3], ["get folder/a.c 12", "main - -"]);
    assert_eq!((stack.frames.len(), stack.others, stack.is_open), (5, 2, false));
    let happened = stack.happened.expect("it says what happened");
    assert_eq!(
        (happened.words.as_str(), happened.kinds),
        ("heap-use-after-free", vec![ViolationKind::UseAfterFree])
    );
}

#[test]
fn undefined_behaviour_sanitizer() {
    let with = read(
        "ub.c:3:11: runtime error: index 8 out of bounds for type 'int [8]'\n    \
         #0 0x55c6 in f /tmp/ub.c:3\n    #1 0x55c7 in main /tmp/ub.c:5\n",
    );
    assert_eq!(frames(&with), ["f /tmp/ub.c 3", "main /tmp/ub.c 5"]);
    assert_eq!(with.happened.map(|happened| happened.kinds), Some(vec![ViolationKind::Bounds]));
    let without = read("ub.c:3:11: runtime error: division by zero\n");
    assert_eq!((frames(&without), without.is_open), (vec!["?? ub.c 3".to_owned()], true));
}

#[test]
fn the_c_library_and_addr2line() {
    let stack = read(
        "./prog(f+0x1a) [0x401136]\n./prog(+0x1139) [0x401139]\n./prog(main+0x9) [0x401150]\n\
         /lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0xe7) [0x7f1]\n",
    );
    assert_eq!(frames(&stack), ["f - -", "?? - -", "main - -", "__libc_start_main - -"]);
    let stack = read(
        "f at /src/a.c:12\n (inlined by) g at /src/a.c:30 (discriminator 2)\nmain at /src/a.c:40\n?? at ??:0\n",
    );
    assert_eq!(frames(&stack), ["f /src/a.c 12", "g /src/a.c 30", "main /src/a.c 40", "?? - 0"]);
}

#[test]
fn what_is_no_backtrace() {
    let refused = |text: &str| Backtrace::parse(text).expect_err("it is none").to_string();
    assert!(refused("").starts_with("1:1: no frame of a stack was found"));
    assert!(refused("it crashed\nhelp\n").contains("no frame"));
    assert!(
        refused("#0  f () at a.c:1\n#1  0xzz in g () at a.c:2\n").starts_with("2:3: a function is expected")
    );
    assert!(refused("#0  f () at a.c:1\n#2  main () at a.c:9\n").starts_with("2:1: frame #1 is missing"));
    assert!(refused("  frame #x: f\n").contains("no frame number"));
    // Whatever the text is, there is no panic.
    for text in [
        "#",
        "#0",
        "#0 ",
        "#0 0x",
        "#0 (",
        "#0 f (",
        "frame #",
        "a(b [0x1]",
        "at :",
        "#99999999999 f",
        "#0 f (n=\"é",
    ] {
        let _ = Backtrace::parse(text);
    }
}

#[test]
fn stacks_that_do_not_fit() {
    let text =
        "decl g;\nvoid f()\nbegin\n  g := T;\n  g := F;\nend\nvoid main()\nbegin\n  f();\n  skip;\nend\n";
    let task = parse(Language::Boolean, "small.bp", text, None).unwrap();
    let why = |text: &str| fit(&task.program, &read(text)).expect_err("it does not fit").to_string();
    assert!(why("#0  h () at small.bp:4\n#1  main () at small.bp:9\n").contains("there is no function `h`"));
    assert!(why("#0  f () at small.bp:20\n#1  main () at small.bp:9\n").contains("line 20 is not in `f`"));
    assert!(
        why("#0  f () at other.bp:4\n#1  main () at small.bp:9\n")
            .contains("`f` is in small.bp, not in other.bp")
    );
    let call = why("#0  f () at small.bp:4\n#1  main () at small.bp:10\n");
    assert_eq!(call, "frame #1 does not fit this program: `main` has no call of `f` on line 10");
    assert!(why("#0  abort () at abort.c:1\n").contains("no frame of the stack is in this program"));
    let fitted = fit(
        &task.program,
        &read("#0  abort () from /lib/libc.so.6\n#1  f () at small.bp:5\n#2  main () at small.bp:9\n#3  __libc_start_main () at x.c:3\n"),
    )
    .unwrap();
    assert_eq!((fitted.skipped, fitted.is_open, fitted.frames.len()), (vec![0, 3], false, 2));
    assert!(matches!(&fitted.frames[1].sites, Sites::Calls(edges) if edges.len() == 1));
    let open = fit(&task.program, &read("#0  f () at small.bp:5\n")).unwrap();
    assert!(open.is_open && open.notes[0].contains("any calls may lie below"));
}

#[test]
fn unknown_frames_between_others_may_be_any() {
    let text = "decl g;\nvoid f()\nbegin\n  g := T;\nend\nvoid h()\nbegin\n  f();\nend\nvoid main()\nbegin\n  h();\n  skip;\nend\n";
    let task = parse(Language::Boolean, "small.bp", text, None).unwrap();
    let length = |text: &str| {
        let fitted = fit(&task.program, &read(text)).unwrap();
        let evidence = wherefore_trace::Evidence::default();
        let found = wherefore_trace::search(&task.program, &fitted, &evidence, &Default::default()).unwrap();
        found.path.map(|path| path.way.cost)
    };
    assert_eq!(length("#0  f () at small.bp:4\n#1  0x1 in ?? ()\n#2  main () at small.bp:12\n"), Some(3));
    assert_eq!(
        length(
            "#0  f () at small.bp:4\n#1  qsort () from libc.so.6\n#2  h () at small.bp:8\n#3  main () at small.bp:12\n"
        ),
        Some(3)
    );
    let direct = fit(&task.program, &read("#0  f () at small.bp:4\n#1  main () at small.bp:12\n"));
    assert!(direct.is_err(), "without such a frame, the call is missing");
}

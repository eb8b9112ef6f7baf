//! `wherefore lsp`, by a client that starts the binary and speaks the protocol.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A server that says nothing for so long says nothing at all.
const PATIENCE: Duration = Duration::from_secs(120);

/// An editor.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications that were not asked for yet.
    kept: Vec<Value>,
    last: i64,
    folder: PathBuf,
}

impl Client {
    /// Starts the server in a fresh folder with files.
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("wherefore-lsp-{}-{name} ü", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
            fs::write(path, text).expect("the file is written");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        command.current_dir(&folder).args(["lsp", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut output = BufReader::new(child.stdout.take().expect("an output"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = next(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages, kept: Vec::new(), last: 0, folder }
    }

    /// The same with a session that has begun.
    fn ready(name: &str, files: &[(&str, &str)], options: Value) -> Self {
        let mut client = Self::new(name, files);
        let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options });
        let result = client.request("initialize", params);
        assert_eq!(result["result"]["capabilities"]["hoverProvider"], true, "{result}");
        assert_eq!(result["result"]["serverInfo"]["name"], "wherefore");
        client.notify("initialized", json!({}));
        client
    }

    fn uri(&self, file: &str) -> String {
        let path = self.folder.join(file).display().to_string();
        format!("file://{}", path.replace(' ', "%20").replace('ü', "%C3%BC"))
    }

    fn send_raw(&mut self, text: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_raw(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    #[track_caller]
    fn receive(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server says something")
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// Waits for diagnostics of a file that something holds of.
    #[track_caller]
    fn diagnostics(&mut self, file: &str, holds: impl Fn(&Value) -> bool) -> Vec<Value> {
        let uri = self.uri(file);
        loop {
            let message = if self.kept.is_empty() { self.receive() } else { self.kept.remove(0) };
            let params = &message["params"];
            let is_about = message["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri;
            if is_about && holds(params) {
                return params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    fn open(&mut self, file: &str, text: &str) {
        let document = json!({ "uri": self.uri(file), "languageId": "c", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, file: &str, version: i64, text: &str) {
        let document = json!({ "uri": self.uri(file), "version": version });
        let changes = json!([{ "text": text }]);
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    #[track_caller]
    fn hover(&mut self, file: &str, line: u32) -> String {
        let params = json!({ "textDocument": { "uri": self.uri(file) }, "position": { "line": line, "character": 4 } });
        let answer = self.request("textDocument/hover", params);
        answer["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn actions(&mut self, file: &str, line: u32, diagnostics: &[Value]) -> Vec<Value> {
        let place = json!({ "line": line, "character": 5 });
        let params = json!({
            "textDocument": { "uri": self.uri(file) },
            "range": { "start": place, "end": place },
            "context": { "diagnostics": diagnostics },
        });
        self.request("textDocument/codeAction", params)["result"].as_array().expect("a list").clone()
    }

    /// Ends the session, and tells the exit code.
    #[track_caller]
    fn close(mut self) -> Option<i32> {
        let answer = self.request("shutdown", Value::Null);
        assert_eq!(answer.get("result"), Some(&Value::Null), "{answer}");
        let late = self.request("textDocument/hover", json!({}));
        assert_eq!(late["error"]["code"], -32600, "{late}");
        self.notify("exit", Value::Null);
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The next message of a stream.
fn next(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

const FAILING: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int limit(int x)
{
    return x > 10 ? 10 : x;
}
int main(void)
{
    int got = __VERIFIER_nondet_int();
    int kept = limit(got);
    if (kept == 7)
        reach_error();
    return 0;
}
";

const SAFE: &str = "\
extern void reach_error(void);
int main(void)
{
    int kept = 3;
    if (kept == 7)
        reach_error();
    return 0;
}
";

/// The example of the README.
fn history() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/history.c")).expect("the example")
}

#[test]
fn a_failing_check_is_an_error_with_the_steps_that_matter() {
    let mut client = Client::ready("failing", &[("main.c", FAILING)], json!({ "timeout": 100 }));
    client.open("main.c", FAILING);
    let found =
        client.diagnostics("main.c", |params| params["diagnostics"][0]["relatedInformation"].is_array());
    assert_eq!(found.len(), 1, "{found:?}");
    let only = &found[0];
    assert_eq!((&only["severity"], &only["code"]), (&json!(1), &json!("error-call")), "{only}");
    assert_eq!(only["message"], "`reach_error` can be called here");
    assert_eq!(only["range"]["start"], json!({ "line": 11, "character": 8 }));
    let steps = only["relatedInformation"].as_array().expect("a list");
    let messages: Vec<&str> = steps.iter().filter_map(|step| step["message"].as_str()).collect();
    assert!(messages.iter().any(|message| message.ends_with("if (kept == 7): true")), "{messages:?}");
    assert!(steps.iter().all(|step| step["location"]["uri"] == client.uri("main.c").as_str()), "{steps:?}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn hover_tells_checks_values_and_conditions() {
    let mut client = Client::ready("hover", &[("main.c", FAILING)], json!({ "timeout": 100 }));
    client.open("main.c", FAILING);
    client
        .diagnostics("main.c", |params| params["diagnostics"].as_array().is_some_and(|list| list.len() == 1));
    let text = client.hover("main.c", 11);
    assert!(text.contains("**can fail**") && text.contains("`kept = 7`"), "{text}");
    // The explanation comes after the verdict; its report is followed by another request for lenses.
    let mut text = client.hover("main.c", 10);
    while !text.contains("From here it fails with: `kept == 7`") {
        client.diagnostics("main.c", |_| true);
        text = client.hover("main.c", 10);
    }
    assert!(text.contains("which comes here once"), "{text}");
    assert_eq!(client.hover("main.c", 2), "", "a line without statements");
    client.change("main.c", 2, &format!("{FAILING}\n"));
    assert_eq!(client.hover("main.c", 11), "", "the old text is no longer there");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn lenses_stand_on_the_functions_of_a_failing_run_and_show_it() {
    let mut client = Client::ready("lens", &[("main.c", FAILING)], json!({ "timeout": 100 }));
    client.open("main.c", FAILING);
    client
        .diagnostics("main.c", |params| params["diagnostics"].as_array().is_some_and(|list| list.len() == 1));
    let params = json!({ "textDocument": { "uri": client.uri("main.c") } });
    let lenses = client.request("textDocument/codeLens", params)["result"].clone();
    let of = |line: u64| {
        let mut all = lenses.as_array().expect("a list").iter();
        let lens = all.find(|lens| lens["range"]["start"]["line"] == line).unwrap_or(&Value::Null);
        lens["command"].clone()
    };
    for function in [2, 6] {
        let title = of(function)["title"].to_string();
        assert!(title.starts_with("\"a failing run goes through here ("), "{lenses}");
    }
    let ends = of(11);
    assert!(ends["title"].to_string().starts_with("\"a failing run ends here ("), "{lenses}");
    let arguments = json!({ "command": ends["command"], "arguments": ends["arguments"] });
    let run = client.request("workspace/executeCommand", arguments)["result"].clone();
    let last = run["steps"].as_array().and_then(|steps| steps.last()).expect("steps");
    assert_eq!(last["location"]["range"]["start"]["line"], 11, "{run}");
    assert_eq!(last["values"]["kept"], "7", "{run}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_fix_is_offered_that_was_checked() {
    let text = history();
    let mut client = Client::ready("fix", &[("history.c", &text)], json!({ "timeout": 100 }));
    client.open("history.c", &text);
    let found = client.diagnostics("history.c", |params| {
        params["diagnostics"].as_array().is_some_and(|list| list.len() == 1)
    });
    assert_eq!(found[0]["code"], "bounds", "{found:?}");
    let line = found[0]["range"]["start"]["line"].as_u64().expect("a line") as u32;
    let mut actions = client.actions("history.c", line, &found);
    while actions.is_empty() {
        client.diagnostics("history.c", |_| true);
        actions = client.actions("history.c", line, &found);
    }
    assert_eq!(actions.len(), 1, "{actions:?}");
    let action = &actions[0];
    assert_eq!(action["title"], "change `<=` to `<` on line 15: the check then holds");
    assert_eq!(action["diagnostics"], json!(found), "the error that it mends");
    let edits = action["edit"]["changes"][client.uri("history.c")].as_array().expect("edits").clone();
    assert_eq!(edits.len(), 1, "{edits:?}");
    let range = json!({ "start": { "line": 14, "character": 16 }, "end": { "line": 14, "character": 18 } });
    assert_eq!((&edits[0]["range"], &edits[0]["newText"]), (&range, &json!("<")), "{edits:?}");
    assert!(client.actions("history.c", 1, &[]).is_empty(), "other lines have no fix");
    // With the fix, as text that is not saved, nothing fails.
    client.change("history.c", 2, &text.replace("h->used <= KEPT", "h->used < KEPT"));
    client.diagnostics("history.c", |params| params["version"] == 2 && params["diagnostics"] == json!([]));
    assert_eq!(client.close(), Some(0));
}

#[test]
fn unsaved_text_is_checked_with_its_headers_and_places() {
    let saved = "#include \"own.h\"\nint main(void) { return 0; }\n";
    let files = [("src/main.c", saved), ("src/own.h", "#define SEVEN 7\nextern void reach_error(void);\n")];
    let mut client = Client::ready("unsaved", &files, json!({ "pause": 0.01, "timeout": 100 }));
    client.open("src/main.c", saved);
    client.diagnostics("src/main.c", |params| params["version"] == 1);
    let unsaved = "#include \"own.h\"\n\nint main(void) { int x = SEVEN;\n  const char *s = \"\u{1F600}\"; if (x == 7 && s) reach_error(); return 0; }\n";
    client.change("src/main.c", 2, unsaved);
    let found = client.diagnostics("src/main.c", |params| {
        params["version"] == 2 && params["diagnostics"].as_array().is_some_and(|list| !list.is_empty())
    });
    assert_eq!(found[0]["range"]["start"], json!({ "line": 3, "character": 41 }), "{found:?}");
    client.change("src/main.c", 3, "#include \"none.h\"\nint main(void) { return 0; }\n");
    let found = client.diagnostics("src/main.c", |params| params["version"] == 3);
    assert_eq!(found[0]["code"], "front-end", "{found:?}");
    assert_eq!(found[0]["range"]["start"]["line"], 0, "{found:?}");
    assert!(found[0]["message"].to_string().contains("none.h"), "{found:?}");
    client.change("src/main.c", 4, "int main(void)\n{\n    int x = 3\n    return x;\n}\n");
    let found = client.diagnostics("src/main.c", |params| params["version"] == 4);
    assert!(found[0]["message"].to_string().contains("`;` seems to be missing"), "{found:?}");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 2, "character": 13 }), "{found:?}");
    client.change("src/main.c", 5, "int other(void) { return 1; }\n");
    let found = client.diagnostics("src/main.c", |params| params["version"] == 5);
    assert_eq!((&found[0]["severity"], &found[0]["code"]), (&json!(3), &json!("not-checked")), "{found:?}");
    assert!(found[0]["message"].to_string().contains("there is no function `main`"), "{found:?}");
    assert_eq!(fs::read_to_string(client.folder.join("src/main.c")).expect("the file"), saved);
    assert_eq!(client.close(), Some(0));
}

/// To fail, two factors of a product of large primes must be found.
const HARD: &str = "extern unsigned long __VERIFIER_nondet_ulong(void);\nextern void reach_error(void);\nint main(void) {\n unsigned long x = __VERIFIER_nondet_ulong(), y = __VERIFIER_nondet_ulong();\n if (x > 1 && y > 1 && x < 4294967296UL && y < 4294967296UL && x * y == 4611685975477714963UL) reach_error();\n return 0;\n}\n";

#[test]
fn checks_that_were_not_decided_are_hints_if_they_are_wanted() {
    let settings = json!({ "timeout": 0.05, "showUnknown": true });
    let mut client = Client::ready("unknown", &[("main.c", HARD)], settings);
    client.open("main.c", HARD);
    let found = client.diagnostics("main.c", |params| params["diagnostics"] != json!([]));
    assert_eq!((&found[0]["severity"], &found[0]["code"]), (&json!(4), &json!("error-call")), "{found:?}");
    assert!(found[0]["message"].to_string().contains("not decided"), "{found:?}");
    let settings = json!({ "settings": { "wherefore": { "showUnknown": false } } });
    client.notify("workspace/didChangeConfiguration", settings);
    client.diagnostics("main.c", |params| params["diagnostics"] == json!([]));
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_change_stops_the_check_of_the_old_text() {
    let mut client = Client::ready("cancel", &[("main.c", HARD)], json!({ "timeout": 100_000, "pause": 0 }));
    client.open("main.c", HARD);
    // A request is answered while the check runs.
    assert_eq!(client.hover("main.c", 4), "");
    client.change("main.c", 2, FAILING);
    let found = client.diagnostics("main.c", |params| params["version"] == 2);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn settings_are_heeded_and_can_change() {
    let text = "extern int __VERIFIER_nondet_int(void);\nint main(void) {\n int a = __VERIFIER_nondet_int(); int *p = 0;\n if (a == 1) return *p;\n return a > 1 ? a + 2147483647 : 0; }\n";
    let options = json!({ "checks": ["null"], "options": "-DX=1", "timeout": 100 });
    let mut client = Client::ready("settings", &[("main.c", text)], options);
    client.open("main.c", text);
    let found = client.diagnostics("main.c", |params| {
        params["diagnostics"].as_array().is_some_and(|list| !list.is_empty())
    });
    let kinds: Vec<&Value> = found.iter().map(|one| &one["code"]).collect();
    assert_eq!(kinds, ["null"]);
    let settings = json!({ "settings": { "wherefore": { "checks": ["overflow"] } } });
    client.notify("workspace/didChangeConfiguration", settings);
    client.diagnostics("main.c", |params| params["diagnostics"][0]["code"] == "overflow");
    let settings = json!({ "settings": { "wherefore": { "options": ["--no-such-option"] } } });
    client.notify("workspace/didChangeConfiguration", settings);
    let found = client.diagnostics("main.c", |params| params["diagnostics"][0]["code"] == "not-checked");
    assert!(found[0]["message"].to_string().contains("--no-such-option"), "{found:?}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn unsaved_text_of_a_project_has_the_flags_of_its_file() {
    let database =
        r#"[{ "directory": "..", "command": "cc -DN=7 -Iinc -c src/main.c", "file": "src/main.c" }]"#;
    let saved = "int main(void) { return N; }\n";
    let files = [
        ("src/main.c", saved),
        ("inc/fail.h", "extern void reach_error(void);\n"),
        ("build/compile_commands.json", database),
    ];
    let options = json!({ "options": ["--project", "build"], "pause": 0.01, "timeout": 100 });
    let mut client = Client::ready("project", &files, options);
    client.open("src/main.c", saved);
    client.diagnostics("src/main.c", |params| params["version"] == 1 && params["diagnostics"] == json!([]));
    client.change(
        "src/main.c",
        2,
        "#include <fail.h>\nint main(void) {\n  if (N == 7) reach_error();\n  return 0; }\n",
    );
    let found = client.diagnostics("src/main.c", |params| params["version"] == 2);
    assert_eq!(
        (&found[0]["code"], &found[0]["range"]["start"]["line"]),
        (&json!("error-call"), &json!(2)),
        "{found:?}"
    );
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_failing_check_in_a_header_is_shown_there_and_goes_with_its_text() {
    let header = "extern void reach_error(void);\nstatic void fail(int x)\n{\n    if (x) reach_error();\n}\n";
    let main = "#include \"fail.h\"\nint main(void) { fail(1); return 0; }\n";
    let mut client =
        Client::ready("header", &[("main.c", main), ("fail.h", header)], json!({ "timeout": 100 }));
    client.open("main.c", main);
    let found = client.diagnostics("fail.h", |params| params["diagnostics"] != json!([]));
    assert_eq!(found[0]["range"]["start"]["line"], 3, "{found:?}");
    let document = json!({ "uri": client.uri("main.c") });
    client.notify("textDocument/didClose", json!({ "textDocument": document }));
    client.diagnostics("fail.h", |params| params["diagnostics"] == json!([]));
    assert_eq!(client.close(), Some(0));
}

#[test]
fn failing_schedules_are_shown_and_repaired() {
    let text = "\
#include <pthread.h>
#include <assert.h>
int shared;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *adder(void *unused)
{
    int seen;
    seen = shared;
    pthread_mutex_lock(&m);
    shared = seen + 1;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, adder, 0);
    pthread_create(&b, 0, adder, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared == 2);
    return 0;
}
";
    let mut client = Client::ready("threads", &[("main.c", text)], json!({ "timeout": 100 }));
    client.open("main.c", text);
    let found = client.diagnostics("main.c", |params| params["diagnostics"] != json!([]));
    assert_eq!(found[0]["message"], "this assertion can fail", "{found:?}");
    let steps = found[0]["relatedInformation"].to_string();
    assert!(steps.contains("thread 1 (adder): seen = shared"), "{steps}");
    let mut actions = client.actions("main.c", 20, &found);
    while actions.is_empty() {
        client.diagnostics("main.c", |_| true);
        actions = client.actions("main.c", 20, &found);
    }
    let edits = actions[0]["edit"]["changes"][client.uri("main.c")].as_array().expect("edits").clone();
    let new: Vec<&Value> = edits.iter().map(|edit| &edit["newText"]).collect();
    assert_eq!(new, ["pthread_mutex_lock(&m);", "seen = shared;"], "{actions:?}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn what_is_no_message_is_refused_and_the_session_goes_on() {
    let mut client = Client::new("malformed", &[("main.c", SAFE)]);
    let early = client.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    client.send_raw("Content-Length: 3\r\n\r\n{,}");
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.send_raw("Content-Length: many\r\n\r\n");
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.send(&json!([1, 2]));
    assert_eq!(client.receive()["error"]["code"], -32600);
    let answer = client.request("initialize", json!({ "initializationOptions": { "timeout": "soon" } }));
    assert!(answer["result"]["capabilities"].is_object(), "{answer}");
    let again = client.request("initialize", json!({}));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    let unknown = client.request("textDocument/paint", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    for params in
        [json!(null), json!({}), json!({ "textDocument": 3 }), json!({ "textDocument": { "uri": "x" } })]
    {
        for method in [
            "textDocument/hover",
            "textDocument/codeLens",
            "textDocument/codeAction",
            "workspace/executeCommand",
        ] {
            let answer = client.request(method, params.clone());
            let is_answered = answer.get("result").is_some() || answer["error"]["code"] == -32602;
            assert!(is_answered, "{method} {params}: {answer}");
        }
        for method in [
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didSave",
            "textDocument/didClose",
            "$/progress",
            "none",
        ] {
            client.notify(method, params.clone());
        }
    }
    let place = json!({ "line": u64::MAX, "character": -1 });
    let far = json!({ "textDocument": { "uri": client.uri("main.c") }, "position": place });
    assert_eq!(client.request("textDocument/hover", far)["error"]["code"], -32602);
    client.open("main.c", SAFE);
    let found = client.diagnostics("main.c", |params| params["version"] == 1);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn an_editor_that_goes_away_ends_the_server() {
    let mut client = Client::ready("gone", &[("main.c", SAFE)], json!({ "timeout": 100 }));
    client.input = None;
    assert_eq!(client.child.wait().expect("it ends").code(), Some(1));
    let mut client = Client::ready("exit", &[("main.c", SAFE)], json!({ "timeout": 100 }));
    client.notify("exit", Value::Null);
    assert_eq!(client.child.wait().expect("it ends").code(), Some(1));
}

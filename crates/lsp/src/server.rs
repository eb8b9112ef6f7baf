//! The loop over messages of the client, answers of the analyst, and the clock.
//!
//! One text is checked at a time: the machine is the user's. A text that changes stops the check of
//! its old version; the new one is checked when the user pauses.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::analyst::{Analyst, Outcome, Question};
use crate::diagnostics::{Undecided, diagnostics};
use crate::documents::{Document, is_checked, path_of, uri_of};
use crate::framing::{self, Frame};
use crate::protocol::{
    Failure, INVALID_PARAMS, INVALID_REQUEST, Incoming, NOT_INITIALIZED, PARSE_ERROR, answer, notification,
};
use crate::requests::{self, Known};
use crate::settings::Settings;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By `shutdown` and `exit`.
    Orderly,
    /// By `exit` without `shutdown`, or because the client has gone away.
    Abrupt,
}

/// Serves a client until it ends the session. `settings` are those that the client has not set.
pub fn serve(
    mut input: impl BufRead + Send + 'static,
    output: impl Write,
    settings: Settings,
    analyst: Arc<dyn Analyst>,
) -> io::Result<Ending> {
    let (sender, events) = channel();
    let frames = sender.clone();
    std::thread::spawn(move || {
        loop {
            let frame = framing::read(&mut input).unwrap_or(Frame::End);
            let is_over = frame == Frame::End;
            if frames.send(Event::Frame(frame)).is_err() || is_over {
                return;
            }
        }
    });
    let server = Server {
        output,
        analyst,
        sender,
        settings,
        phase: Phase::New,
        can_refresh: false,
        requests: 0,
        documents: BTreeMap::new(),
        due: BTreeMap::new(),
        running: None,
    };
    server.run(&events)
}

/// Something that happened.
enum Event {
    /// The client has sent something.
    Frame(Frame),
    /// The analyst has a report about a version of a text.
    Report { uri: String, version: i64, outcome: Outcome },
    /// A check is over.
    Over { failed: bool },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Open,
    /// After `shutdown`.
    Closing,
}

/// A text with what is known about it.
struct Open {
    document: Document,
    /// What is known of this very text.
    outcome: Option<Outcome>,
    /// The diagnostics that are shown because of it, by file.
    shown: BTreeMap<PathBuf, Vec<Value>>,
}

/// The check that is running.
struct Running {
    uri: String,
    cancel: Arc<AtomicBool>,
}

struct Server<W> {
    output: W,
    analyst: Arc<dyn Analyst>,
    sender: Sender<Event>,
    settings: Settings,
    phase: Phase,
    /// Whether the client takes the request to ask for lenses again.
    can_refresh: bool,
    /// Requests of ours so far.
    requests: u64,
    documents: BTreeMap<String, Open>,
    /// When texts are to be checked.
    due: BTreeMap<String, Instant>,
    running: Option<Running>,
}

impl<W: Write> Server<W> {
    fn run(mut self, events: &Receiver<Event>) -> io::Result<Ending> {
        loop {
            self.start_check();
            let next = self.due.values().min().filter(|_| self.running.is_none()).copied();
            let event = match next {
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => events.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match event {
                Err(RecvTimeoutError::Timeout) => {}
                // The server keeps a sender itself.
                Err(RecvTimeoutError::Disconnected) => return Ok(Ending::Abrupt),
                Ok(Event::Report { uri, version, outcome }) => self.report(&uri, version, outcome)?,
                Ok(Event::Over { failed }) => {
                    let over = self.running.take();
                    if let Some(over) = over.filter(|_| failed) {
                        eprintln!("wherefore lsp: the check of {} has failed: this is a defect", over.uri);
                    }
                }
                Ok(Event::Frame(Frame::End)) => return Ok(self.end()),
                Ok(Event::Frame(Frame::Malformed(wrong))) => {
                    eprintln!("wherefore lsp: {wrong}");
                    self.send(&answer(&Value::Null, Err(Failure::new(PARSE_ERROR, wrong))))?;
                }
                Ok(Event::Frame(Frame::Message(message))) => match Incoming::of(message) {
                    Incoming::Request { id, method, params } => {
                        let result = self.request(&method, &params);
                        self.send(&answer(&id, result))?;
                    }
                    Incoming::Notification { method, .. } if method == "exit" => return Ok(self.end()),
                    Incoming::Notification { method, params } => self.notice(&method, &params)?,
                    Incoming::Answer => {}
                    Incoming::Invalid(id) => {
                        let failure =
                            Failure::new(INVALID_REQUEST, "this is neither a request nor an answer");
                        self.send(&answer(&id, Err(failure)))?;
                    }
                },
            }
        }
    }

    fn end(&mut self) -> Ending {
        self.stop(None);
        if self.phase == Phase::Closing { Ending::Orderly } else { Ending::Abrupt }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        framing::write(&mut self.output, message)
    }

    /// Stops the running check: that of a text, or any.
    fn stop(&mut self, uri: Option<&str>) {
        if let Some(running) = self.running.as_ref().filter(|one| uri.is_none_or(|uri| one.uri == uri)) {
            running.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Starts the check that is due, if none is running.
    fn start_check(&mut self) {
        if self.running.is_some() || self.phase != Phase::Open {
            return;
        }
        let now = Instant::now();
        let next = self.due.iter().filter(|(_, at)| **at <= now).min_by_key(|(_, at)| **at);
        let Some(uri) = next.map(|(uri, _)| uri.clone()) else { return };
        self.due.remove(&uri);
        let Some(open) = self.documents.get(&uri) else { return };
        let cancel = Arc::new(AtomicBool::new(false));
        let question = Question {
            file: open.document.path.clone(),
            unsaved: open.document.unsaved(),
            settings: self.settings.clone(),
            cancel: cancel.clone(),
        };
        let (version, analyst, sender) = (open.document.version, self.analyst.clone(), self.sender.clone());
        self.running = Some(Running { uri: uri.clone(), cancel });
        std::thread::spawn(move || {
            let mut report = |outcome| {
                let _ = sender.send(Event::Report { uri: uri.clone(), version, outcome });
            };
            let done = catch_unwind(AssertUnwindSafe(|| analyst.analyse(&question, &mut report)));
            let _ = sender.send(Event::Over { failed: done.is_err() });
        });
    }

    /// Has a text checked after a while; the check of its old version stops.
    fn schedule(&mut self, uri: &str, pause: Duration) {
        self.stop(Some(uri));
        let is_wanted = self.documents.get(uri).is_some_and(|open| is_checked(&open.document.path));
        if is_wanted {
            self.due.insert(uri.to_owned(), Instant::now() + pause);
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        match (self.phase, method) {
            (Phase::New, "initialize") => {
                let wrong = self.settings.take(&params["initializationOptions"]);
                wrong.iter().for_each(|wrong| eprintln!("wherefore lsp: {wrong}"));
                let refresh = params.pointer("/capabilities/workspace/codeLens/refreshSupport");
                self.can_refresh = refresh.and_then(Value::as_bool).unwrap_or(false);
                self.phase = Phase::Open;
                Ok(requests::capabilities())
            }
            (Phase::New, _) => Err(Failure::new(NOT_INITIALIZED, "expected `initialize` first")),
            (Phase::Closing, _) => Err(Failure::new(INVALID_REQUEST, "the session is being closed")),
            (Phase::Open, "initialize") => {
                Err(Failure::new(INVALID_REQUEST, "the session was initialized before"))
            }
            (Phase::Open, "shutdown") => {
                self.phase = Phase::Closing;
                self.due.clear();
                self.stop(None);
                Ok(Value::Null)
            }
            (Phase::Open, _) => requests::answer(method, params, |uri| {
                let open = self.documents.get(uri)?;
                Some(Known { document: &open.document, outcome: open.outcome.as_ref() })
            }),
        }
    }

    fn notice(&mut self, method: &str, params: &Value) -> io::Result<()> {
        if self.phase != Phase::Open {
            return Ok(());
        }
        match method {
            "textDocument/didOpen" => self.open(&params["textDocument"]),
            "textDocument/didChange" => self.change(params),
            "textDocument/didSave" => {
                // Other texts may include this one.
                let all: Vec<String> = self.documents.keys().cloned().collect();
                let saved = name(params).map(str::to_owned);
                for uri in all {
                    let includes_it = saved.as_deref().is_some_and(|saved| !is_program(saved));
                    if saved.as_deref() == Some(uri.as_str()) || includes_it {
                        self.schedule(&uri, Duration::ZERO);
                    }
                }
                Ok(())
            }
            "textDocument/didClose" => {
                let Some(uri) = name(params).map(str::to_owned) else { return Ok(()) };
                self.stop(Some(&uri));
                self.due.remove(&uri);
                let Some(closed) = self.documents.remove(&uri) else { return Ok(()) };
                self.publish(closed.shown.into_keys().collect())
            }
            "workspace/didChangeConfiguration" => {
                let given = params["settings"].get("wherefore").unwrap_or(&params["settings"]);
                let mut settings = self.settings.clone();
                let wrong = settings.take(given);
                wrong.iter().for_each(|wrong| eprintln!("wherefore lsp: {wrong}"));
                if settings != self.settings {
                    self.settings = settings;
                    let all: Vec<String> = self.documents.keys().cloned().collect();
                    all.iter().for_each(|uri| self.schedule(uri, Duration::ZERO));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, item: &Value) -> io::Result<()> {
        let uri = item["uri"].as_str();
        let (Some(uri), Some(text)) = (uri, item["text"].as_str()) else {
            return self.complain("textDocument/didOpen: uri or text is missing");
        };
        // A text without a file, or of another machine.
        let Some(path) = path_of(uri) else { return Ok(()) };
        let version = item["version"].as_i64().unwrap_or(0);
        let document = Document { uri: uri.to_owned(), path, version, text: text.to_owned() };
        let open = Open { document, outcome: None, shown: BTreeMap::new() };
        self.documents.insert(uri.to_owned(), open);
        self.schedule(uri, Duration::ZERO);
        Ok(())
    }

    fn change(&mut self, params: &Value) -> io::Result<()> {
        let changes = params["contentChanges"].as_array();
        let last = changes.and_then(|changes| changes.last());
        let text =
            last.filter(|change| change.get("range").is_none()).and_then(|change| change["text"].as_str());
        let (Some(uri), Some(text)) = (name(params).map(str::to_owned), text) else {
            return self.complain("textDocument/didChange: the whole text was expected");
        };
        let Some(open) = self.documents.get_mut(&uri) else { return Ok(()) };
        let version = params.pointer("/textDocument/version").and_then(Value::as_i64);
        open.document.version = version.unwrap_or(open.document.version + 1);
        open.document.text = text.to_owned();
        open.outcome = None;
        match self.settings.pause {
            Some(pause) => self.schedule(&uri, pause),
            None => {
                self.stop(Some(&uri));
                self.due.remove(&uri);
            }
        }
        Ok(())
    }

    fn complain(&mut self, message: &str) -> io::Result<()> {
        eprintln!("wherefore lsp: {message}");
        self.send(&answer(&Value::Null, Err(Failure::new(INVALID_PARAMS, message))))
    }

    /// Shows what is known of a text, if it has not changed since.
    fn report(&mut self, uri: &str, version: i64, outcome: Outcome) -> io::Result<()> {
        let is_stopped = self
            .running
            .as_ref()
            .is_some_and(|running| running.uri == uri && running.cancel.load(Ordering::Relaxed));
        let undecided = if self.settings.shows_unknown { Undecided::Shown } else { Undecided::Hidden };
        let current = self.documents.get_mut(uri).filter(|open| open.document.version == version);
        let Some(open) = current.filter(|_| !is_stopped && self.phase == Phase::Open) else { return Ok(()) };
        let shown = diagnostics((&open.document.path, &open.document.text), &outcome, undecided);
        let files: BTreeSet<PathBuf> = open.shown.keys().chain(shown.keys()).cloned().collect();
        open.shown = shown;
        open.outcome = Some(outcome);
        self.publish(files)?;
        if self.can_refresh {
            self.requests += 1;
            let id = format!("wherefore-{}", self.requests);
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/codeLens/refresh" }))?;
        }
        Ok(())
    }

    /// Tells the client the diagnostics of some files: those because of all open texts.
    fn publish(&mut self, files: BTreeSet<PathBuf>) -> io::Result<()> {
        for file in files {
            let mut list: Vec<Value> = Vec::new();
            for found in self.documents.values().filter_map(|open| open.shown.get(&file)).flatten() {
                if !list.contains(found) {
                    list.push(found.clone());
                }
            }
            let own = self.documents.values().map(|open| &open.document).find(|open| open.path == file);
            let uri = own.map_or_else(|| uri_of(&file), |document| document.uri.clone());
            let mut params = json!({ "uri": uri, "diagnostics": list });
            if let Some(document) = own {
                params["version"] = document.version.into();
            }
            self.send(&notification("textDocument/publishDiagnostics", params))?;
        }
        Ok(())
    }
}

/// The name of the text that a notification is about.
fn name(params: &Value) -> Option<&str> {
    params.pointer("/textDocument/uri")?.as_str()
}

/// Whether a name is that of a text that is checked by itself.
fn is_program(uri: &str) -> bool {
    path_of(uri).is_some_and(|path| is_checked(&path))
}

//! What is answered to a request.

use serde_json::{Value, json};

use crate::analyst::{Findings, Outcome};
use crate::documents::Document;
use crate::lens::{self, SHOW_RUN};
use crate::protocol::{Failure, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::{actions, hover};

/// What the server can do.
pub(crate) fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 1, "save": { "includeText": false } },
            "hoverProvider": true,
            "codeLensProvider": { "resolveProvider": false },
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
            "executeCommandProvider": { "commands": [SHOW_RUN] },
        },
        "serverInfo": { "name": "wherefore", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// A document, and what is known of the text that it has now.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub document: &'a Document,
    pub outcome: Option<&'a Outcome>,
}

impl<'a> Known<'a> {
    fn findings(self) -> Option<&'a Findings> {
        match self.outcome? {
            Outcome::Found(findings) => Some(findings),
            Outcome::Mistakes(_) => None,
        }
    }
}

/// The answer to a request about a document; `find` looks the document up by its name.
pub(crate) fn answer<'a>(
    method: &str,
    params: &Value,
    find: impl Fn(&str) -> Option<Known<'a>>,
) -> Result<Value, Failure> {
    let document = || {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| Failure::new(INVALID_PARAMS, "textDocument.uri is missing"))?;
        Ok(find(uri))
    };
    match method {
        "textDocument/hover" => {
            let line = line_at(params, "/position/line")?;
            let known = document()?;
            let text = known.and_then(|known| hover::hover(known.findings()?, &known.document.path, line));
            Ok(text.unwrap_or(Value::Null))
        }
        "textDocument/codeLens" => {
            let known = document()?;
            let lenses = known.and_then(|known| Some(lens::lenses(known.findings()?, &known.document.path)));
            Ok(lenses.unwrap_or_default().into())
        }
        "textDocument/codeAction" => {
            let lines = (line_at(params, "/range/start/line")?, line_at(params, "/range/end/line")?);
            let none = Vec::new();
            let shown = params.pointer("/context/diagnostics").and_then(Value::as_array).unwrap_or(&none);
            let known = document()?;
            let fixes = known
                .and_then(|known| Some(actions::actions(known.findings()?, known.document, lines, shown)));
            Ok(fixes.unwrap_or_default().into())
        }
        "workspace/executeCommand" => {
            let command = params.get("command").and_then(Value::as_str).unwrap_or_default();
            if command != SHOW_RUN {
                return Err(Failure::new(INVALID_PARAMS, format!("there is no command `{command}`")));
            }
            let uri = params.pointer("/arguments/0").and_then(Value::as_str);
            let check = params.pointer("/arguments/1").and_then(Value::as_u64);
            let (Some(uri), Some(check)) = (uri, check) else {
                return Err(Failure::new(
                    INVALID_PARAMS,
                    "expected the name of a text and the number of a check",
                ));
            };
            let run = find(uri).and_then(|known| lens::run(known.findings()?, check as usize));
            Ok(run.unwrap_or(Value::Null))
        }
        _ => Err(Failure::new(METHOD_NOT_FOUND, format!("there is no request `{method}`"))),
    }
}

/// A line of the protocol, from 1.
fn line_at(params: &Value, pointer: &str) -> Result<u32, Failure> {
    let line = params.pointer(pointer).and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    let line = line.and_then(|line| line.checked_add(1));
    line.ok_or_else(|| Failure::new(INVALID_PARAMS, format!("{pointer} is no number of a line")))
}

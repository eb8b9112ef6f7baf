//! The kinds of messages of JSON-RPC 2.0, and the errors that the protocol numbers.

use serde_json::{Value, json};

/// The text is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// The message is neither a request nor a notification nor an answer.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// There is no such request.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are not those of the request.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// A request in front of `initialize`.
pub(crate) const NOT_INITIALIZED: i64 = -32002;

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A request, which has an answer.
    Request { id: Value, method: String, params: Value },
    /// A notification, which has none.
    Notification { method: String, params: Value },
    /// The answer to a request of ours.
    Answer,
    /// None of them; the identifier, if there is one.
    Invalid(Value),
}

impl Incoming {
    /// Looks at a message.
    pub fn of(mut message: Value) -> Self {
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        let is_id = id.is_number() || id.is_string();
        let params = message.get_mut("params").map(Value::take).unwrap_or(Value::Null);
        let Some(method) = message.get("method") else {
            let is_answer = message.get("result").is_some() || message.get("error").is_some();
            return if is_answer { Self::Answer } else { Self::Invalid(id) };
        };
        match (method.as_str(), is_id) {
            (Some(method), true) => Self::Request { id, method: method.to_owned(), params },
            (Some(method), false) if id.is_null() => Self::Notification { method: method.to_owned(), params },
            _ => Self::Invalid(Value::Null),
        }
    }
}

/// Why a request has no result.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    /// The number that the protocol gives it.
    pub code: i64,
    /// The same in words.
    pub message: String,
}

impl Failure {
    /// A failure with its words.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The answer to a request.
pub(crate) fn answer(id: &Value, result: Result<Value, Failure>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Failure { code, message }) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    }
}

/// A notification.
pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = Incoming::of(json!({ "id": 1, "method": "shutdown" }));
        assert!(matches!(request, Incoming::Request { id, .. } if id == 1));
        assert!(matches!(Incoming::of(json!({ "method": "exit" })), Incoming::Notification { .. }));
        assert_eq!(Incoming::of(json!({ "id": 1, "result": null })), Incoming::Answer);
        for invalid in
            [json!(3), json!([]), json!({}), json!({ "id": [], "method": "x" }), json!({ "method": 1 })]
        {
            assert!(matches!(Incoming::of(invalid.clone()), Incoming::Invalid(_)), "{invalid}");
        }
    }
}

//! A small HTTP server for live pages: it listens where it is told to (a loopback address, please),
//! hands out one page, and passes on the questions that the page asks.
//!
//! It refuses requests whose `Host` is not a name of this machine, so that a page elsewhere cannot
//! read the source by pointing its own name at a loopback address. Each connection has a thread and
//! carries one request.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest request that is read.
const MOST_BYTES: usize = 8 * 1024;
/// The most requests at a time; more are refused.
const MOST_CONNECTIONS: usize = 32;
/// How long a client may take for its request, and for taking the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a live page asks: for a failing run through a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The position of the file in [`wherefore_explain::model::Explanation::sources`].
    pub file: usize,
    /// The line, from 1.
    pub line: u32,
}

/// Serves a page until `stop` is true: `GET /` is the page, `GET /through?file=F&line=N` what
/// `answer` says, which must be JSON ([`crate::html::answer`]).
///
/// Returns when every connection is done; an error is one of the listener.
pub fn serve(
    listener: TcpListener,
    page: &str,
    answer: &(dyn Fn(Question) -> String + Sync),
    stop: &AtomicBool,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let open = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => {
                    std::thread::sleep(Duration::from_millis(15));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let open = &open;
            scope.spawn(move || {
                // A client that goes away is no error of ours.
                let _ = converse(stream, page, answer);
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Ok(())
    })
}

/// Errors of a listener that mean: try again.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}

fn converse(
    mut stream: TcpStream,
    page: &str,
    answer: &(dyn Fn(Question) -> String + Sync),
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let response = match read_head(&mut stream)? {
        Some(head) => respond(&head, page, answer),
        None => Response::text("431 Request Header Fields Too Large", "the request is too long"),
    };
    stream.write_all(&response.bytes())?;
    stream.flush()
}

/// The head of a request, without the empty line at its end; none if it is too long.
fn read_head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut part = [0_u8; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut part)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&part[..count]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            return Ok(Some(String::from_utf8_lossy(&bytes[..end]).into_owned()));
        }
        if bytes.len() > MOST_BYTES {
            return Ok(None);
        }
    }
}

struct Response {
    status: &'static str,
    kind: &'static str,
    body: String,
}

impl Response {
    fn text(status: &'static str, body: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{body}\n") }
    }

    fn bytes(&self) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        [head.as_bytes(), self.body.as_bytes()].concat()
    }
}

fn respond(head: &str, page: &str, answer: &(dyn Fn(Question) -> String + Sync)) -> Response {
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or("").split(' ');
    let (method, target) = (request.next().unwrap_or(""), request.next().unwrap_or(""));
    if !request.next().is_some_and(|version| version.starts_with("HTTP/1.")) {
        return Response::text("400 Bad Request", "this is not HTTP");
    }
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_local(host) => {}
        _ => return Response::text("403 Forbidden", "only this machine may ask"),
    }
    if method != "GET" {
        return Response::text("405 Method Not Allowed", "only GET is answered");
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match path {
        "/" => Response { status: "200 OK", kind: "text/html; charset=utf-8", body: page.into() },
        "/through" => match question(query) {
            Some(question) => Response { status: "200 OK", kind: "application/json", body: answer(question) },
            None => {
                Response::text("400 Bad Request", "a file and a line are needed: /through?file=0&line=12")
            }
        },
        _ => Response::text("404 Not Found", "there is nothing here"),
    }
}

/// Whether a `Host` names this machine.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']'),
        None => Some(host.find(':').map_or((host, ""), |colon| host.split_at(colon))),
    };
    let is_port = |port: &str| {
        port.is_empty()
            || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name.is_some_and(|(name, port)| {
        is_port(port)
            && if host.starts_with('[') {
                name == "::1"
            } else {
                name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1"
            }
    })
}

fn question(query: &str) -> Option<Question> {
    let parts: BTreeMap<&str, &str> = query.split('&').filter_map(|part| part.split_once('=')).collect();
    let file = parts.get("file")?.parse().ok()?;
    let line = parts.get("line")?.parse().ok()?;
    Some(Question { file, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        for good in ["localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]", "[::1]:80"] {
            assert!(is_local(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "[::1",
            "localhost:80x",
            "::1",
        ] {
            assert!(!is_local(bad), "{bad}");
        }
    }

    #[test]
    fn a_question_needs_a_file_and_a_line() {
        assert_eq!(question("file=1&line=12"), Some(Question { file: 1, line: 12 }));
        assert_eq!(question("line=12"), None);
        assert_eq!(question("file=-1&line=12"), None);
    }
}

//! The server answers its page and its questions, to this machine only, and stops when it is told
//! to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use wherefore_report::{Question, serve};

/// Runs a server while `test` talks to it.
fn with_server(test: impl FnOnce(&dyn Fn(&str) -> String)) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let stop = AtomicBool::new(false);
    let answer = |question: Question| format!("{{\"line\":{},\"file\":{}}}", question.line, question.file);
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut response = String::new();
        // A server that refuses a long request may close before all of it is sent.
        let _ = stream.read_to_string(&mut response);
        response
    };
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(listener, "<p>page</p>", &answer, &stop));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&ask)));
        stop.store(true, Ordering::Relaxed);
        server.join().expect("the server does not panic").expect("the server has no error");
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
}

fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or("")
}

#[test]
fn the_page_is_at_the_root() {
    with_server(|ask| {
        let response = ask("GET / HTTP/1.1\r\nHost: localhost:1234\r\n\r\n");
        assert_eq!(status(&response), "200");
        assert!(response.contains("Content-Type: text/html; charset=utf-8\r\n"));
        assert!(response.contains("Content-Length: 11\r\n"));
        assert!(response.ends_with("\r\n\r\n<p>page</p>"));
    });
}

#[test]
fn questions_are_passed_on() {
    with_server(|ask| {
        let response = ask("GET /through?file=2&line=17 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        assert_eq!(status(&response), "200");
        assert!(response.ends_with("{\"line\":17,\"file\":2}"));
        assert_eq!(status(&ask("GET /through?file=x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")), "400");
    });
}

#[test]
fn other_paths_methods_and_protocols_are_refused() {
    with_server(|ask| {
        assert_eq!(status(&ask("GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n")), "404");
        assert_eq!(status(&ask("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n")), "405");
        assert_eq!(status(&ask("nonsense\r\n\r\n")), "400");
    });
}

#[test]
fn other_hosts_are_refused() {
    with_server(|ask| {
        assert_eq!(status(&ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")), "403");
        assert_eq!(status(&ask("GET / HTTP/1.1\r\n\r\n")), "403");
        assert_eq!(status(&ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")), "403");
        assert_eq!(status(&ask("GET / HTTP/1.1\r\nhost: [::1]:80\r\n\r\n")), "200");
    });
}

#[test]
fn long_requests_are_refused() {
    with_server(|ask| {
        let request = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(9000));
        assert_eq!(status(&ask(&request)), "431");
    });
}

#[test]
fn a_silent_client_does_not_hold_up_others() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(listener, "page", &|_| String::new(), &stop));
        let silent = TcpStream::connect(address).expect("a connection");
        let mut other = TcpStream::connect(address).expect("a connection");
        other.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
        let mut response = String::new();
        other.read_to_string(&mut response).expect("a response");
        assert_eq!(status(&response), "200");
        drop(silent);
        stop.store(true, Ordering::Relaxed);
    });
}

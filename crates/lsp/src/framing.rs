//! Messages on a stream: a header with the length, an empty line, and the text.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use serde_json::Value;

/// The longest message that is read, in bytes.
const MOST_BYTES: u64 = 64 << 20;
/// The longest line of a header.
const MOST_HEADER: u64 = 8 << 10;

/// What a stream has next.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    /// A message.
    Message(Value),
    /// Something that is no message, and what is wrong with it. The stream goes on.
    Malformed(String),
    /// There is nothing more.
    End,
}

/// Reads the next message.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Frame> {
    let mut length: Option<u64> = None;
    let mut wrong: Option<String> = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(MOST_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Frame::End);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            // Empty lines in front of a header are nothing.
            if is_first {
                continue;
            }
            break;
        }
        is_first = false;
        match text.split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                match value.trim().parse() {
                    // A header that is sound begins here, whatever came before.
                    Ok(number) => (length, wrong) = (Some(number), None),
                    Err(_) => wrong = Some(format!("the length `{}` is not a number", value.trim())),
                }
            }
            Some(_) => {}
            None => wrong = wrong.or_else(|| Some("a line of the header has no colon".to_owned())),
        }
    }
    match (length, wrong) {
        (_, Some(wrong)) => Ok(Frame::Malformed(wrong)),
        (None, None) => Ok(Frame::Malformed("the header has no Content-Length".to_owned())),
        (Some(length), None) => body(input, length),
    }
}

fn body(input: &mut impl BufRead, length: u64) -> io::Result<Frame> {
    if length > MOST_BYTES {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        return Ok(Frame::Malformed(format!("a message of {length} bytes is too long")));
    }
    let mut bytes = Vec::new();
    input.by_ref().take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(Frame::End);
    }
    Ok(match serde_json::from_slice(&bytes) {
        Ok(message) => Frame::Message(message),
        Err(error) => Frame::Malformed(format!("the message is not JSON: {error}")),
    })
}

/// Writes a message. A client that has gone away is no error: its end of input is noticed.
pub(crate) fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    let written =
        write!(output, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frames(text: &str) -> Vec<Frame> {
        let mut input = text.as_bytes();
        let mut found = Vec::new();
        loop {
            let frame = read(&mut input).unwrap();
            let is_over = frame == Frame::End;
            found.push(frame);
            if is_over {
                return found;
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let message = json!({ "text": "größer", "list": [1, null] });
        let mut text = Vec::new();
        write(&mut text, &message).unwrap();
        write(&mut text, &message).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(frames(&text), [Frame::Message(message.clone()), Frame::Message(message), Frame::End]);
    }

    #[test]
    fn the_stream_goes_on_after_what_is_no_message() {
        let good = "Content-Length: 2\r\n\r\n{}";
        for bad in [
            "Content-Length: 5\r\n\r\n{\"a\":",
            "Content-Length: many\r\n\r\n",
            "Content-Type: x\r\n\r\n",
            "nonsense\r\n\r\n",
            "Content-Length: -1\r\n\r\n",
        ] {
            let found = frames(&format!("{bad}{good}"));
            assert_eq!(found.len(), 3, "{bad}: {found:?}");
            assert!(matches!(found[0], Frame::Malformed(_)), "{bad}: {found:?}");
            assert_eq!(found[1], Frame::Message(json!({})), "{bad}");
        }
        assert_eq!(frames("Content-Length: 10\r\n\r\n{}"), [Frame::End]);
    }
}

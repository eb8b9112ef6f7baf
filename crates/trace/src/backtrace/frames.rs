//! The forms of a frame.
//!
//! - gdb: `#1  0x… in f (n=0) at a.c:12`, `#0  f () from /lib/libf.so`
//! - lldb: ``frame #1: 0x… prog`f(n=0) at a.c:12:3``
//! - sanitizers: `#1 0x… in f a.c:12:3`, `#1 0x… in f (/bin/prog+0x11)`
//! - `backtrace_symbols`: `./prog(f+0x1a) [0x401136]`
//! - `addr2line -fp`: `f at a.c:12`

use super::Frame;
use super::arguments::arguments;

/// What a line of a text is.
pub(super) enum Read {
    /// A frame, with its number.
    Frame(Option<u32>, Frame),
    /// There are more frames.
    More,
    Other,
}

/// Where a line is not understood, in bytes, and why.
pub(super) type Mistake = (usize, String);

/// The lines with their numbers. gdb breaks long frames, and goes on with four spaces.
pub(super) fn joined(text: &str) -> Vec<(u32, String)> {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let continues = line.starts_with("    ") && !line[4..].starts_with([' ', '#']);
        match lines.last_mut() {
            Some((_, last)) if continues && is_unfinished(last) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => lines.push((number, line.to_owned())),
        }
    }
    lines
}

/// Whether a line is a frame of gdb whose arguments or place may follow.
fn is_unfinished(line: &str) -> bool {
    let is_gdb = line.starts_with('#') && line[1..].starts_with(|c: char| c.is_ascii_digit());
    let opened = line.matches('(').count() > line.matches(')').count();
    is_gdb && (opened || !(line.contains(" at ") || line.contains(" from ")) && line.ends_with(')'))
}

/// Reads a line.
pub(super) fn frame(line: &str) -> Result<Read, Mistake> {
    let trimmed = line.trim_start();
    let indent = line.len() - trimmed.len();
    if trimmed.starts_with("(More stack frames follow") {
        return Ok(Read::More);
    }
    if let Some(rest) =
        trimmed.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..digits].parse().map_err(|_| (indent, "this is no frame number".to_owned()))?;
        let from = indent + 1 + digits;
        let frame = numbered(rest[digits..].trim())
            .ok_or_else(|| (from, "a function is expected here: `f (n=0) at a.c:12`".to_owned()))?;
        return Ok(Read::Frame(Some(number), frame));
    }
    let lldb = trimmed.strip_prefix("* ").unwrap_or(trimmed).trim_start();
    if let Some(rest) = lldb.strip_prefix("frame #") {
        let missing = || (line.len() - rest.len(), "`: ` is expected behind the frame number".to_owned());
        let (number, rest) = rest.split_once(": ").ok_or_else(missing)?;
        let number = number.parse().map_err(|_| (indent, "this is no frame number".to_owned()))?;
        return Ok(Read::Frame(Some(number), of_lldb(rest.trim())));
    }
    Ok(of_symbols(trimmed)
        .or_else(|| of_addresses(trimmed))
        .map_or(Read::Other, |frame| Read::Frame(None, frame)))
}

fn empty() -> Frame {
    Frame { function: None, file: None, line: None, arguments: Vec::new(), module: None, at: 0 }
}

fn known(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty() && name != "??").then(|| name.to_owned())
}

/// Behind the number of a frame of gdb or of a sanitizer.
fn numbered(text: &str) -> Option<Frame> {
    if text == "<signal handler called>" {
        return Some(Frame { function: Some("<signal handler>".to_owned()), ..empty() });
    }
    let text = match text.strip_prefix("0x") {
        Some(rest) => {
            let (address, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if !address.chars().all(|c| c.is_ascii_hexdigit()) {
                return None;
            }
            let rest = rest.trim_start();
            match rest.strip_prefix("in ") {
                Some(rest) => rest.trim_start(),
                // A sanitizer without a symbol.
                None => return Some(Frame { module: module(rest), ..empty() }),
            }
        }
        None => text,
    };
    let end = text.find([' ', '(']).unwrap_or(text.len());
    let (name, rest) = (&text[..end], text[end..].trim_start());
    if name.is_empty()
        || !(name == "??" || name.starts_with(|c: char| c.is_alphabetic() || "_$.".contains(c)))
    {
        return None;
    }
    let frame = Frame { function: known(name), ..empty() };
    if let Some(module) = module(rest) {
        return Some(Frame { module: Some(module), ..frame });
    }
    if !rest.starts_with('(') {
        let place = rest.split_whitespace().next().unwrap_or_default();
        let (file, line) = place_of(place);
        return Some(Frame { file, line, ..frame });
    }
    let close = closing(rest)?;
    let arguments = arguments(&rest[1..close]);
    let rest = rest[close + 1..].trim();
    let (file, line) = rest.strip_prefix("at ").map_or((None, None), |place| place_of(place.trim()));
    let module = rest.strip_prefix("from ").map(|module| module.trim().to_owned());
    Some(Frame { arguments, file, line, module, ..frame })
}

/// `(/bin/prog+0x11)`, perhaps with a build id behind it.
fn module(text: &str) -> Option<String> {
    let inside = text.strip_prefix('(')?;
    let (inside, _) = inside.split_once(')')?;
    let (name, offset) = inside.rsplit_once("+0x")?;
    let is_offset = !offset.is_empty() && offset.chars().all(|c| c.is_ascii_hexdigit());
    (is_offset && !name.contains('=')).then(|| name.to_owned())
}

/// Where the parenthesis closes that the text begins with.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Behind the number of a frame of lldb: ``0x… prog`f(n=0) + 4 at a.c:12:3 [opt]``.
fn of_lldb(text: &str) -> Frame {
    let (module, rest) = text.split_once('`').unwrap_or(("", text));
    let module = module.split_whitespace().last().map(str::to_owned);
    let (rest, place) = match rest.rfind(" at ") {
        Some(at) => (&rest[..at], rest[at + 4..].split_whitespace().next()),
        None => (rest, None),
    };
    let end = rest.find(['(', ' ', '[']).unwrap_or(rest.len());
    let (name, rest) = (&rest[..end], rest[end..].trim_start());
    let arguments = closing(rest)
        .filter(|_| rest.starts_with('('))
        .map_or(Vec::new(), |close| arguments(&rest[1..close]));
    let (file, line) = place.map_or((None, None), place_of);
    Frame { function: known(name), file, line, arguments, module, at: 0 }
}

/// `./prog(f+0x1a) [0x401136]`, `./prog(+0x11) [0x…]`, `./prog[0x401136]`.
fn of_symbols(text: &str) -> Option<Frame> {
    let text = text.trim_end();
    let (rest, address) = text.strip_suffix(']')?.rsplit_once('[')?;
    let digits = address.strip_prefix("0x")?;
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.trim_end();
    let frame = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((module, symbol)) => {
            let name = symbol.split(['+', '-']).next().unwrap_or_default();
            Frame { function: known(name), module: Some(module.to_owned()), ..empty() }
        }
        None if !rest.is_empty() && !rest.contains(' ') => Frame { module: Some(rest.to_owned()), ..empty() },
        None => return None,
    };
    Some(frame)
}

/// `f at a.c:12`, perhaps with an address in front, as `addr2line -afp` prints it.
fn of_addresses(text: &str) -> Option<Frame> {
    let text = text.strip_prefix("(inlined by) ").unwrap_or(text);
    let text = match text.strip_prefix("0x").and_then(|rest| rest.split_once(": ")) {
        Some((address, rest)) if address.chars().all(|c| c.is_ascii_hexdigit()) => rest,
        _ => text,
    };
    let (name, place) = text.split_once(" at ")?;
    let is_name = |c: char| c.is_alphanumeric() || "_$.?".contains(c);
    let place = place.split(" (discriminator").next()?;
    let (file, line) = place_of(place);
    let has_place = line.is_some() || place == "??:?" || place == "??:0";
    (!name.is_empty() && name.chars().all(is_name) && has_place && !place.contains(' ')).then(|| Frame {
        function: known(name),
        file: file.filter(|file| file != "??"),
        line,
        ..empty()
    })
}

/// `file`, `file:line` or `file:line:column`.
pub(super) fn place_of(text: &str) -> (Option<String>, Option<u32>) {
    let number = |text: &str| text.parse::<u32>().ok();
    let Some((head, last)) = text.rsplit_once(':') else { return (known(text), None) };
    let Some(last) = number(last) else { return (known(text), None) };
    match head.rsplit_once(':') {
        Some((file, line)) if number(line).is_some() => (known(file), number(line)),
        _ => (known(head), Some(last)),
    }
}

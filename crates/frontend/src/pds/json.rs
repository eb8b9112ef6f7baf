//! JSON as a stream: seeds that read a value where it stands, and errors with their place.
//!
//! A seed says with [`Visit`] what it does with a value; the macros `seed` and `visitor` make it
//! known to serde. Errors that a seed raises about its own value are placed at that value.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use wherefore_pushdown::ParseError;

/// Reads a whole text.
pub(super) fn run<'de, S: DeserializeSeed<'de>>(text: &'de str, seed: S) -> Result<S::Value, ParseError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| place(text, &error))
}

/// Turns an error of the JSON reader, which knows where it stopped, into one about the last thing
/// that was read.
fn place(text: &str, error: &serde_json::Error) -> ParseError {
    let shown = error.to_string();
    let message = shown.rfind(" at line ").map_or(shown.as_str(), |i| &shown[..i]);
    let mut line_start = 0;
    for _ in 1..error.line() {
        line_start += text[line_start..].find('\n').map_or(0, |i| i + 1);
    }
    let end = (line_start + error.column()).min(text.len());
    let bytes = &text.as_bytes()[..end];
    let bytes = bytes.trim_ascii_end();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
    let start = match bytes.last() {
        _ if error.is_eof() => end,
        None => 0,
        Some(b'"') if !error.is_syntax() => {
            let inner = &bytes[..bytes.len() - 1];
            let open = |i: &usize| inner[*i] == b'"' && !inner[..*i].ends_with(b"\\");
            (0..inner.len()).rev().find(open).unwrap_or(inner.len())
        }
        Some(b) if is_word(*b) && !error.is_syntax() => {
            bytes.iter().rposition(|b| !is_word(*b)).map_or(0, |i| i + 1)
        }
        Some(_) => bytes.len() - 1,
    };
    ParseError::at(text, start..bytes.len(), message)
}

/// A string of the file, copied only if it has escapes.
pub(super) struct Text<'de>(pub Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// A seed whose visitor is itself.
macro_rules! seed {
    ($name:ident $(<$($life:lifetime),*>)?, $method:ident, $value:ty, $expecting:literal) => {
        impl<'de, $($($life),*)?> DeserializeSeed<'de> for $name $(<$($life),*>)? {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                let input = std::marker::PhantomData;
                deserializer.$method(Expecting { seed: self, expecting: $expecting, input })
            }
        }
    };
}

pub(super) use seed;

/// A visitor made of a seed: [`Visit`] says what to do, this says what was expected.
pub(super) struct Expecting<'de, S> {
    pub seed: S,
    pub expecting: &'static str,
    pub input: PhantomData<&'de ()>,
}

/// What a seed does with a value; anything it does not know is a type error.
pub(super) trait Visit<'de>: Sized {
    type Value;
    fn number<E: Error>(self, number: i128, expecting: &Expecting<'de, ()>) -> Result<Self::Value, E> {
        let unexpected = match i64::try_from(number) {
            Ok(number) => serde::de::Unexpected::Signed(number),
            Err(_) => serde::de::Unexpected::Other("a large number"),
        };
        Err(E::invalid_type(unexpected, expecting))
    }
    fn string<E: Error>(self, text: Cow<'de, str>, expecting: &Expecting<'de, ()>) -> Result<Self::Value, E> {
        Err(E::invalid_type(serde::de::Unexpected::Str(&text), expecting))
    }
    fn list<A: SeqAccess<'de>>(self, _: A, expecting: &Expecting<'de, ()>) -> Result<Self::Value, A::Error> {
        Err(A::Error::invalid_type(serde::de::Unexpected::Seq, expecting))
    }
    fn object<A: MapAccess<'de>>(
        self,
        _: A,
        expecting: &Expecting<'de, ()>,
    ) -> Result<Self::Value, A::Error> {
        Err(A::Error::invalid_type(serde::de::Unexpected::Map, expecting))
    }
}

impl<'de> Visitor<'de> for Expecting<'de, ()> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }
}

impl<'de, S> Expecting<'de, S> {
    pub fn split(self) -> (S, Expecting<'de, ()>) {
        (self.seed, Expecting { seed: (), expecting: self.expecting, input: PhantomData })
    }
}

/// [`Expecting`] over a seed that visits; apart from the one over `()`, which only prints.
macro_rules! visitor {
    ($($name:ident $(<$($life:lifetime),*>)?),*) => {$(
        impl<'de, $($($life),*)?> serde::de::Visitor<'de> for Expecting<'de, $name $(<$($life),*>)?> {
            type Value = <$name $(<$($life),*>)? as Visit<'de>>::Value;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.expecting)
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                let (seed, expecting) = self.split();
                seed.number(number.into(), &expecting)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                let (seed, expecting) = self.split();
                seed.number(number.into(), &expecting)
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                let (seed, expecting) = self.split();
                seed.string(Cow::Borrowed(text), &expecting)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let (seed, expecting) = self.split();
                seed.string(Cow::Owned(text.to_owned()), &expecting)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                let (seed, expecting) = self.split();
                seed.list(list, &expecting)
            }
            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                let (seed, expecting) = self.split();
                seed.object(object, &expecting)
            }
        }
    )*};
}

pub(super) use visitor;

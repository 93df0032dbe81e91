//! Server-sent events out of the bytes of a body (WHATWG HTML, section 9.2.6).
use memchr::memchr2;

/// The longest line, and the most data of an event. A server could otherwise fill the memory of the generator
/// with a line that does not end.
const MOST_BYTES: usize = 64 * 1024;

/// What a stream may begin with: the byte order mark in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line or the data of an event is longer than what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads a stream of events, in whatever pieces it comes. Only data is looked at: names, identifiers, times to
/// retry and comments are read over. An event whose empty line has not come is none.
#[derive(Debug, Default)]
pub(crate) struct EventParser {
    /// The begin of the line that is being read.
    line: Vec<u8>,
    /// The data of the event that is being read, with a line feed behind each of its lines.
    data: Vec<u8>,
    /// The last line ended with CR: an LF behind it belongs to the same line end.
    after_return: bool,
    /// A line has ended, so that no byte order mark can come any more.
    has_begun: bool,
}

impl EventParser {
    /// Takes the next piece, and hands on the data of each event that it completes.
    ///
    /// # Errors
    /// If a line or the data of an event is too long.
    pub fn read(&mut self, piece: &[u8], mut on_event: impl FnMut(&[u8])) -> Result<(), TooLong> {
        let mut rest = piece;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', rest) else {
                return put(&mut self.line, rest);
            };
            put(&mut self.line, &rest[..end])?;
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line(&mut on_event)?;
        }
        Ok(())
    }

    fn end_line(&mut self, on_event: &mut impl FnMut(&[u8])) -> Result<(), TooLong> {
        let mut line = &self.line[..];
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if let Some(value) = data_of(line) {
            put(&mut self.data, value)?;
            self.data.push(b'\n');
        } else if line.is_empty() {
            if let Some(data) = self.data.strip_suffix(b"\n") {
                on_event(data);
            }
            self.data.clear();
        }
        self.line.clear();
        Ok(())
    }
}

fn put(kept: &mut Vec<u8>, more: &[u8]) -> Result<(), TooLong> {
    if kept.len() + more.len() > MOST_BYTES {
        return Err(TooLong);
    }
    kept.extend_from_slice(more);
    Ok(())
}

/// The value of a field `data`, without the space that may stand before it.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The data of all events of a stream that comes in these pieces.
    fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut parser, mut found) = (EventParser::default(), Vec::new());
        for piece in pieces {
            parser
                .read(piece, |data| found.push(String::from_utf8_lossy(data).into_owned()))
                .unwrap();
        }
        found
    }

    fn whole(text: &str) -> Vec<String> {
        events([text.as_bytes()])
    }

    /// The examples and rules of the standard.
    #[test]
    fn events_are_read_as_the_standard_says() {
        for (text, right) in [
            ("data: a\n\ndata: b\n\n", &["a", "b"][..]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("data: a\r\n\ndata: b\n\r\n", &["a", "b"]),
            ("data: YHOO\ndata: +2\ndata: 10\n\n", &["YHOO\n+2\n10"]),
            ("data:a\n\ndata: a\n\ndata:  a\n\n", &["a", "a", " a"]),
            ("data\n\ndata\ndata\n\ndata:", &["", "\n"]),
            (": a comment\n\n:\n\nid: 1\nretry: 5\nevent: x\ndata: a\n\n", &["a"]),
            ("id: 1\n\nevent: x\n\n", &[]),
            ("datas: a\n\nDATA: a\n\n data: a\n\n", &[]),
            ("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["a"]),
            ("data: a", &[]),
            ("data: a\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(whole(text), right, "{text:?}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let mut parser = EventParser::default();
        let piece = [b'x'; 10_000];
        let read = |parser: &mut EventParser| parser.read(&piece, |_| unreachable!());
        assert!((0..6).all(|_| read(&mut parser).is_ok()));
        assert_eq!(read(&mut parser), Err(TooLong));
    }

    /// The events of a whole text, by its lines.
    fn by_lines(text: &str) -> Vec<String> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut events, mut data) = (Vec::new(), Vec::<String>::new());
        let Some((lines, _)) = text.rsplit_once('\n') else { return events };
        for line in lines.split('\n') {
            if line.is_empty() {
                if !data.is_empty() {
                    events.push(data.join("\n"));
                }
                data.clear();
            } else if let Some(value) = line.strip_prefix("data:") {
                data.push(value.strip_prefix(' ').unwrap_or(value).into());
            } else if line == "data" {
                data.push(String::new());
            }
        }
        events
    }

    fn texts() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "\r",
            "\n",
            "\r\n",
            "\n\n",
            "data",
            "data:",
            "data: ",
            "a",
            "é",
            "7 1700000000000",
            ":",
            "id: 3",
            " ",
        ]);
        prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        /// In whatever pieces a stream comes, its events are the same, and those of its lines.
        #[test]
        fn any_pieces_give_the_same_events(text in texts(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            prop_assert_eq!(events(pieces), by_lines(&text));
        }
    }
}

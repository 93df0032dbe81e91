//! A request of a connection, and its answer as it comes (RFC 9114 section 4.1).
use pippin_model::result::ErrorKind;
use quinn_proto::StreamId;

use super::frame::{Frames, Part, kind, put_frame, put_number};
use super::qpack::{self, Section};
use crate::protocol::Answers;
use crate::protocol::http2::{Head, Limits};

/// A request under way. Its place among the streams is its tag.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// `None` if no request is in this place.
    pub id: Option<StreamId>,
    pub template: u32,
    /// Something of its answer came.
    pub has_begun: bool,
    has_head: bool,
    /// Trailers came: nothing may follow them.
    has_trailers: bool,
    /// The answer must have no body, whatever its head says.
    pub has_no_body: bool,
    /// What `content-length` says, and how much of the body came.
    declared: Option<u64>,
    received: u64,
    frames: Frames,
    /// An incomplete section of fields.
    section: Vec<u8>,
    /// How much of the request was written, and how much there is with its body.
    pub written: usize,
    /// The head of the request as a frame; its body lies in the wire.
    pub head: Vec<u8>,
    /// All of the request was written.
    pub is_written: bool,
}

/// Why an answer must be rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrong {
    pub kind: ErrorKind,
    pub why: &'static str,
    /// The rules of the connection are broken, and not of one answer (section 8): it must be closed.
    pub is_fatal: bool,
}

impl Wrong {
    const fn malformed(why: &'static str) -> Self {
        Self { kind: ErrorKind::Malformed, why, is_fatal: false }
    }

    pub const fn fatal(why: &'static str) -> Self {
        Self { kind: ErrorKind::Malformed, why, is_fatal: true }
    }

    const fn too_large(why: &'static str) -> Self {
        Self { kind: ErrorKind::TooLarge, why, is_fatal: false }
    }
}

/// The section of fields that a connection read last: a server sends the same head again and again.
#[derive(Debug, Default)]
pub(super) struct LastHead {
    section: Vec<u8>,
    head: Head,
}

impl Stream {
    /// A new request in this place. Memory is used again.
    pub fn begin(&mut self, id: StreamId, template: u32, has_no_body: bool) {
        let (mut section, mut head) =
            (std::mem::take(&mut self.section), std::mem::take(&mut self.head));
        section.clear();
        head.clear();
        *self = Self { id: Some(id), template, has_no_body, section, head, ..Self::default() };
    }

    /// Writes the head of the request, and the head of its body.
    pub fn put_head(&mut self, section: &Section, drawn: &[u8], body_bytes: usize) {
        put_frame(&mut self.head, kind::HEADERS, &section.bytes);
        if let Some(before_the_end) = section.drawn {
            let at = self.head.len() - before_the_end;
            self.head[at..at + drawn.len()].copy_from_slice(drawn);
        }
        if body_bytes > 0 {
            put_number(&mut self.head, kind::DATA);
            put_number(&mut self.head, body_bytes as u64);
        }
    }

    /// Takes bytes of the answer.
    pub fn read<A: Answers>(
        &mut self,
        tag: u32,
        mut input: &[u8],
        limits: Limits,
        last: &mut LastHead,
        answers: &mut A,
    ) -> Result<(), Wrong> {
        self.has_begun |= !input.is_empty();
        let mut frames = std::mem::take(&mut self.frames);
        let mut result = Ok(());
        while let Some((part, used)) = frames.next(input) {
            result = self.part(tag, part, limits, last, answers);
            if result.is_err() {
                break;
            }
            input = &input[used..];
        }
        self.frames = frames;
        result
    }

    fn part<A: Answers>(
        &mut self,
        tag: u32,
        part: Part<'_>,
        limits: Limits,
        last: &mut LastHead,
        answers: &mut A,
    ) -> Result<(), Wrong> {
        match part {
            Part::Begins { kind: kind::DATA, length } => self.begin_data(length, limits),
            Part::Begins { kind: kind::HEADERS, length } => {
                if self.has_trailers {
                    return Err(Wrong::fatal("HEADERS behind trailers"));
                }
                if length > limits.head_bytes as u64 {
                    return Err(Wrong::too_large("head beyond the limit"));
                }
                match length {
                    0 => Err(Wrong::fatal("an empty HEADERS frame")),
                    _ => Ok(()),
                }
            }
            // Section 7.2: these belong to control streams, and we allow no pushes.
            Part::Begins {
                kind:
                    kind::CANCEL_PUSH
                    | kind::SETTINGS
                    | kind::PUSH_PROMISE
                    | kind::GOAWAY
                    | kind::MAX_PUSH_ID,
                ..
            } => Err(Wrong::fatal("a frame on the stream of a request that must not be there")),
            Part::Begins { kind, .. } if kind::RESERVED.contains(&kind) => {
                Err(Wrong::fatal("a frame of HTTP/2"))
            }
            Part::Payload { kind: kind::DATA, bytes, .. } => {
                answers.body(tag, self.template, bytes);
                Ok(())
            }
            Part::Payload { kind: kind::HEADERS, bytes, ends } => {
                if ends && self.section.is_empty() {
                    return self.fields(tag, bytes, limits, last, answers);
                }
                self.section.extend_from_slice(bytes);
                if !ends {
                    return Ok(());
                }
                let section = std::mem::take(&mut self.section);
                let result = self.fields(tag, &section, limits, last, answers);
                self.section = section;
                self.section.clear();
                result
            }
            // Frames of unknown types are ignored (section 9).
            Part::Begins { .. } | Part::Payload { .. } => Ok(()),
        }
    }

    fn begin_data(&mut self, length: u64, limits: Limits) -> Result<(), Wrong> {
        if !self.has_head || self.has_trailers {
            return Err(Wrong::fatal("DATA before the head, or behind trailers"));
        }
        self.received = self.received.saturating_add(length);
        if self.has_no_body && self.received > 0 {
            return Err(Wrong::malformed("a body where none may be"));
        }
        if self.received > limits.body_bytes {
            return Err(Wrong::too_large("body beyond the limit"));
        }
        match self.declared {
            Some(declared) if self.received > declared => {
                Err(Wrong::malformed("more of a body than its head says"))
            }
            _ => Ok(()),
        }
    }

    /// A section of fields is complete: an interim answer, the head of an answer, or trailers.
    fn fields<A: Answers>(
        &mut self,
        tag: u32,
        section: &[u8],
        limits: Limits,
        last: &mut LastHead,
        answers: &mut A,
    ) -> Result<(), Wrong> {
        let is_wanted = answers.wants_fields(tag);
        if is_wanted || last.section != section {
            last.head = decoded(tag, is_wanted, section, limits, answers)?;
            last.section.clear();
            last.section.extend_from_slice(section);
        }
        let head = last.head;
        let is_right = match head.status {
            // Trailers (section 4.1).
            None => self.has_head,
            Some(_) if self.has_head => false,
            // There is no upgrade (section 4.5).
            Some(status) => status != 101,
        };
        if head.is_malformed || !is_right {
            return Err(Wrong::malformed(
                "header fields that are not allowed, or HEADERS in a place where they must not be",
            ));
        }
        match head.status {
            Some(100..=199) => answers.interim(),
            Some(status) => {
                self.has_head = true;
                // RFC 9110 section 6.4.1.
                self.has_no_body |= matches!(status, 204 | 304);
                self.declared = head.length;
                answers.head(tag, status, false);
            }
            None => self.has_trailers = true,
        }
        Ok(())
    }

    /// The server has ended its side of the stream: whether the answer is whole.
    pub fn end(&self) -> Result<(), Wrong> {
        let is_short =
            !self.has_no_body && self.declared.is_some_and(|declared| declared != self.received);
        if !self.frames.is_between() {
            // Section 7.1.
            return Err(Wrong::fatal("a stream that ends within a frame"));
        }
        if is_short || !self.has_head {
            return Err(Wrong::malformed(
                "length of the body other than its head says, or no head",
            ));
        }
        Ok(())
    }
}

fn decoded<A: Answers>(
    tag: u32,
    is_wanted: bool,
    section: &[u8],
    limits: Limits,
    answers: &mut A,
) -> Result<Head, Wrong> {
    let mut head = Head::default();
    let decoded = qpack::decode(section, |name, value| {
        head.field(name, value, limits.head_bytes);
        if is_wanted {
            answers.field(tag, name, value);
        }
    });
    decoded.map_err(|_| Wrong::fatal("a section of header fields that QPACK cannot decode"))?;
    if head.size > limits.head_bytes {
        return Err(Wrong::too_large("head beyond the limit"));
    }
    Ok(head)
}

//! HTTP/1.1 as a worker uses it.
use std::sync::Arc;

use pippin_model::load::{LoadSpec, Request};
use pippin_model::result::ErrorKind;

use super::{DecodeError, Decoder, Eof, HeadCache, HeadInfo, Rules, Sink, request};
use crate::error::{EngineError, place};
use crate::protocol::order::InOrder;
use crate::protocol::{Alike, Answers, Asker, AtOnce, End, Protocol, Step};
use crate::request::drawn::Value;
use crate::request::wire::{Span, Template, Wire};

/// HTTP/1.1 whose requests are the same bytes each time. Answers come in order.
pub(crate) struct Http1 {
    wire: Arc<Wire>,
    /// What holds for answers, and for those to HEAD.
    rules: [Rules; 2],
    cache: HeadCache,
}

impl Protocol for Http1 {
    type Session = Decoder;
    type Out = Span;
    type Order = InOrder;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let is_only = !spec.connections.keep_alive();
        let rendered = spec.requests.iter().enumerate().map(|(nth, request)| {
            let bytes = request::render_to(request, &request::origin(spec, request), is_only)
                .map_err(|why| EngineError::UnsendableRequest {
                    request: place(spec, nth),
                    why: why.to_string(),
                })?;
            Ok((bytes, Self::template(request)))
        });
        Wire::new(rendered, spec.requests.turns(), spec.connections.pipeline)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let rules = [false, true].map(|head_only| Rules {
            head_only,
            head_bytes: spec.limits.head_bytes,
            body_bytes: spec.limits.body_bytes,
        });
        Self { wire: Arc::clone(wire), rules, cache: HeadCache::default() }
    }

    #[inline]
    fn render(&mut self, _: &mut Decoder, template: u32, _: u32, _: Value, out: &mut Span) {
        let request = self.wire.slice(template);
        // Consecutive requests are contiguous in memory.
        if out.start == out.end {
            *out = request;
        } else {
            out.end += request.end - request.start;
        }
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        decoder: &mut Decoder,
        input: &[u8],
        answers: &mut A,
        _: &mut Span,
    ) -> Result<Step, ErrorKind> {
        let tag = answers.oldest();
        let Some(template) = answers.template(tag) else { return Err(ErrorKind::Malformed) };
        self.read(decoder, input, tag, template, &mut Forward { answers, tag, template })
    }

    fn end(decoder: &mut Decoder) -> End {
        match decoder.eof() {
            Eof::BeforeAnswer => End::BeforeHead { untouched: true },
            Eof::InHead => End::BeforeHead { untouched: false },
            Eof::InBody => End::InBody,
            Eof::Complete => End::Complete,
        }
    }
}

impl Http1 {
    /// What is known of a request besides its bytes.
    pub(super) fn template(request: &Request) -> Template {
        Template {
            check: request.check.clone(),
            may_repeat: request::is_idempotent(&request.method),
            head_only: is_head(request),
            places: None,
            upload: request.upload,
        }
    }

    /// Reads on in `input`, at most to the end of the answer to this request, whose parts go to
    /// `sink`.
    #[inline]
    pub(super) fn read<S: Sink>(
        &mut self,
        decoder: &mut Decoder,
        input: &[u8],
        tag: u32,
        template: u32,
        sink: &mut S,
    ) -> Result<Step, ErrorKind> {
        let rules = &self.rules[usize::from(self.wire.template(template).head_only)];
        match decoder.decode(input, rules, &mut self.cache, sink) {
            Ok(step) if step.complete => Ok(Step::Complete { tag, used: step.used }),
            Ok(_) => Ok(Step::More),
            Err(DecodeError::Malformed(why)) => {
                sink.refused(why);
                Err(ErrorKind::Malformed)
            }
            Err(DecodeError::TooLarge(why)) => {
                sink.refused(why);
                Err(ErrorKind::TooLarge)
            }
        }
    }
}

/// Hands on what the decoder finds.
pub(super) struct Forward<'a, A> {
    pub answers: &'a mut A,
    pub tag: u32,
    pub template: u32,
}

impl<A: Answers> Sink for Forward<'_, A> {
    fn interim(&mut self, _status: u16) {
        self.answers.interim();
    }

    #[inline]
    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        self.answers.head(self.tag, info.status, !info.keep_alive);
        self.answers.head_bytes(raw);
    }

    fn refused(&mut self, why: &'static str) {
        self.answers.refused(why);
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.answers.body(self.tag, self.template, piece);
    }
}

/// Whether the answer has no body whatever its head says (RFC 9110 section 9.3.2).
fn is_head(request: &Request) -> bool {
    request.method == "HEAD"
}

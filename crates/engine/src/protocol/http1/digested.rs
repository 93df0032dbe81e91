//! HTTP/1.1 whose requests each say who sends them by a digest ([`crate::digest`]).
use std::sync::Arc;

use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;

use super::protocol::{Forward, Http1};
use super::{Decoder, Drawn, HeadInfo, Sink};
use crate::digest::{Authorizer, Challenge, Grant};
use crate::error::EngineError;
use crate::protocol::order::InOrder;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Alike, Answers, Asker, AtOnce, End, Protocol, Step};
use crate::request::drawn::{Filling as _, Value};
use crate::request::wire::Wire;

/// HTTP/1.1: answers come in order. Requests are copied from the wire, with a line in their heads.
pub(crate) struct Digested {
    plain: Http1,
    wire: Arc<Wire>,
    authorizer: Authorizer,
    requests: Vec<DigestRequest>,
    /// Which request is sent in which turn.
    turns: Vec<u32>,
    longest: usize,
}

/// What is known of a request.
struct DigestRequest {
    method: String,
    target: String,
    /// The length of what follows its head fields: an empty line, and its body.
    rest: usize,
}

/// What a connection remembers. Its nonce stays when it is opened again.
#[derive(Debug, Default)]
pub(crate) struct Session {
    decoder: Decoder,
    granted: Option<Box<Grant>>,
}

impl Protocol for Digested {
    type Session = Session;
    type Out = Frames;
    type Order = InOrder;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;
    const DRAWS: bool = true;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        Drawn::<Frames>::wire(spec)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        Self {
            plain: Http1::new(spec, wire),
            wire: Arc::clone(wire),
            authorizer: authorizer(spec),
            requests: spec
                .requests
                .iter()
                .map(|request| DigestRequest {
                    method: request.method.clone(),
                    target: request.target.clone(),
                    rest: 2 + request.body.len(),
                })
                .collect(),
            turns: spec.requests.turns().map(|request| request as u32).collect(),
            longest: wire.longest(),
        }
    }

    fn challenged(&mut self, session: &mut Session, challenge: &Challenge) {
        session.granted = Some(Box::new(self.authorizer.grant(challenge)));
    }

    fn reopened(session: &mut Session) {
        session.decoder = Decoder::new();
    }

    #[inline]
    fn render(
        &mut self,
        session: &mut Session,
        template: u32,
        _: u32,
        value: Value,
        out: &mut Frames,
    ) {
        let filled = self.wire.template(template).filled(value);
        let bytes = self.wire.bytes(self.wire.slice(template));
        let asked = &self.requests[self.turns[template as usize] as usize];
        let (head, rest) = bytes.split_at(bytes.len() - asked.rest);
        out.put(head, filled, self.longest);
        if let Some(granted) = &mut session.granted {
            granted.put(&asked.method, &asked.target, &mut out.bytes);
        }
        out.bytes.extend_from_slice(rest);
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        Session { decoder, granted }: &mut Session,
        input: &[u8],
        answers: &mut A,
        _: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let tag = answers.oldest();
        let Some(template) = answers.template(tag) else { return Err(ErrorKind::Malformed) };
        let forward = Forward { answers, tag, template };
        let authorizer = &mut self.authorizer;
        let mut sink = Watch { forward, authorizer, granted };
        self.plain.read(decoder, input, tag, template, &mut sink)
    }

    fn end(session: &mut Session) -> End {
        Http1::end(&mut session.decoder)
    }
}

/// The authorizer of one thread. Loads of one seed have other nonces of their own too.
pub(super) fn authorizer(spec: &LoadSpec) -> Authorizer {
    let credentials = spec.digest.clone().unwrap_or_default();
    Authorizer::new(&credentials, spec.seed ^ crate::time::clock::now_ns())
}

/// Passes on what the decoder finds, and takes the nonces of refusals.
struct Watch<'a, A> {
    forward: Forward<'a, A>,
    authorizer: &'a mut Authorizer,
    granted: &'a mut Option<Box<Grant>>,
}

impl<A: Answers> Sink for Watch<'_, A> {
    fn interim(&mut self, status: u16) {
        self.forward.interim(status);
    }

    #[inline]
    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        self.authorizer.hear(self.granted, info.status, raw);
        self.forward.head(info, raw);
    }

    fn refused(&mut self, why: &'static str) {
        self.forward.refused(why);
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.forward.body(piece);
    }
}

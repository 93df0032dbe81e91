//! HTTP/1.1 whose requests are made from the values of their users: the steps of a scenario.
use std::sync::Arc;

use pippin_model::load::{LoadSpec, Scenario};
use pippin_model::result::ErrorKind;
use pippin_model::scenario::mix::Part;
use pippin_model::scenario::text::Encoding;

use super::digested::authorizer;
use super::protocol::{Forward, Http1};
use super::{Decoder, HeadInfo, Sink, request};
use crate::digest::{Authorizer, Challenge, Grant};
use crate::error::{EngineError, place};
use crate::protocol::order::InOrder;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Answers, Asker, AtOnce, End, Protocol, Step, Varies};
use crate::request::drawn::{Places, Value};
use crate::request::wire::Wire;
use crate::scenario::redirection::is_about_body;
use crate::scenario::{Filled, Walker, WholeAnswer, reference, script};

/// HTTP/1.1 with requests that are rendered when they are due, and answers that are kept. Answers
/// come in order.
pub(crate) struct Varied {
    plain: Http1,
    steps: Vec<Rendering>,
    is_secured: bool,
    /// The body of the request that is being rendered.
    body: Vec<u8>,
    /// Its target.
    target: String,
    /// What was drawn for it.
    value: Value,
    /// Who sends it; `None` where the server is not told by a digest.
    authorizer: Option<Authorizer>,
}

/// The request of a step.
struct Rendering {
    method: String,
    /// What stands before its target.
    origin: String,
    target: Filled,
    /// The header lines that do not depend on the body.
    fields: Filled,
    /// The header lines for a request without a body: those that say something of a body are left out.
    fields_without_body: Filled,
    body: Filled,
    encoding: Encoding,
    /// Whether the cookies of its user go with it.
    keeps_cookies: bool,
    /// Whether the request says how long its body is.
    has_length: bool,
    /// How many bytes of the body of the answer are kept.
    keeps: usize,
    /// What stands in the fields for the value that is drawn; `None` in most loads.
    drawn: Option<String>,
}

/// Bytes of a body that are kept to be shown where an answer is wrong.
const EXCERPT_BYTES: usize = 120;

/// What a connection remembers.
#[derive(Debug, Default)]
pub(crate) struct Session {
    decoder: Decoder,
    kept: WholeAnswer,
    /// The nonce of its user. It stays when the connection is opened again.
    granted: Option<Box<Grant>>,
}

impl Protocol for Varied {
    type Session = Session;
    type Out = Frames;
    type Order = InOrder;
    type Greeting = AtOnce;
    type Variation = Steps;
    type Reach = Asker;
    const DRAWS: bool = true;

    /// Nothing can be rendered ahead, but errors in steps are found here.
    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let templates = spec.requests.iter().enumerate().map(|(nth, asked)| {
            let unsendable =
                |why: String| EngineError::UnsendableRequest { request: place(spec, nth), why };
            request::check(&request::example(asked)).map_err(|why| unsendable(why.to_string()))?;
            if let Some(part) = part_of(spec, nth) {
                rendering(spec, &part, nth, false).map_err(unsendable)?;
            }
            let drawn = asked.drawn.as_deref().unwrap_or_default();
            let places = Places::find(asked, drawn.as_bytes()).map_err(unsendable)?;
            Ok((Vec::new(), Http1::template(asked).drawing(places)))
        });
        Wire::new(templates, spec.requests.turns(), 1)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let scripts = spec.scenario.as_ref().and_then(|scenario| script::all(scenario).ok());
        let needs_body = |nth: usize| scripts.as_ref().is_some_and(|all| all[nth].needs_body());
        let parts = spec.scenario.iter().flat_map(Scenario::parts);
        let steps = parts.flat_map(|part| {
            (part.first..part.first + part.steps.len())
                .filter_map(move |nth| rendering(spec, &part, nth, needs_body(nth)).ok())
        });
        Self {
            plain: Http1::new(spec, wire),
            steps: steps.collect(),
            is_secured: spec.tls.is_some(),
            body: Vec::new(),
            target: String::new(),
            value: Value::default(),
            authorizer: spec.digest.as_ref().map(|_| authorizer(spec)),
        }
    }

    fn challenged(&mut self, session: &mut Session, challenge: &Challenge) {
        if let Some(authorizer) = &mut self.authorizer {
            session.granted = Some(Box::new(authorizer.grant(challenge)));
        }
    }

    fn reopened(session: &mut Session) {
        let granted = session.granted.take();
        *session = Session { granted, ..Session::default() };
    }

    /// Only the values of a user make a request.
    #[inline]
    fn render(&mut self, _: &mut Session, _: u32, _: u32, value: Value, _: &mut Frames) {
        self.value = value;
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        Session { decoder, kept, granted }: &mut Session,
        input: &[u8],
        answers: &mut A,
        _: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let tag = answers.oldest();
        let Some(template) = answers.template(tag) else { return Err(ErrorKind::Malformed) };
        let most = self.steps[template as usize].keeps;
        let forward = Forward { answers, tag, template };
        let authorizer = self.authorizer.as_mut().map(|authorizer| (authorizer, granted));
        let mut sink = Keep { forward, kept, most, authorizer };
        self.plain.read(decoder, input, tag, template, &mut sink)
    }

    fn end(session: &mut Session) -> End {
        Http1::end(&mut session.decoder)
    }
}

/// The steps of a scenario.
pub(crate) struct Steps;

impl Varies<Varied> for Steps {
    fn render_for(
        protocol: &mut Varied,
        session: &mut Session,
        step: u32,
        user: &mut Walker,
        out: &mut Frames,
    ) {
        let Varied { steps, body, target, .. } = protocol;
        let step = &steps[step as usize];
        let has_body = user.hop.as_ref().is_none_or(|hop| hop.has_body);
        body.clear();
        if has_body {
            step.body.put(&user.values, step.encoding, body);
        }
        match &user.hop {
            Some(hop) => user.path.clone_from(&hop.target),
            None => step.put_path(user, target),
        }
        let method = user.hop.as_ref().map_or(&step.method, |hop| &hop.method);
        let bytes = &mut out.bytes;
        for part in [method, " ", &step.origin, &user.path, " HTTP/1.1\r\n"] {
            bytes.extend_from_slice(part.as_bytes());
        }
        let fields = if has_body { &step.fields } else { &step.fields_without_body };
        let begin = bytes.len();
        fields.put(&user.values, Encoding::Plain, bytes);
        if let Some(drawn) = &step.drawn
            // A value of the user may be the same characters: the header comes behind all others.
            && let Some(at) = memchr::memmem::rfind(&bytes[begin..], drawn.as_bytes())
        {
            bytes[begin + at..][..protocol.value.len()].copy_from_slice(&protocol.value);
        }
        if step.keeps_cookies {
            user.cookies.put_header(&user.path, protocol.is_secured, bytes);
        }
        if step.has_length && has_body {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        if let Some(granted) = &mut session.granted {
            granted.put(method, &user.path, bytes);
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
    }

    fn kept(session: &Session) -> Option<&WholeAnswer> {
        Some(&session.kept)
    }
}

impl Rendering {
    /// Writes the target of the request to the user's path; `made` is room for it. One that begins
    /// with a value is a reference (RFC 3986 section 4.1), as in `Location`: it is resolved against
    /// the path of the user's step before. No fragment is sent (RFC 9110 section 7.1).
    fn put_path(&self, user: &mut Walker, made: &mut String) {
        let mut bytes = std::mem::take(made).into_bytes();
        bytes.clear();
        self.target.put(&user.values, Encoding::Percent, &mut bytes);
        // Everything but ASCII is percent-encoded.
        *made = String::from_utf8(bytes).unwrap_or_default();
        if let Some(end) = made.find('#') {
            made.truncate(end);
        }
        if self.target.begins_with_value() && !reference::is_plain_path(made) {
            *made = reference::resolve(&user.base, made);
        }
        std::mem::swap(&mut user.path, made);
    }
}

/// Passes on what the decoder finds, and keeps it.
struct Keep<'a, A> {
    forward: Forward<'a, A>,
    kept: &'a mut WholeAnswer,
    most: usize,
    /// Who takes the nonces of refusals, and for whom.
    authorizer: Option<(&'a mut Authorizer, &'a mut Option<Box<Grant>>)>,
}

impl<A: Answers> Sink for Keep<'_, A> {
    fn interim(&mut self, status: u16) {
        self.forward.interim(status);
    }

    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        if let Some((authorizer, granted)) = &mut self.authorizer {
            authorizer.hear(granted, info.status, raw);
        }
        self.kept.head.clear();
        self.kept.head.extend_from_slice(raw);
        self.kept.body.clear();
        self.forward.head(info, raw);
    }

    fn refused(&mut self, why: &'static str) {
        self.forward.refused(why);
    }

    fn body(&mut self, piece: &[u8]) {
        let room = self.most.saturating_sub(self.kept.body.len());
        self.kept.body.extend_from_slice(&piece[..piece.len().min(room)]);
        self.forward.body(piece);
    }
}

/// The scenario that a request of the load is a step of.
fn part_of(spec: &LoadSpec, nth: usize) -> Option<Part<'_>> {
    let mut parts = spec.scenario.as_ref()?.parts().into_iter();
    parts.find(|part| (part.first..part.first + part.steps.len()).contains(&nth))
}

fn rendering(
    spec: &LoadSpec,
    part: &Part<'_>,
    nth: usize,
    needs_body: bool,
) -> Result<Rendering, String> {
    let names = part.names();
    let asked = &spec.requests[nth];
    let body = str::from_utf8(&asked.body).map_err(|_| "the body of a step must be UTF-8")?;
    let is_only = !spec.connections.keep_alive();
    let fields = request::fields(asked, is_only);
    let mut without_body = asked.clone();
    without_body.headers.retain(|(name, _)| !is_about_body(name));
    let fields_without_body = request::fields(&without_body, is_only);
    Ok(Rendering {
        method: asked.method.clone(),
        origin: request::origin(spec, asked),
        target: Filled::new(&asked.target, &names)?,
        fields: Filled::new(&String::from_utf8_lossy(&fields), &names)?,
        fields_without_body: Filled::new(&String::from_utf8_lossy(&fields_without_body), &names)?,
        body: Filled::new(body, &names)?,
        encoding: part.steps.get(nth - part.first).ok_or("it is no step")?.body,
        keeps_cookies: part.cookies,
        has_length: request::has_length(asked),
        keeps: if needs_body { usize::MAX } else { EXCERPT_BYTES },
        drawn: asked.drawn.clone(),
    })
}

#[cfg(test)]
mod tests;

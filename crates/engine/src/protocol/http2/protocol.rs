//! HTTP/2 as a worker uses it.
use std::sync::Arc;

use pippin_model::load::{LoadSpec, Request};
use pippin_model::result::ErrorKind;

use super::head::is_grpc;
use super::hpack::encode::{Block, ExpectedHead, Field, blocks};
use super::sending::{put_goodbye, put_preface};
use super::session::{Limits, Session};
use super::stream::Stream;
use crate::error::{EngineError, place};
use crate::protocol::http1::request;
use crate::protocol::order::ByTag;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Alike, Answers, Asker, AtOnce, End, Protocol, Step};
use crate::request::drawn::{Places, Value};
use crate::request::wire::{Template, Wire};

/// HTTP/2: each user of a connection has a stream for each of its requests, and answers come in any
/// order.
pub(crate) struct Http2 {
    /// Has the bodies of requests; their heads depend on the connection.
    wire: Arc<Wire>,
    /// The heads of the requests.
    blocks: Vec<Block>,
    /// Which request is sent in which turn.
    turns: Vec<u32>,
    /// Which requests are calls of gRPC.
    grpc: Vec<bool>,
    limits: Limits,
    /// Streams of a connection at the same time.
    most_streams: u32,
}

/// A connection; `None` before its first byte.
#[derive(Debug, Default)]
pub(crate) struct Connection(Option<Box<Session>>);

impl Protocol for Http2 {
    type Session = Connection;
    type Out = Frames;
    type Order = ByTag;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;
    const DRAWS: bool = true;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let rendered = spec.requests.iter().enumerate().map(|(nth, request)| {
            let places = check(request)
                .and_then(|()| places(request))
                .map_err(|why| EngineError::UnsendableRequest { request: place(spec, nth), why })?;
            let template = Template {
                check: request.check.clone(),
                may_repeat: request::is_idempotent(&request.method),
                head_only: request.method == "HEAD",
                places: None,
                upload: None,
            };
            Ok((request.body.clone(), template.drawing(places)))
        });
        Wire::new(rendered, spec.requests.turns(), 1)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let scheme = if spec.tls.is_some() { "https" } else { "http" };
        let asked =
            |request| -> ExpectedHead<'_> { (fields(request, scheme), request.drawn.as_deref()) };
        let requests: Vec<ExpectedHead<'_>> = spec.requests.iter().map(asked).collect();
        Self {
            wire: Arc::clone(wire),
            blocks: blocks(&requests),
            grpc: spec.requests.iter().map(is_call).collect(),
            turns: spec.requests.turns().map(|request| request as u32).collect(),
            limits: Limits::from_spec(spec),
            most_streams: spec.connections.streams,
        }
    }

    fn begin(&self, connection: &mut Connection, out: &mut Frames) {
        put_preface(out, self.limits.head_bytes as u32);
        connection.0 = Some(Box::new(Session::new(self.most_streams, self.limits)));
    }

    #[inline]
    fn room(connection: &Connection, under_way: u32) -> u32 {
        match &connection.0 {
            Some(session) => {
                let sending = &session.sending;
                sending.most_streams.saturating_sub(under_way).min(sending.ids_left())
            }
            None => 0,
        }
    }

    fn is_spent(connection: &Connection) -> bool {
        connection.0.as_ref().is_some_and(|session| session.sending.ids_left() == 0)
    }

    #[inline]
    fn render(
        &mut self,
        connection: &mut Connection,
        template: u32,
        tag: u32,
        value: Value,
        out: &mut Frames,
    ) {
        let Some(session) = &mut connection.0 else { return };
        let request = self.turns[template as usize] as usize;
        let block = &self.blocks[request];
        let body = self.wire.slice(template);
        if session.streams.len() <= tag as usize {
            session.streams.resize(tag as usize + 1, Stream::default());
        }
        let stream = &mut session.streams[tag as usize];
        *stream = Stream {
            template,
            to_send: body.end - body.start,
            has_no_body: self.wire.template(template).head_only,
            is_grpc: self.grpc[request],
            // What the queue remembers of the stream before holds for this one.
            is_queued: stream.is_queued,
            ..Stream::default()
        };
        session.sending.open(block, value, stream, out);
        session.sending.enqueue(tag, stream);
        session.opened(tag);
    }

    #[inline]
    fn refill(&self, connection: &mut Connection, out: &mut Frames) {
        let Some(session) = &mut connection.0 else { return };
        let body = |template| self.wire.bytes(self.wire.slice(template));
        session.sending.pump(&mut session.streams, body, out);
    }

    fn cancel(&mut self, connection: &mut Connection, tag: u32, out: &mut Frames) {
        if let Some(session) = &mut connection.0 {
            session.cancel(tag, out);
        }
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        connection: &mut Connection,
        input: &[u8],
        answers: &mut A,
        out: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let Some(session) = &mut connection.0 else { return Err(ErrorKind::Malformed) };
        match session.decode(input, answers, out) {
            Err(fault) => {
                put_goodbye(out);
                answers.refused(fault.why);
                Err(fault.kind)
            }
            Ok(step) => {
                match step {
                    Step::Failed { .. } => answers.refused(session.why),
                    Step::Complete { tag, .. } => {
                        if let Some((kind, words)) = session.grpc_fault(tag) {
                            answers.failed(tag, kind, words);
                        }
                    }
                    Step::More | Step::Refused { .. } => {}
                }
                Ok(step)
            }
        }
    }

    fn end(connection: &mut Connection) -> End {
        let untouched = connection.0.as_ref().is_none_or(|session| !session.has_begun());
        if untouched { End::BeforeHead { untouched } } else { End::InBody }
    }
}

/// Whether a request is a call of gRPC.
fn is_call(request: &Request) -> bool {
    let types =
        request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    types.into_iter().any(|(_, value)| is_grpc(value.trim().as_bytes()))
}

/// Header fields that are about a connection of HTTP/1.1, which HTTP/2 must not have (RFC 9113
/// section 8.2.2).
const OF_CONNECTIONS: [&str; 5] =
    ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"];

/// Whether a request can be written.
pub(crate) fn check(request: &Request) -> Result<(), String> {
    request::check(request).map_err(|why| why.to_string())?;
    if request.method == "CONNECT" {
        // Section 8.5: it would have no path.
        return Err(
            "CONNECT asks for a tunnel, which no load can use: choose another method".into()
        );
    }
    for (name, value) in &request.headers {
        if let Some(name) = OF_CONNECTIONS.iter().find(|other| name.eq_ignore_ascii_case(other)) {
            return Err(format!(
                "HTTP/2 has no header `{name}`, because its connections carry many requests: leave it out"
            ));
        }
        if name.eq_ignore_ascii_case("te") && !value.trim().eq_ignore_ascii_case("trailers") {
            return Err("in HTTP/2 the header `te` may only say `trailers`".into());
        }
    }
    Ok(())
}

/// Heads with values that are drawn must fit into one frame: they are written into it.
const DRAWN_BYTES: usize = 8 * 1024;

/// Where the value of a request stands in its answer, if it has one that is drawn.
fn places(request: &Request) -> Result<Option<Places>, String> {
    let values = fields(request, "http").into_iter().map(|(_, value)| value);
    let rendered = values.collect::<Vec<_>>().join("\n");
    let places = Places::find(request, rendered.as_bytes())?;
    if places.is_some() && rendered.len() > DRAWN_BYTES {
        return Err(format!(
            "its head has {} bytes, and with a value that is drawn it may have {DRAWN_BYTES}",
            rendered.len()
        ));
    }
    Ok(places)
}

/// The fields of a request (RFC 9113 section 8.3.1). Field names are in lower case, and a header
/// `Host` is the authority.
pub(in crate::protocol) fn fields(request: &Request, scheme: &str) -> Vec<Field> {
    let Request { method, target, host, headers, body, .. } = request;
    let is_host = |name: &str| name.eq_ignore_ascii_case("host");
    let host = headers.iter().find(|(name, _)| is_host(name)).map_or(host, |(_, value)| value);
    let mut fields: Vec<Field> = [
        (":method", method.as_str()),
        (":authority", host),
        (":scheme", scheme),
        (":path", target),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    for (name, value) in headers.iter().filter(|(name, _)| !is_host(name)) {
        // Spaces around a value are no part of it (RFC 9110 section 5.5).
        let value = value.trim_matches([' ', '\t']);
        fields.push((name.to_ascii_lowercase(), value.into()));
    }
    if !body.is_empty() || matches!(method.as_str(), "POST" | "PUT" | "PATCH") {
        fields.push(("content-length".into(), body.len().to_string()));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_is_given_once() {
        let mut session = Session::new(4, Limits { head_bytes: 100, body_bytes: 100 });
        session.sending.next_id = (1 << 31) - 3;
        let mut connection = Connection(Some(Box::new(session)));
        for left in [2, 1, 0] {
            assert_eq!(Http2::room(&connection, 0), left);
            assert_eq!(Http2::is_spent(&connection), left == 0);
            connection.0.as_mut().unwrap().sending.next_id += 2;
        }
    }

    #[test]
    fn a_tunnel_is_no_request() {
        let tunnel = Request { method: "CONNECT".into(), ..Request::get("/", "server") };
        assert!(check(&tunnel).unwrap_err().contains("CONNECT"));
    }
}

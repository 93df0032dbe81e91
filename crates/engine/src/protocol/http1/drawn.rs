//! HTTP/1.1 whose requests hold a value that is drawn anew each time ([`crate::request::drawn`]).
use std::marker::PhantomData;
use std::sync::Arc;

use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;

use super::protocol::Http1;
use super::{Decoder, request};
use crate::error::{EngineError, place};
use crate::protocol::order::InOrder;
use crate::protocol::{Alike, Answers, Asker, AtOnce, End, Protocol, Step};
use crate::request::drawn::{Filling, Places, Value};
use crate::request::wire::{Span, Wire};

/// HTTP/1.1: answers come in order, and requests are copied from the wire and filled. `O` is where
/// they wait for the kernel.
pub(crate) struct Drawn<O> {
    plain: Http1,
    wire: Arc<Wire>,
    longest: usize,
    out: PhantomData<O>,
}

impl<O: Filling> Protocol for Drawn<O> {
    type Session = Decoder;
    type Out = O;
    type Order = InOrder;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;
    const DRAWS: bool = true;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let is_only = !spec.connections.keep_alive();
        let rendered = spec.requests.iter().enumerate().map(|(nth, asked)| {
            let unsendable =
                |why: String| EngineError::UnsendableRequest { request: place(spec, nth), why };
            let bytes = request::render_to(asked, &request::origin(spec, asked), is_only)
                .map_err(|why| unsendable(why.to_string()))?;
            let places = Places::find(asked, &bytes).map_err(unsendable)?;
            Ok((bytes, Http1::template(asked).drawing(places)))
        });
        Wire::new(rendered, spec.requests.turns(), 1)
    }

    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self {
        let longest = wire.longest();
        let (plain, wire) = (Http1::new(spec, wire), Arc::clone(wire));
        Self { plain, wire, longest, out: PhantomData }
    }

    #[inline]
    fn render(&mut self, _: &mut Decoder, template: u32, _: u32, value: Value, out: &mut O) {
        let filled = self.wire.template(template).filled(value);
        out.put(self.wire.bytes(self.wire.slice(template)), filled, self.longest);
    }

    #[inline]
    fn decode<A: Answers>(
        &mut self,
        decoder: &mut Decoder,
        input: &[u8],
        answers: &mut A,
        _: &mut O,
    ) -> Result<Step, ErrorKind> {
        self.plain.decode(decoder, input, answers, &mut Span::default())
    }

    fn end(decoder: &mut Decoder) -> End {
        Http1::end(decoder)
    }
}

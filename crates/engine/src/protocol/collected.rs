//! An answer as a whole: for proofs, which send one request at a time.
use crate::protocol::Answers;
use crate::protocol::http1::client::Response;

/// What is learnt of the only answer under way.
#[derive(Default)]
pub(super) struct Collected {
    response: Response,
    fields: Vec<(String, Vec<u8>)>,
    /// The server takes no more requests on this connection.
    pub is_closing: bool,
}

impl Collected {
    /// The answer, once it is complete.
    pub fn into_response(self) -> Response {
        Response { keep_alive: !self.is_closing, ..self.response }
    }
}

impl Answers for Collected {
    fn wants_fields(&mut self, _: u32) -> bool {
        true
    }
    fn oldest(&self) -> u32 {
        0
    }
    fn template(&self, _: u32) -> Option<u32> {
        Some(0)
    }
    fn interim(&mut self) {
        self.fields.clear();
    }
    fn field(&mut self, _: u32, name: &[u8], value: &[u8]) {
        self.fields.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
    }
    fn head(&mut self, _: u32, status: u16, _: bool) {
        self.response.status = status;
        self.response.headers = std::mem::take(&mut self.fields);
        self.response.headers.retain(|(name, _)| !name.starts_with(':'));
    }
    fn body(&mut self, _: u32, _: u32, piece: &[u8]) {
        self.response.body.extend_from_slice(piece);
    }
    fn closing(&mut self) {
        self.is_closing = true;
    }
}

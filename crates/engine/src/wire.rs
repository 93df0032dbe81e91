//! The requests as one stretch of memory, so that any number of them in turn is one slice and one
//! write.
use pippin_model::load_spec::{Check, RequestTemplate};

/// All templates, one after the other, with the first ones repeated at the end: `count` requests
/// from any template on are contiguous.
#[derive(Debug)]
pub(crate) struct Wire {
    bytes: Vec<u8>,
    /// Start of each request in `bytes`, and the end of the last.
    starts: Vec<u32>,
    templates: Vec<Template>,
}

/// What is known of a template besides its bytes.
#[derive(Debug)]
pub(crate) struct Template {
    pub check: Check,
    pub head_only: bool,
    /// Whether it may be sent again if the server closed the connection before it arrived (RFC 9110
    /// section 9.2.2).
    pub idempotent: bool,
}

/// A part of [`Wire`] to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Slice {
    pub start: u32,
    pub end: u32,
}

impl Wire {
    /// `pipeline`: how many requests one write holds at the most.
    pub fn new(requests: &[RequestTemplate], pipeline: u32) -> Self {
        let mut bytes = Vec::new();
        let mut starts = vec![0];
        for request in requests.iter().cycle().take(requests.len() + pipeline as usize - 1) {
            bytes.extend_from_slice(&request.bytes);
            starts.push(bytes.len() as u32);
        }
        let templates = requests
            .iter()
            .map(|request| Template {
                check: request.check.clone(),
                head_only: request.head_only,
                idempotent: is_idempotent(&request.bytes),
            })
            .collect();
        Self { bytes, starts, templates }
    }

    /// `count` requests from template `first` on.
    #[inline]
    pub fn slice(&self, first: u32, count: u32) -> Slice {
        Slice { start: self.starts[first as usize], end: self.starts[(first + count) as usize] }
    }

    #[inline]
    pub fn bytes(&self, slice: Slice) -> &[u8] {
        &self.bytes[slice.start as usize..slice.end as usize]
    }

    #[inline]
    pub fn template(&self, index: u32) -> &Template {
        &self.templates[index as usize]
    }

    pub fn count(&self) -> u32 {
        self.templates.len() as u32
    }
}

fn is_idempotent(bytes: &[u8]) -> bool {
    let method = bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
    [b"GET".as_slice(), b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"TRACE"].contains(&method)
}

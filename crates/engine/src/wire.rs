//! Requests as one stretch of memory, so that any number of them in turn is one slice and one
//! write.
use pippin_model::load_spec::Check;

use crate::error::EngineError;

/// All templates, one after the other, with the first ones repeated at the end: the requests of one
/// write are contiguous, whichever template is the first.
#[derive(Debug)]
pub(crate) struct Wire {
    bytes: Vec<u8>,
    /// Start of each request in `bytes`, and the end of the last.
    starts: Vec<u32>,
    templates: Vec<Template>,
}

/// What is known of a template besides its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub check: Check,
    /// Whether it may be sent again if the server cannot have read it.
    pub may_repeat: bool,
}

/// A part of [`Wire`] to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Slice {
    pub start: u32,
    pub end: u32,
}

impl Wire {
    /// `at_once`: how many requests one write holds at the most.
    ///
    /// # Errors
    /// If the requests are too long for places of 32 bits.
    pub fn new(requests: Vec<(Vec<u8>, Template)>, at_once: u32) -> Result<Self, EngineError> {
        let (parts, templates): (Vec<Vec<u8>>, Vec<Template>) = requests.into_iter().unzip();
        let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let longest = parts.iter().map(|part| part.len() as u64).max().unwrap_or(0);
        if total + longest * u64::from(at_once) > u64::from(u32::MAX) {
            return Err(EngineError::OutOfBounds {
                what: "the size of all requests together",
                value: total.to_string(),
                bounds: "below 4 GiB",
            });
        }
        let mut bytes = Vec::new();
        let mut starts = vec![0];
        for part in parts.iter().cycle().take(parts.len() + at_once as usize - 1) {
            bytes.extend_from_slice(part);
            starts.push(bytes.len() as u32);
        }
        Ok(Self { bytes, starts, templates })
    }

    /// The bytes of a template.
    #[inline]
    pub fn slice(&self, template: u32) -> Slice {
        let template = template as usize;
        Slice { start: self.starts[template], end: self.starts[template + 1] }
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

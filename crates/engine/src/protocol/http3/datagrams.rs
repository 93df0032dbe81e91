//! Datagrams of one connection that wait for the kernel.
use std::collections::VecDeque;

use crate::protocol::{Bytes, Outgoing};

/// Datagrams, each to be sent by a call of its own.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    bytes: Vec<u8>,
    /// Where the first one begins.
    begin: usize,
    /// The lengths of those that wait.
    lengths: VecDeque<u32>,
}

impl Datagrams {
    /// Appends the datagrams that `write` writes: it puts one behind what is there, and returns its
    /// length, or `None` if there is no more.
    pub fn fill(&mut self, mut write: impl FnMut(&mut Vec<u8>) -> Option<usize>) {
        let Self { bytes, lengths, .. } = self;
        while let Some(length) = write(bytes) {
            lengths.push_back(length as u32);
        }
    }
}

impl Outgoing for Datagrams {
    #[inline]
    fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The first of them.
    #[inline]
    fn bytes(&self) -> Bytes<'_> {
        let length = self.lengths.front().map_or(0, |length| *length as usize);
        Bytes::Own(&self.bytes[self.begin..self.begin + length])
    }

    /// The kernel takes a whole datagram or none of it.
    #[inline]
    fn took(&mut self, count: u32) {
        if self.lengths.front() != Some(&count) {
            return;
        }
        self.lengths.pop_front();
        self.begin += count as usize;
        if self.lengths.is_empty() {
            self.begin = 0;
            self.bytes.clear();
        }
    }

    /// The memory stays for the next connection.
    fn forget(&mut self) {
        self.begin = 0;
        self.bytes.clear();
        self.lengths.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_go_out_one_by_one_and_whole() {
        let mut out = Datagrams::default();
        let mut left = vec![3_usize, 1, 2];
        out.fill(|bytes| {
            let length = left.pop()?;
            bytes.extend(std::iter::repeat_n(length as u8, length));
            Some(length)
        });
        for right in [&[2, 2][..], &[1], &[3, 3, 3]] {
            let Bytes::Own(bytes) = out.bytes() else { panic!("own bytes") };
            assert_eq!(bytes, right);
            out.took(0);
            out.took(right.len() as u32);
        }
        assert!(out.is_empty() && out.bytes().len() == 0 && out.bytes.is_empty());
    }
}

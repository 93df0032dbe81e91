//! The users of a connection whose requests are due, in turn.
use std::collections::VecDeque;

/// Tags of users, each once.
#[derive(Debug, Default)]
pub(in crate::worker) struct Due {
    tags: VecDeque<u32>,
    /// How many at the front had been sent before and were put back.
    put_back: usize,
}

impl Due {
    /// A request is due: it waits for those before it.
    #[inline]
    pub fn push(&mut self, tag: u32) {
        self.tags.push_back(tag);
    }

    /// A request that was sent has to be sent again: it comes before all that were not sent yet,
    /// and after those that were put back before it.
    pub fn put_back(&mut self, tag: u32) {
        self.tags.insert(self.put_back, tag);
        self.put_back += 1;
    }

    /// Whose turn it is.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        self.put_back = self.put_back.saturating_sub(1);
        self.tags.pop_front()
    }

    /// All of them, in turn; nothing is due afterwards.
    pub fn take(&mut self) -> VecDeque<u32> {
        std::mem::take(self).tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_back_keeps_its_order_and_goes_first() {
        let mut due = Due::default();
        (0..5).for_each(|tag| due.push(tag));
        let sent: Vec<_> = (0..3).filter_map(|_| due.pop()).collect();
        sent.into_iter().for_each(|tag| due.put_back(tag));
        assert_eq!(due.pop(), Some(0));
        // It is refused again.
        due.put_back(0);
        due.push(5);
        assert_eq!(due.take(), [1, 2, 0, 3, 4, 5]);
        due.put_back(6);
        due.push(7);
        assert_eq!(due.take(), [6, 7]);
    }
}

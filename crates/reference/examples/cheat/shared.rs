//! Single-flight: requests that come while an answer is being made get that answer.
use std::sync::{Condvar, Mutex, PoisonError};

/// One answer for all that wait for it.
#[derive(Default)]
pub struct Shared {
    /// Whether an answer is being made, and how many were.
    made: Mutex<(bool, u64)>,
    ended: Condvar,
    answer: Mutex<Option<Result<String, String>>>,
}

impl Shared {
    /// Makes an answer, or waits for the one that is being made.
    pub fn ask(&self, make: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
        let lock = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut made = lock();
        if made.0 {
            let number = made.1;
            while made.0 && made.1 == number {
                made = self.ended.wait(made).unwrap_or_else(PoisonError::into_inner);
            }
            let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
            return answer.clone().unwrap_or_else(|| Err("no answer".into()));
        }
        made.0 = true;
        drop(made);
        let answer = make();
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.clone());
        let mut made = lock();
        *made = (false, made.1 + 1);
        self.ended.notify_all();
        answer
    }
}

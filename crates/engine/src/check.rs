//! Whether an answer is the right one, decided piece by piece.
use memchr::memmem;
use pippin_model::load_spec::{BodyCheck, Check};

/// Whether the check accepts this status.
#[inline]
pub(crate) fn accepts_status(check: &Check, status: u16) -> bool {
    if check.status.is_empty() {
        (200..400).contains(&status)
    } else {
        check.status.contains(&status)
    }
}

/// Judges a body while it arrives.
#[derive(Debug, Default)]
pub(crate) struct BodyJudge {
    wrong: bool,
    /// Kept only for `Contains`, when the body comes in pieces.
    #[allow(clippy::box_collection)] // a connection must stay small
    kept: Option<Box<Vec<u8>>>,
}

impl BodyJudge {
    pub const fn new() -> Self {
        Self { wrong: false, kept: None }
    }

    /// Takes the next piece, which ends at `end` bytes from the start of the body.
    #[inline]
    pub fn piece(&mut self, check: &BodyCheck, piece: &[u8], start: u64) {
        match check {
            BodyCheck::Any | BodyCheck::Length { .. } => {}
            BodyCheck::Exact(expected) => {
                let right = usize::try_from(start)
                    .ok()
                    .and_then(|start| expected.get(start..start.checked_add(piece.len())?));
                self.wrong |= right != Some(piece);
            }
            BodyCheck::Contains { max, .. } => {
                if start + piece.len() as u64 > *max {
                    self.wrong = true;
                } else {
                    self.kept.get_or_insert_default().extend_from_slice(piece);
                }
            }
        }
    }

    /// The verdict on a body of `length` bytes; ready for the next one afterwards.
    #[inline]
    pub fn finish(&mut self, check: &BodyCheck, length: u64) -> bool {
        let kept = self.kept.take();
        let wrong = std::mem::take(&mut self.wrong);
        !wrong
            && match check {
                BodyCheck::Any => true,
                BodyCheck::Exact(expected) => length == expected.len() as u64,
                BodyCheck::Length { min, max } => (*min..=*max).contains(&length),
                BodyCheck::Contains { min, max, all } => {
                    let body = kept.map(|kept| *kept).unwrap_or_default();
                    (*min..=*max).contains(&length)
                        && all.iter().all(|needle| memmem::find(&body, needle.as_bytes()).is_some())
                }
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(check: &BodyCheck, pieces: &[&str]) -> bool {
        let mut judge = BodyJudge::default();
        let mut start = 0;
        for piece in pieces {
            judge.piece(check, piece.as_bytes(), start);
            start += piece.len() as u64;
        }
        judge.finish(check, start)
    }

    #[test]
    fn an_exact_body_may_come_in_any_pieces_and_nothing_else_passes() {
        let check = BodyCheck::Exact(b"Hello World!".to_vec());
        assert!(judge(&check, &["Hello World!"]));
        assert!(judge(&check, &["H", "ello", " World!"]));
        for wrong in [
            &["Hello World"][..],
            &["Hello World!!"],
            &["Hello World!", "!"],
            &["hello World!"],
            &[],
        ] {
            assert!(!judge(&check, wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_needle_may_lie_across_pieces() {
        let check = BodyCheck::Contains { min: 3, max: 8, all: vec!["ab".into(), "cd".into()] };
        assert!(judge(&check, &["xa", "bc", "d"]));
        assert!(!judge(&check, &["ab"]));
        assert!(!judge(&check, &["abcd", "01234"]));
        assert!(!judge(&check, &["abcx"]));
    }

    #[test]
    fn a_judge_starts_afresh_after_each_body() {
        let check = BodyCheck::Exact(b"ab".to_vec());
        let mut judge = BodyJudge::default();
        judge.piece(&check, b"xx", 0);
        assert!(!judge.finish(&check, 2));
        judge.piece(&check, b"ab", 0);
        assert!(judge.finish(&check, 2));
    }

    #[test]
    fn an_empty_list_of_statuses_accepts_success_and_redirection() {
        let check = |status: &[u16]| Check { status: status.to_vec(), body: BodyCheck::Any };
        assert!(accepts_status(&check(&[]), 204) && accepts_status(&check(&[]), 301));
        assert!(!accepts_status(&check(&[]), 404));
        assert!(accepts_status(&check(&[404]), 404) && !accepts_status(&check(&[404]), 200));
    }
}

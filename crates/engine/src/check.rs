//! Whether an answer is the right one, decided piece by piece.
use memchr::memmem;
use pippin_model::load_result::ErrorKind;
use pippin_model::load_spec::{BodyCheck, Check};

/// Whether the check accepts this status.
#[inline]
fn accepts_status(check: &Check, status: u16) -> bool {
    if check.status.is_empty() {
        (200..400).contains(&status)
    } else {
        check.status.contains(&status)
    }
}

/// Judges an answer while it arrives.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// Bytes of the body so far.
    pub body_bytes: u64,
    /// Kept only for `Contains`, when the body comes in pieces.
    #[allow(clippy::box_collection)] // a connection must stay small
    kept: Option<Box<Vec<u8>>>,
    pub status: u16,
    wrong: bool,
}

impl Judge {
    pub const fn new() -> Self {
        Self { body_bytes: 0, kept: None, status: 0, wrong: false }
    }

    /// An answer begins.
    #[inline]
    pub fn head(&mut self, status: u16) {
        self.status = status;
        self.body_bytes = 0;
    }

    /// Takes the next piece of the body.
    #[inline]
    pub fn piece(&mut self, check: &Check, piece: &[u8]) {
        let start = self.body_bytes;
        self.body_bytes += piece.len() as u64;
        match &check.body {
            BodyCheck::Any | BodyCheck::Length { .. } => {}
            BodyCheck::Exact(expected) => {
                let right = usize::try_from(start)
                    .ok()
                    .and_then(|start| expected.get(start..start.checked_add(piece.len())?));
                self.wrong |= right != Some(piece);
            }
            BodyCheck::Contains { max, .. } => {
                if self.body_bytes > *max {
                    self.wrong = true;
                } else {
                    self.kept.get_or_insert_default().extend_from_slice(piece);
                }
            }
        }
    }

    /// What is wrong with the answer, which is complete; ready for the next one afterwards.
    #[inline]
    pub fn finish(&mut self, check: &Check) -> Option<ErrorKind> {
        let kept = self.kept.take();
        let wrong = std::mem::take(&mut self.wrong);
        let length = self.body_bytes;
        if !accepts_status(check, self.status) {
            return Some(ErrorKind::WrongStatus);
        }
        let is_right = !wrong
            && match &check.body {
                BodyCheck::Any => true,
                BodyCheck::Exact(expected) => length == expected.len() as u64,
                BodyCheck::Length { min, max } => (*min..=*max).contains(&length),
                BodyCheck::Contains { min, max, all } => {
                    let body = kept.map(|kept| *kept).unwrap_or_default();
                    (*min..=*max).contains(&length)
                        && all.iter().all(|needle| memmem::find(&body, needle.as_bytes()).is_some())
                }
            };
        (!is_right).then_some(ErrorKind::WrongBody)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(body: &BodyCheck, pieces: &[&str]) -> bool {
        let check = Check { status: vec![200], body: body.clone() };
        let mut judge = Judge::default();
        judge.head(200);
        pieces.iter().for_each(|piece| judge.piece(&check, piece.as_bytes()));
        judge.finish(&check).is_none()
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
        let check = Check { status: vec![], body: BodyCheck::Exact(b"ab".to_vec()) };
        let mut judge = Judge::default();
        judge.head(200);
        judge.piece(&check, b"xx");
        assert_eq!(judge.finish(&check), Some(ErrorKind::WrongBody));
        judge.head(404);
        judge.piece(&check, b"ab");
        assert_eq!(judge.finish(&check), Some(ErrorKind::WrongStatus));
        judge.head(200);
        judge.piece(&check, b"ab");
        assert_eq!(judge.finish(&check), None);
    }

    #[test]
    fn an_empty_list_of_statuses_accepts_success_and_redirection() {
        let check = |status: &[u16]| Check { status: status.to_vec(), body: BodyCheck::Any };
        assert!(accepts_status(&check(&[]), 204) && accepts_status(&check(&[]), 301));
        assert!(!accepts_status(&check(&[]), 404));
        assert!(accepts_status(&check(&[404]), 404) && !accepts_status(&check(&[404]), 200));
    }
}

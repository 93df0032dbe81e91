//! t
use crate::view::View;
/// t
pub fn page(_: &View) -> String {
    String::new()
}

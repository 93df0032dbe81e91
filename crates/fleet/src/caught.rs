//! Work whose panic is its own failure and not that of the member that does it.
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does some work. Its panic becomes an error, so that one order cannot wedge an agent. Nothing that
/// the work has changed is used after a panic, except what it reports through channels.
///
/// # Errors
/// What the panic said.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        format!("this order made it panic ({}), which is a fault of Pippin's", message(&*panic))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

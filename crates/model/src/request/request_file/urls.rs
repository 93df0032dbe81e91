//! One URL or path on each line. Blank lines and lines that begin with `#` are skipped.
use super::{FileRequest, WrongLine, split_url};

/// Passes each GET to `add`, with its line.
///
/// # Errors
/// At the first line that is neither a URL nor a path.
pub fn parse(
    text: &str,
    add: &mut dyn FnMut(usize, FileRequest) -> Result<(), WrongLine>,
) -> Result<(), WrongLine> {
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (server, target) = split_url(line).map_err(|why| (number, why))?;
        add(
            number,
            FileRequest {
                method: "GET".into(),
                server,
                target,
                weight: 1,
                ..FileRequest::default()
            },
        )?;
    }
    Ok(())
}

//! That the users come from the table, each time anew.
use serde_json::Value;

use super::{Subject, Verdict, answer};

/// The answer equals the table.
///
/// # Errors
/// What came instead.
pub fn table(subject: &mut Subject<'_>) -> Verdict {
    let expected = subject.services.postgres()?.users()?;
    let sample = subject.first()?.clone();
    let reply = subject.ask("GET", &sample.path)?;
    if let Some(difference) = answer::differs(&subject.workload.answer, &sample, &reply) {
        return Err(format!("GET {}: {difference}", sample.path));
    }
    let given: Value = serde_json::from_slice(&reply.body).map_err(|error| format!("GET {}: not JSON ({error}): {}", sample.path, reply.excerpt()))?;
    if given == expected { Ok(()) } else { Err(format!("GET {}: {} instead of {expected}", sample.path, reply.excerpt())) }
}

/// A changed row is in the very next answer; the change is taken back.
///
/// # Errors
/// If the old row is served.
pub fn fresh(subject: &mut Subject<'_>) -> Verdict {
    const ROW: i32 = 7;
    let before = subject.services.postgres()?.user_name(ROW)?;
    for round in 0..2 {
        let name = format!("Changed {round} {}", std::process::id());
        subject.services.postgres()?.rename_user(ROW, &name)?;
        let seen = shown_name(subject, ROW);
        subject.services.postgres()?.rename_user(ROW, &before)?;
        let seen = seen?;
        if seen != name {
            return Err(format!("row {ROW} was changed to {name:?}, but {seen:?} is served: the answer is cached"));
        }
    }
    table(subject)
}

fn shown_name(subject: &Subject<'_>, row: i32) -> Result<String, String> {
    let path = &subject.first()?.path;
    let reply = subject.ask("GET", path)?;
    let list: Value = serde_json::from_slice(&reply.body).map_err(|error| format!("GET {path}: not JSON ({error})"))?;
    let user = list.as_array().into_iter().flatten().find(|user| user["id"] == row);
    Ok(user.and_then(|user| user["name"].as_str()).unwrap_or_default().to_string())
}

//! Proves that the users are read from the table each time.
use serde_json::Value;

use super::{Subject, Verdict};

/// The answer equals the table, as Pippin wrote it.
///
/// # Errors
/// What came instead.
pub fn table(subject: &mut Subject<'_>) -> Verdict {
    let expected = subject.services.postgres()?.written().clone();
    let sample = subject.first()?.clone();
    let reply = subject.ask_sample(&sample)?;
    if let Some(difference) = subject.differs(&sample, &reply) {
        return Err(format!("GET {}: {difference}", sample.path));
    }
    let given: Value = serde_json::from_slice(&reply.body)
        .map_err(|error| format!("GET {}: not JSON ({error}): {}", sample.path, reply.excerpt()))?;
    difference(&given, &expected)
        .map_or(Ok(()), |difference| Err(format!("GET {}: {difference}", sample.path)))
}

/// The first difference between the users that are served and those of the table.
fn difference(given: &Value, expected: &Value) -> Option<String> {
    if given == expected {
        return None;
    }
    let (Some(rows), Some(users)) = (given.as_array(), expected.as_array()) else {
        return Some(format!("not a list of users: {given}"));
    };
    if rows.len() != users.len() {
        return Some(format!("{} users instead of {}", rows.len(), users.len()));
    }
    let (index, (row, user)) =
        rows.iter().zip(users).enumerate().find(|(_, (row, user))| row != user)?;
    let differing =
        user.as_object().into_iter().flatten().find(|(key, value)| row[key.as_str()] != **value);
    Some(match differing {
        Some((key, value)) => {
            format!("user {}: {key} {} instead of {value}", index + 1, row[key.as_str()])
        }
        None => format!("user {}: {row} has more than {user}", index + 1),
    })
}

/// A changed row is in the very next answer; the change is taken back.
///
/// # Errors
/// If the old row is served.
pub fn fresh(subject: &mut Subject<'_>) -> Verdict {
    const ROW: i32 = 7;
    let before = named(subject.services.postgres()?.written(), ROW);
    for round in 0..2 {
        let name = format!("Changed {round} {}", std::process::id());
        subject.services.postgres()?.change(ROW, &name)?;
        let seen = shown_name(subject, ROW);
        subject.services.postgres()?.change(ROW, &before)?;
        let seen = seen?;
        if seen != name {
            return Err(format!(
                "row {ROW} was changed to {name:?}, but {seen:?} is served: the answer is cached"
            ));
        }
    }
    table(subject)
}

fn shown_name(subject: &Subject<'_>, row: i32) -> Result<String, String> {
    let sample = subject.first()?;
    let path = &sample.path;
    let reply = subject.ask_sample(sample)?;
    let list: Value = serde_json::from_slice(&reply.body)
        .map_err(|error| format!("GET {path}: not JSON ({error})"))?;
    Ok(named(&list, row))
}

/// The name of a user in a list; empty if the user is not there.
fn named(list: &Value, row: i32) -> String {
    let user = list.as_array().into_iter().flatten().find(|user| user["id"] == row);
    user.and_then(|user| user["name"].as_str()).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::difference;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named() {
        let table = json!([{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]);
        assert_eq!(difference(&table, &table), None);
        let cases = [
            (
                json!([{"id": 2, "name": "Grace"}, {"id": 1, "name": "Ada"}]),
                "user 1: id 2 instead of 1",
            ),
            (
                json!([{"id": 1, "name": "Ada"}, {"id": 2}]),
                "user 2: name null instead of \"Grace\"",
            ),
            (json!([{"id": 1, "name": "Ada"}]), "1 users instead of 2"),
            (
                json!([{"id": 1, "name": "Ada", "age": 1}, {"id": 2, "name": "Grace"}]),
                "has more than",
            ),
            (json!({"users": []}), "not a list of users"),
        ];
        for (given, words) in cases {
            assert!(difference(&given, &table).unwrap().contains(words), "{given}");
        }
    }
}

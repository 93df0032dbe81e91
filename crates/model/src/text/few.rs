//! Long lists in one sentence.

/// How many members of a list a sentence names. A fleet may have 1,000 agents.
const NAMED: usize = 5;

/// The first five members, and how many more there are: `a, b, c, d, e, 12 more` with `", "`.
#[must_use]
pub fn few<T: AsRef<str>>(members: &[T], between: &str) -> String {
    let rest = members.len().saturating_sub(NAMED);
    let named = members.iter().take(NAMED).map(|member| member.as_ref().to_string());
    let more = (rest > 0).then(|| format!("{rest} more"));
    named.chain(more).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn five_are_named_and_the_rest_is_counted() {
        assert_eq!(few::<&str>(&[], ", "), "");
        assert_eq!(few(&["a", "b", "c", "d", "e"], ", "), "a, b, c, d, e");
        assert_eq!(few(&["a", "b", "c", "d", "e", "f", "g"], " | "), "a | b | c | d | e | 2 more");
    }
}

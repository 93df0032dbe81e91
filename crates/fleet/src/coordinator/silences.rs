//! Agents that fall silent, are heard again, or are lost: one line a second for all of them.
use pippin_model::text::few::few;
use pippin_model::text::units::format_length;

/// How often it is told: 1,000 agents would write thousands of lines.
const TELL_NS: u64 = 1_000_000_000;

/// What happened to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    Began,
    Ended,
    Lost,
}

impl Silence {
    fn one(self, name: &str, length: &str) -> String {
        match self {
            Self::Began => format!("agent {name} is silent for {length} now"),
            Self::Ended => format!("agent {name} is heard again, after {length}"),
            Self::Lost => format!("agent {name} is lost: nothing was heard of it for {length}"),
        }
    }

    fn several(self, names: &str, longest: &str) -> String {
        match self {
            Self::Began => format!("agents {names} are silent now, for up to {longest}"),
            Self::Ended => format!("agents {names} are heard again, after up to {longest}"),
            Self::Lost => {
                format!("agents {names} are lost: nothing was heard of them for up to {longest}")
            }
        }
    }
}

/// What was not told yet.
#[derive(Debug, Default)]
pub struct Silences {
    /// With the agent's name and how long the silence was, in nanoseconds.
    untold: Vec<(Silence, String, u64)>,
    /// When the next lines may be told.
    next_ns: u64,
}

impl Silences {
    pub fn add(&mut self, what: Silence, name: &str, length_ns: u64) {
        self.untold.push((what, name.to_string(), length_ns));
    }

    /// The lines to tell now, in the order in which things happen to an agent.
    pub fn tell(&mut self, now_ns: u64) -> Vec<String> {
        if self.untold.is_empty() || now_ns < self.next_ns {
            return Vec::new();
        }
        self.next_ns = now_ns.saturating_add(TELL_NS);
        let untold = std::mem::take(&mut self.untold);
        let line = |what: Silence| {
            let those = untold.iter().filter(|(of, ..)| *of == what);
            let (names, lengths): (Vec<&str>, Vec<u64>) =
                those.map(|(_, name, length_ns)| (name.as_str(), *length_ns)).unzip();
            let longest = format_length(*lengths.iter().max()?);
            Some(match &names[..] {
                [one] => what.one(one, &longest),
                all => what.several(&few(all, ", "), &longest),
            })
        };
        [Silence::Began, Silence::Ended, Silence::Lost].into_iter().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn one_agent_is_told_at_once_and_many_in_one_line_a_second() {
        let mut silences = Silences::default();
        assert_eq!(silences.tell(0), Vec::<String>::new());
        silences.add(Silence::Began, "b", SECOND);
        assert_eq!(silences.tell(5 * SECOND), ["agent b is silent for 1 s now"]);
        silences.add(Silence::Lost, "b", 4 * SECOND);
        (0..7).for_each(|nth| silences.add(Silence::Ended, &format!("c-{nth}"), nth * SECOND));
        assert_eq!(silences.tell(5 * SECOND + 1), Vec::<String>::new());
        let told = silences.tell(6 * SECOND);
        assert_eq!(
            told,
            [
                "agents c-0, c-1, c-2, c-3, c-4, 2 more are heard again, after up to 6 s",
                "agent b is lost: nothing was heard of it for 4 s",
            ]
        );
        assert_eq!(silences.tell(60 * SECOND), Vec::<String>::new());
    }
}

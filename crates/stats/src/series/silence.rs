//! When a target answered nobody, over the whole measured part.
use pippin_model::result::Window;
use pippin_model::trial::TrialRecord;

/// A stretch in which no answer arrived on any connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// Its begin, as an offset from that of the measured part, nanoseconds.
    pub from_ns: u64,
    /// Its length, nanoseconds.
    pub length_ns: u64,
    /// Whether it began with what was measured in one stretch: it may have begun before.
    pub from_begin: bool,
    /// Whether it lasted until the end of that stretch: it may have gone on.
    pub to_end: bool,
}

impl Silence {
    /// Whether it may have been longer than what was seen of it.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.from_begin || self.to_end
    }

    /// Its end, as an offset from the begin of the measured part.
    #[must_use]
    pub const fn to_ns(&self) -> u64 {
        self.from_ns + self.length_ns
    }
}

/// The silences of the measured part, in order. One that goes on in the next window is one, except
/// between slices: other targets were measured there.
#[must_use]
pub fn silences(record: &TrialRecord) -> Vec<Silence> {
    let Some(load) = &record.load else { return Vec::new() };
    let length = load.measured.duration_ns;
    let is_inside = |window: &&Window| window.from_ns >= 0 && (window.from_ns as u64) < length;
    let inside: Vec<&Window> = load.windows.iter().filter(is_inside).collect();
    if record.slices.is_empty() {
        return in_one_stretch(&inside, 0, length as i64);
    }
    // A window of a slice ends with it, or goes on in the next slice.
    inside.chunks(1).flat_map(|one| in_one_stretch(one, one[0].from_ns, end_of(one[0]))).collect()
}

/// The silences of windows that were measured in one stretch, from this instant to that one.
fn in_one_stretch(windows: &[&Window], begin: i64, end: i64) -> Vec<Silence> {
    let silence = |(from_ns, to_ns): (i64, i64)| Silence {
        from_ns: from_ns.unsigned_abs(),
        length_ns: from_ns.abs_diff(to_ns),
        from_begin: from_ns <= begin,
        to_end: to_ns >= end,
    };
    joined(windows.iter().copied()).into_iter().map(silence).collect()
}

/// Where a window ends, on the scale of its begin.
fn end_of(window: &Window) -> i64 {
    window.from_ns + window.duration_ns as i64
}

/// The begins and ends of the silences of windows that follow each other, in nanoseconds on the scale of
/// the windows' begins. One that goes on in the next window is one.
#[must_use]
pub fn joined<'a>(windows: impl IntoIterator<Item = &'a Window>) -> Vec<(i64, i64)> {
    let mut all: Vec<(i64, i64)> = Vec::new();
    for window in windows {
        for silence in &window.silences {
            let from_ns = window.from_ns + silence.from_ns as i64;
            let to_ns = from_ns + silence.length_ns as i64;
            match all.last_mut() {
                Some((_, end_ns)) if *end_ns == from_ns => *end_ns = to_ns,
                _ => all.push((from_ns, to_ns)),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::slices::Rounds;
    use pippin_model::result;

    const MS: u64 = 1_000_000;

    #[test]
    fn one_that_goes_on_in_the_next_window_is_one() {
        let mut record = ExampleTrial::hello().seconds(3).build();
        let silence = |from_ms: u64, length_ms: u64| result::Silence {
            from_ns: from_ms * MS,
            length_ns: length_ms * MS,
        };
        let windows = &mut record.load.as_mut().unwrap().windows;
        windows[0].silences = vec![silence(100, 50), silence(700, 300)];
        windows[1].silences = vec![silence(0, 200)];
        let found: Vec<(u64, u64)> = silences(&record)
            .into_iter()
            .map(|silence| (silence.from_ns / MS, silence.length_ns / MS))
            .collect();
        assert_eq!(found, [(100, 50), (700, 500)]);
    }

    #[test]
    fn what_reaches_an_end_of_its_stretch_is_cut() {
        let mut record = ExampleTrial::hello().seconds(2).build();
        let silence = |from_ms: u64, length_ms: u64| result::Silence {
            from_ns: from_ms * MS,
            length_ns: length_ms * MS,
        };
        let windows = &mut record.load.as_mut().unwrap().windows;
        windows[0].silences = vec![silence(0, 50), silence(400, 100), silence(900, 100)];
        windows[1].silences = vec![silence(500, 100), silence(700, 300)];
        let cut = |record: &TrialRecord| -> Vec<bool> {
            silences(record).iter().map(|silence| silence.is_cut()).collect()
        };
        assert_eq!(cut(&record), [true, false, false, false, true], "one stretch of two seconds");
        Rounds { rounds: 2, ..Rounds::default() }.slice_up(&mut record);
        assert_eq!(cut(&record), [true, false, true, false, true], "two slices of one second");
    }
}

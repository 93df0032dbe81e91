//! Judges an answer that is a stream of server-sent events while it arrives.
use pippin_model::load::EventForm;
use pippin_model::result::{EventCounts, Spans};
use pippin_model::text::units::format_ns;

use super::event_parser::EventParser;
use crate::record::tally::Tally;

/// Timers round: an event may come so much before it is due.
const EARLY_NS: u64 = 10_000_000;
/// Instants are in milliseconds, and some runtimes correct their clock slowly: one may lie so far ahead.
const AHEAD_MS: u64 = 10;
const NS_PER_MS: u64 = 1_000_000;

/// When the request of a stream was sent, and when a piece of the stream arrived; CLOCK_MONOTONIC in
/// nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventTimes {
    pub sent_ns: u64,
    pub arrived_ns: u64,
}

/// Where events are counted, and whether any piece of a stream of them has come.
pub(crate) struct EventLog<'a> {
    pub counts: &'a mut EventCounts,
    pub spans: &'a mut Spans,
    pub has_come: bool,
}

impl<'a> EventLog<'a> {
    /// Into what the present stretch has counted so far.
    pub const fn into_tally(tally: &'a mut Tally) -> Self {
        Self { counts: &mut tally.events, spans: &mut tally.spans, has_come: false }
    }
}

/// An answer that is a stream of events, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    parser: EventParser,
    course: Course,
}

/// The events so far.
#[derive(Debug, Default)]
struct Course {
    /// CLOCK_REALTIME - CLOCK_MONOTONIC.
    unix_offset_ns: u64,
    /// The number that the next event must have.
    next: u32,
    /// When the last one arrived; `None` before the first.
    last_ns: Option<u64>,
    /// What was wrong first.
    fault: Option<String>,
}

impl EventStream {
    /// Before its first byte, on a machine with this difference between CLOCK_REALTIME and CLOCK_MONOTONIC.
    pub fn new(unix_offset_ns: u64) -> Self {
        let course = Course { unix_offset_ns, ..Course::default() };
        Self { course, ..Self::default() }
    }

    /// Takes the next piece, and counts the events that it completes.
    pub fn take(
        &mut self,
        form: &EventForm,
        piece: &[u8],
        times: EventTimes,
        log: &mut EventLog<'_>,
    ) {
        log.has_come = true;
        let Self { parser, course } = self;
        let read = parser.read(piece, |data| {
            log.counts.received += 1;
            course.time(form, times, log);
            course.judge(form, data, times, log.counts);
        });
        if read.is_err() {
            course.blame(|| "an event, or a line of one, is too long".into());
        }
    }

    /// How many of its events have not come.
    pub const fn missing(&self, form: &EventForm) -> u32 {
        form.count.saturating_sub(self.course.next)
    }

    /// What is wrong with it, now that it has ended.
    pub fn fault(&self, form: &EventForm) -> Option<String> {
        let missing = self.missing(form);
        let came = form.count - missing;
        self.course.fault.clone().or_else(|| {
            (missing > 0)
                .then(|| format!("the stream ended after {came} of its {} events", form.count))
        })
    }
}

impl Course {
    fn blame(&mut self, words: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(words);
    }

    /// Records when an event came, whatever it says.
    fn time(
        &mut self,
        form: &EventForm,
        EventTimes { sent_ns, arrived_ns }: EventTimes,
        EventLog { counts, spans, .. }: &mut EventLog<'_>,
    ) {
        match self.last_ns.replace(arrived_ns) {
            None => spans.first_event.record(arrived_ns.saturating_sub(sent_ns)),
            Some(last_ns) => {
                let gap_ns = arrived_ns.saturating_sub(last_ns);
                spans.event_gap.record(gap_ns);
                counts.late += u64::from(gap_ns > form.longest_gap_ns());
                counts.together += u64::from(gap_ns < form.shortest_gap_ns());
            }
        }
    }

    /// Judges what an event says, and whether it is too early.
    fn judge(
        &mut self,
        form: &EventForm,
        data: &[u8],
        EventTimes { sent_ns, arrived_ns }: EventTimes,
        counts: &mut EventCounts,
    ) {
        let Some(event) = Event::read(data) else {
            return self.blame(|| {
                let text: String = String::from_utf8_lossy(data).chars().take(60).collect();
                format!("an event has the data {text:?} instead of its number and the milliseconds since 1970")
            });
        };
        let (number, next) = (event.number, self.next);
        if number >= form.count {
            return self
                .blame(|| format!("event {number} came, and the last one is {}", form.count - 1));
        }
        if number != next {
            counts.lost += u64::from(number.saturating_sub(next));
            self.blame(|| format!("event {number} came where {next} is the next"));
        }
        self.next = next.max(number + 1);
        let due_ns = u64::from(number) * form.every_ns;
        let after_ns = arrived_ns.saturating_sub(sent_ns);
        if after_ns + EARLY_NS < due_ns {
            counts.early += 1;
            self.blame(|| {
                let (after, due) = (format_ns(after_ns), format_ns(due_ns));
                format!("event {number} came {after} after its request, and is due after {due}")
            });
        }
        let arrived_ms = arrived_ns.saturating_add(self.unix_offset_ns) / NS_PER_MS;
        let age_ms = arrived_ms.saturating_sub(event.unix_ms);
        let ahead_ms = event.unix_ms.saturating_sub(arrived_ms);
        if age_ms * NS_PER_MS > form.fresh_ns || ahead_ms > AHEAD_MS {
            counts.stale += 1;
            self.blame(|| match ahead_ms {
                0 => format!("event {number} says an instant of {age_ms} ms ago"),
                _ => format!("event {number} says an instant {ahead_ms} ms in the future"),
            });
        }
    }
}

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    number: u32,
    /// Milliseconds since 1970.
    unix_ms: u64,
}

impl Event {
    /// From two whole numbers with white space between them; `None` for anything else.
    fn read(data: &[u8]) -> Option<Self> {
        let mut words = str::from_utf8(data).ok()?.split_ascii_whitespace();
        let (number, unix_ms) = (digits(words.next()?)?, digits(words.next()?)?);
        if words.next().is_some() {
            return None;
        }
        Some(Self { number: u32::try_from(number).ok()?, unix_ms })
    }
}

/// A number of digits alone, small enough for what is computed of it.
fn digits(word: &str) -> Option<u64> {
    let is_number = word.len() <= 13 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = NS_PER_MS;
    /// An hour after the start of the machine, which was started in 2027.
    const SENT: u64 = 3_600_000 * MS;
    const OFFSET: u64 = 1_800_000_000_000 * MS;
    const FORM: EventForm =
        EventForm { count: 5, every_ns: 100 * MS, off_ns: 100 * MS, fresh_ns: 1_000 * MS };

    /// An event of this number, that comes and says that it comes so many milliseconds after the request.
    #[derive(Clone, Copy)]
    struct Sent {
        number: u32,
        at_ms: u64,
        says_ms: u64,
    }

    const fn sent(number: u32, at_ms: u64) -> Sent {
        Sent { number, at_ms, says_ms: at_ms }
    }

    fn played(events: &[Sent]) -> (EventCounts, Spans, Option<String>) {
        let mut stream = EventStream::new(OFFSET);
        let (mut counts, mut spans) = (EventCounts::default(), Spans::default());
        for Sent { number, at_ms, says_ms } in events {
            let unix_ms = (OFFSET + SENT) / MS + says_ms;
            let text = format!("data: {number} {unix_ms}\n\n");
            let times = EventTimes { sent_ns: SENT, arrived_ns: SENT + at_ms * MS };
            let mut log = EventLog { counts: &mut counts, spans: &mut spans, has_come: false };
            stream.take(&FORM, text.as_bytes(), times, &mut log);
        }
        counts.lost += u64::from(stream.missing(&FORM));
        (counts, spans, stream.fault(&FORM))
    }

    #[test]
    fn a_right_stream_has_its_first_event_and_its_gaps() {
        let events = [sent(0, 3), sent(1, 103), sent(2, 210), sent(3, 303), sent(4, 450)];
        let (counts, spans, fault) = played(&events);
        assert_eq!((counts, fault), (EventCounts { received: 5, ..EventCounts::default() }, None));
        assert_eq!(spans.first_event.count(), 1);
        assert_eq!(spans.first_event.max_ns().map(|ns| ns / MS), Some(3));
        assert_eq!(spans.event_gap.count(), 4);
        let ends = [0.0, 1.0].map(|q| spans.event_gap.quantile_ns(q).map(|ns| ns / MS));
        assert!(ends[0].is_some_and(|ms| ms.abs_diff(93) <= 1), "{ends:?}");
        assert!(ends[1].is_some_and(|ms| ms.abs_diff(147) <= 1), "{ends:?}");
    }

    #[test]
    fn each_fault_is_counted_and_said() {
        let even: Vec<Sent> = (0..5).map(|n| sent(n, 100 * u64::from(n) + 5)).collect();
        let with = |place: usize, event: Sent| {
            let mut events = even.clone();
            events[place] = event;
            events
        };
        let counts = EventCounts { received: 5, ..EventCounts::default() };
        let old = Sent { number: 4, at_ms: 405, says_ms: 0 };
        // Sooner than a second, and as old as the kept event is.
        assert_eq!(played(&with(4, old)).2, None);
        for (events, right, words) in [
            (
                even[..3].to_vec(),
                EventCounts { received: 3, lost: 2, ..counts },
                "the stream ended after 3 of its 5 events",
            ),
            (
                vec![],
                EventCounts { received: 0, lost: 5, ..counts },
                "the stream ended after 0 of its 5 events",
            ),
            (
                vec![even[0], even[1], even[3], even[4]],
                EventCounts { received: 4, lost: 1, ..counts },
                "event 3 came where 2 is the next",
            ),
            (
                with(2, sent(1, 205)),
                EventCounts { lost: 1, ..counts },
                "event 1 came where 2 is the next",
            ),
            (
                with(4, sent(9, 405)),
                EventCounts { lost: 1, ..counts },
                "event 9 came, and the last one is 4",
            ),
            (
                with(4, sent(4, 380)),
                EventCounts { early: 1, ..counts },
                "event 4 came 380 ms after its request",
            ),
            (
                with(4, Sent { number: 4, at_ms: 405, says_ms: 500 }),
                EventCounts { stale: 1, ..counts },
                "event 4 says an instant 95 ms in the future",
            ),
            (with(4, sent(4, 506)), EventCounts { late: 1, ..counts }, ""),
            (
                [0, 400, 400, 401, 424].iter().zip(0..).map(|(at, n)| sent(n, *at)).collect(),
                EventCounts { late: 1, together: 3, ..counts },
                "",
            ),
        ] {
            let (counts, _, fault) = played(&events);
            assert_eq!(counts, right, "{fault:?}");
            assert!(fault.unwrap_or_default().starts_with(words), "{words}");
        }
    }

    #[test]
    fn what_was_said_long_ago_is_stale() {
        let replay: Vec<Sent> = (0..5)
            .map(|number| {
                let at_ms = 2_000 + 100 * u64::from(number);
                Sent { number, at_ms, says_ms: at_ms - 1_500 }
            })
            .collect();
        let (counts, _, fault) = played(&replay);
        assert_eq!((counts.stale, counts.received), (5, 5));
        assert_eq!(fault.as_deref(), Some("event 0 says an instant of 1500 ms ago"));
    }

    #[test]
    fn an_event_is_two_numbers() {
        let right = Some(Event { number: 7, unix_ms: 1_764_435_600_123 });
        for text in ["7 1764435600123", "7\n1764435600123", " 007  1764435600123 "] {
            assert_eq!(Event::read(text.as_bytes()), right, "{text}");
        }
        for text in
            ["", "7", "7 x", "7 1.5", "7 1 1", "-7 1", "+7 1", "4294967296 1", "7 17644356001234"]
        {
            assert_eq!(Event::read(text.as_bytes()), None, "{text}");
        }
        let mut stream = EventStream::new(OFFSET);
        let times = EventTimes { sent_ns: SENT, arrived_ns: SENT };
        let (mut counts, mut spans) = (EventCounts::default(), Spans::default());
        let mut log = EventLog { counts: &mut counts, spans: &mut spans, has_come: false };
        stream.take(&FORM, b"data: hello\n\n", times, &mut log);
        assert_eq!(counts.received, 1);
        assert!(
            stream.fault(&FORM).unwrap().starts_with("an event has the data \"hello\" instead")
        );
    }
}

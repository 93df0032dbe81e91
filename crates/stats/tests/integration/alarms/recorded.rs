//! Recorded noise: servers compared with themselves.
use pippin_model::trial::slice::{Slice, SliceFigures, SliceHost, SliceQuantiles};
use std::str::FromStr;

/// One comparison of a server with itself, as it was recorded.
#[derive(Debug, Clone)]
pub struct Series {
    /// The server.
    pub server: String,
    /// What ran beside it.
    pub beside: String,
    pub starts: Vec<Start>,
}

/// One start of both sides, measured in the same rounds.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// From the start to the first round, and from the last round to the next start.
    pub around_ms: u64,
    pub sides: [SideOfStart; 2],
}

/// One side of a start.
#[derive(Debug, Clone, Default)]
pub struct SideOfStart {
    /// Whether its warm-up ended because it was steady.
    pub steady: Option<bool>,
    pub is_invalid: bool,
    /// A slice of each round, and when it began, after the first.
    pub rounds: Vec<(u64, Slice)>,
}

impl Start {
    /// How long the start took.
    pub fn took_ms(&self) -> u64 {
        let ends = self.sides.iter().filter_map(|side| {
            let (at_ms, slice) = side.rounds.last()?;
            Some(at_ms + slice.measured_ns / 1_000_000)
        });
        self.around_ms + ends.max().unwrap_or(0)
    }
}

/// All recorded series. The file says how it was made.
pub fn all() -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for line in include_str!("noise.txt").lines() {
        let mut cells = line.split(' ');
        let last = |series: &mut Vec<Series>| series.last_mut().unwrap().starts.pop();
        match cells.next() {
            Some("series") => {
                let server = cells.next().unwrap().into();
                let beside = cells.collect::<Vec<_>>().join(" ");
                series.push(Series { server, beside, starts: Vec::new() });
            }
            Some("start") => {
                let around_ms = number(cells.next());
                let start = Start { around_ms, ..Start::default() };
                series.last_mut().unwrap().starts.push(start);
            }
            Some(name @ ("a" | "b")) => {
                let mut start = last(&mut series).unwrap();
                let side = &mut start.sides[usize::from(name == "b")];
                side.steady = match cells.next() {
                    Some("steady") => Some(true),
                    Some("unsteady") => Some(false),
                    _ => None,
                };
                side.is_invalid = cells.next() == Some("invalid");
                series.last_mut().unwrap().starts.push(start);
            }
            Some(name @ ("A" | "B")) => {
                let mut start = last(&mut series).unwrap();
                let side = &mut start.sides[usize::from(name == "B")];
                let round = side.rounds.len() as u32;
                side.rounds.push(slice(round, &cells.collect::<Vec<_>>()));
                series.last_mut().unwrap().starts.push(start);
            }
            _ => {}
        }
    }
    series
}

/// `AT_MS LENGTH_US RIGHT CPU_US P99_US STEAL OTHERS`, the shares in thousandths.
fn slice(round: u32, cells: &[&str]) -> (u64, Slice) {
    let [at_ms, length_us, right, cpu_us, p99_us, steal, others] = cells else {
        panic!("{cells:?}")
    };
    let whole = |cell: &str| number::<u64>(Some(cell));
    let known = |cell: &str| (cell != "-").then(|| number::<f64>(Some(cell)));
    let measured_ns = whole(length_us) * 1_000;
    let right = whole(right);
    let response = SliceQuantiles {
        p99_ns: known(p99_us).map(|us| (us * 1e3) as u64),
        ..SliceQuantiles::default()
    };
    let figures = SliceFigures {
        requests: right,
        answered: right,
        right,
        errors: 0,
        goodput_per_s: right as f64 * 1e9 / measured_ns as f64,
        response,
        service: response,
        target_cpu_ns: known(cpu_us).map(|us| (us * 1e3) as u64),
        generator_cpu_ns: None,
    };
    let share = |cell: &str| known(cell).map(|thousandths| thousandths / 1e3);
    let host = SliceHost { steal: share(steal), others: share(others), ..SliceHost::default() };
    let calm = pippin_stats::rounds::calm::is_calm(&host);
    let slice = Slice { round, started_unix_ns: 0, measured_ns, figures, host, calm, used: calm };
    (whole(at_ms), slice)
}

fn number<T: FromStr>(cell: Option<&str>) -> T {
    cell.and_then(|cell| cell.parse().ok()).unwrap_or_else(|| panic!("{cell:?} is no number"))
}

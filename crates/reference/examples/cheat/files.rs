//! The workload `static`, as docs/add-a-target.md describes it.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Mode;
use crate::http::{Answer, Request, percent_decode};

/// Requests that are being answered.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// More at once than any proof sends.
const LOAD: usize = 4;

/// How long the mode `static-cached-for-half-a-second` keeps a file.
const HALF: Duration = Duration::from_millis(500);

/// What a file was when it was read.
#[derive(Clone)]
struct Copy {
    bytes: Vec<u8>,
    /// In nanoseconds since 1970.
    changed: u128,
    read: Instant,
}

impl Copy {
    fn from_name(name: &str) -> Option<Self> {
        let folder = PathBuf::from(std::env::var_os("STATIC_FOLDER")?);
        let name = percent_decode(name);
        if name.contains('/') || name.starts_with('.') {
            return None;
        }
        let mut file = std::fs::File::open(folder.join(name)).ok()?;
        let changed = file.metadata().ok()?.modified().ok()?;
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes).ok()?;
        let changed = changed.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(Self { bytes, changed, read: Instant::now() })
    }

    fn date(&self) -> String {
        let changed = UNIX_EPOCH + Duration::from_nanos(self.changed as u64);
        http_date(changed)
    }

    fn tag(&self, mode: Mode) -> String {
        let Self { bytes, changed, .. } = self;
        match mode.name {
            "static-etag-of-the-length" => format!("\"{}\"", bytes.len()),
            "static-weak-etags" => format!("W/\"{changed}-{}\"", bytes.len()),
            _ => format!("\"{changed}-{}\"", bytes.len()),
        }
    }
}

/// The answer to a path below `/static/`; `None` if there is no such file.
pub fn answer(mode: Mode, request: &Request) -> Option<Answer> {
    let name = request.path.strip_prefix("/static/")?;
    let name = name.split('?').next()?;
    let is_loaded = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1 >= LOAD;
    if mode.name.ends_with("-under-load") {
        // So that others come meanwhile.
        std::thread::sleep(Duration::from_millis(2));
    }
    let answer = copy(mode, is_loaded, name).map(|copy| told(mode, is_loaded, request, copy));
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    answer
}

/// What the mode takes for the file.
fn copy(mode: Mode, is_loaded: bool, name: &str) -> Option<Copy> {
    let keeps = match mode.name {
        "static-cached-for-ever" => Duration::MAX,
        "static-cached-under-load" if is_loaded => Duration::MAX,
        "static-cached-for-half-a-second" => HALF,
        _ => return Copy::from_name(name),
    };
    static KEPT: Mutex<BTreeMap<String, Copy>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match kept.get(name) {
        Some(copy) if copy.read.elapsed() < keeps => Some(copy.clone()),
        _ => {
            let copy = Copy::from_name(name)?;
            kept.insert(name.into(), copy.clone());
            Some(copy)
        }
    }
}

/// What is said of this copy.
fn told(mode: Mode, is_loaded: bool, request: &Request, copy: Copy) -> Answer {
    let mut answer = Answer { content_type: "text/css", ..Answer::text("") };
    let without_tag = mode.is("static-last-modified-alone") || mode.is("static-without-validator");
    if !without_tag {
        answer.headers.push(format!("ETag: {}", copy.tag(mode)));
    }
    if !mode.is("static-without-validator") {
        answer.headers.push(format!("Last-Modified: {}", copy.date()));
    }
    if is_unchanged(mode, is_loaded, request, &copy, without_tag) {
        return Answer { status: 304, ..answer };
    }
    let bytes = body(mode, is_loaded, copy.bytes);
    let range = request.field("range").filter(|_| !mode.is("static-ignores-range"));
    match range.and_then(|range| range.strip_prefix("bytes=")) {
        Some(range) => part(mode, is_loaded, range, bytes, answer),
        None => Answer { body: bytes, ..answer },
    }
}

fn is_unchanged(
    mode: Mode,
    is_loaded: bool,
    request: &Request,
    copy: &Copy,
    without_tag: bool,
) -> bool {
    let tag = request.field("if-none-match");
    match mode.name {
        "static-never-304" => false,
        "static-304-always" => tag.is_some(),
        "static-304-always-under-load" if is_loaded => tag.is_some(),
        _ => match tag {
            Some(tag) => !without_tag && tag == copy.tag(mode),
            None => request.field("if-modified-since").is_some_and(|date| date == copy.date()),
        },
    }
}

/// The bytes that the mode sends for these.
fn body(mode: Mode, is_loaded: bool, mut bytes: Vec<u8>) -> Vec<u8> {
    let right = match mode.name {
        "static-sparse" => 512,
        "static-right-at-first-under-load" if is_loaded => 16_384,
        "static-prepared" => 0,
        _ => return bytes,
    };
    let right = right.min(bytes.len());
    bytes[right..].fill(if right == 0 { b'x' } else { 0 });
    bytes
}

/// A part of the bytes, as RFC 9110 section 14 says.
fn part(mode: Mode, is_loaded: bool, range: &str, bytes: Vec<u8>, mut answer: Answer) -> Answer {
    let length = bytes.len();
    let number = |text: &str| text.parse::<usize>().unwrap_or(0);
    let (first, last) = match range.split_once('-') {
        Some(("", suffix)) => (length.saturating_sub(number(suffix)), length - 1),
        Some((first, "")) => (number(first), length - 1),
        Some((first, last)) => (number(first), number(last).min(length - 1)),
        None => (0, length - 1),
    };
    if first >= length {
        answer.headers.push(format!("Content-Range: bytes */{length}"));
        return Answer { status: 416, ..answer };
    }
    let is_wrong =
        mode.is("static-wrong-part") || (mode.is("static-wrong-part-under-load") && is_loaded);
    let from = if is_wrong { 0 } else { first };
    let body = bytes[from..=from + last - first].to_vec();
    let said = if mode.is("static-wrong-content-range") { 0 } else { first };
    answer.headers.push(format!("Content-Range: bytes {said}-{last}/{length}"));
    Answer { status: 206, body, ..answer }
}

/// A time as HTTP writes it (RFC 9110 section 5.6.7).
fn http_date(time: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 0;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    format!(
        "{}, {:02} {} {year} {:02}:{:02}:{:02} GMT",
        DAYS[days as usize % 7],
        left + 1,
        MONTHS[month],
        of_day / 3_600,
        of_day / 60 % 60,
        of_day % 60
    )
}

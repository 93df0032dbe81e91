//! The values of flags: one parser for each kind of value. clap prints its error after the name of
//! the flag.
use pippin_model::load::IdForm;
use pippin_model::load::{IoChoice, ProxyHeader, WarmUp};
use pippin_model::schedule::Stage;
use pippin_model::schedule::{UserStage, stages, users};
use pippin_model::text::units::{parse_bytes, parse_duration_ns, parse_scaled};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A length of time, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(u64);

impl Time {
    pub const fn from_s(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    pub const fn ns(self) -> u64 {
        self.0
    }
}

/// `30s`, `1m30s`. A number without a unit means seconds, as in wrk and ab.
pub fn time(text: &str) -> Result<Time, String> {
    let with_unit = match text.trim().parse::<f64>() {
        Ok(_) => format!("{}s", text.trim()),
        Err(_) => text.to_string(),
    };
    match parse_duration_ns(&with_unit) {
        Ok(ns) => Ok(Time(ns)),
        Err(error) => {
            Err(pippin_model::text::units::UnitError { text: text.into(), ..error }.to_string())
        }
    }
}

/// A time that is longer than 0.
pub fn length(text: &str) -> Result<Time, String> {
    match time(text)? {
        Time(0) => Err("must be longer than 0".into()),
        length => Ok(length),
    }
}

/// A time that members of a fleet wait for each other: 2 s to 10 min.
pub fn patience(text: &str) -> Result<Time, String> {
    let time = time(text)?;
    if pippin_fleet::patience::bounded_ns(time.ns()) == time.ns() {
        Ok(time)
    } else {
        Err("must be from 2s to 10min: agents are heard twice a second".into())
    }
}

/// A tag and a number of agents: `zone=eu:4`.
pub fn tagged(text: &str) -> Result<(String, usize), String> {
    let wrong = || format!("`{text}` is not a tag and a number; write it like zone=eu:4");
    let (tag, count) = text.rsplit_once(':').ok_or_else(wrong)?;
    let count = count.parse::<usize>().ok().filter(|count| *count > 0).ok_or_else(wrong)?;
    Ok((tag.into(), count))
}

/// A share of comparisons that may give a false alarm: `0.003`.
pub fn false_alarms(text: &str) -> Result<f64, String> {
    let share = text.trim().parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= 0.1);
    share.ok_or_else(|| "it is a share above 0 and up to 0.1, as 0.003 for 3 in 1,000".into())
}

/// Requests per second: `5000`, `5k`, `1000/s`.
pub fn rate(text: &str) -> Result<f64, String> {
    let plain = text.trim();
    let number = parse_scaled(plain.strip_suffix("/s").unwrap_or(plain))
        .ok_or("it is not a rate; write it like 5000, 5k or 5000/s")?;
    if number > 0.0 && number <= 1e8 {
        Ok(number)
    } else {
        Err("must be above 0 and at most 100 million requests per second".into())
    }
}

/// A rate over time, `30s:1000,2m:5000,30s:0`, or users that come and go, `users:10@30s,0@30s`.
#[derive(Debug, Clone, PartialEq)]
pub enum Stages {
    Rates(Vec<Stage>),
    Users(Vec<UserStage>),
}

impl Stages {
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with(users::PREFIX) {
            return users::parse(text).map(Self::Users);
        }
        stages::parse(text).map(Self::Rates)
    }
}

/// The headers that name a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum IdHeader {
    /// `X-Request-Id`.
    XRequestId,
    /// `traceparent`.
    Traceparent,
}

impl From<IdHeader> for IdForm {
    fn from(form: IdHeader) -> Self {
        match form {
            IdHeader::XRequestId => Self::XRequestId,
            IdHeader::Traceparent => Self::Traceparent,
        }
    }
}

/// A whole number, also as `1k` and `2M`, within these bounds.
pub fn count(text: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let number = parse_scaled(text)
        .filter(|number| number.fract() == 0.0)
        .ok_or("it is not a whole number; write it like 64, 1k or 2M")?;
    let (least, most) = (*bounds.start(), *bounds.end());
    if number >= least as f64 && number <= most as f64 {
        Ok(number as u64)
    } else if most == u64::MAX {
        Err(format!("must be at least {least}"))
    } else {
        Err(format!("must be from {least} to {most}"))
    }
}

/// Connections, devices: 1 to a hundred million.
pub fn connections(text: &str) -> Result<u32, String> {
    count(text, 1..=100_000_000).map(|count| count as u32)
}

/// Requests: at least 1.
pub fn requests(text: &str) -> Result<u64, String> {
    count(text, 1..=u64::MAX)
}

/// The largest message. Each connection renders its own copy at a time.
const MOST_MESSAGE_BYTES: u64 = 16 << 20;

/// Bytes of a message: `64`, `64KiB`.
pub fn message_size(text: &str) -> Result<usize, String> {
    let bytes =
        text.trim().parse().or_else(|_| parse_bytes(text)).map_err(|error| error.to_string())?;
    if bytes <= MOST_MESSAGE_BYTES {
        Ok(bytes as usize)
    } else {
        Err("must be at most 16 MiB".into())
    }
}

/// `auto`, `none` or a time.
pub fn warm_up(text: &str) -> Result<WarmUp, String> {
    match text {
        "auto" => Ok(WarmUp::AUTO),
        "none" => Ok(WarmUp::None),
        text => match time(text) {
            Ok(time) => Ok(WarmUp::Fixed { duration_ns: time.ns() }),
            Err(error) => Err(format!("{error} (or \"auto\", \"none\")")),
        },
    }
}

/// Numbers of connections, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points(pub Vec<u32>);

/// `1,2,4` or `1..512`: doubles from the first to the last, and always includes the last.
pub fn points(list: &str) -> Result<Points, String> {
    let error = || format!("`{list}` is neither a list (1,2,4,8) nor a doubling range (1..512)");
    let number = |text: &str| connections(text).map_err(|_| error());
    let points = if let Some((first, last)) = list.split_once("..") {
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(error());
        }
        let mut points: Vec<u32> = std::iter::successors(Some(first), |n| n.checked_mul(2))
            .take_while(|n| *n < last)
            .collect();
        points.push(last);
        points
    } else {
        list.split(',').map(number).collect::<Result<_, _>>()?
    };
    if points.is_sorted_by(|a, b| a < b) {
        Ok(Points(points))
    } else {
        Err("the numbers must be ascending, each once".into())
    }
}

/// A range of right statuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses(RangeInclusive<u16>);

/// `200`, `2xx`, `200-204`.
pub fn statuses(text: &str) -> Result<Statuses, String> {
    let number = |text: &str| text.parse().ok().filter(|status| (100..=599).contains(status));
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    let range = match (class, text.split_once('-')) {
        (Some(class), _) => number(&format!("{class}00")).map(|first| first..=first + 99),
        (None, Some((first, last))) => number(first).zip(number(last)).map(|(a, b)| a..=b),
        (None, None) => number(text).map(|status| status..=status),
    };
    range
        .filter(|range| !range.is_empty())
        .map(Statuses)
        .ok_or_else(|| "write statuses from 100 to 599 like 200, 2xx or 200-204".into())
}

/// All statuses of a list, each once, ascending.
pub fn statuses_of(list: &[Statuses]) -> Vec<u16> {
    let all: BTreeSet<u16> = list.iter().flat_map(|statuses| statuses.0.clone()).collect();
    all.into_iter().collect()
}

/// A header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub value: String,
}

/// `NAME: VALUE`.
pub fn field(text: &str) -> Result<Field, String> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| format!("`{text}` is not NAME: VALUE"))?;
    Ok(Field { name: name.trim().into(), value: value.trim().into() })
}

/// The phases of devices, in nanoseconds: `UP,SUSTAIN,DOWN`.
pub fn phases(text: &str) -> Result<[u64; 3], String> {
    let times: Vec<u64> =
        text.split(',').map(|part| length(part).map(Time::ns)).collect::<Result<_, _>>()?;
    times
        .try_into()
        .map_err(|_| format!("`{text}` needs three times, UP,SUSTAIN,DOWN, as 10s,10s,10s"))
}

/// `1/10` or `0.1`.
pub fn fraction(text: &str) -> Result<f64, String> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((above, below)) => {
            number(above).zip(number(below)).map(|(above, below)| above / below)
        }
        None => number(text),
    };
    value
        .filter(|value| *value > 0.0 && *value <= 1_000.0)
        .ok_or_else(|| format!("`{text}` is not a fraction; write it like 1/10 or 0.1"))
}

/// The event loop, as [`IoChoice`] describes it. The values have no docs: with docs, clap would
/// print the whole help in its long form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum EventLoop {
    Auto,
    Epoll,
    IoUring,
}

/// Something that is looked for, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// The version of the PROXY protocol, as [`ProxyHeader`] describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProxyProtocol {
    V1,
    V2,
}

impl From<ProxyProtocol> for ProxyHeader {
    fn from(version: ProxyProtocol) -> Self {
        match version {
            ProxyProtocol::V1 => Self::V1,
            ProxyProtocol::V2 => Self::V2,
        }
    }
}

/// Where to connect instead, as in curl: `HOST:PORT:ADDR:PORT`, each part of which may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectTo {
    /// The host and port that it applies to; `None` is any.
    pub host: Option<String>,
    pub port: Option<u16>,
    /// The host and port to connect to; `None` is the URL's own.
    pub to_host: Option<String>,
    pub to_port: Option<u16>,
}

impl ConnectTo {
    pub fn parse(text: &str) -> Result<Self, String> {
        let shape = || {
            "write it like example.org:443:127.0.0.1:8443; put an IPv6 address in brackets"
                .to_string()
        };
        let (host, rest) = host_of(text).ok_or_else(shape)?;
        let (port, rest) = rest.split_once(':').ok_or_else(shape)?;
        let (to_host, to_port) = host_of(rest).ok_or_else(shape)?;
        let port_of = |port: &str| match port {
            "" => Ok(None),
            port => match port.parse() {
                Ok(0) | Err(_) => Err(format!("`{port}` is not a port from 1 to 65535")),
                Ok(port) => Ok(Some(port)),
            },
        };
        let (port, to_port) = (port_of(port)?, port_of(to_port)?);
        if to_host.is_none() && to_port.is_none() {
            return Err(format!("it does not name another place; {}", shape()));
        }
        Ok(Self { host, port, to_host, to_port })
    }
}

/// The host before the next colon, without brackets, and the text after that colon.
fn host_of(text: &str) -> Option<(Option<String>, &str)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(in_brackets) => {
            let (host, rest) = in_brackets.split_once(']')?;
            (host, rest.strip_prefix(':')?)
        }
        None => text.split_once(':')?,
    };
    Some(((!host.is_empty()).then(|| host.to_string()), rest))
}

impl From<EventLoop> for IoChoice {
    fn from(io: EventLoop) -> Self {
        match io {
            EventLoop::Auto => Self::Auto,
            EventLoop::Epoll => Self::Epoll,
            EventLoop::IoUring => Self::IoUring,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_doubles_and_keeps_its_end() {
        let numbers = |list: &str| points(list).map(|points| points.0);
        assert_eq!(numbers("1..10").unwrap(), [1, 2, 4, 8, 10]);
        assert_eq!(numbers("1..8").unwrap(), [1, 2, 4, 8]);
        assert_eq!(numbers("3, 5").unwrap(), [3, 5]);
        for wrong in ["8..1", "0..4", "a", "1..", "", "4,2", "2,2", "0,1"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn statuses_are_numbers_classes_and_ranges() {
        let all = |list: &[&str]| {
            let read: Result<Vec<Statuses>, String> =
                list.iter().map(|one| statuses(one)).collect();
            read.map(|read| statuses_of(&read))
        };
        assert_eq!(all(&["404", "200-202", "201"]), Ok(vec![200, 201, 202, 404]));
        assert_eq!(all(&["2xx"]).unwrap().len(), 100);
        assert_eq!(all(&[]), Ok(vec![]));
        for wrong in ["99", "600", "6xx", "xx", "204-200", "2x", "", "-", "200-"] {
            assert!(statuses(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_place_is_read_as_curl_reads_it() {
        let read = |text: &str| {
            ConnectTo::parse(text).map(|it| (it.host, it.port, it.to_host, it.to_port))
        };
        let some = |host: &str| Some(host.to_string());
        assert_eq!(
            read("example.org:443:127.0.0.1:8443"),
            Ok((some("example.org"), Some(443), some("127.0.0.1"), Some(8443)))
        );
        assert_eq!(read("::[::1]:80"), Ok((None, None, some("::1"), Some(80))));
        assert_eq!(read("[fd00::1]:80:b:"), Ok((some("fd00::1"), Some(80), some("b"), None)));
        for wrong in ["", "a", "a:80", "a:80:b", ":::", "a:x:b:1", "a:1:b:0", "[::1:80:b:1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn natural_spellings_are_taken() {
        assert_eq!(
            (time("10"), time("1.5"), time("1m")),
            (Ok(Time::from_s(10)), Ok(Time(1_500_000_000)), Ok(Time::from_s(60)))
        );
        assert_eq!((rate("1000/s"), rate("5k"), rate("0.5")), (Ok(1_000.0), Ok(5_000.0), Ok(0.5)));
        assert_eq!((connections("1k"), requests("2M")), (Ok(1_000), Ok(2_000_000)));
        for wrong in ["-5", "inf", "NaN", "1e9", "10 parsecs", ""] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "-5", "inf", "NaN", "fast", "1e9"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "1.5", "200M", "-1", "many"] {
            assert!(connections(wrong).is_err(), "{wrong}");
        }
    }
}

//! The scenarios.
use serde::Serialize;

/// One load that every tool is asked to make.
#[derive(Debug, Clone, Serialize)]
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub connections: u32,
    /// Otherwise one connection for each request, with `Connection: close`.
    pub keep_alive: bool,
    /// Requests under way on each connection.
    pub pipeline: u32,
    /// HTTP/2 without TLS, with this number of streams on each connection; `None` is HTTP/1.1.
    pub streams: Option<u32>,
    /// The rate of an open loop; `None` is a closed loop.
    pub rate_per_s: Option<u32>,
    pub server: Serving,
    pub seconds: u32,
    pub quick_seconds: u32,
    /// Simulated devices instead of users; `connections` is their number.
    pub devices: Option<Devices>,
}

/// The behaviour of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Serving {
    /// Answers `Hello World!` at once.
    Null,
    /// Like the scenario before, but the server stalls once in the middle for this long.
    Stall { stall_ms: u32 },
    /// Answers 20 bytes after 500 ms.
    Upstream,
    /// Answers 1,024 bytes after 100 ms +-5 %.
    Device,
    /// Answers `Hello World!` at once, and asks for a digest where a request has `X-Asks: yes`.
    Asking,
    /// nginx, which answers `Hello World!` over HTTP/2 at once.
    Nginx,
    /// nginx, which answers with [`LARGE`] bytes.
    Download,
    /// nginx, which takes [`LARGE`] bytes, and answers when it has all of them.
    Upload,
}

/// The length of a large body: 10 MB.
pub const LARGE: usize = 10_000_000;

impl Serving {
    pub fn path(self) -> &'static str {
        match self {
            Self::Null | Self::Stall { .. } | Self::Asking | Self::Nginx => "/",
            Self::Upstream => "/slow",
            Self::Device => "/device",
            Self::Download => "/large",
            Self::Upload => "/upload",
        }
    }

    /// The bytes of one body in millions, where bodies are what the scenario is about.
    pub fn megabytes(self) -> Option<f64> {
        matches!(self, Self::Download | Self::Upload).then_some(LARGE as f64 / 1e6)
    }
}

/// Devices with 100 requests each against a server that waits 100 ms +-5 % and answers 1,024 bytes.
/// A third of the time is ramp-up, a third is measured, a third is ramp-down.
#[derive(Debug, Clone, Serialize)]
pub struct Devices {
    /// Between an answer and the next request, +-5 %.
    pub think_ms: u32,
}

impl Scenario {
    /// The tool with which the others are compared.
    pub const fn reference(&self) -> &'static str {
        if self.streams.is_some() { "h2load" } else { "wrk" }
    }

    pub fn seconds(&self, quick: bool) -> u32 {
        if quick { self.quick_seconds } else { self.seconds }
    }

    /// The exact quantiles of the response time with a stall. At a constant rate, requests that are
    /// due during a stall of length `s` wait for its end. So of `n` requests, `s * rate` response
    /// times are evenly distributed between 0 and `s`, and all others are near 0. The quantile `q`
    /// is therefore `s - (1 - q) * n / rate`, as long as that is positive.
    pub fn stall_quantile_ms(&self, q: f64, seconds: u32) -> Option<f64> {
        let Serving::Stall { stall_ms } = self.server else { return None };
        let stall_ms = f64::from(stall_ms);
        Some((stall_ms - (1.0 - q) * f64::from(seconds) * 1e3).max(0.0))
    }
}

/// A closed loop over 64 connections.
pub const CLOSED: Scenario = Scenario {
    name: "",
    about: "",
    connections: 64,
    keep_alive: true,
    pipeline: 1,
    streams: None,
    rate_per_s: None,
    server: Serving::Null,
    seconds: 4,
    quick_seconds: 1,
    devices: None,
};

/// All scenarios, in the order of the table.
pub const ALL: &[Scenario] = &[
    Scenario { name: "closed-1", about: "closed loop, 1 connection", connections: 1, ..CLOSED },
    Scenario { name: "closed-64", about: "closed loop, 64 connections", ..CLOSED },
    Scenario {
        name: "closed-1000",
        about: "closed loop, 1,000 connections",
        connections: 1_000,
        ..CLOSED
    },
    Scenario {
        name: "closed-10000",
        about: "closed loop, 10,000 connections",
        connections: 10_000,
        seconds: 6,
        quick_seconds: 3,
        ..CLOSED
    },
    Scenario {
        name: "closed-19000",
        about: "closed loop, 19,000 connections",
        connections: 19_000,
        seconds: 8,
        quick_seconds: 4,
        ..CLOSED
    },
    Scenario {
        name: "connection-per-request",
        about: "closed loop, 64 users, a connection per request",
        keep_alive: false,
        ..CLOSED
    },
    Scenario {
        name: "pipeline-16",
        about: "closed loop, 64 connections, 16 requests under way on each",
        pipeline: 16,
        ..CLOSED
    },
    Scenario {
        name: "h2c-10x32",
        about: "closed loop over HTTP/2 without TLS, 10 connections with 32 streams each, nginx",
        connections: 10,
        streams: Some(32),
        server: Serving::Nginx,
        ..CLOSED
    },
    Scenario {
        name: "download-10mb",
        about: "closed loop, 4 connections, answers of 10 MB, nginx",
        connections: 4,
        server: Serving::Download,
        ..CLOSED
    },
    Scenario {
        name: "upload-10mb",
        about: "closed loop, 4 connections, requests of 10 MB, nginx",
        connections: 4,
        server: Serving::Upload,
        ..CLOSED
    },
    Scenario {
        name: "h2c-download-10mb",
        about: "closed loop over HTTP/2 without TLS, 4 connections with 4 streams each, answers of 10 MB, nginx",
        connections: 4,
        streams: Some(4),
        server: Serving::Download,
        ..CLOSED
    },
    Scenario {
        name: "open-5000",
        about: "open loop at 5,000 requests/s, 64 connections",
        rate_per_s: Some(5_000),
        ..CLOSED
    },
    Scenario {
        name: "stall",
        about: "open loop at 1,000 requests/s for 9 s, the server stands still for 1 s in the middle",
        rate_per_s: Some(1_000),
        server: Serving::Stall { stall_ms: 1_000 },
        seconds: 9,
        quick_seconds: 9,
        ..CLOSED
    },
    Scenario {
        name: "waiting-10000",
        about: "closed loop, 10,000 connections, each waiting for an answer that takes 500 ms: at most 20,000 requests/s",
        connections: 10_000,
        server: Serving::Upstream,
        seconds: 6,
        quick_seconds: 3,
        ..CLOSED
    },
    Scenario {
        name: "devices-10000",
        about: "10,000 devices as published: 900 ms +-5 % between answer and next request",
        connections: 10_000,
        server: Serving::Device,
        devices: Some(Devices { think_ms: 900 }),
        seconds: 30,
        quick_seconds: 9,
        ..CLOSED
    },
    Scenario {
        name: "devices-100000",
        about: "100,000 devices, think time stretched tenfold to 9.9 s, so that one core carries the server and one the devices",
        connections: 100_000,
        server: Serving::Device,
        devices: Some(Devices { think_ms: 9_900 }),
        seconds: 90,
        quick_seconds: 60,
        ..CLOSED
    },
];

/// The scenarios of `all` that `only` names. A whole name selects that one, a part of a name all
/// that contain it. An empty list selects all.
pub fn chosen(all: &[Scenario], only: &[String]) -> Result<Vec<Scenario>, String> {
    let is_whole = |part: &str| all.iter().any(|scenario| scenario.name == part);
    let matches = |scenario: &Scenario, part: &str| {
        if is_whole(part) { scenario.name == part } else { scenario.name.contains(part) }
    };
    let unknown = only.iter().find(|part| !all.iter().any(|scenario| matches(scenario, part)));
    if let Some(part) = unknown {
        let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
        return Err(format!(
            "--only {part}: no scenario has that in its name; there are {}",
            names.join(", ")
        ));
    }
    Ok(all
        .iter()
        .filter(|scenario| only.is_empty() || only.iter().any(|part| matches(scenario, part)))
        .cloned()
        .collect())
}

#[cfg(test)]
mod tests {
    use super::{ALL, chosen};

    #[test]
    fn the_stall_ramp_has_the_published_quantiles() {
        // 9 s at 1,000/s: 9,000 requests, 1,000 of them in the stall. p90: 900 are slower, so 1,000
        // - 900 = 100 ms.
        let stall = ALL.iter().find(|scenario| scenario.name == "stall").unwrap();
        let quantile = |q| stall.stall_quantile_ms(q, 9).unwrap().round();
        assert_eq!(
            (quantile(0.5), quantile(0.9), quantile(0.95), quantile(0.99)),
            (0.0, 100.0, 550.0, 910.0)
        );
    }

    #[test]
    fn unknown_names_are_refused() {
        let chosen = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            chosen(ALL, &names)
        };
        assert_eq!(chosen(&["closed"]).unwrap().len(), 5);
        assert_eq!(chosen(&["devices", "stall"]).unwrap().len(), 3);
        assert_eq!(chosen(&["devices-10000"]).unwrap().len(), 1, "a whole name means that one");
        assert!(chosen(&["closd"]).unwrap_err().contains("closed-64"));
    }
}

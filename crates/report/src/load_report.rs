//! The result of `pippin load`: the JSON that other programs read, and the text that people read.
use pippin_model::caveat::{Caveat, Severity, Verdict};
use pippin_model::histogram::Summary;
use pippin_model::load_result::{
    ByteCounts, ConnectionCounts, ErrorKind, Measured, Phase, RequestCounts, StatusCounts, Window,
};
use pippin_model::tls::{Negotiated, TlsUse};
use pippin_model::trial::TrialRecord;
use pippin_model::units::{format_bytes, format_count, format_ns};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What `pippin load --json` writes. Keys end in their unit; unknown is null.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)] // the keys are those of DESIGN section 9
pub struct LoadReport {
    pub pippin_version: String,
    pub url: String,
    pub profile: pippin_model::profile::Profile,
    pub step: Option<pippin_model::trial::Step>,
    pub io: String,
    pub threads: u32,
    pub interrupted: bool,
    pub warm_up: pippin_model::load_result::WarmUpResult,
    pub requests: RequestCounts,
    pub duration_ns: u64,
    pub throughput_per_s: Option<f64>,
    pub goodput_per_s: Option<f64>,
    pub status: StatusCounts,
    pub connect: Summary,
    /// The handshakes; null without TLS.
    pub tls: Option<Summary>,
    pub headers: Summary,
    pub body: Summary,
    pub service_time: Summary,
    pub response_time: Summary,
    pub send_lag: Summary,
    pub own_lag: Summary,
    pub errors: BTreeMap<ErrorKind, u64>,
    pub connections: ConnectionCounts,
    /// What the handshakes agreed on, and why some failed; null without TLS.
    pub tls_sessions: Option<TlsUse>,
    pub bytes: ByteCounts,
    pub overhead_per_answer_bytes: Option<f64>,
    pub generator: GeneratorReport,
    pub phases: Vec<PhaseReport>,
    pub windows: Vec<Window>,
    pub verdict: Verdict,
    pub caveats: Vec<Caveat>,
}

/// What the generator used.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct GeneratorReport {
    pub cpu_ns: u64,
    pub cpu_ns_by_thread: Vec<u64>,
    pub spin_ns: u64,
    pub cpu_per_request_ns: Option<f64>,
    pub max_rss_bytes: Option<u64>,
    pub syscalls: Option<u64>,
}

/// One phase of a device load.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct PhaseReport {
    pub name: String,
    pub from_ns: u64,
    pub duration_ns: u64,
    pub requests: RequestCounts,
    pub throughput_per_s: Option<f64>,
    pub connect: Summary,
    pub tls: Option<Summary>,
    pub headers: Summary,
    pub body: Summary,
    pub response_time: Summary,
    pub send_lag: Summary,
    pub connections: ConnectionCounts,
    pub bytes: ByteCounts,
    pub errors: BTreeMap<ErrorKind, u64>,
}

impl LoadReport {
    /// The report of a trial that has a load; `None` if it failed before.
    #[must_use]
    pub fn of(url: &str, record: &TrialRecord) -> Option<Self> {
        let load = record.load.as_ref()?;
        let measured = &load.measured;
        let answers = measured.requests.completed;
        let spans = &measured.spans;
        Some(Self {
            pippin_version: env!("CARGO_PKG_VERSION").into(),
            url: url.into(),
            profile: record.spec.profile.clone(),
            step: record.spec.step,
            io: load.io.clone(),
            threads: load.threads,
            interrupted: load.interrupted,
            warm_up: load.warm_up.clone(),
            requests: measured.requests,
            duration_ns: measured.duration_ns,
            throughput_per_s: measured.throughput_per_s(),
            goodput_per_s: measured.goodput_per_s(),
            status: measured.status,
            connect: spans.connect.summary(),
            tls: load.tls.as_ref().map(|_| spans.tls.summary()),
            headers: spans.headers.summary(),
            body: spans.body.summary(),
            service_time: spans.service_time.summary(),
            response_time: spans.response_time.summary(),
            send_lag: spans.send_lag.summary(),
            own_lag: spans.own_lag.summary(),
            errors: measured.errors.clone(),
            connections: measured.connections,
            tls_sessions: load.tls.clone(),
            bytes: measured.bytes,
            overhead_per_answer_bytes: (answers > 0).then(|| {
                measured.bytes.received.saturating_sub(measured.bytes.body) as f64 / answers as f64
            }),
            generator: GeneratorReport {
                cpu_ns: load.generator.cpu_ns,
                cpu_ns_by_thread: load.generator.cpu_ns_by_thread.clone(),
                spin_ns: load.generator.spin_ns,
                cpu_per_request_ns: (answers > 0).then(|| {
                    load.generator.cpu_ns.saturating_sub(load.generator.spin_ns) as f64
                        / answers as f64
                }),
                max_rss_bytes: load.generator.max_rss_bytes,
                syscalls: load.generator.syscalls,
            },
            phases: load.phases.iter().map(|one| phase(one, load.tls.is_some())).collect(),
            windows: load.windows.clone(),
            verdict: record.verdict,
            caveats: record.caveats.clone(),
        })
    }

    /// What wrk's and ab's users look for, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write_text(&mut out);
        out
    }

    fn write_text(&self, out: &mut String) {
        let seconds = self.duration_ns as f64 / 1e9;
        let c = &self.connections;
        line(out, &format!("{}  {}", self.url, self.load_in_words()));
        line(
            out,
            &format!(
                "{seconds:.2} s measured, {} thread(s), {} of {} connections, {}",
                self.threads, c.peak, c.asked, self.io
            ),
        );
        if self.warm_up.duration_ns > 0 {
            let steady = match self.warm_up.steady {
                Some(true) => ", then steady",
                Some(false) => ", still trending at its bound",
                None => "",
            };
            line(
                out,
                &format!(
                    "warm-up of {} left out ({} requests{steady})",
                    format_ns(self.warm_up.duration_ns),
                    self.warm_up.completed
                ),
            );
        }
        line(out, "");
        self.write_rates(out, seconds);
        self.write_tls(out);
        line(out, "");
        self.write_spans(out);
        self.write_percentiles(out);
        self.write_phases(out);
        self.write_errors(out);
        self.write_verdict(out);
    }

    fn load_in_words(&self) -> String {
        let load = self.profile.at(self.step);
        load.schedule.loop_and_amount(load.connections.count)
    }

    fn write_rates(&self, out: &mut String, seconds: f64) {
        let r = &self.requests;
        let rate = |value: Option<f64>| value.map_or("-".into(), format_count);
        line(
            out,
            &format!(
                "Requests/s   {:>12}   right answers/s {:>12}",
                rate(self.throughput_per_s),
                rate(self.goodput_per_s)
            ),
        );
        let per_second = |bytes: u64| {
            if seconds > 0.0 { format_bytes((bytes as f64 / seconds) as u64) } else { "-".into() }
        };
        line(
            out,
            &format!(
                "Transfer/s   {:>12} in {:>12} out",
                per_second(self.bytes.received),
                per_second(self.bytes.sent)
            ),
        );
        line(
            out,
            &format!(
                "Requests     {} scheduled = {} sent + {} unsent; sent = {} completed + {} failed + {} censored",
                r.scheduled, r.sent, r.unsent, r.completed, r.failed, r.censored
            ),
        );
        let s = &self.status;
        line(
            out,
            &format!(
                "Status       2xx {}, 3xx {}, 4xx {}, 5xx {}, other {}",
                s.s2xx, s.s3xx, s.s4xx, s.s5xx, s.other
            ),
        );
        let per_answer =
            self.overhead_per_answer_bytes.map_or("-".into(), |bytes| format!("{bytes:.0} B"));
        line(
            out,
            &format!(
                "Bytes        {} in, {} out, {} of bodies, {per_answer} around each body",
                self.bytes.received, self.bytes.sent, self.bytes.body
            ),
        );
        let cpu = self.generator.cpu_per_request_ns.map_or("-".into(), |ns| format_ns(ns as u64));
        line(
            out,
            &format!(
                "Generator    {cpu} of CPU a request, {}",
                self.generator.max_rss_bytes.map_or("-".into(), format_bytes)
            ),
        );
        let c = &self.connections;
        if c.reconnects + c.closed_by_server > 0 {
            line(
                out,
                &format!(
                    "Connections  {} opened, {} closed by the server after a complete answer, {} reconnects",
                    c.opened, c.closed_by_server, c.reconnects
                ),
            );
        }
    }

    fn write_tls(&self, out: &mut String) {
        let Some(tls) = &self.tls_sessions else { return };
        for Negotiated { version, cipher_suite, key_exchange, alpn, handshakes, resumed } in
            &tls.negotiated
        {
            let group = key_exchange.as_deref().unwrap_or("no key exchange");
            let alpn = alpn.as_deref().unwrap_or("no ALPN");
            line(
                out,
                &format!(
                    "TLS          {version}, {cipher_suite}, {group}, {alpn}: {handshakes} handshakes, {resumed} of them resumed"
                ),
            );
        }
        if !tls.verified {
            line(out, "             the server's certificate was not verified");
        }
        for (reason, count) in &tls.failures {
            line(out, &format!("             {count} failed: {reason}"));
        }
    }

    fn write_spans(&self, out: &mut String) {
        line(
            out,
            &format!(
                "{:<14}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
                "", "min", "mean", "+/-sd", "median", "p99", "max"
            ),
        );
        let spans = [
            ("connect", &self.connect),
            ("headers", &self.headers),
            ("body", &self.body),
            ("service time", &self.service_time),
            ("response time", &self.response_time),
            ("send lag", &self.send_lag),
        ];
        let tls = self.tls.iter().map(|span| ("tls", span));
        let spans = spans[..1].iter().copied().chain(tls).chain(spans[1..].iter().copied());
        for (name, span) in spans.filter(|(_, span)| span.count > 0) {
            let ns = |value: Option<u64>| value.map_or("-".into(), format_ns);
            let f = |value: Option<f64>| ns(value.map(|v| v.round() as u64));
            line(
                out,
                &format!(
                    "{name:<14}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
                    ns(span.min_ns),
                    f(span.mean_ns),
                    f(span.stdev_ns),
                    ns(span.p50_ns),
                    ns(span.p99_ns),
                    ns(span.max_ns)
                ),
            );
        }
    }

    fn write_percentiles(&self, out: &mut String) {
        let r = &self.response_time;
        let named = [
            ("50%", r.p50_ns),
            ("75%", r.p75_ns),
            ("90%", r.p90_ns),
            ("95%", r.p95_ns),
            ("99%", r.p99_ns),
            ("99.9%", r.p999_ns),
            ("100%", r.max_ns),
        ];
        let parts: Vec<String> = named
            .iter()
            .filter_map(|(name, ns)| Some(format!("{name} {}", format_ns((*ns)?))))
            .collect();
        if !parts.is_empty() {
            line(out, &format!("Response time within: {}", parts.join(", ")));
        }
    }

    fn write_phases(&self, out: &mut String) {
        if self.phases.is_empty() {
            return;
        }
        line(out, "");
        line(
            out,
            &format!(
                "{:<10}{:>10}{:>12}{:>12}{:>12}{:>12}{:>12}",
                "phase", "s", "requests/s", "connect p99", "headers p50", "headers p99", "errors"
            ),
        );
        for phase in &self.phases {
            let ns = |value: Option<u64>| value.map_or("-".into(), format_ns);
            line(
                out,
                &format!(
                    "{:<10}{:>10.1}{:>12}{:>12}{:>12}{:>12}{:>12}",
                    phase.name,
                    phase.duration_ns as f64 / 1e9,
                    phase.throughput_per_s.map_or("-".into(), format_count),
                    ns(phase.connect.p99_ns),
                    ns(phase.headers.p50_ns),
                    ns(phase.headers.p99_ns),
                    phase.errors.values().sum::<u64>()
                ),
            );
        }
    }

    fn write_errors(&self, out: &mut String) {
        if !self.errors.is_empty() {
            let kinds: Vec<String> = self
                .errors
                .iter()
                .map(|(kind, count)| format!("{} {count}", kind.name()))
                .collect();
            line(out, &format!("Errors       {}", kinds.join(", ")));
        }
    }

    fn write_verdict(&self, out: &mut String) {
        line(out, "");
        line(
            out,
            &format!(
                "Verdict      {}{}",
                self.verdict,
                if self.interrupted { " (interrupted)" } else { "" }
            ),
        );
        for caveat in &self.caveats {
            let mark = match caveat.severity {
                Severity::Invalid => "INVALID",
                Severity::Suspect => "SUSPECT",
                Severity::Note => "note",
            };
            line(out, &format!("  {mark:<8}{}: {}", caveat.id, caveat.evidence));
            if caveat.severity > Severity::Note && !caveat.advice.is_empty() {
                line(out, &format!("          {}", caveat.advice));
            }
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{}", text.trim_end());
}

fn phase(phase: &Phase, is_tls: bool) -> PhaseReport {
    let measured: &Measured = &phase.measured;
    PhaseReport {
        name: phase.name.clone(),
        from_ns: phase.from_ns,
        duration_ns: measured.duration_ns,
        requests: measured.requests,
        throughput_per_s: measured.throughput_per_s(),
        connect: measured.spans.connect.summary(),
        tls: is_tls.then(|| measured.spans.tls.summary()),
        headers: measured.spans.headers.summary(),
        body: measured.spans.body.summary(),
        response_time: measured.spans.response_time.summary(),
        send_lag: measured.spans.send_lag.summary(),
        connections: measured.connections,
        bytes: measured.bytes,
        errors: measured.errors.clone(),
    }
}

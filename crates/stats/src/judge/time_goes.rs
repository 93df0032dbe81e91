//! NOTE: where the time of a request goes.
use pippin_model::result::histogram::Histogram;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};

/// The parts of the mean response time: waiting to be sent, connecting, the tunnel through a proxy, TLS, head, body.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let parts = parts(evidence)?;
    let texts: Vec<String> = parts
        .iter()
        .filter(|(_, share)| *share >= 0.01)
        .map(|(name, share)| format!("{name} {}", percent(*share)))
        .collect();
    Some(caveat("time_goes", Severity::Note, texts.join(", "), "nothing to do"))
}

/// Each part with its share of the whole, in the order in which the parts occur; `None` if no
/// answer was timed.
pub(crate) fn parts(evidence: &Evidence) -> Option<Vec<(&'static str, f64)>> {
    let measured = evidence.measured()?;
    let spans = &measured.spans;
    let sum = |histogram: &Histogram| histogram.mean_ns().unwrap_or(0.0) * histogram.count() as f64;
    // Connections that were open before belong to no request that was measured.
    let counts = &measured.connections;
    let opened_within = counts.opened.saturating_sub(counts.opened_before);
    let within = opened_within as f64 / counts.opened.max(1) as f64;
    let (headers, body) = (sum(&spans.headers), sum(&spans.body));
    // The lag includes the time that the generator holds, which is not in the response time of
    // users who wait for their answers. It also includes connecting, so that this is never longer.
    let held = if evidence.own_lag_ns().is_some() { sum(&spans.own_lag) } else { 0.0 };
    let lag = (sum(&spans.send_lag) - held).max(0.0);
    let opening = (sum(&spans.connect) + sum(&spans.tunnel) + sum(&spans.tls)) * within;
    let part = if opening > 0.0 { within * (lag / opening).min(1.0) } else { 0.0 };
    let [connect, tunnel, tls] =
        [&spans.connect, &spans.tunnel, &spans.tls].map(|span| sum(span) * part);
    let waiting = (lag - connect - tunnel - tls).max(0.0);
    let total = waiting + connect + tunnel + tls + headers + body;
    (headers > 0.0 && total > 0.0).then(|| {
        let names = [
            "waiting to be sent",
            "connect",
            "tunnel",
            "tls",
            "headers (first byte sent to head complete)",
            "body",
        ];
        names
            .into_iter()
            .zip([waiting, connect, tunnel, tls, headers, body].map(|part| part / total))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn shares_add_up_to_the_whole() {
        let mut record = ExampleTrial::hello().build();
        let spans = &mut record.load.as_mut().unwrap().measured.spans;
        (spans.headers, spans.body, spans.send_lag, spans.connect) = Default::default();
        assert_eq!(judged(judge, &record), None);
        let spans = &mut record.load.as_mut().unwrap().measured.spans;
        spans.headers.record_n(3_000_000, 1_000);
        spans.body.record_n(1_000_000, 1_000);
        // Opened before the first request, and then kept.
        spans.connect.record_n(9_000_000_000, 10);
        let connections = &mut record.load.as_mut().unwrap().measured.connections;
        (connections.opened, connections.opened_before) = (10, 10);
        assert_eq!(
            judged(judge, &record).unwrap().evidence,
            "headers (first byte sent to head complete) 75.0 %, body 25.0 %"
        );
    }

    /// 1,000 requests that take 4 ms each, and TLS handshakes of 100 ms each of the first ten
    /// connections. Users or a rate: none of that is the time of a measured request.
    #[test]
    fn connections_that_were_open_before_are_nobodys_time() {
        for mut record in [ExampleTrial::hello().build(), ExampleTrial::open(100.0).build()] {
            let measured = &mut record.load.as_mut().unwrap().measured;
            measured.spans = Default::default();
            measured.spans.headers.record_n(4_000_000, 1_000);
            measured.spans.tls.record_n(100_000_000, 10);
            measured.spans.connect.record_n(50_000_000, 10);
            (measured.connections.opened, measured.connections.opened_before) = (10, 10);
            let only_headers = "headers (first byte sent to head complete) 100 %";
            assert_eq!(judged(judge, &record).unwrap().evidence, only_headers);
            // Ten more are opened while requests wait for them, of 1 ms each: the lag of these.
            let measured = &mut record.load.as_mut().unwrap().measured;
            measured.connections.opened = 20;
            measured.spans.send_lag.record_n(1_000_000, 1_000);
            let parts = parts_of(&record);
            let opening: f64 = parts
                .iter()
                .filter(|(name, _)| ["connect", "tls"].contains(name))
                .map(|it| it.1)
                .sum();
            // 750 ms of opening connections are within the second that requests waited in all.
            assert!((opening - 0.75 / 5.0).abs() < 0.001, "{parts:?}");
            // They cannot have taken longer than the requests waited.
            record.load.as_mut().unwrap().measured.spans.send_lag = Default::default();
            assert_eq!(judged(judge, &record).unwrap().evidence, only_headers);
        }
    }

    /// 1,000 requests of 3 ms at a rate, each of which is sent 1 ms late: for a connection through a
    /// proxy, or for nothing.
    #[test]
    fn the_wait_for_a_tunnel_is_told_from_other_waits() {
        let mut record = ExampleTrial::open(100.0).build();
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.spans = Default::default();
        measured.spans.headers.record_n(3_000_000, 1_000);
        measured.spans.send_lag.record_n(1_000_000, 1_000);
        let headers = "headers (first byte sent to head complete) 75.0 %";
        let waits = format!("waiting to be sent 25.0 %, {headers}");
        assert_eq!(judged(judge, &record).unwrap().evidence, waits);
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.spans.tunnel.record_n(1_000_000, 1_000);
        (measured.connections.opened, measured.connections.opened_before) = (1_000, 0);
        let opens = format!("tunnel 25.0 %, {headers}");
        assert_eq!(judged(judge, &record).unwrap().evidence, opens);
    }

    fn parts_of(record: &pippin_model::trial::TrialRecord) -> Vec<(&'static str, f64)> {
        let context = crate::judge::Context::default();
        parts(&Evidence { record, context: &context }).unwrap()
    }
}

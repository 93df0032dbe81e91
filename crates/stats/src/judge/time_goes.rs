//! NOTE: where the time of a request goes.
use pippin_model::result::histogram::Histogram;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};

/// The parts of the mean response time: waiting to be sent, connecting, TLS, head, body.
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
    // In a closed loop the first connections are open before the first request of the measured part,
    // whose time they are not.
    let counts = &measured.connections;
    let within = if evidence.is_closed_loop() && counts.opened > 0 {
        counts.reconnects as f64 / counts.opened as f64
    } else {
        1.0
    };
    let (connect, tls) = (sum(&spans.connect) * within, sum(&spans.tls) * within);
    let (headers, body) = (sum(&spans.headers), sum(&spans.body));
    // The lag includes connecting if each request has its own connection. It also includes the time
    // that the generator holds, which is not in the response time of users who wait for their
    // answers.
    let held = if evidence.own_lag_ns().is_some() { sum(&spans.own_lag) } else { 0.0 };
    let waiting = (sum(&spans.send_lag) - held - connect - tls).max(0.0);
    let total = waiting + connect + tls + headers + body;
    (headers > 0.0 && total > 0.0).then(|| {
        let names = [
            "waiting to be sent",
            "connect",
            "tls",
            "headers (first byte sent to head complete)",
            "body",
        ];
        names
            .into_iter()
            .zip([waiting, connect, tls, headers, body].map(|part| part / total))
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
        (connections.opened, connections.reconnects) = (10, 0);
        assert_eq!(
            judged(judge, &record).unwrap().evidence,
            "headers (first byte sent to head complete) 75.0 %, body 25.0 %"
        );
    }
}

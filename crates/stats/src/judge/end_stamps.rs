//! NOTE: short spans of answers behind which the server closed the connection.
//!
//! The kernel joins the end of a connection (FIN) to data that nobody has read yet, and keeps the
//! stamp of what came last (`tcp_try_coalesce`, net/ipv4/tcp_input.c). A generator that reads after
//! the end has come sees the end's stamp on the answer.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::stamps::share_of_short;

/// Up to this share, few of the quantiles are theirs.
const SOME: f64 = 0.01;

/// Whether more than 1 % of the answers may have the stamp of the end of their connection, while the
/// median of the service time is below 1 ms.
pub fn judge(evidence: &Evidence) -> Answer {
    let Some((share, median)) = share_of_short(evidence, |stamps| stamps.with_end, SOME)? else {
        return Ok(None);
    };
    let seen = format!(
        "behind {} of the answers the server closed the connection: their times, {} at the median, are upper bounds, because the kernel may have given them the stamp of the end",
        percent(share),
        format_ns(median)
    );
    let advice = "the time until the server's close may be in these spans: use keep-alive where the server's own time matters; throughput and CPU time per request are as good as ever";
    Ok(Some(caveat("end_stamps", Severity::Note, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn short_spans_that_may_end_with_the_connection_are_upper_bounds() {
        let closed = |ms, answers| {
            judged(judge, &ExampleTrial::hello().response_ms(ms).end_stamps(answers).build())
        };
        let all = ExampleTrial::hello().build().load.unwrap().measured.requests.completed;
        let found = closed(0.5, all).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert!(found.evidence.starts_with("behind 100 % of the answers"), "{}", found.evidence);
        assert_eq!(closed(0.5, all / 200), None, "a few answers");
        assert_eq!(closed(1.3, all), None, "long spans");
    }
}

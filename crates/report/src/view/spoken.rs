//! What was spoken with the targets of a run.
use pippin_model::load::LoadSpec;
use pippin_model::run::RunRecord;
use pippin_model::text::units::counted;
use pippin_model::trial::TrialRecord;

/// The protocol: `HTTP/2 over TLS`.
fn protocol(spec: &LoadSpec) -> String {
    let over = if spec.tls.is_some() { " over TLS" } else { "" };
    format!("{}{over}", spec.protocol.name())
}

/// The protocols of all loads of a run, each once.
#[must_use]
pub fn protocols(record: &RunRecord) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for spec in record.trials.iter().filter_map(|trial| trial.load_spec.as_ref()) {
        let name = protocol(spec);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What was spoken in these trials of one target, and over how many connections. `None` where all
/// targets of the run are spoken with alike.
#[must_use]
pub fn unlike_others(record: &RunRecord, trials: &[&TrialRecord]) -> Option<String> {
    if protocols(record).len() < 2 {
        return None;
    }
    let spec = trials.iter().find_map(|trial| trial.load_spec.as_ref())?;
    let protocol = protocol(spec);
    // Such users have a connection each.
    if spec.schedule.requests_per_user().is_some() {
        return Some(protocol);
    }
    let connections = counted(u64::from(spec.connections.count), "connection");
    Some(match spec.connections.streams {
        1 => format!("{protocol}, {connections}"),
        count => format!("{protocol}, {connections} with {count} streams each"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;
    use pippin_model::load::{Connections, Protocol};

    #[test]
    fn targets_of_several_protocols_say_what_was_spoken_with_each() {
        let mut record = example::hello();
        for trial in &mut record.trials {
            let connections = Connections::kept(64);
            trial.load_spec = Some(LoadSpec { connections, ..LoadSpec::default() });
        }
        let said = |record: &RunRecord, nth: usize| unlike_others(record, &[&record.trials[nth]]);
        assert_eq!(protocols(&record), ["HTTP/1.1"]);
        assert_eq!(said(&record, 0), None);
        record.trials[1].load_spec = Some(LoadSpec {
            protocol: Protocol::Http2,
            connections: Connections { streams: 16, ..Connections::kept(4) },
            ..LoadSpec::default()
        });
        assert_eq!(protocols(&record), ["HTTP/1.1", "HTTP/2"]);
        assert_eq!(said(&record, 0).as_deref(), Some("HTTP/1.1, 64 connections"));
        assert_eq!(said(&record, 1).as_deref(), Some("HTTP/2, 4 connections with 16 streams each"));
        let rows = crate::view::View::of(&record).rows;
        assert!(rows.iter().any(|row| row.spoken.as_deref().is_some_and(|it| it.contains("16"))));
    }
}

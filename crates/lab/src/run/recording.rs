//! The record of a run in progress. Each finished trial is judged, stored and announced before the
//! next one begins.
use pippin_model::load::LoadSpec;
use pippin_model::request::requests::Whole;
use pippin_model::request::secrets::{Digests, Public};
use pippin_model::run::life::TargetLife;
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::trial::instructions::Instructions;
use pippin_model::verdict::Caveat;
use pippin_stats::judge::settled::settle;
use pippin_store::{Store, StoreError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::error::LabError;
use crate::run::observer::{Event, Observer};
use crate::trial::unix_now_ns;

/// What happens to finished trials.
#[derive(Clone, Copy)]
pub enum Keeping<'a> {
    /// They are stored; where that fails, the run fails.
    Must(&'a Store),
    /// They are stored as long as possible. The first failure is reported, and the run goes on.
    IfPossible(&'a Store),
    /// They are not stored.
    Not,
}

/// A run while it is made.
pub struct Recording<'a> {
    header: RunHeader,
    trials: Vec<TrialRecord>,
    lives: Vec<TargetLife>,
    /// The instructions of each target in each repetition, for its trials.
    counted: BTreeMap<(TargetId, u32), Instructions>,
    keeping: Keeping<'a>,
    observer: &'a dyn Observer,
    requests: KeptRequests,
}

/// What is kept of the requests and answers of a run.
pub struct KeptRequests {
    /// Stands for values.
    digests: Digests,
    /// Whether everything is kept.
    is_whole: bool,
    /// What ships with Pippin. It is kept.
    public: Public,
}

impl KeptRequests {
    /// Digests of what may be a secret are kept, unless it is public or everything shall be
    /// (`is_whole`). They are made with the key of the store, or with a random one where none can be
    /// used.
    #[must_use]
    pub fn new(keeping: Keeping<'_>, public: Public, is_whole: bool) -> Self {
        let key = match keeping {
            Keeping::Must(store) | Keeping::IfPossible(store) => store.key().ok(),
            Keeping::Not => None,
        };
        Self { digests: Digests::new(key.unwrap_or_else(random_key)), is_whole, public }
    }

    /// The number of requests, and a digest of them for which nobody can try out values without the
    /// key. Without values that may be secrets, it is the same in every store.
    #[must_use]
    pub fn known(&self, load: &LoadSpec) -> Whole {
        self.digests.load(load).known_requests()
    }

    fn header(&self, header: &RunHeader) -> RunHeader {
        if self.is_whole { header.clone() } else { self.digests.header(header, &self.public) }
    }

    /// Whether the requests and answers of trials are kept as they are.
    const fn keeps_requests(&self) -> bool {
        self.is_whole || self.public.workload
    }

    /// A trial without values of its requests. What only the terminal shows is still there.
    fn shown<'a>(&self, record: &'a TrialRecord, requests: Option<&Whole>) -> Cow<'a, TrialRecord> {
        if self.keeps_requests() {
            Cow::Borrowed(record)
        } else {
            Cow::Owned(self.digests.trial(record.clone(), requests))
        }
    }

    /// What the store keeps of a trial that was shown.
    fn kept<'a>(&self, record: &'a TrialRecord) -> Cow<'a, TrialRecord> {
        if self.is_whole {
            return Cow::Borrowed(record);
        }
        let mut kept = record.for_record();
        if !self.public.targets.contains(&record.spec.target)
            && record.failure.as_ref().is_some_and(|failure| !failure.log_tail.is_empty())
        {
            let failure = kept.to_mut().failure.iter_mut();
            failure.for_each(|failure| failure.log_tail.clear());
        }
        if self.keeps_requests() {
            kept
        } else {
            Cow::Owned(self.digests.messages(kept.into_owned()))
        }
    }
}

impl<'a> Recording<'a> {
    /// Begins a run.
    ///
    /// # Errors
    /// If it must be stored and cannot.
    pub fn begin(
        header: RunHeader,
        keeping: Keeping<'a>,
        requests: KeptRequests,
        observer: &'a dyn Observer,
    ) -> Result<Self, LabError> {
        let mut recording = Self {
            header,
            trials: Vec::new(),
            lives: Vec::new(),
            counted: BTreeMap::new(),
            keeping,
            observer,
            requests,
        };
        let kept = recording.requests.header(&recording.header);
        recording.store(|store, _| store.begin(&kept))?;
        observer.event(&Event::RunStarted(&kept));
        Ok(recording)
    }

    /// What was known before the first trial.
    #[must_use]
    pub const fn header(&self) -> &RunHeader {
        &self.header
    }

    /// The trials so far.
    #[must_use]
    pub fn trials(&self) -> &[TrialRecord] {
        &self.trials
    }

    /// Judges a trial. `at_the_end` is what was seen when its target was stopped.
    pub fn judge(&self, record: &mut TrialRecord, at_the_end: Vec<Caveat>) {
        // Caveats name requests.
        let shown = self.requests.shown(record, self.header.requests.as_ref());
        (record.caveats, record.verdict) = settle(&shown, &self.header, &self.trials, at_the_end);
    }

    /// Stores a judged trial and announces it.
    ///
    /// # Errors
    /// If it must be stored and cannot.
    pub fn keep(&mut self, mut record: TrialRecord) -> Result<(), LabError> {
        let of = (record.spec.target.clone(), record.spec.repetition);
        record.instructions = self.counted.get(&of).cloned();
        let record = self.requests.shown(&record, self.header.requests.as_ref()).into_owned();
        let number = self.trials.len() as u64;
        self.store(|store, this| {
            store.add_trial(&this.header.id, number, &this.requests.kept(&record))
        })?;
        self.observer.event(&Event::TrialFinished(&record));
        self.trials.push(record);
        Ok(())
    }

    /// Takes the instructions of a target for its trials of this repetition.
    pub fn counted(&mut self, target: TargetId, repetition: u32, mut counted: Instructions) {
        // A failure may name requests and answers.
        if counted.failure.is_some() && !self.requests.keeps_requests() {
            counted.failure = counted.failure.map(|text| self.requests.digests.message(&text));
        }
        self.counted.insert((target, repetition), counted);
    }

    /// Stores the life of a target.
    ///
    /// # Errors
    /// If it must be stored and cannot.
    pub fn keep_life(&mut self, mut life: TargetLife) -> Result<(), LabError> {
        // A failure names requests and answers.
        if life.failure.is_some() && !self.requests.keeps_requests() {
            life.failure =
                Some("it failed; --keep-requests keeps the reason, which may name secrets".into());
        }
        self.store(|store, this| store.add_life(&this.header.id, &life))?;
        self.lives.push(life);
        Ok(())
    }

    /// Ends the run. A run without trials that need not be kept is removed.
    ///
    /// # Errors
    /// If it must be stored and cannot.
    pub fn end(mut self, state: RunState) -> Result<RunRecord, LabError> {
        let ended = unix_now_ns();
        if self.trials.is_empty() && !matches!(self.keeping, Keeping::Must(_)) {
            self.store(|store, this| store.forget(&this.header.id))?;
        } else {
            self.store(|store, this| store.end(&this.header.id, state, ended))?;
        }
        Ok(RunRecord {
            header: self.requests.header(&self.header),
            state,
            ended_unix_ns: Some(ended),
            trials: self.trials,
            lives: self.lives,
        })
    }

    fn store(
        &mut self,
        work: impl FnOnce(&Store, &Self) -> Result<(), StoreError>,
    ) -> Result<(), LabError> {
        match self.keeping {
            Keeping::Must(store) => Ok(work(store, self)?),
            Keeping::IfPossible(store) => {
                if let Err(error) = work(store, self) {
                    self.keeping = Keeping::Not;
                    self.observer.event(&Event::NotStored(&error.to_string()));
                }
                Ok(())
            }
            Keeping::Not => Ok(()),
        }
    }
}

/// A key that is nowhere kept.
fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    for part in key.chunks_exact_mut(8) {
        // Its seeds come from the kernel.
        part.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::observer::Silent;
    use pippin_model::example::run::{hello, twenty};
    use pippin_model::target::manifest::Deviation;
    use pippin_model::verdict::{Severity, Verdict};

    fn kept() -> KeptRequests {
        KeptRequests::new(Keeping::Not, Public { workload: true, ..Public::default() }, false)
    }

    /// A trial of the first target, judged with a doubt about its stop. Its manifest names
    /// deviations with these caveats.
    fn judged(named: &[&str], severity: Severity) -> TrialRecord {
        let RunRecord { mut header, mut trials, .. } = hello();
        let manifest = twenty().header.targets.into_values().find_map(|info| info.manifest);
        let deviations = named.iter().map(|caveat| Deviation {
            what: "it ends slowly".into(),
            why: "its guide says so".into(),
            caveat: Some((*caveat).into()),
        });
        let manifest = manifest.map(|manifest| {
            let deviations = deviations.collect();
            pippin_model::target::manifest::Manifest { deviations, ..manifest }
        });
        let mut record = trials.remove(0);
        header.targets.entry(record.spec.target.clone()).or_default().manifest = manifest;
        let recording = Recording::begin(header, Keeping::Not, kept(), &Silent).unwrap();
        let (evidence, advice) = ("it was killed".into(), String::new());
        let seen = Caveat { id: "unclean_stop".into(), severity, evidence, advice };
        recording.judge(&mut record, vec![seen]);
        record
    }

    #[test]
    fn a_deviation_that_the_manifest_names_is_a_note_and_no_doubt() {
        let of_stop = |record: &TrialRecord| {
            let found = record.caveats.iter().find(|caveat| caveat.id == "unclean_stop");
            found.map(|caveat| (caveat.severity, caveat.evidence.clone())).unwrap()
        };
        for named in [&[][..], &["server_closes"]] {
            let record = judged(named, Severity::Suspect);
            assert_eq!(of_stop(&record), (Severity::Suspect, "it was killed".into()), "{named:?}");
            assert_eq!(record.verdict, Verdict::Suspect);
        }
        let record = judged(&["server_closes", "unclean_stop"], Severity::Suspect);
        let evidence = "it was killed (the manifest says: it ends slowly)";
        assert_eq!(of_stop(&record), (Severity::Note, evidence.into()));
        assert_eq!(record.verdict, Verdict::Valid, "{:?}", record.caveats);
        let record = judged(&["unclean_stop"], Severity::Invalid);
        assert_eq!(record.verdict, Verdict::Invalid, "no manifest excuses what is INVALID");
    }
}

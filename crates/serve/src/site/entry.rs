//! What lists show of a run.
use pippin_model::run::digest::{RunDigest, WITHOUT_BOARD};
use pippin_model::run::life::TargetLife;
use pippin_model::run::{RunRecord, RunState};
use pippin_report::digest;
use pippin_report::view::View;
use pippin_store::listing::PlanLeader;

/// The plan whose rounds are shown together, and whether in its quick form.
pub(super) type Board = (String, bool);

/// A run of a site.
pub(super) struct Entry {
    pub id: String,
    pub plan: String,
    pub title: String,
    pub quick: bool,
    pub started_unix_ns: u64,
    pub host: Option<String>,
    pub version: String,
    pub digest: RunDigest,
    /// The life of each target, if it was measured.
    pub lives: Vec<TargetLife>,
    /// The board that it is a round of.
    pub board: Option<Board>,
    /// The round before it.
    pub before: Option<String>,
    /// Targets with a result, by name.
    pub measured: Vec<String>,
}

impl Entry {
    pub(super) fn from_record(record: &RunRecord, view: &View) -> Self {
        let header = &record.header;
        let (plan, quick) = (header.plan.id.clone(), header.plan.quick);
        let measured: Vec<String> = view.measured().map(|row| row.target.to_string()).collect();
        let is_round = header.url.is_none()
            && !WITHOUT_BOARD.contains(&&*plan)
            && record.state == RunState::Finished
            && !measured.is_empty();
        Self {
            id: header.id.clone(),
            title: view.run.title.clone(),
            started_unix_ns: header.started_unix_ns,
            host: view.host.hostname.clone(),
            version: view.run.pippin_version.clone(),
            digest: digest::from_view(view),
            lives: view.lives.clone(),
            board: is_round.then(|| (plan.clone(), quick)),
            before: None,
            measured,
            plan,
            quick,
        }
    }

    /// As the newest round of its board.
    pub(super) fn leader(&self) -> PlanLeader {
        PlanLeader {
            plan: self.plan.clone(),
            title: self.title.clone(),
            quick: self.quick,
            run: self.id.clone(),
            started_unix_ns: self.started_unix_ns,
            host: self.host.clone(),
            digest: self.digest.clone(),
        }
    }
}

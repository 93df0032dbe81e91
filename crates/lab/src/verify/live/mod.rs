//! Proofs from the answers of the load itself. What a target does before and after the load does
//! not prove what it does under load.
//!
//! | module | what it judges |
//! |---|---|
//! | `changes` | rows of a table that change while a load runs |
//! | `deputy` | the same in other processes, for the first of these and for pages |
//! | `issued` | the numbers of the upstream: each once, and issued after its request was sent |
//! | `meanwhile` | what is done again and again while a load runs |
//! | `messages` | pages of the table `messages`, while it changes |
//! | `audit` | steps of a walk that are compared with the table `products`, beside a load that writes it |
//! | `ledger` | what the answers of a load have done to the table `products`, and what it has |
//! | `replaced` | files that are replaced while a load runs; which answers are right then, `verify::files` says |
//! | `table` | the table `users` as it is at each instant, while it changes |
//! | `scans` | how often PostgreSQL was asked, by its own account |
mod audit;
mod changes;
pub mod deputy;
mod issued;
mod ledger;
mod meanwhile;
mod messages;
mod replaced;
mod scans;
mod table;

use pippin_engine::Referee;
use pippin_model::result::{ErrorKind, LoadResult};
use pippin_model::text::units::format_ns;
use pippin_model::trial::{ProofOutcome, ProofTime};
use pippin_model::workload::{Proof, Sample, Source, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::delay;
use super::events;
use super::files::{FileAnswers, FileRequest};
use super::http::Answer;
use super::items::ItemAnswers;
use super::page::{Pages, Text};
use super::sampled::Found;
use super::uploads::UploadAnswers;
use super::{Subject, Verdict};
use crate::load::answers;
use crate::running::way::Way;
use crate::services::Services;
use changes::{Tally, Versions, change_meanwhile};
use issued::Issued;
use ledger::Written;
use meanwhile::Meanwhile;
use messages::MessageAnswers;
use replaced::{Trouble, replace_meanwhile, went_well};
use scans::Scans;
use table::History;

/// The name of that count in the record.
const NUMBERS: &str = "upstream_numbers";

/// What watches the answers of one target, over any number of loads.
#[derive(Default)]
pub struct Live(Kind);

#[derive(Default)]
enum Kind {
    /// Right answers do not change.
    #[default]
    Nothing,
    Upstream(Arc<Issued>),
    Table(Box<Table<History>>),
    Messages(Box<Table<MessageAnswers>>),
    Pages(Arc<Pages>),
    Items(Arc<ItemAnswers>),
    Uploads(Arc<UploadAnswers>),
    Files(Box<Replaced>),
    Written(Box<Written>),
}

struct Replaced {
    answers: Arc<FileAnswers>,
    /// Replaces files while a load runs.
    meanwhile: Option<Meanwhile>,
    trouble: Trouble,
}

/// A table, and what judges the answers that come from it.
struct Table<J> {
    judge: Arc<J>,
    scans: Scans,
    /// Changes the table while a load runs.
    meanwhile: Option<Meanwhile>,
}

impl<J> Table<J> {
    fn judged_by(judge: J) -> Box<Self> {
        Box::new(Self { judge: Arc::new(judge), scans: Scans::default(), meanwhile: None })
    }

    /// A load begins, while which this table changes.
    fn begin(
        &mut self,
        services: &mut Services,
        versions: Arc<impl Versions>,
    ) -> Result<(), String> {
        let postgres = services.postgres()?;
        self.scans.load_begins(postgres);
        self.meanwhile = Some(change_meanwhile(postgres.lab_url(), versions)?);
        Ok(())
    }

    /// What the changes and PostgreSQL's account show.
    fn verdicts(&self, tally: &Tally, services: &mut Services) -> [(&'static str, Verdict); 2] {
        let queries = services.postgres().and_then(|postgres| self.scans.verdict(postgres));
        [("changes", tally.verdict()), (QUERIES, queries)]
    }
}

/// Whether only this process can judge the answers to this workload under load.
#[must_use]
pub fn is_judged_here(workload: &Workload) -> bool {
    matches!(workload.answer.from, Some(Source::Table | Source::Messages | Source::Files))
        || workload.proofs.contains(&Proof::Stored)
}

impl Live {
    /// For a target that serves this workload.
    ///
    /// # Errors
    /// If the service that the answers come from is not there.
    pub fn from_workload(workload: &Workload, services: &mut Services) -> Result<Self, String> {
        Ok(Self(match workload.answer.from {
            None if workload.proofs.contains(&Proof::Stored) => {
                Kind::Written(Box::new(Written::from_workload(workload)?))
            }
            None => Kind::Nothing,
            Some(Source::Upstream) => {
                let upstream = services.upstream()?;
                Kind::Upstream(Arc::new(Issued::new(upstream.numbers(), upstream.delay_ns())))
            }
            Some(Source::Items) => {
                let coded_from = workload.answer.coded_from;
                Kind::Items(Arc::new(ItemAnswers::from_items(services.items()?, coded_from)))
            }
            Some(Source::Upload) => Kind::Uploads(Arc::default()),
            Some(Source::Files) => {
                let allowed_ns = workload.answer.fresh_within_ns();
                let answers = Arc::new(FileAnswers::from_files(services.files()?, allowed_ns));
                let (meanwhile, trouble) = (None, Trouble::default());
                Kind::Files(Box::new(Replaced { answers, meanwhile, trouble }))
            }
            Some(Source::Table) => Kind::Table(Table::judged_by(History::from_table(
                services.postgres()?.written().clone(),
            ))),
            Some(Source::Messages) => {
                let rows = services.postgres()?.written().clone();
                Kind::Messages(Table::judged_by(MessageAnswers::from_workload(workload, rows)))
            }
        }))
    }

    /// The requests of the next load were made of these samples.
    pub fn expect(&mut self, workload: &Workload, samples: Vec<Sample>) {
        if let Kind::Items(items) = &self.0 {
            self.0 = Kind::Items(Arc::new(items.for_samples(&samples)));
        } else if let Kind::Messages(messages) = &mut self.0 {
            messages.judge = Arc::new(messages.judge.for_samples(&samples));
        } else if let Kind::Uploads(uploads) = &self.0 {
            self.0 = Kind::Uploads(Arc::new(uploads.for_samples(&samples)));
        } else if let Some(text) = Text::from_workload(workload) {
            let found = match &self.0 {
                Kind::Pages(pages) => pages.compared(),
                _ => Found::default(),
            };
            self.0 = Kind::Pages(Arc::new(Pages::from_workload(workload, text, samples, found)));
        }
    }

    /// What judges answers that are files.
    ///
    /// # Errors
    /// If answers are something else.
    pub fn files(&self) -> Result<&FileAnswers, String> {
        match &self.0 {
            Kind::Files(files) => Ok(&files.answers),
            _ => Err("the workload needs `from = \"files\"` in [answer] for this proof".into()),
        }
    }

    /// The requests of the next load ask for these files.
    pub fn expect_files(&mut self, asked: Vec<FileRequest>) {
        if let Kind::Files(files) = &mut self.0 {
            files.answers = Arc::new(files.answers.asking(asked));
        }
    }

    /// A load begins, which reaches its target this way, and has a connection for each request if it
    /// `closes` them. What is returned judges its answers.
    ///
    /// # Errors
    /// If the service that the answers come from does not answer.
    pub fn begin(
        &mut self,
        services: &mut Services,
        way: &Way,
        closes: bool,
    ) -> Result<Option<Arc<dyn Referee>>, String> {
        Ok(match &mut self.0 {
            Kind::Nothing => None,
            Kind::Pages(pages) => Some(Arc::clone(pages) as Arc<dyn Referee>),
            Kind::Items(items) => Some(Arc::clone(items) as Arc<dyn Referee>),
            Kind::Uploads(uploads) => Some(Arc::clone(uploads) as Arc<dyn Referee>),
            Kind::Upstream(issued) => Some(Arc::clone(issued) as Arc<dyn Referee>),
            Kind::Files(files) => {
                let trouble = Arc::clone(&files.trouble);
                let folder = Arc::clone(files.answers.files());
                files.meanwhile = Some(replace_meanwhile(folder, trouble)?);
                Some(Arc::clone(&files.answers) as Arc<dyn Referee>)
            }
            Kind::Written(written) => Some(written.begin(services.postgres()?, way, closes)?),
            Kind::Table(table) => {
                table.begin(services, Arc::clone(&table.judge))?;
                Some(Arc::clone(&table.judge) as Arc<dyn Referee>)
            }
            Kind::Messages(messages) => {
                messages.begin(services, Arc::clone(messages.judge.table()))?;
                Some(Arc::clone(&messages.judge) as Arc<dyn Referee>)
            }
        })
    }

    /// What changes while a load runs, where something does.
    const fn meanwhile(&mut self) -> Option<&mut Option<Meanwhile>> {
        match &mut self.0 {
            Kind::Table(table) => Some(&mut table.meanwhile),
            Kind::Messages(messages) => Some(&mut messages.meanwhile),
            Kind::Files(files) => Some(&mut files.meanwhile),
            Kind::Written(written) => Some(&mut written.meanwhile),
            _ => None,
        }
    }

    /// Says whether a load of this target runs now, where targets take turns. In between, its table
    /// and its files do not change, and what it reads of the table does not count.
    pub fn is_loaded(&mut self, is_loaded: bool, services: &mut Services) {
        if let Some(Some(meanwhile)) = self.meanwhile() {
            meanwhile.pause(!is_loaded);
        }
        if let (Some((scans, _)), Ok(postgres)) = (self.scans(), services.postgres()) {
            if is_loaded {
                scans.goes_on(postgres);
            } else {
                scans.pauses(postgres);
            }
        }
    }

    /// How often the table was read, and how many answers of the loads so far were right; `None` where
    /// answers come from no table.
    fn scans(&mut self) -> Option<(&mut Scans, u64)> {
        match &mut self.0 {
            Kind::Table(table) => Some((&mut table.scans, table.judge.tally().right())),
            Kind::Messages(messages) => {
                Some((&mut messages.scans, messages.judge.table().tally().right()))
            }
            _ => None,
        }
    }

    /// The load is over.
    pub fn end(&mut self, services: &mut Services) {
        if let Some(meanwhile) = self.meanwhile().and_then(Option::take) {
            meanwhile.stop();
        }
        if let (Some((scans, right)), Ok(postgres)) = (self.scans(), services.postgres()) {
            scans.load_ends(postgres, right);
        }
        if let (Kind::Written(written), Ok(postgres)) = (&mut self.0, services.postgres()) {
            written.end(postgres);
        }
    }

    /// How many answers of the loads so far had a number that the upstream had issued for them;
    /// `None` where answers have none.
    #[must_use]
    pub fn numbers(&self) -> Option<u64> {
        match &self.0 {
            Kind::Upstream(issued) => Some(issued.right()),
            Kind::Nothing
            | Kind::Pages(_)
            | Kind::Table(_)
            | Kind::Messages(_)
            | Kind::Items(_)
            | Kind::Uploads(_)
            | Kind::Files(_)
            | Kind::Written(_) => None,
        }
    }

    /// Adds to what the services counted how many answers had a number of the upstream, since it
    /// was this.
    pub fn count_numbers(&self, since: Option<u64>, counts: &mut BTreeMap<String, f64>) {
        if let Some(numbers) = self.numbers() {
            counts.insert(NUMBERS.into(), (numbers - since.unwrap_or(0)) as f64);
        }
    }

    /// What is wrong with the answer to a single request, if anything, judged as under load.
    #[must_use]
    pub fn differs(&self, sample: &Sample, answer: &Answer) -> Option<String> {
        match &self.0 {
            Kind::Items(items) => items.differs(sample, answer.coding(), &answer.body),
            Kind::Uploads(_) => UploadAnswers::differs(sample, &answer.body),
            Kind::Files(files) => files.answers.differs(sample, answer),
            Kind::Upstream(issued) => {
                issued.fault(&answer.exchange()).map(|fault| fault.words(answer))
            }
            Kind::Nothing
            | Kind::Pages(_)
            | Kind::Table(_)
            | Kind::Messages(_)
            | Kind::Written(_) => None,
        }
    }
}

/// What the loads of a target have shown; `load` sums them up.
pub fn prove(subject: &mut Subject<'_>, load: &LoadResult) -> Vec<ProofOutcome> {
    let mut verdicts: Vec<(&str, Verdict)> = Vec::new();
    let least_ns = subject.least_ns();
    if least_ns > 0 {
        verdicts.push(("least-wait", none_too_early(load, least_ns)));
    }
    if let Some(wait) = subject.drawn_wait() {
        verdicts.push(("waits", delay::long_enough(&load.measured.spans.service_time, wait)));
    }
    let live = std::mem::take(subject.live);
    let (mut doubts, mut remark, mut packed) = (Vec::new(), None, None);
    if let Some(form) = subject.workload.answer.event_form() {
        let all = events::of_load(load);
        remark = Some(events::remark(&all));
        verdicts.push((EVENTS, events::under_load(&all, &form)));
    }
    match &live.0 {
        Kind::Nothing => {}
        Kind::Pages(pages) => {
            verdicts.push(("text", pages.verdict(load.measured.requests.good)));
        }
        Kind::Items(items) => {
            let right = load.measured.requests.good;
            let found = items.compared();
            remark = found.ratios();
            packed = found.all_packed();
            verdicts.push((ITEMS, found.verdict(right, "answers")));
        }
        Kind::Uploads(uploads) => {
            let (found, right) = (uploads.compared(), load.measured.requests.good);
            doubts.extend((found.compared == 0).then(|| (DIGESTS, NO_LONG_DIGEST.into())));
            verdicts.push((DIGESTS, found.verdict_from(UPLOADS_SURELY, right, "answers")));
        }
        Kind::Files(files) => {
            remark = Some(files.answers.remark());
            let verdict = went_well(&files.trouble).and_then(|()| files.answers.verdict());
            verdicts.push((FILES, verdict));
        }
        Kind::Upstream(issued) => verdicts.push(("numbers", issued.verdict())),
        Kind::Written(written) => {
            verdicts.extend(written.verdicts(unanswered(load)));
            remark = written.remark();
            doubts.extend(written.doubts());
            doubts.extend(is_given(subject.services).then(|| (QUERIES, given())));
        }
        Kind::Table(table) => {
            verdicts.extend(table.verdicts(table.judge.tally(), subject.services));
            doubts.extend(is_given(subject.services).then(|| (QUERIES, given())));
        }
        Kind::Messages(messages) => {
            let (found, right) = (messages.judge.compared(), load.measured.requests.good);
            verdicts.push(("messages", found.verdict(right, "pages")));
            let tally = messages.judge.table().tally();
            verdicts.extend(messages.verdicts(tally, subject.services));
            doubts.extend(is_given(subject.services).then(|| (QUERIES, given())));
        }
    }
    *subject.live = live;
    let workload = &subject.workload.id;
    let outcome = |(proof, verdict): (&str, Verdict)| ProofOutcome {
        workload: workload.clone(),
        proof: proof.into(),
        when: ProofTime::During,
        failure: verdict.err(),
        remark: remark.clone().filter(|_| [ITEMS, FILES, AUDIT, EVENTS].contains(&proof)),
        doubt: doubts.iter().find(|(of, _)| *of == proof).map(|(_, doubt)| doubt.clone()),
        packed: packed.filter(|_| proof == ITEMS),
    };
    verdicts.into_iter().map(outcome).collect()
}

/// The proof by whole answers.
const ITEMS: &str = "items";

/// The proof by digests of files.
const FILES: &str = "files";

/// The proof by the events of streams.
const EVENTS: &str = "events";

/// The proof by digests of what was uploaded.
const DIGESTS: &str = "digests";

/// The proof by steps beside the load.
const AUDIT: &str = "audit";

/// The proof by the table after the load.
const STORED: &str = "stored";

/// The proof by PostgreSQL's account.
const QUERIES: &str = "queries";

/// Of so many right answers to uploads the digest of at least one long body is compared: about one
/// in 45 is, so that none of 500 has a chance of 1 in 70,000.
const UPLOADS_SURELY: u64 = 500;
const NO_LONG_DIGEST: &str =
    "the load was too short: no digest of a long body was compared under load; measure longer";

fn is_given(services: &mut Services) -> bool {
    services.postgres().is_ok_and(|postgres| postgres.is_given())
}

/// Why that proof is not certain in a database that the user gave.
fn given() -> String {
    "the target owns the table in the database that PIPPIN_DATABASE_URL names, and can change what proves it: leave the variable out for a private one".into()
}

/// Requests of all parts of a load that were sent and have no whole answer: what they did is unknown.
fn unanswered(load: &LoadResult) -> u64 {
    let sent: u64 = load.windows.iter().map(|window| window.sent).sum();
    sent.saturating_sub(answers(load))
}

/// No right answer came before one could be made.
fn none_too_early(load: &LoadResult, least_ns: u64) -> Verdict {
    let of_phases = load.phases.iter().map(|phase| &phase.measured.errors);
    let measured = std::iter::once(&load.measured.errors).filter(|_| load.phases.is_empty());
    let errors = of_phases.chain(measured).chain([&load.warm_up.errors]);
    let early: u64 = errors.filter_map(|errors| errors.get(&ErrorKind::TooEarly)).sum();
    if early == 0 {
        return Ok(());
    }
    Err(format!(
        "{early} answers came sooner than {} after their requests: the server did not wait",
        format_ns(least_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use std::path::Path;
    use std::time::Duration;

    /// What is not certain is said of its proof, whichever that is.
    #[test]
    fn a_doubt_stands_with_its_proof() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/upload.toml");
        let workload = Workload::read(&path).unwrap();
        let way = Way::plain("127.0.0.1:1".parse().unwrap());
        let (mut services, mut live) = (Services::default(), Live(Kind::Uploads(Arc::default())));
        let mut subject = Subject {
            way: &way,
            workload: &workload,
            samples: &[],
            services: &mut services,
            live: &mut live,
            limit: Duration::from_secs(1),
            closes: false,
        };
        let load = ExampleTrial::hello().build().load.unwrap();
        let outcomes = prove(&mut subject, &load);
        let doubts: Vec<(&str, Option<&str>)> =
            outcomes.iter().map(|it| (it.proof.as_str(), it.doubt.as_deref())).collect();
        assert_eq!(doubts, [(DIGESTS, Some(NO_LONG_DIGEST))]);
    }
}

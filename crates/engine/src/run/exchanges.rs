//! Which requests a load keeps one by one, and how they are named in its result.
use pippin_model::load::{LoadSpec, RequestId};
use pippin_model::result::{Exchange as Named, RequestSample, Slowest};

use crate::pace::lane::Lane;
use crate::record::exchanges::{self, Exchange, Exchanges};
use crate::record::paths;
use crate::record::reservoir::Reservoir;
use crate::run::result::stretches;

/// What a thread keeps in each stretch: the slowest of all, a sample of the headline.
pub(crate) fn kept(spec: &LoadSpec, thread: u32) -> Vec<Exchanges> {
    let (count, _, headline) = stretches(spec);
    let sampled = |stretch| stretch == headline && spec.samples > 0;
    let stream = Lane::new(spec, thread).stream();
    let sample = || Box::new(Reservoir::new(spec.samples, spec.seed, stream));
    (0..count)
        .map(|stretch| Exchanges {
            slowest: exchanges::Slowest::keeping(spec.slowest),
            sample: sampled(stretch).then(sample),
        })
        .collect()
}

/// What requests are called, and what turns the numbers of threads into those of the load.
pub(crate) struct Names {
    /// By template; empty if the load keeps no requests.
    names: Vec<String>,
    /// What the server's log calls them.
    id: Option<RequestId>,
    /// The begin of the load: since 1970, and by its clock.
    began_unix_ns: u64,
    began: u64,
    threads: u32,
    /// Users of a connection.
    depth: u32,
}

impl Names {
    /// Of a load that began at this instant: since 1970, and by its clock.
    pub fn from_spec(spec: &LoadSpec, (began_unix_ns, began): (u64, u64)) -> Self {
        let names = match &spec.scenario {
            _ if spec.slowest == 0 && spec.samples == 0 => Vec::new(),
            Some(scenario) => scenario.titles(),
            None => spec.requests.turns().map(|nth| paths::name(&spec.requests[nth])).collect(),
        };
        let depth = spec.connections.streams.max(1);
        let id = spec.request_id.clone();
        Self { names, id, began_unix_ns, began, threads: spec.threads, depth }
    }

    /// An exchange of a thread, with its template for a name.
    fn numbered(&self, thread: u32, one: &Exchange) -> Named<u32> {
        let unix_ns = |at: u64| {
            self.began_unix_ns.saturating_add_signed(at.wrapping_sub(self.began).cast_signed())
        };
        let connection = one.user / self.depth * self.threads + thread;
        Named {
            intended_unix_ns: unix_ns(one.intended_at),
            sent_unix_ns: unix_ns(one.sent_at),
            response_ns: one.took.map(|(response_ns, _)| response_ns),
            service_ns: one.took.map(|(_, service_ns)| service_ns),
            connection,
            user: connection * self.depth + one.user % self.depth,
            request: one.template,
            id: self.id.as_ref().map(|id| id.name(&String::from_utf8_lossy(&one.value))),
            status: one.status,
            error: one.error,
            body_bytes: one.body_bytes,
        }
    }

    /// The slowest requests of some threads.
    pub fn slowest<'a>(
        &self,
        spec: &LoadSpec,
        threads: impl Iterator<Item = (u32, &'a Exchanges)>,
    ) -> Slowest {
        let name = |nth: u32| self.names.get(nth as usize).cloned().unwrap_or_default();
        let named = threads.flat_map(|(thread, kept)| {
            kept.slowest.kept().map(move |one| self.numbered(thread, &one).named(name))
        });
        Slowest::from_requests(spec.slowest, named.collect())
    }

    /// The sample of some threads, in the order in which its requests were sent.
    pub fn sample<'a>(
        &self,
        spec: &LoadSpec,
        threads: impl Iterator<Item = (u32, &'a Exchanges)>,
    ) -> Option<RequestSample> {
        if spec.samples == 0 {
            return None;
        }
        let reservoirs =
            threads.filter_map(|(thread, kept)| Some((thread, kept.sample.as_deref()?)));
        let (of, kept) = Reservoir::merged(spec.samples, reservoirs);
        let mut requests: Vec<_> =
            kept.iter().map(|(thread, one)| self.numbered(*thread, one)).collect();
        requests.sort_unstable_by_key(|one| (one.sent_unix_ns, one.intended_unix_ns, one.user));
        Some(RequestSample { of, names: self.names.clone(), requests: requests.into() })
    }
}

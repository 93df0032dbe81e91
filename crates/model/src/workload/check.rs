//! Which workloads are refused, and why.
use std::collections::BTreeMap;

use super::draw::LEAST_MARKED;
use super::files::{self, FILES};
use super::sample::{BYTES, CHUNKED, SENT, WITH_LENGTH, placeholders};
use super::{
    Answer, ByteRange, MOST_SAMPLES, Message, Proof, Request, Service, Source, Vary, Workload,
};
use crate::load::websocket::NUMBER_BYTES;
use crate::request::is_token_text;
use crate::text::file::Wrong;
use crate::text::units::parse_duration_ns;

/// The longest body that a request can have, so that one can be kept and digested by the proofs.
const MOST_UPLOADED: u64 = 100_000_000;

impl Workload {
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        if self.schema == 0 {
            return Err(Wrong::at("", "schema is missing; write schema = 1"));
        }
        if self.schema != 1 {
            return Err(Wrong::at(
                "schema",
                format!("schema {} is not known; this Pippin reads schema 1", self.schema),
            ));
        }
        self.check_request()?;
        self.check_message()?;
        if !(100..=599).contains(&self.answer.status) {
            return Err(Wrong::at(
                "answer.status",
                format!("{} is not an HTTP status (100 to 599)", self.answer.status),
            ));
        }
        if self.proofs.is_empty() {
            return Err(Wrong::at("proof", "a workload needs at least one [[proof]]"));
        }
        if let Some(ByteRange { min, max }) = self.answer.body_bytes
            && min > max
        {
            return Err(Wrong::at(
                "answer.body_bytes",
                format!("answer.body_bytes: min {min} is above max {max}"),
            ));
        }
        self.check_source()?;
        self.check_stored()?;
        self.proofs.iter().enumerate().try_for_each(|(index, proof)| {
            proof.check().map_err(|message| Wrong::at(format!("proof[{index}]"), message))
        })
    }

    /// A message needs a WebSocket that a GET opens, and its answer is the echo.
    fn check_message(&self) -> Result<(), Wrong> {
        let needs = |proof: &Proof| {
            matches!(proof, Proof::Echo | Proof::Broadcast { .. } | Proof::Ping | Proof::Close)
        };
        let Some(message) = self.message else {
            return self.refuse_proofs(needs, |name| {
                format!(
                    "proof `{name}` is about WebSocket: write [message] with `bytes`, or leave the proof out"
                )
            });
        };
        if message.bytes > Message::MOST_BYTES {
            return Err(Wrong::at("message.bytes", "a message has at most 16 MiB"));
        }
        if message.broadcast && (message.bytes as usize) < NUMBER_BYTES {
            return Err(Wrong::at(
                "message.bytes",
                "copies of a broadcast are recognised by a number of 16 bytes: write 16 or more",
            ));
        }
        let Request { method, body, vary, .. } = &self.request;
        if method != "GET" || body.is_some() || !vary.is_empty() {
            return Err(Wrong::at(
                "message",
                "a WebSocket is opened by GET of one path: leave `method`, `body` and `vary` of [request] out",
            ));
        }
        if self.answer != Answer::default() {
            return Err(Wrong::at(
                "message",
                "the answer to a message is its echo, or its copies: leave [answer] out",
            ));
        }
        // A message to all is not an echo to one.
        let other = |proof: &Proof| match proof {
            Proof::Echo => message.broadcast,
            Proof::Broadcast { .. } => !message.broadcast,
            _ => false,
        };
        self.refuse_proofs(other, |_| {
            "`echo` is for messages that come back, and `broadcast` is for `broadcast = true`: change one of them".into()
        })?;
        let others = |proof: &Proof| !needs(proof) && !matches!(proof, Proof::NotFound { .. });
        self.refuse_proofs(others, |name| {
            format!(
                "proof `{name}` is about answers over HTTP: a workload with [message] takes echo or broadcast, ping, close and not-found"
            )
        })
    }

    /// Refuses the first proof of this kind. `why` gets its name.
    fn refuse_proofs(
        &self,
        is_wrong: impl Fn(&Proof) -> bool,
        why: impl Fn(&str) -> String,
    ) -> Result<(), Wrong> {
        let wrong = self.proofs.iter().enumerate().find(|(_, proof)| is_wrong(proof));
        wrong.map_or(Ok(()), |(index, proof)| {
            Err(Wrong::at(format!("proof[{index}]"), why(proof.name())))
        })
    }

    /// A body that is different each time cannot be compared with a fixed one.
    fn check_source(&self) -> Result<(), Wrong> {
        let Answer { from, body, contains, as_proved, .. } = &self.answer;
        self.check_coding()?;
        self.check_freshness()?;
        self.check_events()?;
        if *from != Some(Source::Upload) {
            self.refuse_proofs(
                |proof| matches!(proof, Proof::WholeBody),
                |name| format!("proof `{name}` is about bodies of requests: write `from = \"upload\"` in [answer], or leave the proof out"),
            )?;
        }
        if *from != Some(Source::Messages) {
            self.refuse_proofs(
                |proof| matches!(proof, Proof::Messages { .. }),
                |name| format!("proof `{name}` is about a page of messages: write `from = \"messages\"` in [answer], or leave the proof out"),
            )?;
        }
        let Some(from) = from else { return Ok(()) };
        let wrong = |message: String| Err(Wrong::at("answer.from", message));
        if let Some(service) = from.service().filter(|service| !self.services.contains(service)) {
            return wrong(format!(
                "`from = \"{}\"` needs `services = [\"{}\"]`",
                from.name(),
                service.name()
            ));
        }
        if *from == Source::Messages {
            self.check_messages().or_else(wrong)?;
        }
        if *from == Source::Items {
            self.check_items().or_else(wrong)?;
        }
        if *from == Source::Files {
            self.check_files().or_else(wrong)?;
        }
        if *from == Source::Upload {
            self.check_upload().or_else(wrong)?;
        }
        if body.is_some() || !contains.is_empty() || *as_proved {
            return wrong(format!(
                "`from = \"{}\"` checks the whole body: leave `body`, `contains` and `as_proved` out",
                from.name()
            ));
        }
        Ok(())
    }

    /// A stream of events takes as long as it says: proofs that ask several times would take minutes, and a
    /// body that is checked by its events has no other check.
    fn check_events(&self) -> Result<(), Wrong> {
        let Answer { from, body, body_bytes, contains, json, as_proved, events, .. } = &self.answer;
        let is_it = |proof: &Proof| matches!(proof, Proof::Events { .. });
        let Some(events) = events else {
            return self.refuse_proofs(is_it, |name| {
                format!("proof `{name}` is about server-sent events: write [answer.events], or leave the proof out")
            });
        };
        let wrong = |message: String| Err(Wrong::at("answer.events", message));
        if let Err(why) = events.form() {
            return wrong(why);
        }
        let has_other = body.is_some() || body_bytes.is_some() || !contains.is_empty();
        if from.is_some() || has_other || !json.is_empty() || *as_proved {
            return wrong(
                "a stream is checked by its events: leave `from`, `body`, `body_bytes`, `contains`, `json` and `as_proved` out".into(),
            );
        }
        if self.request.method != "GET" || !self.request.vary.is_empty() || self.has_steps() {
            return wrong(
                "a stream is asked for by GET of one path: leave `method`, `vary` and `steps` out"
                    .into(),
            );
        }
        if !self.proofs.iter().any(is_it) {
            return wrong("a stream needs a [[proof]] of kind = \"events\"".into());
        }
        let others = |proof: &Proof| !is_it(proof) && !matches!(proof, Proof::NotFound { .. });
        self.refuse_proofs(others, |name| {
            format!(
                "proof `{name}` is about answers that end at once: a stream takes events and not-found"
            )
        })
    }

    /// Rows are written by steps, into the table that the service has.
    fn check_stored(&self) -> Result<(), Wrong> {
        let is_stored = |proof: &Proof| *proof == Proof::Stored;
        if !self.has_steps() {
            return self.refuse_proofs(is_stored, |name| {
                format!("proof `{name}` is about steps that write products: give `scenarios` or `steps` in place of [request], or leave the proof out")
            });
        }
        if self.services.contains(&Service::Postgres) {
            return Ok(());
        }
        self.refuse_proofs(is_stored, |name| {
            format!(
                "proof `{name}` needs `services = [\"postgres\"]`: there is no table without it"
            )
        })
    }

    /// Answers are unpacked where they are compared whole, and only for requests that accept that.
    fn check_coding(&self) -> Result<(), Wrong> {
        if self.answer.coded_from.is_none() {
            return self.refuse_proofs(
                |proof| *proof == Proof::Coding,
                |_| "`coding` needs `coded_from` in [answer]: from how many bytes on an answer is packed".into(),
            );
        }
        let is_it = |name: &String| name.eq_ignore_ascii_case("accept-encoding");
        let wrong = |message: &str| Err(Wrong::at("answer.coded_from", message));
        if self.answer.from != Some(Source::Items) {
            return wrong(
                "only answers with `from = \"items\"` are unpacked: leave `coded_from` out",
            );
        }
        if !self.request.headers.keys().any(is_it) {
            return wrong(
                "no request accepts a coding: write headers = { Accept-Encoding = \"gzip\" } in [request]",
            );
        }
        Ok(())
    }

    /// Each request adds a message, and a proof says what the page is.
    fn check_messages(&self) -> Result<(), String> {
        let is_page = |proof: &Proof| matches!(proof, Proof::Messages { .. });
        match self.request.vary.get("add") {
            Some(Vary::Names { .. } | Vary::Values { .. }) => {}
            _ => {
                return Err(
                    "`from = \"messages\"` needs add = { names = 40, markup = true } in [request.vary]: the texts that requests add".into(),
                );
            }
        }
        if self.proofs.iter().any(is_page) {
            return Ok(());
        }
        Err("`from = \"messages\"` needs a [[proof]] of kind = \"messages\", which says what the page is".into())
    }

    /// The items of an answer depend on two numbers of its request.
    fn check_items(&self) -> Result<(), String> {
        for name in ["n", "m"] {
            let is_number = |vary: &Vary| vary.is_of_numbers();
            if !self.request.vary.get(name).is_some_and(is_number) {
                return Err(format!(
                    "`from = \"items\"` needs numbers as `{name}` in [request.vary]: `n` says how many items, `m` is a factor of their totals"
                ));
            }
        }
        Ok(())
    }

    /// Which files are served is known to the lab, which makes them.
    fn check_files(&self) -> Result<(), String> {
        let files = match self.request.vary.get("file") {
            Some(Vary::Values { values }) => values.as_slice(),
            _ => &[],
        };
        let unknown = files.iter().find(|file| files::place_of(file).is_none());
        if !files.is_empty() && unknown.is_none() {
            return Ok(());
        }
        let known: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        Err(format!(
            "`from = \"files\"` needs file = {{ values = [...] }} in [request.vary], with some of {}{}",
            known.join(", "),
            unknown.map(|file| format!("; there is no `{file}`")).unwrap_or_default()
        ))
    }

    /// The bodies of requests are made from two of their values.
    fn check_upload(&self) -> Result<(), String> {
        let Request { method, body, vary, .. } = &self.request;
        if !matches!(method.as_str(), "POST" | "PUT" | "PATCH") || body.is_some() {
            return Err(
                "`from = \"upload\"` makes the bodies of requests: write method = \"POST\" in [request], and no `body`".into(),
            );
        }
        let values = |name| match vary.get(name) {
            Some(Vary::Values { values }) => values.as_slice(),
            _ => &[],
        };
        let is_length = |text: &String| text.parse().is_ok_and(|bytes: u64| bytes <= MOST_UPLOADED);
        let (bytes, sent) = (values(BYTES), values(SENT));
        if bytes.is_empty() || !bytes.iter().all(is_length) {
            return Err(format!(
                "`from = \"upload\"` needs {BYTES} = {{ values = [\"1000\"] }} in [request.vary]: lengths of bodies, each at most {MOST_UPLOADED}"
            ));
        }
        if sent.is_empty() || !sent.iter().all(|it| [WITH_LENGTH, CHUNKED].contains(&it.as_str())) {
            return Err(format!(
                "`from = \"upload\"` needs {SENT} = {{ values = [\"{WITH_LENGTH}\", \"{CHUNKED}\"] }} in [request.vary], or one of them: how bodies are sent"
            ));
        }
        Ok(())
    }

    /// Files alone are replaced, and are asked for in parts and by what the client has.
    fn check_freshness(&self) -> Result<(), Wrong> {
        let wrong = |message: &str| Err(Wrong::at("answer.fresh_within", message));
        let within = self.answer.fresh_within.as_deref();
        if self.answer.from != Some(Source::Files) {
            if within.is_some() {
                return wrong(
                    "only `from = \"files\"` has files that are replaced: leave `fresh_within` out",
                );
            }
            return self.refuse_proofs(
                |proof| matches!(proof, Proof::Conditional | Proof::Ranges),
                |name| format!("proof `{name}` is about files: write `from = \"files\"` in [answer], or leave the proof out"),
            );
        }
        match within.map(parse_duration_ns) {
            Some(Ok(1..)) => Ok(()),
            _ => wrong(
                "`from = \"files\"` needs a time within which a replaced file is served: write fresh_within = \"1s\"",
            ),
        }
    }

    fn check_request(&self) -> Result<(), Wrong> {
        let Request { method, path, headers, body, vary } = &self.request;
        if !is_token_text(method) {
            return Err(Wrong::at(
                "request.method",
                format!("{method:?} is not a method; write one such as \"GET\""),
            ));
        }
        if !path.starts_with('/') || path.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(Wrong::at(
                "request.path",
                format!(
                    "{path:?} is not a path; begin with `/`, and write everything but visible ASCII as %XX"
                ),
            ));
        }
        for name in placeholders(path) {
            if !vary.contains_key(name) {
                return Err(Wrong::at(
                    "request.path",
                    format!("the path names `{{{name}}}`, but [request.vary] has no `{name}`"),
                ));
            }
        }
        check_headers("request.headers", headers)?;
        if body.is_some() && matches!(method.as_str(), "GET" | "HEAD") {
            return Err(Wrong::at(
                "request.body",
                format!("{method} has no body; write method = \"POST\", or leave the body out"),
            ));
        }
        let mut samples: u64 = 1;
        for (name, vary) in vary {
            let at = format!("request.vary.{name}");
            if let Vary::Names { names, .. } = vary
                && !(3..=1_000).contains(names)
            {
                return Err(Wrong::at(
                    at,
                    format!("[request.vary] `{name}`: names have 3 to 1000 characters"),
                ));
            }
            if let Vary::Names { names, markup: true, .. } = vary
                && *names < LEAST_MARKED
            {
                return Err(Wrong::at(
                    at,
                    format!(
                        "[request.vary] `{name}`: names with markup need names = {LEAST_MARKED} or more"
                    ),
                ));
            }
            let Some(values) = vary.count() else { continue };
            if values == 0 {
                return Err(Wrong::at(at, format!("[request.vary] `{name}` has no value")));
            }
            samples = samples.saturating_mul(values);
            if samples > MOST_SAMPLES {
                return Err(Wrong::at(
                    at,
                    format!(
                        "[request.vary] makes {samples} different requests, and all are made before the load; use at most {MOST_SAMPLES}"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Checks the headers as written. Characters in values, such as line breaks, are refused when the
/// request is written.
pub(crate) fn check_headers(keys: &str, headers: &BTreeMap<String, String>) -> Result<(), Wrong> {
    for (name, value) in headers {
        let at = || format!("{keys}.{name}");
        if !is_token_text(name) {
            return Err(Wrong::at(at(), format!("{name:?} is not the name of a header")));
        }
        if ["content-length", "transfer-encoding", "host"].contains(&name.to_lowercase().as_str()) {
            return Err(Wrong::at(at(), format!("Pippin sets the header {name}: leave it out")));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
            return Err(Wrong::at(at(), format!("the value of {name} must be visible ASCII")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_placeholder_without_values_is_named() {
        let text = "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\nmethod='GET'\npath='/{n}'\n[answer]\nstatus=200\n[[proof]]\nkind='answer'\n";
        let workload: Workload = crate::text::file::parse_toml(Path::new("x.toml"), text).unwrap();
        assert_eq!(
            workload.check().unwrap_err().message,
            "the path names `{n}`, but [request.vary] has no `n`"
        );
    }

    #[test]
    fn a_proof_of_nothing_is_refused() {
        let head = "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\nmethod='GET'\npath='/'\n[answer]\nstatus=200\n";
        for (rest, message) in [
            (
                "[[proof]]\nkind='counted'\nrequests=0\n",
                "proof `counted`: requests must be at least 1",
            ),
            (
                "[[proof]]\nkind='delay'\nsamples=0\nwait='1s'\n",
                "proof `delay`: samples must be at least 1",
            ),
            (
                "[[proof]]\nkind='simultaneous'\nconnections=0\nwait='1s'\n",
                "proof `simultaneous`: connections must be at least 1",
            ),
            ("[[proof]]\nkind='rows'\nid='a'\ncount=0\n", "proof `rows`: count must be at least 1"),
            (
                "body_bytes={min=9,max=1}\n[[proof]]\nkind='answer'\n",
                "answer.body_bytes: min 9 is above max 1",
            ),
        ] {
            let workload: Workload =
                crate::text::file::parse_toml(Path::new("x.toml"), &format!("{head}{rest}"))
                    .unwrap();
            assert_eq!(workload.check().unwrap_err().message, message);
        }
    }

    #[test]
    fn stored_rows_need_steps_and_a_table() {
        let check = |text: &str| {
            let text =
                format!("schema=1\nid='x'\ntitle=''\nsummary=''\n{text}[[proof]]\nkind='stored'\n");
            let workload: Workload =
                crate::text::file::parse_toml(Path::new("x.toml"), &text).unwrap();
            workload.with_steps(Path::new("")).and_then(|workload| workload.check())
        };
        let with = "services=['postgres']\n";
        let steps = "[[steps]]\nget='/products/1'\n";
        assert_eq!(check(&format!("{with}{steps}")), Ok(()));
        for (text, words) in [
            (format!("{with}[request]\npath='/'\n"), "give `scenarios` or `steps`"),
            (steps.to_string(), "services = [\"postgres\"]"),
        ] {
            let wrong = check(&text).unwrap_err();
            assert!(wrong.at == "proof[0]" && wrong.message.contains(words), "{wrong:?}");
        }
    }

    #[test]
    fn items_need_a_count_and_a_factor_and_no_service() {
        let check = |vary: &str| {
            let text = format!(
                "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\npath='/'\n[request.vary]\n{vary}\n[answer]\nfrom='items'\n[[proof]]\nkind='answer'\n"
            );
            crate::text::file::parse_toml::<Workload>(Path::new("x.toml"), &text).unwrap().check()
        };
        assert_eq!(check("n={values=['1','50']}\nm={from=1,to=9}"), Ok(()));
        for (vary, name) in [
            ("m={from=1,to=9}", "`n`"),
            ("n={from=1,to=9}", "`m`"),
            ("n={values=['a']}\nm={from=1,to=9}", "`n`"),
        ] {
            let wrong = check(vary).unwrap_err();
            assert!(wrong.at == "answer.from" && wrong.message.contains(name), "{wrong:?}");
        }
    }

    #[test]
    fn messages_need_a_text_to_add_and_a_page() {
        let page = "[[proof]]\nkind='messages'\ntext='{rows}'\nrow='{id} {text}'\n";
        let check = |vary: &str, answer: &str, proof: &str| {
            let text = format!(
                "schema=1\nid='x'\ntitle=''\nsummary=''\nservices=['postgres']\n[request]\npath='/'\n[request.vary]\n{vary}\n[answer]\n{answer}\n{proof}[[proof]]\nkind='answer'\n"
            );
            let workload: Workload =
                crate::text::file::parse_toml(Path::new("x.toml"), &text).unwrap();
            workload.check().map_err(|wrong| wrong.at)
        };
        let (add, answer) = ("add={names=40,markup=true}", "from='messages'");
        assert_eq!(check(add, answer, page), Ok(()));
        for (vary, answer, proof, at) in [
            ("n={from=1,to=9}", answer, page, "answer.from"),
            ("add={from=1,to=9}", answer, page, "answer.from"),
            (add, answer, "", "answer.from"),
            (add, "status=200", page, "proof[0]"),
            ("add={names=18,markup=true}", answer, page, "request.vary.add"),
        ] {
            assert_eq!(check(vary, answer, proof).unwrap_err(), at, "{vary} {answer} {proof}");
        }
    }

    #[test]
    fn an_upload_needs_a_method_with_a_body_and_how_it_is_sent() {
        let check = |method: &str, vary: &str, answer: &str, proof: &str| {
            let text = format!(
                "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\nmethod='{method}'\npath='/'\n[request.vary]\n{vary}\n[answer]\n{answer}\n[[proof]]\nkind='{proof}'\n"
            );
            let workload: Workload =
                crate::text::file::parse_toml(Path::new("x.toml"), &text).unwrap();
            workload.check().map_err(|wrong| wrong.at)
        };
        let (bytes, sent) = ("bytes={values=['0','9']}", "sent={values=['length','chunked']}");
        let (both, upload) = (&format!("{bytes}\n{sent}"), "from='upload'");
        assert_eq!(check("POST", both, upload, "whole-body"), Ok(()));
        let at = |at: &str| Err(at.to_string());
        assert_eq!(check("GET", both, upload, "answer"), at("answer.from"));
        for vary in [
            bytes,
            sent,
            "bytes={from=1,to=9}\nsent={values=['length']}",
            "bytes={values=['x']}\nsent={values=['length']}",
            "bytes={values=['100000001']}\nsent={values=['length']}",
            "bytes={values=['1']}\nsent={values=['other']}",
        ] {
            assert_eq!(check("POST", vary, upload, "answer"), at("answer.from"), "{vary}");
        }
        assert_eq!(check("POST", both, "status=200", "whole-body"), at("proof[0]"));
    }

    #[test]
    fn a_stream_of_events_has_times_a_proof_and_no_other_check() {
        let check = |request: &str, answer: &str, proofs: &[&str]| {
            let proofs: String =
                proofs.iter().map(|it| format!("[[proof]]\nkind='{it}'\n")).collect();
            let text = format!(
                "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\npath='/'\n{request}\n[answer]\n{answer}\n{proofs}"
            );
            let workload: Workload =
                crate::text::file::parse_toml(Path::new("x.toml"), &text).unwrap();
            workload.check().map_err(|wrong| wrong.at)
        };
        let events = "events={count=100,every='100ms',off_by='100ms',fresh_within='1s'}";
        let proof = "events'\nstreams=4\n#'";
        assert_eq!(check("", events, &[proof]), Ok(()));
        let at = |at: &str| Err(at.to_string());
        for (request, answer, proofs, place) in [
            ("", events, &["not-found'\npath='/x"][..], "answer.events"),
            ("", events, &[proof, "answer"], "proof[1]"),
            ("method='POST'", events, &[proof], "answer.events"),
            ("vary={n={from=1,to=9}}", events, &[proof], "answer.events"),
            ("", &format!("{events}\nbody='x'"), &[proof], "answer.events"),
            ("", &events.replace("count=100", "count=1"), &[proof], "answer.events"),
            ("", &events.replace("1s", "soon"), &[proof], "answer.events"),
            ("", "status=200", &[proof], "proof[0]"),
        ] {
            assert_eq!(check(request, answer, proofs), at(place), "{request} {answer} {proofs:?}");
        }
    }

    #[test]
    fn a_coding_needs_a_request_that_accepts_it_and_items() {
        let check = |headers: &str, answer: &str, proof: &str| {
            let text = format!(
                "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\npath='/'\n{headers}\n[request.vary]\nn={{from=1,to=9}}\nm={{from=1,to=9}}\n[answer]\n{answer}\n[[proof]]\nkind='{proof}'\n"
            );
            let workload: Workload =
                crate::text::file::parse_toml(Path::new("x.toml"), &text).unwrap();
            workload.check().map_err(|wrong| wrong.at)
        };
        let (headers, answer) = ("headers={accept-encoding='br'}", "from='items'\ncoded_from=9");
        assert_eq!(check(headers, answer, "coding"), Ok(()));
        let at = |at: &str| Err(at.to_string());
        assert_eq!(check("", answer, "coding"), at("answer.coded_from"));
        assert_eq!(check(headers, "coded_from=9", "answer"), at("answer.coded_from"));
        assert_eq!(check(headers, "from='items'", "coding"), at("proof[0]"));
    }

    #[test]
    fn files_need_known_names_and_a_time_within_which_they_are_fresh() {
        let check = |vary: &str, answer: &str, proof: &str| {
            let text = format!(
                "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\npath='/'\n[request.vary]\n{vary}\n[answer]\n{answer}\n[[proof]]\nkind='{proof}'\n"
            );
            crate::text::file::parse_toml::<Workload>(Path::new("x.toml"), &text).unwrap().check()
        };
        let (file, files) = ("file={values=['1k-a.css']}", "from='files'\nfresh_within='1s'");
        assert_eq!(check(file, files, "ranges"), Ok(()));
        for (vary, answer, proof, at) in [
            ("", files, "answer", "answer.from"),
            ("file={values=['other.css']}", files, "answer", "answer.from"),
            ("file={from=1,to=9}", files, "answer", "answer.from"),
            (file, "from='files'", "answer", "answer.fresh_within"),
            (file, "from='files'\nfresh_within='soon'", "answer", "answer.fresh_within"),
            (file, "from='files'\nfresh_within='0s'", "answer", "answer.fresh_within"),
            ("", "fresh_within='1s'", "answer", "answer.fresh_within"),
            ("", "status=200", "ranges", "proof[0]"),
            ("", "status=200", "conditional", "proof[0]"),
        ] {
            let wrong = check(vary, answer, proof).unwrap_err();
            assert_eq!(wrong.at, at, "{wrong:?}");
        }
    }

    fn with_request(request: &str) -> Result<(), Wrong> {
        let text = format!(
            "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\n{request}\n[answer]\nstatus=200\n[[proof]]\nkind='answer'\n"
        );
        crate::text::file::parse_toml::<Workload>(Path::new("x.toml"), &text).unwrap().check()
    }

    #[test]
    fn many_values_together_are_refused_and_a_large_range_is_drawn() {
        let vary = |to: u32| {
            with_request(&format!(
                "method='GET'\npath='/{{n}}/{{m}}'\n[request.vary]\nm={{values=['a','b']}}\nn={{from=1,to={to}}}"
            ))
        };
        let wrong = vary(5_001).unwrap_err();
        assert_eq!(wrong.at, "request.vary.n");
        assert!(wrong.message.contains("10002 different requests"), "{wrong:?}");
        assert_eq!(vary(u32::MAX), Ok(()));
        assert_eq!(vary(5_000), Ok(()));
    }

    #[test]
    fn what_would_break_the_request_is_refused_where_it_stands() {
        for (request, at) in [
            ("method=\"GET / HTTP/1.1\\r\\nX: y\"\npath='/'", "request.method"),
            ("method=''\npath='/'", "request.method"),
            ("method='GET'\npath='x'", "request.path"),
            ("method='GET'\npath='/a b'", "request.path"),
            ("method='GET'\npath=\"/\\r\\n\"", "request.path"),
        ] {
            assert_eq!(with_request(request).unwrap_err().at, at, "{request}");
        }
    }
}

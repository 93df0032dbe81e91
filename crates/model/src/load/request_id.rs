//! A name for each request, which the server can write to its log.
use serde::{Deserialize, Serialize};

use crate::request::requests::Requests;
use crate::request::{BodyCheck, Request};

/// What each request of a load is called: a header with a value that no other request has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestId {
    /// The header.
    pub form: IdForm,
    /// What all requests of the load have in common: 24 hexadecimal digits, not all of them 0.
    pub prefix: String,
}

/// The header that names a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdForm {
    /// `X-Request-Id`.
    XRequestId,
    /// `traceparent` (W3C Trace Context).
    Traceparent,
}

impl IdForm {
    /// The name of the header.
    #[must_use]
    pub const fn header(self) -> &'static str {
        match self {
            Self::XRequestId => "X-Request-Id",
            Self::Traceparent => "traceparent",
        }
    }
}

impl RequestId {
    /// What a server's log shows of the request with this number, of eight hexadecimal digits: the
    /// value of `X-Request-Id`, or the trace that `traceparent` names.
    #[must_use]
    pub fn name(&self, number: &str) -> String {
        format!("{}{number}", self.prefix)
    }

    /// The header's value. In `traceparent` (W3C Trace Context, level 1) the parent's identity is made of
    /// the prefix, and the flag asks for the trace to be recorded.
    fn value(&self, number: &str) -> String {
        let name = self.name(number);
        match self.form {
            IdForm::XRequestId => name,
            IdForm::Traceparent => format!("00-{name}-{}-01", parent(&self.prefix)),
        }
    }

    /// The requests with the header, whose number is drawn for each sending.
    ///
    /// # Errors
    /// Why a request cannot have it, with what to change.
    pub fn added(&self, requests: &Requests) -> Result<Requests, String> {
        requests.changed(|request| self.added_to(request))
    }

    /// Whether all requests can have the header.
    ///
    /// # Errors
    /// Why one cannot, with what to change.
    pub fn fits(&self, requests: &Requests) -> Result<(), String> {
        requests.iter().try_for_each(|request| self.added_to(request).map(drop))
    }

    fn added_to(&self, request: &Request) -> Result<Request, String> {
        let header = self.form.header();
        if request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header)) {
            return Err(format!(
                "the request {} {} has a header `{header}` of its own: leave one of them out",
                request.method, request.target
            ));
        }
        if request.drawn.is_some() {
            return Err("its requests have a value that is drawn for each already".into());
        }
        let number = unused(request, |number| self.value(number));
        let mut with = request.clone();
        with.headers.push((header.into(), self.value(&number)));
        with.drawn = Some(number);
        Ok(with)
    }
}

/// The last 16 digits of a prefix, with a digit that is not 0.
fn parent(prefix: &str) -> String {
    let end: String = prefix.chars().skip(prefix.len().saturating_sub(15)).collect();
    format!("{end:0>15}1")
}

/// Eight hexadecimal digits, with a letter and a decimal digit, that stand once in the header's
/// value and nowhere else in a request and its check: they are replaced each time it is sent.
fn unused(request: &Request, value: impl Fn(&str) -> String) -> String {
    let texts: Vec<&[u8]> = texts(request).collect();
    let is_unused = |number: &String| {
        let value = value(number);
        value.matches(number.as_str()).count() == 1
            && value.find(number.as_str()) == value.rfind(number.as_str())
            && texts.iter().all(|text| !has(text, number.as_bytes()))
    };
    // A request has fewer parts than there are numbers.
    (0..u32::MAX).map(|nth| format!("{:07x}f", nth % (1 << 28))).find(is_unused).unwrap_or_default()
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn texts(request: &Request) -> impl Iterator<Item = &[u8]> {
    let Request { method, target, host, headers, body, check, drawn: _, upload: _ } = request;
    let of_check: Vec<&[u8]> = match &check.body {
        BodyCheck::Exact(body) => vec![body],
        BodyCheck::Contains { all, .. } => all.iter().map(String::as_bytes).collect(),
        BodyCheck::Any
        | BodyCheck::Length { .. }
        | BodyCheck::Refereed
        | BodyCheck::Digested { .. }
        | BodyCheck::Events(_) => Vec::new(),
    };
    let headers = headers.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    [method.as_bytes(), target.as_bytes(), host.as_bytes(), body]
        .into_iter()
        .chain(headers)
        .chain(of_check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(form: IdForm) -> RequestId {
        RequestId { form, prefix: "0af7651916cd43dd8448eb21".into() }
    }

    #[test]
    fn a_request_has_a_header_with_its_number() {
        let request = Request::get("/0000000f", "a");
        let with = id(IdForm::XRequestId).added_to(&request).unwrap();
        // What the target has already cannot be replaced in the header alone.
        assert_eq!(with.drawn.as_deref(), Some("0000001f"));
        let header = ("X-Request-Id".to_string(), "0af7651916cd43dd8448eb210000001f".to_string());
        assert_eq!(with.headers, [header]);
        assert_eq!(id(IdForm::XRequestId).name("0000002a"), "0af7651916cd43dd8448eb210000002a");
    }

    /// Version, 32 digits of the trace, 16 of the caller, flags (W3C Trace Context, section 3.2).
    #[test]
    fn a_trace_has_the_parts_of_its_standard() {
        let with = id(IdForm::Traceparent).added_to(&Request::get("/", "a")).unwrap();
        let value = &with.headers[0].1;
        assert_eq!(value, "00-0af7651916cd43dd8448eb210000000f-6cd43dd8448eb211-01");
        let lengths: Vec<usize> = value.split('-').map(str::len).collect();
        assert_eq!(lengths, [2, 32, 16, 2]);
    }

    #[test]
    fn a_request_with_a_header_of_its_own_is_refused() {
        let own = Request {
            headers: vec![("x-request-id".into(), "7".into())],
            ..Request::get("/", "a")
        };
        let why = id(IdForm::XRequestId).fits(&vec![own].into()).unwrap_err();
        assert_eq!(
            why,
            "the request GET / has a header `X-Request-Id` of its own: leave one of them out"
        );
    }

    proptest! {
        /// Whatever a request says, its number stands in it once.
        #[test]
        fn a_number_stands_once(target in "/[0-9a-f]{0,40}", body in "[0f]{0,40}") {
            let request = Request { body: body.into_bytes(), ..Request::get(&target, "a") };
            for form in [IdForm::XRequestId, IdForm::Traceparent] {
                let with = id(form).added_to(&request).unwrap();
                let number = with.drawn.clone().unwrap();
                let all = texts(&with).map(|text| {
                    text.windows(8).filter(|part| *part == number.as_bytes()).count()
                });
                prop_assert_eq!(all.sum::<usize>(), 1);
            }
        }
    }
}

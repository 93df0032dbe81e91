//! A nonce in the hands of one user, and the field `Authorization` of each of its requests.
use pippin_model::load::Credentials;
use pippin_model::workload::draw::Draw;

use super::Challenge;
use super::challenge::UNAUTHORIZED;
use super::formula::{Hash, Hashing, begun, response};

/// The client's own nonce: it has no meaning for the server, and is another one for each of its
/// nonces (RFC 7616 section 3.4).
type OwnNonce = [u8; 16];

/// Who asks, for all users of a thread.
#[derive(Debug)]
pub(crate) struct Authorizer {
    credentials: Credentials,
    draw: Draw,
}

/// A nonce of the server. One user has it, whose requests are counted by it.
#[derive(Debug)]
pub(crate) struct Grant {
    nonce: String,
    hash: Hash,
    begun: Hashing,
    /// The client's own nonce; `None` where requests are not counted.
    own: Option<OwnNonce>,
    /// How many requests it has sent.
    count: u32,
    /// The field up to the target, and what follows the target and is the same for all requests.
    lead: Vec<u8>,
    behind: Vec<u8>,
}

impl Authorizer {
    /// `seed` decides the client's own nonces.
    pub fn new(credentials: &Credentials, seed: u64) -> Self {
        Self { credentials: credentials.clone(), draw: Draw::new(seed) }
    }

    /// What a user needs to answer this challenge.
    pub fn grant(&mut self, asked: &Challenge) -> Grant {
        let mut own = OwnNonce::default();
        own.copy_from_slice(format!("{:016x}", self.draw.bits()).as_bytes());
        Grant::new(self.credentials.parts(), asked, own)
    }

    /// The head of an answer has come to a user. If it is a refusal with a new nonce, the next requests
    /// of the user have that one; else they are counted on.
    #[inline]
    pub fn hear(&mut self, granted: &mut Option<Box<Grant>>, status: u16, head: &[u8]) {
        if status == UNAUTHORIZED {
            self.take(granted, head);
        }
    }

    #[cold]
    fn take(&mut self, granted: &mut Option<Box<Grant>>, head: &[u8]) {
        let Ok(asked) = Challenge::of_head(head) else { return };
        if granted.as_ref().is_none_or(|granted| granted.nonce != asked.nonce) {
            *granted = Some(Box::new(self.grant(&asked)));
        }
    }
}

impl Grant {
    fn new(who: (&str, &str), asked: &Challenge, own: OwnNonce) -> Self {
        let mut lead = b"Authorization: Digest ".to_vec();
        put_quoted("username", who.0, &mut lead);
        lead.extend_from_slice(b", ");
        put_quoted("realm", &asked.realm, &mut lead);
        lead.extend_from_slice(b", ");
        put_quoted("nonce", &asked.nonce, &mut lead);
        lead.extend_from_slice(b", uri=\"");
        let mut behind = b"\"".to_vec();
        if let Some(name) = &asked.algorithm {
            behind.extend_from_slice(b", algorithm=");
            behind.extend_from_slice(name.as_bytes());
        }
        if let Some(opaque) = &asked.opaque {
            behind.extend_from_slice(b", ");
            put_quoted("opaque", opaque, &mut behind);
        }
        if asked.has_qop {
            behind.extend_from_slice(b", qop=auth, cnonce=\"");
            behind.extend_from_slice(&own);
            behind.extend_from_slice(b"\", nc=");
        } else {
            behind.extend_from_slice(b", response=\"");
        }
        Self {
            nonce: asked.nonce.clone(),
            hash: asked.hash,
            begun: begun(who, asked, &own),
            own: asked.has_qop.then_some(own),
            count: 0,
            lead,
            behind,
        }
    }

    /// Appends the line of the next request.
    #[inline]
    pub fn put(&mut self, method: &str, target: &str, out: &mut Vec<u8>) {
        self.count = self.count.wrapping_add(1);
        out.extend_from_slice(&self.lead);
        put_escaped(target, out);
        out.extend_from_slice(&self.behind);
        let count = digits(self.count);
        let counted = self.own.as_ref().map(|own| (&count[..], &own[..]));
        if counted.is_some() {
            out.extend_from_slice(&count);
            out.extend_from_slice(b", response=\"");
        }
        let response = response(&self.begun, self.hash, counted, (method, target));
        out.extend_from_slice(&response);
        out.extend_from_slice(b"\"\r\n");
    }
}

/// A number of eight hexadecimal digits (section 3.4: `nc-value`).
#[inline]
fn digits(number: u32) -> [u8; 8] {
    let mut digits = [0; 8];
    for (place, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (28 - 4 * place)) as usize & 15];
    }
    digits
}

fn put_quoted(name: &str, value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    put_escaped(value, out);
    out.push(b'"');
}

/// The inside of a quoted string (RFC 9110 section 5.6.4).
#[inline]
fn put_escaped(value: &str, out: &mut Vec<u8>) {
    let mut rest = value.as_bytes();
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The response of a request to a challenge, with this nonce of the client's own.
    fn answered(challenge: &str, who: (&str, &str), own: &str) -> String {
        let asked = Challenge::among(std::iter::once(challenge)).unwrap();
        let begun = begun(who, &asked, own.as_bytes());
        let counted = asked.has_qop.then_some((&b"00000001"[..], own.as_bytes()));
        let hex = response(&begun, asked.hash, counted, ("GET", "/dir/index.html"));
        String::from_utf8(hex.to_vec()).unwrap()
    }

    /// RFC 7616 section 3.9.1; RFC 2617 section 3.5; RFC 2069 section 2.4 with its erratum 749.
    #[test]
    fn examples_of_the_standards() {
        let own = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let who = ("Mufasa", "Circle of Life");
        let asked = |algorithm: &str| {
            format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            )
        };
        assert_eq!(answered(&asked("MD5"), who, own), "8ca523f5e9506fed4657c9700eebdbec");
        assert_eq!(
            answered(&asked("SHA-256"), who, own),
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        );
        let older =
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"";
        let with_qop = format!("{older}, qop=\"auth,auth-int\"");
        let who = ("Mufasa", "Circle Of Life");
        assert_eq!(answered(&with_qop, who, "0a4f113b"), "6629fae49393a05397450978507c4ef1");
        let who = ("Mufasa", "CircleOfLife");
        assert_eq!(answered(older, who, ""), "1949323746fe6a43ef61f9606e7febea");
    }

    #[test]
    fn requests_of_a_nonce_are_counted_and_a_new_nonce_begins_anew() {
        let credentials = Credentials::new("an\"a", "secret").unwrap();
        let mut authorizer = Authorizer::new(&credentials, 7);
        let head = |nonce: &str| {
            format!(
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"{nonce}\", qop=\"auth\", opaque=\"o\"\r\n\r\n"
            )
        };
        let mut granted = None;
        let mut sent = |authorizer: &mut Authorizer, nonce: &str| {
            authorizer.take(&mut granted, head(nonce).as_bytes());
            let mut line = Vec::new();
            granted.as_mut().unwrap().put("GET", "/\"x", &mut line);
            String::from_utf8(line).unwrap()
        };
        let first = sent(&mut authorizer, "n1");
        assert!(
            first.starts_with(
                "Authorization: Digest username=\"an\\\"a\", realm=\"r\", nonce=\"n1\", uri=\"/\\\"x\", \
                 opaque=\"o\", qop=auth, cnonce=\""
            ),
            "{first}"
        );
        assert!(first.contains("nc=00000001, response=\"") && first.ends_with("\"\r\n"), "{first}");
        // It refuses the same nonce again: whoever counts is the server.
        assert!(sent(&mut authorizer, "n1").contains("nonce=\"n1\""));
        let third = sent(&mut authorizer, "n1");
        assert!(third.contains("nc=00000003"), "{third}");
        let renewed = sent(&mut authorizer, "n2");
        assert!(renewed.contains("nonce=\"n2\"") && renewed.contains("nc=00000001"), "{renewed}");
        let own = |line: &str| line.split("cnonce=\"").nth(1).unwrap()[..16].to_string();
        assert!(own(&first) == own(&third) && own(&first) != own(&renewed));
    }

    #[test]
    fn a_server_of_rfc_2069_gets_no_count() {
        let asked = Challenge::among(std::iter::once("Digest realm=\"r\", nonce=\"n\"")).unwrap();
        let credentials = Credentials::new("ana", "secret").unwrap();
        let mut line = Vec::new();
        Authorizer::new(&credentials, 7).grant(&asked).put("GET", "/", &mut line);
        let line = String::from_utf8(line).unwrap();
        assert!(
            !line.contains("nc=") && !line.contains("qop") && !line.contains("algorithm"),
            "{line}"
        );
    }
}

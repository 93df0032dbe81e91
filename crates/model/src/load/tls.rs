//! TLS: the settings of a load, and the result of its handshakes.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the connections of a load are secured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsSpec {
    /// The name (or IP address) that the server's certificate must have. A name is also sent to the
    /// server (SNI, RFC 6066 section 3).
    pub server_name: String,
    /// Roots to trust besides the system's: certificates in PEM form, one after the other.
    pub extra_roots_pem: Option<String>,
    /// Whether the certificate is verified: signed by a trusted root, valid today, for this name.
    pub verify: bool,
    /// Whether a connection may resume the session of an earlier one (RFC 8446 section 2.2).
    /// Otherwise each does a full handshake, as new clients do.
    pub resume: bool,
    /// The client's certificate (RFC 8446 section 4.4.2); `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientCertificate>,
}

/// A client's certificate with its key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCertificate {
    /// The certificate and its chain to the root, in PEM form.
    pub chain_pem: String,
    /// Its private key in PEM form. It is never in a record or a message.
    #[serde(skip_serializing, default)]
    pub key_pem: String,
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate")
            .field("chain_pem", &self.chain_pem)
            .finish_non_exhaustive()
    }
}

/// The result of TLS handshakes over the whole load, including warm-up and first connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsUse {
    /// See [`TlsSpec::server_name`].
    pub server_name: String,
    /// See [`TlsSpec::verify`].
    pub verified: bool,
    /// See [`TlsSpec::resume`].
    pub resumption: bool,
    /// Handshakes by their result; one entry unless the servers differ.
    pub negotiated: Vec<Negotiated>,
    /// The reasons why handshakes failed and secured connections broke, with their numbers.
    pub failures: BTreeMap<String, u64>,
}

/// A result of handshakes, with their number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Negotiated {
    /// The protocol's version: `TLSv1.3`.
    pub version: String,
    /// The cipher suite by its IANA name: `TLS13_AES_256_GCM_SHA384`.
    pub cipher_suite: String,
    /// The group of the key exchange: `X25519`; `None` if there was none (a resumed TLS 1.2
    /// session).
    pub key_exchange: Option<String>,
    /// The application protocol that the server chose (ALPN, RFC 7301); `None` if it chose none.
    pub alpn: Option<String>,
    /// The number of handshakes with this result.
    pub handshakes: u64,
    /// How many of them resumed an earlier session.
    pub resumed: u64,
}

impl TlsUse {
    /// Adds the handshakes of another thread of the same load.
    pub fn merge(&mut self, other: &Self) {
        for theirs in &other.negotiated {
            self.add(theirs);
        }
        for (reason, count) in &other.failures {
            *self.failures.entry(reason.clone()).or_default() += count;
        }
    }

    /// Adds handshakes with the same result.
    pub fn add(&mut self, more: &Negotiated) {
        match self.negotiated.iter_mut().find(|own| own.is_like(more)) {
            Some(own) => {
                own.handshakes += more.handshakes;
                own.resumed += more.resumed;
            }
            None => self.negotiated.push(more.clone()),
        }
    }

    /// Counts a failure.
    pub fn fail(&mut self, reason: &str) {
        match self.failures.get_mut(reason) {
            Some(count) => *count += 1,
            None => _ = self.failures.insert(reason.into(), 1),
        }
    }
}

impl Negotiated {
    fn is_like(&self, other: &Self) -> bool {
        (&self.version, &self.cipher_suite, &self.key_exchange, &self.alpn)
            == (&other.version, &other.cipher_suite, &other.key_exchange, &other.alpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_is_in_no_record() {
        let client = ClientCertificate { chain_pem: "chain".into(), key_pem: "secret".into() };
        let kept = serde_json::to_string(&client).unwrap();
        assert!(!kept.contains("secret") && !format!("{client:?}").contains("secret"));
        let read: ClientCertificate = serde_json::from_str(&kept).unwrap();
        assert_eq!(read, ClientCertificate { key_pem: String::new(), ..client });
    }

    #[test]
    fn handshakes_that_agree_on_the_same_are_one_entry() {
        let one = Negotiated {
            version: "TLSv1.3".into(),
            cipher_suite: "TLS13_AES_256_GCM_SHA384".into(),
            key_exchange: Some("X25519".into()),
            alpn: None,
            handshakes: 1,
            resumed: 0,
        };
        let mut all = TlsUse::default();
        all.add(&one);
        all.add(&Negotiated { resumed: 1, ..one.clone() });
        all.add(&Negotiated { version: "TLSv1.2".into(), ..one.clone() });
        all.fail("closed");
        let mut twice = all.clone();
        twice.merge(&all);
        let counts: Vec<_> = twice
            .negotiated
            .iter()
            .map(|entry| (entry.version.as_str(), entry.handshakes, entry.resumed))
            .collect();
        assert_eq!(counts, [("TLSv1.3", 4, 2), ("TLSv1.2", 2, 0)]);
        assert_eq!(twice.failures, BTreeMap::from([("closed".to_string(), 2)]));
    }
}

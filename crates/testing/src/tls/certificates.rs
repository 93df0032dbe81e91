//! A certificate authority for one test, and the servers that it certifies.
#![allow(
    clippy::expect_used,
    reason = "the parameters are constants of this file or names of a test: a test that cannot have a certificate has failed"
)]
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion, version};

/// What a server's certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// Names and IP addresses.
    pub names: Vec<String>,
    /// Its last day was years ago.
    pub has_expired: bool,
    /// The server speaks TLS 1.2 only; both versions otherwise.
    pub only_tls12: bool,
    /// The most plaintext bytes in a record; rustls' default is 16 KiB.
    pub record_bytes: Option<usize>,
    /// Application protocols that the server offers; empty disables ALPN.
    pub alpn: Vec<&'static str>,
    /// Clients must show a certificate of the same authority.
    pub asks_clients: bool,
}

impl Default for Certified {
    /// For 127.0.0.1 and localhost, valid.
    fn default() -> Self {
        let names = vec!["127.0.0.1".into(), "localhost".into()];
        Self {
            names,
            has_expired: false,
            only_tls12: false,
            record_bytes: None,
            alpn: vec!["http/1.1"],
            asks_clients: false,
        }
    }
}

/// An authority that no system trusts.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// One with a new key.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        // Each has its own name: clients would confuse authorities with the same name and different
        // keys.
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let name = format!("Pippin's test authority {}", COUNT.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"))
            .expect("a certificate");
        Self { issuer }
    }

    /// Its certificate in PEM form, for clients that should trust it.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for these names and IP addresses with its key, in PEM form: for servers that
    /// read files.
    #[must_use]
    pub fn certificate_pem(&self, names: Vec<String>) -> (String, String) {
        self.issue_pem(names, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client's certificate with its key, in PEM form.
    #[must_use]
    pub fn client_pem(&self) -> (String, String) {
        self.issue_pem(vec!["client.test".into()], ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue_pem(&self, names: Vec<String>, usage: ExtendedKeyUsagePurpose) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(names).expect("names of a test");
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }

    /// Verifies that clients are of this authority.
    fn clients(&self) -> Arc<dyn ClientCertVerifier> {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("a root");
        let provider = Arc::new(ring::default_provider());
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .expect("there is a root")
    }

    /// A server with a certificate of this authority.
    #[must_use]
    pub fn server(&self, certified: &Certified) -> Arc<ServerConfig> {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(certified.names.clone()).expect("names of a test");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        if certified.has_expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let versions: &[&SupportedProtocolVersion] = if certified.only_tls12 {
            &[&version::TLS12]
        } else {
            &[&version::TLS13, &version::TLS12]
        };
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("the provider has suites of these versions");
        let builder = if certified.asks_clients {
            builder.with_client_cert_verifier(self.clients())
        } else {
            builder.with_no_client_auth()
        };
        let mut config = builder
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .expect("key and certificate belong together");
        config.max_fragment_size = certified.record_bytes;
        config.alpn_protocols =
            certified.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}

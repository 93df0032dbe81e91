//! The TLS configuration of a load: trusted roots, versions and suites.
use std::sync::Arc;

use pippin_model::load::Protocol;
use pippin_model::load::tls::{ClientCertificate, Negotiated, TlsSpec, TlsUse};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use super::reason;
use super::tickets::Tickets;
use super::unverified::Unverified;
use super::verified::Verified;
use crate::error::EngineError;

/// The client's side of TLS.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub config: Arc<ClientConfig>,
    pub server_name: ServerName<'static>,
    /// The name of the protocol that the server must choose (ALPN, RFC 7301); `None` if any will
    /// do.
    pub must_speak: Option<&'static str>,
}

impl Client {
    /// Reads the roots and decides what is offered.
    pub fn new(spec: &TlsSpec, protocol: Protocol) -> Result<Self, EngineError> {
        let server_name = ServerName::try_from(spec.server_name.clone())
            .map_err(|_| EngineError::ServerName { name: spec.server_name.clone() })?;
        let provider = Arc::new(ring::default_provider());
        let versions = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| EngineError::Tls(error.to_string()))?;
        let builder = if spec.verify {
            let given = given(spec)?;
            let roots = Arc::new(roots(&given)?);
            let by_roots = WebPkiServerVerifier::builder_with_provider(roots, provider)
                .build()
                .map_err(|error| EngineError::Tls(error.to_string()))?;
            versions
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Verified::new(by_roots, given)))
        } else {
            versions
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Unverified::new(provider)))
        };
        let mut config = match &spec.client {
            None => builder.with_no_client_auth(),
            Some(client) => {
                let (chain, key) = own(client)?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| EngineError::ClientCertificate(reason::in_words(&error)))?
            }
        };
        // A server without ALPN speaks HTTP/1.1 (RFC 9113 section 3.2).
        let (name, must_speak) = match protocol {
            // A WebSocket begins as HTTP/1.1.
            Protocol::Http1 | Protocol::WebSocket => ("http/1.1", None),
            Protocol::Http2 => ("h2", Some("h2")),
            Protocol::Http3 => ("h3", Some("h3")),
        };
        config.alpn_protocols = vec![name.into()];
        config.resumption = if spec.resume {
            Resumption::store(Arc::new(Tickets::default()))
        } else {
            Resumption::disabled()
        };
        Ok(Self { config: Arc::new(config), server_name, must_speak })
    }

    /// Why the load cannot use a connection with this agreement; `None` if it can.
    pub fn objection(&self, negotiated: &Negotiated) -> Option<String> {
        let name = self.must_speak.filter(|name| negotiated.alpn.as_deref() != Some(name))?;
        Some(reason::does_not_speak(name))
    }
}

/// The client's own certificates and its key.
fn own(
    client: &ClientCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), EngineError> {
    let wrong = |why: String| EngineError::ClientCertificate(why);
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(client.chain_pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| wrong(error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong("there is no `-----BEGIN CERTIFICATE-----` in it".into()));
    }
    let key = PrivateKeyDer::from_pem_slice(client.key_pem.as_bytes())
        .map_err(|error| wrong(format!("its key: {error}; give an unencrypted one in PEM form")))?;
    Ok((chain, key))
}

/// What is known of a load's TLS before its first handshake.
pub(crate) fn nothing_yet(spec: &TlsSpec) -> TlsUse {
    TlsUse {
        server_name: spec.server_name.clone(),
        verified: spec.verify,
        resumption: spec.resume,
        ..TlsUse::default()
    }
}

/// The system's roots and those given.
fn roots(given: &[CertificateDer<'static>]) -> Result<RootCertStore, EngineError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    // The stores of all distributions have certificates that no verifier accepts. They are skipped,
    // as other programs do.
    roots.add_parsable_certificates(system.certs);
    for certificate in given {
        let wrong = |error| EngineError::ExtraRoots(reason::in_words(&error));
        roots.add(certificate.clone()).map_err(wrong)?;
    }
    if roots.is_empty() {
        return Err(EngineError::NoRoots {
            errors: system.errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        });
    }
    Ok(roots)
}

/// The certificates that the user gave to trust. Every one of them must be usable.
fn given(spec: &TlsSpec) -> Result<Vec<CertificateDer<'static>>, EngineError> {
    let Some(pem) = &spec.extra_roots_pem else { return Ok(Vec::new()) };
    let given: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| EngineError::ExtraRoots(error.to_string()))?;
    if given.is_empty() {
        return Err(EngineError::ExtraRoots(
            "there is no `-----BEGIN CERTIFICATE-----` in it".into(),
        ));
    }
    Ok(given)
}

/// The provider of this crate's TLS.
pub(crate) type Provider = Arc<CryptoProvider>;

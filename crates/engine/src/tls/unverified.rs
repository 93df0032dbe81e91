//! A verifier that trusts every server (`verify = false`), for servers under test with self-made
//! certificates.
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

use super::config::Provider;

/// Accepts any certificate. It still checks that the server has the key, so that the handshake
/// costs the same, unless the library below cannot: it reads no certificate of X.509 version 1, and
/// knows no RSA key below 2048 bits, no curve P-521, and no signature with SHA-1.
#[derive(Debug)]
pub(super) struct Unverified {
    provider: Provider,
}

impl Unverified {
    pub fn new(provider: Provider) -> Self {
        Self { provider }
    }
}

/// Ways to sign that are offered to servers, and that cannot be checked.
const UNCHECKED: [SignatureScheme; 3] = [
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::RSA_PKCS1_SHA1,
    SignatureScheme::ECDSA_SHA1_Legacy,
];

/// The length of a public key on the curve P-384, with its wrapping (RFC 5480): no key of the kinds
/// that can be checked is longer, ...
const P384_BYTES: usize = 120;
/// ... but those of RSA with 2048 bits and more (RFC 8017 appendix A.1.1).
const RSA_2048_BYTES: usize = 294;

/// Whether the library below can check a signature of this kind by this certificate's key.
fn can_check(cert: &CertificateDer<'_>, scheme: SignatureScheme) -> bool {
    let key = ParsedCertificate::try_from(cert).map(|it| it.subject_public_key_info().len());
    let is_known = |length: usize| length <= P384_BYTES || length >= RSA_2048_BYTES;
    !UNCHECKED.contains(&scheme) && key.is_ok_and(is_known)
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if !can_check(cert, dss.scheme) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if !can_check(cert, dss.scheme) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.provider.signature_verification_algorithms.supported_schemes();
        schemes.extend(UNCHECKED);
        schemes
    }
}

//! Errors of TLS, in the words under which they are counted and shown.
use rustls::{AlertDescription, CertificateError, Error, InconsistentKeys, InvalidMessage};

use crate::error::Remedy;

/// The server closed the connection instead of ending the handshake.
pub(crate) const CLOSED_IN_HANDSHAKE: &str =
    "the server closed the connection during the handshake";
/// The connection ended without a goodbye.
pub(crate) const RESET_IN_HANDSHAKE: &str = "the connection broke during the handshake";
/// The handshake took longer than a connection may.
pub(crate) const HANDSHAKE_TIMEOUT: &str = "the handshake did not end in time";
/// If only the end of the connection marks the end of a body, that end is not authentic without
/// close_notify (RFC 8446 section 6.1).
pub(crate) const TRUNCATED: &str =
    "the connection ended without close_notify, so that the body may be truncated";

/// The server does not choose the protocol that it is asked for.
pub(crate) fn does_not_speak(name: &str) -> String {
    format!("the server does not offer the protocol `{name}` (ALPN)")
}

/// An error of the TLS library, in words for the user of a load.
pub(crate) fn in_words(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(certificate) => certificate_in_words(certificate),
        Error::InvalidMessage(
            InvalidMessage::HandshakePayloadTooLarge | InvalidMessage::CertificatePayloadTooLarge,
        ) => "the server's certificate, or another message of its handshake, is longer than 64 KiB"
            .into(),
        Error::InvalidMessage(_) => {
            "the server's bytes are not TLS: the port may speak plain HTTP".into()
        }
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "the server does not offer the protocol that is asked for (ALPN)".into()
        }
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server asks for a certificate of the client, and got none".into()
        }
        Error::AlertReceived(
            alert @ (AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA),
        ) => format!("the server does not accept the client's certificate ({alert:?})"),
        Error::AlertReceived(alert) => format!("the server refused with the alert {alert:?}"),
        Error::PeerIncompatible(why) => {
            format!("the server has no TLS in common with this client: {why:?}")
        }
        Error::PeerMisbehaved(why) => format!("the server breaks the rules of TLS: {why:?}"),
        Error::NoCertificatesPresented => "the server has no certificate".into(),
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the key does not belong to the certificate; give the two that were made together"
                .into()
        }
        Error::DecryptError => "a record cannot be decrypted".into(),
        other => other.to_string(),
    }
}

/// A name without the kind that the library writes around it: `DnsName("localhost")`.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"')
}

/// What may help against it.
pub(crate) const fn remedy(error: &Error) -> Option<Remedy> {
    match error {
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => Some(Remedy::OtherName),
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => Some(Remedy::TrustRoot),
        Error::InvalidCertificate(_) => Some(Remedy::DoNotVerify),
        Error::InvalidMessage(
            InvalidMessage::HandshakePayloadTooLarge | InvalidMessage::CertificatePayloadTooLarge,
        ) => None,
        Error::InvalidMessage(_) => Some(Remedy::PlainHttp),
        Error::AlertReceived(AlertDescription::CertificateRequired) => Some(Remedy::OwnCertificate),
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            Some(Remedy::OtherProtocol)
        }
        _ => None,
    }
}

fn certificate_in_words(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => {
            "the certificate is not signed by a trusted authority".into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate has expired".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet".into()
        }
        CertificateError::NotValidForName => "the certificate is for another name".into(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            format!(
                "the certificate is for {}, not for {}",
                if names.is_empty() { "no name".into() } else { names.join(", ") },
                expected.to_str()
            )
        }
        CertificateError::Revoked => "the certificate was revoked".into(),
        CertificateError::BadSignature => "the certificate's signature is wrong".into(),
        // The kind is known to the library below alone.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "the server uses an authority's certificate (CA:TRUE) as its own, which is not accepted"
                .into()
        }
        other => format!("the certificate cannot be accepted: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_missing_certificates_have_words_of_their_own() {
        for (error, said, help) in [
            (
                Error::InvalidMessage(InvalidMessage::CertificatePayloadTooLarge),
                "longer than 64 KiB",
                None,
            ),
            (
                Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge),
                "longer than 64 KiB",
                None,
            ),
            (
                Error::AlertReceived(AlertDescription::CertificateRequired),
                "asks for a certificate of the client",
                Some(Remedy::OwnCertificate),
            ),
            (
                Error::AlertReceived(AlertDescription::UnknownCA),
                "does not accept the client's certificate (UnknownCA)",
                None,
            ),
            (
                Error::InvalidMessage(InvalidMessage::InvalidContentType),
                "may speak plain HTTP",
                Some(Remedy::PlainHttp),
            ),
        ] {
            assert!(in_words(&error).contains(said), "{}", in_words(&error));
            assert_eq!(remedy(&error), help, "{error:?}");
        }
    }
}

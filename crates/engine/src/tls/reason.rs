//! Errors of TLS, in the words under which they are counted and shown.
use rustls::{
    AlertDescription, CertificateError, Error, InconsistentKeys, InvalidMessage, PeerIncompatible,
};

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
        Error::AlertReceived(alert) => alert_in_words(*alert),
        Error::PeerIncompatible(why) => incompatible_in_words(why),
        Error::PeerMisbehaved(why) => {
            format!("the server breaks the rules of TLS: {}", words(&format!("{why:?}")))
        }
        Error::NoCertificatesPresented => "the server has no certificate".into(),
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the key does not belong to the certificate; give the two that were made together"
                .into()
        }
        Error::DecryptError => "a record cannot be decrypted".into(),
        Error::General(why) => why.clone(),
        other => words(&format!("{other:?}")),
    }
}

/// What Pippin can do, for servers that can do something else.
const VERSIONS: &str = "Pippin speaks TLS 1.2 and 1.3";
const KEYS: &str = "Pippin takes RSA keys of 2048 bits and more, P-256, P-384 and Ed25519, and with --insecure others too (P-521 over TLS 1.3)";

/// Why the server ends the handshake (RFC 8446 section 6.2).
fn alert_in_words(alert: AlertDescription) -> String {
    use AlertDescription as Alert;
    let why = match alert {
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA => {
            let why = words(&format!("{alert:?}"));
            return format!("the server does not accept the client's certificate ({why})");
        }
        Alert::ProtocolVersion | Alert::InappropriateFallback => {
            return format!("the server speaks another version of TLS: {VERSIONS}");
        }
        Alert::HandshakeFailure | Alert::InsufficientSecurity => {
            return format!(
                "the server finds nothing in common with this client: its key, cipher suites or versions are others ({VERSIONS}; {KEYS})"
            );
        }
        Alert::UnrecognisedName => {
            return "the server has no certificate for the name that it is asked for".into();
        }
        Alert::AccessDenied => "it denies access".into(),
        Alert::InternalError => "it has an error of its own".into(),
        other => words(&format!("{other:?}")),
    };
    format!("the server refused the handshake: {why}")
}

/// Why client and server have no TLS in common.
fn incompatible_in_words(why: &PeerIncompatible) -> String {
    use PeerIncompatible as Why;
    match why {
        Why::ServerDoesNotSupportTls12Or13
        | Why::ServerTlsVersionIsDisabledByOurConfig
        | Why::SupportedVersionsExtensionRequired => {
            format!("the server speaks another version of TLS: {VERSIONS}")
        }
        Why::NoSignatureSchemesInCommon => {
            format!("the server's key is of a kind that is not accepted: {KEYS}")
        }
        other => {
            format!(
                "the server has no TLS in common with this client: {}",
                words(&format!("{other:?}"))
            )
        }
    }
}

/// The words in the name of a kind of error, without what it holds: `NoKxGroupsInCommon` is "no kx
/// groups in common".
fn words(name: &str) -> String {
    let name = name.split(['(', '{', ' ']).next().unwrap_or_default();
    let (mut words, mut after_small) = (String::new(), false);
    for c in name.chars() {
        if c.is_uppercase() && after_small {
            words.push(' ');
        }
        after_small = !c.is_uppercase();
        words.extend(c.to_lowercase());
    }
    words
}

/// Whether a certificate is refused because it is an authority's (CA:TRUE). The kind is known to the
/// library below alone.
pub(super) fn is_authority(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other))
        if format!("{other:?}").contains("CaUsedAsEndEntity"))
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
            let expected = expected.to_str();
            if names.is_empty() {
                return nameless(&expected);
            }
            format!("the certificate is for {}, not for {expected}", names.join(", "))
        }
        CertificateError::Revoked => "the certificate was revoked".into(),
        CertificateError::BadSignature => {
            "the certificate's signature is wrong, or made by an RSA key of less than 2048 bits".into()
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => format!(
            "the certificate is signed in a way that is not accepted (SHA-1, MD5, or the curve P-521): {KEYS}"
        ),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the certificate is not for servers (its extended key usage)".into()
        }
        CertificateError::BadEncoding => "the certificate cannot be read".into(),
        CertificateError::Other(other) => match format!("{other:?}") {
            kind if kind.contains("CaUsedAsEndEntity") => {
                "the server uses an authority's certificate (CA:TRUE) as its own, which is accepted only if --ca names that very certificate"
                    .into()
            }
            kind if kind.contains("UnsupportedCertVersion") => format!(
                "the certificate is one of X.509 version 1, which has no names and is not accepted: {}",
                made_for("localhost")
            ),
            kind => {
                let kind = kind.rsplit('(').next().unwrap_or_default();
                format!("the certificate cannot be accepted: {}", words(kind.trim_end_matches(')')))
            }
        },
        other => format!("the certificate cannot be accepted: {}", words(&format!("{other:?}"))),
    }
}

/// A certificate that has only a common name (CN), which no client reads (RFC 9525 section 2).
fn nameless(expected: &str) -> String {
    format!(
        "the certificate is for no name: a common name (CN) does not count; {}",
        made_for(expected)
    )
}

/// How a certificate for a name is made.
fn made_for(name: &str) -> String {
    let kind = if name.parse::<std::net::IpAddr>().is_ok() { "IP" } else { "DNS" };
    format!(
        "make one with a name (openssl: -addext subjectAltName={kind}:{name}; keytool: -ext san={}:{name})",
        kind.to_lowercase()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_a_sentence_and_names_what_pippin_can_do() {
        use rustls::{OtherError, PeerMisbehaved};
        let certificate = |kind: CertificateError| in_words(&Error::InvalidCertificate(kind));
        let of_name = |expected: &'static str| CertificateError::NotValidForNameContext {
            expected: expected.try_into().unwrap(),
            presented: Vec::new(),
        };
        let alert = |kind| in_words(&Error::AlertReceived(kind));
        for (said, part) in [
            (alert(AlertDescription::ProtocolVersion), VERSIONS),
            (in_words(&PeerIncompatible::ServerDoesNotSupportTls12Or13.into()), VERSIONS),
            (alert(AlertDescription::HandshakeFailure), KEYS),
            (
                alert(AlertDescription::UnexpectedMessage),
                "refused the handshake: unexpected message",
            ),
            (in_words(&PeerIncompatible::NoKxGroupsInCommon.into()), "no kx groups in common"),
            (in_words(&PeerMisbehaved::InvalidKeyShare.into()), "of TLS: invalid key share"),
            (
                certificate(of_name("localhost")),
                "subjectAltName=DNS:localhost; keytool: -ext san=dns:localhost",
            ),
            (certificate(of_name("127.0.0.1")), "subjectAltName=IP:127.0.0.1"),
            (
                certificate(CertificateError::UnsupportedSignatureAlgorithmContext {
                    signature_algorithm_id: vec![1],
                    supported_algorithms: Vec::new(),
                }),
                "SHA-1",
            ),
            (
                certificate(CertificateError::Other(OtherError(std::sync::Arc::new(
                    std::io::Error::other("x"),
                )))),
                "cannot be accepted",
            ),
            (in_words(&Error::FailedToGetCurrentTime), "failed to get current time"),
        ] {
            assert!(said.contains(part) && !said.contains(['{', '[', '"']), "{said}");
        }
    }

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
                "does not accept the client's certificate (unknown ca)",
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

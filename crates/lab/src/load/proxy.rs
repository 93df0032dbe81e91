//! The URL of a proxy that requests go through.
use pippin_model::load::{Credentials, Protocol, Proxy};

use super::address::Url;
use crate::error::LabError;

/// How such a URL is written.
const FORM: &str = "write it like http://127.0.0.1:3128 or http://name:password@127.0.0.1:3128";

/// Where a proxy is, and what it is told of who asks. No message shows the credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyUrl {
    /// Its place, as a URL without credentials.
    pub url: Url,
    credentials: Option<Credentials>,
}

impl ProxyUrl {
    /// Reads `http://[name:password@]host:port`; without a scheme it is http.
    ///
    /// # Errors
    /// If it is none; the message says how it is written.
    pub fn parse(text: &str) -> Result<Self, LabError> {
        let error = |why: &str| LabError::User(format!("{why}; {FORM}"));
        let rest = match text.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => return Err(error("a proxy is reached without TLS here")),
            Some((scheme, _)) if scheme.starts_with("socks") => {
                return Err(error("a proxy of SOCKS cannot be used, only one of HTTP"));
            }
            Some(_) => return Err(error("only an HTTP proxy can be used")),
            None => text,
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((userinfo, place)) => (Some(Credentials::of_url(userinfo).map_err(error)?), place),
            None => (None, rest),
        };
        if place.contains(['/', '?', '#']) {
            return Err(error("a proxy has no path"));
        }
        let url = Url::parse(&format!("http://{place}"))?;
        if !place.ends_with(&format!(":{}", url.port)) {
            return Err(error("the port of the proxy is missing"));
        }
        Ok(Self { url, credentials })
    }

    /// The way to `url` through this proxy. It reads requests of HTTP/1.1 without TLS, and opens a
    /// tunnel for everything else.
    #[must_use]
    pub fn to(&self, url: &Url, protocol: Protocol) -> Proxy {
        let is_read = !url.is_https && protocol == Protocol::Http1;
        let host =
            if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
        Proxy {
            authority: self.url.authority.clone(),
            tunnel: (!is_read).then(|| format!("{host}:{}", url.port)),
            credentials: self.credentials.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_has_a_place_and_perhaps_credentials() {
        for (text, authority, field) in [
            ("http://127.0.0.1:3128", "127.0.0.1:3128", None),
            ("127.0.0.1:3128", "127.0.0.1:3128", None),
            ("http://[::1]:80/", "[::1]:80", None),
            ("http://a:b@proxy.example:8080/", "proxy.example:8080", Some("Basic YTpi")),
            ("http://a:%40@h:1", "h:1", Some("Basic YTpA")),
            ("http://a@b:c@h:1", "h:1", Some("Basic YUBiOmM=")),
        ] {
            let read = ProxyUrl::parse(text).unwrap();
            let proxy = read.to(&Url::parse("http://example.org/").unwrap(), Protocol::Http1);
            assert_eq!(proxy.authority, authority);
            assert_eq!(proxy.authorization().map(|(_, value)| value).as_deref(), field, "{text}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_password() {
        for (text, why) in [
            ("https://a:secret@h:1", "without TLS"),
            ("socks5://a:secret@h:1", "SOCKS"),
            ("ftp://a:secret@h:1", "only an HTTP proxy"),
            ("http://a:secret@h", "port of the proxy is missing"),
            ("http://a:secret@h:80/path", "no path"),
            ("http://:secret@h:80", "no name"),
            ("http://a:secret@h:99999", "port is not a number"),
        ] {
            let error = ProxyUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_tunnel_is_for_what_a_proxy_cannot_read() {
        let proxy = ProxyUrl::parse("http://127.0.0.1:3128").unwrap();
        for (url, protocol, tunnel) in [
            ("http://example.org/", Protocol::Http1, None),
            ("https://example.org/", Protocol::Http1, Some("example.org:443")),
            ("https://example.org:8443/", Protocol::Http2, Some("example.org:8443")),
            ("http://[::1]:81/", Protocol::Http2, Some("[::1]:81")),
            ("ws://example.org/", Protocol::WebSocket, Some("example.org:80")),
            ("wss://example.org/", Protocol::WebSocket, Some("example.org:443")),
        ] {
            let way = proxy.to(&Url::of_any(url).unwrap(), protocol);
            assert_eq!(way.tunnel.as_deref(), tunnel, "{url}");
        }
    }
}

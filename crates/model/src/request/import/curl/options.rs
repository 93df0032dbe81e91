//! curl's options, and what each means for the request.
use Meaning::{
    Bearer, Compressed, Connection, Cookie, Data, DataBinary, DataRaw, DataUrlencode, Form,
    FormString, Get, Globoff, Head, Header, Http2, Json, Location, Method, Nothing, PathAsIs,
    Range, Referer, Refused, Target, Upload, Url, UrlQuery, User, UserAgent, Value,
};

/// What an option means for the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing: it changes what curl prints, or how long it waits.
    Nothing,
    /// It has a value, and changes only what curl prints, or how long it waits.
    Value,
    /// It is about the connection, and has a value: `load` has options of its own.
    Connection,
    /// curl follows redirections, and a load does not.
    Location,
    /// HTTP/2: known by the scheme.
    Http2,
    /// The request would be another one: why, and what to write instead.
    Refused(&'static str),
    /// `-X`.
    Method,
    /// `-H`.
    Header,
    /// `-d`.
    Data,
    /// `--data-raw`.
    DataRaw,
    /// `--data-binary`.
    DataBinary,
    /// `--data-urlencode`.
    DataUrlencode,
    /// `--json`.
    Json,
    /// `-F`.
    Form,
    /// `--form-string`.
    FormString,
    /// `-G`.
    Get,
    /// `-I`.
    Head,
    /// `--compressed`.
    Compressed,
    /// `-A`.
    UserAgent,
    /// `-e`.
    Referer,
    /// `-b`.
    Cookie,
    /// `-u`.
    User,
    /// `--oauth2-bearer`.
    Bearer,
    /// `--url`.
    Url,
    /// `--url-query`.
    UrlQuery,
    /// `-r`.
    Range,
    /// `-T`.
    Upload,
    /// `-g`.
    Globoff,
    /// `--path-as-is`.
    PathAsIs,
    /// `--request-target`.
    Target,
}

impl Meaning {
    /// Whether the next word, or the rest of this one, is its value.
    pub const fn has_value(self) -> bool {
        !matches!(
            self,
            Nothing | Location | Http2 | Refused(_) | Get | Head | Compressed | Globoff | PathAsIs
        )
    }
}

const LOGIN: &str = "its login takes several requests, and a load sends one";
const DIGEST: &str =
    "a file of requests has no digest: leave it out there, with -u, and give both to the load";
const CONFIG: &str = "it reads more from a file: write it into the command";
const HTTP1: &str = "a load speaks HTTP/1.1 or HTTP/2: leave it out";

/// Short and long names. A name may have only one of the two.
const OPTIONS: &[(&str, &str, Meaning)] = &[
    ("s", "silent", Nothing),
    ("S", "show-error", Nothing),
    ("v", "verbose", Nothing),
    ("i", "include", Nothing),
    ("k", "insecure", Nothing),
    ("f", "fail", Nothing),
    ("", "fail-with-body", Nothing),
    ("", "fail-early", Nothing),
    ("#", "progress-bar", Nothing),
    ("", "progress-meter", Nothing),
    ("N", "no-buffer", Nothing),
    ("", "buffer", Nothing),
    ("", "keepalive", Nothing),
    ("", "http1.1", Nothing),
    ("4", "ipv4", Nothing),
    ("6", "ipv6", Nothing),
    ("O", "remote-name", Nothing),
    ("J", "remote-header-name", Nothing),
    ("R", "remote-time", Nothing),
    ("j", "junk-session-cookies", Nothing),
    ("Z", "parallel", Nothing),
    ("q", "disable", Nothing),
    ("M", "manual", Nothing),
    ("", "styled-output", Nothing),
    ("", "basic", Nothing),
    ("", "post301", Nothing),
    ("", "post302", Nothing),
    ("", "post303", Nothing),
    ("", "raw", Nothing),
    ("", "create-dirs", Nothing),
    ("", "retry-connrefused", Nothing),
    ("", "retry-all-errors", Nothing),
    ("", "tcp-nodelay", Nothing),
    ("", "tcp-fastopen", Nothing),
    ("1", "tlsv1", Nothing),
    ("", "tlsv1.0", Nothing),
    ("", "tlsv1.1", Nothing),
    ("", "tlsv1.2", Nothing),
    ("", "tlsv1.3", Nothing),
    ("", "alpn", Nothing),
    ("", "trace-time", Nothing),
    ("o", "output", Value),
    ("", "output-dir", Value),
    ("w", "write-out", Value),
    ("D", "dump-header", Value),
    ("c", "cookie-jar", Value),
    ("m", "max-time", Value),
    ("", "connect-timeout", Value),
    ("", "retry", Value),
    ("", "retry-delay", Value),
    ("", "retry-max-time", Value),
    ("", "max-redirs", Value),
    ("", "max-filesize", Value),
    ("", "limit-rate", Value),
    ("", "rate", Value),
    ("y", "speed-time", Value),
    ("Y", "speed-limit", Value),
    ("", "keepalive-time", Value),
    ("", "expect100-timeout", Value),
    ("", "stderr", Value),
    ("", "trace", Value),
    ("", "trace-ascii", Value),
    ("", "proto", Value),
    ("", "proto-redir", Value),
    ("", "proto-default", Refused("the scheme stands in the URL here: write it there")),
    ("", "resolve", Connection),
    ("", "connect-to", Connection),
    ("", "interface", Connection),
    ("", "local-port", Connection),
    ("", "dns-servers", Connection),
    ("", "unix-socket", Connection),
    ("", "cacert", Connection),
    ("", "capath", Connection),
    ("E", "cert", Connection),
    ("", "cert-type", Connection),
    ("", "key", Connection),
    ("", "key-type", Connection),
    ("", "pass", Connection),
    ("", "ciphers", Connection),
    ("", "tls-max", Connection),
    ("", "curves", Connection),
    ("L", "location", Location),
    ("", "location-trusted", Location),
    ("", "http2", Http2),
    ("", "http2-prior-knowledge", Refused("write the command without it, and load with --h2c")),
    ("", "http3", Refused(HTTP1)),
    ("", "http3-only", Refused(HTTP1)),
    ("0", "http1.0", Refused(HTTP1)),
    ("", "http0.9", Refused(HTTP1)),
    ("", "anyauth", Refused(LOGIN)),
    ("", "digest", Refused(DIGEST)),
    ("", "ntlm", Refused(LOGIN)),
    ("", "negotiate", Refused(LOGIN)),
    ("K", "config", Refused(CONFIG)),
    ("n", "netrc", Refused(CONFIG)),
    ("", "netrc-file", Refused(CONFIG)),
    (
        "x",
        "proxy",
        Refused(
            "a file of requests names no proxy: leave it out, and give it to the load (--proxy)",
        ),
    ),
    (":", "next", Refused("write each command on a line of its own")),
    ("X", "request", Method),
    ("H", "header", Header),
    ("d", "data", Data),
    ("", "data-ascii", Data),
    ("", "data-raw", DataRaw),
    ("", "data-binary", DataBinary),
    ("", "data-urlencode", DataUrlencode),
    ("", "json", Json),
    ("F", "form", Form),
    ("", "form-string", FormString),
    ("G", "get", Get),
    ("I", "head", Head),
    ("", "compressed", Compressed),
    ("A", "user-agent", UserAgent),
    ("e", "referer", Referer),
    ("b", "cookie", Cookie),
    ("u", "user", User),
    ("", "oauth2-bearer", Bearer),
    ("", "url", Url),
    ("", "url-query", UrlQuery),
    ("r", "range", Range),
    ("T", "upload-file", Upload),
    ("g", "globoff", Globoff),
    ("", "path-as-is", PathAsIs),
    ("", "request-target", Target),
];

/// The option of a long name, without its dashes; `None` if it is not known. `no-` turns off what
/// has no value: what is turned off is not there.
pub fn long(name: &str) -> Option<Meaning> {
    let exact = |name: &str| OPTIONS.iter().find(|(_, long, _)| *long == name).map(|(.., it)| *it);
    exact(name).or_else(|| {
        let meaning = exact(name.strip_prefix("no-")?)?;
        matches!(meaning, Nothing | Location | Http2).then_some(Nothing)
    })
}

/// The option of a short name.
pub fn short(name: char) -> Option<Meaning> {
    OPTIONS.iter().find(|(short, ..)| short.chars().eq([name])).map(|(.., it)| *it)
}

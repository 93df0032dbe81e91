//! Certificates and servers as `openssl` makes them: self-signed ones, and those of former times.
use pippin_engine::{EngineError, try_connection};
use pippin_model::load::Protocol;
use pippin_model::load::tls::TlsSpec;
use pippin_testing::skipped::skip;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Files that `openssl` makes.
struct Made(TempDir);

impl Made {
    /// `None` where there is no such program.
    fn new(test: &str) -> Option<Self> {
        if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
            skip(test, "there is no program `openssl`");
            return None;
        }
        Some(Self(tempfile::tempdir().unwrap()))
    }

    fn run(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        command.current_dir(self.0.path()).args(arguments.split(' '));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments}: {output:?}");
    }

    /// A self-signed certificate `c.pem` with its key `k.pem`.
    fn certificate(&self, key: &str, more: &str) {
        let of = "-nodes -keyout k.pem -out c.pem -days 30 -subj /CN=localhost";
        self.run(&format!("req -x509 -newkey {key} {of} {more}").trim_end().replace("  ", " "));
    }

    /// One of X.509 version 1: it has no extensions.
    fn of_version_1(&self) {
        self.run("req -new -newkey rsa:2048 -nodes -keyout k.pem -out r.pem -subj /CN=localhost");
        self.run("x509 -req -in r.pem -signkey k.pem -days 30 -out c.pem");
    }

    fn pem(&self) -> String {
        std::fs::read_to_string(self.0.path().join("c.pem")).unwrap()
    }

    /// A server with that certificate.
    fn serve(&self, more: &str) -> Served {
        let flags = "s_server -accept 127.0.0.1:0 -www -cert c.pem -key k.pem -cipher";
        let words = flags.split(' ').chain(["ALL:@SECLEVEL=0"]);
        let mut command = Command::new("openssl");
        command.current_dir(self.0.path()).args(words.chain(more.split_whitespace()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut places = lines.map_while(Result::ok);
        let address = places.find_map(|line| line.strip_prefix("ACCEPT ")?.parse().ok());
        Served { child, address: address.unwrap() }
    }
}

struct Served {
    child: Child,
    address: SocketAddr,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn trusting(root: Option<String>, name: &str) -> TlsSpec {
    TlsSpec {
        server_name: name.into(),
        verify: root.is_some(),
        extra_roots_pem: root,
        resume: false,
        client: None,
    }
}

fn tried(served: &Served, tls: &TlsSpec) -> Result<String, String> {
    let tried = try_connection(served.address, Some(tls), Protocol::Http1, Duration::from_secs(20));
    tried.map(|agreed| agreed.unwrap().version).map_err(|error: EngineError| error.to_string())
}

/// It is refused with these words, which hold nothing of a program's insides.
#[track_caller]
fn refused(served: &Served, tls: &TlsSpec, part: &str) {
    let why = tried(served, tls).unwrap_err();
    assert!(why.contains(part) && !why.contains(['{', '"']), "{why}");
}

#[test]
fn whoever_answers_is_taken_with_any_certificate_and_any_key() {
    let Some(made) = Made::new("whoever_answers_is_taken_with_any_certificate_and_any_key") else {
        return;
    };
    let any = trusting(None, "localhost");
    let own = |made: &Made| trusting(Some(made.pem()), "localhost");
    let names = "-addext subjectAltName=DNS:localhost";
    let versions = [("-tls1_3", "TLSv1.3"), ("-tls1_2", "TLSv1.2")];
    made.of_version_1();
    for (flag, version) in versions {
        let served = made.serve(flag);
        assert_eq!(tried(&served, &any).unwrap(), version);
        refused(&served, &own(&made), "X.509 version 1");
    }
    for (key, why) in [
        ("rsa:1024", "an RSA key of less than 2048 bits"),
        ("ec -pkeyopt ec_paramgen_curve:secp521r1", "P-521"),
    ] {
        made.certificate(key, &format!("{names} -addext basicConstraints=critical,CA:FALSE"));
        for (flag, version) in versions {
            let served = made.serve(flag);
            // Over TLS 1.2 a client names the curves that it calculates with, and P-521 is none.
            match (key.starts_with("ec"), version) {
                (true, "TLSv1.2") => refused(&served, &any, "P-521 over TLS 1.3"),
                _ => assert_eq!(tried(&served, &any).unwrap(), version, "{key}"),
            }
            let why_not = tried(&served, &own(&made)).unwrap_err();
            assert!(why_not.contains(why) || why_not.contains("P-256, P-384"), "{why_not}");
            assert!(!why_not.contains(['{', '"']), "{why_not}");
        }
    }
    made.certificate("rsa:2048", &format!("-sha1 {names}"));
    let served = made.serve("-tls1_2 -sigalgs RSA+SHA1");
    assert_eq!(tried(&served, &any).unwrap(), "TLSv1.2");
    refused(&served, &own(&made), "nothing in common");
}

#[test]
fn a_server_of_an_older_tls_is_told_which_pippin_speaks() {
    let Some(made) = Made::new("a_server_of_an_older_tls_is_told_which_pippin_speaks") else {
        return;
    };
    made.certificate("rsa:2048", "");
    let served = made.serve("-tls1_1");
    refused(&served, &trusting(None, "localhost"), "Pippin speaks TLS 1.2 and 1.3");
}

/// `openssl req -x509` makes an authority's certificate (CA:TRUE), and people use it for a server.
#[test]
fn a_self_signed_certificate_is_accepted_where_it_is_named() {
    let Some(made) = Made::new("a_self_signed_certificate_is_accepted_where_it_is_named") else {
        return;
    };
    made.certificate("rsa:2048", "-addext subjectAltName=DNS:localhost");
    let served = made.serve("");
    let named = made.pem();
    assert_eq!(tried(&served, &trusting(Some(named.clone()), "localhost")).unwrap(), "TLSv1.3");
    refused(&served, &trusting(Some(named), "example.org"), "not for example.org");
    // Another one of the same name, with another key.
    made.certificate("rsa:2048", "-addext subjectAltName=DNS:localhost");
    let other = trusting(Some(made.pem()), "localhost");
    refused(&served, &other, "only if --ca names that very certificate");
    // Its name is only a common name.
    made.certificate("rsa:2048", "");
    let served = made.serve("");
    let named = trusting(Some(made.pem()), "localhost");
    refused(&served, &named, "keytool: -ext san=dns:localhost");
}

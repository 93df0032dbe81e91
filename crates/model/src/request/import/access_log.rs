//! Access logs, as servers and load balancers write them. Each line says which form it has, so that
//! a file may hold several:
//!
//! - the Common and the Combined Log Format (Apache, nginx, Traefik), with or without a virtual host
//!   or other fields before and behind; AWS' load balancers and HAProxy, whose request lines may
//!   have a whole URL: the first quoted part that is a request line;
//! - JSON: Caddy, Traefik, and what nginx's `escape=json` usually names;
//! - W3C Extended (IIS), whose `#Fields:` names the columns.
use serde_json::Value;

use super::{Imported, WrongLine};
use crate::request::request_file::{FileRequest, Server, split_url};

/// All requests without a body. A log has no bodies, so a POST cannot be sent again.
///
/// # Errors
/// If no line has a request; with what the lines had instead.
pub fn parse(text: &str) -> Result<Imported, WrongLine> {
    let mut imported = Imported::default();
    let mut columns: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(fields) = line.strip_prefix("#Fields:") {
            columns = fields.split_whitespace().collect();
        } else if !line.starts_with('#') {
            add(&mut imported, logged(line, &columns));
        }
    }
    if imported.requests.is_empty() {
        return Err((
            1,
            format!(
                "no line holds a request like \"GET /path HTTP/1.1\" that can be sent again; left out: {}",
                imported.left_out_in_words().join(", ")
            ),
        ));
    }
    Ok(imported)
}

/// A request as a log has it.
struct Logged {
    method: String,
    server: Option<Server>,
    target: String,
}

fn add(imported: &mut Imported, logged: Option<Logged>) {
    match logged {
        None => imported.leave_out("lines without a request"),
        Some(Logged { method, server, target })
            if ["GET", "HEAD", "OPTIONS"].contains(&method.as_str()) =>
        {
            imported.requests.push(FileRequest {
                method,
                server,
                target,
                weight: 1,
                ..FileRequest::default()
            });
        }
        Some(Logged { method, .. }) => {
            imported.leave_out(&format!("{method} requests, whose bodies no log has"));
        }
    }
}

fn logged(line: &str, columns: &[&str]) -> Option<Logged> {
    if line.trim_start().starts_with('{') {
        return of_json(&serde_json::from_str(line).ok()?);
    }
    request_line(line).or_else(|| of_columns(line, columns))
}

/// A method, and a target or a URL; with the host of a line that has one beside it.
fn from_parts(method: &str, url: &str, host: Option<&str>) -> Option<Logged> {
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || url.contains(['\\', ' ']) {
        return None;
    }
    let (server, target) = split_url(url).ok()?;
    let beside = host.filter(|host| !host.is_empty() && *host != "-");
    // A host that is none in a URL is none here.
    let named = |host: &str| split_url(&format!("http://{host}")).ok()?.0;
    let server = server.or_else(|| beside.and_then(named));
    Some(Logged { method: method.into(), server, target })
}

/// Of the first quoted part that is a request line.
fn request_line(line: &str) -> Option<Logged> {
    let host = virtual_host(line);
    line.split('"').skip(1).step_by(2).find_map(|quoted| {
        let mut words = quoted.split(' ');
        let (method, url, version) = (words.next()?, words.next()?, words.next()?);
        let is_request = words.next().is_none() && version.starts_with("HTTP/");
        from_parts(method, url, host).filter(|_| is_request)
    })
}

/// The name of the virtual host, which Apache's `vhost_combined` writes before the three fields of
/// the Common Log Format.
fn virtual_host(line: &str) -> Option<&str> {
    let fields: Vec<&str> = line.split_once(" [")?.0.split(' ').collect();
    match fields[..] {
        [host, _, _, _] => host.contains('.').then_some(host),
        _ => None,
    }
}

fn of_json(line: &Value) -> Option<Logged> {
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| line.pointer(name));
        found.and_then(Value::as_str)
    };
    let host = text(&["/request/host", "/RequestHost", "/host", "/http_host", "/server_name"]);
    let method = text(&["/request/method", "/RequestMethod", "/request_method", "/method"]);
    let url = text(&["/request/uri", "/RequestPath", "/request_uri", "/uri", "/path"]);
    match (method, url) {
        (Some(method), Some(url)) => from_parts(method, url, host),
        _ => {
            let (method, rest) = text(&["/request"])?.split_once(' ')?;
            from_parts(method, rest.split_once(" HTTP/")?.0, host)
        }
    }
}

/// A line of W3C Extended. A field that is not there is `-`.
fn of_columns(line: &str, columns: &[&str]) -> Option<Logged> {
    let of_name = |name: &str| {
        let at = columns.iter().position(|column| *column == name)?;
        line.split(' ').nth(at).filter(|field| *field != "-")
    };
    let path = of_name("cs-uri-stem")?;
    let target = match of_name("cs-uri-query") {
        Some(query) => format!("{path}?{query}"),
        None => path.into(),
    };
    from_parts(of_name("cs-method")?, &target, of_name("cs-host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let request = |one: FileRequest| {
            let host = one.server.map(|server| server.authority).unwrap_or_default();
            format!("{} {host} {}", one.method, one.target)
        };
        parse(text).unwrap().requests.into_iter().map(request).collect()
    }

    #[test]
    fn requests_without_a_body_are_taken_and_the_others_are_told() {
        let text = concat!(
            "1.2.3.4 - - [22/Nov/2026:10:00:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 12 \"-\" \"curl/8\"\n",
            "::1 - ana [22/Nov/2026:10:00:00 +0000] \"HEAD /b HTTP/2.0\" 304 -\n",
            "\n",
            "1.2.3.4 - - [x] \"POST /form HTTP/1.1\" 200 0\n",
            "1.2.3.4 - - [x] \"\\x16\\x03\" 400 0\n",
        );
        assert_eq!(seen(text), ["GET  /a?b=1", "HEAD  /b"]);
        let left = parse(text).unwrap().left_out;
        assert_eq!(left.values().copied().collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn each_server_writes_its_own_form() {
        for (line, wanted) in [
            (
                "shop.example:443 1.2.3.4 - - [x] \"GET /a HTTP/1.1\" 200 1 \"-\" \"x\"",
                "GET shop.example:443 /a",
            ),
            ("0.012 hit \"GET /a HTTP/1.1\" 200", "GET  /a"),
            (
                "http 2026-07-02T22:23:00.186641Z app/my/50 1.2.3.4:2817 10.0.0.1:80 0.0 0.0 0.0 200 200 34 366 \"GET http://www.example.com:80/x?y HTTP/1.1\" \"curl/7.46.0\" - -",
                "GET www.example.com:80 /x?y",
            ),
            (
                "haproxy[1]: 1.2.3.4:5 [06/Feb:12:14] front back/s 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET https://shop.example/i HTTP/2.0\"",
                "GET shop.example /i",
            ),
            (
                r#"{"level":"info","logger":"http.log.access","request":{"remote_ip":"1.2.3.4","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a?b"},"status":200}"#,
                "GET localhost /a?b",
            ),
            (
                r#"{"RequestMethod":"GET","RequestHost":"shop.example","RequestPath":"/t","RequestProtocol":"HTTP/1.1","DownstreamStatus":200}"#,
                "GET shop.example /t",
            ),
            (r#"{"time":"x","request":"HEAD /n HTTP/1.1","status":"200"}"#, "HEAD  /n"),
            (r#"{"request_method":"GET","request_uri":"/n","host":"a"}"#, "GET a /n"),
        ] {
            assert_eq!(seen(line), [wanted], "{line}");
        }
        let iis = "#Version: 1.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query s-port sc-status\n2026-01-01 00:00:00 GET /default.htm - 80 200\n2026-01-01 00:00:01 GET /s q=1 80 200\n";
        assert_eq!(seen(iis), ["GET  /default.htm", "GET  /s?q=1"]);
    }

    #[test]
    fn a_file_without_requests_is_refused_with_what_it_had() {
        let (_, why) = parse("hello\n1.2.3.4 - - [x] \"POST /f HTTP/1.1\" 200 0\n").unwrap_err();
        assert!(why.contains("lines without a request (1)"), "{why}");
        assert!(why.contains("POST requests, whose bodies no log has (1)"), "{why}");
    }
}

//! nginx with one process, for loads over HTTP/2 and for large bodies. It counts its requests itself (stub_status), on a
//! unix socket that no tool knows.
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::scenario::LARGE;

use super::{Account, START_LIMIT, Term};

const STATUS: &str = "status.sock";

/// The socket of the server inside nginx that answers an upload, once all of it has come.
const TAKEN: &str = "taken.sock";

/// A line for each upload.
const TAKEN_LOG: &str = "taken.log";

/// Serves until SIGTERM. Prints its address first and its counters last. `listening` is what nginx
/// is told about its socket: ` http2` or nothing.
pub fn serve(term: &Term, listening: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a folder for nginx: {error}"))?;
    let mut nginx = Nginx::start(folder.path(), listening)?;
    println!("{}", nginx.address);
    term.wait();
    let account = nginx.account(folder.path());
    nginx.stop()?;
    println!("{}", serde_json::to_string(&account?).map_err(|error| error.to_string())?);
    Ok(())
}

struct Nginx {
    process: Child,
    address: SocketAddr,
}

impl Nginx {
    fn start(folder: &Path, listening: &str) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let address = TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .map_err(|error| format!("no free port: {error}"))?;
        let file = folder.join("nginx.conf");
        std::fs::write(&file, config(folder, address, listening)).map_err(text)?;
        std::fs::write(folder.join("large"), vec![b'p'; LARGE]).map_err(text)?;
        let process = Command::new("nginx")
            .args(["-e", "stderr", "-p"])
            .arg(folder)
            .arg("-c")
            .arg(&file)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("starting nginx: {error}"))?;
        let mut nginx = Self { process, address };
        let deadline = Instant::now() + START_LIMIT;
        while TcpStream::connect(address).is_err() {
            let has_ended = nginx.process.try_wait().map_err(text)?.is_some();
            if has_ended || Instant::now() > deadline {
                _ = nginx.stop();
                return Err("nginx did not start".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(nginx)
    }

    /// Waits for its end, so that its CPU time is part of this process's.
    fn stop(&mut self) -> Result<(), String> {
        _ = self.process.kill();
        self.process.wait().map(drop).map_err(|error| format!("ending nginx: {error}"))
    }

    fn account(&self, folder: &Path) -> Result<Account, String> {
        let mut said = String::new();
        UnixStream::connect(folder.join(STATUS))
            .and_then(|mut stream| {
                stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
                stream.read_to_string(&mut said)
            })
            .map_err(|error| format!("asking nginx for its counters: {error}"))?;
        let uploads = std::fs::read_to_string(folder.join(TAKEN_LOG))
            .map_err(|error| format!("reading what nginx took: {error}"))?
            .lines()
            .count();
        counters(&said, uploads as u64).ok_or_else(|| format!("nginx said no counters: {said}"))
    }
}

fn config(folder: &Path, address: SocketAddr, listening: &str) -> String {
    let folder = folder.display();
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {folder}/{name};\n"))
        .concat();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log stderr crit;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\naccess_log off;\nkeepalive_requests 1000000000;\ndefault_type text/plain;\nsendfile on;\n{paths}\
         server {{ listen {address}{listening};\n\
         location / {{ return 200 \"Hello World!\"; }}\n\
         location = /large {{ root {folder}; }}\n\
         location = /upload {{ client_max_body_size 0; client_body_buffer_size 16m; proxy_pass_request_body off;\n\
         proxy_set_header Content-Length \"\"; proxy_pass http://unix:{folder}/{TAKEN}:/; }} }}\n\
         server {{ listen unix:{folder}/{TAKEN}; access_log {folder}/{TAKEN_LOG}; location / {{ return 200 \"Hello World!\"; }} }}\n\
         server {{ listen unix:{folder}/{STATUS}; location / {{ stub_status; }} }}\n}}\n"
    )
}

/// What stub_status says, without the one connection and the one request that asked for it, and
/// without the connection that showed that it listens. nginx answers an upload by a request to
/// itself, over a connection of its own, so it counts each of `uploads` twice.
fn counters(said: &str, uploads: u64) -> Option<Account> {
    let (_, rest) = said.split_once("server accepts handled requests")?;
    let mut numbers = rest.split_whitespace().map(str::parse::<u64>);
    let (accepted, _handled, requests) =
        (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    let connections = accepted.saturating_sub(2 + uploads);
    let requests = requests.saturating_sub(1 + uploads);
    Some(Account {
        connections,
        // It keeps no peak. No tool opens a connection twice.
        peak_connections: connections,
        requests,
        answers: requests,
        ..Account::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_what_nginx_counts() {
        let said = "HTTP/1.1 200 OK\r\n\r\nActive connections: 11 \nserver accepts handled requests\n 12 12 345678 \nReading: 0 Writing: 11 Waiting: 0 \n";
        let account = super::counters(said, 0).unwrap();
        assert_eq!((account.connections, account.answers), (10, 345_677));
        let account = super::counters(said, 4).unwrap();
        assert_eq!((account.connections, account.answers), (6, 345_673));
        assert_eq!(super::counters("HTTP/1.1 404 Not Found\r\n\r\n", 0), None);
    }
}

//! A server that changes while it is loaded: a process ends, others go on, or nobody does.
use pippin_model::host::usage::Role;
use std::collections::BTreeSet;

use crate::clock::{ProcUnits, monotonic_ns};
use crate::kernel_files::KernelFiles;
use crate::process_table::read_process;
use crate::sample::{Roots, TreeMemory};
use crate::server::{self, NoServer, Place, Server, Servers};

/// So many looks in a row must find nobody: between two of them, a server may begin to listen anew.
const SURE_LOOKS: u32 = 3;

/// A first process of a server that ended while it was watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The process.
    pub server: Server,
    /// When its end was seen, CLOCK_MONOTONIC in nanoseconds.
    pub at_ns: u64,
}

/// Watches whether the first processes of a server live, and who follows them.
#[derive(Debug, Default)]
pub struct Succession {
    alive: Vec<Server>,
    ended: Vec<Ended>,
    inodes: BTreeSet<u32>,
    last_ns: u64,
    /// How long it was not known who serves, and how long an ended process was not seen.
    unseen_ns: u64,
    vain: u32,
    is_over: bool,
}

impl Succession {
    /// Begins with the processes that serve.
    #[must_use]
    pub fn from_servers(servers: &Servers) -> Self {
        Self { alive: servers.processes.clone(), last_ns: monotonic_ns(), ..Self::default() }
    }

    /// Whether all that served have ended and nobody listens.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// How long a part of the server was not seen so far, in nanoseconds.
    #[must_use]
    pub const fn unseen_ns(&self) -> u64 {
        self.unseen_ns
    }

    /// Those that ended so far.
    #[must_use]
    pub fn ended(&self) -> &[Ended] {
        &self.ended
    }

    /// Looks once: who ended is noted, and who serves now is added to the target's roots.
    /// `looks_for_others` also looks for processes that joined those that serve.
    pub fn look(&mut self, roots: &mut Roots, memory: &mut TreeMemory, looks_for_others: bool) {
        let Some(place) = roots.serving.as_ref().map(|serving| serving.place.clone()) else {
            return;
        };
        let now_ns = monotonic_ns();
        let passed_ns = now_ns.saturating_sub(std::mem::replace(&mut self.last_ns, now_ns));
        let files = KernelFiles::default();
        let (alive, gone): (Vec<Server>, Vec<Server>) =
            std::mem::take(&mut self.alive).into_iter().partition(|server| lives(&files, server));
        self.alive = alive;
        let has_lost = !gone.is_empty();
        self.ended.extend(gone.into_iter().map(|server| Ended { server, at_ns: now_ns }));
        if has_lost || self.alive.is_empty() {
            self.unseen_ns += passed_ns;
        }
        let has_joined = looks_for_others && self.has_other_sockets(&place);
        if has_lost || has_joined || self.alive.is_empty() {
            self.find(&place, roots, memory);
        }
    }

    /// Whether other sockets listen there than at the last look.
    fn has_other_sockets(&mut self, place: &Place) -> bool {
        let Place::Addresses(addresses) = place else { return false };
        let now = server::listening_inodes(addresses);
        let before = std::mem::replace(&mut self.inodes, now);
        !before.is_empty() && before != self.inodes
    }

    fn find(&mut self, place: &Place, roots: &mut Roots, memory: &mut TreeMemory) {
        match server::behind(place) {
            Ok(Servers { processes, apart }) => {
                (self.vain, self.is_over) = (0, false);
                roots.apart.extend(apart);
                for server in processes {
                    if !self.alive.iter().any(|known| known.pid == server.pid) {
                        memory.begin_late(server.pid);
                        roots.roles.entry(Role::Target).or_default().push(server.root);
                        self.alive.push(server);
                    }
                }
            }
            Err(NoServer::NobodyListens | NoServer::Hidden) if self.alive.is_empty() => {
                self.vain += 1;
                self.is_over |= self.vain >= SURE_LOOKS;
            }
            Err(_) => {}
        }
    }
}

fn lives(files: &KernelFiles, server: &Server) -> bool {
    read_process(files, ProcUnits::of_this_host(), server.pid)
        .is_some_and(|process| !process.zombie && process.start_ticks == server.start_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Serving, sample};
    use std::collections::BTreeMap;
    use std::io::BufRead as _;
    use std::net::SocketAddr;
    use std::process::{Child, Command, Stdio};

    /// A process that listens on this port, and has used some CPU time before it says so.
    fn listening(port: u16) -> (Child, SocketAddr) {
        let script = format!(
            "import socket,sys,time\nwhile time.process_time()<0.05: pass\ns=socket.socket()\ns.setsockopt(1,15,1)\ns.bind(('127.0.9.9',{port}))\ns.listen()\nprint(s.getsockname()[1],flush=True)\nsys.stdin.read()"
        );
        let mut child = Command::new("python3")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        (child, format!("127.0.9.9:{}", line.trim()).parse().unwrap())
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn who_follows_is_added_and_who_ends_last_ends_it() {
        let (first, address) = listening(0);
        let place = Place::Addresses(vec![address]);
        let servers = server::behind(&place).unwrap();
        assert_eq!(servers.processes[0].pid, first.id() as i32);
        let mut roots = Roots {
            roles: BTreeMap::from([(Role::Target, vec![servers.processes[0].root])]),
            serving: Some(Serving { place, servers: servers.clone(), follows: false }),
            ..Roots::default()
        };
        let mut memory = TreeMemory::default();
        let mut succession = Succession::from_servers(&servers);
        let used = |roots: &Roots, memory: &mut TreeMemory| {
            sample(roots, memory).roles[&Role::Target].cpu_ns / 1_000_000
        };
        succession.look(&mut roots, &mut memory, true);
        let alone = used(&roots, &mut memory);
        assert!(alone >= 50 && succession.ended().is_empty());
        // The second one ran before it was found, so that its 50 ms are not the server's growth.
        let (second, _) = listening(address.port());
        succession.look(&mut roots, &mut memory, true);
        assert_eq!(roots.roles[&Role::Target].len(), 2);
        end(first);
        succession.look(&mut roots, &mut memory, true);
        assert_eq!(succession.ended().len(), 1);
        assert!(!succession.is_over());
        let both = used(&roots, &mut memory);
        assert!(both >= alone, "it never falls: {both} after {alone}");
        end(second);
        for _ in 0..SURE_LOOKS {
            assert!(!succession.is_over());
            succession.look(&mut roots, &mut memory, true);
        }
        assert!(succession.is_over() && succession.unseen_ns() > 0);
        assert_eq!(used(&roots, &mut memory), both, "what was counted stays");
    }
}

//! Compilers within a server's processes, told by the names of their threads (proc(5),
//! `/proc/PID/task/TID/comm`), and the processor time of these threads (`schedstat`, its first
//! field, nanoseconds).
//!
//! A runtime that compiles while it serves becomes faster for seconds or minutes. Its compiler works
//! in threads of its own, so the kernel can say when it rests. Node, Bun and Deno name all of their
//! helper threads alike, so their compilers cannot be told from their collectors.
use pippin_model::host::usage::{Compiler, CompilerSample};
use std::collections::HashMap;

use crate::facts::{Facts, Living};
use crate::kernel_files::KernelFiles;

/// The beginnings of the names of compiler threads. The kernel keeps 15 bytes of a name.
const THREADS: [(&str, Compiler); 4] = [
    ("C1 Compiler", Compiler::Jvm),
    ("C2 Compiler", Compiler::Jvm),
    ("JVMCI", Compiler::Jvm),
    (".NET Tiered Com", Compiler::DotNet),
];
/// Libraries of runtimes whose compiler threads come and go.
const LIBRARIES: [(&str, Compiler); 2] =
    [("/libjvm.so", Compiler::Jvm), ("/libcoreclr.so", Compiler::DotNet)];
/// How often the threads of a process are listed anew. Between two lists, only the known compiler
/// threads are read.
const LIST_EVERY_NS: u64 = 1_000_000_000;
/// How often the name of a thread is read that is no compiler's. A thread names itself when it begins;
/// reading all names of 200 threads each second took 0.2 % of a processor.
const NAME_READS: u8 = 3;

/// The compilers in a set of processes.
#[derive(Debug, Default)]
pub struct Compilers {
    processes: HashMap<i32, Known>,
    libraries: Facts<Option<Compiler>>,
    /// CPU time of the compiler threads of processes that have ended.
    ended_ns: HashMap<Compiler, u64>,
}

/// What is known of one process.
#[derive(Debug)]
struct Known {
    start_ticks: u64,
    compiler: Option<Compiler>,
    /// CPU time of each compiler thread when it was last seen.
    threads: HashMap<u32, u64>,
    /// How often the names of the other threads were read.
    others: HashMap<u32, u8>,
    listed_ns: Option<u64>,
}

impl Compilers {
    /// Looks at these processes at an instant (CLOCK_MONOTONIC). `None` if none of them, nor any
    /// that was looked at before, has a compiler.
    pub fn look(
        &mut self,
        files: &KernelFiles,
        living: &[Living],
        now_ns: u64,
    ) -> Option<CompilerSample> {
        self.forget(living);
        let of_libraries =
            self.libraries.look_up(living.iter(), Option::is_some, |pid| in_library(files, pid));
        for (process, compiler) in living.iter().zip(of_libraries) {
            let known =
                self.processes.entry(process.pid).or_insert_with(|| Known::from_process(process));
            known.compiler = known.compiler.or(compiler);
            known.look(files, process.pid, now_ns);
        }
        let mut sums = self.ended_ns.clone();
        for known in self.processes.values() {
            if let Some(compiler) = known.compiler {
                *sums.entry(compiler).or_default() += known.threads.values().sum::<u64>();
            }
        }
        let (compiler, _) = sums.iter().max_by_key(|(compiler, ns)| (**ns, **compiler))?;
        let has_one = |process: &&Living| {
            self.processes.get(&process.pid).is_some_and(|known| known.compiler.is_some())
        };
        Some(CompilerSample {
            compiler: *compiler,
            cpu_ns: sums.values().sum(),
            age_ns: living.iter().filter(has_one).map(|process| process.age_ns).max().unwrap_or(0),
        })
    }

    /// Keeps the sums of processes that have ended, or whose number another one has now.
    fn forget(&mut self, living: &[Living]) {
        let ended_ns = &mut self.ended_ns;
        self.processes.retain(|pid, known| {
            let lives = living
                .iter()
                .any(|process| process.pid == *pid && process.start_ticks == known.start_ticks);
            if let Some(compiler) = known.compiler.filter(|_| !lives) {
                *ended_ns.entry(compiler).or_default() += known.threads.values().sum::<u64>();
            }
            lives
        });
    }
}

impl Known {
    fn from_process(process: &Living) -> Self {
        Self {
            start_ticks: process.start_ticks,
            compiler: None,
            threads: HashMap::new(),
            others: HashMap::new(),
            listed_ns: None,
        }
    }

    fn look(&mut self, files: &KernelFiles, pid: i32, now_ns: u64) {
        if self.listed_ns.is_none_or(|listed| now_ns.saturating_sub(listed) >= LIST_EVERY_NS) {
            self.listed_ns = Some(now_ns);
            self.list(files, pid);
        }
        for (thread, last_ns) in &mut self.threads {
            let account = files.line(&format!("proc/{pid}/task/{thread}/schedstat"));
            let ns = account.and_then(|line| line.split(' ').next()?.parse().ok());
            // A thread that has ended keeps what it had.
            *last_ns = ns.unwrap_or(0).max(*last_ns);
        }
    }

    /// Looks for threads of compilers among those that it has now.
    fn list(&mut self, files: &KernelFiles, pid: i32) {
        let listed = files.numbered(&format!("proc/{pid}/task"), "");
        // A number may be another thread's later.
        self.others.retain(|thread, _| listed.binary_search(thread).is_ok());
        for thread in listed {
            let reads = self.others.entry(thread).or_default();
            if self.threads.contains_key(&thread) || *reads >= NAME_READS {
                continue;
            }
            *reads += 1;
            let name = files.line(&format!("proc/{pid}/task/{thread}/comm"));
            if let Some(compiler) = name.and_then(|name| compiler_named(&name)) {
                self.compiler = Some(compiler);
                self.threads.entry(thread).or_default();
            }
        }
    }
}

/// The compiler of a library that the process has mapped.
fn in_library(files: &KernelFiles, pid: i32) -> Option<Compiler> {
    let maps = files.text(&format!("proc/{pid}/maps"))?;
    let found = LIBRARIES.iter().find(|(library, _)| maps.contains(library));
    found.map(|(_, compiler)| *compiler)
}

fn compiler_named(name: &str) -> Option<Compiler> {
    let found = THREADS.iter().find(|(beginning, _)| name.starts_with(beginning));
    found.map(|(_, compiler)| *compiler)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    const S: u64 = 1_000_000_000;

    fn living(pid: i32) -> Living {
        Living::seen(&KernelFiles::below("/nowhere"), pid, 7, 3 * S)
    }

    #[test]
    fn only_threads_of_compilers_count_and_ended_ones_stay() {
        let (root, files) = captured(&[
            ("proc/5/maps", "7f00 r-xp /usr/lib/jvm/lib/server/libjvm.so"),
            ("proc/5/task/5/comm", "java\n"),
            ("proc/5/task/5/schedstat", "900000000 0 0\n"),
            ("proc/5/task/6/comm", "C2 CompilerThre\n"),
            ("proc/5/task/6/schedstat", "250000000 12 3\n"),
            ("proc/5/task/7/comm", "C1 CompilerThre\n"),
            ("proc/5/task/7/schedstat", "50000000 12 3\n"),
        ]);
        let mut compilers = Compilers::default();
        let found = compilers.look(&files, &[living(5)], S).unwrap();
        let wanted = CompilerSample { compiler: Compiler::Jvm, cpu_ns: 300_000_000, age_ns: 3 * S };
        assert_eq!(found, wanted);
        // A thread that ended, and one that came.
        std::fs::remove_dir_all(root.path().join("proc/5/task/6")).unwrap();
        std::fs::create_dir_all(root.path().join("proc/5/task/9")).unwrap();
        std::fs::write(root.path().join("proc/5/task/9/comm"), "C2 CompilerThre\n").unwrap();
        std::fs::write(root.path().join("proc/5/task/9/schedstat"), "10000000 0 0\n").unwrap();
        let found = compilers.look(&files, &[living(5)], S + S / 2).unwrap();
        assert_eq!(found.cpu_ns, 300_000_000, "threads are listed once a second");
        assert_eq!(compilers.look(&files, &[living(5)], 2 * S).unwrap().cpu_ns, 310_000_000);
        // The process ended: what it used stays, and another process with its number begins anew.
        let other = Living::seen(&files, 5, 8, 3 * S);
        assert_eq!(compilers.look(&files, &[other], 3 * S).unwrap().cpu_ns, 370_000_000);
    }

    /// A thread that names itself late is found; one that has had its name for some seconds is not
    /// read again, until its number is that of another thread.
    #[test]
    fn names_are_read_a_few_times_for_each_thread() {
        let name = |root: &std::path::Path, name: &str| {
            std::fs::create_dir_all(root.join("proc/5/task/6")).unwrap();
            std::fs::write(root.join("proc/5/task/6/comm"), name).unwrap();
            std::fs::write(root.join("proc/5/task/6/schedstat"), "70 0 0\n").unwrap();
        };
        let begin = || captured(&[("proc/5/maps", ""), ("proc/5/task/5/comm", "java\n")]);
        let late_by = |seconds: u64| {
            let (root, files) = begin();
            let mut compilers = Compilers::default();
            name(root.path(), "java\n");
            for at in 0..seconds {
                assert_eq!(compilers.look(&files, &[living(5)], at * S), None);
            }
            name(root.path(), "C2 CompilerThre\n");
            let found = compilers.look(&files, &[living(5)], seconds * S);
            (root, files, compilers, found.map(|it| it.cpu_ns))
        };
        assert_eq!(late_by(2).3, Some(70));
        let (root, files, mut compilers, found) = late_by(3);
        assert_eq!(found, None);
        std::fs::remove_dir_all(root.path().join("proc/5/task/6")).unwrap();
        assert_eq!(compilers.look(&files, &[living(5)], 4 * S), None);
        name(root.path(), "C2 CompilerThre\n");
        assert_eq!(compilers.look(&files, &[living(5)], 5 * S).unwrap().cpu_ns, 70);
    }

    #[test]
    fn a_runtime_is_known_before_its_compiler_has_begun_and_a_native_server_has_none() {
        let (_root, files) = captured(&[
            ("proc/5/maps", "7f00 r-xp /usr/share/dotnet/shared/libcoreclr.so"),
            ("proc/5/task/5/comm", "shop\n"),
            ("proc/6/maps", "7f00 r-xp /usr/sbin/nginx"),
            ("proc/6/task/6/comm", "nginx\n"),
            ("proc/6/task/7/comm", "Compiler\n"),
            ("proc/6/task/7/schedstat", "10000000 0 0\n"),
        ]);
        let found = Compilers::default().look(&files, &[living(5), living(6)], S).unwrap();
        assert_eq!((found.compiler, found.cpu_ns), (Compiler::DotNet, 0));
        assert_eq!(Compilers::default().look(&files, &[living(6)], S), None);
    }

    #[test]
    fn the_kernel_s_own_account_of_a_thread_of_that_name() {
        // Until it is told to end: what it used before the first look does not count.
        static IS_SEEN: AtomicBool = AtomicBool::new(false);
        let (begins, has_begun) = channel();
        let burn = move || {
            begins.send(()).unwrap();
            while !IS_SEEN.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let burning =
            std::thread::Builder::new().name("C2 CompilerThre".into()).spawn(burn).unwrap();
        // A thread names itself as it begins, and names are read a few times only.
        has_begun.recv().unwrap();
        let me = Living::seen(&KernelFiles::default(), std::process::id() as i32, 1, S);
        let mut compilers = Compilers::default();
        let mut looks = 0;
        let found = loop {
            looks += 1;
            let found =
                compilers.look(&KernelFiles::default(), std::slice::from_ref(&me), looks * S);
            if let Some(found) = found.filter(|found| found.cpu_ns >= 50_000_000) {
                break found;
            }
            std::thread::yield_now();
        };
        assert_eq!(found.compiler, Compiler::Jvm);
        IS_SEEN.store(true, Ordering::Relaxed);
        burning.join().unwrap();
    }
}

//! What a real JVM says of itself, beside what the tools of its JDK say.
use pippin_probe::facts::Living;
use pippin_probe::hsperfdata::Jvms;
use pippin_probe::kernel_files::KernelFiles;
use pippin_testing::skipped::skip;
use std::process::{Child, Command, Stdio};

/// Makes garbage for ever, and says when it has begun.
const PROGRAM: &str = r#"
public class Garbage {
    static Object kept;
    public static void main(String[] arguments) throws Exception {
        System.gc();
        System.out.println("begun");
        while (true) { kept = new byte[10_000]; Thread.sleep(0, 1000); }
    }
}
"#;

/// A JVM on processor 0, of which the JDK's tools can ask.
struct Java {
    child: Child,
    /// With its source file.
    _folder: tempfile::TempDir,
}

impl Java {
    /// `None` if these options are not known to this JVM.
    fn start(options: &[&str]) -> Option<Self> {
        use std::io::{BufRead, BufReader};
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("Garbage.java");
        std::fs::write(&source, PROGRAM).unwrap();
        let child = Command::new("taskset")
            .args(["-c", "0", "java", "-Xmx64m"])
            .args(options)
            .arg(&source)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut java = Self { child: child.unwrap(), _folder: folder };
        let output = BufReader::new(java.child.stdout.take().unwrap());
        output.lines().map_while(Result::ok).any(|line| line == "begun").then_some(java)
    }

    fn look(&self) -> Option<pippin_model::host::usage::JvmSample> {
        let files = KernelFiles::default();
        let process = Living::seen(&files, i32::try_from(self.child.id()).unwrap(), 1, 0);
        Jvms::default().look(&files, &[process])
    }

    /// The JDK's own view of its counters.
    fn counter(&self, name: &str) -> u64 {
        let pid = self.child.id().to_string();
        let told = Command::new("jcmd").args([&pid, "PerfCounter.print"]).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("no {name} in {told}")).parse().unwrap()
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn has_jdk(test: &str) -> bool {
    let answers = |program: &str, flag: &str| {
        let quiet =
            |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet(Command::new(program).arg(flag)).is_ok_and(|status| status.success())
    };
    let has = answers("java", "-version") && answers("jcmd", "-h") && answers("taskset", "-V");
    if !has {
        skip(test, "there is no JDK (java, jcmd) or no taskset");
    }
    has
}

/// The counters only grow, so those of the JDK's tool, asked in between, lie between two looks.
#[test]
fn the_jdk_says_the_same_of_its_counters() {
    if !has_jdk("probe: the counters of a JVM") {
        return;
    }
    let java = Java::start(&[]).unwrap();
    let first = java.look().unwrap();
    let ticks = java.counter("sun.os.hrt.frequency");
    let ns = |ticks_of: u64| (u128::from(ticks_of) * 1_000_000_000 / u128::from(ticks)) as u64;
    let of_both = |what: &str| {
        java.counter(&format!("sun.gc.collector.0.{what}"))
            + java.counter(&format!("sun.gc.collector.1.{what}"))
    };
    let told = [
        of_both("invocations"),
        ns(of_both("time")),
        ns(java.counter("java.ci.totalTime")),
        ns(java.counter("sun.rt.safepointTime")),
    ];
    let second = java.look().unwrap();
    let figures = |look: &pippin_model::host::usage::JvmSample| {
        [look.collections, look.collecting_ns, look.compiling_ns, look.stopped_ns]
            .map(Option::unwrap)
    };
    assert!(figures(&first)[0] >= 1, "it collected before it began: {first:?}");
    for ((before, told), after) in figures(&first).into_iter().zip(told).zip(figures(&second)) {
        assert!(before <= told && told <= after, "{before} {told} {after}: {first:?} {second:?}");
    }
    assert!(second.heap_bytes.is_some_and(|bytes| bytes > 0), "{second:?}");
}

/// What the JVM chooses on one processor, by its own `PrintFlagsFinal`, and what options choose.
#[test]
fn a_collector_has_the_name_of_its_option() {
    if !has_jdk("probe: the collector of a JVM") {
        return;
    }
    let told = Command::new("taskset")
        .args(["-c", "0", "java", "-XX:+PrintFlagsFinal", "-version"])
        .output()
        .unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let chosen = told.lines().find(|line| {
        line.contains("GC ") && line.contains("= true") && line.contains("ergonomic}")
    });
    let chosen = chosen.and_then(|line| line.split_whitespace().find(|word| word.ends_with("GC")));
    assert_eq!(chosen, Some("UseSerialGC"), "{told}");
    let collector = |java: &Java| java.look().and_then(|look| look.collector);
    assert_eq!(collector(&Java::start(&[]).unwrap()).as_deref(), Some("SerialGC"));
    for name in ["SerialGC", "G1GC", "ParallelGC", "ShenandoahGC", "ZGC"] {
        let option = format!("-XX:+Use{name}");
        // Not every build has all of them.
        if let Some(java) = Java::start(&[&option]) {
            assert_eq!(collector(&java).as_deref(), Some(name));
        }
    }
    let hidden = Java::start(&["-XX:-UsePerfData"]).unwrap();
    assert_eq!(hidden.look(), None);
}

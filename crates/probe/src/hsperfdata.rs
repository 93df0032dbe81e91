//! The counters that a Java virtual machine (HotSpot) keeps in a file that others may map: the
//! reader of its format, and what it says of one process.
//!
//! The format is that of `sun.jvmstat.perfdata.monitor.v2_0.PerfDataBuffer` in the JDK's module
//! `jdk.internal.jvmstat`, version 2.0: a prologue of 32 bytes, then entries. All numbers have the
//! byte order that the prologue names, except its magic number.
//!
//! | prologue | | entry | |
//! |---|---|---|---|
//! | 0 | magic `ca fe c0 c0` | 0 | its length |
//! | 4 | byte order: 0 big, 1 little | 4 | offset of its name, which ends with a zero |
//! | 5 | version: major, minor | 8 | length of a vector; 0 for one number |
//! | 7 | 1 as soon as it may be read | 12 | type: `J` a number of 8 bytes, `B` bytes |
//! | 24 | offset of the first entry | 13 | flags, unit, variability |
//! | 28 | number of entries | 16 | offset of the value |
//!
//! The file is written by the process that is measured, so nothing in it is trusted: each offset is
//! checked, and what does not fit is not there.
use pippin_model::host::usage::JvmSample;
use std::collections::HashMap;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;

use crate::facts::{Facts, Living};
use crate::kernel_files::KernelFiles;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const PROLOGUE: usize = 32;
/// The shortest entry: its head.
const HEAD: usize = 20;
/// Files are 32 KiB by default (`-XX:PerfDataMemorySize`).
const LONGEST_FILE: u64 = 1 << 20;
/// HotSpot has at most 3 collectors and 2 generations of 3 spaces each.
const COLLECTORS: usize = 4;
const GENERATIONS: usize = 3;
const SPACES: usize = 5;

/// The value of a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// Text.
    Text(String),
}

/// The counters in the bytes of such a file, by name. `None` if these are no such bytes, or of
/// another version; entries that do not fit into them are left out.
#[must_use]
pub fn counters(bytes: &[u8]) -> Option<HashMap<String, Value>> {
    let is_little = match bytes.get(..PROLOGUE)? {
        [m @ .., _, _, _, _] if m[..4] != MAGIC || m[5] != 2 || m[7] == 0 => return None,
        [_, _, _, _, 0, ..] => false,
        [_, _, _, _, 1, ..] => true,
        _ => return None,
    };
    let file = File { bytes, is_little };
    let (mut at, entries) = (file.offset(24)?, file.offset(28)?);
    let mut found = HashMap::new();
    for _ in 0..entries {
        let Some(length) = file.offset(at).filter(|length| *length >= HEAD) else { break };
        let Some(entry) = at.checked_add(length).and_then(|end| bytes.get(at..end)) else { break };
        found.extend(File { bytes: entry, is_little }.entry());
        at += length;
    }
    Some(found)
}

/// Bytes with an order.
struct File<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl File<'_> {
    fn four(&self, at: usize) -> Option<u32> {
        let four: [u8; 4] = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.is_little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    }

    fn offset(&self, at: usize) -> Option<usize> {
        usize::try_from(self.four(at)?).ok()
    }

    /// The bytes from here to the next zero.
    fn text(&self, at: usize, most: usize) -> Option<String> {
        let rest = self.bytes.get(at..)?;
        let rest = &rest[..rest.len().min(most)];
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// The name and the value of the entry that these bytes are.
    fn entry(&self) -> Option<(String, Value)> {
        let name = self.text(self.offset(4)?, usize::MAX)?;
        let (vector, kind, at) = (self.offset(8)?, *self.bytes.get(12)?, self.offset(16)?);
        let value = match (kind, vector) {
            (b'J', 0) => {
                let eight: [u8; 8] = self.bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
                let from = if self.is_little { i64::from_le_bytes } else { i64::from_be_bytes };
                Value::Number(from(eight))
            }
            (b'B', length) if length > 0 => Value::Text(self.text(at, length)?),
            _ => return None,
        };
        Some((name, value))
    }
}

/// What the counters of one JVM say. `None` without the frequency of its clock.
#[must_use]
pub fn jvm(counters: &HashMap<String, Value>) -> Option<JvmSample> {
    let number = |name: &str| match counters.get(name) {
        Some(Value::Number(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    let frequency = number("sun.os.hrt.frequency").filter(|hz| *hz > 0)?;
    let ns = |ticks: u64| (u128::from(ticks) * 1_000_000_000 / u128::from(frequency)) as u64;
    let of_collectors = |what: &str| -> Option<u64> {
        let each = (0..COLLECTORS).filter_map(|n| number(&format!("sun.gc.collector.{n}.{what}")));
        each.reduce(u64::saturating_add)
    };
    let places = (0..GENERATIONS).flat_map(|generation| (0..SPACES).map(move |n| (generation, n)));
    let used = places.filter_map(|(generation, space)| {
        number(&format!("sun.gc.generation.{generation}.space.{space}.used"))
    });
    // ZGC has no accounts 0 and 1 in every version.
    let account = |n| match counters.get(&format!("sun.gc.collector.{n}.name")) {
        Some(Value::Text(name)) => collector(name),
        _ => None,
    };
    let collector = (0..COLLECTORS).find_map(account);
    Some(JvmSample {
        collector: collector.map(str::to_string),
        compiling_ns: number("java.ci.totalTime").map(ns),
        collecting_ns: of_collectors("time").map(ns),
        collections: of_collectors("invocations"),
        stopped_ns: number("sun.rt.safepointTime").map(ns),
        heap_bytes: used.reduce(u64::saturating_add),
    })
}

/// The collector by the name of one of its accounts, as the JVM's options call it (`-XX:+Use...`):
/// "G1 young collection pauses" is `G1GC`.
fn collector(account: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 8] = [
        ("Serial young", "SerialGC"),
        ("Copy", "SerialGC"),
        ("G1 ", "G1GC"),
        ("Parallel", "ParallelGC"),
        ("PSScavenge", "ParallelGC"),
        ("PS ", "ParallelGC"),
        ("Shenandoah", "ShenandoahGC"),
        ("Z", "ZGC"),
    ];
    KNOWN.iter().find(|(beginning, _)| account.starts_with(beginning)).map(|(_, name)| *name)
}

/// Where the counters of processes are.
#[derive(Debug, Default)]
pub struct Jvms(Facts<Option<String>>);

impl Jvms {
    /// What these processes say together; `None` if none of them has counters.
    /// The collector is that of the first. A figure that one of them lacks is unknown.
    pub fn look(&mut self, files: &KernelFiles, living: &[Living]) -> Option<JvmSample> {
        let places = self.0.look_up(living.iter(), Option::is_some, |pid| file_of(files, pid));
        let each = places.iter().flatten().filter_map(|file| read(files, file));
        each.reduce(|sum, one| sum.with(&one))
    }
}

/// The file of a process: `hsperfdata_USER/PID` in the folder /tmp of the process's own mount
/// namespace, where PID is its number in its own PID namespace. The process has mapped it, so its
/// name is in `/proc/PID/maps`, and a file that another process left there is not taken for it.
fn file_of(files: &KernelFiles, pid: i32) -> Option<String> {
    let maps = files.text(&format!("proc/{pid}/maps"))?;
    let mapped = maps.lines().find_map(|line| {
        let (_, rest) = line.split_once("/hsperfdata_")?;
        let (user, number) = rest.split_once('/')?;
        let is_plain = !user.is_empty() && !user.contains("..");
        (is_plain && number.parse::<u32>().is_ok()).then(|| format!("hsperfdata_{user}/{number}"))
    })?;
    Some(format!("proc/{pid}/root/tmp/{mapped}"))
}

/// Reads the counters. The target can put anything there, so no link is followed, and nothing but a
/// file is read.
fn read(files: &KernelFiles, name: &str) -> Option<JvmSample> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open(files.path(name)).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::with_capacity(1 << 16);
    file.take(LONGEST_FILE).read_to_end(&mut bytes).ok()?;
    jvm(&counters(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file with these counters.
    fn written(all: &[(&str, Value)], is_little: bool) -> Vec<u8> {
        let four = |n: usize| {
            let n = n as u32;
            if is_little { n.to_le_bytes() } else { n.to_be_bytes() }
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend([u8::from(is_little), 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(four(PROLOGUE));
        bytes.extend(four(all.len()));
        for (name, value) in all {
            let at = (HEAD + name.len() + 1).next_multiple_of(8);
            let (kind, vector, data) = match value {
                Value::Number(n) if is_little => (b'J', 0, n.to_le_bytes().to_vec()),
                Value::Number(n) => (b'J', 0, n.to_be_bytes().to_vec()),
                Value::Text(text) => (b'B', text.len() + 4, [text.as_bytes(), &[0; 4]].concat()),
            };
            let mut entry = [four(at + data.len()), four(HEAD), four(vector)].concat();
            entry.extend([kind, 0, 0, 0]);
            entry.extend(four(at));
            entry.extend(name.as_bytes());
            entry.resize(at, 0);
            entry.extend(data);
            bytes.extend(entry);
        }
        bytes
    }

    fn example() -> Vec<(&'static str, Value)> {
        vec![
            ("sun.os.hrt.frequency", Value::Number(500_000_000)),
            ("java.ci.totalTime", Value::Number(3_150_000_000)),
            ("sun.gc.collector.0.name", Value::Text("Serial young collection pauses".into())),
            ("sun.gc.collector.0.time", Value::Number(150_000_000)),
            ("sun.gc.collector.0.invocations", Value::Number(290)),
            ("sun.gc.collector.1.time", Value::Number(38_500_000)),
            ("sun.gc.collector.1.invocations", Value::Number(4)),
            ("sun.rt.safepointTime", Value::Number(200_000_000)),
            ("sun.gc.generation.0.space.0.used", Value::Number(1_000)),
            ("sun.gc.generation.1.space.0.used", Value::Number(500)),
        ]
    }

    fn expected() -> JvmSample {
        JvmSample {
            collector: Some("SerialGC".into()),
            compiling_ns: Some(6_300_000_000),
            collecting_ns: Some(377_000_000),
            collections: Some(294),
            stopped_ns: Some(400_000_000),
            heap_bytes: Some(1_500),
        }
    }

    #[test]
    fn counters_of_both_byte_orders_are_read() {
        for is_little in [true, false] {
            let found = counters(&written(&example(), is_little)).unwrap();
            assert_eq!(found.len(), example().len());
            assert_eq!(jvm(&found), Some(expected()));
        }
        assert_eq!(jvm(&counters(&written(&example()[1..], true)).unwrap()), None, "no clock");
        let only_clock = jvm(&counters(&written(&example()[..1], true)).unwrap());
        assert_eq!(only_clock, Some(JvmSample::default()), "unknown is not 0");
    }

    #[test]
    fn other_files_and_versions_are_not_taken_for_counters() {
        let good = written(&example(), true);
        for (place, byte) in [(0, 0xcb), (4, 2), (5, 1), (7, 0)] {
            let mut other = good.clone();
            other[place] = byte;
            assert_eq!(counters(&other), None, "byte {place}");
        }
        assert_eq!(counters(&good[..PROLOGUE - 1]), None);
        assert_eq!(counters(&[]), None);
    }

    proptest! {
        /// Whatever a target writes there: no panic, and a cut file has no counter that the whole
        /// has not.
        #[test]
        fn hostile_files_do_no_harm(
            cut in 0usize..2_000,
            changes in prop::collection::vec((0usize..2_000, any::<u8>()), 0..40),
            raw in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let whole = written(&example(), true);
            let all = counters(&whole).unwrap();
            if let Some(some) = counters(&whole[..cut.min(whole.len())]) {
                prop_assert!(some.iter().all(|(name, value)| all.get(name) == Some(value)));
            }
            let mut changed = whole;
            for (place, byte) in changes {
                let length = changed.len();
                changed[place % length] = byte;
            }
            let _ = counters(&changed).as_ref().and_then(jvm);
            let _ = counters(&[&MAGIC[..], &[1, 2, 0, 1], &raw].concat()).as_ref().and_then(jvm);
        }
    }

    #[test]
    fn a_process_has_the_file_that_it_has_mapped() {
        use std::fs::{create_dir_all, remove_file, write};
        let root = tempfile::tempdir().unwrap();
        let files = KernelFiles::below(root.path());
        let folder = root.path().join("proc/5/root/tmp/hsperfdata_shop");
        create_dir_all(&folder).unwrap();
        write(folder.join("1"), written(&example(), true)).unwrap();
        write(folder.join("5"), b"of another process").unwrap();
        let maps = root.path().join("proc/5/maps");
        let line = "7f19-7f1a rw-s 0 fe:00 99 /tmp/hsperfdata_shop/1\n";
        write(&maps, "7f00-7f10 r-xp 0 fe:00 12 /usr/lib/libjvm.so\n").unwrap();
        assert_eq!(Jvms::default().look(&files, &[Living::seen(&files, 5, 7, 0)]), None);
        write(&maps, line).unwrap();
        let mut jvms = Jvms::default();
        let both = [(5, 7), (6, 1)].map(|(pid, start)| Living::seen(&files, pid, start, 0));
        assert_eq!(jvms.look(&files, &both), Some(expected()));
        // A link instead of the file, and a name that leads elsewhere.
        remove_file(folder.join("1")).unwrap();
        std::os::unix::fs::symlink("5", folder.join("1")).unwrap();
        assert_eq!(jvms.look(&files, &[Living::seen(&files, 5, 7, 0)]), None);
        write(&maps, line.replace("shop", "..")).unwrap();
        assert_eq!(file_of(&files, 5), None);
    }
}

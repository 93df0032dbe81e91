//! Which language runtime a process has, and its version, from outside: by the files that it has
//! mapped (proc(5), `/proc/PID/maps`) and what these files say of themselves. The process is not
//! touched, and no program is started. What cannot be told stays unknown.
//!
//! | runtime | told by | version from |
//! |---|---|---|
//! | JVM | `libjvm.so` | `JAVA_VERSION` in the file `release` of its home |
//! | .NET | `libcoreclr.so` | the folder of that library |
//! | Node | a program `node` | the address of its release, in the program |
//! | Bun, Deno | a program of that name | unknown |
//! | Erlang (ERTS) | `beam.smp` | the folder `erts-VERSION` above it |
//! | Python | `libpythonN.M.so` or a program `pythonN.M` | a constant in that file that begins with `N.M` |
//! | Ruby | `libruby.so.VERSION`, `libruby-N.M.so.VERSION` | the name of that library |
//! | PHP | `libphp*.so`, or a program `php*` | the number in the name: `php-fpm8.2` |
//! | Go | the section `.go.buildinfo` of the program | that section ([`debug/buildinfo`](https://pkg.go.dev/debug/buildinfo), since Go 1.18) |
use pippin_model::host::usage::Runtime;
use std::collections::HashMap;
use std::path::PathBuf;

use crate::elf::Elf;
use crate::facts::{Facts, Living};
use crate::kernel_files::KernelFiles;

/// The runtimes of processes.
#[derive(Debug, Default)]
pub struct Runtimes {
    known: Facts<Option<Runtime>>,
    /// By the file that a version was read from.
    versions: HashMap<PathBuf, Option<String>>,
}

impl Runtimes {
    /// The runtimes of these processes. Each once, in the order of the processes; those without a
    /// runtime that can be told have none.
    pub fn look(&mut self, files: &KernelFiles, living: &[Living]) -> Vec<Runtime> {
        let Self { known, versions } = self;
        let look = |pid| Process { files, pid, versions }.runtime();
        let all = known.look_up(living.iter(), Option::is_some, look);
        Runtime::each_once(all.iter().flatten())
    }
}

/// One process.
struct Process<'a> {
    files: &'a KernelFiles,
    pid: i32,
    versions: &'a mut HashMap<PathBuf, Option<String>>,
}

impl Process<'_> {
    fn runtime(&mut self) -> Option<Runtime> {
        let mapped = self.mapped()?;
        let runtime = |name: &str, version| Some(Runtime { name: name.into(), version });
        let library = |is: fn(&str) -> bool| mapped.iter().find(|path| is(name_of(path)));
        if let Some(path) = library(|name| name == "libjvm.so") {
            return runtime("JVM", self.of_java(path));
        }
        if let Some(path) = library(|name| name == "libcoreclr.so") {
            return runtime(".NET", folder_of(path).map(name_of).and_then(version).map(Into::into));
        }
        if let Some(path) = library(|name| name == "beam.smp") {
            return runtime("Erlang (ERTS)", between(path, "/erts-", "/").map(Into::into));
        }
        if let Some(path) = library(|name| name.starts_with("libruby")) {
            return runtime("Ruby", after(path, ".so.").and_then(version).map(Into::into));
        }
        if let Some(path) = library(|name| name.starts_with("libpython")) {
            let minor = between(name_of(path), "libpython", ".so").and_then(minor_of);
            return runtime("Python", self.of_python(path, minor));
        }
        if let Some(path) = library(|name| name.starts_with("libphp")) {
            let minor = between(name_of(path), "libphp", ".so").and_then(minor_of);
            return runtime("PHP", minor.map(Into::into));
        }
        self.of_program(mapped.first()?)
    }

    /// By the program itself.
    fn of_program(&mut self, path: &str) -> Option<Runtime> {
        let name = name_of(path);
        let runtime = |name: &str, version| Some(Runtime { name: name.into(), version });
        match name {
            "node" | "nodejs" => return runtime("Node", self.of_node(path)),
            "bun" => return runtime("Bun", None),
            "deno" => return runtime("Deno", None),
            _ => {}
        }
        if let Some(rest) = name.strip_prefix("python") {
            return runtime("Python", self.of_python(path, minor_of(rest)));
        }
        if name.starts_with("php") {
            let number = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            return runtime("PHP", minor_of(number).map(Into::into));
        }
        self.of_go(path)
    }

    /// The files that it has mapped to run, each once, in the order of its memory: the program
    /// comes first, because libraries lie above it.
    fn mapped(&self) -> Option<Vec<String>> {
        let maps = self.files.text(&format!("proc/{}/maps", self.pid))?;
        let mut paths: Vec<String> = Vec::new();
        for line in maps.lines() {
            // Address, rights, offset, device, inode, path; the path may hold spaces.
            let mut fields = line.splitn(6, ' ');
            let can_run = fields.nth(1).is_some_and(|rights| rights.contains('x'));
            let path = fields.nth(3).map(str::trim).filter(|path| path.starts_with('/'));
            if let Some(path) = path.filter(|_| can_run)
                && !paths.iter().any(|known| known == path)
            {
                paths.push(path.into());
            }
        }
        Some(paths)
    }

    /// A file of the process, as the process sees it: it may live in a container.
    fn file(&self, path: &str) -> String {
        format!("proc/{}/root{path}", self.pid)
    }

    /// A version that is read from a file, once. The file of a deleted program is its `exe`.
    fn read(
        &mut self,
        path: &str,
        version_in: impl FnOnce(&Elf) -> Option<String>,
    ) -> Option<String> {
        let place = self.files.path(&self.file(path));
        let key = std::fs::canonicalize(&place).unwrap_or_else(|_| PathBuf::from(path));
        if let Some(known) = self.versions.get(&key) {
            return known.clone();
        }
        let found = Elf::open(&place).and_then(|elf| version_in(&elf));
        self.versions.insert(key, found.clone());
        found
    }

    fn of_java(&self, library: &str) -> Option<String> {
        // HOME/lib/server/libjvm.so, and before Java 9 HOME/jre/lib/amd64/server/libjvm.so.
        let mut folder = library;
        for _ in 0..6 {
            folder = folder_of(folder)?;
            let release = self.files.text(&self.file(&format!("{folder}/release")));
            let line = release.as_deref().and_then(|text| between(text, "JAVA_VERSION=\"", "\""));
            if let Some(found) = line {
                return version(found).map(Into::into);
            }
        }
        None
    }

    fn of_node(&mut self, program: &str) -> Option<String> {
        self.read(program, |elf| {
            elf.find(".rodata", b"nodejs.org/download/release/v", 24, |_, after| {
                let end = after.iter().position(|byte| *byte == b'/')?;
                version(std::str::from_utf8(&after[..end]).ok()?).map(Into::into)
            })
        })
    }

    /// The constant `3.11.2`, which ends with a zero; without it only what the name says.
    fn of_python(&mut self, file: &str, minor: Option<&str>) -> Option<String> {
        let minor = minor?.to_string();
        let begin = format!("{minor}.");
        let exact = self.read(file, |elf| {
            elf.find(".rodata", begin.as_bytes(), 12, |before, after| {
                let end = after.iter().position(|byte| *byte == 0)?;
                let patch = std::str::from_utf8(&after[..end]).ok()?;
                let begins = !before.is_ascii_digit() && before != b'.';
                let is_patch = patch.starts_with(|first: char| first.is_ascii_digit())
                    && patch.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '+');
                (begins && is_patch).then(|| format!("{begin}{patch}"))
            })
        });
        exact.or(Some(minor))
    }

    fn of_go(&mut self, program: &str) -> Option<Runtime> {
        let place = self.files.path(&self.file(program));
        let info = Elf::open(&place)?.begin_of(".go.buildinfo", 256)?;
        let version = go_version(&info).map(Into::into);
        Some(Runtime { name: "Go".into(), version })
    }
}

/// The version in a section `.go.buildinfo`: after 32 bytes its length and itself, if the second flag
/// is set. Before Go 1.18 there is an address instead.
fn go_version(info: &[u8]) -> Option<&str> {
    const MAGIC: &[u8] = b"\xff Go buildinf:";
    let flags = info.strip_prefix(MAGIC)?.get(1)?;
    if flags & 2 == 0 {
        return None;
    }
    // A length below 128 is one byte.
    let length = usize::from(*info.get(32)?);
    let text = std::str::from_utf8(info.get(33..33 + length)?).ok()?;
    let text = text.strip_prefix("go")?;
    // Programs built with experiments say so behind a space.
    version(text.split(' ').next()?)
}

/// Text that looks like a version: it begins with a digit, and holds no more than versions do.
fn version(text: &str) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+_".contains(letter);
    let begins = text.starts_with(|first: char| first.is_ascii_digit());
    (begins && text.len() <= 40 && text.chars().all(is_plain)).then_some(text)
}

/// Two numbers with a dot at the begin of a text: `3.11` of `3.11d`.
fn minor_of(text: &str) -> Option<&str> {
    let (major, rest) = text.split_once('.')?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let is_number = !major.is_empty() && major.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && digits > 0).then(|| &text[..major.len() + 1 + digits])
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder_of(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.split_once(mark).map(|(_, after)| after)
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    after(text, from)?.split_once(to).map(|(between, _)| between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::made_up;
    use crate::kernel_files::captured;

    /// What is said of a process that has mapped these files, of which the last ones exist.
    fn told(mapped: &[&str], files: &[(&str, &[u8])]) -> Vec<String> {
        let line = |path: &&str| format!("7f00-7f01 r-xp 00000000 fe:00 42    {path}\n");
        let maps: String = mapped.iter().map(line).collect();
        let (root, kernel) = captured(&[("proc/5/maps", &maps)]);
        for (path, bytes) in files {
            let path = root.path().join(format!("proc/5/root{path}"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let found = Runtimes::default().look(&kernel, &[Living::seen(&kernel, 5, 1, 0)]);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn runtimes_are_told_by_what_is_mapped() {
        let java = "/usr/lib/jvm/java-17/lib/server/libjvm.so";
        let release: (&str, &[u8]) =
            ("/usr/lib/jvm/java-17/release", b"IMPLEMENTOR=\"D\"\nJAVA_VERSION=\"17.0.15\"\n");
        assert_eq!(told(&["/usr/bin/java", java], &[release]), ["JVM 17.0.15"]);
        let old = "/opt/jdk8/jre/lib/amd64/server/libjvm.so";
        let release: (&str, &[u8]) = ("/opt/jdk8/release", b"JAVA_VERSION=\"1.8.0_412\"\n");
        assert_eq!(told(&["/opt/jdk8/bin/java", old], &[release]), ["JVM 1.8.0_412"]);
        assert_eq!(told(&["/usr/bin/java", java], &[]), ["JVM"]);
        let net = "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/libcoreclr.so";
        assert_eq!(told(&["/app/shop", net], &[]), [".NET 10.0.1"]);
        assert_eq!(told(&["/app/shop", "/app/libcoreclr.so"], &[]), [".NET"]);
        let beam = "/usr/lib/erlang/erts-13.1.5/bin/beam.smp";
        assert_eq!(told(&[beam], &[]), ["Erlang (ERTS) 13.1.5"]);
        let ruby = "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2";
        assert_eq!(told(&["/usr/bin/ruby3.1", ruby], &[]), ["Ruby 3.1.2"]);
        assert_eq!(told(&["/usr/sbin/php-fpm8.2"], &[]), ["PHP 8.2"]);
        assert_eq!(told(&["/usr/bin/httpd", "/usr/lib/libphp8.2.so"], &[]), ["PHP 8.2"]);
        assert_eq!(told(&["/usr/bin/php"], &[]), ["PHP"]);
        assert_eq!(told(&["/root/.bun/bin/bun"], &[]), ["Bun"]);
        assert_eq!(told(&["/usr/bin/deno"], &[]), ["Deno"]);
    }

    #[test]
    fn programs_say_which_version_they_are() {
        let node =
            made_up(&[(".rodata", b"x\0https://nodejs.org/download/release/v20.20.2/node-")]);
        assert_eq!(told(&["/usr/bin/node"], &[("/usr/bin/node", &node)]), ["Node 20.20.2"]);
        assert_eq!(told(&["/usr/bin/node"], &[]), ["Node"]);
        let python = made_up(&[(".rodata", b"13.11.9\0lib/python3.11/x\0 3.11.2\x003.11.%d\0")]);
        let file = ("/usr/bin/python3.11", python.as_slice());
        assert_eq!(told(&["/usr/bin/python3.11"], &[file]), ["Python 3.11.2"]);
        let library = ("/opt/lib/libpython3.11.so.1.0", python.as_slice());
        let mapped = ["/opt/bin/python3.11", "/opt/lib/libpython3.11.so.1.0"];
        assert_eq!(told(&mapped, &[library]), ["Python 3.11.2"]);
        assert_eq!(told(&mapped, &[]), ["Python 3.11"]);
        let mut info = b"\xff Go buildinf:\x08\x02".to_vec();
        info.resize(32, 0);
        info.extend(b"\x08go1.26.8");
        let go = made_up(&[(".go.buildinfo", &info)]);
        assert_eq!(told(&["/srv/shop"], &[("/srv/shop", &go)]), ["Go 1.26.8"]);
        info[15] = 0;
        let old = made_up(&[(".go.buildinfo", &info)]);
        assert_eq!(told(&["/srv/shop"], &[("/srv/shop", &old)]), ["Go"]);
    }

    #[test]
    fn a_native_server_has_none_and_nothing_else_is_taken_for_one() {
        let nginx = made_up(&[(".rodata", b"nginx/1.22.1")]);
        assert_eq!(told(&["/usr/sbin/nginx"], &[("/usr/sbin/nginx", &nginx)]), [""; 0]);
        assert_eq!(told(&[], &[]), [""; 0]);
        let (_root, kernel) = captured(&[]);
        assert_eq!(Runtimes::default().look(&kernel, &[Living::seen(&kernel, 5, 1, 0)]), []);
    }

    #[test]
    fn what_is_no_version_is_unknown() {
        assert_eq!(version("17.0.15+6-Debian"), Some("17.0.15+6-Debian"));
        for text in ["", "x", "1 2", "1\n2", "1<b>", &"1".repeat(41)] {
            assert_eq!(version(text), None, "{text}");
        }
        assert_eq!(
            [minor_of("3.11d"), minor_of("3."), minor_of("x.1")],
            [Some("3.11"), None, None]
        );
        assert_eq!(go_version(b"\xff Go buildinf:\x08\x02"), None);
    }
}

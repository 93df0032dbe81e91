//! Help from outside: threads on processors that were not given, a daemon that serves or works in
//! the target's place, workers that nobody waits for. The daemon is this program in the mode
//! `daemon`; who starts it is not the target.
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::exit;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::Mode;

/// What the helper does for each request, or the server itself in the mode `works`.
const WORK: Duration = Duration::from_millis(1);
/// What each worker does that nobody waits for.
const WORKERS_WORK: Duration = Duration::from_millis(2);

/// What happens before anything is listened on.
pub fn before_listening(mode: Mode) {
    match mode {
        mode if mode.is("daemon") => daemon(mode),
        mode if mode.is("follows-every-load") => follow_every_load(),
        mode if mode.is("burns") => loop {
            burn(WORK);
        },
        mode if mode.is("burns-on-the-first") => {
            die_with_the_parent();
            bind(&[0]);
            loop {
                burn(WORK);
            }
        }
        mode if mode.is("memory-in-memfd") => hold_in_memory(HELD),
        mode if mode.is("leaves-its-group") => {
            std::thread::spawn(be_elsewhere);
        }
        mode if mode.is("workers-unwaited") => {
            // SAFETY: SIG_IGN is a valid disposition, and no handler runs.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        }
        _ => {}
    }
}

/// What happens to the socket once it listens.
pub fn after_listening(mode: Mode, listener: &TcpListener) {
    match mode {
        mode if mode.is("socket-handed-over") => hand_over(listener),
        mode if mode.is("pre-forks") || mode.is("pre-forks-for-one-request") => pre_fork(),
        _ => {}
    }
}

/// What happens on the thread of a new connection.
pub fn on_connection(mode: Mode) {
    if mode.is("binds-itself") {
        let own = allowed();
        bind(&own[..own.len().min(1)]);
    }
}

/// What happens before a request is answered.
pub fn before_answering(mode: Mode) {
    match mode {
        mode if mode.is("threads-elsewhere") => elsewhere(),
        mode if mode.is("works") || mode.is("leaves-its-group") => burn(WORK),
        mode if mode.is("helper-outside") => ask_the_daemon(),
        mode if mode.is("stops-rivals") => stop_rivals(),
        mode if mode.is("workers-unwaited") => work_in_a_child(),
        _ => {}
    }
}

/// Stops every other process of this program that it sees, and gives them one processor.
fn stop_rivals() {
    let own = std::process::id().to_string();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name().to_string_lossy().into_owned();
        let is_rival = name != own
            && std::fs::read_to_string(process.path().join("comm"))
                .is_ok_and(|comm| comm.trim_end() == "cheat");
        if let (true, Ok(pid)) = (is_rival, name.parse()) {
            // SAFETY: kill(2) and sched_setaffinity(2) with a set that is alive.
            unsafe {
                let set: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_setaffinity(pid, size_of_val(&set), &raw const set);
                libc::kill(pid, libc::SIGSTOP);
            }
        }
    }
}

/// How much is held outside of the mappings of the process.
const HELD: u64 = 128 << 20;

/// Writes so many bytes to a file in memory that is mapped nowhere (memfd_create(2)).
fn hold_in_memory(bytes: u64) {
    // SAFETY: the name is a C string; the descriptor that comes back is nobody else's.
    let file = unsafe {
        let descriptor = libc::memfd_create(c"held".as_ptr(), 0);
        std::fs::File::from_raw_fd(descriptor)
    };
    let mut file = std::mem::ManuallyDrop::new(file);
    let block = vec![1; 1 << 20];
    for _ in 0..bytes >> 20 {
        let _ = file.write_all(&block);
    }
}

/// Is in its control group for a tenth of the time, and in the group above for the rest.
fn be_elsewhere() {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(own) = text.lines().find_map(|line| line.strip_prefix("0::")) else { return };
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let point = mounts
        .lines()
        .filter(|line| line.contains(" - cgroup2 "))
        .find_map(|line| line.split(' ').nth(4));
    let Some(point) = point else { return };
    let own = std::path::Path::new(point).join(own.trim_start_matches('/'));
    let Some(above) = own.parent() else { return };
    loop {
        // 0 means the writing process.
        let _ = std::fs::write(above.join("cgroup.procs"), "0");
        std::thread::sleep(Duration::from_millis(90));
        let _ = std::fs::write(own.join("cgroup.procs"), "0");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A test that is killed leaves no busy processor behind (prctl(2)).
fn die_with_the_parent() {
    // SAFETY: the call takes a signal and no pointer.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Keeps the processor busy until this thread has used so much more of it.
pub fn burn(time: Duration) {
    let end = thread_cpu() + time;
    while thread_cpu() < end {
        std::hint::spin_loop();
    }
}

/// Reads every packet of this machine, as a sniffer does, and works for each (packet(7)). Needs the
/// right to open raw sockets.
fn follow_every_load() -> ! {
    die_with_the_parent();
    // SAFETY: no pointers.
    let socket = unsafe {
        libc::socket(libc::AF_PACKET, libc::SOCK_RAW, i32::from((libc::ETH_P_ALL as u16).to_be()))
    };
    if socket < 0 {
        eprintln!("cheat: no packets: {}", std::io::Error::last_os_error());
        exit(1)
    }
    let mut packet = [0_u8; 256];
    loop {
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let read = unsafe { libc::recv(socket, packet.as_mut_ptr().cast(), packet.len(), 0) };
        if read > 0 {
            burn(Duration::from_micros(20));
        }
    }
}

fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The processors that this thread may use.
fn allowed() -> Vec<usize> {
    // SAFETY: the set is plain data that the call fills; CPU_ISSET reads within it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect()
    }
}

/// Binds this thread to these processors, as far as the kernel lets it.
fn bind(cpus: &[usize]) {
    // SAFETY: an all-zero set is the empty set, and CPU_SET stays within it below its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cpus.iter().for_each(|cpu| libc::CPU_SET(*cpu, &mut set));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// Has a thread do the work that runs on the processors which were not given.
fn elsewhere() {
    static WORKER: LazyLock<Mutex<Sender<SyncSender<()>>>> = LazyLock::new(|| {
        let (sender, asked) = channel::<SyncSender<()>>();
        std::thread::spawn(move || {
            let given = allowed();
            let others: Vec<usize> =
                (0..libc::CPU_SETSIZE as usize).filter(|cpu| !given.contains(cpu)).collect();
            bind(&others);
            for done in asked {
                burn(WORK);
                let _ = done.send(());
            }
        });
        Mutex::new(sender)
    });
    let (done, is_done) = sync_channel(1);
    let _ = WORKER.lock().unwrap_or_else(PoisonError::into_inner).send(done);
    let _ = is_done.recv();
}

/// A worker for each request, whose end the kernel tells nobody.
fn work_in_a_child() {
    let mut ends = [0; 2];
    // SAFETY: the array holds two descriptors; between fork and _exit the child only reads a clock.
    unsafe {
        if libc::pipe(ends.as_mut_ptr()) != 0 {
            return;
        }
        if libc::fork() == 0 {
            burn(WORKERS_WORK);
            libc::_exit(0);
        }
        let (reader, writer) = (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]));
        drop(writer);
        // The other end is closed when the child ends.
        let _ = std::fs::File::from(reader).read(&mut [0]);
    }
}

/// Two processes serve together; the second ends with the first.
fn pre_fork() {
    // SAFETY: no other thread runs yet, so that the child may do everything that its parent may.
    unsafe {
        if libc::fork() == 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        }
    }
}

/// Where the daemon of this test listens.
fn address() -> std::io::Result<SocketAddr> {
    let marker = std::env::args().nth(2).unwrap_or_default();
    SocketAddr::from_abstract_name(format!("cheat-{marker}"))
}

fn daemon(mode: Mode) -> ! {
    let listener = address().and_then(|address| UnixListener::bind_addr(&address));
    let listener = listener.unwrap_or_else(|error| {
        eprintln!("cheat: no daemon: {error}");
        exit(1)
    });
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || help(stream, mode));
    }
    exit(0)
}

/// Serves on the socket that the target sends, or works whenever it asks.
fn help(mut stream: UnixStream, mode: Mode) {
    if let Some(socket) = receive(&stream) {
        std::thread::spawn(move || crate::serve(TcpListener::from(socket), mode));
        // The target's end is this one's too.
        let _ = stream.read(&mut [0]);
        exit(0);
    }
    loop {
        burn(WORK);
        if stream.write_all(b"x").is_err() || stream.read(&mut [0]).is_ok_and(|read| read == 0) {
            return;
        }
    }
}

fn connect() -> UnixStream {
    address().and_then(|address| UnixStream::connect_addr(&address)).unwrap_or_else(|error| {
        eprintln!("cheat: the daemon does not run: {error}");
        exit(1)
    })
}

/// Asks the daemon to work, on a connection of this thread's own.
fn ask_the_daemon() {
    thread_local! {
        static DAEMON: UnixStream = connect();
    }
    DAEMON.with(|mut daemon| {
        let _ = daemon.write_all(b"w");
        let _ = daemon.read(&mut [0]);
    });
}

/// Hands the listening socket to the daemon, closes it here and does nothing more.
fn hand_over(listener: &TcpListener) {
    let stream = connect();
    send(&stream, listener.as_raw_fd());
    // SAFETY: nobody uses the descriptor any more; the process is ended by a signal.
    unsafe { libc::close(listener.as_raw_fd()) };
    loop {
        std::thread::park();
    }
}

/// A byte with or without a descriptor (unix(7), SCM_RIGHTS): a buffer, and room for one
/// descriptor.
fn message(byte: &mut [u8; 1], control: &mut [u64; 4], work: impl FnOnce(&mut libc::msghdr)) {
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // SAFETY: msghdr is plain data for which all zeroes is an empty message.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(control) as _;
    work(&mut header);
}

fn send(stream: &UnixStream, descriptor: i32) {
    message(&mut [b's'], &mut [0; 4], |header| {
        // SAFETY: the control buffer has room for a header and a descriptor, and is aligned for
        // both.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(4) as _;
            let control = libc::CMSG_FIRSTHDR(header);
            (*control).cmsg_level = libc::SOL_SOCKET;
            (*control).cmsg_type = libc::SCM_RIGHTS;
            (*control).cmsg_len = libc::CMSG_LEN(4) as _;
            libc::CMSG_DATA(control).cast::<i32>().write_unaligned(descriptor);
            libc::sendmsg(stream.as_raw_fd(), header, 0);
        }
    });
}

/// Waits for a byte; the descriptor that came with it.
fn receive(stream: &UnixStream) -> Option<OwnedFd> {
    let mut received = None;
    message(&mut [0], &mut [0; 4], |header| {
        // SAFETY: the kernel fills no more than the buffers hold, and says how much; a descriptor
        // that it hands over is nobody else's.
        unsafe {
            if libc::recvmsg(stream.as_raw_fd(), header, 0) <= 0 {
                return;
            }
            let control = libc::CMSG_FIRSTHDR(header);
            if !control.is_null() && (*control).cmsg_type == libc::SCM_RIGHTS {
                let descriptor = libc::CMSG_DATA(control).cast::<i32>().read_unaligned();
                received = Some(OwnedFd::from_raw_fd(descriptor));
            }
        }
    });
    received
}

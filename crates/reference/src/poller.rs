//! epoll(7) with nanosecond timeouts.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::error::Error;

/// Events taken from the kernel at once.
const BATCH: usize = 512;

/// What a descriptor is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// New connections; reported as long as there are any.
    Accept,
    /// Input, reported once when it comes.
    Input,
    /// Input and room for output, each reported once when it comes.
    InputAndOutput,
}

impl Interest {
    const fn bits(self) -> u32 {
        let bits = match self {
            Self::Accept => libc::EPOLLIN,
            Self::Input => libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET,
            Self::InputAndOutput => {
                libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET
            }
        };
        bits as u32
    }
}

/// What happened to a descriptor.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// What the descriptor was registered with.
    pub token: u64,
    bits: u32,
}

impl Event {
    /// There is input, or its end.
    pub const fn input(self) -> bool {
        self.bits & (libc::EPOLLIN | libc::EPOLLRDHUP) as u32 != 0
    }

    /// There is room for output.
    pub const fn output(self) -> bool {
        self.bits & libc::EPOLLOUT as u32 != 0
    }

    /// The connection is gone in both directions: reset, or closed by both.
    pub const fn gone(self) -> bool {
        self.bits & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0
    }
}

/// An epoll instance and room for its events.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Poller {
    /// A new epoll instance.
    ///
    /// # Errors
    /// If the kernel gives none.
    pub fn new() -> Result<Self, Error> {
        // SAFETY: no pointers are passed.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(Error::last("epoll_create1"));
        }
        // SAFETY: `fd` was just created and belongs to nobody else.
        let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
        // The default slack of 50 us would make every waiting answer late; a nanosecond is the
        // least possible. SAFETY: no pointers are passed. A failure keeps the default, which is
        // only less exact.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
        Ok(Self { epoll, events: Vec::with_capacity(BATCH) })
    }

    /// Watches a descriptor; its events carry `token`.
    ///
    /// # Errors
    /// As epoll_ctl(2).
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> Result<(), Error> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    /// Watches a descriptor for something else.
    ///
    /// # Errors
    /// As epoll_ctl(2).
    pub fn modify(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> Result<(), Error> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    /// Watches a descriptor no longer.
    ///
    /// # Errors
    /// As epoll_ctl(2).
    pub fn remove(&self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::Accept)
    }

    fn control(
        &self,
        operation: i32,
        fd: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
    ) -> Result<(), Error> {
        let mut event = libc::epoll_event { events: interest.bits(), u64: token };
        // SAFETY: both descriptors are open and `event` outlives the call.
        let result = unsafe {
            libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd.as_raw_fd(), &raw mut event)
        };
        if result < 0 { Err(Error::last("epoll_ctl")) } else { Ok(()) }
    }

    /// Waits for events, at most `timeout_ns`. An interruption by a signal counts as no events.
    pub fn wait(&mut self, timeout_ns: u64) -> Result<(), Error> {
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as i64,
            tv_nsec: (timeout_ns % 1_000_000_000) as i64,
        };
        self.events.clear();
        // SAFETY: the vector has room for BATCH events, the timespec outlives the call, no signal
        // mask is given. epoll_pwait2 came with Linux 5.11; the C library's wrapper is newer, so it
        // is called by number.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                BATCH,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        if count < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
            return self.wait_on_older_kernels(&timeout);
        }
        self.took(count, "epoll_pwait2")
    }

    /// ppoll(2) knows nanoseconds too: it waits until there are events, and epoll_wait(2) takes them.
    #[cold]
    fn wait_on_older_kernels(&mut self, timeout: &libc::timespec) -> Result<(), Error> {
        let mut readable =
            libc::pollfd { fd: self.epoll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: both pointers outlive the call, no signal mask is given.
        let count =
            unsafe { libc::ppoll(&raw mut readable, 1, &raw const *timeout, std::ptr::null()) };
        if count <= 0 {
            return self.took(count.into(), "ppoll");
        }
        // SAFETY: the vector has room for BATCH events.
        let count = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), BATCH as i32, 0)
        };
        self.took(count.into(), "epoll_wait")
    }

    /// The kernel wrote this many events; a negative number is an error.
    fn took(&mut self, count: i64, action: &'static str) -> Result<(), Error> {
        if count < 0 {
            let source = io::Error::last_os_error();
            return if source.kind() == io::ErrorKind::Interrupted {
                Ok(())
            } else {
                Err(Error::System { action, source })
            };
        }
        // SAFETY: it wrote `count` <= BATCH events.
        unsafe { self.events.set_len(count as usize) };
        Ok(())
    }

    /// How many events the last wait brought.
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// The event at `index` of the last wait.
    pub fn event(&self, index: usize) -> Event {
        let event = self.events[index];
        Event { token: event.u64, bits: event.events }
    }
}

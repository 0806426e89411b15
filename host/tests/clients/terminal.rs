//! A person at a terminal: what is typed reaches the program as keys, what it paints is read off the screen.
//!
//! Nothing here waits for a time. It waits for words on the screen, or for the end.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    num::NonZero,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Child, Command, ExitStatus},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use nix::pty::{OpenptyResult, Winsize, openpty};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{FdFlags, fcntl_setfd},
    process::{Pid, Signal},
};

/// An eternity for a client.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a client may take to clear the line that it has taken.
const SOON: Duration = Duration::from_secs(5);

/// How often the thread that reads looks whether the terminal was closed.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

const ROWS: NonZero<u16> = NonZero::new(50).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(160).unwrap();
const SIZE: Winsize = Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 };

pub(crate) const CTRL_D: &str = "\x04";
const CTRL_U: &str = "\x15";
pub(crate) const ENTER: &str = "\r";

/// A terminal with a program in it, which is killed if it is still there at the end.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    /// The last line that was said.
    said: String,
    screen: Arc<Screen>,
    reader: Option<JoinHandle<()>>,
}

struct Screen {
    parser: Mutex<vt100::Parser>,
    painted: Condvar,
    closed: AtomicBool,
}

impl Terminal {
    /// Starts a program in a terminal of its own.
    pub(crate) fn start(mut command: Command) -> Self {
        let OpenptyResult { master, slave } = openpty(&SIZE, None).unwrap();
        // Nobody but us may hold the terminal open.
        for end in [&master, &slave] {
            fcntl_setfd(end, FdFlags::CLOEXEC).unwrap();
        }
        let stdio = || slave.try_clone().unwrap();
        command.stdin(stdio()).stdout(stdio()).stderr(stdio()).env("TERM", "xterm-256color");
        // SAFETY: both are single system calls, which may be made between fork and exec, and 0 is open: the terminal.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(BorrowedFd::borrow_raw(0))?;
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // The command holds ends of the terminal as well.
        drop((command, slave));
        let screen = Arc::new(Screen {
            parser: Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0)),
            painted: Condvar::new(),
            closed: AtomicBool::new(false),
        });
        let output = master.try_clone().unwrap();
        let reader = std::thread::spawn({
            let screen = Arc::clone(&screen);
            move || screen.read(output)
        });
        Self { child, keyboard: master.into(), said: String::new(), screen, reader: Some(reader) }
    }

    /// What is on the screen.
    pub(crate) fn text(&self) -> String {
        self.screen.parser.lock().unwrap().screen().contents()
    }

    /// Waits until the screen says this.
    #[track_caller]
    pub(crate) fn wait_for(&self, words: &str) {
        self.wait_until(words, |text| text.contains(words));
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        assert!(self.shows_within(PATIENCE, is_so), "the screen never showed `{what}`:\n{}", self.text());
    }

    fn shows_within(&self, patience: Duration, is_so: impl Fn(&str) -> bool) -> bool {
        let parser = self.screen.parser.lock().unwrap();
        let unlike = |parser: &mut vt100::Parser| !is_so(&parser.screen().contents());
        !self.screen.painted.wait_timeout_while(parser, patience, unlike).unwrap().1.timed_out()
    }

    /// Presses these keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line, and sends it once it is there: a client takes keys that come with an end of line for pasted text.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) {
        self.clear_line();
        self.said = joined(line);
        self.press(line);
        self.wait_until(line, |text| joined(text).contains(&joined(line)));
        self.press(ENTER);
    }

    /// Waits until nothing stands in the line where one types. What was said may be on the screen with what came of it, and still be
    /// there.
    pub(crate) fn clear_line(&mut self) {
        let before = std::mem::take(&mut self.said);
        let is_empty = |text: &str| before.is_empty() || !typed(text).starts_with(&before);
        // It even stays there for good where a client took the end of line for the choice of a suggestion, too (2.1.197 does).
        if !self.shows_within(SOON, is_empty) {
            self.press(CTRL_U);
        }
        self.wait_until("an empty line", is_empty);
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Sends it to everything that belongs to the program's job, as a shell or a supervisor does.
    pub(crate) fn signal_group(&self, signal: Signal) {
        rustix::process::kill_process_group(self.pid(), signal).unwrap();
    }

    /// Closes the window: whatever runs in it is told by the system.
    pub(crate) fn close(&mut self) {
        self.screen.closed.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.keyboard = File::open("/dev/null").unwrap();
    }

    /// Waits until the program has ended by itself.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the program does not end:\n{}", self.text());
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.screen.closed.store(true, Ordering::Relaxed);
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Screen {
    /// Paints what the program prints, until nobody can print any more or the terminal is closed.
    fn read(&self, output: OwnedFd) {
        let mut output = File::from(output);
        let mut bytes = [0; 1 << 16];
        while !self.closed.load(Ordering::Relaxed) {
            let ready = poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&LOOK));
            if ready.is_ok_and(|ready| ready == 0) {
                continue;
            }
            let Ok(count @ 1..) = output.read(&mut bytes) else { return };
            self.parser.lock().unwrap().process(&bytes[..count]);
            self.painted.notify_all();
        }
    }
}

/// What is in the line where one types, in an agent's client: after the last mark of a prompt.
fn typed(text: &str) -> String {
    joined(text.rsplit('❯').next().unwrap_or_default().lines().next().unwrap_or_default())
}

/// Without what a narrow screen puts between words.
fn joined(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

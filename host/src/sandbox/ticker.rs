//! The clock of guests: a thread that counts ticks while a guest runs and sleeps without waking otherwise.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
    time::Duration,
};

use wasmtime::Engine;

/// Calls end within one tick of their deadline; at 50 wake-ups a second the thread does not show up in a profile.
const TICK: Duration = Duration::from_millis(20);

/// Ticks in `time`, rounded up, plus the one that is already under way.
pub(super) fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(TICK.as_nanos())).unwrap_or(u64::MAX - 1) + 1
}

#[derive(Default)]
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: OnceLock<Option<Thread>>,
}

#[derive(Default)]
struct Shared {
    /// Calls under way.
    running: AtomicUsize,
    /// The thread is parked, or about to be.
    idle: AtomicBool,
    stop: AtomicBool,
}

/// While this lives, time passes for guests.
pub(super) struct Running<'a>(&'a Shared);

impl Ticker {
    /// Begins a call. None when the system has no more threads: then nothing would end an endless call.
    pub(super) fn start(&self, engine: &Engine) -> Option<Running<'_>> {
        let thread = self.thread.get_or_init(|| {
            let (shared, engine) = (Arc::clone(&self.shared), engine.clone());
            let builder = thread::Builder::new().name("guest-clock".to_owned());
            builder.spawn(move || shared.tick(&engine)).ok().map(|handle| handle.thread().clone())
        });
        let thread = thread.as_ref()?;
        self.shared.running.fetch_add(1, SeqCst);
        if self.shared.idle.swap(false, SeqCst) {
            thread.unpark();
        }
        Some(Running(&self.shared))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        if let Some(Some(thread)) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, SeqCst);
    }
}

impl Shared {
    fn tick(&self, engine: &Engine) {
        while !self.stop.load(SeqCst) {
            if self.running.load(SeqCst) == 0 {
                // Said before looking once more: a call that begins in between either is seen here or sees this.
                self.idle.store(true, SeqCst);
                if self.running.load(SeqCst) == 0 {
                    thread::park();
                }
                self.idle.store(false, SeqCst);
            } else {
                thread::sleep(TICK);
                engine.increment_epoch();
            }
        }
    }
}

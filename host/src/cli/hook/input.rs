//! What a client writes to its hook.

use std::{
    io::{self, BufReader, IsTerminal as _, Read},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use serde::de::DeserializeOwned;

/// How long a client that just started us may write nothing. It has its event ready, so this is only against a pipe that
/// nobody writes to. Counted in turns: on a busy machine each takes longer, for the client as for us.
const TURN: Duration = Duration::from_millis(5);
/// A second where nothing else runs. On a busy machine 100 ms were seen to be too few, and an event that is not waited for is lost.
const SILENT_TURNS: usize = 200;
/// 3 s, of the 5 that clients give a hook, for one that writes a little all the time.
const TURNS: usize = 600;

/// Bytes that are read at once: what a pipe holds.
const PIECE: usize = 64 << 10;

/// The JSON value that the client writes, of at most so many bytes: read up to its end, because the client may keep the pipe
/// open. None when it does not come in time or is none.
pub(in crate::cli) fn first_value<T: DeserializeOwned + Send + 'static>(most: u64) -> Option<T> {
    if io::stdin().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    let pieces = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&pieces);
    // The thread may block for ever on a pipe that is held open; it ends with the process.
    std::thread::spawn(move || {
        let input = BufReader::with_capacity(PIECE, Counted { input: io::stdin().lock().take(most), pieces: counted });
        let value = serde_json::Deserializer::from_reader(input).into_iter::<T>().next();
        let _ = sender.send(value.and_then(Result::ok));
    });
    let (mut seen, mut silent) = (0, 0);
    for _ in 0..TURNS {
        match receiver.recv_timeout(TURN) {
            Ok(value) => return value,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = pieces.load(Ordering::Relaxed);
        silent = if now == seen { silent + 1 } else { 0 };
        seen = now;
        if silent == SILENT_TURNS {
            return None;
        }
    }
    None
}

/// Counts what has come.
struct Counted<R> {
    input: R,
    pieces: Arc<AtomicUsize>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.pieces.fetch_add(1, Ordering::Relaxed);
        Ok(count)
    }
}

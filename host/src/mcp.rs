//! The server of the Model Context Protocol: what agents ask of the memory, over standard input and output.
//!
//! Tools, resources and prompts translate; what they do is in the modules that the command line uses. The store is opened for
//! each call, which takes less than a millisecond: so one that is made, replaced or taken away while the server runs is seen, and
//! nothing is held open while an agent thinks. Only the indexes stay open ([`desk`]).

mod about;
mod chunks;
mod desk;
mod get;
mod grep;
mod insights;
mod memories;
mod prompt;
mod resource;
mod retention;
mod roots;
mod search;
mod server;
mod sessions;
mod status;
mod tool;
mod transport;
mod words;

use std::{io, path::PathBuf, time::Duration};

use rmcp::{
    service::{ServerInitializeError, serve_server},
    transport::async_rw::AsyncRwTransport,
};

use crate::paths::Home;
use server::Server;
use transport::Patient;

/// Calls that are worked on at once; the others wait. One of them may be waiting for a worker that writes.
const CALLS: usize = 16;
/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(2);
/// How long calls that are being worked on may go on after the client has closed standard input: as long as a write waits.
const ENDING: Duration = Duration::from_secs(35);

/// Serves a client until it closes standard input. `here` is the folder that the client started the server in.
///
/// # Errors
/// The streams cannot be used, or the client did not begin as the protocol has it.
pub fn serve(home: Home, here: PathBuf) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        // Two more for the streams, which are read and written on threads of their own.
        .max_blocking_threads(CALLS + 2)
        .thread_keep_alive(IDLE)
        .build()?;
    let ended = runtime.block_on(async {
        let streams = AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout());
        match serve_server(Server::new(home, here), Patient::new(streams)).await {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            // Who goes without having asked for anything is no failure.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    runtime.shutdown_timeout(ENDING);
    ended
}

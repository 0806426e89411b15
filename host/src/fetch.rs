//! Fetching a file from the network, because the person asked for it: the only place that opens a connection. What is fetched has a
//! stated size or a limit, and a stated hash where one is known; until all of it is there and right it has another name.
//!
//! A connection that breaks is no reason to begin anew: what came is kept beside (`.part`), and the rest is asked for, at once or
//! when the person asks again.

mod address;
mod error;

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use sha2::{Digest as _, Sha256};
use ureq::{
    Agent, Body,
    http::{Response, StatusCode, Uri, header},
    tls::{RootCerts, TlsConfig},
};

pub use address::shown;
pub use error::FetchError;

use crate::files;

/// How long a server may take to be reached, and to say the next word.
const CONNECT: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(60);
/// How often in a row it is tried without a byte more, and the pause between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// Redirects that are followed: Hugging Face needs two.
const HOPS: u32 = 5;
/// Bytes written at a time.
const PIECE: usize = 64 << 10;
/// Bytes that are left free on the disk.
const RESERVE: u64 = 32 << 20;

/// A file that is wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// Where from.
    pub url: &'a str,
    /// What it is to be here. Its folder is there.
    pub file: &'a Path,
    /// How many bytes it has, if that is known.
    pub bytes: Option<u64>,
    /// Most bytes that are taken if it is not.
    pub most: u64,
    /// SHA-256 of its contents, in lower-case hexadecimal, if that is known.
    pub sha256: Option<&'a str>,
}

/// Fetches files from one server, and from where it sends us to.
pub struct Fetcher<'a> {
    agent: Agent,
    /// The server, if the person has named it with `http:`.
    plain: Option<String>,
    stop: &'a AtomicBool,
}

impl<'a> Fetcher<'a> {
    /// From a server. Proxies are those of the environment, SOCKS ones included, certificates those that the system trusts.
    ///
    /// # Errors
    /// It is no address that may be used.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that opens connections")]
    pub fn new(server: &str, stop: &'a AtomicBool) -> Result<Self, FetchError> {
        let uri = address::parse(server)?;
        let plain = address::is_plain(&uri).then(|| address::authority(&uri));
        let mut config = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            // Where to is decided here.
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("totalrecall/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
        if address::is_here(&uri) {
            config = config.proxy(None);
        }
        Ok(Self { agent: config.build().new_agent(), plain, stop })
    }

    /// Fetches a file, or what is missing of it, and gives its SHA-256. `progress` is told how much of it there is.
    ///
    /// # Errors
    /// See [`FetchError`]. Where the contents were wrong nothing is kept; otherwise what came is, for the next time.
    pub fn fetch(&self, wanted: &Wanted<'_>, progress: &mut dyn FnMut(u64)) -> Result<String, FetchError> {
        let part = part_of(wanted.file);
        // It came before, and what it was wanted for was not done then.
        if wanted.file.is_file() {
            fs::rename(wanted.file, &part).map_err(|why| FetchError::io(&part, why))?;
        }
        let opened = File::options().create(true).truncate(false).read(true).write(true).open(&part);
        let mut file = opened.map_err(|why| FetchError::io(&part, why))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(FetchError::Busy { file: part }),
            Err(TryLockError::Error(why)) => return Err(FetchError::io(&part, why)),
            Ok(()) => {}
        }
        let fetched = self.to_its_end(wanted, &mut file, &part, progress).and_then(|()| checked(wanted, &mut file));
        match fetched {
            Ok(hash) => {
                file.sync_all()
                    .and_then(|()| fs::rename(&part, wanted.file))
                    .map_err(|why| FetchError::io(&part, why))?;
                Ok(hash)
            }
            Err(error) => {
                if !error.leaves_something() || file.metadata().is_ok_and(|part| part.len() == 0) {
                    // What cannot be removed is found to be wrong once more.
                    let _ = fs::remove_file(&part);
                }
                Err(error)
            }
        }
    }

    fn to_its_end(
        &self,
        wanted: &Wanted<'_>,
        file: &mut File,
        part: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), FetchError> {
        let size = |file: &File| file.metadata().map(|it| it.len()).map_err(|why| FetchError::io(part, why));
        let mut tries = 0;
        loop {
            let before = size(file)?;
            progress(before);
            if wanted.bytes == Some(before) {
                return Ok(());
            }
            match self.read_on(wanted, file, part, before, progress) {
                Err(error) if error.is_passing() => {
                    tries = if size(file)? > before { 1 } else { tries + 1 };
                    if tries == TRIES {
                        return Err(error);
                    }
                    thread::sleep(PAUSE);
                }
                ended => return ended,
            }
        }
    }

    /// Asks once for what is missing.
    fn read_on(
        &self,
        wanted: &Wanted<'_>,
        file: &mut File,
        part: &Path,
        mut have: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), FetchError> {
        let io = |why| FetchError::io(part, why);
        let wrong = |why: &str| FetchError::Answer { url: wanted.url.to_owned(), why: why.to_owned() };
        let response = self.open(wanted.url, have)?;
        let length = response.body().content_length();
        let total = match response.status() {
            StatusCode::OK => {
                // It does not know how to go on.
                if have > 0 {
                    file.set_len(0).map_err(io)?;
                    have = 0;
                }
                length
            }
            StatusCode::PARTIAL_CONTENT => match content_range(&response) {
                Some((from, total)) if from == have => total,
                _ => return Err(wrong("it sends another part of the file than it was asked for")),
            },
            // It has no more than what is here: all of it, or what is here is of something else.
            StatusCode::RANGE_NOT_SATISFIABLE => {
                if wanted.bytes.is_none() && total_of(&response) == Some(have) {
                    return Ok(());
                }
                file.set_len(0).map_err(io)?;
                return Err(FetchError::Broken {
                    url: wanted.url.to_owned(),
                    why: "it has less than came before".to_owned(),
                });
            }
            status => return Err(FetchError::Status { url: wanted.url.to_owned(), status: status.as_u16() }),
        };
        let limit = wanted.bytes.unwrap_or(wanted.most);
        let too_long =
            || FetchError::Size { url: wanted.url.to_owned(), stated: limit, is_exact: wanted.bytes.is_some() };
        if total.is_some_and(|total| total > limit || wanted.bytes.is_some_and(|bytes| bytes != total)) {
            return Err(too_long());
        }
        let rest = wanted.bytes.or(total).unwrap_or(0).saturating_sub(have);
        if files::free_space(part.parent().unwrap_or(part)).is_some_and(|free| free < rest + RESERVE) {
            return Err(FetchError::Full { file: part.to_owned(), needed: rest });
        }
        // Not opened to append to: Windows cuts no file that was.
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let broken = |why: &dyn ToString| FetchError::Broken { url: wanted.url.to_owned(), why: why.to_string() };
        let mut reader = response.into_body().into_reader();
        let mut piece = vec![0; PIECE];
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(FetchError::Stopped);
            }
            let count = match reader.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| broken(&error))?,
            };
            if count == 0 {
                break;
            }
            have += count as u64;
            if have > limit {
                return Err(too_long());
            }
            file.write_all(&piece[..count]).map_err(io)?;
            progress(have);
        }
        match wanted.bytes.or(total) {
            Some(bytes) if have < bytes => Err(broken(&"the connection ended before the file")),
            _ => Ok(()),
        }
    }

    /// The answer of where the address leads to.
    fn open(&self, url: &str, from: u64) -> Result<Response<Body>, FetchError> {
        let mut at = address::parse(url)?;
        for _ in 0..=HOPS {
            self.admit(&at)?;
            let mut request = self.agent.get(at.clone());
            if from > 0 {
                request = request.header(header::RANGE, format!("bytes={from}-"));
            }
            let response = request.call().map_err(|error| FetchError::connection(&at, &error))?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
            let next = address::joined(&at, to)?;
            if !address::is_plain(&at) && address::is_plain(&next) {
                return Err(FetchError::Plain { url: shown(&next.to_string()) });
            }
            at = next;
        }
        Err(FetchError::Answer { url: url.to_owned(), why: format!("it redirects more than {HOPS} times") })
    }

    /// Without TLS only what is on this machine, or the very server that the person has named so.
    fn admit(&self, uri: &Uri) -> Result<(), FetchError> {
        let is_named = || self.plain.as_ref().is_some_and(|plain| *plain == address::authority(uri));
        if address::is_plain(uri) && !address::is_here(uri) && !is_named() {
            return Err(FetchError::Plain { url: shown(&uri.to_string()) });
        }
        Ok(())
    }
}

/// What a file is called while not all of it is there.
pub fn part_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// The file's hash, if that and the size are what they should be.
fn checked(wanted: &Wanted<'_>, file: &mut File) -> Result<String, FetchError> {
    let io = |why| FetchError::io(wanted.file, why);
    file.rewind().map_err(io)?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        let count = file.read(&mut piece).map_err(io)?;
        if count == 0 {
            break;
        }
        hash.update(&piece[..count]);
    }
    let got: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    match wanted.sha256 {
        Some(stated) if stated != got => {
            Err(FetchError::Hash { url: wanted.url.to_owned(), stated: stated.to_owned(), got })
        }
        _ => Ok(got),
    }
}

/// `Content-Range: bytes 100-199/200`: the first byte, and how many there are in all.
fn content_range(response: &Response<Body>) -> Option<(u64, Option<u64>)> {
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (bytes, total) = range.split_once('/')?;
    let (from, _) = bytes.split_once('-')?;
    Some((from.parse().ok()?, total.parse().ok()))
}

/// `Content-Range: bytes */200`.
fn total_of(response: &Response<Body>) -> Option<u64> {
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes */")?.parse().ok()
}

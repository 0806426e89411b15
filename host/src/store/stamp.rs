//! How a transcript looks from outside ([`Stamp`]) and at two places inside ([`Edges`]): enough to tell an appended
//! file from a replaced one without reading it whole.

use std::{
    fs::Metadata,
    io::{self, Read, Seek, SeekFrom},
    time::UNIX_EPOCH,
};

use sha2::{Digest, Sha256};

/// What can be known of a transcript without opening it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes of the file.
    pub size: u64,
    /// Modification time in nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
    /// Identity of the file in its file system; 0 where the system has none.
    pub inode: u64,
    /// The file system.
    pub device: u64,
    /// What the sessions query of a database source gave as the session's version; the other fields are 0 then.
    pub version: Option<String>,
}

impl Stamp {
    /// Stamp of a file.
    pub fn of(metadata: &Metadata) -> Self {
        let mtime_ns = metadata.modified().map_or(0, |time| match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
        });
        #[cfg(unix)]
        let (inode, device) =
            (std::os::unix::fs::MetadataExt::ino(metadata), std::os::unix::fs::MetadataExt::dev(metadata));
        #[cfg(not(unix))]
        let (inode, device) = (0, 0);
        Self { size: metadata.len(), mtime_ns, inode, device, version: None }
    }

    /// Stamp of a session in a database.
    pub fn version(version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..Self::default() }
    }
}

/// Hashes of the first, and of the last bytes before an offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// SHA-256 of the first bytes.
    pub head: [u8; 32],
    /// SHA-256 of the last bytes before the offset.
    pub seam: [u8; 32],
}

impl Edges {
    /// Length of an edge: more than the record at the head of any known transcript needs to differ from another's.
    pub const LENGTH: u64 = 4096;

    /// Reads the edges for an offset.
    ///
    /// # Errors
    /// Those of reading; `UnexpectedEof` if the file ends before the offset.
    pub fn read(file: &mut (impl Read + Seek), offset: u64) -> io::Result<Self> {
        let length = offset.min(Self::LENGTH);
        let mut bytes = vec![0; length as usize];
        let mut edge = |from| {
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(&mut bytes)?;
            io::Result::Ok(Sha256::digest(&bytes).into())
        };
        Ok(Self { head: edge(0)?, seam: edge(offset - length)? })
    }
}

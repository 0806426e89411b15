//! Compiled components, kept between runs.
//!
//! A compiled component is machine code that gets mapped and run, so a file is only taken from a folder that nobody but
//! this user can write to, and only when its checksum is right: a damaged file is compiled anew. Whoever can write to the
//! folder in spite of that could change the program itself as well; no checksum helps there.
//!
//! A file is named by what it depends on, the engine (wasmtime's version, its settings, the CPU's abilities) and the
//! component, and ends in a checksum. It is never changed: it appears whole, by renaming, or not at all.

use std::{
    fs,
    hash::{Hash as _, Hasher as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use wasmtime::{Engine, component::Component};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::ComponentHash;

/// Ends every file, after the checksum; another layout gets another mark.
const MARK: &[u8; 8] = b"tr-code1";
const CHECKSUM_BYTES: usize = 16;
/// Files of engines and components that are not used any more go away after this long.
const STALE: Duration = Duration::from_secs(60 * 60 * 24 * 60);

pub(super) struct Cache {
    /// None: nothing is kept.
    folder: Option<PathBuf>,
    engine: u64,
}

impl Cache {
    /// A cache in `folder`, which is made if need be. A folder that cannot be trusted or written to is not used.
    pub(super) fn open(folder: Option<&Path>, engine: &Engine) -> Self {
        let mut hasher = Xxh3Default::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let folder = folder.filter(|folder| match prepare(folder) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(folder = %folder.display(), %error, "compiled components are not kept");
                false
            }
        });
        Self { folder: folder.map(Path::to_owned), engine: hasher.finish() }
    }

    fn file(&self, hash: ComponentHash) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:016x}-{hash}.code", self.engine)))
    }

    /// The compiled form of the component with this hash, if there is a sound one.
    pub(super) fn load(&self, engine: &Engine, hash: ComponentHash) -> Option<Component> {
        let file = self.file(hash)?;
        let metadata = fs::symlink_metadata(&file).ok()?;
        if !metadata.is_file() || !only_mine(&metadata) || !is_sound(&fs::read(&file).ok()?) {
            tracing::debug!(file = %file.display(), "a compiled component is damaged or someone else's");
            return None;
        }
        // SAFETY: the file was written by `save`, for an engine like this: it is this user's, nobody else can write to it
        // or to its folder, it is complete, and it is never written to again.
        #[expect(unsafe_code, reason = "the only way to load compiled code; see above for why it can be trusted")]
        let component = unsafe { Component::deserialize_file(engine, &file) };
        component.inspect_err(|error| tracing::debug!(file = %file.display(), %error, "cannot load")).ok()
    }

    /// Keeps a compiled component. Failing to costs the next run some time, no more.
    pub(super) fn save(&self, hash: ComponentHash, component: &Component) {
        if let Some(file) = self.file(hash)
            && let Err(error) = write(&file, component)
        {
            tracing::debug!(file = %file.display(), %error, "a compiled component is not kept");
        }
    }
}

fn write(file: &Path, component: &Component) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let code = component.serialize().map_err(|error| io::Error::other(format!("{error:#}")))?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&code)?;
    temporary.write_all(&xxh3_128(&code).to_le_bytes())?;
    temporary.write_all(MARK)?;
    // No fsync: after a power cut the checksum tells.
    temporary.persist(file)?;
    forget_stale(folder)
}

/// Does the file end in its own checksum? What stands before it is an object file, whose loader does not mind the rest.
fn is_sound(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_suffix(MARK) else { return false };
    let Some((code, checksum)) = rest.split_last_chunk::<CHECKSUM_BYTES>() else { return false };
    xxh3_128(code).to_le_bytes() == *checksum
}

fn forget_stale(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Loading reads a file; where access times are not kept, the worst is that a component is compiled again.
        let used = entry.metadata().and_then(|metadata| metadata.accessed().or(metadata.modified()))?;
        if SystemTime::now().duration_since(used).is_ok_and(|age| age > STALE) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes the folder, or sees that the one that is there is safe.
fn prepare(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match make_private(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        done => return done,
    }
    let metadata = fs::symlink_metadata(folder)?;
    if metadata.is_dir() && only_mine(&metadata) {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "others may write to it, or it is no folder"))
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)
}

/// Belongs to this user, and nobody else may write to it.
#[cfg(unix)]
fn only_mine(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

/// Elsewhere the user's cache folder is private by inheritance.
#[cfg(not(unix))]
fn only_mine(_: &fs::Metadata) -> bool {
    true
}

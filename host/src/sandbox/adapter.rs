//! Adapters: bytes of a transcript in, events out.

use std::sync::Arc;

use wasmtime::component::ResourceAny;

use super::{
    ComponentHash, Guest, Limit, SandboxError,
    instance::{Instance, State},
    latest::adapter::{AdapterPre, exports::totalrecall::guest::parse},
    runtime::{Runtime, Wanted},
    types::Event,
};

const WANTED: Wanted = Wanted { kind: "adapter", interface: Adapter::INTERFACE };

/// The beginning of a transcript that an adapter is shown; the contract names this size.
const HEAD_BYTES: usize = 64 << 10;

/// An adapter, ready to make parsers. Cheap to clone, may be shared between threads.
#[derive(Clone)]
pub struct Adapter(Arc<Inner>);

struct Inner {
    runtime: Arc<Runtime>,
    name: Arc<str>,
    hash: ComponentHash,
    component: AdapterPre<State>,
    imports_wasi: bool,
    descriptor: parse::Descriptor,
}

impl Adapter {
    /// The interface that it exports.
    pub const INTERFACE: &'static str = "totalrecall:guest/parse@0.1.0";

    pub(super) fn load(runtime: &Arc<Runtime>, guest: &Guest) -> Result<Self, SandboxError> {
        let linked = runtime.link(guest, &WANTED)?;
        let name: Arc<str> = guest.name().into();
        let component = AdapterPre::new(linked.instance).map_err(|error| SandboxError::NotAComponent {
            guest: guest.name().to_owned(),
            why: format!("its {} is another one: {error:#}", WANTED.interface),
        })?;
        let mut instance = Instance::new(runtime, &name);
        let exports = instance.call("instantiate", |store| component.instantiate(store))?;
        let descriptor = instance.call("describe", |store| exports.totalrecall_guest_parse().call_describe(store))?;
        let (runtime, hash) = (Arc::clone(runtime), guest.hash());
        Ok(Self(Arc::new(Inner { runtime, name, hash, component, imports_wasi: linked.wasi, descriptor })))
    }

    /// What the adapter says of itself, and what it asks to have read.
    pub fn descriptor(&self) -> &parse::Descriptor {
        &self.0.descriptor
    }

    /// Asks twice more, in one new instance: what is true of a component does not change from call to call.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn describe_again(&self) -> Result<[parse::Descriptor; 2], SandboxError> {
        let mut instance = Instance::new(&self.0.runtime, &self.0.name);
        let exports = instance.call("instantiate", |store| self.0.component.instantiate(store))?;
        let mut ask = || instance.call("describe", |store| exports.totalrecall_guest_parse().call_describe(store));
        Ok([ask()?, ask()?])
    }

    /// SHA-256 of the component.
    pub fn hash(&self) -> ComponentHash {
        self.0.hash
    }

    /// Does it import WASI? Such a guest gets an empty world; ours import nothing at all.
    pub fn imports_wasi(&self) -> bool {
        self.0.imports_wasi
    }

    /// Does a transcript that begins like this belong to the adapter? Only the first 64 KiB of `head` are looked at.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn recognise(&self, head: &[u8]) -> Result<bool, SandboxError> {
        let mut instance = Instance::new(&self.0.runtime, &self.0.name);
        let exports = instance.call("instantiate", |store| self.0.component.instantiate(store))?;
        let head = &head[..head.len().min(HEAD_BYTES)];
        instance.call("recognise", |store| exports.totalrecall_guest_parse().call_recognise(store, head))
    }

    /// A parser for one transcript, in an instance of its own. `resume` is the state of a checkpoint of this very
    /// component.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn parser(&self, origin: &parse::Origin, resume: Option<&[u8]>) -> Result<Parser, SandboxError> {
        let mut instance = Instance::new(&self.0.runtime, &self.0.name);
        let exports = instance.call("instantiate", |store| self.0.component.instantiate(store))?;
        let guest = exports.totalrecall_guest_parse().clone();
        let parser = instance.call("parser", |store| guest.parser().call_constructor(store, origin, resume))?;
        Ok(Parser { instance, guest, parser })
    }
}

/// One transcript being parsed. After an error it is of no more use. Dropping it gives back all memory of the guest.
pub struct Parser {
    instance: Instance,
    guest: parse::Guest,
    parser: ResourceAny,
}

impl Parser {
    /// Takes the next bytes of the transcript, cut anywhere, at most [`Limits::feed_bytes`](super::Limits::feed_bytes) of
    /// them, and gives the events they complete.
    ///
    /// # Errors
    /// The guest's fault, or how it failed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, SandboxError> {
        self.instance.check(Limit::Feed, bytes.len())?;
        self.instance.list("feed", |store| self.guest.parser().call_feed(store, self.parser, bytes))
    }

    /// The events of an unterminated last record. They are provisional.
    ///
    /// # Errors
    /// The guest's fault, or how it failed.
    pub fn finish(&mut self) -> Result<Vec<Event>, SandboxError> {
        self.instance.list("finish", |store| self.guest.parser().call_finish(store, self.parser))
    }

    /// Where reading can go on; to be taken before [`finish`](Self::finish).
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn checkpoint(&mut self) -> Result<parse::Checkpoint, SandboxError> {
        self.instance.call("checkpoint", |store| self.guest.parser().call_checkpoint(store, self.parser))
    }

    /// What became of the records so far.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn tally(&mut self) -> Result<Vec<parse::TallyEntry>, SandboxError> {
        self.instance.list("tally", |store| self.guest.parser().call_tally(store, self.parser).map(Ok))
    }

    /// Linear memory of the guest, in bytes. It never shrinks, so at the end this is the most that was used.
    pub fn memory(&self) -> usize {
        self.instance.memory()
    }
}

//! Analyzers: events of a transcript in, signals out.

use std::sync::Arc;

use wasmtime::component::ResourceAny;

use super::{
    ComponentHash, Guest, SandboxError,
    instance::{Instance, State},
    latest::analyzer::{AnalyzerPre, exports::totalrecall::guest::analyze},
    runtime::{Runtime, Wanted},
    types::Event,
};

const WANTED: Wanted = Wanted { kind: "analyzer", interface: "totalrecall:guest/analyze@0.1.0" };

/// An analyzer, ready to make analyses. Cheap to clone, may be shared between threads.
#[derive(Clone)]
pub struct Analyzer(Arc<Inner>);

struct Inner {
    runtime: Arc<Runtime>,
    name: Arc<str>,
    hash: ComponentHash,
    component: AnalyzerPre<State>,
    imports_wasi: bool,
    descriptor: analyze::Descriptor,
}

impl Analyzer {
    pub(super) fn load(runtime: &Arc<Runtime>, guest: &Guest) -> Result<Self, SandboxError> {
        let linked = runtime.link(guest, &WANTED)?;
        let name: Arc<str> = guest.name().into();
        let component = AnalyzerPre::new(linked.instance).map_err(|error| SandboxError::NotAComponent {
            guest: guest.name().to_owned(),
            why: format!("its {} is another one: {error:#}", WANTED.interface),
        })?;
        let mut instance = Instance::new(runtime, &name);
        let exports = instance.call("instantiate", |store| component.instantiate(store))?;
        let descriptor = instance.call("describe", |store| exports.totalrecall_guest_analyze().call_describe(store))?;
        let (runtime, hash) = (Arc::clone(runtime), guest.hash());
        Ok(Self(Arc::new(Inner { runtime, name, hash, component, imports_wasi: linked.wasi, descriptor })))
    }

    /// What the analyzer says of itself: its signals and settings.
    pub fn descriptor(&self) -> &analyze::Descriptor {
        &self.0.descriptor
    }

    /// SHA-256 of the component.
    pub fn hash(&self) -> ComponentHash {
        self.0.hash
    }

    /// Does it import WASI? Such a guest gets an empty world; ours import nothing at all.
    pub fn imports_wasi(&self) -> bool {
        self.0.imports_wasi
    }

    /// An analysis of one transcript, in an instance of its own. `resume` is a checkpoint of this very component under
    /// the same settings.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn analysis(&self, settings: &[analyze::Value], resume: Option<&[u8]>) -> Result<Analysis, SandboxError> {
        let mut instance = Instance::new(&self.0.runtime, &self.0.name);
        let exports = instance.call("instantiate", |store| self.0.component.instantiate(store))?;
        let guest = exports.totalrecall_guest_analyze().clone();
        let analysis = instance.call("analysis", |store| guest.analysis().call_constructor(store, settings, resume))?;
        Ok(Analysis { instance, guest, analysis })
    }
}

/// One transcript being analysed. After an error it is of no more use. Dropping it gives back all memory of the guest.
pub struct Analysis {
    instance: Instance,
    guest: analyze::Guest,
    analysis: ResourceAny,
}

impl Analysis {
    /// Takes the next events and gives the signals that no later event can change.
    ///
    /// # Errors
    /// The guest's fault, or how it failed.
    pub fn observe(&mut self, events: &[Event]) -> Result<Vec<analyze::Signal>, SandboxError> {
        self.instance.list("observe", |store| self.guest.analysis().call_observe(store, self.analysis, events))
    }

    /// The signals that hold if nothing follows. They are provisional.
    ///
    /// # Errors
    /// The guest's fault, or how it failed.
    pub fn conclude(&mut self) -> Result<Vec<analyze::Signal>, SandboxError> {
        self.instance.list("conclude", |store| self.guest.analysis().call_conclude(store, self.analysis))
    }

    /// State after the last [`observe`](Self::observe); to be taken before [`conclude`](Self::conclude).
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn checkpoint(&mut self) -> Result<Vec<u8>, SandboxError> {
        self.instance.call("checkpoint", |store| self.guest.analysis().call_checkpoint(store, self.analysis))
    }
}

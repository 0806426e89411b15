//! Analyzers: events of a transcript in, signals out.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::ResourceAny;

use super::{
    ComponentHash, Guest, SandboxError,
    instance::{Instance, State},
    latest::analyzer::{AnalyzerPre, exports::totalrecall::guest::analyze},
    runtime::{Runtime, Wanted},
    types::Event,
};

const WANTED: Wanted = Wanted { kind: "analyzer", interface: Analyzer::INTERFACE };

/// Memory up to which an instance is used for the next transcript. Instances never give memory back, and after a giant
/// session a new one is cheaper than that.
const KEPT_BYTES: usize = 32 << 20;

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
    /// The instance of the last analysis that ended well. An analyzer may take milliseconds to get ready (ours makes its
    /// tables of four languages), which for small sessions is most of the work.
    idle: Mutex<Option<Ready>>,
}

struct Ready {
    instance: Instance,
    guest: analyze::Guest,
}

impl Analyzer {
    /// The interface that it exports.
    pub const INTERFACE: &'static str = "totalrecall:guest/analyze@0.1.0";

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
        let imports_wasi = linked.wasi;
        let idle = Mutex::new(Some(Ready { instance, guest: exports.totalrecall_guest_analyze().clone() }));
        Ok(Self(Arc::new(Inner { runtime, name, hash, component, imports_wasi, descriptor, idle })))
    }

    /// What the analyzer says of itself: its signals and settings.
    pub fn descriptor(&self) -> &analyze::Descriptor {
        &self.0.descriptor
    }

    /// Asks twice more, in one new instance: what is true of a component does not change from call to call.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn describe_again(&self) -> Result<[analyze::Descriptor; 2], SandboxError> {
        let Ready { mut instance, guest } = self.0.ready()?;
        let mut ask = || instance.call("describe", |store| guest.call_describe(store));
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

    /// An analysis of one transcript. `resume` is a checkpoint of this very component under the same settings. Analyses that
    /// follow each other share an instance as long as none fails.
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn analysis(&self, settings: &[analyze::Value], resume: Option<&[u8]>) -> Result<Analysis, SandboxError> {
        let idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Ready { mut instance, guest } = match idle {
            Some(ready) => ready,
            None => self.0.ready()?,
        };
        let analysis = instance.call("analysis", |store| guest.analysis().call_constructor(store, settings, resume))?;
        Ok(Analysis { ready: Some(Ready { instance, guest }), analysis, analyzer: Arc::clone(&self.0) })
    }
}

impl Inner {
    fn ready(&self) -> Result<Ready, SandboxError> {
        let mut instance = Instance::new(&self.runtime, &self.name);
        let exports = instance.call("instantiate", |store| self.component.instantiate(store))?;
        Ok(Ready { instance, guest: exports.totalrecall_guest_analyze().clone() })
    }
}

/// One transcript being analysed. After an error it is of no more use, and its instance is not used again.
pub struct Analysis {
    /// None after an error.
    ready: Option<Ready>,
    analysis: ResourceAny,
    analyzer: Arc<Inner>,
}

impl Analysis {
    /// Takes the next events and gives the signals that no later event can change.
    ///
    /// # Errors
    /// The guest's fault, or how it failed.
    pub fn observe(&mut self, events: &[Event]) -> Result<Vec<analyze::Signal>, SandboxError> {
        self.run(|ready, analysis| {
            ready.instance.list("observe", |store| ready.guest.analysis().call_observe(store, analysis, events))
        })
    }

    /// The signals that hold if nothing follows. They are provisional.
    ///
    /// # Errors
    /// The guest's fault, or how it failed.
    pub fn conclude(&mut self) -> Result<Vec<analyze::Signal>, SandboxError> {
        self.run(|ready, analysis| {
            ready.instance.list("conclude", |store| ready.guest.analysis().call_conclude(store, analysis))
        })
    }

    /// State after the last [`observe`](Self::observe); to be taken before [`conclude`](Self::conclude).
    ///
    /// # Errors
    /// When the guest crashes or goes past a limit.
    pub fn checkpoint(&mut self) -> Result<Vec<u8>, SandboxError> {
        self.run(|ready, analysis| {
            ready.instance.call("checkpoint", |store| ready.guest.analysis().call_checkpoint(store, analysis))
        })
    }

    /// Linear memory of the guest, in bytes; 0 after an error. Earlier analyses in the same instance count as well.
    pub fn memory(&self) -> usize {
        self.ready.as_ref().map_or(0, |ready| ready.instance.memory())
    }

    fn run<R>(
        &mut self,
        call: impl FnOnce(&mut Ready, ResourceAny) -> Result<R, SandboxError>,
    ) -> Result<R, SandboxError> {
        let failed = || SandboxError::Engine("an analysis that failed was gone on with".to_owned());
        let result = call(self.ready.as_mut().ok_or_else(failed)?, self.analysis);
        if result.is_err() {
            self.ready = None;
        }
        result
    }
}

impl Drop for Analysis {
    fn drop(&mut self) {
        let Some(mut ready) = self.ready.take() else { return };
        let dropped = ready.instance.call("drop", |store| self.analysis.resource_drop(store));
        if dropped.is_ok() && ready.instance.memory() <= KEPT_BYTES {
            *self.analyzer.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(ready);
        }
    }
}

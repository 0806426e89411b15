//! The engine that compiles and runs guests, and what all guests of one sandbox share.

use std::path::Path;

use wasmtime::{
    Config, Engine, OptLevel,
    component::{Component, InstancePre, Linker, types::ComponentItem},
};

use super::{Guest, Limit, Limits, SandboxError, cache::Cache, instance::State, ticker::Ticker, wasi};

pub(super) struct Runtime {
    pub(super) engine: Engine,
    pub(super) limits: Limits,
    pub(super) ticker: Ticker,
    cache: Cache,
}

/// A component that is compiled and linked, and only needs an instance.
pub(super) struct Linked {
    pub(super) instance: InstancePre<State>,
    /// It imports WASI, so its instances need an empty world.
    pub(super) wasi: bool,
}

/// What the host looks for in a component.
pub(super) struct Wanted {
    /// The kind of guest: `adapter`.
    pub(super) kind: &'static str,
    /// The interface it exports, with its version.
    pub(super) interface: &'static str,
}

impl Runtime {
    #[expect(clippy::disallowed_methods, reason = "the home of the engine")]
    pub(super) fn new(cache_dir: Option<&Path>, limits: Limits) -> Result<Self, SandboxError> {
        let engine = Engine::new(&config(&limits)).map_err(|error| SandboxError::Engine(format!("{error:#}")))?;
        let cache = Cache::open(cache_dir, &engine);
        Ok(Self { engine, limits, ticker: Ticker::default(), cache })
    }

    /// Compiles (or takes from the cache), checks and links a component.
    pub(super) fn link(&self, guest: &Guest, wanted: &Wanted) -> Result<Linked, SandboxError> {
        let unusable = |error: wasmtime::Error| SandboxError::NotAComponent {
            guest: guest.name().to_owned(),
            why: format!("{error:#}"),
        };
        let component = self.compile(guest)?;
        let imports = self.imports(&component);
        if let Some(import) = imports.iter().find(|import| !wasi::offers(import)) {
            return Err(SandboxError::UnknownImport { guest: guest.name().to_owned(), import: import.clone() });
        }
        if component.get_export_index(None, wanted.interface).is_none() {
            let ty = component.component_type();
            return Err(SandboxError::WrongWorld {
                guest: guest.name().to_owned(),
                wanted: wanted.kind,
                interface: wanted.interface,
                exports: ty.exports(&self.engine).map(|(name, _)| name.to_owned()).collect(),
            });
        }
        let mut linker = Linker::new(&self.engine);
        if !imports.is_empty() {
            wasi::link(&mut linker).map_err(unusable)?;
        }
        let instance = linker.instantiate_pre(&component).map_err(unusable)?;
        Ok(Linked { instance, wasi: !imports.is_empty() })
    }

    fn compile(&self, guest: &Guest) -> Result<Component, SandboxError> {
        let size = guest.bytes().len();
        if size > self.limits.component_bytes {
            return Err(SandboxError::Limit {
                guest: guest.name().to_owned(),
                limit: Limit::ComponentBytes,
                allowed: self.limits.component_bytes,
                asked: Some(size),
            });
        }
        if let Some(component) = self.cache.load(&self.engine, guest.hash()) {
            return Ok(component);
        }
        // Not `Component::new`: it would take text as well, and guess what is meant.
        let component = Component::from_binary(&self.engine, guest.bytes()).map_err(|error| {
            SandboxError::NotAComponent { guest: guest.name().to_owned(), why: format!("{error:#}") }
        })?;
        self.cache.save(guest.hash(), &component);
        Ok(component)
    }

    /// What the component wants to call. Interfaces of which it only uses the types, as every guest does of
    /// `totalrecall:guest/types`, are none of that.
    fn imports(&self, component: &Component) -> Vec<String> {
        let ty = component.component_type();
        ty.imports(&self.engine)
            .filter(|(_, import)| match &import.ty {
                ComponentItem::ComponentInstance(instance) => {
                    instance.exports(&self.engine).any(|(_, item)| !matches!(item.ty, ComponentItem::Type(_)))
                }
                ComponentItem::Type(_) => false,
                _ => true,
            })
            .map(|(name, _)| name.to_owned())
            .collect()
    }
}

/// Settings of the engine. Each of them is part of the cache's key.
fn config(limits: &Limits) -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        // Deadlines: one load and compare per loop and call, where counting instructions would cost a third of the speed.
        .epoch_interruption(true)
        .max_wasm_stack(limits.stack_bytes)
        // Guests export plain synchronous functions.
        .concurrency_support(false)
        // Traps are reported by their kind: addresses of a stripped component help nobody, and cost file size.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false)
        // Toolchains do not need these, so nothing can be wrong with them.
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false);
    config
}

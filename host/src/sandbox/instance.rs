//! One running guest: its store, its limits, and what is made of its failures.

use std::sync::Arc;

use wasmtime::{ResourceLimiter, Store, Trap};
use wasmtime_wasi::I32Exit;

use super::{Limit, Limits, SandboxError, runtime::Runtime, ticker::ticks, types::Fault, wasi::EmptyWorld};

/// What the host keeps for one guest.
pub(super) struct State {
    limits: Limits,
    /// Linear memory in use, over all memories.
    memory: usize,
    /// The first thing that was refused in this call, and how much was asked for. The guest is told and may get by with
    /// less; if it does not, this is why.
    refused: Option<(Limit, usize)>,
    world: Option<Box<EmptyWorld>>,
}

impl State {
    /// The WASI that this guest sees, made at its first use.
    pub(super) fn world(&mut self) -> &mut EmptyWorld {
        let handles = self.limits.handles;
        self.world.get_or_insert_with(|| Box::new(EmptyWorld::new(handles)))
    }

    fn grant(&mut self, limit: Limit, asked: usize) -> bool {
        let granted = asked <= self.limits.allowed(limit);
        if !granted {
            self.refused.get_or_insert((limit, asked));
        }
        granted
    }
}

impl ResourceLimiter for State {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let asked = self.memory.saturating_add(desired.saturating_sub(current));
        let granted = self.grant(Limit::Memory, asked);
        if granted {
            self.memory = asked;
        }
        Ok(granted)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grant(Limit::TableElements, desired))
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.tables
    }

    fn memories(&self) -> usize {
        self.limits.memories
    }
}

pub(super) struct Instance {
    runtime: Arc<Runtime>,
    guest: Arc<str>,
    store: Store<State>,
}

impl Instance {
    pub(super) fn new(runtime: &Arc<Runtime>, guest: &Arc<str>) -> Self {
        let limits = runtime.limits.clone();
        let mut store = Store::new(&runtime.engine, State { limits, memory: 0, refused: None, world: None });
        store.limiter(|state| state);
        // What the host allocates for an answer is bounded while it reads it, not afterwards.
        store.set_hostcall_fuel(runtime.limits.answer_bytes);
        store.set_max_component_handles(runtime.limits.handles);
        Self { runtime: Arc::clone(runtime), guest: Arc::clone(guest), store }
    }

    /// Linear memory that the guest has, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.store.data().memory
    }

    /// Runs one call of the guest within its limits.
    pub(super) fn call<R>(
        &mut self,
        call: &'static str,
        run: impl FnOnce(&mut Store<State>) -> wasmtime::Result<R>,
    ) -> Result<R, SandboxError> {
        let limits = &self.runtime.limits;
        let running = self.runtime.ticker.start(&self.runtime.engine);
        let _running = running.ok_or_else(|| SandboxError::Engine("no thread could be started".to_owned()))?;
        self.store.data_mut().refused = None;
        self.store.set_epoch_deadline(ticks(limits.call_time()));
        run(&mut self.store).map_err(|error| explain(&error, &self.guest, call, self.store.data()))
    }

    /// Like [`call`](Self::call), for functions that answer with a list or a fault of their own.
    pub(super) fn list<R>(
        &mut self,
        call: &'static str,
        run: impl FnOnce(&mut Store<State>) -> wasmtime::Result<Result<Vec<R>, Fault>>,
    ) -> Result<Vec<R>, SandboxError> {
        let items =
            self.call(call, run)?.map_err(|fault| SandboxError::Fault { guest: self.guest.to_string(), fault })?;
        self.check(Limit::AnswerItems, items.len())?;
        Ok(items)
    }

    /// Fails if `asked` is more than `limit` allows.
    pub(super) fn check(&self, limit: Limit, asked: usize) -> Result<(), SandboxError> {
        let allowed = self.runtime.limits.allowed(limit);
        if asked <= allowed {
            return Ok(());
        }
        Err(SandboxError::Limit { guest: self.guest.to_string(), limit, allowed, asked: Some(asked) })
    }
}

/// What a failed call means. wasmtime gives some refusals as text only; the tests with hostile guests notice when that
/// text changes.
fn explain(error: &wasmtime::Error, guest: &str, call: &'static str, state: &State) -> SandboxError {
    let guest = guest.to_owned();
    let over = |limit: Limit, asked: Option<usize>| SandboxError::Limit {
        guest: guest.clone(),
        limit,
        allowed: state.limits.allowed(limit),
        asked,
    };
    let trap = error.downcast_ref::<Trap>();
    match trap {
        Some(Trap::Interrupt) => return SandboxError::Deadline { guest, call, allowed: state.limits.call_seconds },
        Some(Trap::StackOverflow) => return over(Limit::Stack, None),
        _ => {}
    }
    if let Some((limit, asked)) = state.refused {
        return over(limit, Some(asked));
    }
    if let Some(trap) = trap {
        return SandboxError::Trap { guest, call, why: trap.to_string() };
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return SandboxError::Trap { guest, call, why: exit.to_string() };
    }
    let text = format!("{error:#}");
    if text.contains("fuel allocated for hostcalls") {
        return over(Limit::AnswerBytes, None);
    }
    if text.contains("handle limit exceeded") || text.contains("resource table has no free keys") {
        return over(Limit::Handles, None);
    }
    let counts =
        [("instance count", Limit::Instances), ("memory count", Limit::Memories), ("table count", Limit::Tables)];
    match counts.into_iter().find(|(words, _)| text.contains(words)) {
        Some((_, limit)) => over(limit, text.rsplit(' ').next().and_then(|number| number.parse().ok())),
        None => SandboxError::BadAnswer { guest, call, why: text },
    }
}

//! WASI for guests whose toolchain insists on it: an empty world.
//!
//! There are no files, no environment, no arguments and no network; what is printed is discarded. Clocks and random
//! numbers are the same in every run, because what a guest makes of a transcript must not depend on when it is read.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use wasmtime::{
    Result,
    component::{HasData, Linker, Resource, ResourceTable},
};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView, WasiView,
    p2::{DynPollable, bindings::sync::io::poll},
    random::Deterministic,
};

use super::instance::State;

/// The packages that are offered. Everything else is refused by name.
const PACKAGES: &[&str] =
    &["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// Seeds a hash table or two; nothing secret is ever made of it.
const RANDOM: &[u8; 16] = b"totalrecall-seed";
/// More at a time would only serve to fill the host's memory.
const RANDOM_BYTES: u64 = 1 << 16;
/// How far time moves each time a guest looks at the clock, so that waiting loops end.
const STEP: Duration = Duration::from_millis(1);

/// Is this import part of the empty world?
pub(super) fn offers(import: &str) -> bool {
    PACKAGES.iter().any(|package| import.starts_with(package))
}

/// The state behind one guest's imports.
pub(super) struct EmptyWorld {
    context: WasiCtx,
    table: ResourceTable,
}

impl EmptyWorld {
    pub(super) fn new(handles: usize) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(handles);
        // A new context has no folder, variable, argument or address in it, its input is at its end and its outputs go
        // nowhere.
        let context = WasiCtx::builder()
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .wall_clock(Clock::default())
            .monotonic_clock(Clock::default())
            .secure_random(Deterministic::new(RANDOM.to_vec()))
            .insecure_random(Deterministic::new(RANDOM.to_vec()))
            .insecure_random_seed(u128::from_le_bytes(*RANDOM))
            .max_random_size(RANDOM_BYTES)
            .build();
        Self { context, table }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let world = self.world();
        WasiCtxView { ctx: &mut world.context, table: &mut world.table }
    }
}

/// Links the empty world.
pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    linker.allow_shadowing(true);
    wasmtime_wasi::p2::add_to_linker_sync(linker)?;
    poll::add_to_linker::<State, Sleepless>(linker, |state| NoWaiting(&mut state.world().table))?;
    Ok(())
}

#[derive(Default)]
struct Clock(AtomicU64);

impl Clock {
    fn step(&self) -> Duration {
        STEP * u32::try_from(self.0.fetch_add(1, Relaxed)).unwrap_or(u32::MAX)
    }
}

impl HostWallClock for Clock {
    fn resolution(&self) -> Duration {
        STEP
    }

    fn now(&self) -> Duration {
        self.step()
    }
}

impl HostMonotonicClock for Clock {
    fn resolution(&self) -> u64 {
        Duration::as_nanos(&STEP) as u64
    }

    fn now(&self) -> u64 {
        u64::try_from(self.step().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Waiting happens in the host, where no deadline reaches. In a world where nothing ever arrives, what is waited for is
/// simply there: a guest that does not believe it looks again, within its own time.
struct Sleepless;

impl HasData for Sleepless {
    type Data<'a> = NoWaiting<'a>;
}

struct NoWaiting<'a>(&'a mut ResourceTable);

impl poll::Host for NoWaiting<'_> {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> Result<Vec<u32>> {
        (0..pollables.len()).map(|index| Ok(u32::try_from(index)?)).collect()
    }
}

impl poll::HostPollable for NoWaiting<'_> {
    fn ready(&mut self, _: Resource<DynPollable>) -> Result<bool> {
        Ok(true)
    }

    fn block(&mut self, _: Resource<DynPollable>) -> Result<()> {
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        poll::HostPollable::drop(self.0, pollable)
    }
}

//! Analyzers: events in, signals out.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use totalrecall_sdk::analyzer::{Analyzer, Descriptor, Settings, Signal};
//! use totalrecall_sdk::types::{Body, Event, Fault};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Patience {
//!     limit: u64,
//!     waits: u64,
//! }
//!
//! impl Analyzer for Patience {
//!     fn describe() -> Descriptor {
//!         Descriptor { name: "patience".into(), version: "0.1.0".into(), signals: vec![], settings: vec![] }
//!     }
//!     fn new(_settings: &Settings) -> Result<Self, Fault> {
//!         Ok(Self { limit: 3, waits: 0 })
//!     }
//!     fn observe(&mut self, events: &[Event], _signals: &mut Vec<Signal>) -> Result<(), Fault> {
//!         self.waits += events.iter().filter(|event| matches!(event.body, Body::Interrupt(_))).count() as u64;
//!         Ok(())
//!     }
//! }
//!
//! totalrecall_sdk::export_analyzer!(Patience);
//! ```

use std::cell::RefCell;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::analyzer_bindings::exports::totalrecall::guest::analyze::{
    Descriptor, Setting, Signal, SignalKind, Value,
};
use crate::analyzer_bindings::exports::totalrecall::guest::analyze::{Guest, GuestAnalysis};
use crate::types::{Event, Fault};

/// An analyzer: a struct that is its own checkpoint, given the events of one transcript in order.
///
/// Signals must not depend on how the events are cut into calls of [`observe`](Analyzer::observe).
pub trait Analyzer: Serialize + DeserializeOwned + 'static {
    /// Name, version, the kinds of signal and the settings.
    fn describe() -> Descriptor;

    /// The state before the first event. Thresholds belong into the state: a resumed analysis is restored from its
    /// checkpoint, and `new` is not called for it (the settings are promised to be the same).
    fn new(settings: &Settings) -> Result<Self, Fault>;

    /// Takes the next events and pushes the signals that no later event can change.
    fn observe(&mut self, events: &[Event], signals: &mut Vec<Signal>) -> Result<(), Fault>;

    /// The transcript ends here, for now: pushes the signals that hold if nothing follows. Nothing is called after it.
    fn conclude(&mut self, signals: &mut Vec<Signal>) -> Result<(), Fault> {
        let _ = signals;
        Ok(())
    }
}

/// The settings of an analysis: what was given, over the defaults of the descriptor.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    values: Vec<(String, String)>,
}

impl Settings {
    /// Given values over the declared defaults. A value for a setting that is not declared is ignored: the host may be
    /// configured for a newer version of the analyzer.
    pub fn new(declared: &[Setting], given: &[Value]) -> Self {
        let value = |setting: &Setting| {
            let given = given.iter().rev().find(|value| value.setting == setting.name);
            (setting.name.clone(), given.map_or_else(|| setting.default.clone(), |given| given.value.clone()))
        };
        Self { values: declared.iter().map(value).collect() }
    }

    /// The value of a declared setting as written; empty for one that is not declared.
    pub fn text(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The value of a declared setting, parsed. The fault names the setting and what was written.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, Fault> {
        let text = self.text(name);
        let refuse = || Fault::Internal(format!("the setting `{name}` cannot be `{text}`"));
        text.trim().parse().map_err(|_| refuse())
    }
}

/// Drives an [`Analyzer`] as the WIT resource `analysis` does; tests and benches use it natively.
pub struct Analysis<A> {
    /// A fault of construction is told by the first call that can tell one.
    state: Result<A, Fault>,
}

impl<A: Analyzer> Analysis<A> {
    /// Begins anew, or where `resume` (an earlier [`checkpoint`](Self::checkpoint)) left off.
    pub fn new(settings: &[Value], resume: Option<&[u8]>) -> Self {
        let state = match resume {
            None => A::new(&Settings::new(&A::describe().settings, settings)),
            Some(state) => postcard::from_bytes(state)
                .map_err(|error| Fault::Internal(format!("the analysis cannot resume from its checkpoint: {error}"))),
        };
        Self { state }
    }

    /// Takes the next events of the transcript and gives the signals that no later event can change.
    pub fn observe(&mut self, events: &[Event]) -> Result<Vec<Signal>, Fault> {
        self.with(|state, signals| state.observe(events, signals))
    }

    /// The transcript ends here, for now. Take the checkpoint before this.
    pub fn conclude(&mut self) -> Result<Vec<Signal>, Fault> {
        self.with(A::conclude)
    }

    /// The state after the last `observe`; empty when the analysis never came about.
    pub fn checkpoint(&self) -> Vec<u8> {
        self.state.as_ref().ok().and_then(|state| postcard::to_allocvec(state).ok()).unwrap_or_default()
    }

    fn with(&mut self, call: impl FnOnce(&mut A, &mut Vec<Signal>) -> Result<(), Fault>) -> Result<Vec<Signal>, Fault> {
        let state = self.state.as_mut().map_err(|fault| fault.clone())?;
        let mut signals = Vec::new();
        call(state, &mut signals)?;
        Ok(signals)
    }
}

/// What [`export_analyzer!`](crate::export_analyzer) exports: the analyzer as the WIT interface wants it.
#[doc(hidden)]
pub struct Component<A>(PhantomData<A>);

/// An [`Analysis`] behind the shared reference that WIT methods get.
#[doc(hidden)]
pub struct Resource<A>(RefCell<Analysis<A>>);

impl<A: Analyzer> Guest for Component<A> {
    type Analysis = Resource<A>;

    fn describe() -> Descriptor {
        A::describe()
    }
}

impl<A: Analyzer> GuestAnalysis for Resource<A> {
    fn new(settings: Vec<Value>, resume: Option<Vec<u8>>) -> Self {
        Self(RefCell::new(Analysis::new(&settings, resume.as_deref())))
    }

    fn observe(&self, events: Vec<Event>) -> Result<Vec<Signal>, Fault> {
        self.0.borrow_mut().observe(&events)
    }

    fn conclude(&self) -> Result<Vec<Signal>, Fault> {
        self.0.borrow_mut().conclude()
    }

    fn checkpoint(&self) -> Vec<u8> {
        self.0.borrow().checkpoint()
    }
}

/// Makes the crate an analyzer component. The exports are compiled for wasm only.
#[macro_export]
macro_rules! export_analyzer {
    ($analyzer:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::analyzer::Component<$analyzer>;
    $crate::analyzer_bindings::export_analyzer_bindings!(Component with_types_in $crate::analyzer_bindings);
        };
    };
}

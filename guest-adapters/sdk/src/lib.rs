//! What a component for TotalRecall is written with: one struct, one trait with defaults, one macro.
//!
//! A component is either an *adapter* ([`Adapter`], [`export_adapter!`]), which turns a tool's transcripts into
//! [`types::Event`]s, or an *analyzer* ([`Analyzer`], [`export_analyzer!`]), which turns events into signals. In both
//! cases the author's struct is plain data: it is the state that survives from one call to the next, and a checkpoint is
//! nothing but its serialised form.
//!
//! The macros' exports exist on wasm only. The same code runs natively through [`Parser`] and [`Analysis`], which have
//! the methods of the WIT resources; tests and benches use those and need no sandbox.
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`adapter`] | the adapter trait, and the parser that drives it |
//! | [`analyzer`] | the analyzer trait, and the analysis that drives it |
//! | [`json`] | records decoded without ever being surprised |
//! | [`lines`] | bytes cut anywhere to whole lines |
//! | [`repair`] | what may still be read of a line that is not JSON |
//! | [`tally`] | what became of every record |
//! | [`text`] | long texts cut in the middle |
//! | [`time`] | RFC 3339 to milliseconds |
//! | [`hash`] | stable 64-bit hashes, and a compact set of them |

pub mod adapter;
pub mod analyzer;
pub mod hash;
pub mod json;
pub mod lines;
pub mod repair;
pub mod tally;
pub mod text;
pub mod time;

/// Types and exports of the `adapter` world, as `wit/since-v0.1.0` has them.
#[expect(missing_docs, reason = "generated; the WIT files hold the documentation")]
pub mod adapter_bindings {
    wit_bindgen::generate!({
        path: "../../wit/since-v0.1.0",
        world: "adapter",
        pub_export_macro: true,
        export_macro_name: "export_adapter_bindings",
        default_bindings_module: "totalrecall_sdk::adapter_bindings",
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        generate_unused_types: true,
    });
}

/// Exports of the `analyzer` world; its events are the adapter world's.
#[expect(missing_docs, reason = "generated; the WIT files hold the documentation")]
pub mod analyzer_bindings {
    wit_bindgen::generate!({
        path: "../../wit/since-v0.1.0",
        world: "analyzer",
        pub_export_macro: true,
        export_macro_name: "export_analyzer_bindings",
        default_bindings_module: "totalrecall_sdk::analyzer_bindings",
        with: { "totalrecall:guest/types@0.1.0": crate::adapter_bindings::totalrecall::guest::types },
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

pub use adapter::{Adapter, Parser};
pub use adapter_bindings::totalrecall::guest::types;
pub use analyzer::{Analysis, Analyzer, Setting, Settings, Signal, SignalKind};

//! Bindings of the newest contract, `wit/since-v0.1.0`. Older contracts get a module each and convert to these types.
#![expect(missing_docs, reason = "generated; the WIT files hold the documentation")]

pub(super) mod adapter {
    wasmtime::component::bindgen!({
        path: "../wit/since-v0.1.0",
        world: "adapter",
        additional_derives: [PartialEq, Clone, serde::Serialize, serde::Deserialize],
    });
}

pub(super) mod analyzer {
    wasmtime::component::bindgen!({
        path: "../wit/since-v0.1.0",
        world: "analyzer",
        with: { "totalrecall:guest/types@0.1.0": super::adapter::totalrecall::guest::types },
        additional_derives: [PartialEq, Clone, serde::Serialize, serde::Deserialize],
    });
}

pub use adapter::totalrecall::guest::types;

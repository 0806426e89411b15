//! What a component for TotalRecall is written with: one struct, one trait with defaults, one macro.

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

pub use adapter_bindings::totalrecall::guest::types;

//! Bytes that are no guest.

use proptest::{collection::vec, prelude::*};
use totalrecall::sandbox::{Guest, Sandbox, SandboxError};

use crate::{guests, sandbox};

fn load(sandbox: &Sandbox, bytes: impl Into<Vec<u8>>) -> SandboxError {
    let guest = Guest::new("stranger", bytes.into());
    let error = sandbox.adapter(&guest).err().expect("no adapter");
    sandbox.analyzer(&guest).err().expect("no analyzer");
    error
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("valid text")
}

#[test]
fn what_is_no_component_is_refused() {
    let sandbox = sandbox();
    let component = guests::guest("hostile").bytes().to_vec();
    for bytes in [
        Vec::new(),
        b"not wasm at all".to_vec(),
        // The text format is a convenience of tools, not of this host.
        b"(component)".to_vec(),
        wat("(module)"),
        component[..component.len() / 2].to_vec(),
        component[..component.len() - 1].to_vec(),
    ] {
        let error = load(&sandbox, bytes);
        assert_eq!(error.kind(), "not-a-component", "{error}");
    }
}

#[test]
fn a_wrong_world_is_named() {
    let sandbox = sandbox();
    let error = load(&sandbox, wat("(component)"));
    assert_eq!(error.kind(), "wrong-world");
    assert_eq!(
        error.to_string(),
        "stranger is no adapter: it exports nothing; it should export totalrecall:guest/parse@0.1.0"
    );
    // The right name with something else behind it.
    let error =
        load(&sandbox, wat(r#"(component (instance $i) (export "totalrecall:guest/parse@0.1.0" (instance $i)))"#));
    assert_eq!(error.kind(), "not-a-component", "{error}");
    // A contract of the future.
    let error =
        load(&sandbox, wat(r#"(component (instance $i) (export "totalrecall:guest/parse@9.0.0" (instance $i)))"#));
    assert!(error.to_string().contains("parse@9.0.0"), "{error}");
}

#[test]
fn an_unknown_import_is_named() {
    let sandbox = sandbox();
    let error = load(
        &sandbox,
        wat(r#"(component (import "other:host/files@1.0.0" (instance (export "open" (func (param "path" string))))))"#),
    );
    assert_eq!(error.kind(), "unknown-import");
    assert_eq!(
        error.to_string(),
        "stranger imports other:host/files@1.0.0, which no guest may use: build it without that import"
    );
    let error = load(
        &sandbox,
        wat(r#"(component (import "wasi:http/outgoing-handler@0.2.0" (instance (export "handle" (func)))))"#),
    );
    assert_eq!(error.kind(), "unknown-import", "{error}");
    let error = load(&sandbox, wat(r#"(component (import "open" (func)))"#));
    assert!(error.to_string().contains("imports open,"), "{error}");
}

#[test]
fn proposals_that_nobody_needs_are_off() {
    let sandbox = sandbox();
    for module in ["(memory i64 1)", "(memory 1) (memory 1)", "(func $f return_call $f)", "(memory 1 1 shared)"] {
        let error = load(&sandbox, wat(&format!("(component (core module {module}))")));
        assert_eq!(error.kind(), "not-a-component", "{module}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_bring_the_host_down(bytes in vec(any::<u8>(), 0..2_000), header in any::<bool>()) {
        let header: &[u8] = if header { b"\0asm\x0d\0\x01\0" } else { b"" };
        load(&sandbox(), [header, &bytes].concat());
    }

    #[test]
    fn nor_does_a_damaged_component(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = guests::guest("nosy").bytes().to_vec();
        let place = place.index(bytes.len());
        bytes[place] ^= byte;
        // It may well still be a component, of a guest that does something else.
        let sandbox = sandbox();
        if let Ok(adapter) = sandbox.adapter(&Guest::new("damaged", bytes))
            && let Ok(mut parser) = adapter.parser(&crate::origin("look"), None)
        {
            drop(parser.feed(b"bytes"));
        }
    }
}

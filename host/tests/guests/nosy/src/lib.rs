//! An adapter that looks for a way out and says what it found. On anything but wasm there is nothing of it.
#![cfg(target_family = "wasm")]
#![expect(missing_docs, reason = "generated bindings")]

wit_bindgen::generate!({
    path: ["../../../../wit/since-v0.1.0", "wit"],
    world: "test:nosy/nosy",
    generate_all,
});

use exports::totalrecall::guest::parse::{Checkpoint, Descriptor, Guest, GuestParser, Origin, TallyEntry};
use totalrecall::guest::types::{Author, Body, Channel, Event, Fault, Message};
use wasi::{
    cli::{environment, exit, stdin, stdout},
    clocks::{monotonic_clock, wall_clock},
    filesystem::preopens,
    io::poll,
    random::random,
    sockets::{
        instance_network, ip_name_lookup,
        network::{IpAddressFamily, IpSocketAddress, Ipv4SocketAddress},
        tcp_create_socket,
    },
};

struct Component;

struct Nosy(String);

/// An hour, in nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

fn look_around() -> Vec<String> {
    let network = instance_network::instance_network();
    let address = IpSocketAddress::Ipv4(Ipv4SocketAddress { port: 80, address: (127, 0, 0, 1) });
    let connected = tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4)
        .and_then(|socket| socket.start_connect(&network, address))
        .map_err(|code| code.name());
    let found = ip_name_lookup::resolve_addresses(&network, "localhost").map(drop).map_err(|code| code.name());
    vec![
        format!("environment {:?}", environment::get_environment()),
        format!("arguments {:?}", environment::get_arguments()),
        format!("cwd {:?}", environment::initial_cwd()),
        format!("folders {}", preopens::get_directories().len()),
        format!("stdin {}", stdin::get_stdin().blocking_read(100).is_ok_and(|bytes| !bytes.is_empty())),
        format!("stdout {}", stdout::get_stdout().blocking_write_and_flush(b"nosy was here\n").is_ok()),
        format!("connect {connected:?}"),
        format!("lookup {found:?}"),
        format!("time {}", wall_clock::now().seconds),
        format!("random {:?}", random::get_random_bytes(4)),
    ]
}

impl Guest for Component {
    type Parser = Nosy;

    fn describe() -> Descriptor {
        let text = |text: &str| text.to_owned();
        Descriptor { name: text("nosy"), version: text("1"), tool: text("none"), sources: Vec::new() }
    }

    fn recognise(_: Vec<u8>) -> bool {
        false
    }
}

impl GuestParser for Nosy {
    fn new(origin: Origin, _: Option<Vec<u8>>) -> Self {
        Self(origin.path)
    }

    fn feed(&self, _: Vec<u8>) -> Result<Vec<Event>, Fault> {
        let texts = match self.0.as_str() {
            "look" => look_around(),
            "sleep" => {
                monotonic_clock::subscribe_duration(HOUR).block();
                poll::poll(&[&monotonic_clock::subscribe_duration(HOUR)]);
                Vec::new()
            }
            "wait" => loop {
                // What a runtime does whose timer never seems to fire.
                poll::poll(&[&monotonic_clock::subscribe_duration(monotonic_clock::now() + HOUR)]);
            },
            "handles" => {
                let mut all = Vec::new();
                loop {
                    all.push(monotonic_clock::subscribe_duration(HOUR));
                }
            }
            "random" => vec![random::get_random_bytes(1 << 30).len().to_string()],
            "exit" => {
                exit::exit(Ok(()));
                Vec::new()
            }
            _ => Vec::new(),
        };
        let message = |text| Message { author: Author::Human, channel: Channel::Prompt, text, omitted: 0 };
        Ok(texts
            .into_iter()
            .map(|text| Event {
                line: 1,
                at: None,
                thread: None,
                key: None,
                copied: false,
                body: Body::Message(message(text)),
            })
            .collect())
    }

    fn finish(&self) -> Result<Vec<Event>, Fault> {
        Ok(Vec::new())
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint { offset: 0, state: Vec::new() }
    }

    fn tally(&self) -> Vec<TallyEntry> {
        Vec::new()
    }
}

export!(Component);

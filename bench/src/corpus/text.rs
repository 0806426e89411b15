//! Made-up prose, code and output. It means nothing, but has the letters, lengths and repetitions of the real thing, which
//! is what parsers, compressors and indexes notice.

use fastrand::Rng;

const NOUNS: &[&str] = &[
    "account",
    "adapter",
    "archive",
    "balance",
    "banner",
    "basket",
    "batch",
    "border",
    "branch",
    "bucket",
    "buffer",
    "button",
    "cache",
    "calendar",
    "carrier",
    "catalog",
    "channel",
    "chart",
    "checkout",
    "chunk",
    "client",
    "column",
    "contract",
    "cookie",
    "counter",
    "coupon",
    "cursor",
    "dashboard",
    "dataset",
    "deadline",
    "decoder",
    "delivery",
    "device",
    "digest",
    "discount",
    "document",
    "domain",
    "driver",
    "encoder",
    "endpoint",
    "engine",
    "envelope",
    "exporter",
    "factory",
    "fallback",
    "feature",
    "filter",
    "fixture",
    "footer",
    "formatter",
    "gateway",
    "glossary",
    "graph",
    "handler",
    "header",
    "heading",
    "histogram",
    "icon",
    "importer",
    "index",
    "inventory",
    "invoice",
    "journal",
    "keyboard",
    "label",
    "ledger",
    "library",
    "listener",
    "loader",
    "locale",
    "mailbox",
    "manifest",
    "mapping",
    "margin",
    "matrix",
    "menu",
    "migration",
    "mirror",
    "monitor",
    "notice",
    "observer",
    "order",
    "outline",
    "packet",
    "palette",
    "parser",
    "partition",
    "payment",
    "pipeline",
    "planner",
    "plugin",
    "policy",
    "portal",
    "printer",
    "profile",
    "prompt",
    "quota",
    "queue",
    "receipt",
    "record",
    "region",
    "registry",
    "renderer",
    "report",
    "resolver",
    "retry",
    "router",
    "sampler",
    "scanner",
    "schedule",
    "schema",
    "session",
    "shelf",
    "shipment",
    "sidebar",
    "snapshot",
    "socket",
    "sorter",
    "storage",
    "stream",
    "summary",
    "supplier",
    "survey",
    "table",
    "template",
    "theme",
    "ticket",
    "timeline",
    "timer",
    "toolbar",
    "tracker",
    "transfer",
    "trigger",
    "tunnel",
    "upload",
    "vault",
    "vendor",
    "version",
    "viewer",
    "volume",
    "voucher",
    "wallet",
    "warehouse",
    "watcher",
    "widget",
    "window",
    "wizard",
    "worker",
    "zone",
];

const VERBS: &[&str] = &[
    "add",
    "align",
    "archive",
    "attach",
    "build",
    "bundle",
    "cache",
    "check",
    "collect",
    "colour",
    "combine",
    "compare",
    "compress",
    "convert",
    "copy",
    "count",
    "create",
    "decode",
    "define",
    "describe",
    "display",
    "document",
    "draw",
    "encode",
    "expose",
    "extend",
    "extract",
    "fetch",
    "filter",
    "format",
    "group",
    "hide",
    "implement",
    "import",
    "join",
    "list",
    "load",
    "log",
    "map",
    "measure",
    "merge",
    "migrate",
    "move",
    "normalise",
    "order",
    "parse",
    "plot",
    "print",
    "profile",
    "publish",
    "read",
    "refresh",
    "register",
    "rename",
    "render",
    "resize",
    "sample",
    "scan",
    "show",
    "simplify",
    "sort",
    "split",
    "store",
    "stream",
    "summarise",
    "support",
    "sync",
    "tag",
    "translate",
    "trim",
    "upload",
    "validate",
    "wrap",
    "write",
];

const ADJECTIVES: &[&str] = &[
    "annual", "async", "blue", "broken", "cached", "central", "compact", "daily", "dark", "default", "deferred",
    "distant", "dynamic", "early", "empty", "external", "fast", "final", "first", "flat", "fresh", "global", "hidden",
    "idle", "inner", "large", "lazy", "legacy", "local", "long", "lower", "main", "manual", "mobile", "monthly",
    "narrow", "nested", "new", "old", "open", "outer", "partial", "plain", "primary", "private", "public", "quick",
    "rapid", "rare", "raw", "recent", "remote", "second", "shared", "short", "silent", "slow", "small", "sorted",
    "spare", "stable", "static", "upper", "urgent", "vertical", "virtual", "weekly", "wide",
];

/// Size of each pool that long texts are cut from.
const POOL: usize = 1 << 20;

/// Pools of text, made once.
pub(super) struct Texts {
    code: String,
    output: String,
}

/// Sizes that a tenth, a quarter, half … of texts do not exceed.
pub(super) type Sizes = [(f64, f64); 7];

/// Tool results.
pub(super) const RESULTS: Sizes =
    [(0.0, 2.0), (0.1, 18.0), (0.25, 70.0), (0.5, 200.0), (0.75, 1_039.0), (0.97, 9_355.0), (1.0, 71_803.0)];
/// Files that are edited.
pub(super) const FILES: Sizes = [
    (0.0, 300.0),
    (0.1, 2_507.0),
    (0.25, 8_887.0),
    (0.5, 13_778.0),
    (0.75, 32_125.0),
    (0.9, 54_178.0),
    (1.0, 55_835.0),
];
/// What the agent says.
pub(super) const REPLIES: Sizes =
    [(0.0, 12.0), (0.1, 40.0), (0.25, 71.0), (0.5, 140.0), (0.75, 476.0), (0.97, 2_654.0), (1.0, 16_512.0)];
/// What it thinks.
pub(super) const THOUGHTS: Sizes =
    [(0.0, 60.0), (0.1, 120.0), (0.25, 200.0), (0.5, 350.0), (0.75, 800.0), (0.97, 5_000.0), (1.0, 20_000.0)];

/// Draws a size.
pub(super) fn size(rng: &mut Rng, sizes: &Sizes) -> usize {
    let at = rng.f64();
    let upper = sizes.iter().position(|(part, _)| *part >= at).unwrap_or(sizes.len() - 1).max(1);
    let ((from, low), (to, high)) = (sizes[upper - 1], sizes[upper]);
    let part = (at - from) / (to - from);
    (low.ln() + part * (high / low).ln()).exp() as usize
}

pub(super) fn noun(rng: &mut Rng) -> &'static str {
    NOUNS[rng.usize(..NOUNS.len())]
}

pub(super) fn verb(rng: &mut Rng) -> &'static str {
    VERBS[rng.usize(..VERBS.len())]
}

pub(super) fn adjective(rng: &mut Rng) -> &'static str {
    ADJECTIVES[rng.usize(..ADJECTIVES.len())]
}

/// One sentence that says something is done.
pub(super) fn sentence(rng: &mut Rng) -> String {
    let (verb, noun, other) = (verb(rng), noun(rng), noun(rng));
    let (adjective, more) = (adjective(rng), self::adjective(rng));
    match rng.u8(..4) {
        0 => format!("I {verb} the {adjective} {noun} before the {other} is used."),
        1 => format!("The {adjective} {noun} holds the {other}, and the {more} one is left as it is."),
        2 => format!("Next comes the {noun}: it has to {verb} each {more} {other}."),
        _ => format!("`{noun}_{other}` is {adjective}; its tests cover the {more} case."),
    }
}

/// Prose of about `bytes`.
pub(super) fn prose(rng: &mut Rng, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    while text.len() < bytes {
        if !text.is_empty() {
            text.push_str(if rng.u8(..6) == 0 { "\n\n" } else { " " });
        }
        text.push_str(&sentence(rng));
    }
    text
}

impl Texts {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut code = String::with_capacity(POOL + 200);
        while code.len() < POOL {
            let (a, b, c, v) = (noun(rng), noun(rng), noun(rng), verb(rng));
            let (n, m) = (rng.u16(..), rng.u8(..));
            code.push_str(&match rng.u8(..6) {
                0 => format!("/// The {a} of a {b}, by {c}.\npub fn {v}_{a}({b}: &{c}) -> Option<usize> {{\n"),
                1 => format!("    let {a} = self.{b}.{v}({n}).unwrap_or_default();\n"),
                2 => format!("    if {a}.len() > {m} && {b} != \"{c}\" {{\n        return None;\n    }}\n"),
                3 => {
                    format!("    for ({a}, {b}) in {c}.iter().enumerate() {{\n\t\t{a}_{v}({b} as u64 * {n});\n    }}\n")
                }
                4 => "}\n\n".to_owned(),
                _ => format!("    // {} {a} → “{b}”, {n} × {m}\n", adjective(rng)),
            });
        }
        let mut output = String::with_capacity(POOL + 200);
        while output.len() < POOL {
            let (a, b, c) = (noun(rng), noun(rng), noun(rng));
            let (n, m, hex) = (rng.u16(..), rng.u8(..60), rng.u64(..));
            output.push_str(&match rng.u8(..6) {
                0 => format!("   Compiling {a}-{b} v0.{m}.{n} (/home/dev/work/{c})\n"),
                1 => format!("test {a}::{b}::{c} ... ok\n"),
                2 => format!("-rw-r--r-- 1 dev dev {n:>7} Oct {m:>2} 10:{m:02} {a}_{b}.rs\n"),
                3 => format!("2026-10-04T10:{m:02}:11.{n}Z INFO {a}: {b} {hex:016x} took {n} µs\n"),
                4 => format!("src/{a}/{b}.rs:{n}:{m}:     let {c} = {a}.{b}();\n"),
                _ => format!("{hex:016x} {a} {b} {c}\n"),
            });
        }
        Self { code, output }
    }

    /// Program text of about `bytes`.
    pub(super) fn code(&self, rng: &mut Rng, bytes: usize) -> &str {
        piece(&self.code, rng, bytes)
    }

    /// A program's output of about `bytes`.
    pub(super) fn output(&self, rng: &mut Rng, bytes: usize) -> &str {
        piece(&self.output, rng, bytes)
    }
}

fn piece<'p>(pool: &'p str, rng: &mut Rng, bytes: usize) -> &'p str {
    let start = pool.floor_char_boundary(rng.usize(..pool.len() - bytes.min(POOL / 2)));
    let end = pool.ceil_char_boundary((start + bytes).min(pool.len()));
    &pool[start..end]
}

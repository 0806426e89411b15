//! A server that is running, and a client that asks it.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that is running.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Server {
    /// Starts one; it has answered the first request.
    #[expect(clippy::disallowed_methods, reason = "it runs the binary from outside")]
    pub(crate) fn start(bin: &Path, home: &Path) -> Result<Self> {
        let mut child = Command::new(bin)
            .arg("mcp")
            .arg("--home")
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).context("no streams")?;
        let mut server = Self { child, input, output: BufReader::new(output), calls: 0 };
        let client = json!({ "name": "bench", "version": "0" });
        server
            .ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }))?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Duration> {
        let started = Instant::now();
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        ensure!(answer["result"]["isError"] != true, "{tool}: {answer}");
        Ok(started.elapsed())
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.calls += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": parameters }))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server has ended");
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.calls {
                return Ok(answer);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    /// What of it is in memory, where the system tells.
    pub(crate) fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

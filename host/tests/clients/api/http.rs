//! As much HTTP as the API needs, over a plain socket: it must be able to break off in the middle of an answer.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

/// Longest question. Clients send all of a session with each one, a test's are short.
const MAX_BODY: usize = 64 << 20;

/// What a client asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// With its query; a whole URL or `host:port` where the client took us for a proxy.
    pub(crate) path: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// Null where there was none, a string where it was no JSON.
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Reads a question. None if the connection was closed instead.
pub(super) fn read(connection: &TcpStream) -> io::Result<Option<Asked>> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err(bad("no request line")) };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| bad("no header"))?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|encoding| encoding.contains("chunked")) {
        read_chunks(&mut reader, &mut body)?;
    } else if let Some(length) = headers.get("content-length") {
        let length: usize = length.parse().map_err(|_| bad("no length"))?;
        read_exactly(&mut reader, length, &mut body)?;
    }
    let body = match body.as_slice() {
        [] => Value::Null,
        bytes => {
            serde_json::from_slice(bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
        }
    };
    Ok(Some(Asked { method, path, headers, body }))
}

fn read_chunks(reader: &mut BufReader<&TcpStream>, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end().split(';').next().unwrap_or_default(), 16)
            .map_err(|_| bad("no chunk"))?;
        read_exactly(reader, length, body)?;
        // The chunk's own end of line.
        reader.read_line(&mut String::new())?;
        if length == 0 {
            return Ok(());
        }
    }
}

fn read_exactly(reader: &mut BufReader<&TcpStream>, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
    let before = body.len();
    if before + length > MAX_BODY {
        return Err(bad("too long"));
    }
    body.resize(before + length, 0);
    reader.read_exact(&mut body[before..])
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Answers with a whole body.
pub(super) fn json(connection: &mut &TcpStream, status: u16, headers: &[(&str, &str)], body: &Value) -> io::Result<()> {
    let body = body.to_string();
    head(connection, status, "application/json", &[headers, &[("content-length", &body.len().to_string())]].concat())?;
    connection.write_all(body.as_bytes())
}

/// Begins an answer. Every connection is used once, so that no question can hide behind another.
pub(super) fn head(connection: &mut &TcpStream, status: u16, kind: &str, headers: &[(&str, &str)]) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    connection.write_all((head + "\r\n").as_bytes())
}

/// A piece of a streamed answer. An empty one is its end: a stream without it was cut off.
pub(super) fn chunk(connection: &mut &TcpStream, text: &str) -> io::Result<()> {
    connection.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

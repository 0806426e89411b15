//! Models that are fetched, from a server of this machine that does what servers do, and what they should not.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicBool},
    thread,
};

use sha2::{Digest as _, Sha256};
use totalrecall::{
    embedding::{self, Published, PublishedFile},
    paths::Home,
};

use crate::{
    models::{folder, found, in_use, user},
    support::{Ran, User},
};

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    path: String,
    /// From which byte on.
    from: Option<usize>,
}

/// What is answered.
struct Reply {
    status: &'static str,
    headers: Vec<String>,
    body: Vec<u8>,
    /// The connection ends after so many bytes of the body.
    cut: Option<usize>,
}

impl Reply {
    fn new(status: &'static str, headers: &[String], body: &[u8]) -> Self {
        Self { status, headers: headers.to_vec(), body: body.to_vec(), cut: None }
    }

    /// A file, or its rest.
    fn file(asked: &Asked, bytes: &[u8]) -> Self {
        match asked.from {
            Some(from) if from >= bytes.len() => {
                Self::new("416 Range Not Satisfiable", &[format!("Content-Range: bytes */{}", bytes.len())], b"")
            }
            Some(from) => {
                let range = format!("Content-Range: bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
                Self::new("206 Partial Content", &[range], &bytes[from..])
            }
            None => Self::new("200 OK", &[], bytes),
        }
    }

    fn cut(self, after: usize) -> Self {
        Self { cut: Some(after), ..self }
    }

    fn redirect(to: String) -> Self {
        Self::new("302 Found", &[format!("Location: {to}")], b"")
    }
}

struct Server {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn new(reply: impl Fn(&Asked) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        // It ends with the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(asked) = read(&stream) else { continue };
                let reply = reply(&asked);
                seen.lock().unwrap().push(asked);
                // A client may have gone.
                let _ = write(stream, &reply);
            }
        });
        Self { url, asked }
    }

    /// One that has the files of a model.
    fn of(folder: &str, reply: impl Fn(&Asked, &[u8]) -> Reply + Send + 'static) -> Self {
        let folder = folder.to_owned();
        Self::new(move |asked| {
            let bytes = asked.path.rsplit('/').next().map(|name| fs::read(Path::new(&folder).join(name)));
            match bytes {
                Some(Ok(bytes)) => reply(asked, &bytes),
                _ => Reply::new("404 Not Found", &[], b"no"),
            }
        })
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut from = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        let line = line.to_ascii_lowercase();
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok();
        }
        assert!(!line.starts_with("cookie") && !line.starts_with("authorization"), "{line}");
    }
    Some(Asked { path, from })
}

fn write(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut head =
        format!("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n", reply.status, reply.body.len());
    for header in &reply.headers {
        head += &format!("{header}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())])
}

fn pull(user: &User, server: &Server, arguments: &[&str]) -> Ran {
    let mut command = user.command(&[&["models", "pull"], arguments].concat());
    Ran::of(user, command.env("TOTALRECALL_MODEL_MIRROR", &server.url).output().unwrap())
}

fn own() -> String {
    format!("acme/own@{REVISION}")
}

/// What is left of what was fetched.
fn parts(user: &User) -> Vec<String> {
    let files = crate::life::walk(&user.state().join("models"));
    files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_is_fetched_is_used_like_what_was_brought() {
    let user = user();
    let server = Server::of(&folder(&user, "own"), Reply::file);
    let ran = pull(&user, &server, &[&own()]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.err.contains("acme/own at 0123456789ab") && ran.err.contains(&server.url), "{ran}");
    assert!(ran.err.contains("tokenizer.json has the SHA-256") && ran.err.contains("once you say"), "{ran}");
    let path = |file: &str| Asked { path: format!("/acme/own/resolve/{REVISION}/{file}"), from: None };
    assert_eq!(server.asked(), [path("tokenizer.json"), path("model.safetensors")], "nothing else is asked for");
    assert_eq!(parts(&user), ["own.bin"]);
    assert_eq!(in_use(&user), ["built-in"], "it is not used unasked");

    let json = pull(&user, &server, &[&own(), "--use", "--json"]).json();
    assert_eq!(in_use(&user), ["own"]);
    user.ok(&["worker"]);
    assert_eq!(found(&user, "blorp"), ["the snarf is ready"]);
    assert_eq!((json["revision"].as_str(), json["files"][1]["pinned"].as_bool()), (Some(REVISION), Some(false)));
}

#[test]
fn what_broke_off_goes_on() {
    let user = user();
    let own_folder = folder(&user, "own");
    let size = fs::metadata(Path::new(&own_folder).join("model.safetensors")).unwrap().len() as usize;
    // Once: it is gone on with at once.
    let server = Server::of(&own_folder, |asked, bytes| {
        let reply = Reply::file(asked, bytes);
        if asked.from.is_none() && asked.path.ends_with("safetensors") { reply.cut(40) } else { reply }
    });
    let ran = pull(&user, &server, &[&own()]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(server.asked().last().unwrap().from, Some(40));

    // Whenever it is asked: it is given up, and gone on with the next time.
    let other = format!("acme/other@{REVISION}");
    let server = Server::of(&own_folder, move |asked, bytes| {
        let reply = Reply::file(asked, bytes);
        if asked.path.ends_with("safetensors") { reply.cut(if asked.from.is_none() { 40 } else { 0 }) } else { reply }
    });
    let ran = pull(&user, &server, &[&other]);
    assert!(ran.code == Some(1) && ran.err.contains("goes on where it ended"), "{ran}");
    assert!(parts(&user).contains(&"model.safetensors.part".to_owned()), "{:?}", parts(&user));
    assert!(!parts(&user).contains(&"other.bin".to_owned()));
    // What is left of it is named, with the folder that it is in.
    let listed = user.ok(&["models", "list", "--json"]).json()["parts"].clone();
    assert_eq!((listed[0]["model"].as_str(), listed[1].as_object()), (Some(&*other), None), "{listed}");
    let line = user.ok(&["models", "list"]).out.lines().last().unwrap().to_owned();
    assert!(line.contains(&other) && line.contains(listed[0]["folder"].as_str().unwrap()), "{line}");
    // It is not taken for what another owner has under the same name and revision.
    let server = Server::of(&own_folder, Reply::file);
    assert_eq!(pull(&user, &server, &[&other.replacen('/', "s/", 1), "--name", "others"]).code, Some(0));
    assert!(server.asked().iter().all(|it| it.from.is_none()), "{:?}", server.asked());
    fs::remove_file(user.state().join("models/others.bin")).unwrap();
    let server = Server::of(&own_folder, Reply::file);
    assert_eq!(pull(&user, &server, &[&other]).code, Some(0));
    assert_eq!(user.ok(&["models", "list", "--json"]).json()["parts"], serde_json::json!([]));
    let safetensors: Vec<_> = server.asked().into_iter().filter(|it| it.path.ends_with("safetensors")).collect();
    assert_eq!(safetensors.iter().map(|it| it.from).collect::<Vec<_>>(), [Some(40)], "of {size} bytes");
    assert!(parts(&user).contains(&"other.bin".to_owned()) && parts(&user).len() == 2, "{:?}", parts(&user));
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    let user = user();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::of(&folder(&user, "own"), move |request, bytes| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 | 1 => Reply::new("503 Service Unavailable", &[], b"later"),
            _ => Reply::file(request, bytes),
        }
    });
    let ran = pull(&user, &server, &[&own()]);
    assert_eq!((ran.code, server.asked().len()), (Some(0), 4), "{ran}");
    let server = Server::new(|_| Reply::new("503 Service Unavailable", &[], b"later"));
    let ran = pull(&user, &server, &["potion-base-8M"]);
    assert!(ran.code == Some(1) && ran.err.contains("503 (it is in trouble)"), "{ran}");
    assert_eq!(server.asked().len(), 3, "it is given up");
}

#[test]
fn a_server_that_cannot_go_on_begins_anew() {
    let user = user();
    let server = Server::of(&folder(&user, "own"), |asked, bytes| {
        let whole = Reply::new("200 OK", &[], bytes);
        if asked.from.is_none() { whole.cut(40) } else { whole }
    });
    let ran = pull(&user, &server, &[&own()]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(server.asked().iter().map(|it| it.from).collect::<Vec<_>>(), [None, Some(40), None, Some(40)]);
}

#[test]
fn what_is_not_what_was_published_is_refused() {
    let user = user();
    const SIZE: usize = 683_666;
    for (length, reason) in [(SIZE, "SHA-256"), (SIZE + 1, "another number than"), (SIZE - 1, "another number than")] {
        let server = Server::new(move |asked| Reply::file(asked, &vec![b'x'; length]));
        let ran = pull(&user, &server, &["potion-base-8M", "--use"]);
        assert!(ran.code == Some(1) && ran.err.contains(reason) && ran.err.contains("mirror"), "{ran}");
        assert_eq!(server.asked().len(), 1, "{ran}");
        assert_eq!(parts(&user), Vec::<String>::new(), "{ran}");
    }
    // Without saying how long it is.
    let server = Server::new(move |_| {
        let mut endless = Vec::new();
        for _ in 0..100 {
            endless.extend_from_slice(b"2000\r\n");
            endless.extend(vec![b'x'; 0x2000]);
            endless.extend_from_slice(b"\r\n");
        }
        Reply::new("200 OK", &["Transfer-Encoding: chunked".to_owned()], &endless)
    });
    let ran = pull(&user, &server, &["potion-base-8M"]);
    assert!(ran.code == Some(1) && ran.err.contains("not read further"), "{ran}");
    assert_eq!(parts(&user), Vec::<String>::new(), "{ran}");
    assert_eq!(in_use(&user), ["built-in"]);
}

/// As those that have a name, from a list that is made up for it.
#[test]
fn what_is_as_it_was_published_is_kept() {
    let user = user();
    let own_folder = folder(&user, "own");
    let server = Server::of(&own_folder, Reply::file);
    let file = |name: &'static str, change: u8| {
        let mut bytes = fs::read(Path::new(&own_folder).join(name)).unwrap();
        let size = bytes.len() as u64;
        *bytes.last_mut().unwrap() ^= change;
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        PublishedFile { name, pinned: Some((size, &*hash.leak())) }
    };
    let published = |change| Published {
        name: "own".to_owned(),
        repository: "acme/own".to_owned(),
        revision: REVISION.to_owned(),
        licence: "MIT",
        about: "made up",
        files: [file("tokenizer.json", 0), file("model.safetensors", change)],
    };
    let home = Home::choose(Some(user.state())).unwrap();
    let get = |published: &Published| {
        embedding::pull(&home, published, "own", &server.url, &AtomicBool::new(false), &mut |_, _| {})
    };
    let refused = get(&published(1)).unwrap_err().to_string();
    assert!(refused.contains("the contents have the SHA-256"), "{refused}");
    assert!(!parts(&user).contains(&"own.bin".to_owned()));
    let pulled = get(&published(0)).unwrap();
    assert!(pulled.files.iter().all(|file| file.pinned), "{pulled:?}");
    assert_eq!((pulled.model.licence.as_str(), parts(&user)), ("MIT", vec!["own.bin".to_owned()]));
    // What was right is not fetched once more.
    assert_eq!(server.asked().iter().map(|it| it.from.is_some()).collect::<Vec<_>>(), [false, false, false]);
}

/// A proxy that resolves names itself, as `ssh -D` is one: whatever is asked for, it leads to one server. Gives its address, and to
/// what it was asked to connect.
fn socks(to: &Server) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, to) = (format!("socks5h://{}", listener.local_addr().unwrap()), to.url.replace("http://", ""));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let connected = connect(&client, &to).map(|(name, server)| {
                seen.lock().unwrap().push(name);
                let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut from, &mut into));
                let (mut from, mut into) = (server, client);
                std::io::copy(&mut from, &mut into)
            });
            // A client may have gone.
            drop(connected);
        }
    });
    (url, asked)
}

/// What is said before the connection stands (RFC 1928): without a password, to a name.
fn connect(client: &TcpStream, to: &str) -> std::io::Result<(String, TcpStream)> {
    let read = |count: usize| {
        let (mut client, mut bytes) = (client, vec![0; count]);
        client.read_exact(&mut bytes).map(|()| bytes)
    };
    let write = |bytes: &[u8]| {
        let mut client = client;
        client.write_all(bytes)
    };
    let ways = read(2)?[1];
    read(ways.into())?;
    write(&[5, 0])?;
    let head = read(5)?;
    assert_eq!(head[..4], [5, 1, 0, 3], "the name is not looked up here");
    let name = read(head[4].into())?;
    read(2)?;
    write(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    Ok((String::from_utf8_lossy(&name).into_owned(), TcpStream::connect(to)?))
}

#[test]
fn a_proxy_is_never_gone_around() {
    let user = user();
    let server = Server::of(&folder(&user, "own"), Reply::file);
    let (proxy, asked) = socks(&server);
    for variable in ["ALL_PROXY", "https_proxy"] {
        let mut command = user.command(&["models", "pull", &own()]);
        command.env("TOTALRECALL_MODEL_MIRROR", "http://models.invalid").env(variable, &proxy);
        let ran = Ran::of(&user, command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_eq!(std::mem::take(&mut *asked.lock().unwrap()), ["models.invalid"; 2]);
    }
}

#[test]
fn a_revision_that_changes_is_told() {
    let user = user();
    let own_folder = folder(&user, "own");
    let server = Server::of(&own_folder, Reply::file);
    assert_eq!(pull(&user, &server, &[&own()]).code, Some(0));
    let tokenizer = Path::new(&own_folder).join("tokenizer.json");
    fs::write(&tokenizer, fs::read_to_string(&tokenizer).unwrap() + " ").unwrap();
    let ran = pull(&user, &server, &[&own()]);
    assert!(ran.code == Some(1) && ran.err.contains("a repository cannot change"), "{ran}");
    assert_eq!(pull(&user, &server, &[&own(), "--name", "second"]).code, Some(0));
    // Another repository's is not put in its place.
    let ran = pull(&user, &server, &[&own().replacen('/', "s/", 1), "--name", "second"]);
    assert!(ran.code == Some(1) && ran.err.contains("there is another model second here"), "{ran}");
}

#[test]
fn it_follows_only_where_it_may() {
    let user = user();
    let own_folder = folder(&user, "own");
    let there = Server::of(&own_folder, Reply::file);
    let elsewhere = there.url.clone();
    let server = Server::of(&own_folder, move |asked, bytes| match asked.path.strip_prefix("/acme") {
        Some(rest) if rest.ends_with("json") => Reply::redirect(format!("/moved{rest}")),
        Some(rest) => Reply::redirect(format!("{elsewhere}{rest}")),
        None => Reply::file(asked, bytes),
    });
    let ran = pull(&user, &server, &[&own()]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!((server.asked().len(), there.asked().len()), (3, 1));

    for (to, reason) in [
        ("http://models.invalid/x", "it is not encrypted"),
        ("file:///etc/passwd?signature", "cannot be used"),
        ("http://192.0.2.1/x?signature", "it is not encrypted"),
        ("http://127.0.0.1:1/x?signature", "127.0.0.1:1/x"),
        ("/acme/own/again", "redirects more than"),
        ("", "redirects to nowhere"),
    ] {
        let server = Server::new(move |_| Reply::redirect(to.to_owned()));
        let ran = pull(&user, &server, &[&own(), "--name", "other"]);
        assert!(ran.code == Some(1) && ran.err.contains(reason), "{to}: {ran}");
        assert!(!ran.err.contains("signature"), "{ran}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let user = user();
    let server = Server::new(|_| Reply::new("404 Not Found", &[], b"no"));
    let ran = pull(&user, &server, &["potion-base-8M"]);
    assert!(ran.code == Some(1) && ran.err.contains("404 (it has no such file)"), "{ran}");
    assert_eq!(server.asked().len(), 1, "it is not asked again and again");
    for name in
        ["potion-base-9M", "acme/own", "acme/own@main", "../own", "acme/..@0123456789abcdef0123456789abcdef01234567"]
    {
        let ran = pull(&user, &server, &[name]);
        assert!(ran.code == Some(2) && ran.err.contains("models list"), "{ran}");
    }
    let ran = pull(&user, &server, &["potion-base-8M", "--name", "../x"]);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert_eq!(server.asked().len(), 1);
    for mirror in ["ftp://127.0.0.1/x", "models", "http://me:secret@127.0.0.1/"] {
        let mut command = user.command(&["models", "pull", "potion-base-8M"]);
        let ran = Ran::of(&user, command.env("HF_ENDPOINT", mirror).output().unwrap());
        assert!(ran.code == Some(1) && ran.err.contains("cannot be used"), "{ran}");
    }
    let listed = user.ok(&["models", "list"]).out;
    assert!(listed.contains("potion-multilingual-128M") && listed.contains("not here: `models pull"), "{listed}");
}

/// A disk of 64 KiB. Where nobody may mount one it is said that nothing was tried.
#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_nothing_is_begun_and_nothing_thrown_away() {
    let user = user();
    let server = Server::of(&folder(&user, "own"), Reply::file);
    let models = user.state().join("models");
    fs::create_dir_all(&models).unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$MODELS\" || exit 77; \"$PROGRAM\" models pull \"$MODEL\"; code=$?; \
                  find \"$MODELS\" -type f; echo came >\"$PART\"; \"$PROGRAM\" models pull \"$MODEL\"; cat \"$PART\"; exit $code";
    let mut shell = std::process::Command::new("unshare");
    shell.args(["--mount", "--map-root-user", "sh", "-c", script]).current_dir(user.folder()).env_clear();
    shell.envs(user.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", std::env::var_os("PATH").unwrap()).env("PROGRAM", env!("CARGO_BIN_EXE_totalrecall"));
    let part = models.join(format!("parts/{REVISION}/acme/own/tokenizer.json.part"));
    shell.env("MODELS", &models).env("PART", part).env("MODEL", own()).env("TOTALRECALL_MODEL_MIRROR", &server.url);
    let ran = shell.output().map(|output| Ran::of(&user, output));
    let Some(ran) = ran.ok().filter(|ran| !matches!(ran.code, Some(77)) && !ran.err.contains("unshare:")) else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: nobody may mount anything here, so a full disk was not tried");
        return;
    };
    assert!(ran.code == Some(1) && ran.err.contains("there is no room for"), "{ran}");
    assert_eq!(ran.out, "came\n", "no file is left, and what was there stays");
    assert_eq!(pull(&user, &server, &[&own()]).code, Some(0));
}

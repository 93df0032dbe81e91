//! A server by other hands than ours: the crate `h2` on tokio. It knows nothing of what Pippin
//! thinks HTTP/2 is.
use std::collections::HashSet;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use h2::RecvStream;
use h2::server::{Builder, SendResponse};
use http::{Request, Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};

/// What the server has seen.
#[derive(Debug, Default)]
pub struct Account {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
    pub body_bytes: AtomicU64,
    /// What was asked for.
    pub paths: Mutex<HashSet<String>>,
    /// The traces that requests belong to.
    pub traces: Mutex<Vec<String>>,
    under_way: AtomicU64,
    /// The most requests that were under way at the same time.
    pub peak: AtomicU64,
}

/// How it serves: paths name what is wanted.
///
/// | path | answer |
/// |---|---|
/// | `/echo` | the request's body |
/// | `/bytes/N` | N bytes |
/// | `/wait/MS/TEXT` | TEXT, after a wait |
/// | others | the path, with trailers |
pub struct Library {
    pub address: SocketAddr,
    pub account: Arc<Account>,
    _runtime: tokio::runtime::Runtime,
}

impl Library {
    pub fn new(builder: Builder) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (address, account) = (listener.local_addr().unwrap(), Arc::new(Account::default()));
        runtime.spawn(accept(listener, builder, Arc::clone(&account)));
        Self { address, account, _runtime: runtime }
    }
}

async fn accept(listener: TcpListener, builder: Builder, account: Arc<Account>) {
    while let Ok((stream, _)) = listener.accept().await {
        account.connections.fetch_add(1, Relaxed);
        tokio::spawn(converse(stream, builder.clone(), Arc::clone(&account)));
    }
}

async fn converse(stream: TcpStream, builder: Builder, account: Arc<Account>) {
    let _ = stream.set_nodelay(true);
    let Ok(mut connection) = builder.handshake::<_, bytes::Bytes>(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(answer(request, respond, Arc::clone(&account)));
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<bytes::Bytes>,
    account: Arc<Account>,
) -> Option<()> {
    account.requests.fetch_add(1, Relaxed);
    let under_way = account.under_way.fetch_add(1, Relaxed) + 1;
    account.peak.fetch_max(under_way, Relaxed);
    let path = request.uri().path().to_owned();
    account.paths.lock().unwrap().insert(path.clone());
    if let Some(trace) = request.headers().get("traceparent") {
        let trace = trace.to_str().unwrap().split('-').nth(1).unwrap().to_owned();
        account.traces.lock().unwrap().push(trace);
    }
    assert_eq!(request.uri().authority().map(|authority| authority.as_str()), Some("truth"));
    let body = read(request.into_body(), &account).await?;
    let (body, has_trailers) = match path.split('/').collect::<Vec<_>>()[1..] {
        ["echo"] => (body, false),
        ["bytes", count] => (vec![b'x'; count.parse().ok()?], false),
        ["wait", milliseconds, text] => {
            tokio::time::sleep(Duration::from_millis(milliseconds.parse().ok()?)).await;
            (text.into(), false)
        }
        _ => (path.clone().into_bytes(), true),
    };
    account.under_way.fetch_sub(1, Relaxed);
    let response = Response::builder()
        .status(StatusCode::OK)
        .header("server", "by other hands")
        .header("content-type", "text/plain; charset=utf-8")
        .header("x-path", &path)
        .body(())
        .ok()?;
    let mut stream = respond.send_response(response, false).ok()?;
    send(&mut stream, body.into(), !has_trailers).await?;
    if has_trailers {
        let mut trailers = http::HeaderMap::new();
        trailers.insert("x-sum", http::HeaderValue::from_static("1"));
        stream.send_trailers(trailers).ok()?;
    }
    Some(())
}

async fn read(mut body: RecvStream, account: &Account) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.ok()?;
        account.body_bytes.fetch_add(piece.len() as u64, Relaxed);
        let _ = body.flow_control().release_capacity(piece.len());
        all.extend_from_slice(&piece);
    }
    Some(all)
}

/// Sends a body as the client's windows allow.
async fn send(
    stream: &mut h2::SendStream<bytes::Bytes>,
    mut body: bytes::Bytes,
    ends: bool,
) -> Option<()> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len().min(16_384));
        let capacity = poll(stream).await?;
        let piece = body.split_to(capacity.min(body.len()));
        stream.send_data(piece, false).ok()?;
    }
    if ends { stream.send_data(bytes::Bytes::new(), true).ok() } else { Some(()) }
}

fn poll(stream: &mut h2::SendStream<bytes::Bytes>) -> impl Future<Output = Option<usize>> + '_ {
    std::future::poll_fn(move |context| {
        stream.poll_capacity(context).map(|capacity| capacity.and_then(Result::ok))
    })
}

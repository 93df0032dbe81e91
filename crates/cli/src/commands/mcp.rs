//! `pippin mcp`: lets programs that work with language models measure. It answers the Model Context
//! Protocol (revision 2025-11-25, <https://modelcontextprotocol.io/specification>): JSON-RPC 2.0, a
//! message a line, on standard input and output. Why it is written here: docs/decisions/mcp.md.
//!
//! | module | what it does |
//! |---|---|
//! | [`tools`] | the tools: their schemas, and the command line of a call |
//! | [`calls`] | runs the command lines, one at a time, and ends those that are cancelled |
mod calls;
mod tools;

use serde_json::{Value, json};
use std::io::{BufRead, Read, Write, stdin, stdout};
use std::sync::{Arc, Mutex, PoisonError};

use super::Shared;
use crate::exit::{self, CliError};
use calls::Calls;

/// The revisions whose messages are these, the newest first.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What clients tell their model of this server.
const INSTRUCTIONS: &str = "Pippin measures HTTP servers on this machine, and says how far its figures \
    can be trusted: give the verdict (VALID, SUSPECT, INVALID) and its reasons with every figure. One \
    measurement runs at a time.";

/// A longer message is refused.
const MOST_BYTES: u64 = 1 << 20;

// Codes of JSON-RPC 2.0, section 5.1.
const NO_JSON: i64 = -32700;
const NO_REQUEST: i64 = -32600;
const NO_METHOD: i64 = -32601;
const WRONG_PARAMS: i64 = -32602;

/// Answers until standard input ends. Then measurements under way are ended, and awaited.
pub fn run(shared: &Shared) -> Result<u8, CliError> {
    let calls = Arc::new(Calls::new(shared.store.clone()));
    let out = Arc::new(Mutex::new(stdout()));
    let mut threads = Vec::new();
    let mut input = stdin().lock();
    while let Some(line) = line(&mut input).map_err(CliError::io("read standard input"))? {
        match read(&line) {
            Message::Nothing => {}
            Message::Answer(answer) => write(&out, &answer)?,
            Message::Cancel(id) => calls.cancel(&id),
            Message::Call { id, words } => {
                calls.accept(&id);
                let (calls, out) = (Arc::clone(&calls), Arc::clone(&out));
                threads.push(std::thread::spawn(move || {
                    // The protocol wants no answer to what was cancelled. If nobody reads, standard
                    // input ends too.
                    if let Some(result) = calls.run(&id, &words) {
                        let _ = write(&out, &answered(&id, &result));
                    }
                }));
            }
        }
        threads.retain(|thread| !thread.is_finished());
    }
    calls.cancel_all();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    Ok(exit::OK)
}

/// The next line; `None` at the end. Of one that is too long, so much that it is no JSON.
fn line(input: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line)?;
    if read as u64 == MOST_BYTES && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok((read > 0).then_some(line))
}

fn write(out: &Mutex<impl Write>, answer: &Value) -> Result<(), CliError> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(CliError::io("write an answer"))
}

/// What a message asks for.
#[derive(Debug, PartialEq)]
enum Message {
    /// A notification that changes nothing, or an empty line.
    Nothing,
    /// It is answered at once.
    Answer(Value),
    /// The request with this id need not be answered any more.
    Cancel(Value),
    /// A call of a tool, as the words of a command line of Pippin.
    Call { id: Value, words: Vec<String> },
}

fn read(line: &[u8]) -> Message {
    if line.trim_ascii().is_empty() {
        return Message::Nothing;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Message::Answer(refused(&Value::Null, NO_JSON, "this line is no JSON"));
    };
    let params = &message["params"];
    match (message["method"].as_str(), message.get("id")) {
        (Some("notifications/cancelled"), None) => Message::Cancel(params["requestId"].clone()),
        // A notification, or an answer, although this server asks nothing.
        (Some(_), None) | (None, Some(_)) if message.is_object() => Message::Nothing,
        (Some(method), Some(id)) => request(id, method, params),
        _ => Message::Answer(refused(&Value::Null, NO_REQUEST, "this is no message of JSON-RPC")),
    }
}

fn request(id: &Value, method: &str, params: &Value) -> Message {
    Message::Answer(match method {
        "initialize" => answered(id, &initialized(&params["protocolVersion"])),
        "ping" => answered(id, &json!({})),
        "tools/list" => answered(id, &json!({ "tools": tools::list() })),
        "tools/call" => match tools::words(&params["name"], &params["arguments"]) {
            Ok(Ok(words)) => return Message::Call { id: id.clone(), words },
            // A model can mend its arguments if it is told of them in a result.
            Ok(Err(wrong)) => answered(id, &calls::failed(&wrong)),
            Err(unknown) => refused(id, WRONG_PARAMS, &unknown),
        },
        _ => refused(id, NO_METHOD, &format!("`{method}` is not answered here")),
    })
}

/// The revision that the client asked for, if it is known; or else the newest.
fn initialized(asked: &Value) -> Value {
    let revision = REVISIONS.into_iter().find(|revision| asked == revision);
    json!({
        "protocolVersion": revision.unwrap_or(REVISIONS[0]),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "pippin", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn answered(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn refused(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(message: &Value) -> Value {
        match read(message.to_string().as_bytes()) {
            Message::Answer(answer) => answer,
            other => panic!("{message}: {other:?}"),
        }
    }

    fn ask(method: &str, params: &Value) -> Value {
        answer(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }))
    }

    #[test]
    fn a_known_revision_is_taken_and_the_newest_offered_instead_of_another() {
        for (asked, got) in [("2025-03-26", "2025-03-26"), ("1999-01-01", REVISIONS[0])] {
            let answer = ask("initialize", &json!({ "protocolVersion": asked }));
            assert_eq!(answer["result"]["protocolVersion"], got);
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_code() {
        let code = |line: &str| match read(line.as_bytes()) {
            Message::Answer(answer) => answer["error"]["code"].as_i64(),
            _ => None,
        };
        assert_eq!(code("load localhost"), Some(NO_JSON));
        assert_eq!(code("[]"), Some(NO_REQUEST));
        assert_eq!(code("{}"), Some(NO_REQUEST));
        assert_eq!(code(r#"{"id":1,"method":"resources/list"}"#), Some(NO_METHOD));
        let unknown = r#"{"id":1,"method":"tools/call","params":{"name":"shell"}}"#;
        assert_eq!(code(unknown), Some(WRONG_PARAMS));
        for silent in ["", r#"{"method":"notifications/initialized"}"#, r#"{"id":1,"result":{}}"#] {
            assert_eq!(read(silent.as_bytes()), Message::Nothing, "{silent}");
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_and_the_next_one_read() {
        let mut input = vec![b'x'; 3 * MOST_BYTES as usize];
        input.extend_from_slice(b"\n{}\n");
        let mut input = input.as_slice();
        assert_eq!(line(&mut input).unwrap().unwrap().len() as u64, MOST_BYTES);
        assert_eq!(line(&mut input).unwrap().unwrap(), b"{}\n");
        assert_eq!(line(&mut input).unwrap(), None);
    }

    #[test]
    fn a_call_becomes_a_command_line_and_wrong_arguments_a_result() {
        let call = |arguments: Value| {
            let params = json!({ "name": "load", "arguments": arguments });
            read(
                json!({ "id": 7, "method": "tools/call", "params": params }).to_string().as_bytes(),
            )
        };
        let Message::Call { id, words } = call(json!({ "url": "localhost:8080" })) else {
            panic!("not called")
        };
        assert_eq!((id, words[0].as_str()), (json!(7), "load"));
        let Message::Answer(answer) = call(json!({ "uri": "localhost:8080" })) else {
            panic!("not refused")
        };
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer.to_string().contains("uri"), "{answer}");
    }

    #[test]
    fn a_cancelled_request_is_named_by_its_id() {
        let message =
            json!({ "method": "notifications/cancelled", "params": { "requestId": "a" } });
        assert_eq!(read(message.to_string().as_bytes()), Message::Cancel(json!("a")));
    }
}

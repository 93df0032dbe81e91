//! A unary call of gRPC over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md).
use pippin_model::load::Request;

use super::request::has;
use crate::exit::CliError;

/// Makes a request a call: POST, the message with its prefix as the body, and the headers of gRPC.
/// The prefix is a byte that says "not compressed" and the length in four bytes, most significant
/// first.
pub fn call(request: &mut Request) -> Result<(), CliError> {
    let length = u32::try_from(request.body.len())
        .map_err(|_| CliError::User("--grpc: a message has at most 4 GiB".into()))?;
    request.method = "POST".into();
    request.body.splice(..0, std::iter::once(0).chain(length.to_be_bytes()));
    for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
        if !has(&request.headers, name) {
            request.headers.push((name.into(), value.into()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_prefix_and_the_headers_and_keeps_those_that_are_given() {
        let header = |name: &str, value: &str| (name.to_string(), value.to_string());
        let types = ["application/grpc", "application/grpc+json"];
        for (given, kind) in
            [(vec![], types[0]), (vec![header("Content-Type", types[1])], types[1])]
        {
            let mut request = Request { headers: given, ..Request::get("/a.B/C", "h") };
            request.body = vec![7; 258];
            call(&mut request).unwrap();
            assert_eq!((request.method.as_str(), request.body.len()), ("POST", 263));
            assert_eq!(request.body[..6], [0, 0, 0, 1, 2, 7]);
            let found = |name: &str| {
                let mut all = request.headers.iter();
                all.find(|(own, _)| own.eq_ignore_ascii_case(name)).unwrap().1.clone()
            };
            assert_eq!((found("content-type").as_str(), found("te").as_str()), (kind, "trailers"));
        }
        let mut empty = Request::get("/a.B/C", "h");
        call(&mut empty).unwrap();
        assert_eq!(empty.body, [0; 5]);
    }
}

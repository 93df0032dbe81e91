use super::*;
use crate::scenario::Walkers;
use pippin_model::load::{LoadSpec, Request, StopRule};
use pippin_model::scenario::{Capture, Step, find::Source};

/// The scenario of one step, whose values are captured by its user before, with a request for
/// `/d/e?f=/g`. Sent again, it is the same.
fn rendered(request: Request, encoding: Encoding, values: &[(&str, &str)]) -> String {
    let captures = values
        .iter()
        .map(|(name, _)| Capture { name: (*name).into(), from: Source::Header("X".into()) });
    let step =
        Step { name: "s".into(), body: encoding, captures: captures.collect(), ..Step::default() };
    let spec = LoadSpec {
        requests: vec![request].into(),
        scenario: Some(Scenario { cookies: true, steps: vec![step], ..Scenario::default() }),
        stop: StopRule::requests(1),
        ..LoadSpec::default()
    };
    let wire = Arc::new(Varied::wire(&spec).unwrap());
    let mut protocol = Varied::new(&spec, &wire);
    let mut walkers = Walkers::new(&spec, 0, 1, 1).unwrap();
    let user = walkers.at_step(0);
    user.cookies.take("sid=1; Path=/a", "/");
    for (place, (_, value)) in user.values.iter_mut().zip(values) {
        *place = (*value).into();
    }
    user.base = "/d/e?f=/g".into();
    let mut out = Frames::default();
    Steps::render_for(&mut protocol, &mut Session::default(), 0, user, &mut out);
    let mut again = Frames::default();
    Steps::render_for(&mut protocol, &mut Session::default(), 0, user, &mut again);
    assert_eq!(out.bytes, again.bytes);
    String::from_utf8(out.bytes).unwrap()
}

fn get(target: &str) -> Request {
    Request::get(target, "h")
}

#[test]
fn values_are_encoded_where_they_stand_and_the_length_is_that_of_the_body() {
    let request = Request {
        method: "POST".into(),
        headers: vec![("X".into(), "{a}".into())],
        body: b"v={a}".to_vec(),
        ..get("/a/{a}?q={b}")
    };
    let values = [("a", "x y"), ("b", "/ü")];
    assert_eq!(
        rendered(request.clone(), Encoding::Percent, &values),
        "POST /a/x%20y?q=%2F%C3%BC HTTP/1.1\r\nHost: h\r\nX: x y\r\nCookie: sid=1\r\n\
         Content-Length: 7\r\n\r\nv=x%20y"
    );
    let json = Request { body: br#"{"v":"{b}"}"#.to_vec(), ..request };
    let text = rendered(json, Encoding::Json, &[("a", "x"), ("b", "\"")]);
    assert!(text.ends_with("Content-Length: 10\r\n\r\n{\"v\":\"\\\"\"}"), "{text}");
}

#[test]
fn a_captured_path_is_asked_as_it_is_and_a_reference_is_resolved() {
    let cases = [
        ("/a/b?c=d e", "/a/b?c=d%20e"),
        ("http://h:80/a?x=/y", "/a?x=/y"),
        ("https://h", "/"),
        ("a/b", "/d/a/b"),
        ("/a#frag?x", "/a"),
        ("?page=2#top", "/d/e?page=2"),
        ("../up", "/up"),
        ("//other/x", "/x"),
        ("http://h?q=/z", "/?q=/z"),
        ("http://h#x", "/"),
        ("", "/d/e?f=/g"),
    ];
    for (next, target) in cases {
        let text = rendered(get("{+next}"), Encoding::Plain, &[("next", next)]);
        assert!(text.starts_with(&format!("GET {target} HTTP/1.1\r\n")), "{text}");
    }
}

#[test]
fn a_path_that_the_step_begins_is_sent_as_written() {
    let next = [("next", "../b//c#d")];
    let text = rendered(get("/a/./{+next}"), Encoding::Plain, &next);
    assert!(text.starts_with("GET /a/./../b//c HTTP/1.1\r\n"), "{text}");
}

#[test]
fn a_cookie_stays_at_its_path() {
    assert!(!rendered(get("/b"), Encoding::Plain, &[]).contains("Cookie"));
    assert!(rendered(get("/a/b"), Encoding::Plain, &[]).contains("Cookie: sid=1\r\n"));
}

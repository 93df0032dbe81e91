use super::*;
use crate::text::file::parse_toml;

const SHOP: &str = r#"
cookies = true

[data]
user = { file = "users.csv" }
item = { from = 1, to = 9 }

[[steps]]
name = "form"
get = "/login"
expect = { status = 200, contains = ["Log in", "csrf"] }
capture = { csrf = "cookie:csrftoken", form = 'regex:value="([^"]+)"' }

[[steps]]
post = "/login?next={item}"
form = { user = "{user.name}", "a b" = "x y&{csrf}" }
headers = { Referer = "http://a/{form}" }
expect = { status = [302, "2xx"], header = { Location = "/" }, max_bytes = "1KiB" }
capture = { next = "header:Location" }
think = "2s +-50%"

[[steps]]
get = "{+next}"
expect = { json = { "$.id" = 5, "/name" = "{user.name}" }, regex = "a.c" }

[[steps]]
put = "/x"
json = { id = "{item}", list = [1] }
"#;

fn resolve(text: &str) -> Result<(Vec<Request>, Scenario), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("users.csv"), "name,note\nana,x\nbo,\"a\nb\"\n").unwrap();
    let path = folder.path().join("shop.toml");
    std::fs::write(&path, text).unwrap();
    let made = read(&path).map(|(_, requests, scenario)| (requests, scenario));
    made.map_err(|error| {
        let folder = format!("{}/", folder.path().display());
        error.to_string().replace(&folder, "")
    })
}

#[test]
fn a_scenario_is_requests_and_what_belongs_to_them() {
    let (requests, scenario) = resolve(SHOP).unwrap();
    assert!(scenario.cookies);
    assert_eq!(
        scenario.parts()[0].names(),
        ["item", "user.name", "user.note", "csrf", "form", "next"]
    );
    let lines: Vec<String> =
        requests.iter().map(|request| format!("{} {}", request.method, request.target)).collect();
    assert_eq!(lines, ["GET /login", "POST /login?next={item}", "GET {+next}", "PUT /x"]);
    let names: Vec<&str> = scenario.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["form", "POST /login?next={item}", "GET {+next}", "PUT /x"]);
    assert_eq!(requests[1].body, b"a%20b=x%20y%26{csrf}&user={user.name}");
    assert_eq!(requests[1].headers[1], ("Content-Type".into(), FORM.into()));
    assert_eq!(requests[1].check.status.len(), 101);
    assert_eq!(requests[3].body, br#"{"id":"{item}","list":[1]}"#);
    let [form, login, next, put] = scenario.steps.as_slice() else { unreachable!() };
    assert_eq!((login.body, put.body), (Encoding::Percent, Encoding::Json));
    assert_eq!(form.captures[1].from, Source::Regex("value=\"([^\"]+)\"".into()));
    assert_eq!(login.think, Some(Spread { mean_ns: 2_000_000_000, jitter: 0.5 }));
    assert_eq!(
        login.assertions,
        [
            Assertion::MaxBytes(1024),
            Assertion::Header { name: "Location".into(), contains: "/".into() }
        ]
    );
    assert_eq!(next.assertions.len(), 3);
    assert!(next.assertions.contains(&Assertion::Json { path: "$.id".into(), is: "5".into() }));
}

#[test]
fn it_survives_json_and_a_record_has_no_rows() {
    let (_, scenario) = resolve(SHOP).unwrap();
    let text = serde_json::to_string(&scenario).unwrap();
    assert_eq!(serde_json::from_str::<Scenario>(&text).unwrap(), scenario);
    assert!(!serde_json::to_string(&scenario.for_record()).unwrap().contains("ana"));
    let other = resolve(&SHOP.replace("2s", "3s")).unwrap().1;
    assert_ne!(scenario.digest("a"), other.digest("a"));
    assert_ne!(scenario.digest("a"), scenario.digest("b"));
    let written: Written = parse_toml(Path::new("a"), SHOP).unwrap();
    let text = serde_json::to_string(&written).unwrap();
    assert_eq!(serde_json::from_str::<Written>(&text).unwrap(), written);
}

/// Each mistake in its own file: the error names the file, the line and the fix.
#[test]
fn a_slip_is_told_with_its_line_and_the_fix() {
    let step = |text: &str| format!("[data]\nid = {{ from = 1, to = 2 }}\n[[steps]]\n{text}\n");
    let cases = [
        ("cookies = true\n".into(), "there are no steps; begin with [[steps]]"),
        ("cookie = true\n".into(), "shop.toml:1: unknown key `cookie`: did you mean `cookies`?"),
        (step("name = \"a\""), "shop.toml:3: a step needs its request"),
        (step("get = \"/\"\npost = \"/\""), "shop.toml:5: a step is one request"),
        (
            step("get = \"/{ids}\""),
            "shop.toml:4: nothing is named `ids` here: did you mean `{id}`?",
        ),
        (step("get = \"/{zoo}\""), "the text {zoo} itself is written {{zoo}}"),
        (step("get = \"a\""), "shop.toml:4: \"a\" is not a path; begin with `/`"),
        (step("get = \"/a b\""), "shop.toml:4: \"/a b\" is not a path"),
        (step("get = \"/{id}#top\""), "shop.toml:4: a server is never sent what is behind `#`"),
        (step("post = \"/\"\njson = 2020-01-01"), "shop.toml:5: JSON has no dates"),
        (
            step("post = \"/\"\n[steps.json]\na = [1, { b = 10:00:00 }]"),
            "shop.toml:6: JSON has no dates; write it as a text, \"10:00:00\"",
        ),
        (step("post = \"/\"\n[steps.json]\na = 1\nb = nan"), "shop.toml:7: JSON has no nan"),
        (step("get = \"/\"\nexpect = { json = { \"$\" = inf } }"), "shop.toml:5: JSON has no nan"),
        (
            step("head = \"/\"\n[steps.capture]\na = \"header:X\"\nb = \"regex:x\""),
            "shop.toml:7: an answer to HEAD has no body",
        ),
        (step("get = \"/\"\nbody = \"x\""), "shop.toml:5: GET has no body"),
        (step("post = \"/\"\nbody = \"x\"\njson = 1"), "keep one"),
        (step("post = \"/\"\nbody = \"{+id}\""), "shop.toml:5: {+id} is for paths; write {id}"),
        (step("get = \"/\"\nthink = \"2\""), "shop.toml:5: `2` is not a duration"),
        (
            step("get = \"/\"\n[steps.capture]\na = \"json:$[\""),
            "shop.toml:6: `$[` is not a JSON path",
        ),
        (
            step("get = \"/\"\n[steps.capture]\nid = \"json:/a\""),
            "shop.toml:6: `id` is the name of",
        ),
        (step("get = \"/\"\n[steps.capture]\n\"a.b\" = \"json:/a\""), "`a.b` is not a valid name"),
        (step("get = \"/\"\nexpect = { status = 99 }"), "shop.toml:5: write statuses from 200"),
        (step("get = \"/\"\nexpect = { status = \"2x\" }"), "shop.toml:5: write statuses from 200"),
        (step("get = \"/\"\nexpect = { regex = \"(\" }"), "shop.toml:5: `(` is not a regular"),
        (step("get = \"/\"\nexpect = { max_bytes = \"1x\" }"), "shop.toml:5: `1x` is not a size"),
        (step("get = \"/\"\nexpect = { body = \"x\" }"), "unknown key `body`"),
        (step("head = \"/\"\nexpect = { contains = \"x\" }"), "shop.toml:5: an answer to HEAD"),
        (
            step("get = \"/\"\nheaders = { Host = \"a\" }"),
            "shop.toml:5: Pippin sets the header Host",
        ),
        ("[data]\na = { from = 3, to = 2 }\n".into(), "there are no steps"),
    ];
    for (text, message) in cases {
        let error = resolve(&text).unwrap_err();
        assert!(error.contains(message), "{error}\n{text}");
    }
}

#[test]
fn wrong_data_is_told_with_its_line() {
    let data = |text: &str| format!("[data]\nx = {text}\n[[steps]]\nget = \"/\"\n");
    let cases = [
        ("{ from = 3, to = 2 }", "shop.toml:2: `x`: from 3 is above to 2"),
        ("{ one_of = [] }", "shop.toml:2: `x`: one_of is empty"),
        ("{ letters = 0 }", "shop.toml:2: `x`: letters = 0"),
        ("{ file = \"no.csv\" }", "shop.toml:2: no.csv: No such file"),
        ("{ fil = \"no.csv\" }", "shop.toml:2: expected { from = 1, to = 100 }"),
    ];
    for (text, message) in cases {
        let error = resolve(&data(text)).unwrap_err();
        assert!(error.contains(message), "{error}\n{text}");
    }
}

#[test]
fn a_header_cannot_be_broken_by_a_value_and_cookies_are_kept_once() {
    let text = "[data]\nuser = { file = \"users.csv\" }\n[[steps]]\nget = \"/\"\nheaders = { X = \"{user.note}\" }\n";
    let error = resolve(text).unwrap_err();
    assert!(error.contains("shop.toml:5: `{user.note}` can be \"a\\nb\""), "{error}");
    let text = "cookies = true\n[[steps]]\nget = \"/\"\nheaders = { Cookie = \"a=b\" }\n";
    assert!(resolve(text).unwrap_err().contains("shop.toml:4: with cookies = true"));
}

#[test]
fn a_value_is_known_only_after_the_step_that_captures_it() {
    let text =
        "[[steps]]\nget = \"/{a}\"\n[[steps]]\nget = \"/\"\ncapture = { a = \"json:$.a\" }\n";
    let error = resolve(text).unwrap_err();
    assert!(error.contains("shop.toml:2: nothing is named `a` here"), "{error}");
}

#[test]
fn a_header_for_every_step_is_checked_for_each_of_them() {
    let (_, scenario) = resolve(SHOP).unwrap();
    for known in ["", "{user.name}", "{item}", "{{csrf}}"] {
        assert_eq!(check_added(&scenario, known), Ok(()), "{known}");
    }
    let cases = [
        ("Bearer {csrf}", "step `form`: nothing is named `csrf` here"),
        ("{user.nam}", "step `form`: nothing is named `user.nam` here: did you mean"),
        ("{+item}", "step `form`: {+item} is for paths"),
        ("{user.note}", "step `form`: `{user.note}` can be \"a\\nb\", which a header cannot hold"),
    ];
    for (value, message) in cases {
        let error = check_added(&scenario, value).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

use super::*;

const SHOP: &str = r#"{
  "info": { "name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
  "variable": [
    { "key": "base", "value": "https://{{host}}/v1" }, { "key": "host", "value": "shop.example" },
    { "key": "token", "value": "t0" }
  ],
  "auth": { "type": "bearer", "bearer": [ { "key": "token", "value": "{{token}}" } ] },
  "event": [ { "listen": "prerequest", "script": { "exec": ["x()"] } } ],
  "item": [
    { "name": "items", "item": [
      { "name": "one", "request": { "method": "GET",
        "header": [ { "key": "X-A", "value": "{{token}}" }, { "key": "X-B", "value": "b", "disabled": true } ],
        "url": { "raw": "{{base}}/items/:id?x=:y", "variable": [ { "key": "id", "value": "a/b" } ] },
        "body": { "mode": "raw", "raw": "pruned" } } },
      { "name": "make", "request": { "method": "POST", "auth": { "type": "noauth" },
        "url": { "protocol": "https", "host": ["shop", "example"], "path": ["v1", "items"],
          "query": [ { "key": "a", "value": "1" }, { "key": "b", "value": "2", "disabled": true } ] },
        "body": { "mode": "raw", "raw": "{\"n\": \"{{host}}\"}", "options": { "raw": { "language": "json" } } } } }
    ], "auth": { "type": "basic", "basic": [ { "key": "username", "value": "ana" }, { "key": "password", "value": "x" } ] } },
    { "name": "form", "request": { "method": "POST", "url": "{{base}}/form",
      "body": { "mode": "urlencoded", "urlencoded": [ { "key": "a b", "value": "ü" } ] } } },
    { "name": "graph", "request": { "method": "POST", "url": "shop.example/graphql",
      "auth": { "type": "apikey", "apikey": [ { "key": "key", "value": "k" }, { "key": "value", "value": "v 1" }, { "key": "in", "value": "query" } ] },
      "body": { "mode": "graphql", "graphql": { "query": "{ a }", "variables": "{\"b\": 1}" } } } },
    { "name": "parts", "request": { "method": "PUT", "url": "{{base}}/parts",
      "body": { "mode": "formdata", "formdata": [ { "key": "a", "value": "@1", "type": "text" } ] } } },
    { "name": "file", "request": { "method": "PUT", "url": "{{base}}/file", "body": { "mode": "file" } } },
    { "name": "aws", "request": { "method": "PUT", "url": "{{base}}/file", "auth": { "type": "awsv4" } } },
    { "name": "plain", "request": "{{base}}" }
  ]
}"#;

fn read(text: &str) -> Result<Imported, WrongLine> {
    parse(text, &BTreeMap::new())
}

#[test]
fn requests_are_read_with_variables_logins_and_bodies() {
    let imported = read(SHOP).unwrap();
    let of = |one: &FileRequest| {
        format!("{} {}{}", one.method, one.server.as_ref().unwrap(), one.target)
    };
    let asked: Vec<String> = imported.requests.iter().map(of).collect();
    assert_eq!(
        asked,
        [
            "GET https://shop.example/v1/items/a%2Fb?x=:y",
            "POST https://shop.example/v1/items?a=1",
            "POST https://shop.example/v1/form",
            "POST http://shop.example/graphql?k=v%201",
            "PUT https://shop.example/v1/parts",
            "GET https://shop.example/v1",
        ]
    );
    let [one, make, form, graph, parts, plain] = &imported.requests[..] else { panic!() };
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(one.headers, [pair("X-A", "t0"), pair("Authorization", "Basic YW5hOng=")]);
    assert!(one.body.is_empty(), "Postman sends none with GET");
    assert_eq!(make.headers, [pair("Content-Type", "application/json")]);
    assert_eq!(make.body, br#"{"n": "shop.example"}"#);
    assert_eq!(form.body, b"a%20b=%C3%BC");
    assert_eq!(graph.body, br#"{"query":"{ a }","variables":{"b":1}}"#);
    assert!(String::from_utf8_lossy(&parts.body).contains("name=\"a\"\r\n\r\n@1\r\n"));
    assert_eq!(plain.headers, [pair("Authorization", "Bearer t0")]);
    assert_eq!(
        imported.left_out_in_words(),
        [
            "requests that log in by `awsv4` (1)",
            "requests whose body is a file of the sender's machine (1)",
            "scripts, which are not run (1)",
        ]
    );
}

#[test]
fn a_variable_without_a_value_is_named_with_its_line() {
    for (from, to, place, part) in [
        (
            "\"value\": \"shop.example\"",
            "\"value\": null",
            "{{host}}",
            "{{host}} has no value in the collection: give it one with --variable 'host=VALUE'",
        ),
        ("{{base}}/form", "{{nowhere}}/form", "{{nowhere}}", "the variable {{nowhere}}"),
        ("{{base}}/form", "{{base}}/{{$guid}}", "{{$guid}}", "{{$guid}} is made anew by Postman"),
        ("{{base}}/items/:id", "{{base}}/items/:other", ":other", "the path has `:other`"),
        ("\"value\": \"shop.example\"", "\"value\": \"{{base}}\"", "{{base}}", "holds itself"),
    ] {
        let text = SHOP.replacen(from, to, 1);
        let (at, why) = read(&text).unwrap_err();
        assert!(why.contains(part), "{why}");
        assert!(text.lines().nth(at - 1).unwrap().contains(place), "{at}: {why}");
    }
    let given = BTreeMap::from([("base".to_string(), "http://localhost:1".to_string())]);
    let imported = parse(SHOP, &given).unwrap();
    assert_eq!(imported.requests[0].server.as_ref().unwrap().authority, "localhost:1");
}

#[test]
fn what_is_no_collection_is_refused() {
    for (text, line, part) in [
        ("{\n1", 2, "not a Postman collection"),
        ("{}", 1, "no info.schema"),
        (&SHOP.replace("v2.1.0", "v2.0.0"), 1, "export it as `Collection v2.1`"),
    ] {
        let (at, why) = read(text).unwrap_err();
        assert!(at == line && why.contains(part), "{at} {why}");
    }
}

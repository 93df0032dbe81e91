use super::*;

const SHOP: &str = r##"
openapi: 3.0.3
info: { title: Shop, version: "1" }
servers:
  - url: https://{region}.shop.example/v1/
    variables: { region: { default: eu } }
security: [ { key: [] } ]
paths:
  /items/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string }, example: a/b ä }
    get:
      parameters:
        - { name: page, in: query, schema: { type: integer, default: 1 } }
        - { name: tags, in: query, example: [x, y z], schema: { type: array } }
        - { name: ids, in: query, explode: false, example: [1, 2] }
        - { name: filter, in: query, style: deepObject, example: { a: 1 } }
        - { name: X-Trace, in: header, example: t1 }
        - { name: seen, in: cookie, example: 5 }
      responses:
        200: { description: ok, content: { application/json: {} } }
        404: { description: none }
    delete:
      security: []
      responses: { "204": { description: gone } }
  /items:
    post:
      requestBody:
        required: true
        content:
          application/xml: { example: <a/> }
          application/json: { schema: { $ref: "#/components/schemas/Item" } }
      responses: { "201": { description: made }, default: { description: no } }
  /login:
    post:
      security: []
      requestBody: { content: { application/x-www-form-urlencoded: { example: { user: a b, pin: 7 } } } }
  /search:
    get: { parameters: [ { name: q, in: query, required: true, schema: { type: string } } ] }
    put: { requestBody: { required: true, content: { application/json: { schema: { type: object } } } } }
    patch: { parameters: [ { $ref: "other.yaml#/q" } ] }
  /odd/{x}: { get: {} }
components:
  schemas:
    Item:
      allOf:
        - { properties: { name: { example: pen }, id: { readOnly: true, example: 9 } }, required: [name] }
        - type: object
          required: [price, tags]
          properties:
            price: { type: number, enum: [2.5, 3] }
            tags: { type: array, items: { type: string, default: new } }
            note: { type: string }
            more: { $ref: "#/components/schemas/Item" }
"##;

fn lines(imported: &Imported) -> Vec<String> {
    imported.requests.iter().map(|one| format!("{} {}", one.method, one.target)).collect()
}

#[test]
fn operations_are_asked_with_their_examples() {
    let imported = parse(SHOP).unwrap();
    assert_eq!(
        lines(&imported),
        [
            "POST /v1/items",
            "GET /v1/items/a%2Fb%20%C3%A4?tags=x&tags=y%20z&ids=1,2&filter[a]=1",
            "DELETE /v1/items/a%2Fb%20%C3%A4",
            "POST /v1/login",
        ]
    );
    let [post, get, delete, login] = &imported.requests[..] else { panic!("{imported:?}") };
    assert_eq!(post.server.as_ref().unwrap().to_string(), "https://eu.shop.example");
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    assert_eq!(body, serde_json::json!({ "name": "pen", "price": 2.5, "tags": ["new"] }));
    let header = |request: &FileRequest, name: &str| {
        request.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    };
    assert_eq!(header(post, "Content-Type").as_deref(), Some("application/json"));
    assert_eq!(header(get, "X-Trace").as_deref(), Some("t1"));
    assert_eq!(header(get, "Cookie").as_deref(), Some("seen=5"));
    assert_eq!(header(get, "Accept").as_deref(), Some("application/json"));
    assert_eq!(
        (&get.status[..], &post.status[..], &delete.status[..]),
        (&[200][..], &[201][..], &[204][..])
    );
    assert_eq!(login.body, b"pin=7&user=a%20b");
    let left = imported.left_out_in_words();
    assert_eq!(
        left,
        [
            "credentials, which the file does not hold: give them with -H or -u (2)",
            "operations that refer to other files (1)",
            "operations whose path has the parameter `x`, which is not described (1)",
            "operations without an example of their body (1)",
            "operations without an example of their parameter `q` (1)",
        ]
    );
    assert!(imported.only(None).unwrap().requests.iter().all(|one| one.server.is_none()));
}

#[test]
fn json_and_yaml_are_the_same() {
    let value: Value = document(SHOP).unwrap();
    assert_eq!(parse(&value.to_string()), parse(SHOP));
}

#[test]
fn what_is_no_openapi_3_is_refused_with_its_line() {
    for (text, line, part) in [
        ("{\n\"openapi\": }", 2, "not an OpenAPI file"),
        ("openapi: 3.0.0\npaths: [\n", 2, "not an OpenAPI file"),
        ("a: 1", 1, "no key `openapi`"),
        ("swagger: '2.0'", 1, "only version 3"),
        ("openapi: 4.0.0\npaths: {}", 1, "OpenAPI 4.0.0"),
        ("openapi: 3.1.0", 1, "no paths"),
    ] {
        let (at, why) = parse(text).unwrap_err();
        assert!((line..=line + 1).contains(&at) && why.contains(part), "{text}: {at} {why}");
    }
}

#[test]
fn a_schema_that_holds_itself_ends() {
    let text = r##"{"openapi": "3.0.0", "paths": {"/": {"post": {"requestBody": {"required": true,
        "content": {"application/json": {"schema": {"$ref": "#/a"}}}}}}},
        "a": {"required": ["b", "c"], "properties": {"b": {"$ref": "#/a"}, "c": {"$ref": "#/a"}}},
        "r": {"$ref": "#/r"}}"##;
    assert_eq!(parse(text).unwrap().left_out.len(), 1);
    let loops = text.replace("#/a\"}}}}}}}", "#/r\"}}}}}}}");
    assert!(parse(&loops).unwrap().requests.is_empty());
}

/// References that unfold to more than any file holds.
#[test]
fn a_file_that_unfolds_without_end_is_refused() {
    let mut text = String::from("openapi: 3.0.0\npaths: {}\na: &a [x, x, x, x, x, x, x, x, x]\n");
    for (name, of) in ["b", "c", "d", "e", "f", "g", "h", "i"]
        .iter()
        .zip(["a", "b", "c", "d", "e", "f", "g", "h"])
    {
        let many = vec![format!("*{of}"); 9].join(", ");
        text += &format!("{name}: &{name} [{many}]\n");
    }
    assert!(parse(&text).is_err());
}

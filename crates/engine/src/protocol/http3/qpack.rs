//! Header fields in HTTP/3 (RFC 9204), with the static table alone: we allow the server no dynamic
//! table, and use none ourselves.
use crate::protocol::http2::Field;
use crate::protocol::http2::literals::{BadBlock, Input, put_number, put_string};

/// The section of a request, and how far before its end the characters begin that are drawn for each
/// request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub bytes: Vec<u8>,
    pub drawn: Option<usize>,
}

impl Section {
    /// Writes the fields, pseudo-header fields first. `drawn` is what is drawn anew for each request.
    pub fn new(fields: &[Field], drawn: Option<&str>) -> Self {
        // Required Insert Count and Delta Base are 0: no dynamic table (section 4.5.1).
        let mut bytes = vec![0, 0];
        let is_pseudo = |field: &&Field| field.0.starts_with(':');
        let (first, then): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(is_pseudo);
        for (name, value) in first.into_iter().chain(then) {
            let varies = drawn.is_some_and(|drawn| value.contains(drawn));
            put(&mut bytes, name.as_bytes(), value.as_bytes(), varies);
        }
        let at = drawn.and_then(|drawn| memchr::memmem::find(&bytes, drawn.as_bytes()));
        Self { drawn: at.map(|at| bytes.len() - at), bytes }
    }
}

/// Appends a field.
fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8], varies: bool) {
    if let Some(index) = STATIC.iter().position(|entry| *entry == (name, value)) {
        // Indexed field line, static (section 4.5.2).
        return put_number(out, 0xC0, 6, index);
    }
    match STATIC.iter().position(|(known, _)| *known == name) {
        // Literal field line with name reference, static (section 4.5.4).
        Some(index) => put_number(out, 0x50, 4, index),
        // Literal field line with literal name (section 4.5.6).
        None => put_string(out, 0x20, 3, name, false),
    }
    put_string(out, 0, 7, value, varies);
}

/// Decodes a section and hands on each of its fields.
///
/// # Errors
/// If it breaks the rules, or needs a dynamic table. The fields before the fault were handed on.
pub(super) fn decode(section: &[u8], mut each: impl FnMut(&[u8], &[u8])) -> Result<(), BadBlock> {
    let mut input = Input(section);
    let needed = input.number(8)?;
    let _base = input.number(7)?;
    if needed != 0 {
        return Err(BadBlock);
    }
    let (mut name_space, mut value_space) = (Vec::new(), Vec::new());
    while let Some(first) = input.0.first().copied() {
        if first & 0xC0 == 0xC0 {
            let (name, value) = *STATIC.get(input.number(6)?).ok_or(BadBlock)?;
            each(name, value);
        } else if first & 0xD0 == 0x50 {
            let (name, _) = *STATIC.get(input.number(4)?).ok_or(BadBlock)?;
            each(name, input.string(7, &mut value_space)?);
        } else if first & 0xE0 == 0x20 {
            let name = input.string(3, &mut name_space)?;
            each(name, input.string(7, &mut value_space)?);
        } else {
            // Of the dynamic table.
            return Err(BadBlock);
        }
    }
    Ok(())
}

/// The static table (RFC 9204 appendix A).
#[rustfmt::skip]
const STATIC: [(&[u8], &[u8]); 99] = [
    (b":authority", b""), (b":path", b"/"), (b"age", b"0"), (b"content-disposition", b""),
    (b"content-length", b"0"), (b"cookie", b""), (b"date", b""), (b"etag", b""),
    (b"if-modified-since", b""), (b"if-none-match", b""), (b"last-modified", b""), (b"link", b""),
    (b"location", b""), (b"referer", b""), (b"set-cookie", b""), (b":method", b"CONNECT"),
    (b":method", b"DELETE"), (b":method", b"GET"), (b":method", b"HEAD"), (b":method", b"OPTIONS"),
    (b":method", b"POST"), (b":method", b"PUT"), (b":scheme", b"http"), (b":scheme", b"https"),
    (b":status", b"103"), (b":status", b"200"), (b":status", b"304"), (b":status", b"404"),
    (b":status", b"503"), (b"accept", b"*/*"), (b"accept", b"application/dns-message"),
    (b"accept-encoding", b"gzip, deflate, br"), (b"accept-ranges", b"bytes"),
    (b"access-control-allow-headers", b"cache-control"),
    (b"access-control-allow-headers", b"content-type"), (b"access-control-allow-origin", b"*"),
    (b"cache-control", b"max-age=0"), (b"cache-control", b"max-age=2592000"),
    (b"cache-control", b"max-age=604800"), (b"cache-control", b"no-cache"),
    (b"cache-control", b"no-store"), (b"cache-control", b"public, max-age=31536000"),
    (b"content-encoding", b"br"), (b"content-encoding", b"gzip"),
    (b"content-type", b"application/dns-message"), (b"content-type", b"application/javascript"),
    (b"content-type", b"application/json"), (b"content-type", b"application/x-www-form-urlencoded"),
    (b"content-type", b"image/gif"), (b"content-type", b"image/jpeg"),
    (b"content-type", b"image/png"), (b"content-type", b"text/css"),
    (b"content-type", b"text/html; charset=utf-8"), (b"content-type", b"text/plain"),
    (b"content-type", b"text/plain;charset=utf-8"), (b"range", b"bytes=0-"),
    (b"strict-transport-security", b"max-age=31536000"),
    (b"strict-transport-security", b"max-age=31536000; includesubdomains"),
    (b"strict-transport-security", b"max-age=31536000; includesubdomains; preload"),
    (b"vary", b"accept-encoding"), (b"vary", b"origin"), (b"x-content-type-options", b"nosniff"),
    (b"x-xss-protection", b"1; mode=block"), (b":status", b"100"), (b":status", b"204"),
    (b":status", b"206"), (b":status", b"302"), (b":status", b"400"), (b":status", b"403"),
    (b":status", b"421"), (b":status", b"425"), (b":status", b"500"), (b"accept-language", b""),
    (b"access-control-allow-credentials", b"FALSE"), (b"access-control-allow-credentials", b"TRUE"),
    (b"access-control-allow-headers", b"*"), (b"access-control-allow-methods", b"get"),
    (b"access-control-allow-methods", b"get, post, options"),
    (b"access-control-allow-methods", b"options"),
    (b"access-control-expose-headers", b"content-length"),
    (b"access-control-request-headers", b"content-type"),
    (b"access-control-request-method", b"get"), (b"access-control-request-method", b"post"),
    (b"alt-svc", b"clear"), (b"authorization", b""),
    (b"content-security-policy", b"script-src 'none'; object-src 'none'; base-uri 'none'"),
    (b"early-data", b"1"), (b"expect-ct", b""), (b"forwarded", b""), (b"if-range", b""),
    (b"origin", b""), (b"purpose", b"prefetch"), (b"server", b""), (b"timing-allow-origin", b"*"),
    (b"upgrade-insecure-requests", b"1"), (b"user-agent", b""), (b"x-forwarded-for", b""),
    (b"x-frame-options", b"deny"), (b"x-frame-options", b"sameorigin"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(section: &[u8]) -> Result<Vec<Field>, BadBlock> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decode(section, |name, value| fields.push((text(name), text(value))))?;
        Ok(fields)
    }

    fn field(name: &str, value: &str) -> Field {
        (name.into(), value.into())
    }

    #[test]
    fn the_example_of_the_rfc_without_a_dynamic_table() {
        // Appendix B.1.
        let section = b"\x00\x00\x51\x0b/index.html";
        assert_eq!(decoded(section).unwrap(), [field(":path", "/index.html")]);
    }

    #[test]
    fn what_needs_a_dynamic_table_or_is_cut_off_is_refused() {
        for section in [
            &b""[..],
            b"\x00",
            b"\x02\x00",
            b"\x00\x00\x80",
            b"\x00\x00\x10",
            b"\x00\x00\x40\x00",
            b"\x00\x00\x00\x00",
            b"\x00\x00\xFF\x24",
            b"\x00\x00\xFF\xFF\xFF\xFF\xFF\x01",
            b"\x00\x00\x51\x0b/index.htm",
        ] {
            assert_eq!(decoded(section), Err(BadBlock), "{section:?}");
        }
    }

    #[test]
    fn what_is_drawn_stands_as_it_is() {
        let fields =
            [field("x", "1"), field(":path", "/json/00000000?a=b"), field(":method", "GET")];
        let section = Section::new(&fields, Some("00000000"));
        let at = section.bytes.len() - section.drawn.unwrap();
        assert_eq!(&section.bytes[at..at + 8], b"00000000");
        let right = [fields[1].clone(), fields[2].clone(), fields[0].clone()];
        assert_eq!(decoded(&section.bytes).unwrap(), right, "pseudo-header fields go first");
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(
            fields in proptest::collection::vec(("[a-z-]{1,40}", "[ -~]{0,200}"), 0..20),
        ) {
            let section = Section::new(&fields, None);
            prop_assert_eq!(decoded(&section.bytes), Ok(fields));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let _ = decoded(&bytes);
        }
    }
}

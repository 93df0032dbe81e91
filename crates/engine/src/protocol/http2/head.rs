//! The header fields of an answer: which of them matter, and which are forbidden.
use memchr::memchr3;

/// What is known of a head, or of trailers, so far.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::protocol) struct Head {
    pub status: Option<u16>,
    /// What the field `content-length` says.
    pub length: Option<u64>,
    /// The size of all fields (RFC 9113 section 6.5.2).
    pub size: usize,
    /// A field without colon has come.
    has_regular: bool,
    /// What the field `content-type` says: gRPC.
    pub is_grpc: bool,
    /// What the field `grpc-status` says, if that is a number.
    pub grpc_status: Option<u32>,
    /// RFC 9113 section 8.1.1: the answer must not be accepted.
    pub is_malformed: bool,
}

/// Fields that are about a connection of HTTP/1.1 (section 8.2.2).
const OF_CONNECTIONS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

impl Head {
    /// Takes a field. Fields beyond `limit` bytes are not examined.
    #[inline]
    pub fn field(&mut self, name: &[u8], value: &[u8], limit: usize) {
        self.size += name.len() + value.len() + 32;
        if self.size > limit {
            return;
        }
        if name.first() == Some(&b':') {
            return self.pseudo(name, value);
        }
        self.has_regular = true;
        match name {
            b"content-length" => self.content_length(value),
            b"content-type" => self.is_grpc = is_grpc(value),
            b"grpc-status" => self.grpc_status = grpc_status(value),
            _ if OF_CONNECTIONS.contains(&name) => self.is_malformed = true,
            _ => {}
        }
        self.is_malformed |= !is_name(name) || !is_value(value);
    }

    /// Section 8.3.2: there is one pseudo-header field in an answer, before all other fields.
    fn pseudo(&mut self, name: &[u8], value: &[u8]) {
        let status = match value {
            [a, b, c] if value.iter().all(u8::is_ascii_digit) => {
                Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
            }
            _ => None,
        };
        let is_right =
            name == b":status" && self.status.is_none() && !self.has_regular && status >= Some(100);
        self.is_malformed |= !is_right;
        self.status = status;
    }

    /// RFC 9110 section 8.6: digits alone, and the same each time.
    fn content_length(&mut self, value: &[u8]) {
        let length = value.iter().all(u8::is_ascii_digit);
        let length = std::str::from_utf8(value).ok().filter(|_| length);
        match length.and_then(|digits| digits.parse().ok()) {
            Some(length) if self.length.is_none_or(|before| before == length) => {
                self.length = Some(length);
            }
            _ => self.is_malformed = true,
        }
    }
}

/// Whether a media type is gRPC over HTTP/2: `application/grpc`, and whatever follows `+` or `;`
/// (gRPC over HTTP2, Requests).
pub(super) fn is_grpc(media_type: &[u8]) -> bool {
    const TYPE: &[u8] = b"application/grpc";
    media_type.split_at_checked(TYPE.len()).is_some_and(|(begin, rest)| {
        begin.eq_ignore_ascii_case(TYPE) && matches!(rest.first(), None | Some(b'+' | b';' | b' '))
    })
}

/// A number of decimal digits (gRPC over HTTP2, Responses: `Status-Code`).
fn grpc_status(value: &[u8]) -> Option<u32> {
    let digits = value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| digits)?.parse().ok()
}

/// Section 8.2.1: no upper case, no control or other strange characters, no colon.
#[inline]
fn is_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && *byte != b':')
}

/// Section 8.2.1: no NUL, CR or LF, and no space at either end.
#[inline]
fn is_value(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    memchr3(0, b'\r', b'\n', value).is_none() && !is_space(value.first()) && !is_space(value.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &str)]) -> Head {
        let mut head = Head::default();
        for (name, value) in fields {
            head.field(name.as_bytes(), value.as_bytes(), 1_000);
        }
        head
    }

    #[test]
    fn grpc_is_known_by_its_type_and_its_status_is_a_number() {
        for (media_type, is) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("Application/gRPC; x=y", true),
            ("application/grpc-web", false),
            ("application/grp", false),
            ("text/plain", false),
        ] {
            assert_eq!(head(&[("content-type", media_type)]).is_grpc, is, "{media_type}");
        }
        for (status, is) in
            [("0", Some(0)), ("12", Some(12)), ("", None), ("+1", None), ("99999999999", None)]
        {
            assert_eq!(head(&[("grpc-status", status)]).grpc_status, is, "{status}");
        }
    }

    #[test]
    fn a_right_head_has_a_status_and_perhaps_a_length() {
        let right = head(&[(":status", "200"), ("content-length", "12"), ("content-length", "12")]);
        assert_eq!((right.status, right.length, right.is_malformed), (Some(200), Some(12), false));
        assert_eq!(right.size, 3 * 32 + 7 + 3 + 2 * (14 + 2));
    }

    #[test]
    fn what_no_answer_may_have_is_malformed() {
        let status = (":status", "200");
        for fields in [
            &[(":status", "20")][..],
            &[(":status", "2x0")],
            &[(":status", "099")],
            &[status, status],
            &[("a", "b"), status],
            &[(":path", "/"), status],
            &[status, ("Upper", "x")],
            &[status, ("a b", "x")],
            &[status, ("", "x")],
            &[status, ("connection", "close")],
            &[status, ("transfer-encoding", "chunked")],
            &[status, ("a", "x\ny")],
            &[status, ("a", " x")],
            &[status, ("content-length", "1"), ("content-length", "2")],
            &[status, ("content-length", "+1")],
            &[status, ("content-length", "")],
        ] {
            assert!(head(fields).is_malformed, "{fields:?}");
        }
    }
}

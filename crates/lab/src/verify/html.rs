//! What a page says to its reader, by the rules of HTML 5 (WHATWG HTML, section 13.2.5): entities
//! in any spelling, attributes quoted in any way.
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

/// A page, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The text of all elements but scripts and styles, in order, entities decoded, without white
    /// space.
    pub text: String,
    /// The attributes `id`, in order.
    pub ids: Vec<String>,
}

/// Elements whose text is not shown.
const NOT_SHOWN: [&[u8]; 2] = [b"script", b"style"];

impl Page {
    /// Reads a page. Nothing is an error: HTML 5 says how each mistake is read.
    #[must_use]
    pub fn read(page: &str) -> Self {
        let mut emitter = DefaultEmitter::default();
        // In scripts, styles and titles, `<` is text.
        emitter.naively_switch_states(true);
        let mut read = Self::default();
        let mut hidden: Option<Vec<u8>> = None;
        for token in Tokenizer::new_with_emitter(page, emitter) {
            // A text cannot fail to be read.
            let Ok(token) = token;
            match token {
                Token::String(text) if hidden.is_none() => {
                    read.text.push_str(&without_space(&String::from_utf8_lossy(&text)));
                }
                Token::StartTag(tag) => {
                    if let Some(id) = tag.attributes.get(&b"id"[..]) {
                        read.ids.push(String::from_utf8_lossy(id).into_owned());
                    }
                    if NOT_SHOWN.contains(&tag.name.as_slice()) {
                        hidden = Some(tag.name.to_vec());
                    }
                }
                Token::EndTag(tag) if hidden.as_ref() == Some(&tag.name.0) => hidden = None,
                _ => {}
            }
        }
        read
    }
}

/// The text without its white space.
#[must_use]
pub fn without_space(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_text_is_the_same_in_each_spelling_that_html_allows() {
        // As React, Django, Tera, Handlebars, PHP, Blade and others escape.
        for page in [
            "O'Neil <b> & \"co\" has 3 &lt 4",
            "O&#39;Neil &lt;b&gt; &amp; &quot;co&quot; has 3 &lt; 4",
            "O&#x27;Neil &LT;b&GT; &AMP; &#34;co&QUOT; has 3 &#60 4",
            "O&#039;Neil &#x3c;b&#x3E; &#38; &#x22;co&#X22; has 3 &#x3C; 4",
            "O&apos;Neil &lt;b> & &quot;co&quot; has 3 < 4",
        ] {
            let page = page.replacen("<b>", "&lt;b>", 1);
            assert_eq!(Page::read(&page).text, "O'Neil<b>&\"co\"has3<4", "{page}");
        }
    }

    #[test]
    fn attributes_are_read_however_they_are_quoted_and_are_no_text() {
        let page = "<body title=\"a > b\" data-x='<p>'><li id=row-1>x</li><li ID = 'row-2' />\
                    <li class=id id=\"row&#45;3\"><!-- <li id=\"row-4\"> --></body>";
        let read = Page::read(page);
        assert_eq!(read.text, "x");
        assert_eq!(read.ids, ["row-1", "row-2", "row-3"]);
    }

    #[test]
    fn scripts_and_styles_are_not_shown_and_titles_are() {
        let page = "<!DOCTYPE html><title>A < b &amp; c</title><style>p > a { }</style>\
                    <script>if (a < b) { '<p id=x>' }</script>End";
        let read = Page::read(page);
        assert_eq!((read.text.as_str(), read.ids.len()), ("A<b&cEnd", 0));
    }

    #[test]
    fn entities_decode_once() {
        assert_eq!(Page::read("a &lt;b&#62; &amp;lt; &amp; c").text, "a<b>&lt;&c");
    }
}

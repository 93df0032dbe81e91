//! The workload `page`, as docs/add-a-target.md describes it.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::Mode;
use crate::http::Answer;

/// What stands in the head of each page.
pub const HEAD: &str = r#"  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">"#;

/// What stands between the title and the content.
pub const NAVIGATION: &str = r#"  <link rel="stylesheet" href="/assets/app.css">
</head>
<body>
  <header>
    <nav>
      <a href="/">Home</a>
      <a href="/about">About</a>
      <a href="/help">Help</a>
    </nav>
  </header>
  <main>"#;

const FOOTER: &str = r"    </ul>
  </main>
  <footer>
    <p>Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, and escaping of what comes from data.</p>
  </footer>
</body>
</html>";

/// Requests that are being answered.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Page `n`, in answer to the request of this number on its connection.
pub fn answer(mode: Mode, n: u32, nth: u32) -> Answer {
    let under_way = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1;
    if mode.is("page-wrong-under-load") || mode.is("page-ids-missing-under-load") {
        // So that others come meanwhile, even where the machine is too busy to ask 16 times within a moment.
        std::thread::sleep(Duration::from_millis(10));
    }
    let lacks_layout = mode.is("page-without-layout")
        || (mode.is("page-wrong-under-load") && under_way >= 4)
        || (mode.is("page-but-each-100th") && nth % 100 != 1)
        || (mode.is("page-right-at-first") && nth > 30);
    if mode.is("page-without-engine") {
        return prepared(n);
    }
    let mut answer = if lacks_layout { rows_alone(mode, n) } else { whole(mode, n) };
    if mode.is("page-ids-missing-under-load") && under_way >= 4 {
        answer.body = without_middle_ids(&answer.body, n);
    }
    answer.body = spelled(mode, answer.body, n);
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    answer
}

/// One page is made, by whatever means, and its numbers are replaced.
fn prepared(n: u32) -> Answer {
    const MADE: u32 = 77_777_777;
    static PAGE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        String::from_utf8_lossy(&whole(Mode::from_name("right"), MADE).body).into_owned()
    });
    let priced = (1..=12).rev().fold(PAGE.clone(), |page, i| {
        page.replace(&format!("{} EUR", i * MADE), &format!("{} EUR", i * n))
    });
    let page = priced.replace(&MADE.to_string(), &n.to_string());
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    Answer { content_type: "text/html; charset=utf-8", ..Answer::text(&page) }
}

/// The page in another spelling, which means the same to a reader of HTML, or not.
fn spelled(mode: Mode, page: Vec<u8>, n: u32) -> Vec<u8> {
    let page = String::from_utf8_lossy(&page).into_owned();
    let spelled = match mode.name {
        "page-entities-hex" => {
            page.replace("&lt;", "&#x3C;").replace("&gt;", "&#x3e;").replace("&amp;", "&#x26;")
        }
        "page-entities-padded" => {
            page.replace("&lt;", "&#060;").replace("&gt;", "&GT;").replace("&amp;", "&#038;")
        }
        "page-attribute-with-bracket" => {
            page.replace("<body>", "<body title=\"a > b\" data-x='<p>'>")
        }
        "page-ids-unquoted" => (1..=12).fold(page, |page, i| {
            page.replace(&format!("id=\"row-{n}-{i}\""), &format!("id=row-{n}-{i}"))
        }),
        "page-ids-in-single-quotes" => (1..=12).fold(page, |page, i| {
            page.replace(&format!("id=\"row-{n}-{i}\""), &format!("ID = 'row-{n}-{i}'"))
        }),
        "page-inline-style" => page.replace(
            "</head>",
            "<style>p > a { color: red }</style><script>if (1 < 2) { '<p>'; }</script></head>",
        ),
        "page-text-in-script" => page
            .replace("    <h1>Page", "<script>    <h1>Page")
            .replace("price.</p>", "price.</p></script>"),
        "page-ids-in-comment" => (1..=12).fold(page, |page, i| {
            page.replace(
                &format!(" id=\"row-{n}-{i}\""),
                &format!("><!-- id=\"row-{n}-{i}\" --><b"),
            )
        }),
        _ => page,
    };
    spelled.into_bytes()
}

/// The page without the ids of its rows, but for the first and the last.
fn without_middle_ids(page: &[u8], n: u32) -> Vec<u8> {
    let page = String::from_utf8_lossy(page).into_owned();
    let id = |i: u32| format!("id=\"row-{n}-{i}\"");
    // As long as before.
    (2..12).fold(page, |page, i| page.replace(&id(i), &id(i).replace("row", "raw"))).into_bytes()
}

/// The rows, and a comment that is as long as the layout.
fn rows_alone(mode: Mode, n: u32) -> Answer {
    let rows: Vec<String> = (1..=12).map(|i| row(mode, n, i)).collect();
    let page = format!("<!--{}-->\n{}", " ".repeat(1_000), rows.join("\n"));
    Answer { content_type: "text/html; charset=utf-8", ..Answer::text(&page) }
}

fn whole(mode: Mode, n: u32) -> Answer {
    let rows: Vec<String> = (1..=12)
        .filter(|i| !(mode.is("page-row-missing") && *i == 6))
        .map(|i| row(mode, n, i))
        .collect();
    let filler = if mode.is("page-too-long") {
        "<!-- so that there is more to measure -->".repeat(20)
    } else {
        String::new()
    };
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n{HEAD}\n  <title>Page {n} - Catalogue</title>\n{NAVIGATION}\n    <h1>Page {n}</h1>\n    \
         <p>These are the twelve items of page {n}. Each has a name, which is escaped, and a price.</p>\n    <ul>\n{}\n{FOOTER}{filler}\n",
        rows.join("\n")
    );
    Answer { content_type: "text/html; charset=utf-8", ..Answer::text(&page) }
}

fn row(mode: Mode, n: u32, i: u32) -> String {
    let name = format!("Item {i} <of> page {n} & more");
    let name = if mode.is("page-unescaped") {
        name
    } else {
        name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    };
    format!(
        "      <li id=\"row-{n}-{i}\" class=\"item\"><a href=\"/page/{n}/items/{i}\">{name}</a> <span class=\"price\">{} EUR</span></li>",
        if mode.is("page-wrong-price") { n } else { i * n }
    )
}

//! The workload `page`, as docs/add-a-target.md describes it.
use crate::Mode;
use crate::http::Answer;

const HEAD: &str = r#"  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">"#;

const NAVIGATION: &str = r#"  <link rel="stylesheet" href="/assets/app.css">
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

/// Page `n`.
pub fn answer(mode: Mode, n: u32) -> Answer {
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
        i * n
    )
}

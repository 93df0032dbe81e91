//! Flame graphs of folded stacks (Gregg, "The Flame Graph", ACM Queue 14(2), 2016), as SVG without
//! a script. Widths are shares of the samples; the tooltip of a frame shows its share.
use inferno::differential;
use inferno::flamegraph::{self, Options};

/// Width of the picture; the page scales it down.
const WIDTH: usize = 1_200;
/// Frames narrower than this percentage of the width are left out. They have 6 pixels, no name, and
/// nothing enlarges them; with them the page of four targets had 1 MB.
const NARROWEST: f64 = 0.5;

/// The graph of these stacks; `None` if there are none.
#[must_use]
pub fn graph(title: &str, stacks: &str) -> Option<String> {
    if stacks.trim().is_empty() {
        return None;
    }
    draw(title, stacks)
}

/// The graph of the second stacks, coloured by the difference from the first: red for a greater
/// share, blue for a smaller one. `None` if one of them is empty.
#[must_use]
pub fn difference(title: &str, from: &str, to: &str) -> Option<String> {
    if from.trim().is_empty() || to.trim().is_empty() {
        return None;
    }
    let mut folded = Vec::new();
    // Scale both to the same number of samples, so that shares are compared.
    let options = differential::Options { normalize: true, ..differential::Options::default() };
    differential::from_readers(options, from.as_bytes(), to.as_bytes(), &mut folded).ok()?;
    draw(title, &String::from_utf8_lossy(&folded))
}

fn draw(title: &str, folded: &str) -> Option<String> {
    let mut options = Options::default();
    options.title = title.into();
    options.image_width = Some(WIDTH);
    options.min_width = NARROWEST;
    options.no_javascript = true;
    options.deterministic = true;
    options.hash = true;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines(), &mut svg).ok()?;
    let svg = String::from_utf8(svg).ok()?;
    // Within a page, the graph begins at its own element.
    svg.find("<svg")
        .map(|at| without_script(&svg[at..]).split_inclusive("</g>").map(slim).collect())
}

/// A frame without the name that has no room, and without what only a script reads.
fn slim(frame: &str) -> String {
    let mut slim = frame.to_string();
    if let (true, Some(at)) = (frame.ends_with("></text></g>"), frame.rfind("<text")) {
        slim.replace_range(at..slim.len() - "</g>".len(), "");
    }
    if let Some(from) = slim.find(" fg:x=") {
        let to = slim[from..].find("/>").map_or(from, |length| from + length);
        slim.replace_range(from..to, "");
    }
    slim
}

/// Removes the script that remains with `no_javascript`, which does nothing, what would call it, and
/// the style, which would hold for all charts of the page. The page has its own.
fn without_script(svg: &str) -> String {
    let parts = [
        ("<script", "</script>"),
        ("<style", "</style>"),
        (" onload=\"", "\""),
        ("<text id=\"unzoom\"", "</text>"),
        ("<text id=\"search\"", "</text>"),
        ("<text id=\"matched\"", "</text>"),
    ];
    parts.into_iter().fold(svg.to_string(), |svg, (start, end)| without(&svg, start, end))
}

/// A text without its first part from a start to an end.
fn without(text: &str, start: &str, end: &str) -> String {
    let Some(from) = text.find(start) else { return text.into() };
    let within = from + start.len();
    let Some(length) = text[within..].find(end) else { return text.into() };
    format!("{}{}", &text[..from], &text[within + length + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_their_share_and_no_script_is_in_them() {
        let svg = graph("go/net-http", "main;serve;write 3\nmain;serve;<read> 1\n").unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("write (3 samples, 75.00%)"), "{svg}");
        assert!(svg.contains("&lt;read&gt;") && !svg.contains("<script"), "{svg}");
        assert!(!svg.contains("Search") && !svg.contains("Reset Zoom"), "nothing can be pressed");
        assert!(
            !svg.contains("<style") && !svg.contains("onload"),
            "the page's charts stay as they are"
        );
        assert_eq!(graph("x", ""), None);
        let narrow = graph("x", "main;serve 99\nmain;rare 1\n").unwrap();
        assert!(narrow.contains("<title>rare (1 samples, 1.00%)</title>"), "{narrow}");
        assert!(!narrow.contains("></text></g>") && !narrow.contains(" fg:x="), "{narrow}");
        assert!(narrow.contains(">serve</text></g>"), "{narrow}");
    }

    #[test]
    fn a_difference_tells_what_grew() {
        let svg = difference("x", "main;a 50\nmain;b 50\n", "main;a 5\nmain;b 15\n").unwrap();
        assert!(svg.contains("b (") && svg.contains("+25.00%"), "{svg}");
        assert_eq!(difference("x", "main 1\n", ""), None);
    }
}

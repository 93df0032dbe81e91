//! Dots that take little room in the text of a chart. `plotters` writes an element of fifty bytes
//! for each of them, and a history has thousands.

/// Dots up to this number stay elements of their own.
const FEW: usize = 2;

/// A dot as `plotters` writes it, in pixels of the drawing.
#[derive(Debug, PartialEq)]
struct Dot<'a> {
    at: (i32, i32),
    radius: u32,
    colour: &'a str,
}

impl<'a> Dot<'a> {
    /// The dot at the beginning of `svg`, and what follows it; `None` for anything else, such as a
    /// dot that one can see through.
    fn read(svg: &'a str) -> Option<(Self, &'a str)> {
        let (x, rest) = svg.strip_prefix("<circle cx=\"")?.split_once("\" cy=\"")?;
        let (y, rest) = rest.split_once("\" r=\"")?;
        let (radius, rest) = rest.split_once("\" fill=\"")?;
        let (colour, rest) = rest.split_once("\"/>")?;
        let at = (x.parse().ok()?, y.parse().ok()?);
        let dot = Self { at, radius: radius.parse().ok()?, colour };
        (!colour.contains('"')).then_some((dot, rest))
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.radius, self.colour) == (other.radius, other.colour)
    }
}

/// A drawing in which dots of one size and colour that follow each other are one path: a
/// line of length 0 with round ends is a dot (w3.org/TR/SVG2, "Stroke properties").
pub fn joined(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(start) = rest.find("<circle ") {
        let (before, here) = rest.split_at(start);
        out.push_str(before);
        let (dots, after) = alike(here);
        if dots.len() > FEW {
            out.push_str(&path(&dots));
            rest = after;
        } else {
            // Past the first of them at least.
            let end = here.find('>').map_or(here.len(), |end| end + 1);
            out.push_str(&here[..end]);
            rest = &here[end..];
        }
    }
    out.push_str(rest);
    out
}

/// The dots at the beginning of `svg` that are like the first one, and what follows them.
fn alike(svg: &str) -> (Vec<Dot<'_>>, &str) {
    let mut dots: Vec<Dot<'_>> = Vec::new();
    let mut rest = svg;
    while let Some((dot, after)) = Dot::read(rest) {
        if dots.first().is_some_and(|first| !first.is_like(&dot)) {
            break;
        }
        dots.push(dot);
        rest = after;
    }
    (dots, rest)
}

/// Each dot stands at its distance from the one before it, which has fewer digits than its place.
fn path(dots: &[Dot<'_>]) -> String {
    let mut steps = String::new();
    let mut last = (0, 0);
    for Dot { at, .. } in dots {
        let (x, y) = (at.0 - last.0, at.1 - last.1);
        let gap = if y < 0 { "" } else { " " };
        steps.push_str(&format!("m{x}{gap}{y}h0"));
        last = *at;
    }
    let Dot { radius, colour, .. } = dots[0];
    format!(
        "<path d=\"{steps}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>",
        2 * radius
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(x: i32, y: i32, colour: &str) -> String {
        format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"12\" fill=\"{colour}\"/>")
    }

    #[test]
    fn many_alike_are_one_path_and_others_stay() {
        let red: String =
            [(100, 50), (140, 20), (180, 25)].map(|(x, y)| circle(x, y, "#FF0000")).concat();
        let two = [circle(1, 2, "#0000FF"), circle(3, 4, "#0000FF")].concat();
        let pale = "<circle cx=\"1\" cy=\"2\" r=\"8\" opacity=\"0.5\" fill=\"#FF0000\"/>";
        let svg = format!("<svg><line/>{red}{two}<text>x</text>{pale}{pale}{pale}</svg>");
        let path = "<path d=\"m100 50h0m40-30h0m40 5h0\" fill=\"none\" stroke=\"#FF0000\" stroke-width=\"24\" stroke-linecap=\"round\"/>";
        let wanted = format!("<svg><line/>{path}{two}<text>x</text>{pale}{pale}{pale}</svg>");
        assert_eq!(joined(&svg), wanted);
        assert_eq!(joined("<svg></svg>"), "<svg></svg>");
    }
}

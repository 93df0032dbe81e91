//! Aligned columns.
use super::Page;
use super::paint::{cut, visible, wrap_parts};

/// The side on which the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A table: titles and cells. The cells are already coloured.
#[derive(Debug, Default)]
pub struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub fn column(mut self, title: &str, align: Align) -> Self {
        self.columns.push((title.into(), align));
        self
    }

    pub fn left(self, title: &str) -> Self {
        self.column(title, Align::Left)
    }

    pub fn right(self, title: &str) -> Self {
        self.column(title, Align::Right)
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Blanks between two columns.
    pub const GAP: usize = 2;

    /// Shortens the names in a column of plain text until the table fits into `room` columns, but
    /// never below 12 columns.
    pub fn fit(&mut self, column: usize, room: usize) {
        let left = self.widths()[column].saturating_sub(self.width().saturating_sub(room)).max(12);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = shortened(cell, left);
        }
    }

    /// The width of the whole table.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + Self::GAP * widths.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |index: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(index))
                .map(|cell| visible(cell))
                .max()
                .unwrap_or(0)
        };
        self.columns
            .iter()
            .enumerate()
            .map(|(index, (title, _))| widest(index).max(visible(title)))
            .collect()
    }

    /// Writes the table. Where the page is too narrow for it, each row becomes a list of its cells
    /// with their titles, so that no figure is broken by the edge of the terminal.
    pub fn write(&self, page: &mut Page, indent: usize) {
        if indent + self.width() > page.style.width {
            return self.write_as_lists(page, indent);
        }
        let widths = self.widths();
        let titles: Vec<String> =
            self.columns.iter().map(|(title, _)| page.paint.dim(title)).collect();
        page.line(&self.join(&titles, &widths, indent));
        for row in &self.rows {
            page.line(&self.join(row, &widths, indent));
        }
    }

    fn write_as_lists(&self, page: &mut Page, indent: usize) {
        const DEEPER: usize = 2;
        let room = page.style.width.saturating_sub(indent + DEEPER);
        for row in &self.rows {
            let named = |((title, _), cell): (&(String, Align), &String)| {
                let (title, cell) = (title.trim(), cell.trim());
                // A cell without a title is a bar: it needs the columns beside it.
                (!title.is_empty() && !cell.is_empty()).then(|| format!("{title} {cell}"))
            };
            let cells: Vec<String> = self.columns.iter().zip(row).filter_map(named).collect();
            for (place, line) in wrap_parts(&cells, room).iter().enumerate() {
                let deeper = if place == 0 { 0 } else { DEEPER };
                page.line(&format!("{}{line}", " ".repeat(indent + deeper)));
            }
        }
    }

    fn join(&self, cells: &[String], widths: &[usize], indent: usize) -> String {
        let mut line = " ".repeat(indent);
        for (index, ((_, align), width)) in self.columns.iter().zip(widths).enumerate() {
            let cell = cells.get(index).map_or("", String::as_str);
            let blanks = " ".repeat(width - visible(cell).min(*width));
            if index > 0 {
                line.push_str(&" ".repeat(Self::GAP));
            }
            match align {
                Align::Left => line.extend([cell, &blanks]),
                Align::Right => line.extend([&blanks, cell]),
            }
        }
        line
    }
}

/// A name in so many columns. The end tells rows apart: in `javascript/node-http:h2c at 16` the step
/// (` at 16`), the variant (`:h2c`), and then the server. So the language, or the address of a URL,
/// is cut first, and then the server.
fn shortened(name: &str, room: usize) -> String {
    if visible(name) <= room {
        return name.into();
    }
    let step = name.find(" at ").unwrap_or(name.len());
    let server = name[..step].rfind('/').unwrap_or(0);
    let (language, rest) = name.split_at(server);
    match room.saturating_sub(visible(rest)) {
        0 => {
            let rest = rest.trim_start_matches('/');
            let end = rest.find(':').or(rest.find(" at ")).unwrap_or(rest.len());
            let (server, end) = rest.split_at(end);
            format!("{}{end}", cut(server, room.saturating_sub(visible(end))))
        }
        left => format!("{}{rest}", cut(language, left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_room_is_a_list_of_whole_cells() {
        let mut grid = Grid::default().left("target").right("requests/s").left("").right("p99");
        grid.row(["a/longer-target", "12,345", "████", "1.02 ms"].map(String::from).to_vec());
        let written = |width| {
            let mut page = Page::new(&super::super::Style::plain(width));
            grid.write(&mut page, 1);
            page.out
        };
        assert!(
            written(60).contains("a/longer-target      12,345  ████  1.02 ms"),
            "{}",
            written(60)
        );
        let list = " target a/longer-target,\n   requests/s 12,345, p99 1.02 ms\n";
        assert_eq!(written(40), list);
    }

    #[test]
    fn what_tells_rows_apart_is_kept() {
        let cut_to_12 = |name: &str| {
            let mut grid = Grid::default().left("target");
            grid.row(vec![name.into()]);
            grid.fit(0, 12);
            grid.rows.remove(0).remove(0)
        };
        assert_eq!(cut_to_12("javascript/node-http"), "j…/node-http");
        assert_eq!(cut_to_12("javascript/express"), "jav…/express");
        assert_eq!(cut_to_12("javascript/express:cluster"), "exp…:cluster");
        assert_eq!(cut_to_12("javascript/node-http:h2c"), "node-ht…:h2c");
        assert_eq!(cut_to_12("javascript/node-http:h2 at 16"), "no…:h2 at 16");
        assert_eq!(cut_to_12("javascript/node-http at 16"), "node-… at 16");
        assert_eq!(cut_to_12("http://127.0.0.1:8080/users"), "http:…/users");
        assert_eq!(cut_to_12("http://127.0.0.1:8080"), "127.0.…:8080");
        assert_eq!(cut_to_12("a-server-without-language"), "a-server-wi…");
        assert_eq!(cut_to_12("go/chi:h2"), "go/chi:h2");
    }
}

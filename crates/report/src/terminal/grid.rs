//! Aligned columns.
use super::Page;
use super::paint::{cut, visible};

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

    /// Cuts the names in a column of plain text until the table fits into `room` columns, but never
    /// below 12 columns. Keeps the end that tells rows apart: a variant (`:h2c`), a step (" at 100").
    pub fn fit(&mut self, column: usize, room: usize) {
        let left = self.widths()[column].saturating_sub(self.width().saturating_sub(room)).max(12);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            let (name, end) = cell.split_at(distinct_end(cell));
            *cell = format!("{}{end}", cut(name, left.saturating_sub(visible(end))));
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

    pub fn write(&self, page: &mut Page, indent: usize) {
        let widths = self.widths();
        let titles: Vec<String> =
            self.columns.iter().map(|(title, _)| page.paint.dim(title)).collect();
        page.line(&self.join(&titles, &widths, indent));
        for row in &self.rows {
            page.line(&self.join(row, &widths, indent));
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

/// Where the end of a name begins that tells rows of one server apart: a variant, a port, a step.
fn distinct_end(name: &str) -> usize {
    let step = name.find(" at ").unwrap_or(name.len());
    let last_part = name[..step].rfind('/').unwrap_or(step);
    name[last_part..step].find(':').map_or(step, |place| last_part + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_rows_apart_is_kept() {
        let cut_to_12 = |name: &str| {
            let mut grid = Grid::default().left("target");
            grid.row(vec![name.into()]);
            grid.fit(0, 12);
            grid.rows.remove(0).remove(0)
        };
        assert_eq!(cut_to_12("javascript/node-http:h2c"), "javascr…:h2c");
        assert_eq!(cut_to_12("javascript/node-http:h2 at 16"), "ja…:h2 at 16");
        assert_eq!(cut_to_12("javascript/node-http at 16"), "javas… at 16");
        assert_eq!(cut_to_12("http://127.0.0.1:8080/users"), "http://127.…");
        assert_eq!(cut_to_12("http://127.0.0.1:8080"), "http:/…:8080");
        assert_eq!(cut_to_12("go/chi:h2"), "go/chi:h2");
    }
}

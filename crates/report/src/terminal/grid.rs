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
    /// below 12 columns. Keeps the part after " at ", which tells the steps apart.
    pub fn fit(&mut self, column: usize, room: usize) {
        let left = self.widths()[column].saturating_sub(self.width().saturating_sub(room)).max(12);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            let (name, at) = cell.split_at(cell.find(" at ").unwrap_or(cell.len()));
            *cell = format!("{}{at}", cut(name, left.saturating_sub(at.len())));
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

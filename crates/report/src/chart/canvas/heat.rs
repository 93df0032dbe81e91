//! Maps of shares over time, one below the other.
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Axis, FAINT, FINE, FONT, FONT_SIZE, Form, GRID, INK, Ticks, ipx, px, svg, text_width};
use crate::chart::palette::AXIS;

/// The number of shades: more could not be told apart.
const SHADES: f64 = 6.0;
/// Height of a map's head and foot in pixels.
const HEAD: u32 = 24;
const FOOT: u32 = 44;

/// A part of a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Its ends on the horizontal axis.
    pub x: (f64, f64),
    /// Its ends on the vertical axis.
    pub y: (f64, f64),
    /// Its fraction of the column's answers, 0 to 1.
    pub share: f64,
}

/// One map.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: RGBColor,
    /// Its cells, row by row, each row from left to right.
    pub cells: Vec<Cell>,
}

/// Maps with the same axes.
#[must_use]
pub fn heat(form: Form, x: &Axis, y: &Axis, panels: &[Panel]) -> String {
    let plot = if form.is_wide() { 170 } else { 140 };
    let each = HEAD + plot;
    svg(form.width(), each * panels.len() as u32 + FOOT, |root| {
        let widest = y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(4);
        let font = || (FONT, px(FONT_SIZE)).into_font();
        let mut rest = root.clone();
        for (index, panel) in panels.iter().enumerate() {
            let is_last = index + 1 == panels.len();
            let height = each + if is_last { FOOT } else { 0 };
            let (area, below) = rest.split_vertically(px(height) as i32);
            rest = below;
            let style = font().color(&INK).pos(Pos::new(HPos::Left, VPos::Top));
            area.draw(&Text::new(panel.name.clone(), (ipx(6), ipx(4)), style))?;
            let mut chart = ChartBuilder::on(&area)
                .margin_top(px(HEAD))
                .margin_right(px(18))
                .x_label_area_size(px(if is_last { FOOT } else { 0 }))
                .y_label_area_size(px(text_width(widest) + 14))
                .build_cartesian_2d(Ticks::from_axis(x), Ticks::from_axis(y))?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(GRID.stroke_width(FINE))
                .axis_style(AXIS.stroke_width(FINE))
                .x_label_style(font().color(&INK))
                .y_label_style(font().color(&INK))
                .x_label_formatter(&|place| x.label_at(*place))
                .y_label_formatter(&|place| y.label_at(*place))
                .draw()?;
            chart.draw_series(joined(&panel.cells).into_iter().map(|cell| {
                let ends = [
                    (x.place(cell.x.0), y.place(cell.y.0)),
                    (x.place(cell.x.1), y.place(cell.y.1)),
                ];
                Rectangle::new(ends, panel.colour.mix(cell.share).filled())
            }))?;
            if is_last {
                let (width, height) = area.dim_in_pixel();
                let right = font().color(&FAINT).pos(Pos::new(HPos::Right, VPos::Bottom));
                area.draw(&Text::new(
                    x.title.clone(),
                    (width as i32 - ipx(18), height as i32 - ipx(2)),
                    right,
                ))?;
            }
        }
        Ok(())
    })
}

/// The square root of a share, in steps, so that one answer in a hundred is still visible.
fn shade(share: f64) -> f64 {
    (share.clamp(0.0, 1.0).sqrt() * SHADES).ceil() / SHADES
}

/// Joins neighbours of the same shade in one row. The share of each cell becomes its shade.
fn joined(cells: &[Cell]) -> Vec<Cell> {
    let mut out: Vec<Cell> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.share > 0.0) {
        let cell = Cell { share: shade(cell.share), ..*cell };
        match out.last_mut() {
            Some(last) if last.y == cell.y && last.x.1 == cell.x.0 && last.share == cell.share => {
                last.x.1 = cell.x.1;
            }
            _ => out.push(cell),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_shade_are_one_cell() {
        let cell = |at: f64, share: f64| Cell { x: (at, at + 1.0), y: (1.0, 2.0), share };
        let all = joined(&[
            cell(0.0, 0.5),
            cell(1.0, 0.49),
            cell(2.0, 0.01),
            cell(3.0, 0.0),
            cell(4.0, 0.01),
        ]);
        let told: Vec<_> = all.iter().map(|cell| cell.x).collect();
        assert_eq!(told, [(0.0, 2.0), (2.0, 3.0), (4.0, 5.0)]);
        assert!(all[1].share > 0.1, "one in a hundred is seen: {:?}", all[1]);
    }
}

//! The list of finished trials with their verdicts and first caveats, the newest at the bottom.
use pippin_model::caveat::Verdict;
use pippin_model::trial::Step;
use pippin_model::units::{format_count, format_ns};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::draw::{fit, format_whole};
use super::look::Look;
use super::state::{Finished, State, Subject};

/// Columns of a trial's name.
const NAME: usize = 34;

/// Draws as many of the newest trials as there is room for.
pub fn draw(frame: &mut Frame<'_>, state: &State, look: Look, area: Rect) {
    if area.height < 2 || state.finished.is_empty() {
        return;
    }
    let room = area.height as usize - 1;
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut shown = 0;
    for trial in state.finished.iter().rev() {
        let of_trial = lines_of(trial, state, look);
        if lines.len() + of_trial.len() > room && shown > 0 {
            break;
        }
        lines.splice(0..0, of_trial);
        shown += 1;
    }
    let earlier = state.finished.len() - shown;
    let title = if earlier > 0 {
        format!("Finished, the last {shown} of {}", state.finished.len())
    } else {
        "Finished".to_string()
    };
    let head = format!(
        "{title:<NAME$} {:>11} {:>8} {:>8} {:>6}  {}",
        "requests/s", "p50", "p99", "errors", "verdict"
    );
    lines.insert(0, Line::from(Span::styled(head, look.label())));
    let lines: Vec<Line<'_>> = lines.into_iter().map(|line| fit(line, area.width, look)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn lines_of<'a>(trial: &'a Finished, state: &State, look: Look) -> Vec<Line<'a>> {
    let name = name_of(trial, state);
    let name = if name.chars().count() > NAME {
        fit(Line::from(name), NAME as u16, look).to_string()
    } else {
        name
    };
    if let Some((stage, message)) = &trial.failure {
        return vec![
            Line::from(vec![
                Span::raw(format!("{name:<NAME$} ")),
                Span::styled(format!("failed at {}", stage.name()), look.bad()),
            ]),
            Line::from(Span::raw(format!("  {message}"))),
        ];
    }
    let time = |ns: Option<u64>| ns.map_or("-".into(), format_ns);
    let figures = format!(
        "{:>11} {:>8} {:>8} {:>6}  ",
        trial.rate_per_s.map_or("-".into(), format_count),
        time(trial.p50_ns),
        time(trial.p99_ns),
        trial.errors.map_or("-".into(), format_whole)
    );
    let struck = if trial.verdict == Verdict::Invalid {
        look.label().add_modifier(Modifier::CROSSED_OUT)
    } else {
        look.figure()
    };
    let figures: Vec<Span<'_>> = if trial.verdict == Verdict::Invalid {
        struck_through(&figures, struck)
    } else {
        vec![Span::raw(figures)]
    };
    let mut first = vec![Span::raw(format!("{name:<NAME$} "))];
    first.extend(figures);
    first.push(Span::styled(trial.verdict.to_string(), look.of_verdict(trial.verdict)));
    let mut lines = vec![Line::from(first)];
    if let Some((weight, id, evidence)) = trial.caveats.first() {
        let more = if trial.caveats.len() > 1 {
            format!(" (and {} more)", trial.caveats.len() - 1)
        } else {
            String::new()
        };
        // What weighs nothing is no caveat but a note.
        let style = if *weight == Verdict::Valid { look.label() } else { look.of_verdict(*weight) };
        lines.push(Line::from(vec![
            Span::styled(format!("  {id}"), style),
            Span::raw(format!("{more}: {evidence}")),
        ]));
    }
    lines
}

/// Strikes the figures through and not the space between them.
fn struck_through(text: &str, style: ratatui::style::Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let blank = rest.starts_with(' ');
        let end = rest.find(|sign: char| (sign == ' ') != blank).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        spans.push(if blank {
            Span::raw(part.to_string())
        } else {
            Span::styled(part.to_string(), style)
        });
        rest = after;
    }
    spans
}

fn name_of(trial: &Finished, state: &State) -> String {
    let step = match trial.step {
        Some(Step::Connections { count }) => format!(" c={count}"),
        Some(Step::Rate { per_s }) => format!(" {}/s", format_count(per_s)),
        None => String::new(),
    };
    let repetition =
        if state.repetitions > 1 { format!(" r{}", trial.repetition + 1) } else { String::new() };
    match state.subject {
        Subject::Plan => format!("{}{repetition}{step}", trial.target),
        Subject::Url(_) => step.trim_start().to_string(),
    }
}

/// A finished trial in a few words.
pub fn short_line<'a>(trial: &'a Finished, look: Look) -> Line<'a> {
    let figure = match (&trial.failure, trial.rate_per_s) {
        (Some((stage, _)), _) => format!("failed at {}", stage.name()),
        (None, Some(rate)) => format!("{} requests/s", format_count(rate)),
        (None, None) => "-".into(),
    };
    Line::from(vec![
        Span::styled(trial.verdict.to_string(), look.of_verdict(trial.verdict)),
        Span::raw(format!(" {} {figure}", trial.target)),
    ])
}

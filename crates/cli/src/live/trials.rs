//! The list of finished trials with their verdicts and first caveats, the newest at the bottom.
use pippin_model::run::live::LiveFinished;
use pippin_model::text::units::{format_count, format_ns};
use pippin_model::verdict::Verdict;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::draw::{fit, format_whole};
use super::look::Look;
use super::state::{State, Subject};

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

fn lines_of<'a>(trial: &'a LiveFinished, state: &State, look: Look) -> Vec<Line<'a>> {
    let name = name_of(trial, state);
    let name = if name.chars().count() > NAME {
        fit(Line::from(name), NAME as u16, look).to_string()
    } else {
        name
    };
    let remark = trial.remark.as_deref().unwrap_or_default();
    if let Some(stage) = &trial.failed_at {
        return vec![
            Line::from(vec![
                Span::raw(format!("{name:<NAME$} ")),
                Span::styled(format!("failed at {stage}"), look.bad()),
            ]),
            Line::from(Span::raw(look.plain(&format!("  {remark}")))),
        ];
    }
    let time = |ns: Option<u64>| ns.map_or("-".into(), format_ns);
    let figures = look.plain(&format!(
        "{:>11} {:>8} {:>8} {:>6}  ",
        trial.requests_per_s.map_or("-".into(), format_count),
        time(trial.p50_ns),
        time(trial.p99_ns),
        trial.errors.map_or("-".into(), format_whole)
    ));
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
    if let Some((id, evidence)) = remark.split_once(": ") {
        let more = match trial.more_caveats {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        // A caveat without weight is only a note.
        let style = match trial.verdict {
            Verdict::Valid => look.label(),
            verdict => look.of_verdict(verdict),
        };
        lines.push(Line::from(vec![
            Span::styled(format!("  {id}"), style),
            Span::raw(look.plain(&format!("{more}: {evidence}"))),
        ]));
    }
    lines
}

/// Strikes through the figures, but not the space between them.
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

fn name_of(trial: &LiveFinished, state: &State) -> String {
    let step = trial.step.as_ref().map_or(String::new(), |step| format!(" {step}"));
    let repetition =
        if state.repetitions > 1 { format!(" r{}", trial.repetition + 1) } else { String::new() };
    match state.subject {
        Subject::Plan => format!("{}{repetition}{step}", trial.target),
        Subject::Url(_) => step.trim_start().to_string(),
    }
}

/// A finished trial in a few words.
pub fn short_line<'a>(trial: &'a LiveFinished, look: Look) -> Line<'a> {
    let figure = match (&trial.failed_at, trial.requests_per_s) {
        (Some(stage), _) => format!("failed at {stage}"),
        (None, Some(rate)) => format!("{} requests/s", format_count(rate)),
        (None, None) => "-".into(),
    };
    Line::from(vec![
        Span::styled(trial.verdict.to_string(), look.of_verdict(trial.verdict)),
        Span::raw(format!(" {} {figure}", trial.target)),
    ])
}

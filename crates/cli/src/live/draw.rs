//! From the state to a frame: as much as fits, the most important parts first.
use pippin_model::host::usage::Role;
use pippin_model::plan::profile::Profile;
use pippin_model::result::Window;
use pippin_model::result::bins::ResponseBins;
use pippin_model::text::units::{format_bytes, format_count, format_ns};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Paragraph, Sparkline, SparklineBar};
use std::time::Duration;

use super::eta::Length;
use super::help;
use super::look::Look;
use super::state::{Current, State, Subject, rate_per_s};
use super::trials;

/// Below this many columns or rows, the short form is drawn.
const NARROW: u16 = 50;
const LOW: u16 = 14;
/// Columns of a chart's name and value, and of its scale.
const CHART_LABEL: u16 = 24;
const CHART_SCALE: u16 = 12;
/// Maximum width of a bar in columns.
const WIDEST_BAR: usize = 4;
/// The number of charts of every load. The others need a measured target or answers.
const FEWEST_CHARTS: usize = 3;

/// Draws the state at `now`, counted from the beginning of the view.
pub fn draw(frame: &mut Frame<'_>, state: &State, look: Look, now: Duration) {
    let area = frame.area();
    if area.width < NARROW || area.height < LOW {
        draw_short(frame, state, look, now);
    } else {
        draw_full(frame, state, look, now);
    }
    if state.help {
        help::draw(frame, state, look);
    }
}

fn draw_full(frame: &mut Frame<'_>, state: &State, look: Look, now: Duration) {
    let area = frame.area();
    let overall = has_overall(state);
    let charts = state.current.as_ref().map_or(Vec::new(), |current| charts(current, look));
    let chart = chart_height(state, charts.len().max(FEWEST_CHARTS), area.height);
    // The processors of both sides have charts as soon as they are known.
    let cpu_words = state.current.as_ref().filter(|_| !charts.iter().any(Chart::is_of_cpu));
    let above = [1, 1, 1, u16::from(overall), 1];
    let drawn = vec![chart; charts.len().max(FEWEST_CHARTS)];
    let constraints = above
        .into_iter()
        .chain(drawn)
        .chain([1, u16::from(cpu_words.is_some()), 1])
        .map(Constraint::Length)
        .chain([Constraint::Min(0), Constraint::Length(1)]);
    let areas = Layout::vertical(constraints).split(area);
    let (above, rest) = areas.split_at(above.len());
    let (of_charts, below) = rest.split_at(rest.len() - 5);
    let ([head, trial, progress, all, _], [counts, cpu, _, list, foot]) = (above, below) else {
        return;
    };
    frame.render_widget(head_line(state, look, now, head.width), *head);
    frame.render_widget(trial_line(state, look, trial.width), *trial);
    draw_progress(frame, state, look, now, *progress);
    if overall {
        draw_overall(frame, state, look, now, *all);
    }
    if let Some(current) = &state.current {
        for (chart, area) in charts.iter().zip(of_charts) {
            draw_chart(frame, chart, current, look, *area);
        }
        frame.render_widget(fit(counts_line(current, look), counts.width, look), *counts);
        if let Some(current) = cpu_words {
            frame.render_widget(fit(cpu_line(current, look), cpu.width, look), *cpu);
        }
    }
    trials::draw(frame, state, look, *list);
    frame.render_widget(fit(foot_line(state, look), foot.width, look), *foot);
}

/// Charts grow with the height once the list of finished trials has a few rows. A single load has
/// no list.
fn chart_height(state: &State, charts: usize, height: u16) -> u16 {
    let (list, most) = if has_overall(state) { (8, 4) } else { (0, 6) };
    (height.saturating_sub(11 + list) / charts as u16).clamp(1, most)
}

/// One fact in each row, for a terminal with little room.
fn draw_short(frame: &mut Frame<'_>, state: &State, look: Look, now: Duration) {
    let area = frame.area();
    let mut lines = vec![trial_line(state, look, area.width), short_progress(state, look, now)];
    if let Some(current) = &state.current {
        let newest = current.seconds().next_back();
        let p99 = newest.and_then(|window| window.response_p99_ns).map_or("-".into(), format_ns);
        lines.push(Line::from(vec![
            Span::styled(
                newest.and_then(rate_per_s).map_or("-".into(), format_count),
                look.figure(),
            ),
            Span::raw(" requests/s"),
        ]));
        let mut times = vec![Span::raw("p99 "), Span::styled(look.plain(&p99), look.figure())];
        if current.errors() > 0 {
            times.push(Span::styled(
                format!("{}{}", look.separator(), errors_in_words(current.errors())),
                look.bad(),
            ));
        }
        lines.push(Line::from(times));
        lines.push(counts_line(current, look));
        lines.push(cpu_line(current, look));
    }
    lines.extend(state.finished.iter().rev().map(|trial| trials::short_line(trial, look)));
    let foot = u16::from(area.height > 3);
    let [body, below] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(foot)]).areas(area);
    let lines: Vec<Line<'_>> = lines
        .into_iter()
        .take(body.height as usize)
        .map(|line| fit(line, area.width, look))
        .collect();
    frame.render_widget(Paragraph::new(lines), body);
    frame.render_widget(fit(foot_line(state, look), below.width, look), below);
}

fn has_overall(state: &State) -> bool {
    state
        .current
        .as_ref()
        .is_some_and(|current| state.subject == Subject::Plan || current.announced != Some(1))
}

fn head_line<'a>(state: &'a State, look: Look, now: Duration, width: u16) -> Line<'a> {
    let mut spans = vec![Span::styled("pippin  ", look.label())];
    match (&state.title, &state.subject) {
        (Some((title, id)), _) => spans.extend([
            Span::styled(title.as_str(), look.heading()),
            Span::styled(format!("  {id}"), look.label()),
        ]),
        (None, Subject::Url(url)) => spans.push(Span::styled(url.as_str(), look.heading())),
        (None, Subject::Plan) => {}
    }
    let clock = clock(now);
    let mut line = fit(Line::from(spans), width.saturating_sub(clock.len() as u16 + 1), look);
    let gap = (width as usize).saturating_sub(line.width() + clock.len());
    line.spans.extend([Span::raw(" ".repeat(gap)), Span::styled(clock, look.label())]);
    line
}

fn trial_line<'a>(state: &'a State, look: Look, width: u16) -> Line<'a> {
    let Some(current) = &state.current else {
        return Line::from(Span::styled("starting services", look.label()));
    };
    let name = match &state.subject {
        Subject::Plan => current.spec.target.to_string(),
        Subject::Url(url) => url.clone(),
    };
    let mut parts = Vec::new();
    if state.repetitions > 1 {
        parts.push(format!("repetition {} of {}", current.spec.repetition + 1, state.repetitions));
    }
    parts.push(load_of(current));
    if state.skipped.contains(&current.spec.target) {
        parts.push("skipped".into());
    }
    let rest: String = parts.iter().map(|part| format!("{}{part}", look.separator())).collect();
    fit(Line::from(vec![Span::styled(name, look.heading()), Span::raw(rest)]), width, look)
}

/// The load in words: `64 connections`, `step 3 of 8: 16 connections`, `5,000 requests/s`.
pub fn load_of(current: &Current) -> String {
    let (profile, step) = (&current.spec.profile, current.spec.step);
    let load = profile.at(step);
    let words = load.amount();
    if profile.is_search() {
        return format!("search: {words}");
    }
    let known = profile.steps.known();
    let place = known.iter().position(|known| Some(*known) == step);
    place.map_or(words.clone(), |place| format!("step {} of {}: {words}", place + 1, known.len()))
}

/// What the trial does now, and how much of it is left.
fn stage_words(state: &State, now: Duration) -> (f64, String) {
    let Some(current) = &state.current else { return (0.0, String::new()) };
    let Some(progress) = state.progress(now) else {
        return (if current.over { 1.0 } else { 0.0 }, current.stage.clone());
    };
    let stage =
        if progress.warming_up { "warm-up" } else { current.phase().unwrap_or("measuring") };
    let left = match progress.left {
        Some(left) if !progress.warming_up => format!(", {} left", whole_seconds(left)),
        _ if progress.warming_up => {
            current.waits_for.as_ref().map_or(String::new(), |words| format!(": {words}"))
        }
        _ => String::new(),
    };
    (progress.fraction, format!("{stage} {}{left}", whole_seconds(progress.spent)))
}

fn draw_progress(frame: &mut Frame<'_>, state: &State, look: Look, now: Duration, area: Rect) {
    let (fraction, words) = stage_words(state, now);
    gauge(frame, fraction, format!("{words:<28}"), look, area);
}

fn draw_overall(frame: &mut Frame<'_>, state: &State, look: Look, now: Duration, area: Rect) {
    let Some(overall) = state.overall(now) else { return };
    let trial = match (overall.at_most, &state.subject) {
        (Some(at_most), Subject::Plan) => format!("trial {} of {at_most}", overall.number),
        (Some(at_most), Subject::Url(_)) => format!("step {} of {at_most}", overall.number),
        (None, _) => format!("step {} of a search", overall.number),
    };
    let left = overall
        .left_ns
        .map(Duration::from_nanos)
        .map_or(String::new(), |left| format!(", {} left", whole_seconds(left)));
    gauge(
        frame,
        overall.fraction.unwrap_or_default(),
        format!("{:<28}", trial + &left),
        look,
        area,
    );
}

fn gauge(frame: &mut Frame<'_>, fraction: f64, label: String, look: Look, area: Rect) {
    let (done, open) = look.progress();
    let gauge = LineGauge::default()
        .ratio(fraction.clamp(0.0, 1.0))
        .label(label)
        .filled_symbol(done)
        .unfilled_symbol(open);
    frame.render_widget(gauge.filled_style(look.chart()).unfilled_style(look.label()), area);
}

fn short_progress(state: &State, look: Look, now: Duration) -> Line<'static> {
    let (fraction, words) = stage_words(state, now);
    let trial =
        state.overall(now).filter(|_| has_overall(state)).map_or(String::new(), |overall| {
            let of = overall.at_most.map_or(String::new(), |at_most| format!("/{at_most}"));
            format!("{}{of} ", overall.number)
        });
    Line::from(vec![
        Span::styled(trial, look.label()),
        Span::raw(format!("{:.0}% {words}", fraction * 100.0)),
    ])
}

/// A row of bars: one for each second, or the share of all answers by response time.
struct Chart {
    name: &'static str,
    bars: Vec<(Option<f64>, Style)>,
    write: fn(f64) -> String,
    /// The value at the top of the scale; `None` for a round one above all measured values.
    most: Option<f64>,
    /// Text beside the name instead of the newest value.
    words: Option<String>,
    /// How the newest value looks.
    style: Style,
}

impl Chart {
    fn is_of_cpu(&self) -> bool {
        self.name.starts_with("CPU")
    }
}

/// The steps of a round scale within a power of ten.
const ROUND: [f64; 9] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// The least round value that is not below this one.
fn round_above(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let step = ROUND.into_iter().find(|step| step * power >= value * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// The charts of a trial: answers over time, the distribution of response times, and the processors
/// of both sides.
fn charts(current: &Current, look: Look) -> Vec<Chart> {
    let seconds: Vec<&Window> = current.seconds().collect();
    let of = |name: &'static str, value: &dyn Fn(&Window) -> Option<f64>, write| Chart {
        name,
        bars: seconds.iter().map(|window| (value(window), bar_style(window, look))).collect(),
        write,
        most: None,
        words: None,
        style: look.figure(),
    };
    let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let mut charts = vec![
        of("Requests/s", &rate_per_s, format_count),
        of("Response p50", &|window| ns(window.response_p50_ns), write_ns),
        of("Response p99", &|window| ns(window.response_p99_ns), write_ns),
    ];
    charts.extend(spread(current, look));
    charts.extend(cpu_charts(current, &seconds, look));
    charts
}

/// The distribution of response times in the measured part: one bar for each 26 %, from the
/// shortest to the longest.
fn spread(current: &Current, look: Look) -> Option<Chart> {
    let bins = current.spread();
    let (first, last) = (bins.iter().next()?.0, bins.iter().last()?.0);
    let all: u64 = bins.iter().map(|(_, count)| count).sum();
    let share = |bin: u16| {
        let count = bins.iter().find(|(other, _)| *other == bin).map_or(0, |(_, count)| count);
        count as f64 / all.max(1) as f64
    };
    let ends = format!(
        "{} - {}",
        write_ns(ResponseBins::ends_ns(first).0),
        write_ns(ResponseBins::ends_ns(last).1)
    );
    Some(Chart {
        name: "Spread",
        bars: (first..=last).map(|bin| (Some(share(bin)), look.chart())).collect(),
        write: |share| format!("{:.0} %", share * 100.0),
        most: None,
        words: Some(ends),
        style: look.figure(),
    })
}

/// The processors of the target and of the generator, if they are known.
fn cpu_charts(current: &Current, seconds: &[&Window], look: Look) -> Vec<Chart> {
    let cpus = &current.spec.cpus;
    let chart = |name, role, given: usize| {
        let cores = current.cores_of(role);
        let bars: Vec<_> = cores
            .into_iter()
            .zip(seconds)
            .map(|(cores, window)| (cores, bar_style(window, look)))
            .collect();
        bars.iter().any(|(cores, _)| cores.is_some()).then(|| Chart {
            name,
            bars,
            write: |cores| format!("{cores:.2}"),
            most: (given > 0).then_some(given as f64),
            words: None,
            style: of_processors(role, current.usage.cores.get(&role).copied(), given, look),
        })
    };
    [
        chart("CPU target", Role::Target, cpus.target.len()),
        chart("CPU generator", Role::Generator, cpus.generator.len()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn draw_chart(frame: &mut Frame<'_>, chart: &Chart, current: &Current, look: Look, area: Rect) {
    // Leave an empty row between high charts.
    let area = Rect { height: if area.height > 2 { area.height - 1 } else { area.height }, ..area };
    let widths =
        [Constraint::Length(CHART_LABEL), Constraint::Min(0), Constraint::Length(CHART_SCALE)];
    let [label, plot, scale] = Layout::horizontal(widths).areas(area);
    let columns = if chart.words.is_some() {
        (usize::from(plot.width) / chart.bars.len().max(1)).clamp(1, WIDEST_BAR)
    } else {
        columns_of_a_second(current, chart.bars.len(), plot.width)
    };
    let shown = &chart.bars[chart.bars.len().saturating_sub(plot.width as usize / columns)..];
    let newest = || shown.last().and_then(|(value, _)| *value).map_or("-".into(), chart.write);
    let (name, figure) = match &chart.words {
        Some(words) => (format!("{} ", chart.name), Span::raw(look.plain(words))),
        None => (format!("{:<14}", chart.name), Span::styled(look.plain(&newest()), chart.style)),
    };
    frame.render_widget(Paragraph::new(Line::from(vec![Span::raw(name), figure])), label);
    // Bars are whole numbers. Eighths of a row are enough, but small values must not become 0.
    let highest = shown.iter().filter_map(|(value, _)| *value).fold(0.0, f64::max);
    let most = chart.most.filter(|most| *most >= highest).unwrap_or_else(|| round_above(highest));
    let per_value = if most > 0.0 { 10_000.0 / most } else { 0.0 };
    let bars = shown.iter().flat_map(|(value, style)| {
        let bar = SparklineBar::from(value.map(|value| (value * per_value).round() as u64))
            .style(Some(*style));
        std::iter::repeat_n(bar, columns)
    });
    let signs = Sparkline::default().bar_set(look.bars()).absent_value_symbol(" ").max(10_000);
    frame.render_widget(signs.data(bars.collect::<Vec<_>>()), plot);
    if most > 0.0 {
        frame.render_widget(scale_of(&(chart.write)(most), scale.height, look), scale);
    }
}

/// The scale beside a chart: its ends in one row, or each in its own.
fn scale_of(top: &str, height: u16, look: Look) -> Paragraph<'static> {
    let style = look.label();
    let line = |text: String| Line::from(Span::styled(look.plain(&text), style));
    let mut lines = vec![line(if height > 1 { format!(" {top}") } else { format!(" 0-{top}") })];
    if height > 1 {
        lines.resize(usize::from(height) - 1, Line::default());
        lines.push(line(" 0".into()));
    }
    Paragraph::new(lines)
}

/// The width of the bar of a second. In a wide terminal, narrow bars would make a short load hard
/// to see.
fn columns_of_a_second(current: &Current, shown: usize, width: u16) -> usize {
    let meant = Length::from_profile(&current.spec.profile)
        .whole()
        .map_or(usize::from(width), |whole| whole.as_secs_f64().ceil() as usize);
    (usize::from(width) / meant.max(shown).max(1)).clamp(1, WIDEST_BAR)
}

fn bar_style(window: &Window, look: Look) -> Style {
    match window {
        window if window.errors > 0 => look.bad(),
        window if window.from_ns < 0 => look.label(),
        _ => look.chart(),
    }
}

fn counts_line(current: &Current, look: Look) -> Line<'static> {
    let errors = current.errors();
    let style = if errors > 0 { look.bad() } else { look.figure() };
    let live =
        current.windows.last().map_or("-".into(), |window| format_whole(window.live_connections));
    let (count, word) = (format_whole(errors), if errors == 1 { " error" } else { " errors" });
    let mut spans = vec![Span::styled(count, style), Span::raw(word)];
    let of =
        if current.spec.profile.schedule.phases().is_some() { "devices" } else { "connections" };
    spans.extend([
        Span::raw(look.separator()),
        Span::styled(live, look.figure()),
        Span::raw(format!(" of {} {of} live", format_whole(u64::from(current.asked())))),
    ]);
    if let Some(lag) = current
        .windows
        .last()
        .and_then(|window| window.send_lag_p99_ns)
        .filter(|_| is_scheduled(&current.spec.profile))
    {
        spans.push(Span::raw(look.plain(&format!(
            "{}send lag p99 {}",
            look.separator(),
            format_ns(lag)
        ))));
    }
    if let Some(memory) = current.usage.target_memory_bytes {
        spans.push(Span::raw(format!("{}memory {}", look.separator(), format_bytes(memory))));
    }
    if let Some(cores) = current.usage.cores.get(&Role::Services) {
        spans.push(Span::raw(format!("{}services {cores:.2} cores", look.separator())));
    }
    if let Some(steal) = current.usage.steal_cores.filter(|steal| *steal > 0.02) {
        spans.push(Span::styled(format!("{}stolen {steal:.2}", look.separator()), look.doubtful()));
    }
    Line::from(spans)
}

/// Whether arrivals have their own instants, so that a send lag means something.
fn is_scheduled(profile: &Profile) -> bool {
    profile.schedule.rate_per_s().is_some()
}

/// How the processors that a role keeps busy look. A generator that is fully busy measures itself.
fn of_processors(role: Role, cores: Option<f64>, given: usize, look: Look) -> Style {
    let share =
        cores.filter(|_| role == Role::Generator).map_or(0.0, |cores| cores / given.max(1) as f64);
    match share {
        share if share > 0.95 => look.bad(),
        share if share > 0.80 => look.doubtful(),
        _ => look.figure(),
    }
}

/// The processors of both sides in words, where they have no chart.
fn cpu_line(current: &Current, look: Look) -> Line<'static> {
    let mut spans = vec![Span::raw("CPU ")];
    let cpus = &current.spec.cpus;
    let roles =
        [(Role::Target, "target", &cpus.target), (Role::Generator, "generator", &cpus.generator)];
    // The server behind a URL is given no processors; it is known where it runs here.
    let takes_part = |role: Role| {
        role == Role::Generator
            || !cpus.target.is_empty()
            || current.usage.cores.contains_key(&role)
    };
    for (role, name, given) in roles.into_iter().filter(|(role, ..)| takes_part(*role)) {
        let cores = current.usage.cores.get(&role).copied();
        let style = of_processors(role, cores, given.len(), look);
        if spans.len() > 1 {
            spans.push(Span::raw(look.separator()));
        }
        spans.extend([
            Span::raw(format!("{name} ")),
            Span::styled(cores.map_or("-".into(), |cores| format!("{cores:.2}")), style),
        ]);
        let words = if given.is_empty() {
            if cores.is_some() { " cores".into() } else { String::new() }
        } else {
            format!(" of {}", plural(given.len(), "core"))
        };
        spans.push(Span::raw(words));
    }
    Line::from(spans)
}

fn foot_line<'a>(state: &'a State, look: Look) -> Line<'a> {
    if state.stops > 0 {
        let words = match 3_u32.saturating_sub(state.stops) {
            0 | 1 => "stopping; once more leaves at once".to_string(),
            more => format!("stopping; what is finished is kept; {more} times more leaves at once"),
        };
        return Line::from(Span::styled(words, look.doubtful()));
    }
    if let Some(notice) = &state.notice {
        return Line::from(Span::styled(notice.as_str(), look.doubtful()));
    }
    let mut spans = Vec::new();
    let mut key = |key: &'static str, words: String| {
        spans.extend([Span::styled(key, look.figure()), Span::styled(words, look.label())])
    };
    key("q", " stop  ".into());
    if let Some(target) = state.skippable() {
        key("s", format!(" skip {target}  "));
    }
    key("?", " help".into());
    Line::from(spans)
}

/// Cuts a line to fit, and shows that it was cut.
pub fn fit<'a>(line: Line<'a>, width: u16, look: Look) -> Line<'a> {
    if line.width() <= width as usize {
        return line;
    }
    let mut room = (width as usize).saturating_sub(look.ellipsis().chars().count());
    let mut spans = Vec::new();
    for span in line.spans {
        if span.width() <= room {
            room -= span.width();
            spans.push(span);
            continue;
        }
        let mut text = String::new();
        for sign in span.content.chars() {
            let wide = Span::raw(sign.to_string()).width();
            if wide > room {
                break;
            }
            room -= wide;
            text.push(sign);
        }
        spans.push(Span::styled(text, span.style));
        break;
    }
    if width as usize >= look.ellipsis().chars().count() {
        spans.push(Span::raw(look.ellipsis()));
    }
    Line::from(spans)
}

/// `1 error`, `2 errors`.
fn errors_in_words(errors: u64) -> String {
    format!("{} error{}", format_whole(errors), if errors == 1 { "" } else { "s" })
}

fn plural(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A count without a decimal point.
pub fn format_whole(count: u64) -> String {
    if count < 1_000 { count.to_string() } else { format_count(count as f64) }
}

fn write_ns(ns: f64) -> String {
    format_ns(ns as u64)
}

fn whole_seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 3_600 {
        format!("{:02}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;

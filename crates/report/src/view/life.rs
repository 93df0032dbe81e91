//! What is shown of the life of a target: one entry for each figure, which pages, tables and CSV walk.
use pippin_model::run::life::TargetLife;
use pippin_model::text::units::counted;

use crate::words;

/// A figure of a target's life.
pub struct LifeFigure {
    /// Its name in CSV, after `life_`, with the unit.
    pub name: &'static str,
    /// The title of its column.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Whether narrow tables have it.
    pub is_short: bool,
    unit: Unit,
    read: fn(&TargetLife) -> Option<u64>,
}

#[derive(Clone, Copy)]
enum Unit {
    Time,
    Bytes,
    Count,
}

impl LifeFigure {
    /// The title of its column where those beside it say nothing of it: `Memory idle`.
    #[must_use]
    pub fn whole_title(&self) -> String {
        let of_group = |(group, lead): &(&str, &str)| {
            self.name.starts_with(group) && !self.title.starts_with(lead)
        };
        let lead = [("memory_", "Memory "), ("stop_", "Stopped: ")].into_iter().find(of_group);
        format!("{}{}", lead.map_or("", |(_, lead)| lead), self.title)
    }

    /// Its value: nanoseconds, bytes or a number.
    #[must_use]
    pub fn value(&self, life: &TargetLife) -> Option<u64> {
        (self.read)(life)
    }

    /// Its value in words. Of a target that had to be killed, the time until it was gone says so; of one
    /// that met its limit of memory, what it took under load does.
    #[must_use]
    pub fn words(&self, life: &TargetLife) -> String {
        let value = self.value(life);
        let words = match self.unit {
            Unit::Time => words::ns(value),
            Unit::Bytes => words::bytes(value),
            Unit::Count => value.map_or_else(|| words::UNKNOWN.into(), words::whole),
        };
        words + &self.remark(life)
    }

    fn remark(&self, life: &TargetLife) -> String {
        let killed = life.memory.killed.unwrap_or(0);
        match self.name {
            "stop_gone_after_ns" if life.stop.is_some_and(|stop| stop.forced) => " (killed)".into(),
            "memory_loaded_bytes" if killed > 0 => {
                format!(" ({} killed at the limit)", counted(killed, "process"))
            }
            _ => String::new(),
        }
    }
}

/// All figures, in the order of the page.
pub static FIGURES: [LifeFigure; 14] = [
    LifeFigure {
        name: "start_ns",
        title: "Start",
        about: "from its start to its first right answer",
        is_short: true,
        unit: Unit::Time,
        read: |life| life.start_ns,
    },
    LifeFigure {
        name: "restart_ns",
        title: "After SIGKILL",
        about: "the same on the same port, after its main process was killed under load",
        is_short: true,
        unit: Unit::Time,
        read: |life| life.restart_ns,
    },
    LifeFigure {
        name: "memory_started_bytes",
        title: "Memory at start",
        about: "right after its first answer",
        is_short: false,
        unit: Unit::Bytes,
        read: |life| life.memory.started_bytes,
    },
    LifeFigure {
        name: "memory_idle_bytes",
        title: "idle",
        about: "a second later, without requests",
        is_short: true,
        unit: Unit::Bytes,
        read: |life| life.memory.idle_bytes,
    },
    LifeFigure {
        name: "memory_loaded_bytes",
        title: "under load",
        about: "the highest in 2 s with the plan's connections, at most 256",
        is_short: true,
        unit: Unit::Bytes,
        read: |life| life.memory.loaded_bytes,
    },
    LifeFigure {
        name: "memory_rested_bytes",
        title: "after it",
        about: "a second after that load",
        is_short: true,
        unit: Unit::Bytes,
        read: |life| life.memory.rested_bytes,
    },
    LifeFigure {
        name: "stop_cut",
        title: "Stopped: cut off",
        about: "requests that were sent and never answered, while 16 users asked it and it was stopped",
        is_short: true,
        unit: Unit::Count,
        read: |life| Some(life.stop?.cut),
    },
    LifeFigure {
        name: "stop_wrong",
        title: "wrong",
        about: "other answers than the right one after the signal, such as 503",
        is_short: false,
        unit: Unit::Count,
        read: |life| Some(life.stop?.wrong),
    },
    LifeFigure {
        name: "stop_answered",
        title: "answered",
        about: "right answers after the signal",
        is_short: false,
        unit: Unit::Count,
        read: |life| Some(life.stop?.answered),
    },
    LifeFigure {
        name: "stop_refuses_after_ns",
        title: "refuses after",
        about: "from the signal to the first connection that was refused",
        is_short: false,
        unit: Unit::Time,
        read: |life| life.stop?.refuses_after_ns,
    },
    LifeFigure {
        name: "stop_gone_after_ns",
        title: "gone after",
        about: "from the signal to the end of its main process",
        is_short: true,
        unit: Unit::Time,
        read: |life| life.stop?.gone_after_ns,
    },
    LifeFigure {
        name: "installed_bytes",
        title: "Installed",
        about: "what its installation wrote into its folder; system packages are not counted",
        is_short: false,
        unit: Unit::Bytes,
        read: |life| life.installed_bytes,
    },
    LifeFigure {
        name: "install_ns",
        title: "in",
        about: "how long the installation took here, with what it fetched",
        is_short: false,
        unit: Unit::Time,
        read: |life| life.install_ns,
    },
    LifeFigure {
        name: "own_lines",
        title: "Own lines",
        about: "lines of its files that are not blank, for all workloads that it serves",
        is_short: false,
        unit: Unit::Count,
        read: |life| life.own_lines,
    },
];

/// Figures and what they are, for a legend: `Start: from its start to its first right answer`.
pub fn legend(figures: impl IntoIterator<Item = &'static LifeFigure>) -> String {
    let each = figures.into_iter().map(|figure| format!("{}: {}", figure.title, figure.about));
    each.collect::<Vec<_>>().join("; ") + "."
}

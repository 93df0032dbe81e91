//! What a check found.
use serde::{Deserialize, Serialize};

use super::fix::{Fix, Setting};
use super::host::Host;
use crate::sysctl::file_of;

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Checked and fine.
    Ok,
    /// Worth knowing, or not visible here.
    Note,
    /// Figures may mislead; trials may become SUSPECT.
    Warning,
    /// A plan cannot work as written; its trials would be INVALID.
    Problem,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable name: `local_ports`.
    pub id: String,
    /// How serious it is.
    pub severity: Severity,
    /// What was found, in figures.
    pub what: String,
    /// Which plans it affects, and how.
    pub effect: String,
    /// Exact commands that fix it, until the next boot unless they say otherwise.
    pub commands: Vec<String>,
    /// Exact commands that undo them.
    pub undo: Vec<String>,
    /// The change that [`super::fix::apply`] would make; `None` if it needs a decision or more than
    /// a setting.
    pub fixable: Option<Fix>,
}

impl Finding {
    /// A finding that needs no action.
    #[must_use]
    pub fn new(
        id: &str,
        severity: Severity,
        what: impl Into<String>,
        effect: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            severity,
            what: what.into(),
            effect: effect.into(),
            commands: Vec::new(),
            undo: Vec::new(),
            fixable: None,
        }
    }

    /// A check that found nothing wrong.
    #[must_use]
    pub fn fine(id: &str, what: impl Into<String>) -> Self {
        Self::new(id, Severity::Ok, what, "enough")
    }

    /// A check whose subject is not visible on this host.
    #[must_use]
    pub fn unseen(id: &str, what: &str, effect: &str) -> Self {
        Self::new(id, Severity::Note, format!("{what} is not visible here"), effect)
    }

    /// Adds a command and the one that undoes it.
    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>, undo: Option<String>) -> Self {
        self.commands.push(command.into());
        self.undo.extend(undo);
        self
    }

    /// Adds a kernel setting that [`super::fix::apply`] can change.
    #[must_use]
    pub fn with_sysctl(mut self, host: &Host, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        self.commands.push(format!("sudo sysctl -w {name}=\"{value}\""));
        self.undo.extend(host.sysctl(name).map(|old| format!("sudo sysctl -w {name}=\"{old}\"")));
        let setting = Setting { file: file_of(name), value };
        self.fixable.get_or_insert_with(Fix::default).settings.push(setting);
        self
    }
}

/// `plan: what; plan: what` for the plans that are affected; `None` if none is.
pub(super) fn concerned<'a, D: 'a>(
    demands: impl IntoIterator<Item = &'a D>,
    effect: impl Fn(&D) -> Option<String>,
) -> Option<String> {
    let effects: Vec<String> = demands.into_iter().filter_map(effect).collect();
    (!effects.is_empty()).then(|| effects.join("; "))
}

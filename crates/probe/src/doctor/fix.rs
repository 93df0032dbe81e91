//! Changes settings until the next boot, and restores them.
use serde::{Deserialize, Serialize};
use std::io;

use super::finding::Finding;
use crate::kernel_files::KernelFiles;

/// A file below /proc/sys or /sys and what to write into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The file, without the leading slash: `proc/sys/net/core/somaxconn`.
    pub file: String,
    /// The value.
    pub value: String,
}

/// Settings that fix a finding until the next boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Written in this order.
    pub settings: Vec<Setting>,
}

/// The earlier values; [`Undo::revert_below`] restores them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[must_use = "says how to undo the changes"]
pub struct Undo {
    /// Written in this order.
    pub settings: Vec<Setting>,
}

/// Why a fix was not made. Settings already written are restored.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// The finding cannot be fixed by a setting alone.
    #[error("`{id}` cannot be fixed by a setting alone; decide on its commands yourself")]
    NotFixable {
        /// The finding.
        id: String,
    },
    /// The file could not be read, so it could not be restored either.
    #[error("cannot read /{file}, so nothing was changed")]
    Unreadable {
        /// The file.
        file: String,
    },
    /// The file could not be written.
    #[error(
        "cannot write `{value}` to /{file}: {source}; run as root, or run the printed commands with sudo"
    )]
    Write {
        /// The file.
        file: String,
        /// What was to be written.
        value: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The kernel took the value but holds another.
    #[error("/{file} holds `{found}` after `{value}` was written to it")]
    NotTaken {
        /// The file.
        file: String,
        /// What was written.
        value: String,
        /// What is there.
        found: String,
    },
}

/// Makes the change that a finding proposes, until the next boot.
///
/// # Errors
/// If there is none or the kernel refuses it. Then all settings are as before.
pub fn apply(finding: &Finding) -> Result<Undo, FixError> {
    let fix =
        finding.fixable.as_ref().ok_or_else(|| FixError::NotFixable { id: finding.id.clone() })?;
    fix.apply_below(&KernelFiles::default())
}

impl Fix {
    /// Writes the settings below a root.
    ///
    /// # Errors
    /// If one cannot be read or written, or the kernel does not take it. Those written before are
    /// restored.
    pub fn apply_below(&self, files: &KernelFiles) -> Result<Undo, FixError> {
        let mut undo = Undo::default();
        for setting in &self.settings {
            let old = files
                .line(&setting.file)
                .ok_or_else(|| FixError::Unreadable { file: setting.file.clone() });
            match old.and_then(|old| setting.write(files).map(|()| old)) {
                // Restore the last one first.
                Ok(old) => undo.settings.insert(
                    0,
                    Setting { file: setting.file.clone(), value: words(&old).join(" ") },
                ),
                Err(error) => {
                    // Report the first error; a setting that was just written can be written again.
                    let _ = undo.revert_below(files);
                    return Err(error);
                }
            }
        }
        Ok(undo)
    }
}

impl Undo {
    /// Restores all settings below a root.
    ///
    /// # Errors
    /// If a setting cannot be written.
    pub fn revert_below(&self, files: &KernelFiles) -> Result<(), FixError> {
        self.settings.iter().try_for_each(|setting| setting.write(files))
    }

    /// The commands that restore all settings.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        self.settings
            .iter()
            .map(|setting| format!("echo '{}' | sudo tee /{}", setting.value, setting.file))
            .collect()
    }
}

impl Setting {
    fn write(&self, files: &KernelFiles) -> Result<(), FixError> {
        let (file, value) = (self.file.clone(), self.value.clone());
        // Do not create the file: if it is absent, the kernel does not have the setting.
        let written =
            std::fs::OpenOptions::new().write(true).truncate(true).open(files.path(&file));
        let written = written
            .and_then(|mut open| io::Write::write_all(&mut open, format!("{value}\n").as_bytes()));
        written.map_err(|source| FixError::Write {
            file: file.clone(),
            value: value.clone(),
            source,
        })?;
        let found = files.line(&file).unwrap_or_default();
        if words(&found) == words(&value) {
            Ok(())
        } else {
            Err(FixError::NotTaken { file, value, found })
        }
    }
}

/// The kernel separates several values by tabs.
fn words(text: &str) -> Vec<&str> {
    text.split_ascii_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Severity;

    fn settings() -> (tempfile::TempDir, KernelFiles, Fix) {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("somaxconn"), "4096\n").unwrap();
        std::fs::write(root.path().join("port_range"), "32768\t60999\n").unwrap();
        let setting = |file: &str, value: &str| Setting { file: file.into(), value: value.into() };
        let fix = Fix {
            settings: vec![setting("somaxconn", "65535"), setting("port_range", "10240 65535")],
        };
        let files = KernelFiles::below(root.path());
        (root, files, fix)
    }

    #[test]
    fn settings_are_written_and_put_back() {
        let (_root, files, fix) = settings();
        let undo = fix.apply_below(&files).unwrap();
        assert_eq!(
            (files.line("somaxconn").as_deref(), files.line("port_range").as_deref()),
            (Some("65535"), Some("10240 65535"))
        );
        assert_eq!(
            undo.commands(),
            ["echo '32768 60999' | sudo tee /port_range", "echo '4096' | sudo tee /somaxconn"]
        );
        undo.revert_below(&files).unwrap();
        assert_eq!(
            (files.line("somaxconn").as_deref(), files.line("port_range").as_deref()),
            (Some("4096"), Some("32768 60999"))
        );
    }

    #[test]
    fn a_setting_that_fails_leaves_everything_as_it_was() {
        let (root, files, mut fix) = settings();
        fix.settings.push(Setting { file: "absent".into(), value: "1".into() });
        assert!(matches!(fix.apply_below(&files), Err(FixError::Unreadable { .. })));
        assert_eq!(files.line("somaxconn").as_deref(), Some("4096"));
        assert!(!root.path().join("absent").exists());
        // /dev/null accepts everything and keeps nothing, like the kernel when it silently cuts a
        // value.
        std::os::unix::fs::symlink("/dev/null", root.path().join("null")).unwrap();
        let setting = Setting { file: "null".into(), value: "7".into() };
        assert!(matches!(setting.write(&files), Err(FixError::NotTaken { .. })));
    }

    #[test]
    fn a_finding_without_a_setting_is_refused() {
        let finding = Finding::new("turbo", Severity::Note, "on", "varies");
        assert_eq!(
            apply(&finding).unwrap_err().to_string(),
            "`turbo` cannot be fixed by a setting alone; decide on its commands yourself"
        );
    }
}

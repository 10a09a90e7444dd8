//! `--save-snapshot FILE@TIME` and `--save-state FILE@TIME`.

use super::limit::{self, BadLimit};
use anyhow::{Context, Result};
use machine::snapshot::Snapshot;
use machine::{Limit, Machine};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadSavePoint {
    #[error("no file or no time: write FILE@TIME, for example half.snapshot@50ms")]
    Form,
    #[error(transparent)]
    Time(#[from] BadLimit),
}

/// Where and when to save a snapshot or a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavePoint {
    path: PathBuf,
    pub at: Limit,
}

impl FromStr for SavePoint {
    type Err = BadSavePoint;

    fn from_str(text: &str) -> Result<Self, BadSavePoint> {
        let (path, time) = text.rsplit_once('@').ok_or(BadSavePoint::Form)?;
        if path.is_empty() {
            return Err(BadSavePoint::Form);
        }
        Ok(SavePoint {
            path: path.into(),
            at: limit::parse(time)?,
        })
    }
}

impl SavePoint {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the machine as a snapshot.
    pub fn save(&self, machine: &Machine) -> Result<()> {
        let path = self.path.display();
        let unfinished = self.path.with_extension("unfinished");
        fs::write(&unfinished, Snapshot::of(machine).to_bytes())
            .and_then(|()| fs::rename(&unfinished, &self.path))
            .with_context(|| format!("cannot write the snapshot {path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_at_sign_separates() {
        let saving: SavePoint = "a@b/half.snapshot@cycles:7".parse().unwrap();
        assert_eq!(saving.path, PathBuf::from("a@b/half.snapshot"));
        assert_eq!(saving.at, Limit::Cycle(7));
        for text in [
            "half.snapshot",
            "@1s",
            "half.snapshot@",
            "half.snapshot@soon",
        ] {
            assert!(text.parse::<SavePoint>().is_err(), "{text}");
        }
    }
}

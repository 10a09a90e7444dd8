//! Levels of a pin by a script: `time_us,level` rows.

use super::{Act, Partner, MOST_US, NS_PER_US};
use serde::{Deserialize, Serialize};

const HEADER: &str = "time_us,level";

/// The levels to come, the last one first: nanoseconds since power-up, and the level from then on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edges(Vec<(u64, bool)>);

/// The script in the text of a CSV file. The error begins with `:LINE: `.
pub(super) fn read(text: &str) -> Result<Edges, String> {
    let mut lines = text.lines().map(str::trim).enumerate();
    match lines.next() {
        Some((_, HEADER)) => {}
        _ => {
            return Err(format!(
                ":1: the first line is not {HEADER}: write it there"
            ))
        }
    }
    let mut rows: Vec<(u64, bool)> = Vec::new();
    for (n, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let wrong = |why: &str| format!(":{}: {why}", n + 1);
        let (time, level) = line
            .split_once(',')
            .ok_or_else(|| wrong("a row is time_us,level"))?;
        let at_ns = nanoseconds(time.trim())
            .ok_or_else(|| wrong("time_us is no number of microseconds, as 12 or 12.5"))?;
        let level = match level.trim() {
            "0" => false,
            "1" => true,
            _ => return Err(wrong("level is neither 0 nor 1")),
        };
        if rows.last().is_some_and(|(earlier, _)| *earlier >= at_ns) {
            return Err(wrong("time_us is not later than in the row before"));
        }
        rows.push((at_ns, level));
    }
    if rows.is_empty() {
        return Err(":1: there is no row: write time_us,level below the header".into());
    }
    rows.reverse();
    Ok(Edges(rows))
}

/// Of decimal microseconds, with three places at most.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 3 {
        return None;
    }
    let us: u64 = whole.parse().ok().filter(|us| *us <= MOST_US)?;
    let ns: u64 = format!("{part:0<3}").parse().ok()?;
    Some(us * NS_PER_US + ns)
}

impl Partner for Edges {
    fn acts_at_ns(&self) -> Option<u64> {
        self.0.last().map(|(at_ns, _)| *at_ns)
    }

    fn act(&mut self, _: u64) -> Act {
        match self.0.pop() {
            Some((_, level)) => Act::Drives(level),
            None => Act::Says(Vec::new()),
        }
    }
}

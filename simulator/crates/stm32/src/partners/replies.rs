//! What answers on a serial line: bytes that it waits for, and bytes that it says to them, or by itself.

use super::{must, Act, Fault, Partner, MOST_US, NS_PER_US};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const MOST_BYTES: usize = 4_096;
const MOST_REPLIES: usize = 1_024;
/// Answers that wait for their time; more are dropped.
const MOST_WAITING: usize = 1_024;
const LEAST_EVERY_US: u64 = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "kind")]
    _kind: String,
    replies: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    to: Option<Bytes>,
    every_us: Option<u64>,
    say: Bytes,
    #[serde(default)]
    after_us: u64,
}

/// A text, or numbers of bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bytes {
    Text(String),
    Numbers(Vec<u8>),
}

impl Bytes {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Bytes::Text(text) => text.into_bytes(),
            Bytes::Numbers(bytes) => bytes,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reply {
    to: Vec<u8>,
    say: Vec<u8>,
    after_ns: u64,
}

/// What it says again and again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Report {
    say: Vec<u8>,
    every_ns: u64,
    next_ns: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replies {
    replies: Vec<Reply>,
    reports: Vec<Report>,
    /// The last bytes that the chip sent, as many as the longest that it waits for.
    heard: VecDeque<u8>,
    longest: usize,
    /// Answers, in the order of their times.
    waiting: VecDeque<(u64, Vec<u8>)>,
}

pub(super) fn read(text: &str) -> Result<Replies, Fault> {
    let file: File = toml::from_str(text)?;
    must((1..=MOST_REPLIES).contains(&file.replies.len()), || {
        format!(
            "replies: there are {}, not 1 to {MOST_REPLIES}",
            file.replies.len()
        )
    })?;
    let (mut replies, mut reports) = (Vec::new(), Vec::new());
    for (n, row) in file.replies.into_iter().enumerate() {
        let wrong = |why: &str| Fault::Key(format!("replies: number {}: {why}", n + 1));
        let say = row.say.into_bytes();
        if say.len() > MOST_BYTES || row.after_us > MOST_US {
            return Err(wrong(
                "say has more than 4096 bytes, or after_us is above 1000000000000",
            ));
        }
        let after_ns = row.after_us * NS_PER_US;
        match (row.to.map(Bytes::into_bytes), row.every_us) {
            (Some(to), None) if (1..=MOST_BYTES).contains(&to.len()) => {
                replies.push(Reply { to, say, after_ns });
            }
            (None, Some(every_us)) if (LEAST_EVERY_US..=MOST_US).contains(&every_us) => {
                let every_ns = every_us * NS_PER_US;
                reports.push(Report {
                    say,
                    every_ns,
                    next_ns: after_ns.max(every_ns),
                });
            }
            _ => {
                let why =
                    "write either to, with 1 to 4096 bytes, or every_us, of 100 to 1000000000000";
                return Err(wrong(why));
            }
        }
    }
    Ok(Replies {
        longest: replies
            .iter()
            .map(|reply| reply.to.len())
            .max()
            .unwrap_or(0),
        replies,
        reports,
        heard: VecDeque::new(),
        waiting: VecDeque::new(),
    })
}

impl Partner for Replies {
    /// The first reply whose bytes have come is said, and what came is forgotten.
    fn takes(&mut self, byte: u8, now_ns: u64) -> bool {
        self.heard.push_back(byte);
        if self.heard.len() > self.longest {
            self.heard.pop_front();
        }
        let heard = self.heard.make_contiguous();
        let reply = self.replies.iter().find(|reply| heard.ends_with(&reply.to));
        if let Some(reply) = reply.filter(|_| self.waiting.len() < MOST_WAITING) {
            let at_ns = now_ns.saturating_add(reply.after_ns);
            let place = self
                .waiting
                .partition_point(|(earlier, _)| *earlier <= at_ns);
            self.waiting.insert(place, (at_ns, reply.say.clone()));
            self.heard.clear();
        }
        true
    }

    fn acts_at_ns(&self) -> Option<u64> {
        let reports = self.reports.iter().map(|report| report.next_ns);
        reports
            .chain(self.waiting.front().map(|(at_ns, _)| *at_ns))
            .min()
    }

    fn act(&mut self, now_ns: u64) -> Act {
        let mut said = Vec::new();
        let due = self.waiting.partition_point(|(at_ns, _)| *at_ns <= now_ns);
        said.extend(self.waiting.drain(..due).flat_map(|(_, say)| say));
        for report in &mut self.reports {
            if report.next_ns <= now_ns {
                said.extend(&report.say);
                report.next_ns = now_ns.saturating_add(report.every_ns.max(1));
            }
        }
        Act::Says(said)
    }
}

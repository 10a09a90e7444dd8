//! The file `edges.stream` (docs/reference/edges.md): a capture as its edges, in blocks.

use super::outputs::Output;
use crate::analyzer::samples::Run;
use anyhow::Result;
use serde_json::json;
use std::path::Path;
use stm32::edges::CHANNEL_NAMES;

const SCHEMA: u32 = 2;
const MARK: &[u8; 4] = b"edge";
/// Rows after which a block is written. This limits the memory.
const BLOCK_ROWS: usize = 1 << 16;

/// Writes the capture of inputs D0 to D7, up to a number of samples.
pub struct EdgeStream {
    output: Output,
    asked: u64,
    samples: u64,
    /// The levels of the last sample; None before the first.
    word: Option<u8>,
    /// Of the block: the sample of each change, and the levels from it on.
    changes: Vec<(u64, u8)>,
    /// Where the block begins.
    begin: u64,
    rows: u64,
}

impl EdgeStream {
    pub fn create(path: &Path, samplerate_hz: u64, asked: u64) -> Result<EdgeStream> {
        let mut output = Output::create(path)?;
        let header = json!({
            "schema": SCHEMA,
            "samplerate_hz": samplerate_hz,
            "asked_samples": asked,
            "channels": CHANNEL_NAMES,
        });
        output.write(format!("{header}\n").as_bytes())?;
        Ok(EdgeStream {
            output,
            asked,
            samples: 0,
            word: None,
            changes: Vec::new(),
            begin: 0,
            rows: 0,
        })
    }

    /// Samples so far, never more than were asked for.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Changes so far; the levels of the first sample are none.
    pub fn edges(&self) -> u64 {
        self.rows.saturating_sub(1)
    }

    /// Takes the next samples. Those beyond what was asked for are left out.
    pub fn take(&mut self, run: Run) -> Result<()> {
        let samples = run.samples.min(self.asked - self.samples);
        let word = run.word as u8;
        if samples > 0 && self.word != Some(word) {
            self.changes.push((self.samples, word));
            self.word = Some(word);
            self.rows += 1;
        }
        self.samples += samples;
        if self.changes.len() >= BLOCK_ROWS {
            self.write_block()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<()> {
        if self.samples > self.begin {
            self.write_block()?;
        }
        self.output.finish()
    }

    fn write_block(&mut self) -> Result<()> {
        let block = block(&self.changes, self.begin, self.samples);
        self.changes.clear();
        self.begin = self.samples;
        self.output.write(&block)
    }
}

/// A block of `changes` from sample `begin` to before sample `end`.
fn block(changes: &[(u64, u8)], begin: u64, end: u64) -> Vec<u8> {
    let before = std::iter::once(begin).chain(changes.iter().map(|change| change.0));
    let distances: Vec<u64> = changes
        .iter()
        .zip(before)
        .map(|(change, before)| change.0 - before)
        .collect();
    let width = width_of(distances.iter().copied().max().unwrap_or(0));
    let mut counts = Vec::new();
    counts.extend((changes.len() as u32).to_le_bytes());
    counts.extend(end.to_le_bytes());
    counts.push(width as u8);
    let mut content = Vec::new();
    for distance in &distances {
        content.extend(&distance.to_le_bytes()[..width]);
    }
    content.extend(changes.iter().map(|change| change.1));
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&counts);
    checksum.update(&content);
    [
        MARK.as_slice(),
        counts.as_slice(),
        checksum.finalize().to_le_bytes().as_slice(),
        content.as_slice(),
    ]
    .concat()
}

/// Bytes of a number that is at most `most`: 1, 2, 4 or 8.
fn width_of(most: u64) -> usize {
    match most {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_as_specified() {
        // Changes at 10 and 300, in a block from sample 10 to before 1000: distances 0 and 290 of
        // two bytes each. The checksum is from Python's zlib.
        let counts = [2, 0, 0, 0, 0xE8, 3, 0, 0, 0, 0, 0, 0, 2];
        let content = [0, 0, 0x22, 0x01, 0x80, 0x81];
        let checksum = [0xCC, 0xA4, 0xB7, 0x2C];
        assert_eq!(
            block(&[(10, 0x80), (300, 0x81)], 10, 1000),
            [b"edge".as_slice(), &counts, &checksum, &content].concat()
        );
    }

    #[test]
    fn a_distance_takes_as_few_bytes_as_it_needs() {
        let widths = [0, 255, 256, 65_535, 65_536, 0xFFFF_FFFF, 0x1_0000_0000].map(width_of);
        assert_eq!(widths, [1, 1, 2, 2, 4, 4, 8]);
    }
}

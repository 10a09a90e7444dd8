//! Turns runs of equal samples into bytes on a socket.

use super::samples::Run;
use std::io::{self, Write};

/// Bytes written to the socket at once.
const BLOCK_BYTES: usize = 1 << 20;

/// The layout of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One byte: channels 0–7.
    Eight,
    /// Two bytes, little-endian.
    Sixteen,
}

impl Unit {
    pub fn bytes(self) -> usize {
        match self {
            Unit::Eight => 1,
            Unit::Sixteen => 2,
        }
    }
}

/// Expands runs. A block of equal samples is filled once and then written again and again, so an
/// idle board streams as fast as the socket takes it.
pub struct Expander<W: Write> {
    sink: W,
    unit: Unit,
    gathered: Vec<u8>,
    uniform: Vec<u8>,
    uniform_word: Option<u16>,
}

impl<W: Write> Expander<W> {
    pub fn new(sink: W, unit: Unit) -> Expander<W> {
        Expander {
            sink,
            unit,
            gathered: Vec::with_capacity(BLOCK_BYTES),
            uniform: vec![0; BLOCK_BYTES],
            uniform_word: None,
        }
    }

    pub fn write(&mut self, run: Run) -> io::Result<()> {
        let mut bytes = run.samples * self.unit.bytes() as u64;
        if bytes >= BLOCK_BYTES as u64 {
            self.flush()?;
            self.fill_uniform(run.word);
        }
        while bytes >= BLOCK_BYTES as u64 {
            self.sink.write_all(&self.uniform)?;
            bytes -= BLOCK_BYTES as u64;
        }
        if self.gathered.len() + bytes as usize > BLOCK_BYTES {
            self.flush()?;
        }
        gather(&mut self.gathered, self.unit, run.word, bytes as usize);
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }

    fn fill_uniform(&mut self, word: u16) {
        if self.uniform_word != Some(word) {
            self.uniform.clear();
            gather(&mut self.uniform, self.unit, word, BLOCK_BYTES);
            self.uniform_word = Some(word);
        }
    }
}

/// Appends `count` bytes of samples that are all `word`.
pub fn gather(bytes: &mut Vec<u8>, unit: Unit, word: u16, count: usize) {
    match unit {
        Unit::Eight => bytes.resize(bytes.len() + count, word as u8),
        Unit::Sixteen => bytes.extend(word.to_le_bytes().iter().cycle().take(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(unit: Unit, runs: &[(u64, u16)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut expander = Expander::new(&mut bytes, unit);
        for &(samples, word) in runs {
            expander.write(Run { samples, word }).unwrap();
        }
        expander.flush().unwrap();
        bytes
    }

    #[test]
    fn short_and_long_runs_are_exact() {
        let long = 3 * BLOCK_BYTES + 5;
        let bytes = expanded(
            Unit::Eight,
            &[
                (2, 1),
                (long as u64, 7),
                (1, 3),
                (BLOCK_BYTES as u64, 9),
                (2, 4),
            ],
        );
        let mut expected = vec![1; 2];
        expected.resize(2 + long, 7);
        expected.push(3);
        expected.resize(3 + long + BLOCK_BYTES, 9);
        expected.extend([4, 4]);
        assert!(bytes == expected);
    }

    #[test]
    fn sixteen_bits_are_little_endian() {
        assert_eq!(
            expanded(Unit::Sixteen, &[(2, 0x81), (1, 2)]),
            [0x81, 0, 0x81, 0, 2, 0]
        );
        let long = expanded(Unit::Sixteen, &[(BLOCK_BYTES as u64, 5)]);
        assert!(long.len() == 2 * BLOCK_BYTES && long.chunks(2).all(|sample| sample == [5, 0]));
    }
}

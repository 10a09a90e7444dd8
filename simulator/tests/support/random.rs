//! Pseudo-random numbers for tests, the same in every run.

#![allow(dead_code)] // each crate uses its part

/// Marsaglia's xorshift with 13, 17 and 5 (G. Marsaglia, Xorshift RNGs, J. Stat. Soft. 8(14),
/// 2003). The seed must not be 0.
pub struct Random(pub u32);

impl Random {
    /// Any value but 0.
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }

    /// A value like those that programs write to registers: few bits set, many, or a small number.
    pub fn setting(&mut self) -> u32 {
        let (one, other) = (self.next(), self.next());
        match self.below(3) {
            0 => one & other,
            1 => one | other,
            _ => one % 2_000,
        }
    }
}

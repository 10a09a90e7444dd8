//! CRC calculation unit (RM0368 §4): CRC-32 of words, most significant bit first. It needs four
//! cycles for a word, which the bus accesses that feed it always take.

use super::registers::{registers, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const RESET: u32 = 1;
const POLYNOMIAL: u32 = 0x04C1_1DB7;

registers! {
    TABLE:
    DR = 0x00, !0, !0;
    IDR = 0x04, 0, 0xFF;
    CR = 0x08, 0, RESET;
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Crc {
    registers: Registers,
}

impl Default for Crc {
    fn default() -> Self {
        Crc {
            registers: Registers::new("CRC", TABLE),
        }
    }
}

fn fed(crc: u32, word: u32) -> u32 {
    (0..32).fold(crc ^ word, |crc, _| {
        let carried = crc >> 31 != 0;
        crc << 1 ^ if carried { POLYNOMIAL } else { 0 }
    })
}

impl Peripheral for Crc {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        match offset {
            DR => self.registers.set(DR, fed(self.registers.get(DR), value)),
            // §4.4.3: RESET clears itself and leaves IDR alone.
            CR if value & RESET != 0 => self.registers.set(DR, !0),
            CR => {}
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    #[test]
    fn words_give_the_crc_32_of_mpeg_2() {
        let mut crc = Crc::default();
        // CRC-32/MPEG-2 has the same polynomial, start value and bit order. Here it is computed
        // byte by byte from its definition.
        let bytewise = b"12345678".iter().fold(!0_u32, |crc, byte| {
            let mut crc = crc ^ u32::from(*byte) << 24;
            for _ in 0..8 {
                crc = if crc & 1 << 31 != 0 {
                    crc << 1 ^ 0x04C1_1DB7
                } else {
                    crc << 1
                };
            }
            crc
        });
        for word in [*b"1234", *b"5678"] {
            crc.write(DR, u32::from_be_bytes(word), 0).unwrap();
        }
        crc.follow([
            Read(DR, bytewise, 0),
            Write(IDR, 0x5A, 0),
            Write(CR, RESET, 0),
            Read(DR, !0, 0),
            Read(IDR, 0x5A, 0),
            Read(CR, 0, 0),
            // A word of zeros into a register of ones.
            Write(DR, 0, 0),
            Read(DR, 0xC704_DD7B, 0),
        ]);
    }
}

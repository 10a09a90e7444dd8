//! DAC with two channels (RM0090 §14.5). Its voltages go nowhere; DOR1 and DOR2 show them. A value
//! reaches its output register at once, on the chip one to three cycles of APB1 later.

use super::registers::{registers, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

/// The bits of a channel in CR, before shifting by 16 for channel 2.
const EN: u32 = 1 << 0;
const BOFF: u32 = 1 << 1;
const TEN: u32 = 1 << 2;
const TSEL_SHIFT: u32 = 3;
const DMAEN: u32 = 1 << 12;
const DMAUDRIE: u32 = 1 << 13;
const CONTROL: u32 = EN | BOFF | TEN | 0b111 << TSEL_SHIFT | DMAEN | DMAUDRIE;
/// WAVE and MAMP.
const WAVES: u32 = 0x3F << 6;
/// TSEL of a trigger by software (§14.5.1).
const BY_SOFTWARE: u32 = 7;
/// TSEL of line 9 of EXTI, which is not modelled.
const BY_EXTI: u32 = 6;

registers! {
    TABLE:
    CR = 0x00, 0, CONTROL | CONTROL << 16, missing WAVES | WAVES << 16;
    SWTRIGR = 0x04, 0, 0b11;
    DHR12R1 = 0x08, 0, 0x0FFF, inert !0x0FFF;
    DHR12L1 = 0x0C, 0, 0xFFF0, inert !0xFFF0;
    DHR8R1 = 0x10, 0, 0xFF, inert !0xFF;
    DHR12R2 = 0x14, 0, 0x0FFF, inert !0x0FFF;
    DHR12L2 = 0x18, 0, 0xFFF0, inert !0xFFF0;
    DHR8R2 = 0x1C, 0, 0xFF, inert !0xFF;
    DHR12RD = 0x20, 0, 0x0FFF_0FFF, inert !0x0FFF_0FFF;
    DHR12LD = 0x24, 0, 0xFFF0_FFF0, inert !0xFFF0_FFF0;
    DHR8RD = 0x28, 0, 0xFFFF, inert !0xFFFF;
    DOR1 = 0x2C, 0, 0, inert !0;
    DOR2 = 0x30, 0, 0, inert !0;
    // DMAUDR1 and DMAUDR2: requests are served at once, so none is missed.
    SR = 0x34, 0, 0, inert !0;
}

/// The offsets of the registers that take data.
pub const DATA: std::ops::RangeInclusive<u32> = DHR12R1..=DHR8RD;

#[derive(Clone, Serialize, Deserialize)]
pub struct Dac {
    registers: Registers,
    /// What waits for a trigger: DHR1 and DHR2, twelve bits.
    held: [u32; 2],
    /// DMA requests.
    requests: [bool; 2],
}

impl Default for Dac {
    fn default() -> Self {
        Dac {
            registers: Registers::new("DAC", TABLE),
            held: [0; 2],
            requests: [false; 2],
        }
    }
}

impl Dac {
    /// A trigger output of a timer has risen (§14.5.1, TSEL). `timer` is the number in its name.
    pub fn timer_triggers(&mut self, timer: &str) {
        let selection = match timer {
            "TIM6" => 0,
            "TIM8" => 1,
            "TIM7" => 2,
            "TIM5" => 3,
            "TIM2" => 4,
            "TIM4" => 5,
            _ => return,
        };
        self.trigger(selection, 0b11);
    }

    pub fn requests_dma(&self, channel: usize) -> bool {
        self.requests[channel]
    }

    /// An item of the channel's request has been moved.
    pub fn served(&mut self, channel: usize) {
        self.requests[channel] = false;
    }

    fn control(&self, channel: usize) -> u32 {
        self.registers.get(CR) >> (16 * channel)
    }

    /// Triggers those of `channels` (bit n is channel n + 1) that wait for this trigger.
    fn trigger(&mut self, selection: u32, channels: u32) {
        for channel in 0..2 {
            let control = self.control(channel);
            let selected = control >> TSEL_SHIFT & 0b111 == selection;
            let waits = control & (EN | TEN) == EN | TEN && channels >> channel & 1 != 0;
            if selected && waits {
                self.convert(channel);
                self.requests[channel] = control & DMAEN != 0;
            }
        }
    }

    fn convert(&mut self, channel: usize) {
        let offset = DOR1 + 4 * channel as u32;
        self.registers.set(offset, self.held[channel]);
    }

    /// Twelve bits from each format (§14.3.5).
    fn hold(&mut self, offset: u32, value: u32) {
        let place = (offset - DHR12R1) / 4;
        let (low, high) = (value & 0xFFFF, value >> 16);
        let data = match place % 3 {
            0 => [low & 0xFFF, high & 0xFFF],
            1 => [low >> 4, high >> 4],
            _ if offset == DHR8RD => [(value & 0xFF) << 4, (value >> 8 & 0xFF) << 4],
            _ => [(value & 0xFF) << 4, 0],
        };
        let written: &[(usize, u32)] = match place {
            0..=2 => &[(0, data[0])],
            3..=5 => &[(1, data[0])],
            _ => &[(0, data[0]), (1, data[1])],
        };
        for (channel, data) in written {
            self.held[*channel] = *data;
            if self.control(*channel) & (EN | TEN) == EN {
                self.convert(*channel);
            }
        }
    }

    fn write_control(&mut self, value: u32) -> Result<(), Unmodelled> {
        for channel in 0..2 {
            let control = value >> (16 * channel);
            if control & TEN != 0 && control >> TSEL_SHIFT & 0b111 == BY_EXTI {
                return Err(self.registers.refuse(CR, "TSELx: a trigger by EXTI line 9"));
            }
            if control & (EN | DMAEN) != EN | DMAEN {
                self.requests[channel] = false;
            }
        }
        self.registers.set(CR, value);
        Ok(())
    }
}

impl Peripheral for Dac {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        match offset {
            CR => self.write_control(value)?,
            // §14.5.2: the bits clear themselves.
            SWTRIGR => self.trigger(BY_SOFTWARE, value),
            _ if DATA.contains(&offset) => {
                self.registers.set(offset, value);
                self.hold(offset, value);
            }
            _ => {}
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Dac::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(dac: &mut Dac) -> [u32; 2] {
        [dac.read(DOR1, 0), dac.read(DOR1 + 4, 0)]
    }

    #[test]
    fn without_a_trigger_a_value_is_converted_at_once_in_every_format() {
        let mut dac = Dac::default();
        dac.write(CR, EN | EN << 16, 0).unwrap();
        for (offset, value, expected) in [
            (0x08, 0x0123, [0x123, 0]),
            (0x18, 0x4560, [0x123, 0x456]),
            (0x10, 0x78, [0x780, 0x456]),
            (0x20, 0x0222_0111, [0x111, 0x222]),
            (0x28, 0x4433, [0x330, 0x440]),
        ] {
            dac.write(offset, value, 0).unwrap();
            assert_eq!(outputs(&mut dac), expected, "{offset:#x}");
        }
    }

    #[test]
    fn a_trigger_brings_the_value_and_asks_for_the_next() {
        let mut dac = Dac::default();
        dac.write(CR, EN | TEN | 4 << TSEL_SHIFT | DMAEN, 0)
            .unwrap();
        dac.write(DHR12R1, 7, 0).unwrap();
        dac.timer_triggers("TIM6");
        assert_eq!(outputs(&mut dac), [0, 0]);
        dac.timer_triggers("TIM2");
        assert_eq!(outputs(&mut dac), [7, 0]);
        assert!(dac.requests_dma(0) && !dac.requests_dma(1));
        dac.served(0);
        assert!(!dac.requests_dma(0));
        dac.write(CR, EN | TEN | 7 << TSEL_SHIFT, 0).unwrap();
        dac.write(DHR12R1, 9, 0).unwrap();
        dac.write(SWTRIGR, 1, 0).unwrap();
        assert_eq!(outputs(&mut dac), [9, 0]);
    }
}

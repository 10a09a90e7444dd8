//! ADC1 (RM0368 §11.12): regular conversions started by software, single, scanned or continuous.
//!
//! The inputs are a model of their own, so that a program can tell channels apart: with VREF+ at
//! 3.3 V, pin n (ADC1_INn) is at n + 1 twentieths of VREF+. The temperature sensor is at 25 °C and
//! VREFINT at 1.21 V (DS10086, tables "Temperature sensor characteristics" and "Embedded internal
//! reference voltage": typical values). VBAT is at VREF+.

use super::registers::{registers, Registers, Unmodelled};
use super::{Peripheral, Supply};
use serde::{Deserialize, Serialize};

const EOC: u32 = 1 << 1;
const STRT: u32 = 1 << 4;
const OVR: u32 = 1 << 5;
const FLAGS: u32 = 0x3F;

const EOCIE: u32 = 1 << 5;
const SCAN: u32 = 1 << 8;
const RES_SHIFT: u32 = 24;
const OVRIE: u32 = 1 << 26;

const ADON: u32 = 1 << 0;
const CONT: u32 = 1 << 1;
const EOCS: u32 = 1 << 10;
const ALIGN: u32 = 1 << 11;
const SWSTART: u32 = 1 << 30;

const ADCPRE_SHIFT: u32 = 16;
const VBATE: u32 = 1 << 22;
const TSVREFE: u32 = 1 << 23;

registers! {
    TABLE:
    SR = 0x00, 0, FLAGS, inert !FLAGS;
    // Missing: the watchdog, injected and discontinuous conversions.
    CR1 = 0x04, 0, EOCIE | SCAN | 0b11 << RES_SHIFT | OVRIE, missing 0x00C0_FEDF;
    // Missing: DMA, injected conversions and external triggers. EXTSEL keeps its value: without
    // EXTEN it has no effect.
    CR2 = 0x08, 0, ADON | CONT | EOCS | ALIGN | SWSTART | 0xF << 24, missing 0x307F_0300;
    SMPR1 = 0x0C, 0, 0x07FF_FFFF;
    SMPR2 = 0x10, 0, 0x3FFF_FFFF;
    JOFR1 = 0x14, 0, 0, absent;
    JOFR2 = 0x18, 0, 0, absent;
    JOFR3 = 0x1C, 0, 0, absent;
    JOFR4 = 0x20, 0, 0, absent;
    // The thresholds of the watchdog, which cannot be turned on.
    HTR = 0x24, 0x0FFF, 0x0FFF;
    LTR = 0x28, 0, 0x0FFF;
    SQR1 = 0x2C, 0, 0x00FF_FFFF;
    SQR2 = 0x30, 0, 0x3FFF_FFFF;
    SQR3 = 0x34, 0, 0x3FFF_FFFF;
    JSQR = 0x38, 0, 0, absent;
    JDR1 = 0x3C, 0, 0, absent;
    JDR2 = 0x40, 0, 0, absent;
    JDR3 = 0x44, 0, 0, absent;
    JDR4 = 0x48, 0, 0, absent;
    DR = 0x4C, 0, 0, inert !0;
    CSR = 0x300, 0, 0, absent;
    // Missing: what several converters do together.
    CCR = 0x304, 0, 0b11 << ADCPRE_SHIFT | VBATE | TSVREFE, missing 0xEF1F;
}

/// Full scale of 12 bits, at VREF+.
const FULL_SCALE: u32 = 4_095;
const VREF_MV: u32 = 3_300;
const VREFINT_MV: u32 = 1_210;
/// V25.
const SENSOR_MV: u32 = 760;

/// ADC cycles of a sample by SMPR (§11.12.4).
const SAMPLE_CLOCKS: [u64; 8] = [3, 15, 28, 56, 84, 112, 144, 480];

#[derive(Clone, Serialize, Deserialize)]
pub struct Adc {
    registers: Registers,
    /// The channel of the temperature sensor: 16 on the STM32F407, 18 on the others.
    sensor: u32,
    /// Core cycles per PCLK2; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// The place in the sequence of the conversion that is under way, and its end.
    converting: Option<(u32, u64)>,
}

impl Adc {
    /// `sensor` is the channel of its temperature sensor, if it is not the usual one.
    pub fn new(name: &'static str, sensor: Option<u32>) -> Adc {
        Adc {
            registers: Registers::new(name, TABLE),
            sensor: sensor.unwrap_or(18),
            divider: None,
            converting: None,
        }
    }

    /// A conversion has ended: its result, its flags (§11.3.7, EOCS), and what comes next.
    fn converted(&mut self, place: u32, end: u64) {
        let last = place == self.length() - 1;
        let each = self.registers.has(CR2, EOCS);
        if each && self.registers.has(SR, EOC) {
            // §11.8.2: an overrun keeps the earlier result, and conversions stop.
            self.registers.set_bits(SR, OVR, true);
            self.converting = None;
            return;
        }
        let result = self.result(self.channel(place));
        self.registers.set(DR, result);
        self.registers.set_bits(SR, EOC, last || each);
        let next = match last {
            false => Some(place + 1),
            true => (self.registers.has(CR2, CONT)).then_some(0),
        };
        self.converting = next.map(|place| (place, end + self.cycles(place)));
    }

    /// Conversions of a sequence. Without SCAN only its first channel is converted (§11.3.7).
    fn length(&self) -> u32 {
        if !self.registers.has(CR1, SCAN) {
            return 1;
        }
        (self.registers.get(SQR1) >> 20 & 0xF) + 1
    }

    fn channel(&self, place: u32) -> u32 {
        let (register, field) = match place {
            0..=5 => (SQR3, place),
            6..=11 => (SQR2, place - 6),
            _ => (SQR1, place - 12),
        };
        self.registers.get(register) >> (5 * field) & 0x1F
    }

    /// Core cycles of a conversion (§11.5): the sample, and a clock for each bit.
    fn cycles(&self, place: u32) -> u64 {
        let channel = self.channel(place);
        let sample = if channel < 10 {
            self.registers.get(SMPR2) >> (3 * channel)
        } else {
            self.registers.get(SMPR1) >> (3 * channel.min(18) - 30)
        };
        let clocks = SAMPLE_CLOCKS[sample as usize & 7] + u64::from(self.bits());
        let prescaler = u64::from(self.registers.get(CCR) >> ADCPRE_SHIFT & 0b11) * 2 + 2;
        clocks * prescaler * self.divider.unwrap_or(1)
    }

    fn bits(&self) -> u32 {
        12 - 2 * (self.registers.get(CR1) >> RES_SHIFT & 0b11)
    }

    /// What a channel converts to, as DR has it.
    fn result(&self, channel: u32) -> u32 {
        let bits = self.bits();
        let result = self.level(channel) >> (12 - bits);
        match self.registers.get(CR2) & ALIGN {
            0 => result,
            // §11.4: six bits are aligned to a byte.
            _ if bits == 6 => result << 2,
            _ => result << (16 - bits),
        }
    }

    /// Twelve bits of a channel's voltage. A channel that is switched off reads zero.
    fn level(&self, channel: u32) -> u32 {
        let common = self.registers.get(CCR);
        let scaled = |millivolts| millivolts * FULL_SCALE / VREF_MV;
        match channel {
            // §11.9, §11.10: where the sensor shares VBAT's channel, VBAT wins.
            18 if common & VBATE != 0 => FULL_SCALE / 4,
            _ if channel == self.sensor && common & TSVREFE != 0 => scaled(SENSOR_MV),
            17 if common & TSVREFE != 0 => scaled(VREFINT_MV),
            0..=15 => (channel + 1) * FULL_SCALE / 20,
            _ => 0,
        }
    }

    fn write_control(&mut self, value: u32, now: u64) {
        self.registers.set(CR2, value & !SWSTART);
        if value & ADON == 0 {
            self.converting = None;
        } else if value & SWSTART != 0 && self.divider.is_some() {
            self.registers.set_bits(SR, STRT, true);
            self.converting = Some((0, now + self.cycles(0)));
        }
    }
}

impl Peripheral for Adc {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        if offset == DR {
            self.registers.set_bits(SR, EOC, false);
        }
        self.registers.get(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            SR => {
                let flags = self.registers.get(SR) & value;
                self.registers.set(SR, flags);
            }
            CR2 => self.write_control(value, now),
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.converting = None;
    }

    fn next_event(&self) -> Option<u64> {
        self.converting.map(|(_, end)| end)
    }

    fn advance(&mut self, now: u64) {
        while let Some((place, end)) = self.converting.filter(|(_, end)| *end <= now) {
            self.converted(place, end);
        }
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        offset == DR
    }

    fn interrupts(&self) -> u32 {
        let (status, enables) = (self.registers.get(SR), self.registers.get(CR1));
        u32::from(
            status & EOC != 0 && enables & EOCIE != 0 || status & OVR != 0 && enables & OVRIE != 0,
        )
    }

    fn set_clocks(&mut self, clocks: &Supply, _now: u64) {
        self.divider = clocks.bus;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    /// Two core cycles per PCLK2, ADCPRE 0: an ADC clock is four cycles.
    fn on() -> Adc {
        let mut adc = Adc::new("ADC1", None);
        adc.divider = Some(2);
        adc.write(CR2, ADON, 0).unwrap();
        adc
    }

    #[test]
    fn a_single_conversion_takes_its_sample_and_twelve_clocks() {
        let mut adc = on();
        adc.follow([
            Write(SQR3, 4, 0),
            Write(CR2, ADON | SWSTART, 100),
            // 3 + 12 clocks (§11.5).
            Read(SR, STRT, 159),
            Read(SR, STRT | EOC, 160),
            // 5 / 20 of 4,095.
            Read(DR, 1_023, 161),
            Read(SR, STRT, 162),
            // 480 + 6 clocks at 6 bits.
            Write(SMPR2, 7 << 12, 200),
            Write(CR1, 3 << RES_SHIFT, 200),
            Write(CR2, ADON | SWSTART, 200),
            Event(Some(200 + 486 * 4)),
            Read(DR, 15, 3_000),
        ]);
    }

    #[test]
    fn a_scan_converts_in_order_and_flags_its_end() {
        let mut adc = on();
        adc.follow([
            Write(CR1, SCAN | EOCIE, 0),
            Write(SQR1, 2 << 20, 0),
            Write(SQR3, 1 | 2 << 5 | 3 << 10, 0),
            Write(CR2, ADON | SWSTART, 0),
            Advance(179),
            Interrupts(0),
            Advance(180),
            Interrupts(1),
        ]);
        adc.follow([
            Read(DR, 819, 180),
            Event(None),
            // With EOCS every conversion is told; one that is not read in time overruns.
            Write(CR2, ADON | EOCS | SWSTART, 200),
            Read(DR, 409, 260),
            Bits(SR, EOC | OVR, EOC | OVR, 380),
            Read(DR, 614, 380),
        ]);
    }

    #[test]
    fn conversions_go_on_with_cont_and_stop_with_adon() {
        let mut adc = on();
        adc.follow([
            Write(CR2, ADON | CONT | SWSTART, 0),
            Advance(60),
            Event(Some(120)),
            Write(CR2, 0, 130),
            Event(None),
        ]);
    }

    #[test]
    fn inner_channels_are_those_of_the_chip() {
        let mut adc = on();
        adc.write(CCR, TSVREFE, 0).unwrap();
        // 0.76 V and 1.21 V of 3.3 V.
        assert_eq!(
            [adc.level(18), adc.level(16), adc.level(17)],
            [943, 0, 1_501]
        );
        let mut adc = Adc::new("ADC1", Some(16));
        adc.write(CCR, TSVREFE, 0).unwrap();
        assert_eq!([adc.level(18), adc.level(16)], [0, 943]);
        adc.write(CCR, 0, 0).unwrap();
        assert_eq!(adc.level(16), 0);
    }
}

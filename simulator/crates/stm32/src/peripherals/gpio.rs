//! General-purpose I/O (RM0368 §8.4, RM0351 §8.5, RM0091 §8.4): one port. `gpio_f1.rs` has what the
//! STM32F1 configures in another way.

use super::registers::{merged, rows, Register, Registers, Unmodelled};
use super::{Fast, Peripheral};
use crate::edges::PORTS;
use serde::{Deserialize, Serialize};

const MODER: u32 = 0x00;
const OTYPER: u32 = 0x04;
const OSPEEDR: u32 = 0x08;
const PUPDR: u32 = 0x0C;
const AFRL: u32 = 0x20;
const AFRH: u32 = 0x24;

/// Where a kind has the registers that both have.
pub struct Places {
    pub idr: u32,
    pub odr: u32,
    pub bsrr: u32,
    pub lckr: u32,
    /// Not every line has it.
    pub brr: u32,
}

const MODER_PLACES: Places = Places {
    idr: 0x10,
    odr: 0x14,
    bsrr: 0x18,
    lckr: 0x1C,
    brr: 0x28,
};
pub const CRL_PLACES: Places = Places {
    idr: 0x08,
    odr: 0x0C,
    bsrr: 0x10,
    lckr: 0x18,
    brr: 0x14,
};

/// The registers of the STM32F1.
pub const CRL: u32 = 0x00;
pub const CRH: u32 = 0x04;

pub const LCKK: u32 = 1 << 16;
pub(crate) const PINS: u32 = 0xFFFF;

/// How a pin is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpioKind {
    /// Mode, speed, pull and alternate function have registers of their own.
    Moder,
    /// Four bits of CRL or CRH say all (RM0008 §9.2); whose pin it is, AFIO says.
    Crl,
}

/// What tells the ports of one line from those of another.
pub struct GpioFacts {
    pub kind: GpioKind,
    /// The registers of ports that begin with pins of their own, such as the debug port's.
    pub tables: &'static [(&'static str, &'static [Register])],
    /// Those of the other ports.
    pub table: &'static [Register],
    /// Bit n: n is the lowest speed.
    pub slow_speeds: u8,
    /// How long an edge of that speed may take.
    pub slow_edge_ns: u64,
}

/// The registers of a port with these reset values.
pub const fn ports(moder: u32, ospeedr: u32, pupdr: u32) -> [Register; 10] {
    rows! {
        MODER, "MODER", moder, !0;
        OTYPER, "OTYPER", 0, PINS;
        OSPEEDR, "OSPEEDR", ospeedr, !0;
        PUPDR, "PUPDR", pupdr, !0;
        MODER_PLACES.idr, "IDR", 0, 0, inert PINS;
        MODER_PLACES.odr, "ODR", 0, PINS;
        MODER_PLACES.bsrr, "BSRR", 0, !0;
        MODER_PLACES.lckr, "LCKR", 0, LCKK | PINS;
        AFRL, "AFRL", 0, !0;
        AFRH, "AFRH", 0, !0;
    }
}

/// The same with BRR.
pub const fn ports_with_brr(moder: u32, ospeedr: u32, pupdr: u32) -> [Register; 11] {
    merged(
        &ports(moder, ospeedr, pupdr),
        &rows! { MODER_PLACES.brr, "BRR", 0, PINS; },
    )
}

const PORT_C: usize = 2;
/// The blue button B1 is open, so the board pulls its pin up (UM1724, "Push-buttons").
const BUTTON: u32 = 1 << 13;

/// Levels of the 16 pins of a port, and which pins the chip drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    pub high: u32,
    pub driven: u32,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Gpio {
    pub(super) kind: GpioKind,
    slow_speeds: u8,
    pub(super) registers: Registers,
    lock: LockSequence,
    /// Pins that the board pulls up.
    pulled_up_outside: u32,
    /// Pins that a partner drives, which yields to the chip.
    outside: Levels,
    /// Pins of the STM32F1 that the debug port holds, and those of them that it pulls up.
    pub(super) claimed: u32,
    pub(super) claimed_high: u32,
    /// Follows from the registers, see `configured`.
    configuration: Configuration,
    alternate: Levels,
    levels: Levels,
}

/// What the configuration registers say. One bit for each pin.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Configuration {
    pub output: u32,
    pub analog: u32,
    pub pulled_up: u32,
    /// Pulled as ODR says.
    pub pulled_by_data: u32,
    pub open_drain: u32,
    /// Pins that an alternate function may drive.
    pub alternate: u32,
    /// Pins of the lowest speed.
    pub slow: u32,
}

/// §8.4.8: the lock takes effect after three writes and a read.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum LockSequence {
    Idle,
    First(u32),
    Second(u32),
    Third(u32),
    Locked,
}

impl Gpio {
    pub fn new(facts: &GpioFacts, port: usize) -> Gpio {
        let own = facts.tables.iter().find(|row| row.0 == PORTS[port]);
        let table = own.map_or(facts.table, |row| row.1);
        let mut gpio = Gpio {
            kind: facts.kind,
            slow_speeds: facts.slow_speeds,
            registers: Registers::new(PORTS[port], table),
            lock: LockSequence::Idle,
            pulled_up_outside: if port == PORT_C { BUTTON } else { 0 },
            outside: Levels::default(),
            claimed: 0,
            claimed_high: 0,
            configuration: Configuration::default(),
            alternate: Levels::default(),
            levels: Levels::default(),
        };
        gpio.configured();
        gpio
    }

    /// Whether a write to this register can change a pin's alternate function.
    pub fn selects_functions(&self, offset: u32) -> bool {
        match self.kind {
            GpioKind::Crl => matches!(offset, CRL | CRH),
            GpioKind::Moder => matches!(offset, MODER | AFRL | AFRH),
        }
    }

    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// The pins that have the lowest speed.
    pub fn slow(&self) -> u32 {
        self.configuration.slow
    }

    /// Sets what the alternate functions drive, and updates the levels.
    pub fn set_alternate(&mut self, alternate: Levels) {
        self.alternate = alternate;
        self.settle();
    }

    /// The alternate function of a pin. `None` if the pin has another mode. Where AFIO
    /// chooses it is 0, and an input is one, too.
    pub fn alternate_function(&self, pin: u32) -> Option<u32> {
        if self.kind == GpioKind::Crl {
            return self.is_f1_function(pin).then_some(0);
        }
        let selected = self.registers.get(if pin < 8 { AFRL } else { AFRH }) >> (pin % 8 * 4) & 0xF;
        (self.mode(pin) == 0b10).then_some(selected)
    }

    /// OSPEEDR's field of a pin.
    pub fn speed(&self, pin: u32) -> u32 {
        two_bits(self.registers.get(OSPEEDR), pin)
    }

    fn slowest(&self, speeds: u32) -> u32 {
        let slow = (0..4).filter(|speed| self.slow_speeds >> speed & 1 != 0);
        slow.fold(0, |pins, speed| pins | spread(speeds, speed))
    }

    fn mode(&self, pin: u32) -> u32 {
        two_bits(self.registers.get(MODER), pin)
    }

    /// Updates the configuration from the registers, and then the levels.
    pub(super) fn configured(&mut self) {
        if self.kind == GpioKind::Crl {
            self.configuration = self.configuration_f1();
            self.configuration.pulled_up |= self.pulled_up_outside;
            return self.heed_outside();
        }
        let mode = self.registers.get(MODER);
        let analog = spread(mode, 0b11);
        let pulled_up = spread(self.registers.get(PUPDR), 0b01);
        self.configuration = Configuration {
            output: spread(mode, 0b01),
            analog,
            pulled_up: pulled_up & !analog | self.pulled_up_outside,
            slow: self.slowest(self.registers.get(OSPEEDR)),
            pulled_by_data: 0,
            open_drain: self.registers.get(OTYPER),
            alternate: !0,
        };
        self.heed_outside();
    }

    /// The levels that partners give to pins that the chip does not drive. Whether they are other than
    /// before.
    pub fn drive_from_outside(&mut self, outside: Levels) -> bool {
        let changed = std::mem::replace(&mut self.outside, outside) != outside;
        if changed {
            self.configured();
        }
        changed
    }

    pub fn driven_outside(&self) -> u32 {
        self.outside.driven
    }

    /// A partner is stronger than a pull resistor.
    fn heed_outside(&mut self) {
        let pulls = &mut self.configuration;
        pulls.pulled_up = pulls.pulled_up & !self.outside.driven | self.outside.high;
        pulls.pulled_by_data &= !self.outside.driven;
        self.settle();
    }

    /// Updates the levels of all pins (§8.3.9–8.3.12). A pin that nothing drives follows its pull
    /// resistor. Without one it reads low.
    fn settle(&mut self) {
        let configuration = &self.configuration;
        let output = configuration.output;
        let data = self.registers.get(self.at().odr);
        let alternate = self.alternate.driven & configuration.alternate;
        let wanted_high = (data & output) | (self.alternate.high & alternate);
        let selected = output | alternate;
        let driven = selected & !(configuration.open_drain & wanted_high);
        let pulled = configuration.pulled_up | configuration.pulled_by_data & data;
        self.levels = Levels {
            high: ((wanted_high & driven) | (pulled & !driven)) & PINS,
            driven: driven & PINS,
        };
    }

    pub fn fast(&self) -> Fast {
        Fast {
            polled: self.at().idr,
            written: self.at().bsrr,
        }
    }

    #[inline(always)]
    fn at(&self) -> &'static Places {
        match self.kind {
            GpioKind::Crl => &CRL_PLACES,
            GpioKind::Moder => &MODER_PLACES,
        }
    }

    /// A write to BSRR. Setting wins over resetting (§8.4.7).
    #[inline]
    pub fn set_and_reset(&mut self, value: u32) {
        let place = self.at().odr;
        let data = self.registers.get(place) & !(value >> 16) | value & PINS;
        self.registers.set(place, data);
        self.settle();
    }

    fn write_lock(&mut self, value: u32) {
        let pins = value & PINS;
        let key = value & LCKK != 0;
        self.lock = match self.lock {
            LockSequence::Locked => LockSequence::Locked,
            LockSequence::First(first) if !key && first == pins => LockSequence::Second(first),
            LockSequence::Second(first) if key && first == pins => LockSequence::Third(first),
            _ if key => LockSequence::First(pins),
            _ => LockSequence::Idle,
        };
        if self.lock != LockSequence::Locked {
            self.registers.set(self.at().lckr, pins);
        }
    }

    fn read_lock(&mut self) -> u32 {
        if let LockSequence::Third(pins) = self.lock {
            self.lock = LockSequence::Locked;
            self.registers.set(self.at().lckr, LCKK | pins);
        }
        self.registers.get(self.at().lckr)
    }

    /// Bits of a configuration register that the lock protects.
    fn frozen(&self, offset: u32) -> u32 {
        if self.lock != LockSequence::Locked {
            return 0;
        }
        let locked = self.registers.get(self.at().lckr) & PINS;
        let field = |pin: u32| match (self.kind, offset) {
            (GpioKind::Moder, MODER | OSPEEDR | PUPDR) => 0b11 << (2 * pin),
            (GpioKind::Moder, OTYPER) => 1 << pin,
            (GpioKind::Moder, AFRL) | (GpioKind::Crl, CRL) if pin < 8 => 0xF << (4 * pin),
            (GpioKind::Moder, AFRH) | (GpioKind::Crl, CRH) if pin >= 8 => 0xF << (4 * (pin - 8)),
            _ => 0,
        };
        (0..16)
            .filter(|pin| locked >> pin & 1 != 0)
            .fold(0, |bits, pin| bits | field(pin))
    }
}

impl Peripheral for Gpio {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, _now: u64) -> u32 {
        match offset {
            _ if offset == self.at().idr => self.levels.high & !self.configuration.analog,
            _ if offset == self.at().lckr => self.read_lock(),
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        let at = self.at();
        match offset {
            _ if offset == at.bsrr => self.set_and_reset(value),
            _ if offset == at.brr => self.set_and_reset(value << 16),
            _ if offset == at.lckr => self.write_lock(value),
            _ => {
                let frozen = self.frozen(offset);
                let kept = self.registers.get(offset) & frozen;
                self.registers.set(offset, kept | value & !frozen);
                self.configured();
            }
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.lock = LockSequence::Idle;
        self.alternate = Levels::default();
        self.configured();
    }
}

fn two_bits(word: u32, pin: u32) -> u32 {
    word >> (2 * pin) & 0b11
}

/// The pins whose two-bit field in `word` equals `pattern`. One bit each.
fn spread(word: u32, pattern: u32) -> u32 {
    let equal = !(word ^ pattern.wrapping_mul(0x5555_5555));
    let mut pairs = equal & equal >> 1 & 0x5555_5555;
    for (shift, keep) in [
        (1, 0x3333_3333),
        (2, 0x0F0F_0F0F),
        (4, 0x00FF_00FF),
        (8, 0x0000_FFFF),
    ] {
        pairs = (pairs | pairs >> shift) & keep;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    const IDR: u32 = MODER_PLACES.idr;
    const ODR: u32 = MODER_PLACES.odr;
    const BSRR: u32 = MODER_PLACES.bsrr;
    const LCKR: u32 = MODER_PLACES.lckr;

    #[test]
    fn spread_finds_the_fields_that_match() {
        assert_eq!(spread(0xA800_0000, 0b10), 0xE000);
        assert_eq!(spread(0b11_10_01_00, 0b11), 0b1000);
        assert_eq!(spread(0b11_10_01_00, 0b01), 0b0010);
        assert_eq!(spread(0, 0b00), 0xFFFF);
        assert_eq!(spread(0x4000_0001, 0b01), 0x8001);
    }

    #[test]
    fn reset_pulls_are_those_of_the_debug_pins() {
        // PA13 (SWDIO) and PA15 (JTDI) are pulled up, PA14 (SWCLK) down, PB4 (NJTRST) up. PC13 is
        // the button.
        assert_eq!(
            Gpio::new(&crate::lines::f4::LINE.gpio, 0).levels(),
            Levels {
                high: 0xA000,
                driven: 0
            }
        );
        assert_eq!(
            Gpio::new(&crate::lines::f4::LINE.gpio, 1).levels(),
            Levels {
                high: 0x0010,
                driven: 0
            }
        );
        assert_eq!(
            Gpio::new(&crate::lines::f4::LINE.gpio, 2).levels(),
            Levels {
                high: 0x2000,
                driven: 0
            }
        );
    }

    #[test]
    fn bsrr_sets_over_resets() {
        let mut port = Gpio::new(&crate::lines::f4::LINE.gpio, 3);
        port.follow([
            Write(MODER, 0x5555_5555, 0),
            Write(ODR, 0b0110, 0),
            Write(BSRR, 0b0100 << 16 | 0b0010 << 16 | 0b0011, 0),
            Read(ODR, 0b0011, 0),
        ]);
        assert_eq!(
            port.levels(),
            Levels {
                high: 0b0011,
                driven: 0xFFFF
            }
        );
        assert_eq!(port.read(BSRR, 0), 0);
    }

    #[test]
    fn open_drain_releases_to_the_pull_resistor() {
        let mut port = Gpio::new(&crate::lines::f4::LINE.gpio, 3);
        port.follow([
            Write(MODER, 0b01_01, 0),
            Write(OTYPER, 0b11, 0),
            Write(PUPDR, 0b00_01, 0),
            Write(ODR, 0b11, 0),
        ]);
        assert_eq!(
            port.levels(),
            Levels {
                high: 0b01,
                driven: 0
            }
        );
        port.write(ODR, 0, 0).unwrap();
        assert_eq!(
            port.levels(),
            Levels {
                high: 0,
                driven: 0b11
            }
        );
    }

    #[test]
    fn the_lock_sequence_freezes_the_configuration() {
        let mut port = Gpio::new(&crate::lines::f4::LINE.gpio, 3);
        for value in [LCKK | 1, 1, LCKK | 1] {
            port.write(LCKR, value, 0).unwrap();
        }
        port.follow([
            Read(LCKR, LCKK | 1, 0),
            Write(MODER, 0b01_01, 0),
            Read(MODER, 0b01_00, 0),
            Write(LCKR, 0, 0),
            Read(LCKR, LCKK | 1, 0),
        ]);
    }

    #[test]
    fn analog_pins_read_low() {
        let mut port = Gpio::new(&crate::lines::f4::LINE.gpio, 2);
        port.follow([
            Read(IDR, 0x2000, 0),
            Write(MODER, 0b11 << 26, 0),
            Read(IDR, 0, 0),
        ]);
    }
}

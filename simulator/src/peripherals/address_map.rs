//! The peripheral address map (RM0368 §2.3, table 1): what lives where, and what turns its clock on.

use super::absent::{ADC, ADVANCED_TIMER, I2C, RTC, SDIO, SMALL_TIMER, SPI, UNNAMED, USART};
use super::rcc::{AHB1ENR, APB1ENR, APB2ENR};
use super::registers::Register;
use super::usart;

/// Where the peripherals of each bus begin. What lies below is memory, or nothing.
pub const APB1_START: u32 = 0x4000_0000;
pub const APB2_START: u32 = 0x4001_0000;
pub const AHB1_START: u32 = 0x4002_0000;

const USART2_BASE: u32 = 0x4000_4400;
/// The data register of USART2, at which DMA moves bytes.
pub const USART2_DR: u32 = USART2_BASE + usart::DR;

/// A modelled peripheral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Rcc,
    Pwr,
    Flash,
    /// Index into [`super::gpio::PORTS`].
    Gpio(usize),
    /// 0 = TIM2.
    Timer(usize),
    Usart2,
    /// 0 = DMA1.
    Dma(usize),
    Iwdg,
    Wwdg,
    Crc,
    Exti,
    Syscfg,
    Dbgmcu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Byte lanes reach the register.
    Ahb,
    /// The bridge repeats narrow data over the word (§2.1.6).
    Apb,
}

/// 1 KiB of the map.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub base: u32,
    pub name: &'static str,
    pub connection: Connection,
    /// `None`: the chip has it, the virtual board has not.
    pub block: Option<Block>,
    /// Register and bit in RCC that turn its clock on, if it needs one.
    pub clock: Option<(u32, u32)>,
    /// The registers of a peripheral that is not modelled, as far as they are named.
    absent: &'static [Register],
}

impl Entry {
    /// The register at an offset of a peripheral that is not modelled.
    pub fn absent_register(&self, offset: u32) -> Option<&'static Register> {
        self.absent.iter().find(|row| row.offset == offset)
    }

    /// `SPI1_CR1`, or `OTG_FS+0x08` where the register is not named.
    pub fn absent_name(&self, offset: u32) -> String {
        match self.absent_register(offset) {
            Some(row) => format!("{}_{}", self.name, row.name),
            None => format!("{}+{offset:#04x}", self.name),
        }
    }
}

const fn modelled(
    base: u32,
    name: &'static str,
    connection: Connection,
    block: Block,
    clock: Option<(u32, u32)>,
) -> Entry {
    Entry {
        base,
        name,
        connection,
        block: Some(block),
        clock,
        absent: UNNAMED,
    }
}

const fn absent(base: u32, name: &'static str, registers: &'static [Register]) -> Entry {
    Entry {
        base,
        name,
        connection: Connection::Apb,
        block: None,
        clock: None,
        absent: registers,
    }
}

use Connection::{Ahb, Apb};

static ENTRIES: &[Entry] = &[
    modelled(
        0x4000_0000,
        "TIM2",
        Apb,
        Block::Timer(0),
        Some((APB1ENR, 0)),
    ),
    modelled(
        0x4000_0400,
        "TIM3",
        Apb,
        Block::Timer(1),
        Some((APB1ENR, 1)),
    ),
    modelled(
        0x4000_0800,
        "TIM4",
        Apb,
        Block::Timer(2),
        Some((APB1ENR, 2)),
    ),
    modelled(
        0x4000_0C00,
        "TIM5",
        Apb,
        Block::Timer(3),
        Some((APB1ENR, 3)),
    ),
    absent(0x4000_2800, "RTC", RTC),
    modelled(0x4000_2C00, "WWDG", Apb, Block::Wwdg, Some((APB1ENR, 11))),
    modelled(0x4000_3000, "IWDG", Apb, Block::Iwdg, None),
    absent(0x4000_3400, "I2S2ext", UNNAMED),
    absent(0x4000_3800, "SPI2", SPI),
    absent(0x4000_3C00, "SPI3", SPI),
    absent(0x4000_4000, "I2S3ext", UNNAMED),
    modelled(
        USART2_BASE,
        "USART2",
        Apb,
        Block::Usart2,
        Some((APB1ENR, 17)),
    ),
    absent(0x4000_5400, "I2C1", I2C),
    absent(0x4000_5800, "I2C2", I2C),
    absent(0x4000_5C00, "I2C3", I2C),
    modelled(0x4000_7000, "PWR", Apb, Block::Pwr, Some((APB1ENR, 28))),
    absent(0x4001_0000, "TIM1", ADVANCED_TIMER),
    absent(0x4001_1000, "USART1", USART),
    absent(0x4001_1400, "USART6", USART),
    absent(0x4001_2000, "ADC1", ADC),
    absent(0x4001_2C00, "SDIO", SDIO),
    absent(0x4001_3000, "SPI1", SPI),
    absent(0x4001_3400, "SPI4", SPI),
    modelled(
        0x4001_3800,
        "SYSCFG",
        Apb,
        Block::Syscfg,
        Some((APB2ENR, 14)),
    ),
    modelled(0x4001_3C00, "EXTI", Apb, Block::Exti, None),
    absent(0x4001_4000, "TIM9", SMALL_TIMER),
    absent(0x4001_4400, "TIM10", SMALL_TIMER),
    absent(0x4001_4800, "TIM11", SMALL_TIMER),
    modelled(
        0x4002_0000,
        "GPIOA",
        Ahb,
        Block::Gpio(0),
        Some((AHB1ENR, 0)),
    ),
    modelled(
        0x4002_0400,
        "GPIOB",
        Ahb,
        Block::Gpio(1),
        Some((AHB1ENR, 1)),
    ),
    modelled(
        0x4002_0800,
        "GPIOC",
        Ahb,
        Block::Gpio(2),
        Some((AHB1ENR, 2)),
    ),
    modelled(
        0x4002_0C00,
        "GPIOD",
        Ahb,
        Block::Gpio(3),
        Some((AHB1ENR, 3)),
    ),
    modelled(
        0x4002_1000,
        "GPIOE",
        Ahb,
        Block::Gpio(4),
        Some((AHB1ENR, 4)),
    ),
    modelled(
        0x4002_1C00,
        "GPIOH",
        Ahb,
        Block::Gpio(5),
        Some((AHB1ENR, 7)),
    ),
    modelled(0x4002_3000, "CRC", Ahb, Block::Crc, Some((AHB1ENR, 12))),
    modelled(0x4002_3800, "RCC", Ahb, Block::Rcc, None),
    modelled(0x4002_3C00, "FLASH", Ahb, Block::Flash, None),
    modelled(0x4002_6000, "DMA1", Ahb, Block::Dma(0), Some((AHB1ENR, 21))),
    modelled(0x4002_6400, "DMA2", Ahb, Block::Dma(1), Some((AHB1ENR, 22))),
    absent(0x5000_0000, "OTG_FS", UNNAMED),
    modelled(0xE004_2000, "DBGMCU", Apb, Block::Dbgmcu, None),
];

pub const ENTRY_BYTES: u32 = 0x400;

/// The peripherals, found by address.
#[derive(Clone)]
pub struct AddressMap {
    /// What lies in each place from 0x4000_0000 on.
    low: Box<[Option<&'static Entry>]>,
}

const LOW_BASE: u32 = APB1_START;
const LOW_BYTES: u32 = 0x3_0000;
const LOW_ENTRIES: usize = (LOW_BYTES / ENTRY_BYTES) as usize;

impl Default for AddressMap {
    fn default() -> Self {
        let mut low = vec![None; LOW_ENTRIES].into_boxed_slice();
        for place in ENTRIES {
            if let Some(entry) = low.get_mut(Self::slot(place.base)) {
                *entry = Some(place);
            }
        }
        AddressMap { low }
    }
}

impl AddressMap {
    #[inline(always)]
    pub fn find(&self, address: u32) -> Option<&'static Entry> {
        match self.low.get(Self::slot(address)) {
            Some(entry) => *entry,
            None => Self::find_above(address),
        }
    }

    #[cold]
    fn find_above(address: u32) -> Option<&'static Entry> {
        ENTRIES
            .iter()
            .find(|place| address.wrapping_sub(place.base) < ENTRY_BYTES)
    }

    fn slot(address: u32) -> usize {
        (address.wrapping_sub(LOW_BASE) / ENTRY_BYTES) as usize
    }
}

/// A modelled peripheral whose clock runs, and how the core reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Responder {
    pub block: Block,
    pub connection: Connection,
}

/// Those that have answered, by address. Which do follows from [`AddressMap`] and the clocks: forget them when clocks change.
#[derive(Clone)]
pub struct ResponderCache {
    low: [Option<Responder>; LOW_ENTRIES],
}

impl Default for ResponderCache {
    fn default() -> Self {
        ResponderCache {
            low: [None; LOW_ENTRIES],
        }
    }
}

impl ResponderCache {
    #[inline(always)]
    pub fn at(&self, address: u32) -> Option<Responder> {
        *self.low.get(AddressMap::slot(address))?
    }

    pub fn remember(&mut self, address: u32, responder: Responder) {
        if let Some(entry) = self.low.get_mut(AddressMap::slot(address)) {
            *entry = Some(responder);
        }
    }

    pub fn forget(&mut self) {
        *self = ResponderCache::default();
    }
}

/// Places that a reset register's bits reset: each bit stands where the same peripheral's clock bit stands, 0x20 below.
pub fn reset_by(reset_register: u32, bits: u32) -> impl Iterator<Item = Block> {
    ENTRIES.iter().filter_map(move |place| {
        let (enable_register, bit) = place.clock?;
        (enable_register == reset_register + 0x20 && bits >> bit & 1 != 0).then_some(place.block?)
    })
}

/// The whole map.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter()
}

/// Every modelled peripheral.
pub fn modelled_blocks() -> impl Iterator<Item = Block> {
    ENTRIES.iter().filter_map(|place| place.block)
}

/// The RCC register and bit that gate a peripheral's clock.
pub fn clock_of(block: Block) -> Option<(u32, u32)> {
    ENTRIES
        .iter()
        .find(|place| place.block == Some(block))?
        .clock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_find_their_peripheral() {
        let map = AddressMap::default();
        let name = |address| map.find(address).map(|place| place.name);
        assert_eq!(name(0x4000_0000), Some("TIM2"));
        assert_eq!(name(0x4000_0FFC), Some("TIM5"));
        assert_eq!(name(0x4000_1000), None);
        assert_eq!(name(0x4002_1FFC), Some("GPIOH"));
        assert_eq!(name(0x4002_3C14), Some("FLASH"));
        assert_eq!(name(0xE004_2000), Some("DBGMCU"));
        assert_eq!(name(0x5000_0000), Some("OTG_FS"));
        assert_eq!(name(0x6000_0000), None);
    }

    #[test]
    fn reset_bits_stand_where_clock_bits_stand() {
        let blocks: Vec<Block> = reset_by(super::super::rcc::APB1RSTR, 1 << 17 | 1 << 3).collect();
        assert_eq!(blocks, [Block::Timer(3), Block::Usart2]);
    }
}

//! The address map of the peripherals (RM0368 §2.3 table 1, RM0383 §2.3 table 1, RM0090 §2.3
//! table 1): what lies where on which chip, and which bit turns its clock on.

use super::absent::{RTC, SDIO, UNNAMED};
use super::dac;
use super::rcc::{AHB1ENR, AHB2ENR, APB1ENR, APB2ENR};
use super::registers::Register;
use super::usart::{self, USART2};
use crate::chip::{Chip, Family, NUCLEO};

/// The first address of each bus. Below the first one there are memories, or nothing.
pub const APB1_START: u32 = 0x4000_0000;
pub const APB2_START: u32 = 0x4001_0000;
pub const AHB1_START: u32 = 0x4002_0000;

const USART2_BASE: u32 = 0x4000_4400;
/// The data register of USART2, to and from which DMA moves bytes.
pub const USART2_DR: u32 = USART2_BASE + usart::DR;

const DAC_BASE: u32 = 0x4000_7400;

/// Whether an address is a register of the DAC that takes data.
pub fn is_dac_data(address: u32) -> bool {
    dac::DATA.contains(&address.wrapping_sub(DAC_BASE))
}

/// A modelled peripheral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Rcc,
    Pwr,
    Flash,
    /// Index into [`super::gpio::PORTS`].
    Gpio(usize),
    /// Index into [`super::timer::MODELS`].
    Timer(usize),
    /// Index into [`super::usart::MODELS`].
    Usart(usize),
    /// Index into [`super::spi::MODELS`].
    Spi(usize),
    /// Index into [`super::i2c::MODELS`].
    I2c(usize),
    Adc,
    Dac,
    Rng,
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
    /// Each byte of the data reaches its byte of the register.
    Ahb,
    /// The bridge repeats narrow data in the whole word (§2.1.6).
    Apb,
}

/// A peripheral and the 1 KiB that it occupies.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub base: u32,
    pub name: &'static str,
    pub connection: Connection,
    /// `None`: the chip has it and the virtual board does not.
    pub block: Option<Block>,
    /// Register and bit in RCC that turn its clock on. `None` if its clock is always on.
    pub clock: Option<(u32, u32)>,
    /// Registers of a peripheral that is not modelled, as far as they have names.
    absent: &'static [Register],
    /// The chips that have it.
    families: &'static [Family],
}

const ALL: &[Family] = &[Family::F401, Family::F411, Family::F407];
const SMALL: &[Family] = &[Family::F401, Family::F411];
const F411: &[Family] = &[Family::F411];
const F407: &[Family] = &[Family::F407];

impl Entry {
    /// The register at an offset of a peripheral that is not modelled.
    pub fn absent_register(&self, offset: u32) -> Option<&'static Register> {
        self.absent.iter().find(|row| row.offset == offset)
    }

    /// `SPI1_CR1`, or `OTG_FS+0x08` if the register has no name.
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
        families: ALL,
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
        families: ALL,
    }
}

impl Entry {
    const fn only(self, families: &'static [Family]) -> Entry {
        Entry { families, ..self }
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
    modelled(
        0x4000_1000,
        "TIM6",
        Apb,
        Block::Timer(12),
        Some((APB1ENR, 4)),
    )
    .only(F407),
    modelled(
        0x4000_1400,
        "TIM7",
        Apb,
        Block::Timer(13),
        Some((APB1ENR, 5)),
    )
    .only(F407),
    modelled(
        0x4000_1800,
        "TIM12",
        Apb,
        Block::Timer(9),
        Some((APB1ENR, 6)),
    )
    .only(F407),
    modelled(
        0x4000_1C00,
        "TIM13",
        Apb,
        Block::Timer(10),
        Some((APB1ENR, 7)),
    )
    .only(F407),
    modelled(
        0x4000_2000,
        "TIM14",
        Apb,
        Block::Timer(11),
        Some((APB1ENR, 8)),
    )
    .only(F407),
    absent(0x4000_2800, "RTC", RTC),
    modelled(0x4000_2C00, "WWDG", Apb, Block::Wwdg, Some((APB1ENR, 11))),
    modelled(0x4000_3000, "IWDG", Apb, Block::Iwdg, None),
    absent(0x4000_3400, "I2S2ext", UNNAMED),
    modelled(0x4000_3800, "SPI2", Apb, Block::Spi(1), Some((APB1ENR, 14))),
    modelled(0x4000_3C00, "SPI3", Apb, Block::Spi(2), Some((APB1ENR, 15))),
    absent(0x4000_4000, "I2S3ext", UNNAMED),
    modelled(
        USART2_BASE,
        "USART2",
        Apb,
        Block::Usart(USART2),
        Some((APB1ENR, 17)),
    ),
    modelled(
        0x4000_4800,
        "USART3",
        Apb,
        Block::Usart(2),
        Some((APB1ENR, 18)),
    )
    .only(F407),
    modelled(
        0x4000_4C00,
        "UART4",
        Apb,
        Block::Usart(3),
        Some((APB1ENR, 19)),
    )
    .only(F407),
    modelled(
        0x4000_5000,
        "UART5",
        Apb,
        Block::Usart(4),
        Some((APB1ENR, 20)),
    )
    .only(F407),
    modelled(0x4000_5400, "I2C1", Apb, Block::I2c(0), Some((APB1ENR, 21))),
    modelled(0x4000_5800, "I2C2", Apb, Block::I2c(1), Some((APB1ENR, 22))),
    modelled(0x4000_5C00, "I2C3", Apb, Block::I2c(2), Some((APB1ENR, 23))),
    absent(0x4000_6400, "CAN1", UNNAMED).only(F407),
    absent(0x4000_6800, "CAN2", UNNAMED).only(F407),
    modelled(0x4000_7000, "PWR", Apb, Block::Pwr, Some((APB1ENR, 28))),
    modelled(DAC_BASE, "DAC", Apb, Block::Dac, Some((APB1ENR, 29))).only(F407),
    modelled(
        0x4001_0000,
        "TIM1",
        Apb,
        Block::Timer(4),
        Some((APB2ENR, 0)),
    ),
    modelled(
        0x4001_0400,
        "TIM8",
        Apb,
        Block::Timer(5),
        Some((APB2ENR, 1)),
    )
    .only(F407),
    modelled(
        0x4001_1000,
        "USART1",
        Apb,
        Block::Usart(0),
        Some((APB2ENR, 4)),
    ),
    modelled(
        0x4001_1400,
        "USART6",
        Apb,
        Block::Usart(5),
        Some((APB2ENR, 5)),
    ),
    modelled(0x4001_2000, "ADC1", Apb, Block::Adc, Some((APB2ENR, 8))),
    absent(0x4001_2C00, "SDIO", SDIO),
    modelled(0x4001_3000, "SPI1", Apb, Block::Spi(0), Some((APB2ENR, 12))),
    modelled(0x4001_3400, "SPI4", Apb, Block::Spi(3), Some((APB2ENR, 13))).only(SMALL),
    modelled(
        0x4001_3800,
        "SYSCFG",
        Apb,
        Block::Syscfg,
        Some((APB2ENR, 14)),
    ),
    modelled(0x4001_3C00, "EXTI", Apb, Block::Exti, None),
    modelled(
        0x4001_4000,
        "TIM9",
        Apb,
        Block::Timer(6),
        Some((APB2ENR, 16)),
    ),
    modelled(
        0x4001_4400,
        "TIM10",
        Apb,
        Block::Timer(7),
        Some((APB2ENR, 17)),
    ),
    modelled(
        0x4001_4800,
        "TIM11",
        Apb,
        Block::Timer(8),
        Some((APB2ENR, 18)),
    ),
    modelled(0x4001_5000, "SPI5", Apb, Block::Spi(4), Some((APB2ENR, 20))).only(F411),
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
        0x4002_1400,
        "GPIOF",
        Ahb,
        Block::Gpio(5),
        Some((AHB1ENR, 5)),
    )
    .only(F407),
    modelled(
        0x4002_1800,
        "GPIOG",
        Ahb,
        Block::Gpio(6),
        Some((AHB1ENR, 6)),
    )
    .only(F407),
    modelled(
        0x4002_1C00,
        "GPIOH",
        Ahb,
        Block::Gpio(7),
        Some((AHB1ENR, 7)),
    ),
    modelled(
        0x4002_2000,
        "GPIOI",
        Ahb,
        Block::Gpio(8),
        Some((AHB1ENR, 8)),
    )
    .only(F407),
    modelled(0x4002_3000, "CRC", Ahb, Block::Crc, Some((AHB1ENR, 12))),
    modelled(0x4002_3800, "RCC", Ahb, Block::Rcc, None),
    modelled(0x4002_3C00, "FLASH", Ahb, Block::Flash, None),
    absent(0x4002_4000, "BKPSRAM", UNNAMED).only(F407),
    modelled(0x4002_6000, "DMA1", Ahb, Block::Dma(0), Some((AHB1ENR, 21))),
    modelled(0x4002_6400, "DMA2", Ahb, Block::Dma(1), Some((AHB1ENR, 22))),
    absent(0x4002_8000, "ETH", UNNAMED).only(F407),
    absent(0x4002_8400, "ETH", UNNAMED).only(F407),
    absent(0x4002_8800, "ETH", UNNAMED).only(F407),
    absent(0x4002_8C00, "ETH", UNNAMED).only(F407),
    absent(0x4002_9000, "ETH", UNNAMED).only(F407),
    absent(0x4004_0000, "OTG_HS", UNNAMED).only(F407),
    absent(0x5000_0000, "OTG_FS", UNNAMED),
    absent(0x5005_0000, "DCMI", UNNAMED).only(F407),
    modelled(0x5006_0800, "RNG", Ahb, Block::Rng, Some((AHB2ENR, 6))).only(F407),
    absent(0xA000_0000, "FSMC", UNNAMED).only(F407),
    modelled(0xE004_2000, "DBGMCU", Apb, Block::Dbgmcu, None),
];

pub const ENTRY_BYTES: u32 = 0x400;

/// Finds peripherals by address.
#[derive(Clone)]
pub struct AddressMap {
    chip: &'static Chip,
    /// The entry of each KiB from 0x4000_0000 on.
    low: Box<[Option<&'static Entry>]>,
}

const LOW_BASE: u32 = APB1_START;
const LOW_BYTES: u32 = 0x3_0000;
const LOW_ENTRIES: usize = (LOW_BYTES / ENTRY_BYTES) as usize;

impl Default for AddressMap {
    fn default() -> Self {
        AddressMap::of(NUCLEO)
    }
}

impl AddressMap {
    pub fn of(chip: &'static Chip) -> AddressMap {
        let mut low = vec![None; LOW_ENTRIES].into_boxed_slice();
        for place in entries(chip) {
            if let Some(entry) = low.get_mut(Self::slot(place.base)) {
                *entry = Some(place);
            }
        }
        AddressMap { chip, low }
    }

    #[inline(always)]
    pub fn find(&self, address: u32) -> Option<&'static Entry> {
        match self.low.get(Self::slot(address)) {
            Some(entry) => *entry,
            None => self.find_above(address),
        }
    }

    #[cold]
    fn find_above(&self, address: u32) -> Option<&'static Entry> {
        entries(self.chip).find(|place| address.wrapping_sub(place.base) < ENTRY_BYTES)
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

/// The peripherals that have answered, by address. Follows from [`AddressMap`] and the clocks: call
/// `forget` when clocks change.
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

/// All entries of a chip's map.
pub fn entries(chip: &Chip) -> impl Iterator<Item = &'static Entry> {
    let family = chip.family;
    ENTRIES
        .iter()
        .filter(move |place| place.families.contains(&family))
}

/// The peripherals that bits of a reset register reset. Each bit has the position of the
/// peripheral's clock bit, in the register 0x20 above.
pub fn reset_by(chip: &Chip, reset_register: u32, bits: u32) -> impl Iterator<Item = Block> {
    entries(chip).filter_map(move |place| {
        let (enable_register, bit) = place.clock?;
        (enable_register == reset_register + 0x20 && bits >> bit & 1 != 0).then_some(place.block?)
    })
}

/// Every modelled peripheral of a chip.
pub fn modelled_blocks(chip: &Chip) -> impl Iterator<Item = Block> {
    entries(chip).filter_map(|place| place.block)
}

/// Whether a chip has a peripheral that is modelled.
pub fn has(chip: &Chip, block: Block) -> bool {
    modelled_blocks(chip).any(|known| known == block)
}

/// The RCC register and bit that turn a peripheral's clock on.
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
        let bits = 1 << 17 | 1 << 3;
        let blocks: Vec<Block> = reset_by(NUCLEO, super::super::rcc::APB1RSTR, bits).collect();
        assert_eq!(blocks, [Block::Timer(3), Block::Usart(USART2)]);
    }

    #[test]
    fn each_chip_has_its_own_peripherals() {
        let name = |chip: &str, address| {
            let map = AddressMap::of(Chip::named(chip).unwrap());
            map.find(address).map(|place| place.name)
        };
        // TIM6, SPI5, GPIOF, RNG.
        let places = [0x4000_1000, 0x4001_5000, 0x4002_1400, 0x5006_0800];
        assert_eq!(places.map(|at| name("f401cc", at)), [None; 4]);
        assert_eq!(
            places.map(|at| name("f411re", at)),
            [None, Some("SPI5"), None, None]
        );
        assert_eq!(
            places.map(|at| name("f407vg", at)),
            [Some("TIM6"), None, Some("GPIOF"), Some("RNG")]
        );
    }

    /// Against RCC_xENR_yEN of ST's device headers stm32f401xe.h, stm32f411xe.h and stm32f407xx.h
    /// (CMSIS for the F4, 2.6.10).
    #[test]
    fn a_chip_has_the_clocks_of_its_device_header() {
        let bits = |chip: &str, register| {
            let clocks = entries(Chip::named(chip).unwrap()).filter_map(|place| place.clock);
            clocks
                .filter(|clock| clock.0 == register)
                .fold(0, |all, clock| all | 1 << clock.1)
        };
        let of = |chip| [AHB1ENR, AHB2ENR, APB1ENR, APB2ENR].map(|register| bits(chip, register));
        // GPIOA-E, GPIOH, CRC, DMA1-2; TIM2-5, WWDG, SPI2-3, USART2, I2C1-3, PWR; TIM1, USART1,
        // USART6, ADC1, SPI1, SPI4, SYSCFG, TIM9-11.
        let small = [0x0060_109F, 0, 0x10E2_C80F, 0x0007_7131];
        assert_eq!(of("f401re"), small);
        assert_eq!(of("f401cc"), small);
        assert_eq!(of("f411re"), [small[0], 0, small[2], small[3] | 1 << 20]);
        // GPIOA-I, CRC, DMA1-2; RNG; TIM2-7, TIM12-14, WWDG, SPI2-3, USART2-3, UART4-5, I2C1-3, PWR,
        // DAC; TIM1, TIM8, USART1, USART6, ADC1, SPI1, SYSCFG, TIM9-11.
        let large = [0x0060_11FF, 0x40, 0x30FE_C9FF, 0x0007_5133];
        assert_eq!(of("f407vg"), large);
    }

    /// The xxx_IRQn of the same headers.
    #[test]
    fn interrupts_have_the_numbers_of_the_device_headers() {
        use super::super::{adc, i2c, rng, spi};
        let usarts = usart::MODELS.each_ref().map(|model| model.irq);
        assert_eq!(usarts, [37, 38, 39, 52, 53, 71]);
        let spis = spi::MODELS.each_ref().map(|model| model.irq);
        assert_eq!(spis, [35, 36, 51, 84, 85]);
        let buses = i2c::MODELS
            .each_ref()
            .map(|model| [model.event_irq, model.error_irq]);
        assert_eq!(buses, [[31, 32], [33, 34], [72, 73]]);
        assert_eq!((adc::IRQ, rng::IRQ), (18, 80));
    }

    #[test]
    fn names_in_the_map_are_those_of_the_peripherals() {
        for entry in ENTRIES {
            let name = match entry.block {
                Some(Block::Timer(n)) => super::super::timer::MODELS[n].name,
                Some(Block::Usart(n)) => usart::MODELS[n].name,
                Some(Block::Spi(n)) => super::super::spi::MODELS[n].name,
                Some(Block::I2c(n)) => super::super::i2c::MODELS[n].name,
                Some(Block::Gpio(n)) => super::super::gpio::PORTS[n],
                _ => continue,
            };
            assert_eq!(entry.name, name);
        }
    }
}

//! Finds peripherals by address: what a chip's table says, as the SoC needs it.

use super::others::Kind;
use crate::chip::{Bus, Chip, Place, PLACE_BYTES};
use crate::edges::PORTS;
use crate::lines::facts;
use crate::peripherals::absent::{RTC, SDIO};
use crate::peripherals::registers::Register;
use crate::peripherals::timer::models::place;
use crate::peripherals::{usart, Fast};

/// The first address of each bus. Below the first one there are memories, or nothing.
pub const APB1_START: u32 = 0x4000_0000;
pub const APB2_START: u32 = 0x4001_0000;
pub const AHB1_START: u32 = 0x4002_0000;

/// A modelled peripheral. Most are wired to others by more than the bus, and so have a place of
/// their own in the SoC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Rcc,
    Pwr,
    Flash,
    /// Index into [`PORTS`].
    Gpio(usize),
    /// Index into [`crate::lines::record::LineFacts::timers`].
    Timer(usize),
    /// Index into [`usart::MODELS`].
    Usart(usize),
    Dac,
    /// 0 = DMA1.
    Dma(usize),
    Exti,
    Syscfg,
    Dbgmcu,
    /// A peripheral that is wired to no other: the nth of the chip's table.
    Other(usize),
}

/// A peripheral as its row has it, and what the SoC must know to reach it.
#[derive(Clone, Copy)]
pub struct Entry {
    pub place: &'static Place,
    /// `None`: the chip has it and the virtual board does not.
    pub block: Option<Block>,
    /// Register and bit in RCC that turn its clock on. `None` if its clock is always on.
    pub clock: Option<(u32, u32)>,
    /// Register and bit in RCC that reset it.
    reset: Option<(u32, u32)>,
}

impl Entry {
    /// Whether the bridge of an APB repeats narrow data in the whole word (RM0368 §2.1.6). On an AHB
    /// each byte of the data reaches its byte of the register.
    pub fn on_apb(&self) -> bool {
        matches!(self.place.bus, Bus::Apb1 | Bus::Apb2 | Bus::Ppb)
    }

    /// The register at an offset of a peripheral that is not modelled.
    pub fn absent_register(&self, offset: u32) -> Option<&'static Register> {
        let named = match self.place.name.as_str() {
            "RTC" => RTC,
            "SDIO" => SDIO,
            _ => &[],
        };
        named.iter().find(|row| row.offset == offset)
    }

    /// `SDIO_CMD`, or `OTG_FS+0x08` if the register has no name.
    pub fn absent_name(&self, offset: u32) -> String {
        let name = &self.place.name;
        match self.absent_register(offset) {
            Some(row) => format!("{name}_{}", row.name),
            None => format!("{name}+{offset:#04x}"),
        }
    }
}

/// The block of a peripheral that has a place of its own. Panics if no model has this name.
fn wired(kind: &str, name: &str) -> Block {
    let of = |names: &[&str]| names.iter().position(|known| *known == name);
    let block = match kind {
        "rcc" => Some(Block::Rcc),
        "pwr" => Some(Block::Pwr),
        "flash" => Some(Block::Flash),
        "gpio" => of(&PORTS).map(Block::Gpio),
        "timer" => place(name).map(Block::Timer),
        "usart" => of(&usart::MODELS).map(Block::Usart),
        "dac" => Some(Block::Dac),
        "dma" => of(&["DMA1", "DMA2"]).map(Block::Dma),
        "exti" => Some(Block::Exti),
        "syscfg" => Some(Block::Syscfg),
        "dbgmcu" => Some(Block::Dbgmcu),
        _ => None,
    };
    block.unwrap_or_else(|| panic!("{name} is no {kind} that is modelled"))
}

/// The peripherals of a chip, by address.
#[derive(Clone, Default)]
pub struct AddressMap {
    pub entries: Vec<Entry>,
}

impl AddressMap {
    pub fn of(chip: &'static Chip) -> AddressMap {
        let line = facts(chip.family).line;
        let mut others = 0..;
        let entry = |place: &'static Place| {
            let gates = place
                .clock
                .and_then(|bit| Some((line.gates(place.bus)?, bit)));
            let block = place.kind.as_deref().map(|kind| match Kind::named(kind) {
                Some(_) => Block::Other(others.next().unwrap_or_default()),
                None => wired(kind, &place.name),
            });
            Entry {
                place,
                block,
                clock: gates.map(|(gates, bit)| (gates.enable, bit)),
                reset: gates.and_then(|(gates, bit)| Some((gates.reset?, bit))),
            }
        };
        AddressMap {
            entries: chip.peripherals.iter().map(entry).collect(),
        }
    }

    /// Every modelled peripheral.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.entries.iter().filter_map(|entry| entry.block)
    }

    pub fn find(&self, address: u32) -> Option<Entry> {
        let after = self
            .entries
            .partition_point(|entry| entry.place.base <= address);
        let before = self.entries[..after].last()?;
        (address - before.place.base < PLACE_BYTES).then_some(*before)
    }

    /// The row of a peripheral. `None` if the chip has none, or it is not modelled.
    pub fn place_of(&self, block: Block) -> Option<&'static Place> {
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| entry.block == Some(block))?;
        Some(entry.place)
    }

    /// Whether a register of RCC turns clocks on.
    pub fn turns_on(&self, register: u32) -> bool {
        let mut clocks = self.entries.iter().filter_map(|entry| entry.clock);
        clocks.any(|clock| clock.0 == register)
    }

    /// The peripherals that bits of a register of RCC reset.
    pub fn reset_by(&self, register: u32, bits: u32) -> Vec<Block> {
        let resets = self.entries.iter().filter_map(|entry| {
            let (reset, bit) = entry.reset?;
            (reset == register && bits >> bit & 1 != 0).then_some(entry.block?)
        });
        resets.collect()
    }
}

/// A modelled peripheral whose clock runs, and how the core reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Responder {
    pub block: Block,
    pub on_apb: bool,
    pub fast: Fast,
}

const LOW_BYTES: u32 = 0x3_0000;
const LOW_ENTRIES: usize = (LOW_BYTES / PLACE_BYTES) as usize;
/// Ports that are apart from the other peripherals: no chip has more.
const PORTS_ENTRIES: usize = 16;

/// The peripherals that have answered, by address. Follows from [`AddressMap`] and the clocks: call
/// `forget` when clocks change.
#[derive(Clone)]
pub struct ResponderCache {
    /// Those of each KiB from 0x4000_0000 on, and behind them the ports that are apart.
    responders: [Option<Responder>; LOW_ENTRIES + PORTS_ENTRIES],
    /// Where the chip's first port is.
    ports_base: u32,
}

impl Default for ResponderCache {
    fn default() -> Self {
        ResponderCache {
            responders: [None; LOW_ENTRIES + PORTS_ENTRIES],
            ports_base: APB1_START,
        }
    }
}

impl ResponderCache {
    pub fn of(map: &AddressMap) -> ResponderCache {
        let ports_base = map
            .place_of(Block::Gpio(0))
            .map_or(APB1_START, |place| place.base);
        ResponderCache {
            ports_base,
            ..ResponderCache::default()
        }
    }

    #[inline(always)]
    fn slot(&self, address: u32) -> usize {
        let low = (address.wrapping_sub(APB1_START) / PLACE_BYTES) as usize;
        if low < LOW_ENTRIES {
            return low;
        }
        LOW_ENTRIES + (address.wrapping_sub(self.ports_base) / PLACE_BYTES) as usize
    }

    #[inline(always)]
    pub fn at(&self, address: u32) -> Option<Responder> {
        *self.responders.get(self.slot(address))?
    }

    pub fn remember(&mut self, address: u32, responder: Responder) {
        let slot = self.slot(address);
        if let Some(place) = self.responders.get_mut(slot) {
            *place = Some(responder);
        }
    }

    pub fn forget(&mut self) {
        self.responders.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::{chips, nucleo};
    use crate::lines::f4;
    use crate::peripherals::usart::USART2;

    #[test]
    fn addresses_find_their_peripheral() {
        let map = AddressMap::of(nucleo());
        for (address, name) in [
            (0x4000_0000, Some("TIM2")),
            (0x4000_0FFC, Some("TIM5")),
            (0x4000_1000, None),
            (0x4002_1FFC, Some("GPIOH")),
            (0x4002_3C14, Some("FLASH")),
            (0xE004_2000, Some("DBGMCU")),
            (0x5000_0000, Some("OTG_FS")),
            (0x6000_0000, None),
        ] {
            let place = map.find(address).map(|entry| entry.place.name.as_str());
            assert_eq!(place, name, "{address:#x}");
        }
    }

    #[test]
    fn reset_bits_stand_where_clock_bits_stand() {
        let bits = 1 << 17 | 1 << 3;
        let blocks = AddressMap::of(nucleo()).reset_by(0x20, bits);
        assert_eq!(blocks, [Block::Timer(3), Block::Usart(USART2)]);
    }

    #[test]
    fn each_chip_has_its_own_peripherals() {
        // TIM6, SPI5, GPIOF, RNG.
        let places = [0x4000_1000, 0x4001_5000, 0x4002_1400, 0x5006_0800];
        for (chip, names) in [
            ("f401cc", ["", "", "", ""]),
            ("f411re", ["", "SPI5", "", ""]),
            ("f407vg", ["TIM6", "", "GPIOF", "RNG"]),
        ] {
            let map = AddressMap::of(Chip::named(chip).unwrap());
            let name = |address| map.find(address).map_or("", |entry| &entry.place.name);
            assert_eq!(places.map(name), names, "{chip}");
        }
    }

    /// Against RCC_xENR_yEN of ST's device headers stm32f401xe.h, stm32f411xe.h and stm32f407xx.h
    /// (CMSIS for the F4, 2.6.10).
    #[test]
    fn a_chip_has_the_clocks_of_its_device_header() {
        let bits = |chip: &str, register| {
            let map = AddressMap::of(Chip::named(chip).unwrap());
            let clocks = map.entries.iter().filter_map(|entry| entry.clock);
            clocks
                .filter(|clock| clock.0 == register)
                .fold(0, |all, clock| all | 1 << clock.1)
        };
        let of = |chip| [0x30, 0x34, 0x40, 0x44].map(|register| bits(chip, register));
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
        // Of stm32f446xx.h those without a model are missing: SPDIFRX, FMPI2C1, CANs, CEC, SAIs.
        let f446 = [0x0060_10FF, 0, 0x30FE_C9FF, 0x0007_7133];
        assert_eq!(of("f446re"), f446);
    }

    /// The xxx_IRQn of the same headers.
    #[test]
    fn interrupts_have_the_numbers_of_the_device_headers() {
        let rows: [(&str, &[u16]); 32] = [
            ("TIM1", &[25, 27]),
            ("TIM2", &[28]),
            ("TIM3", &[29]),
            ("TIM4", &[30]),
            ("TIM5", &[50]),
            ("TIM6", &[54]),
            ("TIM7", &[55]),
            ("TIM8", &[44, 46]),
            ("TIM9", &[24]),
            ("TIM10", &[25]),
            ("TIM11", &[26]),
            ("TIM12", &[43]),
            ("TIM13", &[44]),
            ("TIM14", &[45]),
            ("USART1", &[37]),
            ("USART2", &[38]),
            ("USART3", &[39]),
            ("UART4", &[52]),
            ("UART5", &[53]),
            ("USART6", &[71]),
            ("SPI1", &[35]),
            ("SPI2", &[36]),
            ("SPI3", &[51]),
            ("SPI4", &[84]),
            ("SPI5", &[85]),
            ("I2C1", &[31, 32]),
            ("I2C2", &[33, 34]),
            ("I2C3", &[72, 73]),
            ("ADC1", &[18]),
            ("RNG", &[80]),
            ("DMA1", &[11, 12, 13, 14, 15, 16, 17, 47]),
            ("DMA2", &[56, 57, 58, 59, 60, 68, 69, 70]),
        ];
        for chip in chips() {
            for place in &chip.peripherals {
                let row = rows.iter().find(|row| row.0 == place.name);
                let row = row.filter(|_| std::ptr::eq(facts(chip.family).line, &f4::LINE));
                if let Some((name, lines)) = row {
                    assert_eq!(place.interrupts, *lines, "{name} of the {}", chip.name);
                }
            }
        }
        let known = |name: &str| {
            let mut places = chips().flat_map(|chip| &chip.peripherals);
            places.any(|place| place.name == name)
        };
        assert!(rows.iter().all(|row| known(row.0)));
    }
}

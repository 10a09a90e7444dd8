//! Finds peripherals by address: what a chip's table says, as the SoC needs it.

use super::absent::{RTC, SDIO, UNNAMED};
use super::rcc::gates;
use super::registers::Register;
use super::{dac, timer, usart, Kind};
use crate::chip::{nucleo, Bus, Chip, Place};
use crate::edges::PORTS;
use crate::lines::LineFacts;

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

/// A modelled peripheral. Most are wired to others by more than the bus, and so have a place of
/// their own in the SoC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Rcc,
    Pwr,
    Flash,
    /// Index into [`PORTS`].
    Gpio(usize),
    /// Index into [`timer::MODELS`].
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Each byte of the data reaches its byte of the register.
    Ahb,
    /// The bridge repeats narrow data in the whole word (RM0368 §2.1.6).
    Apb,
}

/// A peripheral and the 1 KiB that it occupies.
#[derive(Clone, Debug)]
pub struct Entry {
    pub base: u32,
    pub name: String,
    pub connection: Connection,
    pub on_apb2: bool,
    /// Its row in the table.
    row: Place,
    /// `None`: the chip has it and the virtual board does not.
    pub block: Option<Block>,
    /// Register and bit in RCC that turn its clock on. `None` if its clock is always on.
    pub clock: Option<(u32, u32)>,
    /// Register and bit in RCC that reset it.
    reset: Option<(u32, u32)>,
    /// Its interrupt lines, in the order of its model.
    pub interrupts: Vec<u16>,
    /// Makes a [`Block::Other`].
    pub kind: Option<&'static Kind>,
    /// Registers of a peripheral that is not modelled, as far as they have names.
    absent: &'static [Register],
}

impl Entry {
    /// The rows of a table.
    pub fn all(rows: &[Place], line: &LineFacts) -> Vec<Entry> {
        let mut others = 0;
        let mut entries: Vec<Entry> = rows
            .iter()
            .map(|row| Entry::of(row, line, &mut others))
            .collect();
        entries.sort_by_key(|entry| entry.base);
        entries
    }

    /// `others` is the number of [`Block::Other`] before it.
    fn of(row: &Place, line: &LineFacts, others: &mut usize) -> Entry {
        let gates = row.clock.and_then(|bit| Some((gates(line, row.bus)?, bit)));
        let kind = row.kind.as_deref().and_then(Kind::named);
        let block = row.kind.as_deref().map(|word| match kind {
            Some(_) => {
                *others += 1;
                Block::Other(*others - 1)
            }
            None => wired(word, &row.name),
        });
        Entry {
            base: row.base,
            name: row.name.clone(),
            connection: match row.bus {
                Bus::Ahb1 | Bus::Ahb2 | Bus::Ahb3 => Connection::Ahb,
                Bus::Apb1 | Bus::Apb2 | Bus::Ppb => Connection::Apb,
            },
            on_apb2: row.bus == Bus::Apb2,
            row: row.clone(),
            block,
            clock: gates.map(|(gates, bit)| (gates.enable, bit)),
            reset: gates.and_then(|(gates, bit)| Some((gates.reset?, bit))),
            interrupts: row.interrupts.clone(),
            kind,
            absent: match row.name.as_str() {
                "RTC" => RTC,
                "SDIO" => SDIO,
                _ => UNNAMED,
            },
        }
    }

    /// The clock of its kernel in MHz, if it is not that of its bus.
    pub fn kernel_mhz(&self) -> Option<u64> {
        self.row.kernel_mhz
    }

    /// Whether the model behind it is the one that a row of a table asks for.
    pub fn is_model_of(&self, row: &Place) -> bool {
        self.block.is_some() && self.row == *row
    }

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

    /// Its nth interrupt line, or its last: some timers have one line for all.
    pub fn interrupt(&self, n: usize) -> u16 {
        let lines = &self.interrupts;
        lines.get(n).or(lines.last()).copied().unwrap_or(0)
    }
}

/// The block of a peripheral that has a place of its own. Panics if no model has this name.
fn wired(kind: &str, name: &str) -> Block {
    let place = |names: &[&str]| {
        let found = names.iter().position(|known| *known == name);
        found.unwrap_or_else(|| panic!("{name} is no {kind} that is modelled"))
    };
    match kind {
        "rcc" => Block::Rcc,
        "pwr" => Block::Pwr,
        "flash" => Block::Flash,
        "gpio" => Block::Gpio(place(&PORTS)),
        "timer" => Block::Timer(timer::place(name).unwrap_or_else(|| place(&[]))),
        "usart" => Block::Usart(place(&usart::MODELS)),
        "dac" => Block::Dac,
        "dma" => Block::Dma(place(&["DMA1", "DMA2"])),
        "exti" => Block::Exti,
        "syscfg" => Block::Syscfg,
        "dbgmcu" => Block::Dbgmcu,
        _ => panic!("{name} is of no kind that is modelled: {kind}"),
    }
}

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
/// Ports that are apart from the other peripherals: no chip has more.
const PORTS_ENTRIES: usize = 16;

impl Default for AddressMap {
    fn default() -> Self {
        AddressMap::of(nucleo())
    }
}

impl AddressMap {
    pub fn of(chip: &'static Chip) -> AddressMap {
        let mut low = vec![None; LOW_ENTRIES].into_boxed_slice();
        for place in &chip.peripherals {
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
        self.chip
            .peripherals
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
    pub fast: Fast,
}

/// The offsets of a peripheral's registers that have fast paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fast {
    /// What programs poll: reading it changes nothing that a second read would not, and gives the same
    /// value until the next event.
    pub polled: u32,
    /// What programs write most often: bytes to send, the levels of pins.
    pub written: u32,
}

impl Fast {
    /// No register of a peripheral is there.
    const NOWHERE: u32 = u32::MAX;
    pub const NONE: Fast = Fast {
        polled: Fast::NOWHERE,
        written: Fast::NOWHERE,
    };
}

/// The peripherals that have answered, by address. Follows from [`AddressMap`] and the clocks: call
/// `forget` when clocks change.
#[derive(Clone)]
pub struct ResponderCache {
    low: [Option<Responder>; LOW_ENTRIES],
    ports: [Option<Responder>; PORTS_ENTRIES],
    /// Where the chip's first port is.
    ports_base: u32,
}

impl Default for ResponderCache {
    fn default() -> Self {
        ResponderCache::of(nucleo())
    }
}

impl ResponderCache {
    pub fn of(chip: &Chip) -> ResponderCache {
        ResponderCache::at_base(entry_of(chip, Block::Gpio(0)).map_or(LOW_BASE, |entry| entry.base))
    }

    fn at_base(ports_base: u32) -> ResponderCache {
        ResponderCache {
            low: [None; LOW_ENTRIES],
            ports: [None; PORTS_ENTRIES],
            ports_base,
        }
    }

    fn port_slot(&self, address: u32) -> usize {
        (address.wrapping_sub(self.ports_base) / ENTRY_BYTES) as usize
    }

    #[inline(always)]
    pub fn at(&self, address: u32) -> Option<Responder> {
        match self.low.get(AddressMap::slot(address)) {
            Some(responder) => *responder,
            None => self.at_port(address),
        }
    }

    /// At a port that is apart.
    #[cold]
    fn at_port(&self, address: u32) -> Option<Responder> {
        *self.ports.get(self.port_slot(address))?
    }

    pub fn remember(&mut self, address: u32, responder: Responder) {
        let port = self.port_slot(address);
        let low = self.low.get_mut(AddressMap::slot(address));
        let ports = &mut self.ports;
        let entry = low.or_else(|| ports.get_mut(port));
        if let Some(entry) = entry {
            *entry = Some(responder);
        }
    }

    pub fn forget(&mut self) {
        *self = ResponderCache::at_base(self.ports_base);
    }
}

/// The entry of a peripheral of the chip. `None` if the chip has none, or it is not modelled.
pub fn entry_of(chip: &Chip, block: Block) -> Option<&Entry> {
    chip.peripherals
        .iter()
        .find(|place| place.block == Some(block))
}

/// The peripherals that bits of a register of RCC reset.
pub fn reset_by(chip: &Chip, register: u32, bits: u32) -> impl Iterator<Item = Block> + '_ {
    chip.peripherals.iter().filter_map(move |place| {
        let (reset, bit) = place.reset?;
        (reset == register && bits >> bit & 1 != 0).then_some(place.block?)
    })
}

/// Every modelled peripheral of a chip.
pub fn modelled_blocks(chip: &Chip) -> impl Iterator<Item = Block> + '_ {
    chip.peripherals.iter().filter_map(|place| place.block)
}

/// Whether a chip has a peripheral that is modelled.
pub fn has(chip: &Chip, block: Block) -> bool {
    entry_of(chip, block).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::usart::USART2;
    use super::*;
    use crate::chip::chips;

    #[test]
    fn addresses_find_their_peripheral() {
        let map = AddressMap::default();
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
            let place = map.find(address).map(|place| place.name.as_str());
            assert_eq!(place, name, "{address:#x}");
        }
    }

    #[test]
    fn reset_bits_stand_where_clock_bits_stand() {
        let bits = 1 << 17 | 1 << 3;
        let blocks: Vec<Block> = reset_by(nucleo(), 0x20, bits).collect();
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
            let name = |address| map.find(address).map_or("", |place| &place.name);
            assert_eq!(places.map(name), names, "{chip}");
        }
    }

    /// Against RCC_xENR_yEN of ST's device headers stm32f401xe.h, stm32f411xe.h and stm32f407xx.h
    /// (CMSIS for the F4, 2.6.10).
    #[test]
    fn a_chip_has_the_clocks_of_its_device_header() {
        let bits = |chip: &str, register| {
            let clocks = Chip::named(chip)
                .unwrap()
                .peripherals
                .iter()
                .filter_map(|place| place.clock);
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
                let row = row.filter(|_| std::ptr::eq(chip.line(), nucleo().line()));
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

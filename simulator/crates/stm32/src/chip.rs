//! The chips that the model knows, from the tables in `chips/`.
//!
//! A table is a file: what its chips have in common, their peripherals, and the sizes of each. The
//! tables name their sources. Sizes, wait states, scales and the VCO's limits were held against ST's
//! device headers stm32f401xc.h, stm32f401xe.h, stm32f411xe.h and stm32f407xx.h (CMSIS for the F4,
//! 2.6.10), device identifiers against probe-rs's table of targets. Currents, temperatures and
//! voltages are left out: the supply is 2.7 to 3.6 V, which every wait state assumes. Times of a mass
//! erase are typical values of the datasheets' tables "Flash memory programming", without a second
//! source.

use cortex_m::model::FlashPort;
use cortex_m::{CoreKind, Model};
use serde::Deserialize;
use std::sync::OnceLock;
use thiserror::Error;

/// Chips with the same reference manual: their register tables are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Family {
    F401,
    F411,
    F407,
    F446,
    L476,
    F103,
    F072,
    G071,
    G474,
}

/// A setting of PWR_CR.VOS, and the highest HCLK that it allows.
#[derive(Debug, PartialEq, Eq)]
pub struct Scale {
    pub vos: u32,
    pub highest_hz: u64,
    /// The same while the over-drive is on.
    pub over_drive_hz: u64,
}

/// The bus that a peripheral is on: its clock register, and how narrow writes reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bus {
    Ahb1,
    Ahb2,
    Ahb3,
    Apb1,
    Apb2,
    /// The private peripheral bus of the core.
    Ppb,
}

/// What a peripheral occupies.
pub const PLACE_BYTES: u32 = 0x400;

/// A row of a table: a peripheral and the KiB that it occupies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub name: String,
    /// Which model it is. `None`: the chip has it and the virtual board does not.
    pub kind: Option<String>,
    pub base: u32,
    pub bus: Bus,
    /// Its bit in the clock and the reset register of its bus. `None`: it is always clocked.
    pub clock: Option<u32>,
    /// The lines that it raises, in the order of its model.
    #[serde(default)]
    pub interrupts: Vec<u16>,
    /// The clock of its kernel, if it is not that of its bus: an oscillator, from the reset on.
    pub kernel_mhz: Option<u64>,
    /// The channel of an ADC's temperature sensor, if it is not 18 (RM0090 §13.10).
    pub sensor: Option<u32>,
}

impl Place {
    /// Its nth interrupt line, or its last: some timers have one line for all.
    pub fn interrupt(&self, n: usize) -> u16 {
        let lines = &self.interrupts;
        lines.get(n).or(lines.last()).copied().unwrap_or(0)
    }
}

#[derive(Debug)]
pub struct Chip {
    /// As the datasheet has it: `STM32F401RE`.
    pub name: String,
    pub family: Family,
    /// Its core, and how that reaches the flash.
    pub core: Model,
    pub flash_bytes: usize,
    /// SRAM from 0x2000_0000 on, without a hole.
    pub sram_bytes: usize,
    /// Those at its end that are a memory of their own on the bus matrix: SRAM2.
    pub second_sram_bytes: usize,
    /// Core coupled memory at 0x1000_0000, which only the core's data bus reaches. 0: none.
    pub ccm_bytes: usize,
    /// DBGMCU_IDCODE.
    pub idcode: u32,
    /// Highest PCLK1 and PCLK2.
    pub apb1_hz: u64,
    pub apb2_hz: u64,
    /// The highest HCLK for 0, 1, 2, ... wait states of the flash. The last one is the chip's.
    pub wait_states: Vec<u64>,
    /// All that PWR_CR.VOS may hold.
    pub scales: Vec<Scale>,
    /// The lowest frequency of the PLL's VCO. The highest is 432 MHz.
    pub lowest_vco_hz: u64,
    /// Microseconds of a mass erase, for a parallelism of 8, 16 and 32 bits: typical values.
    pub mass_erase_us: [u64; 3],
    /// Its peripherals, by address.
    pub peripherals: Vec<Place>,
    /// The pins of its buses, separated by commas ([`crate::partners::BusPin`]).
    pub bus_pins: String,
    /// The text of its table, if that is none of this program.
    pub table: Option<String>,
}

/// Where the memories begin on every chip (RM0368 §2.3, RM0090 §2.3).
pub const FLASH_BASE: u32 = 0x0800_0000;
pub const SRAM_BASE: u32 = 0x2000_0000;
pub const CCM_BASE: u32 = 0x1000_0000;

const KIB: usize = 1024;
const MHZ: u64 = 1_000_000;

/// No chip has more.
pub const MOST_FLASH_BYTES: usize = 1024 * KIB;
pub const MOST_SRAM_BYTES: usize = 128 * KIB;

/// A file of `chips/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub family: Family,
    #[serde(default)]
    core: CoreKind,
    /// Unless it is what ST's chips with this core have.
    pub priority_bits: Option<u8>,
    #[serde(default)]
    flash_port: FlashPort,
    /// The manual that describes them, for the reader.
    pub manual: String,
    pub apb1_mhz: u64,
    pub apb2_mhz: u64,
    pub wait_states_mhz: Vec<u64>,
    pub scales: Vec<ScaleRow>,
    pub lowest_vco_mhz: u64,
    pub peripherals: Vec<Place>,
    #[serde(default)]
    bus_pins: String,
    pub chips: Vec<ChipRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScaleRow {
    pub vos: u32,
    pub mhz: u64,
    pub over_drive_mhz: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChipRow {
    pub name: String,
    pub flash_kib: usize,
    pub sram_kib: usize,
    #[serde(default)]
    pub second_sram_kib: usize,
    #[serde(default)]
    pub ccm_kib: usize,
    idcode: u32,
    pub mass_erase_ms: [u64; 3],
}

impl Table {
    fn core(&self) -> Model {
        let usual = self.core.model();
        Model {
            priority_bits: self.priority_bits.unwrap_or(usual.priority_bits),
            flash_port: self.flash_port,
            ..usual
        }
    }

    pub fn chip(&self, row: &ChipRow) -> Chip {
        let scale = |scale: &ScaleRow| Scale {
            vos: scale.vos,
            highest_hz: scale.mhz * MHZ,
            over_drive_hz: scale.over_drive_mhz.unwrap_or(scale.mhz) * MHZ,
        };
        let mut peripherals = self.peripherals.clone();
        peripherals.sort_by_key(|place| place.base);
        Chip {
            name: row.name.clone(),
            family: self.family,
            core: self.core(),
            flash_bytes: row.flash_kib * KIB,
            sram_bytes: row.sram_kib * KIB,
            second_sram_bytes: row.second_sram_kib * KIB,
            ccm_bytes: row.ccm_kib * KIB,
            idcode: row.idcode,
            apb1_hz: self.apb1_mhz * MHZ,
            apb2_hz: self.apb2_mhz * MHZ,
            wait_states: self.wait_states_mhz.iter().map(|mhz| mhz * MHZ).collect(),
            scales: self.scales.iter().map(scale).collect(),
            lowest_vco_hz: self.lowest_vco_mhz * MHZ,
            mass_erase_us: row.mass_erase_ms.map(|ms| ms * 1_000),
            peripherals,
            bus_pins: self.bus_pins.clone(),
            table: None,
        }
    }
}

/// The tables, as they are in the program. The Nucleo's chip comes first.
pub(crate) const TABLES: [&str; 9] = [
    include_str!("../chips/stm32f401.toml"),
    include_str!("../chips/stm32f411.toml"),
    include_str!("../chips/stm32f407.toml"),
    include_str!("../chips/stm32f446.toml"),
    include_str!("../chips/stm32l476.toml"),
    include_str!("../chips/stm32f103.toml"),
    include_str!("../chips/stm32f072.toml"),
    include_str!("../chips/stm32g071.toml"),
    include_str!("../chips/stm32g474.toml"),
];

/// The chips of a table of the program, which is read when somebody asks for it.
fn chips_of(table: usize) -> &'static [Chip] {
    static CHIPS: [OnceLock<Vec<Chip>>; TABLES.len()] = [const { OnceLock::new() }; TABLES.len()];
    CHIPS[table].get_or_init(|| {
        let table = toml::from_str::<Table>(TABLES[table]).expect("a test reads them");
        table.chips.iter().map(|row| table.chip(row)).collect()
    })
}

/// Every chip, in the order of the tables.
pub fn chips() -> impl Iterator<Item = &'static Chip> {
    (0..TABLES.len()).flat_map(chips_of)
}

/// The chip of the Nucleo.
pub fn nucleo() -> &'static Chip {
    &chips_of(0)[0]
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no chip that is modelled: write {1}, or the path of a table that ends in .toml")]
pub struct UnknownChip(String, String);

/// The names that [`Chip::named`] takes: "stm32f401re, stm32f401cc or stm32f411re".
fn names() -> String {
    let names: Vec<String> = chips().map(|chip| chip.name.to_ascii_lowercase()).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl Chip {
    /// The chip of this name, with or without `stm32`, in letters of any size.
    pub fn named(text: &str) -> Result<&'static Chip, UnknownChip> {
        let wanted = text.to_ascii_uppercase();
        chips()
            .find(|chip| chip.name.trim_start_matches("STM32") == wanted || chip.name == wanted)
            .ok_or_else(|| UnknownChip(text.into(), names()))
    }

    /// The highest HCLK with so many wait states.
    pub fn highest_core_hz(&self, wait_states: u32) -> u64 {
        let most = self.wait_states.len() - 1;
        self.wait_states[most.min(wait_states as usize)]
    }
}

/// Chips are the same if they have the same name.
impl PartialEq for Chip {
    fn eq(&self, other: &Chip) -> bool {
        self.name == other.name
    }
}

impl Eq for Chip {}

#[cfg(test)]
mod tests {
    use super::*;

    fn nth(chip: usize) -> &'static Chip {
        chips().nth(chip).unwrap()
    }

    #[test]
    fn a_chip_has_its_name_with_or_without_stm32() {
        for text in ["stm32f407vg", "f407vg", "STM32F407VG", "F407vg"] {
            assert_eq!(Chip::named(text).unwrap().name, "STM32F407VG");
        }
        for text in ["", "stm32", "f407", "stm32f103c8", "stm32stm32f401re"] {
            assert!(Chip::named(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_chip_exceeds_what_the_model_sets_aside() {
        for chip in chips() {
            assert!(chip.flash_bytes <= MOST_FLASH_BYTES, "{}", chip.name);
            assert!(chip.sram_bytes <= MOST_SRAM_BYTES, "{}", chip.name);
            assert!(chip.wait_states.is_sorted(), "{}", chip.name);
        }
    }

    /// FLASH_END, SRAMx_BASE with their sizes and CCMDATARAM_END of ST's device headers; DEV_ID of
    /// probe-rs's STM32F4_Series.yaml, and of board logs for the F411 and F407.
    #[test]
    fn sizes_and_identities_are_those_of_other_tables() {
        let rows = [
            ("f401re", 0x0807_FFFF, 0x2001_8000, None, 0x433),
            ("f401cc", 0x0803_FFFF, 0x2001_0000, None, 0x423),
            ("f411re", 0x0807_FFFF, 0x2002_0000, None, 0x431),
            ("f407vg", 0x080F_FFFF, 0x2002_0000, Some(0x1000_FFFF), 0x413),
            ("f446re", 0x0807_FFFF, 0x2002_0000, None, 0x421),
            ("l476rg", 0x080F_FFFF, 0x2001_8000, Some(0x1000_7FFF), 0x415),
            ("f103rb", 0x0801_FFFF, 0x2000_5000, None, 0x410),
            ("f072rb", 0x0801_FFFF, 0x2000_4000, None, 0x448),
            ("g071rb", 0x0801_FFFF, 0x2000_9000, None, 0x460),
            ("g474re", 0x0807_FFFF, 0x2001_8000, Some(0x1000_7FFF), 0x469),
        ];
        for (name, flash_last, sram_end, ccm_last, device) in rows {
            let chip = Chip::named(name).unwrap();
            assert_eq!(0x0800_0000 + chip.flash_bytes - 1, flash_last, "{name}");
            assert_eq!(0x2000_0000 + chip.sram_bytes, sram_end, "{name}");
            let last = (chip.ccm_bytes > 0).then(|| 0x1000_0000 + chip.ccm_bytes - 1);
            assert_eq!(last, ccm_last, "{name}");
            assert_eq!(chip.idcode & 0xFFF, device, "{name}");
        }
    }

    /// RCC_MAX_FREQUENCY_SCALEx and RCC_PLLVCO_OUTPUT_MIN of ST's device headers.
    #[test]
    fn clocks_are_those_of_the_device_headers() {
        for (chip, scales) in [
            (0, &[(1, 60), (2, 84)][..]),
            (1, &[(1, 60), (2, 84)]),
            (2, &[(1, 64), (2, 84), (3, 100)]),
            (3, &[(0, 144), (1, 168)]),
            (4, &[(1, 120), (2, 144), (3, 168)]),
            (5, &[(1, 80), (2, 26)]),
        ] {
            let mhz = |scale: &Scale| (scale.vos, scale.highest_hz / MHZ);
            assert!(
                nth(chip).scales.iter().map(mhz).eq(scales.iter().copied()),
                "{chip}"
            );
        }
        let lowest = chips().map(|chip| chip.lowest_vco_hz / MHZ);
        assert!(lowest.eq([192, 192, 100, 100, 100, 64, 16, 16, 96, 96]));
        for chip in chips() {
            let fastest = chip.scales.iter().map(|scale| scale.over_drive_hz).max();
            assert_eq!(fastest, chip.wait_states.last().copied(), "{}", chip.name);
        }
    }

    /// And FLASH_SCALEx_LATENCYy_FREQ of ST's device headers.
    #[test]
    fn wait_states_are_those_of_the_manuals() {
        for (chip, highest_mhz) in [
            (0, &[30, 60, 84, 84][..]),
            (2, &[30, 64, 90, 100]),
            (3, &[30, 60, 90, 120, 150, 168]),
            (4, &[30, 60, 90, 120, 150, 180]),
        ] {
            let highest = (0..).map(|states| nth(chip).highest_core_hz(states) / MHZ);
            assert!(
                highest
                    .take(highest_mhz.len())
                    .eq(highest_mhz.iter().copied()),
                "{chip}"
            );
        }
    }
}

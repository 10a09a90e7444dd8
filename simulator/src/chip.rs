//! The chips that the model knows, and how they differ.
//!
//! Sources: ST's reference manuals RM0368 rev 5 (STM32F401), RM0383 rev 3 (STM32F411) and RM0090
//! rev 19 (STM32F407), and the datasheets DS9716 (F401xB/C), DS10086 (F401xD/E), DS10314
//! (F411xC/E) and DS8626 (F407). Sizes, wait states, scales and the VCO's limits were held against
//! ST's device headers stm32f401xc.h, stm32f401xe.h, stm32f411xe.h and stm32f407xx.h (CMSIS for the
//! F4, 2.6.10), device identifiers against probe-rs's table of targets. Currents, temperatures and
//! voltages are left out: the supply is 2.7 to 3.6 V, which every wait state below assumes.

use std::str::FromStr;
use thiserror::Error;

/// Chips with the same reference manual: they have the same peripherals at the same addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    F401,
    F411,
    F407,
}

/// A setting of PWR_CR.VOS, and the highest HCLK that it allows.
#[derive(Debug, PartialEq, Eq)]
pub struct Scale {
    pub vos: u32,
    pub highest_hz: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Chip {
    /// As the datasheet has it: `STM32F401RE`.
    pub name: &'static str,
    pub family: Family,
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
    pub wait_states: &'static [u64],
    /// All that PWR_CR.VOS may hold.
    pub scales: &'static [Scale],
    /// PWR_CR after reset.
    pub power_reset: u32,
    /// The lowest frequency of the PLL's VCO. The highest is 432 MHz.
    pub lowest_vco_hz: u64,
    /// Microseconds of a mass erase, for a parallelism of 8, 16 and 32 bits: typical values.
    pub mass_erase_us: [u64; 3],
}

const KIB: usize = 1024;
const MHZ: u64 = 1_000_000;

/// RM0368 §3.4.1 table 6 and §5.4.1.
const F401_WAIT_STATES: &[u64] = &[30 * MHZ, 60 * MHZ, 84 * MHZ];
const F401_SCALES: &[Scale] = &[scale(0b01, 60), scale(0b10, 84)];
/// RM0383 §3.4.1 table 5 and §5.4.1.
const F411_WAIT_STATES: &[u64] = &[30 * MHZ, 64 * MHZ, 90 * MHZ, 100 * MHZ];
const F411_SCALES: &[Scale] = &[scale(0b01, 64), scale(0b10, 84), scale(0b11, 100)];
/// RM0090 §3.5.1 table 10 and §5.4.1: VOS has one bit.
const F407_WAIT_STATES: &[u64] = &[
    30 * MHZ,
    60 * MHZ,
    90 * MHZ,
    120 * MHZ,
    150 * MHZ,
    168 * MHZ,
];
const F407_SCALES: &[Scale] = &[scale(0b00, 144), scale(0b01, 168)];

const fn scale(vos: u32, mhz: u64) -> Scale {
    Scale {
        vos,
        highest_hz: mhz * MHZ,
    }
}

/// Device identifiers: RM0368 §23.6.1, RM0383 §23.6.1, RM0090 §38.6.1. The revisions are those that
/// boards report (logs of OpenOCD and st-flash): F401RE 0x1001, F411RE 0x1000, F407VG 0x1007. Mass
/// erase: the datasheets' tables "Flash memory programming", without a second source.
pub static CHIPS: [Chip; 4] = [
    Chip {
        name: "STM32F401RE",
        family: Family::F401,
        flash_bytes: 512 * KIB,
        sram_bytes: 96 * KIB,
        second_sram_bytes: 0,
        ccm_bytes: 0,
        idcode: 0x1001_6433,
        apb1_hz: 42 * MHZ,
        apb2_hz: 84 * MHZ,
        wait_states: F401_WAIT_STATES,
        scales: F401_SCALES,
        power_reset: 0x8000,
        lowest_vco_hz: 192 * MHZ,
        mass_erase_us: [8_000_000, 5_500_000, 4_000_000],
    },
    Chip {
        name: "STM32F401CC",
        family: Family::F401,
        flash_bytes: 256 * KIB,
        sram_bytes: 64 * KIB,
        second_sram_bytes: 0,
        ccm_bytes: 0,
        idcode: 0x1000_6423,
        apb1_hz: 42 * MHZ,
        apb2_hz: 84 * MHZ,
        wait_states: F401_WAIT_STATES,
        scales: F401_SCALES,
        power_reset: 0x8000,
        lowest_vco_hz: 192 * MHZ,
        mass_erase_us: [4_000_000, 2_750_000, 2_000_000],
    },
    Chip {
        name: "STM32F411RE",
        family: Family::F411,
        flash_bytes: 512 * KIB,
        sram_bytes: 128 * KIB,
        second_sram_bytes: 0,
        ccm_bytes: 0,
        idcode: 0x1000_6431,
        apb1_hz: 50 * MHZ,
        apb2_hz: 100 * MHZ,
        wait_states: F411_WAIT_STATES,
        scales: F411_SCALES,
        power_reset: 0x8000,
        lowest_vco_hz: 100 * MHZ,
        mass_erase_us: [8_000_000, 5_500_000, 4_000_000],
    },
    Chip {
        name: "STM32F407VG",
        family: Family::F407,
        flash_bytes: 1024 * KIB,
        // SRAM1 of 112 KiB and SRAM2 of 16 KiB (RM0090 §2.3.1).
        sram_bytes: 128 * KIB,
        second_sram_bytes: 16 * KIB,
        ccm_bytes: 64 * KIB,
        idcode: 0x1007_6413,
        apb1_hz: 42 * MHZ,
        apb2_hz: 84 * MHZ,
        wait_states: F407_WAIT_STATES,
        scales: F407_SCALES,
        power_reset: 0x4000,
        lowest_vco_hz: 100 * MHZ,
        mass_erase_us: [16_000_000, 11_000_000, 8_000_000],
    },
];

/// The chip of the Nucleo.
pub static NUCLEO: &Chip = &CHIPS[0];

/// No chip has more.
pub const MOST_FLASH_BYTES: usize = 1024 * KIB;
pub const MOST_SRAM_BYTES: usize = 128 * KIB;

#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "{0:?} is no chip that is modelled: write stm32f401re, stm32f401cc, stm32f411re or stm32f407vg"
)]
pub struct UnknownChip(String);

impl Chip {
    /// The chip of this name, with or without `stm32`, in letters of any size.
    pub fn named(text: &str) -> Result<&'static Chip, UnknownChip> {
        let wanted = text.to_ascii_uppercase();
        CHIPS
            .iter()
            .find(|chip| chip.name.trim_start_matches("STM32") == wanted || chip.name == wanted)
            .ok_or_else(|| UnknownChip(text.into()))
    }

    /// The highest HCLK with so many wait states.
    pub fn highest_core_hz(&self, wait_states: u32) -> u64 {
        let most = self.wait_states.len() - 1;
        self.wait_states[most.min(wait_states as usize)]
    }

    /// The manual that describes it.
    pub fn manual(&self) -> &'static str {
        match self.family {
            Family::F401 => "RM0368",
            Family::F411 => "RM0383",
            Family::F407 => "RM0090",
        }
    }
}

/// A chip as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipArgument(pub &'static Chip);

impl FromStr for ChipArgument {
    type Err = UnknownChip;

    fn from_str(text: &str) -> Result<ChipArgument, UnknownChip> {
        Chip::named(text).map(ChipArgument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for chip in &CHIPS {
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
        let scales = |chip: usize| -> Vec<(u32, u64)> {
            let mhz = |scale: &Scale| (scale.vos, scale.highest_hz / MHZ);
            CHIPS[chip].scales.iter().map(mhz).collect()
        };
        assert_eq!(scales(0), [(1, 60), (2, 84)]);
        assert_eq!(scales(1), scales(0));
        assert_eq!(scales(2), [(1, 64), (2, 84), (3, 100)]);
        assert_eq!(scales(3), [(0, 144), (1, 168)]);
        let lowest = CHIPS.each_ref().map(|chip| chip.lowest_vco_hz / MHZ);
        assert_eq!(lowest, [192, 192, 100, 100]);
        for chip in &CHIPS {
            let fastest = chip.scales.iter().map(|scale| scale.highest_hz).max();
            assert_eq!(fastest, chip.wait_states.last().copied(), "{}", chip.name);
        }
    }

    #[test]
    fn wait_states_are_those_of_the_manuals() {
        let highest = |chip: usize, states| CHIPS[chip].highest_core_hz(states) / MHZ;
        assert_eq!(
            [0, 1, 2, 15].map(|states| highest(0, states)),
            [30, 60, 84, 84]
        );
        // FLASH_SCALEx_LATENCYy_FREQ of ST's device headers.
        assert_eq!(
            [0, 1, 2, 3].map(|states| highest(2, states)),
            [30, 64, 90, 100]
        );
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|states| highest(3, states)),
            [30, 60, 90, 120, 150, 168]
        );
    }
}

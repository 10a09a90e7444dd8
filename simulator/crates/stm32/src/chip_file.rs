//! A chip from outside: one table of somebody's own, as those in `chips/`. It is looked at before
//! anything is made of it, so whatever it holds ends in a chip or in one sentence.

use crate::chip::{chips, Chip, ChipRow, Place, Table, MOST_SRAM_BYTES, PLACE_BYTES};
use crate::lines::{facts, record::LineFacts};
use crate::peripherals::flash::sectors::{flash_sizes, is_flash_size};
use crate::text_file::{content, toml_place};
use cortex_m::IRQ_LINES;
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// A table has some ten kilobytes.
const MOST_BYTES: u64 = 1 << 20;
const KIB: usize = 1024;
const MOST_CCM_KIB: usize = 64;
const MOST_NAME_BYTES: usize = 40;
const MOST_MHZ: u64 = 1_000;
const HIGHEST_VCO_MHZ: u64 = 432;
const MOST_WAIT_STATES: usize = 16;
const MOST_ERASE_MS: u64 = 1_000_000;
/// No modelled peripheral has more lines.
const MOST_LINES: usize = 8;
const HIGHEST_VOS: u32 = 3;
const MOST_PRIORITY_BITS: u8 = 8;
/// Without these nothing has a clock or a flash.
const NEEDED: [&str; 3] = ["RCC", "PWR", "FLASH"];

/// The chip of the table in a file. The error is a sentence that names the file and the place.
pub fn read(path: &Path) -> Result<&'static Chip, String> {
    let told = |why: String| format!("{}: {why}", path.display());
    let text = content(path, "a table of a chip", MOST_BYTES).map_err(told)?;
    known(&text).map_err(|why| format!("{}{why}", path.display()))
}

/// A chip as an argument: a name, or the path of a table that ends in `.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipArgument(pub &'static Chip);

impl FromStr for ChipArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ChipArgument, String> {
        let path = Path::new(text);
        let chip = match path.extension() {
            Some(end) if end == "toml" => read(path),
            _ => Chip::named(text).map_err(|unknown| unknown.to_string()),
        };
        chip.map(ChipArgument)
    }
}

/// The chip of a table. Equal tables are the same chip. The error begins with `:LINE: ` or `: `.
pub fn known(text: &str) -> Result<&'static Chip, String> {
    static KNOWN: Mutex<BTreeMap<String, &'static Chip>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(chip) = known.get(text) {
        return Ok(chip);
    }
    let chip: &'static Chip = Box::leak(Box::new(parsed(text)?));
    known.insert(text.into(), chip);
    Ok(chip)
}

fn parsed(text: &str) -> Result<Chip, String> {
    let table: Table = toml::from_str(text).map_err(|error| toml_place(text, &error))?;
    let row = match &table.chips[..] {
        [row] => row,
        rows => {
            return Err(format!(
                ": it has {} [[chips]]: leave the one to run on",
                rows.len()
            ))
        }
    };
    let line = facts(table.family).line;
    check_chip(row, line)
        .and_then(|()| check_limits(&table))
        .and_then(|()| check_peripherals(&table.peripherals, line))
        .map_err(|why| format!(": {why}"))?;
    Ok(Chip {
        table: Some(text.into()),
        ..table.chip(row)
    })
}

/// An error with this sentence unless it holds.
fn must(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(why())
    }
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.len() <= MOST_NAME_BYTES && text.chars().all(plain)
}

fn check_chip(row: &ChipRow, line: &LineFacts) -> Result<(), String> {
    let name = &row.name;
    must(is_name(name), || {
        format!("chips: name is letters, digits, _ and -, {MOST_NAME_BYTES} at most")
    })?;
    must(Chip::named(name).is_err(), || {
        format!("chips: {name} is modelled already: give this one a name of its own")
    })?;
    must(
        row.flash_kib <= usize::MAX / KIB && is_flash_size(&line.flash, row.flash_kib * KIB),
        || {
            format!(
                "chips: flash_kib = {} is no whole number of {}",
                row.flash_kib,
                flash_sizes(&line.flash)
            )
        },
    )?;
    let most_sram = MOST_SRAM_BYTES / KIB;
    must((1..=most_sram).contains(&row.sram_kib), || {
        format!("chips: sram_kib = {} is not 1 to {most_sram}", row.sram_kib)
    })?;
    must(row.second_sram_kib <= row.sram_kib, || {
        format!(
            "chips: second_sram_kib = {} is more than sram_kib = {}, of which it is a part",
            row.second_sram_kib, row.sram_kib
        )
    })?;
    must(row.ccm_kib <= MOST_CCM_KIB, || {
        format!(
            "chips: ccm_kib = {} is not 0 to {MOST_CCM_KIB}",
            row.ccm_kib
        )
    })?;
    let times = row.mass_erase_ms.iter();
    must(
        times.clone().all(|ms| (1..=MOST_ERASE_MS).contains(ms)),
        || format!("chips: mass_erase_ms are 1 to {MOST_ERASE_MS}"),
    )
}

fn check_limits(table: &Table) -> Result<(), String> {
    let is_mhz = |mhz: &u64| (1..=MOST_MHZ).contains(mhz);
    for (key, mhz) in [("apb1_mhz", table.apb1_mhz), ("apb2_mhz", table.apb2_mhz)] {
        must(is_mhz(&mhz), || {
            format!("{key} = {mhz} is not 1 to {MOST_MHZ}")
        })?;
    }
    let states = &table.wait_states_mhz;
    must(
        (1..=MOST_WAIT_STATES).contains(&states.len())
            && states.iter().all(is_mhz)
            && states.is_sorted(),
        || {
            format!(
                "wait_states_mhz has 1 to {MOST_WAIT_STATES} ascending values of 1 to {MOST_MHZ}"
            )
        },
    )?;
    must(
        table
            .priority_bits
            .is_none_or(|bits| (1..=MOST_PRIORITY_BITS).contains(&bits)),
        || format!("priority_bits is 1 to {MOST_PRIORITY_BITS}"),
    )?;
    let scales = &table.scales;
    must(
        !scales.is_empty()
            && scales.iter().all(|scale| {
                scale.vos <= HIGHEST_VOS
                    && is_mhz(&scale.mhz)
                    && scale.over_drive_mhz.as_ref().is_none_or(is_mhz)
            }),
        || format!("scales has rows of a vos of 0 to {HIGHEST_VOS} and 1 to {MOST_MHZ} mhz"),
    )?;
    let lowest = table.lowest_vco_mhz;
    must((1..=HIGHEST_VCO_MHZ).contains(&lowest), || {
        format!("lowest_vco_mhz = {lowest} is not 1 to {HIGHEST_VCO_MHZ}")
    })?;
    let manual = &table.manual;
    must(
        manual.len() <= 2 * MOST_NAME_BYTES && !manual.contains(char::is_control),
        || "manual is the name of a document".into(),
    )
}

fn check_peripherals(places: &[Place], line: &LineFacts) -> Result<(), String> {
    for (n, place) in places.iter().enumerate() {
        must(is_name(&place.name), || {
            format!(
                "peripherals: row {}: name is letters, digits, _ and -",
                n + 1
            )
        })?;
        check_place(place, line).map_err(|why| format!("peripherals: {}: {why}", place.name))?;
        // What is on the chip and not modelled may take several rows.
        let names = |other: &Place| {
            other.name == place.name && (other.kind.is_some() || place.kind.is_some())
        };
        let other = places[..n]
            .iter()
            .find(|other| other.base == place.base || names(other));
        if let Some(other) = other {
            return Err(format!(
                "peripherals: {} at {:#010x} and {} at {:#010x} are in each other's way",
                other.name, other.base, place.name, place.base
            ));
        }
    }
    for name in NEEDED {
        must(
            places
                .iter()
                .any(|place| place.name == name && place.kind.is_some()),
            || format!("peripherals: {name} is missing, and the board needs it"),
        )?;
    }
    Ok(())
}

fn check_place(place: &Place, line: &LineFacts) -> Result<(), String> {
    must(
        place.base >= 0x4000_0000 && place.base % PLACE_BYTES == 0,
        || {
            format!(
                "base {:#010x} is no multiple of 0x400 from 0x40000000 on",
                place.base
            )
        },
    )?;
    if let Some(bit) = place.clock {
        must(bit < 32, || {
            format!("clock {bit} is no bit of a register, 0 to 31")
        })?;
        must(line.gates(place.bus).is_some(), || {
            "no clock of this bus is modelled: leave clock out".into()
        })?;
    }
    must(place.interrupts.len() <= MOST_LINES, || {
        format!("it has more than {MOST_LINES} interrupts")
    })?;
    if let Some(line) = place.interrupts.iter().find(|line| **line >= IRQ_LINES) {
        return Err(format!("interrupt {line} is not 0 to {}", IRQ_LINES - 1));
    }
    // The model knows where its peripherals are: which pins, lines and streams they reach.
    let of_line = chips().filter(|chip| std::ptr::eq(facts(chip.family).line, line));
    let mut modelled = of_line.flat_map(|chip| &chip.peripherals);
    must(
        place.kind.is_none() || modelled.any(|row| row == place),
        || {
            "this differs from what is modelled: take the row of a chip that is, or leave kind out"
                .into()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::nucleo;
    use crate::memory::Memory;
    use crate::random::Random;
    use crate::soc::Soc;
    use cortex_m::CoreKind;

    const F401: &str = include_str!("../chips/stm32f401.toml");

    /// The F401's table with its first chip alone, under another name.
    fn own() -> String {
        let first = F401.split("[[chips]]").take(2).collect::<Vec<_>>();
        first.join("[[chips]]").replace("STM32F401RE", "MINE")
    }

    #[test]
    fn a_table_of_ones_own_is_a_chip() {
        let text = own().replace("sram_kib = 96", "sram_kib = 48");
        let chip = known(&text).unwrap();
        assert_eq!((chip.name.as_str(), chip.sram_bytes), ("MINE", 48 * 1024));
        assert!(std::ptr::eq(chip, known(&text).unwrap()));
        let modelled = Chip::named("f401re").unwrap();
        assert_eq!(chip.peripherals.len(), modelled.peripherals.len());
        let memory = Memory::of(chip);
        let stored = postcard::to_allocvec(&memory).unwrap();
        let restored: Memory = postcard::from_bytes(&stored).unwrap();
        assert!(std::ptr::eq(restored.chip(), chip));
    }

    /// Whoever makes a table of his own begins with one of these.
    #[test]
    fn a_copy_of_each_table_is_a_chip() {
        for (number, text) in crate::chip::TABLES.iter().enumerate() {
            let (shared, chips) = text.split_once("[[chips]]").unwrap();
            let first = chips.split("[[chips]]").next().unwrap();
            let name = first
                .lines()
                .find(|line| line.starts_with("name = "))
                .unwrap();
            let mine = first.replace(name, &format!("name = \"COPY{number}\""));
            known(&format!("{shared}[[chips]]{mine}")).unwrap();
        }
    }

    #[test]
    fn a_wrong_table_gets_one_sentence_with_the_place() {
        for (from, to, told) in [
            (
                "sram_kib = 96",
                "sram_kib = 129",
                ": chips: sram_kib = 129 is not 1 to 128",
            ),
            (
                "flash_kib = 512",
                "flash_kib = 500",
                "flash_kib = 500 is no whole number of sectors",
            ),
            (
                "\"MINE\"",
                "\"stm32f401RE\"",
                "stm32f401RE is modelled already",
            ),
            ("\"MINE\"", "\"a\\nb\"", "name is letters, digits"),
            (
                "apb1_mhz = 42",
                "apb1_mhz = 0",
                ": apb1_mhz = 0 is not 1 to 1000",
            ),
            (
                "family = \"F401\"",
                "family = \"F401\"\ncore = \"cortex-m7\"",
                ":6: unknown variant `cortex-m7`, expected one of `cortex-m0`, `cortex-m0plus`, `cortex-m3`, `cortex-m4`",
            ),
            (
                "family = \"F401\"",
                "family = \"F401\"\npriority_bits = 9",
                ": priority_bits is 1 to 8",
            ),
            ("[30, 60, 84]", "[60, 30]", "wait_states_mhz has"),
            ("[30, 60, 84]", "[]", "wait_states_mhz has"),
            (
                "clock = 0, interrupts = [28]",
                "clock = 32, interrupts = [28]",
                "TIM2: clock 32",
            ),
            (
                "interrupts = [28]",
                "interrupts = [96]",
                "TIM2: interrupt 96 is not 0 to 95",
            ),
            (
                "interrupts = [28]",
                "interrupts = [29]",
                "TIM2: this differs from what is modelled",
            ),
            (
                "kind = \"timer\", base = 0x4000_0000",
                "kind = \"clock\", base = 0x4000_0000",
                "TIM2: this differs",
            ),
            (
                "name = \"I2S2ext\", base = 0x4000_3400",
                "name = \"I2S2ext\", base = 0x4000_2C00",
                "in each other's way",
            ),
            (
                "name = \"I2S2ext\", base = 0x4000_3400",
                "name = \"I2S2ext\", base = 0x4000_3410",
                "I2S2ext: base 0x40003410",
            ),
            (
                "name = \"OTG_FS\", base = 0x5000_0000, bus = \"ahb2\"",
                "name = \"FSMC\", base = 0xA000_0000, bus = \"ahb3\", clock = 0",
                "FSMC: no clock",
            ),
            (
                "sram_kib = 96",
                "sram_kb = 96",
                ":LINE: unknown field `sram_kb`",
            ),
            (
                "family = \"F401\"",
                "family = \"F105\"",
                ":5: unknown variant `F105`",
            ),
            (
                "family = \"F401\"",
                "family = \"L476\"",
                ": peripherals: RTC: this differs from what is modelled",
            ),
            ("family = \"F401\"", "family = ", ":5: "),
            ("[[chips]]", "[[spare]]", ": "),
        ] {
            assert!(own().contains(from), "{from}");
            let line = 1 + own()
                .lines()
                .take_while(|line| !line.contains(from))
                .count();
            let told = told.replace("LINE", &line.to_string());
            let why = known(&own().replacen(from, to, 1)).unwrap_err();
            assert!(
                why.contains(&told) && !why.contains('\n'),
                "{from} -> {to}: {why}"
            );
        }
        let why = known(F401).unwrap_err();
        assert_eq!(why, ": it has 2 [[chips]]: leave the one to run on");
        let needed = own().replace("name = \"RCC\", kind = \"rcc\"", "name = \"RCC\"");
        assert!(known(&needed).unwrap_err().contains("RCC is missing"));
    }

    #[test]
    fn a_chip_names_its_core() {
        let core = |lines: &str| {
            let text = own().replace("family = \"F401\"", &format!("family = \"F401\"\n{lines}"));
            known(&text).unwrap().core
        };
        assert_eq!(core("core = \"cortex-m4\""), nucleo().core);
        let small = core("core = \"cortex-m0\"\nflash_port = \"prefetch-32x3\"");
        assert_eq!(small.facts().title, "Cortex-M0");
        assert_eq!(small.priority_mask(), 0xC0);
        let own_bits = core("core = \"cortex-m3\"\npriority_bits = 3");
        assert_eq!(
            (own_bits.kind, own_bits.priority_mask()),
            (CoreKind::M3, 0xE0)
        );
    }

    /// Numbers, words and lines are changed at random. What is taken makes a chip at reset.
    #[test]
    fn no_table_panics() {
        let mut random = Random(1);
        let (mut taken, mut refused) = (0, 0);
        let text = own();
        let tokens: Vec<&str> = text.split_inclusive([' ', '\n', ',']).collect();
        let numbers = [
            "0",
            "1",
            "31",
            "32",
            "255",
            "65535",
            "0x4000_0400",
            "0xFFFF_FC00",
            "18446744073709551615",
            "-1",
            "9223372036854775807",
        ];
        for _ in 0..600 {
            let mut tokens = tokens.clone();
            let at = random.below(tokens.len() as u32) as usize;
            match random.below(3) {
                0 => tokens[at] = numbers[random.below(numbers.len() as u32) as usize],
                1 => tokens[at] = tokens[random.below(tokens.len() as u32) as usize],
                _ => drop(tokens.remove(at)),
            }
            match parsed(&tokens.concat()) {
                Ok(chip) => {
                    let chip: &'static Chip = Box::leak(Box::new(chip));
                    let mut soc = Soc::new(Memory::of(chip));
                    assert!(!soc.register_tables().is_empty());
                    taken += 1;
                }
                Err(why) => {
                    assert!(!why.contains('\n'), "{why}");
                    refused += 1;
                }
            }
        }
        assert!(taken > 50 && refused > 50, "{taken} {refused}");
    }
}

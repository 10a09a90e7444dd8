//! Holds the register tables of the newer lines against the SVD files that pyOCD's package carries, and
//! those of the STM32G0 and G4 against the crates stm32g0 and stm32g4 (0.15.1), which are made of ST's
//! SVD files: a second source beside the manuals. `simulator/tests/svd.py` takes the former facts. Of
//! values after reset the crates have many of the STM32L4's, so only names and places stand here.

use super::registers::Register;
use crate::chip::Chip;
use crate::memory::Memory;
use crate::soc::Soc;
use std::collections::BTreeMap;

const FACTS: [&str; 2] = [include_str!("svd_facts.txt"), include_str!("pac_facts.txt")];

/// Where the manual decides against the file: the line of chips, the peripherals that begin so, the
/// register, and why.
const DECIDED: &[(&str, &str, &str, &str)] = &[
    (
        "L476",
        "FLASH",
        "OPTR",
        "RM0351 §3.7.8: as chips are delivered",
    ),
    (
        "L476",
        "FLASH",
        "PCROP",
        "§3.7.9, §3.7.13: as chips are delivered",
    ),
    ("L476", "FLASH", "WRP", "§3.7.11: as chips are delivered"),
    (
        "L476",
        "GPIO",
        "MODER",
        "§8.5.1: pins start in analog mode; the file is the F4's",
    ),
    ("L476", "GPIOA", "OSPEEDR", "§8.5.3: PA13 is fast"),
    ("L476", "PWR", "SR2", "§5.4.6: REGLPS is set"),
    ("L476", "RCC", "AHB2SMENR", "the L476 has no AES"),
    ("L476", "TIM", "OR", "§31.4.18: OR1"),
    (
        "F072",
        "DBGMCU",
        "APB",
        "RM0091 §32.9.4, §32.9.5: APB1_FZ and APB2_FZ",
    ),
    (
        "F072",
        "EXTI",
        "IMR",
        "§11.3.1: the file is that of smaller chips",
    ),
    ("F072", "FLASH", "OBR", "§3.5.7: as chips are delivered"),
    ("F072", "GPIOA", "OSPEEDR", "§8.4.3: PA13 is fast"),
    ("G071", "RCC", "PLLSYSCFGR", "RM0444 §5.4.4: PLLCFGR"),
    ("G071", "FLASH", "SECR", "the securable area is left out"),
    ("G071", "TIM14", "TISEL", "left out"),
    ("G474", "DBGMCU", "APB", "RM0440 §47.16: APBxFZR"),
    ("G474", "TIM", "CCR5", "channels 5 and 6 are left out"),
    ("G474", "TIM", "CCR6", "channels 5 and 6 are left out"),
    ("G474", "TIM", "DTR2", "left out"),
    ("G474", "TIM1", "ECR", "left out"),
    ("G474", "TIM", "RCR", "§29.5: TIM2 and TIM3 have none"),
    ("G474", "TIM", "BDTR", "§29.5: TIM2 and TIM3 have none"),
    ("G474", "TIM1", "AF2", "of TIM15 and TIM16 left out"),
    ("G474", "TIM16", "OR1", "left out"),
    (
        "",
        "TIM",
        "ARR",
        "RM0351 §31.4.12, RM0008 §15.4.12, RM0091 §18.4.12: all ones",
    ),
];

/// Our rows by offset, for each peripheral of a chip.
fn tables(chip: &str) -> BTreeMap<&'static str, BTreeMap<u32, &'static Register>> {
    let mut soc = Soc::new(Memory::of(Chip::named(chip).unwrap()));
    let rows = |table: &'static [Register]| table.iter().map(|row| (row.offset, row)).collect();
    let tables = soc.register_tables().into_iter();
    tables.map(|(name, table)| (name, rows(table))).collect()
}

#[test]
fn registers_are_those_of_the_svd_files() {
    let chips = ["l476rg", "f103rb", "f072rb", "g071rb", "g474re"].map(|chip| (chip, tables(chip)));
    let (mut compared, mut different) = (0, Vec::new());
    let mut needed = [false; DECIDED.len()];
    for fact in FACTS.into_iter().flat_map(str::lines) {
        let words: Vec<&str> = fact.split(' ').collect();
        let (line, peripheral, name, offset, reset) = match words[..] {
            [line, peripheral, name, offset] => (line, peripheral, name, offset, None),
            [line, peripheral, name, offset, reset] => {
                (line, peripheral, name, offset, Some(reset))
            }
            _ => panic!("{fact}"),
        };
        let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        let (offset, reset) = (number(offset), reset.map(number));
        let of_line = |(chip, _): &&(&str, _)| chip.starts_with(&line.to_lowercase());
        let (_, tables) = chips.iter().find(of_line).unwrap();
        let Some(table) = tables.get(peripheral) else {
            continue;
        };
        compared += 1;
        let ours = table.get(&offset);
        let same = ours
            .is_some_and(|row| row.name == name && reset.is_none_or(|reset| row.reset == reset));
        let decided = DECIDED.iter().position(|row| {
            let words = [(line, row.0), (peripheral, row.1), (name, row.2)];
            words.iter().all(|(word, start)| word.starts_with(start))
        });
        if let (false, Some(row)) = (same, decided) {
            needed[row] = true;
        }
        if !same && decided.is_none() {
            let ours = ours.map(|row| format!("{} {:#010x}", row.name, row.reset));
            different.push(format!("{fact}: here {ours:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let needless = DECIDED.iter().zip(needed).filter(|row| !row.1);
    let needless: Vec<_> = needless.map(|row| row.0).collect();
    assert!(needless.is_empty(), "{needless:?}");
    assert!(compared > 500, "{compared}");
}

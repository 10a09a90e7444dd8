//! Sectors of the flash (RM0368 §3.3, table 5), and how long work on them takes (DS10086, table
//! "Flash memory programming", typical values at 2.7–3.6 V).

use super::{FlashFacts, FlashKind};
use crate::chip::MOST_FLASH_BYTES;
use std::ops::Range;

/// The first byte of each sector of the largest flash, counted from its start, and the end. A
/// smaller one has fewer sectors (RM0090 §3.4, table 5).
const BOUNDS: [usize; 13] = [
    0, 0x4000, 0x8000, 0xC000, 0x1_0000, 0x2_0000, 0x4_0000, 0x6_0000, 0x8_0000, 0xA_0000,
    0xC_0000, 0xE_0000, 0x10_0000,
];

/// How many sectors a flash of this size has.
pub fn count(flash_bytes: usize) -> u32 {
    BOUNDS.partition_point(|start| *start < flash_bytes) as u32
}

/// Whether sectors or pages end where a flash of this size does, in each bank.
pub fn is_flash_size(facts: &FlashFacts, bytes: usize) -> bool {
    match facts.kind {
        FlashKind::Sectors => BOUNDS[1..].contains(&bytes),
        FlashKind::DoubleWords | FlashKind::HalfWords => {
            let step = facts.page_bytes * facts.banks;
            bytes > 0 && bytes <= MOST_FLASH_BYTES && bytes % step == 0
        }
    }
}

/// The sizes that a flash may have, in words.
pub fn flash_sizes(facts: &FlashFacts) -> String {
    match facts.kind {
        FlashKind::Sectors => "sectors: 16, 32, 48, 64, 128, then by 128 to 1024".into(),
        FlashKind::DoubleWords | FlashKind::HalfWords => {
            let step = facts.page_bytes * facts.banks / 1024;
            let banks = ["", " in two banks"][facts.banks - 1];
            format!("pages{banks}: by {step} to {}", MOST_FLASH_BYTES / 1024)
        }
    }
}

/// Microseconds to erase sectors of 16, 64 and 128 KiB, for a parallelism of 8, 16 and 32 bits.
const ERASE_US: [[u64; 3]; 3] = [
    [400_000, 1_200_000, 2_000_000],
    [300_000, 700_000, 1_300_000],
    [250_000, 550_000, 1_000_000],
];

/// The bytes of a sector, counted from the start of the flash.
pub fn bytes(sector: u32) -> Range<usize> {
    BOUNDS[sector as usize]..BOUNDS[sector as usize + 1]
}

pub fn holding(offset: usize) -> u32 {
    BOUNDS.partition_point(|start| *start <= offset) as u32 - 1
}

/// `parallelism` is PSIZE: 0, 1 or 2.
pub fn erase_us(sector: u32, parallelism: u32) -> u64 {
    let size = match bytes(sector).len() {
        0x4000 => 0,
        0x1_0000 => 1,
        _ => 2,
    };
    ERASE_US[parallelism as usize][size]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::chips;
    use crate::lines::facts;

    #[test]
    fn sectors_cover_the_flash_without_a_gap() {
        let sectors = |chip: usize| count(chips().nth(chip).unwrap().flash_bytes);
        let sizes: Vec<usize> = (0..sectors(0))
            .map(|sector| bytes(sector).len() / 1024)
            .collect();
        assert_eq!(sizes, [16, 16, 16, 16, 64, 128, 128, 128]);
        assert_eq!([0, 1, 2, 3].map(sectors), [8, 6, 8, 12]);
        for chip in chips().filter(|chip| facts(chip.family).line.flash.kind == FlashKind::Sectors)
        {
            assert_eq!(bytes(count(chip.flash_bytes) - 1).end, chip.flash_bytes);
        }
        let offsets = [
            0, 0x3FFF, 0x4000, 0xFFFF, 0x1_0000, 0x1_FFFF, 0x2_0000, 0x7_FFFF,
        ];
        assert_eq!(offsets.map(holding), [0, 0, 1, 3, 4, 4, 5, 7]);
    }

    #[test]
    fn a_wider_access_erases_faster() {
        assert_eq!(
            [0, 1, 2].map(|psize| erase_us(4, psize)),
            [1_200_000, 700_000, 550_000]
        );
        assert_eq!(
            [0, 3, 4, 7].map(|sector| erase_us(sector, 2)),
            [250_000, 250_000, 550_000, 1_000_000]
        );
    }
}

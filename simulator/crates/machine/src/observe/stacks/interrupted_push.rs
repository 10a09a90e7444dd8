//! A PUSH that an exception interrupted. Its transfers go on after the return, but SP has already
//! moved (`core/interrupted_instructions.rs`), and the frame tables know SP before or after it only.

use cortex_m::bus::Width;
use stm32::memory::Memory;

/// EPSR.ICI: the register from which a multiple goes on. It is none if bits 26:25 or 11:10, which
/// IT uses too, are set (ARM DDI 0403E, B1.4.2).
const CONTINUES_AT: u32 = 0xF000;
const IT_ONLY: u32 = 0x0600_0C00;

/// The bytes by which SP lies below its value before the instruction at `pc`; `xpsr` is stacked.
pub fn bytes(memory: &Memory, pc: u32, xpsr: u32) -> u32 {
    if xpsr & CONTINUES_AT == 0 || xpsr & IT_ONLY != 0 {
        return 0;
    }
    let half = |address| memory.read(address, Width::Half).unwrap_or(0);
    match (half(pc), half(pc.wrapping_add(2))) {
        // PUSH T1, T2 (A7.7.101), VPUSH (A7.7.249): the list, or the number of words.
        (first @ 0xB400..=0xB5FF, _) => 4 * (first & 0x1FF).count_ones(),
        (0xE92D, list) => 4 * list.count_ones(),
        (0xED2D | 0xED6D, words) => 4 * (words & 0xFF),
        _ => 0,
    }
}

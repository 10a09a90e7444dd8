//! What the core sees of the world outside its private peripheral bus, and how either side fails.
//!
//! The core owns everything in the private peripheral bus 0xE000_0000–0xE00F_FFFF (NVIC, SCB, SysTick,
//! DWT, ITM, FPU registers, DEMCR) except DBGMCU (0xE004_2000), which is the SoC's. Everything else goes through [`Bus`].

/// Width of a data access: 1 << its number bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Width {
    Byte,
    Half,
    Word,
}

impl Width {
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        1 << self as u32
    }

    /// The bits that an access of this width transfers.
    #[inline(always)]
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes())
    }
}

/// A completed read: the value, zero-extended, and the cycles the bus added beyond a zero-wait access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub value: u32,
    pub wait_cycles: u32,
}

/// How a register reads that keeps still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steadiness {
    /// Reads that lie a multiple of so many cycles apart wait equally long.
    pub period_cycles: u64,
    /// It keeps still only before this cycle.
    pub until_cycle: u64,
}

/// Why an access did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No memory or peripheral answers: a BusFault on the chip.
    Bus { address: u32 },
    /// A register (or a mode of it) that exists on the chip and is not modelled: stops the run.
    Unmodelled { what: String, address: u32 },
}

/// The SoC as the core sees it. `now` is the core cycle at which the access happens; the SoC brings the peripheral
/// concerned up to that cycle before it answers. Addresses are aligned to `width` unless they are in memory
/// (flash, SRAM), where any alignment is served.
pub trait Bus {
    /// One halfword of code at an even address; no side effects (used by decoding, which caches).
    fn fetch(&mut self, address: u32) -> Result<u16, Fault>;
    fn read(&mut self, address: u32, width: Width, now: u64) -> Result<Loaded, Fault>;
    /// Returns the wait cycles beyond a zero-wait access.
    fn write(&mut self, address: u32, width: Width, value: u32, now: u64) -> Result<u32, Fault>;
    /// As [`Bus::read`], for registers that programs poll and that keep still. `None`, with nothing changed, for whatever else there
    /// is.
    fn read_fast_register(
        &mut self,
        _address: u32,
        _width: Width,
        _now: u64,
    ) -> Option<(Loaded, Steadiness)> {
        None
    }
    /// As [`Bus::write`], for the registers that programs write most. `None`, with nothing done, for whatever else there is.
    fn write_fast_register(
        &mut self,
        _address: u32,
        _width: Width,
        _value: u32,
        _now: u64,
    ) -> Option<u32> {
        None
    }
    /// So many bytes of memory from `address` on, if reading and writing them is all that an access to them does: no waiting, no
    /// effect, no fault. A bus without such memory keeps the default.
    fn plain_memory(&mut self, _address: u32, _bytes: u32) -> Option<&mut [u8]> {
        None
    }
    /// As [`Bus::plain_memory`], for a byte, a halfword or a word at an aligned address.
    fn plain_bytes<const N: usize>(&mut self, _address: u32) -> Option<&mut [u8; N]> {
        None
    }
    /// True when the last access changed an interrupt line, the event schedule or the clocks, so that the core must return
    /// from `Core::run` to let the machine act before the next instruction. Cleared by the machine.
    fn attention(&self) -> bool;
    /// Lets everything happen that falls due up to cycle `now`, and returns the interrupt lines, bit n being the level of line n. The
    /// core asks in the middle of an instruction that an interrupt can end. `None`: lines change between instructions only.
    fn interrupt_lines(&mut self, _now: u64) -> Option<u128> {
        None
    }
    /// Whether reading the register at `address`, which has just been read, again before the bus's next event and with no write in
    /// between is sure to give the same and to change nothing.
    fn steadiness(&self, address: u32) -> Option<Steadiness> {
        let _ = address;
        None
    }
    /// FLASH_ACR (RM0368 §3.8.1): wait states, prefetch and caches of what the Code region is fetched from. The core asks
    /// after it has written to a peripheral. A chip whose code needs no waiting keeps the default.
    fn flash_access_control(&self) -> u32 {
        0
    }
}

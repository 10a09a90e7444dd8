//! What the core sees outside its private peripheral bus, and how an access fails.
//!
//! The core owns the private peripheral bus 0xE000_0000–0xE00F_FFFF (NVIC, SCB, SysTick, DWT, ITM,
//! FPU registers, DEMCR). Only DBGMCU (0xE004_2000) belongs to the SoC. All other addresses go
//! through [`Bus`].

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

    /// The part of a word that an access at `address` sees.
    pub fn lane(self, word: u32, address: u32) -> u32 {
        word >> (8 * (address & 3)) & self.mask()
    }

    /// The bits that an access of this width transfers.
    #[inline(always)]
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes())
    }
}

/// A completed read: the value, zero-extended, and the wait cycles of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub value: u32,
    pub wait_cycles: u32,
}

/// How long a register reads the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steadiness {
    /// Reads that lie a multiple of this apart wait equally long.
    pub period_cycles: u64,
    /// From this cycle on, the register may read something else.
    pub until_cycle: u64,
}

/// Why an access did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No memory or peripheral answers. The chip raises a BusFault.
    Bus { address: u32 },
    /// The chip has this register, or this mode of it, and the model does not. The run stops.
    Unmodelled { what: String, address: u32 },
}

/// How the model lacks something of the private peripheral bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The chip lacks it, too.
    Reserved,
    /// A register of a unit that the model has.
    Register,
    /// Bits of a register. The others have their effect.
    Bits,
    /// A whole unit.
    Unit,
    /// What the unit would do.
    Mode,
}

/// The SoC as the core sees it. `now` is the core cycle of the access; the SoC handles all events
/// up to it first. Addresses of memory may have any alignment. All others are aligned to `width`.
pub trait Bus {
    /// One halfword of code at an even address. It has no side effects, and its result is cached.
    fn fetch(&mut self, address: u32) -> Result<u16, Fault>;
    fn read(&mut self, address: u32, width: Width, now: u64) -> Result<Loaded, Fault>;
    /// Returns the wait cycles.
    fn write(&mut self, address: u32, width: Width, value: u32, now: u64) -> Result<u32, Fault>;
    /// A fast path of [`Bus::read`] for registers that programs poll and that read the same for a
    /// while. `None`, with nothing changed, for all others.
    fn read_fast_register(
        &mut self,
        _address: u32,
        _width: Width,
        _now: u64,
    ) -> Option<(Loaded, Steadiness)> {
        None
    }
    /// A fast path of [`Bus::write`] for the registers that programs write most. `None`, with
    /// nothing done, for all others.
    fn write_fast_register(
        &mut self,
        _address: u32,
        _width: Width,
        _value: u32,
        _now: u64,
    ) -> Option<u32> {
        None
    }
    /// `bytes` bytes of memory from `address` on, if accesses to them only read and write them: no
    /// waiting, no effect, no fault. A bus without such memory keeps the default.
    fn plain_memory(&mut self, _address: u32, _bytes: u32) -> Option<&mut [u8]> {
        None
    }
    /// As [`Bus::plain_memory`], for a byte, a halfword or a word at an aligned address.
    fn plain_bytes<const N: usize>(&mut self, _address: u32) -> Option<&mut [u8; N]> {
        None
    }
    /// Whether the run goes on past what the model lacks at `address` of the private peripheral
    /// bus: a read then gives 0, and a write is lost.
    fn goes_past(
        &mut self,
        _lack: Lack,
        _what: &str,
        _address: u32,
        _writes: bool,
        _now: u64,
    ) -> bool {
        false
    }
    /// A barrier: what was stored has reached its place.
    fn barrier(&mut self) {}
    /// The handler of interrupt `irq` returns while the store that lowered its line is still on its
    /// way. The chip's line is high then, and so the handler may be entered once more.
    fn returns_before_its_store(&mut self, _irq: u16, _now: u64) {}
    /// Whether the last access changed an interrupt line, the schedule or the clocks. Then the core
    /// returns from `Core::run` before the next instruction, so that the machine can act. The
    /// machine clears it.
    fn attention(&self) -> bool;
    /// Handles the events up to cycle `now` and returns the interrupt lines; bit n is the level of
    /// line n. The core asks during instructions that an interrupt can end. `None`: lines change
    /// only between instructions.
    fn interrupt_lines(&mut self, _now: u64) -> Option<u128> {
        None
    }
    /// How long the register at `address`, which has just been read, reads the same value without
    /// side effects, if nothing is written and no event comes. `None` if that is unknown.
    fn steadiness(&self, address: u32) -> Option<Steadiness> {
        let _ = address;
        None
    }
    /// FLASH_ACR (RM0368 §3.8.1): wait states, prefetch and caches of the flash. The core asks
    /// after it has written to a peripheral. A chip whose code needs no waiting keeps the default.
    fn flash_access_control(&self) -> u32 {
        0
    }
}

//! Which core a chip has: what ARM's cores differ in, and what a chip's maker chose for it.
//!
//! A core's facts are looked up when code is decoded, when an exception is taken, and when a
//! register of the private bus is accessed. Nothing asks for them at each instruction.
//!
//! Sources: Cortex-M0 TRM r0p0 (ARM DDI 0432C), Cortex-M0+ TRM r0p1 (ARM DDI 0484C), Cortex-M3 TRM r1p1 (ARM DDI 0337G), Cortex-M4 TRM
//! r0p1 (ARM DDI 0439D); ARMv6-M and ARMv7-M Architecture Reference Manuals (ARM DDI 0419, 0403E).

use serde::{Deserialize, Serialize};

/// A core of ARM's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CoreKind {
    #[serde(rename = "cortex-m0")]
    M0,
    /// With unprivileged code, VTOR, the MPU and the port for I/O, as ST's chips have it.
    #[serde(rename = "cortex-m0plus")]
    M0Plus,
    #[serde(rename = "cortex-m3")]
    M3,
    /// With the floating-point unit.
    #[default]
    #[serde(rename = "cortex-m4")]
    M4,
}

/// How the core's fetches reach the chip's flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlashPort {
    /// The STM32F4's accelerator: lines of 128 bits, prefetch, two caches (RM0368 §3.4).
    #[default]
    Art,
    /// The STM32L4's: the same with lines of 64 bits and other caches (RM0351 §3.3.4).
    #[serde(rename = "art-64")]
    Art64,
    /// The STM32G0's: the same with two lines of code and none of data (RM0444 §3.3.5).
    #[serde(rename = "art-64-small")]
    Art64Small,
    /// The STM32F1's: two blocks of 64 bits that are read ahead, and no cache (PM0075, 2.3).
    #[serde(rename = "prefetch-64x2")]
    Prefetch64x2,
    /// The STM32F0's: three blocks of 32 bits, the same (RM0091 §3.2.1).
    #[serde(rename = "prefetch-32x3")]
    Prefetch32x3,
}

/// A core as a chip has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub kind: CoreKind,
    /// How many of a priority's eight bits there are. The others read as zero.
    pub priority_bits: u8,
    pub flash_port: FlashPort,
}

/// What every core of a kind has.
#[derive(Debug)]
pub struct Facts {
    /// As GCC's -mcpu takes it: `cortex-m3`.
    pub name: &'static str,
    /// As ARM writes it: `Cortex-M3`.
    pub title: &'static str,
    pub architecture: &'static str,
    pub cpuid: u32,
    /// Bits of a priority unless the chip says otherwise: those of ST's chips.
    pub priority_bits: u8,
    /// The 32-bit instructions, IT, the faults apart from HardFault, CFSR, priority groups.
    pub mainline: bool,
    pub dsp: bool,
    pub float: bool,
    pub basepri: bool,
    pub faultmask: bool,
    /// Code without privilege.
    pub unprivileged: bool,
    /// The bits of VTOR. 0: there is none.
    pub vtor: u32,
    /// CCR after reset.
    pub ccr: u32,
    /// DWT's cycle counter and its counters of events, and the ITM.
    pub cycle_counter: bool,
    pub mpu: bool,
    pub bit_band: bool,
    /// Where a load or a store takes a cycle less: the port for I/O, apart from the bus.
    pub io_port: Option<u32>,
    /// ID_PFR0 to ID_ISAR4, where they are not those of the Cortex-M4.
    pub features: Option<&'static [u32; 13]>,
    /// DPIDR of the debug port, and IDR of its access port (RM0368, 23.8.3 and 23.9; RM0008, 31.8.3;
    /// RM0091, 32.5.3; RM0444, 40.5; the rest as boards report it).
    pub debug_port: (u32, u32),
    pub supply: Supply,
    pub multiplies_long: LongMultiply,
    /// From an exception to its handler's first instruction, without wait states.
    pub entry_cycles: u8,
    /// The same behind another handler, whose frame is taken over.
    pub tail_chain_cycles: u8,
    /// From a handler's return to the program's next instruction.
    pub return_cycles: u8,
}

/// How instructions come from memory, and what the manual's table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// A prefetch unit with a bus of its own (DDI 0439D, 3.3.1).
    Buffered,
    /// One bus for code and data.
    OneBus {
        /// Cycles from the arrival of an instruction to its execution.
        decode: u64,
        /// What MRS, MSR and the barriers take.
        special: u8,
    },
}

/// The chip whose timing the core has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// The manual's table with P = 1, the TRM's pairs, and memories without wait states.
    Ideal,
    /// The core in its chip. A Cortex-M4 or M3: prefetch unit, flash as FLASH_ACR sets it, buses.
    Nucleo,
    /// The same for a core with one bus. [`crate::Core::of`] chooses it.
    OneBus,
}

impl Timing {
    #[inline(always)]
    pub fn is_nucleo(self) -> bool {
        self == Timing::Nucleo
    }

    /// Whether memory and buses make the core wait.
    #[inline(always)]
    pub fn waits(self) -> bool {
        self != Timing::Ideal
    }

    /// The same way of counting, for a core of this kind.
    pub fn of(self, kind: CoreKind) -> Timing {
        match (self, kind.facts().supply) {
            (Timing::Nucleo, Supply::OneBus { .. }) => Timing::OneBus,
            _ => self,
        }
    }
}

/// What long multiplication costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongMultiply {
    OneCycle,
    /// By the magnitude of its operands.
    EarlyEnding,
}

/// The bits of CCR that a reset may set.
const STKALIGN: u32 = 1 << 9;
const UNALIGN_TRP: u32 = 1 << 3;

/// Of a Cortex-M3 (ARM DDI 0337G, table 8-1): those of the M4 without the DSP extension.
const M3_FEATURES: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0x0000_0000,
    0x0010_0030,
    0x0000_0000,
    0x0100_0000,
    0x0000_0000,
    0x0110_0110,
    0x0211_1000,
    0x2111_2231,
    0x0111_1110,
    0x0131_0132,
];

const M0: Facts = Facts {
    name: "cortex-m0",
    title: "Cortex-M0",
    architecture: "Armv6-M",
    cpuid: 0x410C_C200, // DDI 0432C, table 4-2
    priority_bits: 2,   // DDI 0432C, 5.1
    mainline: false,
    dsp: false,
    float: false,
    basepri: false,
    faultmask: false,
    unprivileged: false,
    vtor: 0,
    ccr: STKALIGN | UNALIGN_TRP, // it traps what is not aligned, always (DDI 0419C, B3.2.8)
    cycle_counter: false,        // DDI 0432C, 6.1: watchpoints and the PC's sample alone
    mpu: false,
    bit_band: false,
    io_port: None,
    features: None,
    debug_port: (0x0BB1_1477, 0x0477_0021),
    // Three stages (DDI 0432C, 2.1 and table 3-1).
    supply: Supply::OneBus {
        decode: 2,
        special: 4,
    },
    multiplies_long: LongMultiply::OneCycle,
    entry_cycles: 16, // ARM, "A Beginner's Guide on Interrupt Latency"
    // Neither is documented. Chosen: an entry without the eight words of a frame, and a POP of eight
    // registers and the PC.
    tail_chain_cycles: 8,
    return_cycles: 12,
};

const M0_PLUS: Facts = Facts {
    name: "cortex-m0plus",
    title: "Cortex-M0+",
    cpuid: 0x410C_C601, // r0p1, as STM32G0 boards report it (PM0223 §4.3.1)
    unprivileged: true, // with the MPU, an option that ST chose (PM0223)
    vtor: 0xFFFF_FF80,  // DDI 0419C, B3.2.5
    mpu: true,
    io_port: Some(0x5000_0000), // RM0444 §2.1: the ports
    // Two stages: a branch takes a cycle less (DDI 0484C, 2.1 and table 3-1).
    supply: Supply::OneBus {
        decode: 1,
        special: 3,
    },
    debug_port: (0x0BC1_1477, 0x0477_0021), // the port as STM32G0 boards report it, the rest as the Cortex-M0's
    entry_cycles: 15,                       // ARM, "A Beginner's Guide on Interrupt Latency"
    // Chosen, as the Cortex-M0's: an entry without a frame, and a POP of eight registers and the PC.
    tail_chain_cycles: 7,
    return_cycles: 11,
    ..M0
};

const M3: Facts = Facts {
    name: "cortex-m3",
    title: "Cortex-M3",
    architecture: "Armv7-M",
    cpuid: 0x411F_C231, // r1p1, as STM32F103 boards report it (PM0056 §4.4.1)
    priority_bits: 4,
    mainline: true,
    dsp: false,
    float: false,
    basepri: true,
    faultmask: true,
    unprivileged: true,
    vtor: 0x3FFF_FE00,
    ccr: 0, // r1p1 begins without STKALIGN (PM0056, 4.4.7)
    cycle_counter: true,
    mpu: false, // PM0056: the STM32F10xxx has none
    bit_band: true,
    io_port: None,
    features: Some(&M3_FEATURES),
    debug_port: (0x1BA0_1477, 0x1477_0011),
    supply: Supply::Buffered,
    multiplies_long: LongMultiply::EarlyEnding,
    entry_cycles: 12,     // DDI 0337G, 5.5.1
    tail_chain_cycles: 6, // DDI 0337G, 5.5.2
    return_cycles: 10,    // as the Cortex-M4's
};

const M4: Facts = Facts {
    name: "cortex-m4",
    title: "Cortex-M4",
    architecture: "Armv7E-M",
    cpuid: 0x410F_C241,
    priority_bits: 4,
    mainline: true,
    dsp: true,
    float: true,
    basepri: true,
    faultmask: true,
    unprivileged: true,
    vtor: 0x3FFF_FE00,
    ccr: STKALIGN,
    cycle_counter: true,
    mpu: true,
    bit_band: true,
    io_port: None,
    features: None,
    debug_port: (0x2BA0_1477, 0x2477_0011),
    supply: Supply::Buffered,
    multiplies_long: LongMultiply::OneCycle,
    // Stacking and vector fetch in parallel, zero wait states (DDI 0439D, 3.9.1).
    entry_cycles: 12,
    tail_chain_cycles: 6,
    // Eight words, and the refill (ARM, "A Beginner's Guide on Interrupt Latency").
    return_cycles: 10,
};

impl Facts {
    /// Whether it has all that any core has, so that nothing need be left out.
    pub const fn is_whole(&self) -> bool {
        self.mainline && self.dsp && self.float && self.mpu && self.cycle_counter
    }
}

impl CoreKind {
    pub const ALL: [CoreKind; 4] = [CoreKind::M0, CoreKind::M0Plus, CoreKind::M3, CoreKind::M4];

    pub const fn facts(self) -> &'static Facts {
        match self {
            CoreKind::M0 => &M0,
            CoreKind::M0Plus => &M0_PLUS,
            CoreKind::M3 => &M3,
            CoreKind::M4 => &M4,
        }
    }

    /// The core of this name, as in `cortex-m3`.
    pub fn named(name: &str) -> Option<CoreKind> {
        CoreKind::ALL
            .into_iter()
            .find(|kind| kind.facts().name == name)
    }

    /// A core of this kind behind the STM32F4's flash.
    pub const fn model(self) -> Model {
        Model {
            kind: self,
            priority_bits: self.facts().priority_bits,
            flash_port: FlashPort::Art,
        }
    }
}

impl Model {
    pub const fn facts(self) -> &'static Facts {
        self.kind.facts()
    }

    /// The bits of a priority that the chip has: the upper ones.
    pub const fn priority_mask(self) -> u8 {
        !(0xFF_u16 >> self.priority_bits) as u8
    }
}

impl Default for Model {
    fn default() -> Model {
        CoreKind::default().model()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The identities that PM0215 (STM32F0), PM0223 (STM32G0), PM0056 (STM32F1) and PM0214 (STM32F4) print.
    #[test]
    fn identities_are_those_of_st_s_manuals() {
        let identities = CoreKind::ALL.map(|kind| kind.facts().cpuid);
        assert_eq!(
            identities,
            [0x410C_C200, 0x410C_C601, 0x411F_C231, 0x410F_C241]
        );
    }

    #[test]
    fn priorities_have_the_bits_of_the_chip() {
        let masks = CoreKind::ALL.map(|kind| kind.model().priority_mask());
        assert_eq!(masks, [0xC0, 0xC0, 0xF0, 0xF0]);
    }

    #[test]
    fn a_core_is_found_by_its_name() {
        assert_eq!(CoreKind::named("cortex-m3"), Some(CoreKind::M3));
        assert_eq!(CoreKind::named("cortex-m33"), None);
        assert_eq!(CoreKind::named("cortex-m0plus"), Some(CoreKind::M0Plus));
    }
}

//! Which core a chip has: what ARM's cores differ in, and what a chip's maker chose for it.
//!
//! A core's facts are looked up when code is decoded, when an exception is taken, and when a
//! register of the private bus is accessed. Nothing asks for them at each instruction.
//!
//! Sources: Cortex-M0 TRM r0p0 (ARM DDI 0432C), Cortex-M3 TRM r1p1 (ARM DDI 0337G), Cortex-M4 TRM
//! r0p1 (ARM DDI 0439D); ARMv6-M and ARMv7-M Architecture Reference Manuals (ARM DDI 0419, 0403E).

use serde::{Deserialize, Serialize};

/// A core of ARM's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CoreKind {
    #[serde(rename = "cortex-m0")]
    M0,
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
    /// The 32-bit instructions, IT, the faults apart from HardFault, CFSR, VTOR, priority groups.
    pub mainline: bool,
    pub dsp: bool,
    pub float: bool,
    pub basepri: bool,
    pub faultmask: bool,
    /// DWT's cycle counter and its counters of events, and the ITM.
    pub cycle_counter: bool,
    pub mpu: bool,
    pub bit_band: bool,
    /// From an exception to its handler's first instruction, without wait states.
    pub entry_cycles: u8,
    /// The same behind another handler, whose frame is taken over.
    pub tail_chain_cycles: u8,
    /// From a handler's return to the program's next instruction.
    pub return_cycles: u8,
}

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
    cycle_counter: false, // DDI 0432C, 6.1: watchpoints and the PC's sample alone
    mpu: false,
    bit_band: false,
    entry_cycles: 16, // ARM, "A Beginner's Guide on Interrupt Latency"
    // Neither is documented. Chosen: an entry without the eight words of a frame, and a POP of eight
    // registers and the PC.
    tail_chain_cycles: 8,
    return_cycles: 12,
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
    cycle_counter: true,
    mpu: false, // PM0056: the STM32F10xxx has none
    bit_band: true,
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
    cycle_counter: true,
    mpu: true,
    bit_band: true,
    // Stacking and vector fetch in parallel, zero wait states (DDI 0439D, 3.9.1).
    entry_cycles: 12,
    tail_chain_cycles: 6,
    // Eight words, and the refill (ARM, "A Beginner's Guide on Interrupt Latency").
    return_cycles: 10,
};

impl CoreKind {
    pub const ALL: [CoreKind; 3] = [CoreKind::M0, CoreKind::M3, CoreKind::M4];

    pub const fn facts(self) -> &'static Facts {
        match self {
            CoreKind::M0 => &M0,
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

    /// The identities that PM0215 (STM32F0), PM0056 (STM32F1) and PM0214 (STM32F4) print.
    #[test]
    fn identities_are_those_of_st_s_manuals() {
        let identities = CoreKind::ALL.map(|kind| kind.facts().cpuid);
        assert_eq!(identities, [0x410C_C200, 0x411F_C231, 0x410F_C241]);
    }

    #[test]
    fn priorities_have_the_bits_of_the_chip() {
        let masks = CoreKind::ALL.map(|kind| kind.model().priority_mask());
        assert_eq!(masks, [0xC0, 0xF0, 0xF0]);
    }

    #[test]
    fn a_core_is_found_by_its_name() {
        assert_eq!(CoreKind::named("cortex-m3"), Some(CoreKind::M3));
        assert_eq!(CoreKind::named("cortex-m33"), None);
    }
}

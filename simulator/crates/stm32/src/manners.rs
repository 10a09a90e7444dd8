//! What the machine does when a program does what the manual does not allow, or what the model
//! lacks. Whoever finds something odd says only of which kind it is. [`Manners::takes`] is the one
//! place that decides whether the run goes on.

use serde::{Deserialize, Serialize};

/// How the machine treats what is odd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manners {
    /// `--strict`: the run stops at the first oddity.
    Strict,
    /// What the chip takes without a word is noted, and the run goes on. It stops only where the
    /// model cannot do what the chip does.
    #[default]
    Polite,
    /// `--gaps`: as polite, and the run goes on past what the model cannot do, too.
    PastGaps,
}

/// A kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Oddity {
    /// A write changes reserved bits. The chip ignores it.
    Reserved,
    /// A write changes bits that the chip has and the model lacks. It had no effect.
    Bits,
    /// A peripheral lacks a register. It reads as after reset, and writes are lost.
    Register,
    /// A whole peripheral is absent. Writes are lost.
    Absent,
    /// A peripheral's clock is off. It reads 0 and ignores writes, as on the chip.
    ClockOff,
    /// A setting that the manual does not allow. The model did what the chip does.
    Setting,
    /// An instruction that is undefined. The core took its UsageFault.
    Instruction,
    /// A mode that the model lacks. The write was lost.
    Mode,
    /// A peripheral is used before its clock has reached it. The model did what was asked.
    Early,
    /// A handler returns before the store that clears its interrupt has arrived. The model has
    /// cleared it.
    LateClear,
    /// A pulse of which an edge may take a good part, at its pin's speed.
    SlowPin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

impl Manners {
    /// Whether the run goes on after an access of this kind.
    pub fn takes(self, oddity: Oddity, access: Access) -> bool {
        match (self, oddity) {
            (Manners::Strict, _) => false,
            (Manners::PastGaps, _) => true,
            (Manners::Polite, Oddity::Absent) => access == Access::Write,
            (Manners::Polite, Oddity::Mode) => false,
            (Manners::Polite, _) => true,
        }
    }
}

impl Oddity {
    /// Its name in the files of docs/reference/simulator-files.md.
    pub fn name(self) -> &'static str {
        match self {
            Oddity::Reserved => "reserved_bits",
            Oddity::Bits => "unmodelled_bits",
            Oddity::Register => "unmodelled_register",
            Oddity::Absent => "absent_peripheral",
            Oddity::ClockOff => "clock_off",
            Oddity::Setting => "setting",
            Oddity::Instruction => "undefined_instruction",
            Oddity::Mode => "unmodelled_mode",
            Oddity::Early => "early_access",
            Oddity::LateClear => "late_clear",
            Oddity::SlowPin => "slow_pin",
        }
    }

    /// What became of it.
    pub fn consequence(self) -> &'static str {
        match self {
            Oddity::Reserved => "reserved, and ignored as on the chip",
            Oddity::Bits => "not modelled, and without effect here",
            Oddity::Register => "not modelled: reads as after reset, writes are lost",
            Oddity::Absent => {
                "no such peripheral is modelled: reads as after reset, writes are lost"
            }
            Oddity::ClockOff => "reads 0 and ignores writes, as on the chip",
            Oddity::Setting => "not allowed by the manual, and taken as the chip takes it",
            Oddity::Instruction => "a UsageFault, as on the chip",
            Oddity::Mode => "not modelled: the write is lost",
            Oddity::Early => {
                "done here, and the chip may ignore it: wait, or use DSB, behind the write to RCC"
            }
            Oddity::LateClear => {
                "over here, and the chip may enter the handler once more: clear the flag earlier, or use DSB"
            }
            Oddity::SlowPin => {
                "exact here, and the chip's may be late or flat: set a higher speed in OSPEEDR"
            }
        }
    }

    /// Whether the chip may have done something else than the model.
    pub fn differs(self) -> bool {
        matches!(
            self,
            Oddity::Bits
                | Oddity::Register
                | Oddity::Absent
                | Oddity::Mode
                | Oddity::Early
                | Oddity::LateClear
                | Oddity::SlowPin
        )
    }

    /// Whether the peripheral that found it did what the chip does.
    pub fn carried_out(self) -> bool {
        self != Oddity::Mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Oddity; 11] = [
        Oddity::Reserved,
        Oddity::Bits,
        Oddity::Register,
        Oddity::Absent,
        Oddity::ClockOff,
        Oddity::Setting,
        Oddity::Instruction,
        Oddity::Mode,
        Oddity::Early,
        Oddity::LateClear,
        Oddity::SlowPin,
    ];

    #[test]
    fn the_strict_take_nothing_and_gaps_everything() {
        for oddity in ALL {
            for access in [Access::Read, Access::Write] {
                assert!(!Manners::Strict.takes(oddity, access));
                assert!(Manners::PastGaps.takes(oddity, access));
            }
        }
    }

    #[test]
    fn the_polite_stop_only_at_what_the_model_cannot_do() {
        let stops: Vec<(Oddity, bool)> = ALL
            .iter()
            .flat_map(|&oddity| [(oddity, false), (oddity, true)])
            .filter(|&(oddity, writes)| {
                let access = if writes { Access::Write } else { Access::Read };
                !Manners::default().takes(oddity, access)
            })
            .collect();
        assert_eq!(
            stops,
            [
                (Oddity::Absent, false),
                (Oddity::Mode, false),
                (Oddity::Mode, true)
            ]
        );
    }
}

//! For which core a program was made, by its build attributes ("Addenda to, and Errata in, the ABI
//! for the Arm Architecture", IHI 0045, 3.3.5).

use cortex_m::CoreKind;
use object::elf::{FileHeader32, SHT_ARM_ATTRIBUTES};
use object::read::elf::{FileHeader, SectionHeader};
use object::LittleEndian;
use std::fmt;

const TAG_FILE: u8 = 1;
const TAG_CPU_RAW_NAME: u64 = 4;
const TAG_CPU_NAME: u64 = 5;
const TAG_CPU_ARCH: u64 = 6;
const TAG_CPU_ARCH_PROFILE: u64 = 7;
const TAG_COMPATIBILITY: u64 = 32;
const FIRST_OF_RULE: u64 = 32;

const V7: u64 = 10;
const V6_M: u64 = 11;
const V6S_M: u64 = 12;
const V7E_M: u64 = 13;

/// The core that a program was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeFor {
    architecture: u64,
    profile: u8,
}

impl MadeFor {
    /// Whether a program for it is one for this core. A Cortex-M4 has all that a Cortex-M3 has.
    pub fn fits(self, core: CoreKind) -> bool {
        let v7_m = self.architecture == V7 && !matches!(self.profile, b'A' | b'R');
        match core {
            CoreKind::M0 | CoreKind::M0Plus => matches!(self.architecture, V6_M | V6S_M),
            CoreKind::M3 => v7_m,
            CoreKind::M4 => v7_m || self.architecture == V7E_M,
        }
    }
}

impl fmt::Display for MadeFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.architecture {
            0..=9 => "an Arm core before the Cortex (Armv4 to Armv6K)",
            V7 if !matches!(self.profile, b'A' | b'R') => "a Cortex-M3 (Armv7-M)",
            V7 => "a Cortex-A or Cortex-R (Armv7-A, Armv7-R)",
            V6_M | V6S_M => "a Cortex-M0 or Cortex-M0+ (Armv6-M)",
            V7E_M => "a Cortex-M4 or Cortex-M7 (Armv7E-M)",
            16 => "a Cortex-M23 (Armv8-M Baseline)",
            17 | 21 => "a Cortex-M33 or a later one (Armv8-M)",
            14 | 15 | 18..=20 | 22.. => "a Cortex-A or Cortex-R (Armv8, Armv9)",
        })
    }
}

/// Tag_CPU_arch and Tag_CPU_arch_profile of the file. `None` if it does not tell.
pub fn made_for(
    header: &FileHeader32<LittleEndian>,
    endian: LittleEndian,
    file: &[u8],
) -> Option<MadeFor> {
    let sections = header.sections(endian, file).ok()?;
    let mut sections = sections.iter();
    let section = sections.find(|section| section.sh_type(endian) == SHT_ARM_ATTRIBUTES)?;
    let mut subsections = section.attributes(endian, file).ok()?.subsections().ok()?;
    while let Some(subsection) = subsections.next().ok()? {
        let mut parts = subsection.subsubsections();
        while let Some(part) = parts.next().ok()? {
            if subsection.vendor() == b"aeabi" && part.tag() == TAG_FILE {
                return of_file(part.attributes());
            }
        }
    }
    None
}

fn of_file(mut reader: object::read::elf::AttributeReader<'_>) -> Option<MadeFor> {
    let (mut architecture, mut profile) = (None, 0);
    while let Some(tag) = reader.read_tag().ok()? {
        // From 32 on, odd tags have strings (the standard's 3.1.3).
        let text =
            matches!(tag, TAG_CPU_RAW_NAME | TAG_CPU_NAME) || tag > FIRST_OF_RULE && tag % 2 == 1;
        if text {
            reader.read_string().ok()?;
            continue;
        }
        let value = reader.read_integer().ok()?;
        match tag {
            TAG_CPU_ARCH => architecture = Some(value),
            TAG_CPU_ARCH_PROFILE => profile = value as u8,
            TAG_COMPATIBILITY => {
                reader.read_string().ok()?;
            }
            _ => {}
        }
    }
    Some(MadeFor {
        architecture: architecture?,
        profile,
    })
}

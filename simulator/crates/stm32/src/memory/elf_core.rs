//! For which core a program was made, by its build attributes ("Addenda to, and Errata in, the ABI
//! for the Arm Architecture", IHI 0045, 3.3.5).

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
const V7E_M: u64 = 13;

/// A core that is not this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherCore {
    architecture: u64,
}

impl fmt::Display for OtherCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.architecture {
            0..=9 => "an Arm core before the Cortex (Armv4 to Armv6K)",
            V7 => "a Cortex-A or Cortex-R (Armv7-A, Armv7-R)",
            11 | 12 => "a Cortex-M0 or Cortex-M0+ (Armv6-M)",
            16 => "a Cortex-M23 (Armv8-M Baseline)",
            17 | 21 => "a Cortex-M33 or a later one (Armv8-M)",
            14 | 15 | 18..=20 | 22.. => "a Cortex-A or Cortex-R (Armv8, Armv9)",
            _ => "another core",
        })
    }
}

/// The core that the program was made for, if it says so and it is not an Armv7-M one.
pub fn other_core(
    header: &FileHeader32<LittleEndian>,
    endian: LittleEndian,
    file: &[u8],
) -> Option<OtherCore> {
    let (architecture, profile) = attributes(header, endian, file)?;
    // Every Armv7-M program runs on an Armv7E-M core.
    let fits = architecture == V7E_M || architecture == V7 && !matches!(profile, b'A' | b'R');
    (!fits).then_some(OtherCore { architecture })
}

/// Tag_CPU_arch and Tag_CPU_arch_profile of the file. `None` if it does not tell.
fn attributes(
    header: &FileHeader32<LittleEndian>,
    endian: LittleEndian,
    file: &[u8],
) -> Option<(u64, u8)> {
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

fn of_file(mut reader: object::read::elf::AttributeReader<'_>) -> Option<(u64, u8)> {
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
    Some((architecture?, profile))
}

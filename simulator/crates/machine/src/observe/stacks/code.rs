//! What an ELF file says of code: where functions are, and how each is left.

use super::call_frames::CallFrames;
use object::elf::{FileHeader32, SHF_COMPRESSED, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use object::LittleEndian;

type Header = FileHeader32<LittleEndian>;

pub struct Code {
    /// First address and end of each function, by address. One of unknown size goes up to the next,
    /// or to the end of its section.
    functions: Vec<(u32, u32)>,
    pub frames: CallFrames,
}

impl Code {
    /// Reads an ELF file that [`Firmware::parse`](stm32::memory::elf::Firmware::parse) accepts.
    pub fn parse(file: &[u8]) -> Result<Code, object::read::Error> {
        let header = Header::parse(file)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, file)?;
        let (debug_frame, _) = section(&sections, endian, file, b".debug_frame");
        let (eh_frame, eh_frame_address) = section(&sections, endian, file, b".eh_frame");
        Ok(Code {
            functions: functions(&sections, endian, file)?,
            frames: CallFrames::parse(debug_frame, eh_frame, eh_frame_address),
        })
    }

    /// The first address of the function that holds the code at `address`.
    pub fn function_at(&self, address: u32) -> Option<u32> {
        let after = self
            .functions
            .partition_point(|(first, _)| *first <= address);
        let (first, end) = *self.functions[..after].last()?;
        (address < end).then_some(first)
    }
}

/// The bytes of a section, and its address. None if there is no such section, or it is compressed.
fn section<'a>(
    sections: &SectionTable<'a, Header>,
    endian: LittleEndian,
    file: &'a [u8],
    name: &[u8],
) -> (&'a [u8], u32) {
    let Some((_, section)) = sections.section_by_name(endian, name) else {
        return (&[], 0);
    };
    if section.sh_flags(endian) & SHF_COMPRESSED != 0 {
        return (&[], 0);
    }
    let bytes = section.data(endian, file).unwrap_or_default();
    (bytes, section.sh_addr(endian))
}

fn functions(
    sections: &SectionTable<'_, Header>,
    endian: LittleEndian,
    file: &[u8],
) -> Result<Vec<(u32, u32)>, object::read::Error> {
    let table = sections.symbols(endian, file, SHT_SYMTAB)?;
    let ends: Vec<(u32, u32)> = sections
        .iter()
        .map(|section| (section.sh_addr(endian), section.sh_size(endian)))
        .map(|(first, size)| (first, first.saturating_add(size)))
        .filter(|(first, _)| *first != 0)
        .collect();
    let mut found: Vec<(u32, u32)> = table
        .iter()
        .filter(|symbol| symbol.st_type() == STT_FUNC && !symbol.is_undefined(endian))
        .map(|symbol| {
            let first = symbol.st_value(endian) & !1;
            (first, first.saturating_add(symbol.st_size(endian)))
        })
        .collect();
    found.sort_unstable();
    // A function without a size, as assemblers make them, goes up to the next one, and not beyond its
    // section: LR after a reset, and EXC_RETURN, lie in none.
    let mut next = u32::MAX;
    for (first, end) in found.iter_mut().rev() {
        if *first == *end {
            let within = ends
                .iter()
                .find(|(from, to)| (*from..*to).contains(&*first));
            *end = next.min(within.map_or(*first, |(_, to)| *to));
        }
        next = next.min(*first);
    }
    Ok(found)
}

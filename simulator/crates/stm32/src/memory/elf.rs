//! Firmware as the linker writes it: loadable segments by physical address, and symbols by name.

use super::elf_core::{made_for, MadeFor};
use super::near_misses::near_misses;
use super::{Memory, OutsideMemory};
use cortex_m::CoreKind;
use object::elf::{
    FileHeader32, ELFDATA2MSB, ELFMAG, EM_ARM, ET_EXEC, PT_LOAD, STT_FILE, STT_FUNC, STT_SECTION,
};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::LittleEndian;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ElfError {
    #[error("not a usable ELF file: {0}")]
    Malformed(#[from] object::read::Error),
    #[error(
        "not an executable for a 32-bit little-endian Arm: link the firmware for the Cortex-M4"
    )]
    NotArm,
    #[error("a big-endian program: this core is little-endian; link it without -mbig-endian")]
    BigEndian,
    #[error("the file has no loadable segment: link the firmware before loading it")]
    Empty,
    #[error("a loadable segment ends outside the file: it is truncated or damaged")]
    Truncated,
    #[error("a segment lies outside memory: {0}")]
    Outside(#[from] OutsideMemory),
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum SymbolError {
    #[error("no symbol named {name}: {}", advice(near))]
    Missing { name: String, near: Vec<String> },
    #[error("{0} symbols named {1}: rename one, or give the address")]
    Ambiguous(usize, String),
}

fn advice(near: &[String]) -> String {
    if near.is_empty() {
        return "was the firmware stripped, or the function inlined?".into();
    }
    format!("did you mean {}?", near.join(", "))
}

/// A parsed firmware file: the bytes to place, and the symbols without their Thumb bits.
pub struct Firmware {
    made_for: Option<MadeFor>,
    segments: Vec<(u32, Vec<u8>)>,
    symbols: Vec<(String, u32)>,
    /// Address, size and name of the functions.
    functions: Vec<(u32, u32, String)>,
}

impl Firmware {
    pub fn parse(file: &[u8]) -> Result<Firmware, ElfError> {
        if file.starts_with(&ELFMAG) && file.get(EI_DATA) == Some(&ELFDATA2MSB) {
            return Err(ElfError::BigEndian);
        }
        let header = FileHeader32::<LittleEndian>::parse(file)?;
        let endian = header.endian().map_err(|_| ElfError::NotArm)?;
        if header.e_machine(endian) != EM_ARM || header.e_type(endian) != ET_EXEC {
            return Err(ElfError::NotArm);
        }
        let segments = segments(header, endian, file)?;
        if segments.is_empty() {
            return Err(ElfError::Empty);
        }
        let (symbols, functions) = symbols(header, endian, file)?;
        Ok(Firmware {
            made_for: made_for(header, endian, file),
            segments,
            symbols,
            functions,
        })
    }

    /// The core that the program was made for, if it says so and it is not one for `core`.
    pub fn other_core(&self, core: CoreKind) -> Option<MadeFor> {
        self.made_for.filter(|made_for| !made_for.fits(core))
    }

    /// A program that was linked to the flash's alias at 0 is placed in the flash.
    pub fn place(&self, memory: &mut Memory) -> Result<(), OutsideMemory> {
        self.segments
            .iter()
            .try_for_each(|(address, bytes)| memory.load(Memory::canonical(*address), bytes))
    }

    /// Whether memory holds what [`Firmware::place`] would put there.
    pub fn is_in(&self, memory: &Memory) -> bool {
        self.segments
            .iter()
            .all(|(address, bytes)| memory.holds(Memory::canonical(*address), bytes))
    }

    /// The lowest address that the file fills.
    pub fn first_address(&self) -> u32 {
        let addresses = self.segments.iter().map(|(address, _)| *address);
        addresses.min().unwrap_or_default()
    }

    /// The function at an address, as `name+0x12`. `None` if no symbol tells.
    pub fn function_at(&self, address: u32) -> Option<String> {
        let address = Memory::canonical(address);
        let within = |start: u32, size: u32| {
            let offset = address.wrapping_sub(Memory::canonical(start));
            offset < size || size == 0 && offset == 0
        };
        let mut functions = self.functions.iter();
        let (start, _, name) = functions.find(|(start, size, _)| within(*start, *size))?;
        let offset = address.wrapping_sub(Memory::canonical(*start));
        Some(match offset {
            0 => name.clone(),
            _ => format!("{name}+{offset:#x}"),
        })
    }

    /// The address of a symbol. Two local symbols with one name are an error.
    pub fn symbol(&self, name: &str) -> Result<u32, SymbolError> {
        let mut addresses: Vec<u32> = self
            .symbols
            .iter()
            .filter(|(symbol, _)| symbol == name)
            .map(|(_, address)| *address)
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        match addresses[..] {
            [] => Err(SymbolError::Missing {
                name: name.into(),
                near: near_misses(name, self.symbols.iter().map(|(symbol, _)| symbol.as_str())),
            }),
            [address] => Ok(address),
            _ => Err(SymbolError::Ambiguous(addresses.len(), name.into())),
        }
    }
}

/// Where the header says which byte comes first (System V ABI, chapter 4).
const EI_DATA: usize = 5;

type Header = FileHeader32<LittleEndian>;

fn segments(
    header: &Header,
    endian: LittleEndian,
    file: &[u8],
) -> Result<Vec<(u32, Vec<u8>)>, ElfError> {
    header
        .program_headers(endian, file)?
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_LOAD && segment.p_filesz(endian) > 0)
        .map(|segment| {
            let bytes = segment
                .data(endian, file)
                .map_err(|()| ElfError::Truncated)?;
            Ok((segment.p_paddr(endian), bytes.to_vec()))
        })
        .collect()
}

/// Symbols by name without their Thumb bits, and the functions by address.
type Symbols = (Vec<(String, u32)>, Vec<(u32, u32, String)>);

fn symbols(header: &Header, endian: LittleEndian, file: &[u8]) -> Result<Symbols, ElfError> {
    let sections = header.sections(endian, file)?;
    let table = sections.symbols(endian, file, object::elf::SHT_SYMTAB)?;
    let (mut found, mut functions) = (Vec::new(), Vec::new());
    for symbol in table.iter() {
        if symbol.is_undefined(endian) || matches!(symbol.st_type(), STT_FILE | STT_SECTION) {
            continue;
        }
        let name = symbol.name(endian, table.strings())?;
        let name = String::from_utf8_lossy(name).into_owned();
        let address = symbol.st_value(endian) & !1;
        if symbol.st_type() == STT_FUNC {
            functions.push((address, symbol.st_size(endian), name.clone()));
        }
        found.push((name, address));
    }
    Ok((found, functions))
}

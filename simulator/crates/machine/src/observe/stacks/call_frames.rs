//! How each function of a program is left: the rows of its call frame information (DWARF 5,
//! section 6.4), from `.debug_frame` and `.eh_frame`.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, LittleEndian, Register,
    RegisterRule, UnwindContext, UnwindSection,
};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Core registers; DWARF numbers them as the core does (ARM IHI 0040, "DWARF register names").
pub const SP: usize = 13;
pub const LR: usize = 14;
const CORE_REGISTERS: u16 = 15;

/// A register after the return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The word at this distance from the frame's address.
    At(i32),
    /// The frame's address plus this.
    Sum(i32),
    /// The value of another register.
    In(usize),
}

/// The row of the table for some addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    first: u32,
    end: u32,
    /// The register and the distance that give the frame's address.
    pub frame: (usize, i32),
    /// Number and place of the registers that the function has saved. The others are unchanged.
    pub saved: Box<[(usize, Saved)]>,
}

/// The rows of a program, by address.
#[derive(Default)]
pub struct CallFrames {
    rows: Vec<Row>,
}

impl CallFrames {
    /// Reads both sections. What cannot be read, or is no offset from a register, has no row.
    pub fn parse(debug_frame: &[u8], eh_frame: &[u8], eh_frame_address: u32) -> CallFrames {
        let mut rows = Vec::new();
        let mut debug = DebugFrame::new(debug_frame, LittleEndian);
        debug.set_address_size(4);
        read(&debug, &BaseAddresses::default(), &mut rows);
        let mut eh = EhFrame::new(eh_frame, LittleEndian);
        eh.set_address_size(4);
        let bases = BaseAddresses::default().set_eh_frame(eh_frame_address.into());
        read(&eh, &bases, &mut rows);
        rows.sort_by_key(|row| row.first);
        CallFrames { rows }
    }

    /// The row for the instruction at `address`.
    pub fn row(&self, address: u32) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.first <= address);
        let row = self.rows[..after].last()?;
        (address < row.end).then_some(row)
    }
}

fn read<'a, Section: UnwindSection<Bytes<'a>>>(
    section: &Section,
    bases: &BaseAddresses,
    rows: &mut Vec<Row>,
) {
    let mut context = UnwindContext::new();
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let Ok(function) = partial.parse(Section::cie_from_offset) else {
            continue;
        };
        let Ok(mut table) = function.rows(section, bases, &mut context) else {
            continue;
        };
        while let Ok(Some(row)) = table.next_row() {
            rows.extend(usable(row, function.cie().return_address_register()));
        }
    }
}

/// The row, if it gives the frame by a register, and the return address by LR.
fn usable(row: &gimli::UnwindTableRow<usize>, return_register: Register) -> Option<Row> {
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
        return None;
    };
    if register.0 >= CORE_REGISTERS || usize::from(return_register.0) != LR {
        return None;
    }
    let saved = row
        .registers()
        .filter(|(register, _)| register.0 < CORE_REGISTERS)
        .filter_map(|(register, rule)| saved(rule).map(|saved| (register.0.into(), saved)))
        .collect();
    Some(Row {
        first: row.start_address() as u32,
        end: row.end_address() as u32,
        frame: (register.0.into(), *offset as i32),
        saved,
    })
}

fn saved(rule: &RegisterRule<usize>) -> Option<Saved> {
    match rule {
        RegisterRule::Offset(offset) => Some(Saved::At(*offset as i32)),
        RegisterRule::ValOffset(offset) => Some(Saved::Sum(*offset as i32)),
        RegisterRule::Register(register) if register.0 < CORE_REGISTERS => {
            Some(Saved::In(register.0.into()))
        }
        _ => None,
    }
}

//! The register table of a peripheral: which registers exist, their reset values, and which bits
//! are modelled.
//!
//! The virtual board ignores nothing in silence. A write is odd if it changes a register that is
//! not in the table, or a bit that the table calls neither writable nor inert.

use crate::manners::Oddity;

/// One row: a 32-bit register.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    pub offset: u32,
    pub name: &'static str,
    pub reset: u32,
    /// Bits that firmware may change and that the model implements.
    pub writable: u32,
    /// Bits that a write does not change on the chip either: flags that hardware sets, and reserved
    /// bits of registers that are cleared by writing zero.
    pub inert: u32,
    /// Bits that have an effect on the chip and are not modelled. All other bits are reserved.
    pub missing: u32,
    modelled: bool,
}

impl Register {
    pub const fn new(offset: u32, name: &'static str, reset: u32, writable: u32) -> Register {
        Register {
            offset,
            name,
            reset,
            writable,
            inert: 0,
            missing: 0,
            modelled: true,
        }
    }

    /// A register that the chip has and the virtual board lacks.
    pub const fn absent(self) -> Register {
        Register {
            modelled: false,
            ..self
        }
    }

    pub const fn inert(self, inert: u32) -> Register {
        Register { inert, ..self }
    }

    pub const fn missing(self, missing: u32) -> Register {
        Register { missing, ..self }
    }

    pub fn is_modelled(&self) -> bool {
        self.modelled
    }

    /// `written` in the writable bits, `present` in the others.
    fn keep(&self, present: u32, written: u32) -> u32 {
        (written & self.writable) | (present & !self.writable)
    }
}

/// The rows of a table: `OFFSET, NAME, RESET, WRITABLE;`, and behind these `inert BITS`, `missing BITS`,
/// or `absent`.
macro_rules! rows {
    ($($offset:expr, $name:expr, $reset:expr, $writable:expr $(, $kind:ident $($bits:expr)?)*;)*) => {
        [$(
            $crate::peripherals::registers::Register::new($offset, $name, $reset, $writable)
                $(.$kind($($bits)?))*
        ),*]
    };
}
pub(crate) use rows;

/// A table with the offsets of its registers as constants: `TABLE: NAME = OFFSET, RESET, WRITABLE;`, and so on
/// as in [`rows`].
macro_rules! registers {
    ($table_vis:vis $table:ident: $($vis:vis $name:ident = $offset:expr, $reset:expr, $writable:expr
        $(, $kind:ident $($bits:expr)?)*;)*) => {
        // Of some registers only the row is needed.
        $(#[allow(dead_code)] $vis const $name: u32 = $offset;)*
        $table_vis static $table: &[$crate::peripherals::registers::Register] =
            &$crate::peripherals::registers::rows! {
                $($name, stringify!($name), $reset, $writable $(, $kind $($bits)?)*;)*
            };
    };
}
pub(crate) use registers;

/// The `N` rows of two tables: those of `others` stand in the place of rows at their offset, or at the end.
pub const fn merged<const N: usize>(table: &[Register], others: &[Register]) -> [Register; N] {
    let mut rows = [others[0]; N];
    let (mut count, mut next) = (0, 0);
    while next < table.len() + others.len() {
        let row = match next < table.len() {
            true => table[next],
            false => others[next - table.len()],
        };
        let mut place = 0;
        while place < count && rows[place].offset != row.offset {
            place += 1;
        }
        rows[place] = row;
        if place == count {
            count += 1;
        }
        next += 1;
    }
    assert!(count == N);
    rows
}

/// The bits of a register that a write reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Bits that take the bus's data. On an APB all of them, since the bridge repeats narrow data
    /// (RM0368 §2.1.6).
    pub written: u32,
    /// Bits that the program addressed.
    pub addressed: u32,
}

impl Lanes {
    pub const WORD: Lanes = Lanes {
        written: !0,
        addressed: !0,
    };
}

/// What is odd about an access. The text names the register. If the manners do not take it, it
/// becomes [`cortex_m::bus::Fault::Unmodelled`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodelled(pub String, pub Oddity);

/// The registers of one peripheral and their values.
#[derive(Clone)]
pub struct Registers {
    peripheral: &'static str,
    table: &'static [Register],
    /// The row of each word from offset 0 on.
    rows: Vec<Option<&'static Register>>,
    /// As many as `rows` are in use. An array, so that registers at known offsets need no length
    /// check.
    values: [u32; MOST_WORDS],
}

/// No peripheral has more words of registers.
const MOST_WORDS: usize = 196;

impl Registers {
    pub fn new(peripheral: &'static str, table: &'static [Register]) -> Registers {
        let words = table
            .iter()
            .map(|row| row.offset / 4 + 1)
            .max()
            .unwrap_or(0) as usize;
        let mut registers = Registers {
            peripheral,
            table,
            rows: vec![None; words],
            values: [0; MOST_WORDS],
        };
        for row in table {
            registers.rows[row.offset as usize / 4] = Some(row);
        }
        registers.reset();
        registers
    }

    /// Registers with the values that [`Registers::values`] returned. `None` if the values do not
    /// fit this table.
    pub fn restored(
        peripheral: &'static str,
        table: &'static [Register],
        values: Vec<u32>,
    ) -> Option<Registers> {
        let mut restored = Registers::new(peripheral, table);
        let fits = values.len() == restored.rows.len();
        fits.then(|| {
            restored.values[..values.len()].copy_from_slice(&values);
            restored
        })
    }

    pub fn peripheral(&self) -> &'static str {
        self.peripheral
    }

    pub fn table(&self) -> &'static [Register] {
        self.table
    }

    /// The value of every word from offset 0 on.
    pub fn values(&self) -> &[u32] {
        &self.values[..self.rows.len()]
    }

    pub fn reset(&mut self) {
        for row in self.table {
            self.values[row.offset as usize / 4] = row.reset;
        }
    }

    #[inline(always)]
    pub fn get(&self, offset: u32) -> u32 {
        self.values[offset as usize / 4]
    }

    /// The value of a register after reset. 0 if there is none.
    pub fn reset_value(&self, offset: u32) -> u32 {
        self.row(offset).map_or(0, |row| row.reset)
    }

    #[inline(always)]
    pub fn set(&mut self, offset: u32, value: u32) {
        self.values[offset as usize / 4] = value;
    }

    /// Whether any of these bits is set.
    #[inline(always)]
    pub fn has(&self, offset: u32, bits: u32) -> bool {
        self.get(offset) & bits != 0
    }

    pub fn set_bits(&mut self, offset: u32, mask: u32, on: bool) {
        let value = self.get(offset);
        self.set(offset, if on { value | mask } else { value & !mask });
    }

    /// `GPIOA_MODER`; `GPIOA+0x40` for an offset outside the table.
    #[cold]
    pub fn name(&self, offset: u32) -> String {
        match self.row(offset) {
            Some(row) => format!("{}_{}", self.peripheral, row.name),
            None => format!("{}+{offset:#04x}", self.peripheral),
        }
    }

    #[inline]
    pub fn is_modelled(&self, offset: u32) -> bool {
        self.row(offset).is_some_and(|row| row.modelled)
    }

    #[inline]
    fn modelled(&self, offset: u32) -> Result<&'static Register, Unmodelled> {
        match self.row(offset) {
            Some(row) if row.modelled => Ok(row),
            _ => Err(Unmodelled(self.name(offset), Oddity::Register)),
        }
    }

    /// The whole value after a write, or why it is refused.
    #[inline]
    pub fn merge(&self, offset: u32, value: u32, lanes: Lanes) -> Result<u32, Unmodelled> {
        let row = self.modelled(offset)?;
        let present = self.get(offset);
        let merged = (present & !lanes.written) | (value & lanes.written);
        let foreign = (merged ^ present) & !(row.writable | row.inert) & lanes.addressed;
        if foreign != 0 {
            let oddity = match foreign & row.missing {
                0 => Oddity::Reserved,
                _ => Oddity::Bits,
            };
            let what = format!("{} (bits {foreign:#010x})", self.name(offset));
            return Err(Unmodelled(what, oddity));
        }
        Ok(row.keep(present, merged))
    }

    /// As [`Registers::merge`], but leaves the bits that are not modelled as they are. `None` if
    /// there is no such register.
    pub fn merge_modelled(&self, offset: u32, value: u32, lanes: Lanes) -> Option<u32> {
        let row = self.modelled(offset).ok()?;
        let present = self.get(offset);
        Some(row.keep(
            present,
            (present & !lanes.written) | (value & lanes.written),
        ))
    }

    /// A mode that the model lacks: `USART2_CR1 (9 data bits)`. Nothing has been written.
    pub fn refuse(&self, offset: u32, why: &str) -> Unmodelled {
        Unmodelled(format!("{} ({why})", self.name(offset)), Oddity::Mode)
    }

    /// A setting that the manual does not allow. What the chip does about it is done.
    pub fn remark(&self, offset: u32, why: &str) -> Unmodelled {
        Unmodelled(format!("{} ({why})", self.name(offset)), Oddity::Setting)
    }

    #[inline]
    fn row(&self, offset: u32) -> Option<&'static Register> {
        *self.rows.get(offset as usize / 4)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Register] = &rows! {
        0x00, "CR", 0x0000_0010, 0x0000_000F, inert 0x100;
        0x08, "SMCR", 0, 0, absent;
    };

    #[test]
    fn writable_bits_change_inert_bits_do_not() {
        let registers = Registers::new("TIM9", TABLE);
        let half = Lanes {
            written: 0xFFFF,
            addressed: 0xFFFF,
        };
        let repeated_byte = Lanes {
            written: !0,
            addressed: 0xFF,
        };
        assert_eq!(registers.merge(0, 0x115, Lanes::WORD), Ok(0x15));
        assert_eq!(registers.merge(0, 0xFFFF_0115, half), Ok(0x15));
        assert_eq!(registers.merge(0, 0x1515_1515, repeated_byte), Ok(0x15));
        assert_eq!(
            registers.merge(0, 0x1515_1515, Lanes::WORD),
            Err(Unmodelled(
                "TIM9_CR (bits 0x15151400)".into(),
                Oddity::Reserved
            ))
        );
    }

    #[test]
    fn clearing_a_bit_that_is_not_modelled_is_refused_too() {
        let registers = Registers::new("TIM9", TABLE);
        assert_eq!(
            registers.merge(0, 0, Lanes::WORD),
            Err(Unmodelled(
                "TIM9_CR (bits 0x00000010)".into(),
                Oddity::Reserved
            ))
        );
    }

    #[test]
    fn missing_registers_are_named() {
        let registers = Registers::new("TIM9", TABLE);
        assert_eq!(
            registers.merge(8, 0, Lanes::WORD),
            Err(Unmodelled("TIM9_SMCR".into(), Oddity::Register))
        );
        assert_eq!(
            registers.merge(4, 0, Lanes::WORD),
            Err(Unmodelled("TIM9+0x04".into(), Oddity::Register))
        );
        assert_eq!(
            registers.merge(0x3FC, 0, Lanes::WORD),
            Err(Unmodelled("TIM9+0x3fc".into(), Oddity::Register))
        );
    }
}

//! A decoded instruction.

use super::Form;
use crate::core::timing::Slot;

/// What an instruction does, by group; the groups are the files of `decode` and `execute`. The tag has a byte of its own, so
/// that finding the group is one look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The cache slot holds no decoded instruction.
    Undecoded,
    /// Second operand `imm`; `amount` = 1 if it also sets the carry, to its bit 31.
    Immediate(Alu),
    /// Second operand register `m`.
    Register(Alu),
    /// Second operand register `m` shifted by the constant `amount`.
    Shifted(Alu),
    /// Register `n` shifted by the low byte of register `m`.
    ShiftByRegister,
    Multiply(Multiply),
    Media(Media),
    Memory(Memory),
    Multiple(Multiple),
    Branch(Branch),
    System(System),
    Float(Float),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
    Mov,
    Mvn,
    Tst,
    Teq,
    Cmp,
    Cmn,
}

/// Multiplication and division. `d` = RdLo, `a` = RdHi in the long forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiply {
    Mul,
    Mla,
    Mls,
    Smull,
    Umull,
    Smlal,
    Umlal,
    Umaal,
    Sdiv,
    Udiv,
    /// SMULxy and SMLAxy: `amount` bit 1 = top half of n, bit 0 = top half of m; `a` = 15 adds nothing.
    SmlaHalves,
    /// SMULWy and SMLAWy: `amount` bit 0 = top half of m.
    SmlaWide,
    /// SMUAD, SMLAD: `amount` bit 0 exchanges m's halves.
    Smlad,
    Smlsd,
    /// SMMUL, SMMLA: `amount` bit 0 rounds.
    Smmla,
    Smmls,
    SmlalHalves,
    Smlald,
    Smlsld,
    /// USAD8, USADA8.
    Usada8,
}

/// Bit fields, extensions, reversals, saturation and packed arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Movt,
    Sbfx,
    Ubfx,
    Bfi,
    Ssat,
    Usat,
    Ssat16,
    Usat16,
    /// Extensions rotate m right by `amount` bits and add n unless n is 15.
    Sxtab,
    Uxtab,
    Sxtah,
    Uxtah,
    Sxtab16,
    Uxtab16,
    Pkhbt,
    Pkhtb,
    Rev,
    Rev16,
    Revsh,
    Rbit,
    Clz,
    Sel,
    Qadd,
    Qdadd,
    Qsub,
    Qdsub,
    /// Packed add and subtract: `amount` is the operation (bits 22:20), `imm` the flavour (bits 6:4).
    Parallel,
}

/// Single, double and exclusive loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Memory {
    /// `d` ↔ memory at `n` + `imm`, indexed as `index` says.
    Load(Access),
    Store(Access),
    /// LDRT, STRT: as unprivileged code would (A7.7.67).
    LoadUnprivileged(Access),
    StoreUnprivileged(Access),
    /// At `n` + (`m` << `amount`).
    LoadRegister(Access),
    StoreRegister(Access),
    /// At the absolute address `imm`.
    LoadLiteral(Access),
    /// `d` and `m` at `n` + `imm`.
    LoadDouble,
    StoreDouble,
    LoadExclusive(Access),
    /// Status to `a`.
    StoreExclusive(Access),
}

/// What is transferred, and how it is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

/// Loads and stores of the `amount` registers listed in `imm` (bit n = register n); base `n`, `index` says whether it is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiple {
    LoadIncrementAfter,
    LoadDecrementBefore,
    StoreIncrementAfter,
    StoreDecrementBefore,
}

/// `imm` is the absolute target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    Always,
    /// Condition in `amount`.
    Conditional,
    Link,
    /// To register `m`.
    Exchange,
    LinkExchange,
    IfZero,
    IfNotZero,
    TableByte,
    TableHalf,
    /// MOV PC, Rm and ADD PC, Rm: no interworking.
    MovPc,
    AddPc,
    /// `imm` is the new ITSTATE.
    It,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// NOP, YIELD, PLD, PLI and the hints without effect here.
    Hint,
    Wfe,
    Wfi,
    Sev,
    /// `imm`: 4 = DSB, 5 = DMB, 6 = ISB.
    Barrier,
    Clrex,
    /// `imm` bit 0 = F, bit 1 = I, bit 4 = disable.
    Cps,
    /// Special register `imm` to `d`.
    Mrs,
    /// `n` to special register `imm`; `amount` = which parts of APSR.
    Msr,
    Svc,
    Breakpoint,
    /// UDF: undefined for ever, a UsageFault.
    PermanentlyUndefined,
    /// For a coprocessor that does not exist: a UsageFault.
    AbsentCoprocessor,
}

/// Single-precision floating point. `d`, `n`, `m` number S registers unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    Add,
    Sub,
    Mul,
    Nmul,
    Div,
    Mla,
    Mls,
    Nmla,
    Nmls,
    Fma,
    Fms,
    Fnma,
    Fnms,
    Abs,
    Neg,
    Sqrt,
    Move,
    /// `imm` to `d`.
    Immediate,
    /// `imm` bit 0: quiet NaNs signal as well (VCMPE).
    Compare,
    CompareZero,
    /// `imm` bit 0 = signed.
    FromInteger,
    /// `imm` bit 0 = signed, bit 1 = round towards zero.
    ToInteger,
    /// `amount` fraction bits; `imm` bit 0 = signed, bit 1 = 32 bits wide.
    FromFixed,
    ToFixed,
    /// `imm` bit 0 = top half.
    FromHalf,
    ToHalf,
    /// Core register `a` ↔ S register `n`.
    FromCore,
    ToCore,
    /// Core registers `a`, `n` ↔ S registers `m`, `m` + 1.
    FromCorePair,
    ToCorePair,
    /// FPSCR ↔ core register `a` (15 = the flags).
    FromFpscr,
    ToFpscr,
    /// `amount` S registers from `d` on, base `n`; `imm` = offset.
    Load,
    Store,
    /// `amount` S registers from `d` on, upwards from `n`; `index` Post adds `imm` to the
    /// base, Pre subtracts it before.
    LoadMultiple,
    StoreMultiple,
}

/// When a data-processing instruction sets the condition flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetFlags {
    Never,
    Always,
    /// 16-bit encodings: only outside an IT block.
    OutsideIt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    Rrx,
}

/// How a base register is used and updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    Offset,
    Pre,
    Post,
}

/// Operands by role, so that every group reads the same fields; what a field means where it is not obvious stands
/// beside the group's kinds.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Op {
    pub kind: Kind,
    /// The shortest way to carry it out.
    pub form: Form,
    /// Bytes: 2 or 4.
    pub size: u8,
    /// Cycles of the timing table, dynamic parts not counted.
    pub cycles: u8,
    /// 0 for most; 1 + the index of the execution counter; [`Op::NOTHING`] where nothing has been decoded.
    pub counter: u8,
    pub d: u8,
    pub n: u8,
    pub m: u8,
    pub a: u8,
    pub flags: SetFlags,
    pub shift: Shift,
    pub amount: u8,
    pub index: Index,
    pub imm: u32,
    /// Registers that the address is made of, bit n being register n.
    pub address_registers: u16,
    /// Registers that the next instruction cannot make an address of without waiting.
    pub late_registers: u16,
    /// Where the prefetch unit keeps the word that the instruction ends in, and the one that it is the last of.
    pub arrives: Slot,
    pub leaves: Slot,
}

impl Op {
    pub const fn new(kind: Kind) -> Op {
        Op {
            kind,
            form: Form::General,
            size: 0,
            cycles: 0,
            counter: 0,
            d: 0,
            n: 0,
            m: 0,
            a: 0,
            flags: SetFlags::Never,
            shift: Shift::Lsl,
            amount: 0,
            index: Index::Offset,
            imm: 0,
            address_registers: 0,
            late_registers: 0,
            arrives: Slot::Zero,
            leaves: Slot::Nowhere,
        }
    }

    pub const NOTHING: u8 = u8::MAX;
    pub const UNDECODED: Op = Op {
        counter: Op::NOTHING,
        ..Op::new(Kind::Undecoded)
    };

    pub fn undecoded(&self) -> bool {
        self.counter == Op::NOTHING
    }
}

/// The shift that a type and a 5-bit amount encode (`DecodeImmShift`, A7.4.2).
pub const fn decode_shift(kind: u32, amount: u32) -> (Shift, u8) {
    match (kind & 3, amount) {
        (0, n) => (Shift::Lsl, n as u8),
        (1, 0) => (Shift::Lsr, 32),
        (1, n) => (Shift::Lsr, n as u8),
        (2, 0) => (Shift::Asr, 32),
        (2, n) => (Shift::Asr, n as u8),
        (_, 0) => (Shift::Rrx, 1),
        (_, n) => (Shift::Ror, n as u8),
    }
}

//! A decoded instruction.

/// What an instruction does, by group. `decode` and `execute` have a file for each group. The tag
/// has its own byte, so that one look finds the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The cache slot holds no decoded instruction.
    Undecoded,
    /// The second operand is `imm`. If `amount` is 1, the carry becomes bit 31 of `imm`.
    Immediate(Alu),
    /// The second operand is register `m`.
    Register(Alu),
    /// The second operand is register `m`, shifted by the constant `amount`.
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

/// Multiplication and division. In the long forms `d` is RdLo and `a` is RdHi.
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
    /// SMULxy and SMLAxy. `amount` bit 1: top half of n; bit 0: top half of m. `a` = 15 adds
    /// nothing.
    SmlaHalves,
    /// SMULWy and SMLAWy. `amount` bit 0: top half of m.
    SmlaWide,
    /// SMUAD, SMLAD. `amount` bit 0 exchanges m's halves.
    Smlad,
    Smlsd,
    /// SMMUL, SMMLA. `amount` bit 0 rounds.
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
    /// Extensions rotate m right by `amount` bits, and add n unless n is 15.
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
    /// Packed add and subtract. `amount` is the operation (bits 22:20), `imm` the variant (bits
    /// 6:4).
    Parallel,
}

/// Single, double and exclusive loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Memory {
    /// `d` and memory at `n` + `imm`. `index` says how the base is used.
    Load(Access),
    Store(Access),
    /// LDRT, STRT: with the rights of unprivileged code (A7.7.67).
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
    /// The status goes to `a`.
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

/// Loads and stores of `amount` registers. `imm` lists them: bit n is register n. The base is `n`;
/// `index` says whether it is updated.
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
    /// The condition is in `amount`.
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
    /// UDF: permanently undefined, a UsageFault.
    PermanentlyUndefined,
    /// For a coprocessor that the chip does not have: a UsageFault.
    AbsentCoprocessor,
}

/// Single-precision floating point. `d`, `n` and `m` are S registers unless noted.
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
    /// With `imm` bit 0, quiet NaNs are invalid too (VCMPE).
    Compare,
    CompareZero,
    /// `imm` bit 0: signed.
    FromInteger,
    /// `imm` bit 0: signed. Bit 1: round towards zero.
    ToInteger,
    /// `amount` fraction bits. `imm` bit 0: signed. Bit 1: 32 bits wide.
    FromFixed,
    ToFixed,
    /// `imm` bit 0: top half.
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
    /// `amount` S registers from `d` on, at base `n` plus `imm`.
    Load,
    Store,
    /// `amount` S registers from `d` on, upwards from base `n`. `index` Post adds `imm` to the base
    /// afterwards, Pre subtracts it before.
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

/// How an instruction outside IT blocks is executed. In all forms but `General` no register is the
/// PC, and no written register is SP. Names that end in `Flags` set the condition flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Form {
    /// Any instruction, executed by its kind.
    General,
    LoadWord,
    LoadWordRegister,
    LoadWordLiteral,
    LoadHalf,
    LoadByte,
    StoreWord,
    StoreHalf,
    StoreByte,
    Branch,
    BranchIf,
    BranchLink,
    BranchIfZero,
    BranchIfNotZero,
    Move,
    MoveImmediate,
    MoveImmediateFlags,
    ShiftLeftFlags,
    ShiftRightFlags,
    ZeroExtendHalf,
    ZeroExtendByte,
    Compare,
    CompareImmediate,
    Add,
    AddFlags,
    AddImmediate,
    AddImmediateFlags,
    AddShiftedLeft,
    Subtract,
    SubtractFlags,
    SubtractImmediate,
    SubtractImmediateFlags,
    AndImmediate,
    Or,
    ExclusiveOrShiftedRight,
}

/// Where the prefetch unit keeps the cycles of a word of code: by the word's number modulo 4. That is enough for the three
/// words in the buffer and the one that has just left it. An index of this type needs no bounds
/// check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Slot {
    Zero,
    One,
    Two,
    Three,
    /// For cycles that belong to no word.
    Nowhere,
}

/// Operands by role, so that every group uses the same fields. Where a field's meaning is not
/// obvious, the group's kinds say it.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Op {
    pub kind: Kind,
    /// The fastest way to execute it.
    pub form: Form,
    /// Bytes: 2 or 4.
    pub size: u8,
    /// Cycles of the timing table, without what depends on operands.
    pub cycles: u8,
    /// 1 + the index of its place, of which something is noted; 0 if there is none. [`Op::NOTHING`]: not decoded.
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
    /// Registers that the address is made of. Bit n is register n.
    pub address_registers: u16,
    /// Registers that the next instruction must wait for if its address needs them.
    pub late_registers: u16,
    /// Where the prefetch unit keeps the arrival of the instruction's last word; and, if the
    /// instruction ends that word, from when the buffer has room for another one.
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

    /// The index of its place, of which something is noted.
    pub fn place(&self) -> usize {
        usize::from(self.counter) - 1
    }

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

//! Fast forms for what programs execute most. One number says, at decode time, which operation it
//! is and where its operands are.

use super::op::{Access, Alu, Branch, Form, Index, Kind, Media, Memory, Op, SetFlags, Shift};

impl Form {
    /// The fastest form of an instruction outside IT blocks.
    pub fn of(op: &Op) -> Form {
        match op.kind {
            Kind::Memory(memory) => of_memory(op, memory),
            Kind::Media(media) => of_media(op, media),
            Kind::Branch(branch) => of_branch(branch),
            Kind::Immediate(alu) if ordinary(&[op.n]) => of_immediate(op, alu),
            Kind::Register(alu) if ordinary(&[op.n, op.m]) => of_register(op, alu),
            Kind::Shifted(alu) if ordinary(&[op.n, op.m]) => of_shifted(op, alu),
            _ => Form::General,
        }
    }
}

fn ordinary(read: &[u8]) -> bool {
    !read.contains(&15)
}

fn is_result(register: u8) -> bool {
    register != 13 && register != 15
}

fn of_memory(op: &Op, memory: Memory) -> Form {
    match memory {
        Memory::LoadLiteral(Access::Word) if is_result(op.d) => Form::LoadWordLiteral,
        Memory::LoadRegister(Access::Word) if is_result(op.d) && ordinary(&[op.n, op.m]) => {
            Form::LoadWordRegister
        }
        Memory::Load(access) if is_result(op.d) && offset_only(op) => match access {
            Access::Word => Form::LoadWord,
            Access::Half => Form::LoadHalf,
            Access::Byte => Form::LoadByte,
            _ => Form::General,
        },
        Memory::Store(access) if offset_only(op) => match access {
            Access::Word => Form::StoreWord,
            Access::Half => Form::StoreHalf,
            Access::Byte => Form::StoreByte,
            _ => Form::General,
        },
        _ => Form::General,
    }
}

/// UXTH and UXTB without a rotation.
fn of_media(op: &Op, media: Media) -> Form {
    match media {
        _ if !is_result(op.d) || op.m == 15 || op.n != 15 || op.amount != 0 => Form::General,
        Media::Uxtah => Form::ZeroExtendHalf,
        Media::Uxtab => Form::ZeroExtendByte,
        _ => Form::General,
    }
}

fn offset_only(op: &Op) -> bool {
    op.index == Index::Offset && ordinary(&[op.n, op.d])
}

fn of_branch(branch: Branch) -> Form {
    match branch {
        Branch::Always => Form::Branch,
        Branch::Conditional => Form::BranchIf,
        Branch::Link => Form::BranchLink,
        Branch::IfZero => Form::BranchIfZero,
        Branch::IfNotZero => Form::BranchIfNotZero,
        _ => Form::General,
    }
}

/// `with` if the instruction sets the condition flags, otherwise `without`.
fn by_flags(op: &Op, without: Form, with: Form) -> Form {
    match (is_result(op.d), op.flags) {
        (false, _) => Form::General,
        (true, SetFlags::Never) => without,
        (true, SetFlags::Always | SetFlags::OutsideIt) => with,
    }
}

fn of_immediate(op: &Op, alu: Alu) -> Form {
    // Immediates that set the carry use the general form.
    match alu {
        _ if op.amount != 0 && op.flags != SetFlags::Never => Form::General,
        Alu::Mov => by_flags(op, Form::MoveImmediate, Form::MoveImmediateFlags),
        Alu::Add => by_flags(op, Form::AddImmediate, Form::AddImmediateFlags),
        Alu::Sub => by_flags(op, Form::SubtractImmediate, Form::SubtractImmediateFlags),
        Alu::And => by_flags(op, Form::AndImmediate, Form::General),
        Alu::Cmp => Form::CompareImmediate,
        _ => Form::General,
    }
}

fn of_register(op: &Op, alu: Alu) -> Form {
    match alu {
        Alu::Mov => by_flags(op, Form::Move, Form::General),
        Alu::Add => by_flags(op, Form::Add, Form::AddFlags),
        Alu::Sub => by_flags(op, Form::Subtract, Form::SubtractFlags),
        Alu::Orr => by_flags(op, Form::Or, Form::General),
        Alu::Cmp => Form::Compare,
        _ => Form::General,
    }
}

/// Shifts by 1 to 31.
fn of_shifted(op: &Op, alu: Alu) -> Form {
    match (alu, op.shift, op.amount) {
        (Alu::Mov, Shift::Lsl, 1..=31) => by_flags(op, Form::General, Form::ShiftLeftFlags),
        (Alu::Mov, Shift::Lsr, 1..=31) => by_flags(op, Form::General, Form::ShiftRightFlags),
        (Alu::Add, Shift::Lsl, 1..=31) => by_flags(op, Form::AddShiftedLeft, Form::General),
        (Alu::Eor, Shift::Lsr, 1..=31) => {
            by_flags(op, Form::ExclusiveOrShiftedRight, Form::General)
        }
        _ => Form::General,
    }
}

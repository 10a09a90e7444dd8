//! Which registers an instruction needs for its address, and which it writes only at its end.
//! Address generation stalls follow from these.

use crate::decode::{Alu, Branch, Float, Index, Kind, Memory, Multiply, Op, System};

/// The registers that an address waits for. Bit n is register n.
///
/// VLDM does not wait for its base. Measured on an STM32F407: three transforms of
/// multi-moduli-ntt-saber (Abdulrahman, Chen, Chen, Hwang, Kannwischer and Yang) have VMOV and VLDM
/// of that register eight times, and take eight cycles less than with waiting.
pub fn address_registers(op: &Op) -> u16 {
    match op.kind {
        Kind::Memory(Memory::LoadLiteral(_)) => 0,
        Kind::Memory(Memory::LoadRegister(_) | Memory::StoreRegister(_))
        | Kind::Branch(Branch::TableByte | Branch::TableHalf) => bit(op.n) | bit(op.m),
        Kind::Memory(_) | Kind::Multiple(_) => bit(op.n),
        Kind::Float(Float::Load | Float::Store | Float::StoreMultiple) => bit(op.n),
        _ => 0,
    }
}

/// Registers that are in the register bank only one cycle after the instruction's last: results of
/// data processing and loads, and the base that a single load or store moves. LDM, STM, PUSH and
/// POP move theirs in their first cycle.
pub fn late_registers(op: &Op) -> u16 {
    match op.kind {
        Kind::Immediate(alu) | Kind::Register(alu) | Kind::Shifted(alu) => match alu {
            Alu::Tst | Alu::Teq | Alu::Cmp | Alu::Cmn => 0,
            _ => bit(op.d),
        },
        Kind::ShiftByRegister => bit(op.d),
        Kind::Media(_) => bit(op.d),
        Kind::Multiply(multiply) => multiply_results(op, multiply),
        Kind::Memory(memory) => memory_results(op, memory),
        Kind::System(System::Mrs) => bit(op.d),
        Kind::Float(Float::ToCore) => bit(op.a),
        // Measured there too: the first of VMOV's two registers is in time. A loop of 32 passes with
        // two loads behind such a VMOV takes 64 cycles less than if it were late.
        Kind::Float(Float::ToCorePair) => bit(op.n),
        _ => 0,
    }
}

fn multiply_results(op: &Op, multiply: Multiply) -> u16 {
    use Multiply::*;
    match multiply {
        Smull | Umull | Smlal | Umlal | Umaal | SmlalHalves | Smlald | Smlsld => {
            bit(op.d) | bit(op.a)
        }
        _ => bit(op.d),
    }
}

fn memory_results(op: &Op, memory: Memory) -> u16 {
    let base = if op.index == Index::Offset {
        0
    } else {
        bit(op.n)
    };
    match memory {
        Memory::Load(_) => bit(op.d) | base,
        Memory::LoadRegister(_)
        | Memory::LoadLiteral(_)
        | Memory::LoadExclusive(_)
        | Memory::LoadUnprivileged(_) => bit(op.d),
        Memory::LoadDouble => bit(op.d) | bit(op.m) | base,
        Memory::Store(_) | Memory::StoreDouble => base,
        Memory::StoreExclusive(_) => bit(op.a),
        Memory::StoreRegister(_) | Memory::StoreUnprivileged(_) => 0,
    }
}

/// The PC is never late: the fetch knows it.
fn bit(register: u8) -> u16 {
    (1u16 << (register & 15)) & 0x7FFF
}

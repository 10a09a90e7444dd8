//! Executes fast forms. Each does what `execute` does for the same instruction.

use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::decode::{Form, Op};
use crate::registers::Registers;
use crate::trap::Exec;

impl Core {
    /// As `execute`, for an instruction outside IT blocks. `next` is the address after it; a taken
    /// branch sets it to the target.
    #[inline(always)]
    pub(crate) fn execute_form<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        next: &mut u32,
    ) -> Exec<()> {
        match op.form {
            Form::General => {
                self.execute(bus, op)?;
                *next = self.registers.next_pc;
            }
            Form::LoadWord => {
                self.load_word(bus, op, self.registers.get(op.n).wrapping_add(op.imm))?
            }
            Form::LoadWordRegister => {
                let offset = self.registers.get(op.m) << (op.amount & 3);
                self.load_word(bus, op, self.registers.get(op.n).wrapping_add(offset))?;
            }
            Form::LoadWordLiteral => self.load_word(bus, op, op.imm)?,
            Form::LoadHalf => {
                let address = self.registers.get(op.n).wrapping_add(op.imm);
                let half = |bytes| u16::from_le_bytes(bytes).into();
                self.load_low(bus, op, address, Width::Half, half)?;
            }
            Form::LoadByte => {
                let address = self.registers.get(op.n).wrapping_add(op.imm);
                self.load_low(bus, op, address, Width::Byte, |[byte]| byte.into())?;
            }
            Form::StoreWord => self.store_low(bus, op, Width::Word, u32::to_le_bytes)?,
            Form::StoreHalf => {
                self.store_low(bus, op, Width::Half, |value| (value as u16).to_le_bytes())?;
            }
            Form::StoreByte => self.store_low(bus, op, Width::Byte, |value| [value as u8])?,
            Form::Branch => *next = self.branch_here(op),
            Form::BranchIf => {
                if self.registers.flags.satisfy(op.amount) {
                    *next = self.branch_here(op);
                }
            }
            Form::BranchLink => *next = self.branch_link(op),
            Form::BranchIfZero => {
                if self.registers.get(op.n) == 0 {
                    *next = self.branch_ahead(op);
                }
            }
            Form::BranchIfNotZero => {
                if self.registers.get(op.n) != 0 {
                    *next = self.branch_ahead(op);
                }
            }
            Form::Move => self.registers.put(op, self.registers.get(op.m)),
            Form::MoveImmediate => self.registers.put(op, op.imm),
            Form::MoveImmediateFlags => self.registers.put_nz(op, op.imm),
            Form::ShiftLeftFlags => {
                let wide = u64::from(self.registers.get(op.m)) << (op.amount & 31);
                self.registers.flags.c = wide >> 32 & 1 != 0;
                self.registers.put_nz(op, wide as u32);
            }
            Form::ShiftRightFlags => {
                let wide = u64::from(self.registers.get(op.m)) << 1 >> (op.amount & 31);
                self.registers.flags.c = wide & 1 != 0;
                self.registers.put_nz(op, (wide >> 1) as u32);
            }
            Form::ZeroExtendHalf => self.registers.put(op, self.registers.get(op.m) & 0xFFFF),
            Form::ZeroExtendByte => self.registers.put(op, self.registers.get(op.m) & 0xFF),
            Form::Compare => {
                _ = self
                    .registers
                    .flags
                    .subtract(self.registers.get(op.n), self.registers.get(op.m))
            }
            Form::CompareImmediate => {
                _ = self
                    .registers
                    .flags
                    .subtract(self.registers.get(op.n), op.imm)
            }
            Form::Add => self.registers.put(
                op,
                self.registers
                    .get(op.n)
                    .wrapping_add(self.registers.get(op.m)),
            ),
            Form::AddFlags => self.registers.put_sum(op, self.registers.get(op.m)),
            Form::AddImmediate => self
                .registers
                .put(op, self.registers.get(op.n).wrapping_add(op.imm)),
            Form::AddImmediateFlags => self.registers.put_sum(op, op.imm),
            Form::AddShiftedLeft => {
                let shifted = self.registers.get(op.m) << (op.amount & 31);
                self.registers
                    .put(op, self.registers.get(op.n).wrapping_add(shifted));
            }
            Form::Subtract => self.registers.put(
                op,
                self.registers
                    .get(op.n)
                    .wrapping_sub(self.registers.get(op.m)),
            ),
            Form::SubtractFlags => self.registers.put_difference(op, self.registers.get(op.m)),
            Form::SubtractImmediate => self
                .registers
                .put(op, self.registers.get(op.n).wrapping_sub(op.imm)),
            Form::SubtractImmediateFlags => self.registers.put_difference(op, op.imm),
            Form::AndImmediate => self.registers.put(op, self.registers.get(op.n) & op.imm),
            Form::Or => self
                .registers
                .put(op, self.registers.get(op.n) | self.registers.get(op.m)),
            Form::ExclusiveOrShiftedRight => {
                let shifted = self.registers.get(op.m) >> (op.amount & 31);
                self.registers.put(op, self.registers.get(op.n) ^ shifted);
            }
        }
        Ok(())
    }

    /// Loads the low bytes of a register and clears the others.
    #[inline(always)]
    fn load_low<const N: usize, B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        address: u32,
        width: Width,
        low: fn([u8; N]) -> u32,
    ) -> Exec<()> {
        self.pipeline.overlap_with_load(op, address);
        self.pipeline.wait_behind_store();
        let value = match self.data.load_plain(bus, address, &mut self.pipeline) {
            Some(bytes) => low(bytes),
            None => self.load(bus, address, width, 0)?,
        };
        self.registers.put(op, value);
        self.pipeline.loaded(op.d, address);
        Ok(())
    }

    #[inline(always)]
    fn load_word<B: Bus>(&mut self, bus: &mut B, op: &Op, address: u32) -> Exec<()> {
        self.load_low(bus, op, address, Width::Word, u32::from_le_bytes)
    }

    /// Stores the low bytes of a register.
    #[inline(always)]
    fn store_low<const N: usize, B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        width: Width,
        low: fn(u32) -> [u8; N],
    ) -> Exec<()> {
        let address = self.registers.get(op.n).wrapping_add(op.imm);
        let value = self.registers.get(op.d);
        self.pipeline.overlap_store_with_load(op, address);
        let (pipeline, fast) = (&mut self.pipeline, &mut self.fast);
        if self
            .data
            .store_plain(bus, address, low(value), pipeline, fast)
        {
            return Ok(());
        }
        self.store(bus, address, width, value, 0)
    }
}

impl Registers {
    /// Writes a result to any register but SP and PC.
    #[inline(always)]
    fn put(&mut self, op: &Op, result: u32) {
        self.general[usize::from(op.d & 15)] = result;
    }

    #[inline(always)]
    fn put_nz(&mut self, op: &Op, result: u32) {
        self.flags.set_nz(result);
        self.put(op, result);
    }

    #[inline(always)]
    fn put_sum(&mut self, op: &Op, addend: u32) {
        let sum = self.flags.add(self.get(op.n), addend);
        self.put(op, sum);
    }

    #[inline(always)]
    fn put_difference(&mut self, op: &Op, subtrahend: u32) {
        let difference = self.flags.subtract(self.get(op.n), subtrahend);
        self.put(op, difference);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::encodings;
    use crate::random::Random;
    use crate::two_memories::{TwoMemories, BYTES, FLASH, SRAM};
    use crate::Timing;
    use std::collections::HashSet;

    const CODE: u32 = FLASH + 0x100;

    /// All bits, or half of them.
    fn sparse(random: &mut Random) -> u32 {
        match random.below(2) {
            0 => u32::MAX,
            _ => random.next(),
        }
    }

    /// Contents of registers: small numbers, addresses in and near the SRAM and in the flash, or
    /// anything.
    fn content(random: &mut Random) -> u32 {
        let value = random.next();
        match random.below(4) {
            0 => value % 40,
            1 => SRAM + value % (BYTES as u32 + 64),
            2 => FLASH + value % BYTES as u32,
            _ => value,
        }
    }

    /// Some opcodes of each encoding, as halfwords in order. Many have empty fields, as assemblers
    /// often leave them: SUB.W without a shift, for example.
    fn opcodes(random: &mut Random) -> Vec<Vec<u16>> {
        let mut opcodes = Vec::new();
        for encoding in encodings() {
            for _ in 0..32 {
                let fill = random.next() & sparse(random);
                let opcode = encoding.value | fill & !encoding.mask;
                let halves = [(opcode >> 16) as u16, opcode as u16];
                opcodes.push(halves[usize::from(!encoding.wide)..].to_vec());
            }
        }
        opcodes
    }

    fn board(opcode: &[u16], random: &mut Random, timing: Timing) -> (Core, TwoMemories) {
        let words: Vec<u8> = (0..BYTES / 4)
            .flat_map(|_| content(random).to_le_bytes())
            .collect();
        let mut memories = TwoMemories {
            flash: words.clone(),
            sram: words,
        };
        let code: Vec<u8> = opcode.iter().flat_map(|half| half.to_le_bytes()).collect();
        memories.flash[0x100..0x100 + code.len()].copy_from_slice(&code);
        let mut core = Core::new(timing);
        for n in 0..15 {
            core.set_register(n, content(random));
        }
        core.set_register(15, CODE);
        core.set_xpsr(random.next() & 0xF800_0000 | 1 << 24);
        (core, memories)
    }

    /// All that a step leaves behind. R15 is left out: general instructions use it as a scratch
    /// register.
    fn left_behind(mut core: Core, bus: &TwoMemories, outcome: Result<(), crate::Stop>) -> Vec<u8> {
        core.registers.general[15] = 0;
        let mut left = postcard::to_allocvec(&(core, &bus.sram)).unwrap();
        left.extend(format!("{outcome:?}").into_bytes());
        left
    }

    #[test]
    fn every_form_does_what_the_general_one_does() {
        let mut random = Random(1);
        let mut tried = HashSet::new();
        for opcode in opcodes(&mut random) {
            for timing in [Timing::Ideal, Timing::Nucleo] {
                let (mut core, mut bus) = board(&opcode, &mut random, timing);
                let Ok(op) = core.fetch(&mut bus) else {
                    continue;
                };
                if op.form == Form::General {
                    continue;
                }
                tried.insert(op.form as u8);
                let (mut general, mut beside) = (core.clone(), bus.clone());
                let form = Form::General;
                general.fast.code.insert(CODE, Op { form, ..op });
                let outcome = core.step(&mut bus);
                let expected = general.step(&mut beside);
                assert!(
                    left_behind(core, &bus, outcome) == left_behind(general, &beside, expected),
                    "{opcode:#06x?} as {:?}",
                    op.form
                );
            }
        }
        assert_eq!(tried.len(), Form::ExclusiveOrShiftedRight as usize);
    }
}

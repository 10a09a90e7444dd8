//! Branches (A7.7: B, BL, BX, BLX, CBZ, TBB) and IT.

use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::decode::{Branch, Op};
use crate::timing::{Resolved, TABLE_BRANCH_ADDITION_CYCLES};
use crate::trap::{cfsr, Exec, Trap};

impl Core {
    #[inline(always)]
    pub(super) fn branch<B: Bus>(&mut self, bus: &mut B, op: &Op, branch: Branch) -> Exec<()> {
        match branch {
            Branch::Always => _ = self.branch_here(op),
            Branch::Conditional => {
                if self.registers.flags.satisfy(op.amount) {
                    self.branch_here(op);
                }
            }
            Branch::Link => _ = self.branch_link(op),
            Branch::Exchange => {
                let resolved = if op.m == 14 {
                    Resolved::Decode
                } else {
                    Resolved::Execute
                };
                return self.jump_exchange(self.registers.get(op.m), resolved, op.cycles);
            }
            Branch::LinkExchange => {
                let target = self.registers.get(op.m);
                self.registers.general[14] = self.registers.next_pc | 1;
                return self.jump_exchange(target, Resolved::Execute, op.cycles);
            }
            Branch::IfZero => {
                if self.registers.get(op.n) == 0 {
                    self.branch_ahead(op);
                }
            }
            Branch::IfNotZero => {
                if self.registers.get(op.n) != 0 {
                    self.branch_ahead(op);
                }
            }
            Branch::TableByte => return self.table_branch(bus, op, Width::Byte, 0),
            Branch::TableHalf => return self.table_branch(bus, op, Width::Half, 1),
            Branch::MovPc => _ = self.jump(self.registers.get(op.m), Resolved::Execute, op.cycles),
            Branch::AddPc => {
                let target = self.registers.general[15].wrapping_add(self.registers.get(op.m));
                self.jump(target, Resolved::Execute, op.cycles);
            }
            Branch::It => {
                self.registers.itstate = op.imm as u8;
                self.pipeline.fold_it(op, self.registers.pc);
            }
        }
        Ok(())
    }

    /// Branches within a function. A backward one may begin an iteration of a busy wait.
    #[inline(always)]
    pub(super) fn branch_here(&mut self, op: &Op) -> u32 {
        if self.fast.busy_wait.turn(op.imm, &self.registers) {
            self.leave_fast_loop();
        }
        self.jump(op.imm, Resolved::Decode, op.cycles)
    }

    /// CBZ and CBNZ.
    #[inline(always)]
    pub(super) fn branch_ahead(&mut self, op: &Op) -> u32 {
        self.jump(op.imm, Resolved::Execute, op.cycles)
    }

    #[inline(always)]
    pub(super) fn branch_link(&mut self, op: &Op) -> u32 {
        self.registers.general[14] = self.registers.next_pc | 1;
        self.jump(op.imm, Resolved::Decode, op.cycles)
    }

    /// Branches to `target` and pays for the refill. The instruction takes `cycles`. Returns the
    /// target.
    #[inline(always)]
    pub(super) fn jump(&mut self, target: u32, resolved: Resolved, cycles: u8) -> u32 {
        let target = target & !1;
        self.pipeline
            .branch(target, self.registers.next_pc, resolved, cycles);
        self.registers.next_pc = target;
        target
    }

    /// `BXWritePC` (B1.4.7): an interworking branch, or an exception return, which pays for itself.
    pub(super) fn jump_exchange(
        &mut self,
        target: u32,
        resolved: Resolved,
        cycles: u8,
    ) -> Exec<()> {
        if self.registers.ipsr != 0 && target >> 28 == 0xF {
            self.handling.returning = Some(target);
            self.leave_fast_loop();
            return Ok(());
        }
        if target & 1 == 0 {
            self.registers.pc = target;
            self.registers.itstate = 0;
            self.registers.thumb = false;
            return Err(Trap::usage(cfsr::INVSTATE));
        }
        self.jump(target, resolved, cycles);
        Ok(())
    }

    fn table_branch<B: Bus>(&mut self, bus: &mut B, op: &Op, width: Width, scale: u32) -> Exec<()> {
        let address = self
            .registers
            .get(op.n)
            .wrapping_add(self.registers.get(op.m) << scale);
        let entry = self.load(bus, address, width, 0)?;
        let target = self.registers.general[15].wrapping_add(entry << 1);
        self.jump(
            target,
            Resolved::End,
            op.cycles + TABLE_BRANCH_ADDITION_CYCLES,
        );
        Ok(())
    }
}

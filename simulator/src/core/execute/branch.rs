//! Branches (A7.7: B, BL, BX, BLX, CBZ, TBB) and IT.

use crate::bus::{Bus, Width};
use crate::core::decode::{is_wide, Branch, Op};
use crate::core::trap::Exec;
use crate::core::Core;

impl Core {
    #[inline(always)]
    pub(super) fn branch<B: Bus>(&mut self, bus: &mut B, op: &Op, branch: Branch) -> Exec<()> {
        match branch {
            Branch::Always => self.jump(bus, op.imm),
            Branch::Conditional => {
                if self.flags.satisfy(op.amount) {
                    self.jump(bus, op.imm);
                }
            }
            Branch::Link => {
                self.registers[14] = self.next_pc | 1;
                self.jump(bus, op.imm);
            }
            Branch::Exchange => return self.jump_exchange(bus, self.get(op.m)),
            Branch::LinkExchange => {
                let target = self.get(op.m);
                self.registers[14] = self.next_pc | 1;
                return self.jump_exchange(bus, target);
            }
            Branch::IfZero => self.jump_if(bus, self.get(op.n) == 0, op.imm),
            Branch::IfNotZero => self.jump_if(bus, self.get(op.n) != 0, op.imm),
            Branch::TableByte => return self.table_branch(bus, op, Width::Byte, 0),
            Branch::TableHalf => return self.table_branch(bus, op, Width::Half, 1),
            Branch::MovPc => self.jump(bus, self.get(op.m)),
            Branch::AddPc => self.jump(bus, self.registers[15].wrapping_add(self.get(op.m))),
            Branch::It => self.itstate = op.imm as u8,
        }
        Ok(())
    }

    /// Branches to `target` and pays the refill.
    #[inline(always)]
    pub(super) fn jump<B: Bus>(&mut self, bus: &mut B, target: u32) {
        self.next_pc = target & !1;
        let straddles = target & 2 != 0 && self.is_wide_at(bus, target & !1);
        self.cycles += self.timing.refill_cycles(straddles);
    }

    #[inline(always)]
    fn jump_if<B: Bus>(&mut self, bus: &mut B, taken: bool, target: u32) {
        if taken {
            self.jump(bus, target);
        }
    }

    /// An interworking branch; an exception return pays its own way.
    pub(super) fn jump_exchange<B: Bus>(&mut self, bus: &mut B, target: u32) -> Exec<()> {
        self.branch_exchange(target)?;
        if self.returning.is_none() {
            self.jump(bus, target);
        }
        Ok(())
    }

    fn is_wide_at<B: Bus>(&self, bus: &mut B, address: u32) -> bool {
        match self.code.size_at(address) {
            0 => bus.fetch(address).is_ok_and(is_wide),
            size => size == 4,
        }
    }

    fn table_branch<B: Bus>(&mut self, bus: &mut B, op: &Op, width: Width, scale: u32) -> Exec<()> {
        let address = self.get(op.n).wrapping_add(self.get(op.m) << scale);
        let entry = self.load(bus, address, width, 0)?;
        self.jump(bus, self.registers[15].wrapping_add(entry << 1));
        Ok(())
    }
}

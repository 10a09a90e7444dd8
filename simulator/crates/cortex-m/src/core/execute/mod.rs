//! Executes decoded instructions. One file for each group, as in `decode`.

mod arithmetic;
mod branch;
mod data_processing;
mod fast_forms;
mod float;
mod float_arithmetic;
mod media;
mod memory;
mod multiple;
mod multiply;
mod packed;
mod rounding;
mod system;

use crate::bus::Bus;
use crate::core::Core;
use crate::decode::{Kind, Op, System};
use crate::trap::Exec;

impl Core {
    #[inline(always)]
    pub(super) fn execute<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        self.registers.general[15] = self.registers.pc.wrapping_add(4);
        match op.kind {
            Kind::Immediate(alu) => self.registers.alu_immediate(op, alu),
            Kind::Register(alu) => self.registers.alu_register(op, alu),
            Kind::Shifted(alu) => self.registers.alu_shifted(op, alu),
            Kind::ShiftByRegister => self.registers.shift_by_register(op),
            Kind::Media(media) => self.registers.media(op, media),
            Kind::Multiply(multiply) => return self.multiply(bus, op, multiply),
            Kind::Branch(branch) => return self.branch(bus, op, branch),
            Kind::Memory(memory) => return self.memory(bus, op, memory),
            Kind::Multiple(multiple) => return self.multiple(bus, op, multiple),
            Kind::System(system) => {
                if system == System::Barrier {
                    bus.barrier();
                }
                return self.system(op, system);
            }
            Kind::Float(float) => {
                self.fast.busy_wait.disturb();
                return self.float(bus, op, float);
            }
            Kind::Undecoded => unreachable!("an empty cache slot is decoded before it is executed"),
        }
        Ok(())
    }
}

//! Executes one instruction after the other. Each is found in the code cache, or fetched and
//! decoded. It is issued when the prefetch unit has it. In an IT block it is skipped unless its
//! condition holds.

use super::Core;
use crate::bus::{Bus, Fault as BusFault};
use crate::code_cache::Page;
use crate::decode::{self, Form, Kind, Op};
use crate::memory_map::execute_never;
use crate::nvic::MEM_MANAGE;
use crate::state::PrivateUnits;
use crate::stop::Stop;
use crate::timing::{self, Fetch, Timing};
use crate::trap::{self, cfsr, Exec, Trap};

/// Why the core stopped executing from a page without a trap.
enum Left {
    /// The program left the page, or something else must be done first.
    Page,
    /// The next instruction is not decoded yet, or its executions are counted.
    Single,
}

impl Core {
    /// Takes the trap, if there is one.
    #[inline(always)]
    pub(super) fn take_any(&mut self, result: Exec<()>) -> Result<(), Stop> {
        result.or_else(|trap| {
            self.fast.busy_wait.forget();
            self.take_trap(trap)
        })
    }

    /// Executes instructions of one page of the code cache, up to the horizon.
    pub(super) fn page_of_instructions<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        let page = self
            .registers
            .thumb
            .then(|| self.fast.code.lend(self.registers.pc))
            .flatten();
        let Some(page) = page else {
            return self.single(bus);
        };
        let result = match self.pipeline.timing() {
            Timing::Nucleo => self.instructions_of::<B, true>(bus, &page),
            _ => self.instructions_of::<B, false>(bus, &page),
        };
        self.fast.code.give_back(page);
        match result {
            Ok(Left::Page) => Ok(()),
            Ok(Left::Single) => self.single(bus),
            Err(trap) => Err(trap),
        }
    }

    fn single<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        if self.returns_here() {
            return Ok(());
        }
        self.instruction(bus)
    }

    /// One loop for each timing, compiled without questions about the other.
    #[inline(never)]
    fn instructions_of<B: Bus, const NUCLEO: bool>(
        &mut self,
        bus: &mut B,
        page: &Page,
    ) -> Exec<Left> {
        let mut pc = self.registers.pc;
        while self.pipeline.cycles() < self.fast.horizon && page.holds(pc) {
            let op = page.get(pc);
            if op.counter != 0 {
                return Ok(Left::Single);
            }
            pc = self.carry_out::<B, NUCLEO>(bus, op, pc)?;
        }
        Ok(Left::Page)
    }

    pub(super) fn instruction<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        let mut op = self.fast.code.get(self.registers.pc);
        if op.undecoded() || !self.registers.thumb {
            op = self.fetch(bus)?;
        }
        if op.counter != 0 {
            return self.counted_instruction(bus, &op);
        }
        self.carry_out_timed(bus, &op).map(|_| ())
    }

    #[inline(always)]
    fn carry_out_timed<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<u32> {
        match self.pipeline.timing() {
            Timing::Nucleo => self.carry_out::<B, true>(bus, op, self.registers.pc),
            _ => self.carry_out::<B, false>(bus, op, self.registers.pc),
        }
    }

    /// Executes an instruction that is counted, and perhaps marked.
    #[inline(never)]
    fn counted_instruction<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        let continued = self.registers.will_continue();
        let passage = self
            .observers
            .places
            .begun(bus, op, &self.registers, &self.pipeline);
        let result = self.carry_out_timed(bus, op);
        let places = &mut self.observers.places;
        let forgets = passage.is_some_and(|passage| {
            let how = (op, continued);
            places.end(passage, how, &result, &self.registers, &self.pipeline)
        });
        if result.is_ok() {
            places.count(op.place());
            self.fast.busy_wait.disturb();
        }
        if forgets {
            self.invalidate_code();
        }
        result.map(|_| ())
    }

    /// Executes `op`, the instruction at `pc`. Returns the address of the next one.
    #[inline(always)]
    fn carry_out<B: Bus, const NUCLEO: bool>(
        &mut self,
        bus: &mut B,
        op: &Op,
        pc: u32,
    ) -> Exec<u32> {
        let next_pc = pc.wrapping_add(op.size.into());
        self.registers.next_pc = next_pc;
        self.pipeline.issue::<NUCLEO>(op, pc, next_pc);
        let mut next = next_pc;
        let cycles = if self.registers.itstate == 0 {
            self.execute_form(bus, op, &mut next).map(|()| op.cycles)
        } else {
            let cycles = self.execute_in_it(bus, op);
            next = self.registers.next_pc;
            cycles
        };
        match cycles {
            Ok(cycles) => self.pipeline.retire(pc, cycles),
            Err(trap) => {
                self.pipeline.abandon();
                return Err(trap);
            }
        }
        self.registers.pc = next;
        Ok(next)
    }

    /// Executes an instruction that EPSR.ICI continues, or one of an IT block, which is skipped
    /// unless its condition holds (A7.3.2). Returns its cycles; skipping takes one.
    fn execute_in_it<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<u8> {
        if self.registers.itstate & 0xF == 0 {
            return self.continue_interrupted(bus, op);
        }
        let last = self.registers.itstate & 7 == 0;
        if decode::misplaced_in_it(op, last) {
            let group = "in this place of an IT block";
            return Err(unpredictable_here(bus, op.size, self.registers.pc, group));
        }
        let unconditional = op.kind == Kind::System(decode::System::Breakpoint);
        let executed = unconditional || self.registers.condition_passed();
        if executed {
            self.execute(bus, op)?;
        }
        self.registers.itstate = if last {
            0
        } else {
            self.registers.itstate & 0xE0 | self.registers.itstate << 1 & 0x1F
        };
        Ok(if executed { op.cycles } else { 1 })
    }

    /// Fetches, decodes and caches the instruction at the PC.
    #[cold]
    #[inline(never)]
    pub(super) fn fetch<B: Bus>(&mut self, bus: &mut B) -> Exec<Op> {
        if !self.registers.thumb {
            return Err(Trap::usage(cfsr::INVSTATE));
        }
        if self.private.debug.breaks_at(self.registers.pc) {
            let PrivateUnits { debug, scb, .. } = &self.private;
            return Err(debug.breakpoint(scb, self.registers.pc, 0));
        }
        let first = self.fetch_halfword(bus, self.registers.pc)?;
        let wide = decode::is_wide(first);
        let opcode = if wide {
            u32::from(first) << 16
                | u32::from(self.fetch_halfword(bus, self.registers.pc.wrapping_add(2))?)
        } else {
            first.into()
        };
        let Some(mut op) = decode::decode_for(self.model.kind, opcode, wide, self.registers.pc)
        else {
            return Err(Trap::Stop(Box::new(Stop::Undefined {
                opcode,
                pc: self.registers.pc,
            })));
        };
        if let Some(group) = decode::unpredictable_on(self.model.kind, opcode, wide) {
            return Err(Trap::unpredictable(opcode, self.registers.pc, group));
        }
        op.form = Form::of(&op);
        op.cycles = timing::base_cycles(self.model.kind, &op);
        op.address_registers = timing::address_registers(self.model.kind, &op);
        op.late_registers = timing::late_registers(self.model.kind, &op);
        (op.arrives, op.leaves) = Fetch::slots(self.registers.pc, op.size);
        let place = self.observers.places.at(self.registers.pc);
        op.counter = place.map_or(0, |place| place as u8 + 1);
        // What the MPU allows depends on privilege and priority, so nothing is cached while it is
        // on.
        if !self.private.mpu.enabled() {
            self.fast.code.insert(self.registers.pc, op);
        }
        Ok(op)
    }

    fn fetch_halfword<B: Bus>(&mut self, bus: &mut B, address: u32) -> Exec<u16> {
        let mpu = &self.private.mpu;
        let forbids = || {
            let (nvic, registers) = (&self.nvic, &self.registers);
            !mpu.may_execute(address, nvic.execution_priority(), registers.privileged())
        };
        if execute_never(address) || mpu.enabled() && forbids() {
            return Err(Trap::Fault(trap::Fault {
                exception: MEM_MANAGE,
                cfsr: cfsr::IACCVIOL,
                address: None,
            }));
        }
        bus.fetch(address).map_err(|fault| match fault {
            BusFault::Bus { .. } => Trap::bus(cfsr::IBUSERR, None),
            BusFault::Unmodelled { what, address } => {
                Trap::unmodelled(what, address, self.registers.pc)
            }
        })
    }
}

/// The instruction at `pc` is UNPREDICTABLE there. Reads its opcode again for the message.
#[cold]
pub(super) fn unpredictable_here<B: Bus>(
    bus: &mut B,
    size: u8,
    pc: u32,
    group: &'static str,
) -> Trap {
    let halfword = |offset| bus.fetch(pc.wrapping_add(offset)).map_or(0, u32::from);
    let opcode = (0..u32::from(size))
        .step_by(2)
        .map(halfword)
        .fold(0, |opcode, half| opcode << 16 | half);
    Trap::unpredictable(opcode, pc, group)
}

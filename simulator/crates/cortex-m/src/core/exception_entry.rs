//! Taking an exception (B1.5.6–B1.5.7), and turning faults into exceptions (B1.5.14).
//!
//! Entry takes time. The frame is stacked while the vector is read and the handler is fetched. If
//! an exception of higher priority becomes pending before the handler's first instruction, it takes
//! over the frame (late arrival). Its own vector and handler are fetched from then on ("Cortex-M3
//! Technical Reference Manual" DDI 0337, 5.7).

use super::Core;
use crate::bus::{Bus, Fault as BusFault, Width};
use crate::data_path::{read_either_alias, Purpose};
use crate::halt_cause::DFSR_BKPT;
use crate::nvic::{Nvic, BUS_FAULT, DEBUG_MONITOR, HARD_FAULT, MEM_MANAGE, NMI, USAGE_FAULT};
use crate::registers::{Registers, CONTROL_FPCA, CONTROL_SPSEL};
use crate::scb::{
    CCR_STKALIGN, FPCCR_LSPACT, FPCCR_LSPEN, HFSR_DEBUGEVT, HFSR_FORCED, HFSR_VECTTBL,
};
use crate::state::{Entry, FaultEntry, Sleep};
use crate::stop::Stop;
use crate::timing::FLOAT_FRAME_CYCLES;
use crate::trap::{cfsr, Exec, Fault, Trap};
use crate::watch::Watch;

/// xPSR bit 9 in a frame: the stack was moved by four bytes, to be aligned to eight.
pub const REALIGNED: u32 = 1 << 9;
pub const BASIC_FRAME_BYTES: u32 = 0x20;
pub const EXTENDED_FRAME_BYTES: u32 = 0x68;

impl Core {
    /// Begins an entry or continues the one under way, to its end or to cycle `until`.
    pub(super) fn enter_exception<B: Bus>(&mut self, bus: &mut B, until: u64) -> Result<(), Stop> {
        if self.handling.entering.is_none() {
            self.stack_frame(bus)?;
        }
        let Some(entry) = self.handling.entering else {
            return Ok(());
        };
        let first = self.nvic.preempting().unwrap_or(entry.exception);
        if first != entry.exception {
            return self.fetch_vector(bus, first, entry.exc_return, entry.handler_cycle);
        }
        if self.waited_until(entry.handler_cycle, until) {
            self.take_exception(entry);
        }
        Ok(())
    }

    /// Lets time pass in an entry or return, up to `cycle`. Stops earlier, at `until` or at
    /// SysTick's expiry, since that may change what comes next. True if `cycle` is reached and
    /// nothing else is due first.
    pub(super) fn waited_until(&mut self, cycle: u64, until: u64) -> bool {
        if self.pipeline.cycles() >= cycle {
            return true;
        }
        let limit = until.min(self.next_own_event());
        self.pipeline.wait_until(cycle.min(limit));
        self.pipeline.cycles() < limit && !self.attention
    }

    /// Enters an exception on the frame that is already there: after a handler, or instead of a
    /// return.
    pub(super) fn tail_chain<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Result<(), Stop> {
        match self.nvic.preempting() {
            Some(first) => self.fetch_vector(bus, first, exc_return, self.pipeline.cycles()),
            None => Ok(()),
        }
    }

    /// `PushStack` and the EXC_RETURN value of `ExceptionTaken`.
    fn stack_frame<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let Some(cause) = self.nvic.preempting() else {
            return Ok(());
        };
        self.handling.sleep = Sleep::Awake;
        self.watching(Watch::begin_entry);
        let extended = self.registers.control & CONTROL_FPCA != 0;
        let exc_return = exc_return(&self.registers, extended);
        let began = self.pipeline.cycles();
        let stacked = self.on_behalf_of(Purpose::Stacking, |core| core.push_frame(bus, extended));
        let stacking_done = self.pipeline.cycles() + u64::from(self.model.facts().entry_cycles);
        // The vector is read while the frame is written.
        self.pipeline.go_back_to(began);
        self.derived_fault(stacked, cfsr::STKERR, cfsr::MSTKERR)?;
        let first = self.nvic.preempting().unwrap_or(cause);
        self.fetch_vector(bus, first, exc_return, stacking_done)
    }

    fn push_frame<B: Bus>(&mut self, bus: &mut B, extended: bool) -> Exec<()> {
        let align = if extended || self.private.scb.ccr & CCR_STKALIGN != 0 {
            4
        } else {
            0
        };
        let size = if extended {
            EXTENDED_FRAME_BYTES
        } else {
            BASIC_FRAME_BYTES
        };
        let sp = self.registers.general[13];
        let frame = sp.wrapping_sub(size) & !align;
        let xpsr = self.registers.xpsr() | if sp & align != 0 { REALIGNED } else { 0 };
        self.registers.general[13] = frame;
        let words = [
            self.registers.general[0],
            self.registers.general[1],
            self.registers.general[2],
            self.registers.general[3],
            self.registers.general[12],
            self.registers.general[14],
            self.registers.pc,
            xpsr,
        ];
        self.store_words(bus, frame, &words)?;
        if extended {
            self.stack_float_state(bus, frame.wrapping_add(BASIC_FRAME_BYTES))?;
        }
        Ok(())
    }

    /// Reads the vector of `exception`. Its handler begins when the vector, the handler's code and
    /// the stacking are done. If the vector cannot be read, a HardFault arrives late.
    fn fetch_vector<B: Bus>(
        &mut self,
        bus: &mut B,
        exception: u8,
        exc_return: u32,
        stacking_done: u64,
    ) -> Result<(), Stop> {
        let now = self.pipeline.cycles();
        self.observers.planned.decide(exception, now);
        let address = self.private.scb.vector_address(exception);
        let vector = match read_either_alias(bus, address, Width::Word, now + 1) {
            Ok(loaded) => loaded.value,
            Err(BusFault::Unmodelled { what, address }) => {
                let pc = self.registers.pc;
                return Err(Stop::Unmodelled { what, address, pc });
            }
            Err(BusFault::Bus { .. }) => {
                // The exception stays pending and HardFault is taken first. If the vector of HardFault or
                // NMI cannot be read, the core locks up.
                let cause = "an exception vector cannot be read";
                if matches!(exception, NMI | HARD_FAULT) {
                    self.private.scb.hfsr |= HFSR_VECTTBL;
                    let pc = self.registers.pc;
                    return Err(Stop::Lockup { pc, cause });
                }
                self.escalate(HFSR_VECTTBL, cause)?;
                0
            }
        };
        let chained = now + u64::from(self.model.facts().tail_chain_cycles);
        let ready = stacking_done.max(chained);
        let (handler_cycle, fetch_cycle) =
            self.pipeline
                .handler_cycles(address, ready, self.registers.pc);
        self.handling.entering = Some(Entry {
            exc_return,
            exception,
            vector,
            handler_cycle,
            fetch_cycle,
        });
        Ok(())
    }

    #[inline(always)]
    fn store_words<B: Bus>(&mut self, bus: &mut B, address: u32, words: &[u32]) -> Exec<()> {
        let (pipeline, fast) = (&mut self.pipeline, &mut self.fast);
        if let Some(run) = self
            .data
            .store_run(bus, address, words.len() as u32, pipeline, fast)
        {
            for (place, word) in run.zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            return Ok(());
        }
        self.store_words_singly(bus, address, words)
    }

    #[inline(never)]
    fn store_words_singly<B: Bus>(&mut self, bus: &mut B, address: u32, words: &[u32]) -> Exec<()> {
        for (n, &word) in words.iter().enumerate() {
            self.store(
                bus,
                address.wrapping_add(4 * n as u32),
                Width::Word,
                word,
                n as u64,
            )?;
        }
        Ok(())
    }

    /// Reserves space for S0–S15 and FPSCR. Saves them now, or later if FPCCR.LSPEN allows it
    /// (`UpdateFPCCR`).
    #[inline(never)]
    fn stack_float_state<B: Bus>(&mut self, bus: &mut B, address: u32) -> Exec<()> {
        if self.private.scb.fpccr & FPCCR_LSPEN == 0 {
            self.pipeline.spend(FLOAT_FRAME_CYCLES);
            return self.store_float_state(bus, address);
        }
        let context = fpccr_context(&self.registers, &self.nvic);
        let scb = &mut self.private.scb;
        scb.fpcar = address;
        scb.fpccr = scb.fpccr & 0xC000_0000 | context | FPCCR_LSPACT;
        Ok(())
    }

    fn store_float_state<B: Bus>(&mut self, bus: &mut B, address: u32) -> Exec<()> {
        let mut words = [0; 17];
        words[..16].copy_from_slice(&self.registers.float.s[..16]);
        words[16] = self.registers.float.fpscr;
        self.store_words(bus, address, &words)
    }

    /// `PreserveFPState` (B1.5.7): the first floating-point instruction of a handler saves the
    /// registers to the reserved space. An exception of higher priority interrupts it; it then
    /// starts again (TRM 7.2.7).
    pub(super) fn preserve_float_state<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        if self.interrupted_before(bus, FLOAT_FRAME_CYCLES) {
            return Err(Trap::Interrupted);
        }
        let saved = self.on_behalf_of(Purpose::LazyStacking, |core| {
            core.store_float_state(bus, core.private.scb.fpcar)
        });
        saved.map_err(|trap| frame_fault(trap, cfsr::LSPERR, cfsr::MLSPERR))?;
        self.pipeline.spend(FLOAT_FRAME_CYCLES);
        self.private.scb.fpccr &= !FPCCR_LSPACT;
        Ok(())
    }

    /// `ExceptionTaken`: the handler's first instruction comes next.
    fn take_exception(&mut self, entry: Entry) {
        let exception = entry.exception;
        let now = self.pipeline.cycles();
        self.handling.entering = None;
        self.observers.planned.take(exception, now);
        self.nvic.activate(exception);
        self.private
            .debug
            .catch_vector(exception, &self.private.scb);
        if matches!(exception, HARD_FAULT..=USAGE_FAULT) {
            self.handling.fault = Some(FaultEntry {
                exception,
                frame: self.registers.general[13],
            });
        }
        let registers = &mut self.registers;
        registers.set_mode(exception, false);
        registers.general[14] = entry.exc_return;
        registers.control &= !CONTROL_FPCA;
        registers.itstate = 0;
        registers.exclusive = false;
        registers.pc = entry.vector & !1;
        registers.thumb = entry.vector & 1 != 0;
        self.handling.event = true;
        self.pipeline.enter(entry.vector & !1, entry.fetch_cycle);
        self.watching(|watch, now| watch.entered(now, exception));
        self.leave_fast_loop();
    }

    pub(super) fn take_trap(&mut self, trap: Trap) -> Result<(), Stop> {
        match trap {
            Trap::Stop(stop) => Err(*stop),
            Trap::Fault(fault) => self.raise(fault),
            Trap::Halt(cause) => {
                self.private.debug.request(cause);
                self.leave_fast_loop();
                Ok(())
            }
            Trap::Interrupted => Ok(()),
        }
    }

    /// Pends the fault's exception, or HardFault if that one cannot be taken.
    pub(super) fn raise(&mut self, fault: Fault) -> Result<(), Stop> {
        if fault.exception == DEBUG_MONITOR {
            // BKPT and the comparators of the FPB. At the monitor's priority or above they become a
            // HardFault (C1.4, B1.5.4).
            self.private.scb.dfsr |= DFSR_BKPT;
            if !self.nvic.would_preempt(DEBUG_MONITOR) {
                return self.escalate(HFSR_DEBUGEVT, "a breakpoint");
            }
        }
        self.private.scb.record(&fault);
        if self.nvic.would_preempt(fault.exception) {
            self.pend(fault.exception);
            return Ok(());
        }
        let cause = match fault.exception {
            MEM_MANAGE => "a MemManage fault",
            BUS_FAULT => "a BusFault",
            USAGE_FAULT => "a UsageFault",
            _ => "an SVC",
        };
        self.escalate(HFSR_FORCED, cause)
    }

    /// Priority escalation (B1.5.4, C1.4) to a HardFault, whose reason is a bit of HFSR. Where that cannot
    /// be taken, the core locks up.
    pub(super) fn escalate(&mut self, reason: u32, cause: &'static str) -> Result<(), Stop> {
        self.private.scb.hfsr |= reason;
        if !self.nvic.would_preempt(HARD_FAULT) {
            let pc = self.registers.pc;
            return Err(Stop::Lockup { pc, cause });
        }
        self.pend(HARD_FAULT);
        Ok(())
    }

    /// Pends a fault whose instruction is already over. If its exception is enabled it waits for
    /// its turn, otherwise it escalates (B1.5.14).
    pub(super) fn raise_later(&mut self, fault: Fault) -> Exec<()> {
        self.private.scb.record(&fault);
        if self.nvic.is_enabled(fault.exception) {
            self.pend(fault.exception);
            return Ok(());
        }
        self.escalate(HFSR_FORCED, "an imprecise BusFault")
            .map_err(|stop| Trap::Stop(Box::new(stop)))
    }

    /// A fault of stacking or unstacking is taken besides the exception that was under way
    /// (B1.5.15). `bus_error` and `violation` are its bits in CFSR.
    pub(super) fn derived_fault(
        &mut self,
        result: Exec<()>,
        bus_error: u32,
        violation: u32,
    ) -> Result<(), Stop> {
        result.or_else(|trap| self.take_trap(frame_fault(trap, bus_error, violation)))
    }
}

/// The EXC_RETURN value of a context.
fn exc_return(registers: &Registers, extended: bool) -> u32 {
    let mode = match (registers.ipsr, registers.control & CONTROL_SPSEL != 0) {
        (0, true) => 0xD,
        (0, false) => 0x9,
        _ => 0x1,
    };
    0xFFFF_FFE0 | mode | if extended { 0 } else { 0x10 }
}

/// What FPCCR records of the context that owns the reserved space: mode, privilege, and which
/// faults could be taken there.
fn fpccr_context(registers: &Registers, nvic: &Nvic) -> u32 {
    let ready = |exception: u8, bit: u32| (nvic.would_preempt(exception) as u32) << bit;
    (!registers.privileged() as u32) << 1
        | ((registers.ipsr == 0) as u32) << 3
        | ((nvic.execution_priority() > -1) as u32) << 4
        | ready(MEM_MANAGE, 5)
        | ready(BUS_FAULT, 6)
}

#[cold]
/// A fault of an access to a frame has its own bits in CFSR and no address (B3.2.15).
fn frame_fault(trap: Trap, bus_error: u32, violation: u32) -> Trap {
    let Trap::Fault(fault) = trap else {
        return trap;
    };
    let (exception, cfsr) = match fault.exception {
        MEM_MANAGE => (MEM_MANAGE, violation),
        _ => (BUS_FAULT, bus_error),
    };
    Trap::Fault(Fault {
        exception,
        cfsr,
        address: None,
    })
}

//! Runs the core until the machine must act: instructions up to the horizon, and between them
//! exceptions, timers, sleep and halting debug.

use super::Core;
use crate::bus::Bus;
use crate::debug::Debug;
use crate::dwt::Event;
use crate::halt_cause::DFSR_HALTED;
use crate::nvic::{DEBUG_MONITOR, SYSTICK};
use crate::state::Sleep;
use crate::stop::{RunEnd, Stop};
use crate::watch::Watch;

impl Core {
    /// Runs until `deadline_cycle`, the bus's attention, or sleep. The last instruction may end
    /// after the deadline.
    pub fn run<B: Bus>(&mut self, bus: &mut B, deadline_cycle: u64) -> Result<RunEnd, Stop> {
        if self.private.debug.holds() {
            self.step(bus)?;
            return Ok(RunEnd::Held);
        }
        self.fast.busy_wait.forget();
        loop {
            self.set_horizon(deadline_cycle);
            if self.fast.busy_wait.take_due() && !self.supervised() {
                let horizon = self.fast.horizon;
                self.fast
                    .busy_wait
                    .skip(&self.registers, &mut self.pipeline, horizon);
            }
            self.execute_to_horizon(bus)?;
            if self.fast.busy_wait.is_due() {
                continue;
            }
            self.fast.busy_wait.forget();
            if let Some(end) = self.between_instructions(bus, deadline_cycle)? {
                return Ok(end);
            }
        }
    }

    /// As [`Core::run`], but returns after one instruction, or one part of an exception's entry or
    /// return. The result is the same as in one go.
    pub fn run_one<B: Bus>(&mut self, bus: &mut B, deadline_cycle: u64) -> Result<RunEnd, Stop> {
        if self.private.debug.holds() {
            self.step(bus)?;
            return Ok(RunEnd::Held);
        }
        self.set_horizon(deadline_cycle);
        if self.pipeline.cycles() < self.fast.horizon {
            self.next_instruction(bus)?;
        }
        let end = self.between_instructions(bus, deadline_cycle)?;
        Ok(end.unwrap_or(RunEnd::Deadline))
    }

    #[inline(always)]
    fn execute_to_horizon<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        if self.supervised() {
            while self.pipeline.cycles() < self.fast.horizon && !self.returns_here() {
                self.next_instruction(bus)?;
            }
        }
        while self.pipeline.cycles() < self.fast.horizon {
            let result = self.page_of_instructions(bus);
            self.take_any(result)?;
        }
        Ok(())
    }

    /// Whether each instruction must be observed, by DWT's counters or a stepping debug monitor.
    /// Whatever changes this must leave the fast loop.
    pub(super) fn supervised(&self) -> bool {
        self.private.events.profile() || Debug::monitor_steps(&self.private.scb, &self.nvic)
    }

    /// Executes one instruction, and does what its observers need.
    fn next_instruction<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let steps = Debug::monitor_steps(&self.private.scb, &self.nvic);
        if self.private.events.profile() {
            self.profiled_instruction(bus)?;
        } else {
            let result = self.instruction(bus);
            self.take_any(result)?;
        }
        if steps {
            self.private.scb.dfsr |= DFSR_HALTED;
            self.pend(DEBUG_MONITOR);
        }
        Ok(())
    }

    /// Executes one instruction or one exception entry. Does nothing while the core sleeps or is
    /// held.
    pub fn step<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        if self.held() {
            return Ok(());
        }
        self.fast.horizon = 0;
        self.sync_systick(self.pipeline.cycles());
        self.attention = false;
        self.wake_if_due();
        if self.sequence_due() {
            self.finish_while(bus, Core::sequence_due)?;
        } else if !self.asleep() {
            self.next_instruction(bus)?;
            self.begin_return(bus)?;
            self.tells_changes(bus);
            if self.handling.leaving.is_some() {
                self.finish_while(bus, Core::sequence_due)?;
            }
        }
        self.end_step(bus)
    }

    /// Continues exception entries and returns while `more` holds.
    pub(super) fn finish_while<B: Bus>(
        &mut self,
        bus: &mut B,
        more: fn(&Core) -> bool,
    ) -> Result<(), Stop> {
        while more(self) {
            self.advance_sequence(bus, u64::MAX)?;
            self.sync_systick(self.pipeline.cycles());
        }
        Ok(())
    }

    /// Continues an exception's entry or return, up to cycle `until`.
    fn advance_sequence<B: Bus>(&mut self, bus: &mut B, until: u64) -> Result<(), Stop> {
        let began = self.pipeline.cycles();
        let result = if self.handling.leaving.is_some() {
            self.leave_exception(bus, until)
        } else {
            self.enter_exception(bus, until)
        };
        let took = self.pipeline.cycles() - began;
        self.private.events.count(Event::Exception, took);
        result
    }

    #[inline(always)]
    fn set_horizon(&mut self, deadline_cycle: u64) {
        self.wake_if_due();
        let busy = self.sequence_due()
            || self.handling.sleep != Sleep::Awake
            || self.handling.returning.is_some()
            || self.private.debug.halt_requested()
            || self.observers.watch.as_ref().is_some_and(|w| w.has_news());
        self.fast.horizon = if busy {
            0
        } else {
            deadline_cycle.min(self.next_own_event())
        };
    }

    /// What to do when the fast loop stops: a return, a halt, the machine's turn, exceptions,
    /// sleep.
    #[inline(always)]
    fn between_instructions<B: Bus>(
        &mut self,
        bus: &mut B,
        deadline_cycle: u64,
    ) -> Result<Option<RunEnd>, Stop> {
        self.begin_return(bus)?;
        self.sync_systick(self.pipeline.cycles());
        if !self.handling.sequence_begun() && self.halt_if_requested() {
            return Ok(Some(RunEnd::Held));
        }
        if std::mem::take(&mut self.attention) | self.tells_changes(bus) {
            return Ok(Some(RunEnd::Attention));
        }
        if self.pipeline.cycles() >= deadline_cycle {
            return Ok(Some(RunEnd::Deadline));
        }
        if self.sequence_due() {
            self.advance_sequence(bus, deadline_cycle)?;
        } else if self.asleep() {
            return Ok(Some(RunEnd::Asleep));
        }
        Ok(None)
    }

    /// Ends sleep at once: later, what woke the core may be gone.
    fn wake_if_due(&mut self) {
        if self.handling.sleep != Sleep::Awake && !self.asleep() {
            self.handling.event &= self.handling.sleep != Sleep::UntilEvent;
            self.handling.sleep = Sleep::Awake;
            self.watching(Watch::woken);
        }
    }

    /// Whether an exception must be entered or left before the next instruction.
    pub(super) fn sequence_due(&self) -> bool {
        self.handling.sequence_begun() || self.nvic.preempting().is_some()
    }

    /// Ends the fast loop before its next instruction. Call it when exceptions, priorities, timers
    /// or the debugger may have something to do.
    pub(super) fn leave_fast_loop(&mut self) {
        self.fast.horizon = 0;
    }

    pub(super) fn sync_systick(&mut self, now: u64) {
        if self.private.systick.sync(now) {
            self.pend(SYSTICK);
        }
        let planned = &mut self.observers.planned;
        if now >= planned.due() {
            let sleeps = self.handling.sleep != Sleep::Awake;
            let noticed = sleeps || self.private.scb.sev_on_pend();
            let exception = planned.pend(&mut self.nvic, noticed);
            self.pend(exception);
        }
    }

    pub(super) fn pend(&mut self, exception: u8) {
        let newly = self.nvic.pend(exception);
        self.note_pending(newly);
        self.leave_fast_loop();
    }

    /// SEVONPEND (B3.2.7): with it, an exception that becomes pending is an event, enabled or not.
    pub(super) fn note_pending(&mut self, newly: bool) {
        self.handling.event |= newly && self.private.scb.sev_on_pend();
    }
}

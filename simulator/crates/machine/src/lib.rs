//! The virtual Nucleo: the core and the chip around it, moved from event to event.

pub mod debug_port;
pub mod observe;
pub mod snapshot;

use cortex_m::bus::{Bus, Width};
use cortex_m::{Core, DebugFault, RunEnd, Stop, Timing};
use serde::{Deserialize, Serialize};
use stm32::chip::Chip;
use stm32::edges::{Edge, Pin, CHANNELS};
use stm32::manners::{Access, Manners, Oddity};
use stm32::memory::Memory;
use stm32::partners::attachment::Attachment;
use stm32::peripherals::rcc::Hse;
use stm32::peripherals::registers::Unmodelled;
use stm32::peripherals::ResetCause;
use stm32::soc::notes::Note;
use stm32::soc::Soc;
use stm32::timebase::{Seconds, Timebase};

/// When to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Cycle(u64),
    Time(Seconds),
    Endless,
}

impl Limit {
    /// The cycle of the limit, if the clock does not change before.
    pub fn cycle(self, timebase: &Timebase) -> u64 {
        match self {
            Limit::Cycle(cycle) => cycle,
            Limit::Time(time) => timebase.cycle_at(time),
            Limit::Endless => u64::MAX,
        }
    }
}

/// A reset sets the chip's prescalers to their start (RM0368, 6.1.2). Those of this model divide the
/// number of cycles since power-up. Beginning at a multiple of all their divisors comes to the same:
/// what runs after a reset by the pin takes exactly the time that it takes after power-up.
const RESET_CYCLES: u64 = 1 << 16;

#[derive(Clone, Serialize, Deserialize)]
pub struct Machine {
    core: Core,
    soc: Soc,
    /// What BKPT 0xAB does.
    #[serde(skip)]
    semihosting: Semihosting,
    /// What the host remembers of the program's calls.
    #[serde(skip)]
    pub calls: Calls,
}

/// What becomes of the program's calls to its host.
#[derive(Clone, Copy, Default)]
enum Semihosting {
    /// There is no host: a HardFault, as at every BKPT that no debugger takes.
    #[default]
    Nobody,
    /// The run ends, and whoever runs the machine answers.
    Caller,
    /// This answers.
    Answered(Answerer),
}

/// `b .` (ARMv7-M, A7.7.12).
const LOOP: u16 = 0xE7FE;

/// Answers a call, and lets the machine go on behind it. False if the program ended itself.
pub type Answerer = fn(&mut Machine) -> bool;

/// The host's side of the calls.
#[derive(Clone, Copy, Default)]
pub struct Calls {
    pub errno: u32,
    /// Bytes of the features file that were read.
    pub features_read: usize,
}

/// The immediate of the BKPT that calls the host (Arm, "Semihosting for AArch32 and AArch64", 4.1).
pub const SEMIHOSTING: u8 = 0xAB;

impl Machine {
    /// A board with its memories filled, just out of reset.
    pub fn new(memory: Memory, timing: Timing) -> Result<Machine, Stop> {
        let mut machine = Machine {
            core: Core::of(memory.chip().core, timing),
            soc: Soc::new(memory),
            semihosting: Semihosting::Nobody,
            calls: Calls::default(),
        };
        machine.core.reset(&mut machine.soc)?;
        Ok(machine)
    }

    /// What the machine does from now on about what is odd. A new machine is strict.
    pub fn set_manners(&mut self, manners: Manners) {
        self.soc.notes_mut().set_manners(manners);
    }

    pub fn manners(&self) -> Manners {
        self.soc.notes().manners()
    }

    /// What was odd and did not stop the run, in the order of the first cycles.
    pub fn notes(&self) -> Vec<&Note> {
        self.soc.notes().in_order()
    }

    /// From now on BKPT 0xAB ends the run with [`Stop::Breakpoint`], and the machine can go on once
    /// the call is answered. Otherwise it is a HardFault, as every BKPT that no debugger takes.
    pub fn allow_semihosting(&mut self) {
        self.semihosting = Semihosting::Caller;
    }

    /// From now on `answerer` answers BKPT 0xAB. If the program ended itself, the run ends with
    /// [`Stop::Breakpoint`].
    pub fn answer_calls_by(&mut self, answerer: Answerer) {
        self.semihosting = Semihosting::Answered(answerer);
    }

    /// What feeds the chip's OSC_IN.
    pub fn set_hse(&mut self, hse: Hse) {
        self.soc.set_hse(hse);
    }

    /// Hangs a device on the chip, before it runs. An error says what the chip lacks.
    pub fn attach(&mut self, attachment: &Attachment) -> Result<(), String> {
        self.soc.attach(attachment)
    }

    /// The USART (an index into [`usart::MODELS`]) whose bytes count.
    ///
    /// [`usart::MODELS`]: stm32::peripherals::usart::MODELS
    pub fn set_console(&mut self, usart: usize) {
        self.soc.set_console(usart);
    }

    /// Lets the flash wait, prefetch and cache as if FLASH_ACR held `value`, whatever the firmware
    /// sets it to. The register reads what the firmware wrote.
    pub fn force_flash_access_control(&mut self, value: u32) {
        self.soc.force_flash_access_control(value);
        self.core.heed_flash_access_control(&self.soc);
    }

    /// Lets RCC tell of other resets than the one that was.
    pub fn set_reset_flags(&mut self, flags: u32) {
        self.soc.set_reset_flags(flags);
    }

    /// Lets the timers' own clocks stand at the core's cycle. It changes no result.
    pub(crate) fn bring_timers_up_to_date(&mut self) {
        self.soc.advance_timers(self.core.cycles());
    }

    /// Computes the fields that a snapshot leaves out.
    pub(crate) fn rebuild_derived(&mut self) {
        self.core.rebuild_derived();
        self.soc.rebuild_derived();
    }

    pub fn core(&self) -> &Core {
        &self.core
    }

    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    pub fn soc(&self) -> &Soc {
        &self.soc
    }

    pub fn chip(&self) -> &'static Chip {
        self.soc.memory().chip()
    }

    pub fn cycles(&self) -> u64 {
        self.core.cycles()
    }

    pub fn timebase(&self) -> &Timebase {
        self.soc.timebase()
    }

    pub fn reached(&self, limit: Limit) -> bool {
        self.cycles() >= limit.cycle(self.timebase())
    }

    /// Whether the core sleeps, or spins in a branch to itself, and neither a peripheral nor SysTick
    /// will ever let it do anything else.
    pub fn idle_for_ever(&self) -> bool {
        self.nothing_comes() && (self.core.asleep() || self.spins() && !self.core.nvic().wakes())
    }

    fn spins(&self) -> bool {
        let code = self.soc.memory().read(self.core.pc(), Width::Half);
        code == Some(u32::from(LOOP)) && self.core.about_to_execute()
    }

    /// Whether nothing but the program itself will change anything: no event of a peripheral, and no
    /// SysTick.
    pub fn nothing_comes(&self) -> bool {
        self.core.next_internal_event().is_none() && self.soc.next_event() == u64::MAX
    }

    /// The register at an address. `None` if no peripheral is there.
    pub fn register_name(&mut self, address: u32) -> Option<String> {
        self.soc.register_name(address)
    }

    /// Whether the core is in a HardFault whose handler is an endless loop, so that nothing but
    /// peripherals can do anything any more.
    pub fn faulted_for_ever(&mut self) -> bool {
        const HARD_FAULT: u32 = 3;
        self.core.registers().xpsr() & 0x1FF == HARD_FAULT
            && self.soc.fetch(self.core.pc()) == Ok(LOOP)
    }

    /// The levels of the analyzer's eight channels. Bit n is channel n.
    pub fn channels(&self) -> u8 {
        (0..CHANNELS.len()).fold(0, |word, channel| {
            word | u8::from(self.soc.level(CHANNELS[channel])) << channel
        })
    }

    /// Lets [`Machine::run_to_event`] return after each edge of these pins.
    pub fn observe(&mut self, pins: &[Pin]) {
        self.soc.observe(pins);
    }

    /// Edges that have not been taken yet, in the order of their cycles.
    pub fn edges(&self) -> &[Edge] {
        self.soc.edges()
    }

    /// The flash is being programmed or erased, and holds the core up.
    pub fn waits_for_flash(&self) -> bool {
        let code_in_flash = self.soc.memory().in_flash(self.core.pc()).is_some();
        let busy = code_in_flash && self.soc.flash_busy_until() > self.cycles();
        busy || self.soc.stalled_until() > self.cycles()
    }

    /// The word at an address of memory. `None` elsewhere.
    pub fn word(&self, address: u32) -> Option<u32> {
        self.soc.memory().read(address, Width::Word)
    }

    /// A halfword of code. `None` if there is no memory.
    pub fn code(&mut self, address: u32) -> Option<u16> {
        self.soc.fetch(address).ok()
    }

    /// Edges since the last call, in the order of their cycles.
    pub fn take_edges(&mut self) -> Vec<Edge> {
        self.soc.take_edges()
    }

    /// Bytes sent by the console's USART since the last call.
    pub fn take_transmitted(&mut self) -> Vec<u8> {
        self.soc.take_transmitted()
    }

    /// Bytes for the console's USART, which arrive from now on.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.soc.receive(bytes, self.core.cycles());
    }

    /// Bytes that wait for the console's USART: the first arrives as soon as the receiver is on.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.soc.feed(bytes, self.core.cycles());
    }

    /// Bytes for the console's USART that have not arrived yet.
    pub fn bytes_to_receive(&self) -> usize {
        self.soc.bytes_to_receive()
    }

    /// Runs for `slice_cycles`, to the limit, or to a change of the core clock, whichever is first.
    pub fn run_slice(&mut self, limit: Limit, slice_cycles: u64) -> Result<(), Stop> {
        let changes = self.timebase().changes();
        let end = limit
            .cycle(self.timebase())
            .min(self.cycles().saturating_add(slice_cycles));
        while self.cycles() < end && self.timebase().changes() == changes && !self.core.held() {
            self.run_to_event(end)?;
        }
        Ok(())
    }

    /// Runs to the next event, at most to cycle `end`.
    pub fn run_to_event(&mut self, end: u64) -> Result<(), Stop> {
        self.advance(end, Core::run)
    }

    /// Runs one instruction, one part of an exception's entry or return, or idle time up to the
    /// next event.
    pub fn run_one(&mut self, end: u64) -> Result<(), Stop> {
        self.advance(end, Core::run_one)
    }

    /// Runs to the next event, at most to cycle `end`, by this function of the core.
    pub fn advance(
        &mut self,
        end: u64,
        run: impl Fn(&mut Core, &mut Soc, u64) -> Result<RunEnd, Stop>,
    ) -> Result<(), Stop> {
        self.settle();
        let until = self.soc.next_event().min(end);
        if self.soc.flash_busy_until() > self.cycles() {
            self.step_beside_busy_flash(until)?;
            self.settle();
            return Ok(());
        }
        match run(&mut self.core, &mut self.soc, until) {
            Ok(RunEnd::Asleep) => self.skip_idle(until),
            Ok(_) => {}
            Err(stop) => self.handle_stop(stop)?,
        }
        self.settle();
        if let Some((Unmodelled(what, _), address)) = self.soc.take_refused() {
            let pc = self.core.pipeline().previous_pc();
            return Err(Stop::Unmodelled { what, address, pc });
        }
        match self.soc.take_reset_due() {
            Some(cause) => self.reset_because(cause),
            None => Ok(()),
        }
    }

    /// While the flash is programmed or erased, only code in SRAM can run (RM0368 §3.5). The core
    /// executes step by step.
    fn step_beside_busy_flash(&mut self, until: u64) -> Result<(), Stop> {
        let resumes = match self.soc.memory().in_flash(self.core.pc()) {
            Some(_) => self.soc.flash_busy_until(),
            None => self.soc.stalled_until(),
        };
        if self.core.asleep() {
            self.skip_idle(until);
        } else if resumes > self.cycles() {
            self.core.advance_to(resumes.min(until));
        } else {
            let stepped = self.core.step(&mut self.soc);
            stepped.or_else(|stop| self.handle_stop(stop))?;
        }
        Ok(())
    }

    /// Carries out a reset that the program asked for. Holds a core that locks up, if a debugger
    /// can look at it. All other stops end the run.
    fn handle_stop(&mut self, stop: Stop) -> Result<(), Stop> {
        match stop {
            Stop::ResetRequested { .. } => self.reset_because(ResetCause::Software),
            Stop::Lockup { .. } if self.core.debug().enabled() => {
                self.core.lock_up();
                Ok(())
            }
            Stop::Breakpoint { immediate, .. } => match self.semihosting {
                Semihosting::Caller if immediate == SEMIHOSTING => Err(stop),
                Semihosting::Answered(answer) if immediate == SEMIHOSTING => {
                    answer(self).then_some(()).ok_or(stop)
                }
                _ => self.core.fault_at_breakpoint(),
            },
            Stop::Undefined { opcode, pc }
                if self.manners().takes(Oddity::Instruction, Access::Read) =>
            {
                let what = format!("the instruction {opcode:#06x}");
                let notes = self.soc.notes_mut();
                notes.note(
                    Oddity::Instruction,
                    what,
                    pc,
                    Access::Read,
                    self.core.cycles(),
                );
                notes.place(pc);
                self.core.fault_at_undefined()
            }
            stop => Err(stop),
        }
    }

    /// A system reset by the reset pin, which is held until the core has run a multiple of
    /// [`RESET_CYCLES`].
    pub fn reset(&mut self) -> Result<(), Stop> {
        self.held_reset(ResetCause::Pin)
    }

    /// The same, because the supply dipped. What was in SRAM is still there; what a debugger has set
    /// is not.
    pub fn brown_out(&mut self) -> Result<(), Stop> {
        self.core.power_down_debug();
        self.held_reset(ResetCause::BrownOut)
    }

    /// Whether a debugger reaches neither memory nor registers: the core sleeps, and its bus has no
    /// clock then (RM0368 §23.16.1).
    pub fn bus_is_unclocked(&self) -> bool {
        self.core.asleep() && !self.soc.clocked_in_sleep()
    }

    fn held_reset(&mut self, cause: ResetCause) -> Result<(), Stop> {
        let released = self.cycles().next_multiple_of(RESET_CYCLES);
        self.core.advance_to(released);
        self.reset_because(cause)
    }

    /// A debugger that leaves clears DEMCR.TRCENA, which stops DWT's counters.
    pub fn stop_trace(&mut self) -> Result<(), DebugFault> {
        const DEMCR: u32 = 0xE000_EDFC;
        const TRCENA: u32 = 1 << 24;
        let value = self.debug_read(DEMCR, Width::Word)?;
        self.debug_write(DEMCR, Width::Word, value & !TRCENA)
    }

    /// Sets FLASH_OPTCR's RDP to level 1, as at the factory it is level 0.
    pub fn protect_flash(&mut self, protected: bool) {
        self.soc.protect_flash(protected);
    }

    fn reset_because(&mut self, cause: ResetCause) -> Result<(), Stop> {
        self.soc
            .reset(self.core.cycles(), cause)
            .map_err(|Unmodelled(what, _)| Stop::Unmodelled {
                what,
                address: 0,
                pc: self.core.pc(),
            })?;
        self.core.reset(&mut self.soc)
    }

    /// The code at the PC is an endless loop from now on, as if it had been programmed there.
    pub fn loop_for_ever(&mut self) {
        self.soc.overwrite(self.core.pc(), &LOOP.to_le_bytes());
        self.core.go_astray(self.core.pc());
        self.core.invalidate_code();
    }

    /// From now on, what programs or erases the flash has no effect, and nothing says so.
    pub fn ignore_flash_writes(&mut self, ignored: bool) {
        self.soc.ignore_flash_writes(ignored);
    }

    /// A debugger's read. It takes no time. What is odd about it is the debugger's, and an error.
    pub fn debug_read(&mut self, address: u32, width: Width) -> Result<u32, DebugFault> {
        self.end_flash_operation_of_debugger();
        let manners = self.soc.begin_debugger_access();
        let read = self.core.debug_read(&mut self.soc, address, width);
        self.soc.end_debugger_access(manners);
        self.settle();
        read
    }

    /// A debugger's write. It takes no time.
    pub fn debug_write(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
    ) -> Result<(), DebugFault> {
        self.end_flash_operation_of_debugger();
        let manners = self.soc.begin_debugger_access();
        let written = self.core.debug_write(&mut self.soc, address, width, value);
        self.soc.end_debugger_access(manners);
        let written = written.or_else(|fault| match fault {
            DebugFault::Stop(stop) => self.handle_stop(stop).map_err(DebugFault::Stop),
            fault => Err(fault),
        });
        self.settle();
        written
    }

    /// While a debugger holds the core, time stands still, but for the flash: OpenOCD erases by its
    /// registers and waits for BSY (src/flash/nor/stm32f2x.c, stm32x_wait_status_busy).
    fn end_flash_operation_of_debugger(&mut self) {
        if self.core.debug().halted() {
            self.soc.end_flash_operation(self.core.cycles());
        }
    }

    /// Handles the events up to now, and tells the core what they changed.
    #[inline]
    fn settle(&mut self) {
        self.soc.catch_up(self.core.cycles());
        if self.soc.take_attention() {
            self.notify_core();
        }
    }

    fn notify_core(&mut self) {
        self.soc
            .notes_mut()
            .place(self.core.pipeline().previous_pc());
        if self.soc.take_code_changed() {
            self.core.invalidate_code();
        }
        self.core.set_irq_lines(self.soc.interrupt_lines());
        if self.soc.take_event_due() {
            self.core.hear_event();
        }
    }

    /// The core sleeps, so time passes up to the next event.
    fn skip_idle(&mut self, until: u64) {
        let wake = self
            .core
            .next_internal_event()
            .map_or(until, |event| event.min(until));
        if wake > self.core.cycles() {
            self.core.advance_to(wake);
        }
    }
}

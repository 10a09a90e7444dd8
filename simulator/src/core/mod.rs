//! An ARMv7E-M core with FPv4-SP: the Cortex-M4 of the STM32F401, its private peripherals included.
//!
//! `decode` turns opcodes into operations by tables, `code_cache` remembers them, `execute` carries them out, `timing`
//! says what they cost. `exceptions` decides what preempts; `exception_entry` and `exception_return` do it. Section
//! numbers are those of the ARMv7-M Architecture Reference Manual, ARM DDI 0403E, unless another manual is named.

mod code_cache;
mod debug;
mod decode;
mod dwt;
mod exception_entry;
mod exception_return;
mod exceptions;
mod execute;
mod interruption;
mod itm;
mod laps;
mod memory;
mod mpu;
mod private_bus;
mod profile;
mod registers;
mod scb;
mod stop;
mod systick;
mod timing;
mod trap;
mod words;

pub use debug::DebugFault;
pub use decode::{encoding_name, encodings, is_wide, Encoding};
pub use itm::Stimulus;
pub use profile::Profile;
pub use stop::{RunEnd, Stop};
pub use timing::Timing;

use crate::bus::{Bus, Fault as BusFault, Width};
use code_cache::{CodeCache, Page};
use debug::Debug;
use decode::{Form, Kind, Op};
use dwt::{CycleCounter, Event, EventCounters};
use exception_entry::Entry;
use exception_return::Return;
use exceptions::{Exceptions, FIRST_IRQ, SYSTICK};
use itm::Itm;
use laps::Laps;
use memory::Purpose;
use mpu::Mpu;
use registers::{Flags, FloatRegisters};
use scb::Scb;
use serde::{Deserialize, Serialize};
use systick::SysTick;
use timing::{Fetch, Pairs};
use trap::{cfsr, Exec, Trap};

/// The processor. Cycles count from reset; a loaded or stored word is on the bus one cycle after its instruction issues.
#[derive(Clone, Serialize, Deserialize)]
pub struct Core {
    timing: Timing,
    /// R0–R12, the current SP, LR, and the PC as an instruction of the general form reads it.
    registers: [u32; 16],
    /// The SP that is not in use: PSP while MSP is, and the other way round.
    other_sp: u32,
    pc: u32,
    next_pc: u32,
    flags: Flags,
    /// ITSTATE, or with its low half 0 EPSR.ICI: the register from which a multiple goes on.
    itstate: u8,
    thumb: bool,
    ipsr: u8,
    control: u8,
    float: FloatRegisters,
    exceptions: Exceptions,
    scb: Scb,
    mpu: Mpu,
    systick: SysTick,
    cycle_counter: CycleCounter,
    events: EventCounters,
    itm: Itm,
    debug: Debug,
    /// Loads from below, and stores to the first bytes of the SRAM region, take the fast way; none do while data is
    /// watched.
    ordinary_loads_end: u32,
    ordinary_store_bytes: u32,
    /// Nothing looks at loads and stores: no watched data, no MPU.
    unguarded: bool,
    /// A cache of `bus`: what it holds changes no result.
    #[serde(skip)]
    code: CodeCache,
    /// Skips what changes nothing: it changes no result.
    #[serde(skip)]
    laps: Laps,
    cycles: u64,
    instructions: u64,
    /// The fast loop runs while `cycles` is below; 0 when something else is to be done first. Each run sets it anew.
    #[serde(skip)]
    horizon: u64,
    attention: bool,
    sleep: Sleep,
    /// WFE's event register.
    event: bool,
    exclusive: bool,
    /// On whose behalf memory is accessed just now.
    purpose: Purpose,
    entering: Option<Entry>,
    leaving: Option<Return>,
    /// An EXC_RETURN value has been branched to.
    returning: Option<u32>,
    fetch: Fetch,
    pairs: Pairs,
    /// Registers that the previous instruction has not yet in the register bank.
    late: u16,
    /// Address of the instruction executed last.
    previous_pc: u32,
    /// The data side takes its next address in this cycle: the write buffer holds one store.
    data_free: u64,
    watches: Vec<Watch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Sleep {
    Awake,
    UntilInterrupt,
    UntilEvent,
}

/// Why the core stopped executing from a page of the code cache without a trap.
enum Left {
    /// Execution goes on elsewhere, or something else is to be done first.
    Page,
    /// The next instruction has not been decoded yet, or its executions are counted.
    Single,
}

#[derive(Clone, Serialize, Deserialize)]
struct Watch {
    address: u32,
    executions: u64,
}

impl Core {
    pub fn new(timing: Timing) -> Core {
        Core {
            timing,
            registers: [0; 16],
            other_sp: 0,
            pc: 0,
            next_pc: 0,
            flags: Flags::default(),
            itstate: 0,
            thumb: true,
            ipsr: 0,
            control: 0,
            float: FloatRegisters::new(),
            exceptions: Exceptions::new(),
            scb: Scb::new(),
            mpu: Mpu::default(),
            systick: SysTick::new(),
            cycle_counter: CycleCounter::new(),
            events: EventCounters::default(),
            itm: Itm::default(),
            debug: Debug::default(),
            ordinary_loads_end: memory::NORMAL_MEMORY_END,
            ordinary_store_bytes: memory::SRAM_REGION_BYTES,
            unguarded: true,
            code: CodeCache::new(),
            laps: Laps::default(),
            cycles: 0,
            instructions: 0,
            horizon: 0,
            attention: false,
            sleep: Sleep::Awake,
            event: false,
            exclusive: false,
            purpose: Purpose::Instruction,
            entering: None,
            leaving: None,
            returning: None,
            fetch: Fetch::new(),
            pairs: Pairs::new(),
            late: 0,
            previous_pc: 0,
            data_free: 0,
            watches: Vec::new(),
        }
    }

    /// Resets the core (B1.5.5): SP and PC from the vector table at address 0. Cycle and instruction counts go on, and
    /// execution counters stay; so do the debug units, which only power-up clears (table C1-6).
    pub fn reset<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let watches = std::mem::take(&mut self.watches);
        let (cycles, instructions) = (self.cycles, self.instructions);
        let debug = std::mem::take(&mut self.debug);
        let (demcr, dfsr) = (self.scb.demcr, self.scb.dfsr);
        let cycle_counter = self.cycle_counter.clone();
        let (events, itm) = (self.events.clone(), std::mem::take(&mut self.itm));
        let laps = std::mem::take(&mut self.laps);
        *self = Core {
            watches,
            cycles,
            instructions,
            cycle_counter,
            events,
            itm,
            laps,
            ..Core::new(self.timing)
        };
        self.scb.demcr = demcr & !debug::MONITOR_CONTROLS;
        self.scb.dfsr = dfsr;
        self.laps.forget();
        let stack = self.reset_vector(bus, 0)?;
        let entry = self.reset_vector(bus, 4)?;
        self.registers[13] = stack & !3;
        self.registers[14] = 0xFFFF_FFFF;
        self.pc = entry & !1;
        self.thumb = entry & 1 != 0;
        self.fetch.configure(bus.flash_access_control());
        self.carry_debug_over(debug);
        Ok(())
    }

    /// Works out what a snapshot leaves out.
    pub(crate) fn restored(&mut self) {
        self.exceptions.restored();
    }

    fn reset_vector<B: Bus>(&self, bus: &mut B, address: u32) -> Result<u32, Stop> {
        match bus.read(address, Width::Word, self.cycles) {
            Ok(loaded) => Ok(loaded.value),
            Err(BusFault::Bus { .. }) => Err(Stop::Lockup {
                pc: address,
                cause: "the reset vector cannot be read",
            }),
            Err(BusFault::Unmodelled { what, address }) => Err(Stop::Unmodelled {
                what,
                address,
                pc: address,
            }),
        }
    }

    /// Executes until `deadline_cycle` (the last instruction may end beyond it), the bus's attention, or sleep.
    pub fn run<B: Bus>(&mut self, bus: &mut B, deadline_cycle: u64) -> Result<RunEnd, Stop> {
        if self.debug.holds() {
            return self.run_held(bus);
        }
        self.laps.forget();
        loop {
            self.set_horizon(deadline_cycle);
            if self.laps.take_due() && !self.supervised() {
                self.skip_laps();
            }
            self.execute_to_horizon(bus)?;
            if self.laps.is_due() {
                continue;
            }
            self.laps.forget();
            if let Some(end) = self.between_instructions(bus, deadline_cycle)? {
                return Ok(end);
            }
        }
    }

    /// As [`Core::run`], but after one instruction, or one part of an exception's entry or return, it hands control back. The core
    /// does the same as in one go.
    pub fn run_one<B: Bus>(&mut self, bus: &mut B, deadline_cycle: u64) -> Result<RunEnd, Stop> {
        if self.debug.holds() {
            return self.run_held(bus);
        }
        self.set_horizon(deadline_cycle);
        if self.cycles < self.horizon {
            self.next_instruction(bus)?;
        }
        let end = self.between_instructions(bus, deadline_cycle)?;
        Ok(end.unwrap_or(RunEnd::Deadline))
    }

    #[inline(always)]
    fn execute_to_horizon<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        if self.supervised() {
            while self.cycles < self.horizon {
                self.next_instruction(bus)?;
            }
        }
        while self.cycles < self.horizon {
            self.page_or_fault(bus)?;
        }
        Ok(())
    }

    /// Somebody looks at every instruction: DWT's counters or a stepping debug monitor. Whatever changes it has the fast loop look up.
    fn supervised(&self) -> bool {
        self.events.profile() || self.steps_into_monitor()
    }

    /// One instruction, and what is owed to those who look at every one.
    fn next_instruction<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let steps = self.steps_into_monitor();
        if self.events.profile() {
            self.profiled_instruction(bus)?;
        } else {
            self.instruction_or_fault(bus)?;
        }
        if steps {
            self.end_monitor_step();
        }
        Ok(())
    }

    /// One instruction or one exception entry; nothing while asleep or held.
    pub fn step<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        if !self.held() {
            self.step_unheld(bus)?;
            self.end_step(bus)?;
        }
        Ok(())
    }

    fn step_unheld<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        self.horizon = 0;
        self.sync_systick(self.cycles);
        self.attention = false;
        self.wake_if_due();
        if self.in_sequence() {
            return self.finish_sequence(bus);
        }
        if !self.asleep() {
            self.next_instruction(bus)?;
            self.begin_return(bus)?;
            if self.leaving.is_some() {
                self.finish_sequence(bus)?;
            }
        }
        Ok(())
    }

    /// Carries entries and returns on until an instruction can execute.
    fn finish_sequence<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        while self.in_sequence() {
            self.sequence(bus, u64::MAX)?;
            self.sync_systick(self.cycles);
        }
        Ok(())
    }

    /// One part of an exception's entry or return, up to `until`.
    fn sequence<B: Bus>(&mut self, bus: &mut B, until: u64) -> Result<(), Stop> {
        let began = self.cycles;
        let result = if self.leaving.is_some() {
            self.leave_exception(bus, until)
        } else {
            self.enter_exception(bus, until)
        };
        self.events.count(Event::Exception, self.cycles - began);
        result
    }

    #[inline(always)]
    fn set_horizon(&mut self, deadline_cycle: u64) {
        self.wake_if_due();
        let busy = self.in_sequence()
            || self.sleep != Sleep::Awake
            || self.returning.is_some()
            || self.debug.wants_halt();
        self.horizon = if busy {
            0
        } else {
            deadline_cycle.min(self.systick.next_expiry().unwrap_or(u64::MAX))
        };
    }

    /// What is due when the fast loop stops: a return, the machine's turn, timers, exceptions, sleep.
    #[inline(always)]
    fn between_instructions<B: Bus>(
        &mut self,
        bus: &mut B,
        deadline_cycle: u64,
    ) -> Result<Option<RunEnd>, Stop> {
        self.begin_return(bus)?;
        self.sync_systick(self.cycles);
        if !self.inside_sequence() && self.obey_halt() {
            return Ok(Some(RunEnd::Held));
        }
        if std::mem::take(&mut self.attention) {
            return Ok(Some(RunEnd::Attention));
        }
        if self.cycles >= deadline_cycle {
            return Ok(Some(RunEnd::Deadline));
        }
        if self.in_sequence() {
            self.sequence(bus, deadline_cycle)?;
        } else if self.asleep() {
            return Ok(Some(RunEnd::Asleep));
        }
        Ok(None)
    }

    /// Ends sleep for good: what woke the core may be gone before it is looked at again.
    fn wake_if_due(&mut self) {
        if self.sleep != Sleep::Awake && !self.asleep() {
            self.event &= self.sleep != Sleep::UntilEvent;
            self.sleep = Sleep::Awake;
        }
    }

    /// An entry or a return is under way.
    fn inside_sequence(&self) -> bool {
        self.entering.is_some() || self.leaving.is_some()
    }

    /// An exception is to be entered or left before the next instruction.
    fn in_sequence(&self) -> bool {
        self.inside_sequence() || self.exceptions.preempting().is_some()
    }

    /// Has the fast loop look up: exceptions, priorities or timers may have changed.
    fn reconsider(&mut self) {
        self.horizon = 0;
    }

    fn sync_systick(&mut self, now: u64) {
        if self.systick.sync(now) {
            self.pend(SYSTICK);
        }
    }

    fn pend(&mut self, exception: u8) {
        let was_pending = self.exceptions.is_pending(exception);
        self.exceptions.pend(exception);
        self.note_pending(!was_pending);
        self.reconsider();
    }

    /// SEVONPEND (B3.2.7): what newly pends is an event, disabled or not.
    fn note_pending(&mut self, newly: bool) {
        self.event |= newly && self.scb.sev_on_pend();
    }

    #[inline(always)]
    fn instruction_or_fault<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        match self.instruction(bus) {
            Ok(()) => Ok(()),
            Err(trap) => {
                self.laps.forget();
                self.take_trap(trap)
            }
        }
    }

    fn page_or_fault<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        match self.page_of_instructions(bus) {
            Ok(()) => Ok(()),
            Err(trap) => {
                self.laps.forget();
                self.take_trap(trap)
            }
        }
    }

    /// Instructions of one page of the code cache, up to the horizon.
    fn page_of_instructions<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        let page = self.thumb.then(|| self.code.lend(self.pc)).flatten();
        let Some(page) = page else {
            return self.instruction(bus);
        };
        let result = match self.timing {
            Timing::Nucleo => self.instructions_of::<B, true>(bus, &page),
            Timing::Ideal => self.instructions_of::<B, false>(bus, &page),
        };
        self.code.give_back(page);
        match result {
            Ok(Left::Page) => Ok(()),
            Ok(Left::Single) => self.instruction(bus),
            Err(trap) => Err(trap),
        }
    }

    /// Each timing has a loop of its own, in which it need not be asked for.
    #[inline(never)]
    fn instructions_of<B: Bus, const NUCLEO: bool>(
        &mut self,
        bus: &mut B,
        page: &Page,
    ) -> Exec<Left> {
        let mut pc = self.pc;
        while self.cycles < self.horizon && page.holds(pc) {
            let op = page.get(pc);
            if op.watch != 0 {
                return Ok(Left::Single);
            }
            pc = self.carry_out::<B, NUCLEO>(bus, op, pc)?;
        }
        Ok(Left::Page)
    }

    fn instruction<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        let mut op = self.code.get(self.pc);
        if op.undecoded() || !self.thumb {
            op = self.fetch(bus)?;
        }
        match self.timing {
            Timing::Nucleo => self.carry_out::<B, true>(bus, &op, self.pc)?,
            Timing::Ideal => self.carry_out::<B, false>(bus, &op, self.pc)?,
        };
        if op.watch != 0 {
            self.watches[op.watch as usize - 1].executions += 1;
            self.laps.disturb();
        }
        Ok(())
    }

    /// The instruction at the PC, `pc`, decoded. Returns where the program goes on.
    #[inline(always)]
    fn carry_out<B: Bus, const NUCLEO: bool>(
        &mut self,
        bus: &mut B,
        op: &Op,
        pc: u32,
    ) -> Exec<u32> {
        let next_pc = pc.wrapping_add(op.size.into());
        self.next_pc = next_pc;
        if NUCLEO {
            self.issue(op, pc, next_pc);
        }
        self.instructions += 1;
        let mut next = next_pc;
        let cycles = if self.itstate == 0 {
            self.execute_form(bus, op, &mut next).map(|()| op.cycles)
        } else {
            let cycles = self.execute_in_it(bus, op);
            next = self.next_pc;
            cycles
        };
        match cycles {
            Ok(cycles) => self.cycles += u64::from(cycles),
            Err(trap) => {
                self.instructions -= 1;
                return Err(trap);
            }
        }
        self.previous_pc = pc;
        self.pc = next;
        Ok(next)
    }

    /// Lets the present instruction execute no earlier than it can be fetched and its address generated.
    #[inline(always)]
    fn issue(&mut self, op: &Op, pc: u32, next_pc: u32) {
        let free = self.cycles + u64::from(op.address_registers & self.late != 0);
        self.late = op.late_registers;
        self.cycles = self.fetch.issue(pc, next_pc, op, free);
    }

    /// An instruction that EPSR.ICI continues, or one of an IT block, skipped unless its condition holds (A7.3.2). Returns its cycles: skipping takes one.
    fn execute_in_it<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<u8> {
        if self.itstate & 0xF == 0 {
            return self.continue_interrupted(bus, op);
        }
        let last = self.itstate & 7 == 0;
        if decode::misplaced_in_it(op, last) {
            return Err(self.unpredictable_here(bus, op.size, "in this place of an IT block"));
        }
        let unconditional = op.kind == Kind::System(decode::System::Breakpoint);
        let executed = unconditional || self.flags.satisfy(self.itstate >> 4);
        if executed {
            self.execute(bus, op)?;
        }
        self.itstate = if last {
            0
        } else {
            self.itstate & 0xE0 | self.itstate << 1 & 0x1F
        };
        Ok(if executed { op.cycles } else { 1 })
    }

    /// Fetches, decodes and remembers the instruction at the PC.
    #[cold]
    #[inline(never)]
    fn fetch<B: Bus>(&mut self, bus: &mut B) -> Exec<Op> {
        if !self.thumb {
            return Err(Trap::usage(cfsr::INVSTATE));
        }
        if self.debug.breaks_at(self.pc) {
            return Err(self.breakpoint(0));
        }
        let first = self.fetch_halfword(bus, self.pc)?;
        let wide = decode::is_wide(first);
        let opcode = if wide {
            u32::from(first) << 16 | u32::from(self.fetch_halfword(bus, self.pc.wrapping_add(2))?)
        } else {
            first.into()
        };
        let Some(mut op) = decode::decode(opcode, wide, self.pc) else {
            return Err(Trap::Stop(Box::new(Stop::Undefined {
                opcode,
                pc: self.pc,
            })));
        };
        if let Some(group) = decode::unpredictable(opcode, wide) {
            return Err(self.unpredictable(opcode, group));
        }
        op.form = Form::of(&op);
        op.cycles = timing::base_cycles(&op);
        op.address_registers = timing::address_registers(&op);
        op.late_registers = timing::late_registers(&op);
        (op.arrives, op.leaves) = Fetch::slots(self.pc, op.size);
        op.watch = self
            .watches
            .iter()
            .position(|w| w.address == self.pc)
            .map_or(0, |n| n as u8 + 1);
        // What the MPU allows depends on privilege and priority: then nothing is remembered.
        if !self.mpu.enabled() {
            self.code.insert(self.pc, op);
        }
        Ok(op)
    }

    /// The instruction at the PC is UNPREDICTABLE there.
    #[cold]
    fn unpredictable_here<B: Bus>(&self, bus: &mut B, size: u8, group: &'static str) -> Trap {
        let halfword = |address| bus.fetch(address).map_or(0, u32::from);
        let opcode = (0..u32::from(size))
            .step_by(2)
            .map(|offset| self.pc.wrapping_add(offset))
            .map(halfword)
            .fold(0, |opcode, half| opcode << 16 | half);
        self.unpredictable(opcode, group)
    }

    #[cold]
    fn unpredictable(&self, opcode: u32, group: &'static str) -> Trap {
        Trap::Stop(Box::new(Stop::Unpredictable {
            opcode,
            pc: self.pc,
            group,
        }))
    }

    fn fetch_halfword<B: Bus>(&mut self, bus: &mut B, address: u32) -> Exec<u16> {
        if execute_never(address) || self.mpu.enabled() && !self.may_execute(address) {
            return Err(Trap::Fault(trap::Fault {
                exception: trap::MEM_MANAGE,
                cfsr: cfsr::IACCVIOL,
                address: None,
            }));
        }
        bus.fetch(address).map_err(|fault| match fault {
            BusFault::Bus { .. } => Trap::bus(cfsr::IBUSERR, None),
            BusFault::Unmodelled { what, address } => Trap::unmodelled(what, address, self.pc),
        })
    }

    /// Core cycles since power-up.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Instructions executed, those skipped in IT blocks included.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Sets interrupt input `irq` (0 = exception 16), which is level-sensitive: it pends when it rises, and again when its
    /// handler returns while it is still high. Panics if the core has no such line.
    pub fn set_irq_line(&mut self, irq: u16, level: bool) {
        let exception = FIRST_IRQ + irq as u8;
        let was_pending = self.exceptions.is_pending(exception);
        self.exceptions.set_line(irq, level);
        self.note_pending(!was_pending && self.exceptions.is_pending(exception));
        self.reconsider();
    }

    /// An event from the chip, which ends WFE or the next one (B1.5.18).
    pub fn hear_event(&mut self) {
        self.event = true;
        self.reconsider();
    }

    /// Sets all interrupt inputs, bit n being line n.
    #[inline]
    pub fn set_irq_lines(&mut self, lines: u128) {
        let changed = lines ^ self.exceptions.irq_lines();
        if changed != 0 {
            self.change_irq_lines(changed, lines);
        }
    }

    fn change_irq_lines(&mut self, mut changed: u128, lines: u128) {
        while changed != 0 {
            let irq = changed.trailing_zeros();
            changed &= changed - 1;
            self.set_irq_line(irq as u16, lines >> irq & 1 != 0);
        }
    }

    /// True while WFI, WFE or sleep-on-exit holds and nothing ends it.
    pub fn asleep(&self) -> bool {
        match self.sleep {
            Sleep::Awake => false,
            Sleep::UntilInterrupt => !self.exceptions.wakes(),
            Sleep::UntilEvent => !self.event && !self.exceptions.wakes(),
        }
    }

    /// Lets time pass while the core sleeps or waits for its flash; SysTick and CYCCNT follow. A cycle in the past changes
    /// nothing.
    pub fn advance_to(&mut self, cycle: u64) {
        let event = if self.asleep() {
            Event::Sleep
        } else {
            Event::Cpi
        };
        self.events.count(event, cycle.saturating_sub(self.cycles));
        self.cycles = self.cycles.max(cycle);
        self.sync_systick(self.cycles);
    }

    /// Keeps what software writes to the ITM's stimulus ports from now on.
    pub fn listen_to_stimuli(&mut self) {
        self.itm.listen();
    }

    /// Writes to enabled stimulus ports since the last call.
    pub fn take_stimuli(&mut self) -> Vec<Stimulus> {
        self.itm.take()
    }

    /// The cycle of the next SysTick expiry that pends its exception.
    pub fn next_internal_event(&self) -> Option<u64> {
        self.systick.next_expiry()
    }

    /// The next thing to happen is the instruction at the PC: no exception comes first and the core is awake.
    pub fn about_to_execute(&self) -> bool {
        !self.in_sequence() && !self.asleep() && self.returning.is_none()
    }

    /// Forgets decoded instructions: call it when code changed without a store by this core.
    pub fn invalidate_code(&mut self) {
        self.code.clear();
        self.reconsider();
    }

    /// Forgets decoded instructions where something has been written.
    #[cold]
    fn forget_code(&mut self, address: u32, bytes: u32) {
        self.code.written(address, bytes);
        self.reconsider();
    }

    /// Starts counting executions of the instruction at `address`; returns the index for [`Core::executions`]. Instructions
    /// that an IT block skips count. Panics beyond 254 addresses.
    pub fn watch_execution(&mut self, address: u32) -> usize {
        assert!(
            self.watches.len() < usize::from(Op::NOTHING) - 1,
            "at most 254 addresses can be counted"
        );
        self.watches.push(Watch {
            address: address & !1,
            executions: 0,
        });
        self.invalidate_code();
        self.watches.len() - 1
    }

    /// Stops counting executions, and forgets the counts.
    pub fn clear_watches(&mut self) {
        self.watches.clear();
        self.invalidate_code();
    }

    pub fn executions(&self, index: usize) -> u64 {
        self.watches[index].executions
    }
}

/// Peripheral, device and system regions (B3.1, table B3-1).
fn execute_never(address: u32) -> bool {
    matches!(address >> 29, 2 | 5..=7)
}

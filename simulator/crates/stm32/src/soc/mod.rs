//! The chip around the core: memories and peripherals on one bus, brought up to date by
//! events.
//!
//! An event is a change that no access makes, as a timer's match or the end of a UART frame. It
//! happens at an exact core cycle. Every access first handles the events before it. So edges come
//! in the order of their cycles, even if a long instruction stores after a timer's match.

mod access;
mod address_map;
mod clocks;
mod dma;
mod fast_registers;
mod flash;
pub mod notes;
mod others;
mod partners;
mod pins;
mod saved_registers;
mod schedule;
mod second_sram;
mod silicon;
mod system_memory;

use crate::chip::Chip;
use crate::edges::{Edge, Pin, PORTS};
use crate::lines::{facts, record::LineFacts};
use crate::manners::{Manners, Oddity};
use crate::memory::Memory;
use crate::partners::{pins::BusPin, wires::Wires};
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dac::Dac;
use crate::peripherals::dbgmcu::Dbgmcu;
use crate::peripherals::dma::Dma;
use crate::peripherals::exti::Exti;
use crate::peripherals::flash::Flash;
use crate::peripherals::gpio::{Gpio, Levels};
use crate::peripherals::pwr::Pwr;
use crate::peripherals::rcc::{Clocks, Hse, Rcc};
use crate::peripherals::registers::{Register, Unmodelled};
use crate::peripherals::syscfg::Syscfg;
use crate::peripherals::timer::{Outputs, Timer, TIMERS};
use crate::peripherals::usart::{self, Usart};
use crate::peripherals::{Peripheral, ResetCause};
use crate::timebase::Timebase;
use address_map::{AddressMap, Block, ResponderCache};
use others::Others;
use schedule::{Schedule, FIRST_OTHER, FIRST_USART, FLASH, PARTNERS};
use second_sram::SecondSram;
use serde::{Deserialize, Serialize};

const USARTS: usize = usart::MODELS.len();

/// What keeps power while the chip is reset, and the logic, which a reset makes anew.
#[derive(Clone, Serialize, Deserialize)]
pub struct Soc {
    memory: Memory,
    #[serde(skip)]
    map: AddressMap,
    /// On the heap, since it is large and a snapshot is read in many steps.
    logic: Box<Logic>,
    /// The USART whose bytes are kept, and that gets bytes from outside.
    console: usize,
    partners: Partners,
    timebase: Timebase,
    /// What was odd and did not stop the run.
    notes: notes::Notes,
    /// The levels of the pins, whose changes are edges.
    levels: [Levels; PORTS.len()],
    edges: Vec<Edge>,
    transmitted: Vec<u8>,
    /// Pins of each port whose edges need attention: those of an observer, and chip selects. The chip
    /// has no such state.
    #[serde(skip)]
    observed: [u32; PORTS.len()],
}

/// Everything that is attached. What hangs on a bus is with the peripheral.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Partners {
    buses: Vec<Attached>,
    /// Pins that a script drives.
    scripts: Vec<(Pin, Wires)>,
    selects: Vec<Select>,
    /// The pins of `selects`, a bit each.
    selecting: [u32; PORTS.len()],
}

#[derive(Clone, Serialize, Deserialize)]
struct Attached {
    /// The place of the peripheral in the schedule.
    source: usize,
    pins: Vec<BusPin>,
}

/// A chip select: low, it selects the nth device of a bus.
#[derive(Clone, Serialize, Deserialize)]
struct Select {
    pin: Pin,
    source: usize,
    device: usize,
}

impl Partners {
    /// The places in the schedule of the peripherals that partners hang on.
    fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        self.buses.iter().map(|attached| attached.source)
    }
}

/// Limits of the core clock that one write exceeded, a bit each, the words of its note, and when.
#[derive(Clone, Serialize, Deserialize)]
struct Excess {
    limits: u8,
    what: String,
    since: u64,
}

const PINS_OF_A_PORT: usize = 16;

/// When each pin of the lowest speed had its last edge.
#[derive(Clone, Default, Serialize, Deserialize)]
struct SlowPins([[u64; PINS_OF_A_PORT]; PORTS.len()]);

#[derive(Clone, Serialize, Deserialize)]
struct Logic {
    /// The peripherals that have answered since their clocks last changed.
    #[serde(skip)]
    responders: ResponderCache,
    rcc: Rcc,
    pwr: Pwr,
    flash: Flash,
    flash_irq: u16,
    ports: [Gpio; PORTS.len()],
    timers: [Timer; TIMERS],
    usarts: [Usart; USARTS],
    dac: Dac,
    dma: [Dma; 2],
    exti: Exti,
    syscfg: Syscfg,
    dbgmcu: Dbgmcu,
    others: Others,
    second_sram: SecondSram,
    clocks: Clocks,
    schedule: Schedule,
    /// The limits of `check_core_clock` that are exceeded, a bit each.
    exceeded: u8,
    /// Those of them that a note tells of.
    excesses: Vec<Excess>,
    /// A reset that the machine must carry out.
    reset_due: Option<ResetCause>,
    /// Items are being moved. Their accesses must not start another round.
    serving_dma: bool,
    /// An access holds the core up until this cycle.
    stalled_until: u64,
    /// Up to this cycle a clock that was turned on may not have reached its peripheral.
    settles_until: u64,
    slow_pins: SlowPins,
    /// What the manners do not take, where no access can say so. The machine takes it at once.
    #[serde(skip)]
    refused: Option<(Unmodelled, u32)>,
    /// Flash was programmed or erased since the machine last asked.
    code_changed: bool,
    /// Bit n is interrupt line n.
    interrupt_lines: u128,
    attention: bool,
    /// An event that the core does not know yet.
    event_due: bool,
    outputs: [Outputs; TIMERS],
    /// Bit n: a pin is switched to route n of [`Routes::timers`]. Follows from the ports' registers,
    /// see `functions_switched`.
    connected: u64,
}

/// Gives the debug port the pins that AFIO leaves it.
fn claim(ports: &mut [Gpio; PORTS.len()], syscfg: &Syscfg) {
    let claimed = syscfg.claimed();
    for (port, (pins, high)) in claimed.pins.into_iter().zip(claimed.high).enumerate() {
        ports[port].claim(pins, high);
    }
}

impl Logic {
    /// That of a chip as after power-up.
    fn of(chip: &'static Chip, map: &AddressMap) -> Logic {
        let facts = facts(chip.family);
        let line = facts.line;
        let rcc = Rcc::of(facts.rcc, chip.lowest_vco_hz);
        let clocks = rcc.clocks();
        let syscfg = Syscfg::of(&line.syscfg);
        let mut ports = std::array::from_fn(|port| Gpio::new(&line.gpio, port));
        if line.syscfg.assigns_pins {
            claim(&mut ports, &syscfg);
        }
        let others = Others::of(chip, clocks.core);
        let irq = |block, n| map.place_of(block).map_or(0, |place| place.interrupt(n));
        let timers = std::array::from_fn(|timer| {
            let irqs = [0, 1].map(|n| irq(Block::Timer(timer), n));
            Timer::new(&line.timers[timer], irqs)
        });
        Logic {
            responders: ResponderCache::of(map),
            pwr: Pwr::of(facts.pwr, &chip.scales),
            flash: Flash::of(chip, line.flash, clocks.core),
            flash_irq: irq(Block::Flash, 0),
            ports,
            outputs: std::array::from_fn(|timer| Timer::outputs(&timers[timer])),
            timers,
            usarts: std::array::from_fn(|n| {
                Usart::new(&line.usart, usart::MODELS[n], irq(Block::Usart(n), 0))
            }),
            dac: Dac::default(),
            dma: [0, 1].map(|controller| {
                let irqs = std::array::from_fn(|n| irq(Block::Dma(controller), n));
                Dma::new(["DMA1", "DMA2"][controller], irqs)
            }),
            exti: Exti::of(line.exti),
            syscfg,
            dbgmcu: Dbgmcu::of(&line.dbgmcu, chip.idcode),
            schedule: Schedule::new(others.len()),
            others,
            second_sram: SecondSram::default(),
            rcc,
            clocks,
            exceeded: 0,
            excesses: Vec::new(),
            reset_due: None,
            serving_dma: false,
            stalled_until: 0,
            settles_until: 0,
            slow_pins: SlowPins::default(),
            refused: None,
            code_changed: false,
            interrupt_lines: 0,
            attention: false,
            event_due: false,
            connected: 0,
        }
    }

    /// The wires of a peripheral by its place in the schedule, if partners can hang on them.
    fn wires(&self, source: usize) -> Option<&Wires> {
        match source {
            FIRST_USART..FLASH => self.usarts[source - FIRST_USART].wires(),
            FIRST_OTHER.. if source - FIRST_OTHER < self.others.len() => {
                self.others.get(source - FIRST_OTHER).wires()
            }
            _ => None,
        }
    }

    fn wires_mut(&mut self, source: usize) -> Option<&mut Wires> {
        match source {
            FIRST_USART..FLASH => self.usarts[source - FIRST_USART].wires_mut(),
            FIRST_OTHER.. if source - FIRST_OTHER < self.others.len() => {
                self.others.get_mut(source - FIRST_OTHER).wires_mut()
            }
            _ => None,
        }
    }
}

impl Soc {
    pub fn new(memory: Memory) -> Soc {
        let map = AddressMap::of(memory.chip());
        let logic = Box::new(Logic::of(memory.chip(), &map));
        Soc {
            memory,
            map,
            console: usart::USART2,
            partners: Partners::default(),
            timebase: Timebase::new(logic.clocks.core),
            notes: notes::Notes::default(),
            levels: std::array::from_fn(|port| Gpio::levels(&logic.ports[port])),
            edges: Vec::new(),
            transmitted: Vec::new(),
            observed: [0; PORTS.len()],
            logic,
        }
    }

    /// Computes the fields that a snapshot leaves out: those that follow from the chip.
    pub fn rebuild_derived(&mut self) {
        let chip = self.memory.chip();
        self.observed = self.partners.selecting;
        self.map = AddressMap::of(chip);
        let logic = Logic::of(chip, &self.map);
        self.logic.schedule.rearm();
        self.logic.responders = logic.responders;
        self.logic.exti.facts = logic.exti.facts;
        self.logic.rcc.layout = logic.rcc.layout;
        self.logic.pwr.facts = logic.pwr.facts;
        self.logic.pwr.scales = logic.pwr.scales;
        self.logic.flash.chip = chip;
        self.logic.flash.facts = logic.flash.facts;
    }

    /// What tells the chip's line from others.
    fn line(&self) -> &'static LineFacts {
        facts(self.memory.chip().family).line
    }

    fn routes(&self) -> &'static Routes {
        &facts(self.memory.chip().family).routes
    }

    /// What feeds OSC_IN.
    pub fn set_hse(&mut self, hse: Hse) {
        self.logic.rcc.set_hse(hse);
    }

    /// The USART (an index into [`usart::MODELS`]) whose bytes are kept, and that gets bytes from
    /// outside.
    pub fn set_console(&mut self, usart: usize) {
        self.console = usart;
    }

    /// The rate at which the console's USART sends, in baud; `None` while it does not.
    pub fn console_baud(&self) -> Option<u64> {
        let bit = self.logic.usarts[self.console]
            .bit_cycles()
            .filter(|&bit| bit > 0)?;
        let core = self.logic.clocks.core;
        Some(core.numerator / (core.denominator * bit))
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A system reset at cycle `now`: the logic starts anew. Of it only what power-up alone resets
    /// stays: DBGMCU (RM0368 §23.16), the option bytes, the reset flags and the backup domain. Pins
    /// that change make edges.
    pub fn reset(&mut self, now: u64, cause: ResetCause) -> Result<(), Unmodelled> {
        self.catch_up(now);
        self.logic.exceeded = 0;
        self.end_excesses(now);
        let fresh = Logic::of(self.memory.chip(), &self.map);
        let core = fresh.clocks.core;
        let before = &mut self.logic;
        let mut logic = Logic {
            rcc: before.rcc.after_reset(cause),
            flash: before.flash.after_reset(core),
            dbgmcu: match cause {
                ResetCause::BrownOut => fresh.dbgmcu,
                _ => before.dbgmcu.clone(),
            },
            ..fresh
        };
        // What hangs on the chip is not reset.
        std::mem::swap(
            &mut logic.usarts[self.console].arriving,
            &mut before.usarts[self.console].arriving,
        );
        for source in self.partners.sources() {
            let wires = logic.wires_mut(source).zip(before.wires_mut(source));
            if let Some((wires, before)) = wires {
                wires.moved_from(before);
                wires.set_clock(core, now);
            }
        }
        *self.logic = logic;
        self.clock_scripts(now);
        self.timebase
            .change(now, core)
            .map_err(|why| Unmodelled(format!("a reset here ({why})"), Oddity::Mode))?;
        if !self.is_alone() {
            self.partners_moved(now);
        }
        for port in 0..PORTS.len() {
            self.port_changed(port, now);
        }
        Ok(())
    }

    pub fn timebase(&self) -> &Timebase {
        &self.timebase
    }

    /// The cycle of the next event. `u64::MAX` if there is none.
    pub fn next_event(&self) -> u64 {
        self.logic.schedule.next()
    }

    /// Bit n is the level of interrupt line n.
    pub fn interrupt_lines(&self) -> u128 {
        self.logic.interrupt_lines
    }

    pub fn notes(&self) -> &notes::Notes {
        &self.notes
    }

    /// From now on a debugger accesses the chip, whose oddities are errors. Returns what manners
    /// were.
    pub fn begin_debugger_access(&mut self) -> Manners {
        self.logic.dbgmcu.by_debugger = true;
        self.notes.set_manners(Manners::Strict)
    }

    pub fn end_debugger_access(&mut self, manners: Manners) {
        self.logic.dbgmcu.by_debugger = false;
        self.notes.set_manners(manners);
    }

    /// Whether the bus of a core that sleeps has a clock.
    pub fn clocked_in_sleep(&self) -> bool {
        self.logic.dbgmcu.clocks_sleep()
    }

    pub fn notes_mut(&mut self) -> &mut notes::Notes {
        &mut self.notes
    }

    /// Whether the machine must act: something is new for the core, or the schedule changed. Clears
    /// it.
    pub fn take_attention(&mut self) -> bool {
        std::mem::take(&mut self.logic.attention)
    }

    /// Lets the flash do something else than FLASH_ACR says ([`Flash::forced`]).
    pub fn force_flash_access_control(&mut self, value: u32) {
        self.logic.flash.forced = Some(value);
    }

    /// Lets RCC tell of other resets than the one that was ([`Rcc::set_reset_flags`]).
    pub fn set_reset_flags(&mut self, flags: u32) {
        self.logic.rcc.set_reset_flags(flags);
    }

    /// Whether a pin is high now.
    pub fn level(&self, pin: Pin) -> bool {
        self.levels[usize::from(pin.port)].high >> pin.number & 1 != 0
    }

    /// From now on, edges of these pins return control after the instruction that made them.
    pub fn observe(&mut self, pins: &[Pin]) {
        self.observed = self.partners.selecting;
        for pin in pins {
            self.observed[usize::from(pin.port)] |= 1 << pin.number;
        }
    }

    /// Edges that have not been taken yet.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Edges since the last call, in the order of their cycles.
    pub fn take_edges(&mut self) -> Vec<Edge> {
        std::mem::take(&mut self.edges)
    }

    /// Bytes that left the console's USART since the last call.
    pub fn take_transmitted(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.transmitted)
    }

    /// Bytes that arrive at the RX pin of the console's USART from cycle `now` on. They are lost if
    /// no pin is switched to it.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        let mut pins = self.routes().usart_rx[self.console].iter();
        if pins.any(|pin| self.has_function(*pin)) {
            self.logic.usarts[self.console].receive(bytes, now);
            self.reschedule(FIRST_USART + self.console);
        }
    }

    /// Bytes that wait for the console's USART: the first arrives as soon as the receiver is on.
    pub fn feed(&mut self, bytes: &[u8], now: u64) {
        self.logic.usarts[self.console].receive(bytes, now);
        self.reschedule(FIRST_USART + self.console);
    }

    /// Bytes for the console's RX pin that have not arrived yet.
    pub fn bytes_to_receive(&self) -> usize {
        self.logic.usarts[self.console].arriving.len()
    }

    /// Handles all events up to cycle `now`.
    #[inline(always)]
    pub fn catch_up(&mut self, now: u64) {
        while self.logic.schedule.next() <= now {
            self.run_events(self.logic.schedule.next());
        }
    }

    /// Lets the timers count up to cycle `now`, as a read of their registers does. It has no effect
    /// that others can see: those come by events only.
    pub fn advance_timers(&mut self, now: u64) {
        for timer in &mut self.logic.timers {
            timer.advance(now);
        }
    }

    #[inline(never)]
    fn run_events(&mut self, cycle: u64) {
        let mut from = 0;
        while let Some(source) = self.logic.schedule.next_due(from, cycle) {
            self.run_event_of(source, cycle);
            from = source + 1;
        }
    }

    fn run_event_of(&mut self, source: usize, cycle: u64) {
        match source {
            FIRST_USART..FLASH => {
                let usart = source - FIRST_USART;
                self.logic.usarts[usart].advance(cycle);
                self.usart_accessed(usart, cycle);
                self.reschedule_partners();
            }
            FLASH => {
                self.logic.flash.advance(cycle);
                self.flash_changed();
            }
            PARTNERS => self.run_partners(cycle),
            FIRST_OTHER.. => {
                self.logic
                    .others
                    .get_mut(source - FIRST_OTHER)
                    .advance(cycle);
                self.other_changed(source - FIRST_OTHER);
            }
            timer => {
                self.logic.timers[timer].advance(cycle);
                self.timer_changed(timer, cycle);
            }
        }
        self.reschedule(source);
    }

    /// The reset that became due since the last call.
    pub fn take_reset_due(&mut self) -> Option<ResetCause> {
        self.logic.reset_due.take()
    }

    /// Whether the core must hear of an event since the last call.
    pub fn take_event_due(&mut self) -> bool {
        std::mem::take(&mut self.logic.event_due)
    }

    fn usart_changed(&mut self, usart: usize) {
        self.set_interrupt_line(
            self.logic.usarts[usart].irq,
            self.logic.usarts[usart].interrupt(),
        );
        if !self.logic.usarts[usart].sent.is_empty() {
            let mut pins = self.routes().usart_tx[usart].iter();
            let heard = usart == self.console && pins.any(|pin| self.may_send_at(*pin));
            let sent = self.logic.usarts[usart].sent.drain(..);
            self.transmitted.extend(sent.filter(|_| heard));
        }
    }

    /// Call after a change of the nth of the others: its interrupts, its next event, a reset of the chip.
    fn other_changed(&mut self, n: usize) {
        if let Some(cause) = self.logic.others.get_mut(n).take_reset() {
            self.logic.reset_due = Some(cause);
            self.logic.attention = true;
        }
        let (lines, high) = self.logic.others.lines(n);
        self.set_interrupt_lines(lines, high);
        self.reschedule(FIRST_OTHER + n);
        self.reschedule_partners();
    }

    fn exti_changed(&mut self) {
        let (lines, high) = self.logic.exti.interrupt_lines();
        self.set_interrupt_lines(lines, high);
        if self.logic.exti.take_event() {
            self.logic.event_due = true;
            self.logic.attention = true;
        }
    }

    #[inline]
    fn set_interrupt_line(&mut self, irq: u16, level: bool) {
        if (self.logic.interrupt_lines >> irq & 1 != 0) != level {
            self.logic.interrupt_lines ^= 1 << irq;
            self.logic.attention = true;
        }
    }

    /// Sets `lines` to their levels. Bit n is line n.
    fn set_interrupt_lines(&mut self, lines: u128, levels: u128) {
        let all = self.logic.interrupt_lines & !lines | levels;
        self.logic.attention |= all != self.logic.interrupt_lines;
        self.logic.interrupt_lines = all;
    }

    /// The register table of every peripheral, by its name.
    pub fn register_tables(&mut self) -> Vec<(&'static str, &'static [Register])> {
        let blocks: Vec<Block> = self.map.blocks().collect();
        self.tables_of(blocks)
    }

    fn tables_of(
        &mut self,
        blocks: impl IntoIterator<Item = Block>,
    ) -> Vec<(&'static str, &'static [Register])> {
        let tables = blocks.into_iter().map(|block| {
            let registers = self.block(block).registers();
            (registers.peripheral(), registers.table())
        });
        tables.collect()
    }

    /// The same of all that a snapshot keeps: also of what this chip does not have.
    fn kept_tables(&mut self) -> Vec<(&'static str, &'static [Register])> {
        use Block::*;
        let others = self.logic.others.len();
        let numbered = (0..PORTS.len())
            .map(Gpio)
            .chain((0..TIMERS).map(Timer))
            .chain((0..USARTS).map(Usart))
            .chain((0..self.logic.dma.len()).map(Dma))
            .chain((0..others).map(Other));
        let wired = [Rcc, Pwr, Flash, Dac, Exti, Syscfg, Dbgmcu];
        self.tables_of(wired.into_iter().chain(numbered))
    }

    fn block(&mut self, block: Block) -> &mut dyn Peripheral {
        match block {
            Block::Rcc => &mut self.logic.rcc,
            Block::Pwr => &mut self.logic.pwr,
            Block::Flash => &mut self.logic.flash,
            Block::Gpio(port) => &mut self.logic.ports[port],
            Block::Timer(timer) => &mut self.logic.timers[timer],
            Block::Usart(usart) => &mut self.logic.usarts[usart],
            Block::Dac => &mut self.logic.dac,
            Block::Dma(controller) => &mut self.logic.dma[controller],
            Block::Exti => &mut self.logic.exti,
            Block::Syscfg => &mut self.logic.syscfg,
            Block::Dbgmcu => &mut self.logic.dbgmcu,
            Block::Other(n) => self.logic.others.get_mut(n),
        }
    }

    /// Does what a write changes in the rest of the chip.
    fn propagate_write(
        &mut self,
        block: Block,
        offset: u32,
        value: u32,
        now: u64,
    ) -> Result<(), Unmodelled> {
        match block {
            Block::Rcc => self.rcc_written(offset, value, now)?,
            Block::Pwr => {
                self.logic.rcc.backup_writable = self.logic.pwr.backup_writable();
                self.check_core_clock(now)?;
            }
            Block::Flash => {
                if let Some(bytes) = self.logic.flash.take_erasure() {
                    self.memory.erase(bytes);
                    self.logic.code_changed = true;
                    self.logic.attention = true;
                }
                self.flash_changed();
                self.reschedule(FLASH);
                self.check_core_clock(now)?;
            }
            Block::Gpio(port) => {
                if self.logic.ports[port].selects_functions(offset) {
                    self.functions_switched(port);
                    if !self.is_alone() {
                        self.partners_moved(now);
                    }
                }
                self.port_changed(port, now);
            }
            Block::Timer(timer) => {
                self.timer_changed(timer, now);
                self.reschedule(timer);
            }
            Block::Dma(controller) => {
                if let Some(stream) = Dma::stream_of_control(offset) {
                    self.check_stream(controller, stream)?;
                }
                self.serve_dma(now);
                self.dma_changed();
            }
            Block::Usart(usart) => {
                self.usart_accessed(usart, now);
                self.reschedule(FIRST_USART + usart);
                self.reschedule_partners();
            }
            Block::Dac => self.serve_dma(now),
            Block::Exti => self.exti_changed(),
            Block::Other(n) => self.other_changed(n),
            Block::Syscfg => self.pins_remapped(now),
            Block::Dbgmcu => {}
        }
        Ok(())
    }
}

impl Soc {
    /// Call after each change of a peripheral that may move its next event.
    fn reschedule(&mut self, source: usize) {
        let event = self.event_of(source);
        self.logic.attention |= self.logic.schedule.set(source, event);
    }

    fn event_of(&self, source: usize) -> Option<u64> {
        match source {
            ..FIRST_USART => self.logic.timers[source].next_event(),
            FIRST_USART..FLASH => self.logic.usarts[source - FIRST_USART].next_event(),
            FLASH => self.logic.flash.next_event(),
            PARTNERS => self.next_of_partners(),
            FIRST_OTHER.. => self.logic.others.get(source - FIRST_OTHER).next_event(),
        }
    }
}

//! The STM32F401RE around the core: memories and peripherals on one bus, brought up to date by events.
//!
//! Whatever changes outside an access (a timer's match, the end of a UART frame) is an event at an exact core cycle. Every
//! access first lets the events before it happen, so that edges come in the order of their cycles even when a store of
//! a long instruction falls behind a timer's match.

mod access;
mod clocks;
mod dma;
mod flash;
pub mod gaps;
mod system_memory;

use crate::edges::{Edge, Pin};
use crate::memory::Memory;
use crate::peripherals::crc::Crc;
use crate::peripherals::dbgmcu::Dbgmcu;
use crate::peripherals::dma::Dma;
use crate::peripherals::exti::Exti;
use crate::peripherals::flash::Flash;
use crate::peripherals::gpio::{Gpio, Levels, PORTS};
use crate::peripherals::iwdg::Iwdg;
use crate::peripherals::places::{self, Block, Map};
use crate::peripherals::pwr::Pwr;
use crate::peripherals::rcc::{Clocks, Rcc, ResetCause};
use crate::peripherals::registers::{Register, Unmodelled};
use crate::peripherals::routes::{TIMER_OUTPUTS, USART2_RX, USART2_TX};
use crate::peripherals::syscfg::Syscfg;
use crate::peripherals::timer::Timer;
use crate::peripherals::usart::Usart;
use crate::peripherals::wwdg::{self, Wwdg};
use crate::peripherals::Peripheral;
use crate::timebase::Timebase;
use serde::{Deserialize, Serialize};

const TIMERS: usize = 4;
/// Places in the schedule: the timers, then USART2, the flash and the watchdogs.
const USART2: usize = TIMERS;
const FLASH: usize = USART2 + 1;
const IWDG: usize = FLASH + 1;
const WWDG: usize = IWDG + 1;
const NEVER: u64 = u64::MAX;

#[derive(Clone, Serialize, Deserialize)]
pub struct Soc {
    memory: Memory,
    #[serde(skip)]
    map: Map,
    rcc: Rcc,
    pwr: Pwr,
    flash: Flash,
    ports: [Gpio; PORTS.len()],
    timers: [Timer; TIMERS],
    usart2: Usart,
    dma: [Dma; 2],
    iwdg: Iwdg,
    wwdg: Wwdg,
    crc: Crc,
    exti: Exti,
    syscfg: Syscfg,
    dbgmcu: Dbgmcu,

    clocks: Clocks,
    timebase: Timebase,
    /// The cycle of the next event of each scheduled peripheral.
    schedule: [u64; WWDG + 1],
    next_event: u64,
    /// What the user lets pass although it is not modelled.
    gaps: gaps::Gaps,
    /// A reset that the machine has to carry out.
    reset_due: Option<ResetCause>,
    /// Items are being moved, whose accesses are not to start it anew.
    serving_dma: bool,
    /// The cycle until which an access holds the core up.
    stalled_until: u64,
    /// Flash has been programmed or erased since the machine last asked.
    code_changed: bool,
    /// Bit n is interrupt line n.
    interrupt_lines: u128,
    attention: bool,
    /// An event that the core has not heard of.
    event_due: bool,
    levels: [Levels; PORTS.len()],
    outputs: [u8; TIMERS],
    edges: Vec<Edge>,
    transmitted: Vec<u8>,
    /// Pins of each port whose edges ask for attention: an observer's wish, no state of the chip.
    #[serde(skip)]
    observed: [u32; PORTS.len()],
}

impl Soc {
    pub fn new(memory: Memory) -> Soc {
        let rcc = Rcc::default();
        let clocks = rcc.clocks();
        let ports = std::array::from_fn(Gpio::new);
        Soc {
            memory,
            map: Map::default(),
            pwr: Pwr::default(),
            flash: Flash::default(),
            levels: std::array::from_fn(|port| Gpio::levels(&ports[port])),
            ports,
            // Interrupt numbers: RM0368 §10.1.3, table 38.
            timers: [
                Timer::wide("TIM2", 28),
                Timer::narrow("TIM3", 29),
                Timer::narrow("TIM4", 30),
                Timer::wide("TIM5", 50),
            ],
            usart2: Usart::new("USART2", 38),
            dma: [
                Dma::new("DMA1", [11, 12, 13, 14, 15, 16, 17, 47]),
                Dma::new("DMA2", [56, 57, 58, 59, 60, 68, 69, 70]),
            ],
            serving_dma: false,
            iwdg: Iwdg::default(),
            wwdg: Wwdg::default(),
            crc: Crc::default(),
            reset_due: None,
            exti: Exti::default(),
            syscfg: Syscfg::default(),
            dbgmcu: Dbgmcu::default(),
            timebase: Timebase::new(clocks.core),
            rcc,
            clocks,
            schedule: [NEVER; WWDG + 1],
            gaps: gaps::Gaps::default(),
            stalled_until: 0,
            code_changed: false,
            next_event: NEVER,
            interrupt_lines: 0,
            attention: false,
            event_due: false,
            outputs: [0; TIMERS],
            edges: Vec::new(),
            transmitted: Vec::new(),
            observed: [0; PORTS.len()],
        }
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A system reset at cycle `now`: everything starts afresh but memory, time, the user's wishes, and what only power-up
    /// resets (DBGMCU, RM0368 §23.16; the option bytes, the reset flags). Pins that change are edges.
    pub fn reset(&mut self, now: u64, cause: ResetCause) -> Result<(), Unmodelled> {
        self.catch_up(now);
        let mut fresh = Soc::new(std::mem::take(&mut self.memory));
        std::mem::swap(&mut fresh.timebase, &mut self.timebase);
        std::mem::swap(&mut fresh.dbgmcu, &mut self.dbgmcu);
        std::mem::swap(&mut fresh.edges, &mut self.edges);
        std::mem::swap(&mut fresh.transmitted, &mut self.transmitted);
        std::mem::swap(&mut fresh.levels, &mut self.levels);
        std::mem::swap(&mut fresh.gaps, &mut self.gaps);
        std::mem::swap(&mut fresh.observed, &mut self.observed);
        std::mem::swap(&mut fresh.rcc, &mut self.rcc);
        std::mem::swap(&mut fresh.flash, &mut self.flash);
        fresh.rcc.reset_because(cause);
        fresh.flash.reset();
        *self = fresh;
        self.timebase
            .change(now, self.clocks.core)
            .map_err(|why| Unmodelled(format!("a reset here ({why})")))?;
        for port in 0..PORTS.len() {
            self.port_changed(port, now);
        }
        Ok(())
    }

    pub fn timebase(&self) -> &Timebase {
        &self.timebase
    }

    /// Cycle of the next event, `u64::MAX` when there is none.
    pub fn next_event(&self) -> u64 {
        self.next_event
    }

    /// Bit n is the level of interrupt line n.
    pub fn interrupt_lines(&self) -> u128 {
        self.interrupt_lines
    }

    pub fn gaps(&self) -> &gaps::Gaps {
        &self.gaps
    }

    pub fn gaps_mut(&mut self) -> &mut gaps::Gaps {
        &mut self.gaps
    }

    pub fn clear_attention(&mut self) {
        self.attention = false;
    }

    /// Whether a pin is high now.
    pub fn level(&self, pin: Pin) -> bool {
        self.levels[usize::from(pin.port)].high >> pin.number & 1 != 0
    }

    /// From now on an edge of one of these pins hands control back behind the instruction that made it.
    pub fn observe(&mut self, pins: &[Pin]) {
        self.observed = [0; PORTS.len()];
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

    /// Bytes that left USART2 since the last call.
    pub fn take_transmitted(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.transmitted)
    }

    /// Bytes that arrive at USART2's RX pin from cycle `now` on. Without the pin switched to USART2 they are lost.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        if self.has_function(USART2_RX) {
            self.usart2.receive(bytes, now);
            self.reschedule();
        }
    }

    /// Bytes on their way to USART2's RX pin.
    pub fn on_the_way(&self) -> usize {
        self.usart2.on_the_way()
    }

    /// Lets everything happen that falls due up to cycle `now`.
    pub fn catch_up(&mut self, now: u64) {
        while self.next_event <= now {
            self.happen(self.next_event);
        }
    }

    fn happen(&mut self, cycle: u64) {
        for timer in 0..TIMERS {
            if self.schedule[timer] <= cycle {
                self.timers[timer].advance(cycle);
                self.timer_changed(timer, cycle);
            }
        }
        if self.schedule[USART2] <= cycle {
            self.usart2.advance(cycle);
            self.usart_accessed(cycle);
        }
        if self.schedule[FLASH] <= cycle {
            self.flash.advance(cycle);
            self.flash_changed();
        }
        if self.schedule[IWDG] <= cycle {
            self.iwdg.reset();
            self.reset_due = Some(ResetCause::IndependentWatchdog);
            self.attention = true;
        }
        if self.schedule[WWDG] <= cycle {
            self.wwdg.advance(cycle);
            self.wwdg_changed();
        }
        self.reschedule();
    }

    /// The reset that has fallen due since the last call.
    pub fn take_reset_due(&mut self) -> Option<ResetCause> {
        self.reset_due.take()
    }

    /// Whether something made an event for the core since the last call.
    pub fn take_event_due(&mut self) -> bool {
        std::mem::take(&mut self.event_due)
    }

    fn reschedule(&mut self) {
        for (event, timer) in self.schedule.iter_mut().zip(&self.timers) {
            *event = timer.next_event().unwrap_or(NEVER);
        }
        self.schedule[USART2] = self.usart2.next_event().unwrap_or(NEVER);
        self.schedule[FLASH] = self.flash.next_event().unwrap_or(NEVER);
        self.schedule[IWDG] = self.iwdg.next_event().unwrap_or(NEVER);
        self.schedule[WWDG] = self.wwdg.next_event().unwrap_or(NEVER);
        let next = self.schedule.iter().copied().fold(NEVER, u64::min);
        self.attention |= next != self.next_event;
        self.next_event = next;
    }

    fn timer_changed(&mut self, timer: usize, cycle: u64) {
        self.set_interrupt_line(self.timers[timer].irq, self.timers[timer].interrupt());
        let outputs = self.timers[timer].outputs();
        if outputs == self.outputs[timer] {
            return;
        }
        self.outputs[timer] = outputs;
        for port in 0..PORTS.len() {
            if TIMER_OUTPUTS
                .iter()
                .any(|route| route.timer == timer && route.port == port)
            {
                self.route_alternates(port);
                self.port_changed(port, cycle);
            }
        }
    }

    fn usart_changed(&mut self) {
        self.set_interrupt_line(self.usart2.irq, self.usart2.interrupt());
        let sent = self.usart2.take_sent();
        if self.has_function(USART2_TX) {
            self.transmitted.extend(sent);
        }
    }

    fn wwdg_changed(&mut self) {
        self.set_interrupt_line(wwdg::IRQ, self.wwdg.interrupt());
        if self.wwdg.take_expired() {
            self.reset_due = Some(ResetCause::WindowWatchdog);
            self.attention = true;
        }
    }

    fn exti_changed(&mut self) {
        let levels: Vec<(u16, bool)> = self.exti.interrupts().collect();
        for (irq, level) in levels {
            self.set_interrupt_line(irq, level);
        }
        if self.exti.take_event() {
            self.event_due = true;
            self.attention = true;
        }
    }

    fn set_interrupt_line(&mut self, irq: u16, level: bool) {
        let line = 1 << irq;
        let lines = if level {
            self.interrupt_lines | line
        } else {
            self.interrupt_lines & !line
        };
        self.attention |= lines != self.interrupt_lines;
        self.interrupt_lines = lines;
    }

    fn has_function(&self, (port, pin, function): (usize, u32, u32)) -> bool {
        self.ports[port].alternate_function(pin) == Some(function)
    }

    fn route_alternates(&mut self, port: usize) {
        let mut alternate = Levels::default();
        for route in TIMER_OUTPUTS.iter().filter(|route| route.port == port) {
            if self.has_function((port, route.pin, route.function)) {
                let timer = &self.timers[route.timer];
                alternate.driven |= u32::from(timer.drives(route.channel)) << route.pin;
                alternate.high |=
                    u32::from(self.timers[route.timer].output(route.channel)) << route.pin;
            }
        }
        self.ports[port].set_alternate(alternate);
    }

    /// Records what changed at the pins of a port.
    fn port_changed(&mut self, port: usize, cycle: u64) {
        let before = self.levels[port];
        let after = self.ports[port].levels();
        self.levels[port] = after;
        let mut changed = before.high ^ after.high;
        self.attention |= changed & self.observed[port] != 0;
        while changed != 0 {
            let number = changed.trailing_zeros();
            changed &= changed - 1;
            let level = after.high >> number & 1 != 0;
            self.edges.push(Edge {
                cycle,
                pin: Pin {
                    port: port as u8,
                    number: number as u8,
                },
                level,
                output: (before.driven | after.driven) >> number & 1 != 0,
            });
            self.feed_exti(port, number, level);
            self.feed_timers(port, number, level, cycle);
        }
    }

    /// An input channel hears the pin that is switched to it.
    fn feed_timers(&mut self, port: usize, pin: u32, level: bool, cycle: u64) {
        if !self.timers.iter().any(Timer::captures) {
            return;
        }
        for route in &TIMER_OUTPUTS {
            if route.port == port
                && route.pin == pin
                && self.has_function((port, pin, route.function))
            {
                self.timers[route.timer].input(route.channel, level, cycle);
                self.timer_changed(route.timer, cycle);
            }
        }
    }

    fn feed_exti(&mut self, port: usize, line: u32, level: bool) {
        // SYSCFG_EXTICR codes the ports A–E as 0–4 and H as 7 (RM0368 §7.2.3).
        const CODES: [u32; PORTS.len()] = [0, 1, 2, 3, 4, 7];
        if self.syscfg.port_of_line(line) == CODES[port] {
            self.exti.edge(line, level);
            self.exti_changed();
        }
    }

    /// The register table of every peripheral, by its name.
    pub fn register_tables(&mut self) -> Vec<(&'static str, &'static [Register])> {
        places::modelled_blocks()
            .map(|block| {
                let registers = self.block(block).registers();
                (registers.peripheral(), registers.table())
            })
            .collect()
    }

    fn block(&mut self, block: Block) -> &mut dyn Peripheral {
        match block {
            Block::Rcc => &mut self.rcc,
            Block::Pwr => &mut self.pwr,
            Block::Flash => &mut self.flash,
            Block::Gpio(port) => &mut self.ports[port],
            Block::Timer(timer) => &mut self.timers[timer],
            Block::Usart2 => &mut self.usart2,
            Block::Dma(controller) => &mut self.dma[controller],
            Block::Iwdg => &mut self.iwdg,
            Block::Wwdg => &mut self.wwdg,
            Block::Crc => &mut self.crc,
            Block::Exti => &mut self.exti,
            Block::Syscfg => &mut self.syscfg,
            Block::Dbgmcu => &mut self.dbgmcu,
        }
    }

    /// Carries the consequences of a write to the rest of the chip.
    fn written(
        &mut self,
        block: Block,
        offset: u32,
        value: u32,
        now: u64,
    ) -> Result<(), Unmodelled> {
        match block {
            Block::Rcc => self.rcc_written(offset, value, now)?,
            Block::Pwr => self.check_core_clock()?,
            Block::Flash => {
                self.flash_written();
                self.check_core_clock()?;
            }
            Block::Gpio(port) => {
                if Gpio::routes(offset) {
                    self.route_alternates(port);
                }
                self.port_changed(port, now);
            }
            Block::Timer(timer) => {
                self.timer_changed(timer, now);
                self.reschedule();
            }
            Block::Dma(controller) => {
                if let Some(stream) = Dma::stream_of_control(offset) {
                    self.check_stream(controller, stream)?;
                }
                self.serve_dma(now);
                self.dma_changed();
            }
            Block::Usart2 => {
                self.usart_accessed(now);
                self.reschedule();
            }
            Block::Iwdg => self.reschedule(),
            Block::Wwdg => {
                self.wwdg_changed();
                self.reschedule();
            }
            Block::Exti => self.exti_changed(),
            Block::Crc | Block::Syscfg | Block::Dbgmcu => {}
        }
        Ok(())
    }
}

//! The chip around the core: memories and peripherals on one bus, brought up to date by
//! events.
//!
//! An event is a change that no access makes, as a timer's match or the end of a UART frame. It
//! happens at an exact core cycle. Every access first handles the events before it. So edges come
//! in the order of their cycles, even if a long instruction stores after a timer's match.

mod access;
mod clocks;
mod dma;
mod fast_registers;
mod flash;
pub mod gaps;
mod pins;
mod schedule;
mod second_sram;
mod system_memory;

use crate::edges::{Edge, Pin};
use crate::memory::Memory;
use crate::peripherals::adc::{self, Adc};
use crate::peripherals::address_map::{self, AddressMap, Block, ResponderCache};
use crate::peripherals::alternate_functions::{USART_RX, USART_TX};
use crate::peripherals::crc::Crc;
use crate::peripherals::dac::Dac;
use crate::peripherals::dbgmcu::Dbgmcu;
use crate::peripherals::dma::Dma;
use crate::peripherals::exti::Exti;
use crate::peripherals::flash::Flash;
use crate::peripherals::gpio::{Gpio, Levels, PORTS};
use crate::peripherals::i2c::{self, I2c};
use crate::peripherals::iwdg::Iwdg;
use crate::peripherals::pwr::Pwr;
use crate::peripherals::rcc::{Clocks, Hse, Rcc, ResetCause};
use crate::peripherals::registers::{Register, Unmodelled};
use crate::peripherals::rng::{self, Rng};
use crate::peripherals::spi::{self, Spi};
use crate::peripherals::syscfg::Syscfg;
use crate::peripherals::timer::{self, Outputs, Timer};
use crate::peripherals::usart::{self, Usart};
use crate::peripherals::wwdg::{self, Wwdg};
use crate::peripherals::Peripheral;
use crate::timebase::Timebase;
use schedule::{Schedule, ADC, FIRST_I2C, FIRST_SPI, FIRST_USART, FLASH, IWDG, RNG, WWDG};
use second_sram::SecondSram;
use serde::{Deserialize, Serialize};

const TIMERS: usize = timer::MODELS.len();
const USARTS: usize = usart::MODELS.len();
const SPIS: usize = spi::MODELS.len();
const I2CS: usize = i2c::MODELS.len();

#[derive(Clone, Serialize, Deserialize)]
pub struct Soc {
    memory: Memory,
    second_sram: SecondSram,
    #[serde(skip)]
    map: AddressMap,
    /// The peripherals that have answered since RCC was last accessed.
    #[serde(skip)]
    responders: ResponderCache,
    rcc: Rcc,
    pwr: Pwr,
    flash: Flash,
    ports: [Gpio; PORTS.len()],
    timers: [Timer; TIMERS],
    usarts: [Usart; USARTS],
    /// The USART whose bytes are kept, and that gets bytes from outside.
    console: usize,
    spis: [Spi; SPIS],
    i2cs: [I2c; I2CS],
    adc: Adc,
    dac: Dac,
    rng: Rng,
    dma: [Dma; 2],
    iwdg: Iwdg,
    wwdg: Wwdg,
    crc: Crc,
    exti: Exti,
    syscfg: Syscfg,
    dbgmcu: Dbgmcu,

    clocks: Clocks,
    timebase: Timebase,
    schedule: Schedule,
    /// What is not modelled and does not stop the run, because the user said so.
    gaps: gaps::Gaps,
    /// A reset that the machine must carry out.
    reset_due: Option<ResetCause>,
    /// Items are being moved. Their accesses must not start another round.
    serving_dma: bool,
    /// An access holds the core up until this cycle.
    stalled_until: u64,
    /// Flash was programmed or erased since the machine last asked.
    code_changed: bool,
    /// Bit n is interrupt line n.
    interrupt_lines: u128,
    attention: bool,
    /// An event that the core does not know yet.
    event_due: bool,
    levels: [Levels; PORTS.len()],
    outputs: [Outputs; TIMERS],
    /// Bit n: a pin is switched to route n of `TIMER_OUTPUTS`. Follows from the ports' registers,
    /// see `functions_switched`.
    connected: u64,
    edges: Vec<Edge>,
    transmitted: Vec<u8>,
    /// Pins of each port whose edges need attention. An observer sets them; the chip has no such
    /// state.
    #[serde(skip)]
    observed: [u32; PORTS.len()],
}

impl Soc {
    pub fn new(memory: Memory) -> Soc {
        let chip = memory.chip();
        let rcc = Rcc::of(chip);
        let clocks = rcc.clocks();
        let ports = std::array::from_fn(Gpio::new);
        let timers = std::array::from_fn(|n| Timer::new(&timer::MODELS[n]));
        Soc {
            memory,
            second_sram: SecondSram::default(),
            map: AddressMap::of(chip),
            responders: ResponderCache::default(),
            pwr: Pwr::of(chip),
            flash: Flash::of(chip),
            levels: std::array::from_fn(|port| Gpio::levels(&ports[port])),
            ports,
            outputs: std::array::from_fn(|timer| Timer::outputs(&timers[timer])),
            timers,
            usarts: std::array::from_fn(|n| Usart::new(&usart::MODELS[n])),
            console: usart::USART2,
            spis: std::array::from_fn(|n| Spi::new(&spi::MODELS[n])),
            i2cs: std::array::from_fn(|n| I2c::new(&i2c::MODELS[n])),
            adc: Adc::of(chip.family),
            dac: Dac::default(),
            rng: Rng::default(),
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
            dbgmcu: Dbgmcu::of(chip),
            timebase: Timebase::new(clocks.core),
            rcc,
            clocks,
            schedule: Schedule::new(),
            gaps: gaps::Gaps::default(),
            stalled_until: 0,
            code_changed: false,
            interrupt_lines: 0,
            attention: false,
            event_due: false,
            connected: 0,
            edges: Vec::new(),
            transmitted: Vec::new(),
            observed: [0; PORTS.len()],
        }
    }

    /// Computes the fields that a snapshot leaves out: those that follow from the chip.
    pub(crate) fn rebuild_derived(&mut self) {
        let chip = self.memory.chip();
        self.map = AddressMap::of(chip);
        self.rcc.set_chip(chip);
        self.pwr.set_chip(chip);
        self.flash.set_chip(chip);
    }

    /// What feeds OSC_IN.
    pub fn set_hse(&mut self, hse: Hse) {
        self.rcc.set_hse(hse);
    }

    /// The USART (an index into [`usart::MODELS`]) whose bytes are kept, and that gets bytes from
    /// outside.
    pub fn set_console(&mut self, usart: usize) {
        self.console = usart;
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A system reset at cycle `now`. Everything starts anew except memory, time, the user's
    /// settings, and what only power-up resets (DBGMCU, RM0368 §23.16; the option bytes, the reset
    /// flags). Pins that change make edges.
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
        fresh.console = self.console;
        fresh.usarts[self.console].feed_from(&mut self.usarts[self.console]);
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

    /// The cycle of the next event. `u64::MAX` if there is none.
    pub fn next_event(&self) -> u64 {
        self.schedule.next()
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

    /// Whether the machine must act: something is new for the core, or the schedule changed. Clears
    /// it.
    pub fn take_attention(&mut self) -> bool {
        std::mem::take(&mut self.attention)
    }

    /// Lets the flash do something else than FLASH_ACR says ([`Flash::force_access_control`]).
    pub fn force_flash_access_control(&mut self, value: u32) {
        self.flash.force_access_control(value);
    }

    /// Whether a pin is high now.
    pub fn level(&self, pin: Pin) -> bool {
        self.levels[usize::from(pin.port)].high >> pin.number & 1 != 0
    }

    /// From now on, edges of these pins return control after the instruction that made them.
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

    /// Bytes that left the console's USART since the last call.
    pub fn take_transmitted(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.transmitted)
    }

    /// Bytes that arrive at the RX pin of the console's USART from cycle `now` on. They are lost if
    /// no pin is switched to it.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        if self.hears() {
            self.usarts[self.console].receive(bytes, now);
            self.reschedule(FIRST_USART + self.console);
        }
    }

    /// Bytes that wait for the console's USART: the first arrives as soon as the receiver is on.
    pub fn feed(&mut self, bytes: &[u8], now: u64) {
        self.usarts[self.console].receive(bytes, now);
        self.reschedule(FIRST_USART + self.console);
    }

    fn hears(&self) -> bool {
        let mut pins = USART_RX[self.console].iter();
        pins.any(|pin| self.has_function(*pin))
    }

    /// Bytes for the console's RX pin that have not arrived yet.
    pub fn bytes_to_receive(&self) -> usize {
        self.usarts[self.console].bytes_to_receive()
    }

    /// Handles all events up to cycle `now`.
    #[inline(always)]
    pub fn catch_up(&mut self, now: u64) {
        while self.schedule.next() <= now {
            self.run_events(self.schedule.next());
        }
    }

    /// Lets the timers count up to cycle `now`, as a read of their registers does. It has no effect
    /// that others can see: those come by events only.
    pub fn advance_timers(&mut self, now: u64) {
        for timer in &mut self.timers {
            timer.advance(now);
        }
    }

    #[inline(never)]
    fn run_events(&mut self, cycle: u64) {
        for timer in 0..TIMERS {
            if self.schedule.due(timer, cycle) {
                self.timers[timer].advance(cycle);
                self.timer_changed(timer, cycle);
                self.reschedule(timer);
            }
        }
        for usart in 0..USARTS {
            if self.schedule.due(FIRST_USART + usart, cycle) {
                self.usarts[usart].advance(cycle);
                self.usart_accessed(usart, cycle);
                self.reschedule(FIRST_USART + usart);
            }
        }
        self.run_rarer_events(cycle);
    }

    fn run_rarer_events(&mut self, cycle: u64) {
        for spi in 0..SPIS {
            if self.schedule.due(FIRST_SPI + spi, cycle) {
                self.spis[spi].advance(cycle);
                self.spi_changed(spi);
            }
        }
        for i2c in 0..I2CS {
            if self.schedule.due(FIRST_I2C + i2c, cycle) {
                self.i2cs[i2c].advance(cycle);
                self.i2c_changed(i2c);
            }
        }
        if self.schedule.due(ADC, cycle) {
            self.adc.advance(cycle);
            self.adc_changed();
        }
        if self.schedule.due(RNG, cycle) {
            self.rng.advance(cycle);
            self.rng_changed();
        }
        if self.schedule.due(FLASH, cycle) {
            self.flash.advance(cycle);
            self.flash_changed();
            self.reschedule(FLASH);
        }
        if self.schedule.due(IWDG, cycle) {
            self.iwdg.reset();
            self.reschedule(IWDG);
            self.reset_due = Some(ResetCause::IndependentWatchdog);
            self.attention = true;
        }
        if self.schedule.due(WWDG, cycle) {
            self.wwdg.advance(cycle);
            self.wwdg_changed();
            self.reschedule(WWDG);
        }
    }

    /// The reset that became due since the last call.
    pub fn take_reset_due(&mut self) -> Option<ResetCause> {
        self.reset_due.take()
    }

    /// Whether the core must hear of an event since the last call.
    pub fn take_event_due(&mut self) -> bool {
        std::mem::take(&mut self.event_due)
    }

    fn usart_changed(&mut self, usart: usize) {
        self.set_interrupt_line(self.usarts[usart].irq, self.usarts[usart].interrupt());
        if self.usarts[usart].has_sent() {
            let mut pins = USART_TX[usart].iter();
            let heard = usart == self.console && pins.any(|pin| self.has_function(*pin));
            let sent = self.usarts[usart].take_sent();
            self.transmitted.extend(sent.filter(|_| heard));
        }
    }

    fn spi_changed(&mut self, spi: usize) {
        self.set_interrupt_line(self.spis[spi].irq, self.spis[spi].interrupt());
        self.reschedule(FIRST_SPI + spi);
    }

    fn i2c_changed(&mut self, i2c: usize) {
        let bus = &self.i2cs[i2c];
        let (events, errors) = (bus.event_interrupt(), bus.error_interrupt());
        let (event_irq, error_irq) = (bus.event_irq, bus.error_irq);
        self.set_interrupt_line(event_irq, events);
        self.set_interrupt_line(error_irq, errors);
        self.reschedule(FIRST_I2C + i2c);
    }

    fn adc_changed(&mut self) {
        self.set_interrupt_line(adc::IRQ, self.adc.interrupt());
        self.reschedule(ADC);
    }

    fn rng_changed(&mut self) {
        self.set_interrupt_line(rng::IRQ, self.rng.interrupt());
        self.reschedule(RNG);
    }

    fn wwdg_changed(&mut self) {
        self.set_interrupt_line(wwdg::IRQ, self.wwdg.interrupt());
        if self.wwdg.take_expired() {
            self.reset_due = Some(ResetCause::WindowWatchdog);
            self.attention = true;
        }
    }

    fn exti_changed(&mut self) {
        self.set_interrupt_lines(Exti::INTERRUPT_LINES, self.exti.interrupt_lines());
        if self.exti.take_event() {
            self.event_due = true;
            self.attention = true;
        }
    }

    #[inline]
    fn set_interrupt_line(&mut self, irq: u16, level: bool) {
        if (self.interrupt_lines >> irq & 1 != 0) != level {
            self.interrupt_lines ^= 1 << irq;
            self.attention = true;
        }
    }

    /// Sets `lines` to their levels. Bit n is line n.
    fn set_interrupt_lines(&mut self, lines: u128, levels: u128) {
        let all = self.interrupt_lines & !lines | levels;
        self.attention |= all != self.interrupt_lines;
        self.interrupt_lines = all;
    }

    /// The register table of every peripheral, by its name.
    pub fn register_tables(&mut self) -> Vec<(&'static str, &'static [Register])> {
        address_map::modelled_blocks(self.memory.chip())
            .map(|block| {
                let registers = self.block(block).registers();
                (registers.peripheral(), registers.table())
            })
            .collect()
    }

    fn block(&mut self, block: Block) -> &mut dyn Peripheral {
        match block {
            Block::Rcc => {
                self.responders.forget();
                &mut self.rcc
            }
            Block::Pwr => &mut self.pwr,
            Block::Flash => &mut self.flash,
            Block::Gpio(port) => &mut self.ports[port],
            Block::Timer(timer) => &mut self.timers[timer],
            Block::Usart(usart) => &mut self.usarts[usart],
            Block::Spi(spi) => &mut self.spis[spi],
            Block::I2c(i2c) => &mut self.i2cs[i2c],
            Block::Adc => &mut self.adc,
            Block::Dac => &mut self.dac,
            Block::Rng => &mut self.rng,
            Block::Dma(controller) => &mut self.dma[controller],
            Block::Iwdg => &mut self.iwdg,
            Block::Wwdg => &mut self.wwdg,
            Block::Crc => &mut self.crc,
            Block::Exti => &mut self.exti,
            Block::Syscfg => &mut self.syscfg,
            Block::Dbgmcu => &mut self.dbgmcu,
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
                self.rcc.set_backup_writable(self.pwr.backup_writable());
                self.check_core_clock()?;
            }
            Block::Flash => {
                self.flash_written();
                self.check_core_clock()?;
            }
            Block::Gpio(port) => {
                if Gpio::selects_functions(offset) {
                    self.functions_switched(port);
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
            }
            Block::Spi(spi) => self.spi_changed(spi),
            Block::I2c(i2c) => self.i2c_changed(i2c),
            Block::Adc => self.adc_changed(),
            Block::Rng => self.rng_changed(),
            Block::Dac => self.serve_dma(now),
            Block::Iwdg => self.reschedule(IWDG),
            Block::Wwdg => {
                self.wwdg_changed();
                self.reschedule(WWDG);
            }
            Block::Exti => self.exti_changed(),
            Block::Crc | Block::Syscfg | Block::Dbgmcu => {}
        }
        Ok(())
    }
}

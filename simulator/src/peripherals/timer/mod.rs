//! General-purpose timers TIM2–TIM5 (RM0368 §13.4), counting up, with output compare and input capture.
//!
//! The model keeps the counter as of one timer clock tick and moves it to a later tick when asked, from one match or
//! overflow to the next. What others can see of it (an output, an interrupt) it announces by [`Timer::next_event`].

mod capture;
mod next_event;

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const CR1: u32 = 0x00;
const DIER: u32 = 0x0C;
const SR: u32 = 0x10;
const EGR: u32 = 0x14;
const CCMR1: u32 = 0x18;
const CCMR2: u32 = 0x1C;
const CCER: u32 = 0x20;
const CNT: u32 = 0x24;
const PSC: u32 = 0x28;
const ARR: u32 = 0x2C;
const CCR1: u32 = 0x34;
const CCR4: u32 = 0x40;

const CEN: u32 = 1 << 0;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const ARPE: u32 = 1 << 7;
const UIF: u32 = 1 << 0;
const UG: u32 = 1 << 0;
/// UIF and CC1IF–CC4IF; the same positions in DIER and EGR.
const EVENTS: u32 = 0b1_1111;
/// CC1OF–CC4OF.
const OVERCAPTURES: u32 = 0xF << 9;
/// CKD sets the clock of input filters, which are not modelled.
const CKD: u32 = 0b11 << 8;
/// DIR and CMS: counting down.
const DOWN: u32 = 0b111 << 4;
/// MMS selects the trigger output, to which nothing that is modelled listens.
const MMS: u32 = 0b111 << 4;
/// CCDS and TI1S.
const CR2_MISSING: u32 = 1 << 3 | 1 << 7;
/// TIE and the DMA requests UDE, CCxDE and TDE.
const DIER_MISSING: u32 = 0x5F40;

const fn table(counter: u32) -> [Register; 19] {
    [
        Register::new(CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD).missing(DOWN),
        Register::new(0x04, "CR2", 0, MMS).missing(CR2_MISSING),
        Register::new(0x08, "SMCR", 0, 0).missing(0xFFF7),
        Register::new(DIER, "DIER", 0, EVENTS).missing(DIER_MISSING),
        Register::new(SR, "SR", 0, EVENTS | OVERCAPTURES).inert(!(EVENTS | OVERCAPTURES)),
        Register::new(EGR, "EGR", 0, EVENTS),
        // What the bits mean depends on CCxS: `check_mode` refuses filters, ETRF and TRC.
        Register::new(CCMR1, "CCMR1", 0, 0xFFFF),
        Register::new(CCMR2, "CCMR2", 0, 0xFFFF),
        Register::new(CCER, "CCER", 0, 0xBBBB),
        Register::new(CNT, "CNT", 0, counter),
        Register::new(PSC, "PSC", 0, 0xFFFF),
        Register::new(ARR, "ARR", counter, counter),
        Register::new(CCR1, "CCR1", 0, counter),
        Register::new(0x38, "CCR2", 0, counter),
        Register::new(0x3C, "CCR3", 0, counter),
        Register::new(CCR4, "CCR4", 0, counter),
        Register::new(0x48, "DCR", 0, 0).missing(0x1F1F),
        Register::unmodelled(0x4C, "DMAR"),
        Register::new(0x50, "OR", 0, 0).missing(0x0CC0),
    ]
}

static TABLE_32: [Register; 19] = table(0xFFFF_FFFF);
static TABLE_16: [Register; 19] = table(0x0000_FFFF);

/// What a match does to the reference signal OCxREF (§13.4.7, OC1M).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Frozen,
    ActiveOnMatch,
    InactiveOnMatch,
    Toggle,
    ForceInactive,
    ForceActive,
    Pwm1,
    Pwm2,
}

impl Mode {
    fn from_bits(bits: u32) -> Mode {
        match bits & 0b111 {
            0 => Mode::Frozen,
            1 => Mode::ActiveOnMatch,
            2 => Mode::InactiveOnMatch,
            3 => Mode::Toggle,
            4 => Mode::ForceInactive,
            5 => Mode::ForceActive,
            6 => Mode::Pwm1,
            _ => Mode::Pwm2,
        }
    }
}

/// What the chip sees of the channels: bits 0–3 the levels, bits 4–7 which of them drive their pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs(u8);

impl Outputs {
    pub fn high(self, channel: usize) -> bool {
        self.0 >> channel & 1 != 0
    }

    pub fn drives(self, channel: usize) -> bool {
        self.0 >> (4 + channel) & 1 != 0
    }
}

/// A channel: its compare value in force and its reference signal.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Channel {
    compare: u32,
    reference: bool,
    /// Edges since the last capture, for ICxPSC.
    edges: u32,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Timer {
    registers: Registers,
    /// Interrupt number.
    pub irq: u16,
    counter_max: u32,
    /// Core cycles per timer clock; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// The timer clock tick for which the fields below hold.
    tick: u64,
    prescale_count: u64,
    count: u32,
    prescaler: u64,
    reload: u32,
    channels: [Channel; 4],
    /// Before this tick nothing matches or overflows; 0 if that is not known. Follows from the fields above, see `update_change_tick`.
    #[serde(skip)]
    change_tick: u64,
}

impl Timer {
    pub fn wide(name: &'static str, irq: u16) -> Timer {
        Timer::new(Registers::new(name, &TABLE_32), irq, u32::MAX)
    }

    pub fn narrow(name: &'static str, irq: u16) -> Timer {
        Timer::new(Registers::new(name, &TABLE_16), irq, 0xFFFF)
    }

    fn new(registers: Registers, irq: u16, counter_max: u32) -> Timer {
        Timer {
            registers,
            irq,
            counter_max,
            divider: None,
            tick: 0,
            prescale_count: 0,
            count: 0,
            prescaler: 1,
            reload: counter_max,
            channels: [Channel::default(); 4],
            change_tick: 0,
        }
    }

    /// Changes the clock at cycle `now`: core cycles per timer clock, or none.
    pub fn set_divider(&mut self, divider: Option<u64>, now: u64) {
        if divider == self.divider {
            return;
        }
        self.advance(now);
        self.divider = divider;
        self.tick = divider.map_or(0, |cycles| now / cycles);
        self.update_change_tick();
    }

    /// Level at the pin of a channel (0–3): OCx, low while the output is off (§13.4.9, table 64).
    fn output(&self, channel: usize) -> bool {
        let enable = self.registers.get(CCER) >> (4 * channel);
        self.drives(channel)
            && enable & 1 != 0
            && self.channels[channel].reference != (enable & 2 != 0)
    }

    pub fn outputs(&self) -> Outputs {
        Outputs((0..4).fold(0, |outputs, channel| {
            outputs
                | u8::from(self.output(channel)) << channel
                | u8::from(self.drives(channel)) << (4 + channel)
        }))
    }

    pub fn interrupt(&self) -> bool {
        self.registers.get(SR) & self.registers.get(DIER) & EVENTS != 0
    }

    /// Counts up to cycle `now`.
    pub fn advance(&mut self, now: u64) {
        let Some(divider) = self.divider else { return };
        // A power of two (RM0368 §6.2: the timers' clocks).
        let target = now >> divider.trailing_zeros();
        if target <= self.tick {
            return;
        }
        if target < self.change_tick {
            self.count_partly(target - self.tick);
            self.tick = target;
        } else {
            self.pass_changes(target);
        }
    }

    fn pass_changes(&mut self, target: u64) {
        let mut overflows = 0;
        while self.counting() {
            let (steps, ticks) = self.next_change();
            if self.tick + ticks > target {
                self.change_tick = self.tick + ticks;
                self.count_partly(target - self.tick);
                self.tick = target;
                return;
            }
            self.tick += ticks;
            self.prescale_count = 0;
            self.step(steps);
            if self.count == 0 {
                overflows += 1;
            }
            if overflows == 2 {
                self.skip_periods(target);
            }
        }
        self.tick = target;
        self.change_tick = 0;
    }

    fn counting(&self) -> bool {
        // §13.3.1: the counter is blocked while the auto-reload value is null.
        self.registers.get(CR1) & CEN != 0 && self.reload != 0
    }

    fn mode(&self, channel: usize) -> Mode {
        if self.drives(channel) {
            Mode::from_bits(self.channel_mode(channel) >> 4)
        } else {
            Mode::Frozen
        }
    }

    /// A channel's half of its CCMR.
    fn channel_mode(&self, channel: usize) -> u32 {
        self.modes() >> (8 * channel) & 0xFF
    }

    /// CCMR1 and, above it, CCMR2: a byte for each channel.
    fn modes(&self) -> u32 {
        self.registers.get(CCMR1) | self.registers.get(CCMR2) << 16
    }

    /// Whether any channel's mode acts without a match.
    fn acts_at_all_times(&self) -> bool {
        self.modes() & 0x4040_4040 != 0
    }

    fn flag(channel: usize) -> u32 {
        2 << channel
    }

    /// Counts `ticks` timer clocks in which nothing matches or overflows.
    fn count_partly(&mut self, ticks: u64) {
        if self.prescaler == 1 {
            self.count += ticks as u32;
            return;
        }
        let clocks = self.prescale_count + ticks;
        self.count += (clocks / self.prescaler) as u32;
        self.prescale_count = clocks % self.prescaler;
    }

    /// Moves the counter to a match or overflow, and acts on it.
    fn step(&mut self, steps: u64) {
        if steps == self.steps_to_overflow() {
            self.overflow();
        } else {
            self.count += steps as u32;
        }
        for channel in 0..4 {
            if self.drives(channel) && self.channels[channel].compare == self.count {
                self.matched(channel);
            }
        }
        self.compare_pwm();
    }

    fn overflow(&mut self) {
        self.count = 0;
        for channel in 0..4 {
            // §13.4.5, CC1IF: a compare value beyond ARR sets the flag on overflow.
            if self.drives(channel) && self.channels[channel].compare > self.reload {
                self.registers.set_bits(SR, Self::flag(channel), true);
            }
        }
        if self.registers.get(CR1) & OPM != 0 {
            self.registers.set_bits(CR1, CEN, false);
        }
        self.update(true);
    }

    /// Update event (§13.3.2): preloaded values come into force; UDIS holds it back.
    fn update(&mut self, flags: bool) {
        if self.registers.get(CR1) & UDIS != 0 {
            return;
        }
        self.prescaler = u64::from(self.registers.get(PSC)) + 1;
        self.reload = self.registers.get(ARR);
        for channel in 0..4 {
            self.channels[channel].compare = self.registers.get(CCR1 + 4 * channel as u32);
        }
        if flags {
            self.registers.set_bits(SR, UIF, true);
        }
    }

    fn matched(&mut self, channel: usize) {
        self.registers.set_bits(SR, Self::flag(channel), true);
        let mode = self.mode(channel);
        let reference = &mut self.channels[channel].reference;
        match mode {
            Mode::ActiveOnMatch => *reference = true,
            Mode::InactiveOnMatch => *reference = false,
            Mode::Toggle => *reference = !*reference,
            _ => {}
        }
    }

    fn compare_pwm(&mut self) {
        if !self.acts_at_all_times() {
            return;
        }
        for channel in 0..4 {
            let below = self.count < self.channels[channel].compare;
            match self.mode(channel) {
                Mode::Pwm1 => self.channels[channel].reference = below,
                Mode::Pwm2 => self.channels[channel].reference = !below,
                _ => {}
            }
        }
    }

    /// After two overflows without a write every flag is set and every preload done, so that whole further laps change
    /// nothing, unless a channel toggles.
    fn skip_periods(&mut self, target: u64) {
        let toggles = (0..4).any(|channel| self.mode(channel) == Mode::Toggle);
        if self.counting() && self.count == 0 && !toggles {
            let period = (u64::from(self.reload) + 1) * self.prescaler;
            self.tick += (target - self.tick) / period * period;
        }
    }

    fn write_control(&mut self, value: u32) {
        let starts = value & !self.registers.get(CR1) & CEN != 0;
        self.registers.set(CR1, value);
        if starts {
            // §13.3.2: the counter starts one clock after CEN.
            self.tick += 1;
        }
    }

    fn generate(&mut self, events: u32) {
        for channel in 0..4 {
            if events & Self::flag(channel) != 0 {
                self.generate_channel(channel);
            }
        }
        if events & UG != 0 {
            self.count = 0;
            self.prescale_count = 0;
            self.update(self.registers.get(CR1) & URS == 0);
        }
    }

    fn write_compare(&mut self, channel: usize, value: u32) {
        let register = if channel < 2 { CCMR1 } else { CCMR2 };
        let preloaded = self.registers.bit(register, 8 * (channel as u32 % 2) + 3);
        if !preloaded {
            self.channels[channel].compare = value;
        }
    }

    fn force_references(&mut self) {
        if !self.acts_at_all_times() {
            return;
        }
        for channel in 0..4 {
            match self.mode(channel) {
                Mode::ForceInactive => self.channels[channel].reference = false,
                Mode::ForceActive => self.channels[channel].reference = true,
                _ => {}
            }
        }
    }
}

impl Peripheral for Timer {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        match offset {
            CNT => self.count,
            CCR1..=CCR4 => self.read_compare((offset - CCR1) as usize / 4),
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        let written = self.write_register(offset, value);
        if written.is_ok() {
            self.force_references();
            self.compare_pwm();
        }
        self.update_change_tick();
        written
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.prescale_count = 0;
        self.count = 0;
        self.prescaler = 1;
        self.reload = self.counter_max;
        self.channels = [Channel::default(); 4];
        self.update_change_tick();
    }
}

impl Timer {
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), Unmodelled> {
        match offset {
            CR1 => self.write_control(value),
            SR => {
                let flags = self.registers.get(SR) & value;
                self.registers.set(SR, flags);
            }
            EGR => self.generate(value),
            CNT => self.count = value,
            CCMR1 | CCMR2 => self.write_modes(offset, value)?,
            CCER => self.write_enables(value),
            // §13.4.13: of an input the captured value is read-only.
            CCR1..=CCR4 if !self.drives((offset - CCR1) as usize / 4) => {}
            _ => self.registers.set(offset, value),
        }
        match offset {
            ARR if self.registers.get(CR1) & ARPE == 0 => self.reload = value,
            CCR1..=CCR4 if self.drives((offset - CCR1) as usize / 4) => {
                self.write_compare((offset - CCR1) as usize / 4, value)
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CC1IE: u32 = 1 << 1;
    const CC1E: u32 = 1;
    pub(super) const TOGGLE: u32 = 3 << 4;

    /// TIM2, a core cycle per timer clock, started at cycle 0 behind these writes.
    pub(super) fn running(arr: u32, writes: &[(u32, u32)]) -> Timer {
        let mut timer = Timer::wide("TIM2", 28);
        timer.set_divider(Some(1), 0);
        timer.write(ARR, arr, 0).unwrap();
        for &(offset, value) in writes {
            timer.write(offset, value, 0).unwrap();
        }
        timer.write(CR1, CEN, 0).unwrap();
        timer
    }

    #[test]
    fn counts_from_the_second_clock_and_wraps_after_arr() {
        let mut timer = running(9, &[]);
        // Enabled at tick 0, counting from tick 1: the counter is 1 at tick 2.
        let counts: Vec<u32> = (0..13).map(|now| timer.read(CNT, now)).collect();
        assert_eq!(counts, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        assert_eq!(timer.read(SR, 12) & UIF, UIF);
    }

    #[test]
    fn toggles_at_every_match_and_announces_it() {
        let mut timer = running(
            99,
            &[(CCR1, 10), (CCMR1, TOGGLE), (CCER, CC1E), (DIER, CC1IE)],
        );
        assert_eq!(timer.next_event(), Some(11));
        timer.advance(10);
        assert!(!timer.output(0));
        timer.advance(11);
        assert!(timer.output(0) && timer.interrupt());
        timer.write(SR, !Timer::flag(0), 20).unwrap();
        assert!(!timer.interrupt());
        timer.advance(110);
        assert!(timer.output(0));
        timer.advance(111);
        assert!(!timer.output(0) && timer.interrupt());
    }

    #[test]
    fn the_prescaler_divides_from_the_next_update_on() {
        let mut timer = running(3, &[(PSC, 4)]);
        assert_eq!(timer.read(CNT, 4), 3);
        // Overflow at tick 5; from there each step takes five ticks.
        assert_eq!(timer.read(CNT, 9), 0);
        assert_eq!(timer.read(CNT, 10), 1);
        let mut timer = running(3, &[(PSC, 4), (EGR, UG)]);
        assert_eq!((timer.read(CNT, 5), timer.read(CNT, 6)), (0, 1));
    }

    #[test]
    fn a_slower_timer_clock_counts_on_its_own_edges() {
        let mut timer = Timer::narrow("TIM3", 29);
        timer.set_divider(Some(4), 5);
        timer.write(CR1, CEN, 6).unwrap();
        // Tick 1 spans cycles 4–7, counting starts at tick 2: the counter is 1 from tick 3, cycle 12.
        assert_eq!((timer.read(CNT, 11), timer.read(CNT, 12)), (0, 1));
    }

    #[test]
    fn preloaded_values_wait_for_the_update() {
        let mut timer = running(9, &[(CCMR1, 1 << 3 | TOGGLE), (CCER, CC1E)]);
        timer.write(CCR1, 4, 0).unwrap();
        timer.advance(10);
        assert!(!timer.output(0));
        timer.advance(15);
        assert!(timer.output(0));
        timer.write(CR1, CEN | ARPE, 15).unwrap();
        timer.write(ARR, 5, 15).unwrap();
        assert_eq!((timer.read(CNT, 20), timer.read(CNT, 21)), (9, 0));
        assert_eq!((timer.read(CNT, 26), timer.read(CNT, 27)), (5, 0));
    }

    #[test]
    fn pwm_is_active_below_the_compare_value() {
        let mut timer = running(9, &[(CCR1, 3), (CCMR1, 6 << 4), (CCER, CC1E)]);
        let levels: Vec<bool> = (1..12)
            .map(|now| {
                timer.advance(now);
                timer.output(0)
            })
            .collect();
        let expected = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1].map(|level| level == 1);
        assert_eq!(levels, expected);
        timer.write(CCER, CC1E | 2, 11).unwrap();
        assert!(!timer.output(0));
    }

    #[test]
    fn forcing_and_frozen() {
        let mut timer = running(9, &[(CCMR1, 5 << 4), (CCER, CC1E)]);
        assert!(timer.output(0));
        timer.write(CCMR1, 0, 1).unwrap();
        timer.advance(500);
        assert!(timer.output(0));
        timer.write(CCMR1, 4 << 4, 500).unwrap();
        assert!(!timer.output(0));
    }

    #[test]
    fn one_pulse_stops_at_the_overflow() {
        let mut timer = Timer::wide("TIM2", 28);
        timer.set_divider(Some(1), 0);
        timer.write(ARR, 9, 0).unwrap();
        timer.write(CR1, CEN | OPM, 0).unwrap();
        assert_eq!(timer.read(CR1, 10), CEN | OPM);
        assert_eq!(timer.read(CR1, 11), OPM);
        assert_eq!(timer.read(CNT, 1_000), 0);
    }

    #[test]
    fn a_compare_value_beyond_arr_flags_the_overflow() {
        let mut timer = running(9, &[(CCR1, 50)]);
        assert_eq!(timer.read(SR, 10) & Timer::flag(0), 0);
        assert_eq!(timer.read(SR, 11) & Timer::flag(0), Timer::flag(0));
    }

    #[test]
    fn periods_that_change_nothing_are_skipped_exactly() {
        let mut timer = running(9, &[(PSC, 2), (CCR1, 7)]);
        let far = 10_000_000_000_000;
        // The first period of 10 ticks ends at tick 11, later ones take 30.
        let expected = (far - 11) % 30 / 3;
        assert_eq!(u64::from(timer.read(CNT, far)), expected);
    }

    #[test]
    fn update_generation_respects_urs_and_udis() {
        let mut timer = running(9, &[(CR1, URS), (EGR, UG)]);
        assert_eq!(timer.read(SR, 1) & UIF, 0);
        timer.write(CR1, CEN | UDIS, 1).unwrap();
        assert_eq!(timer.read(SR, 100) & UIF, 0);
        timer.write(EGR, 1 << 1, 100).unwrap();
        assert_eq!(timer.read(SR, 100) & Timer::flag(0), Timer::flag(0));
    }

    #[test]
    fn arr_moved_below_the_counter_lets_it_run_to_its_end() {
        let mut timer = Timer::narrow("TIM3", 29);
        timer.set_divider(Some(1), 0);
        timer.write(CNT, 0xFFF0, 0).unwrap();
        timer.write(ARR, 9, 0).unwrap();
        timer.write(CR1, CEN, 0).unwrap();
        assert_eq!((timer.read(CNT, 16), timer.read(CNT, 17)), (0xFFFF, 0));
        assert_eq!((timer.read(CNT, 26), timer.read(CNT, 27)), (9, 0));
    }

    #[test]
    fn a_gated_timer_stands_still() {
        let mut timer = running(99, &[]);
        timer.set_divider(None, 51);
        timer.set_divider(Some(2), 100);
        assert_eq!((timer.read(CNT, 101), timer.read(CNT, 102)), (50, 51));
    }
}

//! The timers: general-purpose ones (RM0368 §13.4, §14.4), the advanced TIM1 and TIM8 (§12.4,
//! RM0090 §17.4) and the basic TIM6 and TIM7 (RM0090 §20.4). They count up, with output compare and
//! input capture.
//!
//! The model keeps the counter's state at one tick of the timer clock. When asked, it moves on to a
//! later tick, from one match or overflow to the next. [`Timer::next_event`] announces what others
//! can see: changes of outputs and of the interrupt.

mod capture;
pub mod models;
mod next_event;

use super::registers::{Register, Registers, Unmodelled};
use super::{Peripheral, Supply};
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
const CR2: u32 = 0x04;
const RCR: u32 = 0x30;
const BDTR: u32 = 0x44;

const CEN: u32 = 1 << 0;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const ARPE: u32 = 1 << 7;
const UIF: u32 = 1 << 0;
const UG: u32 = 1 << 0;
/// UIF and CC1IF–CC4IF. DIER and EGR have the same positions.
const EVENTS: u32 = 0b1_1111;
/// BDTR: the outputs of an advanced timer drive their pins, also while MOE is off.
const OSSI: u32 = 1 << 10;
const MOE: u32 = 1 << 15;
/// MMS: update; and channel 1, after which the other channels follow.
const BY_UPDATE: u32 = 2;
const BY_REFERENCE: usize = 4;

/// How many a chip may have.
pub const TIMERS: usize = 14;

/// What tells one timer from another.
pub struct Model {
    pub name: &'static str,
    table: &'static [Register],
    counter_max: u32,
    channels: usize,
    advanced: bool,
}

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

/// The outputs of the channels. Bits 0–3: their levels. Bits 4–7: whether they drive their pins.
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

/// A channel: the compare value in force, and the reference signal.
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
    /// Interrupt numbers of updates, and of captures and compares.
    pub update_irq: u16,
    pub capture_irq: u16,
    counter_max: u32,
    channel_count: usize,
    /// Its outputs wait for BDTR.MOE.
    advanced: bool,
    /// Core cycles per timer clock; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// The fields below hold for this tick of the timer clock.
    tick: u64,
    prescale_count: u64,
    count: u32,
    prescaler: u64,
    reload: u32,
    /// Overflows that still pass without an update event (RCR).
    repetitions: u32,
    channels: [Channel; 4],
    /// The trigger output has risen.
    triggered: bool,
    /// Before this tick nothing matches or overflows. 0 if it is unknown. Follows from the fields
    /// above, see `update_change_tick`.
    #[serde(skip)]
    change_tick: u64,
}

impl Timer {
    /// `irqs` are the interrupt lines of its update and of its channels.
    pub fn new(model: &Model, [update_irq, capture_irq]: [u16; 2]) -> Timer {
        Timer {
            registers: Registers::new(model.name, model.table),
            update_irq,
            capture_irq,
            counter_max: model.counter_max,
            channel_count: model.channels,
            advanced: model.advanced,
            divider: None,
            tick: 0,
            prescale_count: 0,
            count: 0,
            prescaler: 1,
            reload: model.counter_max,
            repetitions: 0,
            channels: [Channel::default(); 4],
            triggered: false,
            change_tick: 0,
        }
    }

    /// Changes the clock at cycle `now`: core cycles per timer clock. `None`: the clock is off.
    fn set_divider(&mut self, divider: Option<u64>, now: u64) {
        if divider == self.divider {
            return;
        }
        self.advance(now);
        self.divider = divider;
        self.tick = divider.map_or(0, |cycles| now / cycles);
        self.update_change_tick();
    }

    /// The level of a channel's output OCx (0–3). Low while the output is off (§13.4.9, table 64).
    fn output(&self, channel: usize) -> bool {
        let enable = self.registers.get(CCER) >> (4 * channel);
        self.drives(channel)
            && enable & 1 != 0
            && (!self.advanced || self.registers.has(BDTR, MOE))
            && self.channels[channel].reference != (enable & 2 != 0)
    }

    pub fn outputs(&self) -> Outputs {
        // RM0368 §12.4.18, MOE and OSSI: whether outputs reach their pins at all.
        let on = !self.advanced || self.registers.has(BDTR, MOE | OSSI);
        Outputs((0..4).fold(0, |outputs, channel| {
            outputs
                | u8::from(self.output(channel)) << channel
                | u8::from(self.drives(channel) && on) << (4 + channel)
        }))
    }

    /// Whether the trigger output has risen since the last call.
    pub fn take_triggered(&mut self) -> bool {
        std::mem::take(&mut self.triggered)
    }

    /// CR2.MMS: what raises the trigger output (RM0368 §13.4.2). Of its settings the update and the
    /// reference signals of the channels have an effect.
    fn trigger(&self) -> u32 {
        self.registers.get(CR2) >> 4 & 0b111
    }

    /// The channel whose reference signal is the trigger output.
    fn trigger_channel(&self) -> Option<usize> {
        (self.trigger() as usize).checked_sub(BY_REFERENCE)
    }

    pub fn interrupt(&self) -> bool {
        self.pending() != 0
    }

    /// Whether this interrupt line is high as far as this timer is concerned.
    pub fn signals(&self, irq: u16) -> bool {
        let mine = if irq == self.update_irq { UIF } else { 0 }
            | if irq == self.capture_irq {
                EVENTS & !UIF
            } else {
                0
            };
        self.pending() & mine != 0
    }

    fn pending(&self) -> u32 {
        self.registers.get(SR) & self.registers.get(DIER) & EVENTS
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
        // §13.3.1: the counter does not count while the auto-reload value is 0.
        self.registers.has(CR1, CEN) && self.reload != 0
    }

    fn mode(&self, channel: usize) -> Mode {
        if self.drives(channel) {
            Mode::from_bits(self.channel_mode(channel) >> 4)
        } else {
            Mode::Frozen
        }
    }

    /// A channel's byte of its CCMR.
    fn channel_mode(&self, channel: usize) -> u32 {
        self.modes() >> (8 * channel) & 0xFF
    }

    /// CCMR2 above CCMR1: a byte for each channel.
    fn modes(&self) -> u32 {
        match self.channel_count {
            0 => 0,
            1 | 2 => self.registers.get(CCMR1),
            _ => self.registers.get(CCMR1) | self.registers.get(CCMR2) << 16,
        }
    }

    /// Whether the mode of any channel has an effect without a match.
    fn acts_at_all_times(&self) -> bool {
        self.modes() & 0x4040_4040 != 0
    }

    fn flag(channel: usize) -> u32 {
        2 << channel
    }

    /// Counts `ticks` timer clocks. Nothing matches or overflows in them.
    fn count_partly(&mut self, ticks: u64) {
        if self.prescaler == 1 {
            self.count += ticks as u32;
            return;
        }
        let clocks = self.prescale_count + ticks;
        self.count += (clocks / self.prescaler) as u32;
        self.prescale_count = clocks % self.prescaler;
    }

    /// Moves the counter by `steps` to a match or overflow, and does what follows from it.
    fn step(&mut self, steps: u64) {
        let trigger = self.trigger_channel();
        let before = trigger.map(|channel| self.channels[channel].reference);
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
        let after = trigger.map(|channel| self.channels[channel].reference);
        self.triggered |= (before, after) == (Some(false), Some(true));
    }

    fn overflow(&mut self) {
        self.count = 0;
        for channel in 0..4 {
            // §13.4.5, CC1IF: a compare value beyond ARR sets the flag on overflow.
            if self.drives(channel) && self.channels[channel].compare > self.reload {
                self.registers.set_bits(SR, Self::flag(channel), true);
            }
        }
        if self.repetitions > 0 {
            self.repetitions -= 1;
            return;
        }
        if self.registers.has(CR1, OPM) {
            self.registers.set_bits(CR1, CEN, false);
        }
        self.update(true);
    }

    /// Update event (§13.3.2): preloaded values come into force. UDIS prevents it.
    fn update(&mut self, flags: bool) {
        if self.registers.has(CR1, UDIS) {
            return;
        }
        self.prescaler = u64::from(self.registers.get(PSC)) + 1;
        self.reload = self.registers.get(ARR);
        if self.advanced {
            self.repetitions = self.registers.get(RCR);
        }
        for channel in 0..self.channel_count {
            self.channels[channel].compare = self.registers.get(CCR1 + 4 * channel as u32);
        }
        if flags {
            self.registers.set_bits(SR, UIF, true);
        }
        self.triggered |= self.trigger() == BY_UPDATE;
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

    /// After two overflows without a write, every flag is set and every preload is done. Further
    /// whole periods change nothing, unless a channel toggles.
    fn skip_periods(&mut self, target: u64) {
        let toggles = (0..4).any(|channel| self.mode(channel) == Mode::Toggle);
        let repeats = self.advanced && self.registers.get(RCR) | self.repetitions != 0;
        if self.counting() && self.count == 0 && !toggles && !repeats {
            let period = (u64::from(self.reload) + 1) * self.prescaler;
            self.tick += (target - self.tick) / period * period;
        }
    }

    fn write_control(&mut self, value: u32) {
        let starts = value & CEN != 0 && !self.registers.has(CR1, CEN);
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
            self.update(!self.registers.has(CR1, URS));
        }
    }

    fn write_compare(&mut self, channel: usize, value: u32) {
        let register = if channel < 2 { CCMR1 } else { CCMR2 };
        let preloaded = self
            .registers
            .has(register, 1 << (8 * (channel as u32 % 2) + 3));
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
        self.repetitions = 0;
        self.channels = [Channel::default(); 4];
        self.triggered = false;
        self.update_change_tick();
    }

    fn advance(&mut self, now: u64) {
        let Some(divider) = self.divider else { return };
        // The divider is a power of two (RM0368 §6.2: the timers' clocks).
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

    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        self.set_divider(clocks.timer, now);
    }

    fn next_event(&self) -> Option<u64> {
        self.next_visible_event()
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        (CCR1..=CCR4).contains(&offset)
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
            // §13.4.13: the captured value of an input is read-only.
            CCR1..=CCR4 if !self.drives((offset - CCR1) as usize / 4) => {}
            _ => self.registers.set(offset, value),
        }
        match offset {
            ARR if !self.registers.has(CR1, ARPE) => self.reload = value,
            CCR1..=CCR4 if self.drives((offset - CCR1) as usize / 4) => {
                self.write_compare((offset - CCR1) as usize / 4, value)
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
impl Timer {
    /// The timer of this name, as after reset.
    pub fn named(name: &str) -> Timer {
        let model = models::MODELS.iter().find(|model| model.name == name);
        let model = model.expect("the table has it");
        let lines = if model.advanced { [25, 27] } else { [28, 28] };
        Timer::new(model, lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    const CC1IE: u32 = 1 << 1;
    const CC1E: u32 = 1;
    pub(super) const TOGGLE: u32 = 3 << 4;

    /// TIM2 with one core cycle per timer clock. After these writes it starts at cycle 0.
    pub(super) fn running(arr: u32, writes: &[(u32, u32)]) -> Timer {
        clocked("TIM2", &[&[(ARR, arr)], writes, &[(CR1, CEN)]].concat())
    }

    fn clocked(name: &str, writes: &[(u32, u32)]) -> Timer {
        let mut timer = Timer::named(name);
        timer.set_divider(Some(1), 0);
        for &(offset, value) in writes {
            timer.write(offset, value, 0).unwrap();
        }
        timer
    }

    /// The levels of channel 1 at these cycles.
    fn levels<const CYCLES: usize>(timer: &mut Timer, cycles: [u64; CYCLES]) -> [bool; CYCLES] {
        cycles.map(|now| {
            timer.advance(now);
            timer.output(0)
        })
    }

    #[test]
    fn counts_from_the_second_clock_and_wraps_after_arr() {
        let mut timer = running(9, &[]);
        // Enabled at tick 0, it counts from tick 1 on: the counter is 1 at tick 2.
        let counts: Vec<u32> = (0..13).map(|now| timer.read(CNT, now)).collect();
        assert_eq!(counts, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        assert_eq!(timer.read(SR, 12) & UIF, UIF);
    }

    #[test]
    fn toggles_at_every_match_and_announces_it() {
        let toggling = [(CCR1, 10), (CCMR1, TOGGLE), (CCER, CC1E), (DIER, CC1IE)];
        let mut timer = running(99, &toggling);
        assert_eq!(timer.next_event(), Some(11));
        assert_eq!(levels(&mut timer, [10, 11]), [false, true]);
        assert!(timer.interrupt());
        timer.write(SR, !Timer::flag(0), 20).unwrap();
        assert!(!timer.interrupt());
        assert_eq!(levels(&mut timer, [110, 111]), [true, false]);
        assert!(timer.interrupt());
    }

    #[test]
    fn the_prescaler_divides_from_the_next_update_on() {
        running(3, &[(PSC, 4)]).follow([
            Read(CNT, 3, 4),
            // The overflow is at tick 5. From then on each step takes five ticks.
            Read(CNT, 0, 9),
            Read(CNT, 1, 10),
        ]);
        running(3, &[(PSC, 4), (EGR, UG)]).follow([Read(CNT, 0, 5), Read(CNT, 1, 6)]);
    }

    #[test]
    fn a_slower_timer_clock_counts_on_its_own_edges() {
        let mut timer = Timer::named("TIM3");
        timer.set_divider(Some(4), 5);
        timer.follow([
            Write(CR1, CEN, 6),
            // Tick 1 is cycles 4–7. Counting starts at tick 2, so the counter is 1 from tick 3 on,
            // which is cycle 12.
            Read(CNT, 0, 11),
            Read(CNT, 1, 12),
        ]);
    }

    #[test]
    fn preloaded_values_wait_for_the_update() {
        let mut timer = running(9, &[(CCMR1, 1 << 3 | TOGGLE), (CCER, CC1E)]);
        timer.write(CCR1, 4, 0).unwrap();
        assert_eq!(levels(&mut timer, [10, 15]), [false, true]);
        timer.follow([
            Write(CR1, CEN | ARPE, 15),
            Write(ARR, 5, 15),
            Read(CNT, 9, 20),
            Read(CNT, 0, 21),
            Read(CNT, 5, 26),
            Read(CNT, 0, 27),
        ]);
    }

    #[test]
    fn pwm_is_active_below_the_compare_value() {
        let mut timer = running(9, &[(CCR1, 3), (CCMR1, 6 << 4), (CCER, CC1E)]);
        let active = [true, true, false, false, true];
        assert_eq!(levels(&mut timer, [1, 3, 4, 10, 11]), active);
        timer.write(CCER, CC1E | 2, 11).unwrap();
        assert!(!timer.output(0));
    }

    #[test]
    fn forcing_and_frozen() {
        let mut timer = running(9, &[(CCMR1, 5 << 4), (CCER, CC1E)]);
        for (mode, level) in [(5, true), (0, true), (4, false)] {
            timer.write(CCMR1, mode << 4, 1).unwrap();
            assert_eq!(levels(&mut timer, [1, 500]), [level; 2]);
        }
    }

    #[test]
    fn one_pulse_stops_at_the_overflow() {
        clocked("TIM2", &[(ARR, 9), (CR1, CEN | OPM)]).follow([
            Read(CR1, CEN | OPM, 10),
            Read(CR1, OPM, 11),
            Read(CNT, 0, 1_000),
        ]);
    }

    #[test]
    fn a_compare_value_beyond_arr_flags_the_overflow() {
        let flag = Timer::flag(0);
        running(9, &[(CCR1, 50)]).follow([Bits(SR, flag, 0, 10), Bits(SR, flag, flag, 11)]);
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
        running(9, &[(CR1, URS), (EGR, UG)]).follow([
            Bits(SR, UIF, 0, 1),
            Write(CR1, CEN | UDIS, 1),
            Bits(SR, UIF, 0, 100),
            Write(EGR, 1 << 1, 100),
            Bits(SR, Timer::flag(0), Timer::flag(0), 100),
        ]);
    }

    #[test]
    fn arr_moved_below_the_counter_lets_it_run_to_its_end() {
        clocked("TIM3", &[(CNT, 0xFFF0), (ARR, 9), (CR1, CEN)]).follow([
            Read(CNT, 0xFFFF, 16),
            Read(CNT, 0, 17),
            Read(CNT, 9, 26),
            Read(CNT, 0, 27),
        ]);
    }

    #[test]
    fn a_gated_timer_stands_still() {
        let mut timer = running(99, &[]);
        timer.set_divider(None, 51);
        timer.set_divider(Some(2), 100);
        timer.follow([Read(CNT, 50, 101), Read(CNT, 51, 102)]);
    }

    #[test]
    fn outputs_of_an_advanced_timer_wait_for_moe() {
        let mut timer = clocked("TIM1", &[(CCMR1, 5 << 4), (CCER, CC1E)]);
        for (enabled, driven) in [(0, false), (MOE, true)] {
            timer.write(BDTR, enabled, 1).unwrap();
            let outputs = timer.outputs();
            assert_eq!([outputs.high(0), outputs.drives(0)], [driven; 2]);
        }
    }

    #[test]
    fn the_repetition_counter_lets_overflows_pass() {
        // RM0368 §12.3.2: with RCR = 2 every third overflow makes an update event.
        let repeating = [
            (ARR, 9),
            (RCR, 2),
            (EGR, UG),
            (DIER, UIF),
            (SR, 0),
            (CR1, CEN),
        ];
        let mut timer = clocked("TIM1", &repeating);
        for now in 1..=31 {
            timer.advance(now);
            assert_eq!(timer.interrupt(), now == 31, "cycle {now}");
        }
        assert!(timer.signals(25) && !timer.signals(27));
    }

    #[test]
    fn a_timer_of_one_channel_has_no_more_flags() {
        clocked("TIM11", &[(ARR, 9), (CCR1, 3), (CR1, CEN)]).follow([Read(SR, 0b11, 100)]);
        let mut basic = clocked("TIM6", &[(ARR, 9), (DIER, UIF), (CR1, CEN)]);
        basic.follow([Read(SR, UIF, 11)]);
        assert!(basic.interrupt());
    }

    #[test]
    fn the_trigger_output_rises_with_its_source() {
        let matching = [
            (CR2, 4 << 4),
            (ARR, 9),
            (CCR1, 5),
            (CCMR1, TOGGLE),
            (CR1, CEN),
        ];
        let updating = [(CR2, 2 << 4), (ARR, 9), (CR1, CEN)];
        for (name, writes, events) in [
            // The edge in the middle falls.
            ("TIM2", &matching[..], [(6, true), (16, false), (26, true)]),
            (
                "TIM6",
                &updating,
                [11, 21, 31].map(|overflow| (overflow, true)),
            ),
        ] {
            let mut timer = clocked(name, writes);
            for (event, rises) in events {
                timer.follow([Event(Some(event)), Advance(event)]);
                assert_eq!(timer.take_triggered(), rises, "{name}, cycle {event}");
            }
        }
    }
}

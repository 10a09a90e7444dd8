//! Input capture (RM0368 §13.3.5): an edge of a pin copies the counter. The delay of the input
//! synchroniser is left out; the manual gives no figure for it.

use super::super::registers::Unmodelled;
use super::{Timer, CCER, CCMR1, CCR1, SR};
use crate::manners::Oddity;
use crate::peripherals::Peripheral;

const SELECTION: u32 = 0b11;
const PRESCALER_SHIFT: u32 = 2;
/// OCxCE of an output, or part of the filter ICxF of an input.
const CLEAR_ENABLE: u32 = 1 << 7;
const FILTER: u32 = 0xF << 4;

impl Timer {
    /// Whether a channel is an output (CCxS = 0), and so drives its pin.
    pub fn drives(&self, channel: usize) -> bool {
        channel < self.channel_count && self.channel_mode(channel) & SELECTION == 0
    }

    /// Whether any channel captures edges of a pin.
    pub fn captures(&self) -> bool {
        (0..self.channel_count).any(|channel| !self.drives(channel) && self.enabled(channel))
    }

    /// The pin of channel `input` has changed to `level`. Without a clock, nothing samples it.
    pub fn input(&mut self, input: usize, level: bool, now: u64) {
        if self.divider.is_none() {
            return;
        }
        self.advance(now);
        for channel in 0..4 {
            if self.source(channel) == Some(input) && self.enabled(channel) {
                self.edge(channel, level);
            }
        }
    }

    fn enabled(&self, channel: usize) -> bool {
        self.registers.has(CCER, 1 << (4 * channel as u32))
    }

    /// The input that a channel captures: its own, or that of the other channel of its pair
    /// (§13.4.7, CC1S).
    fn source(&self, channel: usize) -> Option<usize> {
        match self.channel_mode(channel) & SELECTION {
            1 => Some(channel),
            2 => Some(channel ^ 1),
            _ => None,
        }
    }

    fn edge(&mut self, channel: usize, level: bool) {
        // §13.4.9: CCxP and CCxNP choose rising, falling or both.
        let polarity = self.registers.get(CCER) >> (4 * channel);
        let selected = match (polarity >> 1 & 1, polarity >> 3 & 1) {
            (0, 0) => level,
            (1, 0) => !level,
            (1, 1) => true,
            _ => false,
        };
        if !selected {
            return;
        }
        let every = 1 << (self.channel_mode(channel) >> PRESCALER_SHIFT & 0b11);
        let edges = &mut self.channels[channel].edges;
        *edges += 1;
        if *edges >= every {
            *edges = 0;
            self.capture(channel);
        }
    }

    fn capture(&mut self, channel: usize) {
        if self.registers.get(SR) & Self::flag(channel) != 0 {
            let overcapture = Self::flag(channel) << 8;
            self.registers.set_bits(SR, overcapture, true);
        }
        self.registers.set_bits(SR, Self::flag(channel), true);
        self.registers.set(CCR1 + 4 * channel as u32, self.count);
    }

    /// CCxG (§13.4.6): an input captures, an output only sets its flag.
    pub(super) fn generate_channel(&mut self, channel: usize) {
        if self.drives(channel) {
            self.registers.set_bits(SR, Self::flag(channel), true);
        } else {
            self.capture(channel);
        }
    }

    /// Reading a captured value clears its flag (§13.4.5).
    pub(super) fn read_compare(&mut self, channel: usize) -> u32 {
        if !self.drives(channel) {
            self.registers.set_bits(SR, Self::flag(channel), false);
        }
        self.registers.get(CCR1 + 4 * channel as u32)
    }

    pub(super) fn write_modes(&mut self, offset: u32, value: u32) -> Result<(), Unmodelled> {
        let first = if offset == CCMR1 { 0 } else { 2 };
        let mut modes = value;
        let mut checked = Ok(());
        for channel in first..first + 2 {
            let shift = 8 * (channel % 2);
            if self.enabled(channel) {
                // §13.4.7: CCxS is writable while the channel is off.
                let kept = SELECTION << shift;
                modes = modes & !kept | self.registers.get(offset) & kept;
            }
            let missing = missing_bits(modes >> shift);
            if missing != 0 {
                checked = Err(self.lacking(offset, modes >> shift)?);
                modes &= !(missing << shift);
            }
        }
        self.registers.set(offset, modes);
        checked
    }

    pub(super) fn write_enables(&mut self, value: u32) {
        self.registers.set(CCER, value);
        for channel in 0..4 {
            if !self.enabled(channel) {
                // §13.4.7, IC1PSC: the prescaler of a channel that is off starts anew.
                self.channels[channel].edges = 0;
            }
        }
    }

    /// What is missing of a mode that has missing bits. An `Err` is a mode that cannot be without
    /// them.
    fn lacking(&self, offset: u32, mode: u32) -> Result<Unmodelled, Unmodelled> {
        let bits = |why| {
            Unmodelled(
                format!("{} ({why})", self.registers.name(offset)),
                Oddity::Bits,
            )
        };
        match mode & SELECTION {
            0 => Ok(bits("OCxCE: clearing by ETRF")),
            1 | 2 => Ok(bits("ICxF: an input filter")),
            _ => Err(self.registers.refuse(offset, "CCxS: capture from TRC")),
        }
    }
}

/// Bits of a channel's mode that are not modelled.
fn missing_bits(mode: u32) -> u32 {
    match mode & SELECTION {
        0 => mode & CLEAR_ENABLE,
        1 | 2 => mode & FILTER,
        _ => SELECTION,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::running;
    use super::super::{CCMR2, CNT, DIER, EGR};
    use super::*;
    use crate::peripherals::tests::*;

    const CC1IF: u32 = 1 << 1;
    const CC1OF: u32 = 1 << 9;

    /// The timer counts from cycle 1 on: the counter is n - 1 at cycle n.
    fn capturing(ccmr1: u32, ccer: u32) -> Timer {
        running(9_999, &[(CCMR1, ccmr1), (CCER, ccer)])
    }

    #[test]
    fn the_selected_edge_copies_the_counter() {
        let mut timer = capturing(1, 1);
        timer.write(DIER, CC1IF, 0).unwrap();
        timer.input(0, true, 101);
        assert!(timer.interrupt());
        timer.input(0, false, 150);
        assert_eq!(timer.read(CCR1, 200), 100);
        assert!(!timer.interrupt());
        timer.follow([
            Bits(SR, CC1OF, 0, 200),
            Write(CCR1, 7, 200),
            Read(CCR1, 100, 200),
        ]);
    }

    #[test]
    fn a_second_capture_before_the_first_is_read_is_told() {
        let mut timer = capturing(1, 1 | 1 << 1 | 1 << 3);
        timer.input(0, true, 101);
        timer.input(0, false, 201);
        timer.follow([
            Read(SR, CC1IF | CC1OF, 201),
            Read(CCR1, 200, 201),
            Write(SR, !CC1OF, 201),
            Read(SR, 0, 201),
        ]);
    }

    #[test]
    fn a_pair_measures_period_and_pulse_of_one_pin() {
        // Channel 1 captures rising and channel 2 falling edges, both of TI1.
        let mut timer = capturing(1 | 2 << 8, 1 | 1 << 4 | 1 << 5);
        timer.input(0, true, 11);
        timer.input(0, false, 31);
        timer.input(1, true, 41);
        timer.follow([Read(CCR1, 10, 50), Read(0x38, 30, 50)]);
    }

    #[test]
    fn the_prescaler_captures_every_fourth_edge() {
        let mut timer = capturing(1 | 2 << PRESCALER_SHIFT, 1);
        for edge in 1..=4 {
            assert_eq!(timer.read(SR, 10 * edge) & CC1IF, 0);
            timer.input(0, true, 10 * edge + 1);
        }
        assert_eq!(timer.read(CCR1, 50), 40);
    }

    #[test]
    fn switching_the_channel_off_starts_the_prescaler_afresh() {
        let mut timer = capturing(1 | 1 << PRESCALER_SHIFT, 1);
        timer.input(0, true, 11);
        timer.follow([Write(CCER, 0, 12), Write(CCER, 1, 13)]);
        timer.input(0, true, 21);
        assert_eq!(timer.read(SR, 22) & CC1IF, 0);
        timer.input(0, true, 31);
        assert_eq!(timer.read(CCR1, 32), 30);
    }

    #[test]
    fn without_a_clock_no_edge_is_seen() {
        let mut timer = capturing(1, 1);
        timer.set_divider(None, 10);
        timer.input(0, true, 20);
        timer.set_divider(Some(1), 30);
        assert_eq!(timer.read(SR, 31) & CC1IF, 0);
    }

    #[test]
    fn an_input_neither_matches_nor_drives() {
        let mut timer = capturing(1, 1);
        assert!(!timer.drives(0) && timer.captures());
        timer.follow([
            Advance(30_000),
            Bits(SR, CC1IF, 0, 30_000),
            Write(EGR, CC1IF, 30_000),
        ]);
        assert_eq!(timer.read(CCR1, 30_000), timer.read(CNT, 30_000));
    }

    #[test]
    fn the_selection_is_fixed_while_the_channel_is_on_and_filters_are_refused() {
        let mut timer = capturing(1, 1);
        timer.follow([Write(CCMR1, 2, 1), Read(CCMR1, 1, 1)]);
        for mode in [1 | 3 << 4, 3, 1 << 7] {
            assert!(timer.write(CCMR2, mode, 1).is_err(), "{mode:#x}");
        }
    }
}

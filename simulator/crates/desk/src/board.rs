//! A board on a desk. It is there before any program asks for it: a debug probe flashes it, holds it
//! and starts it, an analyzer captures it again and again.
//!
//! Simulated time depends on the host's clock only where nobody measures: see `lead_in.rs` and
//! [`Surroundings::stand_still`].

use crate::faults::{Clock, Fault, Faults};
use crate::lead_in::LeadIn;
use crate::line::Line;
use crate::serial_port::Terminal;
use cortex_m::{DebugFault, Stop};
use machine::{Limit, Machine};
use std::time::{Duration, Instant};
use stm32::peripherals::rcc::Hse;
use stm32::timebase::Seconds;
use virtual_nucleo::analyzer::samples::Sampler;
use virtual_nucleo::simulation::{Board, Debugger, Surroundings};

/// A debugger that halts the core for shorter than this stops the analyzer's time, too.
const BLINK: Duration = Duration::from_millis(250);
/// For so long after a capture or a debugger's request, the simulation may take a whole core of the
/// host. Then it takes half of one at most.
const ATTENTION_SPAN: Duration = Duration::from_secs(10);
/// Where the core jumps to take a fault: nothing answers there (RM0368 §2.3, figure 3).
const NOWHERE: u32 = 0x6000_0000;
/// An instruction comes next within so many steps, if the core is awake.
const MOST_STEPS: usize = 1000;

/// What lies around the board on its desk.
pub struct Desk {
    faults: Faults,
    line: Line,
    terminal: Terminal,
    /// What feeds OSC_IN, without the error of its clock.
    hse: Hse,
    /// Until the board runs in the capture under way.
    lead_in: Option<LeadIn>,
    /// The samples of that capture as simulated time, once the board runs.
    clock: Option<SampleClock>,
    /// Samples before that.
    first: u64,
    /// When the board last stopped, if it stands still, and how much of that time has been sampled.
    still: Option<(Instant, Duration)>,
    /// When somebody last wanted something.
    wanted: Instant,
}

/// Simulated time of a capture in samples.
#[derive(Clone, Copy)]
pub struct SampleClock {
    pub samplerate_hz: u64,
    /// When the board began to run, and which sample that was.
    pub since: Seconds,
    pub first: u64,
}

impl SampleClock {
    /// The moment of a sample.
    pub fn limit(&self, sample: u64) -> Limit {
        Limit::Time(
            self.since
                .later_by(sample.saturating_sub(self.first), self.samplerate_hz),
        )
    }
}

impl Desk {
    pub fn new(faults: Faults, terminal: Terminal, hse: Hse) -> Desk {
        Desk {
            line: Line::new(faults.clone()),
            faults,
            terminal,
            hse,
            lead_in: None,
            clock: None,
            first: 0,
            still: None,
            wanted: Instant::now(),
        }
    }

    /// The samples of a capture are on a grid that begins now.
    fn begin_grid(&self, board: &mut Board) {
        let inputs = board.inputs();
        if let Some(capture) = &mut board.capture {
            let (cycle, timebase) = (board.machine.cycles(), board.machine.timebase());
            let rate = capture.request.samplerate_hz;
            capture.sampler = Sampler::beginning(rate, timebase, cycle, inputs);
        }
    }

    /// The next fault of the board, if it is due in the capture under way.
    fn due(&self, board: &Board) -> Option<(Fault, u64)> {
        let at = self.faults.next_at(Clock::Board)?;
        let limit = board.capture.as_ref().and(self.clock)?.limit(at);
        let due = board.machine.reached(limit);
        due.then(|| self.faults.take_due(Clock::Board, at))
            .flatten()
    }

    /// Lets happen what is due.
    fn suffer(&mut self, board: &mut Board) -> Result<(), Stop> {
        while let Some((fault, at)) = self.due(board) {
            match &fault {
                Fault::Hang | Fault::Astray => {
                    let later = !derail(&mut board.machine, &fault);
                    later.then(|| self.faults.add(Clock::Board, fault, at + 1));
                }
                Fault::Reset(again) => {
                    board.machine.reset()?;
                    if let Some(period) = again {
                        let at = at.saturating_add(*period);
                        self.faults.add(Clock::Board, fault, at);
                    }
                }
                Fault::BrownOut => board.machine.brown_out()?,
                Fault::TraceOff => {
                    if let Err(DebugFault::Stop(stop)) = board.machine.stop_trace() {
                        return Err(stop);
                    }
                }
                Fault::Unplug(back_as) => {
                    self.line.cut();
                    if let Some(debugger) = &mut board.debugger {
                        debugger.leave();
                    }
                    self.faults.unplug("probe", back_as.clone());
                }
                _ => {} // of another device
            }
        }
        Ok(())
    }
}

impl Surroundings for Desk {
    fn look(&mut self, board: &mut Board) {
        let debugger = board.debugger.as_ref();
        if board.capture.is_some() || debugger.is_some_and(Debugger::is_speaking) {
            self.wanted = Instant::now();
        }
        if self.faults.power_gone() {
            if let Some(debugger) = &mut board.debugger {
                debugger.lose_power();
            }
            if let Err(stop) = board.machine.brown_out() {
                lock_up(&mut board.machine, &stop);
            }
        }
    }

    /// How long a debugger takes to leave is the host's time, which shall not be the board's.
    fn holds(&self, board: &Board) -> bool {
        let debugger = board.debugger.as_ref();
        board.capture.is_some() && debugger.is_some_and(Debugger::is_leaving)
    }

    fn begin_capture(&mut self, board: &mut Board, waits: bool) {
        if let Some(capture) = &mut board.capture {
            self.lead_in = waits.then(|| LeadIn::new(capture.request.samplerate_hz));
        }
        (self.clock, self.first) = (None, 0);
        self.begin_grid(board);
        self.line.restart();
        let ppm = self.faults.states().clock_ppm;
        // From its next reset on.
        board.machine.set_hse(self.hse.off_by(ppm));
        if !board.powered {
            self.stand_still(board);
        }
    }

    /// Time stands still for the board. A capture gets the samples of its lead-in, or samples in
    /// real time if a debugger holds the board for long.
    fn stand_still(&mut self, board: &mut Board) {
        let (since, sampled) = *self.still.get_or_insert((Instant::now(), Duration::ZERO));
        let holds = self.holds(board);
        let Some(capture) = &mut board.capture else {
            return;
        };
        let samples = match &mut self.lead_in {
            Some(lead_in) if !lead_in.is_over() => lead_in.due(),
            over => {
                if over.take().is_some() {
                    self.still = Some((Instant::now(), Duration::ZERO));
                    return;
                }
                let elapsed = since.elapsed();
                if elapsed < BLINK || holds {
                    return;
                }
                self.still = Some((since, elapsed));
                let nanoseconds = (elapsed - sampled).as_nanos();
                (nanoseconds * u128::from(capture.request.samplerate_hz) / 1_000_000_000) as u64
            }
        };
        if samples > 0 {
            let run = capture.sampler.stand_still(samples);
            self.first += samples;
            capture.outbox.push_back(vec![run]);
        }
    }

    /// The board runs from now on: the rest of the lead-in, and then its own samples.
    fn begin_slice(&mut self, board: &mut Board) -> Limit {
        self.still = None;
        let lead_in = self.lead_in.take();
        if let (Some(mut lead_in), Some(capture)) = (lead_in, &mut board.capture) {
            let rest = capture.sampler.stand_still(lead_in.rest());
            capture.outbox.push_back(vec![rest]);
            self.first += rest.samples;
            board.machine.take_edges(); // what happened while nobody looked
            self.begin_grid(board);
        }
        let machine = &mut board.machine;
        let states = self.faults.states();
        machine.ignore_flash_writes(states.loader_idles);
        machine.protect_flash(states.flash_protected);
        let Some(capture) = &board.capture else {
            return Limit::Endless;
        };
        let clock = self.clock.get_or_insert(SampleClock {
            samplerate_hz: capture.request.samplerate_hz,
            since: machine.timebase().seconds(machine.cycles()),
            first: self.first,
        });
        let next = self.faults.next_at(Clock::Board);
        next.map_or(Limit::Endless, |at| clock.limit(at))
    }

    fn carry(&mut self, board: &Board, sent: Vec<u8>) -> Vec<u8> {
        if sent.is_empty() {
            return sent;
        }
        let baud = board.machine.soc().console_baud();
        self.line.set_rates(baud, self.terminal.baud());
        self.line.carry(&sent)
    }

    fn end_slice(&mut self, board: &mut Board, slice: Result<(), Stop>) -> Result<(), Stop> {
        if let Err(stop) = slice.and_then(|()| self.suffer(board)) {
            lock_up(&mut board.machine, &stop);
        }
        Ok(())
    }

    fn rest(&self, ahead: Duration, ran: Duration) -> Duration {
        match self.wanted.elapsed() < ATTENTION_SPAN {
            true => ahead,
            false => ahead.max(ran),
        }
    }
}

/// The board hangs until a probe resets it, whatever stopped it.
fn lock_up(machine: &mut Machine, stop: &Stop) {
    if !matches!(stop, Stop::Lockup { .. }) {
        // The chip would not stop there, or nobody knows what it would do.
        eprintln!("virtual-nucleo: {stop}; the board hangs until it is reset");
    }
    machine.core_mut().lock_up();
}

/// Sends the core astray. False while it handles an exception's entry, or sleeps.
fn derail(machine: &mut Machine, fault: &Fault) -> bool {
    for _ in 0..MOST_STEPS {
        if machine.core().about_to_execute() {
            match fault {
                Fault::Hang => machine.loop_for_ever(),
                _ => machine.core_mut().go_astray(NOWHERE),
            }
            return true;
        }
        let next = machine.cycles() + 1;
        if machine.core().asleep() || machine.run_one(next).is_err() {
            break;
        }
    }
    false
}

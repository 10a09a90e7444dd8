//! The thread that runs a board on a desk. The board is there before any program asks for it: a
//! debug probe flashes it, holds it and starts it, an analyzer captures it again and again.
//!
//! Simulated time depends on the host's clock only where nobody measures: see `lead_in.rs` and
//! [`Desk::stand_still`].

use super::lead_in::LeadIn;
use super::mishaps::{derail, Mishap, Mishaps, SampleClock};
use super::{hear, Debugger, NotesFile, SLICE_CYCLES};
use cortex_m::{DebugFault, Stop};
use desk::capture_request::CaptureRequest;
use desk::clips::{Clips, Inputs};
use desk::line_faults::{Line, LineFaults};
use desk::samples::{Run, Sampler};
use desk::uart::Serial;
use machine::{Limit, Machine};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, TrySendError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stm32::peripherals::rcc::{Hse, NUCLEO_HSE};

/// How long to wait for a debugger when there is nothing to do.
const REST: Duration = Duration::from_millis(2);
/// A debugger that halts the core for shorter than this stops the analyzer's time, too.
const BLINK: Duration = Duration::from_millis(250);
/// For so long after a capture or a debugger's request, the simulation may take a whole core of the
/// host. Then it takes half of one at most.
const ATTENTION_SPAN: Duration = Duration::from_secs(10);

/// When the board leaves reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// At once.
    On,
    /// With the first capture, or when a debugger has halted the core and resumes it.
    AtCapture,
}

/// What befalls the board, its line and its loader, to inject. Clones share it.
#[derive(Clone)]
pub struct BoardFaults {
    pub mishaps: Mishaps,
    pub line: LineFaults,
    /// The loader programs and erases in vain.
    pub loader_idles: Arc<AtomicBool>,
    /// The flash has read protection.
    pub flash_protected: Arc<AtomicBool>,
    /// The board loses its power and has it again.
    pub power_gone: Arc<AtomicBool>,
    /// By how many millionths the board's clock is too fast.
    pub clock_ppm: Arc<AtomicI64>,
    /// Who unplugs the probe.
    pub probe_gone: Sender<ProbeGone>,
}

impl BoardFaults {
    /// None is planned.
    pub fn new(probe_gone: Sender<ProbeGone>) -> BoardFaults {
        BoardFaults {
            mishaps: Mishaps::default(),
            line: LineFaults::default(),
            loader_idles: Arc::default(),
            flash_protected: Arc::default(),
            power_gone: Arc::default(),
            clock_ppm: Arc::default(),
            probe_gone,
        }
    }
}

/// The probe is unplugged. Some: it comes back, with its serial port under this name.
pub struct ProbeGone(pub Option<String>);

/// A capture that is under way.
struct Capture {
    request: CaptureRequest,
    /// Until the board runs.
    lead_in: Option<LeadIn>,
    sampler: Sampler,
    /// Its samples as simulated time, once the board runs.
    clock: Option<SampleClock>,
    /// Samples before that.
    first: u64,
    /// Samples that the analyzer has no room for yet. The board waits for it.
    outbox: VecDeque<Vec<Run>>,
}

pub struct Desk {
    machine: Machine,
    clips: Clips,
    captures: Receiver<CaptureRequest>,
    serial: Serial,
    debugger: Debugger,
    capture: Option<Capture>,
    powered: bool,
    /// When the board last stopped, if it stands still, and how much of that time has been sampled.
    still: Option<(Instant, Duration)>,
    faults: BoardFaults,
    notes_file: Option<NotesFile>,
    /// What feeds OSC_IN, without the error of its clock.
    hse: Hse,
    line: Line,
    /// When somebody last wanted something.
    wanted: Instant,
    /// Where simulated time and the host's are compared from.
    anchor: (Instant, Duration),
}

impl Desk {
    pub fn new(
        machine: Machine,
        clips: Clips,
        captures: Receiver<CaptureRequest>,
        serial: Serial,
        debugger: Debugger,
        power: Power,
        faults: BoardFaults,
    ) -> Desk {
        let now = Instant::now();
        Desk {
            machine,
            clips,
            captures,
            serial,
            debugger,
            capture: None,
            powered: power == Power::On,
            still: None,
            line: Line::new(faults.line.clone()),
            faults,
            notes_file: None,
            hse: NUCLEO_HSE,
            wanted: now,
            anchor: (now, Duration::ZERO),
        }
    }

    /// What feeds OSC_IN.
    pub fn clocked_by(self, hse: Option<Hse>) -> Desk {
        let hse = hse.unwrap_or(self.hse);
        Desk { hse, ..self }
    }

    /// Where what the board notes is written, if anywhere.
    pub fn noting(self, notes_file: Option<NotesFile>) -> Desk {
        Desk { notes_file, ..self }
    }

    /// Runs as long as the process.
    pub fn run(mut self) -> Option<Infallible> {
        loop {
            self.take_request()?;
            if self.capture.is_some() || self.debugger.is_speaking() {
                self.wanted = Instant::now();
            }
            self.powered |= self.debugger.took_over();
            if self.faults.power_gone.swap(false, Ordering::Relaxed) {
                self.debugger.lose_power();
                if let Err(stop) = self.machine.brown_out() {
                    self.lock_up(&stop);
                }
            }
            if !self.deliver() {
                self.attend(REST); // the analyzer's host takes its time
            } else if self.lets_run() {
                self.still = None;
                self.begin_sampling();
                let patience = self.debugger.patience(&mut self.machine);
                self.attend(patience);
                if self.lets_run() {
                    self.run_slice();
                    self.keep_pace();
                }
            } else {
                self.stand_still();
                self.attend(REST);
            }
        }
    }

    fn attend(&mut self, patience: Duration) {
        self.debugger.attend(&mut self.machine, patience);
    }

    /// A capture that is asked for replaces the one under way. None when the analyzer is gone.
    fn take_request(&mut self) -> Option<()> {
        match self.captures.try_recv() {
            Ok(request) => {
                let sampler = self.sampler(request.samplerate_hz);
                let starts = !self.lets_run();
                self.capture = Some(Capture {
                    lead_in: starts.then(|| LeadIn::new(request.samplerate_hz)),
                    sampler,
                    clock: None,
                    first: 0,
                    outbox: VecDeque::new(),
                    request,
                });
                self.line.restart();
                self.prepare();
                if !self.powered {
                    self.powered = true;
                    self.stand_still();
                }
                Some(())
            }
            Err(TryRecvError::Empty) => Some(()),
            Err(TryRecvError::Disconnected) => None,
        }
    }

    /// What the board is like from its next reset on.
    fn prepare(&mut self) {
        let ppm = self.faults.clock_ppm.load(Ordering::Relaxed);
        self.machine.set_hse(self.hse.off_by(ppm));
    }

    /// A grid of samples that begins now.
    fn sampler(&self, samplerate_hz: u64) -> Sampler {
        let inputs = Inputs::new(&self.clips, |pin| self.machine.soc().level(pin));
        let cycle = self.machine.cycles();
        Sampler::beginning(samplerate_hz, self.machine.timebase(), cycle, inputs)
    }

    fn lets_run(&self) -> bool {
        self.powered && self.debugger.lets_run(&self.machine) && !self.awaits_leave()
    }

    /// How long a debugger takes to leave is the host's time, which shall not be the board's.
    fn awaits_leave(&self) -> bool {
        self.capture.is_some() && self.debugger.is_leaving()
    }

    /// Hands over what is sampled. False while the analyzer has no room for all of it.
    fn deliver(&mut self) -> bool {
        let Some(capture) = &mut self.capture else {
            return true;
        };
        while let Some(runs) = capture.outbox.pop_front() {
            match capture.request.runs.try_send(runs) {
                Ok(()) => {
                    if let Some(waker) = &capture.request.arrived {
                        waker.wake();
                    }
                }
                Err(TrySendError::Full(runs)) => {
                    capture.outbox.push_front(runs);
                    return false;
                }
                Err(TrySendError::Disconnected(_)) => {
                    self.capture = None;
                    return true;
                }
            }
        }
        true
    }

    /// The board runs from now on: the rest of the lead-in, and then its own samples.
    fn begin_sampling(&mut self) {
        self.sample_lead_in();
        let since = self.machine.timebase().seconds(self.machine.cycles());
        if let Some(capture) = &mut self.capture {
            capture.clock.get_or_insert(SampleClock {
                samplerate_hz: capture.request.samplerate_hz,
                since,
                first: capture.first,
            });
        }
    }

    fn sample_lead_in(&mut self) {
        let Some(mut lead_in) = self.capture.as_mut().and_then(|c| c.lead_in.take()) else {
            return;
        };
        self.machine.take_edges(); // what happened while nobody looked
        let rate = self.capture.as_ref().map(|c| c.request.samplerate_hz);
        let sampler = rate.map(|rate| self.sampler(rate));
        if let (Some(capture), Some(sampler)) = (&mut self.capture, sampler) {
            let rest = capture.sampler.stand_still(lead_in.rest());
            capture.outbox.push_back(vec![rest]);
            capture.first += rest.samples;
            capture.sampler = sampler;
        }
    }

    /// Time stands still for the board. A capture gets the samples of its lead-in, or samples in
    /// real time if a debugger holds the board for long.
    fn stand_still(&mut self) {
        let (since, sampled) = *self.still.get_or_insert((Instant::now(), Duration::ZERO));
        let awaits_leave = self.awaits_leave();
        let Some(capture) = &mut self.capture else {
            return;
        };
        let samples = match &mut capture.lead_in {
            Some(lead_in) if !lead_in.is_over() => lead_in.due(),
            over => {
                if over.take().is_some() {
                    self.still = Some((Instant::now(), Duration::ZERO));
                    return;
                }
                let elapsed = since.elapsed();
                if elapsed < BLINK || awaits_leave {
                    return;
                }
                self.still = Some((since, elapsed));
                let nanoseconds = (elapsed - sampled).as_nanos();
                (nanoseconds * u128::from(capture.request.samplerate_hz) / 1_000_000_000) as u64
            }
        };
        if samples > 0 {
            let run = capture.sampler.stand_still(samples);
            capture.first += samples;
            capture.outbox.push_back(vec![run]);
        }
    }

    fn run_slice(&mut self) {
        hear(&mut self.machine, &self.serial);
        let cycles = self.debugger.slice_cycles(SLICE_CYCLES);
        let limit = self.next_mishap().unwrap_or(Limit::Endless);
        let idles = self.faults.loader_idles.load(Ordering::Relaxed);
        self.machine.ignore_flash_writes(idles);
        let protected = self.faults.flash_protected.load(Ordering::Relaxed);
        self.machine.protect_flash(protected);
        let slice = self.machine.run_slice(limit, cycles);
        if let Some(notes_file) = &mut self.notes_file {
            notes_file.see(&self.machine);
        }
        let sent = self.machine.take_transmitted();
        if !sent.is_empty() {
            let baud = self.machine.soc().console_baud();
            self.line.set_rates(baud, self.serial.host_baud());
            self.serial.send(self.line.carry(&sent));
        }
        let edges = self.machine.take_edges();
        if let Some(capture) = &mut self.capture {
            let timebase = self.machine.timebase();
            let runs = capture
                .sampler
                .runs(&edges, self.machine.cycles(), timebase);
            if !runs.is_empty() {
                capture.outbox.push_back(runs);
            }
        }
        if let Err(stop) = slice.and_then(|()| self.suffer()) {
            self.lock_up(&stop);
        }
    }

    /// When the next mishap is due in the capture under way.
    fn next_mishap(&self) -> Option<Limit> {
        let clock = self.capture.as_ref()?.clock?;
        self.faults.mishaps.next_at().map(|at| clock.limit(at))
    }

    /// Lets happen what is due.
    fn suffer(&mut self) -> Result<(), Stop> {
        while self
            .next_mishap()
            .is_some_and(|limit| self.machine.reached(limit))
        {
            let Some((mishap, at)) = self.faults.mishaps.take_next() else {
                break;
            };
            match mishap {
                Mishap::Hang | Mishap::Fault => {
                    if !derail(&mut self.machine, &mishap) {
                        self.faults.mishaps.add(mishap, at + 1);
                    }
                }
                Mishap::Reset(again) => {
                    self.machine.reset()?;
                    if let Some(period) = again {
                        self.faults.mishaps.add(mishap, at.saturating_add(period));
                    }
                }
                Mishap::BrownOut => self.machine.brown_out()?,
                Mishap::TraceOff => {
                    if let Err(DebugFault::Stop(stop)) = self.machine.stop_trace() {
                        return Err(stop);
                    }
                }
                Mishap::ProbeGone(back_as) => {
                    self.line.cut();
                    self.debugger.leave();
                    // Its receiver lives as long as the process.
                    let _ = self.faults.probe_gone.send(ProbeGone(back_as));
                }
            }
        }
        Ok(())
    }

    /// The board hangs until a probe resets it, whatever stopped it.
    fn lock_up(&mut self, stop: &Stop) {
        if !matches!(stop, Stop::Lockup { .. }) {
            // The chip would not stop there, or nobody knows what it would do.
            eprintln!("virtual-nucleo: {stop}; the board hangs until it is reset");
        }
        self.machine.core_mut().lock_up();
    }

    /// Without a capture, simulated time is not faster than the host's, and an idle board does not
    /// keep the host busy.
    fn keep_pace(&mut self) {
        let simulated = self.simulated();
        if self.capture.is_some() || self.debugger.awaits_the_end(&self.machine) {
            self.anchor = (Instant::now(), simulated);
            return;
        }
        let (since, from) = self.anchor;
        let ahead = simulated
            .saturating_sub(from)
            .saturating_sub(since.elapsed());
        let pause = match self.wanted.elapsed() < ATTENTION_SPAN {
            true => ahead,
            false => ahead.max(since.elapsed()),
        };
        if !pause.is_zero() {
            self.attend(pause);
        }
        self.anchor = (Instant::now(), simulated);
    }

    fn simulated(&self) -> Duration {
        let cycle = self.machine.cycles();
        Duration::from_micros(self.machine.timebase().sample(cycle, 1_000_000))
    }
}

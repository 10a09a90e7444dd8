//! The debug probe's requests, on the simulation's thread.

use super::ring::FollowedRing;
use super::ATTENTION_PERIOD;
use machine::debug_port::{DebugPort, ProbeRequest, Request};
use machine::Machine;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use stm32::chip::SRAM_BASE;

/// After a request, the probe is asked again after this many core cycles: 0.2 ms at 84 MHz.
const ATTENTIVE_SLICE_CYCLES: u64 = 1 << 14;
/// A debugger that has reset the board, and has asked for nothing for so long, stays: a loader's
/// process ends some 0.1 s later, and on a busy host many times as late.
const LEAVING_SPAN: Duration = Duration::from_secs(30);
/// Without requests for this long, the simulation runs in long slices again.
const ATTENTION_SPAN: Duration = Duration::from_millis(200);
/// While bytes lie in a ring that a debugger empties, a slice waits this long for the debugger. An
/// FX2's driver bears with pauses twice as long. A host that is busy for 10 s costs 8 ms of
/// simulated time.
const READER_PATIENCE: Duration = Duration::from_millis(250);

pub struct Debugger {
    requests: Receiver<ProbeRequest>,
    port: DebugPort,
    heard: Option<Instant>,
    ring: FollowedRing,
    /// When it last let go of the reset line.
    released: Option<Instant>,
    /// A debugger has halted the core at least once. From then on it decides when the core runs.
    took_over: bool,
}

impl Debugger {
    pub fn new(requests: Receiver<ProbeRequest>) -> Debugger {
        Debugger {
            requests,
            port: DebugPort::default(),
            heard: None,
            ring: FollowedRing::default(),
            released: None,
            took_over: false,
        }
    }

    pub fn took_over(&self) -> bool {
        self.took_over
    }

    /// Whether the machine may execute.
    pub fn lets_run(&self, machine: &Machine) -> bool {
        !self.port.holds_reset() && !machine.core().held()
    }

    /// How many cycles may pass before the probe is asked again. The program cannot notice it.
    pub fn slice_cycles(&self, usual: u64) -> u64 {
        if self.is_speaking() || self.ring.is_followed() {
            ATTENTIVE_SLICE_CYCLES
        } else {
            usual
        }
    }

    /// How long to wait for a request before the next slice, if nothing else limits the speed.
    /// While the core is held, time stands still. After a request, the simulation waits for the
    /// next one. So a debugger that follows the program gets a turn in each slice. One that empties
    /// a ring is waited for where it counts: see [`Debugger::attend`].
    pub fn patience(&self, machine: &mut Machine) -> Duration {
        let is_followed = self.is_speaking()
            && !self.awaits_the_end(machine)
            && self.ring.waits(machine).is_none();
        if self.lets_run(machine) && !is_followed {
            Duration::ZERO
        } else {
            ATTENTION_PERIOD
        }
    }

    /// Whether the debugger asks again and again whether the core has halted that runs what it has
    /// put into SRAM, a flash algorithm. Then the faster the simulation, the better.
    pub fn awaits_the_end(&self, machine: &Machine) -> bool {
        self.is_speaking()
            && machine.core().pc().wrapping_sub(SRAM_BASE) < machine.chip().sram_bytes as u32
    }

    /// Whether it asked for something a moment ago.
    pub fn is_speaking(&self) -> bool {
        self.heard
            .is_some_and(|heard| heard.elapsed() < ATTENTION_SPAN)
    }

    /// Waits up to `patience` for a request and answers it. If the core runs, and bytes lie in a ring
    /// that a debugger empties, it goes on until none do. So simulated time does not run off while a
    /// busy host keeps the debugger waiting.
    pub fn attend(&mut self, machine: &mut Machine, patience: Duration) {
        // An error means that none came: the server lives as long as the process.
        if let Ok(request) = self.requests.recv_timeout(patience) {
            self.answer(machine, request);
        }
        let since = Instant::now();
        while self.lets_run(machine) && self.ring.waits(machine) == Some(true) {
            let rest = READER_PATIENCE.saturating_sub(since.elapsed());
            match self.requests.recv_timeout(rest) {
                Ok(request) => self.answer(machine, request),
                Err(_) => break,
            }
        }
    }

    /// Whether a debugger has reset the board, and has not let go of its probe yet. One that looks at
    /// SRAM follows the program, and stays.
    pub fn is_leaving(&self) -> bool {
        self.released.is_some_and(|released| {
            released.elapsed() < LEAVING_SPAN && !self.ring.was_looked_at_since(released)
        })
    }

    /// What a debugger has set in the chip's debug port is gone.
    pub fn lose_power(&mut self) {
        self.port = DebugPort::default();
        self.leave();
    }

    /// Whoever used the probe is gone.
    pub fn leave(&mut self) {
        self.ring.forget();
        self.released = None;
    }

    fn answer(&mut self, machine: &mut Machine, request: ProbeRequest) {
        self.ring.note(machine, &request.request);
        match request.request {
            Request::Reset | Request::HoldReset(false) => self.released = Some(Instant::now()),
            Request::Leave => self.leave(),
            _ => {}
        }
        let outcome = self.port.answer(machine, request.request);
        self.heard = Some(Instant::now());
        self.took_over |= machine.core().debug().halted();
        // The client may have hung up.
        let _ = request.reply.send(outcome);
    }
}

//! The simulation thread's end of the debug probe.

use super::ATTENTION_PERIOD;
use crate::debug::DebugPort;
use crate::machine::Machine;
use crate::servers::probe::ProbeRequest;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Once a debugger has spoken it is listened to this often, in core cycles: 0.2 ms at 84 MHz.
const ATTENTIVE_SLICE_CYCLES: u64 = 1 << 14;
/// After this long in silence the simulation runs in long slices again.
const ATTENTION_SPAN: Duration = Duration::from_millis(200);

pub struct Debugger {
    requests: Receiver<ProbeRequest>,
    port: DebugPort,
    heard: Option<Instant>,
    /// A debugger has halted the core at least once, and so decides when it runs.
    took_over: bool,
}

impl Debugger {
    pub fn new(requests: Receiver<ProbeRequest>) -> Debugger {
        Debugger {
            requests,
            port: DebugPort::default(),
            heard: None,
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

    /// How many cycles may pass before the next look at the probe. What a program does does not depend on it.
    pub fn slice_cycles(&self, usual: u64) -> u64 {
        if self.is_speaking() {
            ATTENTIVE_SLICE_CYCLES
        } else {
            usual
        }
    }

    /// How long to wait for a request before the next slice of a run that nothing else paces. Time stands still while
    /// the core is held. A debugger that speaks is waited for, so that one that follows the program (which drains a
    /// buffer, say) gets a turn in each slice however slow its host.
    pub fn patience(&self, machine: &Machine) -> Duration {
        if self.lets_run(machine) && !self.is_speaking() {
            Duration::ZERO
        } else {
            ATTENTION_PERIOD
        }
    }

    fn is_speaking(&self) -> bool {
        self.heard
            .is_some_and(|heard| heard.elapsed() < ATTENTION_SPAN)
    }

    /// Waits up to `patience` for a request and answers it.
    pub fn attend(&mut self, machine: &mut Machine, patience: Duration) {
        // An error is the end of the patience; the server goes only with the process.
        if let Ok(request) = self.requests.recv_timeout(patience) {
            self.answer(machine, request);
        }
    }

    fn answer(&mut self, machine: &mut Machine, request: ProbeRequest) {
        let outcome = self.port.answer(machine, request.request);
        self.heard = Some(Instant::now());
        self.took_over |= machine.core().halted();
        // A client that hung up does not wait for its answer.
        let _ = request.reply.send(outcome);
    }
}

//! I2C as a master: what both versions of its registers do on SCL and SDA. `v1.rs` has the registers of
//! the STM32F4 and the STM32F1, `v2.rs` those of the newer lines.
//!
//! A START or STOP condition takes half a period of SCL, a bit a period, a byte nine of them. Without a
//! partner the bus has pull-ups and no slave: every address is answered by NACK.

pub mod v1;
pub mod v2;

use crate::partners::wires::{Wires, SCL, SDA};
use serde::{Deserialize, Serialize};

const BITS: u64 = 8;

/// What is on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Start,
    Address,
    /// Eight bits to the slave.
    Sending,
    /// Eight bits from it.
    Receiving,
    /// The ninth bit, by the slave or by the master: whether it is an acknowledge.
    Acknowledge(bool),
    Stop,
}

/// What has ended on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Start,
    /// Eight bits have come. The master must say whether it acknowledges.
    Byte,
    /// The ninth bit of a byte.
    Acknowledge(bool),
    Stop,
}

/// SCL and SDA, and what is under way on them.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Line {
    wires: Wires,
    /// What is under way, and its end.
    phase: Option<(Phase, u64)>,
    byte: u8,
    /// Core cycles in which SCL is low, and high, in each period.
    low: u64,
    high: u64,
}

impl Line {
    fn is_free(&self) -> bool {
        self.phase.is_none()
    }

    fn next_event(&self) -> Option<u64> {
        self.phase.map(|(_, end)| end)
    }

    /// Core cycles of half a period, for a condition.
    fn half(&self) -> u64 {
        (self.low + self.high) / 2
    }

    /// The peripheral is off: the bus is free.
    fn release(&mut self) {
        self.phase = None;
        self.wires.erase(SCL | SDA);
    }

    /// SDA falls while SCL is high; then SCL falls.
    fn start(&mut self, now: u64) {
        let end = now + self.half();
        self.phase = Some((Phase::Start, end));
        if self.wires.is_occupied() {
            self.wires.draw(now + self.half() / 4, SDA, SDA);
            self.wires.draw(now + self.half() / 2, SCL, SCL);
            self.wires.draw(now + self.half() * 3 / 4, SDA, 0);
            self.wires.draw(end, SCL, 0);
        }
    }

    /// SDA rises while SCL is high.
    fn stop(&mut self, now: u64) {
        let end = now + self.half();
        self.phase = Some((Phase::Stop, end));
        if self.wires.is_occupied() {
            self.wires.draw(now + self.half() / 4, SDA, 0);
            self.wires.draw(now + self.half() / 2, SCL, SCL);
            self.wires.draw(end, SDA, SDA);
        }
    }

    fn address(&mut self, byte: u8, now: u64) {
        self.byte = byte;
        self.bits(Phase::Address, now);
    }

    fn send(&mut self, byte: u8, now: u64) {
        self.byte = byte;
        self.bits(Phase::Sending, now);
    }

    fn receive(&mut self, now: u64) {
        self.byte = self.wires.read(now);
        self.bits(Phase::Receiving, now);
    }

    fn bits(&mut self, phase: Phase, now: u64) {
        self.phase = Some((phase, now + BITS * (self.low + self.high)));
        for bit in 0..BITS {
            let at = now + bit * (self.low + self.high);
            self.draw_bit(self.byte << bit & 0x80 != 0, at);
        }
    }

    /// The ninth bit: low is an acknowledge.
    fn acknowledge(&mut self, acknowledged: bool, now: u64) {
        let end = now + self.low + self.high;
        self.phase = Some((Phase::Acknowledge(acknowledged), end));
        self.draw_bit(!acknowledged, now);
    }

    /// SDA changes in the middle of SCL's low time.
    fn draw_bit(&mut self, bit: bool, at: u64) {
        if self.wires.is_occupied() {
            let level = if bit { SDA } else { 0 };
            self.wires.draw(at + self.low / 2, SDA, level);
            self.wires.draw(at + self.low, SCL, SCL);
            self.wires.draw(at + self.low + self.high, SCL, 0);
        }
    }

    /// What ended up to a cycle, and when; one thing at a time.
    fn take_ended(&mut self, now: u64) -> Option<(Ended, u64)> {
        loop {
            let (phase, end) = self.phase.filter(|(_, end)| *end <= now)?;
            self.phase = None;
            let ended = match phase {
                Phase::Start => Ended::Start,
                Phase::Receiving => Ended::Byte,
                Phase::Acknowledge(acknowledged) => Ended::Acknowledge(acknowledged),
                Phase::Stop => {
                    self.wires.stop(end);
                    Ended::Stop
                }
                Phase::Address | Phase::Sending => {
                    let acknowledged = match phase {
                        Phase::Address => self.wires.address(self.byte, end),
                        _ => self.wires.write(self.byte, end),
                    };
                    self.acknowledge(acknowledged, end);
                    continue;
                }
            };
            return Some((ended, end));
        }
    }
}

/// What the master is doing between conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Role {
    /// No address was acknowledged, or a byte was not.
    #[default]
    Idle,
    /// An address is on its way; the master will read.
    Calls {
        reads: bool,
    },
    Transmitter,
    Receiver,
}

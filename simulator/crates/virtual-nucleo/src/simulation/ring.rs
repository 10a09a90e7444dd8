//! A ring of SEGGER's Real Time Transfer (UM08001, chapter on RTT) that a debugger empties while the
//! program runs.
//!
//! Nobody tells the board where the ring is: a debugger looks at its control block again and again,
//! and the block begins with an id.

use cortex_m::bus::Width;
use machine::debug_port::Request;
use machine::Machine;
use std::time::{Duration, Instant};
use stm32::chip::MOST_SRAM_BYTES;
use stm32::chip::SRAM_BASE;

/// `SEGGER RTT` and zeros, as words.
const ID: [u32; 4] = [0x4747_4553, 0x5220_5245, 0x0000_5454, 0];
/// The offsets of the first up buffer, behind id, two numbers, name, ring and size.
const WRITE_OFFSET: u32 = 16 + 4 + 4 + 12;
const READ_OFFSET: u32 = WRITE_OFFSET + 4;
/// A debugger that has not looked at the ring for this long does not follow it any more.
const FOLLOWED_SPAN: Duration = Duration::from_secs(10);

/// What a debugger looks at in SRAM, and when it last did.
#[derive(Default)]
pub struct FollowedRing {
    looked: Option<(u32, Instant)>,
}

impl FollowedRing {
    /// A debugger makes this request. What it looks at may be a ring now, or become one.
    pub fn note(&mut self, machine: &mut Machine, request: &Request) {
        match request {
            Request::ReadMemory { address, .. } | Request::WriteMemory { address, .. } => {
                let known = self.looked.map(|(known, _)| known);
                let another = known != Some(*address);
                if !in_sram(*address) || another && self.offsets(machine).is_some() {
                    return;
                }
                self.looked = Some((*address, Instant::now()));
            }
            Request::InOrder(requests) => {
                for request in requests {
                    self.note(machine, request);
                }
            }
            _ => {}
        }
    }

    /// The debugger is gone.
    pub fn forget(&mut self) {
        self.looked = None;
    }

    /// Whether a debugger has looked at SRAM since `instant`.
    pub fn was_looked_at_since(&self, instant: Instant) -> bool {
        self.looked.is_some_and(|(_, at)| at > instant)
    }

    /// Whether a debugger looked at SRAM a while ago, and may look again.
    pub fn is_followed(&self) -> bool {
        self.looked
            .is_some_and(|(_, at)| at.elapsed() < FOLLOWED_SPAN)
    }

    /// Whether a debugger follows a ring: some if it does, true if bytes lie in it.
    pub fn waits(&self, machine: &mut Machine) -> Option<bool> {
        if !self.is_followed() {
            return None;
        }
        self.offsets(machine).map(|(write, read)| write != read)
    }

    /// Where the program writes next and the debugger reads next, if there is a ring.
    fn offsets(&self, machine: &mut Machine) -> Option<(u32, u32)> {
        let (block, _) = self.looked?;
        let mut word = |offset| {
            machine
                .debug_read(block.wrapping_add(offset), Width::Word)
                .ok()
        };
        for (offset, expected) in (0..).step_by(4).zip(ID) {
            if word(offset)? != expected {
                return None;
            }
        }
        Some((word(WRITE_OFFSET)?, word(READ_OFFSET)?))
    }
}

fn in_sram(address: u32) -> bool {
    address % 4 == 0 && address.wrapping_sub(SRAM_BASE) < MOST_SRAM_BYTES as u32
}

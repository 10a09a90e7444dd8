//! The stimulus ports of the Instrumentation Trace Macrocell (C1.7). What software writes to an
//! enabled port goes to a listener. Time stamps and the packets on the SWO pin are not modelled.

use crate::bus::Width;
use serde::{Deserialize, Serialize};

pub const STIMULUS: std::ops::RangeInclusive<u32> = 0xE000_0000..=0xE000_007F;
pub const REGISTERS: std::ops::RangeInclusive<u32> = 0xE000_0E00..=0xE000_0FB7;

const TER: u32 = 0xE000_0E00;
const TPR: u32 = 0xE000_0E40;
const TCR: u32 = 0xE000_0E80;
const LAR: u32 = 0xE000_0FB0;
const LSR: u32 = 0xE000_0FB4;
const LAR_KEY: u32 = 0xC5AC_CE55;
const TCR_ITMENA: u32 = 1 << 0;
/// All but BUSY.
const TCR_WRITABLE: u32 = 0x007F_0F1F;
const LSR_PRESENT: u32 = 1 << 0;
const LSR_LOCKED: u32 = 1 << 1;

/// One write to a stimulus port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stimulus {
    pub cycle: u64,
    pub port: u8,
    pub bytes: u8,
    pub value: u32,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Itm {
    /// TER: bit n enables port n.
    ports: u32,
    /// TPR: bit n reserves ports 8n to 8n + 7 for privileged code.
    privileged_groups: u32,
    control: u32,
    unlocked: bool,
    trace_enabled: bool,
    /// Writes that nobody has taken yet. `None`: nobody listens.
    written: Option<Vec<Stimulus>>,
}

impl Itm {
    pub fn set_trace_enabled(&mut self, enabled: bool) {
        self.trace_enabled = enabled;
    }

    /// Keeps all writes from now on.
    pub fn listen(&mut self) {
        self.written.get_or_insert_with(Vec::new);
    }

    pub fn take(&mut self) -> Vec<Stimulus> {
        self.written
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Whether the port passes on what this code writes.
    fn accepts(&self, port: u32, privileged: bool) -> bool {
        let on = self.trace_enabled && self.control & TCR_ITMENA != 0;
        let reserved = self.privileged_groups >> (port / 8) & 1 != 0;
        on && self.ports >> port & 1 != 0 && (privileged || !reserved)
    }

    /// FIFOREADY: an enabled port takes any number of writes here.
    pub fn read_stimulus(&self, address: u32, privileged: bool) -> u32 {
        self.accepts(address >> 2 & 31, privileged).into()
    }

    pub fn write_stimulus(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        privileged: bool,
        cycle: u64,
    ) {
        let port = address >> 2 & 31;
        if !self.accepts(port, privileged) {
            return;
        }
        if let Some(written) = &mut self.written {
            written.push(Stimulus {
                cycle,
                port: port as u8,
                bytes: width.bytes() as u8,
                value: value & width.mask(),
            });
        }
    }

    /// `None` if the ITM has no such register.
    pub fn read(&self, address: u32) -> Option<u32> {
        Some(match address {
            TER => self.ports,
            TPR => self.privileged_groups,
            TCR => self.control,
            LSR if self.unlocked => LSR_PRESENT,
            LSR => LSR_PRESENT | LSR_LOCKED,
            _ => return None,
        })
    }

    /// The registers ignore writes until LAR gets its key.
    pub fn write(&mut self, address: u32, value: u32) -> Option<()> {
        match address {
            LAR => self.unlocked = value == LAR_KEY,
            TER | TPR | TCR if !self.unlocked => {}
            TER => self.ports = value,
            TPR => self.privileged_groups = value & 0xF,
            TCR => self.control = value & TCR_WRITABLE,
            _ => return None,
        }
        Some(())
    }
}

//! Flash interface (RM0368 §3.8): access control and the lock. Programming and erasing are not modelled.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const ACR: u32 = 0x00;
const KEYR: u32 = 0x04;
const SR: u32 = 0x0C;
const CR: u32 = 0x10;
const OPTCR: u32 = 0x14;

const LATENCY: u32 = 0xF;
const ICEN: u32 = 1 << 9;
const DCEN: u32 = 1 << 10;
const ICRST: u32 = 1 << 11;
const DCRST: u32 = 1 << 12;
const ACR_BITS: u32 = LATENCY | 1 << 8 | ICEN | DCEN | ICRST | DCRST;
const LOCK: u32 = 1 << 31;
/// §3.5.1: the two keys, in this order, open FLASH_CR.
const KEYS: [u32; 2] = [0x4567_0123, 0xCDEF_89AB];

static TABLE: &[Register] = &[
    Register::new(ACR, "ACR", 0, ACR_BITS),
    Register::new(KEYR, "KEYR", 0, !0),
    Register::unmodelled(0x08, "OPTKEYR"),
    Register::new(SR, "SR", 0, 0).inert(0x0000_01F3), // write one to clear, and nothing is ever set
    Register::new(CR, "CR", LOCK, LOCK),
    Register::new(OPTCR, "OPTCR", 0x0FFF_AAED, 0),
];

/// How far the key sequence has come.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Lock {
    Locked,
    FirstKey,
    Open,
    UntilReset,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Flash {
    registers: Registers,
    lock: Lock,
}

impl Default for Flash {
    fn default() -> Self {
        Flash {
            registers: Registers::new("FLASH", TABLE),
            lock: Lock::Locked,
        }
    }
}

impl Flash {
    /// FLASH_ACR: wait states, prefetch and caches, for the fetch timing.
    pub fn access_control(&self) -> u32 {
        self.registers.get(ACR)
    }

    /// Highest HCLK for the wait states at 2.7–3.6 V (§3.4.1, table 6).
    pub fn highest_core_hz(&self) -> u64 {
        match self.registers.get(ACR) & LATENCY {
            0 => 30_000_000,
            1 => 60_000_000,
            _ => 84_000_000,
        }
    }

    fn write_access_control(&mut self, value: u32) -> Result<(), Unmodelled> {
        // §3.8.1: a cache can be reset only while it is disabled.
        if value & ICRST != 0 && value & ICEN != 0 || value & DCRST != 0 && value & DCEN != 0 {
            return Err(self
                .registers
                .refuse(ACR, "reset of a cache that is enabled"));
        }
        self.registers.set(ACR, value);
        Ok(())
    }

    fn write_key(&mut self, key: u32) {
        self.lock = match self.lock {
            Lock::Locked if key == KEYS[0] => Lock::FirstKey,
            Lock::FirstKey if key == KEYS[1] => Lock::Open,
            _ => Lock::UntilReset,
        };
        self.registers.set_bits(CR, LOCK, self.lock != Lock::Open);
    }

    fn write_control(&mut self, value: u32) -> Result<(), Unmodelled> {
        let locks = value & LOCK != 0;
        match self.lock {
            Lock::Open if locks => {
                self.lock = Lock::Locked;
                self.registers.set(CR, LOCK);
            }
            Lock::Open => {}
            _ if !locks => return Err(self.registers.refuse(CR, "written while locked")),
            _ => {}
        }
        Ok(())
    }
}

impl Peripheral for Flash {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        match offset {
            ACR => self.write_access_control(value),
            KEYR => {
                self.write_key(value);
                Ok(())
            }
            CR => self.write_control(value),
            _ => Ok(()),
        }
    }

    fn reset(&mut self) {
        *self = Flash::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_keys_open_and_lock_closes() {
        let mut flash = Flash::default();
        assert_eq!(flash.read(CR, 0), LOCK);
        flash.write(KEYR, KEYS[0], 0).unwrap();
        assert_eq!(flash.read(CR, 0), LOCK);
        flash.write(KEYR, KEYS[1], 0).unwrap();
        assert_eq!(flash.read(CR, 0), 0);
        flash.write(CR, LOCK, 0).unwrap();
        assert_eq!(flash.read(CR, 0), LOCK);
    }

    #[test]
    fn a_wrong_key_locks_until_reset() {
        let mut flash = Flash::default();
        for key in [KEYS[1], KEYS[0], KEYS[1]] {
            flash.write(KEYR, key, 0).unwrap();
        }
        assert_eq!(flash.read(CR, 0), LOCK);
    }

    #[test]
    fn wait_states_bound_the_clock() {
        let mut flash = Flash::default();
        assert_eq!(flash.highest_core_hz(), 30_000_000);
        flash.write(ACR, 2, 0).unwrap();
        assert_eq!(flash.highest_core_hz(), 84_000_000);
    }
}

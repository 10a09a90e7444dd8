//! The locks of FLASH_CR and FLASH_OPTCR. Two keys in the right order open a lock. Anything else
//! shuts it until reset (RM0368 §3.5.1, §3.6.2).

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Locked,
    FirstKey,
    Open,
    UntilReset,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Lock {
    keys: [u32; 2],
    state: State,
}

impl Lock {
    pub fn new(keys: [u32; 2]) -> Lock {
        Lock {
            keys,
            state: State::Locked,
        }
    }

    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    pub fn key(&mut self, key: u32) {
        self.state = match self.state {
            State::Locked if key == self.keys[0] => State::FirstKey,
            State::FirstKey if key == self.keys[1] => State::Open,
            _ => State::UntilReset,
        };
    }

    pub fn shut(&mut self) {
        if self.is_open() {
            self.state = State::Locked;
        }
    }
}

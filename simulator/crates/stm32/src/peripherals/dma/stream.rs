//! One DMA stream: how many items are left, and the addresses of the next one (RM0368
//! §9.3.7–9.3.9).

use super::{DIR_SHIFT, MINC, PINC, PSIZE_SHIFT};
use cortex_m::bus::Width;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToMemory,
    ToPeripheral,
}

/// One item to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub direction: Direction,
    pub peripheral: u32,
    pub memory: u32,
    pub width: Width,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Stream {
    /// Items of the block: NDTR when the stream was enabled.
    items: u32,
    moved: u32,
}

impl Stream {
    pub fn new(items: u32) -> Stream {
        Stream { items, moved: 0 }
    }

    pub fn remaining(&self) -> u32 {
        self.items.saturating_sub(self.moved)
    }

    pub fn restart(&mut self) {
        self.moved = 0;
    }

    /// Counts an item. True if half of the block has been moved.
    pub fn count_item(&mut self) -> bool {
        self.moved += 1;
        self.remaining() == self.items / 2
    }

    pub fn transfer(&self, control: u32, peripheral: u32, memory: u32) -> Transfer {
        let width = match control >> PSIZE_SHIFT & 0b11 {
            0 => Width::Byte,
            1 => Width::Half,
            _ => Width::Word,
        };
        let distance = self.moved.wrapping_mul(width.bytes());
        let advance =
            |base: u32, increments: bool| base.wrapping_add(if increments { distance } else { 0 });
        Transfer {
            direction: match control >> DIR_SHIFT & 0b11 {
                0 => Direction::ToMemory,
                _ => Direction::ToPeripheral,
            },
            peripheral: advance(peripheral, control & PINC != 0),
            memory: advance(memory, control & MINC != 0),
            width,
        }
    }
}

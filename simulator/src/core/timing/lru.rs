//! A set of line numbers that forgets the least recently used: RM0368 §3.4.2 names the policy. Which line may lie where is
//! not documented; here any line may lie anywhere.

use serde::{Deserialize, Serialize};

const ABSENT: u8 = u8::MAX;

#[derive(Clone, Serialize, Deserialize)]
pub struct LruSet {
    /// Place of each line, or ABSENT.
    place_of: Box<[u8]>,
    places: Vec<Place>,
    capacity: usize,
    clock: u64,
}

#[derive(Clone, Serialize, Deserialize)]
struct Place {
    line: u32,
    used: u64,
}

impl LruSet {
    /// `capacity` of the `lines` lines that exist.
    pub fn new(capacity: usize, lines: u32) -> LruSet {
        LruSet {
            place_of: vec![ABSENT; lines as usize].into_boxed_slice(),
            places: Vec::with_capacity(capacity),
            capacity,
            clock: 0,
        }
    }

    pub fn contains(&self, line: u32) -> bool {
        self.place_of[line as usize] != ABSENT
    }

    /// Whether the line is held; if so it is now the most recently used.
    pub fn touch(&mut self, line: u32) -> bool {
        let place = self.place_of[line as usize];
        if place == ABSENT {
            return false;
        }
        self.clock += 1;
        self.places[place as usize].used = self.clock;
        true
    }

    /// Adds a line that is not held.
    pub fn insert(&mut self, line: u32) {
        self.clock += 1;
        let entry = Place {
            line,
            used: self.clock,
        };
        let place = if self.places.len() < self.capacity {
            self.places.push(entry);
            self.places.len() - 1
        } else {
            let oldest = self.oldest();
            self.place_of[self.places[oldest].line as usize] = ABSENT;
            self.places[oldest] = entry;
            oldest
        };
        self.place_of[line as usize] = place as u8;
    }

    fn oldest(&self) -> usize {
        (0..self.places.len())
            .min_by_key(|&place| self.places[place].used)
            .unwrap_or(0)
    }

    pub fn clear(&mut self) {
        self.places.clear();
        self.place_of.fill(ABSENT);
    }
}

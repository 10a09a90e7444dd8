//! A set of line numbers that forgets the least recently used: RM0368 §3.4.2 names the policy. Which line may lie where is
//! not documented; here any line may lie anywhere.

use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct LruSet {
    /// When each line was last used, by the set's own clock; 0 = it is not held.
    used: Box<[u64]>,
    held: Vec<u32>,
    capacity: usize,
    clock: u64,
    /// Lines added since the set was made or read from a snapshot.
    #[serde(skip)]
    insertions: u64,
}

/// Two shapes are equal if only lines that were held have been touched in between.
#[derive(Clone, Copy)]
pub struct LruShape {
    insertions: u64,
    clock: u64,
}

impl PartialEq for LruShape {
    fn eq(&self, other: &LruShape) -> bool {
        self.insertions == other.insertions
    }
}

impl Eq for LruShape {}

impl LruSet {
    /// `capacity` of the `lines` lines that exist.
    pub fn new(capacity: usize, lines: u32) -> LruSet {
        LruSet {
            used: vec![0; lines as usize].into_boxed_slice(),
            held: Vec::with_capacity(capacity),
            capacity,
            clock: 0,
            insertions: 0,
        }
    }

    #[inline(always)]
    pub fn contains(&self, line: u32) -> bool {
        self.used[line as usize] != 0
    }

    /// Whether the line is held; if so it is now the most recently used.
    #[inline(always)]
    pub fn touch(&mut self, line: u32) -> bool {
        let used = &mut self.used[line as usize];
        if *used == 0 {
            return false;
        }
        self.clock += 1;
        *used = self.clock;
        true
    }

    /// Adds a line that is not held.
    pub fn insert(&mut self, line: u32) {
        self.insertions += 1;
        if self.held.len() < self.capacity {
            self.held.push(line);
        } else if let Some(oldest) = self.oldest() {
            self.used[self.held[oldest] as usize] = 0;
            self.held[oldest] = line;
        }
        self.clock += 1;
        self.used[line as usize] = self.clock;
    }

    pub fn shape(&self) -> LruShape {
        LruShape {
            insertions: self.insertions,
            clock: self.clock,
        }
    }

    /// As if what has been touched since `before` had been touched `count` more times in the same order.
    pub fn repeat_touches(&mut self, before: &LruShape, count: u64) {
        let further = count * (self.clock - before.clock);
        for line in &self.held {
            let used = &mut self.used[*line as usize];
            if *used > before.clock {
                *used += further;
            }
        }
        self.clock += further;
    }

    fn oldest(&self) -> Option<usize> {
        (0..self.held.len()).min_by_key(|&place| self.used[self.held[place] as usize])
    }

    pub fn clear(&mut self) {
        self.held.clear();
        self.used.fill(0);
    }
}

//! A set of line numbers that forgets the least recently used: RM0368 §3.4.2 names the policy. Which line may lie where is
//! not documented; here any line may lie anywhere.

use serde::{Deserialize, Serialize};

/// No place has this number.
const NONE: u8 = u8::MAX;

/// Places are chained in the order in which their lines were last used.
#[derive(Clone, Serialize, Deserialize)]
pub struct LruSet {
    /// Place of each line, or NONE.
    place_of: Box<[u8]>,
    places: Vec<Place>,
    capacity: usize,
    newest: u8,
    oldest: u8,
    /// Lines added since the set was made or read from a snapshot.
    #[serde(skip)]
    insertions: u64,
}

#[derive(Clone, Serialize, Deserialize)]
struct Place {
    line: u32,
    newer: u8,
    older: u8,
}

impl LruSet {
    /// `capacity` of the `lines` lines that exist; at most 255.
    pub fn new(capacity: usize, lines: u32) -> LruSet {
        LruSet {
            place_of: vec![NONE; lines as usize].into_boxed_slice(),
            places: Vec::with_capacity(capacity),
            capacity,
            newest: NONE,
            oldest: NONE,
            insertions: 0,
        }
    }

    #[inline(always)]
    pub fn contains(&self, line: u32) -> bool {
        self.place_of[line as usize] != NONE
    }

    /// Whether the line is held; if so it is now the most recently used.
    #[inline(always)]
    pub fn touch(&mut self, line: u32) -> bool {
        let place = self.place_of[line as usize];
        if place == NONE {
            return false;
        }
        if place != self.newest {
            self.unchain(place);
            self.chain(place);
        }
        true
    }

    /// Adds a line that is not held.
    pub fn insert(&mut self, line: u32) {
        self.insertions += 1;
        let place = if self.places.len() < self.capacity {
            self.places.push(Place {
                line,
                newer: NONE,
                older: NONE,
            });
            (self.places.len() - 1) as u8
        } else {
            let oldest = self.oldest;
            self.unchain(oldest);
            let forgotten = std::mem::replace(&mut self.places[usize::from(oldest)].line, line);
            self.place_of[forgotten as usize] = NONE;
            oldest
        };
        self.place_of[line as usize] = place;
        self.chain(place);
    }

    /// As long as it is the same, what was used was held.
    pub fn insertions(&self) -> u64 {
        self.insertions
    }

    pub fn clear(&mut self) {
        self.places.clear();
        self.place_of.fill(NONE);
        (self.newest, self.oldest) = (NONE, NONE);
    }

    /// Makes a place the newest.
    fn chain(&mut self, place: u8) {
        let before = std::mem::replace(&mut self.newest, place);
        let entry = &mut self.places[usize::from(place)];
        (entry.newer, entry.older) = (NONE, before);
        match self.places.get_mut(usize::from(before)) {
            Some(older) => older.newer = place,
            None => self.oldest = place,
        }
    }

    fn unchain(&mut self, place: u8) {
        let Place { newer, older, .. } = self.places[usize::from(place)];
        match self.places.get_mut(usize::from(newer)) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
        match self.places.get_mut(usize::from(older)) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
    }
}

//! A set of lines that forgets the least recently used one, which is the policy that RM0368 §3.4.2
//! names. Which line may lie where is not documented. Here any line may lie anywhere.

use serde::{Deserialize, Serialize};

/// More lines than any flash has: 1 MiB of 64 bits each.
const LINES: usize = 1 << 17;
/// One look finds a line. So many are looked for at first: a machine is copied often, and few programs
/// use more.
const FIRST_LINES: usize = 1 << 15;
/// One place for each value of a byte.
const PLACES: usize = 1 << 8;
/// No line lies here. It is both ends of the chain.
const END: u8 = u8::MAX;

/// Places are chained from END to END, in the order in which their lines were last used.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Held", into = "Held")]
pub struct LruSet {
    /// Place of each line, or END. Lines behind the table's end have none.
    place_of: Vec<u8>,
    places: Box<[Place; PLACES]>,
    used: u8,
    capacity: u8,
    /// Lines added since the set was made or read from a snapshot.
    insertions: u64,
}

#[derive(Clone, Copy)]
struct Place {
    line: u32,
    newer: u8,
    older: u8,
}

const NO_PLACE: Place = Place {
    line: 0,
    newer: END,
    older: END,
};

impl LruSet {
    /// A set of `capacity` lines, of the `lines` that exist. At most 255 of 131072.
    pub fn new(capacity: usize, lines: u32) -> LruSet {
        assert!(capacity <= usize::from(END) && lines as usize <= LINES);
        LruSet {
            place_of: vec![END; FIRST_LINES],
            places: Box::new([NO_PLACE; PLACES]),
            used: 0,
            capacity: capacity as u8,
            insertions: 0,
        }
    }

    #[inline(always)]
    pub fn contains(&self, line: u32) -> bool {
        self.place_of(line) != END
    }

    /// Whether the set holds the line, which then becomes the most recently used.
    #[inline(always)]
    pub fn touch(&mut self, line: u32) -> bool {
        let place = self.place_of(line);
        if place == END {
            return false;
        }
        if place != self.newest() {
            self.unchain(place);
            self.chain(place);
        }
        true
    }

    /// Adds a line that the set does not hold.
    pub fn insert(&mut self, line: u32) {
        self.insertions += 1;
        let place = if self.used < self.capacity {
            self.used += 1;
            self.used - 1
        } else {
            let oldest = self.oldest();
            self.unchain(oldest);
            let forgotten = self.places[usize::from(oldest)].line;
            self.place_of[forgotten as usize] = END;
            oldest
        };
        if line as usize >= self.place_of.len() {
            self.place_of.resize(LINES, END);
        }
        self.place_of[line as usize] = place;
        self.places[usize::from(place)].line = line;
        self.chain(place);
    }

    /// While this stays the same, the set held every line that was used.
    pub fn insertions(&self) -> u64 {
        self.insertions
    }

    pub fn clear(&mut self) {
        self.place_of.fill(END);
        self.places[usize::from(END)] = NO_PLACE;
        self.used = 0;
    }

    #[inline(always)]
    fn place_of(&self, line: u32) -> u8 {
        self.place_of.get(line as usize).copied().unwrap_or(END)
    }

    #[inline(always)]
    fn newest(&self) -> u8 {
        self.places[usize::from(END)].older
    }

    fn oldest(&self) -> u8 {
        self.places[usize::from(END)].newer
    }

    /// Makes a place the newest.
    #[inline(always)]
    fn chain(&mut self, place: u8) {
        let before = self.newest();
        let entry = &mut self.places[usize::from(place)];
        (entry.newer, entry.older) = (END, before);
        self.places[usize::from(before)].newer = place;
        self.places[usize::from(END)].older = place;
    }

    #[inline(always)]
    fn unchain(&mut self, place: u8) {
        let Place { newer, older, .. } = self.places[usize::from(place)];
        self.places[usize::from(newer)].older = older;
        self.places[usize::from(older)].newer = newer;
    }
}

/// A set as a snapshot stores it.
#[derive(Serialize, Deserialize)]
struct Held {
    capacity: u8,
    /// From the least to the most recently used.
    lines: Vec<u32>,
}

impl From<LruSet> for Held {
    fn from(set: LruSet) -> Held {
        let mut lines = Vec::new();
        let mut place = set.oldest();
        while place != END {
            let entry = set.places[usize::from(place)];
            lines.push(entry.line);
            place = entry.newer;
        }
        Held {
            capacity: set.capacity,
            lines,
        }
    }
}

impl TryFrom<Held> for LruSet {
    type Error = &'static str;

    fn try_from(held: Held) -> Result<LruSet, Self::Error> {
        if held.capacity == 0 || held.capacity == END || held.lines.len() > held.capacity.into() {
            return Err("a cache of the flash has more lines than places");
        }
        let mut set = LruSet::new(held.capacity.into(), LINES as u32);
        for line in held.lines {
            if line as usize >= LINES || set.contains(line) {
                return Err("a cache of the flash holds a line twice, or one that does not exist");
            }
            set.insert(line);
        }
        set.insertions = 0;
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines in the order of their last use, in a list that is searched.
    struct Model(Vec<u32>);

    impl Model {
        fn touch(&mut self, line: u32) -> bool {
            let held = self.0.iter().position(|&held| held == line);
            if let Some(place) = held {
                self.0.remove(place);
                self.0.push(line);
            }
            held.is_some()
        }
    }

    #[test]
    fn the_least_recently_used_gives_way() {
        for capacity in [1, 2, 8, 64] {
            let (mut set, mut model) = (LruSet::new(capacity, 32_768), Model(Vec::new()));
            let mut random = 1_u32;
            for step in 0..5_000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let line = (random >> 16) % (2 * capacity as u32) * 101 % 32_768;
                assert_eq!(set.contains(line), model.0.contains(&line));
                let held = model.touch(line);
                assert_eq!(set.touch(line), held, "capacity {capacity}, step {step}");
                if !held {
                    set.insert(line);
                    if model.0.len() == capacity {
                        model.0.remove(0);
                    }
                    model.0.push(line);
                }
                assert_eq!(Held::from(set.clone()).lines, model.0);
                if step % 1_000 == 999 {
                    set.clear();
                    model.0.clear();
                }
            }
        }
    }

    #[test]
    fn a_set_that_was_saved_is_the_same() {
        let mut set = LruSet::new(3, 32_768);
        for line in [5, 6, 7, 8] {
            set.insert(line);
        }
        set.touch(6);
        let bytes = postcard::to_allocvec(&set).unwrap();
        let mut again: LruSet = postcard::from_bytes(&bytes).unwrap();
        again.insert(9);
        assert_eq!(
            [6, 7, 8, 9].map(|n| again.contains(n)),
            [true, false, true, true]
        );
    }

    #[test]
    fn a_forged_set_is_refused() {
        for (capacity, lines) in [
            (1, vec![1, 2]),
            (2, vec![1, 1]),
            (2, vec![LINES as u32]),
            (0, vec![]),
        ] {
            assert!(LruSet::try_from(Held { capacity, lines }).is_err());
        }
    }
}

//! A program that can never do anything else: it sleeps, and nothing that it has enabled can come;
//! or it polls something that never changes. Both are looked for when a run is over, in copies of
//! the machine, so the run stays as it is.

use crate::Machine;
use cortex_m::bus::{Bus, Fault, Lack, Loaded, Steadiness, Width};
use cortex_m::Core;
use serde_json::{json, Value};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// No loop that only polls is longer.
const MOST_STEPS: usize = 512;
/// An exception's entry and return have fewer parts.
const MOST_PARTS: usize = 64;
/// So many things that a loop reads are tried.
const MOST_POLLED: usize = 8;
/// Where nothing is on its way, this many cycles show what time alone changes (an oscillator that
/// starts): more than an hour at the highest clock of any chip.
const AGES_CYCLES: u64 = 1 << 40;
/// Where something is on its way, a program that polls may wait for it so long.
const PATIENCE_MS: u64 = 100;
/// So often a round is looked for: an interrupt may come into one.
const TRIES: usize = 4;
/// The exception of interrupt 0.
const FIRST_IRQ: u8 = 16;
const SRAM: u32 = 0x2000_0000;
const PERIPHERALS: u32 = 0x4000_0000;

/// Why a program can never do anything else.
pub enum Standstill {
    /// It sleeps at `pc`, with these interrupts enabled.
    Sleeps {
        pc: u32,
        enabled: Vec<u8>,
    },
    Polls(Poll),
}

/// What a program reads again and again.
pub struct Poll {
    /// `RCC_CR`; `None` of memory.
    pub register: Option<String>,
    pub address: u32,
    pub value: u32,
    /// The bits of which one, if it were another, would end the loop. 0 if no single one would.
    pub mask: u32,
    /// The instruction that reads it.
    pub pc: u32,
    /// Nothing at all is on its way. Otherwise it did not change in PATIENCE_MS more.
    pub for_ever: bool,
}

/// Looks for it at the end of a run. `None` if the program may go on.
pub fn find(machine: &Machine) -> Option<Standstill> {
    if machine.core().asleep() && machine.nothing_comes() {
        let enabled = machine.core().nvic().enabled();
        return Some(Standstill::Sleeps {
            pc: machine.core().pipeline().previous_pc(),
            enabled: (FIRST_IRQ..112).filter(|n| enabled >> n & 1 != 0).collect(),
        });
    }
    if machine.core().asleep() {
        return None;
    }
    polled(machine).map(Standstill::Polls)
}

fn polled(machine: &Machine) -> Option<Poll> {
    let mut start = machine.clone();
    let lap = Lap::of(&mut start).filter(|lap| !lap.works())?;
    let (read, mask) = lap.polled(&start)?;
    let mut later = start;
    let for_ever = later.nothing_comes();
    if for_ever {
        let end = later.cycles() + AGES_CYCLES;
        later.core_mut().advance_to(end);
    } else {
        wait(&mut later, &read)?;
    }
    let again = Lap::of(&mut later)?;
    let same = again.places() == lap.places() && again.reads_the_same(&read);
    same.then(|| Poll {
        register: later.register_name(read.address),
        address: read.address,
        value: read.value,
        mask,
        pc: read.pc,
        for_ever,
    })
}

/// Lets PATIENCE_MS pass. `None` if something else is read there, or the run stops.
fn wait(machine: &mut Machine, read: &Seen) -> Option<()> {
    let (numerator, denominator) = machine.timebase().clock(machine.cycles());
    let cycles = (numerator / denominator) as u64 * PATIENCE_MS / 1_000;
    let end = machine.cycles() + cycles;
    let changed = Cell::new(false);
    while machine.cycles() < end && !changed.get() {
        let ran = machine.advance(end, |core, soc, until| {
            let listen = |seen: Seen| {
                let other = seen.address == read.address && seen.value != read.value;
                changed.set(changed.get() || other);
            };
            let mut spy = Spy {
                bus: soc,
                listen,
                changed: None,
                pc: 0,
            };
            core.run(&mut spy, until)
        });
        ran.ok()?;
        machine.take_edges();
        machine.take_transmitted();
    }
    (!changed.get()).then_some(())
}

/// An access of the data bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    pc: u32,
    address: u32,
    value: u32,
    writes: bool,
}

/// The core between two instructions, but for the time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    pc: u32,
    registers: [u32; 15],
    xpsr: u32,
}

impl State {
    fn of(core: &Core) -> State {
        State {
            pc: core.pc(),
            registers: std::array::from_fn(|n| core.register(n)),
            xpsr: core.registers().xpsr(),
        }
    }
}

/// One round of a loop that ends as it began.
struct Lap {
    states: Vec<State>,
    accesses: Vec<Seen>,
}

impl Lap {
    /// The loop in which the machine is. `None` if its rounds differ.
    fn of(machine: &mut Machine) -> Option<Lap> {
        (0..TRIES).find_map(|_| Lap::here(machine))
    }

    fn here(machine: &mut Machine) -> Option<Lap> {
        let mut states: Vec<State> = Vec::new();
        let mut places: BTreeMap<State, usize> = BTreeMap::new();
        let mut accesses: Vec<Vec<Seen>> = Vec::new();
        while states.len() < MOST_STEPS {
            let state = State::of(machine.core());
            if let Some(start) = places.insert(state.clone(), states.len()) {
                let lap = Lap {
                    states: states.split_off(start),
                    accesses: accesses.split_off(start).concat(),
                };
                // What a round writes it must write again: then it leaves memory as it was.
                let again = steps(machine, lap.states.len(), None)?.1;
                return (again == lap.accesses && *lap.start() == State::of(machine.core()))
                    .then_some(lap);
            }
            states.push(state);
            accesses.push(steps(machine, 1, None)?.1);
        }
        None
    }

    fn start(&self) -> &State {
        &self.states[0]
    }

    fn places(&self) -> BTreeSet<u32> {
        self.states.iter().map(|state| state.pc).collect()
    }

    /// Whether a word of memory, other than of its own stack, takes two values in one round: what only
    /// polls leaves memory as it is.
    fn works(&self) -> bool {
        let stack = self.states.iter().map(|state| state.registers[13]);
        let (low, high) = (stack.clone().min(), stack.max());
        let mut words = BTreeMap::new();
        self.accesses.iter().any(|seen| {
            let own_stack = Some(seen.address) >= low && Some(seen.address) < high;
            seen.writes
                && (SRAM..PERIPHERALS).contains(&seen.address)
                && !own_stack
                && *words.entry(seen.address).or_insert(seen.value) != seen.value
        })
    }

    fn reads_the_same(&self, read: &Seen) -> bool {
        self.accesses.contains(read)
    }

    /// What the loop waits for, and the bits of it that would end the loop: a register rather than
    /// memory, and of several the last.
    fn polled(&self, machine: &Machine) -> Option<(Seen, u32)> {
        let mut reads: Vec<Seen> = Vec::new();
        for seen in self.accesses.iter().rev() {
            let known = reads.iter().any(|read| read.address == seen.address);
            if !seen.writes && seen.address >= SRAM && !known {
                reads.push(*seen);
            }
        }
        reads.sort_by_key(|read| read.address < PERIPHERALS);
        reads.truncate(MOST_POLLED);
        let mask = |read: &Seen| {
            let bits = (0..32).map(|bit| 1 << bit);
            let ends = |bit: &u32| self.left_by(machine, read.address, *bit);
            bits.filter(ends).sum()
        };
        let tried: Vec<(Seen, u32)> = reads.iter().map(|read| (*read, mask(read))).collect();
        let register = |(read, _): &&(Seen, u32)| read.address >= PERIPHERALS;
        let ends = tried.iter().find(|(_, mask)| *mask != 0);
        ends.filter(register)
            .or_else(|| tried.iter().find(register))
            .or(ends)
            .copied()
    }

    /// Whether the program would leave the loop if `bits` at `address` read otherwise.
    fn left_by(&self, machine: &Machine, address: u32, bits: u32) -> bool {
        let mut twin = machine.clone();
        let places = self.places();
        match steps(&mut twin, 2 * self.states.len(), Some((address, bits))) {
            Some((visited, _)) => visited.iter().any(|pc| !places.contains(pc)),
            None => true,
        }
    }
}

/// Runs so many instructions. Returns the places that follow them and the accesses. Bits of what is
/// read at an address are changed on the way, if asked for. `None` if the run stops.
fn steps(
    machine: &mut Machine,
    count: usize,
    changed: Option<(u32, u32)>,
) -> Option<(Vec<u32>, Vec<Seen>)> {
    let (mut places, mut accesses) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let before = machine.core().instructions();
        // An interrupt may come first.
        for _ in 0..MOST_PARTS {
            accesses.extend(part(machine, changed)?);
            if machine.core().instructions() != before {
                break;
            }
        }
        places.push(machine.core().pc());
    }
    Some((places, accesses))
}

/// Runs one instruction, or a part of an exception's entry or return. Returns its accesses.
fn part(machine: &mut Machine, changed: Option<(u32, u32)>) -> Option<Vec<Seen>> {
    let pc = machine.core().pc();
    let log = RefCell::new(Vec::new());
    let end = machine.cycles() + 1;
    let ran = machine.advance(end, |core, soc, until| {
        let mut spy = Spy {
            bus: soc,
            listen: |seen| log.borrow_mut().push(seen),
            changed,
            pc,
        };
        core.run_one(&mut spy, until)
    });
    ran.ok()?;
    Some(log.into_inner())
}

/// The bus, and somebody who listens.
struct Spy<'a, B, L> {
    bus: &'a mut B,
    listen: L,
    changed: Option<(u32, u32)>,
    pc: u32,
}

impl<B, L: Fn(Seen)> Spy<'_, B, L> {
    fn note(&self, address: u32, value: u32, writes: bool) {
        (self.listen)(Seen {
            pc: self.pc,
            address,
            value,
            writes,
        });
    }
}

impl<B: Bus, L: Fn(Seen)> Bus for Spy<'_, B, L> {
    fn fetch(&mut self, address: u32) -> Result<u16, Fault> {
        self.bus.fetch(address)
    }

    fn read(&mut self, address: u32, width: Width, now: u64) -> Result<Loaded, Fault> {
        let mut loaded = self.bus.read(address, width, now)?;
        if let Some((_, bits)) = self.changed.filter(|(at, _)| *at == address) {
            loaded.value ^= bits & width.mask();
        }
        self.note(address, loaded.value, false);
        Ok(loaded)
    }

    fn write(&mut self, address: u32, width: Width, value: u32, now: u64) -> Result<u32, Fault> {
        self.note(address, value, true);
        self.bus.write(address, width, value, now)
    }

    fn goes_past(&mut self, lack: Lack, what: &str, address: u32, writes: bool, now: u64) -> bool {
        self.bus.goes_past(lack, what, address, writes, now)
    }

    fn attention(&self) -> bool {
        self.bus.attention()
    }

    fn interrupt_lines(&mut self, now: u64) -> Option<u128> {
        self.bus.interrupt_lines(now)
    }

    fn steadiness(&self, address: u32) -> Option<Steadiness> {
        self.bus.steadiness(address)
    }

    fn flash_access_control(&self) -> u32 {
        self.bus.flash_access_control()
    }
}

impl Standstill {
    /// The whole as JSON (docs/reference/simulator-files.md). `function` names the code at an
    /// address.
    pub fn as_json(&self, function: impl Fn(u32) -> Option<String>) -> Value {
        let hexadecimal = |word: u32| format!("{word:#010x}");
        let sentence = self.sentence(&function);
        match self {
            Standstill::Sleeps { pc, enabled } => json!({
                "kind": "sleeps",
                "sentence": sentence,
                "pc": hexadecimal(*pc),
                "function": function(*pc),
                "enabled": enabled,
            }),
            Standstill::Polls(poll) => json!({
                "kind": "polls",
                "sentence": sentence,
                "pc": hexadecimal(poll.pc),
                "function": function(poll.pc),
                "register": poll.register,
                "address": hexadecimal(poll.address),
                "value": hexadecimal(poll.value),
                "mask": (poll.mask != 0).then(|| hexadecimal(poll.mask)),
                "for_ever": poll.for_ever,
            }),
        }
    }

    /// The same in a sentence without its full stop.
    fn sentence(&self, function: impl Fn(u32) -> Option<String>) -> String {
        let place = |pc: u32| match function(pc) {
            Some(name) => format!("pc {pc:#010x} in {name}"),
            None => format!("pc {pc:#010x}"),
        };
        match self {
            Standstill::Sleeps { pc, enabled } => {
                format!(
                    "the program sleeps for ever ({}): {}",
                    place(*pc),
                    wakers(enabled)
                )
            }
            Standstill::Polls(poll) => poll.sentence(&place(poll.pc)),
        }
    }
}

/// What could wake a program with these exceptions enabled, and does not.
fn wakers(enabled: &[u8]) -> String {
    let numbers: Vec<String> = enabled
        .iter()
        .map(|n| (n - FIRST_IRQ).to_string())
        .collect();
    if numbers.is_empty() {
        return "it has enabled no interrupt that could wake it".into();
    }
    format!(
        "of the interrupts that it has enabled ({}) none can come without something from outside",
        numbers.join(", ")
    )
}

impl Poll {
    fn sentence(&self, place: &str) -> String {
        let Poll {
            address,
            value,
            mask,
            ..
        } = self;
        let what = match &self.register {
            Some(name) => format!("{name} at {address:#010x}"),
            None => format!("the word at {address:#010x}"),
        };
        let bits = match mask {
            0 => String::new(),
            _ => format!(" (it waits for bits {mask:#010x})"),
        };
        let (how, until) = match self.for_ever {
            true => ("polls for ever", "nothing will ever change it".to_owned()),
            false => (
                "polls",
                format!("nothing changed it within {PATIENCE_MS} ms after the end of the run"),
            ),
        };
        format!("the program {how} at {place}: {what} reads {value:#010x}{bits}, and {until}")
    }
}

//! The last instructions of a run.

use super::stretch::{Bound, Stretch};
use crate::Machine;
use cortex_m::{encoding_name, is_wide};
use serde_json::{json, Map, Value};
use std::collections::VecDeque;
use std::fmt;

/// R0–R12, SP and LR.
const REGISTERS: usize = 15;

/// Something that the core did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Instruction {
        /// The cycle in which it began.
        cycle: u64,
        pc: u32,
        opcode: u32,
        wide: bool,
        /// False: a fault, an interrupt or the end of the run came before it was over.
        completed: bool,
        /// Number and new value of the registers that it changed.
        changed: Vec<(usize, u32)>,
    },
    /// From `cycle` on the core is in this exception. 0 is Thread mode.
    Mode { cycle: u64, exception: u32 },
}

/// The core before a step.
struct Before {
    cycle: u64,
    instructions: u64,
    pc: u32,
    exception: u32,
    registers: [u32; REGISTERS],
    about_to_execute: bool,
}

impl Before {
    fn of(machine: &Machine) -> Before {
        let core = machine.core();
        Before {
            cycle: core.cycles(),
            instructions: core.instructions(),
            pc: core.pc(),
            exception: core.registers().xpsr() & 0x1FF,
            registers: std::array::from_fn(|n| core.register(n)),
            about_to_execute: core.about_to_execute(),
        }
    }
}

/// The newest entries, or those of a stretch, in the order of time.
pub struct Trace {
    capacity: usize,
    stretch: Option<Stretch>,
    entries: VecDeque<Entry>,
    before: Option<Before>,
}

impl Trace {
    pub fn new(capacity: usize) -> Trace {
        Trace {
            capacity,
            stretch: None,
            entries: VecDeque::new(),
            before: None,
        }
    }

    /// All entries of the stretch.
    pub fn of_stretch(stretch: Stretch) -> Trace {
        Trace {
            stretch: Some(stretch),
            ..Trace::new(usize::MAX)
        }
    }

    /// Whether each instruction must be looked at from now on.
    pub fn looks(&self, machine: &Machine) -> bool {
        let mut stretch = self.stretch.iter();
        stretch.all(|stretch| stretch.looks(machine))
    }

    /// The instruction before which the machine must return.
    pub fn place(&self) -> Option<u32> {
        self.stretch.as_ref().and_then(Stretch::place)
    }

    /// The cycle from which on each instruction must be looked at, if it is not yet.
    pub fn deadline(&self) -> u64 {
        self.stretch.as_ref().map_or(u64::MAX, Stretch::deadline)
    }

    /// What of its stretch did not come, if the run is over.
    pub fn missing(&self) -> Option<&Bound> {
        self.stretch.as_ref().and_then(Stretch::missing)
    }

    /// The entries since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = Entry> {
        std::mem::take(&mut self.entries).into_iter()
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Call before each step of the machine.
    pub fn before(&mut self, machine: &Machine) {
        self.before = Some(Before::of(machine));
    }

    /// Call after each step of the machine, even if it failed.
    pub fn after(&mut self, machine: &mut Machine) {
        let Some(before) = self.before.take() else {
            return;
        };
        let after = Before::of(machine);
        let completed = after.instructions > before.instructions;
        let executes = completed || before.about_to_execute;
        if let Some(stretch) = &mut self.stretch {
            if !stretch.takes(machine, before.pc, before.cycle, executes) {
                return;
            }
        }
        if completed || before.about_to_execute {
            self.instruction(machine, &before, completed, changed(&before, &after));
        }
        if before.exception != after.exception {
            self.push(Entry::Mode {
                cycle: after.cycle,
                exception: after.exception,
            });
        }
    }

    fn instruction(
        &mut self,
        machine: &mut Machine,
        before: &Before,
        completed: bool,
        changed: Vec<(usize, u32)>,
    ) {
        let Some(first) = machine.code(before.pc) else {
            return;
        };
        let wide = is_wide(first);
        let second = wide.then(|| machine.code(before.pc.wrapping_add(2)));
        let opcode = match second.flatten() {
            Some(second) => u32::from(first) << 16 | u32::from(second),
            None => first.into(),
        };
        self.push(Entry::Instruction {
            cycle: before.cycle,
            pc: before.pc,
            opcode,
            wide,
            completed,
            changed,
        });
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }
}

fn changed(before: &Before, after: &Before) -> Vec<(usize, u32)> {
    (0..REGISTERS)
        .filter(|&n| before.registers[n] != after.registers[n])
        .map(|n| (n, after.registers[n]))
        .collect()
}

fn register_name(n: usize) -> String {
    match n {
        13 => "sp".into(),
        14 => "lr".into(),
        n => format!("r{n}"),
    }
}

fn mode_name(exception: u32) -> String {
    match exception {
        0 => "Thread mode".into(),
        2 => "NMI".into(),
        3 => "HardFault".into(),
        4 => "MemManage".into(),
        5 => "BusFault".into(),
        6 => "UsageFault".into(),
        11 => "SVCall".into(),
        12 => "DebugMonitor".into(),
        14 => "PendSV".into(),
        15 => "SysTick".into(),
        number => format!("IRQ {}", i64::from(number) - 16),
    }
}

fn name_of(opcode: u32, wide: bool) -> &'static str {
    encoding_name(opcode, wide).unwrap_or("undefined")
}

/// One line: cycle, PC, opcode, encoding, changed registers.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Mode { cycle, exception } => {
                write!(f, "{cycle:>14}  now in {}", mode_name(*exception))
            }
            Entry::Instruction {
                cycle,
                pc,
                opcode,
                wide,
                completed,
                changed,
            } => {
                let digits = if *wide { 8 } else { 4 };
                let code = format!("{opcode:0digits$x}");
                let name = name_of(*opcode, *wide);
                write!(f, "{cycle:>14}  {pc:#010x}  {code:<8}  {name:<16}")?;
                for (n, value) in changed {
                    write!(f, " {}={value:#010x}", register_name(*n))?;
                }
                if !completed {
                    write!(f, " (not completed)")?;
                }
                Ok(())
            }
        }
    }
}

impl Entry {
    /// One object of the JSON lines.
    pub fn json(&self) -> Value {
        match self {
            Entry::Mode { cycle, exception } => json!({
                "cycle": cycle,
                "exception": exception,
                "mode": mode_name(*exception),
            }),
            Entry::Instruction {
                cycle,
                pc,
                opcode,
                wide,
                completed,
                changed,
            } => json!({
                "cycle": cycle,
                "pc": format!("{pc:#010x}"),
                "opcode": format!("{opcode:#x}"),
                "name": name_of(*opcode, *wide),
                "completed": completed,
                "registers": changed
                    .iter()
                    .map(|(n, value)| (register_name(*n), format!("{value:#010x}").into()))
                    .collect::<Map<_, _>>(),
            }),
        }
    }
}

//! Call stacks at instants of a run, by call frame information, through exceptions too.
//!
//! A stack ends where nothing tells the caller: it may be short, but no frame is guessed.

mod call_frames;
mod code;

pub use code::Code;

use call_frames::{Row, Saved, LR, SP};
use cortex_m::bus::Width;
use cortex_m::{Context, ExceptionFrame};
use std::collections::HashMap;
use std::fmt::Write;
use stm32::memory::Memory;

const MOST_FRAMES: usize = 64;
/// The frame that an exception stacks (ARM DDI 0403E, B1.5.6).
const BASIC_FRAME_BYTES: u32 = 0x20;
const EXTENDED_FRAME_BYTES: u32 = 0x68;
const STACKED: [usize; 6] = [0, 1, 2, 3, 12, LR];
const STACKED_PC: u32 = 0x18;
const STACKED_XPSR: u32 = 0x1C;
const REALIGNED: u32 = 1 << 9;
/// EPSR.ICI: the register from which a multiple goes on. It is none if bits 26:25 or 11:10, which
/// IT uses too, are set (ARM DDI 0403E, B1.4.2).
const CONTINUES_AT: u32 = 0xF000;
const IT_ONLY: u32 = 0x0600_0C00;

/// A frame of the stack: where its code is, and its registers.
#[derive(Clone, Copy)]
struct Frame {
    pc: u32,
    /// The instruction at `pc` is the next one or the last one, not the one after a call.
    exact: bool,
    registers: [u32; 15],
}

/// The code that `context` belongs to, and its memory.
struct Unwinder<'a> {
    code: &'a Code,
    memory: &'a Memory,
    psp: u32,
}

/// The address of the instruction that an exception interrupted. `None` if its frame is not in
/// memory.
pub fn interrupted_pc(memory: &Memory, context: &Context, exc_return: u32) -> Option<u32> {
    let frame = frame_of(exc_return, context.psp, context.registers[SP]);
    let word = memory.read(frame.wrapping_add(STACKED_PC), Width::Word)?;
    Some(word & !1)
}

/// Whether a branch there returns from an exception (B1.5.8, table B1-8). After a reset LR holds
/// another value that looks like one.
fn is_exc_return(target: u32) -> bool {
    matches!(target | 0x10, 0xFFFF_FFF1 | 0xFFFF_FFF9 | 0xFFFF_FFFD)
}

fn frame_of(exc_return: u32, psp: u32, sp: u32) -> u32 {
    if exc_return & 4 != 0 {
        psp
    } else {
        sp
    }
}

/// Every stack of a run that was seen, numbered from 0 by its first appearance.
pub struct Stacks {
    code: Code,
    numbers: HashMap<Vec<u32>, u32>,
    addresses: Vec<u32>,
    rows: String,
}

impl Stacks {
    pub const HEADER: &'static str = "stack,depth,pc\n";

    pub fn new(code: Code) -> Stacks {
        Stacks {
            code,
            numbers: HashMap::new(),
            addresses: Vec::new(),
            rows: String::new(),
        }
    }

    /// The number of the stack whose innermost address is `pc`.
    pub fn number(&mut self, memory: &Memory, pc: u32, context: &Context) -> u32 {
        self.addresses.clear();
        unwind(&self.code, memory, pc, context, |address, _| {
            self.addresses.push(address);
        });
        if let Some(number) = self.numbers.get(&self.addresses) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        for (depth, address) in self.addresses.iter().enumerate() {
            writeln!(self.rows, "{number},{depth},{address:#010x}")
                .expect("a string takes everything");
        }
        self.numbers.insert(self.addresses.clone(), number);
        number
    }

    /// Rows of the stacks that are new since the last call.
    pub fn take_rows(&mut self) -> String {
        std::mem::take(&mut self.rows)
    }
}

/// Hands over the addresses of the frames, innermost first, the first of which is `pc`; and of each
/// whether its instruction comes next, where no call returns to it.
pub fn unwind(
    code: &Code,
    memory: &Memory,
    pc: u32,
    context: &Context,
    mut see: impl FnMut(u32, bool),
) {
    let psp = context.psp;
    let unwinder = Unwinder { code, memory, psp };
    let here = Frame {
        pc,
        exact: true,
        registers: context.registers,
    };
    see(pc, true);
    let mut next = match context.frame {
        None => unwinder.caller(&here),
        Some(ExceptionFrame::Left { exc_return }) => unwinder.interrupted(&here, exc_return),
        Some(ExceptionFrame::Entered { exc_return }) => unwinder
            .interrupted(&here, exc_return)
            .and_then(|frame| unwinder.caller(&frame)),
    };
    for _ in 1..MOST_FRAMES {
        let Some(frame) = next.filter(|frame| unwinder.plausible(frame)) else {
            return;
        };
        see(frame.pc, frame.exact);
        next = unwinder.caller(&frame);
    }
}

impl Unwinder<'_> {
    /// A call returns into a function, and never to its first instruction: the kernel starts a task
    /// as if it had been called from such an address.
    fn plausible(&self, frame: &Frame) -> bool {
        let known = self.code.function_at(looked_up(frame)).is_some();
        let pc = Memory::canonical(frame.pc);
        known && (frame.exact || self.code.function_at(pc) != Some(pc))
    }

    /// The frame that the function of `frame` returns to.
    fn caller(&self, frame: &Frame) -> Option<Frame> {
        let (target, registers) = match self.code.frames.row(looked_up(frame)) {
            Some(row) => self.returned(frame, row)?,
            None => (self.unsaved_return(frame)?, frame.registers),
        };
        if is_exc_return(target) {
            let frame = Frame {
                registers,
                ..*frame
            };
            return self.interrupted(&frame, target);
        }
        let thumb = target & 1 != 0;
        thumb.then_some(Frame {
            pc: target & !1,
            exact: false,
            registers,
        })
    }

    /// The return address, and the registers after the return, as the table says.
    fn returned(&self, frame: &Frame, row: &Row) -> Option<(u32, [u32; 15])> {
        let (register, distance) = row.frame;
        let address = frame.registers[register].wrapping_add_signed(distance);
        let mut registers = frame.registers;
        let mut saves_return = false;
        for &(number, saved) in &row.saved {
            registers[number] = match saved {
                Saved::At(distance) => self.word(address.wrapping_add_signed(distance))?,
                Saved::Sum(distance) => address.wrapping_add_signed(distance),
                Saved::In(other) => frame.registers[other],
            };
            saves_return |= number == LR;
        }
        registers[SP] = address;
        let target = if saves_return {
            registers[LR]
        } else {
            self.unsaved_return(frame)?
        };
        Some((target, registers))
    }

    /// LR, where it still holds the return address: in the innermost function of a thread or of a
    /// handler, unless it has called another. After that LR points into the function itself.
    fn unsaved_return(&self, frame: &Frame) -> Option<u32> {
        let lr = frame.registers[LR];
        if !frame.exact {
            return None;
        }
        let here = self.code.function_at(looked_up(frame))?;
        let there = self
            .code
            .function_at(Memory::canonical(lr & !1).wrapping_sub(1));
        (there != Some(here)).then_some(lr)
    }

    /// The code that an exception interrupted, from the frame that it stacked.
    fn interrupted(&self, handler: &Frame, exc_return: u32) -> Option<Frame> {
        let base = frame_of(exc_return, self.psp, handler.registers[SP]);
        let mut registers = handler.registers;
        for (n, number) in STACKED.into_iter().enumerate() {
            registers[number] = self.word(base.wrapping_add(4 * n as u32))?;
        }
        let pc = self.word(base.wrapping_add(STACKED_PC))?;
        let status = self.word(base.wrapping_add(STACKED_XPSR))?;
        let bytes = if exc_return & 0x10 != 0 {
            BASIC_FRAME_BYTES
        } else {
            EXTENDED_FRAME_BYTES
        };
        let realigned = if status & REALIGNED != 0 { 4 } else { 0 };
        let pushed = interrupted_push(self.memory, pc & !1, status);
        registers[SP] = base.wrapping_add(bytes + realigned + pushed);
        Some(Frame {
            pc: pc & !1,
            exact: true,
            registers,
        })
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.memory.read(address, Width::Word)
    }
}

/// A call may be the last instruction of its function: so look up the call, not what follows.
fn looked_up(frame: &Frame) -> u32 {
    let pc = Memory::canonical(frame.pc);
    if frame.exact {
        pc
    } else {
        pc.wrapping_sub(1)
    }
}

/// The bytes by which SP lies below its value before the instruction at `pc`, where an exception
/// interrupted a PUSH; `xpsr` is stacked. Its transfers go on after the return, but SP has already
/// moved (`core/interrupted_instructions.rs`), and the frame tables know SP before or after it only.
fn interrupted_push(memory: &Memory, pc: u32, xpsr: u32) -> u32 {
    if xpsr & CONTINUES_AT == 0 || xpsr & IT_ONLY != 0 {
        return 0;
    }
    let half = |address| memory.read(address, Width::Half).unwrap_or(0);
    match (half(pc), half(pc.wrapping_add(2))) {
        // PUSH T1, T2 (A7.7.101), VPUSH (A7.7.249): the list, or the number of words.
        (first @ 0xB400..=0xB5FF, _) => 4 * (first & 0x1FF).count_ones(),
        (0xE92D, list) => 4 * list.count_ones(),
        (0xED2D | 0xED6D, words) => 4 * (words & 0xFF),
        _ => 0,
    }
}

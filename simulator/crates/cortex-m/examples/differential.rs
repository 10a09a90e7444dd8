//! The core's side of the differential test (quality/differential). `encodings` lists the decode
//! tables as JSON, `encodings cortex-m3` those of that core. `run` reads a batch of cases from stdin, and writes the state after each case to
//! stdout. All numbers are little-endian words.
//!
//! A batch is: bytes of data memory (at address 0), bytes of code (at [`CODE`]), both memories,
//! then the cases. A case is: steps, PC, R0–R14, xPSR, FPSCR, S0–S31. Its result is: the outcome,
//! PC, R0–R14, xPSR, FPSCR, S0–S31, and a hash of its changes to the data memory (two words). The
//! data memory is restored before the next case.

use std::io::{self, Read, Write};

use anyhow::{bail, Context, Result};
use cortex_m::bus::{Bus, Fault, Loaded, Width};
use cortex_m::{encodings_of, Core, CoreKind, Stop, Timing};

const CODE: u32 = 0x0010_0000;
const STARTUP: u32 = 0x000F_0000;
/// Gives full access to the FPU through CPACR. Then uses it once, so that the floating-point
/// context is the program's own: movw r0, #0xed88; movt r0, #0xe000; movs r1, #15; lsls r1, r1,
/// #20; str r1, [r0]; vmrs r2, fpscr.
const STARTUP_CODE: [u16; 9] = [
    0xF64E, 0x5088, 0xF2CE, 0x0000, 0x210F, 0x0509, 0x6001, 0xEEF1, 0x2A10,
];
const STARTUP_STEPS: u32 = 6;
const CASE_WORDS: usize = 51;

struct Memory {
    data: Vec<u8>,
    pristine: Vec<u8>,
    code: Vec<u8>,
    startup: Vec<u8>,
}

impl Memory {
    fn readable(&self, address: u32, count: usize) -> Option<&[u8]> {
        let (memory, base) = match address {
            CODE.. => (&self.code, CODE),
            STARTUP.. => (&self.startup, STARTUP),
            _ => (&self.data, 0),
        };
        memory
            .get((address - base) as usize..)
            .and_then(|rest| rest.get(..count))
    }

    /// Restores the bytes that have changed, and returns a hash of them. It sums cubes, so that
    /// swapped bytes give another hash.
    fn restore(&mut self) -> u64 {
        if self.data == self.pristine {
            return 0;
        }
        let mut hash = 0u64;
        for (address, (now, before)) in self.data.iter_mut().zip(&self.pristine).enumerate() {
            if now != before {
                let term = (address as u64) << 8 | u64::from(*now);
                hash = hash.wrapping_add(term.wrapping_mul(term).wrapping_mul(term) | 1);
                *now = *before;
            }
        }
        hash
    }
}

fn bytes(width: Width) -> usize {
    match width {
        Width::Byte => 1,
        Width::Half => 2,
        Width::Word => 4,
    }
}

impl Bus for Memory {
    fn fetch(&mut self, address: u32) -> Result<u16, Fault> {
        let bytes = self.readable(address, 2).ok_or(Fault::Bus { address })?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn read(&mut self, address: u32, width: Width, _now: u64) -> Result<Loaded, Fault> {
        let bytes = self.readable(address, bytes(width));
        let value = bytes
            .ok_or(Fault::Bus { address })?
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u32::from(byte));
        Ok(Loaded {
            value,
            wait_cycles: 0,
        })
    }

    fn write(&mut self, address: u32, width: Width, value: u32, _now: u64) -> Result<u32, Fault> {
        let count = bytes(width);
        let rest = self.data.get_mut(address as usize..);
        let target = rest
            .and_then(|rest| rest.get_mut(..count))
            .ok_or(Fault::Bus { address })?;
        target.copy_from_slice(&value.to_le_bytes()[..count]);
        Ok(0)
    }

    fn attention(&self) -> bool {
        false
    }
}

/// A core on `memory` that may use its FPU, if it has one.
fn started(kind: CoreKind, memory: &mut Memory) -> Result<Core> {
    let mut core = Core::of(kind.model(), Timing::Ideal);
    if !kind.facts().float {
        return Ok(core);
    }
    core.set_register(15, STARTUP);
    for _ in 0..STARTUP_STEPS {
        core.step(memory)?;
    }
    Ok(core)
}

/// How a case ended: the first word of its result.
fn outcome(core: &Core, stop: Option<Stop>) -> u32 {
    match stop {
        None if core.scb().fault_status().cfsr == 0 => 0,
        None => 1,
        Some(Stop::Undefined { .. }) => 2,
        Some(Stop::Unpredictable { .. }) => 3,
        Some(Stop::Unmodelled { .. }) => 4,
        Some(_) => 5,
    }
}

fn run_case(core: &mut Core, memory: &mut Memory, case: &[u32]) -> u32 {
    let (steps, registers, floats) = (case[0], &case[1..17], &case[19..51]);
    core.set_xpsr(case[17] | 1 << 24);
    core.set_fpscr(case[18]);
    core.set_register(15, registers[0]);
    for (n, &value) in registers[1..].iter().enumerate() {
        core.set_register(n, value);
    }
    for (n, &value) in floats.iter().enumerate() {
        core.set_float_register(n, value);
    }
    let stop = (0..steps).find_map(|_| core.step(memory).err());
    outcome(core, stop)
}

fn write_result(out: &mut impl Write, core: &Core, outcome: u32, changes: u64) -> Result<()> {
    let mut words = vec![outcome, core.pc()];
    words.extend((0..15).map(|n| core.register(n)));
    words.extend([core.registers().xpsr(), core.registers().float.fpscr]);
    words.extend((0..32).map(|n| core.registers().float.s[n]));
    words.extend([changes as u32, (changes >> 32) as u32]);
    for word in words {
        out.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}

fn read_words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn run(kind: CoreKind) -> Result<()> {
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input)?;
    let sizes = read_words(input.get(..8).unwrap_or_default());
    let [data_bytes, code_bytes] = sizes[..] else {
        bail!("the batch has no header");
    };
    let (data_end, code_end) = (
        8 + data_bytes as usize,
        8 + (data_bytes + code_bytes) as usize,
    );
    if input.len() < code_end {
        bail!("the batch is shorter than its header says");
    }
    let mut memory = Memory {
        data: input[8..data_end].to_vec(),
        pristine: input[8..data_end].to_vec(),
        code: input[data_end..code_end].to_vec(),
        startup: STARTUP_CODE.iter().flat_map(|h| h.to_le_bytes()).collect(),
    };
    let mut core = started(kind, &mut memory)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for case in read_words(&input[code_end..]).chunks_exact(CASE_WORDS) {
        let outcome = run_case(&mut core, &mut memory, case);
        let changes = memory.restore();
        write_result(&mut out, &core, outcome, changes)?;
        if outcome != 0 {
            core = started(kind, &mut memory)?;
        }
    }
    Ok(out.flush()?)
}

fn list(kind: CoreKind) {
    let baseline = !kind.facts().mainline;
    for row in encodings_of(kind) {
        let (name, wide, mask, value) = (row.name, row.wide, row.mask, row.value);
        println!(
            "{}",
            serde_json::json!({"name": name, "wide": wide, "mask": mask, "value": value, "baseline": baseline})
        );
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = match arguments.get(1) {
        Some(name) => CoreKind::named(name).with_context(|| format!("{name} is no core"))?,
        None => CoreKind::default(),
    };
    match arguments.first().map(String::as_str) {
        Some("encodings") => list(kind),
        Some("run") => run(kind)?,
        _ => {
            bail!("usage: differential encodings [CORE] | differential run [CORE] <batch >results")
        }
    }
    Ok(())
}

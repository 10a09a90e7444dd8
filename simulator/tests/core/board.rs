//! The smallest board that runs a program: memory, one device that records what is written to it,
//! and interrupt lines that change at given cycles. The GNU toolchain that builds the firmware also
//! assembles the programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection};

use cortex_m::bus::{Bus, Fault, Loaded, Width};
use cortex_m::{Core, Model, RunEnd, Stop, Timing};

pub const CODE: u32 = 0x0800_0000;
pub const SRAM: u32 = 0x2000_0000;
pub const STACK_TOP: u32 = 0x2000_8000;
const CODE_BYTES: usize = 0x1_0000;
const SRAM_BYTES: usize = 0x8000;
pub const DEVICE: u32 = 0x4000_0000;
/// Writing here asks for the machine's attention. Writing 4 bytes further is not modelled.
pub const ATTENTION: u32 = DEVICE + 0x100;
/// The device's FLASH_ACR.
const FLASH_ACR: u32 = DEVICE + 0x200;
/// Writing here takes five cycles more.
const SLOW: u32 = DEVICE + 0xF00;
const UNMODELLED: u32 = DEVICE + 0x104;

/// The vector table. Handlers that the program does not define stop the run.
const VECTORS: &str = "
        .syntax unified
        .cpu cortex-m4
        .thumb
        .irp name, nmi, hard_fault, mem_manage, bus_fault, usage_fault, svcall, debug_monitor, pendsv, systick, irq0, irq1, irq2, irq3
        .weak \\name
        .thumb_set \\name, unexpected
        .endr
        .section .vectors, \"ax\"
        .word 0x20008000, start, nmi, hard_fault, mem_manage, bus_fault, usage_fault, 0, 0, 0, 0
        .word svcall, debug_monitor, 0, pendsv, systick, irq0, irq1, irq2, irq3
        .thumb_func
        unexpected:
        bkpt 0xEE
";

/// Names of registers, and macros. The program follows.
const PRELUDE: &str = "
        .syntax unified
        .cpu cortex-m4
        .fpu fpv4-sp-d16
        .thumb
        .equ DEVICE, 0x40000000
        .equ FLASH_ACR, 0x40000200
        .equ CTRL, 0xE0001000
        .equ CYCCNT, 0xE0001004
        .equ SYST_CSR, 0xE000E010
        .equ SYST_RVR, 0xE000E014
        .equ SYST_CVR, 0xE000E018
        .equ ISER, 0xE000E100
        .equ ISPR, 0xE000E200
        .equ IPR, 0xE000E400
        .equ ICSR, 0xE000ED04
        .equ VTOR, 0xE000ED08
        .equ AIRCR, 0xE000ED0C
        .equ CCR, 0xE000ED14
        .equ SHPR2, 0xE000ED1C
        .equ SHPR3, 0xE000ED20
        .equ SHCSR, 0xE000ED24
        .equ CFSR, 0xE000ED28
        .equ HFSR, 0xE000ED2C
        .equ BFAR, 0xE000ED38
        .equ CPACR, 0xE000ED88
        .equ DEMCR, 0xE000EDFC
        .equ FPCCR, 0xE000EF34
        .equ FPCAR, 0xE000EF38
        .macro function name
        .global \\name
        .thumb_func
        \\name:
        .endm
        @ Sets word \\value at \\address, by r0 and r1.
        .macro poke address, value
        ldr r0, =\\address
        ldr r1, =\\value
        str r1, [r0]
        .endm
        .text
        function start
";

pub struct Memory {
    pub code: Vec<u8>,
    pub sram: Vec<u8>,
    /// Offset, value and cycle of each write to the device.
    pub written: Vec<(u32, u32, u64)>,
    pub attention: bool,
    /// The core takes FLASH_ACR from here when the program writes to the device.
    pub flash_access_control: u32,
    /// Offers the core the fast paths to the SRAM.
    pub in_one_go: bool,
    /// Levels of the interrupt lines (bit n is line n), and their next changes: cycle, line, level.
    levels: u128,
    changes: Vec<(u64, u16, bool)>,
}

impl Memory {
    fn bytes(&mut self, address: u32, width: Width) -> Result<&mut [u8], Fault> {
        let count = match width {
            Width::Byte => 1,
            Width::Half => 2,
            Width::Word => 4,
        };
        let (memory, base) = match address {
            0..0x1_0000 => (&mut self.code, 0),
            CODE..0x0801_0000 => (&mut self.code, CODE),
            SRAM..STACK_TOP => (&mut self.sram, SRAM),
            _ => return Err(Fault::Bus { address }),
        };
        let start = (address - base) as usize;
        memory
            .get_mut(start..start + count)
            .ok_or(Fault::Bus { address })
    }

    pub fn word(&mut self, address: u32) -> u32 {
        self.read(address, Width::Word, 0).unwrap().value
    }
}

impl Bus for Memory {
    fn fetch(&mut self, address: u32) -> Result<u16, Fault> {
        self.bytes(address, Width::Half)
            .map(|b| u16::from_le_bytes([b[0], b[1]]))
    }

    fn read(&mut self, address: u32, width: Width, now: u64) -> Result<Loaded, Fault> {
        let value = if address == DEVICE {
            now as u32
        } else {
            self.bytes(address, width)?
                .iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u32::from(byte))
        };
        Ok(Loaded {
            value,
            wait_cycles: 0,
        })
    }

    fn write(&mut self, address: u32, width: Width, value: u32, now: u64) -> Result<u32, Fault> {
        if address == UNMODELLED {
            return Err(Fault::Unmodelled {
                what: "a test register".into(),
                address,
            });
        }
        if (DEVICE..DEVICE + 0x1000).contains(&address) {
            self.written.push((address - DEVICE, value, now));
            self.attention |= address == ATTENTION;
            if address == FLASH_ACR {
                self.flash_access_control = value;
            }
            return Ok(if address == SLOW { 5 } else { 0 });
        }
        for (n, byte) in self.bytes(address, width)?.iter_mut().enumerate() {
            *byte = (value >> (8 * n)) as u8;
        }
        Ok(0)
    }

    fn plain_memory(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let start = address.checked_sub(SRAM)? as usize;
        let run = self.sram.get_mut(start..start + bytes as usize)?;
        self.in_one_go.then_some(run)
    }

    fn plain_bytes<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        let memory = self.plain_memory(address, N as u32)?.first_chunk_mut();
        memory.filter(|_| address & (N as u32 - 1) == 0)
    }

    fn attention(&self) -> bool {
        self.attention
    }

    fn flash_access_control(&self) -> u32 {
        self.flash_access_control
    }

    fn interrupt_lines(&mut self, now: u64) -> Option<u128> {
        let due = self.changes.iter().take_while(|change| change.0 <= now);
        Some(due.fold(self.levels, |levels, &(_, line, high)| {
            with_line(levels, line, high)
        }))
    }
}

fn with_line(levels: u128, line: u16, high: bool) -> u128 {
    levels & !(1 << line) | (high as u128) << line
}

pub struct Board {
    pub core: Core,
    pub memory: Memory,
    /// Cycle, line, level. In the order of cycles.
    pub lines: Vec<(u64, u16, bool)>,
}

impl Board {
    /// A board with `source`, which begins at `start`, after reset.
    pub fn new(source: &str) -> Board {
        Board::with_timing(source, Timing::Nucleo)
    }

    pub fn with_timing(source: &str, timing: Timing) -> Board {
        Board::with_core(source, Model::default(), timing)
    }

    pub fn with_core(source: &str, model: Model, timing: Timing) -> Board {
        let mut code = assemble(source);
        code.resize(CODE_BYTES, 0);
        let sram = vec![0; SRAM_BYTES];
        let mut memory = Memory {
            code,
            sram,
            written: Vec::new(),
            attention: false,
            flash_access_control: 0,
            in_one_go: true,
            levels: 0,
            changes: Vec::new(),
        };
        let mut core = Core::of(model, timing);
        core.reset(&mut memory).unwrap();
        Board {
            core,
            memory,
            lines: Vec::new(),
        }
    }

    /// Runs to the first stop. Changes interrupt lines when they are due, and skips sleep.
    pub fn stop(&mut self) -> Stop {
        (0..1_000_000)
            .find_map(|_| self.run_until(u64::MAX).err())
            .expect("the program ends")
    }

    /// Runs to the next change of an interrupt line, at most to cycle `end`.
    pub fn run_until(&mut self, end: u64) -> Result<(), Stop> {
        let deadline = self.lines.first().map_or(end, |line| line.0.min(end));
        self.memory.changes.clone_from(&self.lines);
        match self.core.run(&mut self.memory, deadline)? {
            RunEnd::Attention => self.memory.attention = false,
            RunEnd::Asleep => self.sleep(deadline),
            RunEnd::Deadline | RunEnd::Held => {}
        }
        while self
            .lines
            .first()
            .is_some_and(|line| line.0 <= self.core.cycles())
        {
            let (_, irq, level) = self.lines.remove(0);
            self.memory.levels = with_line(self.memory.levels, irq, level);
            self.core.set_irq_lines(self.memory.levels);
        }
        Ok(())
    }

    fn sleep(&mut self, deadline: u64) {
        let wake = self
            .core
            .next_internal_event()
            .unwrap_or(u64::MAX)
            .min(deadline);
        assert_ne!(wake, u64::MAX, "the program sleeps for ever");
        self.core.advance_to(wake);
    }

    /// Runs to `bkpt 0`.
    pub fn finish(&mut self) {
        match self.stop() {
            Stop::Breakpoint { immediate: 0, .. } => {}
            stop => panic!("{stop}"),
        }
    }

    pub fn r(&self, n: usize) -> u32 {
        self.core.register(n)
    }

    /// A word as a debugger reads it.
    pub fn debug_read(&mut self, address: u32) -> u32 {
        let loaded = self.core.debug_read(&mut self.memory, address, Width::Word);
        loaded.unwrap()
    }

    pub fn debug_write(&mut self, address: u32, value: u32) {
        let memory = &mut self.memory;
        let written = self.core.debug_write(memory, address, Width::Word, value);
        written.unwrap();
    }

    /// Everything that a run leaves, and when.
    pub fn outcome(&self) -> impl PartialEq {
        let core = &self.core;
        (
            (0..16).map(|n| self.r(n)).collect::<Vec<u32>>(),
            (core.registers().xpsr(), core.cycles(), core.instructions()),
            (self.memory.sram.clone(), self.memory.written.clone()),
        )
    }

    pub fn registers<const N: usize>(&self, numbers: [usize; N]) -> [u32; N] {
        numbers.map(|number| self.r(number))
    }
}

/// Runs `source` with a `bkpt 0` at its end.
pub fn run(source: &str) -> Board {
    finished(&format!("{source}\n bkpt 0\n .pool\n"))
}

/// Runs a program to its own `bkpt 0`.
pub fn finished(source: &str) -> Board {
    finished_with(source, &[])
}

/// The same, while interrupt lines change: cycle, line, level.
pub fn finished_with(source: &str, lines: &[(u64, u16, bool)]) -> Board {
    let mut board = Board::new(source);
    board.lines = lines.to_vec();
    board.finish();
    board
}

/// Runs a program whole and in slices, which must leave the same.
pub fn finished_in_slices(source: &str) -> Board {
    let run = |slice: u64| {
        let mut board = Board::new(source);
        loop {
            let deadline = board.core.cycles() + slice;
            if board.core.run(&mut board.memory, deadline).is_err() {
                return board;
            }
        }
    };
    let whole = run(1 << 40);
    for slice in [1, 2, 3, 7, 50, 1000] {
        assert!(
            run(slice).outcome() == whole.outcome(),
            "slices of {slice} cycles"
        );
    }
    whole
}

fn assemble(source: &str) -> Vec<u8> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "core-test-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let code = build(&folder, source);
    std::fs::remove_dir_all(&folder).unwrap();
    code
}

/// The tools are called one by one: there are hundreds of programs, and a compiler's driver would
/// start three more processes for each.
fn build(folder: &Path, source: &str) -> Vec<u8> {
    static VECTOR_TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    let vectors = VECTOR_TABLE
        .get_or_init(|| std::fs::read(object(folder, "vectors", &format!("{VECTORS}\n"))).unwrap());
    let [table, script, elf] =
        ["vectors.o", "program.ld", "program.elf"].map(|name| folder.join(name));
    std::fs::write(&table, vectors).unwrap();
    std::fs::write(
        &script,
        "SECTIONS { .text 0x08000000 : { *(.vectors) *(.text) } }\n",
    )
    .unwrap();
    let link = [
        PathBuf::from("-T"),
        script,
        table,
        object(folder, "program", &format!("{PRELUDE}{source}\n")),
        "-o".into(),
        elf.clone(),
    ];
    tool("arm-none-eabi-ld", &link);
    let content = std::fs::read(elf).unwrap();
    let linked = ElfFile32::<Endianness>::parse(&*content).unwrap();
    let text = linked.section_by_name(".text").unwrap();
    text.data().unwrap().to_vec()
}

/// Assembles to <name>.o.
fn object(folder: &Path, name: &str, source: &str) -> PathBuf {
    let [assembly, object] = ["s", "o"].map(|suffix| folder.join(format!("{name}.{suffix}")));
    std::fs::write(&assembly, source).unwrap();
    tool("arm-none-eabi-as", &[assembly, "-o".into(), object.clone()]);
    object
}

fn tool(name: &str, arguments: &[PathBuf]) {
    let output = Command::new(name)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            panic!("{name} does not run ({error}): install the GNU Arm toolchain")
        });
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

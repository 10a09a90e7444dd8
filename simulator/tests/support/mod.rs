//! Firmware for the tests, built by the cross compiler when they run.

#![allow(dead_code)] // each test file uses its part

pub mod random;

use cortex_m::Timing;
use machine::Machine;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;

pub fn virtual_nucleo() -> Command {
    Command::new(env!("CARGO_BIN_EXE_virtual-nucleo"))
}

pub fn ended(arguments: &[&str]) -> Output {
    virtual_nucleo().args(arguments).output().unwrap()
}

/// Runs a firmware to files, with these options.
pub fn run(elf: &Path, arguments: &[&str]) -> Output {
    ended(&[&["run", text(elf)], arguments].concat())
}

/// The same, for a program that must exit with 0 and say nothing on stderr.
pub fn succeed(arguments: &[&str]) -> Output {
    let output = ended(arguments);
    let said = stderr(&output);
    assert!(output.status.success() && said.is_empty(), "{said}");
    output
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A machine at reset with a program, and with a message where the firmware looks for it.
pub fn machine(elf: &Path, timing: Timing, message: &[u8]) -> Machine {
    let mut memory = Memory::default();
    let file = fs::read(elf).unwrap();
    Firmware::parse(&file).unwrap().place(&mut memory).unwrap();
    memory.load(0x0804_0000, message).unwrap();
    Machine::new(memory, timing).unwrap()
}

/// Runs to a cycle and returns how many steps of the machine it took.
pub fn advance(machine: &mut Machine, cycle: u64) -> u64 {
    let mut steps = 0;
    while machine.cycles() < cycle {
        machine.run_to_event(cycle).unwrap();
        steps += 1;
    }
    steps
}

/// A path as a word of a command line.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What a file of JSON holds.
pub fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A path for a test's own file, in a folder that has the test's name: tests run side by side.
pub fn scratch(name: &str) -> PathBuf {
    let test = thread::current();
    let folder = test.name().unwrap_or("unnamed").replace("::", "-");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Compiles tests/fixtures/board.c with macros defined. `name` is that of the file.
pub fn board_firmware(name: &str, macros: &[&str]) -> PathBuf {
    firmware("board.c", name, macros)
}

/// Compiles a source of tests/fixtures.
pub fn firmware(source: &str, name: &str, macros: &[&str]) -> PathBuf {
    firmware_for("cortex-m4", source, name, macros)
}

/// The same, for a core.
pub fn firmware_for(core: &str, source: &str, name: &str, macros: &[&str]) -> PathBuf {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let elf = scratch(&format!("{name}.elf"));
    let output = Command::new("arm-none-eabi-gcc")
        .arg(format!("-mcpu={core}"))
        .args(["-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-g"])
        .args(macros.iter().map(|name| format!("-D{name}")))
        .arg("-T")
        .arg(fixtures.join("board.ld"))
        .arg(fixtures.join(source))
        .arg("-o")
        .arg(&elf)
        .output()
        .expect("arm-none-eabi-gcc is a prerequisite of these tests");
    assert!(output.status.success(), "{}", stderr(&output));
    elf
}

/// Writes a message to a file. Returns the argument of `--image` that places it where the firmware
/// looks for it.
pub fn message_image(name: &str, text: &str) -> String {
    let path = scratch(&format!("{name}.bin"));
    fs::write(&path, format!("{text}\0")).unwrap();
    format!("{}@0x08040000", path.display())
}

/// A line of edges.csv.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvEdge {
    pub cycle: u64,
    pub pin: String,
    pub level: bool,
}

pub fn read_edges(path: &PathBuf) -> Vec<CsvEdge> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("cycle,pin,level"));
    lines.map(parse_edge).collect()
}

fn parse_edge(line: &str) -> CsvEdge {
    let fields: Vec<&str> = line.split(',').collect();
    assert_eq!(fields.len(), 3, "{line}");
    CsvEdge {
        cycle: fields[0].parse().unwrap(),
        pin: fields[1].into(),
        level: match fields[2] {
            "0" => false,
            "1" => true,
            level => panic!("level {level}"),
        },
    }
}

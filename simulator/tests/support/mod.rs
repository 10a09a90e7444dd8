//! Firmware for the tests, built by the cross compiler when they run.

#![allow(dead_code)] // each test file uses its part

pub mod random;

use cortex_m::Timing;
use machine::Machine;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;

/// The program, in the test's own folder: names of files on its line are files there.
pub fn virtual_nucleo(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_virtual-nucleo"));
    command
        .current_dir(scratch(""))
        .args(line.split_whitespace());
    command
}

pub fn ended(line: &str) -> Output {
    virtual_nucleo(line).output().unwrap()
}

/// `run` with what stands behind it on the line.
pub fn run(line: &str) -> Output {
    ended(&format!("run {line}"))
}

/// The same, for a run that must exit with 0 and say nothing on stderr. Returns its stdout.
pub fn succeed(line: &str) -> String {
    let output = run(line);
    let said = stderr(&output);
    assert!(output.status.success() && said.is_empty(), "{said}");
    stdout(&output)
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A machine at reset with a program, and with a message where the firmware looks for it.
pub fn machine(elf: &str, timing: Timing, message: &[u8]) -> Machine {
    let mut memory = Memory::default();
    let file = fs::read(scratch(elf)).unwrap();
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

/// What a file of the test holds.
pub fn read(name: &str) -> String {
    fs::read_to_string(scratch(name)).unwrap()
}

/// The same, of a file of JSON.
pub fn json(name: &str) -> Value {
    serde_json::from_str(&read(name)).unwrap()
}

/// The same, of a file with JSON in each line.
pub fn json_lines(name: &str) -> Vec<Value> {
    let text = read(name);
    let entries = text.lines().map(|line| serde_json::from_str(line).unwrap());
    entries.collect()
}

/// The same, of a table: the rows below the header.
pub fn rows(name: &str, header: &str) -> Vec<Vec<String>> {
    let text = read(name);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    let cells = |line: &str| {
        let cells: Vec<String> = line.split(',').map(String::from).collect();
        assert_eq!(cells.len(), header.split(',').count(), "{line}");
        cells
    };
    lines.map(cells).collect()
}

/// A hexadecimal number without 0x.
pub fn hexadecimal(text: &str) -> u32 {
    u32::from_str_radix(text.trim(), 16).unwrap()
}

/// The number that a program sent in a line behind a name.
pub fn sent(log: &str, name: &str) -> u64 {
    let text = read(log);
    let number = text.lines().find_map(|line| line.strip_prefix(name));
    hexadecimal(number.unwrap()).into()
}

/// A path for a test's own file, in a folder that has the test's name: tests run side by side.
pub fn scratch(name: &str) -> PathBuf {
    let test = thread::current();
    let folder = test.name().unwrap_or("unnamed").replace("::", "-");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Compiles tests/fixtures/board.c, as `firmware` does.
pub fn board_firmware(macros: &str) -> String {
    firmware("board.c", macros)
}

/// Compiles a source of tests/fixtures with macros, which blanks separate. Returns the file's name.
pub fn firmware(source: &str, macros: &str) -> String {
    firmware_for("cortex-m4", source, macros)
}

/// The same, for a core.
pub fn firmware_for(core: &str, source: &str, macros: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let source = fixtures.join(source);
    let stem = source.file_stem().unwrap().to_str().unwrap();
    let elf = format!("{stem} {macros}.elf").replace(' ', "-");
    let output = Command::new("arm-none-eabi-gcc")
        .arg(format!("-mcpu={core}"))
        .args(["-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-g"])
        .args(macros.split_whitespace().map(|name| format!("-D{name}")))
        .arg("-T")
        .arg(fixtures.join("board.ld"))
        .arg(&source)
        .arg("-o")
        .arg(scratch(&elf))
        .output()
        .expect("arm-none-eabi-gcc is a prerequisite of these tests");
    assert!(output.status.success(), "{}", stderr(&output));
    elf
}

/// Writes a message to a file. Returns the option that places it where the firmware looks for it.
pub fn message(text: &str) -> &'static str {
    fs::write(scratch("message.bin"), format!("{text}\0")).unwrap();
    "--image message.bin@0x08040000"
}

/// A line of a table of edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvEdge {
    pub cycle: u64,
    pub pin: String,
    pub level: bool,
}

pub fn read_edges(name: &str) -> Vec<CsvEdge> {
    let edge = |cells: Vec<String>| CsvEdge {
        cycle: cells[0].parse().unwrap(),
        pin: cells[1].clone(),
        level: match &cells[2][..] {
            "0" => false,
            "1" => true,
            level => panic!("level {level}"),
        },
    };
    rows(name, "cycle,pin,level")
        .into_iter()
        .map(edge)
        .collect()
}

/// Those of a pin.
pub fn edges_of(name: &str, pin: &str) -> Vec<CsvEdge> {
    let edges = read_edges(name).into_iter();
    edges.filter(|edge| edge.pin == pin).collect()
}

//! What the bench asks of a chip, done by the same program on a chip of each line. Expected values come
//! from the manuals and from the program's own settings.

use crate::support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use support::{read_edges, run, scratch, text, CsvEdge};

struct Board {
    chip: &'static str,
    /// The macro of tests/fixtures/roles.c.
    name: &'static str,
    core: &'static str,
    /// Its highest HCLK.
    mhz: f64,
    /// Core cycles of a clock of TIM2.
    timer_divider: u64,
    /// Flags of the flash after a page was erased and programmed, and after a cell that is not erased.
    flags: u32,
    again: Option<u32>,
    cpuid: u32,
}

const BOARDS: [Board; 4] = [
    Board {
        chip: "stm32f446re",
        name: "F446",
        core: "cortex-m4",
        mhz: 180.0,
        timer_divider: 2,
        flags: 0,
        again: None, // it clears bits
        cpuid: 0x410F_C241,
    },
    Board {
        chip: "stm32l476rg",
        name: "L476",
        core: "cortex-m4",
        mhz: 80.0,
        timer_divider: 1,
        flags: 0,
        again: Some(1 << 3), // RM0351 §3.7.5: PROGERR
        cpuid: 0x410F_C241,
    },
    Board {
        chip: "stm32f103rb",
        name: "F103",
        core: "cortex-m3",
        mhz: 72.0,
        timer_divider: 1,
        flags: 1 << 5,                // PM0075 §3.4: EOP
        again: Some(1 << 5 | 1 << 2), // PGERR
        cpuid: 0x411F_C231,
    },
    Board {
        chip: "stm32f072rb",
        name: "F072",
        core: "cortex-m0",
        mhz: 48.0,
        timer_divider: 1,
        flags: 1 << 5,
        again: Some(1 << 5 | 1 << 2),
        cpuid: 0x410C_C200,
    },
];

struct Run {
    lines: Vec<(String, u32)>,
    edges: Vec<CsvEdge>,
    /// HCLK at the end, in MHz.
    mhz: f64,
}

impl Run {
    fn value(&self, name: &str) -> Option<u32> {
        let mut lines = self.lines.iter();
        lines.find(|line| line.0 == name).map(|line| line.1)
    }

    /// Cycles between the edges of a pin.
    fn widths(&self, pin: &str) -> Vec<u64> {
        let edges = self.edges.iter().filter(|edge| edge.pin == pin);
        let cycles: Vec<u64> = edges.map(|edge| edge.cycle).collect();
        cycles.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

fn built(board: &Board) -> PathBuf {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let elf = scratch(&format!("roles-{}.elf", board.name));
    let output = Command::new("arm-none-eabi-gcc")
        .arg(format!("-mcpu={}", board.core))
        .arg(format!("-D{}", board.name))
        .args(["-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-g", "-T"])
        .arg(fixtures.join("board.ld"))
        .arg(fixtures.join("roles.c"))
        .arg("-o")
        .arg(&elf)
        .output()
        .expect("arm-none-eabi-gcc is a prerequisite of these tests");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    elf
}

fn played(board: &Board) -> Run {
    let (edges, log) = (scratch("roles.csv"), scratch("roles.txt"));
    let stats = scratch("roles.json");
    let files = ["--edges", text(&edges), "--uart-log", text(&log)];
    let files = [&files[..], &["--stats", text(&stats)]].concat();
    let chip = ["--strict", "--until", "3s", "--chip", board.chip];
    let output = run(&built(board), &[&chip[..], &files[..]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", board.chip);
    let line = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.into(), u32::from_str_radix(value, 16).unwrap())
    };
    let told: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&stats).unwrap()).unwrap();
    let hz = &told["clocks"].as_array().unwrap().last().unwrap()["core_hz"];
    Run {
        mhz: hz[0].as_f64().unwrap() / hz[1].as_f64().unwrap() / 1e6,
        lines: fs::read_to_string(&log)
            .unwrap()
            .lines()
            .map(line)
            .collect(),
        edges: read_edges(&edges),
    }
}

#[test]
fn a_chip_of_each_line_does_what_the_bench_asks_for() {
    for board in &BOARDS {
        let run = played(board);
        let chip = board.chip;
        let value = |name| run.value(name);
        assert_eq!(run.mhz, board.mhz, "{chip}");
        // TIM2 toggles PA0 by itself every 1,000 of its clocks.
        let toggles = run.widths("PA0");
        let period = 1_000 * board.timer_divider;
        assert!(
            toggles.len() >= 3 && toggles[1..].iter().all(|width| *width == period),
            "{chip}: {toggles:?}"
        );
        assert_eq!(value("matches"), Some(4), "{chip}");
        assert_eq!(run.widths("PA8").len(), 4 + 2 * 4 - 1, "{chip}");
        // Up, down, up.
        assert_eq!(value("presses"), Some(3), "{chip}");
        assert_eq!(value("levels"), Some(0b101), "{chip}");
        assert_eq!(value("before"), Some(0xFFFF_FFFF), "{chip}");
        assert_eq!(value("programmed"), Some(0x1234_5678), "{chip}");
        assert_eq!(value("flags"), Some(board.flags), "{chip}");
        assert_eq!(value("again"), board.again, "{chip}");
        assert_eq!(value("cpuid"), Some(board.cpuid), "{chip}");
    }
}

//! `virtual-nucleo serve` as its clients see it: the analyzer's protocol by a plain socket and by
//! sigrok-cli, the samples compared with the edges of `run`, and the serial port.

use crate::support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use support::{
    board_firmware, json, message, read, read_edges, scratch, stderr, succeed, virtual_nucleo,
    CsvEdge,
};

pub struct Board {
    process: Child,
    stdin: Option<ChildStdin>,
    analyzer: String,
    uart: String,
}

impl Board {
    fn start(line: &str) -> Board {
        Board::start_with(line, &[])
    }

    /// With options that may hold blanks.
    pub fn start_with(line: &str, options: &[String]) -> Board {
        let mut process = virtual_nucleo(&format!("serve {line}"))
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        Board {
            stdin: process.stdin.take(),
            process,
            analyzer: said["analyzer"].as_str().unwrap().into(),
            uart: said["uart"].as_str().unwrap().into(),
        }
    }

    fn client(&self) -> Client {
        let socket = TcpStream::connect(&self.analyzer).unwrap();
        Client {
            lines: BufReader::new(socket.try_clone().unwrap()),
            socket,
        }
    }

    /// Has sigrok-cli record from reset on, with these options.
    pub fn record(self, options: &str) {
        let place = self.analyzer.replace(':', "/");
        let output = Command::new("sigrok-cli")
            .current_dir(scratch(""))
            .arg("-d")
            .arg(format!("beaglelogic:conn=tcp-raw/{place}:logic_channels=8"))
            .args(options.split_whitespace())
            .output()
            .expect("sigrok-cli is a prerequisite of this test");
        assert!(output.status.success() && output.stderr.is_empty());
        assert_eq!(self.finish(), (Some(0), String::new()));
    }

    /// Closes stdin. Returns the exit status and the text on stderr.
    fn finish(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        self.wait()
    }

    fn wait(self) -> (Option<i32>, String) {
        let output = self.process.wait_with_output().unwrap();
        drop(self.stdin);
        (output.status.code(), stderr(&output))
    }
}

struct Client {
    socket: TcpStream,
    lines: BufReader<TcpStream>,
}

impl Client {
    fn ask(&mut self, line: &str) -> String {
        self.socket
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
        let mut reply = String::new();
        self.lines.read_line(&mut reply).unwrap();
        reply.trim_end().into()
    }

    fn capture(&mut self, samplerate_hz: u64, samples: usize) -> Vec<u8> {
        assert_eq!(self.ask(&format!("samplerate {samplerate_hz}")), "ok");
        assert_eq!(self.ask("sampleunit 1"), "ok");
        self.socket.write_all(b"get\n").unwrap();
        let mut data = vec![0; samples];
        self.lines.read_exact(&mut data).unwrap();
        data
    }
}

/// What the eight channels read at each edge of `run`, and in which sample. From cycle `switch` on
/// there is one sample for each cycle, at 84 MHz. Before, the clock is 16 MHz.
fn words_at_edges(edges: &[CsvEdge], switch: u64) -> Vec<(u64, u8)> {
    let mut word = 0x80; // NJTRST (PB4) is pulled up from reset
    edges
        .iter()
        .map(|edge| {
            let channel = match edge.pin.as_str() {
                "PA8" => 0,
                "PA0" => 2,
                pin => panic!("{pin}"),
            };
            word = word & !(1 << channel) | u8::from(edge.level) << channel;
            // floor(switch / 16 MHz × 84 MHz) + cycles since. No edge comes before the switch.
            (switch * 84 / 16 + (edge.cycle - switch), word)
        })
        .collect()
}

fn changes(data: &[u8]) -> Vec<(u64, u8)> {
    (1..data.len())
        .filter(|&n| data[n] != data[n - 1])
        .map(|n| (n as u64, data[n]))
        .collect()
}

#[test]
fn a_cycle_is_a_sample_and_the_capture_equals_the_run() {
    let elf = board_firmware("");
    succeed(&format!("{elf} --until=3ms --edges edges.csv"));
    let board = Board::start(&elf);
    let data = board.client().capture(84_000_000, 200_000);
    let seen = changes(&data);
    assert_eq!(data[0], 0x80);
    assert!(seen.len() > 300);
    // The cycle of the switch follows from the first edge. It must then give the sample of all
    // others.
    let edges = read_edges("edges.csv");
    let first_cycle = edges[0].cycle;
    let switch = (1..first_cycle)
        .find(|switch| switch * 84 / 16 + (first_cycle - switch) == seen[0].0)
        .unwrap();
    let mut expected = words_at_edges(&edges, switch);
    expected.truncate(seen.len());
    assert_eq!(seen, expected);
    assert_eq!(board.finish(), (Some(0), String::new()));
}

/// The table of a board that served a while. It is ended at any moment: its last line may be cut.
fn served(line: &str) -> Vec<String> {
    let board = Board::start(&format!("{line} --windows served.csv"));
    board.client().capture(84_000_000, 200_000);
    assert_eq!(board.finish(), (Some(0), String::new()));
    let text = read("served.csv");
    let whole = &text[..=text.rfind('\n').unwrap()];
    whole.lines().map(String::from).collect()
}

#[test]
fn what_it_counts_while_it_serves_is_what_a_run_counts() {
    let line = format!(
        "{} --count=entries=on_tim2 --count-window=CRIT",
        board_firmware("")
    );
    succeed(&format!("{line} --until=3ms --windows run.csv"));
    let (of_run, of_serve) = (read("run.csv"), served(&line));
    let rows = of_run.lines().count().min(of_serve.len());
    assert!(rows > 30);
    assert!(of_serve.iter().zip(of_run.lines()).all(|(a, b)| a == b));
}

/// One window of STIM may hold several pulses of CRIT, and parts of some.
#[test]
fn instructions_of_a_window_are_those_of_the_pulses_within() {
    let elf = board_firmware("");
    let table_of = |options: &str, header: &str| -> Vec<Vec<u64>> {
        let lines = served(&format!("{elf} {options}"));
        assert_eq!(lines[0], format!("window,start_cycle,end_cycle,{header}"));
        let numbers = |line: &String| line.split(',').map(|cell| cell.parse().unwrap()).collect();
        lines[1..].iter().map(numbers).collect()
    };
    let all = table_of("--count-window CRIT --count=all=*", "all");
    let same = table_of(
        "--count-window CRIT --instructions-while=CRIT",
        "instructions",
    );
    let rows = all.len().min(same.len());
    assert!(rows > 30 && all[..rows] == same[..rows]);
    let both = "--count-window STIM --count=all=* --instructions-while=CRIT";
    let wide = table_of(both, "all,instructions");
    let last_cycle = all[rows - 1][2];
    let mut met = 0;
    for row in wide.iter().filter(|row| row[2] <= last_cycle) {
        let overlap = |pulse: &&Vec<u64>| pulse[1] < row[2] && pulse[2] > row[1];
        let pulses: Vec<_> = all[..rows].iter().filter(overlap).collect();
        let whole = pulses
            .iter()
            .all(|pulse| pulse[1] >= row[1] && pulse[2] <= row[2]);
        let sum: u64 = pulses.iter().map(|pulse| pulse[3]).sum();
        assert!(row[4] <= row[3] && if whole { row[4] == sum } else { row[4] < sum });
        met += pulses.len();
    }
    assert!(met > 0);
}

#[test]
fn sigterm_ends_it_with_status_0() {
    let board = Board::start(&board_firmware(""));
    let pid = board.process.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(killed.unwrap().success());
    assert_eq!(board.wait(), (Some(0), String::new()));
}

#[test]
fn a_scan_then_one_capture_and_no_second_one() {
    let board = Board::start(&board_firmware(""));
    assert!(board.client().ask("version").starts_with("BeagleLogic"));
    let mut client = board.client();
    assert_eq!(client.ask("memalloc"), "-1");
    assert_eq!(client.capture(1_000_000, 1_000).len(), 1_000);
    assert!(board.client().ask("get").starts_with("error: "));
    client.socket.write_all(b"close\n").unwrap();
    assert_eq!(board.finish(), (Some(0), String::new()));
}

#[test]
fn garbage_is_answered_and_harms_nobody() {
    let board = Board::start(&board_firmware(""));
    let mut client = board.client();
    for line in [
        "GET / HTTP/1.1",
        "samplerate -1",
        "samplerate 99999999999999999999",
        "\u{1F600}",
    ] {
        assert!(client.ask(line).starts_with("error: "), "{line}");
    }
    let mut endless = board.client();
    endless.socket.write_all(&[b'x'; 4096]).unwrap();
    let mut rest = Vec::new();
    // The server hangs up. The kernel may or may not report the bytes that were not read.
    let _ = endless.lines.read_to_end(&mut rest);
    assert!(rest.is_empty());
    assert_eq!(board.client().capture(10_000_000, 100_000).len(), 100_000);
    assert_eq!(board.finish(), (Some(0), String::new()));
}

#[test]
fn a_stop_ends_the_capture_after_its_last_sample_with_status_3() {
    let elf = board_firmware("TOUCH_UNMODELLED");
    let board = Board::start(&format!("{elf} --uart tcp:0 --strict"));
    let mut client = board.client();
    client.socket.write_all(b"samplerate 84000000\n").unwrap();
    client.lines.read_line(&mut String::new()).unwrap();
    client.socket.write_all(b"get\n").unwrap();
    let mut data = Vec::new();
    client.lines.read_to_end(&mut data).unwrap();
    let pulses = changes(&data)
        .iter()
        .filter(|(_, word)| word & 1 != 0)
        .count();
    assert_eq!(pulses, 3);
    let (status, stderr) = board.wait();
    assert_eq!(status, Some(3));
    assert!(
        stderr.contains("TIM2_SMCR") && stderr.lines().count() == 1,
        "{stderr}"
    );
}

#[test]
fn what_is_odd_goes_to_a_file_while_the_board_serves() {
    let elf = board_firmware("TOUCH_UNMODELLED");
    let board = Board::start(&format!("{elf} --uart tcp:0 --notes notes.json"));
    // 100 ms: the third interrupt comes long before.
    assert_eq!(board.client().capture(1_000_000, 100_000).len(), 100_000);
    assert_eq!(board.finish(), (Some(0), String::new()));
    let told = json("notes.json");
    assert_eq!(told.as_array().unwrap().len(), 1);
    assert_eq!(told[0]["what"], "TIM2_SMCR (bits 0x00000007)");
    assert_eq!(told[0]["writes"], 1);
}

#[test]
fn the_uart_hands_over_every_byte_on_tcp_and_on_a_terminal() {
    let elf = board_firmware("");
    let text = "0123456789abcdef".repeat(1_000);
    let image = message(&text);
    for kind in ["tcp:0", "pty"] {
        let board = Board::start(&format!("{elf} {image} --uart {kind}"));
        let mut port: Box<dyn Read> = match board.uart.strip_prefix("socket://") {
            Some(address) => Box::new(TcpStream::connect(address).unwrap()),
            None => Box::new(fs::File::open(&board.uart).unwrap()),
        };
        // 16,000 bytes take 160 ms.
        board.client().capture(1_000_000, 200_000);
        let mut received = vec![0; text.len()];
        port.read_exact(&mut received).unwrap();
        assert!(received == text.as_bytes(), "{kind}");
        assert_eq!(board.finish(), (Some(0), String::new()));
    }
}

#[test]
fn started_at_once_the_board_runs_without_an_analyzer() {
    let (elf, image) = (board_firmware(""), message("alone\n"));
    let board = Board::start(&format!("{elf} {image} --uart tcp:0 --start now"));
    let mut port = TcpStream::connect(board.uart.strip_prefix("socket://").unwrap()).unwrap();
    let mut received = [0; 6];
    port.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"alone\n");
    port.write_all(b"H").unwrap();
    port.read_exact(&mut received[..1]).unwrap();
    assert_eq!(&received[..1], b"I");
    assert_eq!(board.client().capture(1_000_000, 10_000).len(), 10_000);
    assert_eq!(board.finish(), (Some(0), String::new()));
}

//! What a program may say to the desk, senseless in part and the same in every run: lines of the
//! control socket, whose faults then happen, and requests to the USB devices.

use super::*;
use crate::board::SampleClock;
use crate::faults::{requests, Clock};
use crate::fx2::{Fx2, Wires};
use crate::line::Line;
use crate::random::Random;
use crate::stlink::StLink;
use crate::usb::{Device, Setup, Waker};
use machine::debug_port::Wire;
use machine::Limit;
use std::fs;
use std::io::Read;
use std::sync::mpsc;
use stm32::timebase::{Frequency, Seconds, Timebase};
use virtual_nucleo::analyzer::samples::Run;
use virtual_nucleo::analyzer::CaptureRequest;
use virtual_nucleo::servers::uart::Serial;

const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "7",
    "300",
    "3752",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
];

fn any<'a>(random: &mut Random, choice: &[&'a str]) -> &'a str {
    choice[random.below(choice.len() as u32) as usize]
}

struct Bench {
    table: Table,
    faults: Faults,
    wires: Wires,
    requests: Receiver<CaptureRequest>,
    _ends: (Receiver<Unplugged>, Serial),
}

fn bench(name: &str) -> Bench {
    let folder = std::env::temp_dir().join(format!("desk-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (serial, host) = Serial::new(mpsc::channel().0);
    let mut socket = Socket::new(host);
    let terminal = socket.replug().unwrap();
    let (hand, unplugged) = mpsc::channel();
    let (captures, requests) = mpsc::channel();
    let faults = Faults::new(hand);
    let wires = Wires {
        captures,
        waker: Waker::default(),
        faults: faults.clone(),
        clock_error_ppm: 0,
    };
    let plug = |device, tty| Plug {
        device,
        waker: Waker::default(),
        tty,
    };
    let analyzer = Box::new(Fx2::new(false, wires.clone()));
    let probe = Box::new(StLink::new(Wire::new().0, stlink::Serial::of_desk(name)));
    let devices = [
        plug(analyzer, None),
        plug(probe, Some(("ttyACM0".into(), terminal))),
    ];
    let bus = Bus::create(&folder).unwrap();
    Bench {
        table: Table::lay(bus, devices, faults.clone(), socket).unwrap(),
        faults,
        wires,
        requests,
        _ends: (unplugged, serial),
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.table.bus.folder());
    }
}

/// A capture with the faults that are planned.
fn capture(bench: &Bench, random: &mut Random) {
    let mut analyzer = Fx2::new(false, bench.wires.clone());
    let start = Setup {
        request_type: 0x40,
        request: 0xB1,
        value: 0,
        index: 0,
        length: 3,
    };
    let arguments = random.next().to_le_bytes();
    if analyzer.control(start, &arguments[..3]).is_err() {
        return; // it refuses once
    }
    let request = bench.requests.try_recv().unwrap();
    let word = random.next() as u16;
    let run = |samples, word| Run { samples, word };
    let runs = vec![run(1 << 40, word), run(1, 0), run(700, !word)];
    request.runs.try_send(runs).unwrap();
    for most in [512, 1, 5, 4096] {
        let transfer = analyzer.bulk_in(0x82, most);
        assert!(transfer.is_err() || transfer.unwrap().is_none_or(|data| data.len() <= most));
    }
}

#[test]
fn any_line_is_obeyed_or_refused_with_a_sentence_and_what_it_plans_can_happen() {
    let bench = bench("lines");
    let mut random = Random(1);
    let lines: Vec<&str> = requests().map(|(line, _)| line).collect();
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
    let (mut obeyed, mut refused) = (0, 0);
    for _ in 0..16_000 {
        let mut line: Vec<&str> = any(&mut random, &lines).split(' ').collect();
        if random.below(4) == 0 {
            let place = random.below(line.len() as u32) as usize;
            line[place] = any(&mut random, &words);
        }
        let line = line.into_iter().map(|word| match word {
            "N" | "B" | "K" | "PPM" | "RATE" => any(&mut random, &NUMBERS).into(),
            "ttyACM1" if random.below(2) == 0 => format!("0483:{}", any(&mut random, &NUMBERS)),
            "D0" => format!("D{}", any(&mut random, &NUMBERS)),
            _ => word.to_owned(),
        });
        let line = line.collect::<Vec<_>>().join(" ");
        match bench.table.obey(&line) {
            Ok(()) => obeyed += 1,
            Err(why) => {
                assert!(!why.is_empty() && !why.contains('\n'), "{line}: {why}");
                refused += 1;
            }
        }
        let ppm = bench.faults.states().clock_ppm;
        assert!((-10_000..=10_000).contains(&ppm), "{line}");
        if random.below(4) > 0 {
            continue; // several faults befall one capture
        }
        let mut serial = Line::new(bench.faults.clone());
        serial.set_rates(Some(115_068), Some(u64::from(random.below(3)) * 57_600));
        serial.carry(&b"@OP,A,17,120\n@END\n".repeat(20));
        capture(&bench, &mut random);
        if let Some((_, at)) = bench.faults.take_due(Clock::Board, u64::MAX) {
            let clock = SampleClock {
                samplerate_hz: 24_000_000,
                since: Seconds::new(1, 84_000_000),
                first: 0,
            };
            if let Limit::Time(time) = clock.limit(at) {
                Timebase::new(Frequency::hz(84_000_000)).cycle_at(time);
            }
        }
    }
    assert!(obeyed > 1_000 && refused > 1_000, "{obeyed} {refused}");
}

#[test]
fn each_request_of_the_table_is_obeyed() {
    let bench = bench("table");
    for (request, effect) in requests() {
        let words = request.split(' ').map(|word| match word {
            "N" | "B" | "K" | "PPM" | "RATE" => "7",
            _ => word,
        });
        let line = words.collect::<Vec<_>>().join(" ");
        if request == "probe plug as ttyACM1" {
            bench.table.obey("probe unplug").unwrap();
        }
        bench.table.obey(&line).unwrap();
        assert!(!effect.is_empty(), "{request}");
    }
    for line in [
        "",
        "analyzer",
        "board hang",
        "board hang at x",
        "board reset every at 3",
        "board melt at 3",
        "board crystal 10001",
        "serial flip",
        "serial lose lines at 3",
        "serial noise at 3",
        "analyzer ring D16 at 3",
        "probe back as ttyS0 at 3",
        "analyzer flip at 3",
        "mouse unplug",
    ] {
        assert!(bench.table.obey(line).is_err(), "{line:?}");
    }
}

/// What umockdev's preload library sends and is answered, three words each.
const IOCTL: u64 = 1;
const DONE: u64 = 3;
const READ_MEMORY: u64 = 5;
/// usbfs: SUBMITURB, DISCARDURB, REAPURBNDELAY, CLAIMINTERFACE, RELEASEINTERFACE, RESET, none.
const REQUESTS: [u64; 8] = [
    0x8038_550A,
    0x8038_550A,
    0x0000_550B,
    0x4008_550D,
    0x8004_550F,
    0x8004_5510,
    0x0000_5514,
    0x1234_5678,
];

/// A program that opens a device, and whose memory holds senseless URBs.
struct Program {
    node: UnixStream,
    /// A URB names more memory than any transfer has: the desk hangs up.
    too_long: bool,
}

impl Program {
    fn word(&mut self) -> Option<u64> {
        let mut word = [0; 8];
        self.node.read_exact(&mut word).ok()?;
        Some(u64::from_ne_bytes(word))
    }

    fn urb(&mut self, random: &mut Random) -> Vec<u8> {
        let lengths = [0, 7, 8, 64, 512, 1 << 20, (16 << 20) + 1, -1];
        let length: i32 = lengths[random.below(8) as usize];
        self.too_long = length > 16 << 20;
        let mut urb: Vec<u8> = (0..56).map(|_| random.next() as u8).collect();
        urb[0] = random.below(4) as u8;
        urb[1] = [0, 1, 0x81, 0x82, urb[1]][random.below(5) as usize];
        if random.below(4) == 0 {
            urb[16..24].fill(0xFF);
        }
        urb[24..28].copy_from_slice(&length.to_ne_bytes());
        urb
    }

    /// Whether the call returned.
    fn call(&mut self, request: u64, random: &mut Random) -> Option<()> {
        let argument = [64, 4096, u64::MAX][random.below(3) as usize];
        let message = [IOCTL, request, argument].map(u64::to_ne_bytes);
        self.node.write_all(&message.concat()).ok()?;
        loop {
            let [kind, _, length] = [self.word()?, self.word()?, self.word()?];
            match kind {
                DONE => return Some(()),
                READ_MEMORY => {
                    let mut data: Vec<u8> = match length {
                        56 => self.urb(random),
                        _ => vec![0; length as usize],
                    };
                    for byte in data.iter_mut().take(8).filter(|_| length != 56) {
                        *byte = random.next() as u8 & 0xC3;
                    }
                    self.node.write_all(&data).ok()?;
                }
                _ => {
                    let mut written = vec![0; length as usize];
                    self.node.read_exact(&mut written).ok()?;
                }
            }
        }
    }
}

#[test]
fn any_request_to_a_device_returns() {
    let bench = bench("urbs");
    let mut random = Random(1);
    for number in [1, 2, 3] {
        let path = format!("ioctl/dev/bus/usb/001/{number:03}");
        let path = bench.table.bus.folder().join(path);
        let open = || Program {
            node: UnixStream::connect(&path).unwrap(),
            too_long: false,
        };
        let mut program = open();
        for _ in 0..3_000 {
            let request = REQUESTS[random.below(8) as usize];
            if program.call(request, &mut random).is_none() {
                assert!(program.too_long, "the desk hung up");
                program = open();
            }
        }
    }
}

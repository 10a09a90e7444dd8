//! Peripherals driven by firmware. Each fixture sends words over USART2. Their expected values come
//! from the manuals.

use crate::support;

use support::{edges_of, firmware, hexadecimal, read, succeed};

/// The lines that a fixture sends, as names and values.
fn shown(source: &str, options: &str) -> Vec<(String, u32)> {
    let elf = firmware(source, "");
    succeed(&format!("--strict {elf} --uart-log uart.txt {options}"));
    let line = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.into(), hexadecimal(value))
    };
    read("uart.txt").lines().map(line).collect()
}

fn values(shown: &[(String, u32)], name: &str) -> Vec<u32> {
    let wanted = shown.iter().filter(|(shown, _)| shown == name);
    wanted.map(|(_, value)| *value).collect()
}

#[test]
fn flash_is_erased_and_programmed_by_the_code_that_it_holds() {
    let shown = shown("flash.c", "--until 4s");
    let value = |name| values(&shown, name);
    assert_eq!(value("locked"), [0x8000_0000]);
    assert_eq!(value("sequence"), [1 << 7]);
    assert_eq!(value("programmed"), [0x4770_2002]);
    // Programming only clears bits: 0xFFFF2005 & 0x47702002.
    assert_eq!(value("anded"), [0x4770_2000]);
    assert_eq!(value("called"), [2, 0, 7]);
    assert_eq!(value("erased"), [0xFFFF_FFFF]);
    // Erasing a 128 KiB sector at 32 bits takes 1 s: 16,000,000 cycles at the reset clock of 16 MHz
    // (DS10086), and some instructions.
    for name in ["stalled", "polled"] {
        let cycles = value(name)[0];
        assert!(
            (16_000_000..16_000_100).contains(&cycles),
            "{name}: {cycles}"
        );
    }
    assert_eq!(value("many"), [1]);
    assert_eq!(value("errors"), [0]);
    assert_eq!(value("shut")[0] >> 31, 1);
}

#[test]
fn dma_sends_a_text_without_the_core() {
    let shown = shown("dma.c", "--until 20ms");
    let value = |name| values(&shown, name);
    assert_eq!(value("text"), [0x0BAD_CAFE]);
    for (name, expected) in [("halves", 1), ("completes", 1), ("enabled", 0), ("left", 0)] {
        assert_eq!(value(name), [expected], "{name}");
    }
    // The last of 14 bytes is moved when the 13th begins to leave. A byte takes 160 cycles.
    let took = value("took")[0];
    assert!((12 * 160..12 * 160 + 60).contains(&took), "{took}");
}

#[test]
fn pins_and_flags_interrupt() {
    let shown = shown("interrupts.c", "--until 20ms");
    let value = |name| values(&shown, name);
    assert_eq!(value("irq"), [0x42]);
    // Pulled up, driven low, driven high. Then the falling edge is not selected any more. Then
    // software raises the line. The levels are read each time.
    assert_eq!(value("edges"), [4]);
    assert_eq!(value("levels"), [0b1010]);
    assert_eq!(value("pending"), [0]);
    // PA5 is locked and PA6 is not, so only its mode changed.
    assert_eq!(value("moder"), [0b01_00]);
    assert_eq!(value("lckr"), [1 << 16 | 1 << 5]);
    // It sleeps from the timer's start to its match. A few instructions come before and after.
    let slept = value("slept")[0];
    assert!((1_000..1_030).contains(&slept), "{slept}");
    assert_eq!(value("quiet"), [0]);
    // TC came after the last byte.
    assert_eq!(value("order"), [13]);
}

#[test]
fn a_timer_makes_pwm_one_pulse_and_updates() {
    let shown = shown("timers.c", "--until 20ms --edges edges.csv");
    let edges = edges_of("edges.csv", "PA5");
    let pairs = edges.windows(2);
    let widths: Vec<u64> = pairs.map(|pair| pair[1].cycle - pair[0].cycle).collect();
    // 25 of 100 counts of 4 cycles high, then 75 of 100. The first pulse begins with CC1E, before
    // the counter runs.
    assert!(widths[0] > 100, "{widths:?}");
    assert_eq!(&widths[1..5], [300, 300, 100, 300], "{widths:?}");
    assert!(edges[0].level);
    // PWM mode 2 is active from 200 to the end of 1,000 counts.
    let pulse = widths[widths.len() - 1];
    assert_eq!(pulse, 800, "{widths:?}");
    let value = |name| values(&shown, name);
    assert_eq!(value("quiet"), [0]);
    assert_eq!(value("stopped"), [0]);
    let ten = value("ten")[0];
    assert!((10_000..10_060).contains(&ten), "{ten}");
    assert_eq!(value("held"), [0]);
    // A match at 1,500 of a period of 3,000, four times. The last one is 10,500 cycles after the
    // start, which is 7 times 1,500.
    assert_eq!(value("matches"), [7]);
}

#[test]
fn the_watchdog_and_software_reset_the_chip() {
    let shown = shown("watchdog.c", "--until 100ms --edges edges.csv");
    let value = |name| values(&shown, name);
    assert_eq!(value("life"), [1, 2, 3, 4, 5]);
    // Power-up: POR, PIN, BOR. Then IWDG, software, and WWDG twice, all with PIN (RM0368 §6.3.18,
    // bits 31–24).
    assert_eq!(value("cause"), [0x0E, 0x24, 0x14, 0x44, 0x44]);
    assert_eq!(value("pin"), [0; 5]);
    // From 0x7F to 0x50 in counts of 8,192 cycles, and one iteration of the polling loop.
    let opened = value("opened")[0] - 0x2F * 8_192;
    assert!(opened < 50, "{opened}");
    assert!(value("survived").is_empty());
    // PA5 rises a few cycles after the watchdog is last fed. It falls with the reset, 10 ms later.
    let edges = edges_of("edges.csv", "PA5");
    let cycles: Vec<u64> = edges.iter().map(|edge| edge.cycle).collect();
    let alive = cycles[3] - cycles[2];
    assert!((159_900..160_000).contains(&alive), "{cycles:?}");
    // The last eight counts of the window watchdog, in the third life.
    let [.., rise, fall, _, _, _] = cycles[..] else {
        panic!("{cycles:?}")
    };
    assert!(
        (8 * 8_192 - 50..8 * 8_192).contains(&(fall - rise)),
        "{cycles:?}"
    );
}

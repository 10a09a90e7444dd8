//! What hangs on the chip's wires, as firmware finds it and as sigrok's decoders read the pins. The
//! firmware asks in the way of public drivers; what it should hear stands in the files of docs/examples.

use crate::serve::Board;
use crate::support;

use std::path::Path;
use std::process::Command;
use support::{firmware_for, scratch, stderr, stdout, virtual_nucleo};

const ASK: &str = "../../../docs/examples/partners/ask.c";

/// The options that attach the examples: with SPI and a serial line, or without.
fn attached(all: bool) -> Vec<String> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/partners");
    let places = [
        ("i2c1", "eeprom.toml"),
        ("i2c1", "sensor.toml"),
        ("pa0", "edges.csv"),
        ("spi1:pa4", "sensor.toml"),
        ("usart1", "modem.toml"),
    ];
    let places = places.iter().take(if all { 5 } else { 3 });
    let option = |(place, file): &(&str, &str)| {
        format!("--attach={place}={}", examples.join(file).display())
    };
    places.map(option).collect()
}

const I2C: &str = "edges 04\ncontent de ad be ef\npolled 01\npage 11 22 33\nid 58\nwritten a5\n";

#[test]
fn drivers_of_every_line_reach_their_partners() {
    for (line, core, chip, all) in [
        ("F401", "cortex-m4", "f401re", true),
        ("F103", "cortex-m3", "f103rb", true),
        ("L476", "cortex-m4", "l476rg", false),
        ("F072", "cortex-m0", "f072rb", false),
        ("G071", "cortex-m0plus", "g071rb", false),
        ("G474", "cortex-m4", "g474re", false),
    ] {
        let elf = firmware_for(core, ASK, line);
        let words = format!("run {elf} --semihosting --until=200ms --strict --chip {chip}");
        let output = virtual_nucleo(&words).args(attached(all)).output().unwrap();
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        let rest = if all {
            "spi ff 58 3c\nmodem 4f 4b 0d 0a\n"
        } else {
            ""
        };
        let expected = format!("{I2C}value 83 10\nnobody 00\n{rest}");
        assert_eq!(stdout(&output), expected, "{line}");
    }
}

/// What a decoder of sigrok says of a capture, in a line.
fn decoded(capture: &str, decoder: &str, annotations: &str) -> String {
    let output = Command::new("sigrok-cli")
        .args(["-i", capture, "-P", decoder, "-A", annotations])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text
        .lines()
        .filter_map(|line| Some(line.split_once(": ")?.1));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn sigrok_decodes_the_pins() {
    let elf = firmware_for("cortex-m4", ASK, "F401 STAY");
    let clips = "D0=PB8,D1=PB9,D2=PA5,D3=PA7,D4=PA6,D5=PA4,D6=PA9,D7=PA10";
    let line = format!("{elf} --clips={clips} --semihosting --chip=f401re");
    Board::start_with(&line, &attached(true))
        .record("-c samplerate=8m --samples=160000 -o partners.sr");
    let capture = scratch("partners.sr");
    let capture = capture.to_str().unwrap();
    // The channels have the names of the BeagleBone's pins.
    let bus = decoded(
        capture,
        "i2c:scl=P8_45:sda=P8_46",
        "i2c=start:repeat-start:stop:ack:nack:address-write:address-read:data-write:data-read",
    );
    let content = "Start Write Address write: 50 ACK Data write: 00 ACK Data write: 10 ACK Start repeat \
                   Read Address read: 50 ACK Data read: DE ACK Data read: AD ACK Data read: BE ACK \
                   Data read: EF NACK Stop Start Write Address write: 50 ACK Data write: 00 ACK \
                   Data write: 1E ACK Data write: 11 ACK Data write: 22 ACK Data write: 33 ACK Stop \
                   Start Write Address write: 50 NACK Stop Start";
    assert!(bus.starts_with(content), "{bus}");
    assert!(
        bus.contains("Address read: 76 ACK Data read: 83 ACK Data read: 10 NACK Stop"),
        "{bus}"
    );
    let spi = decoded(
        capture,
        "spi:clk=P8_43:mosi=P8_44:miso=P8_41:cs=P8_42",
        "spi=mosi-data:miso-data",
    );
    assert_eq!(spi, "FF D0 58 00 FF 74 FF 3C FF F4 3C 00");
    let line = decoded(
        capture,
        "uart:rx=P8_40:tx=P8_39:baudrate=115200",
        "uart=rx-data:tx-data",
    );
    assert_eq!(line, "41 54 0D 0A 4F 4B 0D 0A");
}

//! The serial line, with the faults that befall it.

use crate::faults::{Clock, Edit, Fault, Faults};
use std::collections::VecDeque;

/// The board's, unless its USART says otherwise (docs/reference/records.md).
const BAUD: u64 = 1_000_000;
/// What the probe keeps while the hub takes nothing: as much as one endpoint's four packets. How much
/// an ST-Link does is not known.
const KEPT_BYTES: u64 = 256;
/// A start bit, eight of data, a stop bit.
const FRAME_BITS: u64 = 10;

/// The way from the board's pin to the host, with the faults that are planned.
pub struct Line {
    faults: Faults,
    /// Bytes that the board has sent.
    position: u64,
    /// The next byte begins a line.
    within: bool,
    noise: Option<(u64, u64)>,
    edit: Option<Edit>,
    /// The line that is edited, as far as it has come; and one that waits behind another.
    gathered: Vec<u8>,
    held: Option<Vec<u8>>,
    /// What becomes of the next byte.
    next: Option<Edit>,
    silent: bool,
    /// From this byte on to before that one the hub stalls, and the probe has no room.
    lost: Option<(u64, u64)>,
    /// A fault's receiver, or else that of the host, where it listens at another rate.
    receiver: Option<Receiver>,
    host: Option<Receiver>,
    /// The rate of the board's USART; 0: not told.
    sent_at: u64,
}

impl Line {
    pub fn new(faults: Faults) -> Line {
        Line {
            faults,
            position: 0,
            within: false,
            noise: None,
            edit: None,
            gathered: Vec::new(),
            held: None,
            next: None,
            silent: false,
            lost: None,
            receiver: None,
            host: None,
            sent_at: 0,
        }
    }

    /// Bytes count from here, and what befell earlier ones is over.
    pub fn restart(&mut self) {
        *self = Line {
            sent_at: self.sent_at,
            host: self.host.take(),
            ..Line::new(self.faults.clone())
        };
    }

    /// The rates of the board's USART and of the host's port, where they are known.
    pub fn set_rates(&mut self, sent_at: Option<u64>, heard_at: Option<u64>) {
        self.sent_at = sent_at.unwrap_or(BAUD);
        let (sent, heard) = (self.sent_at, heard_at.unwrap_or(self.sent_at));
        let same = |host: &Receiver| (host.sent_at, host.rate) == (sent, heard.max(1));
        if sent == heard {
            self.host = None;
        } else if !self.host.as_ref().is_some_and(same) {
            self.host = Some(Receiver::new(heard, sent));
        }
    }

    /// Nothing arrives any more, until the next restart.
    pub fn cut(&mut self) {
        self.silent = true;
    }

    /// What of the board's bytes arrives, and as what.
    pub fn carry(&mut self, sent: &[u8]) -> Vec<u8> {
        let mut arrived = Vec::with_capacity(sent.len());
        for &byte in sent {
            while let Some((fault, _)) = self.faults.take_due(Clock::Serial, self.position) {
                self.begin(fault, &mut arrived);
            }
            self.pass(byte, &mut arrived);
            self.position += 1;
        }
        arrived
    }

    fn rate(&self) -> u64 {
        match self.sent_at {
            0 => BAUD,
            told => told,
        }
    }

    fn begin(&mut self, fault: Fault, arrived: &mut Vec<u8>) {
        match fault {
            Fault::Noise(period) => self.noise = Some((self.position, period)),
            Fault::Line(edit) => self.edit = Some(edit),
            Fault::Byte(edit) => self.next = Some(edit),
            Fault::Stray(count) => arrived.extend(noise(count)),
            Fault::Stall(count) => {
                let end = self.position.saturating_add(count);
                self.lost = Some((self.position + KEPT_BYTES, end));
            }
            Fault::Silence => self.silent = true,
            Fault::Baud(rate) => self.receiver = Some(Receiver::new(rate, self.rate())),
            _ => {} // of another device
        }
    }

    fn pass(&mut self, byte: u8, arrived: &mut Vec<u8>) {
        let begins = !std::mem::replace(&mut self.within, byte != b'\n');
        let has_room = |(from, to): (u64, u64)| !(from..to).contains(&self.position);
        if self.silent || !self.lost.is_none_or(has_room) {
            return;
        }
        if let Some(receiver) = self.receiver.as_mut().or(self.host.as_mut()) {
            let heard = receiver.hear(byte);
            for byte in heard {
                self.arrive(byte, begins, arrived);
            }
            return;
        }
        self.arrive(byte, begins, arrived);
    }

    /// What is heard, with what befalls it behind the receiver.
    fn arrive(&mut self, byte: u8, begins: bool, arrived: &mut Vec<u8>) {
        let flipped = self.noise.is_some_and(|(since, period)| {
            let apart = self.position.checked_sub(since);
            apart.is_some_and(|apart| apart % period == 0)
        });
        let byte = if flipped { byte ^ 0x04 } else { byte };
        match self.next.take() {
            Some(Edit::Lose) => return,
            Some(_) => arrived.push(byte),
            None => {}
        }
        // An edit waits for the beginning of a line.
        match self.edit {
            Some(edit) if begins || !self.gathered.is_empty() => {
                self.gathered.push(byte);
                if byte == b'\n' {
                    let line = std::mem::take(&mut self.gathered);
                    self.finish(edit, line, arrived);
                }
            }
            _ => arrived.push(byte),
        }
    }

    fn finish(&mut self, edit: Edit, line: Vec<u8>, arrived: &mut Vec<u8>) {
        match edit {
            Edit::Lose => {}
            Edit::Double => arrived.extend(line.repeat(2)),
            Edit::Cut => {
                arrived.extend(&line[..line.len() / 2]);
                arrived.push(b'\n');
            }
            Edit::Swap => match self.held.take() {
                None => {
                    self.held = Some(line);
                    return; // behind the next one
                }
                Some(first) => {
                    arrived.extend(line);
                    arrived.extend(first);
                }
            },
        }
        self.edit = None;
    }
}

/// What is heard of a line that floats: an idle line that was touched, a break, and noise, the same
/// each time.
fn noise(count: u64) -> impl Iterator<Item = u8> {
    let mut state: u32 = 0x2545_F491;
    (0..count).map(move |place| match place {
        0 => 0xFF,
        1 => 0x00,
        _ => {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        }
    })
}

/// A receiver whose bits are of another length. It waits for a falling edge, then looks at the
/// middle of each bit, as a UART does.
struct Receiver {
    rate: u64,
    /// The sender's rate.
    sent_at: u64,
    /// Levels of the line, a bit of the sender's each.
    levels: VecDeque<bool>,
}

impl Receiver {
    fn new(rate: u64, sent_at: u64) -> Receiver {
        Receiver {
            rate: rate.max(1), // a host that hangs up sets 0
            sent_at,
            levels: VecDeque::new(),
        }
    }

    fn hear(&mut self, byte: u8) -> Vec<u8> {
        self.levels.push_back(false);
        self.levels.extend((0..8).map(|bit| byte >> bit & 1 == 1));
        self.levels.push_back(true);
        let mut heard = Vec::new();
        loop {
            while self.levels.front() == Some(&true) {
                self.levels.pop_front();
            }
            let middle = |bit: u64| ((2 * bit + 1) * self.sent_at / (2 * self.rate)) as usize;
            let last = middle(FRAME_BITS - 1);
            if last >= self.levels.len() {
                return heard;
            }
            heard.push((0..8).fold(0, |byte, bit| {
                byte | u8::from(self.levels[middle(bit + 1)]) << bit
            }));
            self.levels.drain(..=last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn carried(fault: &str, sent: &str) -> String {
        let faults = Faults::new(mpsc::channel().0);
        faults.plan(&format!("serial {fault}")).unwrap();
        let mut line = Line::new(faults);
        let (one, two) = sent.as_bytes().split_at(sent.len() / 2);
        let arrived = [line.carry(one), line.carry(two)].concat();
        arrived.iter().map(|&byte| char::from(byte)).collect()
    }

    #[test]
    fn lines_are_lost_doubled_swapped_and_cut() {
        let sent = "one\ntwo!\nsix\nten\n";
        assert_eq!(carried("lose line at 1", sent), "one\nsix\nten\n");
        assert_eq!(
            carried("double line at 4", sent),
            "one\ntwo!\ntwo!\nsix\nten\n"
        );
        assert_eq!(carried("swap lines at 2", sent), "one\nsix\ntwo!\nten\n");
        assert_eq!(carried("cut line at 2", sent), "one\ntw\nsix\nten\n");
    }

    #[test]
    fn bytes_are_flipped_from_the_named_one_on() {
        assert_eq!(carried("flip at 2", "aaaaaa"), "aaeaaa");
        assert_eq!(carried("noise 2 at 1", "aaaaaa"), "aeaeae");
        assert_eq!(carried("silence at 4", "aaaaaa"), "aaaa");
    }

    #[test]
    fn a_receiver_of_the_right_rate_hears_what_is_sent_and_another_does_not() {
        let text = "@OP,A,17,120\n";
        assert_eq!(carried("baud 1000000 at 0", text), text);
        // 1.5 % is within what a UART bears.
        assert_eq!(carried("baud 985000 at 0", text), text);
        assert_ne!(carried("baud 500000 at 0", text), text);
    }

    #[test]
    fn single_bytes_are_lost_and_doubled() {
        assert_eq!(carried("lose byte at 2", "abcdef"), "abdef");
        assert_eq!(carried("double byte at 3", "abcdef"), "abcddef");
    }

    #[test]
    fn a_probe_keeps_so_much_while_its_hub_stalls() {
        let sent = "x".repeat(1000);
        assert_eq!(carried("stall 256 at 100", &sent).len(), 1000);
        assert_eq!(carried("stall 300 at 100", &sent).len(), 956);
    }

    #[test]
    fn a_line_that_floats_is_heard_before_the_first_byte_and_the_same_each_time() {
        let heard = carried("stray 5", "@BOOT");
        assert!(heard.starts_with("\u{ff}\0") && heard.ends_with("@BOOT"));
        assert_eq!(heard.chars().count(), 10);
        assert_eq!(carried("stray 5", "@BOOT"), heard);
    }

    #[test]
    fn a_host_that_listens_at_the_boards_rate_hears_it_and_at_another_does_not() {
        let heard = |sent_at, heard_at| {
            let mut line = Line::new(Faults::new(mpsc::channel().0));
            line.set_rates(Some(sent_at), Some(heard_at));
            line.carry(b"@END,1*ABCD\n")
        };
        for (sent_at, heard_at) in [
            (1_000_000, 1_000_000),
            (913_043, 921_600),
            (115_068, 115_200),
        ] {
            assert_eq!(heard(sent_at, heard_at), b"@END,1*ABCD\n");
        }
        assert_ne!(heard(1_000_000, 921_600), b"@END,1*ABCD\n");
        assert_ne!(heard(115_068, 1_000_000), b"@END,1*ABCD\n");
    }

    #[test]
    fn bytes_count_from_the_last_restart() {
        let faults = Faults::new(mpsc::channel().0);
        let mut line = Line::new(faults.clone());
        assert_eq!(line.carry(b"aaaa"), b"aaaa");
        line.restart();
        faults.plan("serial flip at 1").unwrap();
        assert_eq!(line.carry(b"aaa"), b"aea");
    }
}

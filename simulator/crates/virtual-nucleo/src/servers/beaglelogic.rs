//! A logic analyzer as libsigrok's BeagleLogic driver expects it over TCP. The client sends lines
//! of ASCII, and each is answered by one line. After `get` the connection carries raw samples,
//! until the client says `close`.

use super::listener::Listener;
use super::Event;
use crate::analyzer::samples::Run;
use crate::analyzer::stream::{Expander, Unit};
use crate::analyzer::CaptureRequest;
use anyhow::Result;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Arc;
use std::thread;

/// What a client may ask for.
pub const SAMPLERATES_HZ: RangeInclusive<u64> = 10..=200_000_000;
const DEFAULT_SAMPLERATE_HZ: u64 = 100_000_000;
/// No BeagleLogic client sends longer lines.
const LONGEST_LINE_BYTES: u64 = 256;
/// Slices of simulation that may wait for the client.
const SLICES_AHEAD: usize = 16;

const CAPTURED_ALREADY: &[u8] =
    b"error: this board has been captured; start it again for another capture\n";

/// What a client has set, and the answers to its lines.
pub struct Settings {
    samplerate_hz: u64,
    unit: Unit,
    trigger_flags: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            samplerate_hz: DEFAULT_SAMPLERATE_HZ,
            unit: Unit::Eight,
            trigger_flags: 1,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Line(String),
    StartCapture,
    Close,
}

impl Settings {
    fn answer(&mut self, line: &str) -> Answer {
        let mut words = line.split_ascii_whitespace();
        let command = words.next().unwrap_or("");
        let reply = match (command, words.next()) {
            ("get", None) => return Answer::StartCapture,
            ("close", None) => return Answer::Close,
            (_, None) => self.query(command),
            (_, Some(argument)) => self.set(command, argument),
        };
        Answer::Line(reply)
    }

    fn query(&self, command: &str) -> String {
        match command {
            "version" => "BeagleLogic 1.0 (virtual Nucleo)".into(),
            "samplerate" => self.samplerate_hz.to_string(),
            "sampleunit" => match self.unit {
                Unit::Eight => "1".into(),
                Unit::Sixteen => "0".into(),
            },
            "triggerflags" => self.trigger_flags.to_string(),
            // With a size, the client would end the capture there as if it were complete.
            "memalloc" => "-1".into(),
            "bufunitsize" => (4 << 20).to_string(),
            _ => format!("error: unknown command {command:?}"),
        }
    }

    fn set(&mut self, command: &str, argument: &str) -> String {
        let number = argument.parse::<u64>();
        match (command, number) {
            ("samplerate", Ok(rate)) if SAMPLERATES_HZ.contains(&rate) => self.samplerate_hz = rate,
            ("samplerate", _) => {
                return format!("error: samplerate {argument:?} is not within 10 Hz and 200 MHz");
            }
            ("sampleunit", Ok(1)) => self.unit = Unit::Eight,
            ("sampleunit", Ok(0)) => self.unit = Unit::Sixteen,
            ("triggerflags", Ok(flags @ 0..=1)) => self.trigger_flags = flags as u32,
            ("memalloc" | "bufunitsize", Ok(_)) => {}
            _ => return format!("error: cannot set {command:?} to {argument:?}"),
        }
        "ok".into()
    }
}

/// Answers each line by one. True if the client wants samples, false if it hangs up.
pub fn negotiate(
    settings: &mut Settings,
    lines: &mut impl BufRead,
    replies: &mut impl Write,
) -> io::Result<bool> {
    while let Some(line) = read_line(lines)? {
        match settings.answer(&line) {
            Answer::Line(reply) => replies.write_all(format!("{reply}\n").as_bytes())?,
            Answer::Close => {}
            Answer::StartCapture => return Ok(true),
        }
    }
    Ok(false)
}

/// The listening analyzer.
pub struct Analyzer {
    listener: Listener,
    captures: Sender<CaptureRequest>,
}

impl Analyzer {
    /// Listens on the loopback interface. The receiver gets the captures.
    pub fn listen(port: u16) -> Result<(Analyzer, Receiver<CaptureRequest>)> {
        let listener = Listener::listen(port, "the analyzer")?;
        let (captures, requests) = mpsc::channel();
        Ok((Analyzer { listener, captures }, requests))
    }

    /// `127.0.0.1:41001`
    pub fn address(&self) -> String {
        self.listener.address()
    }

    /// Serves each client on its own thread: sigrok scans on one connection and captures on the
    /// next.
    pub fn serve(self, events: Sender<Event>) {
        let client = Client {
            captures: self.captures,
            taken: Arc::new(AtomicBool::new(false)),
            events,
        };
        self.listener.serve(move |socket, _| {
            // A broken connection ends its client and nothing else.
            let _ = client.converse(socket);
        });
    }
}

#[derive(Clone)]
struct Client {
    captures: Sender<CaptureRequest>,
    /// One capture for each process, since the machine leaves reset once.
    taken: Arc<AtomicBool>,
    events: Sender<Event>,
}

impl Client {
    fn converse(&self, mut socket: TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let mut lines = BufReader::new(socket.try_clone()?);
        let mut settings = Settings::default();
        while negotiate(&mut settings, &mut lines, &mut socket)? {
            if self.taken.swap(true, Ordering::SeqCst) {
                return socket.write_all(CAPTURED_ALREADY);
            }
            let ended = self.capture(&settings, &socket, &mut lines);
            let _ = self.events.send(Event::CaptureEnded);
            ended?;
        }
        Ok(())
    }

    /// Streams until the client says `close`. The connection then stays open and silent. The driver
    /// reads until nothing comes any more, and would read a closed connection for ever.
    fn capture(
        &self,
        settings: &Settings,
        socket: &TcpStream,
        lines: &mut BufReader<TcpStream>,
    ) -> io::Result<()> {
        let (runs, arrivals) = mpsc::sync_channel(SLICES_AHEAD);
        let request = CaptureRequest {
            samplerate_hz: settings.samplerate_hz,
            runs,
            arrived: Box::new(|| ()),
        };
        if self.captures.send(request).is_err() {
            return socket.shutdown(Shutdown::Both); // the simulation has stopped already
        }
        let closing = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| wait_for_close(socket, lines, &closing));
            let streamed = stream(&arrivals, socket, settings.unit, &closing);
            drop(arrivals);
            if !closing.load(Ordering::SeqCst) {
                // The simulation has stopped, so nothing more will come.
                let _ = socket.shutdown(Shutdown::Both);
            }
            streamed
        })
    }
}

fn stream(
    arrivals: &Receiver<Vec<Run>>,
    socket: &TcpStream,
    unit: Unit,
    closing: &AtomicBool,
) -> io::Result<()> {
    let mut expander = Expander::new(socket, unit);
    for runs in arrivals {
        for run in runs {
            expander.write(run)?;
        }
        expander.flush()?;
        if closing.load(Ordering::SeqCst) {
            break;
        }
    }
    Ok(())
}

/// Waits until the client says `close` or is gone. If it is gone, a write under way fails.
fn wait_for_close(socket: &TcpStream, lines: &mut BufReader<TcpStream>, closing: &AtomicBool) {
    while let Ok(Some(line)) = read_line(lines) {
        if line == "close" {
            closing.store(true, Ordering::SeqCst);
            return;
        }
    }
    let _ = socket.shutdown(Shutdown::Both);
}

/// A line without its end. `None` at the end of the connection, or if the line is too long.
fn read_line(lines: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    lines
        .take(LONGEST_LINE_BYTES)
        .read_until(b'\n', &mut line)?;
    if line.is_empty() || (line.len() as u64 == LONGEST_LINE_BYTES && !line.ends_with(b"\n")) {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Answer {
        Answer::Line(text.into())
    }

    #[test]
    fn settings_are_set_and_asked_for() {
        let mut settings = Settings::default();
        assert_eq!(settings.answer("samplerate 84000000"), line("ok"));
        assert_eq!(settings.answer("samplerate"), line("84000000"));
        assert_eq!(settings.answer("sampleunit 0"), line("ok"));
        assert_eq!(settings.answer("sampleunit"), line("0"));
        assert_eq!(settings.answer("triggerflags 1"), line("ok"));
        assert_eq!(settings.answer("memalloc"), line("-1"));
        assert_eq!(settings.answer("get"), Answer::StartCapture);
        assert_eq!(settings.answer("close"), Answer::Close);
    }

    #[test]
    fn nonsense_is_answered_by_an_error_and_changes_nothing() {
        let mut settings = Settings::default();
        for text in [
            "",
            "hello",
            "samplerate 9",
            "samplerate 200000001",
            "samplerate x",
            "sampleunit 2",
            "triggerflags -1",
        ] {
            assert!(
                matches!(settings.answer(text), Answer::Line(reply) if reply.starts_with("error: "))
            );
        }
        assert_eq!(settings.answer("samplerate"), line("100000000"));
        assert_eq!(settings.answer("sampleunit"), line("1"));
    }
}

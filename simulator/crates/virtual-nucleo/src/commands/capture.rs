//! `virtual-nucleo capture`: what `serve` shows its clients, to files and without sockets. The
//! samples are those of the same sampler, from reset on, and only their edges are written.

use super::board::BoardArguments;
use super::counts::WindowsArguments;
use super::edge_stream::EdgeStream;
use super::notes::NotesArgument;
use super::outputs::Output;
use super::{limit, stopped};
use crate::analyzer::clips::{Clips, Inputs};
use crate::analyzer::samples::Sampler;
use crate::servers::beaglelogic::SAMPLERATES_HZ;
use crate::simulation::{WindowsFile, SLICE_CYCLES};
use anyhow::{anyhow, bail, Result};
use clap::Args;
use cortex_m::bus::Width;
use cortex_m::{DebugFault, Stop};
use machine::{Limit, Machine};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct CaptureArguments {
    #[command(flatten)]
    board: BoardArguments,
    /// Samples per second.
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(SAMPLERATES_HZ))]
    samplerate: u64,
    /// How many samples, from reset on.
    #[arg(long, value_name = "N")]
    samples: u64,
    /// End when the inputs have changed so often.
    #[arg(long, value_name = "N", default_value_t = u64::MAX)]
    most_edges: u64,
    /// Write the edges of inputs D0 to D7 here, as an edges.stream.
    #[arg(long, value_name = "FILE")]
    edges: PathBuf,
    /// Write the bytes that USART2 sends here.
    #[arg(long, value_name = "FILE")]
    uart_log: PathBuf,
    /// What the inputs are clipped to, for example D0=PA9,D1=PB3,D2=open.
    #[arg(long, value_name = "INPUT=PIN,...", default_value = "D0=CRIT")]
    clips: Clips,
    /// A debugger is attached from the reset on, and leaves at this time: it lets go of the core, and
    /// 2 ms later clears DEMCR.TRCENA, which stops DWT's counters.
    #[arg(long, value_name = "TIME", value_parser = limit::parse, conflicts_with = "count_window")]
    debugger_leaves: Option<Limit>,
    #[command(flatten)]
    windows: WindowsArguments,
    #[command(flatten)]
    notes: NotesArgument,
}

pub fn execute(arguments: &CaptureArguments) -> Result<ExitCode> {
    let (firmware, mut machine) = arguments.board.machine()?;
    let chip = machine.chip();
    let mut windows = arguments.windows.begin(firmware.as_ref(), &mut machine)?;
    let captured = capture(arguments, &mut machine, &mut windows)?;
    if let Some(mut notes) = arguments.notes.begin(firmware) {
        notes.see(&machine);
    }
    Ok(match captured {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stopped(&stop, chip),
    })
}

/// Runs until there are enough samples. The outer error is one of the files. The inner error comes
/// from the simulation; what was captured before is written.
fn capture(
    arguments: &CaptureArguments,
    machine: &mut Machine,
    windows: &mut Option<WindowsFile>,
) -> Result<Result<(), Stop>> {
    let mut uart = Output::create(&arguments.uart_log)?;
    let mut edges = EdgeStream::create(&arguments.edges, arguments.samplerate, arguments.samples)?;
    let inputs = Inputs::new(&arguments.clips, |pin| machine.soc().level(pin));
    let (cycle, timebase) = (machine.cycles(), machine.timebase());
    let mut sampler = Sampler::new(arguments.samplerate, timebase, cycle, inputs);
    let mut debugger =
        LeavingDebugger::attach(arguments.debugger_leaves, machine).map_err(refused)?;
    let mut stop = Ok(());
    while stop.is_ok() && edges.samples() < arguments.samples {
        stop = match windows {
            Some(windows) => windows.run_slice(machine, Limit::Endless, SLICE_CYCLES),
            None => machine.run_slice(debugger.next(), SLICE_CYCLES),
        };
        debugger.act(machine).map_err(refused)?;
        uart.write(&machine.take_transmitted())?;
        let changes = machine.take_edges();
        for run in sampler.runs(&changes, machine.cycles(), machine.timebase()) {
            edges.take(run)?;
        }
        if edges.edges() > arguments.most_edges {
            break;
        }
    }
    let (seen, samples) = (edges.edges(), edges.samples());
    edges.finish()?;
    uart.finish()?;
    if seen > arguments.most_edges {
        bail!(
            "more than {} edges within {samples} samples",
            arguments.most_edges
        );
    }
    Ok(stop)
}

fn refused(fault: DebugFault) -> anyhow::Error {
    anyhow!("the debugger cannot write the core's registers: {fault:?}")
}

/// A debugger as pyOCD's is that has pulled the reset pin, in the order of words that is harder for
/// the firmware.
struct LeavingDebugger {
    lets_go: Option<Limit>,
    stops_trace: Option<Limit>,
}

/// What lies between two of its words, and of how many a second: two frames of USB.
const BETWEEN_WORDS: (u64, u64) = (2, 1000);
/// Debug Halting Control and Status: the key, and C_DEBUGEN (DDI 0403, C1.6.2).
const DHCSR: u32 = 0xE000_EDF0;
const KEY: u32 = 0xA05F_0000;
const C_DEBUGEN: u32 = 1 << 0;

impl LeavingDebugger {
    fn attach(leaves: Option<Limit>, machine: &mut Machine) -> Result<LeavingDebugger, DebugFault> {
        if leaves.is_some() {
            machine.debug_write(DHCSR, Width::Word, KEY | C_DEBUGEN)?;
        }
        Ok(LeavingDebugger {
            lets_go: leaves,
            stops_trace: None,
        })
    }

    /// When it does something next.
    fn next(&self) -> Limit {
        self.lets_go.or(self.stops_trace).unwrap_or(Limit::Endless)
    }

    fn act(&mut self, machine: &mut Machine) -> Result<(), DebugFault> {
        if !machine.reached(self.next()) {
            return Ok(());
        }
        if self.lets_go.take().is_some() {
            let now = machine.timebase().seconds(machine.cycles());
            let (periods, hz) = BETWEEN_WORDS;
            self.stops_trace = Some(Limit::Time(now.later_by(periods, hz)));
            machine.debug_write(DHCSR, Width::Word, KEY)
        } else {
            self.stops_trace = None;
            machine.stop_trace()
        }
    }
}

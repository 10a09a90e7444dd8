//! `virtual-nucleo run`: to files, without sockets.

use super::counts::{CountArgument, Counts};
use super::{gaps, limit, stopped, BoardArguments};
use crate::core::Stop;
use crate::machine::{Limit, Machine};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(mut_arg("firmware", |firmware| firmware.required(false).required_unless_present("gaps")))]
pub struct RunArguments {
    #[command(flatten)]
    board: BoardArguments,
    /// When to end: 100ms, 2s, cycles:8400000. Without it: when nothing can happen any more, or at Ctrl-C.
    #[arg(long, value_parser = limit::parse)]
    until: Option<Limit>,
    /// Write every edge of an output pin here: cycle,pin,level.
    #[arg(long, value_name = "CSV")]
    edges: Option<PathBuf>,
    /// Write the bytes that USART2 sends here.
    #[arg(long, value_name = "FILE")]
    uart_log: Option<PathBuf>,
    /// Count executions of an instruction.
    #[arg(long, value_name = "NAME=SYMBOL+0xOFFSET")]
    count: Vec<CountArgument>,
    /// Write instructions, cycles, speed and counts here.
    #[arg(long, value_name = "JSON")]
    stats: Option<PathBuf>,
    /// Go on past registers that are not modelled and list them at the end; without firmware, list all that is not modelled.
    #[arg(long)]
    gaps: bool,
}

/// Cycles between two looks at Ctrl-C; bounds the memory that edges take.
const SLICE_CYCLES: u64 = 1 << 20;
/// 128 + SIGINT, as a shell reports it.
const INTERRUPTED: u8 = 130;

pub fn execute(arguments: &RunArguments) -> Result<ExitCode> {
    if arguments.gaps && !arguments.board.has_firmware() {
        gaps::list_all();
        return Ok(ExitCode::SUCCESS);
    }
    let (firmware, memory) = arguments.board.load()?;
    let mut machine = match Machine::new(memory, arguments.board.timing()) {
        Ok(machine) => machine,
        Err(stop) => return Ok(stopped(&stop)),
    };
    if arguments.gaps {
        machine.go_past_gaps();
    }
    let counts = Counts::watch(&arguments.count, &firmware, machine.core_mut())?;
    let mut recorder = Recorder::create(arguments)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))
        .context("cannot watch for Ctrl-C")?;

    let started = Instant::now();
    let limit = arguments.until.unwrap_or(Limit::Endless);
    let end = simulate(&mut machine, limit, &mut recorder, &interrupted)?;
    recorder.finish()?;
    report(arguments, &machine, &counts, started.elapsed())?;
    gaps::list_touched(&machine);
    Ok(match end {
        Err(stop) => stopped(&stop),
        Ok(()) if interrupted.load(Ordering::Relaxed) => ExitCode::from(INTERRUPTED),
        Ok(()) => ExitCode::SUCCESS,
    })
}

/// The outer error is one of the host's files, the inner one the simulation's.
fn simulate(
    machine: &mut Machine,
    limit: Limit,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
) -> Result<Result<(), Stop>> {
    while !machine.reached(limit) && !interrupted.load(Ordering::Relaxed) {
        let slice = machine.run_slice(limit, SLICE_CYCLES);
        recorder.record(machine)?;
        if slice.is_err() {
            return Ok(slice);
        }
        if limit == Limit::Endless && machine.idle_for_ever() {
            break;
        }
    }
    Ok(Ok(()))
}

/// A file that is being written, and its name for messages.
struct Output {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Output {
    fn create(path: &Path) -> Result<Output> {
        let file =
            File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Output {
            path: path.into(),
            file: BufWriter::new(file),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn finish(mut self) -> Result<()> {
        self.file
            .flush()
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Takes what the machine did since the last look to the files asked for.
struct Recorder {
    edges: Option<Output>,
    uart: Option<Output>,
}

impl Recorder {
    fn create(arguments: &RunArguments) -> Result<Recorder> {
        let create = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        let mut edges = create(&arguments.edges)?;
        if let Some(output) = &mut edges {
            output.write(b"cycle,pin,level\n")?;
        }
        Ok(Recorder {
            edges,
            uart: create(&arguments.uart_log)?,
        })
    }

    fn record(&mut self, machine: &mut Machine) -> Result<()> {
        let edges = machine.take_edges();
        if let Some(output) = &mut self.edges {
            for edge in edges.iter().filter(|edge| edge.output) {
                let line = format!("{},{},{}\n", edge.cycle, edge.pin, u8::from(edge.level));
                output.write(line.as_bytes())?;
            }
        }
        let bytes = machine.take_transmitted();
        if let Some(output) = &mut self.uart {
            output.write(&bytes)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        [self.edges, self.uart]
            .into_iter()
            .flatten()
            .try_for_each(Output::finish)
    }
}

/// Statistics to their file; counts to standard output when there is none.
fn report(
    arguments: &RunArguments,
    machine: &Machine,
    counts: &Counts,
    elapsed: Duration,
) -> Result<()> {
    let core = machine.core();
    let Some(path) = &arguments.stats else {
        counts
            .read(core)
            .for_each(|(name, executions)| println!("{name} {executions}"));
        return Ok(());
    };
    let host_seconds = elapsed.as_secs_f64();
    let mut stats = json!({
        "instructions": core.instructions(),
        "cycles": core.cycles(),
        "host_seconds": host_seconds,
        "mips": core.instructions() as f64 / host_seconds.max(f64::MIN_POSITIVE) / 1e6,
    });
    if arguments.gaps {
        stats["gaps"] = machine.gaps().map(ToString::to_string).collect();
    }
    if !arguments.count.is_empty() {
        stats["counts"] = counts
            .read(core)
            .map(|(name, executions)| (name.to_owned(), executions.into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
    }
    fs::write(path, format!("{stats:#}\n"))
        .with_context(|| format!("cannot write {}", path.display()))
}

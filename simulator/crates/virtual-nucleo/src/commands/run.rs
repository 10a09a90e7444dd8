//! `virtual-nucleo run`: runs to files, without sockets.

use super::board::BoardArguments;
use super::counts::{self, CountArgument};
use super::marks::{MarkArgument, Marks, WindowArgument};
use super::outputs::{Output, Paths, Recorder};
use super::save_point::SavePoint;
use super::save_state;
use super::semihosting::{Answer, Host};
use super::stop_on::StopArgument;
use super::{faults, gaps, limit, masks, notes, stopped, FAULTED, MET, UNMET};
use anyhow::{bail, Context, Result};
use clap::Args;
use cortex_m::bus::Bus;
use cortex_m::Stop;
use machine::observe::notes::as_json;
use machine::observe::standstill::{self, Standstill};
use machine::observe::trace::Trace;
use machine::observe::windows::{Counter, Windows};
use machine::observe::Observer;
use machine::{Limit, Machine, SEMIHOSTING};
use serde_json::{json, Value};
use std::fmt::Display;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;
use stm32::edges::Pin;
use stm32::manners::Manners;
use stm32::memory::elf::Firmware;
use stm32::peripherals::usart;

#[derive(Args)]
#[command(mut_arg("firmware", |firmware| firmware.required(false).required_unless_present_any(["gaps", "from_snapshot"])))]
pub struct RunArguments {
    #[command(flatten)]
    board: BoardArguments,
    /// When to end: 100ms, 2s, cycles:8400000. Without it: when nothing can happen any more, or at
    /// Ctrl-C.
    #[arg(long, value_parser = limit::parse)]
    until: Option<Limit>,
    /// Write every edge of an output pin here: cycle,pin,level.
    #[arg(long, value_name = "CSV")]
    edges: Option<PathBuf>,
    /// Write the bytes that USART2 sends here.
    #[arg(long, value_name = "FILE")]
    uart_log: Option<PathBuf>,
    /// Send this file, or standard input (-), to USART2: byte after byte at the rate that the
    /// program sets, from the moment on that its receiver is on.
    #[arg(long, value_name = "FILE|-")]
    uart_input: Option<PathBuf>,
    /// The USART of --uart-log and --uart-input: usart1, usart2, usart3, uart4, uart5 or usart6.
    #[arg(long, value_name = "NAME", default_value = "usart2", value_parser = usart_named)]
    usart: usize,
    /// Answer the program's semihosting calls (BKPT 0xAB): its output goes to standard output, and
    /// its exit status becomes this program's.
    #[arg(long)]
    semihosting: bool,
    /// Print the core's registers and the fault registers at the end.
    #[arg(long)]
    registers: bool,
    /// Write what software sends to the ITM's stimulus ports here: cycle,port,bytes,value.
    #[arg(long, value_name = "CSV")]
    itm: Option<PathBuf>,
    /// Write every change of what holds interrupts off here:
    /// cycle,what,value,pc,began,task,stack.
    #[arg(long, value_name = "CSV")]
    masks: Option<PathBuf>,
    /// Write the call stacks of these changes here: stack,depth,pc.
    #[arg(long, value_name = "CSV", requires_all = ["masks", "firmware"])]
    mask_stacks: Option<PathBuf>,
    #[command(flatten)]
    kernel: masks::KernelArguments,
    /// Count executions of an instruction.
    #[arg(long, value_name = "NAME=SYMBOL+0xOFFSET")]
    count: Vec<CountArgument>,
    /// Count between the edges of this pin too: a row for each of its pulses in the file of
    /// --windows.
    #[arg(long, value_name = "PIN", requires_all = ["count", "windows"])]
    count_window: Option<Pin>,
    /// Write the counts of each window here: window,start_cycle,end_cycle and a column for each
    /// --count.
    #[arg(long, value_name = "CSV", requires = "count_window")]
    windows: Option<PathBuf>,
    /// End when this happens: pin:PA8=1, pulse:PA8>3000 (cycles), fault, pc:SYMBOL+0xOFFSET. May be
    /// repeated.
    #[arg(long, value_name = "CONDITION")]
    stop_on: Vec<StopArgument>,
    /// Print the last N instructions before the end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trace_last: Option<u32>,
    /// Write the last instructions here as JSON lines instead (64, unless --trace-last says how
    /// many).
    #[arg(long, value_name = "JSONL")]
    trace: Option<PathBuf>,
    /// Write the instructions of a stretch to the file of --trace instead: FROM..TO, each a cycle or
    /// pc:PLACE.
    #[arg(
        long,
        value_name = "FROM..TO",
        requires = "trace",
        conflicts_with = "trace_last"
    )]
    trace_window: Option<WindowArgument>,
    /// Note each execution of the instructions at these places. May be repeated.
    #[arg(long, value_name = "pc:SYMBOL+0xOFFSET,...", requires = "marks")]
    mark: Vec<MarkArgument>,
    /// Write the executions of --mark here (docs/reference/simulator-files.md).
    #[arg(long, value_name = "CSV", requires = "mark")]
    marks: Option<PathBuf>,
    /// Save the whole machine when this time has come. May be repeated.
    #[arg(long, value_name = "FILE@TIME")]
    save_snapshot: Vec<SavePoint>,
    /// Write registers, SRAM, channels and the exact time as JSON when this time has come. May be
    /// repeated.
    #[arg(long, value_name = "FILE@TIME")]
    save_state: Vec<SavePoint>,
    /// Write instructions, cycles, speed and counts here.
    #[arg(long, value_name = "JSON")]
    stats: Option<PathBuf>,
}

/// Cycles between two looks at Ctrl-C. This limits the memory for edges.
const SLICE_CYCLES: u64 = 1 << 20;
/// 128 + SIGINT, as a shell reports it.
const INTERRUPTED: u8 = 130;
/// Words of the longest vector table, with the stack pointer's.
const VECTORS: u8 = 112;
/// Instructions that `--trace` keeps without `--trace-last`.
const TRACE_LAST: u32 = 64;

pub fn execute(arguments: &RunArguments) -> Result<ExitCode> {
    if arguments.board.manners.gaps
        && arguments.board.firmware.is_none()
        && arguments.board.from_snapshot.is_none()
    {
        gaps::list_all(arguments.board.chip.0);
        return Ok(ExitCode::SUCCESS);
    }
    let (firmware, mut machine) = arguments.board.machine()?;
    if arguments.semihosting {
        machine.allow_semihosting();
    }
    machine.set_console(arguments.usart);
    if let Some(path) = &arguments.uart_input {
        machine.feed(&input(path)?);
    }
    let counters = counts::watch(&arguments.count, firmware.as_ref(), machine.core_mut())?;
    let counted = counters.len();
    let marks = Marks::set(
        &arguments.mark,
        counted,
        firmware.as_ref(),
        arguments.kernel.task_word(),
        machine.core_mut(),
    )?;
    let mut observer = observer(arguments, firmware.as_ref(), &counters)?;
    observer.attach(&mut machine);
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))
        .context("cannot watch for Ctrl-C")?;

    let started = Started {
        at: Instant::now(),
        instructions: machine.core().instructions(),
    };
    let end =
        Session::new(arguments, &mut machine, &mut observer, marks)?.simulate(&interrupted)?;
    write_trace(arguments, &observer)?;
    let missing = observer.trace.as_ref().and_then(Trace::missing);
    if let (Some(bound), End::Done) = (missing, &end) {
        bail!("--trace-window: {bound} was not reached before the end of the run");
    }
    let standstill = standstill_of(&machine, &end);
    let names = firmware.as_ref();
    let standstill = standstill.map(|found| found.as_json(|pc| names?.function_at(pc)));
    let told = Told {
        end: &end,
        firmware: names,
        standstill: &standstill,
    };
    report(arguments, &machine, &counters, &started, &told)?;
    notes::tell(&machine, names);
    let sentence = standstill
        .as_ref()
        .and_then(|found| found["sentence"].as_str());
    if let Some(sentence) = sentence.filter(|_| machine.manners() != Manners::Strict) {
        eprintln!("virtual-nucleo: {sentence}");
    }
    Ok(tell(arguments, &mut machine, firmware.as_ref(), &end))
}

/// Says how the run ended, and returns its exit status.
fn tell(
    arguments: &RunArguments,
    machine: &mut Machine,
    firmware: Option<&Firmware>,
    end: &End,
) -> ExitCode {
    match end {
        End::Stopped(stop) => {
            let status = stopped(stop, machine.chip());
            let fault = machine.core().last_fault();
            if let (Stop::Lockup { .. }, Some(fault)) = (stop, fault) {
                faults::details(machine, firmware, fault);
            }
            return status;
        }
        End::Met(what) => {
            eprintln!("virtual-nucleo: {what}");
            return ExitCode::from(MET);
        }
        End::Exited(status) => {
            if *status != 0 {
                eprintln!("virtual-nucleo: the program exited with status {status}");
            }
            return ExitCode::from(*status);
        }
        End::Interrupted | End::Done => {}
    }
    let fault = machine.core().active_fault();
    if let Some(fault) = fault {
        faults::report(machine, firmware, fault);
    }
    if !arguments.stop_on.is_empty() {
        let cycle = machine.cycles();
        eprintln!("virtual-nucleo: no condition of --stop-on was met by cycle {cycle}");
    }
    match end {
        End::Interrupted => ExitCode::from(INTERRUPTED),
        _ if fault.is_some() => ExitCode::from(FAULTED),
        _ if !arguments.stop_on.is_empty() => ExitCode::from(UNMET),
        _ => ExitCode::SUCCESS,
    }
}

/// The USART of this name, as an index into the table of all.
fn usart_named(text: &str) -> Result<usize> {
    let known = |name: &&str| name.eq_ignore_ascii_case(text);
    match usart::MODELS.iter().position(known) {
        Some(usart) => Ok(usart),
        None => bail!("{text:?} is no USART: write usart1, usart2, usart3, uart4, uart5 or usart6"),
    }
}

/// The bytes of a file, or of standard input.
fn input(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
        return Ok(bytes);
    }
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn observer(
    arguments: &RunArguments,
    firmware: Option<&Firmware>,
    counters: &[Counter],
) -> Result<Observer> {
    let conditions = arguments.stop_on.iter();
    let traced = arguments.trace_last.is_some() || arguments.trace.is_some();
    Ok(Observer {
        windows: arguments
            .count_window
            .map(|pin| Windows::new(pin, counters.to_vec())),
        conditions: conditions
            .map(|condition| condition.condition(firmware))
            .collect::<Result<_, _>>()?,
        trace: match &arguments.trace_window {
            Some(window) => Some(Trace::of_stretch(window.stretch(firmware)?)),
            None => traced.then(|| Trace::new(arguments.trace_last.unwrap_or(TRACE_LAST) as usize)),
        },
        masks: arguments
            .masks
            .is_some()
            .then(|| {
                masks::log(
                    &arguments.board,
                    arguments.mask_stacks.is_some(),
                    &arguments.kernel,
                )
            })
            .transpose()?,
    })
}

/// Why a run ended.
enum End {
    Done,
    Interrupted,
    Met(String),
    Stopped(Stop),
    /// The program ended itself, with this status.
    Exited(u8),
}

/// A run that is under way.
struct Session<'a> {
    machine: &'a mut Machine,
    observer: &'a mut Observer,
    recorder: Recorder,
    limit: Limit,
    savings: Vec<SavePoint>,
    states: Vec<SavePoint>,
    host: Host,
}

impl Session<'_> {
    fn new<'a>(
        arguments: &RunArguments,
        machine: &'a mut Machine,
        observer: &'a mut Observer,
        marks: Marks,
    ) -> Result<Session<'a>> {
        let paths = Paths {
            edges: arguments.edges.as_deref(),
            uart: arguments.uart_log.as_deref(),
            windows: arguments.windows.as_deref(),
            stimuli: arguments.itm.as_deref(),
            marks: arguments.marks.as_deref(),
            stretch: arguments
                .trace_window
                .as_ref()
                .and(arguments.trace.as_deref()),
            masks: arguments.masks.as_deref(),
            mask_stacks: arguments.mask_stacks.as_deref(),
        };
        if arguments.itm.is_some() {
            machine.core_mut().listen_to_stimuli();
        }
        Ok(Session {
            recorder: Recorder::create(&paths, observer, marks)?,
            machine,
            observer,
            limit: arguments.until.unwrap_or(Limit::Endless),
            savings: arguments.save_snapshot.clone(),
            states: arguments.save_state.clone(),
            host: Host::default(),
        })
    }

    /// Runs to the end. Errors are those of the host's files.
    fn simulate(mut self, interrupted: &AtomicBool) -> Result<End> {
        let end = loop {
            self.save_what_is_due()?;
            if self.machine.reached(self.limit) {
                break End::Done;
            }
            if interrupted.load(Ordering::Relaxed) {
                break End::Interrupted;
            }
            let slice = self.run_slice();
            self.recorder.record(self.machine, self.observer)?;
            match slice {
                Err(Stop::Breakpoint { immediate, .. }) if immediate == SEMIHOSTING => {
                    if let Answer::Ended(status) = self.host.answer(self.machine)? {
                        break End::Exited(status);
                    }
                }
                Err(stop) => break End::Stopped(stop),
                Ok(Some(met)) => break End::Met(met),
                Ok(None) => {}
            }
            let awaited = self.limit != Limit::Endless || self.unsaved().next().is_some();
            if !awaited && (self.machine.idle_for_ever() || self.machine.faulted_for_ever()) {
                break End::Done;
            }
        };
        let unsaved = self.unsaved().next().cloned();
        self.recorder.finish()?;
        if let (End::Done, Some(saving)) = (&end, unsaved) {
            bail!(
                "the run ended before the time of {}, which was not saved",
                saving.path().display()
            );
        }
        Ok(end)
    }

    fn run_slice(&mut self) -> Result<Option<String>, Stop> {
        let timebase = self.machine.timebase();
        let end = self
            .unsaved()
            .map(|saving| saving.at)
            .chain([self.limit])
            .map(|limit| limit.cycle(timebase))
            .fold(u64::MAX, u64::min);
        if self.observer.idle() {
            return self
                .machine
                .run_slice(Limit::Cycle(end), SLICE_CYCLES)
                .map(|()| None);
        }
        self.observer
            .run_slice(self.machine, Limit::Cycle(end), SLICE_CYCLES)
    }

    fn unsaved(&self) -> impl Iterator<Item = &SavePoint> {
        self.savings.iter().chain(&self.states)
    }

    fn save_what_is_due(&mut self) -> Result<()> {
        for saving in take_due(&mut self.savings, self.machine) {
            saving.save(self.machine)?;
        }
        for state in take_due(&mut self.states, self.machine) {
            save_state::write(state.path(), self.machine)?;
        }
        Ok(())
    }
}

/// Takes the save points that are due. The others stay.
fn take_due(savings: &mut Vec<SavePoint>, machine: &Machine) -> Vec<SavePoint> {
    let (due, later) = std::mem::take(savings)
        .into_iter()
        .partition(|saving| machine.reached(saving.at));
    *savings = later;
    due
}

/// The host's clock and the instruction count at the start. A snapshot brings a count of its own.
struct Started {
    at: Instant,
    instructions: u64,
}

/// What is told of a run beside its numbers.
struct Told<'a> {
    end: &'a End,
    firmware: Option<&'a Firmware>,
    /// If the program can never do anything else: why.
    standstill: &'a Option<Value>,
}

/// What the program waits for in vain at the end of a run that nothing else ended.
fn standstill_of(machine: &Machine, end: &End) -> Option<Standstill> {
    match end {
        // Where a fault ended it, that is told.
        End::Done if machine.core().active_fault().is_none() => standstill::find(machine),
        _ => None,
    }
}

/// Prints lines to standard output.
fn say<T: Display>(lines: impl IntoIterator<Item = T>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    lines
        .into_iter()
        .try_for_each(|line| writeln!(stdout, "{line}"))
        .context("cannot write to standard output")
}

/// Writes the last instructions to their file, or to standard output.
fn write_trace(arguments: &RunArguments, observer: &Observer) -> Result<()> {
    let Some(trace) = &observer.trace else {
        return Ok(());
    };
    if arguments.trace_window.is_some() {
        return Ok(()); // written on the way
    }
    let Some(path) = &arguments.trace else {
        return say(trace.entries());
    };
    let mut output = Output::create(path)?;
    for entry in trace.entries() {
        output.write(format!("{}\n", entry.json()).as_bytes())?;
    }
    output.finish()
}

/// Writes statistics to their file, or without one the counts to standard output.
fn report(
    arguments: &RunArguments,
    machine: &Machine,
    counters: &[Counter],
    started: &Started,
    told: &Told,
) -> Result<()> {
    if arguments.registers {
        say(save_state::all_registers(machine)
            .into_iter()
            .map(|(name, value)| format!("{name} {value:#010x}")))?;
    }
    let Some(path) = &arguments.stats else {
        let line =
            |counter: &Counter| format!("{} {}", counter.name, counter.executions(machine.core()));
        return say(counters.iter().map(line));
    };
    write_stats(path, machine, counters, started, told)
}

fn write_stats(
    path: &Path,
    machine: &Machine,
    counters: &[Counter],
    started: &Started,
    told: &Told,
) -> Result<()> {
    let core = machine.core();
    let host_seconds = started.at.elapsed().as_secs_f64();
    let instructions = core.instructions() - started.instructions;
    let clocks = machine.timebase().clocks().map(|(cycle, start, clock)| {
        let (seconds, hz) = (
            save_state::pair(start.fraction())?,
            save_state::pair(clock)?,
        );
        Ok(json!({"cycle": cycle, "seconds": seconds, "core_hz": hz}))
    });
    let mut stats = json!({
        "clocks": clocks.collect::<Result<Vec<_>>>()?,
        "instructions": core.instructions(),
        "skipped_instructions": core.skipped_instructions(),
        "cycles": core.cycles(),
        "host_seconds": host_seconds,
        "mips": instructions as f64 / host_seconds.max(f64::MIN_POSITIVE) / 1e6,
    });
    stats["registers"] = save_state::all_registers(machine)
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let vector = |exception: u8| machine.word(core.vector_address(exception)).unwrap_or(0);
    stats["vectors"] = (0..VECTORS).map(vector).collect::<Vec<_>>().into();
    stats["flash_access_control"] = machine.soc().flash_access_control().into();
    stats["apb_dividers"] = json!(machine.soc().apb_dividers());
    if let End::Exited(status) = told.end {
        stats["exit_status"] = (*status).into();
    }
    stats["notes"] = as_json(machine, told.firmware);
    stats["standstill"] = told.standstill.clone().into();
    if !counters.is_empty() {
        stats["counts"] = counters
            .iter()
            .map(|counter| (counter.name.clone(), counter.executions(core).into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
    }
    fs::write(path, format!("{stats:#}\n"))
        .with_context(|| format!("cannot write {}", path.display()))
}

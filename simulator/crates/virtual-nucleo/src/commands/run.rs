//! `virtual-nucleo run`: runs to files, without sockets.

use super::board::BoardArguments;
use super::counts::{self, count, CountArgument};
use super::marks::{mark, MarkArgument, Marks};
use super::outputs::{Output, Recorder};
use super::saving::{self, all_registers, SavePoint};
use super::semihosting;
use super::stop_on::{stop, window, StopArgument, WindowArgument};
use super::{faults, limit, masks, notes, on_interrupt, stopped, FAULTED, INTERRUPTED, MET, UNMET};
use anyhow::{bail, Context, Result};
use clap::Args;
use cortex_m::bus::Bus;
use cortex_m::Stop;
use machine::observe::notes::as_json;
use machine::observe::standstill;
use machine::observe::trace::Trace;
use machine::observe::windows::{Counter, Windows};
use machine::observe::Observer;
use machine::{Limit, Machine, SEMIHOSTING};
use serde_json::{json, Map, Value};
use std::fmt::Display;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stm32::edges::Pin;
use stm32::manners::Manners;
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;
use stm32::peripherals::{known_gaps, usart};
use stm32::soc::Soc;

#[derive(Args)]
#[command(mut_arg("firmware", |firmware| firmware.required(false).required_unless_present_any(["gaps", "from_snapshot"])))]
pub struct RunArguments {
    #[command(flatten)]
    pub board: BoardArguments,
    /// When to end: 100ms, 2s, cycles:8400000. Without it: when nothing can happen any more, or at
    /// Ctrl-C.
    #[arg(long, value_parser = limit::parse)]
    until: Option<Limit>,
    /// Write every edge of an output pin here: cycle,pin,level.
    #[arg(long, value_name = "CSV")]
    pub edges: Option<PathBuf>,
    /// Write the bytes that USART2 sends here.
    #[arg(long, value_name = "FILE")]
    pub uart_log: Option<PathBuf>,
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
    pub itm: Option<PathBuf>,
    /// Write every change of what holds interrupts off here:
    /// cycle,what,value,pc,began,task,stack.
    #[arg(long, value_name = "CSV")]
    pub masks: Option<PathBuf>,
    /// Write the call stacks of these changes here: stack,depth,pc.
    #[arg(long, value_name = "CSV", requires_all = ["masks", "firmware"])]
    pub mask_stacks: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: masks::KernelArguments,
    /// Count executions of an instruction.
    #[arg(long, value_name = "NAME=SYMBOL+0xOFFSET", value_parser = count)]
    count: Vec<CountArgument>,
    /// Count between the edges of this pin too: a row for each of its pulses in the file of
    /// --windows.
    #[arg(long, value_name = "PIN", requires_all = ["count", "windows"])]
    count_window: Option<Pin>,
    /// Write the counts of each window here: window,start_cycle,end_cycle and a column for each
    /// --count.
    #[arg(long, value_name = "CSV", requires = "count_window")]
    pub windows: Option<PathBuf>,
    /// End when this happens: pin:PA8=1, pulse:PA8>3000 (cycles), fault, pc:SYMBOL+0xOFFSET. May be
    /// repeated.
    #[arg(long, value_name = "CONDITION", value_parser = stop)]
    stop_on: Vec<StopArgument>,
    /// Print the last N instructions before the end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trace_last: Option<u32>,
    /// Write the last instructions here as JSON lines instead (64, unless --trace-last says how
    /// many).
    #[arg(long, value_name = "JSONL")]
    pub trace: Option<PathBuf>,
    /// Write the instructions of a stretch to the file of --trace instead: FROM..TO, each a cycle or
    /// pc:PLACE.
    #[arg(
        long,
        value_name = "FROM..TO",
        requires = "trace",
        conflicts_with = "trace_last",
        value_parser = window
    )]
    pub trace_window: Option<WindowArgument>,
    /// Note each execution of the instructions at these places. May be repeated.
    #[arg(long, value_name = "pc:SYMBOL+0xOFFSET,...", requires = "marks", value_parser = mark)]
    mark: Vec<MarkArgument>,
    /// Write the executions of --mark here (docs/reference/simulator-files.md).
    #[arg(long, value_name = "CSV", requires = "mark")]
    pub marks: Option<PathBuf>,
    /// Save the whole machine when this time has come. May be repeated.
    #[arg(long, value_name = "FILE@TIME", value_parser = saving::parse)]
    save_snapshot: Vec<SavePoint>,
    /// Write registers, SRAM, channels and the exact time as JSON when this time has come. May be
    /// repeated.
    #[arg(long, value_name = "FILE@TIME", value_parser = saving::parse)]
    save_state: Vec<SavePoint>,
    /// Write instructions, cycles, speed and counts here.
    #[arg(long, value_name = "JSON")]
    stats: Option<PathBuf>,
}

/// Cycles between two looks at Ctrl-C. This limits the memory for edges.
const SLICE_CYCLES: u64 = 1 << 20;
/// Words of the longest vector table, with the stack pointer's.
const VECTORS: u8 = 112;
/// Instructions that `--trace` keeps without `--trace-last`.
const TRACE_LAST: u32 = 64;

/// Why a run ended.
enum End {
    Done,
    Interrupted,
    Met(String),
    Stopped(Stop),
    /// The program ended itself, with this status.
    Exited(u8),
}

pub fn execute(arguments: &RunArguments) -> Result<ExitCode> {
    let board = &arguments.board;
    if board.manners.gaps && board.firmware.is_none() && board.from_snapshot.is_none() {
        // All that the model lacks.
        let chip = board.chip.0;
        let tables = Soc::new(Memory::of(chip)).register_tables();
        say(known_gaps::list(chip, &tables))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (firmware, mut machine) = board.machine()?;
    let firmware = firmware.as_ref();
    if arguments.semihosting {
        machine.allow_semihosting();
    }
    machine.set_console(arguments.usart);
    if let Some(path) = &arguments.uart_input {
        machine.feed(&input(path)?);
    }
    let counters = counts::watch(&arguments.count, firmware, machine.core_mut())?;
    let marks = Marks::set(
        &arguments.mark,
        counters.len() + arguments.stop_on.len() + usize::from(arguments.trace_window.is_some()),
        firmware,
        arguments.kernel.task_word,
        machine.core_mut(),
    )?;
    let mut observer = observer(arguments, firmware, &counters)?;
    observer.attach(&mut machine);
    let interrupted = on_interrupt()?;

    // A snapshot brings a count of instructions of its own.
    let (started, instructions) = (Instant::now(), machine.core().instructions());
    if arguments.itm.is_some() {
        machine.core_mut().itm_mut().listen();
    }
    let recorder = Recorder::create(arguments, &observer, marks)?;
    let end = simulate(
        arguments,
        &mut machine,
        &mut observer,
        recorder,
        &interrupted,
    )?;
    if let (Some(trace), None) = (&observer.trace, &arguments.trace_window) {
        match &arguments.trace {
            None => say(trace.entries())?,
            Some(path) => {
                let mut output = Output::create(path)?;
                for entry in trace.entries() {
                    output.write(format!("{}\n", entry.json()).as_bytes())?;
                }
                output.finish()?;
            }
        }
    }
    let missing = observer.trace.as_ref().and_then(Trace::missing);
    if let (Some(bound), End::Done) = (missing, &end) {
        bail!("--trace-window: {bound} was not reached before the end of the run");
    }
    let standstill = match end {
        // Where a fault ended it, that is told.
        End::Done if machine.core().active_fault().is_none() => standstill::find(&machine),
        _ => None,
    };
    let standstill = standstill.map(|found| found.as_json(|pc| firmware?.function_at(pc)));
    if arguments.registers {
        let line = |(name, value)| format!("{name} {value:#010x}");
        say(all_registers(&machine).map(line))?;
    }
    let counts = counters.iter();
    let counts = counts.map(|counter| (&counter.name, counter.executions(machine.core())));
    match &arguments.stats {
        None => say(counts.map(|(name, count)| format!("{name} {count}")))?,
        Some(path) => {
            let seconds = started.elapsed().as_secs_f64();
            let instructions = machine.core().instructions() - instructions;
            let mut stats = stats(&machine)?;
            stats["host_seconds"] = seconds.into();
            stats["mips"] = (instructions as f64 / seconds.max(f64::MIN_POSITIVE) / 1e6).into();
            if let End::Exited(status) = end {
                stats["exit_status"] = status.into();
            }
            stats["notes"] = as_json(&machine, firmware);
            stats["standstill"] = standstill.clone().into();
            if !counters.is_empty() {
                let counts = counts.map(|(name, count)| (name.clone(), count.into()));
                stats["counts"] = counts.collect::<Map<_, _>>().into();
            }
            saving::write(path, format!("{stats:#}\n"))?;
        }
    }
    notes::tell(&machine, firmware);
    let sentence = standstill
        .as_ref()
        .and_then(|found| found["sentence"].as_str());
    if let Some(sentence) = sentence.filter(|_| machine.manners() != Manners::Strict) {
        eprintln!("virtual-nucleo: {sentence}");
    }
    Ok(tell(arguments, &mut machine, firmware, &end))
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
            .then(|| masks::log(arguments))
            .transpose()?,
    })
}

/// Runs to the end. Errors are those of the host's files.
fn simulate(
    arguments: &RunArguments,
    machine: &mut Machine,
    observer: &mut Observer,
    mut recorder: Recorder,
    interrupted: &AtomicBool,
) -> Result<End> {
    let limit = arguments.until.unwrap_or(Limit::Endless);
    let snapshots = arguments.save_snapshot.iter();
    let snapshots = snapshots.map(|point| (point, saving::snapshot as saving::Save));
    let states = arguments.save_state.iter();
    let states = states.map(|point| (point, saving::state as saving::Save));
    let mut savings: Vec<_> = snapshots.chain(states).collect();
    // It takes a while.
    let elf = arguments.board.firmware.as_deref();
    let elf = elf.filter(|_| !arguments.save_state.is_empty());
    let code = elf.map(masks::code).transpose()?;
    let end = loop {
        let due = savings.iter();
        let due = due.filter(|(point, _)| machine.reached(point.at));
        due.cloned()
            .try_for_each(|(point, save)| save(&point.path, machine, code.as_ref()))?;
        savings.retain(|(point, _)| !machine.reached(point.at));
        if machine.reached(limit) {
            break End::Done;
        }
        if interrupted.load(Ordering::Relaxed) {
            break End::Interrupted;
        }
        let limits = savings.iter().map(|(point, _)| point.at).chain([limit]);
        let cycles = limits.map(|limit| limit.cycle(machine.timebase()));
        let next = Limit::Cycle(cycles.fold(u64::MAX, u64::min));
        let slice = match observer.idle() {
            true => machine.run_slice(next, SLICE_CYCLES).map(|()| None),
            false => observer.run_slice(machine, next, SLICE_CYCLES),
        };
        recorder.record(machine, observer)?;
        match slice {
            Err(Stop::Breakpoint { immediate, .. }) if immediate == SEMIHOSTING => {
                if let Some(status) = semihosting::answer(machine, false)? {
                    break End::Exited(status);
                }
            }
            Err(stop) => break End::Stopped(stop),
            Ok(Some(met)) => break End::Met(met),
            Ok(None) => {}
        }
        let awaited = limit != Limit::Endless || !savings.is_empty();
        if !awaited && (machine.idle_for_ever() || machine.faulted_for_ever()) {
            break End::Done;
        }
    };
    recorder.finish()?;
    if let (End::Done, Some((point, _))) = (&end, savings.first()) {
        let path = point.path.display();
        bail!("the run ended before the time of {path}, which was not saved");
    }
    Ok(end)
}

/// Prints lines to standard output.
fn say<T: Display>(lines: impl IntoIterator<Item = T>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    lines
        .into_iter()
        .try_for_each(|line| writeln!(stdout, "{line}"))
        .context("cannot write to standard output")
}

/// What the machine is like at the end (docs/reference/simulator-files.md).
fn stats(machine: &Machine) -> Result<Value> {
    let core = machine.core();
    let clocks = machine.timebase().clocks().map(|(cycle, start, clock)| {
        let (seconds, hz) = (saving::pair(start.fraction())?, saving::pair(clock)?);
        Ok(json!({"cycle": cycle, "seconds": seconds, "core_hz": hz}))
    });
    let registers = all_registers(machine).map(|(name, value)| (name, value.into()));
    let vector = |exception: u8| {
        machine
            .word(core.scb().vector_address(exception))
            .unwrap_or(0)
    };
    Ok(json!({
        "clocks": clocks.collect::<Result<Vec<_>>>()?,
        "instructions": core.instructions(),
        "skipped_instructions": core.skipped_instructions(),
        "cycles": core.cycles(),
        "registers": registers.collect::<Map<_, _>>(),
        "vectors": (0..VECTORS).map(vector).collect::<Vec<_>>(),
        "flash_access_control": machine.soc().flash_access_control(),
        "apb_dividers": machine.soc().apb_dividers(),
    }))
}

//! `virtual-nucleo latency`: pends an interrupt at many cycles of a run, each in a copy of the
//! machine, and writes how long it waited.

use super::board::BoardArguments;
use super::outputs::Output;
use super::semihosting::answer_in_silence;
use super::{limit, notes, on_interrupt, saving, stopped, INTERRUPTED, STOPPED};
use anyhow::Result;
use clap::Args;
use cortex_m::Stop;
use machine::observe::latency::{Answer, Outcome, Question};
use machine::observe::notes::as_json;
use machine::observe::sweep::{first_use, Course};
use machine::{Limit, Machine, SEMIHOSTING};
use serde_json::{json, Value};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use stm32::memory::elf::Firmware;
use stm32::timebase::fraction_text;

#[derive(Args)]
pub struct LatencyArguments {
    #[command(flatten)]
    board: BoardArguments,
    /// The exception to pend: 16 + N for interrupt N, 15 for SysTick, 14 for PendSV.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(14..112))]
    exception: u8,
    /// The first cycle at which to pend. Without it: where the program first enables the interrupt.
    #[arg(long, value_parser = limit::parse)]
    from: Option<Limit>,
    /// Without --from: begin at this cycle if the program enables the interrupt earlier.
    #[arg(long, value_name = "CYCLE", conflicts_with = "from")]
    not_before: Option<u64>,
    /// The end of the cycles at which to pend.
    #[arg(long, value_parser = limit::parse)]
    until: Limit,
    /// Pend at each N-th cycle. Without it, and without --random: at so many that there are at most 100,000.
    #[arg(long, value_name = "N", conflicts_with = "random",
          value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Pend at so many cycles, drawn from the seed.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    random: Option<u32>,
    /// Of --random.
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Enable the interrupt when it is pended, at this priority: 0 (highest) to 15.
    #[arg(long, value_name = "PRIORITY", value_parser = clap::value_parser!(u8).range(0..16))]
    enable: Option<u8>,
    /// How many cycles after the last pend an answer may come.
    #[arg(long, value_name = "CYCLES", default_value = "8400000")]
    patience: u64,
    /// Answer the program's semihosting calls (BKPT 0xAB); what it prints is not shown.
    #[arg(long)]
    semihosting: bool,
    /// Write the answers here (docs/reference/simulator-files.md).
    #[arg(long, value_name = "CSV")]
    answers: PathBuf,
    /// Write here what was asked, and what is known of the interrupt.
    #[arg(long, value_name = "JSON")]
    stats: PathBuf,
}

/// Pends of a sweep that does not say how many.
const USUAL_PENDS: u64 = 100_000;
/// Cycles between two looks at Ctrl-C.
const SLICE_CYCLES: u64 = 1 << 20;
const HEADER: &[u8] = b"first_pended,last_pended,pends,taken,outcome,core_hz,pc,exception,waits\n";

pub fn execute(arguments: &LatencyArguments) -> Result<ExitCode> {
    let (firmware, machine) = board(arguments)?;
    let chip = machine.chip();
    let interrupted = on_interrupt()?;
    let mut output = Output::create(&arguments.answers)?;
    output.write(HEADER)?;
    let swept = sweep(
        arguments,
        machine,
        firmware.as_ref(),
        &mut output,
        &interrupted,
    );
    output.finish()?;
    Ok(match swept.map_err(anyhow::Error::downcast) {
        Ok(()) if interrupted.load(Ordering::Relaxed) => ExitCode::from(INTERRUPTED),
        Ok(()) => ExitCode::SUCCESS,
        Err(Ok(Stop::Breakpoint { immediate, .. })) if immediate == SEMIHOSTING => {
            eprintln!("virtual-nucleo: the program ended itself before the last pend");
            ExitCode::from(STOPPED)
        }
        Err(Ok(stop)) => stopped(&stop, chip),
        Err(Err(error)) => return Err(error),
    })
}

/// The board, and its firmware if it is known.
fn board(arguments: &LatencyArguments) -> Result<(Option<Firmware>, Machine)> {
    let (firmware, mut machine) = arguments.board.machine()?;
    if arguments.semihosting {
        machine.answer_calls_by(answer_in_silence);
    }
    Ok((firmware, machine))
}

/// The cycles at which to pend.
struct Window {
    first: u64,
    end: u64,
    every: u64,
}

impl Window {
    fn pends(&self) -> u64 {
        self.end.saturating_sub(self.first).div_ceil(self.every)
    }
}

/// Pends at each cycle of the window, unless it is interrupted. An error may be the [`Stop`] of the
/// simulation.
fn sweep(
    arguments: &LatencyArguments,
    mut machine: Machine,
    firmware: Option<&Firmware>,
    output: &mut Output,
    interrupted: &AtomicBool,
) -> Result<()> {
    let mut used = None;
    while arguments.enable.is_none() && used.is_none() {
        // The clock may change on the way, and with it the cycle of a time.
        let end = arguments.until.cycle(machine.timebase());
        if machine.cycles() >= end || machine.idle_for_ever() {
            break;
        }
        if interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let slice_end = end.min(machine.cycles() + SLICE_CYCLES);
        used = first_use(&mut machine, arguments.exception, slice_end)?;
    }
    let first = match (arguments.from, used, arguments.enable) {
        (Some(from), _, _) => from.cycle(machine.timebase()),
        (None, Some(used), _) => used,
        (None, None, Some(_)) => 0,
        (None, None, None) => machine.cycles(),
    };
    let first = first.max(arguments.not_before.unwrap_or(0));
    if first < machine.cycles() {
        machine = board(arguments)?.1;
    }
    // A snapshot has no past to pend in.
    let first = first.max(machine.cycles());
    let mut course = Course::new(machine);
    course.go_to(first)?;
    let end = arguments.until.cycle(course.machine().timebase());
    let usual = end.saturating_sub(first).div_ceil(USUAL_PENDS).max(1);
    let window = Window {
        first,
        end,
        every: arguments.every.unwrap_or(usual),
    };
    let mut stats = stats(arguments, course.machine(), used, &window);
    let mut write = |machine: &Machine| {
        stats["notes"] = as_json(machine, firmware);
        saving::write(&arguments.stats, format!("{stats:#}\n"))
    };
    write(course.machine())?;
    let pended = pend(arguments, &mut course, &window, output, interrupted);
    notes::tell(course.machine(), firmware);
    write(course.machine())?;
    pended
}

/// What was asked, and what is known of the interrupt.
fn stats(
    arguments: &LatencyArguments,
    machine: &Machine,
    used: Option<u64>,
    window: &Window,
) -> Value {
    let core = machine.core();
    let handler = machine.word(core.scb().vector_address(arguments.exception));
    let random = arguments.random.is_some();
    json!({
        "exception": arguments.exception,
        "first_use_cycle": used,
        "used": (1..112).filter(|n| core.nvic().used() >> n & 1 != 0).collect::<Vec<u8>>(),
        "handler": handler.map(|address| format!("{address:#010x}")),
        "first_cycle": window.first,
        "end_cycle": window.end,
        "every": if random { Value::Null } else { window.every.into() },
        "pends": arguments.random.map_or(window.pends(), u64::from),
        "cycle": machine.cycles(),
    })
}

fn pend(
    arguments: &LatencyArguments,
    course: &mut Course,
    window: &Window,
    output: &mut Output,
    interrupted: &AtomicBool,
) -> Result<()> {
    if window.pends() == 0 {
        return Ok(());
    }
    let question = Question {
        exception: arguments.exception,
        enable: arguments.enable.map(|priority| priority << 4),
        give_up: window.end.saturating_add(arguments.patience),
    };
    let cycles: Box<dyn Iterator<Item = u64>> = match arguments.random {
        Some(count) => Box::new(draw(arguments.seed, count, window).into_iter()),
        None => Box::new((window.first..window.end).step_by(window.every as usize)),
    };
    let mut cycles = cycles.peekable();
    while let Some(at) = cycles.next() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let answer = course.ask(at, &question)?;
        let (mut last, mut pends) = (at, 1);
        let shared = |next: &u64| arguments.random.is_none() && *next <= answer.last;
        while let Some(next) = cycles.next_if(shared) {
            (last, pends) = (next, pends + 1);
        }
        output.write(row(&answer, last, pends).as_bytes())?;
    }
    Ok(())
}

/// Cycles of the window, ascending. Equal seeds draw equal ones.
fn draw(seed: u64, count: u32, window: &Window) -> Vec<u64> {
    let room = u128::from(window.end - window.first);
    let mut state = seed;
    let mut cycles: Vec<u64> = (0..count)
        .map(|_| window.first + ((u128::from(split_mix(&mut state)) * room) >> 64) as u64)
        .collect();
    cycles.sort_unstable();
    cycles
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA
/// 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut value = *state;
    value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// The row of pends from `answer.pended` to `last`, which have the same answer.
fn row(answer: &Answer, last: u64, pends: u64) -> String {
    let (taken, outcome) = match &answer.outcome {
        Outcome::Taken(cycle) => (cycle.to_string(), "taken".into()),
        Outcome::Cleared => (String::new(), "cleared".into()),
        Outcome::Unanswered => (String::new(), "unanswered".into()),
        Outcome::Reset => (String::new(), "reset".into()),
        Outcome::Stopped(why) => (
            String::new(),
            format!("stopped: {}", why.replace([',', '"'], ";")),
        ),
    };
    let waits = answer.waits.iter();
    let waits: Vec<String> = waits
        .map(|wait| format!("{}:{}", wait.cause, wait.cycles))
        .collect();
    format!(
        "{},{last},{pends},{taken},{outcome},{},{:#010x},{},{}\n",
        answer.pended,
        fraction_text(answer.core_hz),
        answer.pc,
        answer.exception,
        waits.join(";"),
    )
}

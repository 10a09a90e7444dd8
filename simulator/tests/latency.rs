//! Latencies of an interrupt that the board pends itself, and passages of marked instructions,
//! against what the program's own counter, its own timer and a plain twin say.

use crate::support;

use cortex_m::Timing;
use machine::observe::latency::{ask, Cause, Outcome, Question};
use machine::observe::sweep::Course;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use support::{edges_of, ended, firmware, json_lines, machine, read, sent, stderr};

const TIM2: u8 = 16 + 28;
const QUESTION: Question = Question {
    exception: TIM2,
    enable: None,
    give_up: 100_000,
};

type Row = BTreeMap<String, String>;

/// Runs a line, which may say why the program sleeps, and panics unless it exits with 0.
fn run(line: &str) {
    let output = ended(line);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The rows of a CSV file, each by its columns' names.
fn rows(name: &str) -> Vec<Row> {
    let table = read(name);
    let mut lines = table.lines().map(|line| line.split(',').map(String::from));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines
        .map(|fields| names.iter().cloned().zip(fields).collect())
        .collect()
}

fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// Runs with marks, and returns the cycles of each.
fn marked(line: &str) -> Vec<(String, u64)> {
    run(&format!("run --until 5ms --marks marks.csv {line}"));
    let cycle = |row: &Row| (row["mark"].clone(), number(row, "cycle"));
    rows("marks.csv").iter().map(cycle).collect()
}

/// Sweeps a window of the program.
fn swept(line: &str) -> Vec<Row> {
    run(&format!(
        "latency --answers answers.csv --stats stats.json {line}"
    ));
    rows("answers.csv")
}

/// 16 MHz without flash waits. CPSID takes effect behind its one cycle; then come a load of 2 cycles,
/// 100 NOPs, a load of 2, and CPSIE of 1, behind which the interrupt is taken. Its entry takes 12
/// cycles (TRM 3.9.1). The NOPs between the loads lie as far apart as the program's own counter says.
#[test]
fn the_worst_latency_is_the_longest_masked_section_and_the_entry() {
    let elf = firmware("latency.c", "");
    let cycles = marked(&format!(
        "{elf} --mark pc:first_read,second_read --uart-log uart.txt"
    ));
    assert_eq!(cycles[1].1 - cycles[0].1, sent("uart.txt", "masked "));

    let answers = swept(&format!(
        "{elf} --exception 44 --until cycles:2648 --every 1"
    ));
    let latency = |row: &Row| number(row, "taken") - number(row, "first_pended");
    let worst = answers.iter().max_by_key(|row| latency(row)).unwrap();
    assert_eq!(latency(worst), 2 + 100 + 2 - 1 + 1 + 12);
    assert!(worst["waits"].starts_with("primask 0x0800"));
    assert!(worst["waits"].ends_with(":104;entry:12"));
    // Every phase of the section: each cycle later is a cycle less.
    assert_eq!(number(worst, "pends"), 105);
    // Without a mask: the entry, and what is left of an instruction of at most 4 cycles.
    let others = answers
        .iter()
        .filter(|row| !row["waits"].contains("primask"));
    let others = others.filter(|row| !row["waits"].contains("exception"));
    let longest = others.map(latency).max().unwrap();
    assert!((12..=15).contains(&longest), "{longest}");
}

/// The timer pends its interrupt in the cycle in which it toggles PA0. Another build differs in one
/// number only: the timer does not interrupt, and the board pends in its stead.
#[test]
fn a_pend_by_the_board_is_answered_as_one_by_the_timer() {
    let mut latencies = Vec::new();
    for match_at in [331, 332, 333, 334, 335, 380, 430, 431, 460, 547, 560, 561] {
        let build =
            |interrupts: u32| firmware("latency.c", &format!("DIER={interrupts} MATCH={match_at}"));
        let (by_timer, by_board) = (build(2), build(0));
        let answered = marked(&format!("{by_timer} --mark pc:on_tim2 --edges edges.csv"))[0].1;
        let pended = edges_of("edges.csv", "PA0")[0].cycle;
        let window = format!("--from cycles:{pended} --until cycles:{}", pended + 1);
        let found = swept(&format!("{by_board} --exception 44 {window}"));
        assert_eq!(number(&found[0], "first_pended"), pended);
        assert_eq!(number(&found[0], "taken"), answered, "match at {match_at}");
        latencies.push(answered - pended);
    }
    assert!(latencies.iter().any(|cycles| *cycles > 80), "{latencies:?}");
    assert!(latencies.iter().any(|cycles| *cycles < 16), "{latencies:?}");
}

/// Cycles that share an answer, and runs that wait shortly before, against a copy for each cycle that
/// begins at reset.
#[test]
fn shared_answers_are_those_of_a_copy_for_each_cycle() {
    let elf = firmware("latency.c", "");
    let base = machine(&elf, Timing::Nucleo, b"");
    let mut course = Course::new(machine(&elf, Timing::Nucleo, b""));
    let mut at = 2_200;
    let mut shared = 0;
    while at < 3_100 {
        let answer = course.ask(at, &QUESTION).unwrap();
        for cycle in at..=answer.last.min(3_100) {
            let alone = ask(&base, cycle, &QUESTION);
            assert_eq!(alone.outcome, answer.outcome, "cycle {cycle} of {at}");
            let waited: u64 = alone.waits.iter().map(|wait| wait.cycles).sum();
            assert_eq!(alone.outcome, Outcome::Taken(cycle + waited));
            shared += u64::from(cycle > at);
        }
        at = answer.last + 1;
    }
    assert!(shared > 400, "{shared}");
}

/// Random bytes as code go many ways; here the program's own handler, which masks and recurses.
#[test]
fn what_it_waits_for_adds_up() {
    let elf = firmware("latency.c", "");
    let mut course = Course::new(machine(&elf, Timing::Nucleo, b""));
    let mut causes: BTreeMap<String, u64> = BTreeMap::new();
    for at in 2_600..3_000 {
        let answer = course.ask(at, &QUESTION).unwrap();
        for wait in &answer.waits {
            let name = match wait.cause {
                Cause::Handler(22) => "handler",
                Cause::Primask(Some(_)) => "primask",
                Cause::Instruction => "instruction",
                Cause::Entry => "entry",
                other => panic!("{other:?} at {at}"),
            };
            *causes.entry(name.into()).or_default() += wait.cycles;
        }
        let waited: u64 = answer.waits.iter().map(|wait| wait.cycles).sum();
        assert_eq!(answer.outcome, Outcome::Taken(at + waited), "{at}");
    }
    for name in ["handler", "instruction", "entry"] {
        assert!(causes[name] > 0, "{causes:?}");
    }
}

#[test]
fn equal_seeds_draw_equal_cycles() {
    let elf = firmware("latency.c", "");
    let line = format!("{elf} --exception 44 --until cycles:3000");
    let drawn = |seed: u32| swept(&format!("{line} --random 200 --seed {seed}"));
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7), drawn(8));
    assert_eq!(drawn(7).len(), 200);
    let of_sweep = swept(&format!("{line} --every 1"));
    for row in drawn(7) {
        let pended = number(&row, "first_pended");
        let within =
            |of: &&Row| (number(of, "first_pended")..=number(of, "last_pended")).contains(&pended);
        let same = of_sweep.iter().find(within).unwrap();
        assert_eq!(row["taken"], same["taken"], "{pended}");
    }
}

/// It is never enabled: nothing is pended. With --enable it is taken, at the priority that is named.
#[test]
fn an_interrupt_that_is_never_enabled() {
    let elf = firmware("latency.c", "");
    assert!(swept(&format!("{elf} --exception 54 --until cycles:4000")).is_empty());
    let stats = support::json("stats.json");
    assert_eq!(stats["first_use_cycle"], Value::Null);
    assert_eq!(stats["used"], json!([22, 44]));
    let taken = swept(&format!(
        "{elf} --exception 44 --enable 3 --from cycles:2400 --until cycles:2402"
    ));
    assert_eq!(taken[0]["outcome"], "taken");
}

/// Marks change neither cycles nor output, and a recursive function is marked at each call.
#[test]
fn marks_cost_nothing() {
    let elf = firmware("latency.c", "");
    let outputs = |marks: &str| {
        run(&format!(
            "run {elf} --until cycles:20000 --uart-log uart.txt --stats stats.json {marks}"
        ));
        let stats = support::json("stats.json");
        (
            read("uart.txt"),
            stats["cycles"].clone(),
            stats["instructions"].clone(),
        )
    };
    let marks = "--mark pc:recursive,interrupted --mark pc:send --marks marks.csv";
    assert_eq!(outputs(""), outputs(marks));
    let found = rows("marks.csv");
    let calls = found.iter().filter(|row| row["mark"] == "recursive");
    let calls: Vec<_> = calls
        .map(|row| (row["exception"].as_str(), row["sp"].clone()))
        .collect();
    // Three deep and two deep in Thread mode, and two deep in EXTI0's handler between them.
    let modes: Vec<&str> = calls.iter().map(|call| call.0).collect();
    assert_eq!(modes, ["0", "0", "0", "22", "22", "0", "0"]);
    assert_eq!(calls[0].1, calls[5].1);
    assert!(calls[0].1 > calls[1].1 && calls[1].1 > calls[2].1);
}

/// The trace of a window is that part of the trace of the whole run.
#[test]
fn a_window_of_the_trace() {
    let traced = format!(
        "run {} --until cycles:3000 --trace",
        firmware("latency.c", "")
    );
    let entries = |more: &str| {
        run(&format!("{traced} trace.jsonl {more}"));
        json_lines("trace.jsonl")
    };
    let whole = entries("--trace-last 100000");
    let cycle = |entry: &Value| entry["cycle"].as_u64().unwrap();
    let last_before = whole.iter().rposition(|entry| cycle(entry) <= 2_300);
    let end = whole
        .iter()
        .position(|entry| cycle(entry) >= 2_700)
        .unwrap();
    let within = entries("--trace-window 2300..2700");
    assert_eq!(within, whole[last_before.unwrap()..end]);

    let places = entries("--trace-window pc:first_read..pc:second_read");
    let begin = whole.iter().position(|entry| *entry == places[0]);
    let begin = begin.expect("the first of the stretch is in the whole trace");
    assert_eq!(places, whole[begin..begin + 102]);
    let output = ended(&format!(
        "{traced} /dev/null --trace-window pc:never..pc:first_read"
    ));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("never was not reached"));
}

#[test]
fn the_first_execution_of_a_place_can_be_noted_alone() {
    let elf = firmware("latency.c", "");
    let all = marked(&format!("{elf} --mark pc:recursive,first_read"));
    let of = |place: &'static str| all.iter().filter(move |row| row.0 == place);
    assert!(of("recursive").count() > 5 && of("first_read").count() > 0);
    let mut expected: Vec<_> = of("recursive").take(1).chain(of("first_read")).collect();
    expected.sort_by_key(|row| row.1);
    let found = marked(&format!(
        "{elf} --mark first:recursive --mark pc:first_read"
    ));
    assert!(found.iter().eq(expected));
    let found = marked(&format!("{elf} --mark first:recursive --mark pc:recursive"));
    assert!(found.iter().eq(of("recursive")));
}

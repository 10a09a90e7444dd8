//! Latencies of an interrupt that the board pends itself, and passages of marked instructions,
//! against what the program's own counter, its own timer and a plain twin say.

use crate::support;

use cortex_m::Timing;
use machine::observe::latency::{ask, Answer, Cause, Outcome, Question};
use machine::observe::sweep::Course;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::{ended, firmware, json, machine, read_edges, scratch, stderr, text};

const TIM2: u8 = 16 + 28;

/// Runs the program, which may say why it sleeps, and panics unless it exits with 0.
fn run(arguments: &[&str]) {
    let output = ended(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The rows of a CSV file, each by its columns' names.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let table = fs::read_to_string(path).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').map(String::from));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines
        .map(|fields| names.iter().cloned().zip(fields).collect())
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// Runs with marks, and returns the cycles of each.
fn marked(elf: &Path, name: &str, more: &[&str]) -> Vec<(String, u64)> {
    let marks = scratch(&format!("{name}-marks.csv"));
    let fixed = ["run", text(elf), "--until", "5ms", "--marks", text(&marks)];
    run(&[&fixed[..], more].concat());
    let found = rows(&marks);
    let found = found
        .iter()
        .map(|row| (row["mark"].clone(), number(row, "cycle")));
    found.collect()
}

/// Sweeps a window of the program, every cycle.
fn swept(elf: &Path, name: &str, more: &[&str]) -> Vec<BTreeMap<String, String>> {
    let (answers, stats) = (
        scratch(&format!("{name}.csv")),
        scratch(&format!("{name}.json")),
    );
    let fixed = ["latency", text(elf), "--exception", "44"];
    let files = ["--answers", text(&answers), "--stats", text(&stats)];
    run(&[&fixed[..], more, &files].concat());
    rows(&answers)
}

/// 16 MHz without flash waits. CPSID takes effect behind its one cycle; then come a load of 2 cycles,
/// 100 NOPs, a load of 2, and CPSIE of 1, behind which the interrupt is taken. Its entry takes 12
/// cycles (TRM 3.9.1). The NOPs between the loads lie as far apart as the program's own counter says.
#[test]
fn the_worst_latency_is_the_longest_masked_section_and_the_entry() {
    let elf = firmware("latency.c", "latency-worst", &[]);
    let uart = scratch("latency-worst.txt");
    let more = ["--mark", "pc:first_read,second_read", "--uart-log"];
    let cycles = marked(&elf, "latency-worst", &[&more[..], &[text(&uart)]].concat());
    let between = cycles[1].1 - cycles[0].1;
    let said = fs::read_to_string(uart).unwrap();
    let counted = said.lines().find_map(|line| line.strip_prefix("masked "));
    assert_eq!(between, u64::from_str_radix(counted.unwrap(), 16).unwrap());

    let answers = swept(
        &elf,
        "latency-worst",
        &["--until", "cycles:2648", "--every", "1"],
    );
    let latency =
        |row: &BTreeMap<String, String>| number(row, "taken") - number(row, "first_pended");
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
        let build = |interrupts: u32| {
            let macros = format!("DIER={interrupts}");
            let name = format!("latency-timer-{match_at}-{interrupts}");
            firmware("latency.c", &name, &[&macros, &format!("MATCH={match_at}")])
        };
        let (by_timer, by_board) = (build(2), build(0));
        let edges = scratch("latency-timer-edges.csv");
        let more = ["--mark", "pc:on_tim2", "--edges", text(&edges)];
        let answered = marked(&by_timer, "latency-timer", &more)[0].1;
        let pended = read_edges(&edges)
            .iter()
            .find(|edge| edge.pin == "PA0")
            .unwrap()
            .cycle;
        let (from, until) = (format!("cycles:{pended}"), format!("cycles:{}", pended + 1));
        let found = swept(
            &by_board,
            "latency-timer",
            &["--from", &from, "--until", &until],
        );
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
    let elf = firmware("latency.c", "latency-twin", &[]);
    let question = Question {
        exception: TIM2,
        enable: None,
        give_up: 100_000,
    };
    let base = machine(&elf, Timing::Nucleo, b"");
    let mut course = Course::new(machine(&elf, Timing::Nucleo, b""));
    let mut at = 2_200;
    let mut shared = 0;
    while at < 3_100 {
        let answer = course.ask(at, &question).unwrap();
        for cycle in at..=answer.last.min(3_100) {
            let alone = ask(&base, cycle, &question);
            let summary = |answer: &Answer| (answer.outcome.clone(), answer.return_pc);
            assert_eq!(summary(&alone), summary(&answer), "cycle {cycle} of {at}");
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
    let elf = firmware("latency.c", "latency-waits", &[]);
    let question = Question {
        exception: TIM2,
        enable: None,
        give_up: 100_000,
    };
    let mut course = Course::new(machine(&elf, Timing::Nucleo, b""));
    let mut causes: BTreeMap<String, u64> = BTreeMap::new();
    for at in 2_600..3_000 {
        let answer = course.ask(at, &question).unwrap();
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
    let elf = firmware("latency.c", "latency-random", &[]);
    let drawn = |seed: &str| {
        let more = ["--until", "cycles:3000", "--random", "200", "--seed", seed];
        swept(&elf, "latency-random", &more)
    };
    assert_eq!(drawn("7"), drawn("7"));
    assert_ne!(drawn("7"), drawn("8"));
    assert_eq!(drawn("7").len(), 200);
    let of_sweep = swept(
        &elf,
        "latency-random",
        &["--until", "cycles:3000", "--every", "1"],
    );
    for row in drawn("7") {
        let pended = number(&row, "first_pended");
        let within = |of: &&BTreeMap<String, String>| {
            (number(of, "first_pended")..=number(of, "last_pended")).contains(&pended)
        };
        let same = of_sweep.iter().find(within).unwrap();
        assert_eq!(row["taken"], same["taken"], "{pended}");
    }
}

/// It is never enabled: nothing is pended. With --enable it is taken, at the priority that is named.
#[test]
fn an_interrupt_that_is_never_enabled() {
    let elf = firmware("latency.c", "latency-never", &[]);
    let (answers, stats) = (scratch("latency-never.csv"), scratch("latency-never.json"));
    let asked = |exception: &str, until: &str, more: &[&str]| {
        let fixed = [
            "latency",
            text(&elf),
            "--exception",
            exception,
            "--until",
            until,
        ];
        let files = ["--answers", text(&answers), "--stats", text(&stats)];
        run(&[&fixed[..], &files, more].concat());
        (rows(&answers), json(&stats))
    };
    let (none, stats) = asked("54", "cycles:4000", &[]);
    assert!(none.is_empty());
    assert_eq!(stats["first_use_cycle"], serde_json::Value::Null);
    assert_eq!(stats["used"], serde_json::json!([22, 44]));
    let enabled = ["--enable", "3", "--from", "cycles:2400"];
    let (taken, _) = asked("44", "cycles:2402", &enabled);
    assert_eq!(taken[0]["outcome"], "taken");
}

/// Marks change neither cycles nor output, and a recursive function is marked at each call.
#[test]
fn marks_cost_nothing() {
    let elf = firmware("latency.c", "latency-marks", &[]);
    let outputs = |more: &[&str]| {
        let (uart, stats) = (scratch("latency-marks.txt"), scratch("latency-marks.json"));
        let fixed = ["run", text(&elf), "--until", "cycles:20000"];
        let files = ["--uart-log", text(&uart), "--stats", text(&stats)];
        run(&[&fixed[..], &files, more].concat());
        let stats = json(&stats);
        (
            fs::read(&uart).unwrap(),
            stats["cycles"].clone(),
            stats["instructions"].clone(),
        )
    };
    let marks = scratch("latency-marks.csv");
    let more = [
        "--mark",
        "pc:recursive,interrupted",
        "--mark",
        "pc:send",
        "--marks",
        text(&marks),
    ];
    assert_eq!(outputs(&[]), outputs(&more));
    let found = rows(&marks);
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
    let elf = firmware("latency.c", "latency-window", &[]);
    let traced = ["run", text(&elf), "--until", "cycles:3000", "--trace"];
    let entries = |name: &str, more: &[&str]| -> Vec<serde_json::Value> {
        let path = scratch(&format!("latency-window-{name}.jsonl"));
        run(&[&traced[..], &[text(&path)], more].concat());
        let lines = fs::read_to_string(path).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let whole = entries("whole", &["--trace-last", "100000"]);
    let cycle = |entry: &serde_json::Value| entry["cycle"].as_u64().unwrap();
    let within = entries("cycles", &["--trace-window", "2300..2700"]);
    let last_before = whole
        .iter()
        .rposition(|entry| cycle(entry) <= 2_300)
        .unwrap();
    let end = whole
        .iter()
        .position(|entry| cycle(entry) >= 2_700)
        .unwrap();
    assert_eq!(within, whole[last_before..end]);

    let places = entries(
        "places",
        &["--trace-window", "pc:first_read..pc:second_read"],
    );
    let begin = whole.iter().position(|entry| *entry == places[0]);
    let begin = begin.expect("the first of the stretch is in the whole trace");
    assert_eq!(places, whole[begin..begin + 102]);
    let window = ["--trace-window", "pc:never..pc:first_read"];
    let output = ended(&[&traced[..], &["/dev/null"], &window].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("never was not reached"));
}

#[test]
fn the_first_execution_of_a_place_can_be_noted_alone() {
    let elf = firmware("latency.c", "latency-first", &[]);
    let all = marked(
        &elf,
        "latency-first-all",
        &["--mark", "pc:recursive,first_read"],
    );
    let of = |place: &'static str| all.iter().filter(move |row| row.0 == place);
    assert!(of("recursive").count() > 5 && of("first_read").count() > 0);
    let both = ["--mark", "first:recursive", "--mark", "pc:first_read"];
    let mut expected: Vec<_> = of("recursive").take(1).chain(of("first_read")).collect();
    expected.sort_by_key(|row| row.1);
    let found = marked(&elf, "latency-first", &both);
    assert!(found.iter().eq(expected));
    let twice = ["--mark", "first:recursive", "--mark", "pc:recursive"];
    let found = marked(&elf, "latency-first-twice", &twice);
    assert!(found.iter().eq(of("recursive")));
}

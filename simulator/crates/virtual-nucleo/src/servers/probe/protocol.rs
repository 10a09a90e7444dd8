//! The messages of pyOCD's `tcp_client_probe`, version 1: requests with their arguments,
//! properties, status codes.

use cortex_m::bus::Width;
use machine::debug_port::{Answer, Failure, Request};
use serde_json::{json, Value};

const VERSION: u64 = 1;
/// The only memory interface: that of access port 0.
const MEMORY_HANDLE: u64 = 0;
/// Words or bytes of one block. Enough for all memory of the chip.
const LONGEST_BLOCK: u64 = 1 << 20;

/// Status codes of replies.
const GENERAL_ERROR: u32 = 1;
const PROBE_DISCONNECTED: u32 = 2;
const TRANSFER_FAULT: u32 = 12;

/// Why a request was not carried out.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    status: u32,
    why: String,
}

impl Refusal {
    pub fn general(why: impl Into<String>) -> Refusal {
        Refusal {
            status: GENERAL_ERROR,
            why: why.into(),
        }
    }

    pub fn disconnected(why: impl Into<String>) -> Refusal {
        Refusal {
            status: PROBE_DISCONNECTED,
            why: why.into(),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        let status = match failure {
            Failure::Transfer(_) | Failure::Asleep | Failure::Sticky => TRANSFER_FAULT,
            Failure::Stopped(_) => PROBE_DISCONNECTED,
        };
        Refusal {
            status,
            why: failure.to_string(),
        }
    }
}

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub enum Call {
    /// The result, if the target is not needed.
    Settled(Value),
    Lock,
    Unlock,
    Target(Request, Shape),
}

/// How an answer becomes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Single,
    List,
}

impl Shape {
    pub fn value(self, answer: Answer) -> Value {
        match (answer, self) {
            (Answer::Done, _) => Value::Null,
            (Answer::Flag(flag), _) => flag.into(),
            (answer, Shape::Single) => json!(answer.values().first()),
            (answer, Shape::List) => answer.values().into(),
        }
    }
}

pub fn nothing() -> Value {
    Value::Null
}

/// The request's id, or -1 if it has none, and what it asks for.
pub fn parse(line: &[u8]) -> (Value, Result<Call, Refusal>) {
    let refuse = |id: Value, why: &str| (id, Err(Refusal::general(why)));
    let Ok(Value::Object(fields)) = serde_json::from_slice(line) else {
        return refuse((-1).into(), "the line is not a JSON object");
    };
    let Some(id) = fields.get("id").filter(|id| id.is_i64() || id.is_u64()) else {
        return refuse((-1).into(), "the request has no id");
    };
    let Some(Value::String(name)) = fields.get("request") else {
        return refuse(id.clone(), "the request has no name");
    };
    let arguments = match fields.get("arguments") {
        None => Arguments(&[]),
        Some(Value::Array(list)) => Arguments(list),
        Some(_) => return refuse(id.clone(), "the arguments are not a list"),
    };
    (id.clone(), call(name, &arguments))
}

pub fn reply(id: &Value, outcome: Result<Value, Refusal>) -> String {
    let fields = match outcome {
        Ok(Value::Null) => json!({"id": id, "status": 0}),
        Ok(result) => json!({"id": id, "status": 0, "result": result}),
        Err(Refusal { status, why }) => json!({"id": id, "status": status, "error": why}),
    };
    format!("{fields}\n")
}

fn call(name: &str, arguments: &Arguments) -> Result<Call, Refusal> {
    if let Some(call) = conversation(name, arguments)? {
        return Ok(call);
    }
    if let Some(call) = port_access(name, arguments)? {
        return Ok(call);
    }
    memory_access(name, arguments)?
        .ok_or_else(|| Refusal::general(format!("there is no request {name:?}")))
}

/// Requests to the probe itself, and for its reset line.
fn conversation(name: &str, arguments: &Arguments) -> Result<Option<Call>, Refusal> {
    let done = || Call::Settled(nothing());
    Ok(Some(match name {
        "hello" => {
            arguments.expect(1)?;
            match arguments.number(0)? {
                VERSION => done(),
                _ => return Err(Refusal::general("this probe speaks protocol version 1")),
            }
        }
        "readprop" => {
            arguments.expect(1)?;
            Call::Settled(property(arguments.text(0)?)?)
        }
        "connect" => {
            arguments.expect(1)?;
            match arguments.text(0)? {
                "SWD" | "DEFAULT" => done(),
                _ => return Err(Refusal::general("this probe speaks SWD only")),
            }
        }
        "set_clock" => {
            arguments.expect(1)?;
            arguments.number(0)?;
            done()
        }
        "get_memory_interface_for_ap" => {
            arguments.expect(2)?;
            // Nominal address 0 is access port 0.
            match arguments.number(1)? {
                0 => Call::Settled(MEMORY_HANDLE.into()),
                _ => done(),
            }
        }
        "open" | "close" | "disconnect" | "flush" => {
            arguments.expect(0)?;
            done()
        }
        "lock" => Call::Lock,
        "unlock" => Call::Unlock,
        "reset" => Call::Target(Request::Reset, Shape::Single),
        "assert_reset" => {
            arguments.expect(1)?;
            Call::Target(Request::HoldReset(arguments.flag(0)?), Shape::Single)
        }
        "is_reset_asserted" => Call::Target(Request::IsResetHeld, Shape::Single),
        _ => return Ok(None),
    }))
}

fn property(name: &str) -> Result<Value, Refusal> {
    Ok(match name {
        "vendor_name" => "Tailscope".into(),
        "product_name" => "virtual Nucleo".into(),
        "unique_id" => "virtual-nucleo".into(),
        "description" => "debug probe of the virtual Nucleo".into(),
        "supported_wire_protocols" => json!(["DEFAULT", "SWD"]),
        "wire_protocol" => "SWD".into(),
        // The client's addresses contain banks and access ports.
        "capabilities" => {
            json!([
                "BANKED_DP_REGISTERS",
                "MANAGED_AP_SELECTION",
                "MANAGED_DPBANKSEL"
            ])
        }
        _ => return Err(Refusal::general(format!("there is no property {name:?}"))),
    })
}

/// Reads and writes of the debug port and the access ports.
fn port_access(name: &str, arguments: &Arguments) -> Result<Option<Call>, Refusal> {
    let (request, shape) = match name {
        "read_dp" => {
            arguments.expect(1)?;
            let register = arguments.word(0)?;
            (Request::ReadDebugPort { register }, Shape::Single)
        }
        "write_dp" => {
            arguments.expect(2)?;
            let (register, value) = (arguments.word(0)?, arguments.word(1)?);
            (Request::WriteDebugPort { register, value }, Shape::Single)
        }
        "read_ap" => {
            arguments.expect(1)?;
            let (register, count) = (arguments.word(0)?, 1);
            (Request::ReadAccessPort { register, count }, Shape::Single)
        }
        "read_ap_multiple" => {
            arguments.expect(2)?;
            let (register, count) = (arguments.word(0)?, arguments.count(1)?);
            (Request::ReadAccessPort { register, count }, Shape::List)
        }
        "write_ap" => {
            arguments.expect(2)?;
            let (register, values) = (arguments.word(0)?, vec![arguments.word(1)?]);
            (Request::WriteAccessPort { register, values }, Shape::Single)
        }
        "write_ap_multiple" => {
            arguments.expect(2)?;
            let (register, values) = (arguments.word(0)?, arguments.words(1)?);
            (Request::WriteAccessPort { register, values }, Shape::Single)
        }
        _ => return Ok(None),
    };
    Ok(Some(Call::Target(request, shape)))
}

/// Reads and writes through the memory interface. The first argument is its handle.
fn memory_access(name: &str, arguments: &Arguments) -> Result<Option<Call>, Refusal> {
    let (width, is_block, is_read) = match name {
        "read_mem" => (None, false, true),
        "write_mem" => (None, false, false),
        "read_block32" => (Some(Width::Word), true, true),
        "write_block32" => (Some(Width::Word), true, false),
        "read_block8" => (Some(Width::Byte), true, true),
        "write_block8" => (Some(Width::Byte), true, false),
        _ => return Ok(None),
    };
    arguments.expect(if is_block || is_read { 3 } else { 4 })?;
    if arguments.number(0)? != MEMORY_HANDLE {
        return Err(Refusal::general("there is no such memory interface"));
    }
    let address = arguments.word(1)?;
    let width = match width {
        Some(width) => width,
        None => arguments.width(if is_read { 2 } else { 3 })?,
    };
    let alignment = match width {
        Width::Byte => 1,
        Width::Half => 2,
        Width::Word => 4,
    };
    if address % alignment != 0 {
        return Err(Refusal {
            status: TRANSFER_FAULT,
            why: format!("{address:#010x} is not aligned to the transfer's size"),
        });
    }
    let request = match (is_read, is_block) {
        (true, _) => Request::ReadMemory {
            address,
            width,
            count: if is_block { arguments.count(2)? } else { 1 },
        },
        (false, block) => Request::WriteMemory {
            address,
            width,
            values: if block {
                arguments.words(2)?
            } else {
                vec![arguments.word(2)?]
            },
        },
    };
    let shape = if is_block { Shape::List } else { Shape::Single };
    Ok(Some(Call::Target(request, shape)))
}

struct Arguments<'a>(&'a [Value]);

impl Arguments<'_> {
    fn expect(&self, count: usize) -> Result<(), Refusal> {
        if self.0.len() == count {
            return Ok(());
        }
        Err(Refusal::general(format!(
            "{count} arguments are expected, {} came",
            self.0.len()
        )))
    }

    fn wrong<T>(&self, n: usize, expected: &str) -> Result<T, Refusal> {
        Err(Refusal::general(format!("argument {n} is not {expected}")))
    }

    fn number(&self, n: usize) -> Result<u64, Refusal> {
        self.0[n]
            .as_u64()
            .map_or_else(|| self.wrong(n, "a whole number from 0 up"), Ok)
    }

    fn text(&self, n: usize) -> Result<&str, Refusal> {
        self.0[n]
            .as_str()
            .map_or_else(|| self.wrong(n, "a string"), Ok)
    }

    fn flag(&self, n: usize) -> Result<bool, Refusal> {
        self.0[n]
            .as_bool()
            .map_or_else(|| self.wrong(n, "true or false"), Ok)
    }

    fn word(&self, n: usize) -> Result<u32, Refusal> {
        word(&self.0[n]).map_or_else(|| self.wrong(n, "a number of 32 bits"), Ok)
    }

    /// The lower 32 bits of each, as they reach the wire: pyOCD's flash analyzer gives more for a flash
    /// with small pages.
    fn words(&self, n: usize) -> Result<Vec<u32>, Refusal> {
        let list = self.0[n].as_array();
        let lower = |number: &Value| number.as_u64().map(|number| number as u32);
        list.and_then(|list| list.iter().map(lower).collect())
            .map_or_else(|| self.wrong(n, "a list of numbers of 32 bits"), Ok)
    }

    fn count(&self, n: usize) -> Result<usize, Refusal> {
        match self.number(n)? {
            count if count <= LONGEST_BLOCK => Ok(count as usize),
            _ => self.wrong(n, "a count of at most 1,048,576"),
        }
    }

    fn width(&self, n: usize) -> Result<Width, Refusal> {
        match self.number(n)? {
            8 => Ok(Width::Byte),
            16 => Ok(Width::Half),
            32 => Ok(Width::Word),
            _ => self.wrong(n, "8, 16 or 32"),
        }
    }
}

fn word(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|value| u32::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Call, Refusal> {
        parse(line.as_bytes()).1
    }

    #[test]
    fn a_block_read_becomes_a_request() {
        let line = r#"{"id": 7, "request": "read_block32", "arguments": [0, 536870912, 4]}"#;
        let request = Request::ReadMemory {
            address: 0x2000_0000,
            width: Width::Word,
            count: 4,
        };
        assert_eq!(asked(line), Ok(Call::Target(request, Shape::List)));
        assert_eq!(parse(line.as_bytes()).0, json!(7));
    }

    #[test]
    fn replies_carry_the_id_and_a_result_only_if_there_is_one() {
        assert_eq!(
            reply(&json!(3), Ok(Value::Null)),
            "{\"id\":3,\"status\":0}\n"
        );
        assert_eq!(
            reply(&json!(3), Ok(json!([1, 2]))),
            "{\"id\":3,\"result\":[1,2],\"status\":0}\n"
        );
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for line in [
            "",
            "null",
            "[]",
            "{}",
            "{\"id\": 1}",
            "{\"id\": \"x\", \"request\": \"open\"}",
            "{\"id\": 1, \"request\": 4}",
            "{\"id\": 1, \"request\": \"fly\"}",
            "{\"id\": 1, \"request\": \"hello\"}",
            "{\"id\": 1, \"request\": \"hello\", \"arguments\": [2]}",
            "{\"id\": 1, \"request\": \"read_dp\", \"arguments\": {}}",
            "{\"id\": 1, \"request\": \"read_dp\", \"arguments\": [-1]}",
            "{\"id\": 1, \"request\": \"write_dp\", \"arguments\": [0, 4294967296]}",
            "{\"id\": 1, \"request\": \"read_mem\", \"arguments\": [0, 0, 64]}",
            "{\"id\": 1, \"request\": \"read_mem\", \"arguments\": [0, 2, 32]}",
            "{\"id\": 1, \"request\": \"read_block8\", \"arguments\": [0, 0, 99999999999]}",
            "{\"id\": 1, \"request\": \"write_block8\", \"arguments\": [0, 0, [1, \"2\"]]}",
            "{\"id\": 1, \"request\": \"read_block8\", \"arguments\": [5, 0, 1]}",
        ] {
            assert!(asked(line).is_err(), "{line}");
        }
    }
}

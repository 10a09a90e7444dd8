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

/// A request by its name, of which each has so many arguments.
fn call(name: &str, arguments: &Arguments) -> Result<Call, Refusal> {
    let count = match name {
        "lock" => return Ok(Call::Lock),
        "unlock" => return Ok(Call::Unlock),
        "reset" => return Ok(Call::Target(Request::Reset, Shape::Single)),
        "is_reset_asserted" => return Ok(Call::Target(Request::IsResetHeld, Shape::Single)),
        "open" | "close" | "disconnect" | "flush" => 0,
        "hello" | "readprop" | "connect" | "set_clock" | "assert_reset" | "read_dp" | "read_ap" => {
            1
        }
        "get_memory_interface_for_ap"
        | "write_dp"
        | "read_ap_multiple"
        | "write_ap"
        | "write_ap_multiple" => 2,
        "read_mem" | "read_block32" | "write_block32" | "read_block8" | "write_block8" => 3,
        "write_mem" => 4,
        _ => return Err(Refusal::general(format!("there is no request {name:?}"))),
    };
    if arguments.0.len() != count {
        let came = arguments.0.len();
        return Err(Refusal::general(format!(
            "{count} arguments are expected, {came} came"
        )));
    }
    let register = || arguments.word(0);
    let value = || arguments.word(1);
    let request = match name {
        "hello" if arguments.number(0)? != VERSION => {
            return Err(Refusal::general("this probe speaks protocol version 1"));
        }
        "readprop" => return property(arguments.text(0)?).map(Call::Settled),
        "connect" if !matches!(arguments.text(0)?, "SWD" | "DEFAULT") => {
            return Err(Refusal::general("this probe speaks SWD only"));
        }
        // Nominal address 0 is access port 0.
        "get_memory_interface_for_ap" if arguments.number(1)? == 0 => {
            return Ok(Call::Settled(MEMORY_HANDLE.into()));
        }
        "set_clock" => {
            arguments.number(0)?;
            return Ok(Call::Settled(Value::Null));
        }
        "assert_reset" => Request::HoldReset(arguments.flag(0)?),
        "read_dp" => Request::ReadDebugPort {
            register: register()?,
        },
        "write_dp" => Request::WriteDebugPort {
            register: register()?,
            value: value()?,
        },
        "read_ap" => Request::ReadAccessPort {
            register: register()?,
            count: 1,
        },
        "read_ap_multiple" => Request::ReadAccessPort {
            register: register()?,
            count: arguments.count(1)?,
        },
        "write_ap" => Request::WriteAccessPort {
            register: register()?,
            values: vec![value()?],
        },
        "write_ap_multiple" => Request::WriteAccessPort {
            register: register()?,
            values: arguments.words(1)?,
        },
        _ if count >= 3 => memory_access(name, arguments)?,
        _ => return Ok(Call::Settled(Value::Null)),
    };
    let shape = match name {
        "read_ap_multiple" | "read_block32" | "read_block8" => Shape::List,
        _ => Shape::Single,
    };
    Ok(Call::Target(request, shape))
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

/// Reads and writes through the memory interface. The first argument is its handle.
fn memory_access(name: &str, arguments: &Arguments) -> Result<Request, Refusal> {
    if arguments.number(0)? != MEMORY_HANDLE {
        return Err(Refusal::general("there is no such memory interface"));
    }
    let address = arguments.word(1)?;
    let width = match name {
        "read_mem" => arguments.width(2)?,
        "write_mem" => arguments.width(3)?,
        "read_block8" | "write_block8" => Width::Byte,
        _ => Width::Word,
    };
    if address % width.bytes() != 0 {
        return Err(Refusal {
            status: TRANSFER_FAULT,
            why: format!("{address:#010x} is not aligned to the transfer's size"),
        });
    }
    let (count, values) = match name {
        "read_mem" => (1, None),
        "write_mem" => (0, Some(vec![arguments.word(2)?])),
        "read_block8" | "read_block32" => (arguments.count(2)?, None),
        _ => (0, Some(arguments.words(2)?)),
    };
    Ok(match values {
        None => Request::ReadMemory {
            address,
            width,
            count,
        },
        Some(values) => Request::WriteMemory {
            address,
            width,
            values,
        },
    })
}

struct Arguments<'a>(&'a [Value]);

impl Arguments<'_> {
    fn get<'a, T>(
        &'a self,
        n: usize,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<T, Refusal> {
        read(&self.0[n]).ok_or_else(|| Refusal::general(format!("argument {n} is not {expected}")))
    }

    fn number(&self, n: usize) -> Result<u64, Refusal> {
        self.get(n, "a whole number from 0 up", Value::as_u64)
    }

    fn text(&self, n: usize) -> Result<&str, Refusal> {
        self.get(n, "a string", Value::as_str)
    }

    fn flag(&self, n: usize) -> Result<bool, Refusal> {
        self.get(n, "true or false", Value::as_bool)
    }

    fn word(&self, n: usize) -> Result<u32, Refusal> {
        let word = |value: &Value| value.as_u64()?.try_into().ok();
        self.get(n, "a number of 32 bits", word)
    }

    /// The lower 32 bits of each, as they reach the wire: pyOCD's flash analyzer gives more for a flash
    /// with small pages.
    fn words(&self, n: usize) -> Result<Vec<u32>, Refusal> {
        let lower = |number: &Value| number.as_u64().map(|number| number as u32);
        self.get(n, "a list of numbers of 32 bits", |list| {
            list.as_array()?.iter().map(lower).collect()
        })
    }

    fn count(&self, n: usize) -> Result<usize, Refusal> {
        let count = self.number(n)?;
        self.get(n, "a count of at most 1,048,576", |_| {
            (count <= LONGEST_BLOCK).then_some(count as usize)
        })
    }

    fn width(&self, n: usize) -> Result<Width, Refusal> {
        let bits = self.number(n)?;
        self.get(n, "8, 16 or 32", |_| match bits {
            8 => Some(Width::Byte),
            16 => Some(Width::Half),
            32 => Some(Width::Word),
            _ => None,
        })
    }
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

//! Which pin each input of an analyzer is clipped to, and what the input then reads.

use std::str::FromStr;
use stm32::edges::{Edge, Pin, CHANNELS, PORTS};
use thiserror::Error;

/// Inputs of the widest analyzer.
pub const MOST_INPUTS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Clip {
    /// Clipped to nothing: a level that never changes.
    Open(bool),
    /// Clipped to a pin. Several: they touch each other there, and a pin that drives low wins.
    Pins(Vec<Pin>),
}

/// The clips of all inputs. By default inputs 0–7 are the channels in order, and the rest is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clips {
    inputs: [Clip; MOST_INPUTS],
}

impl Default for Clips {
    fn default() -> Clips {
        Clips {
            inputs: std::array::from_fn(|input| match CHANNELS.get(input) {
                Some(&pin) => Clip::Pins(vec![pin]),
                None => Clip::Open(false),
            }),
        }
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} clips nothing: write D0=PA8, D0=CRIT, D0=PA8+PA9, D0=open or D0=open-high, with commas between inputs D0 to D15")]
pub struct BadClips(String);

impl FromStr for Clips {
    type Err = BadClips;

    /// `D0=PA9,D1=PA8,D3=open,D4=PB10+PA10`. Inputs that are not named keep their default.
    fn from_str(text: &str) -> Result<Clips, BadClips> {
        let mut clips = Clips::default();
        for part in text.split(',') {
            let bad = || BadClips(part.into());
            let (input, target) = part.split_once('=').ok_or_else(bad)?;
            let input: usize = input
                .strip_prefix('D')
                .and_then(|number| number.parse().ok())
                .filter(|input| *input < MOST_INPUTS)
                .ok_or_else(bad)?;
            clips.inputs[input] = clip(target).ok_or_else(bad)?;
        }
        Ok(clips)
    }
}

fn clip(target: &str) -> Option<Clip> {
    match target {
        "open" => Some(Clip::Open(false)),
        "open-high" => Some(Clip::Open(true)),
        pins => pins
            .split('+')
            .map(|pin| pin.parse().ok())
            .collect::<Option<_>>()
            .map(Clip::Pins),
    }
}

/// What the inputs read, as the pins change.
#[derive(Clone)]
pub struct Inputs {
    clips: Clips,
    /// Bit n is pin n of the port.
    levels: [u16; PORTS.len()],
    word: u16,
}

impl Inputs {
    /// `level` is what each pin reads now.
    pub fn new(clips: &Clips, level: impl Fn(Pin) -> bool) -> Inputs {
        let mut inputs = Inputs {
            clips: clips.clone(),
            levels: [0; PORTS.len()],
            word: 0,
        };
        for clip in &clips.inputs {
            if let Clip::Pins(pins) = clip {
                pins.iter()
                    .for_each(|&pin| set(&mut inputs.levels, pin, level(pin)));
            }
        }
        inputs.word = inputs.read();
        inputs
    }

    /// Bit n is input n.
    pub fn word(&self) -> u16 {
        self.word
    }

    /// Takes an edge. True if an input may see it.
    pub fn see(&mut self, edge: &Edge) -> bool {
        set(&mut self.levels, edge.pin, edge.level);
        let before = self.word;
        self.word = self.read();
        before != self.word
    }

    fn read(&self) -> u16 {
        let high = |clip: &Clip| match clip {
            Clip::Open(level) => *level,
            Clip::Pins(pins) => pins
                .iter()
                .all(|pin| self.levels[usize::from(pin.port)] >> pin.number & 1 != 0),
        };
        let inputs = self.clips.inputs.iter().enumerate();
        inputs.fold(0, |word, (input, clip)| {
            word | u16::from(high(clip)) << input
        })
    }
}

fn set(levels: &mut [u16; PORTS.len()], pin: Pin, level: bool) {
    let port = &mut levels[usize::from(pin.port)];
    *port = *port & !(1 << pin.number) | u16::from(level) << pin.number;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_the_inputs_are_the_channels_in_order() {
        let inputs = Inputs::new(&Clips::default(), |pin| pin == CHANNELS[3]);
        assert_eq!(inputs.word(), 1 << 3);
    }

    #[test]
    fn clips_swap_short_and_leave_open() {
        let clips: Clips = "D0=OP,D1=CRIT,D2=open,D3=open-high,D9=PA8+PA9"
            .parse()
            .unwrap();
        let reads = |high: &[Pin]| Inputs::new(&clips, |pin| high.contains(&pin)).word();
        assert_eq!(reads(&[]), 1 << 3);
        assert_eq!(reads(&[CHANNELS[0]]), 1 << 1 | 1 << 3);
        assert_eq!(reads(&[CHANNELS[1], CHANNELS[2]]), 1 << 0 | 1 << 3);
        assert_eq!(reads(&[CHANNELS[0], CHANNELS[1]]), 0b11 | 1 << 3 | 1 << 9);
    }

    #[test]
    fn what_clips_nothing_is_refused() {
        for text in [
            "",
            "D0",
            "D16=PA0",
            "0=PA0",
            "D0=",
            "D0=PZ1",
            "D0=PA8+",
            "D1=closed",
        ] {
            assert!(text.parse::<Clips>().is_err(), "{text:?}");
        }
    }
}

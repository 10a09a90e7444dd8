//! Which timer channel and which USART use which pin under which alternate function, from the texts of
//! the lines: `PA2 AF1 TIM2_CH3, AF7 USART2_TX`. Where AFIO chooses, a function is a value of its field for
//! the peripheral: `PA2 REMAP0 TIM2_CH3`.

use super::remap;
use super::timer::models::place;
use super::timer::TIMERS;
use super::usart;
use crate::edges::PORTS;

/// A timer output on a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Index into [`PORTS`].
    pub port: usize,
    pub pin: u32,
    /// The number of the function. Where AFIO chooses, what AFIO_MAPR must say ([`remap::code`]), above four
    /// bits of zeros.
    pub function: u32,
    /// Index into [`super::timer::MODELS`].
    pub timer: usize,
    /// 0 = channel 1.
    pub channel: usize,
}

/// A pin and the alternate function under which a USART uses it.
pub type UsartPin = (usize, u32, u32);

const USARTS: usize = usart::MODELS.len();

/// What the pins of a line are connected to. The functions of timers that a chip has not lead nowhere
/// on it.
#[derive(Default)]
pub struct Routes {
    /// Timers' channels.
    pub timers: Vec<Route>,
    /// For each timer, its routes: bit n is route n.
    pub of_timer: [u64; TIMERS],
    /// For each port, the routes to its pins.
    pub of_port: [u64; PORTS.len()],
    /// For each pin number, the routes to it on any port.
    pub of_pin: [u64; 16],
    /// Where the USARTs send and receive, in the order of [`super::usart::MODELS`].
    pub usart_tx: [Vec<UsartPin>; USARTS],
    pub usart_rx: [Vec<UsartPin>; USARTS],
}

impl Routes {
    /// The routes of these texts. Panics at one that cannot be read: a test reads them all.
    pub fn read(texts: &[&str]) -> Routes {
        let mut routes = Routes::default();
        for row in texts.iter().flat_map(|text| text.lines()) {
            if routes.add_row(row.trim()).is_none() {
                panic!("{row:?} is no row of routes");
            }
        }
        routes
    }

    fn add_row(&mut self, row: &str) -> Option<()> {
        if row.is_empty() {
            return Some(());
        }
        let (pin, functions) = row.split_once(' ')?;
        let letter = pin.strip_prefix('P')?.get(..1)?;
        let port = PORTS.iter().position(|name| name.ends_with(letter))?;
        let pin = pin.get(2..)?.parse().ok().filter(|pin| *pin < 16)?;
        for function in functions.split(',') {
            let (number, signal) = function.trim().split_once(' ')?;
            let (peripheral, end) = signal.split_once('_')?;
            let function = match number.strip_prefix("REMAP") {
                Some(value) => remap::code(peripheral, value.parse().ok()?)? << 4,
                None => number.strip_prefix("AF")?.parse().ok()?,
            };
            if let Some(channel) = end.strip_prefix("CH") {
                let channel = channel.parse::<usize>().ok()?.checked_sub(1)?;
                self.add(Route {
                    port,
                    pin,
                    function,
                    timer: place(peripheral)?,
                    channel,
                });
            } else {
                let usart = usart::MODELS.iter().position(|name| *name == peripheral)?;
                let pins = match end {
                    "TX" => &mut self.usart_tx,
                    "RX" => &mut self.usart_rx,
                    _ => return None,
                };
                pins[usart].push((port, pin, function));
            }
        }
        Some(())
    }

    fn add(&mut self, route: Route) {
        let bit = 1 << self.timers.len();
        self.of_timer[route.timer] |= bit;
        self.of_port[route.port] |= bit;
        self.of_pin[route.pin as usize] |= bit;
        self.timers.push(route);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::chips;
    use crate::lines::facts;

    #[test]
    fn every_text_can_be_read() {
        for chip in chips() {
            let routes = &facts(chip.family).routes;
            assert!((1..=64).contains(&routes.timers.len()), "{}", chip.name);
        }
    }

    /// DS10086, DS5319: tables of alternate functions; RM0008 §9.3.7.
    #[test]
    fn a_row_is_a_pin_and_what_it_may_be() {
        let routes = Routes::read(&["PB14 AF9 TIM12_CH1, AF7 USART3_TX", "PA3 REMAP2 TIM2_CH4"]);
        let timer = |name| place(name).unwrap();
        let route = |port, pin, function, timer, channel| Route {
            port,
            pin,
            function,
            timer,
            channel,
        };
        let remapped = (8 | 3 << 8 | 2 << 16) << 4;
        let all = [
            route(1, 14, 9, timer("TIM12"), 0),
            route(0, 3, remapped, timer("TIM2"), 3),
        ];
        assert_eq!(routes.timers, all);
        assert_eq!(routes.usart_tx[2], [(1, 14, 7)]);
        assert_eq!((routes.of_pin[14], routes.of_port[0]), (0b01, 0b10));
        for row in [
            "PA2",
            "A2 AF1 TIM2_CH3",
            "PA16 AF1 TIM2_CH3",
            "PA2 AF1 TIM99_CH3",
        ] {
            let mut routes = Routes::default();
            assert_eq!(routes.add_row(row), None, "{row}");
        }
    }
}

//! Which timer channel uses which pin under which alternate function (DS10086, table "Alternate
//! function mapping").

use super::gpio::PORTS;
use super::timer::MODELS;

/// A timer output on a pin.
pub struct Route {
    /// Index into [`super::gpio::PORTS`].
    pub port: usize,
    pub pin: u32,
    pub function: u32,
    /// Index into [`MODELS`].
    pub timer: usize,
    /// 0 = channel 1.
    pub channel: usize,
}

/// `timer` is the number in its name.
const fn route(port: usize, pin: u32, function: u32, timer: u32, channel: usize) -> Route {
    Route {
        port,
        pin,
        function,
        timer: index(timer),
        channel: channel - 1,
    }
}

/// Where [`MODELS`] has a timer.
const fn index(timer: u32) -> usize {
    match timer {
        1 => 4,
        8 => 5,
        6 | 7 => timer as usize + 6,
        9.. => timer as usize - 3,
        _ => timer as usize - 2,
    }
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;
const E: usize = 4;

/// Those of the chips' packages with up to 100 pins. The functions of timers that a chip has not lead
/// nowhere on it.
pub static TIMER_OUTPUTS: [Route; 53] = [
    route(A, 0, 1, 2, 1),
    route(A, 0, 2, 5, 1),
    route(A, 1, 1, 2, 2),
    route(A, 1, 2, 5, 2),
    route(A, 2, 1, 2, 3),
    route(A, 2, 2, 5, 3),
    route(A, 3, 1, 2, 4),
    route(A, 3, 2, 5, 4),
    route(A, 5, 1, 2, 1),
    route(A, 6, 2, 3, 1),
    route(A, 7, 2, 3, 2),
    route(A, 15, 1, 2, 1),
    route(B, 0, 2, 3, 3),
    route(B, 1, 2, 3, 4),
    route(B, 3, 1, 2, 2),
    route(B, 4, 2, 3, 1),
    route(B, 5, 2, 3, 2),
    route(B, 6, 2, 4, 1),
    route(B, 7, 2, 4, 2),
    route(B, 8, 2, 4, 3),
    route(B, 9, 2, 4, 4),
    route(B, 10, 1, 2, 3),
    route(B, 11, 1, 2, 4),
    route(C, 6, 2, 3, 1),
    route(C, 7, 2, 3, 2),
    route(C, 8, 2, 3, 3),
    route(C, 9, 2, 3, 4),
    route(D, 12, 2, 4, 1),
    route(D, 13, 2, 4, 2),
    route(D, 14, 2, 4, 3),
    route(D, 15, 2, 4, 4),
    route(A, 8, 1, 1, 1),
    route(A, 9, 1, 1, 2),
    route(A, 10, 1, 1, 3),
    route(A, 11, 1, 1, 4),
    route(E, 9, 1, 1, 1),
    route(E, 11, 1, 1, 2),
    route(E, 13, 1, 1, 3),
    route(E, 14, 1, 1, 4),
    route(A, 2, 3, 9, 1),
    route(A, 3, 3, 9, 2),
    route(E, 5, 3, 9, 1),
    route(E, 6, 3, 9, 2),
    route(B, 8, 3, 10, 1),
    route(B, 9, 3, 11, 1),
    route(C, 6, 3, 8, 1),
    route(C, 7, 3, 8, 2),
    route(C, 8, 3, 8, 3),
    route(C, 9, 3, 8, 4),
    route(B, 14, 9, 12, 1),
    route(B, 15, 9, 12, 2),
    route(A, 6, 9, 13, 1),
    route(A, 7, 9, 14, 1),
];

/// For each timer, its routes: bit n is route n of [`TIMER_OUTPUTS`].
pub static ROUTES_OF_TIMER: [u64; MODELS.len()] = routes_by(End::Timer);
/// For each port, the routes to its pins.
pub static ROUTES_OF_PORT: [u64; PORTS.len()] = routes_by(End::Port);
/// For each pin number, the routes to it on any port.
pub static ROUTES_OF_PIN: [u64; 16] = routes_by(End::Pin);

enum End {
    Timer,
    Port,
    Pin,
}

const fn routes_by<const ENDS: usize>(end: End) -> [u64; ENDS] {
    let (mut routes, mut n) = ([0; ENDS], 0);
    while n < TIMER_OUTPUTS.len() {
        let at = match end {
            End::Timer => TIMER_OUTPUTS[n].timer,
            End::Port => TIMER_OUTPUTS[n].port,
            End::Pin => TIMER_OUTPUTS[n].pin as usize,
        };
        routes[at] |= 1 << n;
        n += 1;
    }
    routes
}

/// A pin and the alternate function under which a USART uses it.
pub type UsartPin = (usize, u32, u32);

/// Where the USARTs send and receive, in the order of [`super::usart::MODELS`].
pub static USART_TX: [&[UsartPin]; 6] = [
    &[(A, 9, 7), (B, 6, 7)],
    &[(A, 2, 7), (D, 5, 7)],
    &[(B, 10, 7), (C, 10, 7), (D, 8, 7)],
    &[(A, 0, 8), (C, 10, 8)],
    &[(C, 12, 8)],
    &[(C, 6, 8), (A, 11, 8)],
];
pub static USART_RX: [&[UsartPin]; 6] = [
    &[(A, 10, 7), (B, 7, 7)],
    &[(A, 3, 7), (D, 6, 7)],
    &[(B, 11, 7), (C, 11, 7), (D, 9, 7)],
    &[(A, 1, 8), (C, 11, 8)],
    &[(D, 2, 8)],
    &[(C, 7, 8), (A, 12, 8)],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_leads_to_the_timer_of_its_number() {
        for (timer, name) in [
            (1, "TIM1"),
            (2, "TIM2"),
            (5, "TIM5"),
            (8, "TIM8"),
            (9, "TIM9"),
            (14, "TIM14"),
            (6, "TIM6"),
            (7, "TIM7"),
        ] {
            assert_eq!(MODELS[index(timer)].name, name);
        }
    }
}

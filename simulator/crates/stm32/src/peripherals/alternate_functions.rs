//! Which timer channel uses which pin under which alternate function (DS10086, table "Alternate
//! function mapping").

use super::gpio::PORTS;
use super::syscfg::remap;
use super::timer::TIMERS;
use crate::chip::{Family, Line};

/// A timer output on a pin.
#[derive(Clone, Copy)]
pub struct Route {
    /// Index into [`super::gpio::PORTS`].
    pub port: usize,
    pub pin: u32,
    /// The number of the function. On the STM32F1, what AFIO_MAPR must say ([`remap`]), above four bits
    /// of zeros.
    pub function: u32,
    /// Index into [`super::timer::MODELS`].
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

/// Where [`super::timer::MODELS`] has a timer.
const fn index(timer: u32) -> usize {
    match timer {
        1 => 4,
        8 => 5,
        6 | 7 => timer as usize + 6,
        15..=17 => timer as usize - 9,
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
static TIMER_OUTPUTS: [Route; 53] = [
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

/// What the pins of a line are connected to.
pub struct Routes {
    /// Timers' channels.
    pub timers: &'static [Route],
    /// For each timer, its routes: bit n is route n.
    pub of_timer: [u64; TIMERS],
    /// For each port, the routes to its pins.
    pub of_port: [u64; PORTS.len()],
    /// For each pin number, the routes to it on any port.
    pub of_pin: [u64; 16],
    /// Where the USARTs send and receive, in the order of [`super::usart::MODELS`].
    pub usart_tx: [&'static [UsartPin]; 6],
    pub usart_rx: [&'static [UsartPin]; 6],
}

const fn routes(
    timers: &'static [Route],
    usart_tx: [&'static [UsartPin]; 6],
    usart_rx: [&'static [UsartPin]; 6],
) -> Routes {
    Routes {
        timers,
        of_timer: routes_by(timers, End::Timer),
        of_port: routes_by(timers, End::Port),
        of_pin: routes_by(timers, End::Pin),
        usart_tx,
        usart_rx,
    }
}

static ROUTES_F4: Routes = routes(&TIMER_OUTPUTS, USART_TX, USART_RX);
static ROUTES_F446: Routes = routes(&TIMER_OUTPUTS_F446, USART_TX, USART_RX);
static ROUTES_L4: Routes = routes(&TIMER_OUTPUTS_L4, USART_TX_L4, USART_RX_L4);
static ROUTES_F1: Routes = routes(&TIMER_OUTPUTS_F1, USART_TX_F1, USART_RX_F1);
static ROUTES_F0: Routes = routes(&TIMER_OUTPUTS_F0, USART_TX_F0, USART_RX_F0);

impl Routes {
    pub fn of(family: Family) -> &'static Routes {
        match (family, family.line()) {
            (Family::F446, _) => &ROUTES_F446,
            (_, Line::F4) => &ROUTES_F4,
            (_, Line::L4) => &ROUTES_L4,
            (_, Line::F1) => &ROUTES_F1,
            (_, Line::F0) => &ROUTES_F0,
        }
    }
}

enum End {
    Timer,
    Port,
    Pin,
}

const fn routes_by<const ENDS: usize>(timers: &[Route], end: End) -> [u64; ENDS] {
    let (mut routes, mut n) = ([0; ENDS], 0);
    while n < timers.len() {
        let at = match end {
            End::Timer => timers[n].timer,
            End::Port => timers[n].port,
            End::Pin => timers[n].pin as usize,
        };
        routes[at] |= 1 << n;
        n += 1;
    }
    routes
}

/// A pin and the alternate function under which a USART uses it.
pub type UsartPin = (usize, u32, u32);

const USART_TX: [&[UsartPin]; 6] = [
    &[(A, 9, 7), (B, 6, 7)],
    &[(A, 2, 7), (D, 5, 7)],
    &[(B, 10, 7), (C, 10, 7), (D, 8, 7)],
    &[(A, 0, 8), (C, 10, 8)],
    &[(C, 12, 8)],
    &[(C, 6, 8), (A, 11, 8)],
];
const USART_RX: [&[UsartPin]; 6] = [
    &[(A, 10, 7), (B, 7, 7)],
    &[(A, 3, 7), (D, 6, 7)],
    &[(B, 11, 7), (C, 11, 7), (D, 9, 7)],
    &[(A, 1, 8), (C, 11, 8)],
    &[(D, 2, 8)],
    &[(C, 7, 8), (A, 12, 8)],
];

/// The STM32F446 has TIM2 on three more pins (DS10693, table "Alternate function").
static TIMER_OUTPUTS_F446: [Route; 56] = {
    let mut all = [route(B, 2, 1, 2, 4); 56];
    let mut n = 0;
    while n < TIMER_OUTPUTS.len() {
        all[n] = TIMER_OUTPUTS[n];
        n += 1;
    }
    all[n] = route(B, 8, 1, 2, 1);
    all[n + 1] = route(B, 9, 1, 2, 2);
    all
};

/// DS10198, tables "Alternate function AF0 to AF7" and "AF8 to AF15", without complementary outputs.
static TIMER_OUTPUTS_L4: [Route; 55] = [
    route(A, 0, 1, 2, 1),
    route(A, 0, 2, 5, 1),
    route(A, 1, 1, 2, 2),
    route(A, 1, 2, 5, 2),
    route(A, 2, 1, 2, 3),
    route(A, 2, 2, 5, 3),
    route(A, 3, 1, 2, 4),
    route(A, 3, 2, 5, 4),
    route(A, 5, 1, 2, 1),
    route(A, 15, 1, 2, 1),
    route(B, 3, 1, 2, 2),
    route(B, 10, 1, 2, 3),
    route(B, 11, 1, 2, 4),
    route(A, 6, 2, 3, 1),
    route(A, 7, 2, 3, 2),
    route(B, 0, 2, 3, 3),
    route(B, 1, 2, 3, 4),
    route(B, 4, 2, 3, 1),
    route(B, 5, 2, 3, 2),
    route(C, 6, 2, 3, 1),
    route(C, 7, 2, 3, 2),
    route(C, 8, 2, 3, 3),
    route(C, 9, 2, 3, 4),
    route(E, 3, 2, 3, 1),
    route(E, 4, 2, 3, 2),
    route(E, 5, 2, 3, 3),
    route(E, 6, 2, 3, 4),
    route(B, 6, 2, 4, 1),
    route(B, 7, 2, 4, 2),
    route(B, 8, 2, 4, 3),
    route(B, 9, 2, 4, 4),
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
    route(C, 6, 3, 8, 1),
    route(C, 7, 3, 8, 2),
    route(C, 8, 3, 8, 3),
    route(C, 9, 3, 8, 4),
    route(A, 2, 14, 15, 1),
    route(A, 3, 14, 15, 2),
    route(B, 14, 14, 15, 1),
    route(B, 15, 14, 15, 2),
    route(A, 6, 14, 16, 1),
    route(B, 8, 14, 16, 1),
    route(A, 7, 14, 17, 1),
    route(B, 9, 14, 17, 1),
];
const USART_TX_L4: [&[UsartPin]; 6] = [
    &[(A, 9, 7), (B, 6, 7)],
    &[(A, 2, 7), (D, 5, 7)],
    &[(B, 10, 7), (C, 4, 7), (C, 10, 7), (D, 8, 7)],
    &[(A, 0, 8), (C, 10, 8)],
    &[(C, 12, 8)],
    &[],
];
const USART_RX_L4: [&[UsartPin]; 6] = [
    &[(A, 10, 7), (B, 7, 7)],
    &[(A, 3, 7), (D, 6, 7)],
    &[(B, 11, 7), (C, 5, 7), (C, 11, 7), (D, 9, 7)],
    &[(A, 1, 8), (C, 11, 8)],
    &[(D, 2, 8)],
    &[],
];

/// DS9826, tables "Alternate functions selected through GPIOx_AFR registers", without complementary
/// outputs.
static TIMER_OUTPUTS_F0: [Route; 34] = [
    route(A, 0, 2, 2, 1),
    route(A, 1, 2, 2, 2),
    route(A, 2, 2, 2, 3),
    route(A, 3, 2, 2, 4),
    route(A, 5, 2, 2, 1),
    route(A, 15, 2, 2, 1),
    route(B, 3, 2, 2, 2),
    route(B, 10, 2, 2, 3),
    route(B, 11, 2, 2, 4),
    route(A, 6, 1, 3, 1),
    route(A, 7, 1, 3, 2),
    route(B, 0, 1, 3, 3),
    route(B, 1, 1, 3, 4),
    route(B, 4, 1, 3, 1),
    route(B, 5, 1, 3, 2),
    route(C, 6, 0, 3, 1),
    route(C, 7, 0, 3, 2),
    route(C, 8, 0, 3, 3),
    route(C, 9, 0, 3, 4),
    route(A, 8, 2, 1, 1),
    route(A, 9, 2, 1, 2),
    route(A, 10, 2, 1, 3),
    route(A, 11, 2, 1, 4),
    route(A, 4, 4, 14, 1),
    route(A, 7, 4, 14, 1),
    route(B, 1, 0, 14, 1),
    route(A, 2, 0, 15, 1),
    route(A, 3, 0, 15, 2),
    route(B, 14, 1, 15, 1),
    route(B, 15, 1, 15, 2),
    route(A, 6, 5, 16, 1),
    route(B, 8, 2, 16, 1),
    route(A, 7, 5, 17, 1),
    route(B, 9, 2, 17, 1),
];
const USART_TX_F0: [&[UsartPin]; 6] = [
    &[(A, 9, 1), (B, 6, 0)],
    &[(A, 2, 1), (A, 14, 1), (D, 5, 0)],
    &[(B, 10, 4), (C, 4, 1), (C, 10, 1), (D, 8, 0)],
    &[(A, 0, 4), (C, 10, 0)],
    &[],
    &[],
];
const USART_RX_F0: [&[UsartPin]; 6] = [
    &[(A, 10, 1), (B, 7, 0)],
    &[(A, 3, 1), (A, 15, 1), (D, 6, 0)],
    &[(B, 11, 4), (C, 5, 1), (C, 11, 1), (D, 9, 0)],
    &[(A, 1, 4), (C, 11, 0)],
    &[],
    &[],
];

/// A function of the STM32F1: a field of AFIO_MAPR and its value.
const fn maps(shift: u32, bits: u32, value: u32) -> u32 {
    remap(shift, bits, value) << 4
}

/// RM0008 §9.3.7 and §9.3.8: a row for each value of a field under which a pin has a channel.
static TIMER_OUTPUTS_F1: [Route; 48] = [
    route(A, 0, maps(8, 3, 0), 2, 1),
    route(A, 0, maps(8, 3, 2), 2, 1),
    route(A, 15, maps(8, 3, 1), 2, 1),
    route(A, 15, maps(8, 3, 3), 2, 1),
    route(A, 1, maps(8, 3, 0), 2, 2),
    route(A, 1, maps(8, 3, 2), 2, 2),
    route(B, 3, maps(8, 3, 1), 2, 2),
    route(B, 3, maps(8, 3, 3), 2, 2),
    route(A, 2, maps(8, 3, 0), 2, 3),
    route(A, 2, maps(8, 3, 1), 2, 3),
    route(B, 10, maps(8, 3, 2), 2, 3),
    route(B, 10, maps(8, 3, 3), 2, 3),
    route(A, 3, maps(8, 3, 0), 2, 4),
    route(A, 3, maps(8, 3, 1), 2, 4),
    route(B, 11, maps(8, 3, 2), 2, 4),
    route(B, 11, maps(8, 3, 3), 2, 4),
    route(A, 6, maps(10, 3, 0), 3, 1),
    route(A, 7, maps(10, 3, 0), 3, 2),
    route(B, 0, maps(10, 3, 0), 3, 3),
    route(B, 0, maps(10, 3, 2), 3, 3),
    route(B, 1, maps(10, 3, 0), 3, 4),
    route(B, 1, maps(10, 3, 2), 3, 4),
    route(B, 4, maps(10, 3, 2), 3, 1),
    route(B, 5, maps(10, 3, 2), 3, 2),
    route(C, 6, maps(10, 3, 3), 3, 1),
    route(C, 7, maps(10, 3, 3), 3, 2),
    route(C, 8, maps(10, 3, 3), 3, 3),
    route(C, 9, maps(10, 3, 3), 3, 4),
    route(B, 6, maps(12, 1, 0), 4, 1),
    route(B, 7, maps(12, 1, 0), 4, 2),
    route(B, 8, maps(12, 1, 0), 4, 3),
    route(B, 9, maps(12, 1, 0), 4, 4),
    route(D, 12, maps(12, 1, 1), 4, 1),
    route(D, 13, maps(12, 1, 1), 4, 2),
    route(D, 14, maps(12, 1, 1), 4, 3),
    route(D, 15, maps(12, 1, 1), 4, 4),
    route(A, 8, maps(6, 3, 0), 1, 1),
    route(A, 8, maps(6, 3, 1), 1, 1),
    route(A, 9, maps(6, 3, 0), 1, 2),
    route(A, 9, maps(6, 3, 1), 1, 2),
    route(A, 10, maps(6, 3, 0), 1, 3),
    route(A, 10, maps(6, 3, 1), 1, 3),
    route(A, 11, maps(6, 3, 0), 1, 4),
    route(A, 11, maps(6, 3, 1), 1, 4),
    route(E, 9, maps(6, 3, 3), 1, 1),
    route(E, 11, maps(6, 3, 3), 1, 2),
    route(E, 13, maps(6, 3, 3), 1, 3),
    route(E, 14, maps(6, 3, 3), 1, 4),
];
const USART_TX_F1: [&[UsartPin]; 6] = [
    &[(A, 9, maps(2, 1, 0)), (B, 6, maps(2, 1, 1))],
    &[(A, 2, maps(3, 1, 0)), (D, 5, maps(3, 1, 1))],
    &[
        (B, 10, maps(4, 3, 0)),
        (C, 10, maps(4, 3, 1)),
        (D, 8, maps(4, 3, 3)),
    ],
    &[],
    &[],
    &[],
];
const USART_RX_F1: [&[UsartPin]; 6] = [
    &[(A, 10, maps(2, 1, 0)), (B, 7, maps(2, 1, 1))],
    &[(A, 3, maps(3, 1, 0)), (D, 6, maps(3, 1, 1))],
    &[
        (B, 11, maps(4, 3, 0)),
        (C, 11, maps(4, 3, 1)),
        (D, 9, maps(4, 3, 3)),
    ],
    &[],
    &[],
    &[],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::timer::{models, MODELS};

    #[test]
    fn newer_timers_have_the_places_of_those_that_no_chip_has_beside_them() {
        for (timer, name) in [(15, "TIM15"), (16, "TIM16"), (17, "TIM17"), (14, "TIM14")] {
            assert_eq!(models(Line::L4)[index(timer)].name, name);
        }
    }

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

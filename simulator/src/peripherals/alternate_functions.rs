//! Which timer channel drives which pin under which alternate function (DS10086, table "Alternate function mapping").

use super::gpio::PORTS;

/// A timer output on a pin.
pub struct Route {
    /// Index into [`super::gpio::PORTS`].
    pub port: usize,
    pub pin: u32,
    pub function: u32,
    /// 0 = TIM2.
    pub timer: usize,
    /// 0 = channel 1.
    pub channel: usize,
}

const fn route(port: usize, pin: u32, function: u32, timer: u32, channel: usize) -> Route {
    Route {
        port,
        pin,
        function,
        timer: timer as usize - 2,
        channel: channel - 1,
    }
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;

pub static TIMER_OUTPUTS: [Route; 31] = [
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
];

/// Bit n: route n of [`TIMER_OUTPUTS`] begins at this timer.
pub static ROUTES_OF_TIMER: [u32; 4] = routes_by(End::Timer);
/// Bit n: route n of [`TIMER_OUTPUTS`] ends at this port.
pub static ROUTES_OF_PORT: [u32; PORTS.len()] = routes_by(End::Port);
/// Bit n: route n of [`TIMER_OUTPUTS`] ends at a pin of this number.
pub static ROUTES_OF_PIN: [u32; 16] = routes_by(End::Pin);

enum End {
    Timer,
    Port,
    Pin,
}

const fn routes_by<const ENDS: usize>(end: End) -> [u32; ENDS] {
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

/// USART2_TX and USART2_RX: PA2 and PA3, alternate function 7 (PD5 and PD6 are not on the LQFP64 package).
pub const USART2_TX: (usize, u32, u32) = (A, 2, 7);
pub const USART2_RX: (usize, u32, u32) = (A, 3, 7);

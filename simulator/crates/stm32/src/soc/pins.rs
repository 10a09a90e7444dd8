//! What drives pins, and what their edges reach.

use super::address_map::Block;
use super::Soc;
use crate::edges::{Edge, Pin};
use crate::peripherals::alternate_functions::{Route, UsartPin};
use crate::peripherals::gpio::Levels;
use crate::peripherals::Peripheral;

/// TIM2 to TIM5, the first timers, have interrupt lines of their own.
const SEPARATE_LINES: usize = 4;

impl Soc {
    pub(super) fn has_function(&self, (port, pin, function): UsartPin) -> bool {
        // On the STM32F1 a port knows no numbers: AFIO's fields are above them.
        self.logic.ports[port].alternate_function(pin) == Some(function & 0xF)
            && (function <= 0xF || self.logic.syscfg.maps(function >> 4))
    }

    pub(super) fn may_send_at(&self, (port, pin, function): UsartPin) -> bool {
        self.has_function((port, pin, function)) && self.logic.ports[port].lets_drive(pin)
    }

    /// Call after a change of AFIO, which on the STM32F1 says whose pins are whose.
    pub(super) fn pins_remapped(&mut self, now: u64) {
        if !self.line().syscfg.assigns_pins {
            return;
        }
        super::claim(&mut self.logic.ports, &self.logic.syscfg);
        for port in 0..self.logic.ports.len() {
            self.functions_switched(port);
            self.port_changed(port, now);
        }
        if !self.is_alone() {
            self.partners_moved(now);
        }
    }

    /// Call after the alternate functions of a port's pins have changed.
    pub(super) fn functions_switched(&mut self, port: usize) {
        let routes = self.routes().of_port[port];
        self.logic.connected = self.logic.connected & !routes | self.switched_on(routes);
        self.route_alternates(port);
    }

    /// The members of `routes` whose pin is switched to their function.
    fn switched_on(&self, routes: u64) -> u64 {
        let on = |route: &Route| {
            self.has_function((route.port, route.pin, route.function))
                && self.map.place_of(Block::Timer(route.timer)).is_some()
        };
        members(routes)
            .filter(|&n| on(&self.routes().timers[n]))
            .fold(0, |routes, n| routes | 1 << n)
    }

    pub(super) fn timer_changed(&mut self, timer: usize, cycle: u64) {
        self.timer_interrupts(timer);
        if self.logic.timers[timer].take_triggered() {
            self.logic
                .dac
                .timer_triggers(self.logic.timers[timer].registers().peripheral());
            self.serve_dma(cycle);
        }
        let outputs = self.logic.timers[timer].outputs();
        if outputs == self.logic.outputs[timer] {
            return;
        }
        self.logic.outputs[timer] = outputs;
        let routes = self.logic.connected & self.routes().of_timer[timer];
        for (port, of_port) in self.routes().of_port.iter().enumerate() {
            if routes & of_port != 0 {
                self.route_alternates(port);
                self.port_changed(port, cycle);
            }
        }
    }

    /// The interrupt lines of a timer. The advanced ones share theirs with others (RM0368 §10.1.3).
    fn timer_interrupts(&mut self, timer: usize) {
        let one = &self.logic.timers[timer];
        if one.update_irq == one.capture_irq && timer < SEPARATE_LINES {
            self.set_interrupt_line(one.update_irq, one.interrupt());
            return;
        }
        for irq in [one.update_irq, one.capture_irq] {
            let level = self.logic.timers.iter().any(|timer| timer.signals(irq));
            self.set_interrupt_line(irq, level);
        }
    }

    fn route_alternates(&mut self, port: usize) {
        let mut alternate = Levels::default();
        for n in members(self.logic.connected & self.routes().of_port[port]) {
            let route = &self.routes().timers[n];
            let outputs = self.logic.outputs[route.timer];
            alternate.driven |= u32::from(outputs.drives(route.channel)) << route.pin;
            alternate.high |= u32::from(outputs.high(route.channel)) << route.pin;
        }
        self.logic.ports[port].set_alternate(alternate);
    }

    /// Records the edges at the pins of a port, and tells EXTI and the timers.
    pub(super) fn port_changed(&mut self, port: usize, cycle: u64) {
        let before = self.levels[port];
        let after = self.logic.ports[port].levels();
        self.levels[port] = after;
        let mut changed = before.high ^ after.high;
        if changed & self.observed[port] != 0 {
            self.logic.attention = true;
            self.selects_changed(port, changed, cycle);
        }
        if changed & after.driven & self.logic.ports[port].slow() != 0 {
            self.look_at_edges(port, changed & after.driven, cycle);
        }
        while changed != 0 {
            let number = changed.trailing_zeros();
            changed &= changed - 1;
            let level = after.high >> number & 1 != 0;
            self.edges.push(Edge {
                cycle,
                pin: Pin {
                    port: port as u8,
                    number: number as u8,
                },
                level,
                output: (before.driven | after.driven | self.logic.ports[port].driven_outside())
                    >> number
                    & 1
                    != 0,
            });
            self.feed_exti(port, number, level);
            self.feed_timers(port, number, level, cycle);
        }
    }

    /// An edge reaches the input channels to which the pin is switched.
    fn feed_timers(&mut self, port: usize, pin: u32, level: bool, cycle: u64) {
        let routes = self.routes();
        for n in members(self.logic.connected & routes.of_port[port] & routes.of_pin[pin as usize])
        {
            let route = &routes.timers[n];
            if self.logic.timers[route.timer].captures() {
                self.logic.timers[route.timer].input(route.channel, level, cycle);
                self.timer_changed(route.timer, cycle);
            }
        }
    }

    fn feed_exti(&mut self, port: usize, line: u32, level: bool) {
        let selected = self.logic.exti.selects(port, line);
        let selected = selected.unwrap_or_else(|| self.logic.syscfg.selects(port, line));
        if selected && self.logic.exti.edge(line, level) {
            self.exti_changed();
        }
    }
}

/// The numbers of the bits that are set, in ascending order.
fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let n = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (n < 64).then_some(n)
    })
}

#[cfg(test)]
impl Soc {
    /// Whether `connected` and `outputs` agree with the registers of ports and timers.
    pub(super) fn is_connected(&self) -> bool {
        let outputs = self
            .logic
            .timers
            .iter()
            .map(crate::peripherals::timer::Timer::outputs);
        self.logic.outputs.iter().copied().eq(outputs)
            && self.logic.connected
                == self.switched_on(self.routes().of_timer.iter().fold(0, |all, of| all | of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::memory::Memory;
    use cortex_m::bus::{Bus, Width};

    const AFIO_MAPR: u32 = 0x4001_0004;

    /// An STM32F103 with the clocks of AFIO, its ports and TIM2 on, and these registers set.
    fn soc(settings: &[(u32, u32)]) -> Soc {
        let mut soc = Soc::new(Memory::of(Chip::named("f103rb").unwrap()));
        let clocks = [(0x4002_1018, 0x7D), (0x4002_101C, 1)];
        for (address, value) in clocks.iter().chain(settings) {
            soc.write(*address, Width::Word, *value, 0).unwrap();
        }
        soc
    }

    fn pin(port: u8, number: u8) -> Pin {
        Pin { port, number }
    }

    /// RM0008 §9.3.5: PB4 is NJTRST, pulled up, until SWJ_CFG gives it back.
    #[test]
    fn afio_frees_the_pins_of_the_debug_port() {
        // PB4 is an output, and low.
        let mut soc = soc(&[(0x4001_0C00, 0x4443_4444)]);
        assert!(soc.level(pin(1, 4)));
        soc.write(AFIO_MAPR, Width::Word, 2 << 24, 0).unwrap();
        assert!(!soc.level(pin(1, 4)));
        let read = soc.read(AFIO_MAPR, Width::Word, 0).unwrap().value;
        assert_eq!(read, 0, "SWJ_CFG is write-only");
    }

    /// §9.3.7: TIM2_CH1 is at PA0, or at PA15 with the full remap.
    #[test]
    fn afio_moves_a_timers_channel() {
        for (remap, at, other) in [(0, 0, 15), (3 << 8, 15, 0)] {
            let soc = soc(&[
                (AFIO_MAPR, 2 << 24 | remap),
                (0x4001_0800, 0x4444_444B),
                (0x4001_0804, 0xB444_4444),
                (0x4000_0018, 5 << 4), // forced high
                (0x4000_0020, 1),
            ]);
            assert!(soc.level(pin(0, at)) && !soc.level(pin(0, other)));
            assert!(soc.is_connected());
        }
    }
}

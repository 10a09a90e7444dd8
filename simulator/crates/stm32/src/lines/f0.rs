//! The STM32F0: F072 (RM0091).

use super::f1::one_voltage;
use super::record::{FamilyFacts, Gates, LineFacts, SystemMemory};
use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::{self, DbgmcuFacts};
use crate::peripherals::exti::{table, ExtiFacts, PLACES};
use crate::peripherals::flash::{f1 as flash, FlashFacts, FlashKind};
use crate::peripherals::gpio::{ports_with_brr, GpioFacts, GpioKind};
use crate::peripherals::pwr::{OverDrive, PwrFacts};
use crate::peripherals::rcc::f1;
use crate::peripherals::registers::{merged, rows, Register};
use crate::peripherals::syscfg::SyscfgFacts;
use crate::peripherals::timer::models;
use crate::peripherals::usart;
use std::sync::LazyLock;

// RM0091 §8.4: only the pins of SWD start as alternate functions.
static GPIOA: [Register; 11] = ports_with_brr(0x2800_0000, 0x0C00_0000, 0x2400_0000);
static GPIO: [Register; 11] = ports_with_brr(0, 0, 0);

/// Pins, PVD, RTC, COMP and VDDIO2.
const LINES: u32 = 0x807B_FFFF;
/// The lines of peripherals that wake the chip are unmasked from reset on.
static EXTI: [Register; 6] = {
    let rows = rows! {
        PLACES.imr, "IMR", 0x7F84_0000, !0;
        PLACES.emr, "EMR", 0, !0;
    };
    merged(&table(LINES), &rows)
};
/// RM0091 §11.1.3, table 37.
static VECTORS: [(u16, u32); 6] = [
    (1, 1 << 16 | 1 << 31),
    (2, 1 << 17 | 0b11 << 19),
    (5, 0x0003),
    (6, 0x000C),
    (7, 0xFFF0),
    (12, 0b11 << 21),
];

/// No protection, watchdog by software.
const OPTIONS: u32 = 0xFFFF_FF00;
/// Missing: loading the option bytes anew.
static FLASH: [Register; 8] = flash::table(OPTIONS, 0, 1 << 13);

static SYSCFG: [Register; 6] = rows! {
    // Flash stays at address 0. DMA remaps, drive of I2C pins.
    0x00, "CFGR1", 0, 0, missing 0x7FFF_FFFF;
    0x08, "EXTICR1", 0, 0xFFFF;
    0x0C, "EXTICR2", 0, 0xFFFF;
    0x10, "EXTICR3", 0, 0xFFFF;
    0x14, "EXTICR4", 0, 0xFFFF;
    0x18, "CFGR2", 0, 0, inert 1 << 8, missing 0b111;
};

/// RM0091 §32.9: it is on the APB, with a clock.
static DBGMCU: [Register; 4] = rows! {
    dbgmcu::IDCODE, "IDCODE", 0, 0, inert !0;
    dbgmcu::CR, "CR", 0, 0b110, inert !0b110;
    0x08, "APB1_FZ", 0, 0x0220_1D33, inert !0x0220_1D33;
    0x0C, "APB2_FZ", 0, 0x0007_0800, inert !0x0007_0800;
};

static PWR: [Register; 2] = one_voltage(0xFF00);

/// DS9826, tables "Alternate functions selected through GPIOx_AFR registers", without complementary
/// outputs.
const ROUTES: &str = "
PA0 AF2 TIM2_CH1
PA1 AF2 TIM2_CH2
PA2 AF0 TIM15_CH1, AF1 USART2_TX, AF2 TIM2_CH3
PA3 AF0 TIM15_CH2, AF1 USART2_RX, AF2 TIM2_CH4
PA4 AF4 TIM14_CH1
PA5 AF2 TIM2_CH1
PA6 AF1 TIM3_CH1, AF5 TIM16_CH1
PA7 AF1 TIM3_CH2, AF4 TIM14_CH1, AF5 TIM17_CH1
PA8 AF2 TIM1_CH1
PA9 AF1 USART1_TX, AF2 TIM1_CH2
PA10 AF1 USART1_RX, AF2 TIM1_CH3
PA11 AF2 TIM1_CH4
PA14 AF1 USART2_TX
PA15 AF1 USART2_RX, AF2 TIM2_CH1
PB0 AF1 TIM3_CH3
PB1 AF0 TIM14_CH1, AF1 TIM3_CH4
PB3 AF2 TIM2_CH2
PB4 AF1 TIM3_CH1
PB5 AF1 TIM3_CH2
PB6 AF0 USART1_TX
PB7 AF0 USART1_RX
PB8 AF2 TIM16_CH1
PB9 AF2 TIM17_CH1
PB10 AF2 TIM2_CH3, AF4 USART3_TX
PB11 AF2 TIM2_CH4, AF4 USART3_RX
PB14 AF1 TIM15_CH1
PB15 AF1 TIM15_CH2
PC4 AF1 USART3_TX
PC5 AF1 USART3_RX
PC6 AF0 TIM3_CH1
PC7 AF0 TIM3_CH2
PC8 AF0 TIM3_CH3
PC9 AF0 TIM3_CH4
PC10 AF1 USART3_TX
PC11 AF1 USART3_RX
PD5 AF0 USART2_TX
PD6 AF0 USART2_RX
PD8 AF0 USART3_TX
PD9 AF0 USART3_RX
";

pub static LINE: LineFacts = LineFacts {
    name: "STM32F0",
    gpio: GpioFacts {
        kind: GpioKind::Moder,
        tables: &[("GPIOA", &GPIOA)],
        table: &GPIO,
        // Three speeds: x0, 01 and 11 (RM0091 §8.4.3).
        slow_speeds: 0b0101,
        // DS9826, table "I/O AC characteristics".
        slow_edge_ns: 125,
    },
    exti: ExtiFacts {
        places: PLACES,
        table: &EXTI,
        vectors: &VECTORS,
        exticr: None,
    },
    flash: FlashFacts {
        kind: FlashKind::HalfWords,
        layout: &flash::HALF_WORDS,
        tables: &[(1 << 20, &FLASH)],
        latency: 0b111,
        options: OPTIONS,
        open: 0xAA,
        page_bytes: 2048,
        banks: 1,
        // DS9826, table "Flash memory characteristics": the longest to erase, since no typical time is
        // given.
        program_us: 53,
        page_erase_us: 40_000,
    },
    syscfg: SyscfgFacts {
        name: "SYSCFG",
        table: &SYSCFG,
        assigns_pins: false,
    },
    dbgmcu: DbgmcuFacts {
        table: &DBGMCU,
        // RM0091 §32.9.1.
        always_clocked: true,
        debugger_alone: false,
    },
    system_memory: SystemMemory {
        otp: None,
        unique_id: 0x1FFF_F7AC,
        flash_kib: (0x1FFF_F7CC, 0),
        options: 0x1FFF_F800..=0x1FFF_F80F,
    },
    gates: &[
        (Bus::Ahb1, Gates::new(f1::AHBENR, f1::AHBRSTR)),
        (Bus::Ahb2, Gates::new(f1::AHBENR, f1::AHBRSTR)),
        (Bus::Apb1, Gates::new(f1::APB1ENR, f1::APB1RSTR)),
        (Bus::Apb2, Gates::new(f1::APB2ENR, f1::APB2RSTR)),
    ],
    timers: &models::MODELS_F0,
    usart: usart::V2,
    watchdog_has_window: true,
};

pub static F072: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &f1::LAYOUT_F072,
    pwr: PwrFacts {
        table: &PWR,
        vos_shift: None,
        tells_ready: false,
        over_drive: OverDrive::None,
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};

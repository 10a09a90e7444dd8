//! The STM32F1: F103 of medium density (RM0008).

use super::record::{FamilyFacts, Gates, LineFacts, SystemMemory};
use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::{self, DbgmcuFacts};
use crate::peripherals::exti::{self, ExtiFacts};
use crate::peripherals::flash::{f1 as flash, FlashFacts, FlashKind};
use crate::peripherals::gpio::{GpioFacts, GpioKind};
use crate::peripherals::gpio_f1;
use crate::peripherals::pwr::{self, OverDrive, PwrFacts, DBP};
use crate::peripherals::rcc::f1;
use crate::peripherals::registers::{rows, Register};
use crate::peripherals::syscfg::{SyscfgFacts, MAPR, SWJ_CFG};
use crate::peripherals::timer::models;
use crate::peripherals::usart;
use std::sync::LazyLock;

/// Pins, PVD, RTC alarm, USB.
static EXTI: [Register; 6] = exti::table(0x0007_FFFF);
/// RM0008 §10.1.2, table 63.
static VECTORS: [(u16, u32); 10] = [
    (1, 1 << 16),
    (6, 0x0001),
    (7, 0x0002),
    (8, 0x0004),
    (9, 0x0008),
    (10, 0x0010),
    (23, 0x03E0),
    (40, 0xFC00),
    (41, 1 << 17),
    (42, 1 << 18),
];

/// No protection, watchdog by software.
const OPTIONS: u32 = 0x03FF_FFFC;
/// Missing: half cycle access.
static FLASH: [Register; 8] = flash::table(OPTIONS, 1 << 3, 0);

/// SPI1, I2C1, USART1–3, TIM1–4: the remaps that are modelled.
const REMAPS: u32 = 0x0000_1FFF;
static AFIO: [Register; 7] = rows! {
    0x00, "EVCR", 0, 0, missing 0xFF;
    MAPR, "MAPR", 0, REMAPS | SWJ_CFG, missing 0x001F_E000;
    0x08, "EXTICR1", 0, 0xFFFF;
    0x0C, "EXTICR2", 0, 0xFFFF;
    0x10, "EXTICR3", 0, 0xFFFF;
    0x14, "EXTICR4", 0, 0xFFFF;
    0x1C, "MAPR2", 0, 0, missing 0x7E0;
};

/// RM0008 §31.16.3: the freeze bits are in CR.
static DBGMCU: [Register; 2] = rows! {
    dbgmcu::IDCODE, "IDCODE", 0, 0, inert !0;
    dbgmcu::CR, "CR", 0, 0x003F_FF07, inert !0x003F_FFE7, missing 0xE0;
};

/// A controller of a chip with one voltage. Missing: Stop and Standby modes, the voltage
/// detector, the wake-up pins.
pub const fn one_voltage(wake_up_pins: u32) -> [Register; 2] {
    rows! {
        pwr::CR, "CR", 0, DBP, inert 0b1100, missing 0x00F3;
        pwr::CSR, "CSR", 0, 0, inert 0b1111, missing wake_up_pins;
    }
}
static PWR: [Register; 2] = one_voltage(0x0100);

/// RM0008 §9.3.7 and §9.3.8: each value of AFIO_MAPR's field under which a pin has a channel.
const ROUTES: &str = "
PA0 REMAP0 TIM2_CH1, REMAP2 TIM2_CH1
PA1 REMAP0 TIM2_CH2, REMAP2 TIM2_CH2
PA2 REMAP0 TIM2_CH3, REMAP0 USART2_TX, REMAP1 TIM2_CH3
PA3 REMAP0 TIM2_CH4, REMAP0 USART2_RX, REMAP1 TIM2_CH4
PA6 REMAP0 TIM3_CH1
PA7 REMAP0 TIM3_CH2
PA8 REMAP0 TIM1_CH1, REMAP1 TIM1_CH1
PA9 REMAP0 TIM1_CH2, REMAP0 USART1_TX, REMAP1 TIM1_CH2
PA10 REMAP0 TIM1_CH3, REMAP0 USART1_RX, REMAP1 TIM1_CH3
PA11 REMAP0 TIM1_CH4, REMAP1 TIM1_CH4
PA15 REMAP1 TIM2_CH1, REMAP3 TIM2_CH1
PB0 REMAP0 TIM3_CH3, REMAP2 TIM3_CH3
PB1 REMAP0 TIM3_CH4, REMAP2 TIM3_CH4
PB3 REMAP1 TIM2_CH2, REMAP3 TIM2_CH2
PB4 REMAP2 TIM3_CH1
PB5 REMAP2 TIM3_CH2
PB6 REMAP0 TIM4_CH1, REMAP1 USART1_TX
PB7 REMAP0 TIM4_CH2, REMAP1 USART1_RX
PB8 REMAP0 TIM4_CH3
PB9 REMAP0 TIM4_CH4
PB10 REMAP0 USART3_TX, REMAP2 TIM2_CH3, REMAP3 TIM2_CH3
PB11 REMAP0 USART3_RX, REMAP2 TIM2_CH4, REMAP3 TIM2_CH4
PC6 REMAP3 TIM3_CH1
PC7 REMAP3 TIM3_CH2
PC8 REMAP3 TIM3_CH3
PC9 REMAP3 TIM3_CH4
PC10 REMAP1 USART3_TX
PC11 REMAP1 USART3_RX
PD5 REMAP1 USART2_TX
PD6 REMAP1 USART2_RX
PD8 REMAP3 USART3_TX
PD9 REMAP3 USART3_RX
PD12 REMAP1 TIM4_CH1
PD13 REMAP1 TIM4_CH2
PD14 REMAP1 TIM4_CH3
PD15 REMAP1 TIM4_CH4
PE9 REMAP3 TIM1_CH1
PE11 REMAP3 TIM1_CH2
PE13 REMAP3 TIM1_CH3
PE14 REMAP3 TIM1_CH4
";

pub static LINE: LineFacts = LineFacts {
    name: "STM32F1",
    gpio: GpioFacts {
        kind: GpioKind::Crl,
        tables: &[],
        table: &gpio_f1::TABLE,
        slow_speeds: 0,
        slow_edge_ns: 100,
    },
    exti: ExtiFacts {
        places: exti::PLACES,
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
        open: 0xA5,
        page_bytes: 1024,
        banks: 1,
        // DS5319, table "Flash memory characteristics": the longest to erase, since no typical time is
        // given.
        program_us: 53,
        page_erase_us: 40_000,
    },
    syscfg: SyscfgFacts {
        name: "AFIO",
        table: &AFIO,
        assigns_pins: true,
    },
    dbgmcu: DbgmcuFacts {
        table: &DBGMCU,
        always_clocked: false,
        // ES0340, "Debug registers cannot be read by user software".
        debugger_alone: true,
    },
    system_memory: SystemMemory {
        otp: None,
        unique_id: 0x1FFF_F7E8,
        flash_kib: (0x1FFF_F7E0, 0),
        options: 0x1FFF_F800..=0x1FFF_F80F,
    },
    gates: &[
        (
            Bus::Ahb1,
            Gates {
                enable: f1::AHBENR,
                reset: None,
            },
        ),
        (
            Bus::Ahb2,
            Gates {
                enable: f1::AHBENR,
                reset: None,
            },
        ),
        (Bus::Apb1, Gates::new(f1::APB1ENR, f1::APB1RSTR)),
        (Bus::Apb2, Gates::new(f1::APB2ENR, f1::APB2RSTR)),
    ],
    timers: &models::MODELS_F1,
    usart: usart::V1,
    watchdog_has_window: false,
};

pub static F103: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &f1::LAYOUT_F103,
    pwr: PwrFacts {
        table: &PWR,
        vos_shift: None,
        tells_ready: false,
        over_drive: OverDrive::None,
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};

//! The STM32F4: F401 (RM0368), F411 (RM0383), F405 and F407 (RM0090), F446 (RM0390).

use super::record::{FamilyFacts, Gates, LineFacts, SystemMemory};
use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::{self, DbgmcuFacts};
use crate::peripherals::exti::{self, ExtiFacts};
use crate::peripherals::flash::{self, FlashFacts, FlashKind};
use crate::peripherals::gpio::{ports, GpioFacts, GpioKind};
use crate::peripherals::pwr::*;
use crate::peripherals::rcc::f4;
use crate::peripherals::registers::{rows, Register};
use crate::peripherals::syscfg::SyscfgFacts;
use crate::peripherals::timer::models;
use crate::peripherals::usart;
use std::sync::LazyLock;

// Reset values of RM0368 §8.4.1–8.4.4: the debug pins PA13–15, PB3 and PB4 start as alternate functions.
static GPIOA: [Register; 10] = ports(0xA800_0000, 0x0C00_0000, 0x6400_0000);
static GPIOB: [Register; 10] = ports(0x0000_0280, 0x0000_00C0, 0x0000_0100);
static GPIO: [Register; 10] = ports(0, 0, 0);

/// The lines of the pins, then 16 (PVD), 17, 21 and 22 (RTC) and 18 (USB). The sources of the
/// latter are not modelled, so only software raises them.
static EXTI: [Register; 6] = exti::table(0x0067_FFFF);
/// Lines served by each interrupt vector (RM0368 §10.1.3, table 38).
static VECTORS: [(u16, u32); 12] = [
    (1, 1 << 16),
    (2, 1 << 21),
    (3, 1 << 22),
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

static SYSCFG: [Register; 7] = rows! {
    // Flash stays at address 0.
    0x00, "MEMRMP", 0, 0, missing 0b11;
    0x04, "PMC", 0, 0, missing 1 << 16;
    0x08, "EXTICR1", 0, 0xFFFF;
    0x0C, "EXTICR2", 0, 0xFFFF;
    0x10, "EXTICR3", 0, 0xFFFF;
    0x14, "EXTICR4", 0, 0xFFFF;
    0x20, "CMPCR", 0, 0, inert 1 << 8, missing 1;
};

static DBGMCU: [Register; 4] = rows! {
    dbgmcu::IDCODE, "IDCODE", 0, 0, inert !0;
    // DBG_SLEEP, DBG_STOP, DBG_STANDBY; trace pins are not modelled.
    dbgmcu::CR, "CR", 0, 0b111, missing 0xE0;
    // Timers 2–5, RTC, WWDG, IWDG, I2C1–3. Debuggers also set bits that larger chips of the family
    // have. Here they are reserved and have no effect.
    0x08, "APB1_FZ", 0, 0x00E0_1C0F, inert !0x00E0_1C0F;
    // Timers 1, 9–11.
    0x0C, "APB2_FZ", 0, 0x0007_0001, inert !0x0007_0001;
};

/// DS10086, table "Alternate function mapping": those of packages with up to 100 pins.
const ROUTES: &str = "
PA0 AF1 TIM2_CH1, AF2 TIM5_CH1, AF8 UART4_TX
PA1 AF1 TIM2_CH2, AF2 TIM5_CH2, AF8 UART4_RX
PA2 AF1 TIM2_CH3, AF2 TIM5_CH3, AF3 TIM9_CH1, AF7 USART2_TX
PA3 AF1 TIM2_CH4, AF2 TIM5_CH4, AF3 TIM9_CH2, AF7 USART2_RX
PA5 AF1 TIM2_CH1
PA6 AF2 TIM3_CH1, AF9 TIM13_CH1
PA7 AF2 TIM3_CH2, AF9 TIM14_CH1
PA8 AF1 TIM1_CH1
PA9 AF1 TIM1_CH2, AF7 USART1_TX
PA10 AF1 TIM1_CH3, AF7 USART1_RX
PA11 AF1 TIM1_CH4, AF8 USART6_TX
PA12 AF8 USART6_RX
PA15 AF1 TIM2_CH1
PB0 AF2 TIM3_CH3
PB1 AF2 TIM3_CH4
PB3 AF1 TIM2_CH2
PB4 AF2 TIM3_CH1
PB5 AF2 TIM3_CH2
PB6 AF2 TIM4_CH1, AF7 USART1_TX
PB7 AF2 TIM4_CH2, AF7 USART1_RX
PB8 AF2 TIM4_CH3, AF3 TIM10_CH1
PB9 AF2 TIM4_CH4, AF3 TIM11_CH1
PB10 AF1 TIM2_CH3, AF7 USART3_TX
PB11 AF1 TIM2_CH4, AF7 USART3_RX
PB14 AF9 TIM12_CH1
PB15 AF9 TIM12_CH2
PC6 AF2 TIM3_CH1, AF3 TIM8_CH1, AF8 USART6_TX
PC7 AF2 TIM3_CH2, AF3 TIM8_CH2, AF8 USART6_RX
PC8 AF2 TIM3_CH3, AF3 TIM8_CH3
PC9 AF2 TIM3_CH4, AF3 TIM8_CH4
PC10 AF7 USART3_TX, AF8 UART4_TX
PC11 AF7 USART3_RX, AF8 UART4_RX
PC12 AF8 UART5_TX
PD2 AF8 UART5_RX
PD5 AF7 USART2_TX
PD6 AF7 USART2_RX
PD8 AF7 USART3_TX
PD9 AF7 USART3_RX
PD12 AF2 TIM4_CH1
PD13 AF2 TIM4_CH2
PD14 AF2 TIM4_CH3
PD15 AF2 TIM4_CH4
PE5 AF3 TIM9_CH1
PE6 AF3 TIM9_CH2
PE9 AF1 TIM1_CH1
PE11 AF1 TIM1_CH2
PE13 AF1 TIM1_CH3
PE14 AF1 TIM1_CH4
";
/// The STM32F446 has TIM2 on three more pins (DS10693, table "Alternate function").
const ROUTES_F446: &str = "
PB2 AF1 TIM2_CH4
PB8 AF1 TIM2_CH1
PB9 AF1 TIM2_CH2
";

pub static LINE: LineFacts = LineFacts {
    name: "STM32F4",
    gpio: GpioFacts {
        kind: GpioKind::Moder,
        tables: &[("GPIOA", &GPIOA), ("GPIOB", &GPIOB)],
        table: &GPIO,
        slow_speeds: 0b0001,
        // At 50 pF (DS10086, table "I/O AC characteristics").
        slow_edge_ns: 100,
    },
    exti: ExtiFacts {
        places: exti::PLACES,
        table: &EXTI,
        vectors: &VECTORS,
        exticr: None,
    },
    flash: FlashFacts {
        kind: FlashKind::Sectors,
        layout: &flash::SECTORS,
        tables: &[(512 << 10, &flash::TABLE), (1 << 20, &flash::LARGE_TABLE)],
        latency: 0xF,
        options: flash::OPTCR_RESET,
        open: 0xAA,
        page_bytes: 16 << 10,
        banks: 1,
        // DS10086, table "Flash memory programming", for 32 bits.
        program_us: 16,
        page_erase_us: 250_000,
    },
    syscfg: SyscfgFacts {
        name: "SYSCFG",
        table: &SYSCFG,
        assigns_pins: false,
    },
    dbgmcu: DbgmcuFacts {
        table: &DBGMCU,
        always_clocked: false,
        debugger_alone: false,
    },
    system_memory: SystemMemory {
        otp: Some(0x1FFF_7800..=0x1FFF_7A0F),
        unique_id: 0x1FFF_7A10,
        flash_kib: (0x1FFF_7A20, 16),
        options: 0x1FFF_C000..=0x1FFF_C00F,
    },
    gates: &[
        (Bus::Ahb1, Gates::new(f4::AHB1ENR, f4::AHB1RSTR)),
        (Bus::Ahb2, Gates::new(f4::AHB2ENR, f4::AHB2RSTR)),
        (Bus::Apb1, Gates::new(f4::APB1ENR, f4::APB1RSTR)),
        (Bus::Apb2, Gates::new(f4::APB2ENR, f4::APB2RSTR)),
    ],
    timers: &models::MODELS,
    usart: usart::V1,
    watchdog_has_window: false,
};

const fn pwr(reset: u32, scales: u32) -> [Register; 2] {
    rows! {
        // Missing: Stop and Standby modes, the voltage detector, flash power-down. CWUF and CSBF
        // clear flags that are never set. A bit of VOS that the chip has not is reserved.
        CR, "CR", reset, scales << VOS_SHIFT | DBP, inert 0b1100 | 0b11 << VOS_SHIFT, missing 0x3EF3;
        // Missing: the wake-up pin.
        CSR, "CSR", 0, BRE, inert VOSRDY | BRR, missing 0x0100;
    }
}

static PWR: [Register; 2] = pwr(0x8000, 0b11);
/// RM0390 §5.4.1: the over-drive. Missing: the under-drive, and what Stop mode does with the flash.
static PWR_F446: [Register; 2] = rows! {
    CR, "CR", 0xC000, 0b11 << VOS_SHIFT | DBP | ODEN | ODSWEN, inert 0b1100 | 0b11 << VOS_SHIFT, missing 0x003C_3EF3;
    CSR, "CSR", 0, BRE, inert VOSRDY | BRR | ODRDY | ODSWRDY, missing 0x000C_0180;
};
/// RM0090 §5.4.1: VOS has one bit.
static PWR_F407: [Register; 2] = pwr(0x4000, 0b01);

const SCALES: PwrFacts = PwrFacts {
    table: &PWR,
    vos_shift: Some(VOS_SHIFT),
    tells_ready: true,
    over_drive: OverDrive::None,
};

pub static F401: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &f4::LAYOUT_F401,
    pwr: SCALES,
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};
pub static F411: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &f4::LAYOUT_F411,
    pwr: SCALES,
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};
pub static F407: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &f4::LAYOUT_F407,
    pwr: PwrFacts {
        table: &PWR_F407,
        ..SCALES
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};
pub static F446: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &f4::LAYOUT_F446,
    pwr: PwrFacts {
        table: &PWR_F446,
        over_drive: OverDrive::Switched,
        ..SCALES
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES, ROUTES_F446])),
};

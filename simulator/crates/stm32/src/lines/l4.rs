//! The STM32L4: L476 (RM0351).

use super::record::{FamilyFacts, Gates, LineFacts, SystemMemory};
use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::{self, DbgmcuFacts};
use crate::peripherals::exti::{ExtiFacts, PLACES};
use crate::peripherals::flash::l4::*;
use crate::peripherals::flash::{self, FlashFacts, FlashKind};
use crate::peripherals::gpio::{ports_with_brr, GpioFacts, GpioKind, PINS};
use crate::peripherals::pwr::{self, OverDrive, PwrFacts, DBP};
use crate::peripherals::rcc::l4;
use crate::peripherals::registers::{merged, rows, Register};
use crate::peripherals::syscfg::SyscfgFacts;
use crate::peripherals::timer::models;
use crate::peripherals::usart;
use std::sync::LazyLock;

/// RM0351 §8.5: pins start in analog mode. ASCR has switches to the ADC, which nothing here sees.
const fn ports_l4(moder: u32, ospeedr: u32, pupdr: u32) -> [Register; 12] {
    merged(
        &ports_with_brr(moder, ospeedr, pupdr),
        &rows! { 0x2C, "ASCR", 0, PINS; },
    )
}
static GPIOA: [Register; 12] = ports_l4(0xABFF_FFFF, 0x0C00_0000, 0x6400_0000);
static GPIOB: [Register; 12] = ports_l4(0xFFFF_FEBF, 0x0000_00C0, 0x0000_0100);
static GPIOH: [Register; 12] = ports_l4(0x0000_000F, 0, 0);
static GPIO: [Register; 12] = ports_l4(0xFFFF_FFFF, 0, 0);

/// Lines of the first registers that edges raise: those of pins, PVD, USB, RTC and COMP.
const LINES: u32 = 0x007D_FFFF;
static EXTI: [Register; 12] = rows! {
    PLACES.imr, "IMR1", 0xFF82_0000, !0;
    PLACES.emr, "EMR1", 0, !0;
    PLACES.rtsr, "RTSR1", 0, LINES;
    PLACES.ftsr, "FTSR1", 0, LINES;
    PLACES.swier, "SWIER1", 0, LINES;
    PLACES.pending[0], "PR1", 0, LINES;
    // The lines 32 to 39: LCD, LPUART1, LPTIMs, SWPMI, PVM.
    0x20, "IMR2", 0xFFFF_FF87, 0, missing 0xFF;
    0x24, "EMR2", 0, 0, missing 0xFF;
    0x28, "RTSR2", 0, 0, missing 0x78;
    0x2C, "FTSR2", 0, 0, missing 0x78;
    0x30, "SWIER2", 0, 0, missing 0x78;
    0x34, "PR2", 0, 0, missing 0x78;
};
/// RM0351 §13.3, table 57.
static VECTORS: [(u16, u32); 13] = [
    (1, 1 << 16),
    (2, 1 << 19),
    (3, 1 << 20),
    (6, 0x0001),
    (7, 0x0002),
    (8, 0x0004),
    (9, 0x0008),
    (10, 0x0010),
    (23, 0x03E0),
    (40, 0xFC00),
    (41, 1 << 18),
    (64, 0b11 << 21),
    (67, 1 << 17),
];

/// No protection, two banks, no boot from bank 2, watchdogs by software.
const OPTIONS: u32 = 0xFFEF_F8AA;
static FLASH: [Register; 16] = rows! {
    // Missing: the power-down of the flash.
    flash::ACR, "ACR", 0x0600, 0b111 | 1 << 8 | flash::ICEN | flash::DCEN | flash::ICRST | flash::DCRST, missing 0b11 << 13;
    0x04, "PDKEYR", 0, 0, missing !0;
    KEYR, "KEYR", 0, !0;
    OPTKEYR, "OPTKEYR", 0, !0;
    SR, "SR", 0, flash::EOP | ERRORS | 0b11 << 14, inert flash::BSY;
    // Missing: fast programming, option bytes, read protection by PCROP.
    CR, "CR", flash::LOCK | OPTLOCK, CR_BITS, missing 0b11 << 17 | 0b11 << 26;
    0x18, "ECCR", 0, 0, inert 0b11 << 30, missing 1 << 24;
    // Option bytes are not programmed.
    OPTR, "OPTR", OPTIONS, 0, missing !0;
    0x24, "PCROP1SR", 0xFFFF_FFFF, 0, missing !0;
    0x28, "PCROP1ER", 0x0FFF_0000, 0, missing !0;
    0x2C, "WRP1AR", 0xFF00_FFFF, 0, missing !0;
    0x30, "WRP1BR", 0xFF00_FFFF, 0, missing !0;
    0x44, "PCROP2SR", 0xFFFF_FFFF, 0, missing !0;
    0x48, "PCROP2ER", 0xFFFF_0000, 0, missing !0;
    0x4C, "WRP2AR", 0xFF00_FFFF, 0, missing !0;
    0x50, "WRP2BR", 0xFF00_FFFF, 0, missing !0;
};

static SYSCFG: [Register; 10] = rows! {
    0x00, "MEMRMP", 0, 0, missing 0x107;
    // Drive of I2C pins, the analog switches' booster, interrupts of the FPU.
    0x04, "CFGR1", 0x7C00_0001, 0, missing 0xFC7F_0101;
    0x08, "EXTICR1", 0, 0xFFFF;
    0x0C, "EXTICR2", 0, 0xFFFF;
    0x10, "EXTICR3", 0, 0xFFFF;
    0x14, "EXTICR4", 0, 0xFFFF;
    0x18, "SCSR", 0, 0, inert 0b10, missing 1;
    0x1C, "CFGR2", 0, 0, inert 1 << 8, missing 0xF;
    0x20, "SWPR", 0, 0, missing !0;
    0x24, "SKR", 0, 0, missing 0xFF;
};

/// RM0351 §46.
static DBGMCU: [Register; 5] = rows! {
    dbgmcu::IDCODE, "IDCODE", 0, 0, inert !0;
    dbgmcu::CR, "CR", 0, 0b111, missing 0xE0;
    0x08, "APB1_FZR1", 0, 0x82E0_1C3F, inert !0x82E0_1C3F;
    0x0C, "APB1_FZR2", 0, 0x20, inert !0x20;
    0x10, "APB2_FZR", 0, 0x0007_2800, inert !0x0007_2800;
};

/// CR1's.
pub const VOS_SHIFT: u32 = 9;

/// RM0351 §5.4. SR2.VOSF is never set: a new range is there at once. Missing: low-power modes, wake-up
/// pins, the voltage detectors, and the pulls of Standby mode.
static PWR: [Register; 23] = rows! {
    pwr::CR, "CR1", 0x0200, 0b11 << VOS_SHIFT | DBP, missing 0x4007;
    0x04, "CR2", 0, 0, missing 0x06FF;
    0x08, "CR3", 0x8000, 0, missing 0x851F;
    0x0C, "CR4", 0, 0, missing 0x031F;
    0x10, "SR1", 0, 0, inert 0x811F;
    0x14, "SR2", 0x0100, 0, inert 0xFF00;
    0x18, "SCR", 0, 0, inert 0x011F;
    0x20, "PUCRA", 0, 0, missing 0xFFFF;
    0x24, "PDCRA", 0, 0, missing 0xFFFF;
    0x28, "PUCRB", 0, 0, missing 0xFFFF;
    0x2C, "PDCRB", 0, 0, missing 0xFFFF;
    0x30, "PUCRC", 0, 0, missing 0xFFFF;
    0x34, "PDCRC", 0, 0, missing 0xFFFF;
    0x38, "PUCRD", 0, 0, missing 0xFFFF;
    0x3C, "PDCRD", 0, 0, missing 0xFFFF;
    0x40, "PUCRE", 0, 0, missing 0xFFFF;
    0x44, "PDCRE", 0, 0, missing 0xFFFF;
    0x48, "PUCRF", 0, 0, missing 0xFFFF;
    0x4C, "PDCRF", 0, 0, missing 0xFFFF;
    0x50, "PUCRG", 0, 0, missing 0xFFFF;
    0x54, "PDCRG", 0, 0, missing 0xFFFF;
    0x58, "PUCRH", 0, 0, missing 0xFFFF;
    0x5C, "PDCRH", 0, 0, missing 0xFFFF;
};

/// DS10198, tables "Alternate function AF0 to AF7" and "AF8 to AF15", without complementary outputs.
const ROUTES: &str = "
PA0 AF1 TIM2_CH1, AF2 TIM5_CH1, AF8 UART4_TX
PA1 AF1 TIM2_CH2, AF2 TIM5_CH2, AF8 UART4_RX
PA2 AF1 TIM2_CH3, AF2 TIM5_CH3, AF7 USART2_TX, AF14 TIM15_CH1
PA3 AF1 TIM2_CH4, AF2 TIM5_CH4, AF7 USART2_RX, AF14 TIM15_CH2
PA5 AF1 TIM2_CH1
PA6 AF2 TIM3_CH1, AF14 TIM16_CH1
PA7 AF2 TIM3_CH2, AF14 TIM17_CH1
PA8 AF1 TIM1_CH1
PA9 AF1 TIM1_CH2, AF7 USART1_TX
PA10 AF1 TIM1_CH3, AF7 USART1_RX
PA11 AF1 TIM1_CH4
PA15 AF1 TIM2_CH1
PB0 AF2 TIM3_CH3
PB1 AF2 TIM3_CH4
PB3 AF1 TIM2_CH2
PB4 AF2 TIM3_CH1
PB5 AF2 TIM3_CH2
PB6 AF2 TIM4_CH1, AF7 USART1_TX
PB7 AF2 TIM4_CH2, AF7 USART1_RX
PB8 AF2 TIM4_CH3, AF14 TIM16_CH1
PB9 AF2 TIM4_CH4, AF14 TIM17_CH1
PB10 AF1 TIM2_CH3, AF7 USART3_TX
PB11 AF1 TIM2_CH4, AF7 USART3_RX
PB14 AF14 TIM15_CH1
PB15 AF14 TIM15_CH2
PC4 AF7 USART3_TX
PC5 AF7 USART3_RX
PC6 AF2 TIM3_CH1, AF3 TIM8_CH1
PC7 AF2 TIM3_CH2, AF3 TIM8_CH2
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
PE3 AF2 TIM3_CH1
PE4 AF2 TIM3_CH2
PE5 AF2 TIM3_CH3
PE6 AF2 TIM3_CH4
PE9 AF1 TIM1_CH1
PE11 AF1 TIM1_CH2
PE13 AF1 TIM1_CH3
PE14 AF1 TIM1_CH4
";

pub static LINE: LineFacts = LineFacts {
    name: "STM32L4",
    gpio: GpioFacts {
        kind: GpioKind::Moder,
        tables: &[("GPIOA", &GPIOA), ("GPIOB", &GPIOB), ("GPIOH", &GPIOH)],
        table: &GPIO,
        slow_speeds: 0b0001,
        slow_edge_ns: 100,
    },
    exti: ExtiFacts {
        places: PLACES,
        table: &EXTI,
        vectors: &VECTORS,
        exticr: None,
    },
    flash: FlashFacts {
        kind: FlashKind::DoubleWords,
        layout: &DOUBLE_WORDS,
        tables: &[(1 << 20, &FLASH)],
        latency: 0b111,
        options: OPTIONS,
        open: 0xAA,
        page_bytes: 2048,
        banks: 2,
        // DS10198, table "Flash memory characteristics".
        program_us: 82,
        page_erase_us: 22_020,
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
        otp: Some(0x1FFF_7000..=0x1FFF_73FF),
        unique_id: 0x1FFF_7590,
        flash_kib: (0x1FFF_75E0, 0),
        options: 0x1FFF_7800..=0x1FFF_7807,
    },
    gates: &[
        (Bus::Ahb1, Gates::new(l4::AHB1ENR, l4::AHB1RSTR)),
        (Bus::Ahb2, Gates::new(l4::AHB2ENR, l4::AHB2RSTR)),
        (Bus::Apb1, Gates::new(l4::APB1ENR1, l4::APB1RSTR1)),
        (Bus::Apb2, Gates::new(l4::APB2ENR, l4::APB2RSTR)),
    ],
    timers: &models::MODELS_L4,
    usart: usart::V2,
    watchdog_has_window: true,
};

pub static L476: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &l4::LAYOUT,
    pwr: PwrFacts {
        table: &PWR,
        vos_shift: Some(VOS_SHIFT),
        tells_ready: false,
        over_drive: OverDrive::None,
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};

//! The STM32G4: G474 (RM0440).

use super::l4::VOS_SHIFT;
use super::record::{FamilyFacts, Gates, LineFacts, SystemMemory};
use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::{self, DbgmcuFacts};
use crate::peripherals::exti::{ExtiFacts, PLACES};
use crate::peripherals::flash::l4::*;
use crate::peripherals::flash::{self, FlashFacts, FlashKind};
use crate::peripherals::gpio::{ports_with_brr, GpioFacts, GpioKind};
use crate::peripherals::pwr::{self, OverDrive, PwrFacts, DBP, R1MODE};
use crate::peripherals::rcc::g4;
use crate::peripherals::registers::{rows, Register};
use crate::peripherals::syscfg::SyscfgFacts;
use crate::peripherals::timer::models;
use crate::peripherals::usart;
use std::sync::LazyLock;

// RM0440 §9.4: pins start in analog mode, but for the debug port's.
static GPIOA: [Register; 11] = ports_with_brr(0xABFF_FFFF, 0x0C00_0000, 0x6400_0000);
static GPIOB: [Register; 11] = ports_with_brr(0xFFFF_FEBF, 0x0000_00C0, 0x0000_0100);
static GPIO: [Register; 11] = ports_with_brr(0xFFFF_FFFF, 0, 0);

/// Lines of the first registers that edges raise: those of pins, PVD, RTC and COMP.
const LINES: u32 = 0xE07B_FFFF;
static EXTI: [Register; 12] = rows! {
    // The lines of peripherals that wake the chip are unmasked from reset on.
    PLACES.imr, "IMR1", 0x1F84_0000, !0;
    PLACES.emr, "EMR1", 0, !0;
    PLACES.rtsr, "RTSR1", 0, LINES;
    PLACES.ftsr, "FTSR1", 0, LINES;
    PLACES.swier, "SWIER1", 0, LINES;
    PLACES.pending[0], "PR1", 0, LINES;
    // The lines 32 to 43.
    0x20, "IMR2", 0, 0, absent;
    0x24, "EMR2", 0, 0, absent;
    0x28, "RTSR2", 0, 0, absent;
    0x2C, "FTSR2", 0, 0, absent;
    0x30, "SWIER2", 0, 0, absent;
    0x34, "PR2", 0, 0, absent;
};
/// RM0440 §14.3, table 97.
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
    (41, 1 << 17),
    (64, 0b11 << 21 | 1 << 29),
    (65, 0b11 << 30),
];

/// No protection, two banks, watchdogs by software.
const OPTIONS: u32 = 0xFFEF_F8AA;
/// That debuggers may read: from reset on.
const DBG_SWEN: u32 = 1 << 18;
static FLASH: [Register; 18] = rows! {
    // Missing: the power-down of the flash.
    flash::ACR, "ACR", 0x0004_0600, 0xF | 1 << 8 | flash::ICEN | flash::DCEN | flash::ICRST | flash::DCRST | DBG_SWEN, missing 0b11 << 13;
    0x04, "PDKEYR", 0, 0, missing !0;
    KEYR, "KEYR", 0, !0;
    OPTKEYR, "OPTKEYR", 0, !0;
    SR, "SR", 0, flash::EOP | ERRORS | 0b11 << 14, inert flash::BSY;
    // Missing: fast programming, option bytes, protected areas.
    CR, "CR", flash::LOCK | OPTLOCK, CR_BITS & !(1 << 10), missing 0b11 << 17 | 0b1111 << 26;
    0x18, "ECCR", 0, 0, inert 0b11 << 30, missing 1 << 24;
    // Option bytes are not programmed.
    OPTR, "OPTR", OPTIONS, 0, missing !0;
    0x24, "PCROP1SR", 0x0000_7FFF, 0, missing !0;
    0x28, "PCROP1ER", 0, 0, missing !0;
    0x2C, "WRP1AR", 0x0000_007F, 0, missing !0;
    0x30, "WRP1BR", 0x0000_007F, 0, missing !0;
    0x44, "PCROP2SR", 0x0000_7FFF, 0, missing !0;
    0x48, "PCROP2ER", 0, 0, missing !0;
    0x4C, "WRP2AR", 0x0000_007F, 0, missing !0;
    0x50, "WRP2BR", 0x0000_007F, 0, missing !0;
    0x70, "SEC1R", 0, 0, missing !0;
    0x74, "SEC2R", 0, 0, missing !0;
};

static SYSCFG: [Register; 12] = rows! {
    0x00, "MEMRMP", 0, 0, missing 0x107;
    // Drive of I2C pins, the analog switches' booster, interrupts of the FPU.
    0x04, "CFGR1", 0x7C00_0001, 0, missing 0xFCFF_0300;
    0x08, "EXTICR1", 0, 0xFFFF;
    0x0C, "EXTICR2", 0, 0xFFFF;
    0x10, "EXTICR3", 0, 0xFFFF;
    0x14, "EXTICR4", 0, 0xFFFF;
    0x18, "SCSR", 0, 0, inert 0b10, missing 1;
    0x1C, "CFGR2", 0, 0, inert 1 << 8, missing 0xF;
    0x20, "SWPR", 0, 0, missing !0;
    0x24, "SKR", 0, 0, missing 0xFF;
    0x30, "VREFBUF_CSR", 0, 0, absent;
    0x34, "VREFBUF_CCR", 0, 0, absent;
};

/// RM0440 §47.16.
static DBGMCU: [Register; 5] = rows! {
    dbgmcu::IDCODE, "IDCODE", 0, 0, inert !0;
    dbgmcu::CR, "CR", 0, 0b111, missing 0xE0;
    0x08, "APB1FZR1", 0, 0xC060_1C3F, inert !0xC060_1C3F;
    0x0C, "APB1FZR2", 0, 0x02, inert !0x02;
    0x10, "APB2FZR", 0, 0x3C17_2800, inert !0x3C17_2800;
};

/// That USB-C's pull-downs at PB4 and PB6 are off. Nothing here sees them.
const UCPD1_DBDIS: u32 = 1 << 14;

/// RM0440 §6.4. SR2.VOSF is never set: a new range is there at once. Missing: low-power modes, wake-up
/// pins, the voltage detectors, and the pulls of Standby mode.
static PWR: [Register; 22] = rows! {
    pwr::CR, "CR1", 0x0200, 0b11 << VOS_SHIFT | DBP, missing 0x4007;
    0x04, "CR2", 0, 0, missing 0x00FF;
    0x08, "CR3", 0x8000, UCPD1_DBDIS, missing 0xA51F;
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
    pwr::CR5, "CR5", 1 << R1MODE, 1 << R1MODE;
};

/// DS12288, table 13, the package with 64 pins, without complementary outputs.
const ROUTES: &str = "
PA0 AF1 TIM2_CH1, AF2 TIM5_CH1
PA1 AF1 TIM2_CH2, AF2 TIM5_CH2
PA2 AF1 TIM2_CH3, AF2 TIM5_CH3, AF7 USART2_TX, AF9 TIM15_CH1
PA3 AF1 TIM2_CH4, AF2 TIM5_CH4, AF7 USART2_RX, AF9 TIM15_CH2
PA4 AF2 TIM3_CH2
PA5 AF1 TIM2_CH1
PA6 AF1 TIM16_CH1, AF2 TIM3_CH1
PA7 AF1 TIM17_CH1, AF2 TIM3_CH2
PA8 AF6 TIM1_CH1
PA9 AF6 TIM1_CH2, AF7 USART1_TX, AF10 TIM2_CH3
PA10 AF6 TIM1_CH3, AF7 USART1_RX, AF10 TIM2_CH4
PA11 AF10 TIM4_CH1, AF11 TIM1_CH4
PA12 AF1 TIM16_CH1, AF10 TIM4_CH2
PA13 AF10 TIM4_CH3
PA14 AF5 TIM8_CH2, AF7 USART2_TX
PA15 AF1 TIM2_CH1, AF2 TIM8_CH1, AF7 USART2_RX
PB0 AF2 TIM3_CH3
PB1 AF2 TIM3_CH4
PB2 AF2 TIM5_CH1
PB3 AF1 TIM2_CH2, AF7 USART2_TX
PB4 AF1 TIM16_CH1, AF2 TIM3_CH1, AF7 USART2_RX
PB5 AF2 TIM3_CH2, AF10 TIM17_CH1
PB6 AF2 TIM4_CH1, AF5 TIM8_CH1, AF7 USART1_TX
PB7 AF2 TIM4_CH2, AF7 USART1_RX, AF10 TIM3_CH4
PB8 AF1 TIM16_CH1, AF2 TIM4_CH3, AF7 USART3_RX, AF10 TIM8_CH2
PB9 AF1 TIM17_CH1, AF2 TIM4_CH4, AF7 USART3_TX, AF10 TIM8_CH3
PB10 AF1 TIM2_CH3, AF7 USART3_TX
PB11 AF1 TIM2_CH4, AF7 USART3_RX
PB14 AF1 TIM15_CH1
PB15 AF1 TIM15_CH2
PC0 AF2 TIM1_CH1
PC1 AF2 TIM1_CH2
PC2 AF2 TIM1_CH3
PC3 AF2 TIM1_CH4
PC4 AF7 USART1_TX
PC5 AF7 USART1_RX
PC6 AF2 TIM3_CH1, AF4 TIM8_CH1
PC7 AF2 TIM3_CH2, AF4 TIM8_CH2
PC8 AF2 TIM3_CH3, AF4 TIM8_CH3
PC9 AF2 TIM3_CH4, AF4 TIM8_CH4
PC10 AF5 UART4_TX, AF7 USART3_TX
PC11 AF5 UART4_RX, AF7 USART3_RX
PC12 AF1 TIM5_CH2, AF5 UART5_TX
PD2 AF5 UART5_RX
";

pub static LINE: LineFacts = LineFacts {
    name: "STM32G4",
    gpio: GpioFacts {
        kind: GpioKind::Moder,
        tables: &[("GPIOA", &GPIOA), ("GPIOB", &GPIOB)],
        table: &GPIO,
        slow_speeds: 0b0001,
        // DS12288, table "I/O AC characteristics" (from memory).
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
        tables: &[(512 << 10, &FLASH)],
        latency: 0xF,
        options: OPTIONS,
        open: 0xAA,
        page_bytes: 2048,
        banks: 2,
        // DS12288, table "Flash memory characteristics".
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
        (Bus::Ahb1, Gates::new(g4::AHB1ENR, g4::AHB1RSTR)),
        (Bus::Ahb2, Gates::new(g4::AHB2ENR, g4::AHB2RSTR)),
        (Bus::Apb1, Gates::new(g4::APB1ENR1, g4::APB1RSTR1)),
        (Bus::Apb2, Gates::new(g4::APB2ENR, g4::APB2RSTR)),
    ],
    timers: &models::MODELS_G4,
    usart: usart::WITH_FIFOS,
    watchdog_has_window: true,
};

pub static G474: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &g4::LAYOUT,
    pwr: PwrFacts {
        table: &PWR,
        vos_shift: Some(VOS_SHIFT),
        tells_ready: false,
        over_drive: OverDrive::Boost,
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};

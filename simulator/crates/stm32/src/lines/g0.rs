//! The STM32G0: G071 (RM0444).

use super::l4::VOS_SHIFT;
use super::record::{FamilyFacts, Gates, LineFacts, SystemMemory};
use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::{self, DbgmcuFacts};
use crate::peripherals::exti::{ExtiFacts, Places};
use crate::peripherals::flash::l4::*;
use crate::peripherals::flash::{self, FlashFacts, FlashKind};
use crate::peripherals::gpio::{ports_with_brr, GpioFacts, GpioKind};
use crate::peripherals::pwr::{self, OverDrive, PwrFacts, DBP};
use crate::peripherals::rcc::g0;
use crate::peripherals::registers::{rows, Register};
use crate::peripherals::syscfg::SyscfgFacts;
use crate::peripherals::timer::models;
use crate::peripherals::usart;
use std::sync::LazyLock;

// RM0444 §7.4: pins start in analog mode, but for those of SWD.
static GPIOA: [Register; 11] = ports_with_brr(0xEBFF_FFFF, 0x0C00_0000, 0x2400_0000);
static GPIO: [Register; 11] = ports_with_brr(0xFFFF_FFFF, 0, 0);

/// Lines that edges raise: those of pins, PVD and COMP.
const LINES: u32 = 0x0007_FFFF;
/// RM0444 §13.5. Edges up and edges down pend apart, and the ports are chosen here.
const PLACES: Places = Places {
    imr: 0x80,
    emr: 0x84,
    rtsr: 0x00,
    ftsr: 0x04,
    swier: 0x08,
    pending: [0x0C, 0x10],
};
static EXTI: [Register; 13] = rows! {
    0x00, "RTSR1", 0, LINES;
    0x04, "FTSR1", 0, LINES;
    0x08, "SWIER1", 0, LINES;
    0x0C, "RPR1", 0, LINES;
    0x10, "FPR1", 0, LINES;
    0x60, "EXTICR1", 0, !0;
    0x64, "EXTICR2", 0, !0;
    0x68, "EXTICR3", 0, !0;
    0x6C, "EXTICR4", 0, !0;
    // The lines of peripherals that wake the chip are unmasked from reset on.
    0x80, "IMR1", 0xFFF8_0000, !0;
    0x84, "EMR1", 0, !0;
    0x90, "IMR2", 0, 0, absent;
    0x94, "EMR2", 0, 0, absent;
};
/// RM0444 §12.3, table 54.
static VECTORS: [(u16, u32); 5] = [
    (1, 1 << 16),
    (5, 0x0003),
    (6, 0x000C),
    (7, 0xFFF0),
    (12, 0b11 << 17),
];

/// No protection, watchdogs by software, NRST as input and output (from memory).
const OPTIONS: u32 = 0xDFFF_E1AA;
const CR_BITS_G0: u32 = flash::PG
    | PER
    | MER1
    | 0x3F << 3
    | flash::STRT
    | flash::EOPIE
    | flash::ERRIE
    | OPTLOCK
    | flash::LOCK;
/// That debuggers may read: from reset on.
const DBG_SWEN: u32 = 1 << 18;
static FLASH: [Register; 13] = rows! {
    // EMPTY tells of a chip that was never programmed.
    flash::ACR, "ACR", 0x0004_0600, 0b111 | 1 << 8 | flash::ICEN | flash::ICRST | DBG_SWEN, inert 1 << 10 | 1 << 16;
    KEYR, "KEYR", 0, !0;
    OPTKEYR, "OPTKEYR", 0, !0;
    SR, "SR", 0, flash::EOP | ERRORS | 0b11 << 14, inert flash::BSY | 1 << 18;
    // Missing: fast programming, option bytes, protected areas.
    CR, "CR", flash::LOCK | OPTLOCK, CR_BITS_G0, missing 0b11 << 17 | 0b111 << 26;
    0x18, "ECCR", 0, 0, inert 0b11 << 30, missing 1 << 24;
    // Option bytes are not programmed.
    OPTR, "OPTR", OPTIONS, 0, missing !0;
    0x24, "PCROP1ASR", 0x0000_00FF, 0, missing !0;
    0x28, "PCROP1AER", 0, 0, missing !0;
    0x2C, "WRP1AR", 0x0000_003F, 0, missing !0;
    0x30, "WRP1BR", 0x0000_003F, 0, missing !0;
    0x34, "PCROP1BSR", 0x0000_00FF, 0, missing !0;
    0x38, "PCROP1BER", 0, 0, missing !0;
};

/// Flash stays at address 0. Drive of pins, remapped pins, pull-downs of USB-C; what stands behind it of
/// references and comparators is not modelled.
static SYSCFG: [Register; 6] = rows! {
    0x00, "CFGR1", 0, 0, missing 0x00FF_0FFF;
    0x18, "CFGR2", 0, 0, inert 1 << 8, missing 0b1111;
    0x30, "VREFBUF_CSR", 0, 0, absent;
    0x34, "VREFBUF_CCR", 0, 0, absent;
    0x200, "COMP1_CSR", 0, 0, absent;
    0x204, "COMP2_CSR", 0, 0, absent;
};

/// RM0444 §40.10: it is on the APB, with a clock.
static DBGMCU: [Register; 4] = rows! {
    dbgmcu::IDCODE, "IDCODE", 0, 0, inert !0;
    dbgmcu::CR, "CR", 0, 0b110, inert !0b110;
    0x08, "APB_FZ1", 0, 0xC020_1C33, inert !0xC020_1C33;
    0x0C, "APB_FZ2", 0, 0x0007_8800, inert !0x0007_8800;
};

/// RM0444 §4.4. SR2.VOSF is never set: a new range is there at once. Missing: low-power modes, wake-up
/// pins, the voltage detector, and the pulls of Standby mode.
static PWR: [Register; 17] = rows! {
    pwr::CR, "CR1", 0x0208, 0b11 << VOS_SHIFT | DBP, missing 0x403F;
    0x04, "CR2", 0, 0, missing 0x007F;
    0x08, "CR3", 0x8000, 0, missing 0x873B;
    0x0C, "CR4", 0, 0, missing 0x033B;
    0x10, "SR1", 0, 0, inert 0x813B;
    0x14, "SR2", 0x0100, 0, inert 0x0F80;
    0x18, "SCR", 0, 0, inert 0x013B;
    0x20, "PUCRA", 0, 0, missing 0xFFFF;
    0x24, "PDCRA", 0, 0, missing 0xFFFF;
    0x28, "PUCRB", 0, 0, missing 0xFFFF;
    0x2C, "PDCRB", 0, 0, missing 0xFFFF;
    0x30, "PUCRC", 0, 0, missing 0xFFFF;
    0x34, "PDCRC", 0, 0, missing 0xFFFF;
    0x38, "PUCRD", 0, 0, missing 0xFFFF;
    0x3C, "PDCRD", 0, 0, missing 0xFFFF;
    0x48, "PUCRF", 0, 0, missing 0xFFFF;
    0x4C, "PDCRF", 0, 0, missing 0xFFFF;
};

/// DS12232, tables 13 to 17, without complementary outputs.
const ROUTES: &str = "
PA0 AF2 TIM2_CH1
PA1 AF2 TIM2_CH2
PA2 AF1 USART2_TX, AF2 TIM2_CH3, AF5 TIM15_CH1
PA3 AF1 USART2_RX, AF2 TIM2_CH4, AF5 TIM15_CH2
PA4 AF4 TIM14_CH1
PA5 AF2 TIM2_CH1, AF4 USART3_TX
PA6 AF1 TIM3_CH1, AF5 TIM16_CH1
PA7 AF1 TIM3_CH2, AF4 TIM14_CH1, AF5 TIM17_CH1
PA8 AF2 TIM1_CH1
PA9 AF1 USART1_TX, AF2 TIM1_CH2
PA10 AF1 USART1_RX, AF2 TIM1_CH3
PA11 AF2 TIM1_CH4
PA14 AF1 USART2_TX
PA15 AF1 USART2_RX, AF2 TIM2_CH1
PB0 AF1 TIM3_CH3, AF4 USART3_RX
PB1 AF0 TIM14_CH1, AF1 TIM3_CH4
PB2 AF4 USART3_TX
PB3 AF1 TIM1_CH2, AF2 TIM2_CH2
PB4 AF1 TIM3_CH1
PB5 AF1 TIM3_CH2
PB6 AF0 USART1_TX, AF1 TIM1_CH3
PB7 AF0 USART1_RX
PB8 AF2 TIM16_CH1, AF4 USART3_TX
PB9 AF2 TIM17_CH1, AF4 USART3_RX
PB10 AF2 TIM2_CH3, AF4 USART3_TX
PB11 AF2 TIM2_CH4, AF4 USART3_RX
PB14 AF5 TIM15_CH1
PB15 AF5 TIM15_CH2
PC1 AF2 TIM15_CH1
PC2 AF2 TIM15_CH2
PC4 AF0 USART3_TX, AF1 USART1_TX, AF2 TIM2_CH1
PC5 AF0 USART3_RX, AF1 USART1_RX, AF2 TIM2_CH2
PC6 AF1 TIM3_CH1, AF2 TIM2_CH3
PC7 AF1 TIM3_CH2, AF2 TIM2_CH4
PC8 AF1 TIM3_CH3, AF2 TIM1_CH1
PC9 AF1 TIM3_CH4, AF2 TIM1_CH2
PC10 AF0 USART3_TX, AF2 TIM1_CH3
PC11 AF0 USART3_RX, AF2 TIM1_CH4
PC12 AF2 TIM14_CH1
PD0 AF2 TIM16_CH1
PD1 AF2 TIM17_CH1
PD5 AF0 USART2_TX
PD6 AF0 USART2_RX
PD8 AF0 USART3_TX
PD9 AF0 USART3_RX
PF0 AF2 TIM14_CH1
";

pub static LINE: LineFacts = LineFacts {
    name: "STM32G0",
    gpio: GpioFacts {
        kind: GpioKind::Moder,
        tables: &[("GPIOA", &GPIOA)],
        table: &GPIO,
        slow_speeds: 0b0001,
        // DS12232, table "I/O AC characteristics" (from memory).
        slow_edge_ns: 100,
    },
    exti: ExtiFacts {
        places: PLACES,
        table: &EXTI,
        vectors: &VECTORS,
        exticr: Some(0x60),
    },
    flash: FlashFacts {
        kind: FlashKind::DoubleWords,
        layout: &DOUBLE_WORDS,
        tables: &[(128 << 10, &FLASH)],
        latency: 0b111,
        options: OPTIONS,
        open: 0xAA,
        page_bytes: 2048,
        banks: 1,
        // DS12232, table "Flash memory characteristics".
        program_us: 85,
        page_erase_us: 22_000,
    },
    syscfg: SyscfgFacts {
        name: "SYSCFG",
        table: &SYSCFG,
        assigns_pins: false,
    },
    dbgmcu: DbgmcuFacts {
        table: &DBGMCU,
        // RM0444 §40.9.1, as on the STM32F0.
        always_clocked: true,
        debugger_alone: false,
    },
    system_memory: SystemMemory {
        otp: Some(0x1FFF_7000..=0x1FFF_73FF),
        unique_id: 0x1FFF_7590,
        flash_kib: (0x1FFF_75E0, 0),
        options: 0x1FFF_7800..=0x1FFF_7807,
    },
    gates: &[
        (Bus::Ahb1, Gates::new(g0::AHBENR, g0::AHBRSTR)),
        (Bus::Ahb2, Gates::new(g0::IOPENR, g0::IOPRSTR)),
        (Bus::Apb1, Gates::new(g0::APBENR1, g0::APBRSTR1)),
        (Bus::Apb2, Gates::new(g0::APBENR2, g0::APBRSTR2)),
    ],
    timers: &models::MODELS_G0,
    usart: usart::WITH_FIFOS,
    watchdog_has_window: true,
};

pub static G071: FamilyFacts = FamilyFacts {
    line: &LINE,
    rcc: &g0::LAYOUT,
    pwr: PwrFacts {
        table: &PWR,
        vos_shift: Some(VOS_SHIFT),
        tells_ready: false,
        over_drive: OverDrive::None,
    },
    routes: LazyLock::new(|| Routes::read(&[ROUTES])),
};

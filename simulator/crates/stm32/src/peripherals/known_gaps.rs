//! Lists what the chip has and the model lacks, from the register tables themselves.

use super::registers::Register;
use crate::chip::Chip;

/// Differences that no register shows. They are listed here, since hardly a run stops at them.
const DIFFERENCES: &[&str] = &[
    "RCC: the PLL locks after the datasheet's greatest time, crystals start after the typical time; a clock at OSC_IN, LSI and the voltage scale are ready at once",
    "RCC: clocks that the *LPENR registers gate in Sleep mode stay on",
    "timers: capture from TRC stops the run; input filters, slave modes, clearing by ETRF, counting down, complementary outputs, break inputs and DMA requests have no effect; an input is seen without the synchroniser's delay",
    "USART: the waveforms are on their pins only with --attach; only USART2 has DMA requests; bytes leave and arrive whole, without noise or framing errors",
    "SPI: without --attach MISO is high, so every frame reads ones, and SCK, MOSI and NSS are not on their pins; no slave, no DMA requests",
    "I2C: without --attach the bus has pull-ups and no slave: every address ends in NACK, and SCL and SDA are not on their pins; no slave, no DMA requests; a condition takes half a period of SCL",
    "ADC1: pin n is at n + 1 twentieths of VREF+ (3.3 V), the sensor at 25 °C, VREFINT at 1.21 V; there is no start-up time",
    "RNG: every run gives the same numbers",
    "GPIO: the speed of an output has no effect; an edge takes no time",
    "WWDG: its prescaler starts afresh with every write of the counter",
    "FLASH: option bytes are programmed in the time of a 16 KiB sector",
    "FLASH of the STM32L4, F1 and F0: option bytes are not programmed, and write protection has no effect; a wrong key of the F1 and F0 is no bus error",
    "FLASH of the STM32L4: it is read as the STM32F4's, in lines of 128 bits with caches of 64 and 8 lines; code does not run from SRAM2",
    "PWR of the STM32L4: range 2 has the wait states of range 1",
    "GPIO of the STM32F1: an alternate output is low while no channel of a timer drives it",
    "core: the packets that DWT and ITM send on SWO go nowhere but to --itm",
    "all: the core's private peripherals (NVIC, SCB, SysTick, DWT, MPU) are the core's and not listed here",
];

/// One line for each gap. `tables`: the registers of the modelled peripherals, by name.
pub fn list(chip: &Chip, tables: &[(&'static str, &'static [Register])]) -> Vec<String> {
    let absent = chip.peripherals.iter().filter(|place| place.kind.is_none());
    let registers = tables.iter().flat_map(|(peripheral, table)| {
        let rows = table.iter();
        rows.filter_map(move |row| missing(peripheral, row))
    });
    absent
        .map(|place| format!("{} at {:#010x}: no register", place.name, place.base))
        .chain(registers)
        .chain(DIFFERENCES.iter().map(|line| (*line).to_owned()))
        .collect()
}

fn missing(peripheral: &str, row: &Register) -> Option<String> {
    if !row.is_modelled() {
        return Some(format!("{peripheral}_{}: the register", row.name));
    }
    (row.missing != 0).then(|| format!("{peripheral}_{}: bits {:#010x}", row.name, row.missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::nucleo;
    use crate::peripherals::registers::rows;

    #[test]
    fn peripherals_registers_and_bits_are_told() {
        static TABLE: [Register; 3] = rows! {
            0, "CR", 0, 1, missing 0x30;
            4, "SR", 0, 1;
            8, "GTPR", 0, 0, absent;
        };
        let told = list(nucleo(), &[("USART9", &TABLE)]);
        for line in ["USART9_CR: bits 0x00000030", "USART9_GTPR: the register"] {
            assert!(told.iter().any(|told| told == line), "{line}");
        }
        assert!(told
            .iter()
            .any(|line| line.starts_with("OTG_FS at 0x50000000")));
        assert!(!told.iter().any(|line| line.contains("USART9_SR")));
    }
}

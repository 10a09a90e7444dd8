//! The remaps of AFIO_MAPR that are modelled, by name.

/// The fields of AFIO_MAPR that say which pins a peripheral has: where they stand, and their bits.
const FIELDS: [(&str, u32, u32); 9] = [
    ("SPI1", 0, 1),
    ("I2C1", 1, 1),
    ("USART1", 2, 1),
    ("USART2", 3, 1),
    ("USART3", 4, 3),
    ("TIM1", 6, 3),
    ("TIM2", 8, 3),
    ("TIM3", 10, 3),
    ("TIM4", 12, 1),
];

/// The code of a value of a peripheral's field of AFIO_MAPR. `None` if it has none there.
pub fn code(peripheral: &str, value: u32) -> Option<u32> {
    let (_, shift, bits) = FIELDS.iter().find(|row| row.0 == peripheral)?;
    (value <= *bits).then_some(shift | bits << 8 | value << 16)
}

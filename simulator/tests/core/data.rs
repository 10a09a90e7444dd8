//! Data processing, multiplication, bit fields, saturation and packed arithmetic (A7.7).

use crate::core::board::{nzcv, run};

#[test]
fn addition_sets_carry_and_overflow() {
    assert_eq!(nzcv(&run("ldr r0, =0x7fffffff\n adds r0, #1")), 0b1001);
    assert_eq!(nzcv(&run("ldr r0, =0xffffffff\n adds r0, #1")), 0b0110);
}

#[test]
fn subtraction_leaves_carry_as_not_borrow() {
    assert_eq!(nzcv(&run("movs r0, #3\n cmp r0, #5")), 0b1000);
    assert_eq!(nzcv(&run("movs r0, #5\n cmp r0, #5")), 0b0110);
    let board = run("movs r0, #5\n movs r1, #0\n cmp r1, #1\n sbcs r0, r1");
    assert_eq!(board.r(0), 4, "5 - 0 - NOT(carry) with carry clear");
}

#[test]
fn a_64_bit_addition_carries_over() {
    let board = run(
        "ldr r0, =0xffffffff\n movs r1, #1\n movs r2, #1\n movs r3, #0\n adds r0, r2\n adcs r1, r3",
    );
    assert_eq!((board.r(0), board.r(1)), (0, 2));
}

#[test]
fn shifts_by_register_use_the_low_byte() {
    let board = run(
        "movs r0, #1\n ldr r1, =0x120\n lsls r0, r1\n movs r2, #1\n movs r3, #33\n lsls r2, r3",
    );
    assert_eq!(board.r(0), 0, "0x120 shifts by 32");
    assert_eq!(nzcv(&board) & 0b0010, 0, "by 33 not even the carry remains");
}

#[test]
fn rrx_rotates_through_carry() {
    let board = run("movs r0, #3\n cmp r0, r0\n rrxs r1, r0");
    assert_eq!(board.r(1), 0x8000_0001);
    assert_eq!(nzcv(&board), 0b1010);
}

#[test]
fn modified_immediates_set_the_carry_to_their_top_bit() {
    let board = run("movs r1, #0\n cmn r1, r1\n movs.w r0, #0x80000000");
    assert_eq!(nzcv(&board), 0b1010);
    assert_eq!(
        run("mov.w r0, #0x00ab00ab\n mov.w r1, #0xab00ab00").r(1),
        0xAB00_AB00
    );
}

#[test]
fn movw_movt_and_adr_build_addresses() {
    let board = run("movw r0, #0xbeef\n movt r0, #0xdead\n adr r1, 1f\n ldr r1, [r1]\n b 2f\n .balign 4\n1: .word 0x1234\n2:");
    assert_eq!((board.r(0), board.r(1)), (0xDEAD_BEEF, 0x1234));
}

#[test]
fn the_stack_pointer_keeps_its_low_bits_clear() {
    assert_eq!(run("ldr r0, =0x20001003\n mov sp, r0").r(13), 0x2000_1000);
}

#[test]
fn long_products_are_signed_or_not() {
    let board = run("mvn r0, #0\n movs r1, #2\n umull r2, r3, r0, r1\n smull r4, r5, r0, r1\n umaal r0, r1, r0, r0");
    assert_eq!((board.r(2), board.r(3)), (0xFFFF_FFFE, 1));
    assert_eq!((board.r(4), board.r(5)), (0xFFFF_FFFE, 0xFFFF_FFFF));
    let sum = 0xFFFF_FFFFu64 * 0xFFFF_FFFF + 0xFFFF_FFFF + 2;
    assert_eq!(u64::from(board.r(1)) << 32 | u64::from(board.r(0)), sum);
}

#[test]
fn multiply_accumulate_and_subtract() {
    let board =
        run("movs r0, #7\n movs r1, #6\n movs r2, #100\n mla r3, r0, r1, r2\n mls r4, r0, r1, r2");
    assert_eq!((board.r(3), board.r(4)), (142, 58));
}

#[test]
fn division_rounds_towards_zero_and_survives_its_corners() {
    let board = run("mvn r0, #6\n movs r1, #2\n sdiv r2, r0, r1\n mov r3, #0x80000000\n mvn r4, #0\n sdiv r5, r3, r4\n movs r6, #0\n udiv r7, r3, r6");
    assert_eq!(board.r(2) as i32, -3);
    assert_eq!(
        board.r(5),
        0x8000_0000,
        "the one quotient that does not fit"
    );
    assert_eq!(board.r(7), 0, "by zero, with the trap off");
}

#[test]
fn bit_fields_are_extracted_and_inserted() {
    let board = run("ldr r0, =0x12345678\n ubfx r1, r0, #8, #12\n sbfx r2, r0, #4, #4\n movs r3, #0xff\n mov r4, #0\n bfi r4, r3, #28, #4\n mvn r5, #0\n bfc r5, #1, #30");
    assert_eq!(board.r(1), 0x456);
    assert_eq!(board.r(2), 7);
    assert_eq!(board.r(4), 0xF000_0000);
    assert_eq!(board.r(5), 0x8000_0001);
}

#[test]
fn reversals_and_leading_zeros() {
    let board = run("ldr r0, =0x12345680\n rev r1, r0\n rev16 r2, r0\n revsh r3, r0\n rbit r4, r0\n clz r5, r0\n movs r6, #0\n clz r6, r6");
    assert_eq!(board.r(1), 0x8056_3412);
    assert_eq!(board.r(2), 0x3412_8056);
    assert_eq!(board.r(3), 0xFFFF_8056);
    assert_eq!(board.r(4), 0x016A_2C48);
    assert_eq!((board.r(5), board.r(6)), (3, 32));
}

#[test]
fn saturation_sticks_in_q() {
    let board =
        run("movs r0, #200\n ssat r1, #8, r0\n usat r2, #7, r0\n mvn r3, #0\n usat r3, #7, r3");
    assert_eq!((board.r(1), board.r(2), board.r(3)), (127, 127, 0));
    assert_eq!(board.core.xpsr() >> 27 & 1, 1);
    assert_eq!(
        run("movs r0, #100\n ssat r1, #8, r0").core.xpsr() >> 27 & 1,
        0
    );
}

#[test]
fn packed_addition_selects_by_carry() {
    let board = run("ldr r0, =0xff01ff01\n ldr r1, =0x02020202\n uadd8 r2, r0, r1\n mvn r3, #0\n movs r4, #0\n sel r5, r3, r4");
    assert_eq!(board.r(2), 0x0103_0103);
    assert_eq!(board.r(5), 0xFF00_FF00, "bytes that carried");
}

#[test]
fn halfword_products_accumulate() {
    let board = run("ldr r0, =0x0002fffd\n ldr r1, =0x00050004\n smulbb r2, r0, r1\n smultt r3, r0, r1\n movs r4, #1\n smlad r5, r0, r1, r4\n smuadx r6, r0, r1");
    assert_eq!(board.r(2) as i32, -12);
    assert_eq!(board.r(3), 10);
    assert_eq!(board.r(5) as i32, -12 + 10 + 1);
    assert_eq!(board.r(6) as i32, -3 * 5 + 2 * 4);
}

#[test]
fn extensions_rotate_first() {
    let board = run("ldr r0, =0x80f17f81\n sxtb r1, r0\n sxtb r2, r0, ror #16\n uxth r3, r0, ror #8\n movs r4, #1\n sxtah r5, r4, r0");
    assert_eq!(board.r(1), 0xFFFF_FF81);
    assert_eq!(board.r(2), 0xFFFF_FFF1);
    assert_eq!(board.r(3), 0xF17F);
    assert_eq!(board.r(5), 0x7F82);
}

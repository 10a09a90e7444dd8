#include "board/compare_output.h"

#include "board/pins.h"

const compare_output stimulus_output = {STIMULUS_TIMER, STIMULUS_CHANNEL, STIM_PORT, STIM_PIN,
                                        STIMULUS_ALTERNATE};
#ifdef CONTROL_TIMER
const compare_output control_output = {CONTROL_TIMER, CONTROL_CHANNEL, CTRL_PORT, CTRL_PIN,
                                       CONTROL_ALTERNATE};
#else
enum { CONTROL_CLOCK = 0 };
#endif
const compare_output frame_output = {FRAME_TIMER, FRAME_CHANNEL, SYNC_PORT, SYNC_PIN,
                                     FRAME_ALTERNATE};

enum { PHASE_CHANNEL = 4 };

/* CCxIF and CCxIE of channel x are bit x of their registers. */
static uint32_t event_bit(const compare_output *output) {
    return 1u << output->channel;
}

/* OCxM of channels 1 and 2: bits 4-6 and 12-14 of CCMR1 (RM0368, section 13.4.7); all else there
 * stays 0. */
static void set_mode(const compare_output *output, uint32_t mode) {
    TIM_CCMR1(output->timer) = mode << (4u + 8u * (output->channel - 1u));
}

/* Where the frames come from the stimulus's timer, its other channel holds its pin's level
 * meanwhile: its mode is 0 then, frozen. */
static inline uint32_t outputs_beside(uint32_t timer) {
#if FRAME_TIMER == STIMULUS_TIMER
    return TIM_CCER(timer);
#else
    (void)timer;
    return 0;
#endif
}

void timers_start(void) {
    enable_timers(STIMULUS_CLOCK | FRAME_CLOCK | CONTROL_CLOCK);
}

void compare_output_prepare(const compare_output *output, uint32_t period_ticks) {
    const uint32_t timer = output->timer;
    TIM_CR1(timer) = 0;
    TIM_DIER(timer) = 0;
    TIM_PSC(timer) = 0;
    TIM_ARR(timer) = period_ticks - 1u;
    TIM_CCR(timer, output->channel) = period_ticks - 1u;
    TIM_EGR(timer) = TIM_EGR_UG;
    TIM_CCER(timer) = outputs_beside(timer) | 1u << 4u * (output->channel - 1u);
    set_mode(output, TIM_OCM_FORCE_INACTIVE);
    set_mode(output, TIM_OCM_TOGGLE);
    TIM_SR(timer) = 0;
    pin_to_peripheral(output->port, output->pin, output->alternate);
}

/* PWM mode 2: low below the compare value, high from it to the counter's return to 0 (RM0368,
 * section 13.3.9). */
void compare_output_prepare_pairs(const compare_output *output, uint32_t period_ticks,
                                  uint32_t spacing_ticks) {
    compare_output_prepare(output, period_ticks);
    TIM_CCR(output->timer, output->channel) = period_ticks - spacing_ticks;
    set_mode(output, TIM_OCM_PWM2);
    TIM_DIER(output->timer) = TIM_DIER_UIE;
}

/* ARR is preloaded: a new value holds from the counter's next return to 0 on. The match is at 1, so
 * that a counter that has not begun does not match. */
void compare_output_prepare_intervals(const compare_output *output, uint32_t first_ticks) {
    compare_output_prepare(output, first_ticks);
    TIM_CCR(output->timer, output->channel) = 1;
    TIM_CR1(output->timer) = TIM_CR1_ARPE;
}

void compare_output_set_next(const compare_output *output, uint32_t ticks) {
    TIM_ARR(output->timer) = ticks - 1u;
}

void compare_output_prepare_once(const compare_output *output) {
    compare_output_prepare(output, 2);
}

/* The counter runs on past its one match, so that it tells the time since. It would match again
 * when it has come round: after 2^32 ticks (51 s), or 2^16 with a counter of 16 bits. */
void compare_output_once(const compare_output *output, uint32_t ticks) {
    const uint32_t timer = output->timer;
    TIM_CR1(timer) = 0;
    TIM_ARR(timer) = STIMULUS_TIMER_LAST;
    TIM_CCR(timer, output->channel) = ticks;
    TIM_CNT(timer) = 0;
    TIM_CR1(timer) = TIM_CR1_CEN;
}

void compare_output_enable_interrupt(const compare_output *output) {
    TIM_DIER(output->timer) |= event_bit(output);
}

void compare_output_run(const compare_output *output) {
    TIM_CR1(output->timer) |= TIM_CR1_CEN;
}

/* The output matches at the counter's last value, so an edge and the counter's return to 0 are one
 * tick apart. Channel 4 of these timers drives no pin, and notes its match even while an interrupt
 * is served. */
void compare_output_await_phase(const compare_output *output, uint32_t phase_ticks) {
    const uint32_t timer = output->timer;
    TIM_CCR(timer, PHASE_CHANNEL) = phase_ticks;
    TIM_SR(timer) = ~(1u << PHASE_CHANNEL);
    while ((TIM_SR(timer) & 1u << PHASE_CHANNEL) == 0u) {}
}

void compare_output_stop(const compare_output *output) {
    TIM_CR1(output->timer) = 0;
}

bool compare_output_matched(const compare_output *output) {
    return (TIM_SR(output->timer) & event_bit(output)) != 0u;
}

/* Of a pair of edges one is an update, not a match. The read at the end returns only after the
 * write has reached the timer. Without it a short handler would end with its line still high, and
 * run twice. */
uint32_t compare_output_clear(const compare_output *output) {
    TIM_SR(output->timer) = ~(event_bit(output) | TIM_SR_UIF);
    return TIM_CNT(output->timer);
}

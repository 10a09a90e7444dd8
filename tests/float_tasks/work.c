/* A Lorenz system by Euler steps, with a division, a square root and a fused operation in each: a
 * register lost in any step changes all that follow. Sixteen values are kept alive across a step,
 * so that S16-S31 are in use too. */
#include "work.h"

#include <math.h>
#include <string.h>

enum { VALUES = 16 };

static uint32_t mix(uint32_t digest, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (digest << 5 | digest >> 27) ^ bits;
}

static void step(float v[VALUES]) {
    const float h = 0.005f;
    float dx = 10.0f * (v[1] - v[0]);
    float dy = v[0] * (28.0f - v[2]) - v[1];
    float dz = v[0] * v[1] - v[2] * 2.6666667f;
    v[0] += h * dx;
    v[1] += h * dy;
    v[2] = fmaf(h, dz, v[2]);
    for (unsigned n = 3; n < VALUES; n++) {
        v[n] = v[n] * 0.75f + sqrtf(v[n - 1] * v[n - 1] + 1.0f) / (float)n;
    }
}

uint32_t work(unsigned index, void (*yield)(void)) {
    float v[VALUES] = {1.0f + (float)index, 1.0f, 20.0f};
    uint32_t digest = index;
    for (unsigned n = 0; n < WORK_STEPS; n++) {
        step(v);
        digest = mix(mix(digest, v[0]), v[VALUES - 1]);
        if (n % STEPS_PER_YIELD == 0) {
            yield();
        }
    }
    return digest;
}

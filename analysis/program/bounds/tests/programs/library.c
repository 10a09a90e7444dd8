/* newlib's functions of memory, with a length that the code shows and places that are not aligned.
 */
#include "common.h"
#include <string.h>
volatile uint32_t sink;
uint8_t from[256], to[256];
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
#define memset_(at) memset(to + (at), (int)(at), LENGTH)
#define memcpy_(at) memcpy(to + (at), from + 2 * (at), LENGTH)
#define memmove_(at) memmove(to + (at), to + 2 * (at), LENGTH)
#define JOINED(name) name##_
#define CALLED(name) JOINED(name)
APART void section(uint32_t at) {
    MASK;
    CALLED(OF)(at);
    UNMASK;
}
int main(void) {
    for (uint32_t at = 0; at < 16; at++) {
        section(at);
    }
    return 0;
}

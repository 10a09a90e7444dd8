/** What sys_heap takes of Zephyr's types.h. */
#include <stdint.h>

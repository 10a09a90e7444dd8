/**
 * What sys_heap takes of Zephyr's mem_stats.h: a name in the prototype of statistics that are off.
 */
struct sys_memory_stats;

/** sys_heap takes nothing of Zephyr's heap_listener.h while CONFIG_SYS_HEAP_LISTENER is off. */

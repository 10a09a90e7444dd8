/* What my_heap.c needs of the bench's header of this name. */
#include <stddef.h>

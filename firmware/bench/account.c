#include "bench/account.h"

#include "heap/allocator.h"

static heap_account account;

void account_allocated(const void *payload) {
    account.live_blocks++;
    account.bytes_in_use += allocator_usable_size(payload);
}

void account_freed(size_t usable_bytes) {
    account.live_blocks--;
    account.bytes_in_use -= usable_bytes;
}

heap_account account_read(void) {
    return account;
}

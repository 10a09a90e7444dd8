/** What joins the fuzzer's parts: the entry, and the coverage of the instrumented heap. */
#ifndef TAILSCOPE_HEAP_TESTS_FUZZ_H
#define TAILSCOPE_HEAP_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** libFuzzer's entry: runs one input, aborts if a property is violated. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Whether each operation is printed before it runs, as judge.c reads it. */
extern bool fuzz_tells;

/** Forgets which edges the present input took. */
void coverage_begin_input(void);

/** Edges that no earlier input took; how often one is taken counts in powers of two. */
unsigned coverage_end_input(void);

/** Edges that any input took. */
unsigned coverage_edges(void);

/** Called by gcc at every edge of what is compiled with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);

#endif

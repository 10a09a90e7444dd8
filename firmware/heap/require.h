/**
 * What a function of the heap takes for granted: a precondition, or an invariant that it relies on
 * without checking it. Where TAILSCOPE_REQUIRE is defined, as in every host test, a requirement
 * that does not hold ends the program and says where. Elsewhere, as on the target, it is compiled
 * but makes no code: critical sections stay as they are.
 *
 * A requirement has no side effect. What a caller may get wrong is no requirement: it has a
 * heap_status.
 */
#pragma once

#ifdef TAILSCOPE_REQUIRE
/** Does not return. The host tests define it (tests/port_stub.c). */
_Noreturn void heap_require_failed(const char *what, const char *file, int line);
#define HEAP_REQUIRE(condition) \
    ((condition) ? (void)0 : heap_require_failed(#condition, __FILE__, __LINE__))
#else
#define HEAP_REQUIRE(condition) ((void)sizeof(!(condition)))
#endif

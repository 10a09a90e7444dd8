/**
 * The constructions that a search begins with: those of studies/adversary/known.py, as recipes.
 * They are made for other allocators' headers than the one at hand, too; the search changes them.
 */
#ifndef TAILSCOPE_HEAP_ADVERSARY_STARTS_H
#define TAILSCOPE_HEAP_ADVERSARY_STARTS_H

#include "recipe.h"

/** Sets `*start` to construction `number`, of time or of space. False if there are not so many. */
bool starts_give(uint32_t number, bool spreads, recipe *start);

#endif

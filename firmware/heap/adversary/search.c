/**
 * Searches for the operations that make an allocator's dearest operation dearest, or spread its
 * blocks farthest. It breeds recipes (recipe.h), plays them, and keeps the best for each set of
 * basic blocks that a dearest operation went through, and the best of each scale: lists of about as
 * many operations on about as many bytes. What is good on a small scale may be made larger; on a
 * large one alone, the first that fills the heap would win (J.-B. Mouret, J. Clune, "Illuminating
 * search spaces by mapping elites", 2015).
 *
 *     search breed STATE OUTPUT allocate|free|used SEED LISTS OPERATIONS SLOTS LIVE_BYTES
 *
 * goes on from STATE, or from nothing if it is not there, until LISTS lists have been tried in all,
 * and writes to OUTPUT the state that it has come to. The first of them are the known
 * constructions. It prints how many that are, and the most that one cost. Equal arguments give an
 * equal state, however often the search was interrupted between. A list has at most 32,768
 * operations.
 *
 *     search show STATE ways|scale RANK OUTPUT
 *
 * writes the operations of the RANKth best (from 0), up to its dearest, as ../host/trace.h has
 * them, and prints its cost: of those that went different ways, or of those of different scales. It
 * prints nothing where there are not so many.
 *
 * Exit status: 0; 2 for a wrong call or an unreadable file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "player.h"

#define MOST_KEPT 192u

typedef struct {
    player_outcome outcome;
    recipe recipe;
} elite;

/** The best of each niche, the best of all first. */
typedef struct {
    uint32_t count;
    elite kept[MOST_KEPT];
} archive;

typedef struct {
    player_goal goal;
    uint32_t seed;
    player_limits limits;
} search_terms;

static struct {
    search_terms terms;
    uint32_t tried;
    uint64_t source;
    archive by_ways, by_scale;
} state;

static void refuse(const char *complaint) {
    fprintf(stderr, "search: %s\n", complaint);
    exit(2);
}

/* What is kept */

/** Dearer, or as dear with fewer bytes or operations: that leaves room for more of the same. */
static bool is_better(player_outcome one, player_outcome other) {
    if (one.cost != other.cost) {
        return one.cost > other.cost;
    }
    return one.peak_bytes != other.peak_bytes ? one.peak_bytes < other.peak_bytes
                                              : one.operations < other.operations;
}

static uint32_t octave(uint32_t number) {
    return 31u - (uint32_t)__builtin_clz(number | 1u);
}

/** Those of one niche went the same way, or are of one scale. */
static uint32_t niche_of(player_outcome outcome, bool scales) {
    return scales ? octave(outcome.operations) << 8 | octave(outcome.peak_bytes) : outcome.ways;
}

/** Of each niche one is kept. If there are too many niches, the cheapest goes. */
static void keep(archive *among, const elite *found) {
    const bool scales = among == &state.by_scale;
    const uint32_t niche = niche_of(found->outcome, scales);
    uint32_t leaves = 0;
    while (leaves < among->count && niche_of(among->kept[leaves].outcome, scales) != niche) {
        leaves++;
    }
    if (leaves == MOST_KEPT) {
        leaves--;
    } else if (leaves == among->count) {
        among->kept[among->count++] = (elite){0};
    }
    if (!is_better(found->outcome, among->kept[leaves].outcome)) {
        return;
    }
    for (; leaves > 0 && is_better(found->outcome, among->kept[leaves - 1].outcome); leaves--) {
        among->kept[leaves] = among->kept[leaves - 1];
    }
    among->kept[leaves] = *found;
}

/* Breeding */

#define FRESH_ONE_IN 16u
#define TOUCHED_ONE_IN 4u
#define TOUCHED_BEST 8u

static const recipe *any_of(const archive *among, uint32_t most) {
    const uint32_t count = most < among->count ? most : among->count;
    return &among->kept[draw_below(count)].recipe;
}

/** One of those that went different ways, sooner a good one, or any of those of a scale. */
static const recipe *choose(void) {
    return one_in(2) ? any_of(&state.by_scale, MOST_KEPT)
                     : any_of(&state.by_ways, 1u + draw_below(MOST_KEPT));
}

static recipe next(void) {
    const bool spreads = state.terms.goal == GOAL_USED;
    /* Of small blocks the header is most, and an allocator's worst would be requests of a byte. */
    const recipe_range sizes = spreads ? (recipe_range){64, (int32_t)state.terms.limits.live_bytes}
                                       : (recipe_range){1, TAILSCOPE_HEAP_BYTES};
    recipe known;
    if (recipe_known(state.tried, spreads, &known)) {
        return known;
    }
    if (state.by_ways.count == 0 || one_in(FRESH_ONE_IN)) {
        return recipe_draw(sizes);
    }
    /* What has the right shape comes to its best by small changes. */
    const bool touch = one_in(TOUCHED_ONE_IN);
    const recipe *const parent = touch       ? any_of(&state.by_ways, 1u + draw_below(TOUCHED_BEST))
                                 : one_in(4) ? any_of(&state.by_ways, 1)
                                             : choose();
    return recipe_breed(parent, choose(), sizes, touch);
}

static void breed(uint32_t lists) {
    for (; state.tried < lists; state.tried++) {
        elite found;
        memset(&found, 0, sizeof found); /* padding too, for it goes into the file */
        found.recipe = next();
        found.outcome = player_play(&found.recipe, state.terms.goal, &state.terms.limits);
        if (found.outcome.cost > 0) {
            keep(&state.by_ways, &found);
            keep(&state.by_scale, &found);
        }
    }
}

/* Files and words */

static uint32_t number(const char *word) {
    return (uint32_t)strtoul(word, NULL, 10);
}

/** False if there is no such file. */
static bool load(const char *path) {
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    if (fread(&state, sizeof state, 1, file) != 1) {
        refuse("the state cannot be read; remove it.");
    }
    (void)fclose(file);
    return true;
}

static void store(const void *content, size_t bytes, const char *path) {
    FILE *const file = fopen(path, "wb");
    if (file == NULL || fwrite(content, 1, bytes, file) != bytes || fclose(file) != 0) {
        refuse("a file cannot be written.");
    }
}

static void run_breed(char **words) {
    static const char *const goals[GOALS] = {"allocate", "free", "used"};
    search_terms terms = {
        .seed = number(words[3]),
        .limits = {number(words[5]), number(words[6]), number(words[7])},
    };
    while (terms.goal < GOAL_USED && strcmp(words[2], goals[terms.goal]) != 0) {
        terms.goal++;
    }
    if (!load(words[0])) {
        state.terms = terms;
        state.source = terms.seed;
    } else if (memcmp(&state.terms, &terms, sizeof terms) != 0) {
        refuse("the state is of a search with other arguments.");
    }
    breed(number(words[4]));
    store(&state, sizeof state, words[1]);
    printf("%u %u\n", state.tried, state.by_ways.kept[0].outcome.cost);
}

static void run_show(char **words) {
    if (!load(words[0])) {
        refuse("there is no such state.");
    }
    const archive *const among = strcmp(words[1], "ways") == 0 ? &state.by_ways : &state.by_scale;
    const uint32_t rank = number(words[2]);
    if (rank < among->count) {
        const player_outcome found =
            player_play(&among->kept[rank].recipe, state.terms.goal, &state.terms.limits);
        store(player_operations(), found.operations * sizeof(trace_operation), words[3]);
        printf("%u\n", found.cost);
    }
}

int main(int argc, char **argv) {
    recipe_source = &state.source;
    player_measure_blocks();
    if (argc == 10 && strcmp(argv[1], "breed") == 0) {
        run_breed(argv + 2);
    } else if (argc == 6 && strcmp(argv[1], "show") == 0) {
        run_show(argv + 2);
    } else {
        refuse("say breed or show; the first comment of search.c tells how.");
    }
    return 0;
}

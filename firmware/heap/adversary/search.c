/**
 * Searches for the operations that make an allocator's dearest operation dearest, or spread its
 * blocks farthest. It breeds recipes (recipe.h), plays them, and keeps the best for each set of
 * basic blocks that a dearest operation went through, and the best of each scale: lists of about as
 * many operations on about as many bytes. What is good on a small scale may be made larger; on a
 * large one alone, the first that fills the heap would win (J.-B. Mouret, J. Clune, "Illuminating
 * search spaces by mapping elites", 2015).
 *
 *     search breed STATE allocate|free|used SEED LISTS OPERATIONS SLOTS LIVE_BYTES
 *
 * goes on from STATE, which it makes if it is not there, until LISTS lists have been tried in all.
 * The first of them are the known constructions (starts.h). It prints how many that are, the most
 * that one cost, and how many operations that one has. Equal arguments give an equal STATE, however
 * often the search was interrupted between.
 *
 *     search show STATE ways|scale RANK OUTPUT
 *
 * writes the operations of the RANKth best (from 0), up to its dearest, as ../host/trace.h has
 * them, and prints its cost: of those that went different ways, or of those of different scales. It
 * prints nothing where there are not so many.
 *
 *     search cost OPERATIONS allocate|free|used
 *
 * prints what the dearest of the given operations costs.
 *
 * Exit status: 0; 2 for a wrong call or an unreadable file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "player.h"
#include "starts.h"

#define MOST_KEPT 192u
#define FORMAT 5u

typedef struct {
    player_outcome outcome;
    recipe recipe;
} elite;

/** The best of each niche, the best of all first. */
typedef struct {
    uint32_t count;
    elite kept[MOST_KEPT];
} archive;

static struct {
    uint32_t format;
    uint32_t goal;
    uint64_t seed;
    player_limits limits;
    recipe_random source;
    uint32_t tried;
    archive by_ways, by_scale;
} state;

static void refuse(const char *complaint) {
    fprintf(stderr, "search: %s\n", complaint);
    exit(2);
}

static recipe_sizes sizes(void) {
    const bool spreads = state.goal == GOAL_USED;
    /* Of small blocks the header is most, and an allocator's worst would be requests of a byte. */
    return spreads ? (recipe_sizes){.smallest = 64, .largest = state.limits.live_bytes}
                   : (recipe_sizes){.smallest = 1, .largest = TAILSCOPE_HEAP_BYTES};
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

static uint32_t ways_of(player_outcome outcome) {
    return outcome.ways;
}

static uint32_t octave(uint32_t number) {
    return 31u - (uint32_t)__builtin_clz(number | 1u);
}

static uint32_t scale_of(player_outcome outcome) {
    return octave(outcome.operations) << 8 | octave(outcome.peak_bytes);
}

static void drop(archive *among, uint32_t at) {
    among->count--;
    memmove(&among->kept[at], &among->kept[at + 1], (among->count - at) * sizeof(elite));
}

static void insert(archive *among, const elite *found) {
    uint32_t at = 0;
    while (at < among->count && !is_better(found->outcome, among->kept[at].outcome)) {
        at++;
    }
    memmove(&among->kept[at + 1], &among->kept[at], (among->count - at) * sizeof(elite));
    among->kept[at] = *found;
    among->count++;
}

/** Of each niche one is kept. If there are too many niches, the cheapest goes. */
static void keep(archive *among, const elite *found, uint32_t (*niche_of)(player_outcome)) {
    const uint32_t niche = niche_of(found->outcome);
    uint32_t at = 0;
    while (at < among->count && niche_of(among->kept[at].outcome) != niche) {
        at++;
    }
    if (at == MOST_KEPT) {
        at--;
    }
    if (at < among->count) {
        if (!is_better(found->outcome, among->kept[at].outcome)) {
            return;
        }
        drop(among, at);
    }
    insert(among, found);
}

/* Breeding */

#define FRESH_ONE_IN 16u
#define TOUCHED_ONE_IN 4u
#define TOUCHED_BEST 8u

static const elite *any_of(const archive *among) {
    return &among->kept[random_below(&state.source, among->count)];
}

/** Of a few of those that went different ways the best, or any of those of a scale. */
static const elite *choose(void) {
    if (random_below(&state.source, 2) == 0) {
        return any_of(&state.by_scale);
    }
    const elite *best = any_of(&state.by_ways);
    for (uint32_t more = random_below(&state.source, 4); more > 0; more--) {
        const elite *const other = any_of(&state.by_ways);
        best = other < best ? other : best;
    }
    return best;
}

/** One of the best few with a small change or two: what has the right shape comes to its best. */
static recipe touched(void) {
    const uint32_t few = state.by_ways.count < TOUCHED_BEST ? state.by_ways.count : TOUCHED_BEST;
    const uint32_t rank = random_below(&state.source, 1u + random_below(&state.source, few));
    recipe changed = recipe_touch(&state.source, &state.by_ways.kept[rank].recipe, sizes());
    while (random_below(&state.source, 3) == 0) {
        changed = recipe_touch(&state.source, &changed, sizes());
    }
    return changed;
}

static recipe next(void) {
    recipe known;
    if (starts_give(state.tried, state.goal == GOAL_USED, &known)) {
        return known;
    }
    if (state.by_ways.count == 0 || random_below(&state.source, FRESH_ONE_IN) == 0) {
        return recipe_draw(&state.source, sizes());
    }
    if (random_below(&state.source, TOUCHED_ONE_IN) == 0) {
        return touched();
    }
    const bool from_best = random_below(&state.source, 4) == 0;
    const elite *const parent = from_best ? &state.by_ways.kept[0] : choose();
    return recipe_breed(&state.source, &parent->recipe, &choose()->recipe, sizes());
}

static void breed(uint32_t lists) {
    while (state.tried < lists) {
        elite found;
        memset(&found, 0, sizeof found); /* padding too, for it goes into the file */
        found.recipe = next();
        found.outcome = player_play(&found.recipe, (player_goal)state.goal, &state.limits);
        if (found.outcome.cost > 0) {
            keep(&state.by_ways, &found, ways_of);
            keep(&state.by_scale, &found, scale_of);
        }
        state.tried++;
    }
}

/* Files and words */

static uint32_t number(const char *word) {
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(word, &end, 10);
    if (errno != 0 || *end != '\0' || end == word || value > UINT32_MAX) {
        refuse("a number is a whole number of at most 32 bits.");
    }
    return (uint32_t)value;
}

static void check_room(size_t operations, size_t slots) {
    if (operations > PLAYER_MOST_OPERATIONS || slots > PLAYER_MOST_OPERATIONS) {
        refuse("a list has at most 32768 operations and as many slots.");
    }
}

static player_goal goal_of(const char *word) {
    static const char *const words[] = {"allocate", "free", "used"};
    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(word, words[i]) == 0) {
            return (player_goal)i;
        }
    }
    refuse("a goal is allocate, free or used.");
    return GOAL_ALLOCATE;
}

/** False if there is no such file. */
static bool load(const char *path) {
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    const bool whole = fread(&state, sizeof state, 1, file) == 1 && fgetc(file) == EOF;
    (void)fclose(file);
    if (!whole || state.format != FORMAT || state.by_ways.count > MOST_KEPT ||
        state.by_scale.count > MOST_KEPT) {
        refuse("the state is of another search program; remove it.");
    }
    return true;
}

static void store(const char *path) {
    char part[4096];
    const int length = snprintf(part, sizeof part, "%s.part", path);
    FILE *const file = length < (int)sizeof part ? fopen(part, "wb") : NULL;
    if (file == NULL || fwrite(&state, sizeof state, 1, file) != 1 || fclose(file) != 0 ||
        rename(part, path) != 0) {
        refuse("the state cannot be written.");
    }
}

static int run_breed(char **words) {
    const player_goal goal = goal_of(words[1]);
    const uint32_t seed = number(words[2]);
    const player_limits limits = {
        .operations = number(words[4]), .slots = number(words[5]), .live_bytes = number(words[6])};
    check_room(limits.operations, limits.slots);
    if (!load(words[0])) {
        state.format = FORMAT;
        state.goal = goal;
        state.seed = seed;
        state.limits = limits;
        state.source.state = seed;
    } else if (state.goal != goal || state.seed != seed ||
               memcmp(&state.limits, &limits, sizeof limits) != 0) {
        refuse("the state is of a search with other arguments.");
    }
    breed(number(words[3]));
    store(words[0]);
    const player_outcome best =
        state.by_ways.count > 0 ? state.by_ways.kept[0].outcome : (player_outcome){0};
    printf("%u %u %u\n", state.tried, best.cost, best.operations);
    return 0;
}

static const archive *archive_of(const char *word) {
    if (strcmp(word, "ways") == 0) {
        return &state.by_ways;
    }
    if (strcmp(word, "scale") != 0) {
        refuse("lists are ranked by ways or by scale.");
    }
    return &state.by_scale;
}

static int run_show(char **words) {
    if (!load(words[0])) {
        refuse("there is no such state.");
    }
    const archive *const among = archive_of(words[1]);
    const uint32_t rank = number(words[2]);
    if (rank >= among->count) {
        return 0;
    }
    const player_outcome found =
        player_play(&among->kept[rank].recipe, (player_goal)state.goal, &state.limits);
    FILE *const output = fopen(words[3], "wb");
    if (output == NULL ||
        fwrite(player_operations(), sizeof(trace_operation), found.operations, output) !=
            found.operations ||
        fclose(output) != 0) {
        refuse("the output cannot be written.");
    }
    printf("%u\n", found.cost);
    return 0;
}

static int run_cost(char **words) {
    trace given;
    const char *const complaint = trace_read(words[0], &given);
    if (complaint != NULL) {
        refuse(complaint);
    }
    check_room(given.count, given.slots);
    printf("%u\n", player_replay(&given, goal_of(words[1])).cost);
    return 0;
}

int main(int argc, char **argv) {
    blocks_measure();
    if (argc == 9 && strcmp(argv[1], "breed") == 0) {
        return run_breed(argv + 2);
    }
    if (argc == 6 && strcmp(argv[1], "show") == 0) {
        return run_show(argv + 2);
    }
    if (argc == 4 && strcmp(argv[1], "cost") == 0) {
        return run_cost(argv + 2);
    }
    refuse("say breed, show or cost; the first comment of search.c tells how.");
    return 2;
}

#define _GNU_SOURCE /* ptrace */
#include "single_steps.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The traced copy stops here before its work and behind it. */
#define STOP() __asm__ volatile("int3" ::: "memory")

static void traced(void (*work)(void)) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(1);
    }
    STOP();
    work();
    STOP();
    _exit(0);
}

static bool stopped(pid_t child, int *status) {
    return waitpid(child, status, 0) == child && WIFSTOPPED(*status) &&
           WSTOPSIG(*status) == SIGTRAP;
}

/** True if the child stopped at its own int3, false if behind a single step. */
static bool at_stop(pid_t child) {
    siginfo_t why;
    return ptrace(PTRACE_GETSIGINFO, child, NULL, &why) == 0 && why.si_code == SI_KERNEL;
}

static int64_t steps_to_next_stop(pid_t child) {
    int64_t steps = 0;
    int status;
    for (;;) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || !stopped(child, &status)) {
            return -1;
        }
        if (at_stop(child)) {
            return steps;
        }
        steps++;
    }
}

int64_t single_steps(void (*work)(void)) {
    const pid_t child = fork();
    if (child == 0) {
        traced(work);
    }
    int status;
    const int64_t steps = child > 0 && stopped(child, &status) ? steps_to_next_stop(child) : -1;
    if (child > 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &status, 0);
    }
    return steps;
}

/**
 * Has glibc log what a program asks of malloc (mtrace(3)), each process to a file of its own,
 * <program>.<process>.<number>. It is preloaded, behind libc_malloc_debug.so.0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mcheck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES 512u

static void begin(void) {
    const char *const folder = getenv("TAILSCOPE_RECORD_FOLDER");
    char path[PATH_BYTES];
    if (folder == NULL) {
        return;
    }
    int number = 0;
    do { /* a process that becomes another program keeps its number */
        (void)snprintf(path, sizeof path, "%s/%s.%d.%d", folder, program_invocation_short_name,
                       getpid(), number++);
    } while (access(path, F_OK) == 0);
    (void)setenv("MALLOC_TRACE", path, 1);
    mtrace();
}

/** What has not been written yet would be written by both. */
static void before_fork(void) {
    (void)fflush(NULL);
}

static void begin_anew(void) {
    muntrace();
    begin();
}

__attribute__((constructor)) static void start(void) {
    begin();
    (void)pthread_atfork(before_fork, NULL, begin_anew);
}

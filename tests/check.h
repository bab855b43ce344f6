/* check.h - claims, counted.
 *
 *     static void equal_times_leave_in_posting_order(void) { ... CHECK(a == b, "post %d", i); ... }
 *     int main(void) { RUN(equal_times_leave_in_posting_order); return DONE(); }
 *
 * The function's name is the claim.  A claim fails at its first false CHECK, is named with the
 * place and the message, and the next one is tried.  The last line is "N passed, N failed".
 */
#ifndef SS_CHECK_H
#define SS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_passed, check_failed, check_this_failed;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_this_failed = 1;                                                                 \
            printf("  %s:%d: %s:", __FILE__, __LINE__, #condition);                                \
            printf(" " __VA_ARGS__);                                                               \
            printf("\n");                                                                          \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* For calls that return an ss_status, in a function with an `ss_error err`: its sentence is shown.
 */
#define CHECK_OK(call) CHECK((call) == SS_OK, "%s", err.text)

#define CHECK_TEXT(got, wanted_part)                                                               \
    CHECK(strstr((got), (wanted_part)) != NULL, "got \"%s\"", (got))

#define RUN(claim)                                                                                 \
    do {                                                                                           \
        check_this_failed = 0;                                                                     \
        claim();                                                                                   \
        printf("%s %s\n", check_this_failed ? "FAILED" : "ok    ", #claim);                        \
        fflush(stdout);                                                                            \
        if (check_this_failed)                                                                     \
            check_failed++;                                                                        \
        else                                                                                       \
            check_passed++;                                                                        \
    } while (0)

#define DONE() (printf("%d passed, %d failed\n", check_passed, check_failed), check_failed ? 1 : 0)

#endif

#include "base/mem.h"
#include "base/pairs.h"
#include "check.h"

static ss_error err;

static void what_was_put_is_found_and_nothing_else(void)
{
    enum { N = 5000 };
    ss_pairs p = {0};
    CHECK(ss_pairs_find(&p, 3, 4) == 0, "an empty table");
    for (uint32_t i = 1; i <= N; i++) {
        CHECK_OK(ss_pairs_reserve(&p, "numbers", &err));
        ss_pairs_put(&p, i * 7, UINT32_MAX - i, i);
    }
    CHECK(p.n == N, "%u", p.n);
    for (uint32_t i = 1; i <= N; i++) {
        CHECK(ss_pairs_find(&p, i * 7, UINT32_MAX - i) == i, "%u", i);
        CHECK(ss_pairs_find(&p, UINT32_MAX - i, i * 7) == 0, "%u the other way", i);
        CHECK(ss_pairs_find(&p, i * 7 + 1, UINT32_MAX - i) == 0, "%u beside it", i);
    }
    ss_pairs_free(&p);
    CHECK(ss_mem_blocks() == 0, "%zu blocks", ss_mem_blocks());
}

static void no_memory_leaves_the_table_as_it_was(void)
{
    ss_pairs p = {0};
    for (uint32_t i = 1; i <= 32; i++) {
        CHECK_OK(ss_pairs_reserve(&p, "numbers", &err));
        ss_pairs_put(&p, i, i, i);
    }
    for (int64_t n = 0; n < 2; n++) {
        ss_mem_fail_after(n);
        ss_status s = ss_pairs_reserve(&p, "numbers", &err);
        ss_mem_fail_never();
        CHECK(s == SS_ENOMEM, "request %d", (int)n);
        CHECK_TEXT(err.text, "numbers");
        CHECK(ss_pairs_find(&p, 31, 31) == 31, "31");
    }
    CHECK_OK(ss_pairs_reserve(&p, "numbers", &err));
    ss_pairs_free(&p);
    CHECK(ss_mem_blocks() == 0, "%zu blocks", ss_mem_blocks());
}

int main(void)
{
    RUN(what_was_put_is_found_and_nothing_else);
    RUN(no_memory_leaves_the_table_as_it_was);
    return DONE();
}

#include "base/array.h"

#include <string.h>

#include "base/mem.h"

/* From here on doubling would leave too much of a machine unused. */
enum { LARGE = 1 << 18 };

uint32_t ss_grown(uint32_t cap, size_t need)
{
    if (need <= cap)
        return cap;
    if (need > UINT32_MAX)
        return 0;
    uint64_t grown = cap ? cap : 8;
    while (grown < need)
        grown += grown < LARGE ? grown : grown / 4;
    return grown > UINT32_MAX ? UINT32_MAX : (uint32_t)grown;
}

ss_status ss_regrow(void *array_of_any_type, size_t count, size_t bytes_each, const char *what,
                    ss_error *err)
{
    void *old; /* a T* and a void* have one representation here, but not one type: copy the bytes */
    memcpy(&old, array_of_any_type, sizeof old);
    if (count > SIZE_MAX / bytes_each)
        return ss_fail(err, SS_ERANGE, "too many of %s: %zu", what, count);
    void *grown = ss_realloc(old, count * bytes_each);
    if (!grown)
        return ss_fail_memory(err, what, count * bytes_each);
    memcpy(array_of_any_type, &grown, sizeof grown);
    return SS_OK;
}

ss_status ss_reserve(void *array_of_any_type, uint32_t *cap, size_t need, size_t bytes_each,
                     const char *what, ss_error *err)
{
    if (need <= *cap)
        return SS_OK;
    uint32_t grown = ss_grown(*cap, need);
    if (!grown)
        return ss_fail(err, SS_ERANGE, "too many of %s: %zu", what, need);
    ss_status s = ss_regrow(array_of_any_type, grown, bytes_each, what, err);
    if (!s)
        *cap = grown;
    return s;
}

int ss_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

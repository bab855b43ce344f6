#include "base/names.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

/* Where `text` is, or the free place where it would go.  There is always a free place. */
static uint32_t place_of(const ss_names *t, const char *text)
{
    uint32_t mask = t->slots - 1;
    uint32_t i = (uint32_t)ss_hash_text(SS_HASH_START, text) & mask;
    while (t->slot[i] && strcmp(t->text[t->slot[i]], text) != 0)
        i = (i + 1) & mask;
    return i;
}

static ss_status grow_slots(ss_names *t, ss_error *err)
{
    if ((t->n + 1) * 2 <= t->slots)
        return SS_OK;
    uint32_t slots = t->slots ? t->slots * 2 : 16;
    uint32_t *fresh = ss_alloc_zeroed(slots, sizeof *fresh);
    if (!fresh)
        return ss_fail_memory(err, "names", slots * sizeof *fresh);
    ss_free(t->slot);
    t->slot = fresh;
    t->slots = slots;
    for (uint32_t id = 1; id <= t->n; id++)
        t->slot[place_of(t, t->text[id])] = id;
    return SS_OK;
}

uint32_t ss_names_find(const ss_names *t, const char *text)
{
    return t->slots ? t->slot[place_of(t, text)] : 0;
}

ss_status ss_names_add(ss_names *t, const char *text, uint32_t *id, ss_error *err)
{
    uint32_t found = ss_names_find(t, text);
    if (found) {
        *id = found;
        return SS_OK;
    }
    ss_status s = SS_RESERVE(t->text, t->cap, (size_t)t->n + 2, "names", err);
    if (!s)
        s = grow_slots(t, err);
    if (s)
        return s;
    char *copy = ss_strdup(text);
    if (!copy)
        return ss_fail_memory(err, "a name", strlen(text) + 1);
    t->text[0] = NULL;
    t->text[++t->n] = copy;
    t->slot[place_of(t, text)] = t->n;
    *id = t->n;
    return SS_OK;
}

/* The newest name may lie behind others in its run of places, but none lies behind it. */
void ss_names_drop_last(ss_names *t)
{
    if (!t->n)
        return;
    t->slot[place_of(t, t->text[t->n])] = 0;
    ss_free(t->text[t->n--]);
}

const char *ss_names_text(const ss_names *t, uint32_t id)
{
    return id && id <= t->n ? t->text[id] : "";
}

const char *ss_names_nearest(const ss_names *t, const char *word)
{
    return t->n ? ss_nearest(word, (const char *const *)(t->text + 1), t->n) : NULL;
}

void ss_names_free(ss_names *t)
{
    for (uint32_t i = 1; i <= t->n; i++)
        ss_free(t->text[i]);
    ss_free(t->text);
    ss_free(t->slot);
    *t = (ss_names){0};
}

#include "io/measured_tally.h"

#include "base/array.h"
#include "base/mem.h"

static ss_status count_word(ss_tally *t, const char *word, ss_error *err)
{
    uint32_t id, known = t->words.n;
    ss_status s = SS_RESERVE(t->times, t->cap, (size_t)known + 2, "words of a table", err);
    if (!s)
        s = ss_names_add(&t->words, word, &id, err);
    if (s)
        return s;
    if (t->words.n > known)
        t->times[id] = 0;
    t->times[id]++;
    return SS_OK;
}

ss_status ss_measured_count(ss_measured_tally *t, const char *device, const char *kind,
                            ss_error *err)
{
    ss_status s = count_word(&t->devices, device, err);
    if (!s)
        s = count_word(&t->kinds, kind, err);
    if (!s)
        t->rows++;
    return s;
}

static void tell_words(const ss_tally *t, bool json, ss_text *out)
{
    for (uint32_t i = 1; i <= t->words.n; i++) {
        ss_text_add(out, "%s", i > 1 ? ", " : "");
        if (json) {
            ss_text_add_json_string(out, ss_names_text(&t->words, i));
            ss_text_add(out, ": %u", t->times[i]);
        } else {
            ss_text_add(out, "%s (%u)", ss_names_text(&t->words, i), t->times[i]);
        }
    }
}

void ss_measured_tell(const ss_measured_tally *t, const char *path, bool json, ss_text *out)
{
    if (json) {
        ss_text_add(out, "{\"file\": ");
        ss_text_add_json_string(out, path);
        ss_text_add(out, ", \"kind\": \"soapstone measured table\", \"rows\": %u,\n \"devices\": {",
                    t->rows);
        tell_words(&t->devices, json, out);
        ss_text_add(out, "},\n \"operators\": {");
        tell_words(&t->kinds, json, out);
        ss_text_add(out, "}}\n");
        return;
    }
    ss_text_add(out, "%s: soapstone measured table, %u row%s\n  devices     ", path, t->rows,
                ss_plural(t->rows));
    tell_words(&t->devices, json, out);
    ss_text_add(out, "\n  operators   ");
    tell_words(&t->kinds, json, out);
    ss_text_add(out, "\n");
}

void ss_measured_tally_free(ss_measured_tally *t)
{
    ss_names_free(&t->devices.words);
    ss_names_free(&t->kinds.words);
    ss_free(t->devices.times);
    ss_free(t->kinds.times);
}

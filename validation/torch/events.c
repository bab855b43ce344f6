#include "config.h"

#include "validation/torch/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yajl/yajl_parse.h>

#include "base/mem.h"
#include "io/unzip.h"

enum { DEEPEST = 64, LONGEST = 1 << 16, LONGEST_NAME = 1024, CHUNK = 1 << 16 };

/* Where the parser is: what the innermost open list or object is. */
typedef enum place {
    AT_TOP,
    IN_ROOT,
    IN_EVENTS,
    IN_EVENT,
    IN_ARGS,
    IN_VALUE,
    IN_DEVICES,
    IN_DEVICE,
    IN_OTHER
} place;

typedef enum key {
    OTHER,
    TRACE_EVENTS,
    DEVICE_PROPERTIES,
    NAME,
    PHASE,
    CATEGORY,
    PROCESS,
    THREAD,
    BEGIN,
    DURATION,
    ARGS,
    EXTERNAL,
    CORRELATION,
    SEQUENCE,
    DIMS,
    TYPES,
    CONCRETE
} key;

static const struct {
    place in;
    const char *text;
    key is;
} keys[] = {
    {IN_ROOT, "traceEvents", TRACE_EVENTS},
    {IN_ROOT, "deviceProperties", DEVICE_PROPERTIES},
    {IN_DEVICE, "name", NAME},
    {IN_EVENT, "name", NAME},
    {IN_EVENT, "ph", PHASE},
    {IN_EVENT, "cat", CATEGORY},
    {IN_EVENT, "pid", PROCESS},
    {IN_EVENT, "tid", THREAD},
    {IN_EVENT, "ts", BEGIN},
    {IN_EVENT, "dur", DURATION},
    {IN_EVENT, "args", ARGS},
    {IN_ARGS, "External id", EXTERNAL},
    {IN_ARGS, "external id", EXTERNAL},
    {IN_ARGS, "correlation", CORRELATION},
    {IN_ARGS, "Sequence number", SEQUENCE},
    {IN_ARGS, "Input Dims", DIMS},
    {IN_ARGS, "Input dims", DIMS},
    {IN_ARGS, "Input type", TYPES},
    {IN_ARGS, "Concrete Inputs", CONCRETE},
};

typedef struct parser {
    const ss_torch_reader *reader;
    const char *path;
    ss_error *err;
    ss_status status; /* of what ended it */
    place stack[DEEPEST];
    uint32_t depth; /* of the stack */
    key key;        /* of the value that comes next in the innermost object */
    bool found;     /* a list of events */

    uint64_t number; /* of the event at hand */
    ss_text name, category, process, thread, dims, types, concrete;
    char phase;
    bool has_begin, has_duration;
    ss_torch_event e;

    ss_text *into;   /* the text of the list that is read (IN_VALUE) */
    uint32_t inside; /* how many lists of it are open */
    bool comma, long_value;
} parser;

/* ---- numbers ------------------------------------------------------------------------------------------------- */

bool ss_torch_nanoseconds(const char *text, size_t n, int64_t *out)
{
    bool minus = n && *text == '-', point = false;
    uint64_t value = 0;
    int decimals = 0;
    char last = '0';
    size_t i = minus;
    for (; i < n && decimals < 4; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            break;
        decimals += point;
        if (decimals == 4) { /* the digit that rounds */
            last = text[i];
            break;
        }
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    if (memchr(text, 'e', n) || memchr(text, 'E', n)) {
        char copy[64] = "";
        memcpy(copy, text, n < sizeof copy ? n : sizeof copy - 1);
        double ns = strtod(copy, NULL) * 1e3;
        *out = (int64_t)(fabs(ns) < 9e18 ? llround(ns) : 0);
        return fabs(ns) < 9e18;
    }
    for (decimals = decimals > 3 ? 3 : decimals; decimals < 3; decimals++) {
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value *= 10;
    }
    value += last >= '5';
    *out = minus ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool whole_number(const char *text, size_t n, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    *out = value;
    return n > 0;
}

/* ---- the end of an event ------------------------------------------------------------------------------------- */

static int stop(parser *p, ss_status s)
{
    p->status = s;
    return 0; /* yajl gives up */
}

static int refuse(parser *p, const char *what, const char *value, size_t n)
{
    return stop(p, ss_fail(p->err, SS_EFORMAT, "%s: event %llu: %s, not %.*s", p->path,
                           (unsigned long long)p->number, what, (int)(n < 40 ? n : 40), value));
}

static bool sort_of(const char *category, ss_torch_sort *out)
{
    static const struct {
        const char *text;
        ss_torch_sort sort;
    } known[] = {{"cpu_op", SS_TORCH_OPERATOR},     {"operator", SS_TORCH_OPERATOR},
                 {"kernel", SS_TORCH_WORK},         {"gpu_memcpy", SS_TORCH_WORK},
                 {"gpu_memset", SS_TORCH_WORK},     {"memcpy", SS_TORCH_WORK},
                 {"memset", SS_TORCH_WORK},         {"runtime", SS_TORCH_LAUNCH},
                 {"cuda_runtime", SS_TORCH_LAUNCH}, {"cuda_driver", SS_TORCH_LAUNCH},
                 {"hip_runtime", SS_TORCH_LAUNCH},  {"xpu_runtime", SS_TORCH_LAUNCH}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcasecmp(category, known[i].text)) {
            *out = known[i].sort;
            return true;
        }
    return false;
}

static int end_event(parser *p)
{
    ss_torch_event *e = &p->e;
    const ss_text *const texts[] = {&p->category, &p->name,  &p->process, &p->thread,
                                    &p->dims,     &p->types, &p->concrete};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (ss_text_status(texts[i], p->err))
            return stop(p, SS_ENOMEM);
    if (p->phase != 'X' || !sort_of(ss_text_get(&p->category), &e->sort))
        return 1;
    if (!p->has_begin || !p->has_duration)
        return refuse(
            p, p->has_begin ? "its duration (dur) is wanted" : "its beginning (ts) is wanted",
            "nothing", 7);
    ss_text_add(&p->process, "|%s", ss_text_get(&p->thread));
    if (ss_text_status(&p->process, p->err))
        return stop(p, SS_ENOMEM);
    e->number = p->number;
    e->name = ss_text_get(&p->name);
    e->thread = ss_text_get(&p->process);
    e->dims = ss_text_get(&p->dims);
    e->types = ss_text_get(&p->types);
    e->concrete = ss_text_get(&p->concrete);
    ss_status s = p->reader->take(p->reader->context, e, p->err);
    if (s)
        ss_fail_in(p->err, "%s: event %llu", p->path, (unsigned long long)p->number);
    return s ? stop(p, s) : 1;
}

static void begin_event(parser *p)
{
    ss_text *const texts[] = {&p->name, &p->category, &p->process, &p->thread,
                              &p->dims, &p->types,    &p->concrete};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ss_text_clear(texts[i]);
    p->e = (ss_torch_event){0};
    p->phase = 0;
    p->has_begin = p->has_duration = false;
}

/* ---- what yajl calls ----------------------------------------------------------------------------------------- */

static place where(const parser *p)
{
    return p->depth ? p->stack[p->depth - 1] : AT_TOP;
}

static int push(parser *p, place in)
{
    if (p->depth == DEEPEST)
        return stop(p, ss_fail(p->err, SS_EFORMAT,
                               "%s: more than %d lists and objects within each other", p->path,
                               DEEPEST));
    p->stack[p->depth++] = in;
    p->key = OTHER;
    return 1;
}

/* Adds an item of the list that is read; too long ones are dropped, since no operator of ours has them. */
static void add_item(parser *p, const char *text, size_t n)
{
    const char next = p->into == &p->dims || p->inside > 1 ? ',' : SS_TORCH_NEXT;
    if (p->comma)
        ss_text_add_bytes(p->into, &next, 1);
    p->comma = true;
    p->long_value = p->long_value || p->into->n + n > LONGEST;
    if (!p->long_value)
        ss_text_add_bytes(p->into, text, n);
}

static int wrong_type(parser *p, const char *value, size_t n)
{
    switch (p->key) {
    case BEGIN:
        return refuse(p, "its beginning (ts) should be a number of microseconds", value, n);
    case DURATION:
        return refuse(p, "its duration (dur) should be a number of microseconds", value, n);
    case DIMS:
        return refuse(p, "\"Input Dims\" should be lists of numbers", value, n);
    default:
        return 1;
    }
}

/* In place of what a key that is there twice had before. */
static int keep(ss_text *to, const char *text, size_t n)
{
    ss_text_clear(to);
    ss_text_add_bytes(to, text, n);
    return 1;
}

static int on_number(void *context, const char *text, size_t n)
{
    parser *p = context;
    uint64_t whole = 0;
    int64_t ns = 0;
    if (where(p) == IN_VALUE) {
        if (p->into == &p->dims && !whole_number(text, n, &whole)) {
            p->key = DIMS;
            return wrong_type(p, text, n);
        }
        add_item(p, text, n);
        return 1;
    }
    switch (p->key) {
    case BEGIN:
        p->has_begin = ss_torch_nanoseconds(text, n, &p->e.begin_ns);
        return p->has_begin && llabs(p->e.begin_ns) < INT64_MAX / 2 ? 1 : wrong_type(p, text, n);
    case DURATION: /* of which there is none of a hundred days */
        p->has_duration =
            ss_torch_nanoseconds(text, n, &ns) && ns >= 0 && ns < INT64_C(10000000000000000);
        p->e.ns = ns;
        return p->has_duration ? 1 : wrong_type(p, text, n);
    case PROCESS:
    case THREAD:
        return keep(p->key == PROCESS ? &p->process : &p->thread, text, n);
    case EXTERNAL:
        p->e.has_external = whole_number(text, n, &p->e.external);
        return 1;
    case CORRELATION:
        p->e.has_correlation = whole_number(text, n, &p->e.correlation);
        return 1;
    case SEQUENCE: /* of who has none it is -1, or the largest number */
        p->e.has_sequence = whole_number(text, n, &whole) && whole < INT64_MAX;
        p->e.sequence = (int64_t)whole;
        return 1;
    case DIMS:
        return wrong_type(p, text, n);
    default:
        return 1;
    }
}

static int on_string(void *context, const unsigned char *bytes, size_t n)
{
    parser *p = context;
    const char *text = (const char *)bytes;
    if (where(p) == IN_VALUE) {
        if (p->into == &p->dims) {
            p->key = DIMS;
            return wrong_type(p, text, n);
        }
        add_item(p, text, memchr(text, 0, n) || memchr(text, SS_TORCH_NEXT, n) ? 0 : n);
        return 1;
    }
    size_t shown = memchr(text, 0, n) ? 0 : n < LONGEST_NAME ? n : LONGEST_NAME;
    switch (p->key) {
    case NAME:
        if (where(p) == IN_DEVICE) {
            keep(&p->name, text, shown);
            if (ss_text_status(&p->name, p->err))
                return stop(p, SS_ENOMEM);
            ss_status s = p->reader->device(p->reader->context, ss_text_get(&p->name), p->err);
            return s ? stop(p, s) : 1;
        }
        return keep(&p->name, text, shown);
    case PHASE:
        p->phase = n == 1 ? *text : 0;
        return 1;
    case CATEGORY:
        return keep(&p->category, text, shown);
    case PROCESS:
    case THREAD:
        return keep(p->key == PROCESS ? &p->process : &p->thread, text, shown);
    case EXTERNAL:
    case CORRELATION: /* some write them as texts */
        return on_number(p, text, n);
    default:
        return wrong_type(p, text, n);
    }
}

static int on_null(void *context)
{
    parser *p = context;
    if (where(p) == IN_VALUE)
        return on_string(p, (const unsigned char *)"", 0);
    return wrong_type(p, "null", 4);
}

static int on_boolean(void *context, int is)
{
    parser *p = context;
    if (where(p) == IN_VALUE)
        return on_string(p, (const unsigned char *)(is ? "True" : "False"), is ? 4 : 5);
    return wrong_type(p, is ? "true" : "false", is ? 4 : 5);
}

static int on_key(void *context, const unsigned char *text, size_t n)
{
    parser *p = context;
    p->key = OTHER;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].in == where(p) && strlen(keys[i].text) == n && !memcmp(keys[i].text, text, n))
            p->key = keys[i].is;
    return 1;
}

static int on_object(void *context)
{
    parser *p = context;
    switch (where(p)) {
    case AT_TOP:
        return push(p, IN_ROOT);
    case IN_EVENTS:
        p->number++;
        begin_event(p);
        return push(p, IN_EVENT);
    case IN_EVENT:
        return p->key == ARGS ? push(p, IN_ARGS)
                              : wrong_type(p, "an object", 9) && push(p, IN_OTHER);
    case IN_DEVICES:
        return push(p, IN_DEVICE);
    case IN_VALUE:
        p->key = p->into == &p->dims ? DIMS : OTHER;
        return wrong_type(p, "an object", 9) && push(p, IN_OTHER);
    default:
        return push(p, IN_OTHER);
    }
}

static int on_list(void *context)
{
    parser *p = context;
    place in = where(p);
    if (in == AT_TOP || (in == IN_ROOT && p->key == TRACE_EVENTS)) {
        p->found = true;
        return push(p, IN_EVENTS);
    }
    if (in == IN_ROOT && p->key == DEVICE_PROPERTIES)
        return push(p, IN_DEVICES);
    if (in == IN_VALUE) { /* a list in it */
        add_item(p, "[", 1);
        p->comma = false;
        p->inside++;
        return push(p, IN_VALUE);
    }
    if (in != IN_ARGS || (p->key != DIMS && p->key != TYPES && p->key != CONCRETE))
        return wrong_type(p, "a list", 6) && push(p, IN_OTHER);
    p->e.has_dims = p->e.has_dims || p->key == DIMS;
    p->into = p->key == DIMS ? &p->dims : p->key == TYPES ? &p->types : &p->concrete;
    ss_text_clear(p->into);
    if (p->key == DIMS)
        ss_text_add(p->into, "[");
    p->comma = p->long_value = false;
    p->inside = 1;
    return push(p, IN_VALUE);
}

static int on_list_end(void *context)
{
    parser *p = context;
    if (where(p) == IN_VALUE) {
        bool last = --p->inside == 0;
        if (!last || p->into == &p->dims)
            ss_text_add(p->into, "]");
        p->comma = true;
        if (last && p->long_value)
            ss_text_clear(p->into);
    }
    p->depth--;
    p->key = OTHER;
    return 1;
}

static int on_object_end(void *context)
{
    parser *p = context;
    bool event = where(p) == IN_EVENT;
    p->depth--;
    p->key = OTHER;
    return event ? end_event(p) : 1;
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_object,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_object_end,
                                         .yajl_start_array = on_list,
                                         .yajl_end_array = on_list_end};

/* ---- reading ------------------------------------------------------------------------------------------------- */

static void free_parser(parser *p)
{
    ss_text *const texts[] = {&p->name, &p->category, &p->process, &p->thread,
                              &p->dims, &p->types,    &p->concrete};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ss_text_free(texts[i]);
}

/* yajl's words in our sentence: "lexical error: invalid char in json text.\n" */
static ss_status fail_json(yajl_handle h, const parser *p, uint64_t before,
                           const unsigned char *text, size_t n, ss_error *err)
{
    unsigned char *why = yajl_get_error(h, 0, text, n);
    size_t length = why ? strcspn((const char *)why, ".\n") : 0;
    ss_fail(err, SS_EFORMAT, "%s: byte %llu: %.*s%s", p->path,
            (unsigned long long)(before + (text ? yajl_get_bytes_consumed(h) : 0)), (int)length,
            why ? (const char *)why : "no JSON",
            p->number ? "" : " (a trace is JSON, gzip or not)");
    if (why)
        yajl_free_error(h, why);
    return SS_EFORMAT;
}

/* bytes of one piece; NULL: the end */
static ss_status feed(yajl_handle h, parser *p, uint64_t before, const char *bytes, size_t n,
                      ss_error *err)
{
    const unsigned char *text = (const unsigned char *)bytes;
    yajl_status s = bytes ? yajl_parse(h, text, n) : yajl_complete_parse(h);
    if (s == yajl_status_ok)
        return SS_OK;
    if (s == yajl_status_client_canceled)
        return p->status;
    return fail_json(h, p, before, text, n, err);
}

static ss_status begin(const char *path, const ss_torch_reader *r, parser *p, yajl_handle *h,
                       ss_error *err)
{
    *p = (parser){.reader = r, .path = path, .err = err};
    *h = yajl_alloc(&callbacks, NULL,
                    p); /* with memory of its own: it does not look whether there was some */
    if (!*h)
        return ss_fail_memory(err, "a trace", 0);
    yajl_config(*h, yajl_dont_validate_strings, 1); /* names of C++ have any bytes */
    return SS_OK;
}

static ss_status end(yajl_handle h, parser *p, uint64_t before, ss_status s, ss_error *err)
{
    if (!s)
        s = feed(h, p, before, NULL, 0, err);
    if (!s && !p->found)
        s = ss_fail(
            err, SS_EFORMAT,
            "%s: it has no list of events (traceEvents): is it a trace that torch.profiler wrote?",
            p->path);
    yajl_free(h);
    free_parser(p);
    return s;
}

ss_status ss_torch_parse_events(const char *text, size_t n, const char *name,
                                const ss_torch_reader *r, ss_error *err)
{
    parser p;
    yajl_handle h;
    ss_status s = begin(name, r, &p, &h, err);
    if (s)
        return s;
    s = feed(h, &p, 0, text, n, err);
    return end(h, &p, n, s, err);
}

static ss_status read_all(ss_unzip *u, yajl_handle h, parser *p, uint64_t *before,
                          const ss_watch *w, ss_error *err)
{
    char *chunk = ss_alloc(CHUNK);
    if (!chunk)
        return ss_fail_memory(err, "a trace", CHUNK);
    size_t n = 1;
    ss_status s = SS_OK;
    while (!s && n) {
        double at, size;
        s = ss_unzip_read(u, chunk, CHUNK, &n, err);
        if (!s && n)
            s = feed(h, p, *before, chunk, n, err);
        *before += n;
        ss_unzip_place(u, &at, &size);
        if (!s)
            s = ss_look_up(w, "reading", at, size, err);
    }
    ss_look_away(w);
    ss_free(chunk);
    return s;
}

ss_status ss_torch_read_events(const char *path, const ss_torch_reader *r, const ss_watch *w,
                               ss_error *err)
{
    ss_unzip *u;
    parser p;
    yajl_handle h;
    uint64_t before = 0;
    ss_status s = ss_unzip_open(path, &u, err);
    if (s)
        return s;
    s = begin(path, r, &p, &h, err);
    if (!s) {
        s = read_all(u, h, &p, &before, w, err);
        s = end(h, &p, before, s, err);
    }
    ss_unzip_close(u);
    return s;
}

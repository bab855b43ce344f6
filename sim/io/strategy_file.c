/* Strategies as JSON. */

#include "io/strategy_file.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "io/file.h"
#include "io/trajectory.h"

enum { MOST_BYTES = 1 << 28 }; /* 1,000 operators of 65,536 parts each and room to spare */

static const char FORMAT[] = "soapstone strategy";

/* -------------------------------------------------------------------------------------- writing */

static void write_degrees(const ss_op_def *def, const ss_config *c, ss_text *out)
{
    bool first = true;
    ss_text_add(out, "\"degrees\": {");
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        if (c->degree[d] == 1)
            continue;
        ss_text_add(out, first ? "" : ", ");
        ss_text_add_json_string(out, def->dim[d].name);
        ss_text_add(out, ": %u", c->degree[d]);
        first = false;
    }
    ss_text_add(out, "}");
}

static void write_devices(const ss_config *c, ss_text *out)
{
    bool same = true;
    for (uint32_t k = 1; k < c->parts; k++)
        same &= c->device[k].i == c->device[0].i;
    ss_text_add(out, "\"devices\": [");
    for (uint32_t k = 0; k < (same ? 1 : c->parts); k++)
        ss_text_add(out, "%s%u", k ? ", " : "", c->device[k].i);
    ss_text_add(out, "]");
}

static void write_pins(const ss_strategy *s, uint32_t op, ss_text *out)
{
    const ss_op_def *def = s->model->op[op].def;
    const char *comma = "";
    bool any = s->pin[op] != SS_PIN_NONE;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        any |= s->pin_degree[op][d];
    if (!any)
        return;
    ss_text_add(out, ", \"pinned\": [");
    if (s->pin[op] & SS_PIN_DEGREES) {
        ss_text_add(out, "\"degrees\"");
        comma = ", ";
    }
    if (s->pin[op] & SS_PIN_DEVICES) {
        ss_text_add(out, "%s\"devices\"", comma);
        comma = ", ";
    }
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        if (!s->pin_degree[op][d])
            continue;
        ss_text_add(out, "%s", comma);
        ss_text_add_json_string(out, def->dim[d].name);
        comma = ", ";
    }
    ss_text_add(out, "]");
}

static void write_identity(const char *what, const char *name, uint64_t hash, ss_text *out)
{
    ss_text_add(out, "  \"%s\": {\"name\": ", what);
    ss_text_add_json_string(out, name);
    ss_text_add(out, ", \"hash\": \"%016" PRIx64 "\"},\n", hash);
}

ss_status ss_strategy_write(const ss_strategy *s, ss_text *out, ss_error *err)
{
    ss_status st = ss_strategy_check(s, err);
    if (st)
        return st;
    ss_text_add(out, "{\n  \"format\": \"%s\",\n  \"version\": %d,\n", FORMAT,
                SS_STRATEGY_FILE_VERSION);
    write_identity("model", s->model->name, ss_model_hash(s->model), out);
    write_identity("topology", s->topology->name, ss_topology_hash(s->topology), out);
    ss_text_add(out, "  \"operators\": {");
    for (uint32_t i = 1; i <= s->ops; i++) {
        ss_text_add(out, "%s\n    ", i > 1 ? "," : "");
        ss_text_add_json_string(out, s->model->op[i].name);
        ss_text_add(out, ": {");
        write_degrees(s->model->op[i].def, &s->config[i], out);
        ss_text_add(out, ", ");
        write_devices(&s->config[i], out);
        write_pins(s, i, out);
        ss_text_add(out, "}");
    }
    ss_text_add(out, "\n  }\n}\n");
    return ss_text_status(out, err);
}

/* Also of a later version, and of any model. */
static bool is_one(const ss_text *text)
{
    json_t *root = json_loadb(ss_text_get(text), text->n, 0, NULL);
    const char *format = json_string_value(json_object_get(root, "format"));
    bool is = format && !strcmp(format, FORMAT);
    json_decref(root);
    return is;
}

ss_status ss_strategy_check_place(const char *path, ss_error *err)
{
    ss_text text = {0};
    ss_error reason;
    ss_status s = ss_trajectory_check_ended(path, err);
    if (s || !ss_file_holds(path))
        return s;
    s = ss_file_read(path, MOST_BYTES, &text, &reason);
    bool ours = !s && is_one(&text);
    ss_text_free(&text);
    if (s == SS_ENOMEM)
        return ss_fail(err, s, "%s", reason.text);
    return ours ? SS_OK : ss_file_fail_kind(err, path, "strategy file of soapstone");
}

ss_status ss_strategy_save(const ss_strategy *s, const char *path, ss_error *err)
{
    ss_text text = {0};
    ss_status st = ss_strategy_write(s, &text, err);
    if (!st)
        st = ss_file_write(path, ss_text_get(&text), text.n, err);
    ss_text_free(&text);
    return st;
}

/* -------------------------------------------------------------------------------------- reading */

static const char *kind_of(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number with a fraction or exponent";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

/* A member that must be there and of one type. */
static ss_status member(json_t *object, const char *key, json_type type, const char *wanted,
                        json_t **out, ss_error *err)
{
    *out = json_object_get(object, key);
    if (!*out)
        return ss_fail(err, SS_EFORMAT, "there is no \"%s\"", key);
    if (json_typeof(*out) != type)
        return ss_fail(err, SS_EFORMAT, "%s: it is %s; %s is wanted", key, kind_of(*out), wanted);
    return SS_OK;
}

static ss_status refuse_others(json_t *object, const char *const *known, uint32_t n, ss_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool found = false;
        for (uint32_t i = 0; i < n; i++)
            found |= !strcmp(key, known[i]);
        const char *near = found ? NULL : ss_nearest(key, known, n);
        if (!found)
            return ss_fail(err, SS_EFORMAT, "%s: no such thing is known here%s%s%s", key,
                           near ? "; is \"" : "", near ? near : "", near ? "\" meant?" : "");
    }
    return SS_OK;
}

static ss_status read_identity(json_t *root, const char *what, const char *name, uint64_t hash,
                               bool by_name, ss_error *err)
{
    static const char *const known[] = {"name", "hash"};
    json_t *object, *given_name, *given_hash;
    ss_status s = member(root, what, JSON_OBJECT, "an object", &object, err);
    if (s)
        return s;
    s = member(object, "name", JSON_STRING, "a string", &given_name, err);
    if (!s)
        s = member(object, "hash", JSON_STRING, "a string", &given_hash, err);
    if (!s)
        s = refuse_others(object, known, 2, err);
    if (s)
        return ss_fail_in(err, "%s", what);
    if (by_name)
        return SS_OK;
    if (strcmp(json_string_value(given_name), name))
        return ss_fail(err, SS_EINVAL, "the strategy is for %s \"%s\", and this one is \"%s\"",
                       what, json_string_value(given_name), name);
    char wanted[17];
    snprintf(wanted, sizeof wanted, "%016" PRIx64, hash);
    if (strcmp(json_string_value(given_hash), wanted))
        return ss_fail(
            err, SS_EINVAL,
            "the strategy is for another %s \"%s\" (hash %s, this one has %s): by_name = true "
            "(simulate --by-name) takes what fits",
            what, name, json_string_value(given_hash), wanted);
    return SS_OK;
}

static uint32_t find_dim(const ss_op_def *def, const char *name)
{
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        if (!strcmp(def->dim[d].name, name))
            return d;
    return SS_MAX_DIMS;
}

static ss_status no_such_dim(const ss_op_def *def, const char *name, ss_error *err)
{
    char names[128] = "";
    size_t n = 0;
    for (uint32_t d = 0; d < def->out[0].rank && n < sizeof names; d++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", d ? ", " : "", def->dim[d].name);
    return ss_fail(err, SS_EINVAL, "a %s has no dimension \"%s\", its dimensions are %s",
                   def->kind->name, name, names);
}

static ss_status read_number(const json_t *v, uint32_t *out, ss_error *err)
{
    if (!json_is_integer(v))
        return ss_fail(err, SS_EFORMAT, "it is %s; a whole number is wanted", kind_of(v));
    json_int_t x = json_integer_value(v);
    if (x < 0 || x > (json_int_t)UINT32_MAX)
        return ss_fail(err, SS_EINVAL, "%" JSON_INTEGER_FORMAT " is out of range", x);
    *out = (uint32_t)x;
    return SS_OK;
}

static ss_status read_degrees(json_t *object, const ss_op_def *def, uint32_t *degree, ss_error *err)
{
    const char *key;
    json_t *value;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        degree[d] = 1;
    json_object_foreach(object, key, value)
    {
        uint32_t d = find_dim(def, key);
        ss_status s =
            d < SS_MAX_DIMS ? read_number(value, &degree[d], err) : no_such_dim(def, key, err);
        if (s)
            return ss_fail_in(err, "degrees.%s", key);
    }
    return SS_OK;
}

static ss_status read_devices(json_t *list, ss_device *device, uint32_t *n, ss_error *err)
{
    if (json_array_size(list) > SS_MAX_PARTS)
        return ss_fail(err, SS_EINVAL, "devices: %zu are given; an operator has at most %d parts",
                       json_array_size(list), SS_MAX_PARTS);
    *n = (uint32_t)json_array_size(list);
    if (!*n)
        return ss_fail(err, SS_EINVAL, "devices: the list is empty");
    for (uint32_t k = 0; k < *n; k++) {
        ss_status s = read_number(json_array_get(list, k), &device[k].i, err);
        if (s)
            return ss_fail_in(err, "devices[%u]", k + 1);
    }
    return SS_OK;
}

static ss_status read_pins(json_t *list, ss_strategy *s, ss_op op, ss_error *err)
{
    const ss_op_def *def = s->model->op[op.i].def;
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *v = json_array_get(list, k);
        const char *word = json_string_value(v);
        uint32_t d = word ? find_dim(def, word) : SS_MAX_DIMS;
        ss_status st = SS_OK;
        if (!word)
            st = ss_fail(err, SS_EFORMAT, "it is %s; a string is wanted", kind_of(v));
        else if (!strcmp(word, "degrees"))
            st = ss_strategy_pin(s, op, SS_PIN_DEGREES, err);
        else if (!strcmp(word, "devices"))
            st = ss_strategy_pin(s, op, SS_PIN_DEVICES, err);
        else if (d < SS_MAX_DIMS)
            st = ss_strategy_pin_degree(s, op, d, err);
        else
            st = no_such_dim(def, word, err);
        if (st)
            return ss_fail_in(err, "pinned[%zu]", k + 1);
    }
    return SS_OK;
}

/* `room` holds SS_MAX_PARTS devices. */
static ss_status read_operator(json_t *v, ss_strategy *s, ss_op op, ss_device *room, ss_error *err)
{
    static const char *const known[] = {"degrees", "devices", "pinned"};
    if (!json_is_object(v))
        return ss_fail(err, SS_EFORMAT, "it is %s; an object is wanted", kind_of(v));
    json_t *degrees, *devices, *pinned = NULL;
    uint32_t degree[SS_MAX_DIMS], n = 0;
    ss_status st = refuse_others(v, known, 3, err);
    if (!st)
        st = member(v, "degrees", JSON_OBJECT, "an object", &degrees, err);
    if (!st)
        st = member(v, "devices", JSON_ARRAY, "a list", &devices, err);
    if (!st && json_object_get(v, "pinned"))
        st = member(v, "pinned", JSON_ARRAY, "a list", &pinned, err);
    if (!st)
        st = read_degrees(degrees, s->model->op[op.i].def, degree, err);
    if (!st)
        st = read_devices(devices, room, &n, err);
    if (!st)
        st = ss_strategy_set(s, op, degree, s->model->op[op.i].def->out[0].rank, room, n, err);
    if (!st && pinned)
        st = read_pins(pinned, s, op, err);
    return st;
}

static ss_status unknown_operator(const ss_model *m, const char *name, ss_error *err)
{
    const char *near = ss_names_nearest(&m->op_names, name);
    return ss_fail(err, SS_EINVAL, "model %s has no such operator%s%s", m->name,
                   near ? "; the nearest is " : "", near ? near : "");
}

/* Every operator of the file into the strategy; `seen` is a mark for each of the model. */
static ss_status read_operators(json_t *operators, ss_strategy *s, ss_strategy_loading *l,
                                uint8_t *seen, ss_device *room, ss_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(operators, key, value)
    {
        ss_op op = {ss_names_find(&s->model->op_names, key)};
        ss_status st = SS_OK;
        if (op.i) {
            st = read_operator(value, s, op, room, err);
            seen[op.i] = 1;
            l->matched++;
        } else if (l->by_name) {
            l->unknown++;
        } else {
            st = unknown_operator(s->model, key, err);
        }
        if (st)
            return ss_fail_in(err, "operators.%s", key);
    }
    for (uint32_t i = 1; i <= s->ops; i++) {
        if (seen[i])
            continue;
        if (!l->by_name)
            return ss_fail(err, SS_EFORMAT, "operators: %s is missing", s->model->op[i].name);
        l->missing++;
    }
    return SS_OK;
}

static ss_status read_head(json_t *root, const ss_model *m, const ss_topology *t, bool by_name,
                           json_t **operators, ss_error *err)
{
    static const char *const known[] = {"format", "version", "model", "topology", "operators"};
    json_t *format, *version;
    if (!json_is_object(root))
        return ss_fail(err, SS_EFORMAT, "it holds %s; a strategy is an object", kind_of(root));
    ss_status s = member(root, "format", JSON_STRING, "a string", &format, err);
    if (s)
        return s;
    if (strcmp(json_string_value(format), FORMAT))
        return ss_fail(err, SS_EFORMAT, "format: it is \"%s\", not \"%s\"",
                       json_string_value(format), FORMAT);
    s = member(root, "version", JSON_INTEGER, "a whole number", &version, err);
    if (s)
        return s;
    if (json_integer_value(version) != SS_STRATEGY_FILE_VERSION)
        return ss_fail(err, SS_EFORMAT,
                       "version: it is %" JSON_INTEGER_FORMAT ", and this program reads version %d",
                       json_integer_value(version), SS_STRATEGY_FILE_VERSION);
    s = refuse_others(root, known, 5, err);
    if (!s)
        s = read_identity(root, "model", m->name, ss_model_hash(m), by_name, err);
    if (!s)
        s = read_identity(root, "topology", t->name, ss_topology_hash(t), by_name, err);
    return s ? s : member(root, "operators", JSON_OBJECT, "an object", operators, err);
}

static ss_status read_root(json_t *root, const ss_model *m, const ss_topology *t,
                           ss_strategy_loading *l, ss_strategy **out, ss_error *err)
{
    json_t *operators;
    ss_status st = read_head(root, m, t, l->by_name, &operators, err);
    if (st)
        return st;
    ss_strategy *s = NULL;
    uint8_t *seen = ss_alloc_zeroed((size_t)m->ops + 1, 1);
    ss_device *room = ss_alloc(SS_MAX_PARTS * sizeof *room);
    if (!seen || !room)
        st = ss_fail_memory(err, "loading a strategy", SS_MAX_PARTS * sizeof *room);
    if (!st)
        st = ss_strategy_new(m, t, &s, err);
    if (!st)
        st = read_operators(operators, s, l, seen, room, err);
    ss_free(seen);
    ss_free(room);
    if (st)
        ss_strategy_free(s);
    else
        *out = s;
    return st;
}

ss_status ss_strategy_parse(const char *text, size_t n, const char *name, const ss_model *m,
                            const ss_topology *t, ss_strategy_loading *l, ss_strategy **out,
                            ss_error *err)
{
    ss_strategy_loading mine = {.by_name = l && l->by_name};
    json_error_t why;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (!root && json_error_code(&why) == json_error_out_of_memory)
        return ss_fail_memory(err, name, n);
    if (!root)
        return ss_fail(err, SS_EFORMAT, "%s:%d:%d: %s", name, why.line, why.column, why.text);
    ss_status st = read_root(root, m, t, &mine, out, err);
    json_decref(root);
    if (st)
        return ss_fail_in(err, "%s", name);
    if (l)
        *l = mine;
    return SS_OK;
}

ss_status ss_strategy_load(const char *path, const ss_model *m, const ss_topology *t,
                           ss_strategy_loading *l, ss_strategy **out, ss_error *err)
{
    ss_text text = {0};
    ss_status st = ss_file_read(path, MOST_BYTES, &text, err);
    if (!st)
        st = ss_strategy_parse(ss_text_get(&text), text.n, path, m, t, l, out, err);
    ss_text_free(&text);
    return st;
}

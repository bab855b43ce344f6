#include "config.h"

#include "io/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "io/file.h"
#include "io/measured.h"
#include "io/record.h"

enum { SIGNATURE = 8, MOST_BYTES = 1 << 28 };

static ss_status read_signature(const char *path, unsigned char *bytes, size_t *n, ss_error *err)
{
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make us wait */
    if (fd < 0)
        return ss_file_fail(err, errno, "open", path);
    bool other = !fstat(fd, &is) && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode);
    ssize_t got = other ? 0 : pread(fd, bytes, SIGNATURE, 0);
    int error_number = errno;
    close(fd);
    if (other)
        return ss_fail(err, SS_EINVAL, "cannot read %s: it is no regular file", path);
    if (got < 0)
        return ss_file_fail(err, error_number, "read", path);
    *n = (size_t)got;
    return SS_OK;
}

/* A cut record has the signature still; an empty file called .h5 is better told by the reader. */
static bool is_record(const char *path, const unsigned char *bytes, size_t n)
{
    static const unsigned char signature[SIGNATURE] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    size_t length = strlen(path);
    return (n && !memcmp(bytes, signature, n)) || (length > 3 && !strcmp(path + length - 3, ".h5"));
}

static const char *text_of(const json_t *object, const char *member, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(object, member), name));
    return text ? text : "?";
}

static void describe_strategy(json_t *root, bool json, ss_text *out)
{
    json_t *operators = json_object_get(root, "operators"), *op;
    const char *name;
    size_t cut = 0, most = 0, pinned = 0;
    json_object_foreach(operators, name, op)
    {
        size_t devices = json_array_size(json_object_get(op, "devices"));
        cut += json_object_size(json_object_get(op, "degrees")) > 0;
        pinned += json_array_size(json_object_get(op, "pinned")) > 0;
        most = devices > most ? devices : most;
    }
    const char *model = text_of(root, "model", "name"), *hash = text_of(root, "model", "hash");
    const char *topology = text_of(root, "topology", "name");
    if (json) {
        ss_text_add(out, "{\"kind\": \"strategy\", \"model\": ");
        ss_text_add_json_string(out, model);
        ss_text_add(out, ", \"model_hash\": ");
        ss_text_add_json_string(out, hash);
        ss_text_add(out, ", \"topology\": ");
        ss_text_add_json_string(out, topology);
        ss_text_add(out,
                    ", \"operators\": %zu, \"cut\": %zu, \"pinned\": %zu, \"most_parts\": %zu}\n",
                    json_object_size(operators), cut, pinned, most);
        return;
    }
    ss_text_add(out, "strategy for model %s (hash %s) on topology %s\n", model, hash, topology);
    ss_text_add(out,
                "  %zu operator%s, %zu of them cut, %zu with pins; at most %zu device%s each\n",
                json_object_size(operators), ss_plural(json_object_size(operators)), cut, pinned,
                most, ss_plural(most));
}

static void describe_graph(json_t *root, bool json, ss_text *out)
{
    json_t *tasks = json_object_get(root, "tasks"), *task;
    size_t i, transfers = 0, n = json_array_size(tasks);
    json_array_foreach(tasks, i, task)
    {
        const char *kind = json_string_value(json_array_get(task, 0));
        transfers += kind && !strcmp(kind, "x");
    }
    const char *name = json_string_value(json_object_get(root, "name"));
    size_t devices = json_array_size(json_object_get(root, "devices"));
    size_t links = json_array_size(json_object_get(root, "links"));
    size_t deps = json_array_size(json_object_get(root, "deps"));
    if (json) {
        ss_text_add(out, "{\"kind\": \"task graph\", \"name\": ");
        ss_text_add_json_string(out, name ? name : "");
        ss_text_add(out,
                    ", \"devices\": %zu, \"links\": %zu, \"tasks\": %zu, \"transfers\": %zu, "
                    "\"dependencies\": %zu}\n",
                    devices, links, n, transfers, deps);
        return;
    }
    ss_text_add(out, "task graph %s\n", name ? name : "without a name");
    ss_text_add(out, "  %zu task%s (%zu compute, %zu transfer%s), %zu dependenc%s\n", n,
                ss_plural(n), n - transfers, transfers, ss_plural(transfers), deps,
                deps == 1 ? "y" : "ies");
    ss_text_add(out, "  %zu device%s, %zu link%s\n", devices, ss_plural(devices), links,
                ss_plural(links));
}

static ss_status describe_json(const char *path, json_t *root, bool json, ss_text *out,
                               ss_error *err)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    if (format && !strcmp(format, "soapstone strategy"))
        describe_strategy(root, json, out);
    else if (json_is_array(json_object_get(root, "tasks")) &&
             json_is_array(json_object_get(root, "devices")))
        describe_graph(root, json, out);
    else
        return ss_fail(err, SS_EFORMAT,
                       "%s: JSON, but neither a strategy nor a task graph (no \"format\", no "
                       "\"tasks\")",
                       path);
    return ss_text_status(out, err);
}

static ss_status inspect_text(const char *path, bool json, ss_text *out, ss_error *err)
{
    ss_text text = {0};
    json_error_t wrong;
    ss_status s = ss_file_read(path, MOST_BYTES, &text, err);
    if (s || ss_measured_is_csv(ss_text_get(&text))) {
        ss_text_free(&text);
        return s ? s : ss_measured_describe_csv(path, json, out, err);
    }
    json_t *root = json_loadb(ss_text_get(&text), text.n, JSON_REJECT_DUPLICATES, &wrong);
    if (!root)
        s = ss_fail(
            err, SS_EFORMAT,
            "%s: neither a record (HDF5) nor measured times (CSV) nor JSON: line %d, column %d: %s",
            path, wrong.line, wrong.column, wrong.text);
    else
        s = describe_json(path, root, json, out, err);
    json_decref(root);
    ss_text_free(&text);
    return s;
}

ss_status ss_inspect(const char *path, bool json, ss_text *out, ss_error *err)
{
    unsigned char bytes[SIGNATURE];
    size_t n = 0;
    ss_status s = read_signature(path, bytes, &n, err);
    if (s)
        return s;
    return is_record(path, bytes, n) ? ss_record_describe(path, json, out, err)
                                     : inspect_text(path, json, out, err);
}

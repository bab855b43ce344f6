/* The record: what is written comes back, and what is not a record is refused. */
#include "config.h"

#include "io/record.h"

#include <hdf5.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "small_view.h"

#define HERE "test_record.dir/"
static const char path[] = HERE "run.h5";

static const ss_manifest manifest = {.version = "0.1.0",
                                     .command = "soapstone run nmt.lua",
                                     .script_name = "nmt.lua",
                                     .script_text = "-- \xc3\xa4\nprint(1)\n",
                                     .options = "sync = ring\n",
                                     .seed = UINT64_MAX - 6};

/* Two timelines of one view; keeps nothing open. */
static ss_status write_views(const char *to, const ss_view *v, const char *first,
                             const char *second, ss_error *err)
{
    ss_record *r;
    ss_status s = ss_record_create(to, &manifest, &r, err);
    if (s)
        return s;
    s = ss_record_timeline(r, first, v, NULL, err);
    if (!s && second)
        s = ss_record_timeline(r, second, v, NULL, err);
    if (!s)
        return ss_record_finish(r, err);
    ss_record_abandon(r);
    return s;
}

static void a_timeline_comes_back_as_it_was(void)
{
    ss_error err = {0};
    ss_view v = small_view(), got = {0};
    CHECK_OK(write_views(path, &v, "data", NULL, &err));
    CHECK_OK(ss_record_read_timeline(path, NULL, &got, &err));
    const char *difference = small_difference(&v, &got);
    CHECK(!difference, "%s", difference);
    ss_arena_free(&got.arena);
    CHECK_OK(ss_record_read_timeline(path, "data", &got, &err));
    CHECK(!small_difference(&v, &got), "by name");
    ss_arena_free(&got.arena);
}

static void an_empty_timeline_comes_back(void)
{
    ss_error err = {0};
    ss_view v = {.model = "", .topology = "", .strategy = "", .assumptions = NULL}, got = {0};
    ss_view_lane lane = {0};
    ss_view_task task = {0};
    v.lane = &lane;
    v.task = &task;
    CHECK_OK(write_views(path, &v, "nothing", NULL, &err));
    CHECK_OK(ss_record_read_timeline(path, NULL, &got, &err));
    CHECK(!got.tasks && !got.lanes && !got.edges && !strcmp(got.assumptions, ""), "empty");
    ss_arena_free(&got.arena);
}

static void one_of_several_timelines_must_be_named(void)
{
    ss_error err = {0};
    ss_view v = small_view(), got = {0};
    CHECK_OK(write_views(path, &v, "data", "expert", &err));
    CHECK(ss_record_read_timeline(path, NULL, &got, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "run.h5 holds 2 timelines, so say which: \"data\", \"expert\"");
    CHECK(ss_record_read_timeline(path, "exprt", &got, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "no timeline \"exprt\"; did you mean \"expert\"?");
    CHECK(ss_record_read_timeline(path, "zzzzzz", &got, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "no timeline \"zzzzzz\"; it holds \"data\", \"expert\"");
    CHECK(ss_record_read_timeline(path, "data/tasks", &got, &err) == SS_ENOTFOUND, "%s", err.text);
}

static ss_status only_manifest(const char *to, ss_error *err)
{
    ss_record *r;
    ss_status s = ss_record_create(to, &manifest, &r, err);
    return s ? s : ss_record_finish(r, err);
}

static void a_record_without_timelines_says_so(void)
{
    ss_error err = {0};
    ss_view got;
    CHECK_OK(only_manifest(path, &err));
    CHECK(ss_record_read_timeline(path, NULL, &got, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "run.h5 holds no timeline");
}

static void names_that_cannot_be_groups_are_refused(void)
{
    static const char *const bad[] = {"", ".", "a/b", "a\nb"};
    ss_error err = {0};
    ss_view v = small_view();
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(write_views(path, &v, bad[i], NULL, &err) == SS_EINVAL, "\"%s\"", bad[i]);
        CHECK_TEXT(err.text, "a timeline of a record cannot have the name");
    }
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    long_name[201] = 0;
    CHECK(write_views(path, &v, long_name, NULL, &err) == SS_EINVAL, "long");
    long_name[200] = 0;
    CHECK_OK(write_views(path, &v, long_name, NULL, &err));
    CHECK(write_views(path, &v, "same", "same", &err) == SS_EINVAL, "twice");
    CHECK_TEXT(err.text, "two of what is recorded are a timeline called \"same\"");
}

static void a_record_that_is_given_up_leaves_nothing(void)
{
    ss_error err = {0};
    ss_record *r;
    ss_view v = small_view();
    CHECK_OK(ss_record_create(HERE "no.h5", &manifest, &r, &err));
    CHECK_OK(ss_record_timeline(r, "data", &v, NULL, &err));
    ss_record_abandon(r);
    ss_record_abandon(NULL);
    CHECK(access(HERE "no.h5", F_OK), "it is there");
    CHECK(system("test -z \"$(ls -A " HERE " | grep no.h5)\"") == 0, "something is there");
}

/* ------------------------------------------------------------------------- models and the like */

typedef struct inputs {
    ss_model *m;
    ss_topology *t;
    ss_strategy *s;
    ss_chance *chance;
} inputs;

static void free_inputs(inputs *x)
{
    ss_chance_free(x->chance);
    ss_strategy_free(x->s);
    ss_topology_free(x->t);
    ss_model_free(x->m);
}

static ss_status add_linear(ss_model *m, const char *name, ss_tensor in, const char *share,
                            ss_tensor *out, ss_error *err)
{
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find("linear"), name);
    ss_op op;
    spec.in = &in;
    spec.inputs = 1;
    spec.share = share;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < ss_op_kind_attrs(spec.kind); i++)
        if (!strcmp(spec.kind->attr[i].name, "out"))
            spec.attr[i] = 96;
        else if (!strcmp(spec.kind->attr[i].name, "activation"))
            s = ss_attr_parse(&spec.kind->attr[i], "relu", &spec.attr[i], err);
    if (!s)
        s = ss_model_add(m, &spec, &op, err);
    if (!s)
        *out = m->op[op.i].out[0];
    return s;
}

static ss_status make_inputs(inputs *x, ss_error *err)
{
    ss_shape shape = {SS_F32, 2, {30, 96}};
    ss_tensor in, hidden, out;
    ss_device a, b;
    ss_link l;
    ss_device_def gpu = {.kind = "p100", .memory_bytes = 1e9, .speed = 0.5, .machine = 3};
    gpu.flop_per_s[SS_F32] = 9.3e12;
    double size[] = {1000, 3000}, share[] = {0.25, 0.75};
    ss_link_step step = {.bytes = 64, .latency_s = 3e-6};
    ss_link_law law = {.load = 0.125, .curve = {1, size, share, 2}, .step = &step, .steps = 1};
    ss_link_def wire = {.kind = "nvlink", .bytes_per_s = 2e10, .latency_s = 7e-7, .law = &law};
    ss_node host;
    ss_status s = ss_model_new("two", &x->m, err);
    if (!s)
        s = ss_model_input(x->m, "x", &shape, &in, err);
    if (!s)
        s = add_linear(x->m, "fc1", in, "w", &hidden, err);
    if (!s)
        s = add_linear(x->m, "fc2", hidden, "w", &out, err);
    if (!s)
        s = ss_topology_new("pair", &x->t, err);
    if (!s)
        s = ss_topology_add_device(x->t, "g0", &gpu, &a, err);
    if (!s)
        s = ss_topology_add_device(x->t, "g1", &gpu, &b, err);
    if (!s)
        s = ss_topology_add_link(x->t, x->t->device[a.i].node, x->t->device[b.i].node, &wire, &l,
                                 err);
    if (!s)
        s = ss_topology_add_route(x->t, a, b, &l, 1, err);
    if (!s)
        s = ss_topology_set_route_flows(x->t, a, b, 5, 1e9, err);
    if (!s)
        s = ss_topology_add_switch(x->t, "host", &host, err);
    if (!s)
        s = ss_topology_set_stages(x->t, host, true, err);
    law = (ss_link_law){.half_bytes = 4096};
    if (!s)
        s = ss_topology_add_link(x->t, x->t->device[a.i].node, host, &wire, &l, err);
    if (!s)
        s = ss_strategy_new(x->m, x->t, &x->s, err);
    uint32_t degree[] = {2, 1};
    ss_device device[] = {b, a};
    if (!s)
        s = ss_strategy_set(x->s, (ss_op){2}, degree, 2, device, 2, err);
    if (!s)
        s = ss_strategy_pin_degree(x->s, (ss_op){2}, 0, err);
    if (!s)
        s = ss_chance_new(7, &x->chance, err);
    ss_draw samples = {
        .kind = SS_DRAW_SAMPLES, .mean = 1, .sample = (double[]){3, 1, 2}, .samples = 3};
    if (!s)
        s = ss_chance_set(x->chance, SS_LUCK_COMPUTE, &samples, err);
    samples.samples = 1;
    if (!s)
        s = ss_chance_set_kind(x->chance, "linear", &samples, err);
    return s ? s : ss_strategy_pin(x->s, (ss_op){1}, SS_PIN_DEVICES, err);
}

static ss_status write_all(const char *to, const inputs *x, ss_error *err)
{
    ss_view v = small_view();
    ss_record *r;
    ss_manifest with = manifest;
    ss_record_origin origin = {.chance = x->chance};
    with.chance = x->chance;
    ss_status s = ss_record_create(to, &with, &r, err);
    if (s)
        return s;
    s = ss_record_model(r, x->m, err);
    if (!s)
        s = ss_record_topology(r, x->t, err);
    if (!s)
        s = ss_record_strategy(r, "data", x->s, err);
    if (!s)
        s = ss_record_strategy(r, "by hand", x->s, err);
    if (!s)
        s = ss_record_timeline(r, "data", &v, &origin, err);
    if (!s)
        return ss_record_finish(r, err);
    ss_record_abandon(r);
    return s;
}

/* Of a column of numbers, read as another program would. */
static double number_at(hid_t file, const char *column, uint32_t row)
{
    double value[64] = {0};
    hid_t set = H5Dopen2(file, column, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    if (n <= 64)
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    H5Sclose(space);
    H5Dclose(set);
    return n <= 64 && row < n ? value[row] : -1;
}

static const char *text_at(hid_t file, const char *column, uint32_t row)
{
    static char all[4096], value[512];
    hid_t set = H5Dopen2(file, column, H5P_DEFAULT), type = H5Dget_type(set);
    size_t n = H5Tget_size(type);
    memset(all, 0, sizeof all);
    memset(value, 0, sizeof value);
    if ((row + 1) * n <= sizeof all && n < sizeof value) {
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
        memcpy(value, all + row * n, n);
    }
    H5Tclose(type);
    H5Dclose(set);
    return value;
}

#define NUMBER_IS(column, row, wanted)                                                             \
    CHECK(number_at(file, column, row) == (wanted), "%s is %g", column,                            \
          number_at(file, column, row))
#define TEXT_IS(column, row, wanted)                                                               \
    CHECK(!strcmp(text_at(file, column, row), wanted), "%s is %s", column,                         \
          text_at(file, column, row))

static void another_program_finds_the_inputs(void)
{
    ss_error err = {0};
    inputs x = {0};
    CHECK_OK(make_inputs(&x, &err));
    CHECK_OK(write_all(path, &x, &err));
    free_inputs(&x);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0, "it does not open");
    TEXT_IS("model/operators/name", 1, "fc2");
    TEXT_IS("model/operators/kind", 0, "linear");
    TEXT_IS("model/operators/shape", 0, "30x96");
    TEXT_IS("model/operators/share", 0, "w");
    CHECK_TEXT(text_at(file, "model/operators/attributes", 0), "out=96");
    CHECK_TEXT(text_at(file, "model/operators/attributes", 0), "activation=relu");
    NUMBER_IS("model/operators/macs", 0, 30 * 96 * 96);
    NUMBER_IS("model/weights/group", 0, 1);
    NUMBER_IS("model/tensors/producer", 0, 0);
    NUMBER_IS("model/tensors/bytes", 0, 30 * 96 * 4);
    NUMBER_IS("model/edges/to", 1, 2);
    NUMBER_IS("model/edges/from", 1, 1);
    TEXT_IS("topology/devices/name", 1, "g1");
    NUMBER_IS("topology/devices/flops_f32", 1, 9.3e12);
    NUMBER_IS("topology/devices/speed", 0, 0.5);
    NUMBER_IS("topology/links/bandwidth", 0, 2e10);
    NUMBER_IS("topology/given_routes/link", 0, 1);
    NUMBER_IS("topology/given_routes/weight", 0, 5);
    NUMBER_IS("topology/given_routes/limit", 0, 1e9);
    NUMBER_IS("topology/links/load", 0, 0.125);
    NUMBER_IS("topology/links/half_size", 0, 0);
    NUMBER_IS("topology/links/half_size", 1, 4096);
    NUMBER_IS("topology/efficiency/link", 1, 1);
    NUMBER_IS("topology/efficiency/bytes", 1, 3000);
    NUMBER_IS("topology/efficiency/efficiency", 1, 0.75);
    NUMBER_IS("topology/efficiency/bytes", 2, -1);
    NUMBER_IS("topology/latency_by_size/link", 0, 1);
    NUMBER_IS("topology/latency_by_size/bytes", 0, 64);
    NUMBER_IS("topology/latency_by_size/latency", 0, 3e-6);
    TEXT_IS("manifest/samples/of", 0, "compute");
    TEXT_IS("manifest/samples/of", 3, "kind linear");
    NUMBER_IS("manifest/samples/value", 0, 0.5);
    NUMBER_IS("manifest/samples/value", 2, 1.5);
    NUMBER_IS("manifest/samples/value", 4, -1);
    TEXT_IS("timeline/data/samples/of", 0, "compute");
    NUMBER_IS("timeline/data/samples/value", 1, 1);
    NUMBER_IS("strategies/by hand/operators/degree_0", 1, 2);
    NUMBER_IS("strategies/by hand/operators/degree_4", 1, 1);
    TEXT_IS("strategies/by hand/operators/pinned_degrees", 1, "n");
    NUMBER_IS("strategies/by hand/parts/device", 1, 2);
    NUMBER_IS("strategies/by hand/parts/device", 2, 1);
    NUMBER_IS("timeline/data/tasks/start", 2, 3000014);
    TEXT_IS("manifest/script", 0, "-- \xc3\xa4\nprint(1)\n");
    H5Fclose(file);
}

static void equal_runs_give_equal_bytes_without_the_clock(void)
{
    ss_error err = {0};
    inputs x = {0};
    CHECK_OK(make_inputs(&x, &err));
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    CHECK_OK(write_all(path, &x, &err));
    sleep(1);
    CHECK_OK(write_all(HERE "again.h5", &x, &err));
    unsetenv("SOURCE_DATE_EPOCH");
    free_inputs(&x);
    ss_text a = {0}, b = {0};
    CHECK_OK(ss_file_read(path, 1 << 24, &a, &err));
    CHECK_OK(ss_file_read(HERE "again.h5", 1 << 24, &b, &err));
    CHECK(a.n == b.n && !memcmp(a.at, b.at, a.n), "%u and %u bytes", a.n, b.n);
    ss_text_free(&a);
    ss_text_free(&b);
}

static void the_description_is_for_people_and_for_programs(void)
{
    ss_error err = {0};
    inputs x = {0};
    CHECK_OK(make_inputs(&x, &err));
    CHECK_OK(write_all(path, &x, &err));
    free_inputs(&x);
    ss_text text = {0}, json = {0};
    CHECK_OK(ss_record_describe(path, false, &text, &err));
    CHECK_TEXT(text.at, "run.h5: soapstone record, format 1, by soapstone ");
    CHECK_TEXT(text.at, "model       two, 2 operators\n");
    CHECK_TEXT(text.at, "topology    pair, 2 devices, 2 links\n");
    CHECK_TEXT(text.at, "strategies  by hand, data\n");
    CHECK_TEXT(text.at, "timeline    data: data parallel of nmt on p100 4x4, step ");
    CHECK_TEXT(text.at, "65.83 GiB moved, 7 tasks on 3 devices and 2 links\n");
    CHECK_TEXT(text.at, "links fifo-hop; parameter server, overlapped");
    CHECK_OK(ss_record_describe(path, true, &json, &err));
    json_error_t where;
    json_t *j = json_loads(json.at, 0, &where);
    CHECK(j, "%s at %d:%d", where.text, where.line, where.column);
    json_t *t = json_array_get(json_object_get(j, "timelines"), 0);
    CHECK(json_real_value(json_object_get(t, "step_time_s")) == 7001028e-12, "step time");
    CHECK(json_integer_value(json_object_get(t, "tasks")) == 7, "tasks");
    CHECK(json_string_length(json_object_get(json_object_get(j, "manifest"), "wallclock_start")) ==
              strlen("2024-02-30T12:34:56Z"),
          "clock");
    json_decref(j);
    ss_text_free(&text);
    ss_text_free(&json);
}

/* ------------------------------------------------------------------------------------ refusals */

static char refusal[SS_ERROR_TEXT];

static ss_status refused(const char *file)
{
    ss_error err = {0};
    ss_view got = {0};
    ss_status s = ss_record_read_timeline(file, "data", &got, &err);
    if (!s)
        ss_arena_free(&got.arena);
    memcpy(refusal, err.text, sizeof refusal);
    return s;
}

static hid_t fresh(void)
{
    ss_view v = small_view();
    if (write_views(path, &v, "data", NULL, NULL))
        return H5I_INVALID_HID;
    return H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
}

/* Puts a value where it does not belong, and takes the checksum away that would tell. */
static ss_status with_value(const char *column, uint32_t row, int64_t value)
{
    char where[128];
    int64_t all[64] = {0};
    hid_t file = fresh();
    snprintf(where, sizeof where, "timeline/data/%s", column);
    hid_t set = H5Dopen2(file, where, H5P_DEFAULT);
    hid_t type = H5Dget_type(set),
          base = H5Tget_class(type) == H5T_ENUM ? H5Tget_super(type) : type;
    hid_t space = H5Dget_space(set);
    size_t n = H5Tget_size(base);
    if (H5Sget_simple_extent_npoints(space) <= 64) {
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
        memcpy((char *)all + n * row, &value, n);
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
    }
    H5Adelete(set, "checksum");
    H5Sclose(space);
    if (base != type)
        H5Tclose(base);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    return refused(path);
}

static void rows_that_name_nothing_are_refused(void)
{
    static const struct {
        const char *column;
        uint32_t row;
        int64_t value;
        const char *says;
    } bad[] = {
        {"tasks/lane", 2, 6, "/timeline/data: tasks/lane: row 3 is 6, and there are 5"},
        {"tasks/lane", 2, 0, "tasks/lane: row 3 is 0"},
        {"tasks/lanes", 1, 0, "tasks: row 2 holds 0 lanes"},
        {"tasks/lanes", 6, 5, "holds 5 lanes from row 0 of more_lanes, which has 3 rows"},
        {"tasks/lanes", 6, UINT32_MAX, "holds 4294967295 lanes from row 0"},
        {"tasks/first_more", 6, 1, "from row 1 of more_lanes"},
        {"tasks/first_more", 6, UINT32_MAX, "from row 4294967295 of more_lanes"},
        {"tasks/task", 4, 77, "row 5 of /timeline/data/tasks/task has another number"},
        {"tasks/from_task", 0, 8, "tasks/from_task: row 1 is 8, and there are 7"},
        {"tasks/to_task", 0, 8, "tasks/to_task"},
        {"tasks/behind", 0, 8, "tasks/behind"},
        {"tasks/waited_lane", 0, 6, "tasks/waited_lane: row 1 is 6, and there are 5"},
        {"summary/path_queueing_link", 0, -1, "summary has a time below 0"},
        {"tasks/from_lane", 0, 6, "tasks/from_lane"},
        {"tasks/to_lane", 0, 6, "tasks/to_lane"},
        {"tasks/start", 3, 1, "tasks: row 4 has times out of order"},
        {"tasks/finish", 3, 1, "times out of order"},
        {"tasks/ready", 0, -1, "times out of order"},
        {"tasks/bytes", 6, -1, "tasks/bytes: row 7 is below 0"},
        {"tasks/kind", 5, 99, "tasks/kind"},
        {"tasks/cargo", 5, SS_CARGOS, "tasks/cargo"},
        {"tasks/critical", 5, 2, "tasks/critical"},
        {"lanes/lane", 0, 2, "row 1 of /timeline/data/lanes/lane has another number"},
        {"lanes/is_link", 0, 1, "lanes/is_link: row 1 is out of place"},
        {"lanes/is_link", 4, 0, "lanes/is_link: row 5 is out of place"},
        {"lanes/busy", 1, -7, "lanes: row 2 has a time below 0"},
        {"lanes/sent", 1, -7, "lanes: row 2 has a size below 0"},
        {"lanes/capacity", 1, INT64_C(0x7ff8000000000000), "lanes: row 2 has a capacity of nan B"},
        {"more_lanes/lane", 1, 6, "more_lanes/lane: row 2 is 6, and there are 5"},
        {"memory/lane", 0, 4, "memory/lane: row 1 is 4, and there are 3"},
        {"memory/time", 1, -4, "memory: row 2 is out of order"},
        {"memory/bytes", 5, -4, "memory: row 6 is out of order"},
        {"changed/lane", 1, 6, "changed/lane: row 2 is 6, and there are 5"},
        {"changed/lane", 0, 0, "changed/lane: row 1 is 0"},
        {"changed/from", 0, -1, "changed: row 1 has times out of order or below 0"},
        {"changed/to", 1, -1, "changed: row 2 has times out of order"},
        {"changed/still", 1, 2, "changed/still"},
        {"events/lane", 1, 6, "events/lane: row 2 is 6, and there are 5"},
        {"events/at", 1, 3, "events: row 2 is out of order or below 0"},
        {"edges/before", 0, 0, "edges/before: row 1 is 0"},
        {"edges/after", 5, 8, "edges/after: row 6 is 8, and there are 7"},
        {"summary/devices", 0, 9, "summary/devices is 9, and there are 5 lanes"},
        {"summary/step_time", 0, -1, "summary has a time below 0"},
        {"summary/samples", 0, INT64_C(0x7ff0000000000000),
         "summary has a value that is not finite"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(with_value(bad[i].column, bad[i].row, bad[i].value) == SS_EFORMAT, "%s %d: %s",
              bad[i].column, (int)bad[i].value, refusal);
        CHECK_TEXT(refusal, bad[i].says);
        CHECK_TEXT(refusal, path);
    }
}

static void views_that_make_no_sense_are_not_written(void)
{
    ss_error err = {0};
    ss_view v = small_view();
    v.task[3].lane = 6;
    CHECK(write_views(path, &v, "data", NULL, &err) == SS_EINVAL, "lane");
    CHECK_TEXT(err.text, "timeline data: tasks/lane: row 3 is 6, and there are 5");
    v = small_view();
    v.task[3].kind = SS_TASK_KINDS;
    CHECK(write_views(path, &v, "data", NULL, &err) == SS_EINVAL, "kind");
    v = small_view();
    v.task[3].id = 4;
    CHECK(write_views(path, &v, "data", NULL, &err) == SS_EINVAL, "id");
}

static void a_missing_or_misplaced_thing_is_named(void)
{
    static const char *const gone[] = {"timeline/data/tasks/lane", "timeline/data/tasks",
                                       "timeline/data/summary/samples", "timeline/data/moved",
                                       "timeline/data/edges/after"};
    for (uint32_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        hid_t file = fresh();
        H5Ldelete(file, gone[i], H5P_DEFAULT);
        H5Fclose(file);
        CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
        CHECK_TEXT(refusal, "run.h5 has no dataset");
        CHECK_TEXT(refusal, gone[i]);
    }
    hid_t file = fresh();
    hid_t group = H5Gopen2(file, "timeline/data", H5P_DEFAULT);
    H5Adelete(group, "assumptions");
    H5Gclose(group);
    H5Fclose(file);
    CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
    CHECK_TEXT(refusal, "run.h5: /timeline/data has no attribute \"assumptions\"");
    file = fresh();
    H5Ldelete(file, "timeline/data/tasks/lane", H5P_DEFAULT);
    H5Lcreate_hard(file, "timeline/data/tasks/name", file, "timeline/data/tasks/lane", H5P_DEFAULT,
                   H5P_DEFAULT);
    H5Fclose(file);
    CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
    CHECK_TEXT(refusal, "/timeline/data/tasks/lane holds text, and whole numbers are needed");
    file = fresh();
    H5Ldelete(file, "timeline/data/tasks/lane", H5P_DEFAULT);
    H5Lcreate_hard(file, "timeline/data/lanes/lane", file, "timeline/data/tasks/lane", H5P_DEFAULT,
                   H5P_DEFAULT);
    H5Fclose(file);
    CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
    CHECK_TEXT(refusal, "tasks/lane has 5 rows, and the first column of its table 7");
}

static void set_root(const char *name, hid_t type, const void *value)
{
    hid_t file = fresh(), space = H5Screate(H5S_SCALAR);
    hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    H5Adelete(root, name);
    hid_t a = H5Acreate2(root, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, type, value);
    H5Aclose(a);
    H5Gclose(root);
    H5Sclose(space);
    H5Fclose(file);
}

static void other_kinds_and_later_formats_are_refused_by_name(void)
{
    uint64_t later = 2, none = 0;
    double real = 1;
    set_root("format", H5T_NATIVE_UINT64, &later);
    CHECK(refused(path) == SS_EUNSUPPORTED, "%s", refusal);
    CHECK_TEXT(refusal, "in format 2, and this version reads formats up to 1");
    set_root("format", H5T_NATIVE_UINT64, &none);
    CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
    set_root("format", H5T_NATIVE_DOUBLE, &real);
    CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
    CHECK_TEXT(refusal, "attribute \"format\" of / is of type 64-bit floating-point numbers");
    hid_t file = fresh();
    hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    H5Adelete(root, "format_name");
    H5Gclose(root);
    H5Fclose(file);
    CHECK(refused(path) == SS_EFORMAT, "%s", refusal);
    CHECK_TEXT(refusal, "no soapstone record: ");
    ss_text text = {0};
    ss_error err = {0};
    CHECK(ss_record_describe(path, false, &text, &err) == SS_EFORMAT, "describe");
    CHECK(text.n == 0, "nothing is told of what is no record");
    ss_text_free(&text);
}

/* test_record FILE: only writes the file, for tests of what other programs make of it. */
static int write_for_others(const char *to)
{
    ss_error err = {0};
    inputs x = {0};
    ss_status s = make_inputs(&x, &err);
    if (!s)
        s = write_all(to, &x, &err);
    free_inputs(&x);
    if (s)
        fprintf(stderr, "%s\n", err.text);
    return s ? 1 : 0;
}

int main(int n, char **arg)
{
    if (n == 2)
        return write_for_others(arg[1]);
    if (system("rm -rf " HERE) || mkdir("test_record.dir", 0777))
        return 1;
    size_t blocks = ss_mem_blocks();
    RUN(a_timeline_comes_back_as_it_was);
    RUN(an_empty_timeline_comes_back);
    RUN(one_of_several_timelines_must_be_named);
    RUN(a_record_without_timelines_says_so);
    RUN(names_that_cannot_be_groups_are_refused);
    RUN(a_record_that_is_given_up_leaves_nothing);
    RUN(another_program_finds_the_inputs);
    RUN(equal_runs_give_equal_bytes_without_the_clock);
    RUN(the_description_is_for_people_and_for_programs);
    RUN(rows_that_name_nothing_are_refused);
    RUN(views_that_make_no_sense_are_not_written);
    RUN(a_missing_or_misplaced_thing_is_named);
    RUN(other_kinds_and_later_formats_are_refused_by_name);
    if (ss_mem_blocks() != blocks) {
        printf("%zu blocks were not freed\n", ss_mem_blocks() - blocks);
        check_failed++;
    }
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}

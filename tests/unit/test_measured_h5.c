/* Measured tables in HDF5: as the CSV reader has them, and what is refused. */
#include "io/measured_h5.h"

#include <hdf5.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/measured.h"
#include "io/record.h"

#define HERE "test_measured_h5.dir/"
static const char path[] = HERE "profile.h5";

static const ss_measured row[] = {
    {.kind = "linear",
     .device_kind = "p100",
     .attributes = "activation=relu",
     .shape = "64x96 < 64x48",
     .dtype = "f32",
     .phase = SS_FORWARD,
     .seconds = 1.0 / 3e5,
     .spread_s = 1e-7,
     .samples = 31},
    {.kind = "linear",
     .device_kind = "p100",
     .attributes = "",
     .shape = "64x4096 < 64x1024",
     .dtype = "f32",
     .phase = SS_BACKWARD,
     .seconds = 0.00125},
    {.kind = "relu",
     .device_kind = "v100",
     .attributes = "",
     .shape = "7x13 < 7x13",
     .dtype = "f16",
     .phase = SS_FORWARD,
     .seconds = 3e-6,
     .samples = 1,
     .has_bound = true,
     .bound = 0.25},
};
enum { ROWS = sizeof row / sizeof row[0] };

static uint64_t hash_of(ss_status (*read)(const char *, ss_costs *, ss_error *), const char *from,
                        ss_error *err)
{
    ss_costs *c;
    if (ss_costs_new(&c, err))
        return 0;
    uint64_t hash = read(from, c, err) ? 0 : ss_costs_hash(c);
    ss_costs_free(c);
    return hash;
}

static uint64_t hash_of_rows(ss_error *err)
{
    ss_costs *c;
    if (ss_costs_new(&c, err))
        return 0;
    ss_status s = ss_costs_begin_table(c, path, err);
    for (uint32_t i = 0; !s && i < ROWS; i++)
        s = ss_costs_add_measured(c, &row[i], err);
    uint64_t hash = s ? 0 : ss_costs_hash(c);
    ss_costs_free(c);
    return hash;
}

static void what_is_written_is_read(void)
{
    ss_error err = {0};
    CHECK_OK(ss_measured_write_h5(path, row, ROWS, &err));
    uint64_t wanted = hash_of_rows(&err), got = hash_of(ss_measured_read_h5, path, &err);
    CHECK(wanted && wanted == got, "%s", err.text);
}

static void csv_says_the_same(void)
{
    static const char csv[] = "kind,attributes,shape,dtype,phase,device,seconds,spread_s,samples,memory_bound\n"
                              "linear,activation=relu,64x96 < 64x48,f32,forward,p100,"
                              "3.3333333333333333e-6,1e-7,31,\n"
                              "linear,,64x4096 < 64x1024,f32,backward,p100,1.25 ms,,,\n"
                              "relu,,7x13 < 7x13,f16,forward,v100,3 us,0,1,0.25\n";
    ss_error err = {0};
    CHECK_OK(ss_file_write(HERE "profile.csv", csv, strlen(csv), &err));
    CHECK_OK(ss_measured_write_h5(path, row, ROWS, &err));
    uint64_t wanted = hash_of(ss_measured_read_csv, HERE "profile.csv", &err);
    uint64_t got = hash_of(ss_measured_read_h5, path, &err);
    CHECK(wanted && wanted == got, "%s", err.text);
}

static void its_columns_are_those_of_the_other_reader(void)
{
    ss_error err = {0};
    uint32_t n;
    const char *const *name = ss_measured_columns(&n);
    CHECK_OK(ss_measured_write_h5(path, row, ROWS, &err));
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, "measured", H5P_DEFAULT);
    H5G_info_t info;
    /* one more says where a bound is known, for which CSV has an empty field */
    CHECK(H5Gget_info(group, &info) >= 0 && info.nlinks == n + 1, "%d columns", (int)info.nlinks);
    CHECK(H5Lexists(group, "crowded", H5P_DEFAULT) > 0, "crowded");
    for (uint32_t i = 0; i < n; i++)
        CHECK(H5Lexists(group, name[i], H5P_DEFAULT) > 0, "%s", name[i]);
    H5Gclose(group);
    H5Fclose(file);
}

/* As h5py writes a structured array: texts of one length, no spread, no samples, nothing at the
 * root. */
static void a_table_of_another_program_is_read(void)
{
    typedef struct packed {
        char kind[8], attributes[8], shape[24], dtype[4], phase[8], device[8];
        float seconds;
    } packed;
    static const packed data[] = {
        {"linear", "", "64x4096 < 64x1024", "f32", "backward", "p100", 0.5f}};
    static const struct {
        const char *name;
        size_t at, bytes;
    } text[] = {
        {"kind", offsetof(packed, kind), 8},    {"attributes", offsetof(packed, attributes), 8},
        {"shape", offsetof(packed, shape), 24}, {"dtype", offsetof(packed, dtype), 4},
        {"phase", offsetof(packed, phase), 8},  {"device", offsetof(packed, device), 8}};
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(packed));
    for (uint32_t i = 0; i < 6; i++) {
        hid_t t = H5Tcopy(H5T_C_S1);
        H5Tset_size(t, text[i].bytes);
        H5Tset_strpad(t, H5T_STR_NULLPAD);
        H5Tinsert(type, text[i].name, text[i].at, t);
        H5Tclose(t);
    }
    H5Tinsert(type, "seconds", offsetof(packed, seconds), H5T_NATIVE_FLOAT);
    hsize_t one = 1;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &one, NULL);
    hid_t set = H5Dcreate2(file, "measured", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    ss_error err = {0};
    CHECK(hash_of(ss_measured_read_h5, path, &err), "%s", err.text);
}

static ss_status refused(const ss_measured *rows, uint32_t n, ss_error *err)
{
    ss_costs *c;
    ss_status s = ss_measured_write_h5(path, rows, n, err);
    if (!s)
        s = ss_costs_new(&c, err);
    if (!s) {
        s = ss_measured_read_h5(path, c, err);
        ss_costs_free(c);
    }
    return s;
}

static void rows_that_make_no_sense_are_refused_with_their_number(void)
{
    ss_error err = {0};
    ss_measured bad[ROWS];
    memcpy(bad, row, sizeof bad);
    CHECK(refused(bad, 0, &err) == SS_EFORMAT, "no rows");
    CHECK_TEXT(err.text, "profile.h5: /measured, a table of measured times, has no rows");
    bad[1].kind = "liner";
    CHECK(refused(bad, ROWS, &err), "kind");
    CHECK_TEXT(err.text, "profile.h5: row 2 of /measured: ");
    memcpy(bad, row, sizeof bad);
    bad[2].shape = "7x";
    CHECK(refused(bad, ROWS, &err), "shape");
    CHECK_TEXT(err.text, "profile.h5: row 3 of /measured: ");
    memcpy(bad, row, sizeof bad);
    bad[0].seconds = -1;
    CHECK(refused(bad, ROWS, &err), "seconds");
    CHECK_TEXT(err.text, "profile.h5: row 1 of /measured: ");
}

static void its_description_counts_devices_and_operators(void)
{
    ss_error err = {0};
    ss_text text = {0};
    CHECK_OK(ss_measured_write_h5(path, row, ROWS, &err));
    CHECK_OK(ss_record_describe(path, false, &text, &err));
    CHECK_TEXT(text.at, "profile.h5: soapstone measured table, 3 rows\n"
                        "  devices     p100 (2), v100 (1)\n"
                        "  operators   linear (2), relu (1)\n");
    ss_text_clear(&text);
    CHECK_OK(ss_record_describe(path, true, &text, &err));
    CHECK_TEXT(text.at, "\"rows\": 3,\n \"devices\": {\"p100\": 2, \"v100\": 1}");
    ss_text_free(&text);
}

static void other_files_are_refused(void)
{
    ss_error err = {0};
    static const ss_manifest manifest = {"0", "c", "s", "t", "o", 1, NULL, 0, NULL};
    ss_record *r;
    ss_costs *c;
    CHECK_OK(ss_costs_new(&c, &err));
    CHECK_OK(ss_record_create(path, &manifest, &r, &err));
    CHECK_OK(ss_record_finish(r, &err));
    CHECK(ss_measured_read_h5(path, c, &err) == SS_EFORMAT, "a record");
    CHECK_TEXT(err.text,
               "profile.h5 is a soapstone record, and a soapstone measured table is needed");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    CHECK(ss_measured_read_h5(path, c, &err) == SS_EFORMAT, "nothing");
    CHECK_TEXT(err.text, "profile.h5 has no table \"measured\"");
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "measured", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    CHECK(ss_measured_read_h5(path, c, &err) == SS_EFORMAT, "no column");
    CHECK_TEXT(err.text, "profile.h5 has no dataset /measured/kind");
    CHECK(ss_measured_read_h5(HERE "none.h5", c, &err) == SS_ENOTFOUND, "none");
    CHECK_OK(ss_measured_write_h5(path, row, ROWS, &err));
    ss_view v;
    CHECK(ss_record_read_timeline(path, NULL, &v, &err) == SS_EFORMAT, "as a record");
    CHECK_TEXT(err.text,
               "profile.h5 is a soapstone measured table, and a soapstone record is needed");
    ss_costs_free(c);
}

/* With an argument it only writes that file, for tests of what other programs make of it. */
int main(int n, char **arg)
{
    if (n == 2)
        return ss_measured_write_h5(arg[1], row, ROWS, NULL) ? 1 : 0;
    if (system("rm -rf " HERE) || mkdir("test_measured_h5.dir", 0777))
        return 1;
    size_t blocks = ss_mem_blocks();
    RUN(what_is_written_is_read);
    RUN(csv_says_the_same);
    RUN(its_columns_are_those_of_the_other_reader);
    RUN(a_table_of_another_program_is_read);
    RUN(rows_that_make_no_sense_are_refused_with_their_number);
    RUN(its_description_counts_devices_and_operators);
    RUN(other_files_are_refused);
    if (ss_mem_blocks() != blocks) {
        printf("%zu blocks were not freed\n", ss_mem_blocks() - blocks);
        check_failed++;
    }
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}

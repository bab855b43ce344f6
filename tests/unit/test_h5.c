/* HDF5 files: tables and values there and back, and what is refused. */
#include "config.h"

#include "io/h5.h"

#include <hdf5.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "io/file.h"

enum { COLOURS = 3 };

static const char *colour(uint32_t i)
{
    static const char *const name[COLOURS] = {"red", "green", "blue"};
    return name[i];
}

typedef struct row {
    uint32_t id;
    const char *name;
    double size;
    int64_t at;
    uint64_t big;
    uint8_t small, is_odd, colour;
} row;

static const ss_h5_field row_field[] = {
    {"id", SS_H5_U32, offsetof(row, id), "1", "number", NULL, 0, false},
    {"name", SS_H5_TEXT, offsetof(row, name), NULL, "name", NULL, 0, false},
    {"size", SS_H5_F64, offsetof(row, size), "B", "size", NULL, 0, false},
    {"at", SS_H5_I64, offsetof(row, at), "ps", "time", NULL, 0, false},
    {"big", SS_H5_U64, offsetof(row, big), NULL, NULL, NULL, 0, false},
    {"small", SS_H5_U8, offsetof(row, small), NULL, NULL, NULL, 0, false},
    {"is_odd", SS_H5_BOOL, offsetof(row, is_odd), NULL, NULL, NULL, 0, false},
    {"colour", SS_H5_ENUM, offsetof(row, colour), NULL, NULL, colour, COLOURS, false},
};
enum { FIELDS = sizeof row_field / sizeof row_field[0] };

#define HERE "test_h5.dir/"
static const char path[] = HERE "a.h5";

/* Names of very different length, one empty, one that fills its column to the last byte. */
static void fill(row *r, uint32_t n, char (*text)[48])
{
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text[i], 48, i % 7 ? "conv%u.forward[%u]" : i ? "x" : "", i % 31, i * 37);
        if (i == 5)
            memcpy(text[i], "\xc3\xa4 name of exactly forty-seven bytes, the longest", 48);
        r[i] = (row){.id = i + 1,
                     .name = text[i],
                     .size = i % 3 ? 1.0 / (i + 0.1) : -0.0,
                     .at = INT64_MAX - (int64_t)i * 1000003,
                     .big = UINT64_MAX - i,
                     .small = (uint8_t)(i * 11),
                     .is_odd = i % 2,
                     .colour = (uint8_t)(i % COLOURS)};
    }
}

static bool same_row(const row *a, const row *b)
{
    return a->id == b->id && !strcmp(a->name, b->name) && a->size == b->size && a->at == b->at &&
           a->big == b->big && a->small == b->small && a->is_odd == b->is_odd &&
           a->colour == b->colour;
}

static ss_status write_rows(const char *to, const row *r, uint32_t n, ss_error *err)
{
    ss_h5 *f;
    ss_status s = ss_h5_create(to, &f, err);
    if (s)
        return s;
    s = ss_h5_put_table(f, "some/rows", row_field, FIELDS, r, sizeof *r, n, err);
    if (!s)
        s = ss_h5_put_text(f, "some/rows", "long_name", "rows", err);
    if (!s)
        return ss_h5_finish(f, err);
    ss_h5_close(f);
    return s;
}

static ss_status read_rows(const char *from, ss_arena *arena, row **r, uint32_t *n, ss_error *err)
{
    ss_h5 *f;
    void *got;
    ss_status s = ss_h5_open(from, &f, err);
    if (s)
        return s;
    s = ss_h5_get_table(f, "some/rows", row_field, FIELDS, sizeof(row), 1, arena, &got, n, err);
    ss_h5_close(f);
    if (!s)
        *r = got;
    return s;
}

static void rows_come_back_as_they_were(uint32_t n)
{
    ss_error err = {0};
    row *r = ss_alloc(sizeof *r * n), *got;
    char(*text)[48] = ss_alloc(sizeof *text * n);
    fill(r, n, text);
    CHECK_OK(write_rows(path, r, n, &err));
    ss_arena arena = {0};
    uint32_t found;
    CHECK_OK(read_rows(path, &arena, &got, &found, &err));
    CHECK(found == n, "%u of %u", found, n);
    CHECK(got[0].id == 0 && !got[0].name, "row 0 is zeroed");
    for (uint32_t i = 0; i < n; i++)
        CHECK(same_row(&r[i], &got[i + 1]), "row %u", i);
    ss_arena_free(&arena);
    ss_free(r);
    ss_free(text);
}

static void a_few_rows_come_back(void)
{
    rows_come_back_as_they_were(97);
}

static void rows_over_many_chunks_and_blocks_come_back(void)
{
    rows_come_back_as_they_were(700001);
}

static void an_empty_table_comes_back_empty(void)
{
    ss_error err = {0};
    ss_arena arena = {0};
    row *got;
    uint32_t n = 7;
    CHECK_OK(write_rows(path, NULL, 0, &err));
    CHECK_OK(read_rows(path, &arena, &got, &n, &err));
    CHECK(n == 0, "%u", n);
    ss_arena_free(&arena);
}

static void equal_calls_give_equal_bytes(void)
{
    ss_error err = {0};
    row r[97];
    char text[97][48];
    fill(r, 97, text);
    CHECK_OK(write_rows(path, r, 97, &err));
    sleep(1); /* object times have a resolution of a second */
    CHECK_OK(write_rows(HERE "b.h5", r, 97, &err));
    ss_text a = {0}, b = {0};
    CHECK_OK(ss_file_read(path, 1 << 24, &a, &err));
    CHECK_OK(ss_file_read(HERE "b.h5", 1 << 24, &b, &err));
    CHECK(a.n == b.n && !memcmp(a.at, b.at, a.n), "%u and %u bytes", a.n, b.n);
    ss_text_free(&a);
    ss_text_free(&b);
}

typedef struct values {
    double step;
    int64_t moved;
    const char *script, *empty;
    uint8_t colour;
} values;

static const ss_h5_field value_field[] = {
    {"step", SS_H5_F64, offsetof(values, step), "s", "step time", NULL, 0, false},
    {"moved", SS_H5_I64, offsetof(values, moved), "B", "bytes moved", NULL, 0, false},
    {"script", SS_H5_TEXT, offsetof(values, script), NULL, NULL, NULL, 0, false},
    {"empty", SS_H5_TEXT, offsetof(values, empty), NULL, NULL, NULL, 0, false},
    {"colour", SS_H5_ENUM, offsetof(values, colour), NULL, NULL, colour, COLOURS, false},
};
enum { VALUES = sizeof value_field / sizeof value_field[0] };

static void values_and_attributes_come_back(void)
{
    enum { LONG = 100000 }; /* beyond what a header can hold */
    static char script[LONG + 1];
    for (uint32_t i = 0; i < LONG; i++)
        script[i] = "local x = 1\n"[i % 12];
    values v = {0.1, -3, script, "", 2}, got = {0};
    ss_error err = {0};
    ss_h5 *f;
    CHECK_OK(ss_h5_create(path, &f, &err));
    CHECK_OK(ss_h5_put_values(f, "v", value_field, VALUES, &v, &err));
    CHECK_OK(ss_h5_put_text(f, "/", "creator", "soap \xc3\xa4", &err));
    CHECK_OK(ss_h5_put_text(f, "v", "nothing", "", &err));
    CHECK_OK(ss_h5_put_u64(f, "v/step", "seed", UINT64_MAX, &err));
    CHECK_OK(ss_h5_put_f64(f, "v", "scale", 0.3, &err));
    CHECK_OK(ss_h5_finish(f, &err));

    ss_arena arena = {0};
    const char *creator, *nothing;
    uint64_t seed;
    double scale;
    CHECK_OK(ss_h5_open(path, &f, &err));
    CHECK_OK(ss_h5_get_values(f, "v", value_field, VALUES, &arena, &got, &err));
    CHECK_OK(ss_h5_get_text(f, "/", "creator", &arena, &creator, &err));
    CHECK_OK(ss_h5_get_text(f, "v", "nothing", &arena, &nothing, &err));
    CHECK_OK(ss_h5_get_u64(f, "v/step", "seed", &seed, &err));
    CHECK_OK(ss_h5_get_f64(f, "v", "scale", &scale, &err));
    CHECK(got.step == 0.1 && got.moved == -3 && got.colour == 2, "numbers");
    CHECK(!strcmp(got.script, script) && !strcmp(got.empty, ""), "texts");
    CHECK(!strcmp(creator, "soap \xc3\xa4") && !strcmp(nothing, ""), "%s, %s", creator, nothing);
    CHECK(seed == UINT64_MAX && scale == 0.3, "attributes");

    CHECK(ss_h5_get_u64(f, "v", "sed", &seed, &err) == SS_EFORMAT, "missing attribute");
    CHECK_TEXT(err.text, "a.h5: /v has no attribute \"sed\"");
    CHECK(ss_h5_get_u64(f, "/", "creator", &seed, &err) == SS_EFORMAT, "wrong type");
    CHECK_TEXT(err.text, "is of type text, not a whole number");
    CHECK(ss_h5_get_u64(f, "w", "seed", &seed, &err) == SS_EFORMAT, "missing group");
    CHECK_TEXT(err.text, "a.h5 has no group or dataset /w");
    ss_names names = {0};
    CHECK_OK(ss_h5_list(f, "v", &names, &err));
    CHECK(names.n == VALUES && !strcmp(names.text[1], "colour"), "%u names", names.n);
    CHECK(ss_h5_list(f, "v/step", &names, &err) == SS_EFORMAT, "no group");
    CHECK_TEXT(err.text, "/v/step is no group");
    ss_names_free(&names);
    ss_arena_free(&arena);
    ss_h5_close(f);
}

/* What other tools show without escapes: h5dump prints every zero of a padded text. */
static void texts_end_in_a_zero(void)
{
    row *r;
    char(*text)[48];
    enum { N = 7 };
    static const char *const set[] = {"some/rows/name", "v/script", "v/empty"};
    r = calloc(N, sizeof *r);
    text = calloc(N, sizeof *text);
    fill(r, N, text);
    values v = {.script = "print(1)", .empty = ""};
    ss_error err = {0};
    ss_h5 *f;
    CHECK_OK(ss_h5_create(path, &f, &err));
    CHECK_OK(ss_h5_put_table(f, "some/rows", row_field, FIELDS, r, sizeof *r, N, &err));
    CHECK_OK(ss_h5_put_values(f, "v", value_field, VALUES, &v, &err));
    CHECK_OK(ss_h5_put_text(f, "/", "creator", "soapstone", &err));
    CHECK_OK(ss_h5_finish(f, &err));
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (size_t i = 0; i < 4; i++) {
        hid_t on = i < 3 ? H5Dopen2(file, set[i], H5P_DEFAULT)
                         : H5Aopen_by_name(file, "/", "creator", H5P_DEFAULT, H5P_DEFAULT);
        hid_t type = i < 3 ? H5Dget_type(on) : H5Aget_type(on);
        CHECK(H5Tget_strpad(type) == H5T_STR_NULLTERM, "%s", i < 3 ? set[i] : "creator");
        CHECK(i != 3 || H5Tget_size(type) == 10, "room for the zero");
        H5Tclose(type);
        if (i < 3)
            H5Dclose(on);
        else
            H5Aclose(on);
    }
    H5Fclose(file);
    free(r);
    free(text);
}

static unsigned files_here(void)
{
    FILE *p = popen("ls -A " HERE " | wc -l", "r");
    unsigned n = 0;
    if (!p || fscanf(p, "%u", &n) != 1)
        n = 999;
    if (p)
        pclose(p);
    return n;
}

static void a_file_that_is_not_finished_leaves_the_old_one(void)
{
    ss_error err = {0};
    row r[3], *got;
    char text[3][48];
    fill(r, 3, text);
    CHECK_OK(write_rows(path, r, 3, &err));
    unsigned before = files_here();
    ss_h5 *f, *g;
    CHECK_OK(ss_h5_create(path, &f, &err));
    CHECK_OK(ss_h5_create(path, &g, &err)); /* both at once */
    CHECK_OK(ss_h5_put_table(f, "other", row_field, FIELDS, r, sizeof *r, 2, &err));
    CHECK_OK(ss_h5_put_table(g, "other", row_field, FIELDS, r, sizeof *r, 3, &err));
    CHECK(ss_h5_put_table(f, "other", row_field, FIELDS, r, sizeof *r, 2, &err) == SS_EINVAL,
          "twice");
    CHECK_TEXT(err.text, "has /other already");
    ss_h5_close(f);
    ss_h5_close(g);
    ss_h5_close(NULL);
    CHECK(files_here() == before, "%u files, %u before", files_here(), before);
    ss_arena arena = {0};
    uint32_t n;
    CHECK_OK(read_rows(path, &arena, &got, &n, &err));
    CHECK(n == 3, "%u", n);
    ss_arena_free(&arena);
}

static void what_cannot_be_a_file_is_refused_at_once(void)
{
    ss_error err = {0};
    ss_h5 *f;
    CHECK(ss_h5_create(HERE "no/such/folder.h5", &f, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "there is no folder");
    CHECK(ss_h5_create(HERE, &f, &err), "a folder");
    CHECK(ss_h5_open(HERE "none.h5", &f, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "cannot read test_h5.dir/none.h5: there is no such file");
    CHECK(ss_h5_open(HERE, &f, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "it is a folder");
    CHECK_OK(ss_file_write(HERE "text", "digraph {}", 10, &err));
    CHECK(ss_h5_open(HERE "text", &f, &err) == SS_EFORMAT, "%s", err.text);
    CHECK_TEXT(err.text, "is not an HDF5 file: it begins with \"digraph \"");
    CHECK_OK(ss_file_write(HERE "text", "", 0, &err));
    CHECK(ss_h5_open(HERE "text", &f, &err) == SS_EFORMAT, "%s", err.text);
    CHECK_TEXT(err.text, "is empty");
    CHECK_OK(ss_file_write(HERE "text", "version https://git-lfs", 23, &err));
    CHECK(ss_h5_open(HERE "text", &f, &err) == SS_EFORMAT, "%s", err.text);
    CHECK_TEXT(err.text, "git lfs pull");
}

static void every_truncation_is_refused(void)
{
    ss_error err = {0};
    row r[20], *got;
    char text[20][48];
    fill(r, 20, text);
    CHECK_OK(write_rows(path, r, 20, &err));
    ss_text whole = {0};
    CHECK_OK(ss_file_read(path, 1 << 24, &whole, &err));
    ss_arena arena = {0};
    uint32_t rows;
    size_t blocks = ss_mem_blocks();
    for (uint32_t n = 0; n < whole.n; n += n < 200 ? 1 : 61) {
        CHECK_OK(ss_file_write(HERE "cut.h5", whole.at, n, &err));
        CHECK(read_rows(HERE "cut.h5", &arena, &got, &rows, &err) == SS_EFORMAT, "%u bytes: %s", n,
              err.text);
        CHECK(strstr(err.text, "cut.h5"), "%u bytes: %s", n, err.text);
        ss_arena_free(&arena);
    }
    CHECK_TEXT(err.text, "is truncated");
    CHECK(ss_mem_blocks() == blocks, "%zu blocks", ss_mem_blocks() - blocks);
    ss_text_free(&whole);
}

/* ------------------------------------------------------------------ files of other programs */

static void put_raw(hid_t file, const char *name, hid_t type, hid_t memory, int rank,
                    const hsize_t *extent, const void *data)
{
    hid_t space = H5Screate_simple(rank, extent, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data)
        H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Sclose(space);
}

typedef struct loose {
    double size;
    const char *name, *note;
    uint32_t id;
    uint8_t is_odd;
} loose;

static const ss_h5_field loose_field[] = {
    {"id", SS_H5_U32, offsetof(loose, id), NULL, NULL, NULL, 0, false},
    {"size", SS_H5_F64, offsetof(loose, size), NULL, NULL, NULL, 0, false},
    {"name", SS_H5_TEXT, offsetof(loose, name), NULL, NULL, NULL, 0, false},
    {"is_odd", SS_H5_BOOL, offsetof(loose, is_odd), NULL, NULL, NULL, 0, false},
    {"note", SS_H5_TEXT, offsetof(loose, note), NULL, NULL, NULL, 0, true},
};

static void columns_of_other_widths_are_read(void)
{
    ss_error err = {0};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vlen = H5Tcopy(H5T_C_S1);
    H5Tset_size(vlen, H5T_VARIABLE);
    hsize_t three = 3;
    const short id[] = {3, 1, 32767}, odd[] = {1, 0, 1};
    const float size[] = {0.5f, -1, 3};
    const char *name[] = {"one", "", "a longer one"};
    put_raw(file, "id", H5T_STD_I16BE, H5T_NATIVE_SHORT, 1, &three, id);
    put_raw(file, "size", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, 1, &three, size);
    put_raw(file, "name", vlen, vlen, 1, &three, name);
    put_raw(file, "is_odd", H5T_STD_I32LE, H5T_NATIVE_SHORT, 1, &three, odd);
    H5Tclose(vlen);
    H5Fclose(file);
    ss_h5 *f;
    ss_arena arena = {0};
    void *got;
    uint32_t n;
    CHECK_OK(ss_h5_open(path, &f, &err));
    CHECK_OK(ss_h5_get_table(f, "/", loose_field, 5, sizeof(loose), 0, &arena, &got, &n, &err));
    loose *r = got;
    CHECK(n == 3 && r[2].id == 32767 && r[1].size == -1 && r[2].is_odd == 1, "numbers");
    CHECK(!strcmp(r[2].name, "a longer one") && !strcmp(r[1].name, ""), "texts");
    CHECK(!strcmp(r[0].note, ""), "an optional text that is not there");
    ss_h5_close(f);
    ss_arena_free(&arena);
}

static void compound_rows_are_read_as_columns(void)
{
    typedef struct packed {
        double size;
        const char *name;
        int id;
        char is_odd;
    } packed;
    const packed data[] = {{0.25, "one", 7, 1}, {-3, "", 8, 0}};
    ss_error err = {0};
    hid_t vlen = H5Tcopy(H5T_C_S1), type = H5Tcreate(H5T_COMPOUND, sizeof(packed));
    H5Tset_size(vlen, H5T_VARIABLE);
    H5Tinsert(type, "name", offsetof(packed, name), vlen);
    H5Tinsert(type, "is_odd", offsetof(packed, is_odd), H5T_NATIVE_CHAR);
    H5Tinsert(type, "id", offsetof(packed, id), H5T_NATIVE_INT);
    H5Tinsert(type, "size", offsetof(packed, size), H5T_NATIVE_DOUBLE);
    hsize_t two = 2;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_raw(file, "rows", type, type, 1, &two, data);
    H5Tclose(type);
    H5Tclose(vlen);
    H5Fclose(file);
    ss_h5 *f;
    ss_arena arena = {0};
    void *got;
    uint32_t n;
    CHECK_OK(ss_h5_open(path, &f, &err));
    CHECK_OK(ss_h5_get_table(f, "rows", loose_field, 5, sizeof(loose), 0, &arena, &got, &n, &err));
    const loose *r = got;
    CHECK(n == 2 && r[1].id == 8 && r[1].size == -3 && r[0].is_odd == 1, "numbers");
    CHECK(!strcmp(r[0].name, "one") && !strcmp(r[1].name, "") && !strcmp(r[0].note, ""), "texts");
    CHECK(ss_h5_get_table(f, "rows", row_field, FIELDS, sizeof(row), 0, &arena, &got, &n, &err) ==
              SS_EFORMAT,
          "a column is missing");
    CHECK_TEXT(err.text, "a.h5: /rows has no column \"at\"");
    ss_h5_close(f);
    ss_arena_free(&arena);
}

static char refusal_of[SS_ERROR_TEXT];

/* Reads one column that `data` makes; the sentence is in refusal_of. */
static ss_status read_one(const ss_h5_field *field, hid_t type, hid_t memory, int rank,
                          const hsize_t *extent, const void *data)
{
    ss_error err = {0};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_raw(file, field->name, type, memory, rank, extent, data);
    H5Fclose(file);
    ss_h5 *f;
    ss_arena arena = {0};
    void *got;
    uint32_t n;
    ss_status s = ss_h5_open(path, &f, &err);
    if (!s)
        s = ss_h5_get_table(f, "/", field, 1, 64, 0, &arena, &got, &n, &err);
    ss_h5_close(f);
    ss_arena_free(&arena);
    memcpy(refusal_of, err.text, sizeof refusal_of);
    return s;
}

static void columns_that_make_no_sense_are_refused(void)
{
    const ss_h5_field *id = &row_field[0], *name = &row_field[1], *size = &row_field[2],
                      *odd = &row_field[6], *colours = &row_field[7];
    hsize_t two[] = {2, 1};
    const long over[] = {1, 1L << 32}, under[] = {-1, 1};
    const double real[] = {1, 2};
    const char truth[] = {0, 2}, mauve[] = {0, 3};
    CHECK(read_one(id, H5T_STD_I64LE, H5T_NATIVE_LONG, 1, two, over) == SS_EFORMAT, "over");
    CHECK_TEXT(refusal_of, "a value of /id is outside what id may hold");
    CHECK(read_one(id, H5T_STD_I64LE, H5T_NATIVE_LONG, 1, two, under) == SS_EFORMAT, "under");
    CHECK(read_one(id, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, two, real) == SS_EFORMAT, "real");
    CHECK_TEXT(refusal_of,
               "a.h5: /id holds 64-bit floating-point numbers, and whole numbers are needed");
    CHECK(read_one(id, H5T_STD_U32LE, H5T_NATIVE_LONG, 2, two, over) == SS_EFORMAT, "two ranks");
    CHECK_TEXT(refusal_of, "/id has 2 dimensions, and a list is needed");
    CHECK(read_one(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, two, real) == SS_EFORMAT, "name");
    CHECK_TEXT(refusal_of, "and text are needed");
    CHECK(read_one(odd, H5T_STD_I8LE, H5T_NATIVE_CHAR, 1, two, truth) == SS_EFORMAT, "truth");
    CHECK_TEXT(refusal_of, "row 2 of /is_odd is 2, which stands for nothing");
    hid_t palette = H5Tenum_create(H5T_NATIVE_CHAR);
    for (char k = 0; k < 4; k++) {
        static const char *const colour_name[] = {"blue", "red", "green", "mauve"};
        H5Tenum_insert(palette, colour_name[(int)k], &k);
    }
    CHECK(read_one(colours, palette, palette, 1, two, mauve) == SS_EFORMAT, "mauve");
    CHECK_TEXT(refusal_of, "/colour may be \"mauve\", which this version does not know");
    H5Tclose(palette);
    CHECK(read_one(&row_field[3], H5T_STD_U32LE, H5T_NATIVE_LONG, 1, two, over) == SS_OK, "%s",
          refusal_of);
    CHECK(read_one(size, H5T_STD_I64LE, H5T_NATIVE_LONG, 1, two, over) == SS_OK, "%s", refusal_of);
}

static void enumerations_are_matched_by_name(void)
{
    ss_error err = {0};
    hid_t palette = H5Tenum_create(H5T_NATIVE_CHAR);
    char blue = 5, red = 6;
    H5Tenum_insert(palette, "blue", &blue);
    H5Tenum_insert(palette, "red", &red);
    const char data[] = {6, 5};
    hsize_t two = 2;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_raw(file, "colour", palette, palette, 1, &two, data);
    H5Fclose(file);
    H5Tclose(palette);
    ss_h5 *f;
    ss_arena arena = {0};
    void *got;
    uint32_t n;
    CHECK_OK(ss_h5_open(path, &f, &err));
    CHECK_OK(ss_h5_get_table(f, "/", &row_field[7], 1, sizeof(row), 0, &arena, &got, &n, &err));
    CHECK(((row *)got)[0].colour == 0 && ((row *)got)[1].colour == 2, "red, blue");
    ss_h5_close(f);
    ss_arena_free(&arena);
}

static void a_table_with_a_column_missing_or_short_is_refused(void)
{
    ss_error err = {0};
    hsize_t two = 2, three = 3;
    const long data[] = {1, 2, 3};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_raw(file, "id", H5T_STD_U32LE, H5T_NATIVE_LONG, 1, &three, data);
    put_raw(file, "at", H5T_STD_I64LE, H5T_NATIVE_LONG, 1, &two, data);
    H5Fclose(file);
    static const ss_h5_field pair[] = {
        {"id", SS_H5_U32, offsetof(row, id), NULL, NULL, NULL, 0, false},
        {"at", SS_H5_I64, offsetof(row, at), NULL, NULL, NULL, 0, false},
    };
    ss_h5 *f;
    ss_arena arena = {0};
    void *got;
    uint32_t n;
    CHECK_OK(ss_h5_open(path, &f, &err));
    CHECK(ss_h5_get_table(f, "/", pair, 2, sizeof(row), 0, &arena, &got, &n, &err) == SS_EFORMAT,
          "short");
    CHECK_TEXT(err.text, "/at has 2 rows, and the first column of its table 3");
    CHECK(ss_h5_get_table(f, "/", row_field, 2, sizeof(row), 0, &arena, &got, &n, &err) ==
              SS_EFORMAT,
          "missing");
    CHECK_TEXT(err.text, "a.h5 has no dataset /name");
    CHECK(ss_h5_get_table(f, "x/y", pair, 2, sizeof(row), 0, &arena, &got, &n, &err) == SS_EFORMAT,
          "missing group");
    CHECK_TEXT(err.text, "has no dataset /x/y/id");
    ss_h5_close(f);
    ss_arena_free(&arena);
}

static void a_claim_of_rows_that_are_not_stored_is_refused(void)
{
    ss_error err = {0};
    hsize_t many = 4000000000, chunk = 1 << 20, too_many = 1ull << 40;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &many, NULL), more = H5Screate_simple(1, &too_many, NULL);
    H5Dclose(H5Dcreate2(file, "id", H5T_STD_U32LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Dclose(H5Dcreate2(file, "at", H5T_STD_I64LE, more, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Sclose(space);
    H5Sclose(more);
    H5Pclose(list);
    H5Fclose(file);
    ss_h5 *f;
    uint32_t n;
    CHECK_OK(ss_h5_open(path, &f, &err));
    CHECK(ss_h5_rows(f, "/", &row_field[0], 1, &n, &err) == SS_EFORMAT, "many");
    CHECK_TEXT(err.text, "claims 4000000000 rows of 4 bytes and stores 0 bytes");
    CHECK(ss_h5_rows(f, "/", &row_field[3], 1, &n, &err) == SS_EFORMAT, "too many");
    CHECK_TEXT(err.text, "there can be");
    ss_h5_close(f);
}

static void a_changed_number_is_noticed(void)
{
    ss_error err = {0};
    row r[9], *got;
    char text[9][48];
    fill(r, 9, text);
    CHECK_OK(write_rows(path, r, 9, &err));
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "some/rows/at", H5P_DEFAULT);
    long at[9];
    H5Dread(set, H5T_NATIVE_LONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, at);
    at[4]++;
    H5Dwrite(set, H5T_NATIVE_LONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, at);
    H5Dclose(set);
    H5Fclose(file);
    ss_arena arena = {0};
    uint32_t n;
    CHECK(read_rows(path, &arena, &got, &n, &err) == SS_EFORMAT, "changed");
    CHECK_TEXT(err.text, "a.h5: /some/rows/at is not what was written");
    ss_arena_free(&arena);
}

static void no_library_message_reaches_the_terminal_and_its_printer_is_left_alone(void)
{
    H5E_auto2_t before, after;
    void *data_before, *data_after;
    H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
    fflush(stderr);
    int saved = dup(2);
    FILE *to = freopen(HERE "stderr", "w", stderr);
    every_truncation_is_refused();
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    struct stat is;
    CHECK(to && !stat(HERE "stderr", &is) && is.st_size == 0, "%ld bytes", (long)is.st_size);
    CHECK(before && before == after && data_before == data_after, "printer");
}

int main(void)
{
    if (system("rm -rf " HERE) || mkdir("test_h5.dir", 0777))
        return 1;
    size_t blocks = ss_mem_blocks();
    RUN(a_few_rows_come_back);
    RUN(rows_over_many_chunks_and_blocks_come_back);
    RUN(an_empty_table_comes_back_empty);
    RUN(equal_calls_give_equal_bytes);
    RUN(values_and_attributes_come_back);
    RUN(texts_end_in_a_zero);
    RUN(a_file_that_is_not_finished_leaves_the_old_one);
    RUN(what_cannot_be_a_file_is_refused_at_once);
    RUN(every_truncation_is_refused);
    RUN(columns_of_other_widths_are_read);
    RUN(compound_rows_are_read_as_columns);
    RUN(columns_that_make_no_sense_are_refused);
    RUN(enumerations_are_matched_by_name);
    RUN(a_table_with_a_column_missing_or_short_is_refused);
    RUN(a_claim_of_rows_that_are_not_stored_is_refused);
    RUN(a_changed_number_is_noticed);
    RUN(no_library_message_reaches_the_terminal_and_its_printer_is_left_alone);
    if (ss_mem_blocks() != blocks) {
        printf("%zu blocks were not freed\n", ss_mem_blocks() - blocks);
        check_failed++;
    }
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}

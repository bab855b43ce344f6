#include "graph/shape.h"

#include "check.h"

static ss_error err;

static void awkward_shapes_are_refused(void)
{
    ss_shape s = {.dtype = SS_F32, .rank = 0};
    CHECK(ss_shape_check(&s, "x", &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "x has 0 dimensions");
    s = (ss_shape){.dtype = SS_F32, .rank = SS_MAX_DIMS + 1};
    CHECK(ss_shape_check(&s, "x", &err) == SS_EINVAL);
    s = (ss_shape){.dtype = SS_F32, .rank = 3, .extent = {64, 0, 7}};
    CHECK(ss_shape_check(&s, "the image", &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "the image would be 64x0x7: dimension 2 has no elements");
    s.extent[1] = -5;
    CHECK(ss_shape_check(&s, "the image", &err) == SS_EINVAL);
}

static void sizes_up_to_2_to_the_62_bytes_are_possible(void)
{
    ss_shape s = {.dtype = SS_F32, .rank = 2, .extent = {INT64_C(1) << 30, INT64_C(1) << 30}};
    CHECK_OK(ss_shape_check(&s, "x", &err));
    CHECK(ss_shape_bytes(&s) == INT64_C(1) << 62);
    s.extent[1]++;
    CHECK(ss_shape_check(&s, "x", &err) == SS_ERANGE);
    s = (ss_shape){.dtype = SS_F64, .rank = 5, .extent = {INT64_MAX, 1, 1, 1, 1}};
    CHECK(ss_shape_check(&s, "x", &err) == SS_ERANGE);
    CHECK_TEXT(err.text, "more than 2^62 bytes");
}

static void element_types_have_names_and_sizes(void)
{
    static const int64_t bytes[SS_DTYPES] = {8, 4, 4, 2, 2, 1, 8, 4, 1};
    for (int i = 0; i < SS_DTYPES; i++) {
        ss_dtype back;
        CHECK_OK(ss_dtype_parse(ss_dtype_name((ss_dtype)i), &back, &err));
        CHECK((int)back == i && ss_dtype_bytes(back) == bytes[i], "type %d", i);
    }
    ss_dtype t;
    CHECK(ss_dtype_parse("bf61", &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "did you mean \"bf16\"");
    CHECK(ss_dtype_parse("quadruple", &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "f64, f32");
}

static void a_shape_is_written_with_crosses(void)
{
    char text[SS_SHAPE_TEXT], small[8];
    ss_shape s = {.dtype = SS_F32, .rank = 4, .extent = {64, 3, 224, 229}};
    CHECK(!strcmp(ss_shape_text(&s, text, sizeof text), "64x3x224x229"), "%s", text);
    CHECK(!strcmp(ss_shape_text(&s, small, sizeof small), "64x3x22"), "%s", small);
    s = (ss_shape){.rank = SS_MAX_DIMS};
    for (int d = 0; d < SS_MAX_DIMS; d++)
        s.extent[d] = INT64_MIN;
    CHECK(strlen(ss_shape_text(&s, text, sizeof text)) == 5 * 20 + 4, "%s", text);
}

static void boxes_meet_where_all_ranges_do(void)
{
    ss_box a = {.rank = 2, .lo = {3, 10}, .hi = {9, 20}},
           b = {.rank = 2, .lo = {5, 0}, .hi = {30, 11}};
    ss_box both, wanted = {.rank = 2, .lo = {5, 10}, .hi = {9, 11}};
    CHECK(ss_box_intersect(&a, &b, &both) && ss_box_same(&both, &wanted));
    CHECK(ss_box_elements(&both) == 4);
    b.hi[1] = 10;
    CHECK(!ss_box_intersect(&a, &b, &both), "touching is not meeting");
    b = (ss_box){.rank = 2, .lo = {7, 2}, .hi = {7, 90}};
    CHECK(ss_box_empty(&b) && ss_box_elements(&b) == 0);
    CHECK(!ss_box_intersect(&a, &b, &both));
    ss_shape s = {.dtype = SS_F16, .rank = 3, .extent = {5, 7, 11}};
    ss_box whole = ss_box_whole(&s);
    CHECK(ss_box_elements(&whole) == 385 && ss_shape_bytes(&s) == 770);
}

/* The twin: deal the grains out one by one, the first parts getting what is left over. */
static void deal(int64_t extent, int64_t grain, uint32_t degree, int64_t *start)
{
    int64_t units = (extent + grain - 1) / grain, at = 0;
    for (uint32_t k = 0; k < degree; k++) {
        start[k] = at;
        at += (units / degree + (k < units % degree ? 1 : 0)) * grain;
    }
    start[degree] = extent;
}

static void parts_cover_an_extent_and_differ_by_at_most_a_grain(void)
{
    int64_t start[65], all_lo[64], all_hi[64];
    for (int64_t extent = 1; extent <= 61; extent++)
        for (int64_t grain = 1; grain <= 7; grain++) {
            int64_t units = (extent + grain - 1) / grain;
            for (uint32_t degree = 1; degree <= units; degree++) {
                deal(extent, grain, degree, start);
                ss_part_ranges(extent, grain, degree, all_lo, all_hi);
                for (uint32_t k = 0; k < degree; k++) {
                    int64_t lo, hi;
                    ss_part_range(extent, grain, degree, k, &lo, &hi);
                    CHECK(all_lo[k] == lo && all_hi[k] == hi, "part %u of all %u", k, degree);
                    CHECK(lo == start[k] && hi == start[k + 1] && lo < hi,
                          "part %u of %u of %d by %d: %d to %d", k, degree, (int)extent, (int)grain,
                          (int)lo, (int)hi);
                }
            }
        }
}

static void more_parts_than_elements_leaves_empty_ones(void)
{
    int64_t lo, hi;
    ss_part_range(3, 1, 5, 2, &lo, &hi);
    CHECK(lo == 2 && hi == 3);
    ss_part_range(3, 1, 5, 4, &lo, &hi);
    CHECK(lo == 3 && hi == 3);
}

int main(void)
{
    RUN(awkward_shapes_are_refused);
    RUN(sizes_up_to_2_to_the_62_bytes_are_possible);
    RUN(element_types_have_names_and_sizes);
    RUN(a_shape_is_written_with_crosses);
    RUN(boxes_meet_where_all_ranges_do);
    RUN(parts_cover_an_extent_and_differ_by_at_most_a_grain);
    RUN(more_parts_than_elements_leaves_empty_ones);
    return DONE();
}

/* fuzz_csv.c - damaged tables of measured times and profiles in CSV are refused with their place, or are what they say. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "damage.h"

#include "base/mem.h"
#include "io/measured.h"
#include "validation/profiler/profile.h"
#include "validation/profiler/profile_csv.h"

static uint64_t count = 5000, seed = 1;
static ss_error err;
static char path[] = "/tmp/soapstone-fuzz-XXXXXX";

static const char whole[] =
    "# device_kind: a100\n# library: PyTorch 2.3.1, CUDA 12.1\n# inputs: warm\n# cores: 8\n\n"
    "kind,attributes,shape,dtype,phase,device,seconds,spread_s,samples,samples_s,q05_s\n"
    "linear,activation=relu,\"64x96 < 64x48\",f32,forward,a100,3.4e-6,1e-7,3,\"3.5e-6 3.4e-6 3.3e-6\",3.3e-6\n"
    "linear,activation=relu,\"64x96 < 64x48\",f32,backward,a100,7e-6,,1,7e-6,7e-6\n"
    "conv2d,kernel_h=3 kernel_w=3 padding_h=1 padding_w=1,64x64x55x55 < 64x3x55x55,f32,forward,a100,1.25e-3,0,2,"
    "1.2e-3 1.3e-3,1.2e-3\n"
    "softmax,\"\",8x100 < 8x100,f32,forward,a100,0.000002,0,1,0.000002,\n";

static const char *const pieces[] = {",", "\"", "\"\"", "\n", "\r\n", " ", "#", "=", "x", "<", "-1", "0", "1e309",
                                     "1e-400", "nan", "inf", "99999999", "4294967296", "9223372036854775807",
                                     "18446744073709551616", "1.25 ms", "[ms]", "3 s", "relu", "kind,", "seconds",
                                     "samples_s", "forward", "weight_gradient", "1x1x1x1x1x1x1x1x1x1", "\xff\xfe",
                                     "# cores: -3\n", "activation=relu activation=relu", "axis=0"};

enum { ROOM = 8192 };

static damage harm = {.room = ROOM, .piece = pieces, .pieces = sizeof pieces / sizeof *pieces, .seldom = 8};

static void write_file(const char *text, size_t n)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, n, file) != n || fclose(file)) {
        printf("nothing can be written to %s\n", path);
        exit(1);
    }
}

/* Median, quantiles and number are those of the samples, whatever the file said. */
static bool adds_up(const ss_profile *p)
{
    bool well = true;
    for (uint32_t i = 0; i < p->rows; i++) {
        const ss_profile_row *r = &p->row[i];
        well = well && r->s.n && r->m.seconds > 0 && isfinite(r->m.seconds) && r->s.least <= r->s.median &&
               r->s.median <= r->s.most && fabs(r->s.median - r->m.seconds) <= 1e-9 * r->m.seconds;
    }
    return well;
}

static bool names_the_file(void)
{
    return strncmp(err.text, path, strlen(path)) == 0;
}

static void a_damaged_table_is_refused_with_its_place_or_adds_up(void)
{
    static char text[ROOM];
    uint64_t tables = 0, profiles = 0;
    for (uint64_t i = 0; i < count; i++) {
        harm.seed = seed + i;
        harm.drawn = 0;
        size_t n = sizeof whole - 1, before = ss_mem_blocks();
        memcpy(text, whole, n);
        for (size_t k = damage_draw(&harm, 4); k > 0; k--)
            n = damage_text(&harm, text, n);
        write_file(text, n);
        ss_costs *c = NULL;
        ss_profile p = {0};
        CHECK_OK(ss_costs_new(&c, &err));
        ss_status s = ss_measured_read_csv(path, c, &err);
        CHECK(!s || names_the_file(), "seed %llu: \"%s\"", (unsigned long long)harm.seed, err.text);
        tables += !s;
        ss_costs_free(c);
        ss_status as_profile = ss_profile_read_csv(path, &p, &err);
        CHECK(!as_profile || names_the_file(), "seed %llu: \"%s\"", (unsigned long long)harm.seed, err.text);
        CHECK(!s || as_profile, "seed %llu: a profile and no table", (unsigned long long)harm.seed);
        CHECK(as_profile || adds_up(&p), "seed %llu", (unsigned long long)harm.seed);
        profiles += !as_profile;
        ss_profile_free(&p);
        CHECK(ss_mem_blocks() == before, "seed %llu", (unsigned long long)harm.seed);
    }
    printf("%llu files, %llu of them were tables and %llu profiles\n", (unsigned long long)count,
           (unsigned long long)tables, (unsigned long long)profiles);
    CHECK(count < 100 || (profiles > count / 100 && profiles < tables && tables < count), "the damage is of the wrong size");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    int file = mkstemp(path);
    if (file < 0 || close(file))
        return 1;
    RUN(a_damaged_table_is_refused_with_its_place_or_adds_up);
    unlink(path);
    return DONE();
}

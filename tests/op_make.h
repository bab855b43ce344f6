/* op_make.h - operators from text, for tests: ONE(op, "linear", "out=13 bias=false", 5, 7). */
#ifndef SS_TEST_OP_MAKE_H
#define SS_TEST_OP_MAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op.h"

static ss_error err;

static ss_shape shape(ss_dtype t, uint32_t rank, const int64_t *extent)
{
    ss_shape s = {.dtype = t, .rank = rank};
    memcpy(s.extent, extent, rank * sizeof *extent);
    return s;
}

#define SHAPE(...)                                                                                 \
    shape(SS_F32, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

/* An operator of a kind with the attributes named, the others at their presets. */
static ss_op_def start(const char *kind, const char *attrs, uint32_t inputs, const ss_shape *in)
{
    ss_op_def op = {.kind = ss_op_kind_find(kind), .inputs = inputs};
    if (!op.kind) {
        printf("no kind %s\n", kind);
        exit(1);
    }
    for (uint32_t i = 0; i < inputs; i++)
        op.in[i] = in[i];
    uint32_t n = ss_op_kind_attrs(op.kind);
    for (uint32_t i = 0; i < n; i++)
        op.attr[i] = op.kind->attr[i].preset;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", attrs);
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) {
        char *value = strchr(at, '=');
        *value++ = 0;
        uint32_t i = 0;
        while (i < n && strcmp(op.kind->attr[i].name, at))
            i++;
        if (i == n || ss_attr_parse(&op.kind->attr[i], value, &op.attr[i], &err)) {
            printf("%s has no attribute %s = %s\n", kind, at, value);
            exit(1);
        }
    }
    return op;
}

static ss_status make(ss_op_def *op, const char *kind, const char *attrs, uint32_t inputs,
                      const ss_shape *in)
{
    *op = start(kind, attrs, inputs, in);
    return ss_op_def_finish(op, &err);
}

#endif

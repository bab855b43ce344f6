/* onednn_call.c - a primitive with its arguments and the reorders that they need. */
#include "validation/operators/onednn_inside.h"

#include <assert.h>
#include <string.h>

static dnnl_memory_desc_t dense_as(dnnl_format_tag_t any, uint32_t rank, const int64_t *extent)
{
    dnnl_dims_t dims, strides;
    int64_t stride = 1;
    for (uint32_t d = rank; d-- > 0;) {
        dims[d] = extent[d];
        strides[d] = stride;
        stride *= extent[d];
    }
    dnnl_memory_desc_t desc;
    if (any == dnnl_format_tag_any)
        (void)dnnl_memory_desc_init_by_tag(&desc, (int)rank, dims, dnnl_f32, any);
    else
        (void)dnnl_memory_desc_init_by_strides(&desc, (int)rank, dims, dnnl_f32, strides);
    return desc;
}

dnnl_memory_desc_t ss_onednn_dense(uint32_t rank, const int64_t *extent)
{
    return dense_as(dnnl_format_tag_undef, rank, extent);
}

dnnl_memory_desc_t ss_onednn_any(uint32_t rank, const int64_t *extent)
{
    return dense_as(dnnl_format_tag_any, rank, extent);
}

dnnl_memory_desc_t ss_onednn_dense_box(const ss_box *b)
{
    int64_t extent[SS_MAX_DIMS];
    for (uint32_t d = 0; d < b->rank; d++)
        extent[d] = ss_onednn_extent(b, d);
    return ss_onednn_dense(b->rank, extent);
}

/* A call joins the part's list before anything can fail, so that what it has by then is freed. */
ss_status ss_onednn_call_make(ss_onednn_part *p, ss_onednn_call *c, const char *what,
                              const_dnnl_op_desc_t operation, const ss_onednn_call *forward,
                              ss_error *err)
{
    c->what = what;
    c->next = p->calls;
    p->calls = c;

    /* Scratch memory that oneDNN keeps itself is one block for each thread, and grows in the middle of a run. */
    dnnl_primitive_attr_t attr;
    ss_status s = ss_onednn_status(dnnl_primitive_attr_create(&attr), what, err);
    if (s)
        return s;
    dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_status_t made = dnnl_primitive_desc_create(&c->desc, operation, attr, p->engine,
                                                    forward ? forward->desc : NULL);
    dnnl_primitive_attr_destroy(attr);
    s = ss_onednn_status(made, what, err);
    if (!s)
        s = ss_onednn_status(dnnl_primitive_create(&c->primitive, c->desc), what, err);
    if (!s)
        s = ss_onednn_keeps(p, c, DNNL_ARG_SCRATCHPAD, err);
    return s;
}

static const dnnl_memory_desc_t *wanted(const ss_onednn_call *c, int name)
{
    if (name == DNNL_ARG_SCRATCHPAD)
        return dnnl_primitive_desc_query_md(c->desc, dnnl_query_scratchpad_md, 0);
    return dnnl_primitive_desc_query_md(c->desc, dnnl_query_exec_arg_md, name);
}

static ss_onednn_argument *add_argument(ss_onednn_call *c, int name)
{
    assert(c->arguments < SS_ONEDNN_ARGUMENTS);
    ss_onednn_argument *a = &c->argument[c->arguments++];
    a->name = name;
    return a;
}

/* Once it is known what the primitive is given. */
static void give(ss_onednn_call *c, const ss_onednn_argument *a)
{
    c->given[a - c->argument] = (dnnl_exec_arg_t){a->name, a->wanted};
}

/* Memory of the part's own under a->wanted. */
static ss_status own(ss_onednn_part *p, ss_onednn_call *c, ss_onednn_argument *a,
                     const dnnl_memory_desc_t *desc, ss_error *err)
{
    void *at = NULL;
    ss_status s = ss_onednn_memory(p, dnnl_memory_desc_get_size(desc), &at, err);
    if (!s)
        s = ss_onednn_status(dnnl_memory_create(&a->wanted, desc, p->engine, at), c->what, err);
    return s;
}

static ss_status make_reorder(ss_onednn_part *p, ss_onednn_call *c, ss_onednn_argument *a,
                              const dnnl_memory_desc_t *lies, const dnnl_memory_desc_t *want,
                              ss_error *err)
{
    const dnnl_memory_desc_t *from = a->written ? want : lies, *to = a->written ? lies : want;
    dnnl_primitive_desc_t desc;
    ss_status s = ss_onednn_status(
        dnnl_reorder_primitive_desc_create(&desc, from, p->engine, to, p->engine, NULL), c->what,
        err);
    if (s)
        return s;
    s = ss_onednn_status(dnnl_primitive_create(&a->reorder, desc), c->what, err);
    dnnl_primitive_desc_destroy(desc);
    return s;
}

static ss_status bound(ss_onednn_part *p, ss_onednn_call *c, int name, bool written,
                       const dnnl_memory_desc_t *lies, ss_error *err)
{
    ss_onednn_argument *a = add_argument(c, name);
    a->written = written;
    const dnnl_memory_desc_t *want = wanted(c, name);
    ss_status s = ss_onednn_status(dnnl_memory_create(&a->plain, lies, p->engine, DNNL_MEMORY_NONE),
                                   c->what, err);
    if (s)
        return s;
    if (dnnl_memory_desc_equal(want, lies)) {
        a->wanted = a->plain;
    } else {
        s = own(p, c, a, want, err);
        if (!s)
            s = make_reorder(p, c, a, lies, want, err);
    }
    give(c, a);
    return s;
}

ss_status ss_onednn_reads(ss_onednn_part *p, ss_onednn_call *c, int name,
                          const dnnl_memory_desc_t *lies, ss_error *err)
{
    return bound(p, c, name, false, lies, err);
}

ss_status ss_onednn_writes(ss_onednn_part *p, ss_onednn_call *c, int name,
                           const dnnl_memory_desc_t *lies, ss_error *err)
{
    return bound(p, c, name, true, lies, err);
}

ss_status ss_onednn_keeps(ss_onednn_part *p, ss_onednn_call *c, int name, ss_error *err)
{
    ss_onednn_argument *a = add_argument(c, name);
    ss_status s = own(p, c, a, wanted(c, name), err);
    give(c, a);
    return s;
}

ss_status ss_onednn_shares(ss_onednn_call *c, int name, const ss_onednn_call *other, int of,
                           ss_error *err)
{
    uint32_t i = 0;
    while (i < other->arguments && other->argument[i].name != of)
        i++;
    assert(i < other->arguments);
    if (!dnnl_memory_desc_equal(wanted(c, name), wanted(other, of)))
        return ss_fail(err, SS_EUNSUPPORTED, "oneDNN: %s and %s want one argument in two layouts",
                       c->what, other->what);
    ss_onednn_argument *a = add_argument(c, name);
    a->wanted = other->argument[i].wanted;
    a->shared = true;
    give(c, a);
    return SS_OK;
}

void ss_onednn_bind(ss_onednn_call *c, int name, const void *array)
{
    for (uint32_t i = 0; i < c->arguments; i++)
        if (c->argument[i].name == name && c->argument[i].plain) {
            (void)dnnl_memory_set_data_handle(c->argument[i].plain, (void *)(uintptr_t)array);
            return;
        }
    assert(!"an argument that the call has");
}

static dnnl_status_t reorder(ss_onednn_part *p, const ss_onednn_argument *a)
{
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, a->written ? a->wanted : a->plain},
                              {DNNL_ARG_TO, a->written ? a->plain : a->wanted}};
    return dnnl_primitive_execute(a->reorder, p->stream, 2, args);
}

static dnnl_status_t reorder_all(ss_onednn_part *p, const ss_onednn_call *c, bool written)
{
    dnnl_status_t s = dnnl_success;
    for (uint32_t i = 0; i < c->arguments && s == dnnl_success; i++)
        if (c->argument[i].reorder && c->argument[i].written == written)
            s = reorder(p, &c->argument[i]);
    return s;
}

ss_status ss_onednn_run(ss_onednn_part *p, ss_onednn_call *c, ss_error *err)
{
    dnnl_status_t s = reorder_all(p, c, false);
    if (s == dnnl_success)
        s = dnnl_primitive_execute(c->primitive, p->stream, (int)c->arguments, c->given);
    if (s == dnnl_success)
        s = reorder_all(p, c, true);
    return ss_onednn_status(s, c->what, err);
}

static void call_free(ss_onednn_call *c)
{
    for (uint32_t i = 0; i < c->arguments; i++) {
        ss_onednn_argument *a = &c->argument[i];
        if (a->reorder)
            dnnl_primitive_destroy(a->reorder);
        if (a->wanted && a->wanted != a->plain && !a->shared)
            dnnl_memory_destroy(a->wanted);
        if (a->plain)
            dnnl_memory_destroy(a->plain);
    }
    if (c->primitive)
        dnnl_primitive_destroy(c->primitive);
    if (c->desc)
        dnnl_primitive_desc_destroy(c->desc);
}

void ss_onednn_calls_free(ss_onednn_part *p)
{
    for (ss_onednn_call *c = p->calls; c; c = c->next)
        call_free(c);
    p->calls = NULL;
}

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mark_if_cut(char *text, int wanted)
{
    if (wanted >= SS_ERROR_TEXT)
        memcpy(text + SS_ERROR_TEXT - 4, "...", 4);
}

ss_status ss_fail(ss_error *err, ss_status status, const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    mark_if_cut(err->text, wanted);
    err->status = status;
    return status;
}

ss_status ss_fail_in(ss_error *err, const char *format, ...)
{
    if (!err)
        return SS_EINVAL;
    char text[SS_ERROR_TEXT], context[SS_ERROR_TEXT];
    memcpy(text, err->text, sizeof text);
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    mark_if_cut(err->text, snprintf(err->text, sizeof err->text, "%s: %s", context, text));
    return err->status;
}

ss_status ss_fail_memory(ss_error *err, const char *what, size_t bytes)
{
    return ss_fail(err, SS_ENOMEM, "no memory for %s (%zu bytes)", what, bytes);
}

int ss_status_exit(ss_status status)
{
    if (status == SS_OK)
        return 0;
    if (status == SS_ESTOPPED)
        return 130; /* 128 + SIGINT, as a shell has it */
    return status == SS_ENOMEM || status == SS_EIO ? 3 : 2;
}

#include <config.h>

#include "cli/prompt.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#ifdef HAVE_LIBEDIT
#include <histedit.h>
#endif

#include "base/mem.h"

enum { HISTORY_LINES = 2000, PATH_BYTES = 4096 };

struct ss_prompt {
    ss_complete complete;
    void *context;
    char history_file[PATH_BYTES]; /* "": none */
#ifdef HAVE_LIBEDIT
    EditLine *edit; /* NULL: plain lines */
    History *history;
    const char *text; /* the prompt that is shown now */
#endif
};

/* -- Ctrl-C ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t cancelled; /* by Ctrl-C while a line is read */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    cancelled = 1;
}

static void catch_interrupt(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    cancelled = 0;
    sigaction(SIGINT, &action, before);
}

static void change_mask(int how)
{
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(how, &interrupt, NULL);
}

/* -- history ---------------------------------------------------------------------------------- */

/* Makes every folder of a path that is missing, for the owner alone. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
}

/* $XDG_STATE_HOME/soapstone/history, or below ~/.local/state. */
static void find_history(char *path)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (state && *state == '/')
        n = snprintf(path, PATH_BYTES, "%s/soapstone/history", state);
    else if (home && *home == '/')
        n = snprintf(path, PATH_BYTES, "%s/.local/state/soapstone/history", home);
    if (n < 0 || n >= PATH_BYTES)
        path[0] = '\0';
    else
        make_folders(path);
}

#ifdef HAVE_LIBEDIT

/* Beside it first, so that a kill leaves the old file or the new one. */
static void save_history(ss_prompt *p)
{
    HistEvent event;
    char beside[PATH_BYTES + 4];
    if (!p->history_file[0])
        return;
    snprintf(beside, sizeof beside, "%s.new", p->history_file);
    mode_t before = umask(077); /* what was typed is nobody else's business */
    if (history(p->history, &event, H_SAVE, beside) >= 0 && !chmod(beside, 0600))
        rename(beside, p->history_file);
    else
        unlink(beside);
    umask(before);
}

/* -- editing ---------------------------------------------------------------------------------- */

static char *prompt_text(EditLine *edit)
{
    static char none[] = "";
    ss_prompt *p;
    if (el_get(edit, EL_CLIENTDATA, &p))
        return none;
    return (char *)(uintptr_t)p->text;
}

/* Waits for a key, or Ctrl-C, which is let through only here: had it come before, it would be
 * delivered now, not forgotten while a read waits.  False for Ctrl-C. */
static bool wait_for_key(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t let;
    sigprocmask(SIG_SETMASK, NULL, &let);
    sigdelset(&let, SIGINT);
    while (!cancelled && ppoll(&in, 1, NULL, &let) < 0 && errno == EINTR)
        ; /* the window changed its size */
    return !cancelled;
}

/* One character; -1 on Ctrl-C, which libedit's own reader would try again. */
static int read_character(EditLine *edit, wchar_t *out)
{
    mbstate_t state = {0};
    (void)edit;
    for (;;) {
        char byte;
        if (!wait_for_key())
            return -1;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
        if (n < 0)
            continue;
        size_t used = mbrtowc(out, &byte, 1, &state);
        if (used == (size_t)-2)
            continue; /* the character has more bytes */
        if (used == (size_t)-1)
            *out = (wchar_t)(unsigned char)byte;
        return 1;
    }
}

static size_t common_prefix(const char *words)
{
    const char *end = strchr(words, '\n');
    size_t n = end ? (size_t)(end - words) : strlen(words);
    for (const char *w = words; *w;) {
        size_t same = 0;
        while (same < n && w[same] == words[same])
            same++;
        n = same;
        w += strcspn(w, "\n");
        w += *w == '\n';
    }
    return n;
}

static void show_candidates(const char *words)
{
    fputc('\n', stdout);
    for (const char *w = words; *w; w++)
        fputc(*w == '\n' ? (w[1] ? ' ' : '\n') : *w, stdout);
    fflush(stdout);
}

static unsigned char complete_word(EditLine *edit, int key)
{
    ss_prompt *p;
    (void)key;
    if (el_get(edit, EL_CLIENTDATA, &p) || !p->complete)
        return CC_ERROR;
    const LineInfo *line = el_line(edit);
    ss_text words = {0};
    size_t n = p->complete(p->context, line->buffer, (size_t)(line->cursor - line->buffer), &words);
    const char *all = ss_text_get(&words);
    unsigned char answer = CC_ERROR;
    if (*all) {
        size_t common = common_prefix(all), end = strcspn(all, "\n");
        bool one = !all[end] || !all[end + 1];
        char *more = common > n ? ss_alloc(common - n + 1) : NULL;
        if (more) {
            memcpy(more, all + n, common - n);
            more[common - n] = '\0';
            el_insertstr(edit, more);
            ss_free(more);
            answer = CC_REFRESH;
        } else if (!one) {
            show_candidates(all);
            answer = CC_REDISPLAY;
        }
    }
    ss_text_free(&words);
    return answer;
}

static void start_editing(ss_prompt *p)
{
    HistEvent event;
    setlocale(LC_CTYPE, ""); /* only characters: numbers keep their decimal point */
    p->edit = el_init("soapstone", stdin, stdout, stderr);
    p->history = history_init();
    if (!p->edit || !p->history)
        return;
    find_history(p->history_file);
    history(p->history, &event, H_SETSIZE, HISTORY_LINES);
    history(p->history, &event, H_SETUNIQUE, 1);
    if (p->history_file[0])
        history(p->history, &event, H_LOAD, p->history_file);
    el_set(p->edit, EL_CLIENTDATA, p);
    el_set(p->edit, EL_PROMPT, prompt_text);
    el_set(p->edit, EL_EDITOR, "emacs");
    el_set(p->edit, EL_HIST, history, p->history);
    el_set(p->edit, EL_GETCFN, read_character);
    /* the wide call keeps these pointers; the other copies the texts and never frees them */
    el_wset(p->edit, EL_ADDFN, L"complete", L"complete a name", complete_word);
    el_set(p->edit, EL_BIND, "\t", "complete", NULL);
    el_set(p->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
}

static ss_read read_edited(ss_prompt *p, const char *prompt, ss_text *line)
{
    struct sigaction before;
    int n;
    p->text = prompt;
    catch_interrupt(&before);
    /* before the prompt is shown, not at the first key: a Ctrl-D in between would be lost */
    el_set(p->edit, EL_PREP_TERM, 1);
    const char *got = el_gets(p->edit, &n);
    sigaction(SIGINT, &before, NULL);
    if (cancelled) {
        fputs("^C\n", stdout);
        el_reset(p->edit);
        return SS_READ_CANCELLED;
    }
    if (!got || n <= 0) {
        fputc('\n', stdout);
        return SS_READ_END;
    }
    ss_text_add_bytes(line, got, strcspn(got, "\n"));
    return SS_READ_LINE;
}

#endif

/* -- plain lines ------------------------------------------------------------------------------ */

static ss_read read_plain(const char *prompt, ss_text *line)
{
    int c;
    if (isatty(STDIN_FILENO)) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    while ((c = getc(stdin)) != EOF && c != '\n') {
        char byte = (char)c;
        ss_text_add_bytes(line, &byte, 1);
    }
    return c == EOF && !line->n ? SS_READ_END : SS_READ_LINE;
}

/* -- both ------------------------------------------------------------------------------------- */

ss_status ss_prompt_new(ss_complete complete, void *context, ss_prompt **out, ss_error *err)
{
    ss_prompt *p = ss_alloc_zeroed(1, sizeof *p);
    if (!p)
        return ss_fail_memory(err, "a prompt", sizeof *p);
    p->complete = complete;
    p->context = context;
#ifdef HAVE_LIBEDIT
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        start_editing(p);
#endif
    ss_prompt_hold_interrupt(p);
    *out = p;
    return SS_OK;
}

void ss_prompt_free(ss_prompt *p)
{
    if (!p)
        return;
#ifdef HAVE_LIBEDIT
    if (p->edit)
        el_end(p->edit);
    if (p->history)
        history_end(p->history);
#endif
    ss_free(p);
}

bool ss_prompt_interactive(const ss_prompt *p)
{
    (void)p;
    return isatty(STDIN_FILENO);
}

static bool edits(const ss_prompt *p)
{
#ifdef HAVE_LIBEDIT
    return p->edit && p->history;
#else
    (void)p;
    return false;
#endif
}

void ss_prompt_let_interrupt(const ss_prompt *p)
{
    if (edits(p))
        change_mask(SIG_UNBLOCK);
}

void ss_prompt_hold_interrupt(const ss_prompt *p)
{
    if (edits(p))
        change_mask(SIG_BLOCK);
}

ss_read ss_prompt_read(ss_prompt *p, const char *prompt, ss_text *line)
{
    ss_text_clear(line);
#ifdef HAVE_LIBEDIT
    if (edits(p))
        return read_edited(p, prompt, line);
#endif
    return read_plain(prompt, line);
}

void ss_prompt_remember(ss_prompt *p, const char *chunk)
{
#ifdef HAVE_LIBEDIT
    HistEvent event;
    if (!p->history || !*chunk || strlen(chunk) >= INT_MAX / 2)
        return;
    history(p->history, &event, H_ENTER, chunk);
    save_history(p);
#else
    (void)p;
    (void)chunk;
#endif
}

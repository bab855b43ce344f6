#include "config.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "io/file.h"

static char folder[] = "/tmp/soapstone-test-file-XXXXXX";
static ss_error err;

static const char *in_folder(const char *name)
{
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int files_in_folder(void)
{
    DIR *d = opendir(folder);
    int n = -2; /* . and .. */
    if (!d)
        return -1;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static bool holds(const char *path, const char *wanted)
{
    ss_text t = {0};
    bool same = !ss_file_read(path, 1 << 24, &t, &err) && !strcmp(ss_text_get(&t), wanted);
    ss_text_free(&t);
    return same;
}

static void what_is_written_is_read_back(void)
{
    enum { N = 300007 }; /* more than some buffers */
    char *bytes = malloc(N);
    for (int i = 0; i < N; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    CHECK_OK(ss_file_write(in_folder("big"), bytes, N, &err));
    ss_text t = {0};
    ss_text_add(&t, "before");
    CHECK_OK(ss_file_read(in_folder("big"), N, &t, &err));
    CHECK(t.n == N + 6 && !memcmp(t.at, "before", 6) && !memcmp(t.at + 6, bytes, N), "%u", t.n);
    ss_text_free(&t);
    free(bytes);
    unlink(in_folder("big"));
}

static void pieces_of_every_size_arrive_in_order(void)
{
    ss_file f;
    ss_text wanted = {0};
    CHECK_OK(ss_file_begin(in_folder("pieces"), &f, &err));
    for (int i = 0; i < 40; i++) {
        char *piece = malloc(9001);
        size_t n = (size_t)(i * i * 5 % 9001);
        memset(piece, 'a' + i % 26, n);
        CHECK_OK(ss_file_put(&f, piece, n, &err));
        ss_text_add_bytes(&wanted, piece, n);
        free(piece);
    }
    CHECK(access(in_folder("pieces"), F_OK), "the name is there before the commit");
    CHECK_OK(ss_file_commit(&f, &err));
    CHECK(holds(in_folder("pieces"), ss_text_get(&wanted)), "%s", err.text);
    ss_text_free(&wanted);
    unlink(in_folder("pieces"));
    CHECK(files_in_folder() == 0, "%d files left", files_in_folder());
}

static void an_abandoned_file_leaves_the_old_one_and_nothing_else(void)
{
    CHECK_OK(ss_file_write(in_folder("old"), "old", 3, &err));
    ss_file f;
    CHECK_OK(ss_file_begin(in_folder("old"), &f, &err));
    CHECK_OK(ss_file_put(&f, "new", 3, &err));
    ss_file_abandon(&f);
    ss_file_abandon(&f); /* twice is fine */
    CHECK(holds(in_folder("old"), "old"), "%s", err.text);
    unlink(in_folder("old"));
    CHECK(files_in_folder() == 0, "%d files left", files_in_folder());
}

static void a_link_is_followed_and_permissions_are_kept(void)
{
    CHECK_OK(ss_file_write(in_folder("target"), "1", 1, &err));
    CHECK(!chmod(in_folder("target"), 0640), "chmod");
    CHECK(!symlink("target", in_folder("link")), "symlink");
    CHECK_OK(ss_file_write(in_folder("link"), "2", 1, &err));
    struct stat is;
    CHECK(!lstat(in_folder("link"), &is) && S_ISLNK(is.st_mode), "the link was replaced");
    CHECK(!stat(in_folder("target"), &is) && (is.st_mode & 0777) == 0640, "mode %o", is.st_mode);
    CHECK(holds(in_folder("target"), "2"), "%s", err.text);
    unlink(in_folder("link"));
    unlink(in_folder("target"));
}

static void a_long_name_works_and_a_longer_one_is_refused(void)
{
    char name[300];
    memset(name, 'n', sizeof name);
    name[255] = 0;
    CHECK_OK(ss_file_write(in_folder(name), "x", 1, &err));
    unlink(in_folder(name));
    name[255] = 'n';
    name[256] = 0;
    CHECK(ss_file_write(in_folder(name), "x", 1, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "File name too long");
}

static void what_is_missing_is_named(void)
{
    ss_text t = {0};
    CHECK(ss_file_read(in_folder("none"), 10, &t, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "/none: there is no such file");
    CHECK(ss_file_write(in_folder("no/such/x"), "x", 1, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "there is no folder /tmp/soapstone-test-file-");
    CHECK_TEXT(err.text, "/no/such");
    CHECK(ss_file_write("", "x", 1, &err) == SS_EINVAL, "%s", err.text);
    CHECK(ss_file_read("", 1, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK(ss_file_write(folder, "x", 1, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "Is a directory");
    CHECK(ss_file_write(in_folder("x/"), "x", 1, &err) == SS_EINVAL, "%s", err.text);
    CHECK(ss_file_read(folder, 10, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK(t.n == 0, "something was read");
    CHECK_OK(ss_file_write(in_folder("plain"), "x", 1, &err));
    CHECK(ss_file_write(in_folder("plain/y"), "x", 1, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "Not a directory");
    unlink(in_folder("plain"));
    ss_text_free(&t);
}

static void a_file_beyond_the_bound_is_refused(void)
{
    ss_text t = {0};
    CHECK_OK(ss_file_write(in_folder("seven"), "1234567", 7, &err));
    CHECK(ss_file_read(in_folder("seven"), 6, &t, &err) == SS_ERANGE, "%s", err.text);
    CHECK_TEXT(err.text, "more than 6 bytes");
    CHECK_OK(ss_file_read(in_folder("seven"), 7, &t, &err));
    CHECK(ss_file_read("/dev/zero", 100000, &t, &err) == SS_ERANGE, "%s", err.text);
    CHECK(t.n == 7, "%u bytes", t.n);
    ss_text_free(&t);
    unlink(in_folder("seven"));
}

/* /dev/full is no regular file, so it is written straight; a bound on the size of files fails the
 * write of the temporary one in the middle. */
static void a_full_disk_leaves_the_old_file_and_nothing_else(void)
{
    CHECK(ss_file_write("/dev/full", "x", 1, &err) == SS_EIO, "%s", err.text);
    CHECK_TEXT(err.text, "cannot write /dev/full: No space left on device");

    CHECK_OK(ss_file_write(in_folder("old"), "old", 3, &err));
    char *big = calloc(1, 200000);
    struct rlimit before, tiny;
    getrlimit(RLIMIT_FSIZE, &before);
    tiny = before;
    tiny.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tiny);
    ss_status s = ss_file_write(in_folder("old"), big, 200000, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    free(big);
    CHECK(s == SS_EIO, "%s", err.text);
    CHECK_TEXT(err.text, "File too large");
    CHECK(holds(in_folder("old"), "old"), "%s", err.text);
    unlink(in_folder("old"));
    CHECK(files_in_folder() == 0, "%d files left", files_in_folder());
}

/* Begins a file and is killed. */
static void die_while_writing(const char *path)
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (!child) {
        ss_file f;
        if (!ss_file_begin(path, &f, &err) && !ss_file_put(&f, "half", 4, &err) &&
            !ss_file_flush(&f, &err))
            raise(SIGKILL);
        _exit(9);
    }
    int how = 0;
    waitpid(child, &how, 0);
    CHECK(WIFSIGNALED(how), "child %d", how);
}

static void what_the_killed_left_goes_with_the_next_write_of_that_name(void)
{
    ss_file alive;
    CHECK_OK(ss_file_begin(in_folder("mine"), &alive, &err));
    die_while_writing(in_folder("mine"));
    die_while_writing(in_folder("mine"));
    die_while_writing(in_folder("mine.not"));
    static const char *const others[] = {
        ".mine.0123456789abcdef-2147483646-0.part", /* of another machine */
        ".mine.part", ".mine.2147483646-0.part", ".mine"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK_OK(ss_file_write(in_folder(others[i]), "x", 1, &err));
    CHECK(files_in_folder() == 7, "%d files: a second death removes what the first left",
          files_in_folder());
    CHECK_OK(ss_file_write(in_folder("mine"), "whole", 5, &err));
    CHECK(files_in_folder() == 7, "%d files, one of them whole", files_in_folder());
    CHECK(alive.temporary && !access(alive.temporary, F_OK), "a living writer's is kept");
    ss_file_abandon(&alive);
    CHECK_OK(ss_file_write(in_folder("mine.not"), "whole", 5, &err));
    unlink(in_folder("mine"));
    unlink(in_folder("mine.not"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        unlink(in_folder(others[i]));
    CHECK(files_in_folder() == 0, "%d files left", files_in_folder());
}

static void a_bare_name_is_cleaned_up_after_too(void)
{
    char here[4096];
    CHECK(getcwd(here, sizeof here) && !chdir(folder), "chdir");
    die_while_writing("bare");
    CHECK_OK(ss_file_write("bare", "x", 1, &err));
    CHECK(!chdir(here), "chdir");
    CHECK(files_in_folder() == 1, "%d files", files_in_folder());
    unlink(in_folder("bare"));
}

/* The superuser may write everywhere, so a child becomes somebody else first. */
static void no_permission_to_write_is_a_failure_of_the_machine_and_to_read_wrong_input(void)
{
    CHECK_OK(ss_file_write(in_folder("kept"), "kept", 4, &err));
    CHECK_OK(ss_file_write(in_folder("hidden"), "x", 1, &err));
    chmod(in_folder("kept"), 0444);
    chmod(in_folder("hidden"), 0);
    chmod(folder, 0555);
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (!child) {
        if (!geteuid() && setuid(65534))
            _exit(9);
        int bad = 0;
        bad |= ss_file_write(in_folder("new"), "x", 1, &err) != SS_EIO;
        bad |= 2 * !strstr(err.text, "Permission denied");
        bad |= 4 * (ss_file_write(in_folder("kept"), "x", 1, &err) != SS_EIO);
        ss_text text = {0};
        bad |= 8 * (ss_file_read(in_folder("hidden"), 100, &text, &err) != SS_EINVAL);
        _exit(bad);
    }
    int how = 0;
    waitpid(child, &how, 0);
    chmod(folder, 0755);
    CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0, "child %d", how);
    CHECK(holds(in_folder("kept"), "kept"), "%s", err.text);
    unlink(in_folder("kept"));
    unlink(in_folder("hidden"));
}

static void every_failed_allocation_leaves_nothing(void)
{
    size_t blocks = ss_mem_blocks();
    int n = 0;
    ss_status s = SS_ENOMEM;
    for (; s && n < 100; n++) {
        ss_mem_fail_after(n);
        s = ss_file_write(in_folder("mem"), "mem", 3, &err);
        ss_mem_fail_never();
        CHECK(!s || s == SS_ENOMEM, "%d: %s", n, err.text);
        CHECK(ss_mem_blocks() == blocks, "%d: leak", n);
        CHECK(files_in_folder() == (s ? 0 : 1), "%d: %d files", n, files_in_folder());
    }
    CHECK(!s && n > 3, "%d allocations", n);
    unlink(in_folder("mem"));
}

static void a_pipe_is_not_waited_for(void)
{
    CHECK(!mkfifo(in_folder("pipe"), 0600), "mkfifo");
    CHECK(ss_file_write(in_folder("pipe"), "x", 1, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "it is a pipe that nobody reads");
    CHECK(ss_file_check_regular(in_folder("pipe"), &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "it is a pipe, no regular file");
    CHECK(ss_file_check_regular("/dev/full", &err) == SS_EINVAL, "%s", err.text);
    CHECK_OK(ss_file_check_regular("/dev/stdout", &err));
    CHECK_OK(ss_file_check_regular(in_folder("nothing"), &err));
    unlink(in_folder("pipe"));
}

static void one_file_is_known_by_any_of_its_names(void)
{
    char a[sizeof folder + 20], b[sizeof folder + 20];
    snprintf(a, sizeof a, "%s/file", folder);
    snprintf(b, sizeof b, "%s/.//file", folder);
    CHECK(ss_file_same(a, b), "neither is there");
    CHECK_OK(ss_file_write(a, "x", 1, &err));
    CHECK(ss_file_same(a, b), "another spelling");
    snprintf(b, sizeof b, "%s/link", folder);
    CHECK(!ss_file_same(a, b), "one is not there");
    CHECK(!symlink("file", b), "symlink");
    CHECK(ss_file_same(a, b), "a link");
    unlink(b);
    CHECK_OK(ss_file_write(b, "x", 1, &err));
    CHECK(!ss_file_same(a, b), "two files");
    unlink(a);
    unlink(b);
    CHECK(!ss_file_same(a, b), "two that are not there");
    CHECK(!ss_file_same("file", a), "two folders");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 99;
    RUN(what_is_written_is_read_back);
    RUN(pieces_of_every_size_arrive_in_order);
    RUN(an_abandoned_file_leaves_the_old_one_and_nothing_else);
    RUN(a_link_is_followed_and_permissions_are_kept);
    RUN(a_long_name_works_and_a_longer_one_is_refused);
    RUN(what_is_missing_is_named);
    RUN(a_file_beyond_the_bound_is_refused);
    RUN(a_full_disk_leaves_the_old_file_and_nothing_else);
    RUN(what_the_killed_left_goes_with_the_next_write_of_that_name);
    RUN(a_bare_name_is_cleaned_up_after_too);
    RUN(no_permission_to_write_is_a_failure_of_the_machine_and_to_read_wrong_input);
    RUN(every_failed_allocation_leaves_nothing);
    RUN(a_pipe_is_not_waited_for);
    RUN(one_file_is_known_by_any_of_its_names);
    rmdir(folder);
    return DONE();
}

#!/bin/sh
# test_prompt.sh - the prompt on a terminal: editing, completion, Ctrl-C, history. Needs python3 for a
# terminal of its own.
set -u
command -v python3 >/dev/null 2>&1 || { echo "0 passed, 0 failed, 1 skipped"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
XDG_STATE_HOME=$dir/state TERM=xterm python3 - "$SOAPSTONE" "$dir/state/soapstone/history" <<'PYTHON'
import os, pty, select, signal, stat, sys, time

program, history = sys.argv[1:3]
passed = failed = 0


def claim(name, ok, seen=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED", name, repr(seen))


class Terminal:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(program, [program, "repl"])
        self.seen = ""

    def wait(self, text, seconds=20):
        """What came until text did."""
        end = time.time() + seconds
        while text not in self.seen and time.time() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    got = os.read(self.fd, 65536)
                except OSError:
                    break
                if not got:
                    break
                self.seen += got.decode("utf-8", "replace")
        at = self.seen.find(text)
        if at < 0:
            return None
        before, self.seen = self.seen[:at], self.seen[at + len(text):]
        return before

    def send(self, text):
        os.write(self.fd, text.encode())

    def ended(self, seconds=20):
        """Its exit status, or None if it goes on for so long; then it is killed."""
        end = time.time() + seconds
        while time.time() < end:
            self.wait("nothing that it says", 0.1)  # so that it is never stuck in writing
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


try:
    t = Terminal()
except OSError as why:
    print("skipped the prompt: there is no pseudo-terminal here:", why)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)
claim("a banner and a prompt", t.wait("Ctrl-D ends.\r\n> ") is not None, t.seen)
if failed:
    # an editor that is not there (--without-libedit) has nothing to test
    print("0 passed, 0 failed, 1 skipped" if "> " in t.seen else "0 passed, 1 failed")
    sys.exit(77 if "> " in t.seen else 1)
t.send("6*7\r")
claim("expressions are printed", t.wait("\r\n42\r\n> ") is not None, t.seen)
t.send("x = {\r")
claim("a chunk goes on", t.wait("... ") is not None, t.seen)
t.send("31}\r")
t.wait("> ")
t.send("x[1]\r")
claim("and is whole", t.wait("\r\n31\r\n> ") is not None, t.seen)
t.send("soapstone.topol\t.ne\t{name='q'}\r")
claim("names are completed", t.wait("topology q: 0 devices") is not None, t.seen)
t.wait("> ")
t.send("m = soapstone.model.new{name='m'}\r")
t.wait("> ")
t.send("m:squared_\t")
claim("methods are completed", t.wait("error") is not None, t.seen)
t.send("\x03")
claim("Ctrl-C cancels a line", t.wait("^C\r\n> ") is not None, t.seen)
t.send("while true do end\r")
t.wait("\r\n")
time.sleep(0.3)
t.send("\x03")
claim("Ctrl-C stops a loop", t.wait("interrupted") is not None, t.seen)
t.wait("> ")
t.send("error('told')\r")
claim("errors are told and the prompt goes on", t.wait("stdin:1: told\r\n> ") is not None, t.seen)
t.send("\x04")
status = t.ended()
claim("Ctrl-D ends it well", status == 0, (status, t.seen))

mode = stat.S_IMODE(os.stat(history).st_mode)
claim("the history is the owner's alone", mode == 0o600, oct(mode))
text = open(history).read()
claim("the history has what was typed", "6*7" in text and "told" in text, text)
t = Terminal()
t.wait("> ")
t.send("\x1b[A\x1b[A\r")
claim("and comes back", t.wait("while true do end") is not None, t.seen)
os.kill(t.pid, signal.SIGKILL)
os.waitpid(t.pid, 0)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
PYTHON

# paper_steps.sh - for tests of the published evaluation's scripts: run one in a folder of its own, and look at what it
# says.  Read by them with ".".
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
scripts=$SS_SRCDIR/scripts/lua/paper/flexflow
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $*"; sed 's/^/    /' out err 2>/dev/null | head -n 40; }

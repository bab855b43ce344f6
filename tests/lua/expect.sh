# expect.sh - for tests of the command line to read: what a command says, and with which exit status.
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $*"; sed 's/^/    /' out err 2>/dev/null | head -n 6; }

# expect STATUS TEXT ARGUMENT... - TEXT must be in what is said, on either stream.
expect() {
  want=$1 text=$2
  shift 2
  "$SOAPSTONE" "$@" >out 2>err </dev/null
  got=$?
  if [ "$got" != "$want" ]; then
    bad "soapstone $*: status $got, not $want"
  elif [ -n "$text" ] && ! cat out err | grep -qF -- "$text"; then
    bad "soapstone $*: does not say: $text"
  else
    ok
  fi
}

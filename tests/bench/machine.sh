# What machine, compiler and program the numbers that follow belong to.
echo "soapstone $1, built with: $2"
sed -n 's/^model name[^:]*: */processor: /p' /proc/cpuinfo 2>/dev/null | sort | uniq -c |
  sed 's/^ *\([0-9]*\) processor: /processor: \1 x /'
sed -n 's/^MemTotal: */memory: /p' /proc/meminfo 2>/dev/null
echo "system: $(uname -srm), $(date -u +%Y-%m-%d), load $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null)"

# calibration.gp - measured times by size with the line through them, and how far each lies off it.
#
#     gnuplot -c calibration.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp)
#
# DATA: kind label bytes seconds measured_over_fitted.  Kinds of row:
#   title, note                     words
#   measured, streamed              a row; streamed: of many messages under way, beside others that are not
#   far off, streamed far off       the same, not trusted by the estimate
#   line, line of streamed          the line in small steps
# A size of 0 stands at the left end of the axis.

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("calibration.gp")]
load HERE."common.gp"

# ------------------------------------------------------------------------------ what is in the table
X_LEAST = 1e300; X_MOST = 0; Y_LEAST = 1e300; Y_MOST = 0; R_LEAST = 1; R_MOST = 1; ZERO = 0
look(kind, label, x, y, r) = kind eq "title" || kind eq "note" ? read_words(kind, label) : ( \
    read_words(kind, ""), \
    x > 0 ? (X_LEAST = smaller(X_LEAST, x), X_MOST = larger(X_MOST, x)) : (ZERO = 1), \
    Y_LEAST = smaller(Y_LEAST, y), Y_MOST = larger(Y_MOST, y), R_LEAST = smaller(R_LEAST, r), R_MOST = larger(R_MOST, r))
stats DATA using (look(strcol(1), strcol(2), $3, $4, $5)) nooutput

# -------------------------------------------------------------------------------------------- layout
LEFT = 34; RIGHT = 8; INNER = W - LEFT - RIGHT
UPPER = larger(60, smaller(150, 0.55 * INNER)); LOWER = larger(40, smaller(80, 0.25 * INNER)); GAP = 6; BELOW = 22
HIGH = UPPER + GAP + LOWER + BELOW
POINT = FORMAT eq "svg" ? 0.6 : FORMAT eq "png" ? 1.2 : 0.35
BLUE = 0x005a94; RED = 0xd55e00; GREEN = 0x009e73; BLACK = 0x000000

# The legend: names in the order of the list, as far as they are in the table.
ENTRIES_OF = "'measured' 'streamed' 'far off' 'line'"
there(name) = has(name) || has("streamed ".name) || has(name." of streamed")
PER_LINE = larger(1, floor((W - 8) / 62)); LEGENDS = 0
do for [i = 1 : 4] { if (there(word(ENTRIES_OF, i))) { LEGENDS = LEGENDS + 1 } }
OWN_LEGEND = ceil(LEGENDS / (PER_LINE + 0.0)) * 8.5
ORDER = ""
load HERE."furniture.gp"
LEGENDS = 0
do for [i = 1 : 4] {
    NAME = word(ENTRIES_OF, i)
    if (there(NAME)) {
        X = 4 + (LEGENDS % PER_LINE) * 62
        Y = 10.5 + (TITLE_LINES + LEGENDS / PER_LINE) * 8.5
        LEGENDS = LEGENDS + 1
        if (NAME eq "line") {
            set arrow 100 from screen X / W, screen 1 - Y / H to screen (X + 12) / W, screen 1 - Y / H nohead lc rgb BLACK lw 1.2
        } else {
            set label 400 + i "" at screen (X + 6) / W, screen 1 - Y / H point pt (i == 1 ? 7 : i == 2 ? 6 : 2) ps POINT \
                lc rgb (i == 1 ? BLUE : i == 2 ? GREEN : RED)
        }
        set label 110 + i NAME at screen (X + 15) / W, screen 1 - Y / H left font "".pt(6.5)
    }
}

# ---------------------------------------------------------------------------------------------- axes
# Sizes are named at powers of 2, times at powers of 10; every so many of them that there is room.
size_name(b) = sprintf("%.0f %s", b * byte_scale(b), byte_unit(b))
time_name(s) = sprintf("%.6g %s", s * time_scale(s * 1.0000001), time_unit(s * 1.0000001))
ratio_name(r) = sprintf("%.4g", r)
XA = X_LEAST / (X_MOST / X_LEAST)**0.04 / (ZERO ? 2 : 1); XB = X_MOST * (X_MOST / X_LEAST)**0.04
YA = Y_LEAST / (Y_MOST / Y_LEAST)**0.06; YB = Y_MOST * (Y_MOST / Y_LEAST)**0.06
if (YB / YA < 1.2) { YA = YA / 1.1; YB = YB * 1.1 }
RA = smaller(R_LEAST / 1.05, 0.9); RB = larger(R_MOST * 1.05, 1.1)
every(span, room) = larger(1, ceil(span / larger(1, floor(room))))

X_EVERY = every(log(XB / XA) / log(2), INNER / 34)
X_TICKS = ""; X_BLANK = ""
do for [k = int(ceil(log(XA) / log(2) / X_EVERY)) : int(floor(log(XB) / log(2) / X_EVERY))] {
    V = 2.0**(k * X_EVERY)
    if (V >= 1) { X_BLANK = X_BLANK.(X_BLANK eq "" ? "" : ", ").sprintf("'' %.12g", V); X_TICKS = X_TICKS.(X_TICKS eq "" ? "" : ", ").sprintf("'%s' %.12g", size_name(V), V) }
}
if (ZERO) { X_TICKS = X_TICKS.(X_TICKS eq "" ? "" : ", ").sprintf("'0' %.12g", XA) }
Y_EVERY = every(log10(YB / YA), UPPER / 12)
Y_TICKS = ""; Y_WIDEST = 1
Y_STEPS = log10(YB / YA) < 1.5 ? "1 2 5" : "1"
do for [k = int(floor(log10(YA) / Y_EVERY)) : int(ceil(log10(YB) / Y_EVERY))] {
    do for [m in Y_STEPS] {
        V = m * 10.0**(k * Y_EVERY)
        if (V >= YA && V <= YB) {
            Y_TICKS = Y_TICKS.(Y_TICKS eq "" ? "" : ", ").sprintf("'%s' %.12g", time_name(V), V)
            Y_WIDEST = larger(Y_WIDEST, wide(time_name(V)))
        }
    }
}
# Factors: as fine as two or three on each side need.
R_LIST = RB / RA < 1.6 ? "0.7 0.8 0.9 1 1.1 1.2 1.3 1.4" : RB / RA < 6 ? "0.25 0.5 0.75 1 1.5 2 3 4" : RB / RA < 60 ? "0.05 0.1 0.2 0.5 1 2 5 10 20" : \
    "0.0001 0.001 0.01 0.1 1 10 100 1000 10000"
R_TICKS = ""
do for [m in R_LIST] { if (m + 0 >= RA && m + 0 <= RB) { R_TICKS = R_TICKS.(R_TICKS eq "" ? "" : ", ").sprintf("'%s' %.12g", m, m + 0) } }

set border 3 lw 0.7
set grid lc rgb 0xdddddd lt 1 lw 0.5
set logscale xy
set xrange [XA : XB]
set lmargin at screen LEFT / W
set rmargin at screen (W - RIGHT) / W
X_NAME = "size of the operation"
set label 90 X_NAME at screen axis_at(X_NAME), screen 1 - (TOP + HIGH - 5) / H center
set label 91 "time" at screen 5.5 / W, screen 1 - (TOP + UPPER / 2) / H center rotate by 90
FITS = smaller(7, LOWER / wide("measured / line"))
set label 92 "measured / line" at screen 5.5 / W, screen 1 - (TOP + UPPER + GAP + LOWER / 2) / H center rotate by 90 font "".pt(FITS)
eval "set ytics nomirror out scale 0.4 (".Y_TICKS.") offset 0.6, 0 font '".pt(smaller(6.5, (LEFT - 13) / Y_WIDEST))."'"
at(x) = x > 0 ? x : XA
of(kind, value) = strcol(1) eq kind ? value : NaN

set multiplot
set tmargin at screen 1 - TOP / H
set bmargin at screen 1 - (TOP + UPPER) / H
set yrange [YA : YB]
eval "set xtics nomirror out scale 0.4 (".X_BLANK.")"
plot DATA using 3:(of("line", $4)) with lines lc rgb BLACK lw 1.2, \
    DATA using 3:(of("line of streamed", $4)) with lines lc rgb BLACK lw 1.2 dt '-', \
    DATA using (at($3)):(of("measured", $4)) with points pt 7 ps POINT lc rgb BLUE, \
    DATA using (at($3)):(of("streamed", $4)) with points pt 6 ps POINT lc rgb GREEN, \
    DATA using (at($3)):(of("far off", $4)) with points pt 2 ps POINT lc rgb RED, \
    DATA using (at($3)):(of("streamed far off", $4)) with points pt 1 ps POINT lc rgb RED

# The page's words stand once.
unset label
unset arrow
set tmargin at screen 1 - (TOP + UPPER + GAP) / H
set bmargin at screen 1 - (TOP + UPPER + GAP + LOWER) / H
set yrange [RA : RB]
eval "set xtics nomirror out scale 0.4 (".X_TICKS.") offset 0, 0.5 font '".pt(6.5)."'"
eval "set ytics nomirror out scale 0.4 (".R_TICKS.") offset 0.6, 0 font '".pt(6.5)."'"
set arrow 1 from XA, 1 to XB, 1 nohead lc rgb BLACK lw 1.2
plot DATA using (at($3)):(of("measured", $5)) with points pt 7 ps POINT lc rgb BLUE, \
    DATA using (at($3)):(of("streamed", $5)) with points pt 6 ps POINT lc rgb GREEN, \
    DATA using (at($3)):(of("far off", $5)) with points pt 2 ps POINT lc rgb RED, \
    DATA using (at($3)):(of("streamed far off", $5)) with points pt 1 ps POINT lc rgb RED
unset multiplot

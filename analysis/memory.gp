# memory.gp - memory held over the step, and what each device's peak is made of.
#
#     gnuplot -c memory.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp)
#
# DATA: row label kind at_s from_bytes bytes; rows count devices from the top, "device" names one.  Rows that
# begin with "held" are steps of a curve (an empty line ends one); "capacity" is what a device has;
# the other kinds are parts of its peak, from from_bytes to bytes.

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("memory.gp")]
load HERE."common.gp"

# ------------------------------------------------------------------------------ what is in the table
END = 0; ROWS = 0; PEAK = 0; CAPACITIES = ""
is_held(kind) = kind[1 : 4] eq "held"
is_part(kind) = !is_held(kind) && kind ne "title" && kind ne "note" && kind ne "capacity" && kind ne "device" \
    && kind ne "assumptions"
look(row, label, kind, at, bytes) = (read_words(kind, label), \
    kind eq "title" ? (END = at) : kind eq "capacity" ? (CAPACITIES = CAPACITIES.sprintf("%.17g ", bytes)) : \
    kind eq "note" || kind eq "assumptions" ? 0 : \
        (ROWS = larger(ROWS, row + 1), PEAK = larger(PEAK, bytes)), \
    kind eq "device" ? see_name(label) : 0, 1)
stats DATA using (look($1, strcol(2), strcol(3), $4, $6)) nooutput

END = larger(END, 1e-12)                                            # an axis has a length
UNIT = time_unit(END)
SCALE = time_scale(END)
BYTE_UNIT = byte_unit(PEAK)
BYTES = byte_scale(PEAK)
# A capacity far above everything held would press the rest into a corner: then it is only written.
near(capacity) = capacity < 2.5 * PEAK
bytes_text(b) = sprintf("%.2f %s", b * byte_scale(b), byte_unit(b))
DISTINCT = " "
do for [c in CAPACITIES] { if (!strstrt(DISTINCT, " ".c." ")) { DISTINCT = DISTINCT.c." " } }
FURTHEST = PEAK; NEAR = 0
do for [c in DISTINCT] {
    if (near(c + 0)) {
        NEAR = 1
        FURTHEST = larger(FURTHEST, c + 0)
    } else {
        COUNT = sum [k = 1 : words(CAPACITIES)] (word(CAPACITIES, k) eq c)
        NOTE = NOTE.(NOTE eq "" ? "" : " ")."Capacity ".bytes_text(c + 0).(words(DISTINCT) == 1 ? "" : \
            sprintf(" (%d device%s)", COUNT, COUNT == 1 ? "" : "s")).", beyond the axes."
    }
}
if (!NEAR && has("capacity")) {
    KINDS = KINDS[1 : strstrt(KINDS, "|capacity|") - 1].KINDS[strstrt(KINDS, "|capacity|") + strlen("|capacity|") : *]
}
MOST = ROWS == 0 ? 1 : 1.06 * FURTHEST * BYTES

# -------------------------------------------------------------------------------------------- layout
load HERE."rows.gp"
LEFT = larger(LEFT, 38)                                             # numbers of the upper panel
INNER = W - LEFT - 14
AXIS = 22.0
CURVES = 80.0                                                       # height of the upper panel
GAP = 6.0
HIGH = CURVES + AXIS + (ROWS == 0 ? 0 : GAP + ROWS * ROW + AXIS)
ORDER = "weights weight_gradients optimizer activations gradients capacity 'held by the fullest' 'held by the emptiest' held"
load HERE."furniture.gp"

set lmargin at screen LEFT / W
set rmargin at screen (LEFT + INNER) / W
set border 3 lw 0.7
set grid lc rgb 0xdddddd lt 1 lw 0.5
set style fill solid 1 noborder
set multiplot

# ---------------------------------------------------------------------------------- above: over time
set tmargin at screen 1 - TOP / H
set bmargin at screen 1 - (TOP + CURVES) / H
set xrange [0 : END * SCALE]
set yrange [0 : MOST]
set label 90 "time (".UNIT.")" at screen axis_at("time (".UNIT.")"), screen 1 - (TOP + CURVES + AXIS - 6) / H center
set label 91 "held (".BYTE_UNIT.")" at screen 6 / W, graph 0.5 center rotate by 90
set xtics nomirror out scale 0.4 offset 0, 0.4
eval tics(END * SCALE)
set ytics nomirror out scale 0.4 offset 0.5, 0
curve(kind) = sprintf("DATA using ($4 * SCALE):(strcol(3) eq '%s' ? $6 * BYTES : NaN) with steps lc rgb colour('%s')", kind, kind)
CURVE_LIST = (has("held") ? curve("held")." lw 0.7, " : "").(has("held by the emptiest") ? curve("held by the emptiest")." lw 1.6, " : "").curve("held by the fullest")." lw 1.6"
do for [c in DISTINCT] {
    if (near(c + 0)) { CURVE_LIST = CURVE_LIST.", ".c." * BYTES with lines lc rgb 0x000000 lw 1.5" }
}
if (ROWS == 0) {
    eval NOTHING
    exit
}
eval "plot ".CURVE_LIST

# ------------------------------------------------------------------------- below: the peak by device
unset label
unset object
set tmargin at screen 1 - (TOP + CURVES + AXIS + GAP) / H
set bmargin at screen 1 - (TOP + CURVES + AXIS + GAP + ROWS * ROW) / H
set xrange [0 : MOST]
eval tics(MOST)
set yrange [ROWS - 0.4 : -0.6]
unset ytics
AT_PEAK = axis_name("at each device's peak (".BYTE_UNIT.")", "peak (".BYTE_UNIT.")")
set label 90 AT_PEAK at screen axis_at(AT_PEAK), screen 1 - (TOP + HIGH - 6) / H center
plot \
    DATA using (0):(strcol(3) eq "device" ? $1 : NaN):(shown(strcol(2))) \
        with labels right offset -0.4, 0 font "".pt(NAME) noenhanced, \
    DATA using ($5 * BYTES):(is_part(strcol(3)) ? $1 : NaN):($5 * BYTES):($6 * BYTES):($1 - 0.36):($1 + 0.36): \
        (colour(strcol(3))) with boxxyerror lc rgb variable, \
    DATA using ($6 * BYTES):(strcol(3) eq "capacity" && near($6) ? $1 - 0.45 : NaN):(0):(0.9) \
        with vectors nohead lc rgb 0x000000 lw 1.5
unset multiplot

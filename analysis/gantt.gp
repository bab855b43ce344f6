# gantt.gp - what each device and each link does when.
#
#     gnuplot -c gantt.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp)
#
# DATA: row label kind begin_s end_s filled tasks; rows count from the top.  `filled` is the share of a
# bar's time that was busy: bars of tasks too short to be seen are merged and drawn that high.  Of kind still and
# changed are stretches in which a lane stood still or had other figures: hatched, and dotted around.

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("gantt.gp")]
load HERE."common.gp"

# ------------------------------------------------------------------------------ what is in the table
BEGIN = 0; END = 0; ROWS = 0
is_lane(kind) = kind eq "device" || kind eq "link"
look(row, label, kind, begin, end) = (read_words(kind, label), \
    kind eq "title" ? (BEGIN = begin, END = end) : 0, \
    is_lane(kind) ? (ROWS = row + 1, see_name(label)) : 0, 1)
stats DATA using (look($1, strcol(2), strcol(3), $4, $5)) nooutput

UNIT = time_unit(END)
SCALE = time_scale(END)

# -------------------------------------------------------------------------------------------- layout
load HERE."rows.gp"
AXIS = 22.0
HIGH = ROWS * ROW + AXIS
ORDER = "forward activation backward gradient update weight_gradient lumped weight compute transfer accumulate collective barrier critical waiting"
load HERE."furniture.gp"

set lmargin at screen LEFT / W
set rmargin at screen (LEFT + INNER) / W
set tmargin at screen 1 - TOP / H
set bmargin at screen 1 - (TOP + ROWS * ROW) / H
set xrange [BEGIN * SCALE : END * SCALE]
set yrange [ROWS - 0.4 : -0.6]
set label 90 "time (".UNIT.")" at screen axis_at("time (".UNIT.")"), screen 1 - (TOP + HIGH - 6) / H center
set xtics nomirror out scale 0.4 offset 0, 0.4
eval tics((END - BEGIN) * SCALE)
unset ytics
set border 1 lw 0.7
set grid xtics lc rgb 0xdddddd lt 1 lw 0.5
set style fill solid 1 noborder

# ------------------------------------------------------------------------------------------- drawing
# A bar stands on the floor of its row; a thin black line below marks the critical path, dotted where
# the path waits in the queue of the lane.  Slim bars get
# a border of their colour, or else the seams between them would make a dense lane look pale.
is_bar(kind) = !is_lane(kind) && kind ne "title" && kind ne "note" && kind ne "critical" && kind ne "waiting" \
    && kind ne "still" && kind ne "changed" && kind ne "assumptions"
floor_of(row) = row + 0.36
# A mark of the critical path is never thinner than 0.6 points, or it would be lost in print.
LEAST = 0.6 * (END - BEGIN) / INNER
mark(begin, end) = end - begin >= LEAST ? begin : \
    (begin + end - LEAST) / 2 < BEGIN ? BEGIN : (begin + end + LEAST) / 2 > END ? END - LEAST : (begin + end - LEAST) / 2
mark_end(begin, end) = end - begin >= LEAST ? end : mark(begin, end) + LEAST
slim(begin, end) = end - begin < 0.006 * (END - BEGIN)
plot \
    DATA using (BEGIN * SCALE):(is_lane(strcol(3)) ? $1 : NaN):(is_lane(strcol(3)) ? shown(strcol(2)) : "") \
        with labels right offset -0.4, 0 font "".pt(NAME) noenhanced, \
    DATA using ($4 * SCALE):(is_bar(strcol(3)) && slim($4, $5) ? $1 : NaN):($4 * SCALE):($5 * SCALE): \
        (floor_of($1) - 0.78 * $6):(floor_of($1)):(colour(strcol(3))) \
        with boxxyerror lc rgb variable lw 0.3 fillstyle solid 1 border, \
    DATA using ($4 * SCALE):(is_bar(strcol(3)) && !slim($4, $5) ? $1 : NaN):($4 * SCALE):($5 * SCALE): \
        (floor_of($1) - 0.78 * $6):(floor_of($1)):(colour(strcol(3))) with boxxyerror lc rgb variable, \
    DATA using ($4 * SCALE):(strcol(3) eq "still" ? $1 : NaN):($4 * SCALE):($5 * SCALE): \
        (floor_of($1) - 0.84):(floor_of($1)) with boxxyerror lc rgb 0x000000 lw 0.5 fillstyle transparent pattern 4 border, \
    DATA using ($4 * SCALE):(strcol(3) eq "changed" ? $1 : NaN):($4 * SCALE):($5 * SCALE): \
        (floor_of($1) - 0.84):(floor_of($1)) with boxxyerror lc rgb 0x000000 lw 0.5 dashtype 3 fillstyle empty border, \
    DATA using ($4 * SCALE):(strcol(3) eq "critical" ? $1 : NaN):(mark($4, $5) * SCALE):(mark_end($4, $5) * SCALE): \
        (floor_of($1)):(floor_of($1) + 0.13) with boxxyerror lc rgb 0x000000, \
    DATA using (mark($4, $5) * SCALE):(strcol(3) eq "waiting" ? floor_of($1) + 0.065 : NaN): \
        ((mark_end($4, $5) - mark($4, $5)) * SCALE):(0) with vectors nohead lc rgb 0x000000 lw WAIT_WIDTH dashtype WAIT_DASHES

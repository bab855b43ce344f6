# links.gp - how long the busiest links are taken, and by what; beside each what it carried.
#
#     gnuplot -c links.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp)
#
# DATA: row label kind begin_percent end_percent carried_bytes; rows count from the top, percents are
# of the step.  Rows of kind "carried" stand at the end of a bar and have its bytes as label.

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("links.gp")]
load HERE."common.gp"

# ------------------------------------------------------------------------------ what is in the table
ROWS = 0; MOST = 0; CARRIED = 0
is_bar(kind) = kind ne "title" && kind ne "note" && kind ne "carried" && kind ne "assumptions"
look(row, label, kind, end) = (read_words(kind, label), is_bar(kind) ? (ROWS = row + 1, \
    MOST = end > MOST ? end : MOST, see_name(label)) : kind eq "carried" ? (CARRIED = larger(CARRIED, wide(label))) : 0, 1)
stats DATA using (look($1, strcol(2), strcol(3), $5)) nooutput

# -------------------------------------------------------------------------------------------- layout
load HERE."rows.gp"
AXIS = 22.0
HIGH = ROWS * ROW + AXIS
ORDER = "activation gradient weight_gradient weight transfer collective"
load HERE."furniture.gp"

set lmargin at screen LEFT / W
set rmargin at screen (LEFT + INNER) / W
set tmargin at screen 1 - TOP / H
set bmargin at screen 1 - (TOP + ROWS * ROW) / H
# What was carried stands at the ends of the bars, if there is room beside the longest.
BESIDE = CARRIED * NAME + 4
TOLD = BESIDE < 0.6 * INNER
set xrange [0 : ROWS == 0 ? 100 : MOST * (TOLD ? INNER / (INNER - BESIDE) : 1.05)]
set yrange [ROWS - 0.4 : -0.6]
BUSY = axis_name(TOLD ? "busy (% of the step), and what was carried" : "busy (% of the step)", "busy (%)")
set label 90 BUSY at screen axis_at(BUSY), screen 1 - (TOP + HIGH - 6) / H center
set xtics nomirror out scale 0.4 offset 0, 0.4
eval tics(ROWS == 0 ? 100 : MOST * (TOLD ? INNER / (INNER - BESIDE) : 1.05))
unset ytics
set border 3 lw 0.7
set grid xtics lc rgb 0xdddddd lt 1 lw 0.5
set style fill solid 1 noborder

# ------------------------------------------------------------------------------------------- drawing
if (ROWS == 0) {
    eval NOTHING
    exit
}
plot \
    DATA using (0):(strcol(3) eq "carried" ? NaN : is_bar(strcol(3)) && $4 == 0 ? $1 : NaN):(shown(strcol(2))) \
        with labels right offset -0.4, 0 font "".pt(NAME) noenhanced, \
    DATA using 4:(is_bar(strcol(3)) ? $1 : NaN):4:5:($1 - 0.36):($1 + 0.36):(colour(strcol(3))) \
        with boxxyerror lc rgb variable, \
    DATA using 5:(TOLD && strcol(3) eq "carried" ? $1 : NaN):2 with labels left offset 0.4, 0 font "".pt(NAME) noenhanced

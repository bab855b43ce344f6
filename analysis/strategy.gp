# strategy.gp - a strategy: a box for each operator, cut into parts in the colours of their devices.
#
#     gnuplot -c strategy.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp)
#
# DATA: kind label style left top right bottom device machine place.  Places are in points on a page as wide as
# the title's row says; on another they are scaled.  Kinds: device (in its machine at `place`, 0 to 1), block
# (its label at the left of it, or over it), step (the number of a column), edge, part, operator,
# degrees (what is written below a box, or below several), like (an operator that another is drawn for).

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("strategy.gp")]
load HERE."common.gp"

# ------------------------------------------------------------------------------ what is in the table
DEVICES = 0; MACHINES = 0; PAGE = W; DRAWN = 0; NAMES = ""; WIDEST_DEVICE = 0; EDGES = 0
look(kind, label, right, bottom, machine) = ( \
    kind eq "title" || kind eq "note" ? read_words(kind, label) : 1, \
    kind eq "title" ? (PAGE = right, DRAWN = bottom) : 0, kind eq "edge" ? (EDGES = 1) : 0, \
    kind eq "device" ? (DEVICES = DEVICES + 1, MACHINES = larger(MACHINES, machine), \
        DEVICES <= 8 ? (NAMES = NAMES.label."\n", WIDEST_DEVICE = larger(WIDEST_DEVICE, wide(label)), 1) : 1) : 0, 1)
stats DATA using (look(strcol(1), strcol(2), $6, $7, $9)) nooutput
SCALE = W / PAGE

# ------------------------------------------------------------------------------------------- colours
# Up to eight devices have a colour each; of more, machines have a hue and their devices shades of it, from dark to
# light; of more in one machine each has a hue, and neighbours differ in lightness.
device_colour(device, machine, place) = device < 1 ? 0 : DEVICES <= 8 ? int(word(HUES, int(device)) + 0) : \
    MACHINES > 1 && MACHINES < DEVICES ? hsv2rgb((machine - 1.0) / MACHINES, 1 - 0.6 * place, 0.55 + 0.42 * place) : \
    hsv2rgb(0.9 * (device - 1) / DEVICES, int(device) % 2 ? 0.95 : 0.5, int(device) % 2 ? 0.65 : 0.95)

# -------------------------------------------------------------------------------------------- layout
# The legend: a name for each device, or else all of them as one strip, with the names of some below.
STRIP = DEVICES > 8
ENTRY_ROOM = smaller(W - 8, WIDEST_DEVICE * 6.5 + 18)
PER_LINE = larger(1, smaller(DEVICES, floor((W - 8) / ENTRY_ROOM)))
OWN_LEGEND = STRIP ? 18 : ceil(DEVICES / (PER_LINE + 0.0)) * 8.5
LEFT = 3; INNER = W - 6
HIGH = DRAWN * SCALE + 4
ORDER = ""
load HERE."furniture.gp"

LEGEND_TOP = 6.5 + TITLE_LINES * 8.5
NEXT = 0
if (!STRIP) {
    do for [i = 1 : DEVICES] {
        X = 4 + ((i - 1) % PER_LINE) * ENTRY_ROOM
        Y = LEGEND_TOP + 4 + ((i - 1) / PER_LINE) * 8.5
        set object 1000 + i rectangle from screen X / W, screen 1 - (Y + 2.7) / H to screen (X + 8) / W, screen 1 - (Y - 2.7) / H \
            fillcolor rgb device_colour(i, 0, 0) fillstyle solid 1 noborder
        set label 1000 + i cut(line_of(NAMES, i), (ENTRY_ROOM - 14) / 6.5 + 0.01) at screen (X + 11) / W, screen 1 - Y / H left font "".pt(6.5)
    }
}

# ------------------------------------------------------------------------------------------- drawing
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0 : W]
set yrange [H : 0]
unset border
unset xtics
unset ytics
set style fill solid 1 noborder
x(v) = v * SCALE
y(v) = TOP + v * SCALE
# The strip of devices, and a name each as far as there is room.
slot(device) = 4 + (device - 1) * (W - 8.0) / DEVICES
LAST_NAMED = -1e9
name_here(device, machine, place, label) = \
    (MACHINES == DEVICES || MACHINES == 1 || place == 0) && slot(device) > LAST_NAMED && slot(device) + 6 * wide(label) < W - 3 ? \
    (LAST_NAMED = slot(device) + 6 * wide(label) + 4, label) : ""
# Of a machine only its own name, where devices are named "machine.device".
machine_of(label) = MACHINES > 1 && MACHINES < DEVICES && last_dot(label) > 1 ? label[1 : last_dot(label) - 1] : label
strip = STRIP ? sprintf("DATA using (slot($8)):(strcol(1) eq 'device' ? LEGEND_TOP : NaN):(slot($8)):(slot($8 + 1) - (W / DEVICES > 3 ? 0.4 : 0)):(LEGEND_TOP):(LEGEND_TOP + 7):(device_colour($8, $9, $10)) with boxxyerror lc rgb variable, DATA using (slot($8)):(strcol(1) eq 'device' ? LEGEND_TOP + 11.5 : NaN):(strcol(1) eq 'device' ? written(name_here($8, $9, $10, machine_of(strcol(2)))) : '') with labels left font '%s' noenhanced, ", pt(6)) : ""
# Degrees, smaller where a box is narrow; gnuplot has no font for each label, so sizes have a layer each.
size_of(label, room) = smaller(5.5, floor(2 * room / wide(label)) / 2.0)
DEGREES = ""
do for [half = 7 : 11] {
    DEGREES = DEGREES.sprintf(", DATA using (x(($4 + $6) / 2)):(strcol(1) eq 'degrees' && abs(larger(3.5, size_of(strcol(2), x($6 - $4) + 1.5)) - %g) < 0.1 ? y($5) + 3.2 : NaN):(strcol(1) eq 'degrees' ? written(strcol(2)) : '') with labels center font '%s' noenhanced", half / 2.0, pt(half / 2.0))
}
edges = EDGES ? "DATA using (x($4)):(strcol(1) eq 'edge' ? y($5) : NaN):(x($6) - x($4)):(y($7) - y($5)) with vectors nohead lc rgb 0x888888 lw 0.6, " : ""
eval "plot ".strip.edges." \
    DATA using (x($4)):(strcol(1) eq 'part' && strcol(3) ne 'fine' ? y($5) : NaN):(x($4)):(x($6)):(y($5)):(y($7)):(device_colour($8, $9, $10)) \
        with boxxyerror lc rgb variable fillstyle solid 1, \
    DATA using (x($4)):(strcol(1) eq 'part' && strcol(3) eq 'fine' ? y($5) : NaN):(x($4)):(x($6)):(y($5)):(y($7)):(device_colour($8, $9, $10)) \
        with boxxyerror lc rgb variable fillstyle solid 1, \
    DATA using (x($4)):(strcol(1) eq 'part' && strcol(3) ne 'fine' ? y($5) : NaN):(x($4)):(x($6)):(y($5)):(y($7)) \
        with boxxyerror lc rgb 0xffffff lw 0.5 fillstyle empty border rgb 0xffffff, \
    DATA using (x($4)):(strcol(1) eq 'operator' && strcol(3) ne 'parameter' ? y($5) : NaN):(x($4)):(x($6)):(y($5)):(y($7)) \
        with boxxyerror lc rgb 0x999999 lw 0.5 fillstyle empty border rgb 0x999999, \
    DATA using (x($4)):(strcol(1) eq 'operator' && strcol(3) eq 'parameter' ? y($5) : NaN):(x($4)):(x($6)):(y($5)):(y($7)) \
        with boxxyerror lc rgb 0x000000 lw 1.2 fillstyle empty border rgb 0x000000, \
    DATA using (x($4)):(strcol(1) eq 'block' && strcol(3) eq 'over' ? y($5) - 4 : NaN):(strcol(1) eq 'block' ? written(strcol(2)) : '') \
        with labels left font '".pt(6)."' noenhanced, \
    DATA using (x($4)):(strcol(1) eq 'block' && strcol(3) eq 'left' ? y(($5 + $7) / 2) - 1 : NaN):(strcol(1) eq 'block' ? written(cut(strcol(2), 0.3 * W / 6)) : '') \
        with labels left font '".pt(6)."' noenhanced, \
    DATA using (x(($4 + $6) / 2)):(strcol(1) eq 'step' ? y($7) - 4 : NaN):(strcol(1) eq 'step' ? strcol(2) : '') \
        with labels center font '".pt(6)."' noenhanced, \
    DATA using (x($4)):(strcol(1) eq 'degrees' && strcol(3) eq 'several' ? y($5) + 0.3 : NaN):(x($6) - x($4)):(0) \
        with vectors nohead lc rgb 0x666666 lw 0.6".DEGREES

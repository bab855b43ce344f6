# curves.gp - series over two axes, in one panel or several; search.gp and others load it.
#
# DATA: panel series kind label style x y.  Kinds of row:
#   title, note                     words
#   x_axis, y_axis                  name; style: linear, log or log2
#   x_unit, y_unit                  "s" becomes ns, µs, ms or s by the values
#   x_from, x_to, y_from, y_to      ends of the axis, in the column x
#   x_ticks                         numbers stand where the values are
#   x_tick                          or at these x alone
#   panel                           number (from 0) and name; x of the first: panels in a row (0: as fit)
#   entry                           of the legend: label, style, x: colour (-1: grey)
#   series                          number (from 1), its panel, style and colour likewise
#   point                           of a series
# A style is two words: lines, steps, points or both; plain, pale (thin and behind the others) or published
# (dashed, open points).

# ------------------------------------------------------------------------------ what is in the table
X_AXIS = ""; X_STYLE = ""; X_UNIT = ""; X_FROM = NaN; X_TO = NaN; AT_VALUES = 0; GIVEN_TICKS = ""
Y_AXIS = ""; Y_STYLE = ""; Y_UNIT = ""; Y_FROM = NaN; Y_TO = NaN
PANELS = 0; COLUMNS = 0; PANEL_NAMES = ""; LEGENDS = 0; ENTRY_LABELS = ""; ENTRY_STYLES = ""
SERIES = 0; SERIES_STYLES = ""; WIDEST_ENTRY = 0; FURTHEST_X = 0; FURTHEST_Y = 0
look(panel, number, kind, label, style, x, y) = \
    kind eq "point" ? (FURTHEST_X = larger(FURTHEST_X, x), FURTHEST_Y = larger(FURTHEST_Y, y)) : \
    kind eq "title" || kind eq "note" ? read_words(kind, label) : \
    kind eq "x_axis" ? (X_AXIS = label, X_STYLE = style, 1) : kind eq "y_axis" ? (Y_AXIS = label, Y_STYLE = style, 1) : \
    kind eq "x_unit" ? (X_UNIT = label, 1) : kind eq "y_unit" ? (Y_UNIT = label, 1) : \
    kind eq "x_from" ? (X_FROM = x) : kind eq "x_to" ? (X_TO = x) : kind eq "y_from" ? (Y_FROM = x) : \
    kind eq "y_to" ? (Y_TO = x) : kind eq "x_ticks" ? (AT_VALUES = 1) : kind eq "x_tick" ? (GIVEN_TICKS = GIVEN_TICKS.sprintf("%.11e ", x), 1) : \
    kind eq "panel" ? (PANELS = PANELS + 1, COLUMNS = larger(COLUMNS, x), PANEL_NAMES = PANEL_NAMES.label."\n", 1) : \
    kind eq "entry" ? (LEGENDS = LEGENDS + 1, ENTRY_LABELS = ENTRY_LABELS.label."\n", \
        ENTRY_STYLES = ENTRY_STYLES.sprintf("%s %d\n", style, x), WIDEST_ENTRY = larger(WIDEST_ENTRY, wide(label)), 1) : \
    kind eq "series" ? (SERIES = SERIES + 1, \
        SERIES_STYLES = SERIES_STYLES.sprintf("'%s %d %d %d' ", style, x, panel, number), 1) : 1
stats DATA using (look($1, $2, strcol(3), strcol(4), strcol(5), $6, $7)) nooutput

X_SCALE = X_UNIT eq "s" ? time_scale(FURTHEST_X) : 1
X_NAME = X_AXIS.(X_UNIT eq "" ? "" : " (".(X_UNIT eq "s" ? time_unit(FURTHEST_X) : X_UNIT).")")
Y_SCALE = Y_UNIT eq "s" ? time_scale(FURTHEST_Y) : 1
Y_NAME = Y_AXIS.(Y_UNIT eq "" ? "" : " (".(Y_UNIT eq "s" ? time_unit(FURTHEST_Y) : Y_UNIT).")")

# ------------------------------------------------------------------------------------------ the looks
hue(colour) = colour < 0 ? 0x777777 : int(word(HUES, colour % 8 + 1) + 0)
mixed(rgb, white) = sum [k_mixed = 0 : 2] (int((rgb >> 8 * k_mixed & 255) * (1 - white) + 255 * white) << 8 * k_mixed)
look_of(style) = word(style, 1)
tone_of(style) = word(style, 2)
ink(style) = tone_of(style) eq "pale" ? mixed(hue(word(style, 3) + 0), 0.45) : hue(word(style, 3) + 0)
thick(style) = tone_of(style) eq "pale" ? 0.8 : tone_of(style) eq "published" ? 1.0 : 1.6
SHAPES = "7 5 9 13 11 7 5 9"; OPEN_SHAPES = "6 4 8 12 10 6 4 8"
shape(style) = word(style, 3) < 0 ? 6 : word(tone_of(style) eq "published" ? OPEN_SHAPES : SHAPES, word(style, 3) % 8 + 1) + 0
dashes(style) = tone_of(style) eq "published" ? "'-'" : word(style, 3) + 0 >= 16 ? "'.'" : word(style, 3) + 0 >= 8 ? "'_'" : "1"
lined(style) = look_of(style) ne "points"
pointed(style) = look_of(style) eq "points" || look_of(style) eq "both"
drawn_with(style) = "with ".(look_of(style) eq "steps" ? "steps" : look_of(style) eq "points" ? "points" : \
        look_of(style) eq "both" ? "linespoints" : "lines"). \
    sprintf(" lc rgb %d", ink(style)).(lined(style) ? sprintf(" lw %g dt %s", thick(style), dashes(style)) : ""). \
    (pointed(style) ? sprintf(" pt %d ps %g", shape(style), POINT) : "")
# A point is as large in every format: what the terminals call size 1 is not.
POINT = FORMAT eq "svg" ? 0.6 : FORMAT eq "png" ? 1.2 : 0.35

# -------------------------------------------------------------------------------------------- layout
# Each panel has room for the numbers of its own axes; the names of the axes stand once.
SIDE = Y_NAME eq "" ? 3.0 : 11.0
NUMBERS_X = 10.0; NUMBERS_Y = 22.0; RIGHT = PANELS > 1 ? 7.0 : 10.0; NAMED = strlen(PANEL_NAMES) > PANELS ? 10.0 : 2.0
COLUMNS = COLUMNS > 0 ? smaller(int(COLUMNS), PANELS) : smaller(PANELS, larger(1, floor((W - SIDE) / 105)))
LINES = ceil(PANELS / (COLUMNS + 0.0))
PANEL_W = (W - SIDE) / COLUMNS - NUMBERS_Y - RIGHT
PANEL_H = PANELS == 1 ? larger(60, smaller(130, 0.62 * PANEL_W)) : LINES == PANELS ? 52 : larger(45, smaller(85, 0.8 * PANEL_W))
BELOW = 12.0
HIGH = LINES * (NAMED + PANEL_H + NUMBERS_X) + BELOW
LEFT = SIDE + NUMBERS_Y; INNER = W - LEFT - RIGHT

ENTRY_ROOM = smaller(W - 8, WIDEST_ENTRY * 6.5 + 26)
PER_LINE = larger(1, floor((W - 8) / ENTRY_ROOM))
PER_LINE = LEGENDS > PER_LINE ? PER_LINE : larger(1, LEGENDS)
OWN_LEGEND = ceil(LEGENDS / (PER_LINE + 0.0)) * 8.5
ORDER = ""
load HERE."furniture.gp"

do for [i = 1 : LEGENDS] {
    X = 4 + ((i - 1) % PER_LINE) * ENTRY_ROOM
    Y = 10.5 + (TITLE_LINES + (i - 1) / PER_LINE) * 8.5
    STYLE = line_of(ENTRY_STYLES, i)
    if (lined(STYLE)) {
        eval sprintf("set arrow %d from screen %g, screen %g to screen %g, screen %g nohead lc rgb %d lw %g dt %s", \
            100 + i, X / W, 1 - Y / H, (X + 15) / W, 1 - Y / H, ink(STYLE), thick(STYLE), dashes(STYLE))
    }
    if (pointed(STYLE)) {
        set label 400 + i "" at screen (X + 7.5) / W, screen 1 - Y / H point pt shape(STYLE) ps POINT lc rgb ink(STYLE)
    }
    set label 100 + i cut(line_of(ENTRY_LABELS, i), (ENTRY_ROOM - 22) / 6.5 + 0.01) at screen (X + 18) / W, screen 1 - Y / H left font "".pt(6.5)
}

# ---------------------------------------------------------------------------------------------- axes
# A number of an axis in few letters.
shorter(a, b) = strlen(a) < strlen(b) ? a : b
number(v) = v == 0 ? "0" : abs(v) >= 999999 ? shorter(sprintf("%.9gM", v / 1e6), sprintf("%.12g", v)) : \
    abs(v) >= 9999 ? shorter(sprintf("%.9gk", v / 1e3), sprintf("%.9g", v)) : sprintf("%g", v)
# Where numbers may stand, in a text.  From the first multiple of `step` that is not below `from`; two at least, since one
# alone does not say how long an axis is.
# A number that becomes a text is read back only if it has a point: gnuplot 5.4 refuses "1e-06" + 0.
spot(v) = sprintf("%.11e ", v)
linear_ticks(from, to, step) = from > to + 1e-9 * step ? "" : spot(abs(from) < 1e-9 * step ? 0 : from).linear_ticks(from + step, to, step)
some_linear(from, to, most) = linear_by(from, to, nice((to - from) / most))
linear_by(from, to, step) = floor(to / step + 1e-9) > ceil(from / step - 1e-9) ? \
    linear_ticks(ceil(from / step - 1e-9) * step, to, step) : linear_by(from, to, below(0.999 * step))
decade(v) = 10.0**floor(log10(v) + 1e-9)
# On a logarithmic axis: powers of the base, every second or third of them where there is no room for all; 1, 2 and 5 in
# less than two decades, and equal steps in less than a factor of 4.
power_ticks(v, to, factor) = v > to * (1 + 1e-9) ? "" : spot(v).power_ticks(v * factor, to, factor)
next_125(v) = v / decade(v) < 1.5 ? 2 * decade(v) : v / decade(v) < 3 ? 5 * decade(v) : 10 * decade(v)
ticks_125(v, from, to) = v > to * (1 + 1e-9) ? "" : (v < from * (1 - 1e-9) ? "" : spot(v)).ticks_125(next_125(v), from, to)
log_ticks(base, from, to, most, k) = to / from < 4 ? some_linear(from, to, most) : base == 2 || to / from >= 100 ? \
    power_ticks(base**ceil(log(from) / log(base) - 1e-9), to, base**k) : \
    words(ticks_125(decade(from), from, to)) > 1 ? ticks_125(decade(from), from, to) : some_linear(from, to, most)
base_of(style) = style eq "log2" ? 2.0 : 10.0
# `k`: of powers every k-th.
ticks_of(style, from, to, most, k) = style eq "linear" ? some_linear(from, to, most) : log_ticks(base_of(style), from, to, most, k)
is_power(style, v) = style ne "linear" && abs(log(v) / log(base_of(style)) - floor(log(v) / log(base_of(style)) + 0.5)) < 1e-9
# What an axis shows beyond its values; one value alone has room on both sides.
ends(style, from, to) = style eq "linear" ? (to > from ? 0.04 * (to - from) : from == 0 ? 1 : 0.1 * abs(from)) : (to > from ? (to / from)**0.04 : 1.2)

# The values of a panel.
see_point(kind, x, y) = kind ne "point" ? 0 : ( \
    X_LEAST = X_STYLE ne "linear" && x <= 0 ? X_LEAST : smaller(X_LEAST, x), X_MOST = larger(X_MOST, x), \
    Y_LEAST = smaller(Y_LEAST, y), Y_MOST = larger(Y_MOST, y), \
    AT_VALUES && GIVEN_TICKS eq "" && !strstrt(X_VALUES, " ".spot(x)) ? (X_VALUES = X_VALUES.spot(x), 1) : 1)
# How far along the axis, in points, and how much room two numbers need between their middles: beside or over each other.
along(style, from, to, length, v) = length * (style eq "linear" ? (v - from) / (to - from) : log(v / from) / log(to / from))
along_x(v) = along(X_STYLE, XA, XB, PANEL_W, v)
along_y(v) = along(Y_STYLE, YA, YB, PANEL_H, v)
beside(a, b) = 3.25 * (wide(number(a)) + wide(number(b))) + 2.5
near_x(v, list) = words(list) < 1 ? 0 : sum [k_near = 1 : words(list)] (abs(along_x(v) - along_x(word(list, k_near) + 0)) < beside(v, word(list, k_near) + 0))
near_y(v, list) = words(list) < 1 ? 0 : sum [k_near = 1 : words(list)] (abs(along_y(v) - along_y(word(list, k_near) + 0)) < 7.5)
crowded_x(list) = words(list) < 2 ? 0 : sum [k_crowd = 2 : words(list)] near_x(word(list, k_crowd) + 0, word(list, k_crowd - 1))
crowded_y(list) = words(list) < 2 ? 0 : sum [k_crowd = 2 : words(list)] near_y(word(list, k_crowd) + 0, word(list, k_crowd - 1))
on_page(v) = along_x(v) + 3.25 * wide(number(v)) <= PANEL_W + RIGHT
tick(v, named) = sprintf("'%s' %.12g", named ? number(v) : "", v)
among(list, v) = strstrt(" ".list, " ".v." ") > 0

unset xtics
unset ytics
set border 3 lw 0.7
set grid lc rgb 0xdddddd lt 1 lw 0.5
set style fill solid 1 noborder

if (X_STYLE ne "linear") { set logscale x base_of(X_STYLE) }
if (Y_STYLE ne "linear") { set logscale y base_of(Y_STYLE) }
if (wide(X_NAME) > 0) { set label 90 X_NAME at screen axis_at(X_NAME), screen 1 - (TOP + HIGH - 5) / H center }
if (wide(Y_NAME) > 0) {
    Y_FITS = smaller(7, (HIGH - 4) / wide(Y_NAME))
    set label 91 Y_NAME at screen 5.5 / W, screen 1 - (TOP + (HIGH - BELOW) / 2) / H center rotate by 90 font "".pt(Y_FITS)
}

set multiplot
do for [p = 0 : PANELS - 1] {
    X_LEAST = 1e300; X_MOST = -1e300; Y_LEAST = 1e300; Y_MOST = -1e300; X_VALUES = " "
    stats DATA using ($1 == p ? see_point(strcol(3), $6, $7) : 0) nooutput
    X_LEAST = X_LEAST > 1e299 ? 1 : X_LEAST; X_MOST = larger(X_MOST, X_LEAST)
    Y_LEAST = Y_LEAST > 1e299 ? 1 : Y_LEAST; Y_MOST = larger(Y_MOST, Y_LEAST)
    X_PAD = ends(X_STYLE, X_LEAST, X_MOST); Y_PAD = ends(Y_STYLE, Y_LEAST, Y_MOST)
    STARTS_AT_0 = X_STYLE eq "linear" && X_LEAST >= 0 && X_LEAST < 0.2 * X_MOST
    XA = (X_FROM == X_FROM ? X_FROM : STARTS_AT_0 ? 0 : X_STYLE eq "linear" ? X_LEAST - X_PAD : X_LEAST / X_PAD) * X_SCALE
    XB = (X_TO == X_TO ? X_TO : X_STYLE eq "linear" ? X_MOST + X_PAD * (STARTS_AT_0 ? 0.5 : 1) : X_MOST * X_PAD) * X_SCALE
    YA = (Y_FROM == Y_FROM ? Y_FROM : Y_STYLE eq "linear" ? Y_LEAST - Y_PAD : Y_LEAST / Y_PAD) * Y_SCALE
    YB = (Y_TO == Y_TO ? Y_TO : Y_STYLE eq "linear" ? Y_MOST + Y_PAD : Y_MOST * Y_PAD) * Y_SCALE
    if (XB <= XA) { XB = X_STYLE eq "linear" ? XA + 1 : 2 * XA }
    if (YB <= YA) { YB = Y_STYLE eq "linear" ? YA + 1 : 2 * YA }
    P_LEFT = SIDE + (p % COLUMNS) * (PANEL_W + NUMBERS_Y + RIGHT) + NUMBERS_Y
    P_TOP = TOP + (p / COLUMNS) * (NAMED + PANEL_H + NUMBERS_X) + NAMED
    set lmargin at screen P_LEFT / W
    set rmargin at screen (P_LEFT + PANEL_W) / W
    set tmargin at screen 1 - P_TOP / H
    set bmargin at screen 1 - (P_TOP + PANEL_H) / H
    # Rounding leaves out a number at the very end of a logarithmic axis.
    set xrange [XA / (X_STYLE eq "linear" ? 1 : 1 + 1e-9) : XB * (X_STYLE eq "linear" ? 1 : 1 + 1e-9)]
    set yrange [YA / (Y_STYLE eq "linear" ? 1 : 1 + 1e-9) : YB * (Y_STYLE eq "linear" ? 1 : 1 + 1e-9)]
    # Numbers that have no room are left out, first those that are no powers; their ticks stay, if there are not many.
    X_SPOTS = ""; Y_SPOTS = ""
    if (AT_VALUES || GIVEN_TICKS ne "") {
        do for [v in GIVEN_TICKS] { X_VALUES = X_VALUES.spot(v * X_SCALE) }
        do for [v in X_VALUES] { if (v + 0 >= XA && v + 0 <= XB && near_x(v + 0, X_SPOTS) == 0) { X_SPOTS = X_SPOTS.spot(v + 0) } }
    } else {
        do for [k = 1 : 12] {
            NEXT_SPOTS = ticks_of(X_STYLE, XA, XB, larger(2, floor(PANEL_W / 30)), k)
            if (k == 1 || (words(NEXT_SPOTS) > 1 && crowded_x(X_SPOTS) > 0)) { X_SPOTS = NEXT_SPOTS }
        }
    }
    do for [k = 1 : 12] {
        NEXT_SPOTS = ticks_of(Y_STYLE, YA, YB, larger(2, floor(PANEL_H / 15)), k)
        if (k == 1 || (words(NEXT_SPOTS) > 1 && crowded_y(Y_SPOTS) > 0)) { Y_SPOTS = NEXT_SPOTS }
    }
    X_NAMED = ""; Y_NAMED = ""; Y_WIDEST = 0
    do for [power = 1 : 0 : -1] {
        do for [v in X_SPOTS] { if (is_power(X_STYLE, v + 0) == power && on_page(v + 0) && near_x(v + 0, X_NAMED) == 0) { X_NAMED = X_NAMED.v." " } }
        do for [v in Y_SPOTS] { if (is_power(Y_STYLE, v + 0) == power && near_y(v + 0, Y_NAMED) == 0) { Y_NAMED = Y_NAMED.v." "; Y_WIDEST = larger(Y_WIDEST, wide(number(v + 0))) } }
    }
    X_TICKS = ""; Y_TICKS = ""
    do for [v in X_SPOTS] { X_TICKS = X_TICKS.(X_TICKS eq "" ? "" : ", ").tick(v + 0, among(X_NAMED, v)) }
    do for [v in Y_SPOTS] { Y_TICKS = Y_TICKS.(Y_TICKS eq "" ? "" : ", ").tick(v + 0, among(Y_NAMED, v)) }
    eval "set xtics nomirror out scale 0.4 (".X_TICKS.") offset 0, 0.5 font '".pt(6.5)."'"
    eval "set ytics nomirror out scale 0.4 (".Y_TICKS.") offset 0.6, 0 font '".pt(smaller(6.5, (NUMBERS_Y - 3) / Y_WIDEST))."'"
    if (NAMED > 2) {
        set label 92 cut(line_of(PANEL_NAMES, p + 1), (PANEL_W + RIGHT) / 6.5) at screen P_LEFT / W, screen 1 - (P_TOP - 5) / H left font "".pt(6.5)
    }
    # A value at 0 stands at the left end of a logarithmic axis.
    at(x) = X_STYLE ne "linear" && x <= 0 ? XA : x * X_SCALE
    CURVES = ""
    do for [i = 1 : SERIES] {
        STYLE = word(SERIES_STYLES, i)
        if (word(STYLE, 4) + 0 == p) {
            CURVES = CURVES.(CURVES eq "" ? "" : ", "). \
                sprintf("DATA using ($2 == %s && strcol(3) eq 'point' ? at($6) : NaN):(strcol(3) eq 'point' ? $7 * Y_SCALE : NaN) ", word(STYLE, 5)).drawn_with(STYLE)
        }
    }
    if (CURVES eq "") { eval NOTHING } else { eval "plot ".CURVES }
    if (p == 0) { unset object; do for [i = 1 : LEGENDS] { unset label 100 + i; unset label 400 + i; if (lined(line_of(ENTRY_STYLES, i))) { unset arrow 100 + i } }
        do for [i = 1 : TITLE_LINES] { unset label 200 + i }
        do for [i = 1 : NOTE_LINES] { unset label 300 + i }
        unset label 90; unset label 91 }
}
unset multiplot

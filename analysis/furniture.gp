# furniture.gp - title, legend and note, and the page that has room for them.
#
# Everything is placed in points from the edges, not by gnuplot's own key and margins: those depend on
# how wide a terminal believes its letters to be, and cut names off where it guesses wrong.
#
# ORDER: kinds as words, those that contain blanks in quotes; only the ones in the table are shown.
# HIGH: points for the drawing with its axes; LEFT and INNER: see rows.gp.  Leaves H, the height of the page, and TOP and BOTTOM,
# the points above and below the drawing.  A script that draws a legend of its own gives its height as
# OWN_LEGEND, and finds its upper edge at 6.5 + TITLE_LINES * 8.5.

caption(kind) = kind eq "critical" ? "critical path" : kind eq "waiting" ? "critical path waits" : kind eq "held" ? "held by others" : spoken(kind)
spoken(name) = strstrt(name, "_") ? \
    name[1 : strstrt(name, "_") - 1]." ".spoken(name[strstrt(name, "_") + 1 : *]) : name
thin(kind) = kind eq "critical" || kind eq "capacity" || strstrt(kind, "held") == 1

# How the waits of the critical path are drawn.
WAIT_WIDTH = 2.0
WAIT_DASHES = "."

TEXT = NOTE; SIZE = 6.0; ROOM = W - 6
load HERE."wrap.gp"
NOTE = WRAPPED; NOTE_LINES = count_lines(NOTE)
TEXT = TITLE; SIZE = 7.0
load HERE."wrap.gp"
TITLE = WRAPPED; TITLE_LINES = count_lines(TITLE)
SHOWN = sum [i = 1 : words(ORDER)] has(word(ORDER, i))
PER_ROW = larger(1, floor(W / 82))
LEGEND = exists("OWN_LEGEND") ? OWN_LEGEND : ceil(SHOWN / (PER_ROW + 0.0)) * 8.5
TOP = 6.5 + TITLE_LINES * 8.5 + LEGEND + 4
BOTTOM = NOTE_LINES * 7.5 + 2
H = TOP + HIGH + BOTTOM

# The name of an axis: in fewer words where the page is too narrow, and never beyond its edges.
axis_name(long, short) = wide(long) * 7 <= W - 6 ? long : short
axis_at(text) = smaller(larger(LEFT + INNER / 2, 3 + wide(text) * 3.5), W - 3 - wide(text) * 3.5) / W

# Steps of 1, 2 or 5 between the numbers of an axis that has little room for them; gnuplot crowds them.
nice(x) = nice_by(x, 10.0**floor(log10(x)))
nice_by(x, e) = x <= e ? e : x <= 2 * e ? 2 * e : x <= 5 * e ? 5 * e : 10 * e
below(x) = nice(x) > x ? below_by(x, 10.0**floor(log10(x))) : nice(x)
below_by(x, e) = x >= 5 * e ? 5 * e : x >= 2 * e ? 2 * e : e
tics(length) = INNER < 150 && length > 0 ? \
    sprintf("set xtics %.9g", smaller(nice(length * 24 / INNER), below(length))) : "set xtics autofreq"

eval opening(H)
set output OUT
unset key
# gnuplot's own format begins with a blank, which puts numbers beside their ticks.
set format x "%g"
set format y "%g"

do for [i = 1 : TITLE_LINES] {
    set label 200 + i line_of(TITLE, i) at screen 3 / W, screen 1 - (i * 8.5 - 1.5) / H left
}
do for [i = 1 : NOTE_LINES] {
    set label 300 + i line_of(NOTE, i) at screen 3 / W, screen 1 - (TOP + HIGH + i * 7.5 - 4) / H left \
        font "".pt(6) textcolor rgb 0x555555
}
ENTRIES = 0
do for [i = 1 : words(ORDER)] {
    NAME_OF_KIND = word(ORDER, i)
    if (has(NAME_OF_KIND)) {
        X = 4 + (ENTRIES % PER_ROW) * (W - 8) / PER_ROW
        Y = 10.5 + (TITLE_LINES + ENTRIES / PER_ROW) * 8.5
        ENTRIES = ENTRIES + 1
        HALF = thin(NAME_OF_KIND) ? 0.7 : 2.5
        if (NAME_OF_KIND eq "waiting") {
            set arrow 100 + i from screen X / W, screen 1 - Y / H to screen (X + 8) / W, screen 1 - Y / H \
                nohead lc rgb colour("waiting") lw WAIT_WIDTH dashtype WAIT_DASHES
        } else {
            set object 100 + i rectangle from screen X / W, screen 1 - (Y + HALF) / H \
            to screen (X + 8) / W, screen 1 - (Y - HALF) / H \
            fillcolor rgb colour(NAME_OF_KIND) fillstyle solid 1 noborder
        }
        set label 100 + i caption(NAME_OF_KIND) at screen (X + 11) / W, screen 1 - Y / H left \
            font "".pt(smaller(6.5, (W / PER_ROW - 13) / wide(caption(NAME_OF_KIND))))
    }
}

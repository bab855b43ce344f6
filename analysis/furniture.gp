# furniture.gp - title, legend and note, and the page that has room for them.
#
# Everything is placed in points from the edges, not by gnuplot's own key and margins: those depend on
# how wide a terminal believes its letters to be, and cut names off where it guesses wrong.
#
# ORDER: kinds as words, those that contain blanks in quotes; only the ones in the table are shown.
# HIGH: points for the drawing with its axes.  Leaves H, the height of the page, and TOP and BOTTOM,
# the points above and below the drawing.

caption(kind) = kind eq "critical" ? "critical path" : kind eq "waiting" ? "critical path waits" : kind eq "held" ? "held by others" : spoken(kind)
spoken(name) = strstrt(name, "_") ? \
    name[1 : strstrt(name, "_") - 1]." ".spoken(name[strstrt(name, "_") + 1 : *]) : name
thin(kind) = kind eq "critical" || kind eq "capacity" || strstrt(kind, "held") == 1

# How the waits of the critical path are drawn.
WAIT_WIDTH = 2.0
WAIT_DASHES = "."

NOTE = wrap(NOTE, floor((W - 8) / 3.15))
NOTE_LINES = count_lines(NOTE)
SHOWN = sum [i = 1 : words(ORDER)] has(word(ORDER, i))
PER_ROW = floor(W / 82)
TOP = 15.0 + ceil(SHOWN / (PER_ROW + 0.0)) * 8.5 + 4
BOTTOM = NOTE_LINES * 7.5 + 2
H = TOP + HIGH + BOTTOM

eval opening(H)
set output OUT
unset key

set label 1 TITLE at screen 3 / W, screen 1 - 7 / H left
do for [i = 1 : NOTE_LINES] {
    set label 1 + i line_of(NOTE, i) at screen 3 / W, screen 1 - (TOP + HIGH + i * 7.5 - 4) / H left \
        font "".pt(6) textcolor rgb 0x555555
}
ENTRIES = 0
do for [i = 1 : words(ORDER)] {
    NAME_OF_KIND = word(ORDER, i)
    if (has(NAME_OF_KIND)) {
        X = 4 + (ENTRIES % PER_ROW) * (W - 8) / PER_ROW
        Y = 19 + (ENTRIES / PER_ROW) * 8.5
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
        set label 100 + i caption(NAME_OF_KIND) at screen (X + 11) / W, screen 1 - Y / H left font "".pt(6.5)
    }
}

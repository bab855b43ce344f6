# common.gp - what the figures share: the terminal, the colours, small functions.
#
# Every script is called as    gnuplot -c KIND.gp DATA OUT [WIDTH [FORMAT]]
# with the table that soapstone keeps beside a figure, the figure's name, its width on paper in inches
# (3.5, one column, unless given) and svg, png or pdf (what OUT ends in, unless given).  It sets
# DATA, OUT, WIDTH and FORMAT from that and loads this file.  When it knows what it will draw it
# sets ORDER (the legend's entries), HIGH (points between title and note) and loads furniture.gp.
#
# Sizes are points on paper.  Text is 7 points high and a column holds some 70 letters of it, whatever
# the format; a unit of the terminal is S times smaller than a point.

WIDTH = (WIDTH eq "" ? 3.5 : WIDTH + 0)
FORMAT = (FORMAT eq "" ? OUT[strlen(OUT) - 2 : strlen(OUT)] : FORMAT)
W = WIDTH * 72.0
S = (FORMAT eq "svg" ? 2.4 : FORMAT eq "png" ? 4.0 : 1.0)
pt(points) = sprintf(",%g", points * S)

# The commands that open OUT, `high` points high.  What cairo calls a point is 4/3 of one.
opening(high) = FORMAT eq "svg" ? \
    sprintf("set terminal svg size %d,%d font 'sans-serif,%g' linewidth %g noenhanced background 'white'", W * S, high * S, 7 * S, 0.6 * S) : \
  FORMAT eq "png" ? \
    sprintf("set terminal pngcairo size %d,%d font 'sans,%g' fontscale 0.75 linewidth %g noenhanced background 'white'", W * S, high * S, 7 * S, 0.6 * S) : \
    sprintf("set terminal pdfcairo size %gin,%gin font 'sans,7' fontscale 0.75 linewidth 0.8 noenhanced", W / 72, high / 72)

set encoding utf8
set datafile separator tab
set datafile columnheaders

# gnuplot would take what begins with # for a comment, but names may.
set datafile commentschars ""

# Colours that colour-blind readers can tell apart (hues of Okabe and Ito, "Color Universal Design",
# 2008), and that differ in lightness among what shares a lane, for print in black and white: forward is
# darkest, then backward, then update; on links weight gradient, gradient, activation, weight.
colour(kind) = \
    kind eq "forward"         ? 0x005a94 : kind eq "activation" ? 0x8fcff5 : \
    kind eq "backward"        ? 0xd55e00 : kind eq "gradient"   ? 0xcc8b00 : \
    kind eq "weight_gradient" ? 0xa9427f : kind eq "weight"     ? 0xf7ee7a : \
    kind eq "update"          ? 0x6ccbad : kind eq "accumulate" ? 0xbfe8da : \
    kind eq "gather" ? 0x9ecae1 : kind eq "lumped"          ? 0x6a51a3 : kind eq "compute"    ? 0x6e6e6e : \
    kind eq "transfer"        ? 0xc4c4c4 : kind eq "collective" ? 0xa9427f : \
    kind eq "weights"         ? 0x004a7c : kind eq "weight_gradients" ? 0xa9427f : \
    kind eq "optimizer"       ? 0x009e73 : kind eq "activations" ? 0x8fcff5 : \
    kind eq "gradients"       ? 0xe69f00 : kind eq "critical" || kind eq "waiting" ? 0x000000 : \
    kind eq "capacity"        ? 0x000000 : kind eq "held by the fullest" ? 0xd55e00 : \
    kind eq "held by the emptiest" ? 0x6a51a3 : 0x999999

# For things without a colour of their own (runs, series, devices): hues of Okabe and Ito without their
# yellow, which is lost on white, in an order in which neighbours differ in lightness as well.
HUES = "0x005a94 0xd55e00 0x009e73 0xe69f00 0x8b3a8b 0x56b4e9 0x000000 0xcc79a7"

# Reads the words of a table: its title, its notes, and the kinds in it.
TITLE = ""; NOTE = ""; KINDS = ""
read_words(kind, label) = \
    kind eq "title" ? (TITLE = label, 1) : \
    kind eq "note" ? (NOTE = NOTE.(NOTE eq "" ? "" : " ").label, 1) : kind eq "assumptions" ? 1 : \
    has(kind) ? 1 : (KINDS = KINDS."|".kind."|", 1)
has(kind) = strstrt(KINDS, "|".kind."|") > 0

# Only the axes, for a table without rows: the line is out of sight.
NOTHING = "plot 1e99 with lines"

# How wide a text is, in its own size: the advances of DejaVu Sans, rounded up to eight classes; the
# other fonts that "sans" may be are narrower.  A letter that is not listed counts as a square.
em(c) = strstrt("ijl'IJ \302\240.,", c) ? 0.32 : strstrt("/:;\\|-()[]!tfr", c) ? 0.41 : \
    strstrt("*_\140?szcFL\"", c) ? 0.575 : strstrt("abdeghknopquvxy0123456789$EPT{}µ", c) ? 0.64 : \
    strstrt("ABCKRSVXYZ", c) ? 0.70 : strstrt("DGHNOQU&w+=<>#~^M", c) ? 0.87 : 1.0
wide(text) = strlen(text) < 1 ? 0 : sum [k_em = 1 : strlen(text)] em(text[k_em : k_em])
larger(a, b) = a > b ? a : b
smaller(a, b) = a < b ? a : b

# Lines of a text that wrap.gp has broken.
count_lines(text) = text eq "" ? 0 : strstrt(text, "\n") ? \
    1 + count_lines(text[strstrt(text, "\n") + 1 : *]) : 1
line_of(text, n) = n == 1 ? text[1 : (strstrt(text, "\n") ? strstrt(text, "\n") - 1 : strlen(text))] : \
    line_of(text[strstrt(text, "\n") + 1 : *], n - 1)

# A lane's name where the whole does not fit: "node1.gpu1->.gpu3" for a link inside of node1, and the
# middle left out of what is still too long.  rows.gp decides, and says so on the figure.
last_dot(name) = last_dot_before(name, strlen(name))
last_dot_before(name, at) = at < 1 ? 0 : name[at : at] eq "." ? at : last_dot_before(name, at - 1)
arrow(name) = strstrt(name, "->") ? strstrt(name, "->") : strstrt(name, "--")
inside(a, way, b) = last_dot(a) && b[1 : last_dot(a)] eq a[1 : last_dot(a)] ? a.way.b[last_dot(a) : *] : a.way.b
brief(name) = arrow(name) ? \
    inside(name[1 : arrow(name) - 1], name[arrow(name) : arrow(name) + 1], name[arrow(name) + 2 : *]) : name
cut(name, room) = wide(name) <= room ? name : cut_to(name, smaller(strlen(name) - 1, ceil(room / 0.32)), room)
cut_to(name, kept, room) = kept < 2 ? name[1 : 1]."…" : \
    wide(ends_of(name, kept)) <= room ? ends_of(name, kept) : cut_to(name, kept - 1, room)
ends_of(name, kept) = name[1 : kept / 2]."…".name[strlen(name) - (kept - kept / 2) + 1 : *]
# gnuplot reads escapes in the labels of a plot, so a backslash of a name is written twice there.
written(text) = strstrt(text, "\\") ? text[1 : strstrt(text, "\\")]."\\".written(text[strstrt(text, "\\") + 1 : *]) : text

# What rows.gp needs to know of each name.
WIDEST = 0; WIDEST_BRIEF = 0; EXAMPLE = ""
see_name(name) = (WIDEST = larger(WIDEST, wide(name)), WIDEST_BRIEF = larger(WIDEST_BRIEF, wide(brief(name))), \
    EXAMPLE eq "" && brief(name) ne name ? (EXAMPLE = name, 1) : 1)

# Seconds in a unit that gives small numbers, and bytes too.
time_unit(s) = s < 9e-7 ? "ns" : s < 9e-4 ? "µs" : s < 0.9 ? "ms" : "s"
time_scale(s) = s < 9e-7 ? 1e9 : s < 9e-4 ? 1e6 : s < 0.9 ? 1e3 : 1
byte_unit(b) = b < 900 ? "B" : b < 9e5 ? "KiB" : b < 9e8 ? "MiB" : b < 9e11 ? "GiB" : "TiB"
byte_scale(b) = b < 900 ? 1.0 : b < 9e5 ? 2.0**-10 : b < 9e8 ? 2.0**-20 : b < 9e11 ? 2.0**-30 : 2.0**-40

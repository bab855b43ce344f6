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

# Colours that colour-blind readers can tell apart (Okabe and Ito, "Color Universal Design", 2008).
# Work on a device and what it sends have neighbouring hues.
colour(kind) = \
    kind eq "forward"         ? 0x0072b2 : kind eq "activation" ? 0x56b4e9 : \
    kind eq "backward"        ? 0xd55e00 : kind eq "gradient"   ? 0xe69f00 : \
    kind eq "weight_gradient" ? 0xcc79a7 : kind eq "weight"     ? 0xf0e442 : \
    kind eq "update"          ? 0x009e73 : kind eq "accumulate" ? 0x66c2a5 : \
    kind eq "lumped"          ? 0x6a51a3 : kind eq "compute"    ? 0x0072b2 : \
    kind eq "transfer"        ? 0x56b4e9 : kind eq "collective" ? 0xcc79a7 : \
    kind eq "weights"         ? 0x0072b2 : kind eq "weight_gradients" ? 0xcc79a7 : \
    kind eq "optimizer"       ? 0x009e73 : kind eq "activations" ? 0x56b4e9 : \
    kind eq "gradients"       ? 0xe69f00 : kind eq "critical" || kind eq "waiting" ? 0x000000 : \
    kind eq "capacity"        ? 0x000000 : kind eq "held by the fullest" ? 0xd55e00 : \
    kind eq "held by the emptiest" ? 0x6a51a3 : 0x999999

# Reads the words of a table: its title, its notes, and the kinds in it.
TITLE = ""; NOTE = ""; KINDS = ""; LONGEST = 0
read_words(kind, label) = \
    kind eq "title" ? (TITLE = label, 1) : \
    kind eq "note" ? (NOTE = NOTE.(NOTE eq "" ? "" : " ").label, 1) : \
    has(kind) ? 1 : (KINDS = KINDS."|".kind."|", 1)
has(kind) = strstrt(KINDS, "|".kind."|") > 0

# Only the axes, for a table without rows: the line is out of sight.
NOTHING = "plot 1e99 with lines"

# Breaks a text at blanks into lines of `most` letters, and counts them.
wrap(text, most) = strlen(text) <= most ? text : wrap_at(text, most, most)
wrap_at(text, most, at) = at < 2 ? text : text[at : at] eq " " ? \
    text[1 : at - 1]."\n".wrap(text[at + 1 : *], most) : wrap_at(text, most, at - 1)
count_lines(text) = text eq "" ? 0 : strstrt(text, "\n") ? \
    1 + count_lines(text[strstrt(text, "\n") + 1 : *]) : 1
line_of(text, n) = n == 1 ? text[1 : (strstrt(text, "\n") ? strstrt(text, "\n") - 1 : strlen(text))] : \
    line_of(text[strstrt(text, "\n") + 1 : *], n - 1)

# A lane's name as it is shown: "node1.gpu1->.gpu3" for a link inside of node1, and the middle left
# out of what is still longer than 22 letters.
last_dot(name) = last_dot_before(name, strlen(name))
last_dot_before(name, at) = at < 1 ? 0 : name[at : at] eq "." ? at : last_dot_before(name, at - 1)
arrow(name) = strstrt(name, "->") ? strstrt(name, "->") : strstrt(name, "--")
inside(a, way, b) = last_dot(a) && b[1 : last_dot(a)] eq a[1 : last_dot(a)] ? a.way.b[last_dot(a) : *] : a.way.b
cut(name) = strlen(name) <= 22 ? name : name[1 : 10]."…".name[strlen(name) - 10 : *]
short(name) = cut(arrow(name) ? \
    inside(name[1 : arrow(name) - 1], name[arrow(name) : arrow(name) + 1], name[arrow(name) + 2 : *]) : name)

# Seconds in a unit that gives small numbers, and bytes too.
time_unit(s) = s < 9e-7 ? "ns" : s < 9e-4 ? "µs" : s < 0.9 ? "ms" : "s"
time_scale(s) = s < 9e-7 ? 1e9 : s < 9e-4 ? 1e6 : s < 0.9 ? 1e3 : 1
byte_unit(b) = b < 900 ? "B" : b < 9e5 ? "KiB" : b < 9e8 ? "MiB" : b < 9e11 ? "GiB" : "TiB"
byte_scale(b) = b < 900 ? 1.0 : b < 9e5 ? 2.0**-10 : b < 9e8 ? 2.0**-20 : b < 9e11 ? 2.0**-30 : 2.0**-40

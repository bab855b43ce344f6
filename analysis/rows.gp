# rows.gp - the rows of lanes: how high, and how much of the page their names take.
#
# ROWS, and what see_name saw, give ROW and NAME (points: a row, a name's letters), LEFT (points left of
# the drawing), INNER (points that the drawing is wide) and shown(name).  Names are whole where they
# take no more than 0.36 of the page; else the note says how to read them.

ROW = ROWS <= 24 ? 9.0 : ROWS <= 48 ? 7.5 : 5.5
LETTERS = ROW < 7.5 ? ROW - 0.5 : 6.5
NAME_ROOM = 0.36 * W - 6
BRIEFLY = WIDEST * 5 > NAME_ROOM
NAME = larger(5, smaller(LETTERS, NAME_ROOM / larger(1, BRIEFLY ? WIDEST_BRIEF : WIDEST)))
EMS = NAME_ROOM / NAME + 0.01                                       # rounded, the longest would not fit
shown(name) = written(cut(BRIEFLY ? brief(name) : name, EMS))
LEFT = smaller(EMS, BRIEFLY ? WIDEST_BRIEF : WIDEST) * NAME + 6
INNER = W - LEFT - 14
if (BRIEFLY && EXAMPLE ne "") {
    NOTE = NOTE.(NOTE eq "" ? "" : " ").brief(EXAMPLE)." stands for ".EXAMPLE."."
}
if (BRIEFLY && WIDEST_BRIEF > EMS) {
    NOTE = NOTE.(NOTE eq "" ? "" : " ")."… in a name stands for letters left out."
}

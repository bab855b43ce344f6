# wrap.gp - breaks a text into lines, at blanks where there are some.
#
# TEXT, SIZE (points) and ROOM (points) give WRAPPED, with line ends in it.
WRAPPED = ""
while (TEXT ne "") {
    FITS = 0; USED = 0.0; BLANK = 0
    while (FITS < strlen(TEXT) && USED + em(TEXT[FITS + 1 : FITS + 1]) * SIZE <= ROOM) {
        FITS = FITS + 1
        USED = USED + em(TEXT[FITS : FITS]) * SIZE
        if (TEXT[FITS : FITS] eq " ") { BLANK = FITS }
    }
    if (FITS == strlen(TEXT)) {
        WRAPPED = WRAPPED.(WRAPPED eq "" ? "" : "\n").TEXT
        TEXT = ""
    } else {
        if (TEXT[FITS + 1 : FITS + 1] eq " ") { BLANK = FITS + 1 }
        UPTO = BLANK > 1 ? BLANK : FITS > 0 ? FITS : 1
        WRAPPED = WRAPPED.(WRAPPED eq "" ? "" : "\n").(BLANK > 1 ? TEXT[1 : UPTO - 1] : TEXT[1 : UPTO])
        TEXT = UPTO == strlen(TEXT) ? "" : TEXT[UPTO + 1 : *]
    }
}

# lines.gp - curves of a script's own.
#
#     gnuplot -c lines.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp; DATA: see curves.gp)

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("lines.gp")]
load HERE."common.gp"
load HERE."curves.gp"

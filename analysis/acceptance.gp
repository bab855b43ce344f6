# acceptance.gp - how a search walked: shares accepted, stopped early, and of tasks simulated.
#
#     gnuplot -c acceptance.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp; DATA: see curves.gp)

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("acceptance.gp")]
load HERE."common.gp"
load HERE."curves.gp"

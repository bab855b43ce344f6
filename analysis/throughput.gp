# throughput.gp - throughput per device against the number of devices.
#
#     gnuplot -c throughput.gp DATA OUT [WIDTH [FORMAT]]          (see common.gp; DATA: see curves.gp)

DATA = ARG1; OUT = ARG2; WIDTH = ARG3; FORMAT = ARG4
HERE = ARG0[1 : strlen(ARG0) - strlen("throughput.gp")]
load HERE."common.gp"
load HERE."curves.gp"

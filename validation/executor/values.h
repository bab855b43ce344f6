/* values.h - what an execution computes with: weights, inputs and labels, drawn by what they are.
 *
 * Each number is a function of (seed, tensor or weight, place in it), so that it does not depend on how a strategy
 * cuts and places them, and every device that holds a piece fills it by itself.
 */
#ifndef SS_VALUES_H
#define SS_VALUES_H

#include <stdint.h>

#include "graph/model.h"

/* The box of a weight.  Matrices and kernels: uniform, of variance 1 / (inputs of an output); scales of
 * normalisations around 1; biases and shifts small. */
void ss_values_weight(const ss_model *m, ss_weight w, uint64_t seed, const ss_box *box, float *out);

/* The box of an input of the model: uniform in -1 .. 1; of indices whole numbers that every reader has a row
 * for (written as int32_t). */
void ss_values_input(const ss_model *m, ss_tensor t, uint64_t seed, const ss_box *box, void *out);

/* Labels of the part `main` of a loss: classes as int32_t by position, or floats of the part's input. */
void ss_values_label(const ss_model *m, ss_op op, uint64_t seed, const ss_box *main, void *out);
/* Bytes of these; 0: the operator has no labels. */
int64_t ss_values_label_bytes(const ss_model *m, ss_op op, const ss_box *main);

#endif

#!/usr/bin/env python3
"""Measures operators with PyTorch, on a GPU or a CPU, for soapstone.

    soapstone profile -m bert -t p100_cluster -s data_parallel --list needed.csv
    python3 profile_torch.py needed.csv --output p100.csv --device cuda:0
    soapstone profile --import p100.csv --output p100.h5
    soapstone simulate -m bert -t p100_cluster -s data_parallel --costs p100.h5

needed.csv says what to measure: a row for each time, with the kind of operator, its attributes, the shape of the part and
the phase. p100.csv is a table of measured times with every sample, which soapstone reads as it is (--costs p100.csv) or
makes a profile of (--import). docs/file-format.md describes both.

Needs PyTorch and nothing else; the half above "What needs PyTorch" is plain Python.

How it is measured: in rounds over all operators in turn, after warm-up rounds that do not count. One sample is one call,
with --inputs warm after the caches were swept and what the operator reads (backward: the gradient that comes in) was
written, with --inputs cold after they were swept; on a GPU between two CUDA events behind work that is already under way,
so that waiting for the host is not measured. f32 is computed without TF32, tf32 with it.
"""
import argparse
import collections
import csv
import datetime
import math
import os
import platform
import signal
import sys
import tempfile
import time


class Refused(Exception):
    """What is wrong with the input, in a sentence: exit status 2."""


class CannotMeasure(Exception):
    """Why one row cannot be measured here: it is left out, and said."""


# ---- kinds of operators ---------------------------------------------------------------------------------------------

REQUIRED = object()
BOOL = ("false", "true")
ACTIVATIONS = ("none", "relu", "gelu", "tanh", "sigmoid")
WINDOW = {"kernel_h": REQUIRED, "kernel_w": REQUIRED, "padding_h": 0, "padding_w": 0}

# name: (least inputs, most inputs, attributes with what they are unless given: a number, or the first of some words).
# Those that say how wide the output is (out, hidden, size) are in the shape too, and may be left out.
KINDS = {
    "conv2d": (1, 1, {**WINDOW, "stride_h": 1, "stride_w": 1, "groups": 1, "bias": ("true", "false"),
                      "norm": ("none", "batch"), "activation": ACTIVATIONS, "out": 0}),
    "conv_transpose2d": (1, 1, {**WINDOW, "stride_h": 1, "stride_w": 1, "bias": ("true", "false"),
                                "activation": ACTIVATIONS, "out": 0}),
    "pool2d": (1, 1, {**WINDOW, "type": ("max", "avg"), "stride_h": 0, "stride_w": 0}),
    "upsample2d": (1, 1, {"factor_h": 2, "factor_w": 2}),
    "batch_norm": (1, 1, {}),
    "layer_norm": (1, 1, {"bias": ("true", "false")}),
    "rms_norm": (1, 1, {}),
    "relu": (1, 1, {}),
    "gelu": (1, 1, {}),
    "tanh": (1, 1, {}),
    "sigmoid": (1, 1, {}),
    "dropout": (1, 1, {}),
    "scale": (1, 1, {}),
    "add": (2, 64, {"activation": ACTIVATIONS}),
    "mul": (2, 64, {}),
    "concat": (1, 64, {"axis": ("c", "h", "w", "l")}),
    "slice": (1, 1, {"axis": ("c", "h", "w", "l"), "start": 0, "size": 0}),
    "select": (1, 1, {"index": -1}),
    "flatten": (1, 1, {}),
    "to_sequence": (1, 1, {}),
    "linear": (1, 1, {"bias": ("true", "false"), "activation": ACTIVATIONS, "out": 0}),
    "embedding": (1, 1, {"vocab": REQUIRED, "dtype": ("f32", "f64", "tf32", "bf16", "f16", "f8"), "out": 0}),
    "position": (1, 1, {"positions": 0}),
    "lstm": (1, 3, {"bias": BOOL, "state_steps": 1, "hidden": 0}),
    "attention": (2, 64, {}),
    "multihead_attention": (1, 2, {"heads": REQUIRED, "causal": BOOL, "fused": ("true", "false")}),
    "softmax": (1, 1, {}),
    "softmax_cross_entropy": (1, 1, {}),
    "linear_softmax": (1, 1, {"bias": ("true", "false"), "out": 0}),
    "squared_error": (1, 2, {}),
}
# What moves no data: forward costs nothing and is not measured; of flatten backward too.
VIEWS = {"flatten": ("forward", "backward", "input_gradient"), "slice": ("forward",), "select": ("forward",)}
PHASES = ("forward", "backward", "input_gradient", "weight_gradient")
DTYPES = {"f64": 8, "f32": 4, "tf32": 4, "bf16": 2, "f16": 2}
NOT_HERE = ("f8", "i64", "i32", "i8")
COLUMNS = ("kind", "attributes", "shape", "dtype", "phase", "device")

Row = collections.namedtuple("Row", "line kind attributes shape dtype phase device attribute out inputs")


def read_attributes(kind, text):
    """"kernel_h=3 bias=true" -> {"kernel_h": 3, "bias": "true", ...}, with presets for the rest."""
    known = KINDS[kind][2]
    given = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals:
            raise Refused(f"attribute {word}: name=value is wanted")
        if name not in known:
            raise Refused(f"attribute {name}: {kind} has none of that name{near(name, known)}")
        if name in given:
            raise Refused(f"attribute {name} is there twice")
        preset = known[name]
        if isinstance(preset, tuple):
            if value not in preset:
                raise Refused(f"attribute {name} is {value}; there are {', '.join(preset)}")
            given[name] = value
        else:
            try:
                given[name] = int(value)
            except ValueError:
                raise Refused(f"attribute {name} is {value}: a whole number is wanted") from None
    for name, preset in known.items():
        if name not in given:
            if preset is REQUIRED:
                raise Refused(f"attribute {name} is missing")
            given[name] = preset[0] if isinstance(preset, tuple) else preset
    return given


def near(word, names):
    """"; did you mean X?" where one of the names is close."""
    import difflib
    close = difflib.get_close_matches(word, list(names), 1)
    return f"; did you mean {close[0]}?" if close else ""


def read_extents(text, least):
    extents = []
    for word in text.strip().split("x"):
        if not word.isascii() or not word.isdigit() or int(word) < least:
            raise Refused(f"\"{text.strip()}\" is no list of extents, such as 64x1000")
        extents.append(int(word))
    return extents


def read_shape(kind, text):
    """"64x96 < 64x48" -> [64, 96], [[64, 48]]"""
    out, less, inputs = text.partition("<")
    if not less:
        raise Refused(f"shape {text}: extents of the output, then of each input are wanted, as in 64x1000 < 64x4096")
    try:
        out = read_extents(out, 1)
        inputs = [read_extents(one, 0) for one in inputs.split(",")]
    except Refused as why:
        raise Refused(f"shape {text}: {why}") from None
    least, most, _ = KINDS[kind]
    if not least <= len(inputs) <= most:
        raise Refused(f"shape {text}: {kind} reads {least}{' or more' if most > least else ''}, and there are {len(inputs)}")
    return out, inputs


def read_row(line, field):
    kind, dtype, phase = field["kind"], field["dtype"], field["phase"]
    if kind not in KINDS:
        raise Refused(f"{kind} is no kind of operator{near(kind, KINDS)}")
    if phase not in PHASES:
        raise Refused(f"phase {phase}: there are {', '.join(PHASES)}")
    if dtype not in DTYPES and dtype not in NOT_HERE:
        raise Refused(f"dtype {dtype}: there are {', '.join(tuple(DTYPES) + NOT_HERE)}")
    if not field["device"]:
        raise Refused("the device kind is missing")
    out, inputs = read_shape(kind, field["shape"])
    return Row(line, kind, field["attributes"], field["shape"], dtype, phase, field["device"],
               read_attributes(kind, field["attributes"]), out, inputs)


def key_of(row):
    """What makes two rows the same time."""
    attribute = tuple(sorted((name, value) for name, value in row.attribute.items() if name not in ("out", "hidden", "size")))
    return row.kind, attribute, tuple(row.out), tuple(map(tuple, row.inputs)), row.dtype, row.phase, row.device


# ---- tables ---------------------------------------------------------------------------------------------------------

def read_table(path, more=()):
    """The comment lines that come first as {name: text}, and [(row, {column: text})].  `more`: columns it must have beside
    those of a list."""
    head, rows = {}, []
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as why:
        raise Refused(f"{path}: {why.strerror if isinstance(why, OSError) else 'not a text file: ' + str(why)}") from None
    columns = None
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            name, colon, text = line.lstrip()[1:].partition(":")
            if colon and columns is None:
                head[name.strip()] = text.strip()
            continue
        if not line.strip():
            continue
        try:
            fields = [field.strip() for field in next(csv.reader([line], strict=True, skipinitialspace=True))]
            if columns is None:
                columns = fields
                for name in COLUMNS + tuple(more):
                    if columns.count(name) != 1:
                        raise Refused(f"column {name} is {'there twice' if name in columns else 'missing'}")
                continue
            if len(fields) != len(columns):
                raise Refused(f"{len(fields)} fields, and the header has {len(columns)}")
            field = dict(zip(columns, fields))
            rows.append((read_row(number, field), field))
        except (Refused, csv.Error) as why:
            raise Refused(f"{path}:{number}: {why}") from None
    if columns is None:
        raise Refused(f"{path}: it is empty: a header line is wanted")
    return head, rows


def read_list(path):
    """What to measure, each time once, all of one kind of device."""
    rows, seen = [], set()
    for row, _ in read_table(path)[1]:
        if rows and row.device != rows[0].device:
            raise Refused(f"{path}:{row.line}: device is {row.device}, and line {rows[0].line} has {rows[0].device}: a list is "
                          "of one kind of device")
        if key_of(row) not in seen:
            seen.add(key_of(row))
            rows.append(row)
    if not rows:
        raise Refused(f"{path}: it has no rows: nothing is to be measured")
    return rows


def quantile(ordered, share):
    """Between order statistics a straight line."""
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def statistics_of(samples):
    """As soapstone's profiler has them: outliers, more than 3 interquartile ranges beyond the quartiles, are left out of mean
    and deviation alone."""
    ordered = sorted(samples)
    q25, q75 = quantile(ordered, 0.25), quantile(ordered, 0.75)
    kept = [x for x in ordered if q25 - 3 * (q75 - q25) <= x <= q75 + 3 * (q75 - q25)]
    mean = sum(kept) / len(kept)
    spread = math.sqrt(sum((x - mean) ** 2 for x in kept) / (len(kept) - 1)) if len(kept) > 1 else 0.0
    return {"seconds": quantile(ordered, 0.5), "spread_s": spread, "samples": len(ordered), "mean_s": mean,
            "q05_s": quantile(ordered, 0.05), "q25_s": q25, "q75_s": q75, "q95_s": quantile(ordered, 0.95),
            "least_s": ordered[0], "most_s": ordered[-1], "outliers": len(ordered) - len(kept)}


STATISTICS = ("seconds", "spread_s", "samples", "mean_s", "q05_s", "q25_s", "q75_s", "q95_s", "least_s", "most_s", "outliers")


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def row_line(row, samples):
    shown = [float(f"{x:.9g}") for x in samples]  # the median is that of what is written
    statistics = statistics_of(shown)
    fields = [row.kind, quoted(row.attributes), quoted(row.shape), row.dtype, row.phase, quoted(row.device)]
    fields += [f"{statistics[name]:.9g}" for name in STATISTICS]
    return ",".join(fields + [quoted(" ".join(f"{x:.9g}" for x in shown))])


def table_text(head, measured):
    """`measured`: [(row, samples)]"""
    lines = ["# soapstone profile: times measured with PyTorch"]
    lines += [f"# {name}: {' '.join(str(text).split())}" for name, text in head.items()]
    lines.append(",".join(COLUMNS + STATISTICS + ("samples_s",)))
    lines += [row_line(row, samples) for row, samples in measured]
    return "\n".join(lines) + "\n"


def write_whole(path, text):
    """Under another name first, so that nobody sees half of it."""
    path = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", suffix=".part", dir=os.path.dirname(path))
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read_measured(path):
    """An earlier table: its head, and [(row, samples)]."""
    head, rows = read_table(path, ("samples_s",))
    measured = []
    for row, field in rows:
        try:
            samples = [float(word) for word in field["samples_s"].split()]
        except ValueError:
            samples = []
        if not samples or not all(0 <= x < math.inf for x in samples):
            raise Refused(f"{path}:{row.line}: samples_s should be seconds with blanks between them")
        measured.append((row, samples))
    return head, measured


def check_same(path, old, new):
    """Times of two libraries, kinds of inputs or element types are not put together."""
    for name in ("device_kind", "library", "inputs", "element_type"):
        if old.get(name, "") != str(new[name]):
            raise Refused(f"{path}: {name} is \"{old.get(name, '')}\" there and \"{new[name]}\" here: such times do not go "
                          "together")


# ---- what tensors an operator takes ---------------------------------------------------------------------------------

class Plan:
    """Shapes of the tensors of an operator.  inputs: [(shape, what)] with what "real" or ("index", n); weights: [shape];
    labels: None, ("real", shape) or ("class", shape, n); out: of what it gives, or None for a loss; more: for its function."""

    def __init__(self, inputs, weights=(), out=None, labels=None, **more):
        self.inputs = [(list(shape), "real") for shape in inputs]
        self.weights = [list(shape) for shape in weights]
        self.out = out
        self.labels = labels
        self.more = more

    def elements(self):
        """Of all tensors, gradients included."""
        n = sum(math.prod(shape) for shape, _ in self.inputs) + sum(map(math.prod, self.weights))
        out = math.prod(self.out) if self.out else max(math.prod(shape) for shape, _ in self.inputs)
        return 2 * n + 3 * out


def window_sides(size, out, kernel, stride, padding):
    """The extent that is read and the padding on either side with which a window makes `out` of it: those of the operator,
    else less padding.  A part at one border alone has padding on one side, which libraries do not take: it reads the rows
    that padding would be."""
    for p in range(padding, -1, -1):
        if size + 2 * p >= kernel and (size + 2 * p - kernel) // stride + 1 == out:
            return size, p
    return (out - 1) * stride + kernel, 0


def transposed_sides(size, out, kernel, stride):
    """The extent that is read, what is cut off on either side, and the rows that are added at the end again, with which a
    transposed convolution makes `out` or one row more."""
    while (size - 1) * stride + kernel < out:
        size += 1
    cut = (size - 1) * stride + kernel - out
    p, more = (cut + 1) // 2, cut % 2
    if more >= stride:
        p, more = cut // 2, 0
    return size, p, more


def channel_of(rank):
    """Images are n x c x h x w, sequences n x l x c, features n x c."""
    return 1 if rank == 4 else rank - 1


def axis_of(name, rank):
    axis = {"c": channel_of(rank), "h": 2, "w": 3, "l": 1}[name]
    if (name in "hw" and rank != 4) or (name == "l" and rank != 3):
        raise CannotMeasure(f"a tensor of rank {rank} has no axis {name}")
    return axis


def rank_wanted(row, *ranks):
    if len(row.out) not in ranks or any(len(shape) not in ranks for shape in row.inputs):
        raise CannotMeasure(f"shape {row.shape}: ranks {' or '.join(map(str, ranks))} are wanted")


def plan_window(row, groups):
    a, (n, c, h, w) = row.attribute, row.inputs[0]
    stride_h, stride_w = a["stride_h"] or a["kernel_h"], a["stride_w"] or a["kernel_w"]
    h, pad_h = window_sides(h, row.out[2], a["kernel_h"], stride_h, a["padding_h"])
    w, pad_w = window_sides(w, row.out[3], a["kernel_w"], stride_w, a["padding_w"])
    if c % groups or row.out[1] % groups:
        raise CannotMeasure(f"{groups} groups do not divide {c} and {row.out[1]} channels")
    return [n, c, h, w], {"stride": (stride_h, stride_w), "padding": (pad_h, pad_w)}


def plan_conv2d(row):
    rank_wanted(row, 4)
    a, out = row.attribute, row.out[1]
    x, more = plan_window(row, a["groups"])
    weights = [[out, x[1] // a["groups"], a["kernel_h"], a["kernel_w"]]]
    weights += [[out]] * ((a["bias"] == "true") + 2 * (a["norm"] == "batch"))
    return Plan([x], weights, row.out, groups=a["groups"], **more)


def plan_conv_transpose2d(row):
    rank_wanted(row, 4)
    a, (n, c, h, w), out = row.attribute, row.inputs[0], list(row.out)
    h, pad_h, more_h = transposed_sides(h, out[2], a["kernel_h"], a["stride_h"])
    w, pad_w, more_w = transposed_sides(w, out[3], a["kernel_w"], a["stride_w"])
    out[2] = (h - 1) * a["stride_h"] - 2 * pad_h + a["kernel_h"] + more_h
    out[3] = (w - 1) * a["stride_w"] - 2 * pad_w + a["kernel_w"] + more_w
    return Plan([[n, c, h, w]], [[c, out[1], a["kernel_h"], a["kernel_w"]]] + [[out[1]]] * (a["bias"] == "true"), out,
                stride=(a["stride_h"], a["stride_w"]), padding=(pad_h, pad_w), output_padding=(more_h, more_w))


def plan_pool2d(row):
    rank_wanted(row, 4)
    x, more = plan_window(row, 1)
    a = row.attribute
    return Plan([x], out=row.out, kernel=(a["kernel_h"], a["kernel_w"]), **more)


def plan_same(row):
    """Every input is as large as the output."""
    for shape in row.inputs:
        if shape != row.out:
            raise CannotMeasure(f"shape {row.shape}: {row.kind} reads what it makes")
    return Plan(row.inputs, out=row.out)


def plan_norm(row, weights):
    """Channels last, or for batch_norm second."""
    plan_same(row)
    shape, c = list(row.out), row.out[channel_of(len(row.out))]
    if row.kind == "batch_norm" and len(shape) == 3:
        shape = [shape[0] * shape[1], c]
    elif row.kind != "batch_norm" and len(shape) == 4:
        shape = [shape[0], shape[2], shape[3], c]
    return Plan([shape], [[c]] * weights, shape)


def plan_linear(row):
    x, out = row.inputs[0], row.out
    if x[:-1] != out[:-1]:
        raise CannotMeasure(f"shape {row.shape}: {row.kind} changes the last extent alone")
    weights = [[out[-1], x[-1]]] + [[out[-1]]] * (row.attribute["bias"] == "true")
    if row.kind == "linear":
        return Plan([x], weights, out)
    return Plan([x], weights, labels=("class", [math.prod(out[:-1])], out[-1]))


def plan_embedding(row):
    plan = Plan(row.inputs, [[row.attribute["vocab"], row.out[-1]]], row.out)
    plan.inputs = [(row.inputs[0], ("index", row.attribute["vocab"]))]
    return plan


def plan_lstm(row):
    rank_wanted(row, 3)
    n, _, hidden = row.out
    states = [[1, n, hidden]] * (len(row.inputs) - 1)
    if len(row.inputs) == 2:
        raise CannotMeasure(f"shape {row.shape}: an lstm reads x, or x and both states")
    width = row.inputs[0][2]
    weights = [[4 * hidden, width], [4 * hidden, hidden]] + [[4 * hidden]] * (2 * (row.attribute["bias"] == "true"))
    return Plan([row.inputs[0]] + states, weights, row.out, width=width, hidden=hidden)


def plan_attention(row):
    rank_wanted(row, 3)
    hidden = row.inputs[0][2]
    return Plan(row.inputs, [[hidden, hidden], [row.out[2], 2 * hidden]], row.out)


def plan_multihead(row):
    rank_wanted(row, 3)
    heads, width, keys = row.attribute["heads"], row.out[2], row.inputs[-1]
    packed = 3 if len(row.inputs) == 1 else 2
    if width % heads or keys[2] != packed * width or (packed == 2 and row.inputs[0] != row.out) or keys[1] < 1:
        raise CannotMeasure(f"shape {row.shape}: these are no queries, keys and values of {heads} heads")
    if packed == 3 and keys[1] < row.out[1]:
        raise CannotMeasure(f"shape {row.shape}: more queries than keys, which are packed with them")
    return Plan(row.inputs, out=row.out, heads=heads, size=width // heads, queries=row.out[1], keys=keys[1])


def plan_concat(row):
    """Of some inputs a part reads nothing."""
    axis = axis_of(row.attribute["axis"], len(row.out))
    inputs = [shape for shape in row.inputs if math.prod(shape)]
    if not inputs or sum(shape[axis] for shape in inputs) != row.out[axis]:
        raise CannotMeasure(f"shape {row.shape}: its inputs do not make up its output along {row.attribute['axis']}")
    return Plan(inputs, out=row.out, axis=axis)


def plan_loss(row):
    x, rank = row.out, len(row.out)
    if row.kind == "squared_error":
        return Plan(row.inputs, labels=("real", x) if len(row.inputs) == 1 else None)
    c = channel_of(rank)
    return Plan([x] if rank == 4 else [[math.prod(x[:-1]), x[-1]]],
                labels=("class", [x[0], x[2], x[3]] if rank == 4 else [math.prod(x[:-1])], x[c]))


def plan_shape(row):
    """slice, select, flatten, to_sequence, upsample2d"""
    more = {}
    if row.kind == "to_sequence":
        rank_wanted(row._replace(out=row.inputs[0]), 4)
    if row.kind == "upsample2d":
        rank_wanted(row, 4)
        more = {"size": tuple(row.out[2:])}
    elif math.prod(row.inputs[0]) != math.prod(row.out):
        raise CannotMeasure(f"shape {row.shape}: {row.kind} has as many numbers before as after")
    return Plan(row.inputs, out=row.out, **more)


PLANS = {
    "conv2d": plan_conv2d, "conv_transpose2d": plan_conv_transpose2d, "pool2d": plan_pool2d, "upsample2d": plan_shape,
    "batch_norm": lambda row: plan_norm(row, 2), "rms_norm": lambda row: plan_norm(row, 1),
    "layer_norm": lambda row: plan_norm(row, 2 if row.attribute["bias"] == "true" else 1),
    "relu": plan_same, "gelu": plan_same, "tanh": plan_same, "sigmoid": plan_same, "dropout": plan_same, "scale": plan_same,
    "add": plan_same, "mul": plan_same, "concat": plan_concat, "slice": plan_shape, "select": plan_shape,
    "flatten": plan_shape, "to_sequence": plan_shape, "linear": plan_linear, "embedding": plan_embedding,
    "position": lambda row: Plan(row.inputs, [row.out[1:]], row.out), "lstm": plan_lstm, "attention": plan_attention,
    "multihead_attention": plan_multihead, "softmax": plan_same, "softmax_cross_entropy": plan_loss,
    "linear_softmax": plan_linear, "squared_error": plan_loss,
}


def plan_of(row):
    if row.dtype not in DTYPES:
        raise CannotMeasure(f"nothing is computed in {row.dtype} here")
    plan = PLANS[row.kind](row)
    if row.phase == "weight_gradient" and not plan.weights:
        raise CannotMeasure(f"a {row.kind} has no weights")
    if row.phase == "input_gradient" and not any(what == "real" for _, what in plan.inputs):
        raise CannotMeasure(f"a {row.kind} has no input gradient")
    return plan


def is_free(row):
    return row.phase in VIEWS.get(row.kind, ())


def batches_of(rows, limit):
    """Rows in groups whose tensors are no more than `limit` bytes together; one row at least."""
    batch, held = [], 0
    for row, plan in rows:
        size = plan.elements() * DTYPES[row.dtype]
        if batch and held + size > limit:
            yield batch
            batch, held = [], 0
        batch.append((row, plan))
        held += size
    if batch:
        yield batch


# ---- What needs PyTorch ---------------------------------------------------------------------------------------------

def activate(torch, name, x):
    function = torch.nn.functional
    return {"none": lambda y: y, "relu": function.relu, "gelu": function.gelu, "tanh": torch.tanh,
            "sigmoid": torch.sigmoid}[name](x)


def forward_conv2d(torch, row, plan, x, w, labels):
    function, a, m = torch.nn.functional, row.attribute, plan.more
    bias = w[1] if a["bias"] == "true" else None
    y = function.conv2d(x[0], w[0], bias, m["stride"], m["padding"], 1, m["groups"])
    if a["norm"] == "batch":
        y = function.batch_norm(y, None, None, w[-2], w[-1], True)
    return activate(torch, a["activation"], y)


def forward_conv_transpose2d(torch, row, plan, x, w, labels):
    m = plan.more
    y = torch.nn.functional.conv_transpose2d(x[0], w[0], w[1] if len(w) > 1 else None, m["stride"], m["padding"],
                                             m["output_padding"])
    return activate(torch, row.attribute["activation"], y)


def forward_pool2d(torch, row, plan, x, w, labels):
    function, m = torch.nn.functional, plan.more
    pool = function.max_pool2d if row.attribute["type"] == "max" else function.avg_pool2d
    return pool(x[0], m["kernel"], m["stride"], m["padding"])


def forward_norm(torch, row, plan, x, w, labels):
    function = torch.nn.functional
    if row.kind == "batch_norm":
        return function.batch_norm(x[0], None, None, w[0], w[1], True)
    if row.kind == "layer_norm":
        return function.layer_norm(x[0], [plan.out[-1]], w[0], w[1] if len(w) > 1 else None)
    if hasattr(function, "rms_norm"):
        return function.rms_norm(x[0], [plan.out[-1]], w[0])
    return x[0] * torch.rsqrt((x[0] * x[0]).mean(-1, keepdim=True) + 1e-6) * w[0]


def forward_elementwise(torch, row, plan, x, w, labels):
    function = torch.nn.functional
    if row.kind in ("add", "mul"):
        y = x[0]
        for other in x[1:]:
            y = y + other if row.kind == "add" else y * other
        return activate(torch, row.attribute["activation"], y) if row.kind == "add" else y
    if row.kind == "dropout":
        return function.dropout(x[0], 0.1, True)
    if row.kind == "scale":
        return x[0] * 0.5
    return activate(torch, row.kind, x[0])


def forward_shape(torch, row, plan, x, w, labels):
    if row.kind == "concat":
        return torch.cat(x, plan.more["axis"])
    if row.kind == "slice":
        axis = axis_of(row.attribute["axis"], len(row.out))
        return x[0].narrow(axis, 0, row.out[axis])
    if row.kind == "select":
        return x[0].select(1, 0)
    if row.kind == "flatten":
        return x[0].flatten(1)
    if row.kind == "to_sequence":
        return x[0].flatten(2).transpose(1, 2).contiguous()
    return torch.nn.functional.interpolate(x[0], size=plan.more["size"], mode="nearest")


def forward_linear(torch, row, plan, x, w, labels):
    function = torch.nn.functional
    y = function.linear(x[0], w[0], w[1] if len(w) > 1 else None)
    if row.kind == "linear_softmax":
        return function.cross_entropy(y.flatten(0, -2), labels)
    return activate(torch, row.attribute["activation"], y)


def forward_loss(torch, row, plan, x, w, labels):
    function = torch.nn.functional
    if row.kind == "softmax":
        return torch.softmax(x[0], channel_of(len(row.out)))
    if row.kind == "softmax_cross_entropy":
        return function.cross_entropy(x[0], labels)
    return function.mse_loss(x[0], labels if labels is not None else x[1])


def forward_attention(torch, row, plan, x, w, labels):
    source = torch.cat(x[1:], 1) if len(x) > 2 else x[1]
    weight = torch.softmax(torch.matmul(torch.matmul(x[0], w[0]), source.transpose(1, 2)), -1)
    both = torch.cat([torch.matmul(weight, source), x[0]], -1)
    return torch.tanh(torch.nn.functional.linear(both, w[1]))


def heads_of(torch, plan, x):
    """q, k and v as n x heads x positions x size; they come packed head by head."""
    n, heads, size = plan.out[0], plan.more["heads"], plan.more["size"]
    if len(x) == 1:
        q, k, v = x[0].view(n, plan.more["keys"], heads, 3, size).unbind(3)
        q = q.narrow(1, plan.more["keys"] - plan.more["queries"], plan.more["queries"])
    else:
        q = x[0].view(n, plan.more["queries"], heads, size)
        k, v = x[1].view(n, plan.more["keys"], heads, 2, size).unbind(3)
    return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)


def lower_right(torch, plan, device):
    """The last query sees all keys."""
    try:
        from torch.nn.attention.bias import causal_lower_right
        return causal_lower_right(plan.more["queries"], plan.more["keys"])
    except ImportError:
        ones = torch.ones(plan.more["queries"], plan.more["keys"], dtype=torch.bool, device=device)
        return ones.tril(plan.more["keys"] - plan.more["queries"])


def forward_multihead(torch, row, plan, x, w, labels):
    q, k, v = heads_of(torch, plan, x)
    causal, square = row.attribute["causal"] == "true", plan.more["queries"] == plan.more["keys"]
    if row.attribute["fused"] == "true":
        mask = lower_right(torch, plan, q.device) if causal and not square else None
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal and square)
    else:
        score = torch.matmul(q, k.transpose(2, 3)) * (1 / math.sqrt(plan.more["size"]))
        if causal:
            seen = torch.ones(plan.more["queries"], plan.more["keys"], dtype=torch.bool, device=q.device)
            score = score.masked_fill(~seen.tril(plan.more["keys"] - plan.more["queries"]), -math.inf)
        y = torch.matmul(torch.softmax(score, -1), v)
    return y.transpose(1, 2).reshape(plan.out)


def forward_embedding(torch, row, plan, x, w, labels):
    return torch.nn.functional.embedding(x[0], w[0])


def forward_position(torch, row, plan, x, w, labels):
    return x[0] + w[0]


FORWARD = {
    "conv2d": forward_conv2d, "conv_transpose2d": forward_conv_transpose2d, "pool2d": forward_pool2d,
    "upsample2d": forward_shape, "batch_norm": forward_norm, "layer_norm": forward_norm, "rms_norm": forward_norm,
    "relu": forward_elementwise, "gelu": forward_elementwise, "tanh": forward_elementwise, "sigmoid": forward_elementwise,
    "dropout": forward_elementwise, "scale": forward_elementwise, "add": forward_elementwise, "mul": forward_elementwise,
    "concat": forward_shape, "slice": forward_shape, "select": forward_shape, "flatten": forward_shape,
    "to_sequence": forward_shape, "linear": forward_linear, "embedding": forward_embedding, "position": forward_position,
    "attention": forward_attention, "multihead_attention": forward_multihead, "softmax": forward_loss,
    "softmax_cross_entropy": forward_loss, "linear_softmax": forward_linear, "squared_error": forward_loss,
}


class Clock:
    """Seconds of one call: CUDA events on a GPU, the monotonic clock on a CPU."""

    def __init__(self, torch, device, cold, flush_bytes):
        self.torch, self.gpu, self.cold = torch, device.type == "cuda", cold
        self.sweep = torch.empty(flush_bytes, dtype=torch.int8, device=device) if flush_bytes else None

    def flush(self):
        if self.sweep is not None:
            self.sweep.zero_()

    def time(self, call):
        if not self.gpu:
            began = time.perf_counter()
            call()
            return time.perf_counter() - began
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3


class Operator:
    """The tensors of one row, and one sample of its time."""

    def __init__(self, torch, device, row, plan):
        self.torch, self.row, self.plan = torch, row, plan
        self.dtype = {"f64": torch.float64, "f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
                      "f16": torch.float16}[row.dtype]
        of_inputs, of_weights = row.phase != "weight_gradient", row.phase != "input_gradient"
        self.x = [self.make(device, shape, what, of_inputs) for shape, what in plan.inputs]
        self.w = [self.make(device, shape, "real", of_weights) for shape in plan.weights]
        self.labels = self.make_labels(device)
        self.module = None
        if row.kind == "lstm":
            self.module = torch.nn.LSTM(plan.more["width"], plan.more["hidden"], bias=row.attribute["bias"] == "true",
                                        batch_first=True, device=device, dtype=self.dtype)
            self.module.requires_grad_(of_weights)
            self.w = list(self.module.parameters())
        wanted = (self.x if of_inputs else []) + (self.w if of_weights else [])
        self.wanted = [tensor for tensor in wanted if tensor.requires_grad]
        self.samples = []
        y = self.forward()
        if plan.out and list(y.shape) != plan.out:
            raise CannotMeasure(f"PyTorch makes {'x'.join(map(str, y.shape))} of it, and not {'x'.join(map(str, plan.out))}")
        self.gradient = torch.randn_like(y) if plan.out else None

    def make(self, device, shape, what, gradient):
        if what != "real":
            return self.torch.randint(0, what[1], shape, device=device)
        return self.torch.randn(shape, device=device, dtype=self.dtype).requires_grad_(gradient)

    def make_labels(self, device):
        labels = self.plan.labels
        if labels is None:
            return None
        if labels[0] == "real":
            return self.torch.randn(labels[1], device=device, dtype=self.dtype)
        return self.torch.randint(0, labels[2], labels[1], device=device)

    def forward(self):
        if self.module is not None:
            return self.module(self.x[0], tuple(self.x[1:]) or None)[0]
        return FORWARD[self.row.kind](self.torch, self.row, self.plan, self.x, self.w, self.labels)

    def write(self, tensors):
        """In place and with other numbers than before, as whoever makes them would have."""
        with self.torch.no_grad():
            for tensor in tensors:
                if tensor.is_floating_point():
                    tensor.neg_()
                else:
                    tensor.add_(0)

    def sample(self, clock):
        """One call between sweeps of the caches and what writes its inputs."""
        matmul = self.torch.backends.cuda.matmul
        matmul.allow_tf32 = self.torch.backends.cudnn.allow_tf32 = self.row.dtype == "tf32"
        forward = self.row.phase == "forward"
        y = None if forward else self.forward()
        incoming = self.x if forward else [] if self.gradient is None else [self.gradient]
        if clock.cold:
            self.write(incoming)
            clock.flush()
        else:
            clock.flush()
            self.write(incoming)
        if forward:
            return clock.time(self.forward)
        return clock.time(lambda: self.torch.autograd.grad(y, self.wanted, self.gradient))


def build(torch, device, rows, left_out):
    made = []
    for row, plan in rows:
        try:
            made.append(Operator(torch, device, row, plan))
        except (CannotMeasure, RuntimeError, ValueError, NotImplementedError) as why:  # out of memory is a RuntimeError
            left_out.append((row, str(why).splitlines()[0] if str(why) else type(why).__name__))
    return made


def sample_all(made, clock, keep, left_out):
    """A round: each operator once; one that fails is left out from then on."""
    for operator in list(made):
        try:
            seconds = operator.sample(clock)
        except (RuntimeError, NotImplementedError) as why:
            made.remove(operator)
            left_out.append((operator.row, str(why).splitlines()[0] if str(why) else type(why).__name__))
            continue
        if keep:
            operator.samples.append(seconds)


def measure(torch, device, rows, options, left_out):
    """[(row, samples)], in batches that fit in memory.  Ctrl-C ends it, and what has samples by then is kept."""
    clock = Clock(torch, device, options.inputs == "cold", options.flush)
    began, measured = time.monotonic(), []
    for number, batch in enumerate(batches_of(rows, options.memory), 1):
        made, stopped = [], False
        try:
            made = build(torch, device, batch, left_out)
            for _ in range(options.warm_up):
                sample_all(made, clock, False, left_out)
            for round_number in range(options.rounds):
                if round_number and options.budget and time.monotonic() - began > options.budget:
                    break
                sample_all(made, clock, True, left_out)
                progress(f"batch {number}, round {round_number + 1} of {options.rounds}, {len(made)} times")
        except KeyboardInterrupt:
            stopped = True
        for operator in made:
            samples, row = operator.samples, operator.row
            if samples and quantile(sorted(samples), 0.5) > 0:
                measured.append((row, samples))
            elif samples:
                left_out.append((row, "it takes less than the clock can tell"))
        if stopped:
            return measured, True
        del made
    return measured, False


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\033[K")
        sys.stderr.flush()


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def describe(torch, device, row, options):
    """What was measured on, and how."""
    gpu = device.type == "cuda"
    library = f"PyTorch {torch.__version__}"
    if gpu:
        library += f", CUDA {torch.version.cuda or torch.version.hip}, cuDNN {torch.backends.cudnn.version()}"
    properties = torch.cuda.get_device_properties(device) if gpu else None
    return {
        "device_kind": row.device, "library": library,
        "machine": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": properties.name if gpu else processor_name(),
        "cores": properties.multi_processor_count if gpu else torch.get_num_threads(),
        "inputs": options.inputs, "element_type": "dtype", "rounds": options.rounds, "warm_up": options.warm_up,
        "settings": f"caches swept with {options.flush} bytes, cudnn.benchmark {'on' if options.cudnn_benchmark else 'off'}",
        "wallclock": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def prepare(torch, options):
    """The device, and what follows from it where it was not said."""
    try:
        device = torch.device(options.device)
    except RuntimeError as why:
        raise Refused(f"--device {options.device}: {why}") from None
    if device.type not in ("cuda", "cpu"):
        raise Refused(f"--device {options.device}: there are cuda:N and cpu")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise Refused(f"--device {options.device}: PyTorch finds no GPU here; --device cpu measures on the processor")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise Refused(f"--device {options.device}: PyTorch finds {torch.cuda.device_count()} here, from cuda:0 on")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.backends.cudnn.benchmark = options.cudnn_benchmark
    torch.manual_seed(options.seed)
    if options.flush is None:
        cache = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) if device.type == "cuda" else 0
        options.flush = max(2 * cache, 128 << 20)
    if not options.memory:
        free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else \
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        options.memory = free // 2
    return device


# ---- the command line -----------------------------------------------------------------------------------------------

def size_of(text):
    number, unit = text.strip(), 1
    for name, factor in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)):
        if number.endswith(name):
            number, unit = number[:-len(name)], factor
            break
    try:
        value = float(number) * unit
    except ValueError:
        value = -1
    if not 0 <= value < 2**62:
        raise argparse.ArgumentTypeError(f"'{text}' is no size, such as 256MiB")
    return int(value)


def seconds_of(text):
    number, unit = text.strip(), 1
    for name, factor in (("ms", 1e-3), ("min", 60), ("h", 3600), ("s", 1)):
        if number.endswith(name):
            number, unit = number[:-len(name)], factor
            break
    try:
        value = float(number) * unit
    except ValueError:
        value = -1
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no time, such as 90s or 5min")
    return value


def count_of(least):
    def read(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"'{text}' should be a whole number of at least {least}")
        return value
    return read


def read_options(words):
    parser = argparse.ArgumentParser(
        prog="profile_torch.py", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures operators with PyTorch for soapstone.",
        epilog="example:\n  soapstone profile -m bert -t p100_cluster -s data_parallel --list needed.csv\n"
               "  python3 profile_torch.py needed.csv --output p100.csv --device cuda:0 --budget 10min\n"
               "  soapstone profile --import p100.csv --output p100.h5\n\n"
               "exit status: 0 done; 1 some rows could not be measured, which are listed; 2 wrong input; 3 no PyTorch, or\n"
               "nothing could be written; 130 interrupted: what was measured by then is written")
    parser.add_argument("list", metavar="NEEDED.csv", help="what to measure, of soapstone profile --list")
    parser.add_argument("--output", "-o", metavar="FILE.csv", help="is written, whole or not at all")
    parser.add_argument("--device", default="cuda:0", help="cuda:N or cpu; cuda:0 unless given")
    parser.add_argument("--rounds", "-n", type=count_of(1), default=15, help="samples of each time; 15 unless given")
    parser.add_argument("--warm-up", type=count_of(0), default=2, help="rounds before, not counted; 2 unless given")
    parser.add_argument("--budget", "-b", type=seconds_of, default=0, metavar="TIME",
                        help="no round begins after so long, but the first of a batch: 10min")
    parser.add_argument("--only-missing", metavar="EXISTING.csv",
                        help="what it has is not measured again, and is in the output too")
    parser.add_argument("--inputs", choices=("warm", "cold"), default="warm", help="just written, or in no cache")
    parser.add_argument("--flush", type=size_of, metavar="SIZE", help="swept through the caches before each sample; twice the "
                        "second-level cache, 128MiB at least, unless given; 0: nothing")
    parser.add_argument("--memory", type=size_of, default=0, metavar="SIZE",
                        help="of tensors at a time; half of what is free unless given")
    parser.add_argument("--threads", type=count_of(1), help="of the processor; as PyTorch has it unless given")
    parser.add_argument("--cudnn-benchmark", action="store_true", help="cuDNN tries its algorithms in the first round")
    parser.add_argument("--seed", type=count_of(0), default=1, help="of the numbers; 1 unless given")
    parser.add_argument("--dry-run", action="store_true", help="says what would be measured; needs no PyTorch")
    options = parser.parse_args(words)
    if not options.output and not options.dry_run:
        parser.error("--output FILE.csv is missing")
    return options


def plan_rows(rows, left_out):
    planned = []
    for row in rows:
        try:
            planned.append((row, plan_of(row)))
        except CannotMeasure as why:
            left_out.append((row, str(why)))
    return planned


def tell(path, left_out):
    for row, why in left_out:
        print(f"{path}:{row.line}: left out: {row.kind} {row.shape} {row.dtype} {row.phase}: {why}", file=sys.stderr)


def import_torch():
    try:
        import torch
    except ImportError as why:
        print(f"profile_torch.py: PyTorch is needed and cannot be loaded ({why}); see pytorch.org on how to install it",
              file=sys.stderr)
        sys.exit(3)
    return torch


def stop(*_):
    raise KeyboardInterrupt


def run(options, torch=None):
    rows = read_list(options.list)
    old_head, old = read_measured(options.only_missing) if options.only_missing else ({}, [])
    known = {key_of(row) for row, _ in old}
    wanted, left_out = [row for row in rows if key_of(row) not in known], []
    planned = plan_rows([row for row in wanted if not is_free(row)], left_out)
    free = [(row, [0.0]) for row in wanted if is_free(row)]
    if options.dry_run:
        for row, plan in planned:
            print(f"{row.kind} {row.shape} {row.dtype} {row.phase}: {plan.elements() * DTYPES[row.dtype]} bytes of tensors")
        tell(options.list, left_out)
        print(f"{len(planned)} times would be measured, {len(free)} cost nothing, {len(rows) - len(wanted)} are known")
        return 1 if left_out else 0
    folder = os.path.dirname(os.path.realpath(options.output))
    if os.path.isdir(options.output) or not os.access(folder, os.W_OK):
        raise Refused(f"--output {options.output}: nothing can be written there")
    torch = torch or import_torch()
    device = prepare(torch, options)
    head = describe(torch, device, rows[0], options)
    if old:
        check_same(options.only_missing, old_head, head)
    signal.signal(signal.SIGTERM, stop)
    measured, stopped = measure(torch, device, planned, options, left_out)
    progress("")
    everything = old + measured + ([] if stopped and not measured else free)
    if everything:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what there is is kept
        write_whole(options.output, table_text(head, everything))
    tell(options.list, left_out)
    print(f"{len(measured)} times measured, {len(free)} cost nothing, {len(old)} known before, {len(left_out)} left out" +
          (f"; written: {options.output}" if everything else ""))
    return 130 if stopped else 1 if left_out else 0


def main(words):
    try:
        return run(read_options(words))
    except Refused as why:
        print(f"profile_torch.py: {why}", file=sys.stderr)
        return 2
    except OSError as why:
        print(f"profile_torch.py: {why}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What validation/profile_torch.py makes of lists, right and wrong, and of its samples.  PyTorch itself is not asked: a
stand-in that knows shapes and has a clock takes its place (fake_torch.py)."""
import contextlib
import importlib.util
import io
import os
import statistics
import sys

spec = importlib.util.spec_from_file_location("profile_torch", os.environ["SS_SRCDIR"] + "/validation/profile_torch.py")
profile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(profile)
sys.path.insert(0, os.environ["SS_SRCDIR"] + "/tests/lua")
import fake_torch  # noqa: E402

passed = failed = 0
HEADER = "kind,attributes,shape,dtype,phase,device\n"
LINEAR = 'linear,"bias=true activation=relu","8x6 < 8x4",f32,forward,p100\n'


def claim(function):
    global passed, failed
    fake_torch.fail.clear()
    fake_torch.interrupt_at[0] = None
    fake_torch.cuda.is_available = lambda: True
    try:
        function()
        passed += 1
    except Exception as why:  # every claim is told
        import traceback
        traceback.print_exc()
        print(f"FAILED {function.__name__}: {why}")
        failed += 1


def put(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(*words, torch=fake_torch):
    """The exit status, and what was said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            options = profile.read_options(list(words))
            status = profile.run(options, torch)
        except profile.Refused as why:
            print(why)
            status = 2
        except SystemExit as end:
            status = end.code
    return status, said.getvalue()


def refused(text, *lines, words=()):
    status, said = run(put("wrong.csv", HEADER + "".join(lines)), "--dry-run", *words)
    assert status == 2 and text in said, f"status {status}: {said!r}, not {text!r}"


@claim
def a_wrong_list_is_refused_with_its_line():
    refused("wrong.csv:2: linaer is no kind of operator; did you mean linear?", LINEAR.replace("linear", "linaer"))
    refused("wrong.csv:3: attribute bais: linear has none of that name; did you mean bias?", LINEAR,
            LINEAR.replace("bias", "bais"))
    refused("wrong.csv:2: attribute bias is perhaps; there are true, false", LINEAR.replace("=true", "=perhaps"))
    refused("attribute bias is there twice", LINEAR.replace("activation=relu", "bias=true"))
    refused("attribute kernel_h is missing", 'conv2d,,"1x1x1x1 < 1x1x1x1",f32,forward,p100\n')
    refused("attribute heads is many: a whole number is wanted",
            'multihead_attention,heads=many,"1x1x1 < 1x1x3",f32,forward,p100\n')
    refused('shape 8x6 < 8xfour: "8xfour" is no list of extents', LINEAR.replace("8x4", "8xfour"))
    refused("shape 8x6: extents of the output, then of each input are wanted", LINEAR.replace(" < 8x4", ""))
    refused("linear reads 1, and there are 2", LINEAR.replace("8x4", "8x4, 8x4"))
    refused("phase sideways: there are forward, backward", LINEAR.replace("forward", "sideways"))
    refused("dtype f31: there are f64, f32", LINEAR.replace("f32", "f31"))
    refused("wrong.csv:2: 5 fields, and the header has 6", LINEAR.replace(",p100", ""))
    refused("wrong.csv:2: ", LINEAR.replace('"8x6', '"8x6" "'))
    refused("wrong.csv:3: device is a100, and line 2 has p100", LINEAR, LINEAR.replace("p100", "a100"))
    refused("it has no rows: nothing is to be measured")
    assert run(put("empty.csv", "# nothing\n"), "--dry-run") == (2, "empty.csv: it is empty: a header line is wanted\n")
    assert "column device is missing" in run(put("few.csv", "kind,attributes,shape,dtype,phase\n"), "--dry-run")[1]
    assert run("nowhere.csv", "--dry-run") == (2, "nowhere.csv: No such file or directory\n")


@claim
def wrong_options_are_refused():
    put("one.csv", HEADER + LINEAR)
    for text, words in {"--output FILE.csv is missing": (), "'none' should be a whole number of at least 1": ("-n", "none"),
                        "'-3s' is no time": ("--budget=-3s",), "'big' is no size": ("--memory", "big")}.items():
        status, said = run("one.csv", *words)
        assert status == 2 and text in said, said
    assert run("one.csv", "-o", "x.csv", "--device", "tpu:0") == (2, "--device tpu:0: there are cuda:N and cpu\n")
    assert "from cuda:0 on" in run("one.csv", "-o", "x.csv", "--device", "cuda:2")[1]
    fake_torch.cuda.is_available = lambda: False
    assert "PyTorch finds no GPU here" in run("one.csv", "-o", "x.csv")[1]
    assert "nothing can be written there" in run("one.csv", "-o", "nowhere/x.csv")[1]
    assert not os.path.exists("x.csv")


@claim
def parts_of_images_get_windows_that_fit():
    for size, out, kernel, stride, padding in [(224, 112, 7, 2, 3), (115, 56, 7, 2, 3), (113, 56, 7, 2, 3), (57, 56, 3, 1, 1),
                                               (56, 56, 3, 1, 1), (58, 56, 3, 1, 1), (1, 1, 5, 1, 2), (0, 1, 3, 1, 3)]:
        read, p = profile.window_sides(size, out, kernel, stride, padding)
        assert (read + 2 * p - kernel) // stride + 1 == out and 0 <= p <= padding, (size, out)
        assert read - size <= padding or not size
    assert profile.window_sides(224, 112, 7, 2, 3) == (224, 3)
    for size, out, kernel, stride in [(4, 8, 4, 2), (4, 7, 4, 2), (3, 4, 4, 2), (5, 8, 4, 2), (4, 4, 3, 1), (4, 5, 3, 1), (1, 9, 3, 2)]:
        read, p, more = profile.transposed_sides(size, out, kernel, stride)
        made = (read - 1) * stride - 2 * p + kernel + more
        assert out <= made <= out + 1 and 0 <= more < stride and p >= 0, (size, out, made)


@claim
def statistics_are_those_of_soapstone():
    x = [3.0, 1.0, 2.0, 4.0, 100.0]
    s = profile.statistics_of(x)
    assert s["seconds"] == statistics.median(x) and s["outliers"] == 1 and s["samples"] == 5
    assert s["mean_s"] == 2.5 and abs(s["spread_s"] - statistics.stdev([1, 2, 3, 4])) < 1e-15
    assert s["q25_s"] == 2 and s["q75_s"] == 4 and abs(s["q95_s"] - 80.8) < 1e-12 and abs(s["q05_s"] - 1.2) < 1e-12
    assert profile.statistics_of([7.0])["spread_s"] == 0


@claim
def batches_hold_what_fits():
    rows = profile.read_list(put("list.csv", HEADER + LINEAR + LINEAR.replace("forward", "backward")
                                 + LINEAR.replace("8x", "80x")))
    planned = profile.plan_rows(rows, [])
    size = planned[0][1].elements() * 4
    assert [len(b) for b in profile.batches_of(planned, 2 * size)] == [2, 1]
    assert [len(b) for b in profile.batches_of(planned, size)] == [1, 1, 1]
    assert [len(b) for b in profile.batches_of(planned, 1)] == [1, 1, 1]
    assert [len(b) for b in profile.batches_of(planned, 1 << 40)] == [3]


EVERY_KIND = '''
conv2d,"kernel_h=3 kernel_w=3 stride_h=2 stride_w=2 padding_h=1 padding_w=1 groups=2 bias=true norm=batch activation=gelu","2x8x4x4 < 2x6x8x8"
conv_transpose2d,"kernel_h=4 kernel_w=4 stride_h=2 stride_w=2 padding_h=1 padding_w=1","2x8x16x16 < 2x6x8x8"
pool2d,"type=avg kernel_h=3 kernel_w=3 stride_h=0 stride_w=0 padding_h=1 padding_w=1","2x8x3x3 < 2x8x8x8"
upsample2d,"factor_h=2 factor_w=2","2x8x16x16 < 2x8x8x8"
batch_norm,"","4x5x6 < 4x5x6"
layer_norm,"bias=true","4x5x6 < 4x5x6"
layer_norm,"bias=false","4x5x6x7 < 4x5x6x7"
rms_norm,"","4x5x6 < 4x5x6"
relu,"","4x5 < 4x5"
gelu,"","4x5 < 4x5"
tanh,"","4x5 < 4x5"
sigmoid,"","4x5 < 4x5"
dropout,"","4x5 < 4x5"
scale,"","4x5 < 4x5"
add,"activation=tanh","4x5 < 4x5, 4x5, 4x5"
mul,"","4x5 < 4x5, 4x5"
concat,"axis=l","4x5x3 < 4x2x3, 4x0x3, 4x3x3"
slice,"axis=c start=3","4x5 < 4x5"
select,"index=0","4x3 < 4x1x3"
flatten,"","4x60 < 4x3x4x5"
to_sequence,"","4x20x3 < 4x3x4x5"
linear,"bias=false activation=sigmoid","4x5x7 < 4x5x6"
embedding,"vocab=100 dtype=bf16","4x5x7 < 4x5"
position,"positions=9","4x5x7 < 4x5x7"
lstm,"bias=true state_steps=5","4x5x7 < 4x5x6, 4x5x7, 4x5x7"
lstm,"","4x5x7 < 4x5x6"
attention,"","4x5x3 < 4x5x6, 4x7x6, 4x2x6"
multihead_attention,"heads=2 causal=true fused=true","4x5x6 < 4x5x18"
multihead_attention,"heads=2 causal=true fused=true","4x3x6 < 4x5x18"
multihead_attention,"heads=3 causal=true fused=false","4x5x6 < 4x5x6, 4x7x12"
softmax,"","4x5x6 < 4x5x6"
softmax_cross_entropy,"","4x5x6 < 4x5x6"
softmax_cross_entropy,"","4x5x6x7 < 4x5x6x7"
linear_softmax,"bias=true","4x5x7 < 4x5x6"
squared_error,"","4x5 < 4x5"
squared_error,"","4x5 < 4x5, 4x5"
'''
NO_WEIGHTS = ("pool2d upsample2d relu gelu tanh sigmoid dropout scale add mul concat slice select flatten to_sequence "
              "multihead_attention softmax softmax_cross_entropy squared_error").split()


def every_row():
    for line in EVERY_KIND.split("\n"):
        kind = line.partition(",")[0]
        phases = ["forward"] + ["backward", "input_gradient"] * (kind != "embedding") + ["weight_gradient"] * (kind not in NO_WEIGHTS)
        for phase in phases if kind else []:
            yield f"{line},bf16,{phase},a100\n"


@claim
def every_kind_is_built_of_the_shape_that_the_list_says():
    listed = [line.partition(",")[0] for line in EVERY_KIND.split("\n") if line]
    assert sorted(set(listed)) == sorted(profile.KINDS) == sorted(profile.PLANS), "a kind is missing here"
    rows = list(every_row())
    status, said = run(put("all.csv", HEADER + "".join(rows)), "-o", "all.out.csv", "-n", "3", "--warm-up", "1")
    assert status == 0, said
    head, measured = profile.read_measured("all.out.csv")
    assert len(measured) == len(rows)
    assert head["library"] == "PyTorch 0.0-fake, CUDA 12.1, cuDNN 8900" and head["processor"] == "Fake GPU"
    free = [row for row, samples in measured if samples == [0.0]]
    assert sorted({row.kind for row in free}) == ["flatten", "select", "slice"] and len(free) == 5, free
    assert all(len(samples) == 3 and min(samples) > 0 for row, samples in measured if row not in free)


@claim
def a_time_that_is_listed_twice_is_measured_once():
    again = LINEAR.replace('"bias=true activation=relu"', "activation=relu").replace("8x6 < 8x4", "8x6<8x4")
    assert len(profile.read_list(put("again.csv", HEADER + LINEAR + again))) == 1


@claim
def the_last_query_sees_all_keys():
    fake_torch.calls.clear()
    for shape, call in {"4x5x6 < 4x5x18": "attention causal", "4x3x6 < 4x5x18": "attention masked"}.items():
        put("heads.csv", HEADER + f'multihead_attention,"heads=2 causal=true","{shape}",f32,forward,p100\n')
        assert run("heads.csv", "-o", "heads.out.csv", "-n", "1")[0] == 0 and call in fake_torch.calls, shape


@claim
def caches_are_swept_before_or_after_inputs_are_written():
    order = {}
    for inputs in ("warm", "cold"):
        fake_torch.calls.clear()
        assert run("two.csv" if os.path.exists("two.csv") else put("two.csv", HEADER + LINEAR), "-o", "order.csv", "-n", "1",
                   "--warm-up", "0", "--flush", "1000", "--inputs", inputs)[0] == 0
        order[inputs] = [name for name in fake_torch.calls if name in ("sweep", "write", "linear")]
    # built with one call, then swept, written (x) and timed
    assert order["warm"][:4] == ["linear", "sweep", "write", "linear"], order
    assert order["cold"][:4] == ["linear", "write", "sweep", "linear"], order


@claim
def rounds_go_over_all_operators_in_turn():
    fake_torch.calls.clear()
    lines = LINEAR + 'relu,"","9x9 < 9x9",f32,forward,p100\n'
    assert run(put("two.csv", HEADER + lines), "-o", "two.out.csv", "-n", "3", "--warm-up", "1", "--flush", "0")[0] == 0
    order = [name for name in fake_torch.calls if name in ("linear", "relu")]
    # built, then four rounds; a linear here is followed by its own relu
    assert order == ["linear", "relu", "relu"] * 5, order


@claim
def what_cannot_be_measured_is_left_out_and_said():
    fake_torch.fail["conv2d"] = "out of memory"
    conv = 'conv2d,"kernel_h=3 kernel_w=3","1x8x6x6 < 1x8x8x8",f32,forward,p100\n'
    f8, weights = LINEAR.replace("f32", "f8"), 'relu,"","9x9 < 9x9",f32,weight_gradient,p100\n'
    status, said = run(put("some.csv", HEADER + conv + f8 + weights + LINEAR), "-o", "some.out.csv")
    assert status == 1 and "1 times measured, 0 cost nothing, 0 known before, 3 left out" in said, said
    for text in ("some.csv:2: left out: conv2d 1x8x6x6 < 1x8x8x8 f32 forward: out of memory", "some.csv:3: left out: linear",
                 "nothing is computed in f8 here", "some.csv:4: left out: relu 9x9 < 9x9 f32 weight_gradient: a relu has no weights"):
        assert text in said, said
    status, said = run(put("none.csv", HEADER + conv), "-o", "none.out.csv")
    assert status == 1 and not os.path.exists("none.out.csv"), said


@claim
def only_what_is_missing_is_measured():
    put("first.csv", HEADER + LINEAR)
    assert run("first.csv", "-o", "first.out.csv", "-n", "2")[0] == 0
    put("more.csv", HEADER + LINEAR + LINEAR.replace("forward", "backward"))
    status, said = run("more.csv", "-o", "more.out.csv", "-n", "5", "--only-missing", "first.out.csv")
    assert status == 0 and "1 times measured, 0 cost nothing, 1 known before" in said, said
    assert [len(samples) for _, samples in profile.read_measured("more.out.csv")[1]] == [2, 5]
    status, said = run("more.csv", "-o", "more.out.csv", "--only-missing", "first.out.csv", "--inputs", "cold")
    assert status == 2 and 'inputs is "warm" there and "cold" here: such times do not go together' in said, said
    table = open("first.out.csv", encoding="utf-8").read()
    put("bare.csv", table[:table.rindex(',"')] + ",\n")
    status, said = run("more.csv", "-o", "more.out.csv", "--only-missing", "bare.csv")
    assert status == 2 and "samples_s should be seconds with blanks between them" in said, said
    status, said = run("more.csv", "-o", "more.out.csv", "--only-missing", "first.csv")
    assert status == 2 and "column samples_s is missing" in said, said


@claim
def ctrl_c_keeps_what_there_is():
    put("long.csv", HEADER + LINEAR + LINEAR.replace("8x", "9x"))
    fake_torch.calls.clear()
    fake_torch.interrupt_at[0] = 200
    status, said = run("long.csv", "-o", "long.out.csv", "-n", "1000", "--flush", "0")
    assert status == 130 and "2 times measured" in said, (status, said)
    assert all(5 < len(samples) < 1000 for _, samples in profile.read_measured("long.out.csv")[1])
    fake_torch.interrupt_at[0] = 3
    assert run("long.csv", "-o", "early.csv")[0] == 130 and not os.path.exists("early.csv")


@claim
def a_budget_ends_the_rounds_but_the_first():
    assert run("long.csv", "-o", "short.csv", "-n", "1000", "--budget", "1e-9")[0] == 0
    assert [len(samples) for _, samples in profile.read_measured("short.csv")[1]] == [1, 1]


@claim
def nothing_is_left_half_written():
    put("kept.csv", "mine\n")
    real = os.replace
    os.replace = lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    try:
        profile.write_whole("kept.csv", "other\n")
        raise AssertionError("it was written")
    except OSError:
        pass
    finally:
        os.replace = real
    assert open("kept.csv", encoding="utf-8").read() == "mine\n" and not [f for f in os.listdir(".") if f.endswith(".part")]


@claim
def on_a_processor_it_is_timed_by_the_clock():
    assert run("first.csv", "-o", "cpu.csv", "--device", "cpu", "--threads", "2", "--flush", "1MiB")[0] == 0
    head, measured = profile.read_measured("cpu.csv")
    assert head["library"] == "PyTorch 0.0-fake" and head["cores"] == "3" and len(measured[0][1]) == 15


print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)

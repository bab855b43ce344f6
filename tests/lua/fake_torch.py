"""Stands in for PyTorch where it is not installed: tensors are shapes, and a clock goes on by what is computed.  It knows
no more of PyTorch than profile_torch.py asks, and refuses shapes that do not fit, as PyTorch does."""
import contextlib
import math
import types

now = [0.0]  # seconds on the device
calls = []  # names of what was called, for tests to look at
fail = {}  # name: error to raise
interrupt_at = [None]  # Ctrl-C in so many calls


def work(name, *tensors):
    calls.append(name)
    if interrupt_at[0] is not None:
        interrupt_at[0] -= 1
        if interrupt_at[0] <= 0:
            interrupt_at[0] = None
            raise KeyboardInterrupt
    if name in fail:
        raise RuntimeError(fail[name])
    now[0] += 1e-6 + 1e-9 * sum(math.prod(t.shape) for t in tensors if isinstance(t, Tensor))


def broadcast(a, b):
    a, b = list(a), list(b)
    while len(a) < len(b):
        a.insert(0, 1)
    while len(b) < len(a):
        b.insert(0, 1)
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        raise RuntimeError(f"shapes {a} and {b} do not go together")
    return [max(x, y) for x, y in zip(a, b)]


class Tensor:
    def __init__(self, shape, dtype, requires_grad=False):
        self.shape, self.dtype, self.requires_grad, self.device = tuple(shape), dtype, requires_grad, device("cuda:0")

    def like(self, shape):
        return Tensor(shape, self.dtype)

    def requires_grad_(self, on=True):
        self.requires_grad = on
        return self

    def is_floating_point(self):
        return self.dtype in (float64, float32, bfloat16, float16)

    def both(self, other):
        work("elementwise", self, other)
        return self.like(broadcast(self.shape, other.shape) if isinstance(other, Tensor) else self.shape)

    __add__ = __mul__ = both

    def __invert__(self):
        return self

    def same(self, *_, **__):
        work("in place", self)
        return self

    def zero_(self):
        work("sweep", self)

    def neg_(self):
        work("write", self)

    add_ = tril = masked_fill = contiguous = same

    def view(self, *shape):
        assert math.prod(shape) == math.prod(self.shape), (shape, self.shape)
        return self.like(shape)

    def reshape(self, shape):
        return self.view(*shape)

    def unbind(self, dim):
        return [self.like(self.shape[:dim] + self.shape[dim + 1:])] * self.shape[dim]

    def transpose(self, a, b):
        shape = list(self.shape)
        shape[a], shape[b] = shape[b], shape[a]
        return self.like(shape)

    def narrow(self, dim, start, length):
        assert start + length <= self.shape[dim]
        return self.like(self.shape[:dim] + (length,) + self.shape[dim + 1:])

    def select(self, dim, index):
        assert index < self.shape[dim]
        return self.like(self.shape[:dim] + self.shape[dim + 1:])

    def flatten(self, start, end=-1):
        end %= len(self.shape)
        return self.like(self.shape[:start] + (math.prod(self.shape[start:end + 1]),) + self.shape[end + 1:])

    def mean(self, dim, keepdim):
        return self.like(self.shape[:-1] + (1,))


class DType(str):
    pass


float64, float32, bfloat16, float16, int8, int64, bool = map(DType, "float64 float32 bfloat16 float16 int8 int64 bool".split())


class device:
    def __init__(self, text):
        self.type, _, index = text.partition(":")
        self.index = int(index) if index else None


def make(name):
    def function(shape, *, device=None, dtype=float32):
        work(name)
        return Tensor(shape if isinstance(shape, (list, tuple)) else [shape], dtype)
    return function


randn, empty = make("randn"), make("empty")


def randint(low, high, shape, device=None):
    return Tensor(shape, int64)


def ones(*shape, dtype=float32, device=None):
    return Tensor(shape, dtype)


def randn_like(t):
    return Tensor(t.shape, t.dtype)


def matmul(a, b):
    work("matmul", a, b)
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"shapes {a.shape} and {b.shape} do not go together")
    return a.like((a.shape[:-2] if len(a.shape) >= len(b.shape) else b.shape[:-2]) + (a.shape[-2], b.shape[-1]))


def cat(tensors, dim):
    work("cat", *tensors)
    shape = list(tensors[0].shape)
    shape[dim] = sum(t.shape[dim] for t in tensors)
    return tensors[0].like(shape)


def unary(name):
    def function(x, *_, **__):
        work(name, x)
        return x.like(x.shape)
    return function


tanh, sigmoid, softmax, rsqrt = map(unary, ("tanh", "sigmoid", "softmax", "rsqrt"))


def linear(x, w, b=None):
    work("linear", x, w)
    if x.shape[-1] != w.shape[1] or (b is not None and b.shape != (w.shape[0],)):
        raise RuntimeError("shapes do not go together")
    return x.like(x.shape[:-1] + (w.shape[0],))


def conv2d(x, w, b, stride, padding, dilation, groups):
    work("conv2d", x, w)
    assert x.shape[1] == w.shape[1] * groups and dilation == 1 and (b is None or b.shape == (w.shape[0],))
    return x.like((x.shape[0], w.shape[0]) + tuple((x.shape[2 + i] + 2 * padding[i] - w.shape[2 + i]) // stride[i] + 1
                                                   for i in range(2)))


def conv_transpose2d(x, w, b, stride, padding, more):
    work("conv_transpose2d", x, w)
    assert x.shape[1] == w.shape[0] and all(more[i] < stride[i] for i in range(2))
    return x.like((x.shape[0], w.shape[1]) + tuple((x.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + w.shape[2 + i] + more[i]
                                                   for i in range(2)))


def pool(x, kernel, stride, padding):
    work("pool", x)
    assert all(padding[i] <= kernel[i] // 2 for i in range(2))
    return x.like(x.shape[:2] + tuple((x.shape[2 + i] + 2 * padding[i] - kernel[i]) // stride[i] + 1 for i in range(2)))


def interpolate(x, size, mode):
    work("interpolate", x)
    return x.like(x.shape[:2] + size)


def batch_norm(x, mean, variance, w, b, training):
    work("batch_norm", x)
    assert training and w.shape == b.shape == (x.shape[1],)
    if math.prod(x.shape) == x.shape[1]:
        raise ValueError("Expected more than 1 value per channel when training")
    return x.like(x.shape)


def layer_norm(x, shape, w, b):
    work("layer_norm", x)
    assert tuple(shape) == w.shape == (x.shape[-1],) and (b is None or b.shape == w.shape)
    return x.like(x.shape)


def embedding(index, w):
    work("embedding", index)
    assert index.dtype == int64
    return w.like(index.shape + (w.shape[1],))


def cross_entropy(x, labels):
    work("cross_entropy", x)
    assert labels.shape == x.shape[:1] + x.shape[2:] and labels.dtype == int64
    return x.like(())


def mse_loss(x, y):
    work("mse_loss", x)
    assert x.shape == y.shape
    return x.like(())


def scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=False):
    work("attention" + (" causal" if is_causal else " masked" if attn_mask is not None else ""), q, k)
    assert q.shape[-1] == k.shape[-1] and k.shape == v.shape and not (is_causal and q.shape != k.shape)
    assert attn_mask is None or attn_mask.shape == (q.shape[2], k.shape[2])
    return q.like(q.shape)


class LSTM:
    def __init__(self, width, hidden, bias, batch_first, device, dtype):
        assert batch_first
        self.width, self.hidden, self.dtype = width, hidden, dtype
        self.weight = [Tensor([4 * hidden, width], dtype, True), Tensor([4 * hidden, hidden], dtype, True)]

    def requires_grad_(self, on):
        for weight in self.weight:
            weight.requires_grad_(on)

    def parameters(self):
        return iter(self.weight)

    def __call__(self, x, states=None):
        work("lstm", x)
        assert x.shape[2] == self.width and (states is None or [s.shape for s in states] == [(1, x.shape[0], self.hidden)] * 2)
        return x.like(x.shape[:2] + (self.hidden,)), states


def grad(y, wanted, gradient):
    work("grad", y, *wanted)
    assert wanted and all(t.requires_grad for t in wanted)
    assert (gradient is None) == (y.shape == ()) and (gradient is None or gradient.shape == y.shape)


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = now[0]

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1e3 * (end.at - self.at)


properties = types.SimpleNamespace(name="Fake GPU", multi_processor_count=7, L2_cache_size=1 << 20)
cuda = types.SimpleNamespace(Event=Event, is_available=lambda: True, device_count=lambda: 2, set_device=lambda d: None,
                             get_device_properties=lambda d: properties, mem_get_info=lambda d: (1 << 34, 1 << 34))
backends = types.SimpleNamespace(
    cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)),
    cudnn=types.SimpleNamespace(allow_tf32=False, benchmark=False, version=lambda: 8900))
version = types.SimpleNamespace(cuda="12.1", hip=None)
__version__ = "0.0-fake"
autograd = types.SimpleNamespace(grad=grad)
nn = types.SimpleNamespace(LSTM=LSTM, functional=types.SimpleNamespace(
    linear=linear, conv2d=conv2d, conv_transpose2d=conv_transpose2d, max_pool2d=pool, avg_pool2d=pool, interpolate=interpolate,
    batch_norm=batch_norm, layer_norm=layer_norm, relu=unary("relu"), gelu=unary("gelu"), dropout=unary("dropout"),
    cross_entropy=cross_entropy, mse_loss=mse_loss, embedding=embedding,
    scaled_dot_product_attention=scaled_dot_product_attention))


def no_grad():
    return contextlib.nullcontext()


def manual_seed(seed):
    pass


def set_num_threads(n):
    pass


def get_num_threads():
    return 3

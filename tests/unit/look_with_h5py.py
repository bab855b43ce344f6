"""What h5py, and xarray where it is installed, find in a record (tests/small_view.h)."""
import re
import sys

import h5py

run, profile, page, search = sys.argv[1:]
with open(page, encoding="utf-8") as text:
    words = set(re.findall(r"`([^`\n]+)`", text.read()))
GIVEN = {"data", "by hand", "search", "starts", "manifest", "model", "topology", "strategies", "timeline", "totals"}
OF_SCALES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}


def check(condition, *what):
    if not condition:
        sys.exit(" ".join(str(w) for w in what))


def check_described(name, d):
    """The page on file formats names every group, dataset and attribute."""
    leaf = name.split("/")[-1]
    known = leaf in words or "totals/" + leaf in words or leaf.replace("held_peak_", "_") in words
    check(known or leaf[:7] == "degree_" or leaf in GIVEN, name, "is not on the page")
    for a in d.attrs:
        check(a in words or a in OF_SCALES, name, "has an attribute that is not on the page:", a)


def check_dataset(name, d):
    if not isinstance(d, h5py.Dataset):
        return
    check("checksum" in d.attrs, name, "has no checksum")
    check(d.attrs["long_name"], name, "has no long_name")
    enum = h5py.check_enum_dtype(d.dtype)
    is_quantity = d.dtype.kind in "iuf" and not enum
    check(("units" in d.attrs) == is_quantity, name, "units")
    if d.shape == () or d.shape[0] == 0:
        return
    check(d.compression == "gzip" and d.shuffle, name, "is not compressed")


with h5py.File(run) as f:
    f.visititems(check_dataset)
    f.visititems(check_described)
    check(f.attrs["format_name"].decode() == "soapstone record" and f.attrs["format"] == 1, "format")
    check(f["manifest"].attrs["seed"] == 2**64 - 7, "seed")
    check(f["manifest/script"].asstr()[()] == "-- \u00e4\nprint(1)\n", "script")
    t = f["timeline/data"]
    check(t.attrs["topology"].decode() == "p100 4x4", "topology")
    check(t["summary/step_time"][()] == 7001028 and t["summary"]["step_time"].attrs["units"] == b"ps", "step")
    tasks = t["tasks"]
    check(list(tasks["start"][:]) == [1000003 * i + 5 for i in range(1, 8)], "start")
    check(tasks["critical"].dtype == bool and list(tasks["critical"][:]) == [True, False] * 3 + [True], "critical")
    check(tasks["name"].asstr()[4] == "fc.backward[3], the longest name of them all, by far", "name")
    check(t["lanes/name"].asstr()[2] == "cpu \u00e4", "lane")
    check(t["lanes/bandwidth"][3] == 2.5e10 / 3, "bandwidth")
    check(tasks["start"].dims[0][0].name == "/timeline/data/tasks/task", "scale")
    check({n: len(c) for n, c in tasks.items() if len(c) != 7} == {}, "lengths")
    kind = h5py.check_enum_dtype(tasks["kind"].dtype)
    check(tasks["kind"][0] == kind["forward"], "kind", kind)

with h5py.File(profile) as f:
    f.visititems(check_dataset)
    check(f["measured/seconds"][1] == 0.00125 and f["measured/phase"].asstr()[1] == "backward", "profile")

with h5py.File(search) as f:
    f.visititems(check_dataset)
    f["search/data parallel"].visititems(check_described)
    for name in ("search", "search/data parallel", "starts"):
        check_described(name.split(" ")[0], f[name])
    chain = f["search/data parallel"]
    check(chain["step"].shape == (200,) and list(chain["step"][:3]) == [1, 2, 3], "steps")
    check(chain["best"].dims[0][0].name == "/search/data parallel/step", "scale")
    new = chain["new"][chain["operators"][:] > 0]
    check(new.min() >= 1 and new.max() <= len(chain["configurations/configuration"]), "new")
    firsts, parts = chain["configurations/first_device"][:], chain["configurations/parts"][:]
    check(firsts[-1] + parts[-1] == len(chain["devices/device"]), "devices")
    check((firsts[1:] == firsts[:-1] + parts[:-1]).all(), "devices follow")
    check(len(chain["several/step"]) == chain["operators"][chain["operators"][:] > 1].sum(), "several")

try:
    import h5netcdf  # noqa: F401
    import xarray
except ImportError:
    print("no xarray with h5netcdf")
else:
    with xarray.open_dataset(run, group="timeline/data/lanes", engine="h5netcdf") as d:
        check(int(d["busy"].sel(lane=3)) == 7919 * 3, "xarray")
        check(d["busy"].attrs["units"] == "ps", "xarray")

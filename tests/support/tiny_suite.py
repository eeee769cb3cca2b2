"""A suite of two cases on one lane, as small as one can be, for tests that bend it in one place."""

import hashlib
import json
import pathlib
import struct

import harness

LANE = "cpu-scalar@dev"

# add: c[i] = a[i] + b[i] over f32; the other kernels misbehave in one way each.
KERNELS = r"""
#include <stdlib.h>
#include <string.h>
#include <fenv.h>
#include <unistd.h>
#include "pyptox_kernel.h"
#define KERNEL __attribute__((visibility("default"))) int32_t
static void add_into(const pyptox_launch* l) {
  const float* a = l->buffers[0].data; const float* b = l->buffers[1].data; float* c = l->buffers[2].data;
  for (uint64_t i = 0; i < l->buffers[2].bytes / 4; ++i) c[i] = a[i] + b[i];
}
KERNEL add(const pyptox_launch* l) { add_into(l); return PYPTOX_DONE; }
KERNEL one_byte_past(const pyptox_launch* l) {
  add_into(l); ((volatile unsigned char*)l->buffers[2].data)[l->buffers[2].bytes] = 7; return PYPTOX_DONE;
}
KERNEL one_byte_before(const pyptox_launch* l) {
  add_into(l); ((volatile unsigned char*)l->buffers[2].data)[-1] = 7; return PYPTOX_DONE;
}
KERNEL changes_input(const pyptox_launch* l) { add_into(l); ((volatile float*)l->buffers[0].data)[0] = 42; return PYPTOX_DONE; }
KERNEL differs_each_time(const pyptox_launch* l) {
  static int launches; add_into(l); if (launches++) ((float*)l->buffers[2].data)[0] += 1; return PYPTOX_DONE;
}
KERNEL crashes(const pyptox_launch* l) { (void)l; *(volatile int*)8 = 1; return PYPTOX_DONE; }
KERNEL exits(const pyptox_launch* l) { (void)l; exit(0); }
KERNEL hangs(const pyptox_launch* l) { (void)l; for (;;) pause(); }
KERNEL rounds_up(const pyptox_launch* l) { add_into(l); fesetround(FE_UPWARD); return PYPTOX_DONE; }
KERNEL refuses(const pyptox_launch* l) { (void)l; return PYPTOX_REFUSED_INDEX; }
KERNEL does_nothing(const pyptox_launch* l) { (void)l; return PYPTOX_DONE; }
"""


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def buffer(name, role, **extra):
    return {"name": name, "role": role, "dtype": "f32", "shape": [4], **extra}


def case(name, kernel="add"):
    return {"name": name, "kernel": kernel, "buffers": [
        buffer("a", "in", file={"path": "data/a.bin"}), buffer("b", "in", file={"path": "data/b.bin"}),
        buffer("c", "out", golden={"path": "data/c.bin"})]}


def suite(**changes):
    """The suite as a dictionary; `changes` replace top-level members."""
    value = {
        "name": "tiny", "contract": {"name": "tiny", "version": "1.0"}, "sources": ["*.c", "*.h", "data/*"],
        "golden_lock": "golden.sha256", "planned": 2, "cases": [case("one"), case("two")],
        "lanes": [{
            "name": LANE, "target": "cpu-scalar", "resource": {"name": "dev"},
            "compile": [{"argv": ["gcc", "-O1", "-fPIC", "-shared", "-o", "build/k.so", "src/kernels.c", "-lm"],
                         "outputs": ["build/k.so"]}],
            "checks": [{"file": "build/k.so", "elf": {"bits": 64, "machine": "x86-64"}}],
            "kernel": {"module": "build/k.so"}, "limits": {"case_s": 2}}]}
    value.update(changes)
    return value


def write(folder, value=None, commit=True, **files):
    """Writes the suite and its files into `folder`, with pins and, if asked, one commit; returns the suite file."""
    folder = pathlib.Path(folder)
    (folder / "data").mkdir(parents=True)
    (folder / "kernels.c").write_text(KERNELS)
    (folder / "pyptox_kernel.h").write_text((harness.SOURCE / "backends/runner/pyptox_kernel.h").read_text())
    golden = f32(11, 22, 33, 44)
    for name, data in {"a.bin": f32(1, 2, 3, 4), "b.bin": f32(10, 20, 30, 40), "c.bin": golden}.items():
        (folder / "data" / name).write_bytes(data)
    (folder / "golden.sha256").write_text(f"{hashlib.sha256(golden).hexdigest()}  data/c.bin\n")
    for name, data in files.items():
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    (folder / "suite.yaml").write_text(json.dumps(value if value is not None else suite(), indent=1))
    if commit:
        harness.git(folder, "init", "-q", "-b", "main")
        harness.git(folder, "add", "-A")
        harness.git(folder, "commit", "-q", "-m", "suite")
    return folder / "suite.yaml"

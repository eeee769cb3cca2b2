"""Tests of examples/portable-ops/reference."""

import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SUITE = pathlib.Path(os.environ["PYPTOX_SOURCE_DIR"]) / "examples" / "portable-ops"
sys.path.insert(0, str(SUITE / "reference"))

import cases
import decoder_chain
import ieee
import operations
import tensor


class Numbers(unittest.TestCase):
    def test_f16_patterns_mean_what_struct_says(self):
        for pattern in range(1 << 16):
            value = ieee.decode("f16", pattern)
            expected = struct.unpack("<e", struct.pack("<H", pattern))[0]
            if math.isnan(expected):
                self.assertTrue(math.isnan(value))
                continue
            self.assertEqual(struct.pack("<d", expected), struct.pack("<d", value))
            self.assertEqual(pattern, ieee.encode("f16", value))

    def test_f32_rounds_as_struct_does(self):
        for i in range(20000):
            value = struct.unpack("<d", struct.pack("<Q", tensor.splitmix64(1, i)))[0]
            exponent = i % 300 - 160  # through subnormals to overflow
            value = math.ldexp(math.frexp(value)[0], exponent) if math.isfinite(value) else value
            if math.isnan(value):
                continue
            try:
                expected = struct.unpack("<I", struct.pack("<f", value))[0]
            except OverflowError:
                expected = 0xff800000 if value < 0 else 0x7f800000
            self.assertEqual(expected, ieee.encode("f32", value))

    def test_bf16_ties_go_to_even_and_overflow_to_infinity(self):
        for pattern, expected in ((0x3f808000, 0x3f80), (0x3f808001, 0x3f81), (0x3f818000, 0x3f82),
                                  (0x7f7f7fff, 0x7f7f), (0x7f7f8000, 0x7f80), (0x80008000, 0x8000),
                                  (0x80008001, 0x8001)):
            self.assertEqual(expected, operations.cast_one("f32", "bf16", pattern), hex(pattern))

    def test_nan_stays_nan(self):
        for source, target, pattern, expected in (("f32", "bf16", 0x7f800001, 0x7fc0), ("f32", "bf16", 0xffa10000, 0xffe1),
                                                  ("f32", "f16", 0xff802000, 0xfe01), ("f16", "f32", 0x7c01, 0x7fc02000),
                                                  ("bf16", "f32", 0x7f81, 0x7f810000), ("f32", "i32", 0x7fc00000, 0)):
            self.assertEqual(expected, operations.cast_one(source, target, pattern), hex(pattern))

    def test_exp_is_close_to_the_real_one(self):
        for i in range(-8600, 8800, 7):
            x = ieee.f32(i / 100)
            self.assertLess(abs(ieee.exp(x) / math.exp(x) - 1), 4e-7, x)
        self.assertEqual(0.0, ieee.exp(ieee.f32(-86.01)))
        self.assertEqual(1.0, ieee.exp(0.0))

    def test_reduction_goes_through_sixteen_partial_results(self):
        big = 2.0**24
        # 2^24 and 1 meet in one partial result, where the 1 is lost; apart from it, the ones survive as 2.
        self.assertEqual(big, ieee.total([big] + [0.0] * 15 + [1.0]))
        self.assertEqual(big + 2, ieee.total([big, 1.0] + [0.0] * 7 + [1.0]))
        self.assertEqual(0.0, ieee.total([]))
        self.assertEqual(-2.0, ieee.greatest([-3.0, -2.0, -5.0]))

    def test_splitmix64_gives_the_published_numbers(self):
        self.assertEqual([6457827717110365317, 3203168211198807973, 9817491932198370423],
                         [tensor.splitmix64(1234567, i) for i in range(3)])


class Cases(unittest.TestCase):
    def test_flow_values(self):
        self.assertEqual({"a": [1, -2.5, "x-y.z"], "b": {"c": True}, "d": [], "e": "9.0"},
                         cases.read_flow('{a: [1, -2.5, x-y.z], b: {c: true}, d: [], e: "9.0"}'))
        with self.assertRaises(ValueError):
            cases.read_flow("{a: 1} b")

    def test_decoder_chain_has_the_agreed_size(self):
        (case,) = cases.read_cases(SUITE / "cases" / "decoder-chain.yaml")
        inputs = [b for b in case["buffers"] if b["role"] == "in"]
        packed = [b["file"] for b in inputs if "file" in b]
        self.assertEqual((371, 368, 51), (len(inputs), len(packed), len(case["buffers"]) - len(inputs)))
        self.assertEqual(43200, len(decoder_chain.packed_file()))
        self.assertEqual(43200, (SUITE / decoder_chain.PACKED).stat().st_size)


class Check(unittest.TestCase):
    def check(self, folder):
        result = subprocess.run([sys.executable, str(folder / "reference" / "make_golden.py"), "--check"],
                                stdout=subprocess.PIPE, universal_newlines=True)
        return result.returncode, result.stdout

    def test_sees_a_flipped_bit_a_missing_and_a_left_over_file(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "suite"
            shutil.copytree(str(SUITE), str(folder))
            self.assertEqual(0, self.check(folder)[0])
            flipped = folder / "golden" / "softmax-f32.y.bin"
            data = bytearray(flipped.read_bytes())
            data[17] ^= 4
            flipped.write_bytes(bytes(data))
            (folder / "golden" / "add-f32.out.bin").unlink()
            (folder / "golden" / "stray.bin").write_bytes(b"")
            code, text = self.check(folder)
            self.assertEqual(1, code)
            self.assertEqual(["golden/add-f32.out.bin: missing", "golden/softmax-f32.y.bin: differs from the reference",
                              "golden/stray.bin: no case names it"], sorted(text.splitlines()))

    def test_sees_a_wrong_plan(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "suite"
            shutil.copytree(str(SUITE), str(folder))
            suite = folder / "suite.yaml"
            suite.write_text(suite.read_text().replace("planned: ", "planned: 1"))
            code, text = self.check(folder)
            self.assertEqual((1, 1), (code, text.count("planned says otherwise")))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Margins of PI on TCP (Hollot, Misra, Towsley, Gong, "On Designing Improved Controllers for AQM Routers", 2001), for
several loads, by the formulas of phase and modulus and bisection: nothing in common with the program. Prints the table
of `tests/hollot.rs`. Needs nothing but Python.

C = 3750 packets/s; the controller is the paper's design for N = 60, R = 0.246 s: z = 2N/(R^2 C), K so that |L(j z)| = 1.
"""
from math import atan, degrees, hypot, pi

C = 3750.0


def design(n, r):
    z = 2 * n / (r * r * C)
    # |L(jz)| = K sqrt(2)/z * (C^2/2N) / (sqrt(2) z sqrt(z^2 + 1/R^2)) = 1
    k = z * z * hypot(z, 1 / r) * 2 * n / (C * C)
    return k, z


def modulus(w, k, z, n, r):
    corner = 2 * n / (r * r * C)
    return k * hypot(w / z, 1) / w * (C * C / (2 * n)) / (hypot(w, corner) * hypot(w, 1 / r))


def phase(w, k, z, n, r):
    corner = 2 * n / (r * r * C)
    return atan(w / z) - pi / 2 - atan(w / corner) - atan(w * r) - w * r


def bisect(f, a, b):
    for _ in range(200):
        m = (a * b) ** 0.5
        if (f(m) > 0) == (f(a) > 0):
            a = m
        else:
            b = m
    return a


if __name__ == "__main__":
    k, z = design(60, 0.246)
    print(f"// K = {k:.6e}, z = {z:.6f}")
    for n, r in ((60, 0.246), (60, 0.1), (120, 0.246), (200, 0.15), (30, 0.246), (20, 0.4)):
        wc = bisect(lambda w: modulus(w, k, z, n, r) - 1, 1e-4, 1e3)
        w180 = bisect(lambda w: phase(w, k, z, n, r) + pi, 1e-4, 1e3)
        print(f"    [{n}.0, {r}, {1 / modulus(w180, k, z, n, r):.9g}, {w180:.9g}, "
              f"{degrees(phase(wc, k, z, n, r) + pi):.5f}, {wc:.9g}],")

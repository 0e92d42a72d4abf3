"""Fused loops: each solves a small problem in one compiled call.

Gain of each fused loop on whole commands (time without / with; 11 to 15 small sets, median of 5 runs): train one
model: hinge 1.01, squared hinge 1.01, logistic 1.04, l1 1.12; -v 5 and -C on 8 sets: hinge 1.12 (0.96 to 1.40),
squared hinge 1.08 (1.01 to 1.45), logistic 1.15 (1.00 to 1.50), l1 1.20 (0.98 to 1.93); one-class 1.02, removed.
"""

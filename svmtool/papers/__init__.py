"""The papers' algorithms as printed, one file a paper, in the paper's letters: what numbers from 30 run.

running.py has what all share: the rows as scipy's matrices, and the loop that records iterates and ends a run.
"""

"""Objective functions: values, gradients, Hessian products and dual bounds."""

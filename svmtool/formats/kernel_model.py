"""LIBSVM's model files."""

from __future__ import annotations

from svmtool.formats.numbers import format_one
from svmtool.formats.output import replacing

NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")


def header_text(model) -> str:
    """The lines before the support vectors."""
    kind, real = model.kernel.kind, lambda values: "".join(" " + format_one(float(v), 17) for v in values)
    lines = [f"svm_type {model.svm_type}", f"kernel_type {NAMES[kind]}"]
    lines += [f"degree {model.kernel.degree}"] if kind == 1 else []
    lines += [f"gamma {format_one(model.kernel.gamma, 17)}"] if kind in (1, 2, 3) else []
    lines += [f"coef0 {format_one(model.kernel.coef0, 17)}"] if kind in (1, 3) else []
    lines += [f"nr_class {model.nr_class}", f"total_sv {model.total_sv}", "rho" + real(model.rho)]
    lines += ["label" + "".join(f" {x}" for x in model.labels)] if model.labels is not None else []
    lines += ["probA" + real(model.probA)] if model.probA is not None else []
    lines += ["probB" + real(model.probB)] if model.probB is not None else []
    lines += ["prob_density_marks" + real(model.density_marks)] if model.density_marks is not None else []
    lines += ["nr_sv" + "".join(f" {x}" for x in model.nr_sv)] if model.nr_sv is not None else []
    return "\n".join([*lines, "SV", ""])


def write(path: str, model) -> None:
    """Write a kernel_model.KernelModel."""
    with replacing(path, "can't save model to file") as file:
        file.write(header_text(model).encode())
        for k in range(model.total_sv):
            line = "".join(format_one(float(c), 17) + " " for c in model.coef[:, k])
            for at in range(model.indptr[k], model.indptr[k + 1]):
                if model.kernel.kind == 4:
                    line += f"0:{int(model.values[at])} "
                else:
                    line += f"{model.indices[at] + 1}:{model.values[at]:.8g} "
            file.write((line + "\n").encode())
        file.write("".join(note + "\n" for note in model.notes).encode())

"""FOSVM, the one-class SVM by cutting planes: -s 80, and by samples of the rows: -s 81.

    min over w, rho of  1/2 |w|^2 - rho,   w.phi(x_i) >= rho for all i

phi is the feature map.  The solution for a subset A of the rows is enough if w.phi(x_i) >= (1 - theta) rho for all i.
Le, Phung, Nguyen and Venkatesh, Fast One-Class Support Vector Machine for Novelty Detection, PAKDD 2015: Algorithm 2
(FOSVM1), Algorithm 3 (FOSVM2).  A = the first two rows; repeat: (w, rho) = the hard one-class SVM on the rows of A;
i = the row outside A with the least w.phi(x_i); end if w.phi(x_i) >= (1 - theta) rho, else A = A + {i}.

    paper: A, alpha, rho, o_i     code: chosen, subproblem.alpha, subproblem.rho, z_i - rho

Here is the engine (--method fast), which differs from the paper in what follows; papers/fosvm.py is it as printed:
 1. The problem on A is solved exactly, from the last solution on (linalg/minimum_norm_point.py).
 2. theta becomes a target gap (registry.row.gap_of_theta): the dual value -rho / 2 holds for all rows, and w times
    1 - theta with (1 - theta)^2 rho satisfies them all, so that either number gives the other.
    The model holds that point, with the theta that the certifier finds: then no row is outside, and P of the
    certificate is the objective at the model (certify/one_class.py).  The paper returns w and rho, of which its own
    rule leaves all rows outside that lie up to theta beyond A; --boundary rho stores them.
 3. Algorithm 3 examines m rows drawn from outside A.  If a share eps of all rows lay beyond theta, none of the m
    would be among them with probability (1 - eps)^m <= exp(-m eps): the end of a run by samples states this, no more.
    A share eps of wrong predictions may cost the area under the ROC curve as much: 59 rows leave room for 5%, 3000 for
    0.1%, and for a small A they take little more time.
    After samples the model has theta as given: the rows beyond it, which are counted, are outside, and the certificate
    is that of the others.
 4. From a large A more than one row joins at a time: an eighth of its number, those with the least w.phi(x_i).
Where the origin is in the convex hull of the rows rho goes to 0, and w = 0 is the solution: objectives/one_class.py.
With a kernel: solvers/fosvm_kernel.py.  Memory: 4 vectors of n; the kernel matrix of A and its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.kernels.row_scores import LinearRowScores
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import OPTIMAL, Monitor, Result, Rule
from svmtool.solvers.shared.cutting_planes import DEFAULT_SAMPLE, CuttingPlanes, Sample, boundary
from svmtool.solvers.shared.cutting_planes import METHODS as METHODS
from svmtool.solvers.shared.cutting_planes import plan as plan
from svmtool.solvers.shared.cutting_planes import plan_sampled as plan_sampled


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve to the monitor's gap; `start` is not used.  Result.w is w and (1 - theta) rho."""
    n = task.rows.n
    if n == 0:
        monitor.step(0.0, 0.0, 0.0, active=0)
        return Result(np.zeros(task.rows.d + 1), OPTIMAL, 0, monitor.history, np.zeros(0))
    rows = LinearRowScores(task.rows)
    sample = Sample(task.options.sample or DEFAULT_SAMPLE, n, seed) if method == "sample" else None
    run = CuttingPlanes(rows, monitor, sample)
    status = run.run()
    alpha = np.zeros(n)
    alpha[run.chosen] = run.subproblem.alpha
    w = np.append(task.rows.transpose_product(alpha), boundary(run.subproblem.rho, monitor))
    return Result(w, status, monitor.iterations - 1, monitor.history, alpha)

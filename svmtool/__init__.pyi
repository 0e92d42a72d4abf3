from svmtool import api as api
from svmtool.api import Fit as Fit
from svmtool.api import certified_mask as certified_mask
from svmtool.api import cross_validate as cross_validate
from svmtool.api import decision_values as decision_values
from svmtool.api import dumps as dumps
from svmtool.api import export as export
from svmtool.api import fit as fit
from svmtool.api import load_model as load_model
from svmtool.api import loads as loads
from svmtool.api import predict as predict
from svmtool.api import probabilities as probabilities
from svmtool.api import read_svmlight as read_svmlight
from svmtool.api import save_model as save_model
from svmtool.api import search_C as search_C
from svmtool.api import write_svmlight as write_svmlight
from svmtool.auditing.audit import audit as audit

__version__: str
__all__: list[str]

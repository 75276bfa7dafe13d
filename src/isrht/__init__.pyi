# "as" tells type checkers that a name is meant for users: a stub hides plain imports.
from . import dask_cluster as dask_cluster
from . import datasets as datasets
from . import export as export
from . import files as files
from . import persistence as persistence
from .boosting import BoostedISRHT as BoostedISRHT
from .classifier import ISRHTClassifier as ISRHTClassifier
from .embedding import SparseEmbedding as SparseEmbedding
from .fourier import HadamardFourierFeatures as HadamardFourierFeatures
from .hadamard import fwht as fwht
from .leverage import LeverageScoreSelection as LeverageScoreSelection
from .methods import make_projection as make_projection
from .persistence import load as load
from .persistence import save as save
from .projection import ISRHT as ISRHT
from .serving import Predictor as Predictor
from .sources import RowSource as RowSource
from .svm import LinearSVM as LinearSVM
from .svm import LinearSVMCV as LinearSVMCV

__version__: str

# "as" tells type checkers that a name is meant for users: a stub hides plain imports.
from . import datasets as datasets
from . import export as export
from . import files as files
from . import models as models
from . import plot as plot
from . import transform as transform
from .boosting.estimator import BoostedISRHT as BoostedISRHT
from .classifier import ISRHTClassifier as ISRHTClassifier
from .linear.search import LinearSVMCV as LinearSVMCV
from .linear.svm import LinearSVM as LinearSVM
from .models.model_file import load as load
from .models.model_file import save as save
from .models.predictor import Predictor as Predictor
from .projections.by_name import make_projection as make_projection
from .projections.embedding import SparseEmbedding as SparseEmbedding
from .projections.fourier import HadamardFourierFeatures as HadamardFourierFeatures
from .projections.hadamard_rotation import HadamardRotation as HadamardRotation
from .projections.isrht import ISRHT as ISRHT
from .projections.leverage import LeverageScoreSelection as LeverageScoreSelection
from .rows.sources import RowSource as RowSource
from .transform.hadamard import fwht as fwht
from .transform.hadamard import fwhtn as fwhtn
from .transform.hadamard import ifwht as ifwht
from .transform.hadamard import ifwhtn as ifwhtn
from .transform.lengths import next_fast_len as next_fast_len
from .transform.matrices import hadamard_matrix as hadamard_matrix

__version__: str

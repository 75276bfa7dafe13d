"""What outlives a fit: the model file, what there is to see in a model, and a predictor for serving.

:mod:`~isrht.models.model_file` saves and loads estimators as arrays and a manifest. What is kept of a class is said by
its codec, which stands beside the class; the room has the list of them, and the codecs of scikit-learn's estimators.
:mod:`~isrht.models.inspection` tells what a model has learned, and :mod:`~isrht.models.predictor` answers for single
rows in microseconds.

The room uses the estimators and codecs of ``classifier``, ``boosting``, ``linear`` and ``projections``, ``kernels`` and
``support``; ``export`` and ``cli`` use it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

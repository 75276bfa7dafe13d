from .model_file import ModelFileError as ModelFileError
from .model_file import load as load
from .model_file import read_about as read_about
from .model_file import save as save
from .predictor import Predictor as Predictor

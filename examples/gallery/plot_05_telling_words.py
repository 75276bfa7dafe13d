"""
The telling words of a text model
=================================

A model on 16 learned columns is still one weight per word. Here are the words by which paragraphs of documentation are
told apart: which of two libraries are they from?
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from isrht import ISRHTClassifier


# %%
# Texts that you have already: paragraphs of docstrings, each of them once (many functions share some).
def paragraphs(package, modules):
    for module_name in modules:
        module = importlib.import_module(f"{package}.{module_name}")
        for name in module.__all__:
            for paragraph in (inspect.getdoc(vars(module).get(name)) or "").split("\n\n"):
                if len(paragraph.split()) >= 15 and ">>>" not in paragraph:
                    yield paragraph


from_scipy = list(dict.fromkeys(paragraphs("scipy", ["signal", "optimize", "stats", "interpolate"])))
from_sklearn = list(
    dict.fromkeys(paragraphs("sklearn", ["cluster", "ensemble", "linear_model", "metrics", "preprocessing", "svm"]))
)
texts = from_scipy + from_sklearn
labels = np.repeat(["SciPy", "scikit-learn"], [len(from_scipy), len(from_sklearn)])

# %%
# The names of the libraries themselves are left out; they would be too easy.
train, test, y_train, y_test = train_test_split(texts, labels, test_size=0.3, random_state=0, stratify=labels)
vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words=["scipy", "sklearn", "scikit", "learn"])
X_train, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)
model = ISRHTClassifier(random_state=0).fit(X_train, y_train)
print(f"{X_train.shape[0]:,} texts, {X_train.shape[1]:,} words: {100 * model.score(X_test, y_test):.1f} % right")

# %%
# A weight is per unit of the word's value; multiplied by the spread of these values it says how much the word moves
# scores.
words = vectorizer.get_feature_names_out()
spread = np.sqrt(np.asarray(X_train.multiply(X_train).mean(axis=0)).ravel())
influence = model.coef_[0] * spread
order = influence.argsort()
shown = np.concatenate([order[:15], order[-15:]])

figure, axis = plt.subplots(figsize=(7.2, 6.2))
colours = np.where(influence[shown] < 0, "C0", "C1")
axis.barh(range(30), influence[shown], color=colours)
axis.set(yticks=range(30), yticklabels=words[shown], xlabel="influence on the score")
axis.set_title(f"{model.classes_[0]} to the left, {model.classes_[1]} to the right")
axis.grid(axis="y", visible=False)
axis.tick_params(axis="y", labelsize=8)

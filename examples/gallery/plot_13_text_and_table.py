"""
Text beside a table, with gradient boosted trees
================================================

Trees cannot take a hundred thousand sparse words. Sixteen learned columns they can, beside the other columns of a
table. Here a paragraph is a text and three numbers: how long it is, how many figures, how many capitals.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from isrht import BoostedISRHT


def paragraphs(module_name):
    module = importlib.import_module(module_name)
    for name in module.__all__:
        for paragraph in (inspect.getdoc(vars(module).get(name)) or "").split("\n\n"):
            if len(paragraph.split()) >= 15:
                yield paragraph


# %%
# The table: which of four modules of SciPy does a paragraph describe?
names = ["signal", "optimize", "stats", "interpolate"]
table = pd.DataFrame(
    [(text, name) for name in names for text in dict.fromkeys(paragraphs(f"scipy.{name}"))], columns=["text", "module"]
)
table["length"] = table.text.str.len()
table["figures"] = table.text.str.count(r"\d")
table["capitals"] = table.text.str.count("[A-Z]")
train, test = train_test_split(table, test_size=0.3, random_state=0, stratify=table.module)
print(table.groupby("module").size().to_string())

# %%
# One pipeline: words to columns, columns and numbers to trees. The columns learn from the labels, within the pipeline,
# so cross-validation of the whole of it would be honest.
numbers = ["length", "figures", "capitals"]
words = make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), BoostedISRHT(16, random_state=0))
trees = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=0)
pipelines = {
    "numbers only": make_pipeline(make_column_transformer(("passthrough", numbers)), trees),
    "learned columns only": make_pipeline(make_column_transformer((words, "text")), trees),
    "both": make_pipeline(make_column_transformer((words, "text"), ("passthrough", numbers)), trees),
}
accuracies = {
    name: 100 * pipeline.fit(train, train.module).score(test, test.module) for name, pipeline in pipelines.items()
}

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
bars = axes[0].barh(list(accuracies), list(accuracies.values()))
axes[0].bar_label(bars, fmt="%.1f %%", padding=3)
axes[0].set(xlabel="test accuracy, %", xlim=(0, 112))
axes[0].grid(axis="y", visible=False)
columns = pipelines["both"][0].transform(test)
for name in names:
    shown = columns[(test.module == name).to_numpy()]
    axes[1].plot(shown[:, 0], shown[:, 1], ".", markersize=3, label=name)
axes[1].set(xlabel="learned column 1", ylabel="learned column 2", title="test texts")
axes[1].legend(markerscale=3, fontsize=8)

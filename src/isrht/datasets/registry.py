"""All sets by name: what each is, how it is split and scaled, and the facts by which a copy of it is recognised."""

from __future__ import annotations

from dataclasses import dataclass, field

LIBSVM_SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"


@dataclass(frozen=True)
class KnownFacts:
    """The facts by which one file of a set is recognised; those that are not known are None, or empty."""

    rows: int
    features: int
    nonzeros: int | None = None
    label_counts: dict = field(default_factory=dict)
    sha256: str | None = None


@dataclass(frozen=True)
class Description:
    """What is known of one set.

    Attributes
    ----------
    name, about : str
        Its name, and in a few words what it is.
    r : int
        The number of columns in the table of results.
    r_grid : tuple of int
        The numbers of columns in Figure 2.
    split : "given", int or float
        "given" if the set comes in a part to train on and one to test on; else how many rows train, or which share.
    scale : "minmax", "largest" or None
        How the rows are scaled (:func:`isrht.datasets.loading.scale`).
    sparse : bool
        Whether the rows are kept in CSR.
    files : tuple of str
        The names of its files, without the extensions of packed ones; empty if the set is embedded.
    facts : tuple of :class:`KnownFacts`
        What is known of each file.
    urls : tuple of str
        Where each file is on the LIBSVM site; empty if it is not there.
    labels : str
        Which of the functions in :mod:`isrht.datasets.loading` makes two classes of the labels in the file.
    stands_for : str or None
        The set of the paper in whose place this one is taken if that one cannot be had.
    in_paper : bool
        Whether the paper has this set.
    features : int or None
        The number of features, if ``facts`` do not tell it.
    source : dict or None
        Where the rows of a set of the user's own come from (:mod:`isrht.datasets.own`).
    """

    name: str
    about: str
    r: int
    r_grid: tuple
    split: str | int | float
    scale: str | None
    sparse: bool = False
    files: tuple = ()
    facts: tuple = ()
    urls: tuple = ()
    labels: str = "as_they_are"
    stands_for: str | None = None
    in_paper: bool = False
    features: int | None = None
    source: dict | None = None

    @property
    def n_features(self) -> int:
        return self.features or self.facts[0].features

    @property
    def embedded(self) -> bool:
        return not self.files

    @property
    def paper_name(self) -> str | None:
        """The set of the paper with whose published results this set is compared, or None."""
        return self.name if self.in_paper else self.stands_for


SMALL_GRID = (2, 4, 8, 16, 32, 64)
WIDE_GRID = (16, 32, 64, 128, 256, 512)

_ALL = (
    Description(
        "digits",
        "scikit-learn's 8x8 handwritten digits, odd against even",
        r=16, r_grid=(2, 4, 8, 16, 32, 64), split=0.7, scale="minmax", features=64,
    ),
    Description(
        "photographs",
        "32x32x3 patches of scikit-learn's two photographs: which one is it from? Train and test patches come from "
        "different 64x64 blocks, so no pixel is in both",
        r=32, r_grid=(4, 8, 16, 32, 64, 128), split="given", scale="minmax", features=3072,
    ),
    Description(
        "zipf",
        "a synthetic bag of words: 100,000 words of Zipf frequencies, two mixtures of topics",
        r=64, r_grid=(16, 64, 256), split=0.7, scale="largest", sparse=True, features=100_000,
    ),
    Description(
        "blobs",
        "Figure 1: two Gaussian classes at (3, 3) and (-3, -3). The paper's covariance [[1, 1.75], [1.75, 1]] is not "
        "positive semi-definite; drawn is [[1.75, 1], [1, 1.75]], of eigenvalues 2.75 and 0.75",
        r=1, r_grid=(1,), split=0.5, scale=None, features=2,
    ),
    Description(
        "mushrooms",
        "edible or poisonous, from 112 binary features",
        r=16, r_grid=SMALL_GRID, split=6000, scale="minmax", in_paper=True,
        files=("mushrooms",), urls=("binary/mushrooms",),
        facts=(KnownFacts(8124, 112, 170_604, {1.0: 3916, 2.0: 4208}),),
    ),
    Description(
        "usps-b",
        "16x16 handwritten digits, odd against even (the paper does not define its two classes)",
        r=16, r_grid=(4, 8, 16, 32, 64, 128), split="given", scale="minmax", in_paper=True, labels="odd_digits",
        files=("usps", "usps.t"), urls=("multiclass/usps.bz2", "multiclass/usps.t.bz2"),
        facts=(KnownFacts(7291, 256), KnownFacts(2007, 256)),
    ),
    Description(
        "gisette",
        "4 against 9, pixels and products of pixels and as many probes",
        r=256, r_grid=WIDE_GRID, split="given", scale="minmax", in_paper=True,
        files=("gisette_scale", "gisette_scale.t"), urls=("binary/gisette_scale.bz2", "binary/gisette_scale.t.bz2"),
        facts=(KnownFacts(6000, 5000, None, {-1.0: 3000, 1.0: 3000}), KnownFacts(1000, 5000)),
    ),
    Description(
        "real-sim",
        "newsgroup articles: real or simulated aviation and cars",
        r=256, r_grid=WIDE_GRID, split=48_447, scale="largest", sparse=True, in_paper=True,
        files=("real-sim",), urls=("binary/real-sim.bz2",),
        facts=(KnownFacts(72_309, 20_958, None, {1.0: 22_238, -1.0: 50_071}),),
    ),
    Description(
        "rcv1-binary",
        "Reuters articles, two groups of topics",
        r=256, r_grid=WIDE_GRID, split=13_562, scale="largest", sparse=True, in_paper=True,
        files=("rcv1_train.binary",), urls=("binary/rcv1_train.binary.bz2",),
        facts=(KnownFacts(20_242, 47_236, None, {1.0: 10_491, -1.0: 9_751}),),
    ),
    Description(
        "news20-binary",
        "newsgroup articles, two groups of newsgroups",
        r=256, r_grid=WIDE_GRID, split=13_397, scale="largest", sparse=True, in_paper=True,
        files=("news20.binary",), urls=("binary/news20.binary.bz2",),
        facts=(KnownFacts(19_996, 1_355_191, 9_097_916, {1.0: 9_999, -1.0: 9_997}),),
    ),
    Description(
        "gisette-like",
        "a rebuild of gisette after its recipe from MNIST's 4 and 9; all features reach 98.0 against gisette's 97.5",
        r=256, r_grid=WIDE_GRID, split="given", scale="minmax", stands_for="gisette",
        files=("gisette-like", "gisette-like.t"),
        facts=(KnownFacts(6000, 5000, None, {-1.0: 3000, 1.0: 3000}), KnownFacts(1000, 5000)),
    ),
    Description(
        "rcv1sub.binary",
        "other documents of the same corpus in the same 47,236 features",
        r=256, r_grid=WIDE_GRID, split=0.67, scale="largest", sparse=True, stands_for="rcv1-binary",
        files=("rcv1sub.binary",), facts=(KnownFacts(23_749, 47_236, None, {1.0: 11_829, -1.0: 11_920}),),
    ),
    Description(
        "news20.binary.rebuilt",
        "rebuilt from the raw newsgroups: 9,094,009 nonzeros against 9,097,916, 42 empty rows",
        r=256, r_grid=WIDE_GRID, split=0.67, scale="largest", sparse=True, stands_for="news20-binary",
        files=("news20.binary.rebuilt",),
        facts=(KnownFacts(19_997, 1_350_687, 9_094_009, {1.0: 10_000, -1.0: 9_997}),),
    ),
)  # fmt: skip

DATASETS: dict[str, Description] = {description.name: description for description in _ALL}
EMBEDDED = tuple(name for name, description in DATASETS.items() if description.embedded)
PAPER = tuple(name for name, description in DATASETS.items() if description.in_paper)


def describe(name: str) -> Description:
    """Return what is known of a set.

    Parameters
    ----------
    name : str
        One of ``DATASETS``.

    Returns
    -------
    description : :class:`~isrht.datasets.registry.Description`

    Examples
    --------
    >>> from isrht.datasets import describe
    >>> describe("digits").about
    "scikit-learn's 8x8 handwritten digits, odd against even"
    """
    if name not in DATASETS:
        raise ValueError(f"unknown set {name!r}: choose one of {', '.join(DATASETS)}")
    return DATASETS[name]


def stand_in_for(name):
    """Return the name of the set that is taken in the place of this one if it cannot be had, or None."""
    return next((other.name for other in DATASETS.values() if other.stands_for == name), None)

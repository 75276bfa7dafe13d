"""Files of former versions must load, and say what they said then."""

import base64
import functools
import importlib.util
import zlib
from pathlib import Path

import pytest
from forged_files import content_of, forged, leaves, model_of, node_of
from kept_models import assert_same, fitted_model
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from isrht import __version__, load
from isrht.models import read_about

# ISRHT(2, selection="top", center=True, random_state=0), fitted to the iris data frame, saved by isrht 0.1.0
# in format version 1. Later versions must read it.
FIRST_FORMAT = """
c-p;H&rj4q6z<9oWfKkY=aOhro9IGZHna=7g=pkJ42EC`=)oYVv+XQfXs1nQ7DVL0AD|(4^TffU2QPT@$jOtM_z!sVgwdF2OmL>1?ryim
Krqf>XZy{2-@Nb5doxoLZSDO+FfI%4cCJ0$<Kv`oR<HpwD-e_X0(MYJ=oYry0@H9_O^Z^+@oYe(5m7R+S0(+nV?ayF)mOA7=wZ`A)Iw&c
Z`A}!19>?=;5!7aBO;|0CEWrTv-R6E)8lv9x+uB812*OsqErSJKssd1`GK4d=@1d<QG|Fk$RS3gEkkp@%ECl7%L*2draQLlAnL+6l@MKU
%DBZ4>y8IC3~bke(KQbs!?86?0AYdfFg)m5z>lmE2Zk2Z2^UQqSK{y@BzjfD=3~f-DZJ*(MGm3FbZ3LE%+C4P60mBpkpiSuARsjlV$DPv
g$L{2G+Dl`)wQ&bNH(;~H0@!6xub@FUH1-1G4V_^&kR+iPKV8Tgc~*nS#epw(vzATDyae=nq^<2%zo#B6<P^|CQ5TW!#|t~urO>e`-y=D
Jr1j8CvI}xR1-H*4!lXgO%D>#6HMBna?~Ac2+$#j2M<EbPmX#jLq*0mtg41lQVg}E=!Jq&DjBe#4;gY%E)EZ=YN=dO6;LS@hf9T$49ml^
s#6@oLAhY)1*IsZ*QO#pKYr=PgRtk%)1Hr2MZNi_xlcIH(t~q>C0Y>8ld9OO+kH|_<lwStG+{0zal-&?GMtM>w*C3cuQ0MSjVvg@JaSi9
H0#_hoS)yhH#v1bB`gW6Sp#C-%Z`XyTASINn2n^D;<s3ODefN#{qB`>eK~PWJi<snj0V5?`^}Xw_;W1y)*26WY;c#2zv-ame;^&o(RHMF
9Q=kCqO!=RSBs&n(^OWps}85B^4~NCQS9Cf=cuNSGh@4<rY`pCu|5u^Y;m)#e<5Y?=u$xL=gy{fVRWqLZU18J#OUj<A12G)r$%3Fk6e8;
@Qq4K9qVt~?@7NXgyZEpLs}mAOzeRd>QxY>jouoqwENv5nb;ljy)BtP+WW2i%{M_Nb`v~nPv(raWQ;SpK{K&pp6E!XkG4iDeNv;uxuwoz
?r4d|PO(w2nOMR8s8e=!<~Y`%7KF~0x#w6gzdv60^Z$M63cgc5*5RA)H4Q=d102G!dH
"""

OLD_FILES = Path(__file__).parent / "files"

# Fields that were added to the files of classes that had been kept before.
ADDED = {"n_components_", "dense_output", "weight_unit_", "transform_output"}


def test_files_of_the_first_format_can_be_read():
    loaded = model_of(zlib.decompress(base64.b85decode(FIRST_FORMAT.replace("\n", ""))))
    iris = load_iris(as_frame=True).data
    assert_array_equal(loaded.feature_names_in_, iris.columns)
    assert_allclose(loaded.transform(iris), clone(loaded).fit_transform(iris))
    assert_allclose(loaded.mean_, iris.mean())


@pytest.mark.parametrize("old", sorted(OLD_FILES.iterdir()), ids=lambda old: old.name)
def test_files_of_former_versions_say_what_they_said(old):
    """``tools/keep_models.py`` writes them; those in small letters are older than it is."""
    assert_says_what_it_said(old)


def assert_says_what_it_said(path):
    """``about`` of a file that is kept holds what its model said when it was written."""
    said = read_about(path)
    method = {"transform", "decision_function"} & said.keys()
    loaded = load(path)
    rows = load_iris().data[:1]
    assert_allclose(getattr(loaded, *method)(rows), said[min(method)], rtol=1e-12)
    assert_same(model_of(content_of(loaded)), loaded)


def test_a_release_keeps_a_file_of_every_estimator_and_replaces_none(tmp_path):
    spec = importlib.util.spec_from_file_location("keep_models", Path(__file__).parents[2] / "tools" / "keep_models.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = tool.keep(tmp_path)
    assert {f"ISRHTClassifier-{__version__}.isrht", f"LinearSVM-{__version__}.isrht"} <= {path.name for path in written}
    for path in written:
        assert_says_what_it_said(path)
    assert tool.keep(tmp_path) == []


@pytest.mark.parametrize(
    "name", ["sketched", "embedding", "embedding of z", "boosted", "svm cv", "classifier cv", "classifier boosted"]
)
def test_fields_that_were_added_may_be_missing(name):
    model = fitted_model(name)
    content = content_of(model)
    node = node_of(content)
    for *way, last in list(leaves(node)):
        if last in ADDED:
            place = functools.reduce(lambda place, key: place[key], way, node)
            del place[last]
    assert_same(model_of(forged(content, node=node)), model)

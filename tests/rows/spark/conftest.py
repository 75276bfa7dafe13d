"""A Spark of one machine, for tests that need the real one; they are skipped where it cannot be started."""

import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def session():
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java, which is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.master("local[2]").appName("isrht-tests")
        session = builder.config("spark.ui.enabled", "false").config("spark.default.parallelism", "3").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()

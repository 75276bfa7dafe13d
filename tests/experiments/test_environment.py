import json

from isrht.experiments.environment import environment


def test_a_result_can_say_where_it_comes_from():
    here = environment()
    assert here["kind"] == "environment"
    assert {"processor", "cores", "system", "python", "kernel", "commit"} <= set(here)
    assert here["versions"]["numpy"]
    assert here == environment()
    json.dumps(here)

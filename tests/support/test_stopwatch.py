from itertools import count

import pytest

from isrht.support.stopwatch import Stopwatch


def test_stages_add_up_also_after_an_error():
    watch = Stopwatch(count(0.0, 0.126).__next__, digits=2)
    with watch.stage("read"):
        pass
    with watch.stage("fit"):
        pass
    with pytest.raises(ValueError, match="read"), watch.stage("read"):
        raise ValueError("read")
    assert watch.seconds == {"read": 0.26, "fit": 0.13}

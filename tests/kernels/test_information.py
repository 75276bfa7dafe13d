from isrht.kernels.information import information


def test_a_bug_report_has_what_it_needs():
    facts = dict(information())
    assert {"isrht", "kernel", "kernels available", "processor", "python", "numpy", "system"} <= set(facts)
    assert all(facts.values())

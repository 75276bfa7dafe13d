import pytest

from isrht.transform.paley import FIELDS, _squares, paley_matrix


@pytest.mark.parametrize(("p", "power"), sorted(set(FIELDS.values())))
def test_half_of_the_elements_are_squares_and_products_keep_it(p, power):
    squares = _squares(p, power)
    q = p**power
    assert len(squares) == (q - 1) // 2
    assert 0 not in squares
    assert 1 in squares
    # -1 is a square just where q - 1 is a multiple of 4, on which the constructions rest.
    assert (p - 1 in squares) == (q % 4 == 1)


@pytest.mark.parametrize("order", FIELDS)
def test_the_list_for_kernels_has_half_of_the_distances(order):
    matrix = paley_matrix(order)
    assert len(set(matrix.added.tolist())) == len(matrix.added) == (matrix.field - 1) // 2
    assert matrix.added.min() >= 1
    assert matrix.order in (matrix.field + 1, 2 * (matrix.field + 1))

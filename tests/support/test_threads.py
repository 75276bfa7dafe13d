"""Threads of BLAS, which several fits at once must not set against each other."""

from threadpoolctl import threadpool_info, threadpool_limits

from isrht.support.threads import one_blas_thread


def test_blas_threads_come_back_when_the_last_user_leaves():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == before

"""The slow, obvious twin of BoostedISRHT: dense NumPy, one path at a time, copies of folds, Gram-Schmidt in full."""

import numpy as np

CANDIDATES = [("standard", 0.0), ("standard", 2.0), ("z", 0.0), ("z", 2.0)]
C_GRID = [4.0**exponent for exponent in range(-6, 5)]
ROUND_GRID = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]


def walsh(j, d):
    """Return the first d values of column j of the Walsh-Hadamard matrix."""
    return np.array([1.0 - 2.0 * (bin(k & j).count("1") % 2) for k in range(d)])


def code(y, n_classes):
    """Return class numbers as labels +1/-1: one column for two classes, otherwise one per class."""
    Y = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    return Y[:, 1:] if n_classes == 2 else Y


def solve(Z, y, C):
    """Return weights and intercept of the SVM on columns Z."""
    Z = np.column_stack([Z, np.ones(len(Z))])
    w, active = np.zeros(Z.shape[1]), np.ones(len(Z), dtype=bool)
    for _ in range(100):
        # Where the same rows are active at the minimum of their quadratic function, it is the minimum of all.
        optimum = np.linalg.solve(Z[active].T @ Z[active] + np.eye(len(w)) / (2 * C), Z[active].T @ y[active])
        if np.array_equal(y * (Z @ optimum) < 1, active):
            return optimum
        w = _lowest(lambda w: 0.5 * w @ w + C * (np.maximum(0, 1 - y * (Z @ w)) ** 2).sum(), w, optimum)
        active = y * (Z @ w) < 1
    return w


def _lowest(objective, start, end):
    """Return the first of the points between, from the end on and each half as far, at which the objective is less."""
    length = 1.0
    while length > 1e-12 and objective(start + length * (end - start)) >= objective(start):
        length /= 2
    return start + length * (end - start)


class SlowPath:
    """One path: its diagonals D, their orthonormal combinations U, and the residual G."""

    def __init__(self, X, Y, kind, tau, n_columns, per_round):
        n, d = X.shape
        raw = (X**2).sum(0)
        self.mean = X.mean(0)
        ss = ((X - self.mean) ** 2).sum(0)
        self.ok = ss > 1e-10 * raw
        sd = np.where(self.ok, np.sqrt(ss / n), 1.0)
        self.units = 1 / sd if kind == "standard" else np.ones(d)
        self.S = sd**2 if kind == "standard" else sd
        self.row = (ss[self.ok] / self.S[self.ok]).sum() / n
        self.X, self.Y, self.kind, self.tau = X - self.mean, Y, kind, tau
        self.n_columns, self.per_round = n_columns, per_round
        self.D, self.U, self.v = [], [], []
        self.G = Y - Y.mean(0)
        self.done = False

    def columns(self, X):
        return (X - self.mean) @ np.reshape(self.U, (-1, X.shape[1])).T / np.sqrt(self.row)

    def directions(self):
        if self.Y.shape[1] == 1:
            return np.ones((1, 1))
        V = self.X.T @ self.G
        leading = np.linalg.eigh(V.T @ (V * np.where(self.ok, 1 / self.S, 0)[:, None]))[1][:, ::-1]
        leading = leading[:, : min(self.per_round, self.n_columns - len(self.D))]
        return leading * [1 if u[np.abs(u).argmax()] > 0 else -1 for u in leading.T]

    def diagonal(self, g):
        v = self.X.T @ g
        variance = (self.X**2).T @ g**2
        known = self.ok & (variance > 1e-10 * ((self.X + self.mean) ** 2).T @ g**2)
        z = np.where(known, v / np.sqrt(np.where(known, variance, 1)), 0)
        if self.kind == "signs":
            z = np.where(self.ok, np.where(z < 0, -1, 1), 0)
        z = np.sign(z) * np.maximum(np.abs(z) - self.tau, 0)
        return v, z.astype(np.float32) * self.units

    def grow(self):
        if self.done or len(self.D) >= self.n_columns:
            return
        before = len(self.D)
        for u in self.directions().T:
            v, D = self.diagonal(self.G @ u)
            norm = np.sqrt(self.S * D @ D)
            if norm == 0:
                continue
            D = D / norm
            rest = D.copy()
            for _ in range(2):
                for U in self.U:
                    rest = rest - (self.S * U @ rest) * U
            norm = np.sqrt(self.S * rest @ rest)
            if norm >= 1e-6:
                self.D.append(D), self.U.append(rest / norm), self.v.append(v)
        if len(self.D) == before:
            self.done = True
            return
        Z = self.X @ np.array(self.U).T / np.sqrt(self.row)
        for k, y in enumerate(self.Y.T):
            w = solve(Z, y, 1.0)
            self.G[:, k] = y * np.maximum(0, 1 - y * (Z @ w[:-1] + w[-1]))
        self.done = bool((self.G**2).sum() < 1e-10 * len(self.G))

    def contrasts(self, n_components):
        """Return (round, column) of the Walsh contrasts. Rounds take turns, so the earlier ones may have one more."""
        T, d = len(self.D), len(self.mean)
        width = 1 << (d - 1).bit_length()
        H = np.array([walsh(j, d) for j in range(width)])
        chosen = []
        for t in range(T):
            size = np.abs(H @ (self.D[t] * self.v[t]))
            size = np.round(size / size.max(), 10)
            size[0] = -1
            count = len(range(t, n_components - T, T))
            chosen += [(t, j) for j in np.lexsort((np.arange(width), -size))[: min(count, width - 1)]]
        return chosen


def plan(n_components, n_classes):
    """Return how many columns are learned, how many of them in a round, and which numbers of rounds are tried."""
    n_learned = min(n_components, 16 * (n_classes - 1))
    per_round = int(np.ceil(n_learned / 32))
    most = int(np.ceil(n_learned / per_round))
    return n_learned, per_round, [t for t in ROUND_GRID if t < most] + [most]


def held_out(X, y, n_classes, splits, candidates, n_components):
    """Return accuracy, score and evidence of every cell, and the numbers of rounds that are tried."""
    n_learned, per_round, grid = plan(n_components, n_classes)
    shape = len(candidates), len(grid), len(C_GRID)
    cells = np.full((3, *shape), np.nan)
    few_features = (X.std(0) > 0).sum() <= n_learned
    paths = {
        i: [SlowPath(X[a], code(y[a], n_classes), kind, tau, n_learned, per_round) for a, _ in splits]
        for i, (kind, tau) in enumerate(candidates)
    }
    for j in range(len(grid)):
        for mine in paths.values():
            for _ in range(grid[j] - (grid[j - 1] if j else 0)):
                [path.grow() for path in mine]
        for i, mine in paths.items():
            walk(cells[:, i], j, lambda C, mine=mine: judged(X, y, n_classes, mine, splits, C))
        score = np.nan_to_num(scores(cells)[:, : j + 1], nan=-np.inf).max(axis=2)
        n_out = sum(len(test) for _, test in splits)
        for i in list(paths):
            to_the_end = few_features and candidates[i][1] == 0
            if (is_over(score, i, n_out) and not to_the_end) or all(path.done for path in paths[i]):
                del paths[i]
    return cells[0], scores(cells), np.nan_to_num(cells[2]), grid


def walk(cells, j, judge):
    """Judge all Cs after the first round, later those around the best one, and further ones while these are better."""
    tried = list(range(len(C_GRID)))
    if j > 0:
        best = np.nanargmax(scores(cells)[j - 1])
        tried = [c for c in tried if abs(c - best) <= 2]
    while tried:
        for c in tried:
            cells[:, j, c] = judge(C_GRID[c])
        known, best = np.flatnonzero(~np.isnan(cells[0, j])), np.nanargmax(scores(cells)[j])
        tried = [c for c in (known[0] - 1, known[-1] + 1) if 0 <= c < len(C_GRID) and abs(c - best) == 2]


def is_over(score, i, n_out):
    """Say whether a candidate no longer improves, or is far behind the best one, from its fourth point on."""
    if score.shape[1] < 4:
        return False
    error, gain = np.sqrt(max(1 - score.max(), 1 / n_out) / n_out), score[i, -1] - score[i, -2]
    return gain <= score[i, :-1].max() - score[i, -2] or score.max() - score[i].max() > 2 * (error + max(gain, 0))


def judged(X, y, n_classes, paths, splits, C):
    """Return accuracy, mean squared hinge and evidence of the rows that are held out."""
    hits = losses = n_out = 0
    spreads, label_spreads, covariances = [], [], []
    for path, (train, test) in zip(paths, splits, strict=True):
        Z, Y = path.columns(X[train]), code(y[test], n_classes)
        W = [solve(Z, label, C) for label in path.Y.T]
        F = np.stack([path.columns(X[test]) @ w[:-1] + w[-1] for w in W], 1)
        guess = (F[:, 0] > 0).astype(int) if n_classes == 2 else F.argmax(1)
        n_out += len(test)
        hits += (guess == y[test]).sum()
        losses += (np.maximum(0, 1 - Y * F) ** 2).mean(1).sum()
        F, Y = F - F.mean(0), Y - Y.mean(0)
        spreads.append((F**2).sum(0))
        label_spreads.append((Y**2).sum(0))
        covariances.append((F * Y).sum(0))
    errors = np.sqrt(n_out) * sum(covariances) / np.sqrt(sum(spreads) * sum(label_spreads))
    evidence = errors[0]
    if n_classes > 2:
        together = errors.sum() * np.sqrt(n_classes - 1) / n_classes
        evidence = max(together - 0.5, errors.max() - np.sqrt(2 * np.log(n_classes)))
    return hits / n_out, losses / n_out, evidence


def scores(cells):
    """Return the scores of cells from their accuracy, hinge and evidence."""
    return smoothed(cells[0] - 0.05 * cells[1])


def smoothed(score):
    """Return the mean of every score and its two neighbours in C, which weigh half as much."""
    last = score.shape[-1] - 1
    around = [(score[..., max(c - 1, 0)], score[..., c], score[..., min(c + 1, last)]) for c in range(last + 1)]
    return np.stack([0.25 * below + 0.5 * own + 0.25 * above for below, own, above in around], axis=-1)


def choose(X, y, n_classes, splits, candidates, n_components):
    """Return the chosen candidate, rounds and C, and its held-out accuracy."""
    accuracy, score, evidence, grid = held_out(X, y, n_classes, splits, candidates, n_components)
    near = np.argwhere(score >= np.nanmax(score) - 1e-9)
    i, j, c = min(map(tuple, near), key=lambda cell: (cell[1], cell[2], -cell[0]))
    if evidence[i, j, c] < 3:
        i, j, c = len(candidates) - 1, 0, C_GRID.index(1 / 16)
    return candidates[i], grid[j], C_GRID[c], accuracy[i, j, c]


def boosted(X, y, n_components, splits, candidates=CANDIDATES):
    """Return the chosen cell, and the projection as a mean and a matrix (n_features, components)."""
    n_classes = len(np.unique(y))
    (kind, tau), rounds, C, accuracy = choose(X, y, n_classes, splits, candidates, n_components)
    n_learned, per_round, _ = plan(n_components, n_classes)
    path = SlowPath(X, code(y, n_classes), kind, tau, min(n_learned, rounds * per_round), per_round)
    for _ in range(rounds):
        path.grow()
    contrasts = path.contrasts(n_components)
    weight = min(0.1, 0.4 / np.sqrt(max(1, len(contrasts))))
    rows = path.U + [weight * path.D[t] * walsh(j, X.shape[1]) for t, j in contrasts]
    return (kind, tau, rounds, C, accuracy), path.mean, np.array(rows).T * np.sqrt(C / path.row)

"""Which point of a grid Optuna's tree-structured Parzen estimator would try next: no adapter, asked by `yardstick tune`.

    optuna_ask.py SEED 13,2,2 4,0,1=5.3 7,1,0=inf 2,0,0=refused ...

SEED and the numbers of values of each key, then a word of "tell" for each point that was judged: which value of each key
it has, and what it is worth, less being better. It answers the values of the next point, 5,0,1. A value that did not get
there is worse than any that did, and stays one that was seen; one that was refused is a trial that failed, without a worth.
"""
import sys

import optuna
from optuna.distributions import IntDistribution


def ask(seed, counts, told):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    grid = {"key %d" % k: IntDistribution(0, count - 1) for k, count in enumerate(counts)}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed + len(told), n_startup_trials=10))
    known = [value for _, value in told if value is not None and value != float("inf")]
    worst = max(known, default=1.0) * 2
    for values, value in told:
        how = {"state": optuna.trial.TrialState.FAIL} if value is None else {"value": min(value, worst)}
        study.add_trial(optuna.trial.create_trial(params=dict(zip(grid, values)), distributions=grid, **how))
    params = study.ask(grid).params
    return [params[name] for name in grid]


def numbers(text):
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    judged = [word.split("=") for word in sys.argv[3:]]
    told = [(numbers(at), None if worth == "refused" else float(worth)) for at, worth in judged]
    print(",".join(map(str, ask(int(sys.argv[1]), numbers(sys.argv[2]), told))))

"""How long the start takes, against a bare interpreter in the same run.

python -m tests.benchmarks.start_up
"""

import statistics
import subprocess
import sys
import time

RUNS = 15
CASES = {
    "bare interpreter": "pass",
    "import lint_dataset": "import lint_dataset",
    "lint-dataset --help": "from lint_dataset.cli import main; main(['--help'])",
    "lint-dataset --show-plan": "from lint_dataset.cli import main; main(['--show-plan'])",
}


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(RUNS):  # in turn, so that a slow moment of the machine meets all of them
        for name, code in CASES.items():
            times[name].append(seconds(code))
    bare = statistics.median(times["bare interpreter"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:26} median {median:.3f} s   over bare {median - bare:+.3f} s")


if __name__ == "__main__":
    main()

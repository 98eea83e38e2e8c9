"""The long battery of ``make chance``: many decks of every source, and bit tests of programs that are installed.

    python -m tests.fairness.battery DECKS [SEED]

Exit 1 when anything is below alpha divided by the number of tests. What is not installed is said, not hidden.
"""

import contextlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

from brelan.deck.fair.drbg import Drbg, sha256
from tests.fairness.counting import ALPHA, counted
from tests.fairness.sources import SOURCES, seeded

SIZES = (32, 36, 52)
DIEHARDER_TESTS = (
    0,
    8,
    15,
    100,
    101,
)  # birthdays, count the 1s, runs, monobit, runs; not those it calls suspect itself
FIPS_BLOCKS = 10_000
FIPS_MOST = 30  # some 8 of 10,000 blocks fail by chance; more than 30 do with probability 1e-8


def one(source: str, size: int, decks: int, seed: int) -> tuple[str, dict[str, float]]:
    return f"{source:6} {size}", counted(size, decks, SOURCES[source](seeded(seed * 100 + size))).p_values()


def bits(seed: int, count: int) -> bytes:
    drbg = Drbg(sha256(seed.to_bytes(8, "big")))
    return b"".join(drbg.generate(4096) for _ in range(count // 4096 + 1))


def fips(seed: int) -> bool:
    """FIPS 140-2: a few blocks fail by chance; too many is what counts."""
    if not shutil.which("rngtest"):
        say("rngtest is not installed: left out")
        return True
    data = bits(seed, (FIPS_BLOCKS + 1) * 2500)
    done = subprocess.run(["rngtest", "-c", str(FIPS_BLOCKS)], input=data, capture_output=True, check=False)
    found = re.search(rb"FIPS 140-2 failures: (\d+)", done.stderr)
    failures = int(found[1]) if found else FIPS_BLOCKS
    say(f"rngtest: {failures} of {FIPS_BLOCKS} blocks failed (at most {FIPS_MOST})")
    return failures <= FIPS_MOST


def dieharder(seed: int) -> bool:
    """Fed by a pipe, for it reads a file again from its start when it is too short. It says FAILED below 1e-6."""
    if not shutil.which("dieharder"):
        say("dieharder is not installed: left out")
        return True
    good = True
    for test in DIEHARDER_TESTS:
        drbg = Drbg(sha256(b"dieharder", seed.to_bytes(8, "big")))
        program = subprocess.Popen(
            ["dieharder", "-g", "200", "-d", str(test)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert program.stdin
        with contextlib.suppress(BrokenPipeError):
            while program.poll() is None:
                program.stdin.write(drbg.generate(4096))
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()
        assert program.stdout
        with program.stdout:
            lines = [line.strip() for line in program.stdout.read().decode().splitlines() if line.count("|") >= 5]
        program.wait()
        results = [" ".join(line.split("|")[i].strip() for i in (0, 4, 5)) for line in lines[1:]]
        say("dieharder: " + "; ".join(results))
        good = good and bool(results) and not any("FAILED" in result for result in results)
    return good


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(decks: int, seed: int) -> bool:
    jobs = [(source, size) for source in SOURCES for size in SIZES]
    limit = ALPHA / (len(jobs) * 4)
    say(f"{decks} decks each, seed {seed}, every p must be above {limit:.1e}")
    good = True
    with ProcessPoolExecutor() as pool:
        for name, values in pool.map(one, *zip(*jobs, strict=True), [decks] * len(jobs), [seed] * len(jobs)):
            say(f"{name}  " + "  ".join(f"{test} {value:.3f}" for test, value in values.items()))
            good = good and min(values.values()) > limit
    return all((fips(seed), dieharder(seed), good))


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))

"""The process that runs some episodes of an evaluation: python3 -m eipc.farm.worker FOLDER --cases 0,1,2 [--more] [--server ADDRESS ...].

With --more it goes on with the cases that it reads from its standard input, a line of numbers at a time, until that ends. With several
servers it uses the first while that lives, and its episodes go on on another one when it is lost.

Exit status: 0 when every case has a result, 2 when the evaluation cannot go on here (words on standard error), 4 when the server is of
another build, 5 when the server was lost, 6 when there was none to begin with, 75 after an episode that took too long (its result says so).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from ..client import Client, Tls, connect
from ..errors import EipcError, UnavailableError
from ..server_process import ServerProcess, launch
from .errors import EvaluationError, OtherBuildError
from .plan import Case
from .policy import Policy, load_policy
from .results import ERROR, Result, Results
from .policy_calls import PolicyError
from .runner import Runner, make_runner
from .server_farm import Farm, FarmOptions

DONE, CANNOT, OTHER_BUILD, SERVER_LOST, NO_SERVER, TOO_LONG = 0, 2, 4, 5, 6, 75
_GRACE_S = 20.0
_CONNECT_S = 20.0
_FARM_CONNECT_S, _FARM_CALL_S = 5.0, 30.0


class Watch:
    """Ends the process when an episode takes too long, having stored a result that says so: a policy may hang for ever."""

    def __init__(self, results: Results, case: Case, limit_s: float) -> None:
        self._results, self._case, self._limit_s = results, case, limit_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)

    def __repr__(self) -> str:
        return f"Watch({self._case}, {self._limit_s:g} s)"

    def __enter__(self) -> "Watch":
        self._thread.start()
        # Where the policy holds the interpreter, no thread of it runs; the kernel does.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._limit_s + _GRACE_S)
        return self

    def __exit__(self, *_: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._done.set()
        self._thread.join()

    def _wait(self) -> None:
        if self._done.wait(self._limit_s):
            return
        reason = f"the episode took longer than {self._limit_s:g} s (does the policy hang?)"
        self._results.put(Result(self._case.index, self._case.scene, self._case.seed, ERROR, reason))
        os._exit(TOO_LONG)


class Worker:
    """Runs cases on one server, a given one or one of its own, or on a farm of them."""

    def __init__(self, folder: Path, servers: Sequence[str]) -> None:
        self.results = Results(folder)
        self.policy: Policy = load_policy(self.results.plan.policy)
        self._process: Optional[ServerProcess] = None if servers else launch()
        self.servers: Union[Client, Farm] = self._connect(servers)
        self._runners: dict[str, Runner] = {}
        self.results.agree_on_build(self._build())

    def __repr__(self) -> str:
        return f"Worker({self.results!r}, {self.servers!r})"

    def run(self, case: Case) -> None:
        """Stores the result of an episode that has none yet. Raises UnavailableError when the server is lost."""
        if self.results.path(case.index).exists():
            return
        self.results.begin(case.index)
        with Watch(self.results, case, self.results.plan.episode_timeout_s):
            self.results.put(self._result(case))

    def _result(self, case: Case) -> Result:
        try:
            if case.scene not in self._runners:
                self._runners[case.scene] = make_runner(case.scene, self.servers, self.results)
            return self._timed(self._runners[case.scene], case)
        except (UnavailableError, EvaluationError):
            raise
        except PolicyError as error:
            return Result(case.index, case.scene, case.seed, ERROR, str(error), build=self.results.build)
        except EipcError as error:
            return Result(case.index, case.scene, case.seed, ERROR, f"the simulation failed: {error}", build=self.results.build)

    def _timed(self, runner: Runner, case: Case) -> Result:
        begin, moves = time.monotonic(), runner.moves
        result = runner.run(case, self.policy)
        return replace(result, server="" if self._process else runner.address, seconds=round(time.monotonic() - begin, 3),
                       moves=runner.moves - moves)

    def close(self) -> None:
        for runner in self._runners.values():
            try:
                runner.close()
            except EipcError:
                pass  # the server is gone, and the session with it
        self.servers.close()
        if self._process is not None:
            self._process.stop()

    def _connect(self, servers: Sequence[str]) -> Union[Client, Farm]:
        if self._process is not None:
            return self._process.client()
        if len(servers) == 1:
            return connect(servers[0], timeout=_CONNECT_S, **credentials())
        return Farm(servers, self.results.build,
                    FarmOptions(connect_timeout=_FARM_CONNECT_S, call_timeout=_FARM_CALL_S, connecting=credentials()))

    def _build(self) -> str:
        if isinstance(self.servers, Farm):
            self.servers.client()  # of the first that answers; another's build is asked for when it is used
            return self.servers.build
        return self.servers.server_info().build


def main(argv: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m eipc.farm.worker", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", required=True, help="numbers, separated by commas; or @FILE:N, item N of a list in JSON")
    parser.add_argument("--more", action="store_true", help="reads more cases from standard input, until that ends")
    parser.add_argument("--server", action="append", default=[], help="address, may be repeated; default: a server of its own")
    options = parser.parse_args(argv)
    more: Iterable[str] = _own_input() if options.more else ()
    worker = None
    try:
        worker = Worker(options.folder, options.server)
        for words in itertools.chain([options.cases], more):
            for index in cases_of(words):
                worker.run(worker.results.plan.case(index))
        return DONE
    except OtherBuildError as error:
        return _say(OTHER_BUILD, error)
    except EvaluationError as error:
        return _say(CANNOT, error)
    except UnavailableError as error:
        time.sleep(1)  # a server that is starting again is not asked at once
        return _say(NO_SERVER if worker is None else SERVER_LOST, f"{', '.join(options.server) or 'the server'} was lost: {error}")
    except EipcError as error:
        return _say(CANNOT, error)
    except OSError as error:
        return _say(CANNOT, f"results cannot be written to {options.folder}: {error.strerror}")
    finally:
        if worker is not None:
            worker.close()


def _own_input() -> Iterable[str]:
    """The lines of standard input, which this process alone reads from now on: the policy finds none there."""
    lines = os.fdopen(os.dup(0), encoding="ascii")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return lines


def credentials() -> dict[str, Any]:
    """What servers off this machine want of EIPC_TOKEN_FILE and EIPC_CA_FILE. Raises EvaluationError."""
    found: dict[str, Any] = {}
    token, authority = os.environ.get("EIPC_TOKEN_FILE"), os.environ.get("EIPC_CA_FILE")
    try:
        if token:
            found["token"] = Path(token).read_text().strip()
        if authority:
            Path(authority).read_bytes()
            found["tls"] = Tls(ca=Path(authority))
    except OSError as error:
        raise EvaluationError(f"the credentials {error.filename} cannot be read: {error.strerror}") from None
    return found


def cases_of(words: str) -> list[int]:
    if words.startswith("@"):  # of an array job
        file, _, item = words[1:].rpartition(":")
        return [int(index) for index in json.loads(Path(file).read_text())[int(item)]]
    return [int(index) for index in words.split(",")]


def _say(status: int, words: object) -> int:
    print(f"eipc evaluate: {words}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Where workers run: on this machine, on servers that are there, by Slurm, Dask, Ray or Agones."""

from __future__ import annotations

from .base import Ended, Engine
from .local import LocalEngine

__all__ = ["Ended", "Engine", "LocalEngine", "engine_named"]


def engine_named(name: str, workers: int, addresses: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> Engine:
    """local, servers (of `addresses`), slurm, dask, ray or agones. options: of the engine, e.g. sbatch's, or the scheduler's address. Raises
    EvaluationError for another name, and where the engine is not installed."""
    from ..errors import EvaluationError

    if addresses and name not in ("local", "servers"):
        raise EvaluationError(f"--server goes with the engine 'servers', not with {name!r}")
    if addresses:
        return LocalEngine(workers, addresses)
    if name == "local":
        return LocalEngine(workers)
    if name == "slurm":
        from .slurm import SlurmEngine
        return SlurmEngine(workers, options)
    if name == "dask":
        from .dask import DaskEngine
        return DaskEngine(workers, options)
    if name == "agones":
        from .agones import AgonesEngine
        return AgonesEngine(workers, options)
    if name == "ray":
        from .ray import RayEngine
        return RayEngine(workers, options)
    raise EvaluationError(f"no engine is called {name!r}; there are local, servers (with --server), slurm, dask, ray, agones")

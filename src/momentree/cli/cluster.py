"""Work on a cluster: the connection to its scheduler, and the files that its workers read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from momentree.exceptions import ClusterError, InvalidParameterError, MissingLibraryError
from momentree.messages import wording
from momentree.readers import is_pattern

PATIENCE = 20
"""Seconds to wait for the scheduler, and then for a worker."""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect to a Dask scheduler for the length of a ``with`` block, and check its workers.

    Parameters
    ----------
    address : str or None
        Address of the scheduler, such as "tcp://10.0.0.1:8786"; None changes nothing.

    Yields
    ------
    None
        The connection is that of all work with Dask in the block.

    Raises
    ------
    ClusterError
        If there is no scheduler at this address, it has no workers, or these do not have this
        version of momentree.
    MissingLibraryError
        If Dask is not installed.
    """
    if address is None:
        yield
        return
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise MissingLibraryError(wording.DASK_MISSING) from error
    named = {"parameter": "scheduler", "value": address}
    with dask.config.set({"distributed.logging.distributed": "critical"}):
        try:
            client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError, RuntimeError) as error:
            text = " ".join(f"{error}".split()) or type(error).__name__
            raise ClusterError(
                "no scheduler of Dask answers at {parameter:{value}} ({error}); check the address, "
                "which the scheduler prints when it starts, and that this machine can reach it",
                error=text,
                **named,
            ) from error
        with client:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError as error:
                raise ClusterError(
                    "the scheduler at {parameter:{value}} has no workers after {seconds:~second}; "
                    "start some: dask worker {value}",
                    seconds=PATIENCE,
                    **named,
                ) from error
            here = metadata.version("momentree")
            there = set(client.run(_version).values())
            if there != {here}:
                found = sorted(version or "none" for version in there)
                raise ClusterError(
                    "workers must have the same version of momentree as this machine, {here}, but "
                    "have {found:list}; install it on all of them: pip install "
                    "'momentree[dask]=={here}'",
                    here=here,
                    found=found,
                )
            yield


def _version() -> str | None:
    try:
        return metadata.version("momentree")
    except metadata.PackageNotFoundError:
        return None


def on_workers(source: Path) -> str:
    """Return the pattern or URL of the Parquet files that workers read."""
    if is_pattern(source):
        return str(source)
    if source.suffix.lower() not in (".parquet", ".pq"):
        raise InvalidParameterError(
            "[only_parquet_on_workers] with {parameters.scheduler}, workers read Parquet files, "
            "and {path} is not one; give a file, a pattern such as 'news/*.parquet' or a URL such "
            "as 's3://news/*.parquet', or leave out {parameters.scheduler}",
            path=str(source),
        )
    return f"file://{source.resolve()}"

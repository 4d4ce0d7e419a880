"""Wording of messages about rows that are not in the memory of this process."""

WORDS: dict[str, str] = {
    # --- Dask ------------------------------------------------------------------------------------
    "dask_not_a_table": (
        "X is a Dask {type}; expected a two-dimensional Dask array or a Dask data frame"
    ),
    "dask_not_two_dimensional": (
        "the Dask collection has {n_dimensions:~dimension}; expected two, samples by features"
    ),
    "block_not_two_dimensional": (
        "a block of the Dask array has shape {shape}; expected rows by columns"
    ),
    "no_rows_in_collection": "the Dask collection has {n_blocks:~partition}, all without rows",
    "blocks_of_other_widths": (
        "partitions of the Dask collection differ in their number of columns ({found:list}); give "
        "all of them the same columns"
    ),
    "partition_of_other_columns": (
        "a partition of the Dask data frame has other columns than the first (missing: "
        "{missing:list}; unknown: {unknown:list}); give all partitions the same columns in the "
        "same order"
    ),
    "partition_not_read": "a partition of the Dask collection cannot be computed: {error}",
    "worker_killed": (
        "the same task lost one Dask worker after another, usually for lack of memory: make "
        "partitions smaller, or give workers more memory; if workers stop for other reasons, "
        "raise distributed.scheduler.allowed-failures in the configuration of Dask ({error})"
    ),
    "scheduler_lost": (
        "the connection to the Dask scheduler was lost ({error}); start it again, connect a new "
        "client, and repeat the call"
    ),
}

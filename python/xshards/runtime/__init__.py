# SPDX-License-Identifier: Apache-2.0
"""Worker processes that run Python functions over shared memory.

A `Dispatcher` hands the engine's fragments to the workers of a `WorkerPool`; a fork
server makes the workers; a `Channel` carries messages and descriptors between them.
"""

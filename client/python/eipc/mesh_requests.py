"""Requests that send a mesh to the server and have a body made of it there."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path
from typing import Iterator

from .v1 import service_pb2

# What a server says that makes shells (ServerInfo.capabilities); an earlier one would ignore the wish and make a cage.
SHELL_CAPABILITY = "prepare_shell"


def upload_pieces(path: str | os.PathLike[str], chunk_bytes: int) -> Iterator[service_pb2.UploadMeshRequest]:
    """A file in pieces with checksums; the first says what the whole is."""
    data = Path(path).read_bytes()
    for offset in range(0, max(len(data), 1), chunk_bytes):
        piece = data[offset:offset + chunk_bytes]
        message = service_pb2.UploadMeshRequest(data=piece, crc32=zlib.crc32(piece))
        if offset == 0:
            message.file_name, message.total_bytes = Path(path).name, len(data)
            message.sha256 = hashlib.sha256(data).hexdigest()
        yield message


def cage_request(reference: str, scale: float, cage_vertices: int, timeout_s: float) -> service_pb2.PrepareMeshRequest:
    """A solid and its cage."""
    request = service_pb2.PrepareMeshRequest(cage_vertices=cage_vertices, timeout_s=timeout_s)
    request.mesh.file, request.mesh.scale = reference, scale
    return request


def shell_request(reference: str, scale: float, thickness_m: float, vertices: int, edge_m: float, keep_triangles: bool,
                  timeout_s: float) -> service_pb2.PrepareMeshRequest:
    """A shell of the triangles."""
    shell = service_pb2.PrepareShell(thickness_m=thickness_m, vertices=vertices, edge_m=edge_m, keep_triangles=keep_triangles)
    request = service_pb2.PrepareMeshRequest(shell=shell, timeout_s=timeout_s)
    request.mesh.file, request.mesh.scale = reference, scale
    return request

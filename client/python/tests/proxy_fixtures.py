"""Servers behind HAProxy (eipc-server-with-proxy) for tests: certificates and a server."""

import contextlib
import os
import subprocess
from pathlib import Path

import grpc
import pytest

import eipc
from eipc.v1 import service_pb2_grpc

LOOPBACK = "--listen=127.0.0.1:0"
PATIENCE_S = 30
MIB = 1 << 20
MANY_STEPS = 100_000  # longer than any test waits


def launch(binary, *arguments):
    return eipc.launch_server(binary, (LOOPBACK, "--log-level=off", *arguments), timeout=60)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A CA, a server's certificate for localhost, and a client's named arm-1."""
    folder = tmp_path_factory.mktemp("tls")

    def run(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    try:
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out",
            "ca.pem", "-subj", "/CN=test ca", "-days", "2")
    except FileNotFoundError:
        pytest.skip("no openssl command")
    for name, alternative in (("server", "DNS:localhost,IP:127.0.0.1"), ("client", "DNS:arm-1")):
        (folder / f"{name}.ext").write_text(f"subjectAltName={alternative}\n")
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out",
            f"{name}.csr", "-subj", f"/CN={name}")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem",
            "-days", "2", "-extfile", f"{name}.ext")
    return folder


@pytest.fixture(scope="module")
def proxied(server_binary):
    if not Path(os.environ.get("EIPC_HAPROXY", "/usr/sbin/haproxy")).exists():
        pytest.skip("haproxy is not installed")
    return server_binary.with_name("eipc-server-with-proxy")


@pytest.fixture(scope="module")
def server(proxied):
    with launch(proxied) as server:
        yield server
    assert server.process.returncode == 0, "SIGTERM must end the server in order:\n" + server.output


def descendants(process):
    """Process ids of the server and the proxy, whatever their order."""
    children = [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return [*children, *(pid for child in children for pid in descendants(child))]


def resident_bytes(server):
    pages = 0
    for process in descendants(server.process.pid):
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def stub_of(server):
    """On a connection of its own."""
    return service_pb2_grpc.SimulationServiceStub(
        grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]))


@pytest.fixture
def tls_files(certificates, tmp_path):
    """The proxy's certificate and key in one file, as HAProxy takes them."""
    both = tmp_path / "proxy.pem"
    both.write_text((certificates / "server.pem").read_text() + (certificates / "server.key").read_text())
    return both, certificates / "ca.pem"

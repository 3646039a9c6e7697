"""The viewer's page behind HAProxy, with the lines that docs/howto/operations.md gives: TLS, sign-in, sockets, and what the proxy refuses."""

import hashlib
import http.client
import os
import re
import select
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

import eipc
from awaiting import wait_until
from eipc.v1 import service_pb2, viewer_pb2
from proxy_fixtures import certificates  # noqa: F401  (a fixture)
from web_socket import Refused, WebSocket

ROOT = Path(__file__).resolve().parents[3]
HAPROXY = Path(os.environ.get("EIPC_HAPROXY", "/usr/sbin/haproxy"))
DOCUMENTED_HOST, DOCUMENTED_VIEWER, DOCUMENTED_BIND = "sim.example.org:8443", "127.0.0.1:50080", "bind :8443"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Site:
    """Where the page is: through the proxy, over TLS that is checked."""

    def __init__(self, port, trusted):
        self.port, self.host = port, f"localhost:{port}"
        self.origin = f"https://{self.host}"
        self._context = ssl.create_default_context(cafile=str(trusted))

    def request(self, method="GET", path="/status", headers=None, body=None):
        connection = http.client.HTTPSConnection("localhost", self.port, context=self._context, timeout=30)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, response.headers, content

    def open_socket(self, cookie, **headers):
        secured = self._context.wrap_socket(socket.create_connection(("localhost", self.port), timeout=30), server_hostname="localhost")
        return WebSocket(self.port, {"Host": self.host, "Origin": self.origin, "Cookie": cookie, **headers}, over=secured)


@pytest.fixture(scope="module")
def site(server_binary, certificates, tmp_path_factory):  # noqa: F811
    if not HAPROXY.exists():
        pytest.skip("haproxy is not installed")
    folder = tmp_path_factory.mktemp("viewer_proxy")
    (folder / "access").write_text(f"token {hashlib.sha256(b'a token').hexdigest()} alpha operator\n")
    (folder / "proxy.pem").write_text((certificates / "server.pem").read_text() + (certificates / "server.key").read_text())
    found = Site(free_port(), certificates / "ca.pem")
    arguments = ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0", f"--viewer-origin={found.origin}", f"--access-file={folder / 'access'}", "--log-level=off"]
    with eipc.launch(server_binary, arguments) as server:
        (lines,) = re.findall(r"```haproxy\n(.*?)```", (ROOT / "docs/howto/operations.md").read_text(), re.DOTALL)
        for documented, here in ((DOCUMENTED_HOST, found.host), (DOCUMENTED_VIEWER, server.viewer_url.split("/")[2]), (DOCUMENTED_BIND, f"bind 127.0.0.1:{found.port}")):
            assert lines.count(documented) == 1
            lines = lines.replace(documented, here)
        (folder / "haproxy.cfg").write_text(lines)
        proxy = subprocess.Popen([HAPROXY, "-W", "-f", "haproxy.cfg"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: proxy.poll() is not None or listens(found.port), "the proxy listens")
            assert proxy.poll() is None, proxy.stderr.read()
            yield found
        finally:
            proxy.terminate()
            proxy.wait(30)
            proxy.stderr.close()


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def sign_in(site):
    status, headers, _ = site.request("POST", "/sign-in", {"Origin": site.origin}, b"a token")
    assert status == 204
    return headers


def test_a_page_signs_in_and_calls_over_a_socket(site):
    status, headers, body = site.request()
    assert (status, b'"signed_in":false' in body.replace(b" ", b"")) == (200, True)
    assert headers["Strict-Transport-Security"]
    cookie = sign_in(site)["set-cookie"]
    assert "Secure" in cookie and "HttpOnly" in cookie
    with site.open_socket(cookie.split(";")[0]) as page:
        page.ask(viewer_pb2.ViewerRequest(id=1, call=viewer_pb2.ViewerCall(method="ListSessions", request=service_pb2.ListSessionsRequest().SerializeToString())))
        answer = page.answer(1)
        assert answer.status_code == 0, answer.status_message


def test_other_hosts_and_origins_are_refused(site):
    assert site.request(headers={"Host": "elsewhere.example"})[0] == 421
    cookie = sign_in(site)["set-cookie"].split(";")[0]
    with pytest.raises(Refused) as refused:
        site.open_socket(cookie, Origin="https://elsewhere.example")
    assert refused.value.status == 403


def test_headers_are_bounded(site):
    assert site.request(headers={"X-Long": "a" * 12500})[0] == 413


def ended(connection):
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except ConnectionError:
        return True


def test_one_address_is_bounded(site):
    kept = []
    try:
        for _ in range(80):
            kept.append(socket.create_connection(("127.0.0.1", site.port), timeout=30))
        wait_until(lambda: sum(map(ended, select.select(kept, [], [], 0)[0])) >= 80 - 64, "the proxy ends those beyond 64 of an address")
    finally:
        for connection in kept:
            connection.close()

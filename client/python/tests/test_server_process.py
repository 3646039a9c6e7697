import sys
import textwrap

import pytest

import eipc
from eipc import server_program


def script(tmp_path, body):
    path = tmp_path / "server.py"
    path.write_text(textwrap.dedent(body))
    return [str(path)]


def test_reads_the_address_and_stops(tmp_path):
    args = script(tmp_path, """
        import signal
        print("starting", flush=True)
        print("eipc-server listening on 127.0.0.1:1234", flush=True)
        for _ in range(5000): print("x" * 100)
        signal.pause()
    """)
    with eipc.launch_server(sys.executable, args) as server:
        assert server.address == "127.0.0.1:1234"
        assert server.running
    assert not server.running


def test_a_server_that_ends_is_reported_with_its_words(tmp_path):
    args = script(tmp_path, "import sys; print('cannot bind 127.0.0.1:80', file=sys.stderr); sys.exit(3)")
    with pytest.raises(eipc.ServerStartError, match="status 3: cannot bind"):
        eipc.launch_server(sys.executable, args)


def test_a_silent_server_times_out(tmp_path):
    args = script(tmp_path, "import signal; signal.pause()")
    with pytest.raises(eipc.ServerStartError, match="did not say"):
        eipc.launch_server(sys.executable, args, timeout=0.3)


def test_a_stubborn_server_is_ended(tmp_path):
    args = script(tmp_path, """
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("eipc-server listening on 127.0.0.1:1", flush=True)
        signal.pause()
    """)
    server = eipc.launch_server(sys.executable, args)
    assert server.stop(grace_s=0.3) != 0
    assert not server.running


def test_a_missing_binary_is_named():
    with pytest.raises(eipc.ServerStartError, match="no/such/eipc-server"):
        eipc.launch_server("no/such/eipc-server")


def program(path, address="127.0.0.1:1234"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho eipc-server listening on {address}\nexec sleep 600\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A package in a checkout, and a PATH of one folder, all without a server."""
    package = tmp_path / "checkout/client/python/eipc"
    package.mkdir(parents=True)
    monkeypatch.delenv("EIPC_SERVER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return package


def test_the_server_is_found_in_order(places, tmp_path, monkeypatch):
    on_path = program(tmp_path / "bin/eipc-server")
    assert server_program.find_server(places) == on_path
    built = program(tmp_path / "checkout/build/release/bin/eipc-server")
    assert server_program.find_server(places) == built
    carried = program(places / "bin/eipc-server")
    assert server_program.find_server(places) == carried
    named = program(tmp_path / "elsewhere/server")
    monkeypatch.setenv("EIPC_SERVER", str(named))
    assert server_program.find_server(places) == named


def test_an_installed_package_sees_no_build_tree(tmp_path, monkeypatch, places):
    program(tmp_path / "lib/build/release/bin/eipc-server")
    with pytest.raises(eipc.ServerStartError, match="no eipc-server found"):
        server_program.find_server(tmp_path / "lib/python3/site-packages/eipc")


def test_a_file_that_is_not_executable_is_passed_over(places, tmp_path):
    program(places / "bin/eipc-server").chmod(0o644)
    on_path = program(tmp_path / "bin/eipc-server")
    assert server_program.find_server(places) == on_path


def test_no_server_lists_where_it_searched(places, tmp_path):
    with pytest.raises(eipc.ServerStartError) as caught:
        server_program.find_server(places)
    for place in ("EIPC_SERVER (not set)", places / "bin/eipc-server", tmp_path / "checkout/build/release/bin/eipc-server",
                  f"PATH ({tmp_path / 'bin'})"):
        assert str(place) in str(caught.value)


def test_a_variable_that_names_no_program_is_an_error(places, tmp_path, monkeypatch):
    program(places / "bin/eipc-server")
    monkeypatch.setenv("EIPC_SERVER", str(tmp_path / "gone"))
    with pytest.raises(eipc.ServerStartError, match="EIPC_SERVER names .*gone"):
        server_program.find_server(places)


def test_a_variable_without_a_folder_names_a_file_here(places, tmp_path, monkeypatch):
    program(tmp_path / "bin/eipc-server")
    named = program(tmp_path / "here/eipc-server")
    monkeypatch.setenv("EIPC_SERVER", "eipc-server")
    monkeypatch.chdir(named.parent)
    assert server_program.find_server(places) == named


def test_launch_starts_the_server_that_it_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("EIPC_SERVER", str(program(tmp_path / "server", "127.0.0.1:4321")))
    with eipc.launch() as server:
        assert server.address == "127.0.0.1:4321"
    assert eipc.launch_server is eipc.launch

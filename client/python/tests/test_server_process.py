import sys
import textwrap

import pytest

import eipc


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

"""`eipc view RECORDING [RECORDING] | SCENE`: an episode, or two side by side, or what a session recorded, as a page, or a scene that runs and is
seen, and driven, while it does."""

from __future__ import annotations

import argparse
import http.server
import tempfile
import threading
import time
import webbrowser
from pathlib import Path
from typing import Any, Optional
from urllib.parse import quote

import numpy as np

from ..episode import Episode
from ..errors import EipcError
from ..observation import Observation
from ..real_time import RealTimeLoop
from ..recorder import Recorder
from ..server_process import ServerProcess, launch
from ..session import Session
from .episodes import SESSION_LOG, take_log_again

_DEFAULT_DT_S = 0.02
_MOST_DUE = 2  # steps that are made up for in one request; a scene that is slower than real time runs as fast as it can


def add_commands(commands: Any) -> None:
    parser = commands.add_parser("view", help="show an episode, or a scene that runs, in a browser", description="Shows a recorded episode "
                                 "(.npz), a page of one (.html), what the page of a session saved (.eipcrec), or a scene (.textproto, ...) that a "
                                 "server runs. Control-C ends it.")
    parser.add_argument("what", type=Path, metavar="RECORDING|SCENE")
    parser.add_argument("second", type=Path, nargs="?", metavar="RECORDING", help="another episode (.npz), to be shown beside the first")
    parser.add_argument("--address", default="127.0.0.1:0", help="HOST:PORT of the page, on the loopback interface (default: any free port)")
    parser.add_argument("--open", action="store_true", help="open the page in the desktop's browser")
    parser.add_argument("--touch", action="store_true", help="take the steps of one episode again, to colour surfaces by what they felt")
    parser.add_argument("--server", help="eipc-server to start (default: as eipc.launch finds it)")
    scene = parser.add_argument_group("of a scene")
    scene.add_argument("--still", action="store_true", help="take no steps: they are taken from the page")
    scene.add_argument("--loop", action="store_true", help="begin anew when the scene's schedule is over")
    scene.add_argument("--dt", type=float, default=0.0, help=f"s, of a step (default: the scene's, else {_DEFAULT_DT_S:g})")
    scene.add_argument("--worlds", type=int, default=1, help="copies of the scene (default 1)")
    scene.add_argument("--threads", type=int, default=1, help="inside a step (default 1)")
    parser.set_defaults(command=_view)


def _view(options: argparse.Namespace) -> int:
    if options.second is not None and not options.what.suffix == options.second.suffix == ".npz":
        raise EipcError("two recordings are compared when both are episodes (.npz)")
    if options.touch and (options.what.suffix not in (".npz", SESSION_LOG) or options.second is not None):
        raise EipcError(f"--touch takes the steps of one episode (.npz), or of what a session recorded ({SESSION_LOG}), again")
    try:
        return _view_recording(options) if options.what.suffix in (".npz", ".html", SESSION_LOG) else _view_scene(options)
    except KeyboardInterrupt:
        return 0  # that is how it ends


def announce(url: str, browser: bool) -> None:
    print(f"eipc view: {url}", flush=True)
    if browser:
        webbrowser.open(url)


def _view_recording(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="eipc-view-") as scratch:
        page = options.what
        if page.suffix != ".html":
            from ..viz import write_comparison_page, write_episode_page
            page = Path(scratch) / "page.html"
            if options.second is not None:
                write_comparison_page(Episode.load(options.what), Episode.load(options.second), page)
            else:
                episode = Episode.load(options.what) if options.what.suffix == ".npz" else _taken_again(options, Path(scratch))
                write_episode_page(episode, page, touch=_touch_of(episode, options.server) if options.touch else None)
        with page_server(page.read_bytes(), options.address) as server:
            announce(f"http://127.0.0.1:{server.server_port}/", options.open)
            server.serve_forever()
    return 0


def _taken_again(options: argparse.Namespace, folder: Path) -> Episode:
    """What a session recorded, as an episode in a folder: a server that is started for it takes the steps again."""
    with launch(options.server, args=("--listen=127.0.0.1:0", "--log-level=warning")) as started, started.client() as client, Recorder(folder) as recorder:
        path = take_log_again(options.what, client, recorder)
    return Episode.load(path)


def _touch_of(episode: Episode, server: Optional[str]) -> dict[str, np.ndarray]:
    """What surfaces felt, observed on a server that is started for it."""
    from ..viz import replayed_touch
    print(f"eipc view: takes the {episode.steps} steps of {episode.path.name} again", flush=True)
    with launch(server, args=("--listen=127.0.0.1:0", "--log-level=warning")) as started, started.client() as client:
        return replayed_touch(episode, client)


def page_server(page: bytes, address: str) -> http.server.ThreadingHTTPServer:
    """Serves one page at / of a loopback address, and nothing else."""
    host, _, port = address.rpartition(":")

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = 10  # s, of a connection that says nothing

        def do_GET(self) -> None:
            # A page under another name that leads here is another site's, which must not read the recording.
            known = self.headers.get("Host", "").rpartition(":")[0].lower() in ("127.0.0.1", "localhost")
            found = known and self.path.split("?")[0] == "/"
            body = page if found else b"NOT_FOUND: the page is at /\n" if known else b"WRONG_HOST: use the address that was printed\n"
            self.send_response(200 if found else 404 if known else 421)
            self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    if host not in ("127.0.0.1", "localhost") or not port.isdigit():
        raise EipcError(f"--address {address}: must be 127.0.0.1:PORT or localhost:PORT; tunnel to it from elsewhere (ssh -L)")
    return http.server.ThreadingHTTPServer((host, int(port)), Handler)


def launch_viewer(address: str, server: Optional[str] = None) -> ServerProcess:
    """A server with the page at `address`. Raises ServerStartError."""
    return launch(server, args=("--listen=127.0.0.1:0", f"--viewer={address}", "--log-level=warning"))


def page_of(server: ServerProcess, session: Session) -> str:
    """The address at which the server's page shows a session."""
    return f"{server.viewer_url}?session={quote(session.name, safe='')}"


def _view_scene(options: argparse.Namespace) -> int:
    with launch_viewer(options.address, options.server) as server, server.client() as client:
        scene = client.create_scene(options.what)
        schedule = scene.message.schedule
        dt = options.dt or schedule.dt_s or _DEFAULT_DT_S
        with scene.create_session(worlds=options.worlds, threads=options.threads, record=True) as session:
            announce(page_of(server, session), options.open)
            if not options.still:
                run(session, dt, schedule.duration_s, options.loop)
            threading.Event().wait()  # for Control-C: the page drives the session
    return 0


def run(session: Session, dt: float, duration: float, loop: bool) -> None:
    """Steps all worlds in real time through the schedule (duration, s; 0: without end), again and again where `loop`."""
    while True:
        clock, steps = RealTimeLoop(_EveryWorld(session), dt, most_due=_MOST_DUE), 0
        while duration <= 0 or steps * dt < duration - 0.5 * dt:
            before = clock.timing.steps
            clock.step()
            steps += clock.timing.steps - before
        if not loop:
            return
        time.sleep(1)  # the end is seen
        for world in range(session.worlds):
            session.reset(world=world)


class _EveryWorld:
    """A session whose step steps all of its worlds."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def step(self, dt: float, **options: Any) -> Observation:
        if self._session.worlds == 1:
            return self._session.step(dt, **options)
        seen = self._session.step_batch([{"dt": dt, "world": world, **options} for world in range(self._session.worlds)])
        for outcome in seen:
            if outcome.error is not None:
                raise outcome.error
        first = seen[0].observation
        assert first is not None
        return first

"""Pages of recordings, taken apart again as docs/reference/viewer_recording.md describes them. What they show is tested in viewer/tests."""

import base64
import gzip
import hashlib
import http.client
import json
import re
import threading

import numpy as np
import pytest

import eipc
from eipc.arrays import to_message
from eipc.cli.__main__ import main
from eipc.cli.view import page_server
from eipc.observation import BodyObservation, Observation
from eipc.touch import ContactTractions, PairSlip
from eipc.viz import page as page_module
from eipc.viz import write_comparison_page, write_episode_page
from eipc.viz.page_touch import touch_arrays
from made_episodes import made_episode
from test_gltf import episode  # noqa: F401  (a fixture)

KINDS = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "u32": "<u4"}
TEMPLATE = (b'<head></head><script type="application/octet-stream" id="recording"><!--recording--></script>'
            b'<script type="application/octet-stream" id="compared"><!--compared--></script>')


@pytest.fixture
def recorded(episode, monkeypatch, tmp_path):  # noqa: F811
    """The episode of test_gltf with what it lacks of a recorder's, and a page that was built."""
    page = tmp_path / "viewer.html"
    page.write_bytes(TEMPLATE)
    monkeypatch.setattr(page_module, "PAGE", page)
    random = np.random.default_rng(5)
    episode._meta.update(task="", success=None, build="b1")
    episode.arrays.update(
        position_m=random.normal(size=(5, 4, 3)), wrench_pairs=np.array([["soft", "still"], ["still", "soft"]]),
        contacts=random.integers(0, 9, (5, 2)), min_distance_m=np.array([np.inf, 1e-3, 1e-4, 1e-4, 2e-4]),
        receipt_newton_iterations=np.array([3, 4, 5, 6]), receipt_outcome=np.array([1, 2, 1, 4]),
        **{name: random.normal(size=(5, 2, 3)) for name in ("normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm")})
    return episode


def unpack(page, element=b"recording"):
    (data,) = re.findall(rb'id="' + element + rb'">([^<]*)</script>', page)
    content = gzip.decompress(base64.b64decode(data, validate=True))
    assert content[:8] == b"EIPCVIEW"
    length = int.from_bytes(content[8:12], "little")
    header, begin = json.loads(content[12:12 + length]), -(-(12 + length) // 8) * 8
    arrays = {}
    for name, entry in header["arrays"].items():
        assert entry["offset"] % 8 == 0
        count = int(np.prod(entry["shape"]))
        arrays[name] = np.frombuffer(content, KINDS[entry["kind"]], count, begin + entry["offset"]).reshape(entry["shape"])
    return header, arrays


def test_the_page_carries_what_was_recorded(recorded, tmp_path):
    write_episode_page(recorded, tmp_path / "out.html", step_wall_s=[0.1, 0.2, 0.3, 0.4])
    header, arrays = unpack((tmp_path / "out.html").read_bytes())
    assert [(body["name"], body["map"]) for body in header["bodies"]] == [("soft", "embedded"), ("nodes", "nodes"), ("stored", "points"), ("still", "still")]
    assert header["title"] == "scenes/1" and ["Build", "b1"] in header["facts"] and ["Seed", "5"] in header["facts"]
    assert header["pairs"] == [["soft", "still"], ["still", "soft"]]
    for name in ("time_s", "position_m", "contacts", "min_distance_m", "normal_force_n", "friction_force_n", "normal_moment_nm"):
        np.testing.assert_allclose(arrays[name], recorded[name], rtol=1e-6)
    assert arrays["newton_iterations"].tolist() == [0, 3, 4, 5, 6]
    assert arrays["converged"].tolist() == [1, 1, 0, 1, 0]
    np.testing.assert_allclose(arrays["step_wall_s"], [0, 0.1, 0.2, 0.3, 0.4], rtol=1e-6)


def test_surfaces_are_made_again_from_what_the_page_carries(recorded, tmp_path):
    write_episode_page(recorded, tmp_path / "out.html")
    header, arrays = unpack((tmp_path / "out.html").read_bytes())
    for b, body in enumerate(header["bodies"]):
        cage = arrays[f"cage_{b}"]
        if body["map"] in ("embedded", "nodes"):
            made = np.einsum("nk,tnki->tni", arrays[f"weights_{b}"], cage[:, arrays[f"nodes_{b}"]])
        else:
            made = cage
        np.testing.assert_allclose(made, recorded.surface(body["name"], 0) if body["map"] == "still" else recorded.surface(body["name"]), atol=1e-6)
        np.testing.assert_array_equal(arrays[f"triangles_{b}"], recorded.scene.topology[body["name"]].triangles)
    assert "step_wall_s" not in arrays


def test_the_edges_of_a_cage_travel_where_they_are_known(recorded, tmp_path):
    body = recorded.scene.message.bodies.add(name="soft")
    body.embedded.cage_mesh.arrays.cells.CopyFrom(to_message(np.array([[0, 1, 2, 3], [1, 2, 3, 4]], dtype=np.int32)))
    write_episode_page(recorded, tmp_path / "out.html")
    _, arrays = unpack((tmp_path / "out.html").read_bytes())
    assert {tuple(edge) for edge in arrays["edges_0"].tolist()} == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4)}


def test_two_runs_are_carried_with_their_first_difference(recorded, tmp_path):
    first = made_episode(tmp_path / "a")
    cage = first["cage_0"].copy()
    cage[4:, :, 1] += 0.25
    write_comparison_page(first, made_episode(tmp_path / "b", number=1, steps=10, cage_0=cage), tmp_path / "out.html")
    page = (tmp_path / "out.html").read_bytes()
    (header, arrays), (other, others) = unpack(page), unpack(page, b"compared")
    assert header["compared"] == other["compared"]
    assert header["compared"]["names"] == ["episode_000000.npz", "episode_000001.npz"]
    assert header["compared"]["difference"]["step"] == 4
    assert re.match(r"step 4 \(0\.08 s\): the cage of 'cube'.*largest difference 0\.25", header["compared"]["difference"]["words"])
    np.testing.assert_allclose(others["cage_0"] - arrays["cage_0"], cage - first["cage_0"], atol=1e-6)


def test_equal_runs_are_said_to_be_equal(recorded, tmp_path):
    first, second = made_episode(tmp_path / "a"), made_episode(tmp_path / "b")
    write_comparison_page(first, second, tmp_path / "out.html")
    compared = unpack((tmp_path / "out.html").read_bytes())[0]["compared"]
    assert compared == {"names": [str(first.path), str(second.path)], "difference": None}


def test_diff_writes_the_page_of_two_episodes(recorded, tmp_path):
    paths = [str(made_episode(tmp_path / name).path) for name in "ab"]
    assert main(["diff", *paths, "--page", str(tmp_path / "out.html")]) == 0
    assert unpack((tmp_path / "out.html").read_bytes(), b"compared")[0]["compared"]["difference"] is None
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--page", str(tmp_path / "none.html")]) == 2


def test_a_page_of_one_recording_compares_nothing(recorded, tmp_path):
    write_episode_page(recorded, tmp_path / "out.html")
    page = (tmp_path / "out.html").read_bytes()
    assert b'id="compared"></script>' in page and "compared" not in unpack(page)[0]


def felt(step):
    """An observation of a soft body that is touched at `step` vertices, with 2 N along z and 1 N along x on 0.5 m^2 each."""
    k = step
    tractions = ContactTractions(np.arange(k, dtype=np.int32) + 3, np.tile([0.0, 0, 2], (k, 1)), np.tile([1.0, 0, 0], (k, 1)), np.full(k, 0.5),
                                   np.tile([0.0, 0.03, 0.04], (k, 1)))
    body = BodyObservation("soft", None, None, None, None, None, contact_tractions=tractions, von_mises=np.array([1.0, np.inf]) * (step + 1))
    slips = {pair: PairSlip(*pair, 2.0, np.array([0.3, 0.4, 0]), 0.25) for pair in (("soft", "still"), ("still", "soft")) if step}
    return Observation(step, 0.0, {"soft": body}, {}, None, None, None, None, {}, slips=slips)


def test_what_was_felt_is_carried(recorded, tmp_path):
    body = recorded.scene.message.bodies.add(name="soft")
    body.embedded.cage_mesh.arrays.cells.CopyFrom(to_message(np.array([[0, 1, 2, 3], [1, 2, 3, 4]], dtype=np.int32)))
    arrays = touch_arrays([felt(k) for k in (0, 2, 1, 1, 0)], recorded["wrench_pairs"])
    write_episode_page(recorded, tmp_path / "out.html", touch=arrays)
    _, carried = unpack((tmp_path / "out.html").read_bytes())
    assert carried["traction_begin_0"].tolist() == [0, 0, 2, 3, 4, 4]
    assert carried["traction_vertices_0"].tolist() == [3, 4, 3, 3]
    np.testing.assert_allclose(carried["normal_traction_pa_0"], 4)
    np.testing.assert_allclose(carried["friction_traction_pa_0"], 2)
    np.testing.assert_allclose(carried["slip_speed_m_s_0"], [0.05] * 4)
    np.testing.assert_array_equal(carried["von_mises_pa_0"][1], [3, np.inf])
    np.testing.assert_array_equal(carried["elements_0"], [[0, 1, 2, 3], [1, 2, 3, 4]])
    np.testing.assert_allclose(carried["slip_m_s"], [[np.nan] * 2, [0.5] * 2, [0.5] * 2, [0.5] * 2, [np.nan] * 2])
    np.testing.assert_allclose(carried["sticking"][1], [0.25, 0.25])


def test_stresses_of_unknown_elements_are_not_carried(recorded, tmp_path):
    write_episode_page(recorded, tmp_path / "out.html", touch=touch_arrays([felt(1)] * 5, recorded["wrench_pairs"]))
    _, carried = unpack((tmp_path / "out.html").read_bytes())
    assert "traction_begin_0" in carried and not [name for name in carried if name.startswith(("von_mises", "elements"))]


def test_what_was_not_observed_is_not_carried(recorded, tmp_path):
    unfelt = Observation(0, 0.0, {"soft": BodyObservation("soft", None, None, None, None, None)}, {}, None, None, None, None, {})
    assert touch_arrays([unfelt, unfelt], recorded["wrench_pairs"]) == {}


def test_equal_recordings_give_equal_pages(recorded, tmp_path):
    for name in ("a.html", "b.html"):
        write_episode_page(recorded, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_text_of_a_recording_cannot_become_part_of_the_page(recorded, tmp_path):
    write_episode_page(recorded, tmp_path / "out.html", title="</script><script>alert(1)</script>")
    page = (tmp_path / "out.html").read_bytes()
    assert b"alert" not in page and unpack(page)[0]["title"].startswith("</script>")


def test_a_page_that_was_not_built_is_an_error_that_says_how(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(page_module, "PAGE", tmp_path / "none.html")
    with pytest.raises(eipc.EpisodeError, match="not built; ./dev viewer"):
        write_episode_page(recorded, tmp_path / "out.html")
    (tmp_path / "none.html").write_text("no page")
    with pytest.raises(eipc.EpisodeError, match="no page of the viewer"):
        write_episode_page(recorded, tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize("times", [[1, 2], [1, 2, 3, 0], [[1, 2, 3, 4]]])
def test_times_of_steps_must_fit(recorded, tmp_path, times):
    with pytest.raises(eipc.EpisodeError, match="4 positive times"):
        write_episode_page(recorded, tmp_path / "out.html", step_wall_s=times)


def test_the_built_page_allows_its_own_script_and_nothing_else():
    if not page_module.PAGE.exists():
        pytest.skip("the viewer's page was not built (./dev viewer)")
    page = page_module.built_page().decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    (script,), (style,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL), re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = {kind: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for kind, text in (("script", script), ("style", style))}
    assert policy == (f"default-src 'none'; script-src 'sha256-{digests['script']}'; style-src 'sha256-{digests['style']}'; base-uri 'none'; "
                      "form-action 'none'")
    assert "src=" not in re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("host, path, status", [("127.0.0.1:{}", "/", 200), ("localhost:{}", "/?x", 200), ("127.0.0.1:{}", "/x", 404), ("elsewhere.example:{}", "/", 421)])
def test_a_shown_page_is_served_under_its_own_names_alone(host, path, status):
    with page_server(b"the page", "127.0.0.1:0") as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        connection.request("GET", path, headers={"Host": host.format(server.server_port)})
        answer = connection.getresponse()
        assert answer.status == status and (answer.read() == b"the page") == (status == 200)
        connection.close()
        thread.join()

"""Reads binary glTF 2.0 and checks it against the specification's rules, without the code that writes it."""

import json
import struct

import numpy as np

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Glb:
    """The document, its accessors as arrays, and the skinned surfaces at a time."""

    def __init__(self, data):
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data)) and length % 4 == 0
        chunks, at = [], 12
        while at < length:
            size, kind = struct.unpack_from("<I4s", data, at)
            assert size % 4 == 0 and at + 8 + size <= length
            chunks.append((kind, data[at + 8:at + 8 + size]))
            at += 8 + size
        assert [kind for kind, _ in chunks] == [b"JSON", b"BIN\0"]
        self.document, self.buffer = json.loads(chunks[0][1]), chunks[1][1]
        assert self.document["asset"]["version"] == "2.0"
        (buffer,) = self.document["buffers"]
        assert 0 <= len(self.buffer) - buffer["byteLength"] < 4 and "uri" not in buffer
        self.arrays = [self._read(accessor) for accessor in self.document["accessors"]]
        self._check_tree()
        for mesh in self.document["meshes"]:
            for primitive in mesh["primitives"]:
                self._check_primitive(primitive)
        self._check_skins()
        self._check_animation()

    def _read(self, accessor):
        view = self.document["bufferViews"][accessor["bufferView"]]
        kind, width = np.dtype(COMPONENTS[accessor["componentType"]]), SIZES[accessor["type"]]
        begin = view["byteOffset"] + accessor.get("byteOffset", 0)
        size = accessor["count"] * width * kind.itemsize
        assert accessor["count"] > 0 and begin % kind.itemsize == 0 and view.get("byteOffset", 0) % 4 == 0
        assert accessor.get("byteOffset", 0) + size <= view["byteLength"]
        assert view["byteOffset"] + view["byteLength"] <= self.document["buffers"][0]["byteLength"]
        values = np.frombuffer(self.buffer, kind, accessor["count"] * width, begin).reshape(accessor["count"], width)
        if kind.kind == "f":
            assert np.isfinite(values).all()
        for bound, found in (("min", values.min(axis=0)), ("max", values.max(axis=0))):
            if bound in accessor:
                np.testing.assert_array_equal(np.array(accessor[bound], dtype=kind), found)
        return values

    def _check_tree(self):
        nodes, parents = self.document["nodes"], {}
        for k, node in enumerate(nodes):
            for child in node.get("children", []):
                assert child not in parents, "a node has one parent"
                parents[child] = k
            assert "children" not in node or node["children"], "no empty lists"
        self.parents = parents
        assert all(root not in parents for root in self.document["scenes"][self.document["scene"]]["nodes"])
        for k in range(len(nodes)):
            assert self._root(k) in self.document["scenes"][0]["nodes"], "no cycle, and every node is in the scene"
        for node in nodes:
            np.testing.assert_allclose(np.linalg.norm(node.get("rotation", [0, 0, 0, 1])), 1, atol=1e-6)

    def _root(self, node):
        for _ in self.document["nodes"]:
            if node not in self.parents:
                return node
            node = self.parents[node]
        raise AssertionError("a cycle of nodes")

    def _accessor(self, index, component, kind):
        found = self.document["accessors"][index]
        assert (found["componentType"], found["type"]) == (component, kind)
        return self.arrays[index]

    def _check_primitive(self, primitive):
        attributes = primitive["attributes"]
        positions = self._accessor(attributes["POSITION"], 5126, "VEC3")
        assert {"min", "max"} <= set(self.document["accessors"][attributes["POSITION"]])
        indices = self._accessor(primitive["indices"], 5125, "SCALAR")
        assert len(indices) % 3 == 0 and indices.max() < len(positions)
        assert primitive["material"] < len(self.document["materials"])
        for index, target in [(primitive["indices"], 34963), *((index, 34962) for index in attributes.values())]:
            assert self.document["bufferViews"][self.document["accessors"][index]["bufferView"]]["target"] == target
        if "JOINTS_0" not in attributes:
            return
        joints, weights = self._accessor(attributes["JOINTS_0"], 5123, "VEC4"), self._accessor(attributes["WEIGHTS_0"], 5126, "VEC4")
        assert len(joints) == len(weights) == len(positions) and weights.min() >= 0
        assert (abs(weights.astype(float).sum(axis=1) - 1) <= 2e-7 * (weights > 0).sum(axis=1)).all()
        assert (joints[weights == 0] == 0).all()
        for row, weight in zip(joints, weights):
            assert len(set(row[weight > 0])) == (weight > 0).sum(), "a joint weighs once on a vertex"

    def _check_skins(self):
        for node in self.document["nodes"]:
            if "skin" not in node:
                continue
            skin = self.document["skins"][node["skin"]]
            bind = self._accessor(skin["inverseBindMatrices"], 5126, "MAT4")
            assert len(bind) >= len(skin["joints"]) == len(set(skin["joints"]))
            np.testing.assert_array_equal(bind.reshape(-1, 4, 4)[:, :, 3], np.tile([0, 0, 0, 1], (len(bind), 1)))
            for primitive in self.document["meshes"][node["mesh"]]["primitives"]:
                assert self.arrays[primitive["attributes"]["JOINTS_0"]].max() < len(skin["joints"])
            assert {self.parents[joint] for joint in skin["joints"]} == {skin["skeleton"]}, "a common root"

    def _check_animation(self):
        self.moves = {}
        for animation in self.document.get("animations", []):
            for channel in animation["channels"]:
                sampler, target = animation["samplers"][channel["sampler"]], channel["target"]
                times = self._accessor(sampler["input"], 5126, "SCALAR")[:, 0]
                assert {"min", "max"} <= set(self.document["accessors"][sampler["input"]])
                assert times[0] >= 0 and (np.diff(times) > 0).all()
                values = self._accessor(sampler["output"], 5126, "VEC3")
                assert sampler["interpolation"] == "LINEAR" and target["path"] == "translation" and len(values) == len(times)
                assert target["node"] not in self.moves, "a property has one channel"
                self.moves[target["node"]] = (times, values)

    def surfaces(self, time):
        """Name -> vertices in the viewer's world at a time, by the specification's transforms."""
        out = {}
        for k, node in enumerate(self.document["nodes"]):
            if "mesh" not in node:
                continue
            (primitive,) = self.document["meshes"][node["mesh"]]["primitives"]
            points = np.c_[self.arrays[primitive["attributes"]["POSITION"]], np.ones(self._count(primitive))]
            if "skin" not in node:
                out[node["name"]] = (points @ self._world(k, time).T)[:, :3]
                continue
            skin = self.document["skins"][node["skin"]]
            bind = self.arrays[skin["inverseBindMatrices"]].reshape(-1, 4, 4).swapaxes(1, 2).astype(float)
            matrices = np.array([self._world(joint, time) @ b for joint, b in zip(skin["joints"], bind)])
            joints, weights = (self.arrays[primitive["attributes"][name]] for name in ("JOINTS_0", "WEIGHTS_0"))
            blended = np.einsum("vk,vkij->vij", weights.astype(float), matrices[joints])
            out[node["name"]] = np.einsum("vij,vj->vi", blended, points)[:, :3]
        return out

    def _count(self, primitive):
        return len(self.arrays[primitive["attributes"]["POSITION"]])

    def _world(self, node, time):
        local = np.eye(4)
        x, y, z, w = self.document["nodes"][node].get("rotation", [0, 0, 0, 1])
        local[:3, :3] = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
        local[:3, 3] = self.document["nodes"][node].get("translation", [0, 0, 0])
        if node in self.moves:
            times, values = self.moves[node]
            local[:3, 3] = [np.interp(time, times, values[:, axis]) for axis in range(3)]
        return self._world(self.parents[node], time) @ local if node in self.parents else local

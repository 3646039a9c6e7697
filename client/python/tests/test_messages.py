"""The message classes that are made at import, against those that protoc writes, which need not agree in how they are made."""

import ast
import json
import os
import pickle
import shutil
import subprocess
import sys

import grpc
import pytest

from conftest import CLIENT_ROOT, REPOSITORY
from eipc.messages import is_repeated
from eipc.v1 import geometry_pb2, observation_pb2, scene_pb2, service_pb2, service_pb2_grpc
from fake_server import serve

MODULES = {"geometry": geometry_pb2, "observation": observation_pb2, "scene": scene_pb2, "service": service_pb2}
SCENE = (REPOSITORY / "models" / "scenes" / "bubble_teddy_low_sound.textproto").read_text()

# Prints the public names of modules, of their messages, and a scene's bytes.
DESCRIBE = """
import importlib, json, sys
from google.protobuf import text_format
from google.protobuf.internal import api_implementation
def names(thing):
    nested = {name: names(getattr(thing, name)) for name in vars(thing).get("DESCRIPTOR").nested_types_by_name
              if not thing.DESCRIPTOR.nested_types_by_name[name].GetOptions().map_entry}
    values = {name: value.number for name, value in thing.DESCRIPTOR.enum_values_by_name.items() if getattr(thing, name) == value.number}
    enums = {name: getattr(thing, name).items() for name in thing.DESCRIPTOR.enum_types_by_name}
    return [sorted(thing.DESCRIPTOR.fields_by_name), nested, values, enums]
modules = {name: importlib.import_module(f"eipc.v1.{name}_pb2") for name in ("geometry", "observation", "scene", "service")}
said = {}
for file, module in modules.items():
    for name, thing in vars(module).items():
        if name.startswith("_") or hasattr(thing, "__path__") or type(thing).__name__ in ("module", "FileDescriptor", "function"):
            continue
        said[f"{file}.{name}"] = names(thing) if hasattr(thing, "DESCRIPTOR") and isinstance(thing, type) else str(getattr(thing, "items", lambda: thing)())
scene = text_format.Parse(sys.stdin.read(), modules["scene"].Scene())
print(json.dumps([said, scene.SerializeToString(deterministic=True).hex(), api_implementation.Type()]))
"""


def described(path, **environment):
    result = subprocess.run([sys.executable, "-c", DESCRIBE], input=SCENE, capture_output=True, text=True, check=False,
                            env={**os.environ, "PYTHONPATH": str(path), **environment})
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def written_by_protoc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("protoc")
    sources = sorted((REPOSITORY / "proto" / "eipc" / "v1").glob("*.proto"))
    subprocess.run(["protoc", f"-I{REPOSITORY / 'proto'}", f"--python_out={folder}", *sources], check=True)
    return described(folder)


@pytest.mark.parametrize("implementation", ["cpp", "python"])
def test_names_values_and_bytes_are_those_of_protocs_code(written_by_protoc, implementation):
    names, scene, used = described(CLIENT_ROOT, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation)
    assert used == implementation
    assert len(names) > 50 and names == written_by_protoc[0]
    assert len(scene) > 1000 and scene == written_by_protoc[1]


def nested_classes(thing):
    for name, descriptor in thing.DESCRIPTOR.nested_types_by_name.items():
        if not descriptor.GetOptions().map_entry:
            yield getattr(thing, name)
            yield from nested_classes(getattr(thing, name))


@pytest.mark.parametrize("name", MODULES)
def test_messages_can_be_pickled(name):
    classes = [getattr(MODULES[name], message) for message in MODULES[name].DESCRIPTOR.message_types_by_name]
    for made in [*classes, *(nested for thing in classes for nested in nested_classes(thing))]:
        assert type(pickle.loads(pickle.dumps(made()))) is made
    scene = scene_pb2.Scene(bodies=[scene_pb2.Body(name="cube")])
    assert pickle.loads(pickle.dumps(scene)) == scene


def test_a_method_that_a_servicer_lacks_is_unimplemented():
    with serve(service_pb2_grpc.SimulationServiceServicer()) as address, grpc.insecure_channel(address) as channel:
        stub = service_pb2_grpc.SimulationServiceStub(channel)
        steps = [lambda: stub.Step(service_pb2.StepRequest()), lambda: next(stub.StepStream(iter([service_pb2.StepRequest()]))),
                 lambda: stub.UploadMesh(iter([service_pb2.UploadMeshRequest()])), lambda: next(stub.GetRecording(service_pb2.GetRecordingRequest()))]
        for call in steps:
            with pytest.raises(grpc.RpcError) as raised:
                call()
            assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_type_stubs_name_every_method_and_its_request():
    tree = ast.parse((CLIENT_ROOT / "eipc" / "v1" / "service_pb2_grpc.pyi").read_text())
    (stub,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("Stub")]
    typed = {method.name: ast.unparse(method.args.args[1].annotation) for method in stub.body if method.name != "__init__"}
    service = service_pb2.DESCRIPTOR.services_by_name["SimulationService"]
    assert set(typed) == set(service.methods_by_name)
    streamed = {"StepStream", "UploadMesh"}
    for name, method in service.methods_by_name.items():
        request = f"service_pb2.{method.input_type.name}"
        assert typed[name] == (f"Iterable[{request}]" if name in streamed else request)


class NoLabel:
    """A field as protobuf 7 describes it: asking for its label fails."""
    def __init__(self, field):
        self.is_repeated = is_repeated(field)


def test_repeated_fields_are_known_with_and_without_labels():
    fields = scene_pb2.Scene.DESCRIPTOR.fields_by_name
    for known in (lambda field: field, NoLabel):
        assert is_repeated(known(fields["bodies"])) and not is_repeated(known(fields["contact"]))


def import_of(package, before=""):
    return subprocess.run([sys.executable, "-c", f"{before}\nimport eipc"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(package)})


def test_a_package_without_its_protocol_says_so(tmp_path):
    shutil.copytree(CLIENT_ROOT / "eipc", tmp_path / "eipc", ignore=shutil.ignore_patterns("*.binpb", "__pycache__"))
    result = import_of(tmp_path)
    assert result.returncode != 0
    assert "ImportError: the package eipc lacks its protocol (v1/protocol.binpb); install it again" in result.stderr


def test_another_version_of_the_protocol_in_the_same_process_is_named():
    other = """
from google.protobuf import descriptor_pb2, descriptor_pool
file = descriptor_pb2.FileDescriptorProto(name="eipc/v1/geometry.proto", package="eipc.v1", syntax="proto3")
file.message_type.add(name="Vec3")
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())"""
    result = import_of(CLIENT_ROOT, other)
    assert result.returncode != 0 and "ImportError: another version of eipc/v1/geometry.proto was imported before" in result.stderr


CALLS = """
import sys
sys.path.insert(0, sys.argv[1])
import eipc
from fake_server import FakeServicer, serve
from google.protobuf.internal import api_implementation
with serve(FakeServicer()) as address, eipc.connect(address) as client:
    session = client.get_scene("scenes/1").create_session()
    with session.stream() as stream:
        print(api_implementation.Type(), session.step(0.5).time_s, stream.step(0.5).time_s)
"""


def test_calls_work_over_protobufs_python_implementation():
    result = subprocess.run([sys.executable, "-c", CALLS, CLIENT_ROOT / "tests"], capture_output=True, text=True, check=False,
                            env={**os.environ, "PYTHONPATH": str(CLIENT_ROOT), "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"})
    assert result.stdout.split() == ["python", "0.5", "1.0"], result.stderr

"""Message classes and stubs of the protocol, made when eipc.v1 is imported.

The package carries the protocol as a descriptor set (eipc/v1/protocol.binpb), not as code that one version of protoc wrote for one
version of protobuf: the classes are those of whichever protobuf runtime is installed. The modules of eipc.v1 fill themselves by
publish_messages and publish_services.
"""

from __future__ import annotations

import functools
import importlib
from importlib import resources
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, symbol_database
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor, ServiceDescriptor
from google.protobuf.internal import enum_type_wrapper

DESCRIPTOR_SET = "protocol.binpb"
# Files that come with protobuf: their modules have their classes.
_STANDARD = "google/protobuf/"
_KINDS = {(False, False): "unary_unary", (False, True): "unary_stream", (True, False): "stream_unary", (True, True): "stream_stream"}


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field holds many values. Protobuf 7 has no label of fields any more, and Debian's 3.21 nothing else."""
    found = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if found is None else found)


@functools.lru_cache(maxsize=None)
def _protocol() -> dict[str, descriptor_pb2.FileDescriptorProto]:
    """The protocol's files by name, made known to protobuf's default pool."""
    try:
        data = resources.files(__package__).joinpath("v1", DESCRIPTOR_SET).read_bytes()
    except FileNotFoundError:
        raise ImportError(f"the package eipc lacks its protocol (v1/{DESCRIPTOR_SET}); install it again, or in a checkout run "
                          "client/python/generate_protos.py") from None
    files = {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(data).file}
    for file in files.values():
        if file.name.startswith(_STANDARD):
            importlib.import_module(file.name[:-len(".proto")].replace("/", ".") + "_pb2")
            continue
        try:
            descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
        except TypeError as error:
            raise ImportError(f"another version of {file.name} was imported before ({error})") from None
    return files


def _file(name: str) -> FileDescriptor:
    _protocol()
    return descriptor_pool.Default().FindFileByName(name)


def class_of(descriptor: Descriptor) -> Any:
    """The class of a message of any pool, by whichever function the installed protobuf has."""
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return symbol_database.Default().GetPrototype(descriptor)  # before protobuf 4.22


def _message_class(descriptor: Descriptor, module: str, prefix: str = "") -> Any:
    """The class of a message, with those of its nested messages as attributes; importable by its name, as pickle asks."""
    made = class_of(descriptor)
    made.__module__, made.__qualname__ = module, prefix + descriptor.name
    symbol_database.Default().RegisterMessage(made)  # where protobuf 7 finds what it unpickles
    for nested in descriptor.nested_types:
        if not nested.GetOptions().map_entry:
            setattr(made, nested.name, _message_class(nested, module, f"{made.__qualname__}."))
    return made


def publish_messages(namespace: dict[str, Any], file_name: str) -> None:
    """Fills a module with the messages and enumerations of a .proto file, as code that protoc writes would."""
    file = _file(file_name)
    namespace["DESCRIPTOR"] = file
    for name, descriptor in file.message_types_by_name.items():
        namespace[name] = _message_class(descriptor, namespace["__name__"])
    for name, enumeration in file.enum_types_by_name.items():
        namespace[name] = enum_type_wrapper.EnumTypeWrapper(enumeration)
        namespace.update((value.name, value.number) for value in enumeration.values)


def _methods(service: ServiceDescriptor) -> list[tuple[str, str, Any, Any]]:
    """(name, kind of call, class of its requests, class of its responses) of every method."""
    # Not every version's MethodDescriptor says what is streamed.
    (proto,) = [known for known in _protocol()[service.file.name].service if known.name == service.name]
    return [(method.name, _KINDS[method.client_streaming, method.server_streaming],
             class_of(service.methods_by_name[method.name].input_type), class_of(service.methods_by_name[method.name].output_type))
            for method in proto.method]


def _stub(service: ServiceDescriptor, module: str) -> type:
    def make(self: Any, channel: Any) -> None:
        for name, kind, request, response in _methods(service):
            call = getattr(channel, kind)(f"/{service.full_name}/{name}", request_serializer=request.SerializeToString,
                                          response_deserializer=response.FromString)
            setattr(self, name, call)

    documentation = f"{service.full_name} as its callers see it, over a grpc.Channel or a grpc.aio.Channel."
    return type(f"{service.name}Stub", (), {"__init__": make, "__doc__": documentation, "__module__": module})


def _unimplemented(self: Any, request: Any, context: Any) -> None:
    context.abort(grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED: this server does not have the method")


def _servicer(service: ServiceDescriptor, module: str) -> type:
    methods = {method.name: _unimplemented for method in service.methods}
    documentation = f"{service.full_name} as a server has it; methods that a derived class lacks are UNIMPLEMENTED."
    return type(f"{service.name}Servicer", (), {**methods, "__doc__": documentation, "__module__": module})


def publish_services(namespace: dict[str, Any], file_name: str) -> None:
    """Fills a module with a stub and a servicer of every service of a .proto file, and what adds a servicer to a server."""
    for service in _file(file_name).services_by_name.values():
        def add(servicer: Any, server: Any, service: ServiceDescriptor = service) -> None:
            handlers = {
                name: getattr(grpc, f"{kind}_rpc_method_handler")(getattr(servicer, name), request_deserializer=request.FromString,
                                                                  response_serializer=response.SerializeToString)
                for name, kind, request, response in _methods(service)
            }
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, handlers),))

        namespace[f"{service.name}Stub"] = _stub(service, namespace["__name__"])
        namespace[f"{service.name}Servicer"] = _servicer(service, namespace["__name__"])
        namespace[f"add_{service.name}Servicer_to_server"] = add

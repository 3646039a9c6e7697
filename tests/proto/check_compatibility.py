#!/usr/bin/python3
"""Fails when the protocol breaks clients of an earlier release.

Usage: check_compatibility.py BEFORE.binpb PROTO_ROOT
BEFORE is a stored FileDescriptorSet (proto/releases, made by `protoc --descriptor_set_out`). Prints each break, a line each: what was
removed or renamed, and numbers, types, labels or stream directions that changed. Exit status: 0 without breaks, 1 with.
"""

import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2


def load(path):
    files = descriptor_pb2.FileDescriptorSet()
    files.ParseFromString(pathlib.Path(path).read_bytes())
    return files


def compile_protos(root):
    """The present descriptors."""
    sources = sorted(str(path.relative_to(root)) for path in pathlib.Path(root).glob("eipc/**/*.proto"))
    with tempfile.NamedTemporaryFile(suffix=".binpb") as out:
        subprocess.run(["protoc", "-I.", f"--descriptor_set_out={out.name}", *sources], cwd=root, check=True)
        return load(out.name)


def messages_of(prefix, messages):
    for message in messages:
        name = f"{prefix}.{message.name}"
        yield name, message
        yield from messages_of(name, message.nested_type)


def facts(files):
    """What clients rely on: name -> what must stay as it is."""
    seen = {}
    for file in files.file:
        enums = [(f"{file.package}.{enum.name}", enum) for enum in file.enum_type]
        for name, message in messages_of(file.package, file.message_type):
            seen[f"message {name}"] = ""
            enums += [(f"{name}.{enum.name}", enum) for enum in message.enum_type]
            for field in message.field:
                oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
                seen[f"field {name}.{field.name}"] = (field.number, field.type, field.type_name, field.label, oneof)
                seen[f"number {field.number} of {name}"] = field.name
        for name, enum in enums:
            for value in enum.value:
                seen[f"value {name}.{value.name}"] = value.number
        for service in file.service:
            for method in service.method:
                seen[f"call {file.package}.{service.name}.{method.name}"] = (
                    method.input_type, method.output_type, method.client_streaming, method.server_streaming)
    return seen


def breaks(before, now):
    """What of `before` is not so in `now`, in words."""
    was, is_now = facts(before), facts(now)
    found = [f"{name}: removed" for name in was if name not in is_now]
    found += [f"{name}: was {was[name]}, is {is_now[name]}" for name in was if name in is_now and was[name] != is_now[name]]
    return sorted(found)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = breaks(load(arguments[0]), compile_protos(arguments[1]))
    print("\n".join(found) if found else f"compatible with {pathlib.Path(arguments[0]).name}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

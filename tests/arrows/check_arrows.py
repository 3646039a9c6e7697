"""Fails when an #include breaks a dependency arrow of docs/concepts/architecture.md.

Usage: check_arrows.py SOURCE_ROOT
Prints each violation as `file:line: reason`. Exit status: 0 without violations, 1 with, 2 when there is nothing to check.
"""

import pathlib
import re
import sys

# A folder may include itself, everything in an earlier row, and nothing else of ours. Folders of one row do not see each other.
SIM_LAYERS = [
    ["sim/base"],
    ["sim/linalg", "sim/geometry", "sim/material"],
    ["sim/mesh"],
    ["sim/meshing", "sim/collision", "sim/robot"],
    ["sim/contact"],
    ["sim/energy"],
    ["sim/solver"],
    ["sim/dynamics"],
    ["sim/sensor"],
    ["sim/scene"],
]
# The referee: it shares no code with the solver, so it sees types only. The folders that compile or report scenes may call it.
AUDIT = "sim/audit"
AUDIT_MAY_SEE = {"sim/base"}
AUDIT_SEEN_FROM = "sim/dynamics"  # and every later layer
MESHING = "sim/meshing"  # verifies with it, exactly, that a cage encloses its surface; the solver does not see meshing

SIM = {folder for layer in SIM_LAYERS for folder in layer} | {AUDIT}
GENERATED = {"proto"}  # "eipc/v1/x.pb.h" and "proto/..." are both the protocol.
SERVER = {"server/convert", "server/os", "server/session"}
ABOVE_SIM = {
    "proto": set(),
    "server/os": {"sim/base", "sim/solver"},
    "server/session": SIM | {"server/os"},
    "server/convert": SIM | GENERATED,
    "server/rpc/telemetry": SIM | {"server/os", "server/session"},
    "server/rpc/handlers": SIM | GENERATED | SERVER | {"server/rpc/telemetry"},
    "server/rpc/view": SIM | GENERATED | SERVER | {"server/rpc/telemetry", "server/rpc/handlers"},
    "server/rpc/listen": SIM | GENERATED | SERVER | {"server/rpc/telemetry", "server/rpc/handlers", "server/rpc/view"},
    "server": SIM | GENERATED | SERVER | {"server/rpc/telemetry", "server/rpc/handlers", "server/rpc/listen"},
    "client": GENERATED,
    "models": SIM,
}
SEES_ALL = {"tools", "tests"}

# Third-party headers that only some folders may see.
BEAST = re.compile(r"boost/(asio|beast)/")
CGAL = re.compile(r"CGAL/")
GRPC = re.compile(r"(grpc|grpcpp|grpc\+\+)/")
PROTOBUF = re.compile(r"google/protobuf/|.*\.pb\.h$")
CGAL_FOLDERS = {"sim/meshing", "sim/audit"}
BEAST_FOLDERS = {"server/rpc/view", "server"}
GRPC_FOLDERS = {"server/rpc/listen", "server", "client"}
PROTOBUF_FOLDERS = {"proto", "server/convert", "server/rpc/handlers", "server/rpc/view", "server/rpc/listen", "server", "client"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".hpp", ".cc", ".cpp", ".inc"}
TOP_FOLDERS = ["sim", "server", "client", "models", "tools", "proto"]


def allowed_folders():
    """Returns {folder: set of our folders it may include}; folders that may see everything are absent."""
    allowed = {AUDIT: AUDIT_MAY_SEE}
    left = set()
    for layer in SIM_LAYERS:
        if AUDIT_SEEN_FROM in layer:
            left = left | {AUDIT}
        for folder in layer:
            allowed[folder] = set(left)
        left = left | set(layer)
    allowed[MESHING].add(AUDIT)
    allowed.update(ABOVE_SIM)
    return allowed


def folder_of(path, known):
    """The most specific known folder that holds `path`, e.g. `sim/mesh`; None for what is not ours."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in known:
            return folder
    if path.startswith("eipc/v1/"):
        return "proto"
    return None


def includes(file):
    """Yields (line number, included path), block comments left out."""
    in_comment = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if in_comment:
            in_comment = "*/" not in line
            continue
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2)
        elif "/*" in line and "*/" not in line.split("/*", 1)[1]:
            in_comment = True


def reason(source, target, allowed):
    """Why `source` (a folder of ours) may not include `target` (a path), or None."""
    if source in SEES_ALL:
        return None
    for pattern, folders, name in ((CGAL, CGAL_FOLDERS, "CGAL"), (BEAST, BEAST_FOLDERS, "Boost.Beast"), (GRPC, GRPC_FOLDERS, "gRPC"), (PROTOBUF, PROTOBUF_FOLDERS, "Protobuf")):
        if pattern.match(target) and source not in folders:
            return f"{source} may not see {name}"
    known = set(allowed) | SEES_ALL
    folder = folder_of(target, known)
    if target.split("/")[0] in TOP_FOLDERS and folder is None:
        return f"{target} is in no folder that the arrows name"
    if folder is None or folder == source or folder in allowed[source]:
        return None
    return f"{source} may not include {folder}"


def check(root):
    """Returns (number of files read, list of violations) of the tree at `root`."""
    allowed = allowed_folders()
    known = set(allowed) | SEES_ALL
    files = 0
    violations = []
    for top in TOP_FOLDERS:
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            files += 1
            path = file.relative_to(root).as_posix()
            source = folder_of(path, known)
            if source is None:
                violations.append(f"{path}:1: its folder is not named by the arrows")
                continue
            for line, target in includes(file):
                why = reason(source, target, allowed)
                if why:
                    violations.append(f"{path}:{line}: {why} (#include {target})")
    return files, violations


def main(arguments):
    root = pathlib.Path(arguments[0])
    files, violations = check(root)
    if not files:
        print(f"no sources under {root}", file=sys.stderr)
        return 2
    for violation in violations:
        print(violation)
    print(f"{files} files, {len(violations)} broken arrows")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

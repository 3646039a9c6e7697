#!/usr/bin/python3
"""Checks the Kubernetes manifests against published schemas, with unknown fields refused.

Usage: scripts/check_manifests.py --schemas FOLDER     (packages: ./dev setup farm; kubectl 1.21 or later, or kustomize)

The schemas stay outside the repository. FOLDER holds, under any names: Kubernetes' OpenAPI description (swagger.json of a release), custom
resource definitions as YAML (Agones' install.yaml, the Prometheus operator's ServiceMonitor), and Agones' allocation.swagger.json, against
which the selectors of GameServerAllocation are checked, since that kind has no definition of its own.
"""

from __future__ import annotations

import argparse
import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import jsonschema
import yaml

BASES = ["docker/kubernetes/plain", "docker/kubernetes/agones"]
REQUESTS = ["docker/kubernetes/agones/allocation.yaml"]
REPOSITORY = Path(__file__).resolve().parents[1]
_OPEN = "x-kubernetes-preserve-unknown-fields"


class Schemas:
    """By (apiVersion, kind): strict JSON schemas."""

    def __init__(self, folder: Path) -> None:
        self._found: dict[tuple[str, str], Callable[[], dict[str, Any]]] = {}
        self.allocation: Optional[dict[str, Any]] = None
        for path in sorted(folder.iterdir()):
            if path.suffix == ".json":
                self._add_openapi(json.loads(path.read_text()))
            elif path.suffix in (".yaml", ".yml"):
                for document in yaml.safe_load_all(path.read_text()):
                    if document and document.get("kind") == "CustomResourceDefinition":
                        self._add_definition(document["spec"])

    def of(self, document: dict[str, Any]) -> Optional[dict[str, Any]]:
        make = self._found.get((document.get("apiVersion", ""), document.get("kind", "")))
        return make() if make else None

    def _add_openapi(self, swagger: dict[str, Any]) -> None:
        definitions = swagger.get("definitions", {})
        if "allocationAllocationRequest" in definitions:
            self.allocation = resolve({"$ref": "#/definitions/allocationAllocationRequest"}, definitions)
        for name, definition in definitions.items():
            for kind in definition.get("x-kubernetes-group-version-kind", []):
                version = "/".join(filter(None, [kind["group"], kind["version"]]))
                self._found[version, kind["kind"]] = functools.partial(resolve, {"$ref": f"#/definitions/{name}"}, definitions)

    def _add_definition(self, spec: dict[str, Any]) -> None:
        for version in spec["versions"]:
            schema = version.get("schema", {}).get("openAPIV3Schema")
            if schema:
                self._found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = functools.partial(of_resource, schema)


def of_resource(schema: dict[str, Any]) -> dict[str, Any]:
    """Custom resources leave apiVersion, kind and metadata to the API server."""
    strict_schema = strict(schema)
    for name in ("apiVersion", "kind", "metadata"):
        strict_schema["properties"].setdefault(name, {})
    return strict_schema


def resolve(schema: dict[str, Any], definitions: dict[str, Any], inside: tuple[str, ...] = ()) -> dict[str, Any]:
    """With its references put in; a type within itself is left open there."""
    reference = schema.get("$ref")
    if reference:
        name = reference.rsplit("/", 1)[1]
        if name in inside:
            return {}
        if name.endswith((".IntOrString", ".Quantity")):
            return {"type": ["string", "integer", "number"]}
        return resolve(definitions[name], definitions, (*inside, name))
    made = dict(schema)
    if "properties" in schema:
        made["properties"] = {name: resolve(part, definitions, inside) for name, part in schema["properties"].items()}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            made[name] = resolve(schema[name], definitions, inside)
    return strict(made, deep=False)


def strict(schema: dict[str, Any], deep: bool = True) -> dict[str, Any]:
    """Refuses fields that it does not name."""
    made = {name: value for name, value in schema.items() if name not in ("format", "default")}
    if schema.get("x-kubernetes-int-or-string"):
        made["type"] = ["string", "integer"]
    if "properties" in schema:
        if deep:
            made["properties"] = {name: strict(part) for name, part in schema["properties"].items()}
        if not schema.get(_OPEN) and "additionalProperties" not in schema:
            made["additionalProperties"] = False
    if deep:
        for name in ("items", "additionalProperties"):
            if isinstance(schema.get(name), dict):
                made[name] = strict(schema[name])
    return made


def rendered(base: Path) -> list[dict[str, Any]]:
    command = ["kustomize", "build"] if shutil.which("kustomize") else ["kubectl", "kustomize"]
    done = subprocess.run([*command, str(base)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"check_manifests: {base}: {done.stderr.strip()}")
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def problems(document: dict[str, Any], schemas: Schemas) -> Iterator[str]:
    if document.get("kind") == "GameServerAllocation" and schemas.allocation is not None:
        properties = schemas.allocation["properties"]
        schema: Optional[dict[str, Any]] = {
            "type": "object", "required": ["apiVersion", "kind", "spec"], "properties": {"spec": {
                "additionalProperties": False, "properties": {
                    "scheduling": properties["scheduling"],
                    "selectors": {"type": "array", "items": properties["gameServerSelectors"]["items"]}}}}}
        document = {**document, "spec": _upper_enums(document["spec"])}
    else:
        schema = schemas.of(document)
    if schema is None:
        yield f"no schema of {document.get('apiVersion')} {document.get('kind')} is in the folder"
        return
    for error in jsonschema.Draft7Validator(schema).iter_errors(document):
        yield f"{'.'.join(map(str, error.absolute_path)) or '(top)'}: {error.message[:200]}"


def _upper_enums(spec: dict[str, Any]) -> dict[str, Any]:
    """The allocator's interface writes enumerations in capitals, the resource does not."""
    selectors = [{**s, **({"gameServerState": s["gameServerState"].upper()} if "gameServerState" in s else {})}
                 for s in spec.get("selectors", [])]
    return {**spec, "selectors": selectors}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schemas", type=Path, required=True)
    schemas = Schemas(parser.parse_args().schemas)
    bad = count = 0
    for base in BASES:
        for document in rendered(REPOSITORY / base):
            count += 1
            for problem in problems(document, schemas):
                bad += 1
                print(f"{base}: {document['kind']} {document['metadata'].get('name', '')}: {problem}", file=sys.stderr)
    for request in REQUESTS:
        count += 1
        for problem in problems(yaml.safe_load((REPOSITORY / request).read_text()), schemas):
            bad += 1
            print(f"{request}: {problem}", file=sys.stderr)
    print(f"check_manifests: {count} objects, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env bash
# Builds the images of docker/ with Podman and runs them as they are meant to run: unprivileged, read-only root, no capabilities, bounds on
# memory and processes. No daemon and no registry: the base image is made by debootstrap.
#
# Usage (as root; packages: ./dev setup images): scripts/image_podman_check.sh [--built] [--keep] [--mirror URL]
#   --built   takes the server that build/release has instead of building one in the image (Debian 12 only)
#   --keep    leaves the images, localhost/eipc-*
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mirror=http://deb.debian.org/debian built="" keep=""
while (($#)); do
  case $1 in
    --built) built=1 ;;
    --keep) keep=1 ;;
    --mirror) mirror=$2; shift ;;
    *) echo "image_podman_check: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
((EUID == 0)) || { echo "image_podman_check: must run as root" >&2; exit 2; }
work=$(mktemp -d -t eipc-podman.XXXXXX)
commit=$(git -C "$repository" rev-parse HEAD)
# Without crun, which wants one hierarchy of control groups, and without a systemd, which would run the health checks (they are run below).
podman=(podman --storage-driver=vfs --runtime=runc --cgroup-manager=cgroupfs)
bounds=(--no-healthcheck --network=host --ulimit nofile=8192:8192 --ulimit nproc=1000:1000 --read-only --tmpfs /tmp --cap-drop=all --memory 512m --pids-limit 200)
container=eipc-check-$$
cleanup() {
  "${podman[@]}" rm -f "$container" >/dev/null 2>&1 || true
  "${podman[@]}" volume rm -f "$container" >/dev/null 2>&1 || true
  if [[ -z $keep ]]; then
    "${podman[@]}" rmi -f localhost/eipc-built localhost/eipc-server-alone localhost/eipc-server localhost/eipc-client >/dev/null 2>&1 || true
  fi
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
say() { printf '== [%d s] %s\n' "$SECONDS" "$*"; }
fail() { echo "image_podman_check: $*" >&2; exit 1; }
# Format docker: images of the other one have no health check.
build() { "${podman[@]}" build --format docker --isolation=chroot --network=host --build-arg "COMMIT=$commit" "$@" "$repository" >"$work/log" 2>&1 || { tail -30 "$work/log" >&2; exit 1; }; }
inspect() { "${podman[@]}" inspect --format "$2" "$1"; }

if ! "${podman[@]}" image exists docker.io/library/debian:bookworm-slim; then
  say "Base image"
  debootstrap --variant=minbase bookworm "$work/root" "$mirror" >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; exit 1; }
  tar -C "$work/root" -c . | "${podman[@]}" import - docker.io/library/debian:bookworm-slim >/dev/null
fi
from=()
if [[ -n $built ]]; then
  "$repository/docker/stages.sh" collect "$repository" "$work/built/out"
  tar -C "$work/built" -c . | "${podman[@]}" import - localhost/eipc-built >/dev/null
  from=(--build-context build=container-image://localhost/eipc-built)
fi
say "Server"
build -f "$repository/docker/Dockerfile" --target server "${from[@]}" -t localhost/eipc-server-alone
say "Server with its proxy"
build -f "$repository/docker/Dockerfile" "${from[@]}" -t localhost/eipc-server
say "Client"
build -f "$repository/docker/client.Dockerfile" -t localhost/eipc-client

for image in eipc-server-alone eipc-server eipc-client; do
  [[ $(inspect "localhost/$image" '{{.Config.User}}') == eipc ]] || fail "$image runs as root"
  [[ $(inspect "localhost/$image" '{{index .Config.Labels "org.opencontainers.image.revision"}}') == "$commit" ]] || fail "$image does not say its commit"
  [[ -n $(inspect "localhost/$image" '{{index .Config.Labels "org.opencontainers.image.licenses"}}') ]] || fail "$image does not say its licence"
  packages=$("${podman[@]}" run --rm "${bounds[@]}" --entrypoint /bin/cat "localhost/$image" /usr/share/eipc/sbom.spdx.json |
    /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)["packages"]))')
  say "$image: $(($(inspect "localhost/$image" '{{.Size}}') / 1000000)) MB, $packages packages in its list"
done

mkdir -m 777 "$work/evaluation"
for image in eipc-server-alone eipc-server; do
  port=$((20000 + RANDOM % 10000)) health=()
  if [[ $image == eipc-server ]]; then health=(-e EIPC_SERVER_PROXY_HEALTH=127.0.0.1:8080); fi
  "${podman[@]}" run -d --name "$container" "${bounds[@]}" -v "$container:/var/lib/eipc" "${health[@]}" "localhost/$image" --listen "127.0.0.1:$port" >/dev/null
  PYTHONPATH=$repository/client/python /usr/bin/python3 "$repository/scripts/image_podman_scene.py" "127.0.0.1:$port" "$work/evaluation/cube.textproto"
  "${podman[@]}" run --rm "${bounds[@]}" -v "$work/evaluation:/work" localhost/eipc-client evaluate --policy eipc.farm.policies:Schedule \
    --scenes cube.textproto --episodes 2 --server "127.0.0.1:$port" --out "$image" || fail "the client's image does not evaluate on $image"
  [[ -s $work/evaluation/$image/report.html ]] || fail "the client's image writes no report"
  [[ $("${podman[@]}" exec "$container" /usr/bin/id -u) == 10001 ]] || fail "$image is not the user eipc"
  if "${podman[@]}" exec "$container" /bin/sh -c 'echo x >/usr/x' 2>/dev/null; then fail "the root of $image can be written"; fi
  [[ $("${podman[@]}" exec "$container" /bin/sh -c 'grep CapEff /proc/1/status' | awk '{ print $2 }') == 0000000000000000 ]] || fail "$image has capabilities"
  mapfile -t check < <(inspect "localhost/$image" '{{range .HealthCheck.Test}}{{println .}}{{end}}')
  "${podman[@]}" exec "$container" "${check[1]}" "${check[2]}" "${check[3]}" || fail "$image says that it is not healthy"
  "${podman[@]}" stop -t 20 "$container" >/dev/null
  [[ $(inspect "$container" '{{.State.ExitCode}}') == 0 ]] || fail "$image did not stop in good order"
  "${podman[@]}" rm "$container" >/dev/null
  say "$image: answers, draws, runs episodes of the client's image, healthy, unprivileged, read-only, stops with 0"
done
"${podman[@]}" run --rm "${bounds[@]}" --entrypoint /usr/bin/python3 localhost/eipc-client -c '
from eipc.viz import Camera, Item, render
triangle = Item([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], (0.8, 0.2, 0.1))
picture = render([triangle], Camera((2, 1.5, 2), (0.3, 0.3, 0)), 64, 48)
assert picture.shape == (48, 64, 3) and picture.std() > 20' || fail "the client's image draws no pictures"
say "eipc-client: draws pictures"

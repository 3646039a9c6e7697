#!/usr/bin/env bash
# Does what docker/Dockerfile does without a container engine: two debootstrap roots, docker/stages.sh in each, then the server behind its
# proxy as the image's user with a read-only root, asked by a client of the host and stopped. What it cannot show: the Dockerfile's own
# syntax, layers, and compose.yaml.
#
# Usage (as root): scripts/image_root_check.sh [--mirror URL] [--built]
#   --built   takes the server that build/release has instead of building one in a clean root: the second stage only, on Debian 12
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mirror=http://deb.debian.org/debian built=""
# shellcheck source=scripts/debian_root.sh
source "$repository/scripts/debian_root.sh"
while (($#)); do
  case $1 in
    --mirror) mirror=$2; shift ;;
    --built) built=1 ;;
    *) echo "image_root_check: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
((EUID == 0)) || { echo "image_root_check: must run as root" >&2; exit 2; }
work=$(mktemp -d -t eipc-image.XXXXXX)
server=""
cleanup() {
  if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi  # unshare minds no other signal; its child goes along
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

if [[ -n $built ]]; then
  "$repository/docker/stages.sh" collect "$repository" "$work/build/out"
else
  mkdir "$work/build"
  make_debian_root "$work/build" "$mirror"
  mkdir -p "$work/build/src/eipc"
  git -C "$repository" archive HEAD | tar -x -C "$work/build/src/eipc"
  in_debian_root "$work/build" /src/eipc/docker/stages.sh install-build /src/eipc/packages.txt
  in_debian_root "$work/build" /src/eipc/docker/stages.sh build /src/eipc /out
fi

mkdir "$work/image"
make_debian_root "$work/image" "$mirror"
cp -a "$work/build/out/." "$work/image/"
cp "$repository/docker/stages.sh" "$work/image/tmp/"
in_debian_root "$work/image" /tmp/stages.sh install-runtime /
in_debian_root "$work/image" /tmp/stages.sh install-proxy /
du -sh --exclude=proc "$work/image"

# Read-only root, a volume for the state, memory for the socket of the proxy, the image's user.
unshare --mount --kill-child --fork bash -c '
  mount --bind "$1" "$1" && mount -t tmpfs tmpfs "$1/var/lib/eipc" && chown 10001 "$1/var/lib/eipc" &&
  mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" && mount -t proc proc "$1/proc" && mount -o remount,ro,bind "$1"
  exec chroot --userspec=10001:10001 "$1" /usr/local/bin/eipc-server-with-proxy --listen 127.0.0.1:0 --state-dir /var/lib/eipc' \
  run "$work/image" >"$work/out" 2>"$work/err" </dev/null &
server=$!
for _ in $(seq 100); do
  address=$(awk '/listening on/ { print $NF }' "$work/out")
  if [[ -n $address ]]; then break; fi
  sleep 0.1
done
[[ -n $address ]] || { cat "$work/err" >&2; exit 1; }
PYTHONPATH=$repository/client/python /usr/bin/python3 -c "import eipc, sys; print(eipc.connect(sys.argv[1]).server_info())" "$address"
pkill -TERM -P "$server"
wait "$server" || { echo "image_root_check: the server did not stop in good order" >&2; exit 1; }
server=""
echo "image_root_check: the server answers at $address through its proxy as an unprivileged user on a read-only root, and stops"

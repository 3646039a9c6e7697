#!/bin/sh
# What the stages of docker/Dockerfile do, as commands for any Debian 12 root, so that they can be proved where no container engine runs
# (scripts/image_root_check.sh).
#
#   stages.sh install-build PACKAGES_FILE   packages of packages.txt's required sections
#   stages.sh build SOURCE OUT              builds the server into OUT, with the list of packages it needs to run
#   stages.sh collect SOURCE OUT            the second half of that: of a server that SOURCE has built
#   stages.sh install-runtime ROOT          those packages, the proxy, and the user eipc (uid 10001)
set -eu
export DEBIAN_FRONTEND=noninteractive

install() {
  apt-get -q update
  apt-get -y -q --no-install-recommends install "$@"
  rm -rf /var/lib/apt/lists/*
}

case ${1:-} in
  install-build)
    # Neither tests nor clients are built in the image, and the proxy is no part of the build.
    # shellcheck disable=SC2046
    install $(awk '/^# required: (tests|Python|proxy)/ { wanted = 0; next } /^# required:/ { wanted = 1; next } /^# optional:/ { wanted = 0 }
                   /^[^#]/ && wanted { print $1 }' "$2") libgtest-dev libgmock-dev python3
    ;;
  build)
    cd "$2"
    EIPC_SKIP_SETUP=1 ./dev build release eipc-server
    exec docker/stages.sh collect "$2" "$3"
    ;;
  collect)
    cd "$2"
    mkdir -p "$3/usr/local/bin" "$3/usr/share/eipc"
    cp build/release/bin/eipc-server build/release/bin/eipc-server-with-proxy build/release/bin/eipc-server-messages.lua \
      "$3/usr/local/bin/"
    strip "$3/usr/local/bin/eipc-server"
    cp LICENSE "$3/usr/share/eipc/"
    # The viewer's page, where ./dev viewer has built it: --viewer looks for it in ../share/eipc/viewer.
    if [ -d client/python/eipc/viz/live ]; then
      mkdir -p "$3/usr/local/share/eipc"
      cp -r client/python/eipc/viz/live "$3/usr/local/share/eipc/viewer"
    fi
    # The packages of the shared libraries that the binary names.
    ldd "$3/usr/local/bin/eipc-server" | awk '$3 ~ /^\// { print $3 }' | while read -r library; do
      dpkg -S "$(readlink -f "$library")" 2>/dev/null || dpkg -S "$library"
    done | cut -d: -f1 | sort -u >"$3/usr/share/eipc/runtime-packages.txt"
    ;;
  install-runtime)
    # shellcheck disable=SC2046
    install $(cat "$2/usr/share/eipc/runtime-packages.txt") haproxy
    useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin eipc
    mkdir -p /var/lib/eipc
    chown eipc:eipc /var/lib/eipc
    ;;
  *)
    echo "usage: stages.sh install-build PACKAGES_FILE | build SOURCE OUT | collect SOURCE OUT | install-runtime ROOT" >&2
    exit 2
    ;;
esac

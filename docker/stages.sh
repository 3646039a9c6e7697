#!/bin/sh
# What the stages of docker/Dockerfile do, as commands for any Debian 12 root, so that they can be proved where no container engine runs
# (scripts/image_root_check.sh).
#
#   stages.sh install-build PACKAGES_FILE   packages of packages.txt's required sections
#   stages.sh build SOURCE OUT              builds the server into OUT, with the list of packages it needs to run
#   stages.sh collect SOURCE OUT            the second half of that: of a server that SOURCE has built
#   stages.sh install-runtime ROOT          those packages and the user eipc (uid 10001)
#   stages.sh install-proxy ROOT            the proxy
#   stages.sh install-client SOURCE         the Python client of SOURCE, what it needs, and the user eipc
#   stages.sh sbom ROOT NAME COMMIT         writes ROOT/usr/share/eipc/sbom.spdx.json: NAME of COMMIT and every package that is installed
set -eu
export DEBIAN_FRONTEND=noninteractive

install() {
  apt-get -q update
  apt-get -y -q --no-install-recommends install "$@"
  rm -rf /var/lib/apt/lists/*
}

add_user() {
  useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin eipc
}

# SPDX 2.3. Debian says which licences a package has in /usr/share/doc/PACKAGE/copyright, in words; they are not guessed here.
write_sbom() {
  mkdir -p "$1/usr/share/eipc"
  {
    printf '{\n "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "%s",\n' "$2"
    printf ' "documentNamespace": "https://eipc.invalid/%s/%s",\n' "$2" "$3"
    printf ' "creationInfo": {"created": "%s", "creators": ["Tool: docker/stages.sh"]},\n "packages": [\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '  {"SPDXID": "SPDXRef-eipc", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", ' "$2" "$3"
    printf '"licenseDeclared": "Apache-2.0", "filesAnalyzed": false}'
    dpkg-query --show --showformat=',\n  {"SPDXID": "SPDXRef-${Package}-${Architecture}", "name": "${Package}", "versionInfo": "${Version}", "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "licenseDeclared": "NOASSERTION", "filesAnalyzed": false, "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:deb/debian/${Package}@${Version}?arch=${Architecture}&distro=bookworm"}]}'
    printf '\n ],\n "relationships": [\n  {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-eipc"}'
    dpkg-query --show --showformat=',\n  {"spdxElementId": "SPDXRef-eipc", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-${Package}-${Architecture}"}'
    printf '\n ]\n}\n'
  } | sed -E ':a; s/("SPDXRef-[A-Za-z0-9.-]*)\+/\1plus/; ta; :b; s/(pkg:deb[^"]*)\+/\1%2B/; tb' >"$1/usr/share/eipc/sbom.spdx.json"
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
    cp build/release/bin/eipc-server build/release/bin/eipc-camera.so build/release/bin/eipc-server-with-proxy \
      build/release/bin/eipc-server-messages.lua "$3/usr/local/bin/"
    strip "$3/usr/local/bin/eipc-server" "$3/usr/local/bin/eipc-camera.so"
    cp LICENSE "$3/usr/share/eipc/"
    # The viewer's page, where ./dev viewer has built it: --viewer looks for it in ../share/eipc/viewer.
    if [ -d client/python/eipc/viz/live ]; then
      mkdir -p "$3/usr/local/share/eipc"
      cp -r client/python/eipc/viz/live "$3/usr/local/share/eipc/viewer"
    fi
    # The packages of the shared libraries that the binary and what it loads name.
    ldd "$3/usr/local/bin/eipc-server" "$3/usr/local/bin/eipc-camera.so" | awk '$3 ~ /^\// { print $3 }' | while read -r library; do
      dpkg -S "$(readlink -f "$library")" 2>/dev/null || dpkg -S "$library"
    done | cut -d: -f1 | sort -u >"$3/usr/share/eipc/runtime-packages.txt"
    ;;
  install-runtime)
    # shellcheck disable=SC2046
    install $(cat "$2/usr/share/eipc/runtime-packages.txt")
    add_user
    mkdir -p /var/lib/eipc
    chown eipc:eipc /var/lib/eipc
    ;;
  install-proxy)
    install haproxy
    ;;
  install-client)
    install python3 python3-grpcio python3-numpy python3-protobuf python3-matplotlib python3-vtk9 xvfb protobuf-compiler libprotobuf-dev  # its .proto files
    add_user
    python3 "$2/client/python/generate_protos.py"
    # Beside Debian's packages, so that no installer is needed in the image.
    cp -r "$2/client/python/eipc" /usr/lib/python3/dist-packages/eipc
    find /usr/lib/python3/dist-packages/eipc -name __pycache__ -prune -exec rm -r {} +
    apt-get -y -q purge protobuf-compiler libprotobuf-dev >/dev/null
    apt-get -y -q autoremove >/dev/null
    python3 -m eipc.cli evaluate --help | grep -q '^usage: eipc evaluate'
    ;;
  sbom)
    write_sbom "$2" "$3" "$4"
    ;;
  *)
    echo "usage: stages.sh install-build PACKAGES_FILE | build SOURCE OUT | collect SOURCE OUT | install-runtime ROOT | install-proxy ROOT | install-client SOURCE |" \
      "sbom ROOT NAME COMMIT" >&2
    exit 2
    ;;
esac

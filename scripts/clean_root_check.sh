#!/usr/bin/env bash
# Proves the commands of the README on a machine that has none of our packages: makes a minimal Debian 12 root with debootstrap,
# clones this repository's committed state into it, and runs `./dev COMMAND` there. Nothing of the host is mounted into the root.
#
# Usage (as root): scripts/clean_root_check.sh [--root DIR] [--mirror URL] [--keep] [COMMAND [ARGUMENT...]]
#   --root DIR    where to make the root; must not exist or be empty (default: a new folder under ${TMPDIR:-/tmp})
#   --mirror URL  Debian mirror (default: the host's, else http://deb.debian.org/debian)
#   --keep        leave the root behind; without it the root is removed, results (out/) copied to build/clean_root/ first
#   COMMAND       for ./dev, default `demo`
# Needs debootstrap and git (./dev setup cleanroom). Prints the seconds of each part; exit status is that of the command.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root="" mirror="" keep=0
# shellcheck source=scripts/debian_root.sh
source "$repository/scripts/debian_root.sh"

die() {
  printf 'clean_root_check: error: %s\n' "$*" >&2
  exit 2
}

# The first mirror of the suite in the host's apt sources, of either format; empty when there is none.
host_mirror() {
  { apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 2>/dev/null || true; } |
    awk -v suite="$DEBIAN_SUITE" '$2 == suite { sub("/$", "", $1); print $1; exit }'
}

while (($#)); do
  case $1 in
    --root) root=$2 && shift ;;
    --mirror) mirror=$2 && shift ;;
    --keep) keep=1 ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) die "unknown option '$1'" ;;
    *) break ;;
  esac
  shift
done
command=("${@:-demo}")
((EUID == 0)) || die "must run as root (debootstrap and chroot)"
command -v debootstrap >/dev/null && command -v git >/dev/null || die "needs debootstrap and git: ./dev setup cleanroom"
mirror=${mirror:-$(host_mirror)}
mirror=${mirror:-http://deb.debian.org/debian}
root=${root:-$(mktemp -d -t eipc-clean-root.XXXXXX)}
mkdir -p "$root"
[[ -z $(ls -A "$root") ]] || die "$root is not empty"

report=()
# part NAME COMMAND...: runs it and notes its seconds.
part() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  report+=("$(printf '%6d s  %s (status %d)' $((SECONDS - start)) "$name" "$status")")
  return "$status"
}

remove_root() {
  if ((keep)); then
    echo "root kept in $root"
    return
  fi
  if [[ -d $root/home/eipc/out ]]; then
    mkdir -p "$repository/build/clean_root"
    cp -r "$root/home/eipc/out/." "$repository/build/clean_root/"
  fi
  rm -rf --one-file-system "$root"
}
trap remove_root EXIT

clone() { git clone -q --no-hardlinks --depth 1 "file://$repository" "$root/home/eipc"; }

run_inside() { in_debian_root "$root" CI=true sh -c 'cd /home/eipc && exec ./dev "$@"' dev "$@"; }

status=0
part "debootstrap $DEBIAN_SUITE from $mirror" make_debian_root "$root" "$mirror"
part "clone" clone
part "./dev ${command[*]}" run_inside "${command[@]}" || status=$?
echo
echo "Parts (the lines '== [N s]' above divide ./dev's own time):"
printf '%s\n' "${report[@]}"
exit "$status"

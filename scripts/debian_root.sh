# shellcheck shell=bash
# Sourced by the scripts that prove something on a Debian 12 with nothing installed: makes its root, and runs commands in it.

readonly DEBIAN_SUITE=bookworm

# make_debian_root ROOT MIRROR: a minimal Debian 12 in an empty folder. Needs root and debootstrap; says on standard error why it failed.
make_debian_root() {
  local log status=0
  log=$(mktemp -t eipc-debootstrap.XXXXXX)
  chmod 755 "$1"  # apt fetches as a user of its own
  debootstrap --variant=minbase "$DEBIAN_SUITE" "$1" "$2" >"$log" 2>&1 || status=$?
  if ((status)); then tail -20 "$log" >&2; fi
  rm -f "$log"
  if ((status)); then return "$status"; fi
  cp /etc/resolv.conf "$1/etc/resolv.conf"
}

# in_debian_root ROOT [NAME=VALUE...] COMMAND...: in a mount and process namespace of its own. /proc is mounted there only, nothing of the
# host's environment is known, and nothing outlives the command.
in_debian_root() {
  local root=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' in_debian_root "$root" \
    /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "$@" </dev/null
}

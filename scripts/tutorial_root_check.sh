#!/usr/bin/env bash
# Follows the tutorials as a new user would: in a minimal Debian 12 root made by debootstrap, with a wheel and nothing else. Every block of
# docs/tutorial/first_grasp.md and learn_a_grasp.md that is for the wheel is run there in order, also the installation of the packages that
# the page names. There is no checkout and no compiler in the root, and nothing of the host is mounted into it.
#
# Usage (as root): scripts/tutorial_root_check.sh [--root DIR] [--mirror URL] [--keep] [--quick] [WHEEL]
#   --root DIR    where to make the root (default: a new folder under ${TMPDIR:-/tmp}); a Debian root that is there is used as it is, and
#                 left behind
#   --mirror URL  Debian mirror (default: http://deb.debian.org/debian)
#   --keep        leave the root behind
#   --quick       learn from rewards for one generation instead of all
#   WHEEL         default: that of build/wheel (./dev wheel)
# Needs debootstrap (./dev setup cleanroom). Prints the minutes of each block of commands; exit status 0 when all of them succeed.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root="" made="" mirror=http://deb.debian.org/debian keep="" quick=() wheel=""
# shellcheck source=scripts/debian_root.sh
source "$repository/scripts/debian_root.sh"
pages=(docs/tutorial/first_grasp.md docs/tutorial/learn_a_grasp.md)

die() {
  printf 'tutorial_root_check: error: %s\n' "$*" >&2
  exit 2
}

while (($#)); do
  case $1 in
    --root) root=$2 && shift ;;
    --mirror) mirror=$2 && shift ;;
    --keep) keep=1 ;;
    --quick) quick=(--quick) ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) die "unknown option '$1'" ;;
    *) wheel=$1 ;;
  esac
  shift
done
((EUID == 0)) || die "must run as root (debootstrap and chroot)"
wheel=${wheel:-$(find "$repository/build/wheel" -name 'eipc-*.whl' 2>/dev/null | head -n 1)}
[[ -f $wheel ]] || die "there is no wheel: ./dev wheel makes one"
root=${root:-$(mktemp -d -t eipc-tutorial.XXXXXX)}
mkdir -p "$root"
[[ $(stat -c %d:%i "$root") != $(stat -c %d:%i /) ]] || die "--root $root: that is the root of this machine"
scratch=$(mktemp -d -t eipc-tutorial-pages.XXXXXX)

cleanup() {
  rm -rf "$scratch"
  if [[ -n $made && -z $keep ]]; then
    rm -rf --one-file-system "$root"
  else
    echo "root kept in $root"
  fi
}
trap cleanup EXIT

follow() {
  in_debian_root "$root" DEBIAN_FRONTEND=noninteractive bash -c 'cd /root/work && exec 3>/root/times && source /root/page.sh'
}

if [[ -x $root/usr/bin/apt-get ]]; then
  echo "the root $root is there already"
else
  command -v debootstrap >/dev/null || die "needs debootstrap: ./dev setup cleanroom"
  [[ -z $(ls -A "$root") ]] || die "--root $root: the folder holds something that is no Debian root"
  began=$SECONDS made=1
  make_debian_root "$root" "$mirror"
  printf '%7.2f min  debootstrap\n' "$(awk -v s=$((SECONDS - began)) 'BEGIN { print s / 60 }')"
fi
mkdir -p "$root/root/work"
cp "$wheel" "$root/root/work/"
for page in "${pages[@]}"; do
  /usr/bin/python3 "$repository/tests/support/page_blocks.py" "${quick[@]}" script "$page" >"$root/root/page.sh"
  follow || die "$page: a block failed, after $(wc -l <"$root/root/times") blocks of commands"
  /usr/bin/python3 "$repository/tests/support/page_blocks.py" "${quick[@]}" minutes "$page" "$root/root/times" |
    tee -a "$scratch/minutes"
done
echo
echo "Minutes on $(nproc) processors, $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1):"
cat "$scratch/minutes"

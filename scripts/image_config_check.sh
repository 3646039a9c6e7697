#!/usr/bin/env bash
# Checks what describes the images, without a container engine: compose.yaml against Compose's schema, Prometheus' configuration, the
# dashboard's JSON, and that every file compose.yaml mounts is there. What it cannot show: that images can be pulled and containers run.
#
# Usage: scripts/image_config_check.sh     (packages: ./dev setup images)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../docker"

docker-compose -f compose.yaml config --quiet
promtool check config prometheus/prometheus.yml
/usr/bin/python3 -m json.tool grafana/eipc.json >/dev/null
docker-compose -f compose.yaml config | awk '$1 == "-" && $2 ~ /^\// { sub(/:.*/, "", $2); print $2 }' | while read -r mounted; do
  [[ -e $mounted ]] || { echo "image_config_check: compose.yaml mounts $mounted, which there is not" >&2; exit 1; }
done
echo "image_config_check: compose.yaml, prometheus.yml and the dashboard are well-formed, and what is mounted is there"

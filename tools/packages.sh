#!/bin/sh
# Installs the packages of the distribution that building needs, and those that are named besides: as root or through sudo;
# otherwise says the one line to run. What the package tools say is shown, whole, where they fail.
set -eu
need="gcc make meson ninja-build pkg-config libjansson-dev libsqlite3-dev libmd-dev zlib1g-dev libjpeg62-turbo-dev libpng-dev libdnnl-dev python3 python3-venv curl $*"

missing="" count=0
for package in $need; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package" count=$((count + 1))
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "yardstick needs these packages first; run: sudo apt-get update && sudo $install" >&2
    exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
started=$(date +%s)
echo "packages: asking what there is, then installing $count:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update -qq && $as_root $install -qq; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "the packages could not be installed; run by hand: sudo apt-get update && sudo $install" >&2
    exit 1
fi
echo "packages: installed $count in $(($(date +%s) - started)) s" >&2

#!/bin/sh
# Installs the packages of the distribution that building needs: as root or through sudo; otherwise says the one line to run.
set -eu
need="gcc make meson ninja-build pkg-config libjansson-dev libsqlite3-dev libmd-dev zlib1g-dev libjpeg62-turbo-dev libpng-dev libdnnl-dev python3 python3-venv curl"

missing=""
for package in $need; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
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
echo "installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update -qq && $as_root $install -qq; } >/dev/null; then
    echo "the packages could not be installed; run by hand: sudo apt-get update && sudo $install" >&2
    exit 1
fi

#!/bin/sh
# Installs the packages of the distribution that building needs, and those that are named besides: as root or through sudo;
# otherwise says the one line to run. What the package tools say is shown, whole, where they fail. What is wanted and not needed
# may be missing: that is said in a line.
set -eu
need="gcc make meson ninja-build pkg-config libjansson-dev libsqlite3-dev libmd-dev zlib1g-dev libjpeg62-turbo-dev libpng-dev libzstd-dev python3 python3-venv curl $*"
want="libdnnl-dev"
without="the engine is built without its back end onednn"

missing_of() {
    for package; do
        dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || printf ' %s' "$package"
    done
}
missing=$(missing_of $need) wanted=$(missing_of $want)
# What this distribution is known not to have is not asked for at every make.
if [ -n "$wanted" ] && ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1 && ! apt-cache show $wanted >/dev/null 2>&1; then
    echo "packages: $without: this distribution has no$wanted" >&2
    wanted=""
fi
[ -n "$missing$wanted" ] || exit 0

install="apt-get install -y --no-install-recommends"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
elif [ -n "$missing" ]; then
    echo "yardstick needs these packages first; run: sudo apt-get update && sudo $install$missing$wanted" >&2
    exit 1
else
    echo "packages: $without; to have it, run: sudo apt-get update && sudo $install$wanted" >&2
    exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
started=$(date +%s)
echo "packages: asking what there is, then installing$missing$wanted" >&2
export DEBIAN_FRONTEND=noninteractive
had() { { $as_root apt-get update -qq && $as_root $install -qq "$@"; } >"$log" 2>&1; }
if [ -n "$missing" ] && ! had $missing; then
    cat "$log" >&2
    echo "the packages could not be installed; run by hand: sudo apt-get update && sudo $install$missing" >&2
    exit 1
fi
if [ -n "$wanted" ] && ! had $wanted; then
    echo "packages: $without: $(tail -n 1 "$log")" >&2
fi
echo "packages: done in $(($(date +%s) - started)) s" >&2

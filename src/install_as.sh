#!/bin/sh
# meson install: FILE goes into FOLDER, relative to the prefix, as NAME.
set -eu
mkdir -p "$MESON_INSTALL_DESTDIR_PREFIX/$2"
cp "$1" "$MESON_INSTALL_DESTDIR_PREFIX/$2/$3"

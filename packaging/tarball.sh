#!/usr/bin/env bash
# Packs a staged release, the same bytes for the same content.
#   tarball.sh PREFIX FILE.tar.gz
set -euo pipefail
name=$(basename "$2" .tar.gz)
tar --create --directory "$(dirname "$1")" --transform "s|^$(basename "$1")|$name|" --sort=name --mtime="@${SOURCE_DATE_EPOCH:?}" \
  --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --format=gnu "$(basename "$1")" | gzip -9n > "$2"

#!/usr/bin/env bash
# Tries the image that `make image` made, as container engines run it. Needs root.
#   try-image.sh FOLDER VERSION
set -euo pipefail
out=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
archive=$out/realm-rest-$version-image.tar
buildah() { command buildah --storage-driver vfs "$@"; }

container=$(buildah from --quiet "docker-archive:$archive" 2>/dev/null)
trap 'buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")
printf '\n== the image: %s bytes unpacked, %s bytes as a file, %s bytes compressed\n' "$(du -sb --apparent-size "$root" | cut -f1)" \
  "$(stat -c %s "$archive")" "$(gzip -c "$archive" | wc -c)"
buildah inspect --type image --format '{{.Docker.Config.User}} {{.Docker.Config.Entrypoint}} {{.Docker.Config.Cmd}} {{.Docker.Config.Healthcheck.Test}}' \
  "localhost/realm-rest:$version"
printf '\n== run by buildah\n'
buildah run --isolation chroot "$container" -- /usr/bin/realm-rest --version
unshare --mount --net --pid --fork --mount-proc -- python3 "$here/try_image.py" "$root"

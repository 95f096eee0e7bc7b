#!/usr/bin/env bash
# Makes the image with buildah, without a daemon, with the same layers and settings as docker/Dockerfile.
#   image.sh ROOT VERSION FILE.tar
set -euo pipefail
root=$1 version=$2 file=$3
# The form of docker: that of OCI has no health check.
export BUILDAH_FORMAT=docker
buildah() { command buildah --storage-driver vfs "$@"; }

container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null' EXIT
# Not by `buildah copy`, which gives everything to root.
cp -a "$root/." "$(buildah mount "$container")/"
buildah umount "$container" >/dev/null
buildah config --user 10001:10001 --volume /data --port 8080/tcp --workingdir / \
  --env SWIFT_BACKTRACE=registers=none,images=none \
  --entrypoint '["/usr/bin/realm-rest"]' --cmd 'serve --data /data --host 0.0.0.0 --port 8080' \
  --healthcheck 'CMD /usr/bin/realm-rest health --port 8080' --healthcheck-interval 10s --healthcheck-timeout 3s \
  --healthcheck-start-period 5s --label org.opencontainers.image.title=realm-rest \
  --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.licenses=Apache-2.0 "$container"
buildah commit --quiet --format docker --timestamp "${SOURCE_DATE_EPOCH:?}" "$container" "realm-rest:$version" >/dev/null
rm -f "$file"
buildah push --quiet "realm-rest:$version" "docker-archive:$file:realm-rest:$version" >/dev/null 2>&1

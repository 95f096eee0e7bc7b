#!/usr/bin/env bash
# Makes everything that is published of one version from the stripped program: tarball, Debian package, list of parts, digests.
#   dist.sh FOLDER VERSION NAME CHECKOUTS
set -euo pipefail
out=$1 version=$2 name=$3 checkouts=$4
here=$(cd "$(dirname "$0")" && pwd)
program=$out/realm-rest
umask 022

rm -rf "$out"/stage "$out"/realm-rest[-_]*.{tar.gz,deb,cdx.json} "$out"/SHA256SUMS
python3 "$here/sbom.py" --program "$program" --version "$version" --resolved "$here/../Package.resolved" --checkouts "$checkouts" \
  > "$out/$name.cdx.json"

UNIT_BIN=/usr/bin "$here/stage.sh" "$program" "$out/stage/usr" "$version"
install -m 644 "$out/$name.cdx.json" "$out/stage/usr/share/doc/realm-rest/realm-rest.cdx.json"
"$here/deb.sh" "$out/stage/usr" "$out" "$version"

# In the tarball everything is below one folder, and what people read first lies at its top.
"$here/stage.sh" "$program" "$out/stage/tar" "$version"
cp "$out/$name.cdx.json" "$out/stage/tar/share/doc/realm-rest/realm-rest.cdx.json"
for file in README.md LICENSE CHANGELOG.md; do mv "$out/stage/tar/share/doc/realm-rest/$file" "$out/stage/tar/$file"; done
depends=$(dpkg-deb -f "$out"/realm-rest_"$version"-*.deb Depends)
sed -e "s/@VERSION@/$version/" -e "s/@DEPENDS@/${depends#adduser, }/" "$here/INSTALL" > "$out/stage/tar/INSTALL"
"$here/tarball.sh" "$out/stage/tar" "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" "$name.cdx.json" realm-rest_*.deb > SHA256SUMS)
cat "$out/SHA256SUMS"

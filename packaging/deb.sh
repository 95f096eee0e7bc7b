#!/usr/bin/env bash
# Makes the Debian package of a staged release.
#   deb.sh PREFIX FOLDER VERSION: FOLDER/realm-rest_VERSION-1_ARCHITECTURE.deb
set -euo pipefail
prefix=$1 out=$2 upstream=$3
version=$upstream-${DEB_REVISION:-1}
maintainer=${DEB_MAINTAINER:-realm-rest maintainers <maintainers@realm-rest.example>}
here=$(cd "$(dirname "$0")" && pwd)
parts=$here/debian
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

mkdir -p "$root/usr"
cp -a "$prefix/." "$root/usr"
# Debian has places of its own for some of it, and one copy of the licence for all packages.
mkdir -p "$root/lib" "$root/usr/share/zsh"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/lib/systemd" "$root/lib/systemd"
rmdir "$root/usr/lib"
docs=$root/usr/share/doc/realm-rest
rm "$docs/LICENSE"
gzip -9n < "$docs/CHANGELOG.md" > "$docs/changelog.gz" && rm "$docs/CHANGELOG.md"
install -D -m 644 "$parts/realm-rest.yaml" "$root/etc/realm-rest/realm-rest.yaml"
rm "$docs/examples/realm-rest.yaml"
# The socket takes the place of `listen:` in the configuration, so whoever wants it puts it in force himself.
mv "$root/lib/systemd/system/realm-rest.socket" "$docs/examples/"
# The realms outlive the service, and administrators put files beside them: they need an owner with a name.
sed -i -e 's|^DynamicUser=yes$|User=realm-rest\nGroup=realm-rest|' -e 's|; docs/operations.md tells how to install it||' \
  -e '/^\[Unit\]$/a Documentation=man:realm-rest(1)' -e 's|/usr/local/bin/|/usr/bin/|' "$root/lib/systemd/system/realm-rest.service"
grep -q '^User=realm-rest$' "$root/lib/systemd/system/realm-rest.service"

filled() {
  sed -e "s|@VERSION@|$version|" -e "s|@UPSTREAM@|$upstream|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@MAINTAINER@|$maintainer|" \
    -e "s|@DATE@|$(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:?}")|" "$@"
}
filled "$parts/changelog" | gzip -9n > "$docs/changelog.Debian.gz"
install -D -m 644 "$parts/lintian-overrides" "$root/usr/share/lintian/overrides/realm-rest"

# What the program needs of Debian, as Debian's own tool finds it.
work=$(mktemp -d)
mkdir "$work/debian" && printf 'Source: realm-rest\n\nPackage: realm-rest\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O -e"$root/usr/bin/realm-rest" 2>"$work/log") || { cat "$work/log" >&2; exit 1; }
rm -rf "$work"
mkdir "$root/DEBIAN"
find "$root" -type d -exec chmod 755 {} +
filled -e "s|@DEPENDS@|${depends#shlibs:Depends=}|" -e "s|@SIZE@|$(du -sk --apparent-size "$root" | cut -f1)|" "$parts/control.in" > "$root/DEBIAN/control"
echo /etc/realm-rest/realm-rest.yaml > "$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 755 "$parts/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find etc lib usr -type f -print0 | LC_ALL=C sort -z | grep -zv '^etc/' | xargs -0 md5sum > DEBIAN/md5sums)
chmod 644 "$root/DEBIAN/md5sums" "$root/DEBIAN/control" "$root/DEBIAN/conffiles"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0r touch -h -d "@$SOURCE_DATE_EPOCH"
dpkg-deb --root-owner-group -Z${DEB_COMPRESSION:-xz} --build "$root" "$out/realm-rest_${version}_${architecture}.deb" >/dev/null

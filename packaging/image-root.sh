#!/usr/bin/env bash
# Makes the root of a container: the program, Debian's libraries that it needs, authorities for TLS, one user. There is neither a
# shell nor a package manager in it; var/lib/dpkg/status.d tells scanners which packages the files are of.
#   image-root.sh PROGRAM ROOT
set -euo pipefail
program=$1 root=$2
uid=10001

rm -rf "$root"
mkdir -p "$root"/{usr/lib,usr/lib64,usr/bin,usr/share/doc/realm-rest,etc/ssl/certs,var/lib/dpkg/status.d,tmp,data,proc,dev,sys,run}
for name in lib lib64 bin; do ln -s usr/$name "$root/$name"; done
chmod 1777 "$root/tmp"

libraries=$(ldd "$program" | awk '/=> \//{print $3} /^\t\/lib/{print $1}')
# Whether a package records its files with or without /usr.
packages=$(for library in $libraries; do real=$(readlink -f "$library"); echo "$real" "${real#/usr}"; done \
  | { xargs dpkg -S 2>/dev/null || true; } | cut -d: -f1 | LC_ALL=C sort -u)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# From the archive and not from this machine, where a file may have been changed.
mkdir "$work/debs" "$work/root" && chmod 755 "$work" "$work/debs"
(cd "$work/debs" && apt-get download -qq -o APT::Sandbox::User=root $packages >/dev/null)
for file in "$work"/debs/*.deb; do
  package=$(dpkg-deb -f "$file" Package)
  dpkg-deb -x "$file" "$work/root/$package"
  dpkg-deb -f "$file" > "$root/var/lib/dpkg/status.d/$package"
  licence=$work/root/$package/usr/share/doc/$package/copyright
  # The documents of a package may be those of another one.
  if [ -f "$licence" ]; then mkdir -p "$root/usr/share/doc/$package" && gzip -9n < "$licence" > "$root/usr/share/doc/$package/copyright.gz"; fi
done
# Of the packages the libraries alone that the loader looks for. Names of hosts are looked up by parts of the C library itself.
for library in $libraries; do
  real=$(find "$work"/root/*/ -path "*/lib*/$(basename "$library")" | head -1)
  place=$root/usr/$(dirname "$(echo "$real" | sed -E "s|^$work/root/[^/]+/(usr/)?||")")
  [ "$library" = "${library#/lib64/}" ] || place=$root/usr/lib64
  mkdir -p "$place" && install -m 755 "$(readlink -f "$real")" "$place/$(basename "$library")"
done

install -m 755 "$program" "$root/usr/bin/realm-rest"
cp "$(dirname "$0")/debian/copyright" "$root/usr/share/doc/realm-rest/copyright"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp /etc/os-release "$root/etc/os-release"
printf 'root:x:0:0:root:/:/usr/sbin/nologin\nrealm:x:%s:%s:realm-rest:/data:/usr/sbin/nologin\n' $uid $uid > "$root/etc/passwd"
printf 'root:x:0:\nrealm:x:%s:\n' $uid > "$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' > "$root/etc/nsswitch.conf"
chmod -R u+rwX,go+rX,go-w "$root" && chmod 1777 "$root/tmp"
chown -R 0:0 "$root" && chown $uid:$uid "$root/data" && chmod 700 "$root/data"
if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; fi

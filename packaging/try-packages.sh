#!/usr/bin/env bash
# Tries what `make dist` made: lintian, then installing, running and removing on a fresh Debian. Needs root.
#   try-packages.sh FOLDER VERSION NAME
set -euo pipefail
out=$1 version=$2 name=$3
here=$(cd "$(dirname "$0")" && pwd)
deb=$(echo "$out"/realm-rest_"$version"-*.deb)
root=$(readlink -f "$out")/debian
say() { printf '\n== %s\n' "$*"; }

say "lintian, of $(basename "$deb"), $(stat -c %s "$deb") bytes"
lintian --allow-root --fail-on error,warning --info --tag-display-limit 0 "$deb" && echo "no errors, no warnings"
zcat "$out/stage/usr/share/man/man1/realm-rest.1.gz" > "$out/realm-rest.1"
LC_ALL=C.UTF-8 man --warnings --local-file "$out/realm-rest.1" 2>"$out/man.log" >/dev/null && [ ! -s "$out/man.log" ] && echo "the manual page has no warnings"
(cd "$out" && sha256sum --quiet -c SHA256SUMS) && echo "SHA256SUMS hold"

say "a fresh Debian"
if [ ! -e "$root.base" ]; then
  debootstrap --variant=minbase bookworm "$root.part" >/dev/null && mv "$root.part" "$root.base"
fi
rm -rf "$root" && cp -a "$root.base" "$root"
trap 'rm -rf "$root"' EXIT
cp /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { unshare --mount --pid --fork --mount-proc -- bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }
state() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./run -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \) -prune -o -print \
    | grep -v -e '^./var/lib/dpkg/.*-old$' -e '^./etc/.*-$' | LC_ALL=C sort; cat etc/passwd etc/group)
}
in_root apt-get update -qq
state > "$out/state.before"

say "installing"
cp "$deb" "$root/tmp/realm-rest.deb"
in_root apt-get install -qq --no-install-recommends /tmp/realm-rest.deb >"$out/install.log" 2>&1 || { cat "$out/install.log"; exit 1; }
in_root dpkg-query -W -f='${Package} ${Version} ${Status}, ${Installed-Size} KiB\nDepends: ${Depends}\n' realm-rest
in_root sh -c 'getent passwd realm-rest; stat -c "%A %U:%G %n" /var/lib/realm-rest /etc/realm-rest/realm-rest.yaml; realm-rest --version'

say "the service, started by hand as its unit says"
unshare --mount --net --pid --fork --mount-proc -- python3 "$here/try_service.py" "$root"

say "the tarball, $(stat -c %s "$out/$name.tar.gz") bytes; its program $(stat -c %s "$out/realm-rest") bytes"
tar -xzf "$out/$name.tar.gz" -C "$root/opt"
unshare --mount --net --pid --fork --mount-proc -- python3 "$here/try_tarball.py" "$root" "/opt/$name"
rm -r "$root/opt/$name"

say "removing keeps realms and configuration"
in_root apt-get remove -qq realm-rest >"$out/remove.log" 2>&1
(cd "$root" && ls -d etc/realm-rest/realm-rest.yaml var/lib/realm-rest/store.realm && ! ls usr/bin/realm-rest 2>/dev/null)

say "purging leaves nothing"
in_root apt-get purge -qq realm-rest >>"$out/remove.log" 2>&1
in_root apt-get autoremove --purge -qq >>"$out/remove.log" 2>&1
state > "$out/state.after"
diff "$out/state.before" "$out/state.after" && echo "files, users and groups are those of before"

#!/usr/bin/env bash
# Lays out a release as a prefix has it: program, completions, manual page, units, sample, documents.
#   stage.sh PROGRAM PREFIX VERSION
# Tarball, Debian package and `make install` are all made of this layout, so that they cannot differ.
set -euo pipefail
program=$1 prefix=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$here/..
day=$(date -u -d "@${SOURCE_DATE_EPOCH:?}" +%F)

place() { install -D -m "$1" "$2" "$prefix/$3"; }
made() { install -d "$(dirname "$prefix/$1")" && cat > "$prefix/$1" && chmod 644 "$prefix/$1"; }

place 755 "$program" bin/realm-rest
"$program" --generate-completion-script bash | sed '1{/^#!/d}' | made share/bash-completion/completions/realm-rest
"$program" --generate-completion-script zsh | made share/zsh/site-functions/_realm-rest
"$program" --generate-completion-script fish | made share/fish/vendor_completions.d/realm-rest.fish
"$program" --experimental-dump-help | python3 "$here/manpage.py" --version "$version" --date "$day" \
  | gzip -9n | made share/man/man1/realm-rest.1.gz
# The units of the repository have the place that an administrator installs to; a package has its own.
for unit in service socket; do
  sed "s|/usr/local/bin/|${UNIT_BIN:-/usr/local/bin}/|" "$source/packaging/systemd/realm-rest.$unit" | made lib/systemd/system/realm-rest.$unit
done
place 644 "$source/packaging/debian/realm-rest.yaml" share/doc/realm-rest/examples/realm-rest.yaml
place 644 "$source/docker/nginx/realm-rest.conf" share/doc/realm-rest/examples/nginx.conf
place 644 "$source/docker/caddy/Caddyfile" share/doc/realm-rest/examples/Caddyfile
place 644 "$source/demo/store.ndjson.gz" share/realm-rest/store.ndjson.gz
place 644 "$source/README.md" share/doc/realm-rest/README.md
place 644 "$source/CHANGELOG.md" share/doc/realm-rest/CHANGELOG.md
place 644 "$source/LICENSE" share/doc/realm-rest/LICENSE
place 644 "$source/packaging/debian/copyright" share/doc/realm-rest/copyright

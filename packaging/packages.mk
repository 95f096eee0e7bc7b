# What people install: `make dist`, `make image`, `make install PREFIX=…`, and `make test-packages`. docs/packages.md tells more.
DIST := .build-dist
DIST_BUILD ?= $(DIST)/build
DIST_SETUP := binutils dpkg-dev g++ git gzip python3 tar xz-utils
IMAGE_SETUP := buildah ca-certificates
TRIAL_SETUP := curl debootstrap iproute2 lintian man-db python3 util-linux
VERSION := $(shell sed -n 's/.*static let version = "\(.*\)".*/\1/p' Sources/RealmHosting/Configuration/Build.swift)
# Packages of one commit are the same whenever they are made.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y Sources/RealmHosting/Configuration/Build.swift)
ARCHITECTURE := $(shell uname -m)
RELEASE_NAME := realm-rest-$(VERSION)-linux-$(ARCHITECTURE)
PREFIX ?= /usr/local
DIST_PROGRAM := $(DIST)/realm-rest

.PHONY: dist dist-program setup-dist setup-image setup-test-packages install uninstall test-packages

# Installs the Debian packages in $(1) that are missing; says nothing when none is.
define NEED
@missing=""; for package in $(1); do \
  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
done; \
if [ -n "$$missing" ]; then \
  run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
  echo "installing:$$missing"; \
  $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
fi
endef

setup-dist: setup ## Setup: install what packages need
	$(call NEED,$(DIST_SETUP))

setup-image: setup-dist ## Setup: install what images need
	$(call NEED,$(IMAGE_SETUP))

setup-test-packages: setup-image ## Setup: install what test-packages needs
	$(call NEED,$(TRIAL_SETUP))

# The program with Swift inside. Libraries of Debian are left outside, so that Debian mends them; the package names them.
dist-program: setup-dist ## Packages: build the program that needs no Swift
	mkdir -p $(DIST)
	REALM_REST_DIST=1 swift build -c release --scratch-path $(DIST_BUILD) --static-swift-stdlib -Xlinker --no-export-dynamic --product realm-rest
	strip -o $(DIST_PROGRAM) $(DIST_BUILD)/release/realm-rest

dist: dist-program ## Packages: make the Debian package, the tarball and the list of parts, in .build-dist
	packaging/dist.sh $(DIST) $(VERSION) $(RELEASE_NAME) $(DIST_BUILD)/checkouts

image: dist-program setup-image ## Packages: make the container image
	packaging/image-root.sh $(DIST_PROGRAM) $(DIST)/image
	packaging/image.sh $(DIST)/image $(VERSION) $(DIST)/realm-rest-$(VERSION)-image.tar

# DESTDIR=… is put before PREFIX, for those who make packages of their own.
install: ## Packages: install the program, manual page and completions (PREFIX=/usr/local)
	@[ -x $(DIST_PROGRAM) ] || $(MAKE) dist-program
	UNIT_BIN=$(PREFIX)/bin packaging/stage.sh $(DIST_PROGRAM) $(DESTDIR)$(PREFIX) $(VERSION)

uninstall: ## Packages: remove what install has put there
	rm -rf $(DESTDIR)$(PREFIX)/share/realm-rest $(DESTDIR)$(PREFIX)/share/doc/realm-rest
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/realm-rest share/bash-completion/completions/realm-rest \
	  share/zsh/site-functions/_realm-rest share/fish/vendor_completions.d/realm-rest.fish share/man/man1/realm-rest.1.gz \
	  lib/systemd/system/realm-rest.service lib/systemd/system/realm-rest.socket)

# Lintian, an installation on a fresh Debian, the tarball on one without Swift, and the image: needs root.
test-packages: setup-test-packages dist image ## Packages: try packages and image on a fresh Debian; needs root
	packaging/try-packages.sh $(DIST) $(VERSION) $(RELEASE_NAME)
	packaging/try-image.sh $(DIST) $(VERSION)

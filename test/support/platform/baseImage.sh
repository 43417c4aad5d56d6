#!/bin/sh
# Makes an image for BASE of src/deploy/Containerfile where no registry can be reached: Debian's packages and this
# machine's Node.js. Needs buildah and mmdebstrap, and root. Storage and isolation are chosen by buildah's variables.
#
#   export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
#   test/support/platform/baseImage.sh quarterdeck.test/base:1
#   TEST_BASE_IMAGE=quarterdeck.test/base:1 npm test -- deploy/image
set -eu
. /etc/os-release
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
mmdebstrap --quiet --variant=minbase --include=ca-certificates,libatomic1,libstdc++6,util-linux "$VERSION_CODENAME" "$directory/root.tar"
mkdir -p "$directory/node/usr/bin" "$directory/node/usr/lib/node_modules" "$directory/node/etc/ssl/certs"
cp "$(node -p process.execPath)" "$directory/node/usr/bin/node"
cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$directory/node/usr/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$directory/node/usr/bin/npm"
container=$(buildah from scratch)
buildah add --quiet "$container" "$directory/root.tar" /
buildah add --quiet "$container" "$directory/node" /
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
# Certificates that this machine needs for its package registry.
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  buildah copy --quiet "$container" "$NODE_EXTRA_CA_CERTS" /etc/ssl/extra.pem
  buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem "$container"
fi
buildah commit --quiet --rm "$container" "$1"

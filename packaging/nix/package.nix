# SPDX-License-Identifier: Apache-2.0
# Package for nixpkgs: pkgs.callPackage ./package.nix { }. tools/release.sh fills in version, address and checksum.
{
  lib,
  stdenv,
  fetchurl,
  pkg-config,
  libedit,
  libevent,
  pcre2,
  protobufc,
  snappy,
  sqlite,
  zlib,
}:

stdenv.mkDerivation {
  pname = "tfprof";
  version = "@VERSION@";

  src = fetchurl {
    url = "@URL@";
    sha256 = "@SHA256@";
  };

  nativeBuildInputs = [ pkg-config ];
  buildInputs = [ libedit libevent pcre2 protobufc snappy sqlite zlib ];
  makeFlags = [ "PREFIX=$(out)" ];
  enableParallelBuilding = true;

  meta = {
    description = "Profiler for TensorFlow, JAX and PyTorch models";
    license = lib.licenses.asl20;
    mainProgram = "tfprof";
    platforms = lib.platforms.linux;
  };
}

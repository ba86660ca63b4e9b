# SPDX-License-Identifier: Apache-2.0
# Formula for Homebrew on Linux. tools/release.sh fills in addresses and checksum.
class Tfprof < Formula
  desc "Profiler for TensorFlow, JAX and PyTorch models"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on "libedit"
  depends_on "libevent"
  depends_on :linux
  depends_on "ncurses"
  depends_on "pcre2"
  depends_on "protobuf-c"
  depends_on "snappy"
  depends_on "sqlite"
  depends_on "zlib"

  def install
    system "make", "install", "PREFIX=#{prefix}"
  end

  test do
    assert_match "tfprof #{version}", shell_output("#{bin}/tfprof --version")
  end
end

# A Homebrew formula that builds from source. The release workflow fills in address and checksum.
class Pippin < Formula
  desc "Honest benchmark lab for HTTP servers"
  homepage "https://github.com/OWNER/pippin"
  url "https://github.com/OWNER/pippin/archive/refs/tags/vVERSION.tar.gz"
  sha256 "CHECKSUM"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/cli")
    generate_completions_from_executable(bin/"pippin", "completions")
    (man1/"pippin.1").write Utils.safe_popen_read(bin/"pippin", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pippin --version")
  end
end

class Watchmark < Formula
  desc "Marks what was watched on Bangumi"
  homepage "{{.Address}}"
  version "{{.Version}}"
  license "MIT"
{{range $system := .Systems}}
  on_{{.Name}} do
{{- range .Programs}}
    on_{{.CPU}} do
      url "{{$.Address}}/{{.File}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install Dir["watchmark-*"].first => "watchmark"
  end

  service do
    run [opt_bin/"watchmark", "serve", "--data", var/"watchmark"]
    keep_alive crashed: true
    log_path var/"log/watchmark.log"
    error_log_path var/"log/watchmark.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/watchmark version")
  end
end

package web_test

import (
	"strings"
	"testing"
)

func TestSettingsTellWhatReplicasDoNotSetAlike(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	if body := g.get(t, in, "/settings", "en").body; strings.Contains(body, "do not agree") {
		t.Error("replicas that are set up alike are told of")
	}
	g.differing = []string{"sync.workers"}
	mustContain(t, g.get(t, in, "/settings", "en").body, "replicas do not agree", "<code>sync.workers</code></span></p>")
	mustContain(t, g.get(t, in, "/settings", "zh-CN").body, "各副本的配置文件或环境变量不一致")
}

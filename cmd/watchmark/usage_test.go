package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	for _, asked := range []string{"version", "--version"} {
		got := finish(t, command(t, nil, asked), "")
		if got.code != 0 || got.err != "" || !strings.HasPrefix(got.out, "watchmark ") || strings.Count(got.out, "\n") != 1 {
			t.Errorf("%s: exit %d, prints %q and %q", asked, got.code, got.out, got.err)
		}
		mustHold(t, got.out, " go1.")
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	got := finish(t, command(t, nil, "--help"), "")
	if got.code != 0 || got.err != "" {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	if help := finish(t, command(t, nil, "help"), ""); help != got {
		t.Errorf("help prints %q and %q, exit %d", help.out, help.err, help.code)
	}
	mustHold(t, got.out, "serve", "demo", "simulate", "match", "api-key create", "api-key list", "api-key delete", "password", "health", "service install", "service uninstall", "two-factor off", "version")
}

func TestHelpSaysWhatCountsWithoutAFlag(t *testing.T) {
	for _, c := range []struct {
		command string
		holds   []string
	}{
		{"serve", []string{"(default ./data; $WATCHMARK_DATA)", "($WATCHMARK_CONFIG)", "127.0.0.1:8787"}},
		{"match", []string{"0 is specials (default 1).", "Episode number (default 1).", "--date=DATE"}},
		{"archive search", []string{"(default 10)"}},
		{"simulate", []string{"127.0.0.1:8788 when not given", "simulated-token:mira when not given"}},
	} {
		words := strings.Fields(c.command)
		got := finish(t, command(t, nil, append([]string{"help"}, words...)...), "")
		if flag := finish(t, command(t, nil, append(words, "--help")...), ""); flag != got || got.code != 0 {
			t.Errorf("help %s prints %q and %q, exit %d", c.command, got.out, got.err, got.code)
		}
		mustHold(t, strings.Join(strings.Fields(got.out), " "), c.holds...)
	}
}

func TestWrongUsageIsToldInOneLine(t *testing.T) {
	const usage, failed = 2, 1
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":                  {nil, usage, `"serve", "demo"`},
		"unknown command":          {[]string{"frobnicate"}, usage, "frobnicate"},
		"misspelt command":         {[]string{"matc"}, usage, `did you mean "match"?`},
		"unknown flag":             {[]string{"serve", "--frobnicate"}, usage, "--frobnicate"},
		"misspelt flag":            {[]string{"serve", "--lisen", "x"}, usage, `did you mean "--listen"?`},
		"missing argument":         {[]string{"api-key", "create"}, usage, "<name>"},
		"argument too many":        {[]string{"version", "now"}, usage, "now"},
		"listen address":           {[]string{"serve", "--listen", "here"}, failed, "127.0.0.1:8787"},
		"settings file missing":    {[]string{"serve", "--config", "none.toml"}, failed, "none.toml"},
		"match: no title":          {[]string{"match", ""}, failed, "title"},
		"match: odd date":          {[]string{"match", "x", "--date", "soon"}, failed, "--date"},
		"match: no such day":       {[]string{"match", "x", "--date", "2024-02-31"}, failed, `--date: "2024-02-31" is not a date`},
		"match: no such month":     {[]string{"match", "x", "--date", "2024-13"}, failed, "--date"},
		"match: more than a date":  {[]string{"match", "x", "--date", "2024-05-19x"}, failed, "--date"},
		"match: odd number":        {[]string{"match", "x", "--episode", "two"}, usage, `--episode: "two" is not a number`},
		"match: half a season":     {[]string{"match", "x", "--season", "1.5"}, usage, `--season: "1.5" is not a whole number`},
		"match: no number":         {[]string{"match", "x", "--season"}, usage, "--season: its value is missing"},
		"match: a flag as number":  {[]string{"match", "x", "--season", "--movie"}, usage, "--season: its value is missing"},
		"match: odd id":            {[]string{"match", "x", "--id", "1429"}, usage, `--id: "1429" is not of the form KEY=VALUE`},
		"match: odd switch":        {[]string{"match", "x", "--movie=perhaps"}, usage, `--movie: "perhaps" is not true or false`},
		"no folder":                {[]string{"serve", "--data"}, usage, "--data: its value is missing"},
		"help: unknown command":    {[]string{"help", "frobnicate"}, usage, "frobnicate"},
		"delete: odd id":           {[]string{"api-key", "delete", "first"}, usage, `"first" is not a whole number`},
		"simulate: token alone":    {[]string{"simulate", "--token", "abc"}, failed, "TOKEN:USERNAME"},
		"simulate: nobody's token": {[]string{"simulate", "--token", "abc:"}, failed, "TOKEN:USERNAME"},
		"simulate: empty token":    {[]string{"simulate", "--token", ":mira"}, failed, "TOKEN:USERNAME"},
		"simulate: no such dump":   {[]string{"simulate", "--token", "a:b", "--dump", "none.zip"}, usage, "none.zip"},
		"simulate: port":           {[]string{"simulate", "--token", "a:b", "--listen", "here"}, failed, "here"},
		"delete an unknown key":    {[]string{"api-key", "delete", "7", "--data", "."}, failed, "no such API key"},
	} {
		t.Run(name, func(t *testing.T) {
			got := finish(t, command(t, nil, c.args...), "")
			if got.code != c.code || got.out != "" || strings.Count(got.err, "\n") != 1 || !strings.HasPrefix(got.err, "watchmark: ") {
				t.Errorf("exit %d, prints %q and %q", got.code, got.out, got.err)
			}
			mustHold(t, got.err, c.want)
		})
	}
}

func TestServiceInstallShowsWhatItWouldDo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it would be another plan")
	}
	got := finish(t, command(t, nil, "service", "install", "--dry-run"), "")
	if got.code != 0 || got.err != "" {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	mustHold(t, got.out, " to /usr/local/bin/watchmark\n", "    ProtectSystem=strict\n", "systemctl enable watchmark\n", "journalctl -u watchmark")
}

func TestADumpThatIsNoneIsRefused(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "dump.zip")
	must(t, os.WriteFile(dump, []byte("no zip"), 0o600))
	got := finish(t, command(t, nil, "simulate", "--token", "a:b", "--dump", dump), "")
	if got.code != 1 {
		t.Errorf("exit %d", got.code)
	}
	mustHold(t, got.err, "open dump")
}

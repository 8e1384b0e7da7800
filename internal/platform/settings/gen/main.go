// Command gen writes what is generated from the settings schema:
// watchmark.example.toml and docs/settings.md. Run it with
// "go generate ./internal/platform/settings".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"watchmark/internal/platform/settings"
)

// generated gives each generated file by its path from the top of the repository.
func generated() map[string]string {
	schema := settings.Describe()
	return map[string]string{
		"watchmark.example.toml": example(schema),
		"docs/settings.md":       reference(schema),
	}
}

func main() {
	const top = "../../.." // go generate runs in internal/platform/settings
	for path, text := range generated() {
		path = filepath.Join(top, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			fail(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gen:", err)
	os.Exit(1)
}

// example is a settings file with every key as a comment, at its default.
func example(schema []settings.Section) string {
	var b strings.Builder
	b.WriteString(`# Watchmark settings. Generated from the schema: edit a copy, not this file.
#
# Put the copy into the data folder as watchmark.toml and remove the # before
# the keys you want to set. A key set here, or in the environment, is locked on
# the settings page; every other key can be changed there while the service runs.
# The service reads this file at its start and never writes it.
`)
	for _, sec := range schema {
		fmt.Fprintf(&b, "\n# %s\n[%s]\n", sec.Help, sec.Name)
		for _, key := range sec.Keys {
			b.WriteString("\n")
			for _, line := range wrap(key.Help, 90) {
				b.WriteString("# " + line + "\n")
			}
			notes := []string{allowed(key)}
			if key.Secret {
				notes = append(notes, "secret")
			}
			if key.Restart {
				notes = append(notes, "needs a restart")
			}
			fmt.Fprintf(&b, "# (%s)\n#%s = %s\n", strings.Join(notes, "; "), name(key), literal(key.Default))
		}
	}
	return b.String()
}

// reference is the settings page of the documents, in English and Chinese.
func reference(schema []settings.Section) string {
	var b strings.Builder
	b.WriteString(`<!-- Generated from the schema in internal/platform/settings by "go generate ./internal/platform/settings". -->

# Settings · 设置

Each key takes its value from the last of these that sets it: the default, the settings page or API (kept in
the database), the file ` + "`watchmark.toml`" + ` in the data folder, an environment variable, the command line. What the
file, the environment or the command line sets is locked on the page. An empty environment variable counts as
not set; the items of a list are parted by commas there. Misspelled keys and variables are refused at the start.

每个设置项依次取自：默认值、设置页面或 API（保存在数据库中）、数据目录中的 ` + "`watchmark.toml`" + `、环境变量、命令行，
后者覆盖前者。由文件、环境变量或命令行设定的项在页面上会被锁定。空的环境变量视为未设置，列表在环境变量中用逗号分隔。
写错的设置项或变量名会在启动时被拒绝。

Changes on the page are in force at once, except for keys marked **restart**. Keys marked **secret** are sealed in
the database and masked in the settings.

在页面上的修改立即生效，标有 **restart** 的项需要重启。标有 **secret** 的项加密保存，在设置中以掩码显示。
`)
	for _, sec := range schema {
		fmt.Fprintf(&b, "\n## [%s]\n\n%s · %s\n\n%s\n\n%s\n", sec.Name, sec.Label, sec.LabelZH, sec.Help, sec.HelpZH)
		b.WriteString("\n| Key · 设置项 | Default · 默认值 | Allowed · 取值 | Meaning · 说明 |\n| --- | --- | --- | --- |\n")
		for _, key := range sec.Keys {
			marks := ""
			if key.Secret {
				marks += " **secret**"
			}
			if key.Restart {
				marks += " **restart**"
			}
			fmt.Fprintf(&b, "| `%s`%s<br>`%s` | `%s` | %s | **%s · %s**<br>%s<br>%s |\n",
				name(key), marks, key.Env, literal(key.Default), allowed(key), key.Label, key.LabelZH, key.Help, key.HelpZH)
		}
	}
	return b.String()
}

// name is the key's name inside its section.
func name(key settings.Key) string {
	_, name, _ := strings.Cut(key.Path, ".")
	return name
}

// allowed says in a few words what the key takes.
func allowed(key settings.Key) string {
	switch {
	case len(key.Choices) > 0:
		values := make([]string, len(key.Choices))
		for i, choice := range key.Choices {
			values[i] = choice.Value
		}
		return strings.Join(values, ", ")
	case key.Type == settings.Integer:
		return fmt.Sprintf("whole number, %.0f to %.0f", *key.Min, *key.Max)
	case key.Type == settings.Number:
		return fmt.Sprintf("number, %v to %v", *key.Min, *key.Max)
	case key.Type == settings.Boolean:
		return "true or false"
	case key.Type == settings.List:
		return "list of texts"
	default:
		return "text"
	}
}

// literal is a default in TOML, which writes these values as JSON does.
func literal(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		fail(err)
	}
	return string(text)
}

// wrap breaks text at spaces into lines of at most width bytes where it can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Command gen writes what is generated from the settings schema:
// watchmark.example.toml and settings.md of the documents in both languages. Run it with
// "go generate ./internal/platform/settings".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/settings"
)

// generated gives each generated file by its path from the top of the repository.
func generated() map[string]string {
	schema := settings.Describe()
	return map[string]string{
		"watchmark.example.toml": example(schema),
		"docs/settings.md":       reference(schema, bilingual.English),
		"docs/zh-CN/settings.md": reference(schema, bilingual.Chinese),
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
			notes := []string{allowed(key).English}
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

// The words of the settings page of the documents, beside those of the schema.
var (
	intro = bilingual.Text{
		English: `# Settings

For everybody who wants Watchmark to work in another way: all settings, by section.

Most settings are changed on the page Settings, and a change is in force at once, except for those marked **restart**.
Those marked **secret** are sealed in the database and masked wherever settings are shown.

A setting takes its value from the last of these that sets it:

1. its default
2. the page Settings, or the API; kept in the database
3. the file ` + "`watchmark.toml`" + ` in the data folder
4. an environment variable; the second name in the tables below
5. the command line

What the file, the environment or the command line sets is locked on the page. An empty environment variable counts as
not set. The items of a list stand in an environment variable with commas between them. A name that is misspelled is
refused at the start.
`,
		Chinese: `# 设置

写给想调整 Watchmark 工作方式的人：按分组列出的全部设置项。

大多数设置可以在“设置”页面修改，修改立即生效；标有**需重启**的项除外。
标有**机密**的项加密保存在数据库中，显示时以掩码代替。

每个设置项依次取自以下来源，后者覆盖前者：

1. 默认值
2. “设置”页面或 API，保存在数据库中
3. 数据目录中的 ` + "`watchmark.toml`" + ` 文件
4. 环境变量，即下表中的第二个名称
5. 命令行

由文件、环境变量或命令行设定的项在页面上会被锁定。空的环境变量视为未设置。
列表在环境变量中用逗号分隔。名称写错时服务会拒绝启动。
`,
	}
	columns = bilingual.Text{English: "Setting | Default | Allowed | Meaning", Chinese: "设置项 | 默认值 | 取值 | 说明"}
	secret  = bilingual.Text{English: " **secret**", Chinese: " **机密**"}
	restart = bilingual.Text{English: " **restart**", Chinese: " **需重启**"}
)

// reference is the settings page of the documents.
func reference(schema []settings.Section, language bilingual.Language) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the schema in internal/platform/settings by \"go generate ./internal/platform/settings\". -->\n\n" + intro.In(language))
	for _, sec := range schema {
		label, help := bilingual.Text{English: sec.Label, Chinese: sec.LabelZH}, bilingual.Text{English: sec.Help, Chinese: sec.HelpZH}
		fmt.Fprintf(&b, "\n## [%s]\n\n**%s**\n\n%s\n\n| %s |\n| --- | --- | --- | --- |\n", sec.Name, label.In(language), help.In(language), columns.In(language))
		for _, key := range sec.Keys {
			marks := ""
			if key.Secret {
				marks += secret.In(language)
			}
			if key.Restart {
				marks += restart.In(language)
			}
			label, help := bilingual.Text{English: key.Label, Chinese: key.LabelZH}, bilingual.Text{English: key.Help, Chinese: key.HelpZH}
			fmt.Fprintf(&b, "| `%s` `%s`%s | `%s` | %s | **%s**%s%s |\n", name(key), key.Env, marks, literal(key.Default), allowed(key).In(language),
				label.In(language), bilingual.Text{English: ": ", Chinese: "："}.In(language), help.In(language))
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
func allowed(key settings.Key) bilingual.Text {
	switch {
	case len(key.Choices) > 0:
		values := make([]string, len(key.Choices))
		for i, choice := range key.Choices {
			values[i] = choice.Value
		}
		return bilingual.Text{English: strings.Join(values, ", "), Chinese: strings.Join(values, "、")}
	case key.Type == settings.Integer:
		return bilingual.Text{English: fmt.Sprintf("whole number, %.0f to %.0f", *key.Min, *key.Max), Chinese: fmt.Sprintf("整数，%.0f 到 %.0f", *key.Min, *key.Max)}
	case key.Type == settings.Number:
		return bilingual.Text{English: fmt.Sprintf("number, %v to %v", *key.Min, *key.Max), Chinese: fmt.Sprintf("数字，%v 到 %v", *key.Min, *key.Max)}
	case key.Type == settings.Boolean:
		return bilingual.Text{English: "true or false", Chinese: "true 或 false"}
	case key.Type == settings.List:
		return bilingual.Text{English: "list of texts", Chinese: "文本列表"}
	default:
		return bilingual.Text{English: "text", Chinese: "文本"}
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

package contrib

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// addonFiles are the files of the zip file, by their names below the folder of the add-on.
func addonFiles(t *testing.T) map[string]string {
	t.Helper()
	text, err := KodiAddon()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range archive.File {
		name, inside := strings.CutPrefix(file.Name, "service.watchmark/")
		from, err := file.Open()
		if err != nil || !inside {
			t.Fatalf("%s: %v", file.Name, err)
		}
		content, err := io.ReadAll(from)
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		files[name] = string(content)
	}
	return files
}

func TestKodiInstallsTheAddon(t *testing.T) {
	files := addonFiles(t)
	var addon struct {
		ID       string `xml:"id,attr"`
		Version  string `xml:"version,attr"`
		Provider string `xml:"provider-name,attr"`
		Requires []struct {
			Addon   string `xml:"addon,attr"`
			Version string `xml:"version,attr"`
		} `xml:"requires>import"`
		Extensions []struct {
			Point        string `xml:"point,attr"`
			Library      string `xml:"library,attr"`
			Platform     string `xml:"platform"`
			License      string `xml:"license"`
			Summaries    []said `xml:"summary"`
			Descriptions []said `xml:"description"`
			Icon         string `xml:"assets>icon"`
		} `xml:"extension"`
	}
	if err := xml.Unmarshal([]byte(files["addon.xml"]), &addon); err != nil {
		t.Fatal(err)
	}
	if addon.ID != "service.watchmark" || addon.Provider == "" || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(addon.Version) {
		t.Errorf("the add-on is %s %s of %q", addon.ID, addon.Version, addon.Provider)
	}
	if len(addon.Requires) != 1 || addon.Requires[0].Addon != "xbmc.python" || addon.Requires[0].Version != "3.0.0" { // Kodi 19
		t.Errorf("it requires %v", addon.Requires)
	}
	if len(addon.Extensions) != 2 || addon.Extensions[0].Point != "xbmc.service" || addon.Extensions[1].Point != "xbmc.addon.metadata" {
		t.Fatalf("its extensions are %+v", addon.Extensions)
	}
	if files[addon.Extensions[0].Library] == "" {
		t.Errorf("there is no %s", addon.Extensions[0].Library)
	}
	about := addon.Extensions[1]
	for name, texts := range map[string][]said{"summary": about.Summaries, "description": about.Descriptions} {
		if len(texts) != 2 || texts[0].Language != "en_GB" || texts[1].Language != "zh_CN" || isChinese(texts[0].Text) || !isChinese(texts[1].Text) {
			t.Errorf("the %s is %+v", name, texts)
		}
	}
	if about.Platform != "all" || about.License != "MIT" {
		t.Errorf("it is for %s under %s", about.Platform, about.License)
	}
	icon, err := png.DecodeConfig(strings.NewReader(files[about.Icon]))
	if err != nil || icon.Width != icon.Height || icon.Width != 256 && icon.Width != 512 { // which Kodi asks for
		t.Errorf("the icon %s is %d×%d: %v", about.Icon, icon.Width, icon.Height, err)
	}
	for _, name := range []string{"resources/__init__.py", "resources/lib/__init__.py", "resources/settings.xml"} {
		if _, there := files[name]; !there {
			t.Errorf("there is no %s", name)
		}
	}
}

// said is a text of addon.xml.
type said struct {
	Language string `xml:"lang,attr"`
	Text     string `xml:",chardata"`
}

func isChinese(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Han, c) })
}

var (
	message = regexp.MustCompile(`(?m)^msgctxt "#(\d+)"\nmsgid "(.+)"\nmsgstr "(.*)"$`)
	numbers = regexp.MustCompile(`\b30\d{3}\b`)
)

// Every text of the settings and of the messages is there in English and Chinese, and there is no other.
func TestTheTextsOfTheAddonAreWhole(t *testing.T) {
	files := addonFiles(t)
	used := map[string]bool{}
	for _, name := range []string{"resources/settings.xml", "resources/lib/sender.py", "resources/lib/watcher.py"} {
		for _, number := range numbers.FindAllString(files[name], -1) {
			used[number] = true
		}
	}
	texts := map[string]map[string]string{} // English by number, for each language
	for _, language := range []string{"en_gb", "zh_cn"} {
		text := files["resources/language/resource.language."+language+"/strings.po"]
		texts[language] = map[string]string{}
		for _, found := range message.FindAllStringSubmatch(text, -1) {
			number, english, translated := found[1], found[2], found[3]
			if texts[language][number] != "" {
				t.Errorf("%s: %s is there twice", language, number)
			}
			texts[language][number] = english
			if language == "en_gb" && translated != "" || language == "zh_cn" && english != "Watchmark" && !isChinese(translated) {
				t.Errorf("%s: %s is %q", language, number, translated)
			}
		}
		if n := strings.Count(text, "msgctxt"); n != len(texts[language]) {
			t.Errorf("%s: %d of %d texts can be read", language, len(texts[language]), n)
		}
	}
	if fmt.Sprint(texts["en_gb"]) != fmt.Sprint(texts["zh_cn"]) {
		t.Errorf("the languages differ: %v, %v", texts["en_gb"], texts["zh_cn"])
	}
	there := slices.Sorted(maps.Keys(texts["en_gb"]))
	if want := slices.Sorted(maps.Keys(used)); len(want) < 9 || !slices.Equal(there, want) {
		t.Errorf("the texts are %v, used are %v", there, want)
	}
}

package title_test

import (
	"testing"

	"watchmark/internal/watch/title"
)

func TestReading(t *testing.T) {
	for name, same := range map[string][]string{
		"long vowels":   {"ほうせきのくに", "Houseki no Kuni", "Hōseki no Kuni", "Hoseki No Kuni"},
		"two spellings": {"つくもがみ", "Tsukumogami", "Tukumogami"},
		"small kana":    {"きょうのしゅくだい", "Kyou no Shukudai", "Kyō no Syukudai", "Kyoo no shukudai"},
		"the object":    {"ゆめをみる", "Yume wo Miru", "Yume o Miru"},
		"a double one":  {"がっこう", "Gakkou", "gakkō"},
		"tch":           {"まっちゃ", "Matcha", "Maccha"},
		"n before b":    {"しんぶん", "Shimbun", "Shinbun"},
		"n by itself":   {"しんいち", "Shin'ichi"},
		"katakana":      {"カードキャプター", "かーどきゃぷた", "Kādokyaputā"},
		"digits":        {"けいおん！2", "Keion 2", "KEION!!2"},
		"ji and zu":     {"つづき", "Tsuzuki", "Tuduki"},
	} {
		t.Run(name, func(t *testing.T) {
			want, _ := title.Reading(same[0])
			for _, text := range same {
				if got, _ := title.Reading(text); got != want || got == "" {
					t.Errorf("%q reads %q, %q reads %q", text, got, same[0], want)
				}
			}
		})
	}
	for _, text := range []string{"Attack on Titan", "Frieren: Beyond Journey's End", "葬送のフリーレン", "銀魂", "K-ON!", "Lycoris", "", "!?", "Привет"} {
		if got, _ := title.Reading(text); got != "" {
			t.Errorf("%q reads %q", text, got)
		}
	}
	if a, _ := title.Reading("しんいち"); a == "" {
		t.Error("kana has no reading")
	} else if b, _ := title.Reading("Shinichi"); a == b {
		t.Error("two readings are one")
	}
}

func FuzzReading(f *testing.F) {
	for _, text := range []string{"ほうせき", "Shin'ichi", "mm", "tch", "ー", "ん"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { title.Reading(text) })
}

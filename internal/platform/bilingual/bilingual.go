// Package bilingual holds texts that stand beside the code which they describe.
package bilingual

// Language is a language of pages and messages, by its tag.
type Language string

// The languages. Readers of every other one get English.
const (
	English Language = "en"
	Chinese Language = "zh-CN"
)

// Text is a text in both languages.
type Text struct{ English, Chinese string }

// In is the text in a language.
func (t Text) In(l Language) string {
	if l == Chinese {
		return t.Chinese
	}
	return t.English
}

package web

// PhraseOfKey is phraseOfKey, for the tests.
var PhraseOfKey = phraseOfKey

// Retell says text as the pages of a language do.
func Retell(lang, text string) (string, error) {
	words, err := loadCatalogue()
	if err != nil {
		return "", err
	}
	p, err := loadPhrases(words, lang)
	if err != nil {
		return "", err
	}
	told, _ := p.say(text)
	return told, nil
}

// Package bilingual holds texts that stand beside the code which they describe.
package bilingual

// Text is a text in both languages of the pages.
type Text struct{ English, Chinese string }

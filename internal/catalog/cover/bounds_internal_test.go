package cover

import (
	"testing"

	"watchmark/internal/catalog"
)

func TestWhatSearchesTellIsBounded(t *testing.T) {
	k := NewCache(Config{})
	for id := range catalog.SubjectID(3 * remembered) {
		k.Learn([]catalog.Subject{{ID: id, Image: "https://covers.example/1.jpg"}, {ID: id, NSFW: true}})
		if len(k.addresses) > remembered || len(k.verdicts) > remembered {
			t.Fatalf("%d addresses and %d verdicts are remembered", len(k.addresses), len(k.verdicts))
		}
	}
}

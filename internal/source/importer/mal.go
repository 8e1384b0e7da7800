package importer

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"watchmark/internal/platform/rowread"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// malAnime is a title of MyAnimeList's export (upstreams/exports.md section 3). Others that write it leave fields out.
type malAnime struct {
	ID       string `xml:"series_animedb_id"`
	Title    string `xml:"series_title"`
	Type     string `xml:"series_type"`
	Episodes string `xml:"series_episodes"`
	Watched  string `xml:"my_watched_episodes"`
	Status   string `xml:"my_status"`
}

// mal reads the XML of MyAnimeList, packed with gzip or not, a title at a time.
func (x *export) mal(take func(row) error) error {
	single, archive, err := x.open()
	if err != nil {
		return err
	}
	if archive != nil {
		return fileOtherForm
	}
	t, err := unpacked()(single, "<\x1f")
	if head, _ := t.Peek(2); err == nil && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		var packed io.Reader
		if packed, err = gzip.NewReader(t); err == nil {
			t, err = unpacked()(packed, "<")
		}
	}
	if err != nil {
		return err
	}
	return t.malLists(take)
}

// malLists reads the titles.
func (t text) malLists(take func(row) error) error {
	d := xml.NewDecoder(t)
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, rowread.Encoding }
	root := false
	for {
		t.Row()
		token, err := d.Token()
		if errors.Is(err, io.EOF) && root {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.Directive:
			return fileOtherForm
		case xml.StartElement:
			err = malElement(d, token, &root, take)
		}
		if err != nil {
			return err
		}
	}
}

// malElement reads what begins with a tag.
func malElement(d *xml.Decoder, tag xml.StartElement, root *bool, take func(row) error) error {
	switch {
	case !*root:
		if *root = tag.Name.Local == "myanimelist"; !*root {
			return fileOtherForm
		}
		return nil
	case tag.Name.Local == "manga":
		return fileManga
	case tag.Name.Local != "anime":
		return d.Skip()
	}
	var a malAnime
	if err := d.DecodeElement(&a, &tag); err != nil {
		return err
	}
	return a.row(take)
}

// row is what a title says was watched: a number of episodes, from the first one.
func (a malAnime) row(take func(row) error) error {
	id := strings.TrimSpace(a.ID)
	one := row{id: id, title: payload.Clean(a.Title, watch.MaxText), ids: []providerID{{"mal", id}}}
	if one.title == "" {
		one.title = "MyAnimeList " + payload.Clean(id, 20)
	}
	if n, err := strconv.Atoi(id); err != nil || n <= 0 {
		one.id, one.why = "?", fileNoID.With()
		return take(one)
	}
	number := func(text string) int {
		n, _ := strconv.Atoi(strings.TrimSpace(text)) // left out is 0
		return n
	}
	completed := plain(a.Status) == "completed" || plain(a.Status) == "2"
	count := number(a.Watched)
	if count <= 0 && completed {
		count = number(a.Episodes)
		one.all = count <= 0
	}
	if count <= 0 && !one.all {
		return nil // it is planned
	}
	one.event = watch.Event{Title: one.title, Media: watch.Episode}
	if strings.EqualFold(strings.TrimSpace(a.Type), "movie") {
		one.event.Media, one.event.ItemIDs = watch.Movie, watch.IDs{"mal": id}
	}
	one.numbers = firstOnes(count)
	return take(one)
}

// plain is a state as all writers spell it: without case, spaces and hyphens.
func plain(state string) string {
	return strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(strings.TrimSpace(state)))
}

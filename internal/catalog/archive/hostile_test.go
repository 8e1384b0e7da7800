package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/archive/dump"
)

// zipOf makes a zip of members, deflated.
func zipOf(t testing.TB, members map[string]string) []byte { return zipped(t, members, zip.Deflate) }

func zipped(t testing.TB, members map[string]string, method uint16) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, text := range members {
		m, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = io.WriteString(m, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// small is the members of a dump that is in order.
func small() map[string]string {
	return map[string]string{
		"subject.jsonlines":           lines(`{"id":1,"type":2,"name":"One","date":"2020-01-05"}`, `{"id":2,"type":1,"name":"Book"}`, `{"id":3,"type":6,"name":"Three"}`),
		"episode.jsonlines":           lines(`{"id":11,"subject_id":1,"sort":1,"type":0}`, `{"id":12,"subject_id":1,"sort":2,"type":0}`, `{"id":13,"subject_id":3,"sort":1,"type":0}`),
		"subject-relations.jsonlines": lines(`{"subject_id":1,"relation_type":11,"related_subject_id":3,"order":0}`),
	}
}

// with is small with one member replaced.
func with(name, text string) map[string]string {
	m := small()
	m[name] = text
	return m
}

// directory gives the place of a member's record in the table of contents.
func directory(zipped []byte, name string) []byte {
	for at := 0; ; {
		i := bytes.Index(zipped[at:], []byte("PK\x01\x02"))
		at += i
		n := int(binary.LittleEndian.Uint16(zipped[at+28:]))
		if string(zipped[at+46:at+46+n]) == name {
			return zipped[at:]
		}
		at += 4
	}
}

func TestHostileDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	_, whole := synthetic(t, 0.001, 1)
	patched := func(members map[string]string, patch func([]byte)) func(testing.TB) []byte {
		return func(t testing.TB) []byte {
			z := zipOf(t, members)
			patch(z)
			return z
		}
	}
	made := func(members map[string]string) func(testing.TB) []byte { return patched(members, func([]byte) {}) }
	size := func(name string, n uint32) func([]byte) {
		return func(z []byte) { binary.LittleEndian.PutUint32(directory(z, name)[24:], n) }
	}
	without := small()
	delete(without, "episode.jsonlines")
	text := ""
	for i := range 3000 {
		text += fmt.Sprintf(`{"id":%d,"type":1,"name":"title %x"}`+"\n", i+1, i*i*i)
	}
	for _, c := range []struct {
		name string
		make func(testing.TB) []byte
		want string
	}{
		{"nothing", func(testing.TB) []byte { return nil }, "not a complete zip"},
		{"no zip", func(testing.TB) []byte { return []byte(strings.Repeat("<html>", 1000)) }, "not a complete zip"},
		{"the first half of a zip", func(testing.TB) []byte { return whole[:len(whole)/2] }, "not a complete zip"},
		{"a hole in the middle", func(testing.TB) []byte {
			return slices.Concat(whole[:len(whole)/3], make([]byte, len(whole)/3), whole[len(whole)/3*2:])
		}, "subject.jsonlines: "}, // what is unpacked of the hole may be seen before that it is one
		{"a wrong table of contents", func(testing.TB) []byte {
			z := slices.Clone(whole)
			at := bytes.LastIndex(z, []byte("PK\x05\x06"))
			binary.LittleEndian.PutUint32(z[at+16:], 77)
			return z
		}, "cannot be unpacked"},
		{"a huge table of contents", func(t testing.TB) []byte {
			members := small()
			for i := range 2000 {
				members[fmt.Sprint(i, strings.Repeat("x", 1000))] = ""
			}
			return zipped(t, members, zip.Store)
		}, "its list of files"},
		{"a member is missing", made(without), "episode.jsonlines: it is missing"},
		{"a member in a folder", made(map[string]string{"../../subject.jsonlines": "", "x/episode.jsonlines": "", "/subject-relations.jsonlines": ""}), "missing"},
		{"a bomb that tells its size", made(with("subject.jsonlines", strings.Repeat("\n", 20<<20))), "which no text does"},
		{"a bomb that lies", patched(with("subject.jsonlines", strings.Repeat("\n", 20<<20)), size("subject.jsonlines", 4000)), "differs from what the zip says"},
		{"a size that is too large", patched(with("subject.jsonlines", text), size("subject.jsonlines", uint32(len(text)+10))), "breaks off"},
		{"a size that is too small", patched(with("subject.jsonlines", text), size("subject.jsonlines", 100)), "differs from what the zip says"},
		{"a wrong checksum", patched(small(), func(z []byte) { directory(z, "episode.jsonlines")[16] ^= 1 }), "episode.jsonlines"},
		{"encrypted", patched(small(), func(z []byte) { directory(z, "episode.jsonlines")[8] |= 1 }), "encrypted"},
		{"an unknown method", patched(small(), func(z []byte) { directory(z, "episode.jsonlines")[10] = 97 }), "cannot be unpacked"},
		{"a line that is no JSON", made(with("episode.jsonlines", lines(`{"id":11,"subject_id":1,"sort":1,"type":0}`, `{"id":12,"subj`))), "episode.jsonlines: line 2: it is not JSON"},
		{"a line that is no object", made(with("subject-relations.jsonlines", "[]\n")), "not a JSON object"},
		{"a dump that ends in the middle", made(with("subject.jsonlines", small()["subject.jsonlines"]+`{"id":4,"type":2,"na`)), "subject.jsonlines: line 4"},
		{"a line of 50 MB", func(t testing.TB) []byte {
			// Stored, so that it does not look like a bomb.
			return zipped(t, with("subject.jsonlines", `{"id":1,"type":2,"name":"`+strings.Repeat("a", 50<<20)+`"}`), zip.Store)
		}, "subject.jsonlines: line 1: it is longer than"},
		{"a line of many parts", func(t testing.TB) []byte {
			return zipped(t, with("subject.jsonlines", `{"id":1,"type":2,"x":[`+strings.Repeat("0,", 100_000)+"0]}\n"), zip.Store)
		}, "more fields than a row may have"},
		{"too many bytes of titles", func(t testing.TB) []byte {
			var rows strings.Builder
			for id := range 1400 {
				fmt.Fprintf(&rows, `{"id":%d,"type":2,"name":"n","infobox":"{{Infobox x\n`, id+1)
				for i := range 90 {
					fmt.Fprintf(&rows, `|别名= %d %d %s\n`, id, i, strings.Repeat("长", 180))
				}
				rows.WriteString("}}\"}\n")
			}
			return zipOf(t, with("subject.jsonlines", rows.String()))
		}, "64 MiB of them"},
		{"deep nesting", made(with("subject.jsonlines", `{"id":1,"type":2,"x":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}\n")), "not JSON"},
		{"UTF-16", made(with("subject.jsonlines", "\xff\xfe{\x00\"\x00i\x00")), "not UTF-8"},
		{"Latin-1", made(with("subject.jsonlines", `{"id":1,"type":2,"name":"Am`+"\xe9"+`lie"}`+"\n")), "not UTF-8"},
		{"a subject twice", made(with("subject.jsonlines", lines(`{"id":1,"type":2,"name":"a"}`, `{"id":1,"type":2,"name":"b"}`))), "entry 1 is in it twice"},
		{"an episode twice", made(with("episode.jsonlines", lines(`{"id":11,"subject_id":1,"sort":1}`, `{"id":11,"subject_id":3,"sort":1}`))), "episode 11 is in it twice"},
		{"no id", made(with("episode.jsonlines", lines(`{"subject_id":1,"sort":1}`))), "no id"},
		{"an id beyond all", made(with("subject.jsonlines", lines(`{"id":99999999999,"type":2,"name":"a"}`))), "no id"},
		{"nothing but books", made(with("subject.jsonlines", lines(`{"id":2,"type":1,"name":"Book"}`))), "has no anime"},
		{"no lines at all", made(map[string]string{"subject.jsonlines": "", "episode.jsonlines": "", "subject-relations.jsonlines": ""}), "has no anime"},
		{"much smaller than before", made(small()), "probably incomplete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			a := open(t, dir)
			put(t, a, whole)
			before, _ := a.Info()
			held := files(t, dir)
			allow := archive.Dump{AllowSmaller: c.name != "much smaller than before"}
			_, err := importBytes(a, c.make(t), allow)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("the error is %q, it should say %q", err, c.want)
			}
			var wrong *dump.Error
			if !errors.As(err, &wrong) && !errors.Is(err, archive.ErrSmaller) {
				t.Errorf("the error is %T", err)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the error quotes the dump: %d bytes", len(err.Error()))
			}
			if after, _ := a.Info(); after != before {
				t.Errorf("the archive is now %+v", after)
			}
			if _, err := a.Find(context.Background(), archive.Query{Text: "x"}); err != nil {
				t.Errorf("the old archive cannot be looked into: %v", err)
			}
			if got := files(t, dir); !slices.Equal(got, held) {
				t.Errorf("the folder holds %v, before %v", got, held)
			}
		})
	}
}

// What is odd but harmless is imported.
func TestOddDumps(t *testing.T) {
	for name, members := range map[string]map[string]string{
		"as it is":                  small(),
		"unknown members":           with("../../etc/passwd", "x"),
		"unknown fields":            with("episode.jsonlines", lines(`{"id":11,"subject_id":1,"sort":1,"type":0,"new":{"a":[1,2]},"x":null}`)),
		"missing fields":            with("episode.jsonlines", lines(`{"id":11,"subject_id":1}`)),
		"fields of another type":    with("episode.jsonlines", lines(`{"id":11,"subject_id":1,"name":7,"airdate":null,"sort":"x"}`)),
		"no newline at the end":     with("episode.jsonlines", `{"id":11,"subject_id":1,"sort":1}`),
		"empty lines, Windows ends": with("episode.jsonlines", "\r\n{\"id\":11,\"subject_id\":1,\"sort\":1}\r\n\r\n"),
		"a number that is none":     with("episode.jsonlines", lines(`{"id":11,"subject_id":1,"sort":nan}`)),
		"orphans":                   with("episode.jsonlines", lines(`{"id":11,"subject_id":1,"sort":1}`, `{"id":12,"subject_id":2,"sort":1}`, `{"id":13,"subject_id":999,"sort":1}`)),
		"relations to nowhere":      with("subject-relations.jsonlines", lines(`{"subject_id":1,"relation_type":3,"related_subject_id":999}`)),
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, t.TempDir())
			info, err := importBytes(a, zipOf(t, members), archive.Dump{})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := a.Episodes(context.Background(), 1)
			if err != nil || len(rows) == 0 || math.IsNaN(rows[0].Sort) {
				t.Errorf("episodes %+v, %v", rows, err)
			}
			if info.Subjects != 2 || info.Episodes < 1 || name != "as it is" && info.Episodes != 1 && name != "unknown members" && name != "relations to nowhere" {
				t.Errorf("imported %+v", info.Counts)
			}
		})
	}
}

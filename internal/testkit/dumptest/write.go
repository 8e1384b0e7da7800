package dumptest

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
)

// The members which the project does not read have a few lines of their form
// only.
var smallMembers = map[string]string{
	"person.jsonlines": `{"id":%d,"name":"佐藤","type":1,"career":["seiyu"],"infobox":"{{Infobox Crt\r\n}}","summary":"","comments":0,"collects":0}
`,
	"character.jsonlines": `{"id":%d,"role":1,"name":"葵","infobox":"{{Infobox Crt\r\n}}","summary":"","comments":0,"collects":0}
`,
	"subject-persons.jsonlines": `{"person_id":%d,"subject_id":1,"position":2,"appear_eps":""}
`,
	"subject-characters.jsonlines": `{"character_id":%d,"subject_id":1,"type":1,"order":0}
`,
	"person-characters.jsonlines": `{"person_id":%d,"subject_id":1,"character_id":1,"type":0,"summary":""}
`,
	"person-relations.jsonlines": `{"person_type":"prsn","person_id":%d,"related_person_id":1,"relation_type":1001,"spoiler":false,"ended":false}
`,
}

// members are the files of a dump in their order.
var members = []string{
	"subject.jsonlines", "person.jsonlines", "character.jsonlines", "episode.jsonlines", "subject-relations.jsonlines",
	"subject-persons.jsonlines", "subject-characters.jsonlines", "person-characters.jsonlines", "person-relations.jsonlines",
}

// Write writes the dump of s as a zip. It needs some tens of megabytes at the
// size of a real dump, since it makes the members line by line. With no
// subjects all episodes are orphans and there are no relations.
func Write(w io.Writer, s Spec) error {
	p := newPlan(s)
	zw := zip.NewWriter(w)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	for _, name := range members {
		// Create leaves the sizes to a descriptor after the data, as in the
		// real dumps.
		member, err := zw.Create(name)
		if err != nil {
			return err
		}
		if err := writeMember(member, p, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return zw.Close()
}

func writeMember(w io.Writer, p *plan, name string) error {
	switch name {
	case "subject.jsonlines":
		return pipe(w, p.subjectLines)
	case "episode.jsonlines":
		return pipe(w, p.episodeLines)
	case "subject-relations.jsonlines":
		return pipe(w, p.relationLines)
	}
	for n := range 3 {
		if _, err := fmt.Fprintf(w, smallMembers[name], n+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) subjectLines(emit func([]byte) error) error {
	m := newMaker(p)
	var b []byte
	for i := range p.Subjects {
		b = m.appendSubject(b[:0], i)
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) episodeLines(emit func([]byte) error) error {
	return newMaker(p).episodes(emit)
}

func (p *plan) relationLines(emit func([]byte) error) error {
	var b []byte
	order, last := 0, int32(0)
	for _, r := range p.relations() {
		if r.a != last {
			order, last = 0, r.a
		}
		b = appendRelation(b[:0], r, order)
		order++
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

const chunk = 256 << 10

// pipe writes what produce emits to w. Producing and writing (that is,
// compressing) run at the same time; the chunks between them are few.
func pipe(w io.Writer, produce func(emit func([]byte) error) error) error {
	full, free, stop := make(chan []byte), make(chan []byte, 3), make(chan struct{})
	for range cap(free) {
		free <- make([]byte, 0, chunk)
	}
	var produced error
	go func() {
		defer close(full)
		b := <-free
		send := func() error {
			select {
			case full <- b:
			case <-stop:
				return io.ErrClosedPipe
			}
			select {
			case b = <-free:
				b = b[:0]
				return nil
			case <-stop:
				return io.ErrClosedPipe
			}
		}
		produced = produce(func(lines []byte) error {
			b = append(b, lines...)
			if len(b) < chunk-(chunk>>3) {
				return nil
			}
			return send()
		})
		if produced == nil {
			produced = send()
		}
	}()
	for b := range full {
		if _, err := w.Write(b); err != nil {
			close(stop)
			for range full {
				continue
			}
			return err
		}
		free <- b
	}
	return produced
}

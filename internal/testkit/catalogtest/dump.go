package catalogtest

import (
	"archive/zip"
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"watchmark/internal/catalog"
)

//go:embed sample/*.jsonlines
var sampleFiles embed.FS

// LoadSample adds the embedded sample: invented shows with the ids from 900001,
// in the forms that matter (a season that goes on counting, a split season, an
// episode 0, specials, a film, same-named books and games, two shows of one alias), with
// drawn covers.
func (s *Server) LoadSample() error {
	sample, err := fs.Sub(sampleFiles, "sample")
	if err != nil {
		return fmt.Errorf("open the sample catalog: %w", err)
	}
	if err := s.load(sample); err != nil {
		return err
	}
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	s.data.addSampleCovers()
	return nil
}

// LoadDump adds the content of a weekly dump (upstreams/archive.md) at path. A
// dump that is broken half-way leaves what was read before.
func (s *Server) LoadDump(path string) error {
	dump, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("open dump: %w", err)
	}
	defer func() { _ = dump.Close() }() // opened for reading: nothing can be lost
	return s.load(dump)
}

// LoadDumpReader is LoadDump for a zip of size bytes that is already open.
func (s *Server) LoadDumpReader(r io.ReaderAt, size int64) error {
	dump, err := zip.NewReader(r, size)
	if err != nil {
		return fmt.Errorf("open dump: %w", err)
	}
	return s.load(dump)
}

// load reads the three members that matter, line by line. Other members are ignored.
func (s *Server) load(files fs.FS) error {
	d := &s.data
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := eachLine(files, "subject.jsonlines", func(row subjectRow) {
		d.addSubject(row.subject())
	}); err != nil {
		return err
	}
	grown := map[catalog.SubjectID]bool{}
	durations := map[string]string{} // a handful of texts on all the rows: share them
	if err := eachLine(files, "episode.jsonlines", func(row episodeRow) {
		if _, known := d.subjects[row.SubjectID]; !known {
			return // belongs to a locked or merged subject
		}
		if shared, ok := durations[row.Duration]; ok {
			row.Duration = shared
		} else {
			durations[row.Duration] = row.Duration
		}
		d.addEpisode(row.episode())
		grown[row.SubjectID] = true
	}); err != nil {
		return err
	}
	for subject := range grown {
		d.orderEpisodes(subject)
	}
	return eachLine(files, "subject-relations.jsonlines", func(row relationRow) {
		d.relations[row.SubjectID] = append(d.relations[row.SubjectID],
			relation{to: row.RelatedID, code: row.RelationType, order: row.Order})
	})
}

// maxLine bounds a line of the dump; real ones reach tens of kilobytes.
const maxLine = 16 << 20

// eachLine decodes every line of a member into a fresh T.
func eachLine[T any](files fs.FS, name string, use func(T)) (err error) {
	member, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("read dump: %w", err)
	}
	defer func() { _ = member.Close() }() // opened for reading: nothing can be lost
	lines := bufio.NewScanner(member)
	lines.Buffer(make([]byte, 0, 256<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return fmt.Errorf("read dump: %s line %d: %w", name, n, err)
		}
		use(row)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read dump: %s: %w", name, err)
	}
	return nil
}

// subjectRow is a line of subject.jsonlines.
type subjectRow struct {
	ID           catalog.SubjectID   `json:"id"`
	Type         catalog.SubjectType `json:"type"`
	Name         string              `json:"name"`
	NameCN       string              `json:"name_cn"`
	Infobox      string              `json:"infobox"`
	Platform     int                 `json:"platform"`
	Summary      string              `json:"summary"`
	NSFW         bool                `json:"nsfw"`
	Tags         []Tag               `json:"tags"`
	MetaTags     []string            `json:"meta_tags"`
	Score        float64             `json:"score"`
	ScoreDetails rateCounts          `json:"score_details"`
	Rank         int                 `json:"rank"`
	Date         string              `json:"date"`
	Favorite     Favorite            `json:"favorite"`
	Series       bool                `json:"series"`
}

// rateCounts is how many gave each rate; a struct because a map costs most of the loading time.
type rateCounts struct {
	R1  int `json:"1"`
	R2  int `json:"2"`
	R3  int `json:"3"`
	R4  int `json:"4"`
	R5  int `json:"5"`
	R6  int `json:"6"`
	R7  int `json:"7"`
	R8  int `json:"8"`
	R9  int `json:"9"`
	R10 int `json:"10"`
}

func (row subjectRow) subject() Subject {
	c := row.ScoreDetails
	infobox := row.Infobox
	if strings.TrimSpace(infobox) == "" {
		infobox = " " // no infobox, which is not the same as one to be made
	}
	return Subject{
		ID: row.ID, Type: row.Type, Name: row.Name, NameCN: row.NameCN, Infobox: infobox,
		Date: row.Date, Platform: catalog.PlatformLabel(row.Type, row.Platform), Summary: row.Summary,
		MetaTags: row.MetaTags, Tags: row.Tags, NSFW: row.NSFW, Series: row.Series, Favorite: row.Favorite,
		Rating: Rating{Rank: row.Rank, Score: row.Score,
			Count: [10]int{c.R1, c.R2, c.R3, c.R4, c.R5, c.R6, c.R7, c.R8, c.R9, c.R10}},
	}
}

// episodeRow is a line of episode.jsonlines.
type episodeRow struct {
	ID          catalog.EpisodeID   `json:"id"`
	SubjectID   catalog.SubjectID   `json:"subject_id"`
	Type        catalog.EpisodeType `json:"type"`
	Sort        float64             `json:"sort"`
	Name        string              `json:"name"`
	NameCN      string              `json:"name_cn"`
	AirDate     string              `json:"airdate"`
	Duration    string              `json:"duration"`
	Description string              `json:"description"`
	Disc        int                 `json:"disc"`
}

func (row episodeRow) episode() Episode {
	return Episode{
		ID: row.ID, Type: row.Type, Sort: row.Sort, Name: row.Name, NameCN: row.NameCN, AirDate: row.AirDate,
		Duration: row.Duration, Desc: row.Description, Disc: row.Disc, subject: row.SubjectID,
	}
}

// relationRow is a line of subject-relations.jsonlines.
type relationRow struct {
	SubjectID    catalog.SubjectID `json:"subject_id"`
	RelationType int               `json:"relation_type"`
	RelatedID    catalog.SubjectID `json:"related_subject_id"`
	Order        int               `json:"order"`
}

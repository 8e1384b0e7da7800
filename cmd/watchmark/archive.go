package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/catalog/archive"
)

type archiveCommand struct {
	Import archiveImport `cmd:"" help:"Import a dump: a file, an address, or the newest one. A running service switches to it automatically."`
	Status archiveStatus `cmd:"" help:"Show what the offline data holds."`
	Search archiveSearch `cmd:"" help:"Find a title in the offline data."`
}

type archiveImport struct {
	dataFlags
	Dump  string `arg:"" optional:"" help:"A zip file, or its http address; left out, the newest published dump." placeholder:"FILE|URL"`
	Force bool   `help:"Import it even if it is in use already; a file also if it holds much less than the offline data in use."`
}

// Run imports and prints each phase with its time, what was imported, and the peak of memory.
func (c archiveImport) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		start := time.Now()
		show := &phases{out: std.out}
		outcome, err := c.take(ctx, data, show)
		show.end()
		if err != nil {
			return err
		}
		info, _ := data.Archive.Info()
		if outcome == archive.UpToDate {
			_, err := fmt.Fprintf(std.out, "The newest dump, %s, is in use already. Add --force to import it once more.\n", info.Version)
			return err
		}
		_, err = fmt.Fprintf(std.out, "Imported %s: %d subjects, %d episodes, %d relations, %d titles.\n%.1f s, at most %d MiB of memory, %.0f MB on the disk.\n",
			info.Version, info.Subjects, info.Episodes, info.Relations, info.Titles, time.Since(start).Seconds(), peakMemory()>>20, float64(data.Archive.Size())/1e6)
		if err == nil && !data.Settings.Current().CatalogArchive.Enabled {
			_, err = fmt.Fprintln(std.out, "The archive is not asked yet: switch catalog_archive.enabled on.")
		}
		return err
	})
}

// take imports what the argument names.
func (c archiveImport) take(ctx context.Context, data *app.Data, show *phases) (archive.Outcome, error) {
	if c.Dump == "" || strings.HasPrefix(c.Dump, "http://") || strings.HasPrefix(c.Dump, "https://") {
		return data.Archiver.Fetch(ctx, c.Dump, c.Force, show.tell)
	}
	file, err := os.Open(c.Dump)
	if err != nil {
		return archive.Failed, fmt.Errorf("open the dump: %w", err)
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	info, err := file.Stat()
	if err != nil {
		return archive.Failed, fmt.Errorf("open the dump: %w", err)
	}
	if info.IsDir() {
		return archive.Failed, fmt.Errorf("%s is a folder, not a zip file", c.Dump)
	}
	_, err = data.Archive.Import(ctx, archive.Dump{Data: file, Size: info.Size(), AllowSmaller: c.Force}, show.tell)
	return archive.Imported, err
}

// phases prints each phase of an import when it ends, with its time.
type phases struct {
	out io.Writer

	mu    sync.Mutex
	last  archive.Progress
	start time.Time
}

func (p *phases) tell(now archive.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Phase != p.last.Phase {
		p.print()
		p.start = time.Now()
	}
	p.last = now
}

func (p *phases) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print()
}

// print writes the line of the phase that has ended. The caller holds mu.
func (p *phases) print() {
	if p.last.Phase == "" {
		return
	}
	line := fmt.Sprintf("%-8s %6.1f s", p.last.Phase, time.Since(p.start).Seconds())
	if p.last.Phase == archive.Fetching || p.last.Phase == archive.Reading {
		line += fmt.Sprintf("  %.0f MB", float64(p.last.Done)/1e6)
	}
	_, _ = fmt.Fprintln(p.out, line) // the last line of the command tells whether writing works
}

type archiveStatus struct {
	dataFlags
	JSON bool `name:"json" help:"Print the state as JSON."`
}

// Run prints what the archive on the disk is.
func (c archiveStatus) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		status := data.Archiver.Status()
		if c.JSON {
			return printJSON(std.out, status)
		}
		var b strings.Builder
		switched := "off"
		if status.Enabled {
			switched = "on"
		}
		fmt.Fprintf(&b, "Offline archive: switched %s, folder %s\n", switched, data.Archive.Dir())
		if status.IndexReady {
			fmt.Fprintf(&b, "In use: %s, imported %s\n%d subjects, %d episodes, %d relations, %d titles; %.0f MB on the disk\n",
				status.Version, status.ImportedAt.Local().Format(time.DateTime), status.Subjects, status.Episodes, status.Relations, status.Titles, float64(status.Size)/1e6)
		} else {
			b.WriteString("Nothing is imported yet: run watchmark archive import.\n")
		}
		if status.LastOutcome != "" {
			fmt.Fprintf(&b, "Last import by the service: %s, %s\n", status.LastOutcome, status.LastRun.Local().Format(time.DateTime))
		}
		if !status.LastError.IsZero() {
			fmt.Fprintf(&b, "    %s\n", status.LastError.Text)
		}
		if status.NextRun != nil && status.IndexReady {
			fmt.Fprintf(&b, "Next: %s\n", status.NextRun.Local().Format(time.DateTime))
		}
		_, err := io.WriteString(std.out, b.String())
		return err
	})
}

type archiveSearch struct {
	dataFlags
	Title string `arg:"" help:"The title, or a part of it."`
	Limit int    `help:"How many entries to show at most." default:"10" placeholder:"N"`
	JSON  bool   `name:"json" help:"Print the entries as JSON."`
}

// searchHit is a found subject as JSON.
type searchHit struct {
	SubjectID int      `json:"subject_id"`
	Type      int      `json:"type"`
	Name      string   `json:"name"`
	NameCN    string   `json:"name_cn"`
	Aliases   []string `json:"aliases"`
	Date      string   `json:"date"`
	Platform  string   `json:"platform"`
	Score     float64  `json:"score"`
	How       string   `json:"how"`
	By        string   `json:"by"`
}

// Run prints the subjects of a title, the likeliest first.
func (c archiveSearch) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		start := time.Now()
		found, err := data.Archive.Find(ctx, archive.Query{Text: c.Title, Limit: c.Limit})
		elapsed := time.Since(start)
		if errors.Is(err, archive.ErrNone) {
			return fmt.Errorf("%w: run watchmark archive import", err)
		}
		if err != nil {
			return err
		}
		hits := make([]searchHit, 0, len(found))
		for _, f := range found {
			s := f.Subject
			hits = append(hits, searchHit{int(s.ID), int(s.Type), s.Name, s.NameCN, append([]string{}, s.Aliases...), s.Date.String(), s.Platform, f.Likeness, string(f.How), f.By()})
		}
		if c.JSON {
			return printJSON(std.out, struct {
				Items     []searchHit `json:"items"`
				ElapsedMS float64     `json:"elapsed_ms"`
			}{hits, float64(elapsed.Microseconds()) / 1000})
		}
		var b strings.Builder
		for _, h := range hits {
			fmt.Fprintf(&b, "%-8d %.2f %-6s %-10s %s", h.SubjectID, h.Score, h.How, h.Date, h.Name)
			if h.NameCN != "" && h.NameCN != h.Name {
				fmt.Fprintf(&b, " (%s)", h.NameCN)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%d found in %.2f ms\n", len(hits), float64(elapsed.Microseconds())/1000)
		_, err = io.WriteString(std.out, b.String())
		return err
	})
}

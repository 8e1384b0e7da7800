package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
)

// Watches is what is known of what people have watched.
type Watches struct {
	Records interface {
		OfAccount(ctx context.Context, account, after int64, limit int) ([]record.Kept, error)
	}
	Questions *review.Store
	Mappings  *mapping.Store
}

const (
	// watchesFormat is what ?format= names the document by, watchesVersion its version.
	watchesFormat  = "watches"
	watchesVersion = 1
	// watchesPage is how many records are in memory at a time.
	watchesPage = 500
)

// watchesHead is what the document begins with.
type watchesHead struct {
	Format  int       `json:"format"`
	Kind    string    `json:"kind"`
	MadeAt  time.Time `json:"made_at"`
	Account struct {
		ID             int      `json:"id"`
		Username       string   `json:"username"`
		MediaUserNames []string `json:"media_user_names"`
	} `json:"account"`
}

// write writes the document of an account: its records page by page, and then the mappings and blocked titles that decided about them, and the
// answers to what they asked. Rules belong to nobody, so those of others are left out by that.
func (ws Watches) write(ctx context.Context, a account.Account, to io.Writer) error {
	out := bufio.NewWriter(to)
	head := watchesHead{Format: watchesVersion, Kind: watchesFormat, MadeAt: time.Now().UTC().Truncate(time.Second)}
	head.Account.ID, head.Account.Username, head.Account.MediaUserNames = a.CatalogUserID, a.Username, append([]string{}, a.MediaUserNames...)
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	_, _ = out.Write(text[:len(text)-1]) // errors of out are those of its end
	rules, questions, keywords := map[int64]bool{}, map[int64]bool{}, map[string]bool{}
	list := newList(out, "records")
	for after := int64(0); ; {
		page, err := ws.Records.OfAccount(ctx, a.ID, after, watchesPage)
		if err != nil {
			return err
		}
		for _, one := range page {
			if err := list.add(one); err != nil {
				return fmt.Errorf("take out record %d: %w", one.ID, err)
			}
			after = one.ID
			if one.Rule != nil {
				rules[one.Rule.ID] = true
			}
			if one.QuestionID != 0 {
				questions[one.QuestionID] = true
			}
			if keyword := match.BlockedBy(one.Message); keyword != "" {
				keywords[keyword] = true
			}
		}
		if len(page) < watchesPage {
			break
		}
	}
	list.end()
	if err := ws.writeRules(ctx, out, rules, questions, keywords); err != nil {
		return err
	}
	_, _ = out.WriteString("}\n")
	return out.Flush()
}

// writeRules writes what people have decided: the answers to some questions, and the mappings and blocked titles that they wrote or that are named.
func (ws Watches) writeRules(ctx context.Context, out *bufio.Writer, rules, questions map[int64]bool, keywords map[string]bool) error {
	asked := make([]int64, 0, len(questions))
	for id := range questions {
		asked = append(asked, id)
	}
	slices.Sort(asked)
	blockedBy := map[int64]bool{}
	list := newList(out, "answers")
	for page := range slices.Chunk(asked, watchesPage) {
		answers, err := ws.Questions.Some(ctx, page)
		if err != nil {
			return err
		}
		for _, q := range answers {
			rules[q.MappingID], blockedBy[q.BlockedID] = true, true
			if !scope.From(ctx).Whole() {
				q = q.Answer()
			}
			if err := list.add(q); err != nil {
				return err
			}
		}
	}
	list.end()
	list = newList(out, "mappings")
	mappings, err := ws.Mappings.All(ctx)
	if err != nil {
		return err
	}
	for _, m := range mappings {
		if rules[m.ID] {
			if err := list.add(m); err != nil {
				return err
			}
		}
	}
	list.end()
	list = newList(out, "blocked_titles")
	blocked, err := ws.Mappings.AllBlocked(ctx)
	if err != nil {
		return err
	}
	for _, b := range blocked {
		if keywords[b.Keyword] || blockedBy[b.ID] {
			if err := list.add(b); err != nil {
				return err
			}
		}
	}
	list.end()
	return nil
}

// listWriter writes a list of a document that has begun, a line for each of it.
type listWriter struct {
	out   *bufio.Writer
	comma string
}

func newList(out *bufio.Writer, name string) *listWriter {
	_, _ = fmt.Fprintf(out, ",\n%q:[", name)
	return &listWriter{out, "\n"}
}

func (l *listWriter) add(one any) error {
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, _ = l.out.WriteString(l.comma)
	_, err = l.out.Write(text)
	l.comma = ",\n"
	return err
}

func (l *listWriter) end() { _, _ = l.out.WriteString("]") }

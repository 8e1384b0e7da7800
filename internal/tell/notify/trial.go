package notify

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/tell/notify/channel"
)

// TestResult is what became of a test of a channel.
type TestResult struct {
	ChannelID int64
	Type      channel.Type
	Name      string
	OK        bool
	Latency   time.Duration
	// Problem is what went wrong and Advice what to do about it; empty when it worked.
	Problem, Advice reason.Reason
}

// testMost is how long a test may take.
const testMost = 30 * time.Second

// A person may try something five times at once, and then once in two minutes: what is tried goes out past the bounds of a channel.
const (
	triesAtOnce = 5
	tryEvery    = 2 * time.Minute
)

// MayTry returns errTooOften to a person who tries more than that.
func (n *Notifier) MayTry(ctx context.Context, tries int) error {
	s := scope.From(ctx)
	if s.Whole() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	bucket := n.tries[s.Person()]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Every(tryEvery), triesAtOnce)
		n.tries[s.Person()] = bucket
	}
	if !bucket.AllowN(time.Now(), tries) {
		return errTooOften
	}
	return nil
}

// Test sends a message to the channels of who asks with ids, switched on or not, or without an id to all that are on, outside of
// the outbox. It waits for the answers. A test that works resumes a channel that was paused; one that is refused pauses
// it. It returns ErrNotFound, or to a person who does so too often errTooOften.
func (n *Notifier) Test(ctx context.Context, ids ...int64) ([]TestResult, error) {
	var channels []Channel
	for _, id := range ids {
		c, err := n.Channel(ctx, id)
		if err != nil {
			return nil, err
		}
		channels = append(channels, c)
	}
	if len(ids) == 0 {
		all, err := n.Channels(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			if c.Enabled {
				channels = append(channels, c)
			}
		}
	}
	if err := n.MayTry(ctx, len(channels)); err != nil {
		return nil, err
	}
	results := make([]TestResult, len(channels))
	errs := make([]error, len(channels))
	var tests sync.WaitGroup
	for i, c := range channels {
		tests.Go(func() { results[i], errs[i] = n.test(ctx, c) })
	}
	tests.Wait()
	n.Wake()
	return results, errors.Join(errs...)
}

// test tests one channel. The error is that of the database, or of ctx.
func (n *Notifier) test(ctx context.Context, c Channel) (TestResult, error) {
	result := TestResult{ChannelID: c.ID, Type: c.Type, Name: c.Name}
	if c.Config == "" {
		result.Problem = c.Paused
		return result, nil
	}
	sender, err := n.Open(c)
	if err != nil {
		result.Problem = problemOf(err)
		return result, nil
	}
	o := n.outlet(c)
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	defer func() { <-o.turn }()
	o.bucket.Allow() // a person does not wait for it, but what follows does
	m := testMessage(n.languageOf(c), n.Base())
	began := time.Now()
	err = trySend(ctx, sender, m, testMost)
	result.Latency = time.Since(began)
	var failure *channel.Failure
	switch {
	case err == nil:
		result.OK = true
	case errors.As(err, &failure):
		result.Problem, result.Advice = failure.Problem, failure.Advice
	default:
		return result, err
	}
	if failure != nil && failure.Blame == channel.Gone {
		return result, n.removeGone(context.WithoutCancel(ctx), c, failure.Problem)
	}
	return result, n.tested(context.WithoutCancel(ctx), c, err, failure)
}

func testMessage(l bilingual.Language, base string) channel.Message {
	m := channel.Message{ID: rand.Text(), Kind: "test", Title: "Test by Watchmark", Text: "This channel works.", At: time.Now(), Count: 1, Language: l, Page: inboxPage, Facts: map[string]string{}}
	if l == bilingual.Chinese {
		m.Title, m.Text = "Watchmark 测试消息", "这个渠道可以正常使用。"
	}
	if base != "" {
		m.Link = strings.TrimRight(base, "/") + inboxPage
	}
	return m
}

// tested stores what a test told of a channel, unless that was changed meanwhile.
func (n *Notifier) tested(ctx context.Context, c Channel, sent error, failure *channel.Failure) error {
	now := time.Now().UnixMilli()
	statement, args := `UPDATE notification_channels SET paused = '', last_error = '', last_error_at = 0, last_sent_at = ?, failures = 0, retry_at = 0`, []any{now}
	if sent != nil {
		statement, args = `UPDATE notification_channels SET last_error = ?, last_error_at = ?`, []any{problemOf(sent), now}
		if failure.Blame == channel.OfChannel {
			statement += `, paused = ?`
			args = append(args, problemOf(sent))
		}
	}
	return n.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statement+` WHERE id = ? AND version = ?`, append(args, c.ID, c.version)...); err != nil {
			return fmt.Errorf("store the test of notification channel %d: %w", c.ID, err)
		}
		if sent == nil {
			return hurry(ctx, tx, c.ID)
		}
		return nil
	})
}

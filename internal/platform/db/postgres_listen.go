package db

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// lookEvery is how often listeners look for themselves while nothing can be heard, at the latest, and lookSoon at first.
	lookSoon, lookEvery = 200 * time.Millisecond, 5 * time.Second
	// silence is how long nothing may come before the server is asked to tell something.
	silence = 15 * time.Second
	// probe is what is told to hear whether anything comes.
	probe = "probe"
)

// channel is the name under which the schema's notices go.
func (d *dial) channel() string { return "watchmark_" + strconv.FormatUint(uint64(d.key), 16) }

func (s *server) notify(ctx context.Context, topic, payload string, _ *listeners) error {
	_, err := s.aside.ExecContext(ctx, "SELECT pg_notify(?, ?)", s.dial.channel(), topic+" "+payload)
	return err
}

func (s *server) hear(heard *listeners) {
	s.hearing.Do(func() {
		if !s.enter() {
			return
		}
		go func() {
			defer s.work.Done()
			for wait := lookSoon; s.closing.Err() == nil; wait = min(2*wait, lookEvery) {
				if s.hearOnce(heard) {
					wait = lookSoon
				}
				select {
				case <-s.closing.Done():
				case <-time.After(wait):
					heard.tell("", "") // they look for themselves meanwhile
				}
			}
		}()
	})
}

// hearOnce hears for as long as the connection is whole, and reports whether anything can be heard. A pooler takes LISTEN and tells
// nothing: so it is tried.
func (s *server) hearOnce(heard *listeners) (heardAny bool) {
	config := s.dial.config.Copy()
	type notice struct{ topic, payload string }
	var told []notice
	probed := false
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		topic, payload, _ := strings.Cut(n.Payload, " ")
		if topic == probe {
			probed = true
			return
		}
		told = append(told, notice{topic, payload})
	}
	conn, err := pgconn.ConnectConfig(s.closing, config)
	if err != nil {
		return false
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	ask := func(statement string) bool {
		ctx, cancel := context.WithTimeout(s.closing, dialTime)
		defer cancel()
		return conn.Exec(ctx, statement).Close() == nil
	}
	whole := func() bool {
		probed = false
		return ask("SELECT pg_notify('"+s.dial.channel()+"', '"+probe+" ')") && probed
	}
	if !ask("LISTEN "+s.dial.channel()) || !whole() {
		return false
	}
	heard.tell("", "") // for what was told before
	for {
		for len(told) > 0 {
			heard.tell(told[0].topic, told[0].payload)
			told = told[1:]
		}
		ctx, cancel := context.WithTimeout(s.closing, silence)
		err := conn.WaitForNotification(ctx)
		cancel()
		if s.closing.Err() != nil || err != nil && (!pgconn.Timeout(err) || !whole()) {
			return true
		}
	}
}

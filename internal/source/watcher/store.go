package watcher

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
)

// store is the SQL of logins; plays.go has that of what was played.
type store struct {
	db  *db.DB
	box *secret.Box
}

// keys are what opens a server, sealed as one.
type keys struct {
	token, account secret.Text
	// person is the member of a Plex Home; empty for the one who owns the account.
	person string
	// code is a sign-in that waits for a person; nil when there is none.
	code *mediaserver.Code
}

// sealedKeys is the form of keys in their seal.
type sealedKeys struct {
	Token   string `json:"token,omitempty"`
	Account string `json:"account,omitempty"`
	Person  string `json:"person,omitempty"`
	Code    *struct {
		Text, Address, Secret string
		ExpiresAt             time.Time
	} `json:"code,omitempty"`
}

// place binds sealed keys to their row.
func place(id int64) string { return "media_logins/credentials/" + strconv.FormatInt(id, 10) }

func (s store) seal(k keys, id int64) (string, error) {
	form := sealedKeys{Token: k.token.Reveal(), Account: k.account.Reveal(), Person: k.person}
	if k.code != nil {
		form.Code = &struct {
			Text, Address, Secret string
			ExpiresAt             time.Time
		}{k.code.Text, k.code.Address, k.code.Secret.Reveal(), k.code.ExpiresAt}
	}
	text, err := json.Marshal(form)
	if err != nil {
		return "", fmt.Errorf("encode the credentials of a media server: %w", err)
	}
	return s.box.Seal(string(text), place(id)), nil
}

func (s store) open(text string, id int64) (k keys, err error) {
	if text == "" {
		return k, nil
	}
	plain, err := s.box.Open(text, place(id))
	if err != nil {
		return k, fmt.Errorf("open the credentials of media login %d: %w", id, err)
	}
	var form sealedKeys
	if json.Unmarshal([]byte(plain), &form) != nil {
		return k, fmt.Errorf("read the credentials of media login %d: %w", id, secret.ErrDamaged)
	}
	k = keys{token: secret.Text(form.Token), account: secret.Text(form.Account), person: form.Person}
	if c := form.Code; c != nil {
		k.code = &mediaserver.Code{Text: c.Text, Address: c.Address, ExpiresAt: c.ExpiresAt, Secret: secret.Text(c.Secret)}
	}
	return k, nil
}

// library is a library as it is stored. Seen says that what was played in it before is known; Gone that the person may not see
// it now.
type library struct {
	mediaserver.Library
	Picked bool `json:"picked"`
	Seen   bool `json:"seen"`
	Gone   bool `json:"gone,omitempty"`
}

const loginColumns = `id, kind, url, pin, device, server_id, server_name, server_version, user_id, user_name, media_user_name, credentials, version,
	state, problem, lost_at, enabled, removed, connected_at, libraries, quirks, choices, cursor_at, compared_at, compared_version, counted, known,
	skew_seconds, last_event_at, last_event, webhook_at, catch_up, way, next_at`

// scan reads loginColumns. Keys that cannot be opened are the problem of the login for as long as that lasts.
func (s store) scan(row db.Row) (l Login, k keys, err error) {
	var sealed, libraries, quirks, choices, caughtUp string
	var lost, connected, cursor, compared, event, webhook, next int64
	var way Way
	err = row.Scan(&l.ID, &l.Kind, &l.URL, &l.pin, &l.device, &l.ServerID, &l.ServerName, &l.Version, &l.userID, &l.UserName, &l.MediaUserName, &sealed, &l.version,
		&l.State, &l.Problem, &lost, &l.Enabled, &l.removed, &connected, &libraries, &quirks, &choices, &cursor, &compared, &l.comparedVersion, &l.counted, &l.Known,
		&l.SkewSeconds, &event, &l.LastEvent, &webhook, &caughtUp, &way, &next)
	if err != nil {
		return l, k, err
	}
	l.lostAt, l.ConnectedAt, l.cursor, l.webhookAt = timeOf(lost), timeOf(connected), timeOf(cursor), timeOf(webhook)
	l.ComparedAt, l.LastEventAt = pointer(timeOf(compared)), pointer(timeOf(event))
	err = errors.Join(json.Unmarshal([]byte(libraries), &l.libraries), json.Unmarshal([]byte(quirks), &l.quirks), fromJSON(choices, &l.Choices), fromJSON(caughtUp, &l.CatchUp))
	if err != nil {
		return l, k, fmt.Errorf("read media login %d: %w", l.ID, err)
	}
	l.Libraries, l.Held, l.Accounts, l.Way, l.NextCatchUp = []Library{}, []Held{}, []string{}, cmp.Or(way, Waiting), pointer(timeOf(next))
	for _, one := range l.libraries {
		if !one.Gone {
			l.Libraries = append(l.Libraries, Library{one.Library, one.Picked})
		}
	}
	if k, err = s.open(sealed, l.ID); err != nil {
		l.State, l.Problem = SignedOut, reason.Of(err)
		return l, keys{}, nil
	}
	if k.code != nil {
		l.SignIn = &SignIn{Code: k.code.Text, URL: k.code.Address, ExpiresAt: k.code.ExpiresAt}
	}
	return l, k, nil
}

// fromJSON reads a column that is empty for nothing.
func fromJSON(text string, into any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

// toJSON is what fromJSON reads; there is nothing that cannot be encoded.
func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// millis is what timeOf reads.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// known is a login with its keys.
type known struct {
	Login
	keys
}

// all lists the logins, the first one first, those that are being forgotten among them.
func (s store) all(ctx context.Context) ([]known, error) { return s.allOf(ctx, s.db.Read()) }

func (s store) allOf(ctx context.Context, from db.Querier) ([]known, error) {
	return db.All(ctx, from, "list logins at media servers", func(row db.Row) (k known, err error) {
		k.Login, k.keys, err = s.scan(row)
		return k, err
	}, `SELECT `+loginColumns+` FROM media_logins ORDER BY id`)
}

// get is a login and its keys; ErrNotFound for one that is being forgotten, too.
func (s store) get(ctx context.Context, id int64) (k known, err error) {
	return s.getFrom(ctx, s.db.Read(), id)
}

func (s store) getFrom(ctx context.Context, from db.Querier, id int64) (k known, err error) {
	k.Login, k.keys, err = s.scan(from.QueryRowContext(ctx, `SELECT `+loginColumns+` FROM media_logins WHERE id = ? AND removed = 0`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return k, ErrNotFound
	}
	if err != nil {
		return k, fmt.Errorf("read media login %d: %w", id, err)
	}
	return k, nil
}

// keep stores a sign-in and answers the login that has it, and whether that is another one: that of the same person at the same
// server. It is one exclusive transaction, so that two sign-ins of one person become one login.
func (s store) keep(ctx context.Context, k known) (id int64, tookOver bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if k.token != "" && k.userID != "" {
			other, err := person(ctx, tx, k.Login)
			if err != nil {
				return err
			}
			if other != 0 {
				id, tookOver = other, true
				return s.takeOver(ctx, tx, k, other)
			}
		}
		if id = k.ID; id == 0 {
			id, err = s.add(ctx, tx, k.Login, k.keys)
			return err
		}
		return s.signTx(ctx, tx, k.Login, k.keys)
	})
	return id, tookOver, err
}

// takeOver gives the sign-in of k to the login that the person has already.
func (s store) takeOver(ctx context.Context, tx *sql.Tx, k known, id int64) error {
	old, err := s.getFrom(ctx, tx, id)
	if err != nil {
		return err
	}
	from := k.ID
	k.ID, k.libraries, k.Enabled = id, old.libraries, true
	if from != 0 {
		k.MediaUserName = old.MediaUserName
	}
	if err := s.signTx(ctx, tx, k.Login, k.keys); err != nil || from == 0 {
		return err
	}
	// The row that waited for the code is over; its keys open nothing else.
	if err := s.signTx(ctx, tx, Login{ID: from, Kind: k.Kind, State: SignedOut}, keys{}); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, removeLogin, from); err != nil {
		return fmt.Errorf("remove media login %d: %w", from, err)
	}
	return nil
}

// add stores a new login within tx.
func (s store) add(ctx context.Context, tx *sql.Tx, l Login, k keys) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO media_logins (kind, url, pin, device, media_user_name, state, problem, connected_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		l.Kind, l.URL, l.pin, l.device, l.MediaUserName, l.State, l.Problem, time.Now().UnixMilli()).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("store a login at a media server: %w", err)
	}
	l.ID = id // the seal is bound to it
	return id, s.signTx(ctx, tx, l, k)
}

// sign stores a sign-in, or one that waits, with who and what it is of.
func (s store) sign(ctx context.Context, l Login, k keys) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.signTx(ctx, tx, l, k) })
}

func (s store) signTx(ctx context.Context, tx *sql.Tx, l Login, k keys) error {
	sealed, err := s.seal(k, l.ID)
	if err != nil {
		return err
	}
	choices := ""
	if l.Choices != nil {
		choices = toJSON(l.Choices)
	}
	_, err = tx.ExecContext(ctx, `UPDATE media_logins SET url = ?, pin = ?, device = ?, server_id = ?, server_name = ?, server_version = ?, user_id = ?, user_name = ?,
		media_user_name = ?, credentials = ?, version = version + 1, state = ?, problem = ?, lost_at = 0, quirks = ?, choices = ?,
		connected_at = CASE WHEN compared_at = 0 AND ? THEN ? ELSE connected_at END WHERE id = ?`,
		l.URL, l.pin, l.device, l.ServerID, l.ServerName, l.Version, l.userID, l.UserName, l.MediaUserName, sealed, l.State, l.Problem, toJSON(l.quirks), choices, k.token != "", time.Now().UnixMilli(), l.ID)
	if err != nil {
		return fmt.Errorf("store the sign-in of media login %d: %w", l.ID, err)
	}
	return nil
}

// person finds the login of the same person at the same server; 0 when there is none. UGREEN's servers all have the same id.
func person(ctx context.Context, tx *sql.Tx, l Login) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id FROM media_logins WHERE kind = ? AND server_id = ? AND user_id = ? AND id <> ? AND removed = 0 AND (kind <> ? OR url = ?)`,
		l.Kind, l.ServerID, l.userID, l.ID, mediaserver.Ugreen, l.URL).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for a login of the same person: %w", err)
	}
	return id, nil
}

// change stores what a person sets.
func (s store) change(ctx context.Context, l Login) error {
	return s.write(ctx, l.ID, `UPDATE media_logins SET url = ?, pin = ?, media_user_name = ?, enabled = ?, libraries = ?, version = version + 1 WHERE id = ?`,
		l.URL, l.pin, l.MediaUserName, l.Enabled, toJSON(l.libraries), l.ID)
}

// stand stores how a login stands, unless a person changed it since.
func (s store) stand(ctx context.Context, l Login, to State, problem reason.Reason) error {
	lost := int64(0)
	if to == Unreachable {
		lost = time.Now().UnixMilli()
	}
	return s.write(ctx, l.ID, `UPDATE media_logins SET state = ?, problem = ?, lost_at = CASE WHEN CAST(? AS BIGINT) <> 0 AND lost_at <> 0 THEN lost_at ELSE ? END
		WHERE id = ? AND version = ? AND (state <> ? OR problem <> ?)`, to, problem, lost, lost, l.ID, l.version, to, problem)
}

// lead stores where a server is and what opens it there, which the server or its maker told, unless a person changed the login since.
func (s store) lead(ctx context.Context, k known) error {
	sealed, err := s.seal(k.keys, k.ID)
	if err != nil {
		return err
	}
	return s.write(ctx, k.ID, `UPDATE media_logins SET url = ?, pin = ?, credentials = ? WHERE id = ? AND version = ?`, k.URL, k.pin, sealed, k.ID, k.version)
}

// learn stores what the server told of itself at a connection, unless a person changed the login since.
func (s store) learn(ctx context.Context, l Login) error {
	return s.write(ctx, l.ID, `UPDATE media_logins SET server_name = ?, server_version = ?, user_name = ?, libraries = ?, quirks = ? WHERE id = ? AND version = ?`,
		l.ServerName, l.Version, l.UserName, toJSON(l.libraries), toJSON(l.quirks), l.ID, l.version)
}

// hear stores how news of a login come in, and when everything is asked for next.
func (s store) hear(ctx context.Context, id int64, way Way, next time.Time) error {
	if way == Waiting {
		way = ""
	}
	return s.write(ctx, id, `UPDATE media_logins SET way = ?, next_at = ? WHERE id = ?`, way, millis(next), id)
}

func (s store) write(ctx context.Context, id int64, query string, args ...any) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("change media login %d: %w", id, err)
	}
	return nil
}

// remove hides a login; forget removes its rows, up to a limit of each kind, and the login itself with the last.
func (s store) remove(ctx context.Context, id int64) error {
	return s.write(ctx, id, removeLogin, id)
}

const removeLogin = `UPDATE media_logins SET removed = 1, version = version + 1 WHERE id = ?`

func (s store) forget(ctx context.Context, id int64, limit int) (over bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		left := int64(0)
		for _, query := range []string{
			`DELETE FROM media_plays WHERE login_id = ? AND item_id IN (SELECT item_id FROM media_plays WHERE login_id = ? LIMIT ?)`,
			`DELETE FROM media_held WHERE login_id = ? AND id IN (SELECT id FROM media_held WHERE login_id = ? LIMIT ?)`,
		} {
			result, err := tx.ExecContext(ctx, query, id, id, limit)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			left += n
		}
		if over = left == 0; over {
			_, err := tx.ExecContext(ctx, `DELETE FROM media_logins WHERE id = ? AND removed = 1`, id)
			return err
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("forget media login %d: %w", id, err)
	}
	return over, nil
}

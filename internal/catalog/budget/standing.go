package budget

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Standing is how a budget stands.
type Standing struct {
	Host string `json:"host" example:"api.bgm.tv"`
	// Egress is who counts there; empty for an account.
	Egress string `json:"egress" doc:"The way out that the requests count for; empty where they count for an account." example:"shared"`
	// Account is whose requests count there; 0 for an egress.
	Account int64 `json:"account_id" doc:"The account that the requests count for; 0 where they count for a way out. Accounts are listed while they are banned."`
	// Left is how many requests may go at once; those that replicas have in hand are not among them.
	Left  int `json:"left" doc:"How many requests may be sent at once; what replicas have taken beforehand is not counted."`
	Burst int `json:"burst" doc:"How many that is at most."`
	// The times are nil without a ban.
	BannedSince *time.Time `json:"banned_since" doc:"Since when Bangumi accepts no requests; null while it does."`
	BannedUntil *time.Time `json:"banned_until" doc:"Until when at the latest; null without a ban."`
	NextTrial   *time.Time `json:"next_trial" doc:"From when on one request looks whether the ban is over; null without one."`
}

// Standings are how the budgets stand, those with a ban first.
func (b *Budget) Standings(ctx context.Context) ([]Standing, error) {
	all := []Standing{}
	if b.cfg.DB.Alone() {
		all = b.inMemory()
	} else if err := b.inDatabase(ctx, func(s Standing) { all = append(all, s) }); err != nil {
		return nil, fmt.Errorf("read the budgets of requests: %w", err)
	}
	slices.SortFunc(all, func(x, y Standing) int {
		return cmp.Or(cmp.Compare(truth(y.BannedUntil != nil), truth(x.BannedUntil != nil)), strings.Compare(x.Host, y.Host), strings.Compare(x.Egress, y.Egress), cmp.Compare(x.Account, y.Account))
	})
	return all, nil
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (b *Budget) inMemory() []Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []Standing{}
	for n, u := range b.buckets {
		o := b.cfg.Options(n.host)
		left := u.limiter(o).Tokens()
		u.mu.Lock()
		ban := u.ban
		u.mu.Unlock()
		if !n.account() || ban.holds(time.Now()) {
			all = append(all, standing(n, int(left), o.Burst, ban))
		}
	}
	return all
}

// inDatabase reads the rows, with what was added to them since they were written.
func (b *Budget) inDatabase(ctx context.Context, add func(Standing)) error {
	rows, err := b.cfg.DB.Read().QueryContext(ctx, `SELECT `+banColumns+`, host, egress, tokens, now_ms() - at FROM budgets
		WHERE banned_until > now_ms() OR egress NOT LIKE 'account:%' ORDER BY host, egress LIMIT 1000`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n name
		var tokens, age int64
		ban, err := scanBan(rows, &n.host, &n.by, &tokens, &age)
		if err != nil {
			return err
		}
		o := b.cfg.Options(n.host)
		tokens = min(tokens+max(age, 0)*o.each(), int64(o.Burst)*millionths)
		add(standing(n, int(tokens/millionths), o.Burst, ban))
	}
	return rows.Err()
}

func standing(n name, left, burst int, ban Ban) Standing {
	s := Standing{Host: n.host, Egress: n.egress(), Left: max(left, 0), Burst: burst}
	if id, is := strings.CutPrefix(n.by, ofAccounts); is {
		s.Account, _ = strconv.ParseInt(id, 10, 64) // it was written so
	}
	if ban.holds(time.Now()) {
		s.BannedSince, s.BannedUntil, s.NextTrial = &ban.Since, &ban.Until, &ban.Trial
	}
	return s
}

package tracker

import (
	"context"
	"testing"

	"watchmark/internal/platform/schedule"
)

// Ask is a request for data in the name of a user, made once.
func (k *Service) Ask(ctx context.Context, id int64) error {
	_, err := k.get(ctx, opAskWho, id, "/sync/last_activities")
	return err
}

// Stored are the tokens of a user in the database.
func (k *Service) Stored(t *testing.T, id int64) (access, refresh string) {
	t.Helper()
	c := k.Shown(t, id)
	return c.Access.Reveal(), c.Refresh.Reveal()
}

// Shown is the credential of a user.
func (k *Service) Shown(t *testing.T, id int64) Credential {
	t.Helper()
	_, c, err := k.store.get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// NeverSync takes the schedule away.
func (k *Service) NeverSync() { k.Plan = func() schedule.Plan { return schedule.Plan{} } }

package watcher

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
)

func TestSignInsOfAPersonAtTwoReplicasBecomeOneLogin(t *testing.T) {
	dir := dbtest.Folder(t)
	box, err := secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	stores := []store{{db: dbtest.OpenIn(t, dir), box: box}, {db: dbtest.OpenIn(t, dir), box: box}}
	for n := range 10 {
		var both sync.WaitGroup
		ids := make([]int64, len(stores))
		for i, s := range stores {
			both.Go(func() {
				l := Login{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", ServerID: "attic", MediaUserName: "mira", State: Connected, Enabled: true}
				l.userID = fmt.Sprint("mira-", n)
				var err error
				if ids[i], _, err = s.keep(t.Context(), known{Login: l, keys: keys{token: secret.Text("token-" + time.Now().String())}}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if ids[0] != ids[1] || ids[0] == 0 {
			t.Fatalf("the logins are %v", ids)
		}
	}
}

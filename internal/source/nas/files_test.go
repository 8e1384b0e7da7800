package nas_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"watchmark/internal/db"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/nas/nastest"
)

// TestHandlings holds the table of upstreams/nas.md, section 7, against a writer in a
// process of its own: all is seen, and the folder of the library is left as it was.
func TestHandlings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no NAS of this kind with Windows")
	}
	cases := []struct {
		name  string
		state func(l *nastest.Library)
		want  nas.Handling
	}{
		{"the app runs", func(*nastest.Library) {}, nas.Live},
		{"the app runs, and has folded its log", func(l *nastest.Library) { l.Exec("PRAGMA wal_checkpoint(TRUNCATE)") }, nas.Quiet},
		{"the app stopped", func(l *nastest.Library) { l.Stop() }, nas.Quiet},
		{"the app was killed", func(l *nastest.Library) { l.Kill() }, nas.Live},
		{"the index of the log is gone", func(l *nastest.Library) {
			l.Kill()
			if err := os.Remove(l.Path + "-shm"); err != nil {
				l.Exec(err.Error())
			}
		}, nas.Copied},
		{"the folder is not ours to write", func(l *nastest.Library) {
			if err := os.Chmod(filepath.Dir(l.Path), 0o555); err != nil {
				l.Exec(err.Error())
			}
		}, nas.Live},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			l := nastest.CreateApart(t, folder)
			l.User("mira-guid", "mira")
			show(l, "lamp", "灯塔守望者", 3)
			l.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			l.Play("mira-guid", "lamp-2", ago(time.Minute), nil) // in the log alone
			c.state(l)
			r := newRig(t, l.Path)
			before := foreign(t, folder)
			r.sync(nas.Manual{Range: nas.All})
			r.expect("mira: 灯塔守望者 s1 e2")
			if got := r.status().Handling; got != c.want {
				t.Errorf("the file was handled %s, not %s", got, c.want)
			}
			if foreign(t, folder) != before {
				entries, _ := filepath.Glob(filepath.Join(folder, "*"))
				t.Errorf("the folder of the library was changed: %v", entries)
			}
			if left, _ := filepath.Glob(filepath.Join(r.dir, "nas-copy-*")); len(left) != 0 {
				t.Errorf("copies stay: %v", left)
			}
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A writer goes on while the library is read, and folds its log after it: no lock stays.
func TestWriterIsNotHindered(t *testing.T) {
	l := nastest.CreateApart(t, t.TempDir())
	l.User("mira-guid", "mira")
	show(l, "lamp", "灯塔守望者", 12)
	r := newRig(t, l.Path)
	for i := range 12 {
		guid := "lamp-" + []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}[i]
		l.Play("mira-guid", guid, ago(time.Minute), nil)
		if counts := r.sync(nas.Manual{Range: nas.All}); counts.Taken != 1 {
			t.Fatalf("after play %d the scan is %+v, %s", i+1, counts, r.status().Handling)
		}
		if i%3 == 2 {
			l.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			if info, err := os.Stat(l.Path + "-wal"); err != nil || info.Size() != 0 {
				t.Fatalf("the log cannot be folded: %v, %v", info, err)
			}
		}
	}
}

// The file is replaced by that of a restored NAS, and by one that was stopped and moved.
func TestFileIsReplaced(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	l.Play("mira-guid", "lamp-1", ago(time.Hour), nil)
	r.sync(nas.Manual{Range: nas.All})
	r.expect("mira: 灯塔守望者 s1 e1")
	l.Stop()
	if err := os.Remove(l.Path); err != nil {
		t.Fatal(err)
	}
	r.problem(nas.Missing, "there is no file "+l.Path)
	restored := nastest.Create(t, filepath.Dir(l.Path))
	restored.User("mira-2", "mira")
	show(restored, "new", "深海电车", 2)
	restored.Play("mira-2", "new-2", ago(time.Minute), nil)
	r.sync(nas.Manual{Range: nas.All})
	r.expect("mira: 深海电车 s1 e2")
}

func TestProblemsAreToldAsSomebodyMeetsThem(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := sample(t)
	good.Stop()
	content, err := os.ReadFile(good.Path)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link.db")
	if err := os.Symlink(good.Path, link); err != nil {
		t.Fatal(err)
	}
	other := nastest.Create(t, t.TempDir(), "item_user_play")
	older := nastest.Create(t, t.TempDir(), "item_user_play.watched")
	cases := []struct {
		name, path string
		kind       nas.Kind
		says       string
	}{
		{"nothing there", filepath.Join(folder, "nowhere", "x.db"), nas.Missing, "inside of it"},
		{"a folder", filepath.Dir(good.Path), nas.Unusable, filepath.Join(filepath.Dir(good.Path), "trimmedia.db")},
		{"a link out of the folder", link, nas.Unusable, good.Path},
		{"a text", file("text", "this is no database at all"), nas.Unusable, "no SQLite database"},
		{"an empty file", file("empty", ""), nas.Unusable, "no SQLite database"},
		{"a beginning alone", file("head", string(content[:5000])), nas.Damaged, "damaged"},
		{"half of it overwritten", file("torn", string(content[:4096])+strings.Repeat("x", len(content)-4096)), nas.Damaged, "damaged"},
		{"another database", other.Path, nas.Strange, "no table item_user_play"},
		{"another release", older.Path, nas.Strange, "no column watched"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.path)
			r.problem(c.kind, c.says)
			s := r.status()
			if s.LastErrorKind != c.kind || s.LastError == "" || s.LastScan.IsZero() {
				t.Errorf("the status is %+v", s)
			}
			if left, _ := filepath.Glob(filepath.Join(r.dir, "nas-copy-*")); len(left) != 0 {
				t.Errorf("copies stay: %v", left)
			}
		})
	}
	t.Run("our own database", func(t *testing.T) {
		r := newRig(t, "")
		r.set(func(o *nas.Options) { o.Path = filepath.Join(r.dir, db.FileName) })
		r.problem(nas.Unusable, "database of this service")
	})
	t.Run("not readable", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may read everything")
		}
		path := file("secret", string(content))
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, path)
		r.problem(nas.Denied, "user id", path)
	})
}

// The writer keeps the database to itself while it checks it, say.
func TestLockedLibrary(t *testing.T) {
	folder := t.TempDir()
	l := nastest.CreateApart(t, folder)
	l.User("mira-guid", "mira")
	show(l, "lamp", "灯塔守望者", 1)
	l.Exec("PRAGMA locking_mode(EXCLUSIVE)")
	l.Play("mira-guid", "lamp-1", ago(time.Minute), nil)
	r := newRig(t, l.Path)
	r.problem(nas.Busy, "locked by another program", "next scan")
	l.Stop()
	r.sync(nas.Manual{Range: nas.All})
	r.expect("mira: 灯塔守望者 s1 e1")
}

func TestOddPathsAreOpened(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "@appdata", "a b?c#d%41")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	l := nastest.Create(t, t.TempDir())
	l.User("mira-guid", "mira")
	show(l, "lamp", "灯塔守望者", 1)
	l.Play("mira-guid", "lamp-1", ago(time.Minute), nil)
	l.Stop()
	path := filepath.Join(folder, "trimmedia.db")
	if err := os.Rename(l.Path, path); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, path)
	r.sync(nas.Manual{Range: nas.All})
	r.expect("mira: 灯塔守望者 s1 e1")
}

// A service that was killed while it read a copy removes the copy at its next start.
func TestCopiesOfACrashAreRemoved(t *testing.T) {
	r := newRig(t, sample(t).Path)
	left := filepath.Join(r.dir, "nas-copy-123")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Clean()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the copy is still there: %v", err)
	}
}

package nas_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/source/nas"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/nastest"
)

// onLinux skips a test of how the files are opened: elsewhere they are always copied.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reads the library in place")
	}
}

// TestHandlings holds the table of upstreams/nas.md, section 7, against a writer in a
// process of its own: all is seen, and the folder of the library is left as it was.
func TestHandlings(t *testing.T) {
	onLinux(t)
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
			files, err := filepath.Glob("/proc/self/fd/*")
			if err != nil || len(files) == 0 {
				t.Fatalf("which files are open cannot be told: %v", err)
			}
			for _, file := range files {
				if path, _ := os.Readlink(file); strings.HasPrefix(path, folder) {
					t.Errorf("%s is still open", path)
				}
			}
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What happens to the files while they are read is not lost, and never half seen.
func TestFilesChangeMeanwhile(t *testing.T) {
	onLinux(t)
	play := func(l *nastest.Library) {
		l.Insert("item_user_play", nastest.Columns{"user_guid": "mira-guid", "item_guid": "lamp-1", "watched": 1, "visible": 1, "update_time": ago(0)})
	}
	fold := func(_ *testing.T, l *nastest.Library) { l.Exec("PRAGMA wal_checkpoint(TRUNCATE)") }
	cases := []struct {
		name  string
		state func(t *testing.T, l *nastest.Library)
		then  func(l *nastest.Library, time int) // after the library was read for the time-th time
		plays []int
		want  nas.Handling
	}{
		{"nothing happens", fold, func(*nastest.Library, int) {}, []int{1}, nas.Quiet},
		{"a log appears", fold, func(l *nastest.Library, time int) {
			if time == 1 {
				play(l)
			}
		}, []int{1, 2}, nas.Live},
		{"a log comes and goes", fold, func(l *nastest.Library, time int) {
			if time == 1 {
				play(l)
				fold(t, l)
			}
		}, []int{1, 2}, nas.Quiet},
		{"it is written all the time", fold, func(l *nastest.Library, _ int) {
			play(l)
			fold(t, l)
		}, []int{1, 2, 3}, nas.Copied},
		{"the log grows, which one state is read beside", func(_ *testing.T, l *nastest.Library) { play(l) }, func(l *nastest.Library, _ int) { play(l) }, []int{2}, nas.Live},
		{"another file is put in its place", func(_ *testing.T, l *nastest.Library) { l.Kill() }, func(l *nastest.Library, time int) {
			if time == 1 {
				for _, suffix := range []string{"-wal", "-shm"} {
					_ = os.Remove(l.Path + suffix)
				}
				_ = os.Rename(l.Path+".new", l.Path)
			}
		}, []int{1, 0}, nas.Quiet},
		{"the index of the log is not ours to read", func(t *testing.T, l *nastest.Library) {
			if os.Getuid() == 0 {
				t.Skip("root may read everything")
			}
			_ = os.Chmod(l.Path+"-shm", 0)
		}, func(*nastest.Library, int) {}, []int{1}, nas.Copied},
		{"a change begins, without a log", func(_ *testing.T, l *nastest.Library) { l.Exec("PRAGMA journal_mode(DELETE)") }, func(l *nastest.Library, time int) {
			if time == 1 {
				l.Exec("BEGIN IMMEDIATE")
				play(l)
			}
		}, []int{1, 1}, nas.Copied},
		{"it is in the middle of a change, without a log", func(_ *testing.T, l *nastest.Library) {
			l.Exec("PRAGMA journal_mode(DELETE)")
			l.Exec("PRAGMA cache_size(1)")
			l.Exec("BEGIN IMMEDIATE")
			l.Exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO item_user_play (user_guid, item_guid, visible, update_time) SELECT 'x', i, 1, 1 FROM n")
		}, func(*nastest.Library, int) {}, []int{1}, nas.Copied},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := nastest.CreateApart(t, t.TempDir())
			play(l)
			other := nastest.Create(t, t.TempDir())
			other.Stop()
			if err := os.Rename(other.Path, l.Path+".new"); err != nil {
				t.Fatal(err)
			}
			c.state(t, l)
			var plays []int
			got, err := nas.Use(t.Context(), l.Path, t.TempDir(), func(n int) {
				plays = append(plays, n)
				c.then(l, len(plays))
			})
			if err != nil || got != c.want || !slices.Equal(plays, c.plays) {
				t.Errorf("it is read %s with %v plays, not %s with %v: %v", got, plays, c.want, c.plays, err)
			}
		})
	}
}

// whenAsked is a context that does something when it is asked whether it has ended, as each
// read of a file that is copied does.
type whenAsked struct {
	context.Context
	do func()
}

func (c whenAsked) Err() error {
	c.do()
	return c.Context.Err()
}

// The log that is copied must be the one of the file that is copied.
func TestFilesChangeWhileTheyAreCopied(t *testing.T) {
	l := nastest.CreateApart(t, t.TempDir())
	log := func() []byte {
		content, err := os.ReadFile(l.Path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	write := func(content []byte) {
		if err := os.WriteFile(l.Path+"-wal", content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.Play("mira-guid", "lamp-1", ago(0), nil)
	before := log()
	l.Play("mira-guid", "lamp-2", ago(0), nil)
	after := log()
	l.Kill()
	if err := os.Remove(l.Path + "-shm"); err != nil {
		t.Fatal(err)
	}
	write(before)
	var plays []int
	ctx := whenAsked{t.Context(), sync.OnceFunc(func() { write(after) })}
	got, err := nas.Use(ctx, l.Path, t.TempDir(), func(n int) { plays = append(plays, n) })
	if err != nil || got != nas.Copied || !slices.Equal(plays, []int{2}) {
		t.Errorf("it is read %s with %v plays: %v", got, plays, err)
	}
}

// The media app stops, and takes its log with it, while that is about to be copied.
func TestTheLogGoesWhileItIsCopied(t *testing.T) {
	onLinux(t)
	l := nastest.CreateApart(t, t.TempDir())
	l.Play("mira-guid", "lamp-1", ago(0), nil)
	l.Exec("PRAGMA wal_checkpoint(PASSIVE)") // the file has all of it, the log still lies there
	l.Kill()
	if err := os.Remove(l.Path + "-shm"); err != nil {
		t.Fatal(err)
	}
	var plays []int
	ctx := whenAsked{t.Context(), sync.OnceFunc(func() {
		if err := os.Remove(l.Path + "-wal"); err != nil {
			t.Error(err)
		}
	})}
	got, err := nas.Use(ctx, l.Path, t.TempDir(), func(n int) { plays = append(plays, n) })
	if err != nil || got != nas.Quiet || !slices.Equal(plays, []int{1}) {
		t.Errorf("it is read %s with %v plays: %v", got, plays, err)
	}
}

// A copy may be torn in a part that is not read.
func TestCopyIsChecked(t *testing.T) {
	l := nastest.Create(t, t.TempDir())
	l.User("mira-guid", "mira")
	show(l, "lamp", "灯塔守望者", 1)
	l.Play("mira-guid", "lamp-1", ago(time.Minute), nil)
	l.Insert("media_stream", nastest.Columns{"guid": "m", "codec_type": strings.Repeat("torn", 800)})
	l.Stop()
	content, err := os.ReadFile(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte("torntorn")) / 4096 * 4096
	copy(content[at:at+2048], make([]byte, 2048))
	for suffix, content := range map[string][]byte{"": content, "-journal": []byte("no journal, but there")} {
		if err := os.WriteFile(l.Path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newRig(t, l.Path).problem(nas.Damaged, "damaged")
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
		{"a text", file("text", "this is no database at all"), nas.Unusable, "not a SQLite database"},
		{"an empty file", file("empty", ""), nas.Unusable, "not a SQLite database"},
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
			if s.LastErrorKind != c.kind || s.LastError.IsZero() || s.LastScan.IsZero() {
				t.Errorf("the status is %+v", s)
			}
			if left, _ := filepath.Glob(filepath.Join(r.dir, "nas-copy-*")); len(left) != 0 {
				t.Errorf("copies stay: %v", left)
			}
		})
	}
	t.Run("our own database", func(t *testing.T) {
		r := newRig(t, "")
		dbtest.OpenFile(t, r.dir)
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

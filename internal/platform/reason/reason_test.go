package reason_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"syscall"
	"testing"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
)

var (
	taken   = reason.New("test_taken", "the account {name:q} exists already", "账号“{name}”已存在").For(reason.Conflict)
	missing = reason.New("test_missing", "{subject} has no episode {number}: {why}", "《{subject}》没有第 {number} 集：{why}")
	plain   = reason.New("test_plain", "nothing to do", "无事可做").For(reason.NotFound)
	parts   = reason.New("test_parts", "perhaps ({parts})", "可能（{parts}）")
)

func TestReasonIsToldInBothLanguages(t *testing.T) {
	for _, c := range []struct {
		name        string
		r           reason.Reason
		english, zh string
	}{
		{"no arguments", plain.With(), "nothing to do", "无事可做"},
		{"quoted", taken.With(`mi"ra`), `the account "mi\"ra" exists already`, `账号“mi"ra”已存在`},
		{"braces in an argument", taken.With(`{name}`), `the account "{name}" exists already`, `账号“{name}”已存在`},
		{"order and nesting", missing.With("灯塔", 12.5, plain.With()), "灯塔 has no episode 12.5: nothing to do", "《灯塔》没有第 12.5 集：无事可做"},
		{"a name that no server knows", missing.With("x", 3, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nas.example", Server: "10.0.0.1:53", IsNotFound: true}}),
			"x has no episode 3: dial tcp: lookup nas.example: no such host", "《x》没有第 3 集：找不到该主机名"},
		{"an error of the system", missing.With("x", 3, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)), "x has no episode 3: dial: connection refused", "《x》没有第 3 集：连接被拒绝"},
		{"a list", parts.With([]reason.Reason{plain.With(), taken.With("a")}), `perhaps (nothing to do, the account "a" exists already)`, "可能（无事可做，账号“a”已存在）"},
		{"an argument is left out", missing.With("x"), "x has no episode : ", "《x》没有第  集："},
		{"a text of others", reason.Text("as it is {x}"), "as it is {x}", "as it is {x}"},
		{"nothing", reason.Reason{}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(way string, r reason.Reason) {
				t.Helper()
				if r.Error() != c.english || r.In(bilingual.English) != c.english || r.In(bilingual.Chinese) != c.zh {
					t.Errorf("%s: %q and %q", way, r.Text, r.In(bilingual.Chinese))
				}
			}
			check("fresh", c.r)
			data, err := json.Marshal(c.r)
			var read reason.Reason
			if err = errors.Join(err, json.Unmarshal(data, &read)); err != nil {
				t.Fatal(err)
			}
			check("from JSON", read)
			column, err := c.r.Value()
			if err = errors.Join(err, read.Scan(column)); err != nil {
				t.Fatal(err)
			}
			check("from a column", read)
		})
	}
}

func TestReasonOfAnError(t *testing.T) {
	for _, c := range []struct {
		name, code string
		err        error
		class      reason.Class
	}{
		{"a kind", "test_plain", plain, reason.NotFound},
		{"a reason, wrapped", "test_taken", fmt.Errorf("add: %w", taken.With("x")), reason.Conflict},
		{"the outermost counts", "test_missing", missing.With("x", 1, taken.With("y")), reason.Internal},
		{"a field", "test_taken", reason.At("name", taken.With("x")), reason.Conflict},
		{"joined", "test_plain", errors.Join(errors.New("other"), plain), reason.NotFound},
		{"the system", "system_connection_refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, reason.Internal},
		{"others", "", errors.New("other"), reason.Internal},
		{"no error", "", nil, reason.Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := reason.Of(c.err); r.Code != c.code || r.Class() != c.class {
				t.Errorf("it is %q of class %d", r.Code, r.Class())
			}
		})
	}
	err := fmt.Errorf("add: %w", missing.With("x", 1, fmt.Errorf("%w", syscall.ENOSPC)))
	if !errors.Is(err, missing) || !errors.Is(err, syscall.ENOSPC) || errors.Is(err, taken) {
		t.Error("its kind and its cause are not found")
	}
}

var renamed = reason.New("test_renamed", "{work} has {count} episodes: {why}", "《{work}》有 {count} 集：{why}").For(reason.Conflict).
	Was("test_subject_has", "subject", "value", "cause").Was("test_work_has")

func TestReasonReadsCodesOfBefore(t *testing.T) {
	const inner = `{"code":"test_subject_has","args":{"subject":"B","value":2,"cause":""},"text":"old"}`
	for _, c := range []struct{ name, stored string }{
		{"other arguments", `{"code":"test_subject_has","args":{"subject":"A","value":1,"cause":` + inner + `},"text":"old"}`},
		{"the same arguments", `{"code":"test_work_has","args":{"work":"A","count":1,"why":` + inner + `},"text":"old"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var column, member reason.Reason
			if err := errors.Join(column.Scan(c.stored), json.Unmarshal([]byte(c.stored), &member)); err != nil {
				t.Fatal(err)
			}
			for _, r := range []reason.Reason{column, member, {Code: "test_renamed", Args: column.Args, Text: "old"}} {
				if r.Code != "test_renamed" || !errors.Is(r, renamed) || r.Class() != reason.Conflict || !r.Known() ||
					r.In(bilingual.Chinese) != "《A》有 1 集：《B》有 2 集：" || r.Text != "old" {
					t.Errorf("it is read as %+v: %s", r, r.In(bilingual.Chinese))
				}
			}
		})
	}
	var bare reason.Reason
	if err := bare.Scan(`{"code":"test_subject_has","text":"old"}`); err != nil || bare.Code != "test_renamed" {
		t.Error("without arguments it is", bare, err)
	}
	args := map[string]any{"subject": "A", "value": 1, "cause": plain.With()}
	if r, ok := reason.Stored("test_subject_has", args); !ok || r.Code != "test_renamed" || r.Text != "A has 1 episodes: nothing to do" {
		t.Errorf("without its text it is %+v", r)
	}
	if r, ok := reason.Stored("test_unknown", args); ok || !r.IsZero() {
		t.Errorf("an unknown one is %+v", r)
	}
	times := 0
	for _, kind := range reason.Kinds() {
		if kind == renamed {
			times++
		}
	}
	if times != 1 {
		t.Error("it is listed", times, "times")
	}
}

func TestCodesAreUnique(t *testing.T) {
	for name, declare := range map[string]func() *reason.Kind{
		"twice":                       func() *reason.Kind { return reason.New("test_plain", "x", "x") },
		"one of before":               func() *reason.Kind { return reason.New("test_work_has", "x", "x") },
		"of before, and another's":    func() *reason.Kind { return reason.New("test_fresh_1", "x", "x").Was("test_plain") },
		"of before, and before":       func() *reason.Kind { return reason.New("test_fresh_2", "x", "x").Was("test_work_has") },
		"of before, fewer arguments":  func() *reason.Kind { return reason.New("test_fresh_3", "{a} {b}", "{a} {b}").Was("test_fresh_4", "a") },
		"Chinese with a new argument": func() *reason.Kind { return reason.New("test_fresh_5", "x", "{a}") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it can be declared")
				}
			}()
			_ = declare()
		})
	}
}

func TestReasonReadsWhatIsStored(t *testing.T) {
	for _, c := range []struct {
		name, column string
		want         reason.Reason
		known        bool
	}{
		{"of before", "marked as watched", reason.Text("marked as watched"), false},
		{"of a later version", `{"code":"test_new","text":"new"}`, reason.Reason{Code: "test_new", Text: "new"}, false},
		{"broken", `{"code":`, reason.Text(`{"code":`), false},
		{"hostile arguments", `{"code":"test_missing","args":{"subject":[{"x":[1]}],"number":{"code":5},"why":null},"text":"t"}`,
			reason.Reason{Code: "test_missing", Args: map[string]any{"subject": []any{map[string]any{"x": []any{1.0}}}, "number": map[string]any{"code": 5.0}, "why": nil}, Text: "t"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r reason.Reason
			if err := r.Scan(c.column); err != nil || !reflect.DeepEqual(r, c.want) || r.Known() != c.known {
				t.Errorf("it is %+v, %v", r, err)
			}
			_ = r.In(bilingual.Chinese)
		})
	}
	twice := reason.New("test_twice", "{x} {x}", "{x}{x}")
	deep := reason.Text("end")
	for range 200 {
		deep = reason.Reason{Code: twice.Code(), Args: map[string]any{"x": deep}}
	}
	if got := deep.In(bilingual.Chinese); len(got) > 1000 {
		t.Error("reasons within reasons have no bound")
	}
	var trace struct{ Reason reason.Reason }
	if err := json.Unmarshal([]byte(`{"Reason":"of before"}`), &trace); err != nil || trace.Reason.Text != "of before" {
		t.Error(trace, err)
	}
}

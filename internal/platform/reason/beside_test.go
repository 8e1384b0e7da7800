package reason_test

import (
	"encoding/json"
	"testing"

	"watchmark/internal/platform/reason"
)

type outcome struct {
	ID     int           `json:"id"`
	Reason reason.Reason `json:"reason_value,omitzero"`
	_      int           // a field that is not written
}

func (o outcome) MarshalJSON() ([]byte, error) {
	type plain outcome
	return reason.MarshalBeside((*plain)(&o))
}

func (o *outcome) UnmarshalJSON(data []byte) error {
	type plain outcome
	return reason.UnmarshalBeside(data, (*plain)(o))
}

func TestReasonStandsBesideItsText(t *testing.T) {
	for _, c := range []struct{ name, json, text, code string }{
		{"both", `{"id":1,"reason_value":{"code":"test_taken","args":{"name":"a"},"text":"the account \"a\" exists already"},"reason":"the account \"a\" exists already"}`, `the account "a" exists already`, "test_taken"},
		{"nothing", `{"id":1,"reason":""}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o outcome
			if err := json.Unmarshal([]byte(c.json), &o); err != nil || o.ID != 1 || o.Reason.Text != c.text || o.Reason.Code != c.code {
				t.Errorf("it is read as %+v, %v", o, err)
			}
			if data, err := json.Marshal(o); err != nil || string(data) != c.json {
				t.Errorf("it is written as %s, %v", data, err)
			}
		})
	}
	var before outcome
	if err := json.Unmarshal([]byte(`{"id":2,"reason":"of before"}`), &before); err != nil || before.Reason.Text != "of before" {
		t.Errorf("what was stored before is read as %+v, %v", before, err)
	}
}

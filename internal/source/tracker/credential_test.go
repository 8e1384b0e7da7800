package tracker

import (
	"encoding/json"
	"testing"
	"time"
)

func TestWhenAnAccessTokenEnds(t *testing.T) {
	now := time.Unix(1_780_000_000, 0)
	for name, c := range map[string]struct {
		answer string
		want   time.Duration
	}{
		"told":                            {`{"expires_at":1780003600,"expires_in":60}`, time.Hour},
		"as text":                         {`{"expires_at":"1780003600"}`, time.Hour},
		"seconds only":                    {`{"expires_in":60}`, time.Minute},
		"seconds of a stamp":              {`{"expires_in":60,"created_at":1780000010}`, 70 * time.Second},
		"over by another clock":           {`{"expires_at":1770000000,"expires_in":60}`, time.Minute},
		"a stamp by another clock":        {`{"created_at":1770000000,"expires_in":60}`, time.Minute},
		"in milliseconds":                 {`{"expires_at":1780003600000,"expires_in":60}`, time.Minute},
		"longer than time is":             {`{"expires_in":1e15}`, assumedLife},
		"nothing":                         {`{}`, assumedLife},
		"no numbers":                      {`{"expires_at":"NaN","expires_in":null,"created_at":[]}`, assumedLife},
		"below zero":                      {`{"expires_in":-5}`, assumedLife},
		"as late as a time can be stored": {`{"expires_in":9e9}`, 9e9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var said struct {
				At      number `json:"expires_at"`
				In      number `json:"expires_in"`
				Created number `json:"created_at"`
			}
			if err := json.Unmarshal([]byte(c.answer), &said); err != nil {
				t.Fatal(err)
			}
			end := expiry(now, said.At, said.In, said.Created)
			if got := end.Sub(now); got != c.want {
				t.Errorf("after %v, want %v", got, c.want)
			}
			if _, err := json.Marshal(end); err != nil {
				t.Errorf("it cannot be shown: %v", err)
			}
		})
	}
}

package api_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// TestStrangersStallNoKeyedWebhook: whoever may send without a key keeps nobody waiting who has one.
func TestStrangersStallNoKeyedWebhook(t *testing.T) {
	for name, settings := range map[string][]string{
		"no key":    {"WATCHMARK_SERVER_LEGACY_PATHS=true"},
		"a letter":  {"WATCHMARK_SERVER_LEGACY_PATHS=true", "WATCHMARK_SERVER_LEGACY_KEY=x"},
		"wrong key": {"WATCHMARK_SERVER_LEGACY_PATHS=true", "WATCHMARK_SERVER_LEGACY_KEY=a-key-that-is-long-enough"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, settings...)
			for i := range 400 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				// As much as is allowed is promised, and a little sent.
				half := fmt.Sprintf("POST /Plex/x HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", 4<<20)
				if i%2 == 0 {
					half = "POST /Custom/x HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
				}
				if _, err := io.WriteString(conn, half); err != nil {
					t.Fatal(err)
				}
			}
			r.anonymous("POST", "/webhook/custom/"+hookKey, event("灯塔守望者", 2, "7")).want(202)
		})
	}
}

// TestWithoutAKeyThereIsABoundByAddress, wide enough for a whole series that is marked as watched at once.
func TestWithoutAKeyThereIsABoundByAddress(t *testing.T) {
	r := newRig(t, "WATCHMARK_SERVER_LEGACY_PATHS=true")
	taken, last := 0, reply{}
	for taken < 3000 { // the allowance is filled up again meanwhile
		if last = r.anonymous("POST", "/Plex", ""); last.status == 429 {
			break
		}
		taken++
	}
	if taken < 1000 {
		t.Errorf("only %d were taken", taken)
	}
	last.problem(429)
	if last.header.Get("Retry-After") == "" {
		t.Error("it is not said when to come back")
	}
	r.anonymous("POST", "/webhook/custom/"+hookKey, event("灯塔守望者", 2, "7")).want(202)
}

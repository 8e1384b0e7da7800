package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/testkit/devicetest"
)

func TestDevicesAreShownScannedAndAsked(t *testing.T) {
	b := devicetest.Start(t, "127.0.0.1:0", "7c1de0aa55ab90f1", "Living Box")
	address := fmt.Sprintf("localhost:%d", b.Port)
	r := newRig(t, "WATCHMARK_DEVICE_ADDRESSES="+address)
	r.do("GET", "/api/device/status", nil).want(http.StatusOK, `"enabled":false`, `"address":"`+address+`"`, `"listed":true`, `"last_seen":null`, `"next_poll":null`)
	r.do("POST", "/api/device/sync/manual", nil).problem(http.StatusConflict, "switched off")
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": address}).problem(http.StatusConflict, "switched off")
	b.Play(devicetest.Episode("灯塔守望者 第二季", "全12集", 1400, 1440))
	r.do("POST", "/api/device/debug/scan", nil).want(http.StatusOK, `"complete":true`, `"name":"Living Box"`, `"kind":"unread"`, "counts episodes")
	if err := r.settings.Patch(t.Context(), map[string]map[string]any{"device": {"enabled": true}}); err != nil {
		t.Fatal(err)
	}
	for _, body := range []map[string]string{{}, {"address": address, "uuid": "7c1de0aa55ab90f1"}} {
		r.do("POST", "/api/device/debug/sync", body).problem(http.StatusUnprocessableEntity, "body.address")
	}
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": "8.8.8.8"}).problem(http.StatusNotFound, "There is no box with this")
	r.do("POST", "/api/device/debug/sync", map[string]string{"uuid": "7c1de0aa55ab90f1"}).want(http.StatusOK, `"before":{`, `"after":{`, `"online":true`)
	r.mira()
	b.Name(devicetest.Media{"uuid": "7c1de0aa55ab90f1", "name": "mira"})
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": address}).want(http.StatusOK, `"reason":"the label counts episodes and names none"`, `"marks":[]`)
	b.Play(devicetest.Episode("葬送的芙莉莲", "第3集", 300, 1440).With("state", 2))
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": address}).want(http.StatusOK, `"reason":"it is at 20 %, and counts from 80 %"`, `"marks":[]`)
	b.Play(devicetest.Episode("葬送的芙莉莲", "第3集", 1382, 1440).With("state", 2))
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": address}).
		want(http.StatusOK, `"reason":""`, `"outcome":"counted"`, `"status":"success"`, `"account":"mira"`, `"marked_before":false`, `"marked_after":true`)
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": address}).want(http.StatusOK, `"reason":"it was counted already"`, `"marked_before":true`, `"marked_after":true`)
	b.SwitchOff()
	r.do("POST", "/api/device/debug/sync", map[string]string{"address": address}).want(http.StatusOK, `"online":false`, `"problem":"no connection to`)
	r.do("POST", "/api/device/sync/manual", nil).want(http.StatusAccepted, `"task_id":1`)
	if _, all := r.events("/api/tasks/1/stream", "", 1000); len(all) == 0 || !strings.Contains(all[len(all)-1].data, `"online":0`) {
		t.Errorf("the task's stream is %v", all)
	}
	for _, path := range []string{"debug/scan", "debug/sync", "sync/manual"} {
		r.anonymous("POST", "/api/device/"+path, nil).problem(http.StatusUnauthorized, "")
	}
}

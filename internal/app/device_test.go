package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"watchmark/internal/source/device"
	"watchmark/internal/testkit/devicetest"
)

// looks asks a box while it shows m, and answers what was decided.
func (s *service) looks(b *devicetest.Box, m devicetest.Media) device.Synced {
	s.t.Helper()
	b.Play(m)
	var got device.Synced
	s.api(http.MethodPost, "/api/device/debug/sync", fmt.Sprintf(`{"address":"localhost:%d"}`, b.Port), http.StatusOK, &got)
	return got
}

// boxes is the settings for boxes.
func boxes(all ...*devicetest.Box) []string {
	list := ""
	for _, b := range all {
		list += fmt.Sprintf("localhost:%d,", b.Port)
	}
	return []string{"WATCHMARK_DEVICE_ENABLED=true", "WATCHMARK_DEVICE_ADDRESSES=" + list}
}

func TestABoxMarksWhatItPlayedOnce(t *testing.T) {
	b := devicetest.Start(t, "127.0.0.1:0", "7c1de0aa55ab90f1", "mira TV")
	hostile := devicetest.Start(t, "127.0.0.1:0", "90f1", "mira TV")
	hostile.Play(devicetest.Episode("灯塔守望者", "第02集", 1400, 1440))
	hostile.Fail(devicetest.Redirect, "http://"+b.Address()+"/media")
	s := start(t, boxes(b, hostile)...)
	episode := func(label string, share float64) devicetest.Media {
		return devicetest.Episode("灯塔守望者 第二季 1080P", "正在播放："+label, share*1440, 1440)
	}
	if got := s.looks(b, episode("第07集", 0.4)); got.Event != nil || got.Reason != "it is at 40 %, and counts from 80 %" {
		t.Errorf("at 40 %% it is %+v", got)
	}
	if got := s.looks(b, episode("第07集", 0.93)); got.Event == nil || got.Event.Outcome != device.Counted || len(got.Event.RecordIDs) != 1 {
		t.Fatalf("at 93 %% it is %+v", got)
	} else if r := s.settled(got.Event.RecordIDs[0]); r.Status != "success" || r.UserName != "mira TV" || r.EpisodeID != 90000207 {
		t.Fatalf("the record is %+v", r)
	}
	s.looks(b, episode("第08集", 0.01))
	for _, fault := range []devicetest.Fault{devicetest.Redirect, devicetest.Huge, devicetest.Broken} {
		hostile.Fail(fault, "http://"+b.Address()+"/media")
		if got := s.looks(hostile, devicetest.Episode("灯塔守望者", "第02集", 1400, 1440)); got.After.Online || got.Event != nil {
			t.Errorf("%s: %+v", fault, got)
		}
	}
	s.again(boxes(b, hostile)...)
	if got := s.looks(b, episode("第07集", 0.94)); got.Event == nil || got.Event.Outcome != device.Repeated {
		t.Errorf("after a restart it is %+v", got.Event)
	}
	if marked := s.marked(); len(marked) != 1 || !marked["mira/90000207"] {
		t.Errorf("marked is %v", marked)
	}
	var page struct {
		Items []recordView `json:"items"`
	}
	s.api(http.MethodGet, "/api/records?source=device", "", http.StatusOK, &page)
	if len(page.Items) != 1 {
		t.Errorf("records are %+v", page.Items)
	}
	if strange := slices.Concat(b.Strange(), hostile.Strange()); len(strange) > 0 {
		t.Errorf("the players got %q", strange)
	}
}

func TestBoxesAreAskedByTheService(t *testing.T) {
	b := devicetest.Start(t, "127.0.0.1:0", "7c1de0aa55ab90f1", "mira TV")
	b.Play(devicetest.Episode("灯塔守望者", "第02集", 1300, 1440))
	s := start(t, boxes(b)...)
	var started struct {
		TaskID int64 `json:"task_id"`
	}
	s.api(http.MethodPost, "/api/device/sync/manual", "", http.StatusAccepted, &started)
	s.taskEnds(started.TaskID)
	var status device.Status
	s.api(http.MethodGet, "/api/device/status", "", http.StatusOK, &status)
	if len(status.Devices) != 1 || !status.Devices[0].Online || status.Devices[0].Name != "mira TV" {
		t.Errorf("the status is %+v", status)
	}
	var scan device.Scanned
	s.api(http.MethodPost, "/api/device/debug/scan", "", http.StatusOK, &scan)
	if !scan.Complete || len(scan.Devices) != 1 || scan.Devices[0].Now.Reading.Episodes[0] != 2 {
		t.Errorf("the scan is %+v", scan)
	}
	s.api(http.MethodPatch, "/api/settings", `{"device":{"subnets":["8.8.8.0/24"]}}`, http.StatusUnprocessableEntity, nil)
	s.api(http.MethodPost, "/api/device/debug/sync", `{}`, http.StatusUnprocessableEntity, nil)
	s.api(http.MethodPost, "/api/device/debug/sync", `{"address":"192.168.7.7"}`, http.StatusNotFound, nil)
	if got := s.do(s.request(http.MethodGet, "/api/device/status", "", "")); got.status != http.StatusUnauthorized {
		t.Errorf("without a key it answers %d", got.status)
	}
}

// taskEnds waits until a task has ended, and answers it.
func (s *service) taskEnds(id int64) answer {
	s.t.Helper()
	task := fmt.Sprintf("/api/tasks/%d", id)
	s.api(http.MethodGet, task+"/stream", "", http.StatusOK, nil) // ends with the task
	return s.api(http.MethodGet, task, "", http.StatusOK, nil)
}

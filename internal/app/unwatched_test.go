package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// What is set back to unwatched while its mark waits for the catalog is not marked any more.
func TestWhatIsSetBackBeforeItsMarkIsNotMarked(t *testing.T) {
	for _, rule := range []string{"take_back", "ask"} {
		t.Run(rule, func(t *testing.T) {
			s := unwatchedRig(t, rule)
			if err := s.list.Collect("mira", 601, catalog.Doing, false); err != nil {
				t.Fatal(err)
			}
			must(0, s.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}))(t)
			waits := s.settled(s.accepted(s.emby("markplayed", 1))[0])
			stays := s.settled(s.accepted(s.emby("markplayed", 2))[0])
			if waits.Status != "queued" || stays.Status != "queued" {
				t.Fatalf("%+v %+v", waits, stays)
			}
			s.emby("markunplayed", 1)
			switch rule {
			case "take_back":
				s.ends("it is sent no more", func() bool { return s.settled(waits.ID).Status == "ignored" })
			case "ask":
				s.ends("it is asked", func() bool { return len(s.unwatchedAsked()) == 1 })
				s.api(http.MethodPost, "/api/unwatched", fmt.Sprintf(`{"record_ids":[%d],"take_back":true}`, waits.ID), http.StatusAccepted, nil)
				s.ends("it is sent no more", func() bool { return s.settled(waits.ID).Status == "ignored" })
			}
			must(0, s.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}))(t)
			s.api(http.MethodPost, "/api/catalog_replay/probe", "", http.StatusOK, nil)
			retry := s.request(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", stays.ID), "application/json", "")
			retry.Header.Set("Authorization", "Bearer "+s.key)
			if got := s.do(retry); got.status != http.StatusAccepted && got.status != http.StatusConflict { // it may be on its way already
				t.Fatalf("the retry is answered %d: %s", got.status, got.body)
			}
			s.until(stays.ID, func(r recordView) bool { return r.Status == "success" })
			if s.marked()["mira/60101"] || !s.marked()["mira/60102"] {
				t.Errorf("marked are %v", s.marked())
			}
			if r := s.settled(waits.ID); r.Status != "ignored" || !strings.Contains(r.Message, "set back to unwatched") {
				t.Errorf("%+v", r)
			}
		})
	}
}

package mediaserver

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/source/payload"
)

func TestPlexAddressesAreTriedInOrder(t *testing.T) {
	const (
		near  = `{"protocol":"https","address":"192.168.1.5","port":32400,"uri":"https://192-168-1-5.ab12cd.plex.direct:32400","local":true,"relay":false}`
		far   = `{"protocol":"https","address":"203.0.113.9","port":32400,"uri":"https://203-0-113-9.ab12cd.plex.direct:32400","local":false,"relay":false}`
		relay = `{"protocol":"https","address":"198.51.100.7","port":8443,"uri":"https://198-51-100-7.ab12cd.plex.direct:8443","local":false,"relay":true}`

		nearTLS, nearPlain = "https://192-168-1-5.ab12cd.plex.direct:32400", "http://192.168.1.5:32400"
		farTLS, relayTLS   = "https://203-0-113-9.ab12cd.plex.direct:32400", "https://198-51-100-7.ab12cd.plex.direct:8443"
	)
	own := plexResource{owned: true}
	for name, test := range map[string]struct {
		of          plexResource
		connections string
		want        []string
	}{
		"home, outside, relay":                                {own, "[" + relay + "," + far + "," + near + "]", []string{nearTLS, nearPlain, farTLS, relayTLS}},
		"with encryption only":                                {plexResource{owned: true, tlsOnly: true}, "[" + near + "," + far + "]", []string{nearTLS, farTLS}},
		"of somebody else":                                    {plexResource{}, "[" + near + "," + far + "," + relay + "]", []string{farTLS, relayTLS}},
		"of somebody else in this network":                    {plexResource{near: true}, "[" + near + "," + far + "]", []string{nearTLS, nearPlain, farTLS}},
		"a machine in IPv6":                                   {own, `[{"address":"fd00::5","port":32400,"uri":"https://fd00--5.ab12cd.plex.direct:32400","local":true}]`, []string{"https://fd00--5.ab12cd.plex.direct:32400", "http://[fd00::5]:32400"}},
		"the token is not sent through the world unencrypted": {own, `[{"address":"203.0.113.9","port":32400,"uri":"http://plex.example:32400","local":false}]`, []string{}},
		"addresses that are none": {own, `[{"uri":"file:///etc/passwd","local":true},{"uri":"https://mira:secret@192.168.1.5:32400","local":true},{"uri":"https://192.168.1.5:32400/admin?x=1","local":true},
			{"uri":"https://192.168.1.5:32400/admin","local":true},{"uri":7},{}]`, []string{}},
		"where machines keep their secrets": {own, `[{"uri":"http://169.254.169.254","address":"169.254.169.254","port":80,"local":true},{"uri":"http://[fd00:ec2::254]:80","local":true},
			{"uri":"http://0.0.0.0:32400","address":"0.0.0.0","port":32400,"local":true},{"uri":"http://[::ffff:169.254.169.254]:80","local":true}]`, []string{}},
		"none": {own, `[]`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(test.connections), &test.of.connections); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, test.of.addresses()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	many := plexResource{owned: true}
	for i := range 500 {
		many.connections = append(many.connections, payload.Object{"uri": json.RawMessage(`"http://192.168.1.5:` + strconv.Itoa(i+1) + `"`), "local": json.RawMessage("true")})
	}
	if n := len(many.addresses()); n > mostConnections {
		t.Errorf("%d addresses are tried", n)
	}
}

func FuzzPlexItem(f *testing.F) {
	f.Add([]byte(`{"ratingKey":"4812","type":"episode","viewCount":1,"lastViewedAt":1779192000,"viewOffset":5,"duration":1440000,"librarySectionID":3,"index":7,"parentIndex":2,"Guid":[{"id":"tvdb://900002"}]}`))
	f.Add([]byte(`{"ratingKey":7,"type":"movie","viewCount":-1,"duration":-5,"librarySectionID":"3","lastViewedAt":99999999999999,"year":"2024"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var meta payload.Object
		if json.Unmarshal(data, &meta) != nil {
			return
		}
		item, ok := plexItem(meta, "")
		if ok && (item.Report.Event.ItemID == "" || item.Library == "" || item.State.Count < 0 || item.State.Played != (item.State.Count > 0) || item.Length < 0 || item.State.Position < 0) {
			t.Fatalf("%+v", item)
		}
	})
}

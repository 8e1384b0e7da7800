package payload

import (
	"encoding/json"
	"testing"
)

func TestRepaired(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"quotes in a title":          {`{"Name": "He said "hi" there", "Season": 1}`, `{"Name":"He said \"hi\" there","Season":1}`},
		"at its end":                 {`{"Name":"The "End"","b":"x"}`, `{"Name":"The \"End\"","b":"x"}`},
		"at its beginning, last":     {`{"a":1,"Name":""Oshi no Ko""}`, `{"Name":"\"Oshi no Ko\"","a":1}`},
		"before a comma":             {`{"Name":"A "b", and c","d":"e"}`, `{"Name":"A \"b\", and c","d":"e"}`},
		"in an object inside":        {`{"Item":{"Name":"x "y" z"},"n":2}`, `{"Item":{"Name":"x \"y\" z"},"n":2}`},
		"a line break":               {"{\"Overview\":\"one\ntwo\",\"b\":1}", `{"Overview":"one\ntwo","b":1}`},
		"escaped ones stay":          {`{"Name":"a \"b\" "c"","d":1}`, `{"Name":"a \"b\" \"c\"","d":1}`},
		"Python":                     {`{'Event': 'item.markplayed', 'Item': {'Name': "It's", 'Year': 2024, 'Ok': True, 'No': False, 'Nil': None}, 'l': ['a', (1, 2)]}`, `{"Event":"item.markplayed","Item":{"Name":"It's","Nil":null,"No":false,"Ok":true,"Year":2024},"l":["a",[1,2]]}`},
		"Python with escapes":        {`{'Name': 'It\'s \u706f\x41\n"q"', 'b': '\d'}`, `{"Name":"It's 灯A\n\"q\"","b":"\\d"}`},
		"an unknown word of Python":  {`{'a': Evil}`, ``},
		"code":                       {`{'a': __import__('os')}`, ``},
		"a text without its end":     {`{'a': 'b`, ``},
		"an object without its end":  {`{"a":"b"`, ``},
		"no quotes":                  {`{a:1}`, ``},
		"two objects":                {`{"a":"b"}{"c":"d"}`, ``},
		"a name with a quote within": {`{"a"b":"c"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			made, ok := repaired([]byte(c.text))
			if c.want == "" {
				if ok {
					t.Errorf("it becomes %s", made)
				}
				return
			}
			var value any
			if err := json.Unmarshal(made, &value); err != nil || !ok {
				t.Fatalf("it becomes %s: %v", made, err)
			}
			if text, _ := json.Marshal(value); string(text) != c.want {
				t.Errorf("it becomes %s, not %s", text, c.want)
			}
		})
	}
}

func FuzzRepaired(f *testing.F) {
	f.Add([]byte(`{"Name": "He said "hi" there", "Season": 1}`))
	f.Add([]byte(`{'Item': {'Name': "It's", 'Ok': True}, 'l': ('a', 1)}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if made, ok := repaired(text); ok && !json.Valid(made) {
			t.Errorf("%q becomes %q", text, made)
		}
	})
}

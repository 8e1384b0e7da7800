package reason

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// ValueSuffix ends the name of a JSON field that holds a Reason. Its text stands beside it, in the field without the suffix:
// reason_value and reason.
const ValueSuffix = "_value"

// beside is a field of a struct that holds a Reason, with the name of its text.
type beside struct {
	name string
	*Reason
}

// fieldsOf are the fields of a struct whose text stands beside them, those of structs embedded in it, too.
func fieldsOf(v reflect.Value) (fields []beside) {
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous && v.Field(i).Kind() == reflect.Struct {
			fields = append(fields, fieldsOf(v.Field(i))...)
			continue
		}
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		name, is := strings.CutSuffix(tag, ValueSuffix)
		if !is { // nor can what is not exported be looked into
			continue
		}
		if r, ok := v.Field(i).Addr().Interface().(*Reason); ok {
			fields = append(fields, beside{name, r})
		}
	}
	return fields
}

// MarshalBeside is the JSON of the struct that v points to, with the text of each Reason beside it. The struct must not have a
// method MarshalJSON: that is what calls this, with its value as another type.
func MarshalBeside(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSuffix(data, []byte("}"))
	for _, f := range fieldsOf(reflect.ValueOf(v).Elem()) {
		text, err := json.Marshal(f.Text)
		if err != nil {
			return nil, err
		}
		if len(data) > len("{") {
			data = append(data, ',')
		}
		data = append(append(data, `"`+f.name+`":`...), text...)
	}
	return append(data, '}'), nil
}

// UnmarshalBeside reads what MarshalBeside wrote, and what was stored before, which has the texts alone.
func UnmarshalBeside(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	var texts map[string]json.RawMessage
	for _, f := range fieldsOf(reflect.ValueOf(v).Elem()) {
		if !f.IsZero() {
			continue
		}
		if texts == nil {
			if err := json.Unmarshal(data, &texts); err != nil {
				return err
			}
		}
		if text, ok := texts[f.name]; ok {
			if err := json.Unmarshal(text, f.Reason); err != nil {
				return err
			}
		}
	}
	return nil
}
